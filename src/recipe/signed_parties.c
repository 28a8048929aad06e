#include "recipe/signed_parties.h"

#include "base/hex.h"
#include "base/rule.h"
#include "base/writer.h"
#include "crypto/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* How a file begins, and what its failures call it. */
static const struct form {
    const char *tag, *name;
    size_t most;
} forms[] = {
    [SOTTO_SIGNED_PARTIES] = {"sotto-parties-1 ", "signed parties file", SOTTO_SIGNED_PARTIES_MAX},
    [SOTTO_SIGNED_KEYS] = {"sotto-token-keys-1 ", "signed list of token keys",
                           SOTTO_SIGNED_KEYS_MAX},
};

enum {
    TAG = sizeof "sotto-token-keys-1 " - 1, /* the longest */
    SERIAL_DIGITS = 19,                     /* of 2^63 - 1 */
    DIGEST = 32,
    KEY_HEX = 2 * SOTTO_SIGN_PUBLIC,
    SIGNATURE_HEX = 2 * SOTTO_SIGNATURE,
    LINE = KEY_HEX + 1 + SIGNATURE_HEX + 1
};

/* ---- what is signed --------------------------------------------------------------------------------------- */

/* The first line and the file's SHA-256: short enough to need no memory. */
typedef struct signed_text {
    uint8_t bytes[TAG + SERIAL_DIGITS + 2 + DIGEST];
    size_t len;
} signed_text;

static signed_text text_of(const sotto_signed_parties *file)
{
    signed_text text = {{0}, 0};
    int len = snprintf((char *)text.bytes, TAG + SERIAL_DIGITS + 2, "%s%" PRIu64 "\n",
                       forms[file->kind].tag, file->serial & INT64_MAX);

    text.len = (size_t)len + DIGEST;
    sotto_hash_once(text.bytes + len, SOTTO_SHA256, file->parties);
    return text;
}

sotto_status sotto_signed_parties_sign(sotto_signed_parties *file, const sotto_signer *signer,
                                       sotto_err *err)
{
    const signed_text text = text_of(file);
    size_t at = 0;

    while (at < file->count && memcmp(file->by[at].key, signer->public_key, SOTTO_SIGN_PUBLIC) != 0)
        at++;
    if (at == SOTTO_PARTIES_SIGNERS)
        return sotto_fail(err, SOTTO_TOO_LARGE, "a parties file has %d signatures at most",
                          SOTTO_PARTIES_SIGNERS);
    SOTTO_TRY(
        sotto_sign(signer, file->by[at].signature, sotto_bytes_of(text.bytes, text.len), err));
    memcpy(file->by[at].key, signer->public_key, SOTTO_SIGN_PUBLIC);
    file->count += at == file->count;
    return SOTTO_OK;
}

static const sotto_parties_signature *signature_of(const sotto_signed_parties *file,
                                                   sotto_bytes key)
{
    for (size_t i = 0; i < file->count; i++)
        if (sotto_bytes_equal_vartime(key, sotto_bytes_of(file->by[i].key, SOTTO_SIGN_PUBLIC)))
            return &file->by[i];
    return NULL;
}

static sotto_status refuse_signers(const sotto_policy *policy, size_t good, sotto_err *err)
{
    if (policy->parties_key_count == 0)
        return sotto_fail(err, SOTTO_DENIED, "the policy names no key that may sign parties files");
    return sotto_fail(err, SOTTO_DENIED,
                      "parties file: signed by %zu of the keys that the policy names; it wants %zu",
                      good, policy->parties_signatures);
}

sotto_status sotto_signed_parties_by(const sotto_signed_parties *file, sotto_bytes key,
                                     sotto_err *err)
{
    const sotto_parties_signature *by = signature_of(file, key);
    const signed_text text = text_of(file);

    if (!by)
        return sotto_fail(err, SOTTO_MISSING, "this key did not sign it");
    return sotto_signature_check(by->key, by->signature, sotto_bytes_of(text.bytes, text.len), err);
}

sotto_status sotto_signed_parties_check(const sotto_signed_parties *file,
                                        const sotto_policy *policy, sotto_err *err)
{
    size_t good = 0;

    for (size_t i = 0; i < policy->parties_key_count; i++) {
        const sotto_bytes key = policy->parties_keys[i].key;
        sotto_err why = {0};

        if (!signature_of(file, key))
            continue;
        const sotto_status status = sotto_signed_parties_by(file, key, &why);
        if (SOTTO_RULE(parties_signature_holds) && status != SOTTO_OK)
            return sotto_fail(err, status, "parties file: %s", why.reason);
        good++;
    }
    if (SOTTO_RULE(parties_signed_by_the_policy_s_keys) &&
        (good == 0 || good < policy->parties_signatures))
        return refuse_signers(policy, good, err);
    return SOTTO_OK;
}

/* ---- the file --------------------------------------------------------------------------------------------- */

static bool begins_as(sotto_bytes file, const struct form *form)
{
    const size_t len = strlen(form->tag);

    return file.len >= len && memcmp(file.data, form->tag, len) == 0;
}

bool sotto_signed_parties_is(sotto_bytes file)
{
    return begins_as(file, &forms[SOTTO_SIGNED_PARTIES]);
}

static bool read_serial(sotto_reader *in, uint64_t *serial)
{
    uint64_t value = 0;
    uint8_t c = (uint8_t)sotto_read_uint(in, 1);

    if (c < '1' || c > '9') /* one spelling for each number */
        return false;
    for (unsigned digits = 0; c >= '0' && c <= '9'; c = (uint8_t)sotto_read_uint(in, 1)) {
        if (++digits > SERIAL_DIGITS)
            return false;
        value = 10 * value + (c - '0');
    }
    *serial = value;
    return c == '\n' && value <= INT64_MAX;
}

static bool read_signature(sotto_reader *in, sotto_signed_parties *out)
{
    sotto_parties_signature *by = &out->by[out->count];
    const sotto_bytes line = sotto_read_bytes(in, LINE);

    if (line.len != LINE || line.data[KEY_HEX] != ' ' || line.data[LINE - 1] != '\n' ||
        !sotto_hex_decode(by->key, sizeof by->key, sotto_bytes_of(line.data, KEY_HEX)) ||
        !sotto_hex_decode(by->signature, sizeof by->signature,
                          sotto_bytes_of(line.data + KEY_HEX + 1, SIGNATURE_HEX)))
        return false;
    if (signature_of(out, sotto_bytes_of(by->key, sizeof by->key)))
        return false; /* one for each key */
    out->count++;
    return true;
}

static bool read_signatures(sotto_reader *in, sotto_signed_parties *out)
{
    do {
        if (out->count == SOTTO_PARTIES_SIGNERS || !read_signature(in, out))
            return false;
    } while (sotto_reader_left(in) > 0 && *in->at != '\n');
    return sotto_read_uint(in, 1) == '\n';
}

static sotto_status decode(sotto_signed_parties *out, sotto_signed_kind kind, sotto_bytes file,
                           sotto_err *err)
{
    const struct form *form = &forms[kind];
    sotto_reader in = sotto_reader_over(file);

    *out = (sotto_signed_parties){.kind = kind};
    if (file.len > form->most)
        return sotto_fail(err, SOTTO_TOO_LARGE, "%s: more than %zu bytes", form->name, form->most);
    if (!begins_as(file, form))
        return sotto_fail(err, SOTTO_MALFORMED, "no %s", form->name);
    (void)sotto_read_bytes(&in, strlen(form->tag));
    if (!read_serial(&in, &out->serial))
        return sotto_fail(err, SOTTO_MALFORMED, "%s: no serial number", form->name);
    if (!read_signatures(&in, out))
        return sotto_fail(err, SOTTO_MALFORMED, "%s: no list of keys and signatures", form->name);
    out->parties = sotto_read_bytes(&in, sotto_reader_left(&in));
    return sotto_reader_finish(&in, form->name, err);
}

sotto_status sotto_signed_parties_decode(sotto_signed_parties *out, sotto_bytes file,
                                         sotto_err *err)
{
    return decode(out, SOTTO_SIGNED_PARTIES, file, err);
}

sotto_status sotto_signed_keys_decode(sotto_signed_parties *out, sotto_bytes file, sotto_err *err)
{
    return decode(out, SOTTO_SIGNED_KEYS, file, err);
}

sotto_status sotto_signed_parties_encode(sotto_buf *out, const sotto_signed_parties *file,
                                         sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_write_format(&w, "%s%" PRIu64 "\n", forms[file->kind].tag, file->serial);
    for (size_t i = 0; i < file->count; i++) {
        char key[KEY_HEX + 1], signature[SIGNATURE_HEX + 1];

        sotto_hex_encode(key, sotto_bytes_of(file->by[i].key, SOTTO_SIGN_PUBLIC));
        sotto_hex_encode(signature, sotto_bytes_of(file->by[i].signature, SOTTO_SIGNATURE));
        sotto_write_format(&w, "%s %s\n", key, signature);
    }
    sotto_write_format(&w, "\n");
    sotto_write_bytes(&w, file->parties);
    return sotto_writer_finish(&w, forms[file->kind].name, err);
}

/* ---- in another's place ----------------------------------------------------------------------------------- */

bool sotto_parties_same_servers(const sotto_parties *a, const sotto_parties *b)
{
    bool same = a->count == b->count;

    for (size_t i = 0; same && i < a->count; i++) { /* names are unique in a file */
        const sotto_party_entry *x = &a->entries[i], *y = sotto_parties_find(b, x->name);

        same = y && x->role == y->role && sotto_bytes_equal_vartime(x->url, y->url);
    }
    return same;
}

bool sotto_signed_parties_ahead(uint64_t serial, int64_t now)
{
    return serial > (uint64_t)now + SOTTO_PARTIES_DAYS_AHEAD * UINT64_C(86400);
}
