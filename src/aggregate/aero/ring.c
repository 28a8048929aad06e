#include "aggregate/aero/ring.h"

enum { LOG = 12 };

_Static_assert(1 << LOG == SOTTO_AERO_N, "the ring's degree");

static bool has_second(const sotto_aero_ring *ring)
{
    return ring->set->second != 0;
}

sotto_status sotto_aero_ring_init(sotto_aero_ring *ring, const sotto_aero_set *set,
                                  sotto_arena *arena, sotto_err *err)
{
    sotto_f64 *tables = sotto_arena_take_array(arena, 2 * SOTTO_AERO_N, sizeof *tables);

    if (!tables)
        return sotto_fail(err, SOTTO_NO_MEMORY, "aero: no room for the ring's tables");
    *ring = (sotto_aero_ring){
        .set = set, .factors = tables, .inverses = tables + SOTTO_AERO_N, .q = SOTTO_F64_P};
    sotto_ntt64_negacyclic_factors(tables, tables + SOTTO_AERO_N, LOG);
    ring->part = sotto_f64_inv(sotto_f64_from(SOTTO_AERO_N));
    if (!has_second(ring))
        return SOTTO_OK;
    SOTTO_TRY(sotto_limb_init(&ring->second, set->second, set->second_root, LOG, arena, err));
    ring->q = sotto_mul_wide(SOTTO_F64_P, set->second);
    ring->part_second = sotto_limb_pow(&ring->second, SOTTO_AERO_N, set->second - 2);
    ring->first_inverse = sotto_limb_pow(&ring->second, SOTTO_F64_P % set->second, set->second - 2);
    return SOTTO_OK;
}

void sotto_aero_transform(const sotto_aero_ring *ring, sotto_aero_poly *v)
{
    sotto_ntt64_negacyclic_forward(v->first, LOG, ring->factors);
    if (has_second(ring))
        sotto_limb_forward(&ring->second, v->second);
}

void sotto_aero_transform_over(const sotto_aero_ring *ring, sotto_aero_poly *v)
{
    sotto_aero_transform(ring, v);
    sotto_aero_scale(ring, v, ring->part, ring->part_second);
}

void sotto_aero_product(const sotto_aero_ring *ring, sotto_aero_poly *out, const sotto_aero_poly *a,
                        const sotto_aero_poly *b)
{
    sotto_ntt64_best()->multiply(out->first, a->first, b->first, SOTTO_AERO_N);
    sotto_ntt64_negacyclic_inverse(out->first, LOG, ring->inverses);
    if (!has_second(ring)) {
        for (size_t k = 0; k < SOTTO_AERO_N; k++)
            out->second[k] = 0;
        return;
    }
    for (size_t k = 0; k < SOTTO_AERO_N; k++)
        out->second[k] = sotto_limb_mul(&ring->second, a->second[k], b->second[k]);
    sotto_limb_inverse(&ring->second, out->second);
}

/* x below 2p. */
static uint64_t below(uint64_t x, uint64_t p)
{
    return x - (p & ~sotto_ct_less(x, p));
}

void sotto_aero_add(const sotto_aero_ring *ring, sotto_aero_poly *sum, const sotto_aero_poly *more)
{
    for (size_t k = 0; k < SOTTO_AERO_N; k++)
        sum->first[k] = sotto_f64_add(sum->first[k], more->first[k]);
    for (size_t k = 0; k < SOTTO_AERO_N && has_second(ring); k++)
        sum->second[k] = below(sum->second[k] + more->second[k], ring->set->second);
}

void sotto_aero_subtract(const sotto_aero_ring *ring, sotto_aero_poly *from,
                         const sotto_aero_poly *less)
{
    uint64_t p = ring->set->second;

    for (size_t k = 0; k < SOTTO_AERO_N; k++)
        from->first[k] = sotto_f64_sub(from->first[k], less->first[k]);
    for (size_t k = 0; k < SOTTO_AERO_N && p; k++)
        from->second[k] = below(from->second[k] + p - less->second[k], p);
}

/* All ones where x is negative, and |x|. */
static uint64_t split_sign(uint64_t *magnitude, int64_t x)
{
    uint64_t minus = sotto_ct_mask((uint64_t)x >> 63);

    *magnitude = ((uint64_t)x ^ minus) - minus;
    return minus;
}

static sotto_f64 signed_first(int64_t x)
{
    uint64_t magnitude, minus = split_sign(&magnitude, x);

    return sotto_f64_from(sotto_ct_select(minus, SOTTO_F64_P - magnitude, magnitude));
}

static uint64_t signed_second(const sotto_limb *limb, int64_t x)
{
    uint64_t magnitude, minus = split_sign(&magnitude, x);
    uint64_t r = sotto_limb_from(limb, magnitude);

    return sotto_ct_select(minus, below(limb->p - r, limb->p), r);
}

void sotto_aero_add_small(const sotto_aero_ring *ring, sotto_aero_poly *v, const int64_t *x)
{
    for (size_t k = 0; k < SOTTO_AERO_N; k++)
        v->first[k] = sotto_f64_add(v->first[k], signed_first(x[k]));
    for (size_t k = 0; k < SOTTO_AERO_N && has_second(ring); k++)
        v->second[k] = below(v->second[k] + signed_second(&ring->second, x[k]), ring->set->second);
}

void sotto_aero_add_scaled(const sotto_aero_ring *ring, sotto_aero_poly *v, sotto_f64 c,
                           uint64_t c_second, const int64_t *x)
{
    for (size_t k = 0; k < SOTTO_AERO_N; k++)
        v->first[k] = sotto_f64_add(v->first[k], sotto_f64_mul(signed_first(x[k]), c));
    for (size_t k = 0; k < SOTTO_AERO_N && has_second(ring) && c_second; k++) {
        uint64_t more = sotto_limb_mul(&ring->second, signed_second(&ring->second, x[k]), c_second);

        v->second[k] = below(v->second[k] + more, ring->set->second);
    }
}

void sotto_aero_scale(const sotto_aero_ring *ring, sotto_aero_poly *v, sotto_f64 c,
                      uint64_t c_second)
{
    for (size_t k = 0; k < SOTTO_AERO_N; k++)
        v->first[k] = sotto_f64_mul(v->first[k], c);
    for (size_t k = 0; k < SOTTO_AERO_N && has_second(ring); k++)
        v->second[k] = sotto_limb_mul(&ring->second, v->second[k], c_second);
}

sotto_u128 sotto_aero_lift(const sotto_aero_ring *ring, const sotto_aero_poly *v, size_t k)
{
    uint64_t p = ring->set->second, first = v->first[k].v;

    if (!p)
        return first;
    /* first + p1 ((second - first) / p1 mod p2), where first may be above p2. */
    uint64_t high = sotto_limb_from(&ring->second, first >> 1);
    uint64_t reduced = below(below(high + high, p) + (first & 1), p);
    uint64_t digit =
        sotto_limb_mul(&ring->second, below(v->second[k] + p - reduced, p), ring->first_inverse);

    return first + sotto_mul_wide(SOTTO_F64_P, digit);
}

void sotto_aero_residues(const sotto_aero_ring *ring, sotto_u128 x, sotto_f64 *first,
                         uint64_t *second)
{
    *first = sotto_f64_reduce(x);
    *second = has_second(ring) ? (uint64_t)(x % ring->set->second) : 0;
}
