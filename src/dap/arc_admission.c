/* What credentials are asked and shown for, and whether a presentation admits a report. */
#include "dap/arc_admission.h"

#include "crypto/hash.h"

#include <string.h>

/* ---- contexts -------------------------------------------------------------------------------------------------- */

void sotto_arc_key_id(uint8_t out[SOTTO_TOKEN_KEY_ID], const uint8_t public_key[SOTTO_ARC_PUBLIC])
{
    sotto_hash_once(out, SOTTO_SHA256, sotto_bytes_of(public_key, SOTTO_ARC_PUBLIC));
}

/* Of a label, 32 bytes and some numbers. */
static void digest(uint8_t out[32], const char *label, const uint8_t subject[32],
                   const uint64_t *numbers, size_t count)
{
    uint8_t memory[32 + 32 + 3 * 8];
    sotto_buf buf = sotto_buf_over(memory, sizeof memory);
    sotto_writer w = sotto_writer_on(&buf);

    sotto_write_bytes(&w, sotto_bytes_of(label, strlen(label)));
    sotto_write_bytes(&w, sotto_bytes_of(subject, 32));
    for (size_t i = 0; i < count; i++)
        sotto_write_uint(&w, numbers[i], 8);
    sotto_hash_once(out, SOTTO_SHA256, sotto_buf_bytes(&buf));
}

void sotto_arc_request_context(uint8_t out[SOTTO_ARC_CONTEXT], const sotto_arc_epoch *epoch)
{
    const uint64_t times[] = {epoch->opens, epoch->closes};

    digest(out, "sotto arc epoch 1", epoch->key_id, times, 2);
}

void sotto_arc_presentation_context(uint8_t out[SOTTO_ARC_CONTEXT], const sotto_arc_collection *c)
{
    const uint64_t numbers[] = {c->opens, c->closes, c->round};

    digest(out, "sotto arc collection 1", c->subject, numbers, 3);
}

/* ---- checking -------------------------------------------------------------------------------------------------- */

static void nonce_of(uint8_t nonce[SOTTO_TOKEN_NONCE], const uint8_t tag[SOTTO_ARC_POINT])
{
    static const char label[] = "sotto arc tag 1";
    uint8_t text[sizeof label - 1 + SOTTO_ARC_POINT];

    memcpy(text, label, sizeof label - 1);
    memcpy(text + sizeof label - 1, tag, SOTTO_ARC_POINT);
    sotto_hash_once(nonce, SOTTO_SHA256, sotto_bytes_of(text, sizeof text));
}

sotto_status sotto_arc_admission_check(const sotto_admission *admission, unsigned who,
                                       sotto_arc_verifier *v,
                                       const uint8_t key_id[SOTTO_TOKEN_KEY_ID],
                                       uint8_t nonce[SOTTO_TOKEN_NONCE], sotto_err *err)
{
    const sotto_bytes shown =
        sotto_bytes_of(admission->shown[who] + SOTTO_TOKEN_KEY_ID, SOTTO_ARC_ONCE);
    uint8_t tag[SOTTO_ARC_POINT];

    if (memcmp(admission->shown[who], key_id, SOTTO_TOKEN_KEY_ID) != 0)
        return sotto_fail(err, SOTTO_REJECTED, "admission: a presentation for another key");
    SOTTO_TRY(sotto_arc_verify_bound(v, tag, shown,
                                     sotto_bytes_of(admission->once_key, SOTTO_ONCE_KEY), err));
    nonce_of(nonce, tag);
    return SOTTO_OK;
}
