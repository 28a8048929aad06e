#include "crypto/group.h"

#include "base/declassify.h"
#include "crypto/bignum.h"
#include "crypto/group_curve.h"
#include "sotto/random.h"

#include <string.h>

#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/obj_mac.h>

const sotto_curve sotto_p256 = {"P-256", NID_X9_62_prime256v1, 32, 48, 10, SOTTO_SHA256};
const sotto_curve sotto_p384 = {"P-384", NID_secp384r1, 48, 72, 12, SOTTO_SHA384};

sotto_status sotto_group_init(sotto_group *g, const sotto_curve *curve, sotto_err *err)
{
    memset(g, 0, sizeof *g);
    g->curve = curve;
    g->scalar_size = curve->size;
    g->point_size = curve->size + 1;
    g->ec = EC_GROUP_new_by_curve_name(curve->nid);
    g->numbers = BN_CTX_new();
    g->modulo_order = BN_MONT_CTX_new();
    g->failed = !g->ec || !g->numbers || !g->modulo_order ||
                !BN_MONT_CTX_set(g->modulo_order, EC_GROUP_get0_order(g->ec), g->numbers);
    return sotto_group_finish(g, err);
}

void sotto_group_clear(sotto_group *g)
{
    BN_MONT_CTX_free(g->modulo_order);
    BN_CTX_free(g->numbers); /* wipes every scratch number */
    EC_GROUP_free(g->ec);
    memset(g, 0, sizeof *g);
}

sotto_status sotto_group_finish(sotto_group *g, sotto_err *err)
{
    bool failed = g->failed;

    g->failed = false;
    if (!failed)
        return SOTTO_OK;
    ERR_clear_error();
    return sotto_fail(err, SOTTO_NO_MEMORY, "%s: the crypto library failed", g->curve->name);
}

static void expect(sotto_group *g, int ok)
{
    if (ok <= 0)
        g->failed = true;
}

/* ---- scalars ------------------------------------------------------------------------------------------------ */

/* A scratch number of the frame that is open. */
static BIGNUM *load(sotto_group *g, const sotto_scalar *s)
{
    BIGNUM *n = BN_CTX_get(g->numbers);

    return sotto_bignum_load(n, s->be, g->scalar_size) ? n : NULL;
}

static void store(sotto_group *g, sotto_scalar *out, const BIGNUM *n, int ok)
{
    if (ok <= 0 || !sotto_bignum_store_secret(out->be, g->scalar_size, n)) {
        g->failed = true;
        sotto_wipe(out, sizeof *out);
    }
}

/* The order as bytes. */
static void order_of(const sotto_group *g, uint8_t out[SOTTO_SCALAR_MAX])
{
    if (!sotto_bignum_store(out, g->scalar_size, EC_GROUP_get0_order(g->ec)))
        memset(out, 0, SOTTO_SCALAR_MAX); /* nothing is below it */
}

bool sotto_scalar_decode(const sotto_group *g, sotto_scalar *out, const uint8_t *bytes)
{
    uint8_t order[SOTTO_SCALAR_MAX];

    order_of(g, order);
    unsigned below = sotto_bignum_less(bytes, order, g->scalar_size);
    SOTTO_DECLASSIFY(&below, sizeof below); /* whoever sent it is told */
    memset(out, 0, sizeof *out);
    if (below)
        memcpy(out->be, bytes, g->scalar_size);
    return below;
}

void sotto_scalar_set(const sotto_group *g, sotto_scalar *out, uint32_t value)
{
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < 4; i++)
        out->be[g->scalar_size - 1 - i] = (uint8_t)(value >> 8 * i);
}

/* Draws until one fits: P-256 needs a second draw once in 2^32, which says nothing of the one that is kept. */
static sotto_status draw(const sotto_group *g, sotto_scalar *out, sotto_err *err)
{
    uint8_t order[SOTTO_SCALAR_MAX];
    unsigned fits;

    order_of(g, order);
    do {
        SOTTO_TRY(sotto_random_bytes(out->be, g->scalar_size, err));
        fits = sotto_bignum_within(out->be, order, g->scalar_size);
        SOTTO_DECLASSIFY(&fits, sizeof fits);
    } while (!fits);
    return SOTTO_OK;
}

sotto_status sotto_scalar_random(const sotto_group *g, sotto_scalar *out, size_t count,
                                 sotto_err *err)
{
    for (size_t i = 0; i < count; i++) {
        sotto_status status = draw(g, &out[i], err);

        if (status != SOTTO_OK) {
            sotto_wipe(out, count * sizeof *out);
            return status;
        }
    }
    return SOTTO_OK;
}

void sotto_scalar_add(sotto_group *g, sotto_scalar *out, const sotto_scalar *a,
                      const sotto_scalar *b)
{
    BN_CTX_start(g->numbers);
    BIGNUM *x = load(g, a), *y = load(g, b);
    store(g, out, x, x && y && BN_mod_add_quick(x, x, y, EC_GROUP_get0_order(g->ec)));
    BN_CTX_end(g->numbers);
}

/* The library's own subtraction branches on the sign of the difference. */
void sotto_scalar_subtract(sotto_group *g, sotto_scalar *out, const sotto_scalar *a,
                           const sotto_scalar *b)
{
    uint8_t order[SOTTO_SCALAR_MAX];

    order_of(g, order);
    sotto_bignum_subtract(out->be, a->be, b->be, order, g->scalar_size);
}

void sotto_scalar_multiply(sotto_group *g, sotto_scalar *out, const sotto_scalar *a,
                           const sotto_scalar *b)
{
    BN_CTX_start(g->numbers);
    BIGNUM *x = load(g, a), *y = load(g, b);
    store(g, out, x,
          x && y && BN_to_montgomery(x, x, g->modulo_order, g->numbers) &&
              BN_mod_mul_montgomery(x, x, y, g->modulo_order, g->numbers));
    BN_CTX_end(g->numbers);
}

/* By Fermat, since the order is prime: an exponent that everybody knows and a ladder that follows no bit of the base. */
void sotto_scalar_invert(sotto_group *g, sotto_scalar *out, const sotto_scalar *a)
{
    const BIGNUM *order = EC_GROUP_get0_order(g->ec);

    BN_CTX_start(g->numbers);
    BIGNUM *x = load(g, a), *exponent = BN_CTX_get(g->numbers);
    store(g, out, x,
          x && exponent && BN_copy(exponent, order) && BN_sub_word(exponent, 2) &&
              BN_mod_exp_mont_consttime(x, x, exponent, order, g->numbers, g->modulo_order));
    BN_CTX_end(g->numbers);
}

void sotto_scalar_reduce_vartime(sotto_group *g, sotto_scalar *out, sotto_bytes wide)
{
    BN_CTX_start(g->numbers);
    BIGNUM *x = BN_CTX_get(g->numbers);
    store(g, out, x,
          x && BN_bin2bn(wide.data, (int)wide.len, x) &&
              BN_nnmod(x, x, EC_GROUP_get0_order(g->ec), g->numbers));
    SOTTO_DECLASSIFY(out->be, g->scalar_size);
    BN_CTX_end(g->numbers);
}

/* ---- points ------------------------------------------------------------------------------------------------- */

sotto_point *sotto_point_new(sotto_group *g)
{
    EC_POINT *p = EC_POINT_new(g->ec);

    expect(g, p != NULL);
    return p;
}

void sotto_point_free(sotto_point *p)
{
    EC_POINT_clear_free(p);
}

bool sotto_point_decode(sotto_group *g, sotto_point *out, const uint8_t *bytes)
{
    g->decoded++;
    /* The library would also take other forms of the same length behind another first byte. Every point of the curve is in the
     * group: the cofactor is 1. */
    if (out &&
        (bytes[0] == POINT_CONVERSION_COMPRESSED ||
         bytes[0] == (POINT_CONVERSION_COMPRESSED | 1)) &&
        EC_POINT_oct2point(g->ec, out, bytes, g->point_size, g->numbers))
        return true;
    ERR_clear_error();
    return false;
}

bool sotto_point_encode(sotto_group *g, uint8_t *out, const sotto_point *p)
{
    if (p && !EC_POINT_is_at_infinity(g->ec, p)) {
        if (EC_POINT_point2oct(g->ec, p, POINT_CONVERSION_COMPRESSED, out, g->point_size,
                               g->numbers) == g->point_size)
            return true;
        g->failed = true;
    }
    memset(out, 0, g->point_size);
    return false;
}

void sotto_point_multiply(sotto_group *g, sotto_point *out, const sotto_scalar *k,
                          const sotto_point *p)
{
    BN_CTX_start(g->numbers);
    const BIGNUM *by = load(g, k);
    expect(g, out && by &&
                  (p ? EC_POINT_mul(g->ec, out, NULL, p, by, g->numbers)
                     : EC_POINT_mul(g->ec, out, by, NULL, NULL, g->numbers)));
    BN_CTX_end(g->numbers);
    g->multiplied++;
}

void sotto_point_multiply_add(sotto_group *g, sotto_point *out, const sotto_scalar *k,
                              const sotto_point *p)
{
    sotto_point *product = sotto_point_new(g);

    sotto_point_multiply(g, product, k, p);
    sotto_point_add(g, out, out, product);
    sotto_point_free(product);
}

void sotto_point_add(sotto_group *g, sotto_point *out, const sotto_point *a, const sotto_point *b)
{
    expect(g, out && a && b && EC_POINT_add(g->ec, out, a, b, g->numbers));
}

void sotto_point_subtract(sotto_group *g, sotto_point *out, const sotto_point *a,
                          const sotto_point *b)
{
    sotto_point *negative = sotto_point_new(g);

    expect(g, negative && b && EC_POINT_copy(negative, b) &&
                  EC_POINT_invert(g->ec, negative, g->numbers));
    sotto_point_add(g, out, a, negative);
    sotto_point_free(negative);
}

bool sotto_point_equal_vartime(sotto_group *g, const sotto_point *a, const sotto_point *b)
{
    int differs = a && b ? EC_POINT_cmp(g->ec, a, b, g->numbers) : -1;

    expect(g, differs >= 0);
    return differs == 0;
}
