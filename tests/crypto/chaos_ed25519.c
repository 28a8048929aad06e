/* Ed25519 in lanes against the crypto library, on signatures of random keys. All sets against each other, on keys and scalars near
 * the edges of limbs, which nobody could sign with. SOTTO_CHAOS_SIGNATURES, SOTTO_CHAOS_POINTS and
 * SOTTO_CHAOS_SEED choose how many and which. */
#include "crypto/ed25519_sets.h"

#include "sim/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64, TEXT = 200 };

static uint64_t setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

typedef struct batch {
    uint8_t keys[MOST][SIZE], signatures[MOST][SOTTO_SIGNATURE], texts[MOST][TEXT];
    sotto_signature_claim claims[MOST];
    bool wanted[MOST];
} batch;

/* Every fourth one has a wrong bit somewhere, but for those that take S beyond the order: such a claim fills no lane, and others
 * may then be too few. */
static void draw(sotto_test *t, batch *b, sotto_sim_random *random)
{
    for (size_t i = 0; i < MOST; i++) {
        uint8_t seed[SOTTO_SIGN_SEED];
        const size_t len = (size_t)sotto_sim_random_below(random, TEXT + 1);
        sotto_signature_claim *c = &b->claims[i];
        sotto_signer signer;

        sotto_sim_random_bytes(random, seed, sizeof seed);
        sotto_sim_random_bytes(random, b->texts[i], len);
        *c = (sotto_signature_claim){b->keys[i], b->signatures[i], sotto_bytes_of(b->texts[i], len),
                                     false};
        CHECK_OK(t, sotto_signer_init(&signer, seed, &t->err));
        CHECK_OK(t, sotto_sign(&signer, b->signatures[i], c->text, &t->err));
        memcpy(b->keys[i], signer.public_key, SIZE);
        sotto_signer_clear(&signer);
        if (sotto_sim_random_chance(random, 0.25)) {
            const uint64_t bit = sotto_sim_random_below(random, 8 * (SIZE + SOTTO_SIGNATURE) - 4);
            uint8_t *at = bit < 8 * SIZE ? &b->keys[i][bit / 8] : &b->signatures[i][bit / 8 - SIZE];

            *at = (uint8_t)(*at ^ 1u << bit % 8);
        }
        b->wanted[i] = library_holds(c);
    }
}

static void signatures_are_judged_as_by_the_library(sotto_test *t)
{
    static batch b;
    const uint64_t count = setting("SOTTO_CHAOS_SIGNATURES", SOTTO_TEST_DRAWS(4000));
    sotto_signature_claim *at[MOST];
    const sotto_ed25519_lanes *set;
    sotto_sim_random random;

    sotto_sim_random_init(&random, setting("SOTTO_CHAOS_SEED", 1));
    for (uint64_t done = 0; done < count; done += MOST) {
        draw(t, &b, &random);
        for (size_t n = 0; (set = next_set(&n)) != NULL;) {
            for (size_t i = 0; i < MOST; i++) {
                b.claims[i].holds = false;
                at[i] = &b.claims[i];
            }
            sotto_ed25519_with(set, at, MOST);
            for (size_t i = 0; i < MOST; i++)
                CHECK_EQUAL(t, b.wanted[i], b.claims[i].holds);
        }
    }
    (void)printf("%llu signatures\n", (unsigned long long)count);
}

/* Made of runs of equal bits, which fill limbs or empty them. */
static void draw_runs(uint8_t out[SIZE], sotto_sim_random *random, unsigned bits)
{
    uint8_t bit = (uint8_t)sotto_sim_random_below(random, 2);

    memset(out, 0, SIZE);
    for (size_t at = 0; at < bits; bit = !bit)
        for (size_t run = 1 + sotto_sim_random_below(random, 60); run > 0 && at < bits; run--, at++)
            out[at / 8] = (uint8_t)(out[at / 8] | bit << at % 8);
}

static void run_all(const sotto_ed25519_lanes *set, sotto_ed25519_job jobs[MOST])
{
    for (size_t at = 0; at < MOST; at += set->lanes)
        set->combine(jobs + at);
}

static void all_sets_agree_at_the_edges_of_limbs(sotto_test *t)
{
    static uint8_t keys[MOST][SIZE], scalars[MOST][SIZE];
    static sotto_ed25519_job first[MOST], jobs[MOST];
    const uint64_t count = setting("SOTTO_CHAOS_POINTS", SOTTO_TEST_DRAWS(4000));
    const sotto_ed25519_lanes *set;
    sotto_sim_random random;
    uint64_t points = 0;

    sotto_sim_random_init(&random, setting("SOTTO_CHAOS_SEED", 1) + 1);
    for (uint64_t done = 0; done < count; done += MOST) {
        for (size_t i = 0; i < MOST; i++) {
            draw_runs(keys[i], &random, 256);
            draw_runs(scalars[i], &random, 252);
            first[i] = (sotto_ed25519_job){.key = keys[i], .s = scalars[i]};
            draw_runs(first[i].h, &random, 252);
        }
        memcpy(jobs, first, sizeof jobs);
        run_all(&sotto_ed25519_generic51, first);
        for (size_t n = 0; (set = next_set(&n)) != NULL;) {
            run_all(set, jobs);
            for (size_t i = 0; i < MOST; i++) {
                CHECK_EQUAL(t, first[i].is_point, jobs[i].is_point);
                CHECK(t, !jobs[i].is_point || memcmp(first[i].r, jobs[i].r, SIZE) == 0);
                points += jobs[i].is_point;
            }
        }
    }
    CHECK(t, points > count / 4);
    (void)printf("%llu points\n", (unsigned long long)count);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(signatures_are_judged_as_by_the_library),
        CASE(all_sets_agree_at_the_edges_of_limbs),
    };
    return RUN_TESTS(argc, argv, cases);
}
