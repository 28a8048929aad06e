#include "aggregate/aero/proof_rows.h"

#include "base/declassify.h"
#include "math/poly.h"

#include <string.h>

sotto_status sotto_aero_statement_check(const sotto_aero_statement *s, sotto_err *err)
{
    const sotto_aero_profile *p = s->profile;

    if (s->count == 0 || s->count > SOTTO_AERO_GROUP || s->bits < 2 ||
        s->bits > SOTTO_AERO_PROOF_MOST_BITS || s->norm2 >> SLACK || s->round >> (s->bits - 1))
        return sotto_fail(err, SOTTO_DENIED, "proof: %zu ciphertexts of %u bits in round %llu",
                          s->count, s->bits, (unsigned long long)s->round);
    if (p->queries == 0 || p->queries > BLIND || p->grind > 32 || p->near == 0 ||
        p->near > MOST_NEAR || p->repeated == 0 || p->repeated > MOST_REPEATED)
        return sotto_fail(err, SOTTO_DENIED, "proof: profile %s", p->name);
    return SOTTO_OK;
}

/* ---- rows --------------------------------------------------------------------------------------------- */

static sotto_aero_proof_size_of size_of(const sotto_aero_statement *s)
{
    return (sotto_aero_proof_size_of){s->aero->ring.set, s->profile, s->count, s->bits};
}

proof_shape sotto_aero_shape(const sotto_aero_statement *s)
{
    const sotto_aero_proof_size_of of = size_of(s);

    return sotto_aero_shape_of(&of);
}

sotto_status sotto_aero_proof_size(size_t *size, const sotto_aero_statement *s, sotto_err *err)
{
    SOTTO_TRY(sotto_aero_statement_check(s, err));
    const sotto_aero_proof_size_of of = size_of(s);
    *size = sotto_aero_proof_bytes(&of);
    return SOTTO_OK;
}

row sotto_aero_row(const proof_shape *shape, size_t index)
{
    unsigned each = shape->first[KIND_SLACK], k = 0, at = (unsigned)(index % each);

    if (index == shape->rows - 1)
        return (row){KIND_SLACK, 0, 0};
    while (shape->first[k + 1] <= at)
        k++;
    return (row){(row_kind)k, at - shape->first[k], index / each};
}

static sotto_f64 power_of_two(unsigned bit)
{
    return sotto_f64_from(UINT64_C(1) << bit);
}

/* The equations, whose sum with factors of[0..3] is taken modulo p, in every coefficient:
 *   a r + e1 - c1 = 0               b r + e2 + delta m - c2 = 0
 *   a' r + e1 - c1' - p' u1 = 0     b' r + e2 - c2' - p' u2 = 0      over the integers, ' is for the second prime */
void sotto_aero_weights_of(sotto_f64 weights[BASES], const sotto_aero_statement *s,
                           const combination *c, row r, size_t cipher)
{
    sotto_f64 beta = c->beta[cipher], bit = power_of_two(r.bit);
    sotto_f64 second = sotto_f64_neg(sotto_f64_from(s->aero->ring.set->second)), factor;

    for (unsigned b = 0; b < BASES; b++)
        weights[b] = sotto_f64_zero();
    switch (r.kind) {
    case KIND_R:
        weights[BASE_V] = r.bit ? sotto_f64_neg(beta) : beta;
        return;
    case KIND_SQUARE:
        weights[BASE_OTHERS] = cipher < s->count ? c->phi : sotto_f64_zero();
        return;
    case KIND_SLACK:
        weights[BASE_SLACK] = cipher == 0 ? c->phi : sotto_f64_zero();
        return;
    case KIND_E1:
        factor = sotto_f64_add(c->of[0], c->of[2]);
        break;
    case KIND_E2:
        factor = sotto_f64_add(c->of[1], c->of[3]);
        break;
    case KIND_M:
        factor = sotto_f64_mul(c->of[1], s->aero->delta_first);
        weights[BASE_FIRST] = sotto_f64_mul(c->theta[cipher], bit);
        break;
    case KIND_U1:
        factor = sotto_f64_mul(c->of[2], second);
        break;
    case KIND_U2:
        factor = sotto_f64_mul(c->of[3], second);
        break;
    }
    weights[BASE_RHO] = sotto_f64_mul(sotto_f64_mul(factor, beta), bit);
}

/* Of one ciphertext: what is public of its equations, and what each signed number is more than its bits say. */
static sotto_f64 target_of(const sotto_aero_statement *s, const combination *c, size_t cipher,
                           sotto_f64 rho_sum)
{
    const sotto_aero_cipher *x = &s->ciphers[cipher];
    sotto_f64_acc acc[4] = {0};
    sotto_f64 sum = sotto_f64_zero(), offset = sotto_f64_zero(), weights[BASES];
    const struct {
        row_kind kind;
        uint64_t more;
    } signed_kinds[] = {{KIND_E1, 16},
                        {KIND_E2, 16},
                        {KIND_M, UINT64_C(1) << (s->bits - 1)},
                        {KIND_U1, 1 << (U_BITS - 1)},
                        {KIND_U2, 1 << (U_BITS - 1)}};
    sotto_f64 start = sotto_f64_add(sotto_f64_from(s->round), sotto_f64_from(signed_kinds[2].more));

    for (size_t k = 0; k < SOTTO_AERO_N; k++) {
        sotto_f64_acc_mul(&acc[0], x->c1.first[k], c->rho[k]);
        sotto_f64_acc_mul(&acc[1], x->c2.first[k], c->rho[k]);
        sotto_f64_acc_mul(&acc[2], sotto_f64_from(x->c1.second[k]), c->rho[k]);
        sotto_f64_acc_mul(&acc[3], sotto_f64_from(x->c2.second[k]), c->rho[k]);
    }
    for (unsigned i = 0; i < 4; i++)
        sum = sotto_f64_add(sum, sotto_f64_mul(sotto_f64_acc_reduce(&acc[i]), c->of[i]));
    for (size_t i = 0; i < sizeof signed_kinds / sizeof signed_kinds[0]; i++) {
        sotto_aero_weights_of(weights, s, c, (row){signed_kinds[i].kind, 0, 0}, cipher);
        offset = sotto_f64_add(
            offset, sotto_f64_mul(weights[BASE_RHO], sotto_f64_from(signed_kinds[i].more)));
    }
    sum = sotto_f64_add(sotto_f64_mul(sum, c->beta[cipher]), sotto_f64_mul(offset, rho_sum));
    return sotto_f64_add(sum, sotto_f64_mul(c->theta[cipher], start));
}

sotto_f64 sotto_aero_target(const sotto_aero_statement *s, const combination *c)
{
    sotto_f64 sum = sotto_f64_mul(c->phi, sotto_f64_from(s->norm2)), rho_sum = sotto_f64_zero();

    for (size_t k = 0; k < SOTTO_AERO_N; k++)
        rho_sum = sotto_f64_add(rho_sum, c->rho[k]);
    for (size_t i = 0; i < s->count; i++)
        sum = sotto_f64_add(sum, target_of(s, c, i, rho_sum));
    return sum;
}

/* <rho, f r> = <v, r> for v = f(1/x) rho, where f is the sum of a, b, a', b' with their factors. */
static sotto_status v_values(sotto_f64 *values, const sotto_aero_statement *s, const combination *c,
                             sotto_arena *arena, sotto_err *err)
{
    const sotto_aero_ring *ring = &s->aero->ring;
    sotto_f64 *f = sotto_arena_take_array(arena, SOTTO_AERO_N, sizeof *f);

    if (!f)
        return sotto_fail(err, SOTTO_NO_MEMORY, "proof: no memory");
    for (size_t k = 0; k < SOTTO_AERO_N; k++) {
        const sotto_f64 parts[4] = {s->a->first[k], s->b->first[k], sotto_f64_from(s->a->second[k]),
                                    sotto_f64_from(s->b->second[k])};
        size_t at = (SOTTO_AERO_N - k) % SOTTO_AERO_N;
        sotto_f64 sum = sotto_f64_zero();

        for (unsigned i = 0; i < 4; i++)
            sum = sotto_f64_add(sum, sotto_f64_mul(parts[i], c->of[i]));
        f[at] = k == 0 ? sum : sotto_f64_neg(sum); /* x^-k = -x^(4096-k) */
        values[k] = c->rho[k];
    }
    sotto_ntt64_negacyclic_forward(f, 12, ring->factors);
    sotto_ntt64_negacyclic_forward(values, 12, ring->factors);
    sotto_ntt64_best()->multiply(values, values, f, SOTTO_AERO_N);
    sotto_ntt64_negacyclic_inverse(values, 12, ring->inverses);
    for (size_t k = 0; k < SOTTO_AERO_N; k++)
        values[k] = sotto_f64_mul(values[k], ring->part);
    return SOTTO_OK;
}

sotto_status sotto_aero_base_values(sotto_f64 *values, const sotto_aero_statement *s,
                                    const combination *c, weight_base b, sotto_arena *arena,
                                    sotto_err *err)
{
    for (size_t k = 0; k < H; k++)
        values[k] = sotto_f64_zero();
    switch (b) {
    case BASE_V:
        return v_values(values, s, c, arena, err);
    case BASE_RHO:
        memcpy(values, c->rho, sizeof c->rho);
        break;
    case BASE_FIRST:
        values[0] = sotto_f64_one();
        break;
    case BASE_OTHERS:
        for (size_t k = 1; k < SOTTO_AERO_N; k++)
            values[k] = sotto_f64_one();
        break;
    case BASE_SLACK:
        for (unsigned k = 0; k < SLACK; k++)
            values[k] = power_of_two(k);
        break;
    case BASES:
        break;
    }
    return SOTTO_OK;
}

/* ---- transforms --------------------------------------------------------------------------------------- */

size_t sotto_aero_reversed(size_t k)
{
    size_t r = 0;

    for (unsigned b = 0; b < H_LOG; b++)
        r |= (k >> b & 1) << (H_LOG - 1 - b);
    return r;
}

static sotto_f64 shift_of(unsigned coset)
{
    /* 7 generates the group of the field, and the root has order 16 H: nine cosets of H, none of which is H. */
    return sotto_f64_mul(sotto_f64_from(7), sotto_f64_pow(sotto_f64_root(H_LOG + 4), coset));
}

sotto_f64 sotto_aero_point(size_t column)
{
    return sotto_f64_mul(shift_of((unsigned)(column / H)),
                         sotto_f64_pow(sotto_f64_root(H_LOG), column % H));
}

sotto_status sotto_aero_cosets(cosets *c, unsigned count, sotto_arena *arena, sotto_err *err)
{
    c->roots = sotto_arena_take_array(arena, H, sizeof *c->roots);
    if (!c->roots)
        return sotto_fail(err, SOTTO_NO_MEMORY, "proof: no memory");
    sotto_f64_roots(c->roots, H_LOG);
    for (unsigned i = 0; i < count; i++) {
        sotto_f64 power = sotto_f64_one(), shift = shift_of(i);

        c->shift[i] = sotto_arena_take_array(arena, H, sizeof *c->shift[i]);
        if (!c->shift[i])
            return sotto_fail(err, SOTTO_NO_MEMORY, "proof: no memory");
        for (size_t k = 0; k < H; k++) {
            c->shift[i][sotto_aero_reversed(k)] = power;
            power = sotto_f64_mul(power, shift);
        }
        c->constant[i] = power;
    }
    return SOTTO_OK;
}

void sotto_aero_interpolate(const cosets *c, sotto_f64 *v)
{
    sotto_f64 part = sotto_f64_inv(sotto_f64_from(H));

    sotto_f64_to_coefficients(v, H_LOG, c->roots);
    for (size_t k = 0; k < H; k++)
        v[k] = sotto_f64_mul(v[k], part);
}

void sotto_aero_on_coset(const cosets *c, unsigned coset, sotto_f64 *out, const sotto_f64 *low,
                         const sotto_f64 *high, size_t more)
{
    if (out != low)
        memcpy(out, low, H * sizeof *out);
    for (size_t k = 0; k < more; k++) {
        sotto_f64 *at = &out[sotto_aero_reversed(k % H)];
        sotto_f64 term = sotto_f64_mul(high[k], c->constant[coset]);

        if (k >= H) /* of x^2H and above */
            term = sotto_f64_mul(term, c->constant[coset]);
        *at = sotto_f64_add(*at, term);
    }
    sotto_ntt64_best()->multiply(out, out, c->shift[coset], H);
    sotto_f64_to_values(out, H_LOG, c->roots);
}

/* ---- transcript --------------------------------------------------------------------------------------- */

void sotto_aero_absorb(uint8_t state[HASH], sotto_bytes what)
{
    sotto_hash hash;

    sotto_hash_init(&hash, SOTTO_SHA256);
    sotto_hash_update(&hash, sotto_bytes_of(state, HASH));
    sotto_hash_update(&hash, what);
    sotto_hash_final(&hash, state);
}

static sotto_status absorb_poly(sotto_hash *hash, const sotto_aero *aero, const sotto_aero_poly *v,
                                sotto_buf *wire, sotto_err *err)
{
    wire->len = 0;
    SOTTO_TRY(sotto_aero_poly_encode(aero, wire, v, err));
    sotto_hash_update(hash, sotto_buf_bytes(wire));
    return SOTTO_OK;
}

sotto_status sotto_aero_bind(uint8_t state[HASH], const sotto_aero_statement *s, sotto_arena *arena,
                             sotto_err *err)
{
    static const char purpose[] = "sotto-aero-proof-1";
    const sotto_aero_profile *p = s->profile;
    const uint64_t numbers[] = {
        p->queries,     p->grind, p->near,  p->repeated, s->aero->ring.set->log_q,
        s->aero->log_t, s->bits,  s->count, s->norm2,    s->epoch,
        s->round,       s->role,  s->group};
    size_t size = sotto_aero_poly_size(s->aero);
    sotto_buf wire = sotto_buf_over(sotto_arena_take(arena, size), size);
    sotto_hash hash;

    if (!wire.data)
        return sotto_fail(err, SOTTO_NO_MEMORY, "proof: no memory");
    sotto_hash_init(&hash, SOTTO_SHA256);
    sotto_hash_update(&hash, sotto_bytes_of(purpose, sizeof purpose));
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        uint8_t word[8];

        sotto_store64(word, numbers[i]);
        sotto_hash_update(&hash, sotto_bytes_of(word, sizeof word));
    }
    sotto_hash_update(&hash, sotto_bytes_of(s->session, sizeof s->session));
    sotto_hash_update(&hash, sotto_bytes_of(s->device, sizeof s->device));
    sotto_hash_update(&hash, sotto_bytes_of(s->commitment, sizeof s->commitment));
    SOTTO_TRY(absorb_poly(&hash, s->aero, s->a, &wire, err));
    SOTTO_TRY(absorb_poly(&hash, s->aero, s->b, &wire, err));
    for (size_t i = 0; i < s->count; i++) {
        SOTTO_TRY(absorb_poly(&hash, s->aero, &s->ciphers[i].c1, &wire, err));
        SOTTO_TRY(absorb_poly(&hash, s->aero, &s->ciphers[i].c2, &wire, err));
    }
    sotto_hash_final(&hash, state);
    return SOTTO_OK;
}

sotto_status sotto_aero_uniform(sotto_f64 *out, size_t count, sotto_keystream *stream,
                                sotto_err *err)
{
    uint8_t bytes[1024];

    for (size_t at = 0; at < count;) {
        SOTTO_TRY(sotto_keystream_next(stream, bytes, sizeof bytes, err));
        for (size_t i = 0; i < sizeof bytes && at < count; i += 8) {
            bool kept = sotto_f64_is_canonical(bytes + i);

            SOTTO_DECLASSIFY(&kept, sizeof kept); /* says nothing of what is kept */
            out[at] = sotto_f64_load(bytes + i);
            at += kept;
        }
    }
    sotto_wipe(bytes, sizeof bytes);
    return SOTTO_OK;
}

static sotto_status draw_combination(combination *c, const sotto_aero_statement *s,
                                     const proof_shape *shape, sotto_keystream *stream,
                                     sotto_err *err)
{
    SOTTO_TRY(sotto_aero_uniform(c->rho, SOTTO_AERO_N, stream, err));
    SOTTO_TRY(sotto_aero_uniform(c->beta, s->count, stream, err));
    SOTTO_TRY(sotto_aero_uniform(c->theta, s->count, stream, err));
    SOTTO_TRY(sotto_aero_uniform(c->of, 4, stream, err));
    SOTTO_TRY(sotto_aero_uniform(&c->phi, 1, stream, err));
    c->of[0] = sotto_f64_one();
    for (unsigned i = 2; i < 4 && !s->aero->ring.set->second; i++)
        c->of[i] = sotto_f64_zero();
    return sotto_aero_uniform(c->gamma, shape->rows, stream, err);
}

static sotto_status draw_challenges(challenges *c, const sotto_aero_statement *s,
                                    const proof_shape *shape, sotto_keystream *stream,
                                    sotto_arena *arena, sotto_err *err)
{
    size_t near = s->profile->near * shape->rows;

    c->near = sotto_arena_take_array(arena, near, sizeof *c->near);
    if (!c->near)
        return sotto_fail(err, SOTTO_NO_MEMORY, "proof: no memory");
    SOTTO_TRY(sotto_aero_uniform(c->near, near, stream, err));
    for (unsigned i = 0; i < s->profile->repeated; i++) {
        c->of[i] = sotto_arena_take(arena, sizeof *c->of[i]);
        if (!c->of[i])
            return sotto_fail(err, SOTTO_NO_MEMORY, "proof: no memory");
        c->of[i]->gamma = sotto_arena_take_array(arena, shape->rows, sizeof(sotto_f64));
        if (!c->of[i]->gamma)
            return sotto_fail(err, SOTTO_NO_MEMORY, "proof: no memory");
        SOTTO_TRY(draw_combination(c->of[i], s, shape, stream, err));
    }
    return SOTTO_OK;
}

sotto_status sotto_aero_challenges(challenges *c, const sotto_aero_statement *s,
                                   const proof_shape *shape, const uint8_t state[HASH],
                                   sotto_arena *arena, sotto_err *err)
{
    sotto_keystream stream;
    sotto_status status = sotto_keystream_init(&stream, err);

    if (status == SOTTO_OK)
        status = sotto_keystream_seed(&stream, state, err);
    if (status == SOTTO_OK)
        status = draw_challenges(c, s, shape, &stream, arena, err);
    sotto_keystream_clear(&stream);
    return status;
}

bool sotto_aero_worked(uint8_t seed[HASH], const sotto_aero_statement *s, const uint8_t state[HASH],
                       uint64_t nonce)
{
    uint8_t word[8];

    sotto_store64(word, nonce);
    memcpy(seed, state, HASH);
    sotto_aero_absorb(seed, sotto_bytes_of(word, sizeof word));
    return (sotto_load64(seed) & ((UINT64_C(1) << s->profile->grind) - 1)) == 0;
}

static bool seen_before(const uint32_t *queries, unsigned count, uint32_t x)
{
    for (unsigned i = 0; i < count; i++)
        if (queries[i] == x)
            return true;
    return false;
}

static sotto_status draw_queries(uint32_t *queries, unsigned count, sotto_keystream *stream,
                                 sotto_err *err)
{
    for (unsigned at = 0; at < count;) {
        uint8_t word[8];

        SOTTO_TRY(sotto_keystream_next(stream, word, sizeof word, err));
        uint32_t x = (uint32_t)(sotto_load64(word) & 0x1ffff);
        if (x < COLUMNS && !seen_before(queries, at, x))
            queries[at++] = x;
    }
    return SOTTO_OK;
}

sotto_status sotto_aero_queries(uint32_t *queries, unsigned count, const uint8_t seed[HASH],
                                sotto_err *err)
{
    sotto_keystream stream;
    sotto_status status = sotto_keystream_init(&stream, err);

    if (status == SOTTO_OK)
        status = sotto_keystream_seed(&stream, seed, err);
    if (status == SOTTO_OK)
        status = draw_queries(queries, count, &stream, err);
    sotto_keystream_clear(&stream);
    return status;
}

void sotto_aero_node(uint8_t out[HASH], const uint8_t left[HASH], const uint8_t right[HASH])
{
    const uint8_t kind = 1;
    sotto_hash hash;

    sotto_hash_init(&hash, SOTTO_SHA256);
    sotto_hash_update(&hash, sotto_bytes_of(&kind, 1));
    sotto_hash_update(&hash, sotto_bytes_of(left, HASH));
    sotto_hash_update(&hash, sotto_bytes_of(right, HASH));
    sotto_hash_final(&hash, out);
}

void sotto_aero_root(uint8_t out[HASH], const uint8_t tops[COSETS * HASH])
{
    const uint8_t kind = 2;
    sotto_hash hash;

    sotto_hash_init(&hash, SOTTO_SHA256);
    sotto_hash_update(&hash, sotto_bytes_of(&kind, 1));
    sotto_hash_update(&hash, sotto_bytes_of(tops, (size_t)COSETS * HASH));
    sotto_hash_final(&hash, out);
}

void sotto_aero_tree(uint8_t *nodes)
{
    uint8_t *below = nodes, *above = nodes + (size_t)COLUMNS * HASH;

    for (size_t count = COLUMNS / 2; count >= COSETS; count /= 2) {
        for (size_t i = 0; i < count; i++)
            sotto_aero_node(above + i * HASH, below + 2 * i * HASH, below + (2 * i + 1) * HASH);
        below = above;
        above += count * HASH;
    }
}
