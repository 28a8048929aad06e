#include "aggregate/aero/encrypt.h"

#include "base/declassify.h"
#include "base/rule.h"
#include "crypto/keystream.h"

#include <string.h>

sotto_status sotto_aero_init(sotto_aero *aero, const sotto_aero_set *set, unsigned log_t,
                             sotto_arena *arena, sotto_err *err)
{
    if (log_t < SOTTO_AERO_LEAST_LOG_T || log_t > SOTTO_AERO_MOST_LOG_T || log_t + 16 > set->log_q)
        return sotto_fail(err, SOTTO_DENIED, "aero: messages of %u bits in set %s", log_t,
                          set->name);
    SOTTO_TRY(sotto_aero_ring_init(&aero->ring, set, arena, err));
    aero->log_t = log_t;
    aero->delta = sotto_aero_delta(set, log_t);
    sotto_aero_residues(&aero->ring, aero->delta, &aero->delta_first, &aero->delta_second);
    return sotto_noise_gaussian_cut(&aero->errors, SOTTO_AERO_VARIANCE_NUM, SOTTO_AERO_VARIANCE_DEN,
                                    SOTTO_AERO_ERROR, arena, err);
}

/* ---- drawing ------------------------------------------------------------------------------------------ */

enum { TRITS = 8, TERNARY = SOTTO_AERO_N / TRITS * 16 };

/* Eight base-3 digits of a 128-bit fraction: within a total variation of 3^8 2^-128 of eight independent ones. */
static sotto_status draw_ternary(int8_t *out, sotto_entropy *entropy, sotto_err *err)
{
    uint8_t bytes[TERNARY / 8];
    sotto_status status = SOTTO_OK;

    for (size_t at = 0; at < SOTTO_AERO_N && status == SOTTO_OK;) {
        status = sotto_entropy_take(entropy, bytes, sizeof bytes, err);
        for (size_t i = 0; i < sizeof bytes && status == SOTTO_OK; i += 16) {
            uint64_t low = sotto_load64(bytes + i), high = sotto_load64(bytes + i + 8);

            for (unsigned d = 0; d < TRITS; d++) {
                sotto_u128 below = sotto_mul_wide(low, 3);
                sotto_u128 above = sotto_mul_wide(high, 3) + sotto_u128_high(below);

                low = sotto_u128_low(below);
                high = sotto_u128_low(above);
                out[at++] = (int8_t)((int)sotto_u128_high(above) - 1);
            }
        }
    }
    sotto_wipe(bytes, sizeof bytes);
    return status;
}

static sotto_status draw_errors(const sotto_aero *aero, int8_t *out, sotto_entropy *entropy,
                                sotto_err *err)
{
    int64_t some[512];
    sotto_status status = SOTTO_OK;

    for (size_t at = 0; at < SOTTO_AERO_N && status == SOTTO_OK; at += 512) {
        status = sotto_noise_draw(&aero->errors, some, 512, entropy, err);
        for (size_t k = 0; k < 512; k++)
            out[at + k] = (int8_t)some[k];
    }
    sotto_wipe(some, sizeof some);
    return status;
}

static sotto_status draw_all(const sotto_aero *aero, sotto_aero_witness *w, sotto_entropy *entropy,
                             sotto_err *err)
{
    SOTTO_TRY(draw_ternary(w->r, entropy, err));
    SOTTO_TRY(draw_errors(aero, w->e1, entropy, err));
    return draw_errors(aero, w->e2, entropy, err);
}

sotto_status sotto_aero_draw(const sotto_aero *aero, sotto_aero_witness *witness,
                             sotto_entropy *entropy, sotto_err *err)
{
    sotto_status status = draw_all(aero, witness, entropy, err);

    if (status != SOTTO_OK)
        sotto_wipe(witness, sizeof *witness);
    return status;
}

static void add_bytes(const sotto_aero_ring *ring, sotto_aero_poly *v, const int8_t *x)
{
    uint64_t p = ring->set->second;

    /* Far below both primes: one of them makes up for a sign. */
    for (size_t k = 0; k < SOTTO_AERO_N; k++) {
        uint64_t sign = sotto_ct_mask((uint64_t)x[k] >> 63), as_is = (uint64_t)(int64_t)x[k];

        v->first[k] = sotto_f64_add(v->first[k], (sotto_f64){as_is + (SOTTO_F64_P & sign)});
        if (p) {
            uint64_t sum = v->second[k] + as_is + (p & sign);

            v->second[k] = sum - (p & ~sotto_ct_less(sum, p));
        }
    }
}

/* ---- keys ------------------------------------------------------------------------------------------- */

enum { BLOCK = 1024 };

/* Uniform residues below p by rejection; the stream's numbers are cut to so many bits first. */
static sotto_status expand(uint64_t *out, uint64_t p, unsigned bits, sotto_keystream *stream,
                           sotto_err *err)
{
    uint64_t mask = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
    uint8_t bytes[BLOCK];

    for (size_t at = 0; at < SOTTO_AERO_N;) {
        SOTTO_TRY(sotto_keystream_next(stream, bytes, sizeof bytes, err));
        for (size_t i = 0; i < sizeof bytes && at < SOTTO_AERO_N; i += 8) {
            uint64_t x = sotto_load64(bytes + i) & mask;

            if (x < p)
                out[at++] = x;
        }
    }
    return SOTTO_OK;
}

static sotto_status expand_both(const sotto_aero *aero, sotto_aero_poly *a, sotto_keystream *stream,
                                sotto_err *err)
{
    const sotto_aero_set *set = aero->ring.set;
    uint64_t *first = a->second; /* for a while */

    SOTTO_TRY(expand(first, SOTTO_F64_P, 64, stream, err));
    for (size_t k = 0; k < SOTTO_AERO_N; k++) {
        a->first[k].v = first[k];
        a->second[k] = 0;
    }
    return set->second ? expand(a->second, set->second, set->second_bits, stream, err) : SOTTO_OK;
}

sotto_status sotto_aero_expand_vartime(const sotto_aero *aero, sotto_aero_poly *a,
                                       const uint8_t seed[SOTTO_AERO_SEED], sotto_err *err)
{
    sotto_keystream stream;
    sotto_status status = sotto_keystream_init(&stream, err);

    if (status == SOTTO_OK)
        status = sotto_keystream_seed(&stream, seed, err);
    if (status == SOTTO_OK)
        status = expand_both(aero, a, &stream, err);
    sotto_keystream_clear(&stream);
    return status;
}

void sotto_aero_public_of(const sotto_aero *aero, sotto_aero_public *key, const sotto_aero_poly *a,
                          const sotto_aero_poly *b)
{
    key->a = *a;
    key->b = *b;
    sotto_aero_transform_over(&aero->ring, &key->a);
    sotto_aero_transform_over(&aero->ring, &key->b);
}

sotto_status sotto_aero_keygen(const sotto_aero *aero, sotto_aero_secret *secret,
                               sotto_aero_poly *b, const sotto_aero_poly *a, sotto_entropy *entropy,
                               sotto_err *err)
{
    sotto_aero_poly over = *a;
    sotto_status status = draw_ternary(secret->s, entropy, err);

    if (status == SOTTO_OK)
        status = draw_errors(aero, secret->e, entropy, err);
    if (status != SOTTO_OK) {
        sotto_wipe(secret, sizeof *secret);
        return status;
    }
    memset(b, 0, sizeof *b);
    add_bytes(&aero->ring, b, secret->s);
    sotto_aero_transform(&aero->ring, b);
    sotto_aero_transform_over(&aero->ring, &over);
    sotto_aero_product(&aero->ring, b, b, &over);
    add_bytes(&aero->ring, b, secret->e);
    return SOTTO_OK;
}

/* ---- ciphertexts -------------------------------------------------------------------------------------- */

/* Whether all of them are below the bound; says no more than that of them. */
static bool messages_fit(const int64_t *m, unsigned log_t)
{
    const uint64_t half = UINT64_C(1) << (log_t - 1);
    uint64_t fit = UINT64_MAX;

    for (size_t k = 0; k < SOTTO_AERO_N; k++)
        fit &= sotto_ct_less((uint64_t)m[k] + half - 1, 2 * half - 1);
    SOTTO_DECLASSIFY(&fit, sizeof fit);
    return fit != 0;
}

sotto_status sotto_aero_encrypt(const sotto_aero *aero, sotto_aero_cipher *out,
                                const sotto_aero_public *key, const sotto_aero_witness *witness,
                                const int64_t *m, sotto_err *err)
{
    const sotto_aero_ring *ring = &aero->ring;

    memset(out, 0, sizeof *out);
    if (SOTTO_RULE(aero_message_fits) && !messages_fit(m, aero->log_t))
        return sotto_fail(err, SOTTO_DENIED, "aero: a message of more than %u bits", aero->log_t);
    add_bytes(ring, &out->c1, witness->r);
    sotto_aero_transform(ring, &out->c1);
    sotto_aero_product(ring, &out->c2, &out->c1, &key->b);
    sotto_aero_product(ring, &out->c1, &out->c1, &key->a);
    add_bytes(ring, &out->c1, witness->e1);
    add_bytes(ring, &out->c2, witness->e2);
    sotto_aero_add_scaled(ring, &out->c2, aero->delta_first, aero->delta_second, m);
    return SOTTO_OK;
}

void sotto_aero_cipher_add(const sotto_aero *aero, sotto_aero_cipher *sum,
                           const sotto_aero_cipher *more)
{
    sotto_aero_add(&aero->ring, &sum->c1, &more->c1);
    sotto_aero_add(&aero->ring, &sum->c2, &more->c2);
}

/* ---- on the wire ---------------------------------------------------------------------------------------- */

/* What so many residues modulo the second prime add up to, at most. */
static uint64_t largest(const sotto_aero *aero, uint32_t leaves)
{
    const uint64_t prime = aero->ring.set->second;
    const sotto_u128 most = prime ? sotto_mul_wide(prime - 1, leaves) : sotto_u128_of(0, 0);

    return sotto_u128_high(most) ? UINT64_MAX : sotto_u128_low(most);
}

static unsigned bits_of(uint64_t most)
{
    unsigned bits = 0;

    for (; most; most >>= 1)
        bits++;
    return bits;
}

size_t sotto_aero_sum_size(const sotto_aero *aero, uint32_t leaves)
{
    return SOTTO_AERO_N * 8 + (size_t)SOTTO_AERO_N / 8 * bits_of(largest(aero, leaves));
}

size_t sotto_aero_poly_size(const sotto_aero *aero)
{
    return sotto_aero_sum_size(aero, 1);
}

/* Eight numbers of `bits` bits are `bits` bytes. */
static void pack(sotto_writer *w, const uint64_t *v, unsigned bits)
{
    uint8_t bytes[64] = {0};

    for (unsigned i = 0; i < 8 * bits; i++)
        bytes[i / 8] |= (uint8_t)((v[i / bits] >> (i % bits) & 1) << (i % 8));
    sotto_write_bytes(w, sotto_bytes_of(bytes, bits));
}

static uint64_t unpack(const uint8_t *bytes, unsigned index, unsigned bits)
{
    uint64_t x = 0;

    for (unsigned i = 0; i < bits; i++) {
        unsigned at = index * bits + i;

        x |= (uint64_t)(bytes[at / 8] >> (at % 8) & 1) << i;
    }
    return x;
}

sotto_status sotto_aero_sum_encode(const sotto_aero *aero, sotto_buf *out, const sotto_aero_poly *v,
                                   uint32_t leaves, sotto_err *err)
{
    const unsigned bits = bits_of(largest(aero, leaves));
    sotto_writer w = sotto_writer_on(out);
    uint8_t word[8];

    for (size_t k = 0; k < SOTTO_AERO_N; k++) {
        sotto_f64_store(word, v->first[k]);
        sotto_write_bytes(&w, sotto_bytes_of(word, sizeof word));
    }
    for (size_t k = 0; k < SOTTO_AERO_N && bits; k += 8)
        pack(&w, v->second + k, bits);
    return sotto_writer_finish(&w, "polynomial", err);
}

sotto_status sotto_aero_sum_decode(const sotto_aero *aero, sotto_aero_poly *out, uint32_t leaves,
                                   sotto_bytes wire, sotto_err *err)
{
    const uint64_t most = largest(aero, leaves);
    const unsigned bits = bits_of(most);
    const uint8_t *packed = wire.data + (size_t)8 * SOTTO_AERO_N;
    bool canonical = true;

    if (wire.len != sotto_aero_sum_size(aero, leaves))
        return sotto_fail(err, SOTTO_MALFORMED, "polynomial: %zu bytes", wire.len);
    for (size_t k = 0; k < SOTTO_AERO_N; k++) {
        out->first[k] = sotto_f64_load(wire.data + 8 * k);
        canonical &= out->first[k].v < SOTTO_F64_P;
        out->second[k] = bits ? unpack(packed + k / 8 * bits, k % 8, bits) : 0;
        canonical &= out->second[k] <= most;
    }
    if (SOTTO_RULE(aero_canonical) && !canonical)
        return sotto_fail(err, SOTTO_MALFORMED, "polynomial: a residue is not below its prime");
    return SOTTO_OK;
}

sotto_status sotto_aero_poly_encode(const sotto_aero *aero, sotto_buf *out,
                                    const sotto_aero_poly *v, sotto_err *err)
{
    return sotto_aero_sum_encode(aero, out, v, 1, err);
}

sotto_status sotto_aero_poly_decode(const sotto_aero *aero, sotto_aero_poly *out, sotto_bytes wire,
                                    sotto_err *err)
{
    return sotto_aero_sum_decode(aero, out, 1, wire, err);
}

/* ---- what is opened --------------------------------------------------------------------------------------- */

void sotto_aero_decode_vartime(const sotto_aero *aero, int64_t *m, sotto_u128 *residual,
                               const sotto_aero_poly *v)
{
    sotto_u128 q = aero->ring.q, half = aero->delta / 2, largest = 0;

    for (size_t k = 0; k < SOTTO_AERO_N; k++) {
        sotto_u128 x = sotto_aero_lift(&aero->ring, v, k);
        bool minus = x > q / 2;
        sotto_u128 magnitude = minus ? q - x : x, whole = (magnitude + half) / aero->delta;
        sotto_u128 nearest = whole * aero->delta;
        sotto_u128 off = magnitude > nearest ? magnitude - nearest : nearest - magnitude;

        m[k] = minus ? -(int64_t)whole : (int64_t)whole;
        if (off > largest)
            largest = off;
    }
    if (residual)
        *residual = largest;
}
