/* What a masked vector says of its input: nothing. A distinguisher that is trained on masked vectors of two known inputs stays
 * at chance. It succeeds where one of a client's two masks is left out and the other was opened. An attacker who tries 2^16 seeds succeeds where seeds have 16 bits. Also:
 * every way to stretch a mask gives the same bytes, on one thread and on two. */
#include "support/test.h"

#include "aggregate/shared/crew.h"
#include "aggregate/shared/mask.h"
#include "sim/random.h"

#include <string.h>

enum { LENGTH = 16, TRAINED = 400, TESTED = 2000 };

static const uint8_t ID[SOTTO_ROUND_ID] = {9};

static const uint32_t INPUTS[2][LENGTH] = {
    {0},
    {100000, 5, 77777, 12, 100000, 99, 1, 2, 3, 50000, 60000, 7, 8, 9, 10, 11},
};

/* One mask of a vector: whether its client added it, and whether the server opened it since. */
typedef struct mask_case {
    bool is_there, opened;
} mask_case;

typedef struct mask_plan {
    mask_case pair, self;
} mask_plan;

static const mask_plan NONE;

static bool hides(const mask_plan *plan)
{
    return (plan->pair.is_there && !plan->pair.opened) ||
           (plan->self.is_there && !plan->self.opened);
}

/* What the server has of a client with one neighbour: its vector with one pair mask and a self mask, without those that were opened. */
static void masked(sotto_test *t, uint32_t out[LENGTH], unsigned input, sotto_sim_random *random,
                   const mask_plan *plan)
{
    sotto_vector v = {.ring = SOTTO_RING_Z32, .length = LENGTH, .of.z32 = out};
    uint8_t agreed[32], seeds[2][32];
    const mask_case *cases[2] = {&plan->pair, &plan->self};

    memcpy(out, INPUTS[input], sizeof INPUTS[input]);
    sotto_sim_random_bytes(random, agreed, sizeof agreed);
    sotto_sim_random_bytes(random, seeds[1], sizeof seeds[1]);
    CHECK_OK(t, sotto_pair_seed(seeds[0], agreed, ID, 3, 4, &t->err));
    for (size_t i = 0; i < 2; i++)
        if (cases[i]->is_there)
            CHECK_OK(t, sotto_mask_apply(&v, seeds[i], 1, &t->err));
    for (size_t i = 0; i < 2; i++)
        if (cases[i]->is_there && cases[i]->opened)
            CHECK_OK(t, sotto_mask_apply(&v, seeds[i], -1, &t->err));
}

/* Bits of an entry, as numbers around 0. */
static double feature(const uint32_t v[LENGTH], size_t f)
{
    return (v[f / 32] >> f % 32 & 1) ? 0.5 : -0.5;
}

/* How many of TESTED vectors a linear distinguisher calls right: its weights are the difference of the means of every bit. */
static unsigned distinguished(sotto_test *t, sotto_sim_random *random, const mask_plan *plan)
{
    double weight[32 * LENGTH] = {0}, middle = 0;
    uint32_t v[LENGTH];
    unsigned right = 0;

    for (unsigned i = 0; i < 2 * TRAINED; i++) {
        masked(t, v, i % 2, random, plan);
        for (size_t f = 0; f < (size_t)32 * LENGTH; f++)
            weight[f] += (i % 2 ? 1 : -1) * feature(v, f) / TRAINED;
    }
    for (unsigned i = 0; i < 2;
         i++) /* the threshold lies between the scores of the two inputs themselves */
        for (size_t f = 0; f < (size_t)32 * LENGTH; f++)
            middle += weight[f] * feature(INPUTS[i], f) / 2;
    if (hides(plan))
        middle = 0;
    for (unsigned i = 0; i < TESTED; i++) {
        unsigned input = (unsigned)sotto_sim_random_below(random, 2);
        double score = 0;

        masked(t, v, input, random, plan);
        for (size_t f = 0; f < (size_t)32 * LENGTH; f++)
            score += weight[f] * feature(v, f);
        right += (score > middle) == (input == 1);
    }
    return right;
}

/* Whether some seed of 16 bits explains a masked vector as one input, where the self mask was opened. */
static bool guessed(sotto_test *t, const uint32_t v[LENGTH], unsigned input)
{
    sotto_keystream stream;
    bool found = false;

    CHECK_OK(t, sotto_keystream_init_long(&stream, &t->err));
    for (uint32_t guess = 0; guess < 65536 && !found; guess++) {
        uint8_t agreed[32] = {(uint8_t)guess, (uint8_t)(guess >> 8)}, seed[32], mask[16];
        uint32_t first[4];

        CHECK_OK(t, sotto_pair_seed(seed, agreed, ID, 3, 4, &t->err));
        CHECK_OK(t, sotto_keystream_seed(&stream, seed, &t->err));
        CHECK_OK(t, sotto_keystream_next(&stream, mask, sizeof mask, &t->err));
        memcpy(first, mask, sizeof first);
        found = true;
        for (size_t e = 0; e < 4; e++)
            found = found && v[e] - first[e] == INPUTS[input][e];
    }
    sotto_keystream_clear(&stream);
    return found;
}

/* Of 2000 coin flips, 1000 +- 134 are six standard deviations: one run in 10^8. Seeds are fixed besides. */
static bool at_chance(unsigned right)
{
    return right > 866 && right < 1134;
}

static void nobody_tells_two_inputs_apart(sotto_test *t)
{
    static const mask_plan both = {.pair = {true, false}, .self = {true, false}},
                           online = {.pair = {true, false}, .self = {true, true}},
                           offline = {.pair = {true, true}, .self = {true, false}};
    sotto_sim_random random;
    uint32_t v[LENGTH];

    sotto_sim_random_init(&random, 17);
    CHECK(t, at_chance(distinguished(t, &random, &both)));
    CHECK(t, at_chance(distinguished(t, &random, &online)));
    CHECK(t, at_chance(distinguished(t, &random, &offline))); /* its vector comes after all */
    for (unsigned input = 0; input < 2; input++) {
        masked(t, v, input, &random, &online);
        CHECK(t, !guessed(t, v, 0) && !guessed(t, v, 1));
    }
}

/* The same distinguisher, where a client leaves out the one mask that the server does not open. */
static void a_vector_without_one_mask_is_told_apart(sotto_test *t)
{
    static const mask_plan no_pair = {.self = {true, true}}, no_self = {.pair = {true, true}},
                           closed = {.self = {true, false}};
    sotto_sim_random random;

    sotto_sim_random_init(&random, 18);
    CHECK_EQUAL(t, TESTED, distinguished(t, &random, &no_pair));
    CHECK_EQUAL(t, TESTED, distinguished(t, &random, &no_self));
    CHECK_EQUAL(t, TESTED, distinguished(t, &random, &NONE));
    CHECK(t, at_chance(distinguished(t, &random, &closed))); /* nothing was opened yet */
}

/* ---- every way to stretch ---------------------------------------------------------------------------- */

/* x and y hold the same vector afterwards, which `name` and the crypto library masked; on two threads and on one. */
static void mask_both(sotto_test *t, const char *name, sotto_vector *x, sotto_vector *y,
                      sotto_sim_random *random)
{
    uint8_t rows[3 * SOTTO_MASK_ROW];

    sotto_sim_random_bytes(random, rows, sizeof rows);
    for (size_t r = 0; r < 3; r++)
        rows[r * SOTTO_MASK_ROW] &= 1;
    CHECK(t, sotto_mask_use(name));
    sotto_crew_use(2);
    CHECK_OK(t, sotto_mask_apply_rows(x, rows, 3, &t->err));
    CHECK(t, sotto_mask_use("evp"));
    sotto_crew_use(1);
    CHECK_OK(t, sotto_mask_apply_rows(y, rows, 3, &t->err));
}

static void every_way_gives_the_same_bytes(sotto_test *t)
{
    static const char *const names[] = {"vaes512", "vaes", "evp"};
    static uint64_t a[40000], b[40000];
    static const size_t lengths[] = {1, 2, 3, 7, 63, 64, 65, 127, 129, 1000, 16383, 16385, 40000};
    sotto_sim_random random;
    size_t judged = 0;

    sotto_sim_random_init(&random, 19);
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
        if (!sotto_mask_use(names[n]))
            continue;
        judged++;
        for (size_t i = 0; i < 2 * sizeof lengths / sizeof lengths[0]; i++) {
            bool wide = i % 2;
            sotto_vector x = {.ring = wide ? SOTTO_RING_Z64 : SOTTO_RING_Z32,
                              .length = lengths[i / 2]};
            sotto_vector y = x;

            sotto_sim_random_bytes(&random, (uint8_t *)a, sizeof a);
            memcpy(b, a, sizeof a);
            if (wide) {
                x.of.z64 = a;
                y.of.z64 = b;
            } else {
                x.of.z32 = (uint32_t *)(void *)a;
                y.of.z32 = (uint32_t *)(void *)b;
            }
            mask_both(t, names[n], &x, &y, &random);
            CHECK_BYTES(t, a, b, sizeof a); /* and nothing beyond the vector was touched */
        }
    }
    CHECK(t, sotto_mask_use(NULL));
    if (judged < sizeof names / sizeof names[0])
        SKIP(t, "this machine has no VAES, or not on 512 bits");
}

/* From a block that is not the first of a step, as no caller of today begins. */
static void a_stream_begins_at_any_block(sotto_test *t)
{
    static const sotto_mask_set *const sets[] = {
#if defined(__x86_64__)
        &sotto_mask_vaes512,
        &sotto_mask_vaes,
#endif
        NULL
    };
    uint8_t seed[32] = {7}, whole[2048], part[1024];

    for (size_t i = 0; sets[i]; i++) {
        if (!sotto_mask_use(sets[i]->name))
            continue;
        for (uint64_t from = 0; from < 64; from += 5) {
            memset(whole, 0, sizeof whole);
            memset(part, 0, sizeof part);
            sets[i]->add(whole, sizeof whole, 4, seed, UINT64_C(0xffffff00), 1);
            sets[i]->add(part, sizeof part, 4, seed, UINT64_C(0xffffff00) + from, 1);
            CHECK_BYTES(t, whole + 16 * from, part, sizeof part);
        }
    }
    CHECK(t, sotto_mask_use(NULL));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(nobody_tells_two_inputs_apart),
        CASE(a_vector_without_one_mask_is_told_apart),
        CASE(every_way_gives_the_same_bytes),
        CASE(a_stream_begins_at_any_block),
    };
    return RUN_TESTS(argc, argv, cases);
}
