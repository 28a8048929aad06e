#include "aggregate/aero/robust.h"

#include "crypto/keystream.h"

#include <string.h>

sotto_status sotto_aero_noise_of(const sotto_aero *aero, sotto_aero_poly *out,
                                 const sotto_noise *law, size_t coefficients,
                                 sotto_entropy *entropy, sotto_err *err)
{
    int64_t noise[SOTTO_AERO_N] = {0};

    memset(out, 0, sizeof *out);
    sotto_status status = sotto_noise_draw(law, noise, coefficients, entropy, err);
    if (status == SOTTO_OK)
        sotto_aero_add_small(&aero->ring, out, noise);
    sotto_wipe(noise, sizeof noise);
    return status;
}

/* ---- looks --------------------------------------------------------------------------------------------- */

enum { WORDS = SOTTO_AERO_LOOKS / 64, AT_ONCE = 256 };

typedef struct sums {
    sotto_u128 first[SOTTO_AERO_LOOKS];
    uint64_t second[SOTTO_AERO_LOOKS];
} sums;

/* Adds one coefficient to the looks that its bits name. Which they are is public; the coefficient is not. */
static void add_coefficient(sums *s, const uint8_t *bits, uint64_t first, uint64_t second)
{
    for (size_t w = 0; w < WORDS; w++) {
        uint64_t word = sotto_load64(bits + 8 * w);

        for (size_t i = 0; i < 64; i++, word >>= 1) {
            uint64_t mask = 0 - (word & 1);

            s->first[64 * w + i] += first & mask;
            s->second[64 * w + i] += second & mask;
        }
    }
}

/* Below 2^63: 4096 coefficients of 46 bits and a residue. */
static void reduce_second(const sotto_aero *aero, sums *s)
{
    for (size_t i = 0; aero->ring.set->second && i < SOTTO_AERO_LOOKS; i++)
        s->second[i] = sotto_limb_from(&aero->ring.second, s->second[i]);
}

static sotto_status add_poly(const sotto_aero *aero, sums *s, const sotto_aero_poly *v,
                             sotto_keystream *stream, sotto_err *err)
{
    uint8_t bits[AT_ONCE * SOTTO_AERO_LOOKS / 8];

    for (size_t from = 0; from < SOTTO_AERO_N; from += AT_ONCE) {
        SOTTO_TRY(sotto_keystream_next(stream, bits, sizeof bits, err));
        for (size_t k = 0; k < AT_ONCE; k++)
            add_coefficient(s, bits + k * SOTTO_AERO_LOOKS / 8, v->first[from + k].v,
                            v->second[from + k]);
    }
    reduce_second(aero, s);
    return SOTTO_OK;
}

sotto_status sotto_aero_looks_of(const sotto_aero *aero, sotto_aero_looks *out,
                                 const sotto_aero_poly *noise, size_t ciphertexts,
                                 const sotto_aero_poly *pads, const uint8_t seed[SOTTO_AERO_SEED],
                                 sotto_err *err)
{
    sums s = {.first = {0}};
    sotto_keystream stream;
    sotto_status status = sotto_keystream_init(&stream, err);

    if (status == SOTTO_OK)
        status = sotto_keystream_seed(&stream, seed, err);
    for (size_t i = 0; i < ciphertexts && status == SOTTO_OK; i++)
        status = add_poly(aero, &s, &noise[i], &stream, err);
    for (size_t i = 0; i < SOTTO_AERO_LOOKS; i++) {
        out->first[i] = sotto_f64_add(sotto_f64_reduce(s.first[i]), pads->first[i]);
        s.second[i] += pads->second[i];
    }
    reduce_second(aero, &s);
    memcpy(out->second, s.second, sizeof out->second);
    sotto_keystream_clear(&stream);
    sotto_wipe(&s, sizeof s);
    return status;
}
