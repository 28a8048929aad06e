#include "learn/projection.h"

#include "base/rule.h"
#include "crypto/xof.h"

#include <string.h>

enum { BLOCK = 256 }; /* bytes of signs at a time */

/* ---- the matrix, a stretch of parameters at a time --------------------------------------------------------------- */

typedef struct walk {
    const sotto_projection *projection;
    sotto_xof_aes stream;
    size_t at;         /* the next parameter           */
    size_t left;       /* ... of its group, to be told */
    size_t slot;       /* ... where it is added to     */
    size_t first, len; /* the stretch at hand          */
    uint8_t signs[BLOCK];
} walk;

static sotto_status begin(walk *w, const sotto_projection *p, sotto_err *err)
{
    uint8_t binder[8];

    memset(w, 0, sizeof *w);
    w->projection = p;
    for (size_t i = 0; i < sizeof binder; i++)
        binder[i] = (uint8_t)(p->round >> 8 * i);
    return sotto_xof_hmac_sha256_aes128_init(&w->stream, sotto_bytes_of("sotto projection", 16),
                                             p->seed, sotto_bytes_of(binder, sizeof binder),
                                             sotto_bytes_of(NULL, 0), err);
}

/* Uniform but for 2^-40. */
static sotto_status begin_group(walk *w, sotto_err *err)
{
    const size_t to = w->projection->to, rest = w->projection->from - w->at;
    uint8_t bytes[8];
    uint64_t number = 0;

    SOTTO_TRY(sotto_xof_aes_next(&w->stream, bytes, sizeof bytes, err));
    for (size_t i = 0; i < sizeof bytes; i++)
        number |= (uint64_t)bytes[i] << 8 * i;
    w->slot = (size_t)(number % to);
    w->left = rest < to ? rest : to;
    return SOTTO_OK;
}

/* len is 0 after the last stretch. Signs of a stretch are bits, the lowest of a byte first. */
static sotto_status next(walk *w, sotto_err *err)
{
    w->first = w->at;
    w->len = 0;
    if (w->at == w->projection->from)
        return SOTTO_OK;
    if (w->left == 0)
        SOTTO_TRY(begin_group(w, err));
    w->len = w->left < 8 * (size_t)BLOCK ? w->left : 8 * (size_t)BLOCK;
    w->left -= w->len;
    w->at += w->len;
    return sotto_xof_aes_next(&w->stream, w->signs, (w->len + 7) / 8, err);
}

static int sign_of(const walk *w, size_t i)
{
    return 1 - 2 * (w->signs[i / 8] >> i % 8 & 1);
}

static void step(walk *w)
{
    if (++w->slot == w->projection->to)
        w->slot = 0;
}

/* ---- both ways ---------------------------------------------------------------------------------------------------- */

sotto_status sotto_projection_init(sotto_projection *out, size_t from, size_t to,
                                   const uint8_t seed[SOTTO_PROJECTION_SEED], uint64_t round,
                                   sotto_err *err)
{
    if (SOTTO_RULE(projection_is_shorter) && (to < 1 || to >= from || from > (size_t)1 << 24))
        return sotto_fail(err, SOTTO_DENIED,
                          "projection: from at most 2^24 parameters to fewer numbers, 1 or more");
    *out = (sotto_projection){.from = from, .to = to, .round = round};
    memcpy(out->seed, seed, sizeof out->seed);
    return SOTTO_OK;
}

sotto_status sotto_projection_apply(const sotto_projection *p, double *out, const float *x,
                                    sotto_err *err)
{
    walk w;
    sotto_status status = begin(&w, p, err);

    for (size_t i = 0; i < p->to; i++)
        out[i] = 0;
    while (status == SOTTO_OK && (status = next(&w, err)) == SOTTO_OK && w.len > 0)
        for (size_t i = 0; i < w.len; i++, step(&w))
            out[w.slot] += sign_of(&w, i) * (double)x[w.first + i];
    sotto_xof_aes_clear(&w.stream);
    return status;
}

sotto_status sotto_projection_lift(const sotto_projection *p, int64_t *out, const int64_t *y,
                                   sotto_err *err)
{
    walk w;
    sotto_status status = begin(&w, p, err);

    while (status == SOTTO_OK && (status = next(&w, err)) == SOTTO_OK && w.len > 0)
        for (size_t i = 0; i < w.len; i++, step(&w))
            out[w.first + i] = sign_of(&w, i) * y[w.slot];
    sotto_xof_aes_clear(&w.stream);
    return status;
}
