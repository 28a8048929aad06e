/* The library knows no other way to make a table for a generator of one's own than a function it calls deprecated. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "crypto/group_wide.h"

#include "crypto/bignum.h"
#include "crypto/group_curve.h"

#include <string.h>

#include <openssl/ec.h>
#include <openssl/err.h>

static void expect(sotto_group *g, int ok)
{
    if (ok <= 0)
        g->failed = true;
}

bool sotto_point_decode_wide(sotto_group *g, sotto_point *out, const uint8_t bytes[SOTTO_P256_WIDE])
{
    g->decoded++;
    if (out && bytes[0] == POINT_CONVERSION_UNCOMPRESSED &&
        EC_POINT_oct2point(g->ec, out, bytes, SOTTO_P256_WIDE, g->numbers))
        return true;
    ERR_clear_error();
    return false;
}

bool sotto_point_encode_wide(sotto_group *g, uint8_t out[SOTTO_P256_WIDE], const sotto_point *p)
{
    if (p && !EC_POINT_is_at_infinity(g->ec, p)) {
        if (EC_POINT_point2oct(g->ec, p, POINT_CONVERSION_UNCOMPRESSED, out, SOTTO_P256_WIDE,
                               g->numbers) == SOTTO_P256_WIDE)
            return true;
        g->failed = true;
    }
    memset(out, 0, SOTTO_P256_WIDE);
    return false;
}

sotto_status sotto_group_init_at(sotto_group *g, const sotto_curve *curve,
                                 const sotto_point *generator, sotto_err *err)
{
    SOTTO_TRY(sotto_group_init(g, curve, err));
    expect(g, EC_GROUP_set_generator(g->ec, generator, EC_GROUP_get0_order(g->ec), BN_value_one()));
    return sotto_group_finish(g, err);
}

sotto_status sotto_group_prepare(sotto_group *g, sotto_err *err)
{
    expect(g, EC_GROUP_precompute_mult(g->ec, g->numbers));
    return sotto_group_finish(g, err);
}

static BIGNUM *load(sotto_group *g, const sotto_scalar *s)
{
    BIGNUM *n = BN_CTX_get(g->numbers);

    return sotto_bignum_load(n, s->be, g->scalar_size) ? n : NULL;
}

void sotto_point_multiply_both(sotto_group *g, sotto_point *out, const sotto_scalar *a,
                               const sotto_scalar *b, const sotto_point *p)
{
    BN_CTX_start(g->numbers);
    const BIGNUM *x = load(g, a), *y = load(g, b);
    expect(g, out && p && x && y && EC_POINT_mul(g->ec, out, x, p, y, g->numbers));
    BN_CTX_end(g->numbers);
    g->multiplied += 2;
}

void sotto_point_set_identity(sotto_group *g, sotto_point *out)
{
    expect(g, out && EC_POINT_set_to_infinity(g->ec, out));
}

void sotto_point_copy(sotto_group *g, sotto_point *out, const sotto_point *p)
{
    expect(g, out && p && EC_POINT_copy(out, p));
}

void sotto_scalar_negate(sotto_group *g, sotto_scalar *out, const sotto_scalar *a)
{
    sotto_scalar zero;

    sotto_scalar_set(g, &zero, 0);
    sotto_scalar_subtract(g, out, &zero, a);
}
