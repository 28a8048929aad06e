/* Hashing to scalars and points (RFC 9380), over inputs that are public: contexts, challenges, encodings. */
#include "crypto/group_curve.h"

#include <string.h>

#include <openssl/bn.h>
#include <openssl/ec.h>

enum { WIDE_MAX = 72 };

/* ---- expand_message_xmd (5.3.1) ------------------------------------------------------------------------------ */

static void end_block(sotto_hash *hash, uint8_t *out, uint8_t index, sotto_bytes dst)
{
    const uint8_t dst_len = (uint8_t)dst.len;

    sotto_hash_update(hash, sotto_bytes_of(&index, 1));
    sotto_hash_update(hash, dst);
    sotto_hash_update(hash, sotto_bytes_of(&dst_len, 1));
    sotto_hash_final(hash, out);
}

static void expand(const sotto_curve *curve, uint8_t *out, size_t len, sotto_bytes dst,
                   const sotto_bytes *message, size_t parts)
{
    static const uint8_t zeros[SOTTO_HASH_MAX_BLOCK];
    const uint8_t length[2] = {(uint8_t)(len >> 8), (uint8_t)len};
    const size_t size = sotto_hash_size(curve->hash);
    uint8_t first[SOTTO_HASH_MAX_SIZE], block[SOTTO_HASH_MAX_SIZE] = {0};
    sotto_hash hash;

    sotto_hash_init(&hash, curve->hash);
    sotto_hash_update(&hash, sotto_bytes_of(zeros, sotto_hash_block(curve->hash)));
    for (size_t i = 0; i < parts; i++)
        sotto_hash_update(&hash, message[i]);
    sotto_hash_update(&hash, sotto_bytes_of(length, sizeof length));
    end_block(&hash, first, 0, dst);
    for (uint8_t index = 1; len > 0; index++) {
        const size_t some = len < size ? len : size;

        for (size_t i = 0; i < size; i++)
            block[i] ^= first[i];
        sotto_hash_init(&hash, curve->hash);
        sotto_hash_update(&hash, sotto_bytes_of(block, size));
        end_block(&hash, block, index, dst);
        memcpy(out, block, some);
        out += some;
        len -= some;
    }
}

void sotto_scalar_hash_vartime(sotto_group *g, sotto_scalar *out, sotto_bytes dst,
                               const sotto_bytes *message, size_t parts)
{
    uint8_t wide[WIDE_MAX];

    expand(g->curve, wide, g->curve->wide, dst, message, parts);
    sotto_scalar_reduce_vartime(g, out, sotto_bytes_of(wide, g->curve->wide));
}

/* ---- the simplified SWU map (6.6.2), straight from its description --------------------------------------------- */

typedef struct swu {
    BN_CTX *ctx;
    BIGNUM *p, *a, *b, *z;
    BIGNUM *root_exponent; /* (p + 1) / 4: both primes are 3 modulo 4 */
    BIGNUM *u, *t, *tt, *x, *y, *gx;
} swu;

static int swu_init(swu *s, const sotto_group *g)
{
    BIGNUM **all[] = {&s->p, &s->a,  &s->b, &s->z, &s->root_exponent, &s->u, &s->t,
                      &s->x, &s->tt, &s->y, &s->gx};

    s->ctx = g->numbers;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (!(*all[i] = BN_CTX_get(s->ctx)))
            return 0;
    return EC_GROUP_get_curve(g->ec, s->p, s->a, s->b, s->ctx) && BN_copy(s->z, s->p) &&
           BN_sub_word(s->z, g->curve->minus_z) && BN_copy(s->root_exponent, s->p) &&
           BN_add_word(s->root_exponent, 1) && BN_rshift(s->root_exponent, s->root_exponent, 2);
}

/* gx = x^3 + a x + b, y = a root of it where it has one. Returns 1 if it has, 0 if not, -1 on failure. */
static int solve(swu *s)
{
    if (!BN_mod_sqr(s->gx, s->x, s->p, s->ctx) || !BN_mod_add(s->gx, s->gx, s->a, s->p, s->ctx) ||
        !BN_mod_mul(s->gx, s->gx, s->x, s->p, s->ctx) ||
        !BN_mod_add(s->gx, s->gx, s->b, s->p, s->ctx) ||
        !BN_mod_exp(s->y, s->gx, s->root_exponent, s->p, s->ctx) ||
        !BN_mod_sqr(s->t, s->y, s->p, s->ctx))
        return -1;
    return BN_cmp(s->t, s->gx) == 0;
}

/* x = x1 of the map, tt = z u^2. */
static int first_candidate(swu *s)
{
    if (!BN_mod_sqr(s->tt, s->u, s->p, s->ctx) || !BN_mod_mul(s->tt, s->tt, s->z, s->p, s->ctx) ||
        !BN_mod_sqr(s->t, s->tt, s->p, s->ctx) || !BN_mod_add(s->t, s->t, s->tt, s->p, s->ctx))
        return 0;
    /* x1 = (-b / a) (1 + 1 / t), or b / (z a) where t is zero. */
    if (BN_is_zero(s->t)) {
        if (!BN_mod_mul(s->x, s->z, s->a, s->p, s->ctx) ||
            !BN_mod_inverse(s->x, s->x, s->p, s->ctx))
            return 0;
        return BN_mod_mul(s->x, s->x, s->b, s->p, s->ctx);
    }
    return BN_mod_mul(s->y, s->t, s->a, s->p, s->ctx) && BN_mod_inverse(s->y, s->y, s->p, s->ctx) &&
           BN_add_word(s->t, 1) && BN_mod_mul(s->y, s->y, s->t, s->p, s->ctx) &&
           BN_sub(s->t, s->p, s->b) && BN_mod_mul(s->x, s->y, s->t, s->p, s->ctx);
}

static int map(const sotto_group *g, EC_POINT *out, const uint8_t *wide)
{
    swu s;
    int ok = 0, found = -1;

    BN_CTX_start(g->numbers);
    if (swu_init(&s, g) && BN_bin2bn(wide, (int)g->curve->wide, s.u) &&
        BN_nnmod(s.u, s.u, s.p, s.ctx) && first_candidate(&s))
        found = solve(&s);
    if (found == 0 && BN_mod_mul(s.x, s.x, s.tt, s.p, s.ctx))
        found = solve(&s);
    if (found == 1) {
        if (BN_is_odd(s.u) != BN_is_odd(s.y))
            found = BN_sub(s.y, s.p, s.y);
        ok = found && EC_POINT_set_affine_coordinates(g->ec, out, s.x, s.y, s.ctx);
    }
    BN_CTX_end(g->numbers);
    return ok;
}

void sotto_point_hash_vartime(sotto_group *g, sotto_point *out, sotto_bytes dst,
                              const sotto_bytes *message, size_t parts)
{
    uint8_t wide[2 * WIDE_MAX];
    sotto_point *second = sotto_point_new(g);

    expand(g->curve, wide, 2 * g->curve->wide, dst, message, parts);
    if (!out || !second || !map(g, out, wide) || !map(g, second, wide + g->curve->wide))
        g->failed = true;
    else
        sotto_point_add(g, out, out, second);
    sotto_point_free(second);
}
