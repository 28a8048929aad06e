/* HPKE vectors (RFC 9180, base mode): a key schedule is one count, and so is each encryption and export. */
#include "families.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "crypto/aead.h"
#include "seal/hpke/inspect.h"

enum { BASE_MODE = 0 };

bool sotto_vectors_hpke_knows(const json_t *item)
{
    return json_object_get(item, "kem_id") != NULL &&
           (json_object_get(item, "kdf_id") != NULL || json_object_get(item, "aead_id") != NULL);
}

/* ---- one vector ------------------------------------------------------------------------------ */

/* Both ends as far as the vector lets them be set up. */
typedef struct session {
    const json_t *item;
    sotto_arena *arena;
    sotto_hpke_suite suite;
    sotto_bytes info;
    sotto_bytes enc;
    sotto_hpke_key key; /* the receiver's */
    sotto_hpke_receiver *receiver;
    sotto_bytes ephemeral_ikm; /* empty: not in the file */
    size_t compared;
} session;

static sotto_status read_id(uint16_t *out, const json_t *item, const char *key, sotto_err *err)
{
    uint64_t id;

    SOTTO_TRY(sotto_json_get_uint(&id, item, key, err));
    if (id > UINT16_MAX)
        return sotto_fail(err, SOTTO_MALFORMED, "%s: more than 16 bits", key);
    *out = (uint16_t)id;
    return SOTTO_OK;
}

static sotto_status read_suite(sotto_hpke_suite *suite, const json_t *item, sotto_err *err)
{
    SOTTO_TRY(read_id(&suite->kem, item, "kem_id", err));
    SOTTO_TRY(read_id(&suite->kdf, item, "kdf_id", err));
    return read_id(&suite->aead, item, "aead_id", err);
}

/* Empty if the file has no such value. */
static sotto_status read_optional(sotto_bytes *out, const session *s, const char *key,
                                  sotto_err *err)
{
    *out = sotto_bytes_of(NULL, 0);
    if (json_object_get(s->item, key) == NULL)
        return SOTTO_OK;
    return sotto_json_get_hex(out, s->item, key, s->arena, err);
}

static sotto_status open_receiver(session *s, sotto_err *err)
{
    sotto_bytes private_key;
    sotto_bytes ikm;

    SOTTO_TRY(read_optional(&private_key, s, "skRm", err));
    SOTTO_TRY(read_optional(&ikm, s, "ikmR", err));
    if (private_key.len > 0)
        SOTTO_TRY(sotto_hpke_key_decode(&s->key, s->suite.kem, private_key, err));
    else if (ikm.len > 0)
        SOTTO_TRY(sotto_hpke_key_derive(&s->key, s->suite.kem, ikm, err));
    else
        return sotto_fail(err, SOTTO_MALFORMED, "skRm: missing");
    return sotto_hpke_receiver_new(&s->receiver, &s->key, s->suite, s->info, err);
}

static sotto_status open_session(session *s, const json_t *item, sotto_arena *arena, sotto_err *err)
{
    *s = (session){.item = item, .arena = arena};
    SOTTO_TRY(read_suite(&s->suite, item, err));
    SOTTO_TRY(sotto_json_get_hex(&s->info, item, "info", arena, err));
    SOTTO_TRY(sotto_json_get_hex(&s->enc, item, "enc", arena, err));
    SOTTO_TRY(read_optional(&s->ephemeral_ikm, s, "ikmE", err));
    return open_receiver(s, err);
}

static void close_session(session *s)
{
    sotto_hpke_receiver_free(s->receiver);
    sotto_wipe(&s->key, sizeof s->key);
}

static sotto_hpke_config config_of(const session *s)
{
    return sotto_hpke_config_of(&s->key, 0, s->suite.kdf, s->suite.aead);
}

/* Compares with the file's value, if it has one. */
static sotto_status compare_key(session *s, const char *key, const uint8_t *data, size_t len,
                                sotto_err *err)
{
    sotto_bytes wanted;

    if (json_object_get(s->item, key) == NULL)
        return SOTTO_OK;
    SOTTO_TRY(sotto_json_get_hex(&wanted, s->item, key, s->arena, err));
    SOTTO_TRY(sotto_vectors_compare(wanted, sotto_bytes_of(data, len), key, err));
    s->compared++;
    return SOTTO_OK;
}

/* ---- the key schedule ------------------------------------------------------------------------ */

/* DeriveKeyPair, where the file has what the pair was derived from. */
static sotto_status check_derivation(session *s, const char *ikm_key, const char *public_key,
                                     const char *private_key, sotto_err *err)
{
    sotto_bytes ikm;
    sotto_hpke_key derived;

    SOTTO_TRY(read_optional(&ikm, s, ikm_key, err));
    if (ikm.len == 0)
        return SOTTO_OK;
    SOTTO_TRY(sotto_hpke_key_derive(&derived, s->suite.kem, ikm, err));
    SOTTO_TRY(compare_key(s, public_key, derived.public_key, derived.public_key_len, err));
    return compare_key(s, private_key, derived.private_key, derived.private_key_len, err);
}

static sotto_status check_inspection(session *s, const sotto_hpke_inspection *seen, sotto_err *err)
{
    SOTTO_TRY(compare_key(s, "shared_secret", seen->shared_secret, seen->shared_secret_len, err));
    SOTTO_TRY(compare_key(s, "key_schedule_context", seen->key_schedule_context,
                          seen->key_schedule_context_len, err));
    SOTTO_TRY(compare_key(s, "secret", seen->secret, seen->secret_len, err));
    SOTTO_TRY(compare_key(s, "key", seen->key, seen->key_len, err));
    SOTTO_TRY(compare_key(s, "base_nonce", seen->base_nonce, seen->base_nonce_len, err));
    return compare_key(s, "exporter_secret", seen->exporter_secret, seen->secret_len, err);
}

/* As the sender sees it, where the file has the ephemeral key. */
static sotto_status check_sender(session *s, sotto_err *err)
{
    sotto_hpke_inspection seen;
    sotto_hpke_config to = config_of(s);
    sotto_hpke_key ephemeral;
    sotto_bytes private_key;
    sotto_buf enc;

    SOTTO_TRY(read_optional(&private_key, s, "skEm", err));
    if (private_key.len > 0)
        SOTTO_TRY(sotto_hpke_key_decode(&ephemeral, s->suite.kem, private_key, err));
    else if (s->ephemeral_ikm.len > 0)
        SOTTO_TRY(sotto_hpke_key_derive(&ephemeral, s->suite.kem, s->ephemeral_ikm, err));
    else
        return SOTTO_OK;
    SOTTO_TRY(compare_key(s, "pkEm", ephemeral.public_key, ephemeral.public_key_len, err));
    SOTTO_TRY(sotto_buf_take(&enc, s->arena, SOTTO_HPKE_MAX_PUBLIC_KEY, err));
    SOTTO_TRY(sotto_hpke_inspect_send(
        &seen, &enc, &to, sotto_bytes_of(ephemeral.private_key, ephemeral.private_key_len), s->info,
        err));
    SOTTO_TRY(compare_key(s, "enc", enc.data, enc.len, err));
    return check_inspection(s, &seen, err);
}

static sotto_status check_schedule(session *s, size_t index, sotto_err *err)
{
    sotto_hpke_inspection seen;

    (void)index;
    SOTTO_TRY(compare_key(s, "pkRm", s->key.public_key, s->key.public_key_len, err));
    SOTTO_TRY(check_derivation(s, "ikmR", "pkRm", "skRm", err));
    SOTTO_TRY(check_derivation(s, "ikmE", "pkEm", "skEm", err));
    SOTTO_TRY(check_sender(s, err));
    SOTTO_TRY(sotto_hpke_inspect_receive(&seen, s->receiver, s->enc, err));
    return check_inspection(s, &seen, err);
}

/* ---- contexts -------------------------------------------------------------------------------- */

/* A sender's context with the file's ephemeral key; NULL if the file has no ikm to derive it from. */
static sotto_status open_sender(sotto_hpke_context **context, session *s, sotto_err *err)
{
    sotto_hpke_config to = config_of(s);
    sotto_buf enc;

    *context = NULL;
    if (s->ephemeral_ikm.len == 0)
        return SOTTO_OK;
    SOTTO_TRY(sotto_buf_take(&enc, s->arena, SOTTO_HPKE_MAX_PUBLIC_KEY, err));
    SOTTO_TRY(sotto_hpke_context_send(context, &enc, &to, s->ephemeral_ikm, s->info, err));
    sotto_status status = compare_key(s, "enc", enc.data, enc.len, err);
    if (status != SOTTO_OK) {
        sotto_hpke_context_free(*context);
        *context = NULL;
    }
    return status;
}

/* ---- encryptions ----------------------------------------------------------------------------- */

typedef struct message {
    uint64_t sequence;
    sotto_bytes plain;
    sotto_bytes aad;
    sotto_bytes ciphertext;
} message;

static const json_t *entry_of(const session *s, const char *key, size_t index)
{
    return json_array_get(json_object_get(s->item, key), index);
}

static sotto_status read_message(message *m, const session *s, size_t index, sotto_err *err)
{
    const json_t *entry = entry_of(s, "encryptions", index);

    m->sequence = index;
    if (json_object_get(entry, "seq") != NULL)
        SOTTO_TRY(sotto_json_get_uint(&m->sequence, entry, "seq", err));
    SOTTO_TRY(sotto_json_get_hex(&m->plain, entry, "pt", s->arena, err));
    SOTTO_TRY(sotto_json_get_hex(&m->aad, entry, "aad", s->arena, err));
    return sotto_json_get_hex(&m->ciphertext, entry, "ct", s->arena, err);
}

/* Needs no ephemeral key, which few vectors have: the receiver knows the message key as well. */
static sotto_status check_message_key(session *s, const message *m, const uint8_t *key,
                                      const uint8_t *nonce, sotto_err *err)
{
    sotto_aead aead;
    sotto_buf sealed;

    SOTTO_TRY(sotto_buf_take(&sealed, s->arena, m->plain.len + SOTTO_AEAD_TAG_SIZE, err));
    sotto_status status =
        sotto_aead_init(&aead, sotto_aead_find(s->suite.aead), SOTTO_AEAD_SEAL, err);
    if (status == SOTTO_OK)
        status = sotto_aead_set_key(&aead, key, err);
    if (status == SOTTO_OK)
        status = sotto_aead_seal(&aead, &sealed, nonce, m->aad, m->plain, err);
    sotto_aead_clear(&aead);
    SOTTO_TRY(status);
    return sotto_vectors_compare(m->ciphertext, sotto_buf_bytes(&sealed), "ct by key and nonce",
                                 err);
}

static sotto_status check_nonce(session *s, const message *m, size_t index, sotto_err *err)
{
    const json_t *entry = entry_of(s, "encryptions", index);
    sotto_hpke_inspection seen;
    uint8_t nonce[SOTTO_AEAD_NONCE_SIZE];
    sotto_bytes wanted;

    SOTTO_TRY(sotto_hpke_inspect_receive(&seen, s->receiver, s->enc, err));
    if (seen.key_len == 0)
        return sotto_fail(err, SOTTO_MALFORMED, "encryptions: the suite only exports");
    sotto_hpke_nonce(nonce, seen.base_nonce, m->sequence);
    if (json_object_get(entry, "nonce") != NULL) {
        SOTTO_TRY(sotto_json_get_hex(&wanted, entry, "nonce", s->arena, err));
        SOTTO_TRY(sotto_vectors_compare(wanted, sotto_bytes_of(nonce, sizeof nonce), "nonce", err));
    }
    return check_message_key(s, m, seen.key, nonce, err);
}

static sotto_status check_context_unseal(session *s, const message *m, sotto_err *err)
{
    sotto_hpke_context *context;
    sotto_buf plain;

    SOTTO_TRY(sotto_buf_take(&plain, s->arena, m->ciphertext.len, err));
    SOTTO_TRY(sotto_hpke_context_receive(&context, s->receiver, s->enc, err));
    sotto_hpke_context_set_sequence(context, m->sequence);
    sotto_status status = sotto_hpke_context_unseal(context, &plain, m->aad, m->ciphertext, err);
    sotto_hpke_context_free(context);
    SOTTO_TRY(status);
    s->compared++;
    return sotto_vectors_compare(m->plain, sotto_buf_bytes(&plain), "pt", err);
}

static sotto_status check_context_seal(session *s, const message *m, sotto_err *err)
{
    sotto_hpke_context *context;
    sotto_buf ciphertext;

    SOTTO_TRY(sotto_buf_take(&ciphertext, s->arena, m->plain.len + SOTTO_HPKE_TAG_SIZE, err));
    SOTTO_TRY(open_sender(&context, s, err));
    if (context == NULL)
        return SOTTO_OK;
    sotto_hpke_context_set_sequence(context, m->sequence);
    sotto_status status = sotto_hpke_context_seal(context, &ciphertext, m->aad, m->plain, err);
    sotto_hpke_context_free(context);
    SOTTO_TRY(status);
    return sotto_vectors_compare(m->ciphertext, sotto_buf_bytes(&ciphertext), "ct", err);
}

/* The first message of a context is also the only one of the one-shot calls. */
static sotto_status check_one_shot_unseal(session *s, const message *m, sotto_err *err)
{
    sotto_buf plain;

    SOTTO_TRY(sotto_buf_take(&plain, s->arena, m->ciphertext.len, err));
    SOTTO_TRY(
        sotto_hpke_unseal(&plain, &s->key, s->suite, s->info, s->enc, m->aad, m->ciphertext, err));
    SOTTO_TRY(sotto_vectors_compare(m->plain, sotto_buf_bytes(&plain), "pt in one shot", err));
    plain.len = 0;
    SOTTO_TRY(sotto_hpke_receiver_unseal(s->receiver, &plain, s->enc, m->aad, m->ciphertext, err));
    return sotto_vectors_compare(m->plain, sotto_buf_bytes(&plain), "pt by a receiver", err);
}

static sotto_status check_one_shot_seal(session *s, const message *m, sotto_err *err)
{
    sotto_hpke_config to = config_of(s);
    sotto_buf sealed;

    if (s->ephemeral_ikm.len == 0)
        return SOTTO_OK;
    SOTTO_TRY(
        sotto_buf_take(&sealed, s->arena, s->enc.len + m->plain.len + SOTTO_HPKE_TAG_SIZE, err));
    SOTTO_TRY(sotto_hpke_seal(&sealed, &to, s->ephemeral_ikm, s->info, m->aad, m->plain, err));
    if (sealed.len < s->enc.len)
        return sotto_fail(err, SOTTO_REJECTED, "ct in one shot: too short");
    SOTTO_TRY(sotto_vectors_compare(s->enc, sotto_bytes_of(sealed.data, s->enc.len),
                                    "enc in one shot", err));
    return sotto_vectors_compare(m->ciphertext,
                                 sotto_bytes_of(sealed.data + s->enc.len, sealed.len - s->enc.len),
                                 "ct in one shot", err);
}

static sotto_status check_encryption(session *s, size_t index, sotto_err *err)
{
    message m;

    SOTTO_TRY(read_message(&m, s, index, err));
    SOTTO_TRY(check_nonce(s, &m, index, err));
    SOTTO_TRY(check_context_unseal(s, &m, err));
    SOTTO_TRY(check_context_seal(s, &m, err));
    if (m.sequence != 0)
        return SOTTO_OK;
    SOTTO_TRY(check_one_shot_unseal(s, &m, err));
    return check_one_shot_seal(s, &m, err);
}

/* ---- exports --------------------------------------------------------------------------------- */

/* Takes the context over. */
static sotto_status check_export_of(session *s, sotto_hpke_context *context, sotto_bytes purpose,
                                    sotto_bytes wanted, const char *what, sotto_err *err)
{
    sotto_buf exported;
    sotto_status status = sotto_buf_take(&exported, s->arena, wanted.len, err);

    if (status == SOTTO_OK)
        status = sotto_hpke_context_export(context, &exported, purpose, wanted.len, err);
    sotto_hpke_context_free(context);
    SOTTO_TRY(status);
    s->compared++;
    return sotto_vectors_compare(wanted, sotto_buf_bytes(&exported), what, err);
}

static sotto_status check_export(session *s, size_t index, sotto_err *err)
{
    const json_t *entry = entry_of(s, "exports", index);
    sotto_hpke_context *context;
    sotto_bytes purpose;
    sotto_bytes wanted;
    uint64_t length;

    SOTTO_TRY(sotto_json_get_hex(&purpose, entry, "exporter_context", s->arena, err));
    SOTTO_TRY(sotto_json_get_uint(&length, entry, "L", err));
    SOTTO_TRY(sotto_json_get_hex(&wanted, entry, "exported_value", s->arena, err));
    if (wanted.len == 0 || wanted.len != length)
        return sotto_fail(err, SOTTO_MALFORMED, "exported_value: not L bytes");
    SOTTO_TRY(sotto_hpke_context_receive(&context, s->receiver, s->enc, err));
    SOTTO_TRY(check_export_of(s, context, purpose, wanted, "exported_value of the receiver", err));
    SOTTO_TRY(open_sender(&context, s, err));
    if (context == NULL)
        return SOTTO_OK;
    return check_export_of(s, context, purpose, wanted, "exported_value of the sender", err);
}

/* ---- counting -------------------------------------------------------------------------------- */

typedef sotto_status (*session_check)(session *s, size_t index, sotto_err *err);

static void count(const sotto_vector_file *file, const json_t *item, const char *name,
                  session_check check, size_t index)
{
    session s;
    sotto_err err = {0};
    sotto_status status = open_session(&s, item, file->arena, &err);

    if (status == SOTTO_OK)
        status = check(&s, index, &err);
    if (status == SOTTO_OK && s.compared == 0)
        status = sotto_fail(&err, SOTTO_MALFORMED, "nothing to compare");
    close_session(&s);
    sotto_vectors_tell(file, name, status, &err);
}

static void count_entries(const sotto_vector_file *file, const json_t *item, const char *prefix,
                          const char *key, const char *noun, session_check check)
{
    const json_t *entries = json_object_get(item, key);
    char name[64];

    if (entries != NULL && !json_is_array(entries)) {
        snprintf(name, sizeof name, "%.8s: not an array", key);
        sotto_tally_fail(file->tally, file->path, prefix, name);
    }
    for (size_t i = 0; i < json_array_size(entries); i++) {
        snprintf(name, sizeof name, "%s%s %zu", prefix, noun, i);
        count(file, item, name, check, i);
    }
}

/* Why a vector of the format is left alone; empty: it isn't. */
static void reason_to_skip(char *reason, size_t size, const json_t *item)
{
    const json_t *mode = json_object_get(item, "mode");
    sotto_hpke_suite suite = {0};
    sotto_hpke_sizes sizes;
    sotto_err err = {0};

    reason[0] = 0;
    if (json_is_integer(mode) && json_integer_value(mode) != BASE_MODE)
        snprintf(reason, size, "only the base mode is implemented");
    else if (read_suite(&suite, item, &err) == SOTTO_OK &&
             sotto_hpke_suite_sizes(&sizes, suite, &err) == SOTTO_MISSING)
        snprintf(reason, size, "%s (KEM %u, KDF %u, AEAD %u)", err.reason, suite.kem, suite.kdf,
                 suite.aead);
}

static void run_item(const sotto_vector_file *file, const json_t *item, const char *number)
{
    char reason[256];
    char name[48];
    char prefix[32] = "";

    if (number[0] != 0)
        snprintf(prefix, sizeof prefix, "%s: ", number);
    snprintf(name, sizeof name, "%skey schedule", prefix);
    reason_to_skip(reason, sizeof reason, item);
    if (reason[0] != 0) {
        sotto_tally_skip(file->tally, file->path, name, reason);
        return;
    }
    count(file, item, name, check_schedule, 0);
    count_entries(file, item, prefix, "encryptions", "encryption", check_encryption);
    count_entries(file, item, prefix, "exports", "export", check_export);
}

void sotto_vectors_hpke(const sotto_vector_file *file)
{
    sotto_vectors_each(file, run_item);
}
