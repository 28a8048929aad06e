/* Contexts: many messages between one sender and one receiver (RFC 9180, 5.2 and 5.3). */
#include "base/alloc.h"
#include "seal/hpke/inspect.h"
#include "seal/hpke/setup.h"

struct sotto_hpke_context {
    sotto_hpke_algorithms with;
    sotto_aead aead; /* keyed; absent if the suite only exports */
    uint64_t sequence;
    uint8_t base_nonce[SOTTO_AEAD_NONCE_SIZE];
    uint8_t exporter_secret[SOTTO_HASH_MAX_SIZE];
};

/* Nonces would allow 2^96 - 1 messages; 2^64 are never reached in practice. */
static const uint64_t SEQUENCE_LIMIT = UINT64_MAX;

static sotto_status fill(sotto_hpke_context *context, const sotto_hpke_purpose *purpose,
                         const sotto_hpke_setup *setup, sotto_aead_direction direction,
                         sotto_err *err)
{
    uint8_t key[SOTTO_AEAD_MAX_KEY];

    context->with = purpose->with;
    SOTTO_TRY(sotto_hpke_schedule_exporter(context->exporter_secret, purpose, &setup->secret, err));
    if (!purpose->with.aead)
        return SOTTO_OK;
    SOTTO_TRY(sotto_aead_init(&context->aead, purpose->with.aead, direction, err));
    sotto_status status =
        sotto_hpke_schedule_aead(key, context->base_nonce, purpose, &setup->secret, err);
    if (status == SOTTO_OK)
        status = sotto_aead_set_key(&context->aead, key, err);
    sotto_wipe(key, sizeof key);
    return status;
}

static sotto_status make(sotto_hpke_context **context, const sotto_hpke_purpose *purpose,
                         const sotto_hpke_setup *setup, sotto_aead_direction direction,
                         sotto_err *err)
{
    sotto_hpke_context *made = sotto_alloc(sizeof *made);
    if (!made)
        return sotto_fail(err, SOTTO_NO_MEMORY, "hpke: no memory for a context");
    sotto_status status = fill(made, purpose, setup, direction, err);
    if (status != SOTTO_OK) {
        sotto_hpke_context_free(made);
        return status;
    }
    *context = made;
    return SOTTO_OK;
}

sotto_status sotto_hpke_context_send(sotto_hpke_context **context, sotto_buf *enc,
                                     const sotto_hpke_config *to, sotto_bytes ikm, sotto_bytes info,
                                     sotto_err *err)
{
    const size_t start = enc->len;
    sotto_hpke_purpose purpose;
    sotto_hpke_setup setup;

    *context = NULL;
    SOTTO_TRY(sotto_hpke_purpose_init(&purpose, to->suite, info, err));
    SOTTO_TRY(sotto_hpke_setup_send_from_ikm(&setup, enc, &purpose, to, ikm, err));
    sotto_status status = make(context, &purpose, &setup, SOTTO_AEAD_SEAL, err);
    if (status != SOTTO_OK)
        enc->len = start;
    sotto_wipe(&setup, sizeof setup);
    return status;
}

sotto_status sotto_hpke_context_receive(sotto_hpke_context **context, sotto_hpke_receiver *receiver,
                                        sotto_bytes enc, sotto_err *err)
{
    sotto_hpke_setup setup;

    *context = NULL;
    SOTTO_TRY(sotto_hpke_setup_receive(&setup, receiver, &(sotto_agreement){.peer = enc}, err));
    sotto_status status = make(context, &receiver->purpose, &setup, SOTTO_AEAD_OPEN, err);
    sotto_wipe(&setup, sizeof setup);
    return status;
}

void sotto_hpke_context_free(sotto_hpke_context *context)
{
    if (!context)
        return;
    sotto_aead_clear(&context->aead);
    sotto_release(context, sizeof *context);
}

/* ---- messages ------------------------------------------------------------------------------------ */

static sotto_status next_nonce(const sotto_hpke_context *context, uint8_t *nonce, sotto_err *err)
{
    if (!context->with.aead)
        return sotto_fail(err, SOTTO_MISSING, "hpke: this suite only exports");
    if (context->sequence >= SEQUENCE_LIMIT)
        return sotto_fail(err, SOTTO_STALE, "hpke: this context has sent its last message");
    sotto_hpke_nonce(nonce, context->base_nonce, context->sequence);
    return SOTTO_OK;
}

sotto_status sotto_hpke_context_seal(sotto_hpke_context *context, sotto_buf *out, sotto_bytes aad,
                                     sotto_bytes plain, sotto_err *err)
{
    uint8_t nonce[SOTTO_AEAD_NONCE_SIZE];

    SOTTO_TRY(next_nonce(context, nonce, err));
    SOTTO_TRY(sotto_aead_seal(&context->aead, out, nonce, aad, plain, err));
    context->sequence++;
    return SOTTO_OK;
}

sotto_status sotto_hpke_context_unseal(sotto_hpke_context *context, sotto_buf *out, sotto_bytes aad,
                                       sotto_bytes ciphertext, sotto_err *err)
{
    uint8_t nonce[SOTTO_AEAD_NONCE_SIZE];

    SOTTO_TRY(next_nonce(context, nonce, err));
    SOTTO_TRY(sotto_aead_open(&context->aead, out, nonce, aad, ciphertext, err));
    context->sequence++;
    return SOTTO_OK;
}

sotto_status sotto_hpke_context_export(const sotto_hpke_context *context, sotto_buf *out,
                                       sotto_bytes exporter_context, size_t len, sotto_err *err)
{
    if (len > out->cap - out->len)
        return sotto_fail(err, SOTTO_TOO_LARGE, "hpke: the export does not fit the output");
    SOTTO_TRY(sotto_hpke_schedule_export(out->data + out->len, len, &context->with,
                                         context->exporter_secret, exporter_context, err));
    out->len += len;
    return SOTTO_OK;
}

void sotto_hpke_context_set_sequence(sotto_hpke_context *context, uint64_t sequence)
{
    context->sequence = sequence;
}

uint64_t sotto_hpke_context_sequence(const sotto_hpke_context *context)
{
    return context->sequence;
}
