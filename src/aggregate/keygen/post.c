#include "aggregate/keygen/keygen.h"

#include "base/rule.h"
#include "crypto/hash.h"

#include <string.h>

static const char WHAT[] = "post of a key generation";

/* ---- wire ---------------------------------------------------------------------------------------------------- */

sotto_status sotto_keygen_post_encode(sotto_buf *out, const sotto_keygen_post *p, sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_write_uint(&w, p->step, 1);
    sotto_write_uint(&w, p->place, 2);
    sotto_write_opaque32(&w, p->body);
    sotto_write_bytes(&w, sotto_bytes_of(p->signature, sizeof p->signature));
    return sotto_writer_finish(&w, WHAT, err);
}

sotto_status sotto_keygen_post_decode(sotto_keygen_post *p, sotto_bytes wire, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);

    p->step = (unsigned)sotto_read_uint(&in, 1);
    p->place = (uint32_t)sotto_read_uint(&in, 2);
    p->body = sotto_read_opaque32(&in);
    sotto_read_fixed(&in, p->signature, sizeof p->signature);
    SOTTO_TRY(sotto_reader_finish(&in, WHAT, err));
    if (p->step < SOTTO_KEYGEN_DEAL || p->step >= SOTTO_KEYGEN_OVER ||
        p->body.len > SOTTO_KEYGEN_MOST_BODY)
        return sotto_fail(err, SOTTO_MALFORMED, "%s: no such step, or too long", WHAT);
    return SOTTO_OK;
}

/* ---- bodies --------------------------------------------------------------------------------------------------- */

/* Places below the limit, ascending; with two values behind each unless `values` is NULL. */
static sotto_status decode_places(uint16_t *at, uint32_t *count, const uint8_t **values,
                                  sotto_bytes body, uint32_t limit, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(body);
    bool wrong = false;

    *count = (uint32_t)sotto_read_uint(&in, 2);
    if (*count > limit || limit > SOTTO_DECRYPTORS_MOST)
        return sotto_fail(err, SOTTO_MALFORMED, "%s: %u places", WHAT, *count);
    for (uint32_t i = 0; i < *count; i++) {
        at[i] = (uint16_t)sotto_read_uint(&in, 2);
        if (values)
            values[i] = sotto_read_bytes(&in, 2 * SOTTO_P256_SCALAR).data;
        wrong = wrong || at[i] >= limit || (i > 0 && at[i] <= at[i - 1]);
    }
    SOTTO_TRY(sotto_reader_finish(&in, WHAT, err));
    return wrong ? sotto_fail(err, SOTTO_MALFORMED, "%s: places do not ascend", WHAT) : SOTTO_OK;
}

sotto_status sotto_keygen_places_decode(sotto_keygen_places *out, sotto_bytes body, uint32_t limit,
                                        sotto_err *err)
{
    return decode_places(out->at, &out->count, NULL, body, limit, err);
}

static uint32_t size_of(const bool *set, uint32_t count)
{
    uint32_t size = 0;

    for (uint32_t i = 0; i < count; i++)
        size += set[i];
    return size;
}

sotto_status sotto_keygen_places_encode(sotto_buf *out, const bool *set, uint32_t count,
                                        sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_write_uint(&w, size_of(set, count), 2);
    for (uint32_t i = 0; i < count; i++)
        if (set[i])
            sotto_write_uint(&w, i, 2);
    return sotto_writer_finish(&w, WHAT, err);
}

sotto_status sotto_keygen_shown_decode(sotto_keygen_shown *out, sotto_bytes body, uint32_t limit,
                                       sotto_err *err)
{
    return decode_places(out->at, &out->count, out->values, body, limit, err);
}

sotto_status sotto_keygen_shown_encode(sotto_buf *out, const bool *set,
                                       const sotto_dkg_values *values, uint32_t count,
                                       sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_write_uint(&w, size_of(set, count), 2);
    for (uint32_t i = 0; i < count; i++) {
        if (!set[i])
            continue;
        sotto_write_uint(&w, i, 2);
        sotto_write_bytes(&w, sotto_bytes_of(values[i].a.be, SOTTO_P256_SCALAR));
        sotto_write_bytes(&w, sotto_bytes_of(values[i].b.be, SOTTO_P256_SCALAR));
    }
    return sotto_writer_finish(&w, WHAT, err);
}

static bool fits(const sotto_keygen *k, const sotto_keygen_post *p)
{
    const size_t points = 2 + (size_t)k->threshold * SOTTO_P256_WIDE;
    sotto_keygen_places places;
    sotto_keygen_shown shown;

    switch (p->step) {
    case SOTTO_KEYGEN_DEAL:
        return p->body.len == points + (size_t)k->count * SOTTO_KEYGEN_SEALED;
    case SOTTO_KEYGEN_REVEAL:
        return p->body.len == 2 || p->body.len == points;
    case SOTTO_KEYGEN_COMPLAIN:
    case SOTTO_KEYGEN_VOTE:
        return sotto_keygen_places_decode(&places, p->body, k->dealers, NULL) == SOTTO_OK;
    case SOTTO_KEYGEN_ANSWER:
        return sotto_keygen_shown_decode(&shown, p->body, k->count, NULL) == SOTTO_OK;
    case SOTTO_KEYGEN_ACCUSE:
    case SOTTO_KEYGEN_SHOW:
        return sotto_keygen_shown_decode(&shown, p->body, k->dealers, NULL) == SOTTO_OK;
    case SOTTO_KEYGEN_AGREE:
        return p->body.len == 32;
    default:
        return p->body.len == SOTTO_SIGNATURE;
    }
}

/* ---- signatures ------------------------------------------------------------------------------------------------ */

static const char LABEL[19] = "sotto-keygen-post-1";
enum { TEXT = sizeof LABEL + SOTTO_KEYGEN_ID + 1 + 2 + 32 };

static void signed_text(uint8_t out[TEXT], const sotto_keygen *k, const sotto_keygen_post *p)
{
    sotto_buf written = sotto_buf_over(out, TEXT);
    sotto_writer w = sotto_writer_on(&written);
    uint8_t digest[32];

    sotto_hash_once(digest, SOTTO_SHA256, p->body);
    sotto_write_bytes(&w, sotto_bytes_of(LABEL, sizeof LABEL));
    sotto_write_bytes(&w, sotto_bytes_of(k->id, sizeof k->id));
    sotto_write_uint(&w, p->step, 1);
    sotto_write_uint(&w, p->place, 2);
    sotto_write_bytes(&w, sotto_bytes_of(digest, sizeof digest));
}

sotto_status sotto_keygen_post_sign(const sotto_keygen *k, sotto_keygen_post *p,
                                    const sotto_signer *signer, sotto_err *err)
{
    uint8_t text[TEXT];

    signed_text(text, k, p);
    return sotto_sign(signer, p->signature, sotto_bytes_of(text, sizeof text), err);
}

sotto_status sotto_keygen_post_check(const sotto_keygen *k, const sotto_keygen_post *p,
                                     sotto_err *err)
{
    const uint32_t *indices;
    uint8_t text[TEXT];

    if (k->hands_on && p->step > SOTTO_KEYGEN_AGREE && p->step < SOTTO_KEYGEN_RECORD)
        return sotto_fail(err, SOTTO_MALFORMED, "%s: a hand-over has no such step", WHAT);
    if (p->place >= sotto_keygen_senders(k, p->step, &indices))
        return sotto_fail(err, SOTTO_REJECTED, "%s: nobody is at place %u", WHAT, p->place);
    if (!fits(k, p))
        return sotto_fail(err, SOTTO_MALFORMED, "%s: not the form of step %u", WHAT, p->step);
    const uint8_t *key = sotto_registry_key(&k->posting.registry, indices[p->place]);
    signed_text(text, k, p);
    if (SOTTO_RULE(keygen_post_signed) &&
        (!key || sotto_signature_check(key, p->signature, sotto_bytes_of(text, sizeof text),
                                       NULL) != SOTTO_OK))
        return sotto_fail(err, SOTTO_REJECTED, "%s: not signed by who is at place %u", WHAT,
                          p->place);
    return SOTTO_OK;
}

void sotto_keygen_board_put(sotto_keygen_board *b, const sotto_keygen_post *p)
{
    if (b->is_there[p->step][p->place])
        return;
    b->is_there[p->step][p->place] = true;
    b->body[p->step][p->place] = p->body;
}
