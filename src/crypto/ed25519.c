#include "crypto/ed25519.h"

#include "base/backends.h"
#include "base/cpu.h"
#include "crypto/hash.h"

#include <string.h>

/* ---- scalars ------------------------------------------------------------------------------------------------ */

/* The group's order is 2^252 and this much, in words of 32 bits. */
enum { LOW_WORDS = 4, SCALAR_WORDS = 8, WIDE_WORDS = 16 };
static const uint32_t LOW[LOW_WORDS] = {0x5cf5d3ed, 0x5812631a, 0xa2f79cd6, 0x14def9de};

static uint32_t read_word(const uint8_t *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static bool is_reduced(const uint8_t s[SOTTO_ED25519_SIZE])
{
    const uint32_t top = read_word(s + 28);

    if (top >> 28 == 0)
        return true;
    if (top != UINT32_C(1) << 28)
        return false;
    for (unsigned i = SCALAR_WORDS - 1; i-- > 0;) {
        const uint32_t word = read_word(s + (size_t)4 * i), limit = i < LOW_WORDS ? LOW[i] : 0;

        if (word != limit)
            return word < limit;
    }
    return false;
}

/* r - q * LOW; true: that is below zero, and 2^256 was added. q * LOW[i] and a carry fit 64 bits, since no word of LOW is the
 * largest there is. */
static bool subtract(uint32_t r[SCALAR_WORDS], uint64_t q)
{
    uint64_t carry = 0, borrow = 0;

    for (unsigned i = 0; i < SCALAR_WORDS; i++) {
        const uint64_t product = (i < LOW_WORDS ? q * LOW[i] : 0) + carry;
        const uint64_t less = (uint64_t)r[i] - (uint32_t)product - borrow;

        carry = product >> 32;
        borrow = less >> 63;
        r[i] = (uint32_t)less;
    }
    return borrow != 0;
}

static void add_order(uint32_t r[SCALAR_WORDS])
{
    uint64_t carry = 0;

    for (unsigned i = 0; i < SCALAR_WORDS; i++) {
        carry += (uint64_t)r[i] + (i < LOW_WORDS ? LOW[i] : 0);
        r[i] = (uint32_t)carry;
        carry >>= 32;
    }
    r[SCALAR_WORDS - 1] += UINT32_C(1) << 28;
}

/* Word by word from the top: what is left so far is below the order. With another word it is x = q 2^252 + rest, and
 * rest - q LOW is the same modulo the order. It is below 2^252, and above minus the order. */
void sotto_ed25519_reduce(uint8_t out[SOTTO_ED25519_SIZE], const uint8_t wide[SOTTO_ED25519_WIDE])
{
    uint32_t r[SCALAR_WORDS] = {0};

    for (unsigned i = WIDE_WORDS; i-- > 0;) {
        const uint64_t q = (uint64_t)r[SCALAR_WORDS - 1] << 4 | r[SCALAR_WORDS - 2] >> 28;

        memmove(r + 1, r, sizeof r - sizeof r[0]);
        r[0] = read_word(wide + (size_t)4 * i);
        r[SCALAR_WORDS - 1] &= UINT32_MAX >> 4;
        if (subtract(r, q))
            add_order(r);
    }
    for (unsigned i = 0; i < SOTTO_ED25519_SIZE; i++)
        out[i] = (uint8_t)(r[i / 4] >> 8 * (i % 4));
}

/* ---- claims ------------------------------------------------------------------------------------------------- */

/* h = SHA-512(R, A, text). */
static void begin(sotto_ed25519_job *job, const sotto_signature_claim *c)
{
    uint8_t wide[SOTTO_ED25519_WIDE];
    sotto_hash hash;

    sotto_hash_init(&hash, SOTTO_SHA512);
    sotto_hash_update(&hash, sotto_bytes_of(c->signature, SOTTO_ED25519_SIZE));
    sotto_hash_update(&hash, sotto_bytes_of(c->public_key, SOTTO_SIGN_PUBLIC));
    sotto_hash_update(&hash, c->text);
    sotto_hash_final(&hash, wide);
    sotto_ed25519_reduce(job->h, wide);
    job->key = c->public_key;
    job->s = c->signature + SOTTO_ED25519_SIZE;
}

/* As many as there are lanes, or fewer: then the first one fills the others too, for nobody. */
static void judge_some(const sotto_ed25519_lanes *set, sotto_signature_claim *const *claims,
                       size_t count)
{
    sotto_ed25519_job jobs[SOTTO_ED25519_MAX_LANES];

    for (size_t i = 0; i < count; i++)
        begin(&jobs[i], claims[i]);
    for (size_t i = count; i < set->lanes; i++)
        jobs[i] = jobs[0];
    set->combine(jobs);
    for (size_t i = 0; i < count; i++)
        claims[i]->holds =
            jobs[i].is_point && memcmp(jobs[i].r, claims[i]->signature, sizeof jobs[i].r) == 0;
}

void sotto_ed25519_with(const sotto_ed25519_lanes *set, sotto_signature_claim *const *claims,
                        size_t count)
{
    sotto_signature_claim *some[SOTTO_ED25519_MAX_LANES];
    size_t waiting = 0;

    for (size_t i = 0; i < count; i++) {
        /* Nobody can write a second signature of the same text by adding the order. */
        if (!is_reduced(claims[i]->signature + SOTTO_ED25519_SIZE))
            continue;
        some[waiting++] = claims[i];
        if (waiting == set->lanes) {
            judge_some(set, some, waiting);
            waiting = 0;
        }
    }
    if (waiting >= set->least)
        judge_some(set, some, waiting);
}

/* ---- the choice --------------------------------------------------------------------------------------------- */

/* Where the crypto library is the best there is. */
static const sotto_ed25519_lanes none = {"none", 0, 0, NULL};

/* Instrumented lanes take longer than the crypto library, so a sanitized build uses them where a test asks by name. What is built
 * for size, as devices have it, has none of them: they are 190 KB, and a device checks few signatures. */
static const sotto_backend rows[] = {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    {0, &none},
#endif
#if defined(__x86_64__) && !defined(__OPTIMIZE_SIZE__)
    {SOTTO_CPU_IFMA, &sotto_ed25519_ifma},
    {SOTTO_CPU_AVX2, &sotto_ed25519_avx2},
#endif
    {0, &none},
};
static sotto_backends backends = {rows, sizeof rows / sizeof rows[0], NULL};

static const sotto_ed25519_lanes *best(void)
{
    return sotto_backends_chosen(&backends);
}

bool sotto_ed25519_use(const char *name)
{
    return sotto_backends_use(&backends, name);
}

const char *sotto_ed25519_name(void)
{
    return best()->name;
}

void sotto_ed25519_many(sotto_signature_claim *const *claims, size_t count)
{
    if (best()->combine)
        sotto_ed25519_with(best(), claims, count);
}
