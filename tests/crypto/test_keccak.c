#include "crypto/keccak.h"
#include "lanes.h"
#include "support/test.h"

#include <string.h>

typedef struct state {
    _Alignas(64) sotto_keccak_row words[SOTTO_KECCAK_WORDS];
} state;

static void randomise(void *out, size_t len, uint64_t *seed)
{
    for (size_t i = 0; i < len; i++)
        ((uint8_t *)out)[i] = (uint8_t)draw(seed);
}

/* Word w of the input is w * 0x0123456789abcdef. */
static const uint64_t permuted[SOTTO_KECCAK_WORDS] = {
    0x9493a4f158c39564, 0xb5701cb5ab50e057, 0x9ecd9ef9547093ef, 0x330b8344ec78b093,
    0x5c24aca4fc4ed441, 0xc0349009aeb06b2b, 0x31b8f30e208e7721, 0x6b866ecc0b4bf8a3,
    0x62d2618cb5b267df, 0x1a890407adccde43, 0x3e127bef959d69ba, 0xb01a46efb0b5908a,
    0x849868be2c62f179, 0xc8c101213a8195f5, 0x6aa1c55ae702e766, 0x7f5cc1b9dbe399bb,
    0xb60d736f23a2cd9e, 0x5bec331330a007c5, 0x9dd2e508b9b715b4, 0xc90b0940d6ab4943,
    0x612914e3da9a4c11, 0x7bcc0f562941a8f7, 0x061f7356215861d4, 0x2a72cb0ea2debe07,
    0x70450532d967fbba,
};

static void every_backend_gives_the_known_permutation(sotto_test *t)
{
    for (unsigned n = 0; n < BACKENDS; n++) {
        if (!sotto_keccak_use(backends[n]))
            continue;
        for (unsigned lanes = 1; lanes <= SOTTO_LANES; lanes++) {
            state s = {0};

            for (unsigned w = 0; w < SOTTO_KECCAK_WORDS; w++)
                for (unsigned lane = 0; lane < lanes; lane++)
                    s.words[w][lane] = w * (uint64_t)0x0123456789abcdef;
            sotto_keccak_permute(s.words, lanes);
            for (unsigned w = 0; w < SOTTO_KECCAK_WORDS; w++)
                for (unsigned lane = 0; lane < lanes; lane++)
                    CHECK_EQUAL(t, permuted[w], s.words[w][lane]);
        }
    }
    CHECK(t, sotto_keccak_use(NULL));
}

static void every_backend_permutes_each_lane_as_the_scalar_one(sotto_test *t)
{
    uint64_t seed = 1;

    for (unsigned round = 0; round < 100; round++) {
        state before, wanted;

        randomise(&before, sizeof before, &seed);
        wanted = before;
        sotto_keccak_scalar.permute(wanted.words, SOTTO_LANES);
        for (unsigned n = 0; n < BACKENDS; n++) {
            if (!sotto_keccak_use(backends[n]))
                continue;
            for (unsigned lanes = 1; lanes <= SOTTO_LANES; lanes++) {
                state s = before;

                sotto_keccak_permute(s.words, lanes);
                for (unsigned w = 0; w < SOTTO_KECCAK_WORDS; w++)
                    CHECK_BYTES(t, wanted.words[w], s.words[w], lanes * sizeof(uint64_t));
            }
        }
    }
    CHECK(t, sotto_keccak_use(NULL));
}

enum { MOST_BLOCKS = 3, ROOM = MOST_BLOCKS * 168 + 8 };

/* Streams at odd addresses, and unused lanes whose memory must stay as it was. */
typedef struct streams {
    uint8_t in[SOTTO_LANES][ROOM], out[SOTTO_LANES][ROOM];
    state after, other;
} streams;

static void run_blocks(streams *s, unsigned lanes, unsigned rate, size_t blocks)
{
    const uint8_t *in[SOTTO_LANES];
    uint8_t *out[SOTTO_LANES];

    for (unsigned lane = 0; lane < SOTTO_LANES; lane++) {
        in[lane] = s->in[lane] + lane + 1;
        out[lane] = s->out[lane] + 5 - lane;
    }
    sotto_keccak_absorb(s->after.words, lanes, rate, in, blocks);
    sotto_keccak_squeeze(s->after.words, lanes, rate, out, blocks);
    sotto_keccak_exchange(s->after.words, out, s->other.words, in, lanes, rate, blocks);
}

static void every_backend_absorbs_and_squeezes_whole_blocks_alike(sotto_test *t)
{
    uint64_t seed = 2;
    static streams start, wanted, got;

    for (unsigned n = 0; n < BACKENDS; n++) {
        if (!sotto_keccak_use(backends[n]))
            continue;
        for (unsigned lanes = 1; lanes <= SOTTO_LANES; lanes++)
            for (unsigned rate = 136; rate <= 168; rate += 32)
                for (size_t blocks = 0; blocks <= MOST_BLOCKS; blocks++) {
                    randomise(&start, sizeof start, &seed);
                    wanted = got = start;
                    run_blocks(&got, lanes, rate, blocks);
                    CHECK(t, sotto_keccak_use("scalar"));
                    run_blocks(&wanted, lanes, rate, blocks);
                    CHECK_BYTES(t, wanted.out, got.out, sizeof got.out);
                    for (unsigned w = 0; w < SOTTO_KECCAK_WORDS; w++) {
                        CHECK_BYTES(t, wanted.after.words[w], got.after.words[w], lanes * 8);
                        CHECK_BYTES(t, wanted.other.words[w], got.other.words[w], lanes * 8);
                    }
                    CHECK(t, sotto_keccak_use(backends[n]));
                }
    }
    CHECK(t, sotto_keccak_use(NULL));
}

static void a_backend_is_chosen_by_its_name(sotto_test *t)
{
    CHECK(t, sotto_keccak_use("scalar"));
    CHECK(t, strcmp("scalar", sotto_keccak_backend_name()) == 0);
    CHECK(t, !sotto_keccak_use("abacus"));
    CHECK(t, strcmp("scalar", sotto_keccak_backend_name()) == 0); /* a refusal changes nothing */
    CHECK(t, sotto_keccak_use(NULL));
}

static void permute_to_ones(sotto_keccak_row *words, unsigned lanes)
{
    (void)lanes;
    memset(words, 0xff, SOTTO_KECCAK_WORDS * sizeof *words);
}

static void a_test_can_bring_a_backend_of_its_own(sotto_test *t)
{
    static const sotto_keccak_backend ones = {"ones", permute_to_ones, NULL, NULL, NULL};
    state s = {0};
    uint8_t out[168], wanted[168], *const to = out;

    memset(wanted, 0xff, sizeof wanted);
    sotto_keccak_install(&ones);
    sotto_keccak_squeeze(s.words, 1, 168, &to, 1); /* a single lane goes there too */
    CHECK_BYTES(t, wanted, out, sizeof out);
    CHECK(t, strcmp("ones", sotto_keccak_backend_name()) == 0);
    CHECK(t, sotto_keccak_use(NULL));
}

/* Reports as skipped what the tests of all backends had to pass over. */
static void this_machine_has_every_backend(sotto_test *t)
{
    for (unsigned b = 0; b < BACKENDS; b++)
        if (!sotto_keccak_use(backends[b])) {
            CHECK(t, sotto_keccak_use(NULL));
            SKIP(t, "this processor lacks BMI, AVX2 or AVX-512VL: that backend was not compared");
        }
    CHECK(t, sotto_keccak_use(NULL));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(every_backend_gives_the_known_permutation),
        CASE(every_backend_permutes_each_lane_as_the_scalar_one),
        CASE(every_backend_absorbs_and_squeezes_whole_blocks_alike),
        CASE(a_backend_is_chosen_by_its_name),
        CASE(a_test_can_bring_a_backend_of_its_own),
        CASE(this_machine_has_every_backend),
    };
    return RUN_TESTS(argc, argv, cases);
}
