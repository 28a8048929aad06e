#include "aggregate/shared/drand.h"

#include "base/hex.h"
#include "base/rule.h"
#include "crypto/hash.h"

#include <string.h>

/* ---- a flat object of JSON --------------------------------------------------------------------------------------------- */

/* What is left. Texts have no escapes: hexadecimal digits and names need none. */
typedef struct scanner {
    const uint8_t *at, *end;
} scanner;

static void skip_space(scanner *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\n' || *s->at == '\r'))
        s->at++;
}

static bool take(scanner *s, uint8_t c)
{
    skip_space(s);
    if (s->at == s->end || *s->at != c)
        return false;
    s->at++;
    return true;
}

static bool take_text(scanner *s, sotto_bytes *out)
{
    if (!take(s, '"'))
        return false;
    const uint8_t *from = s->at;
    while (s->at < s->end && *s->at != '"' && *s->at != '\\' && *s->at >= 0x20)
        s->at++;
    *out = sotto_bytes_of(from, (size_t)(s->at - from));
    return s->at < s->end && *s->at++ == '"';
}

/* A whole number with one spelling, below 2^53: what all readers of JSON take for the same. */
static bool take_number(scanner *s, uint64_t *out)
{
    skip_space(s);
    const uint8_t *from = s->at;
    *out = 0;
    while (s->at < s->end && *s->at >= '0' && *s->at <= '9' && s->at - from < 16)
        *out = *out * 10 + (uint64_t)(*s->at++ - '0');
    return s->at > from && (*from != '0' || s->at - from == 1) && *out < UINT64_C(1) << 53;
}

/* ---- its members --------------------------------------------------------------------------------------------------------- */

typedef struct reading {
    sotto_drand *out;
    bool has_round, has_randomness;
} reading;

static bool take_signature(uint8_t out[SOTTO_DRAND_SIGNATURE], size_t *len, sotto_bytes text)
{
    const bool is_size = text.len == 2 * SOTTO_DRAND_SIGNATURE || text.len == SOTTO_DRAND_SIGNATURE;

    if (*len || !is_size || !sotto_hex_decode(out, text.len / 2, text))
        return false;
    *len = text.len / 2;
    return true;
}

static bool take_known(reading *r, sotto_bytes key, sotto_bytes text)
{
    sotto_drand *out = r->out;

    if (sotto_bytes_equal_vartime(key, sotto_bytes_of("randomness", 10))) {
        const bool first = !r->has_randomness;

        r->has_randomness = true;
        return first && sotto_hex_decode(out->randomness, sizeof out->randomness, text);
    }
    if (sotto_bytes_equal_vartime(key, sotto_bytes_of("signature", 9)))
        return take_signature(out->signature, &out->signature_len, text);
    if (sotto_bytes_equal_vartime(key, sotto_bytes_of("previous_signature", 18)))
        return take_signature(out->previous, &out->previous_len, text);
    /* A round in quotes is none. */
    return !sotto_bytes_equal_vartime(key, sotto_bytes_of("round", 5));
}

static bool take_member(scanner *s, reading *r)
{
    sotto_bytes key, text;
    uint64_t number;

    if (!take_text(s, &key) || !take(s, ':'))
        return false;
    skip_space(s);
    if (s->at < s->end && *s->at == '"')
        return take_text(s, &text) && take_known(r, key, text);
    if (!take_number(s, &number))
        return false;
    if (!sotto_bytes_equal_vartime(key, sotto_bytes_of("round", 5)))
        return take_known(r, key, sotto_bytes_of(NULL, 0));
    const bool first = !r->has_round;
    r->has_round = true;
    r->out->round = number;
    return first && number > 0;
}

sotto_status sotto_drand_decode(sotto_drand *out, sotto_bytes json, sotto_err *err)
{
    scanner s = {json.data, json.data ? json.data + json.len : json.data};
    reading r = {.out = out};
    bool good;

    memset(out, 0, sizeof *out);
    good = take(&s, '{') && take_member(&s, &r);
    while (good && take(&s, ','))
        good = take_member(&s, &r);
    good = good && take(&s, '}');
    skip_space(&s);
    if (!good || s.at != s.end || !r.has_round || !r.has_randomness || out->signature_len == 0)
        return sotto_fail(err, SOTTO_MALFORMED, "drand: wanted round, randomness and signature");
    return SOTTO_OK;
}

/* ---- its value ------------------------------------------------------------------------------------------------------------- */

static sotto_status check(const sotto_drand *d, uint64_t round, sotto_drand_verify_fn *verify,
                          void *context, sotto_err *err)
{
    uint8_t hash[32];

    if (SOTTO_RULE(drand_agreed_round) && d->round != round)
        return sotto_fail(err, SOTTO_STALE, "drand: round %llu; %llu was agreed on",
                          (unsigned long long)d->round, (unsigned long long)round);
    sotto_hash_once(hash, SOTTO_SHA256, sotto_bytes_of(d->signature, d->signature_len));
    if (SOTTO_RULE(drand_hash) && memcmp(hash, d->randomness, sizeof hash) != 0)
        return sotto_fail(err, SOTTO_REJECTED, "drand: the randomness is not the signature's");
    if (SOTTO_RULE(drand_verified) && verify(context, d, NULL) != SOTTO_OK)
        return sotto_fail(err, SOTTO_REJECTED, "drand: the signature of round %llu is not right",
                          (unsigned long long)d->round);
    return SOTTO_OK;
}

sotto_status sotto_drand_value(uint8_t out[32], const sotto_beacon_input *input, uint64_t round,
                               sotto_bytes json, sotto_drand_verify_fn *verify, void *context,
                               sotto_err *err)
{
    static const char tag[] = "sotto drand 1";
    uint8_t text[sizeof tag + 32 + 32 + 8 + 32], *at = text;
    sotto_drand d;

    if (!verify)
        return sotto_fail(err, SOTTO_DENIED, "drand: nobody here can check its signature");
    SOTTO_TRY(sotto_drand_decode(&d, json, err));
    SOTTO_TRY(check(&d, round, verify, context, err));
    memcpy(at, tag, sizeof tag);
    at += sizeof tag;
    memcpy(at, input->session, 32);
    memcpy(at + 32, input->registry, 32);
    for (unsigned i = 0; i < 8; i++)
        at[64 + i] = (uint8_t)(input->epoch >> 8 * (7 - i));
    memcpy(at + 72, d.randomness, 32);
    sotto_hash_once(out, SOTTO_SHA256, sotto_bytes_of(text, sizeof text));
    return SOTTO_OK;
}
