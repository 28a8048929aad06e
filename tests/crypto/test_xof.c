#include "crypto/xof.h"
#include "support/residue.h"

#include <string.h>

enum { STREAM = 1000 };

static const char purpose[] = "a purpose", bound_to[] = "what it is bound to";

static sotto_bytes text(const char *s)
{
    return sotto_bytes_of(s, strlen(s));
}

/* Byte i is 200 + i. */
static void count_from_200(uint8_t *out, size_t len)
{
    for (size_t i = 0; i < len; i++)
        out[i] = (uint8_t)(200 + i);
}

static void check_ends(sotto_test *t, const uint8_t *stream, size_t len, const char *first,
                       const char *last)
{
    sotto_bytes a = sotto_test_hex(t, first), b = sotto_test_hex(t, last);

    CHECK_BYTES(t, a.data, stream, a.len);
    CHECK_BYTES(t, b.data, stream + len - b.len, b.len);
}

static void turboshake128_gives_the_known_stream(sotto_test *t)
{
    sotto_turboshake x;
    uint8_t seed[SOTTO_XOF_SEED_SIZE], stream[STREAM];
    const uint8_t *const seeds = seed, *const binder = (const uint8_t *)bound_to;
    uint8_t *const out = stream;

    count_from_200(seed, sizeof seed);
    sotto_xof_turboshake128_init(&x, 1, text(purpose), &seeds, &binder, strlen(bound_to), NULL, 0);
    sotto_xof_turboshake128_next(&x, &out, STREAM);
    check_ends(t, stream, STREAM,
               "f692535aac75de3b072e76ac072c8152ec2a707ce57af7ccf9e6420c269351c1",
               "2c513e7c38692945594b2c91f543f04660d568c09ef40c59e8138b671b32c62e");

    sotto_xof_turboshake128_init(&x, 1, text(""), &seeds, NULL, 0, NULL, 0);
    sotto_xof_turboshake128_next(&x, &out, 48);
    check_ends(t, stream, 48, "",
               "fae4cd891418458812fc34897c3d937dbe05d15e8e5448f19d920c54a4ca9d0b");
}

static void turboshake128_takes_the_longest_dst(sotto_test *t)
{
    sotto_turboshake x;
    uint8_t seed[SOTTO_XOF_SEED_SIZE], pattern[SOTTO_XOF_MAX_DST], stream[400];
    const uint8_t *const seeds = seed, *const binder = pattern, *const rest = pattern + 9;
    uint8_t *const out = stream;

    for (size_t i = 0; i < sizeof seed; i++)
        seed[i] = (uint8_t)i;
    for (size_t i = 0; i < sizeof pattern; i++)
        pattern[i] = (uint8_t)(13 * i + 7);
    sotto_xof_turboshake128_init(&x, 1, sotto_bytes_of(pattern, sizeof pattern), &seeds, &binder, 9,
                                 &rest, 691);
    sotto_xof_turboshake128_next(&x, &out, sizeof stream);
    check_ends(t, stream, sizeof stream, "",
               "014ec1bdb8b721cba88cf10c1d1be47fd0a5f5afb63d803665fbb601e8535799");
}

/* The framing, against TurboSHAKE over the framed message, at each length of dst around the sizes where
 * the implementation changes its method. Each lane has another seed and binder. */
static void turboshake128_frames_each_lane(sotto_test *t)
{
    static const size_t dst_lens[] = {0,   1,   8,   24,  61,  124, 125,
                                      126, 127, 165, 166, 168, 300, 1032};
    static uint8_t bytes[SOTTO_LANES][3000];
    static uint8_t framed[SOTTO_LANES][3000];
    sotto_turboshake x;

    for (unsigned lane = 0; lane < SOTTO_LANES; lane++)
        for (size_t i = 0; i < sizeof bytes[lane]; i++)
            bytes[lane][i] = (uint8_t)(i * i + 3 * i * lane + i / 256 + lane);
    for (size_t d = 0; d < sizeof dst_lens / sizeof dst_lens[0]; d++) {
        size_t n = dst_lens[d], head = 17, body = 40 * d, len = 2 + n + 1 + 32 + head + body;
        uint8_t got[SOTTO_LANES][200], wanted[SOTTO_LANES][200];
        const uint8_t *seeds[SOTTO_LANES], *heads[SOTTO_LANES], *bodies[SOTTO_LANES];
        const uint8_t *whole[SOTTO_LANES];
        uint8_t *const to[SOTTO_LANES] = {got[0], got[1], got[2], got[3]};
        uint8_t *const to_wanted[SOTTO_LANES] = {wanted[0], wanted[1], wanted[2], wanted[3]};

        for (unsigned lane = 0; lane < SOTTO_LANES; lane++) {
            uint8_t *f = framed[lane];

            f[0] = (uint8_t)n, f[1] = (uint8_t)(n >> 8);
            memcpy(f + 2, bytes[0], n);
            f[2 + n] = 32;
            seeds[lane] = bytes[lane] + 1100;
            heads[lane] = seeds[lane] + 32;
            bodies[lane] = heads[lane] + head;
            memcpy(f + 2 + n + 1, seeds[lane], 32 + head + body);
            whole[lane] = f;
        }
        sotto_turboshake_absorb(&x, SOTTO_TURBOSHAKE128_RATE, 1, 4, whole, len, NULL, 0);
        sotto_turboshake_squeeze(&x, to_wanted, 200);
        for (unsigned lanes = 1; lanes <= SOTTO_LANES; lanes++) {
            memset(got, 0, sizeof got);
            sotto_xof_turboshake128_init(&x, lanes, sotto_bytes_of(bytes[0], n), seeds, heads, head,
                                         bodies, body);
            sotto_xof_turboshake128_next(&x, to, 200);
            CHECK_BYTES(t, wanted, got, lanes * sizeof got[0]);
        }
    }
}

static void fixed_key_aes128_gives_the_known_stream(sotto_test *t)
{
    sotto_xof_aes x;
    uint8_t seed[SOTTO_XOF_FIXED_KEY_SEED_SIZE], stream[STREAM];

    count_from_200(seed, sizeof seed);
    CHECK_OK(t, sotto_xof_fixed_key_aes128_init(&x, text(purpose), seed, text(bound_to), &t->err));
    CHECK_OK(t, sotto_xof_aes_next(&x, stream, STREAM, &t->err));
    check_ends(t, stream, STREAM,
               "01143771f8a1293a045bccd40c319d31aa79d3f0081c59801da2b9246c49fecc",
               "0f84d3a3cf966068f9b15fc7b0a8ca69450fedabdebeefca7e18386d23285231");
    sotto_xof_aes_clear(&x);

    CHECK_OK(t, sotto_xof_fixed_key_aes128_init(&x, text(""), seed, text(""), &t->err));
    CHECK_OK(t, sotto_xof_aes_next(&x, stream, 48, &t->err));
    check_ends(t, stream, 48, "",
               "9ed81ff437a249f6f0143903934bec0cb2b8079c030526b8c2ef3003537c2a1d");
    sotto_xof_aes_clear(&x);
}

static void hmac_sha256_aes128_gives_the_known_stream(sotto_test *t)
{
    sotto_xof_aes x;
    uint8_t seed[SOTTO_XOF_SEED_SIZE], stream[STREAM];

    count_from_200(seed, sizeof seed);
    CHECK_OK(t, sotto_xof_hmac_sha256_aes128_init(&x, text(purpose), seed, text(bound_to), text(""),
                                                  &t->err));
    CHECK_OK(t, sotto_xof_aes_next(&x, stream, STREAM, &t->err));
    check_ends(t, stream, STREAM,
               "cff61a046d1e3155e9e9fcab8e9ca5e3e5512201ba912d78f53911464bcceab6",
               "72197ebcf68990f582e724f628cabbdc9da08ac2ca9ca709e9162503386194c0");
    sotto_xof_aes_clear(&x);

    CHECK_OK(t, sotto_xof_hmac_sha256_aes128_init(&x, text(""), seed, text(""), text(""), &t->err));
    CHECK_OK(t, sotto_xof_aes_next(&x, stream, 48, &t->err));
    check_ends(t, stream, 48, "",
               "b6e53259a48ca04501096bce49d6b1a8a008d0adb1fec15755b1a20ed4152a33");
    sotto_xof_aes_clear(&x);
}

static void aes_streams_do_not_depend_on_how_they_are_cut(sotto_test *t)
{
    for (unsigned hmac = 0; hmac < 2; hmac++) {
        uint8_t seed[32] = {1, 2, 3}, whole[STREAM], cut[STREAM];

        for (size_t step = 1; step < 70; step++) {
            sotto_xof_aes x;
            uint8_t *out = step == 1 ? whole : cut;
            size_t most = step == 1 ? STREAM : step;

            CHECK_OK(t, hmac ? sotto_xof_hmac_sha256_aes128_init(&x, text(purpose), seed,
                                                                 text(bound_to), text(""), &t->err)
                             : sotto_xof_fixed_key_aes128_init(&x, text(purpose), seed,
                                                               text(bound_to), &t->err));
            for (size_t at = 0; at < STREAM; at += most) {
                size_t some = most < STREAM - at ? most : STREAM - at;

                CHECK_OK(t, sotto_xof_aes_next(&x, out + at, some, &t->err));
            }
            sotto_xof_aes_clear(&x);
            CHECK_BYTES(t, whole, out, STREAM);
        }
    }
}

static void hmac_counter_wraps_within_its_64_bits(sotto_test *t)
{
    const uint8_t seed[SOTTO_XOF_SEED_SIZE] = {9};
    uint8_t across[32], after[16];
    sotto_xof_aes x;

    CHECK_OK(
        t, sotto_xof_hmac_sha256_aes128_init(&x, text(purpose), seed, text(""), text(""), &t->err));
    memset(x.start + 8, 0xff, 8);
    CHECK_OK(t, sotto_xof_aes_next(&x, across, sizeof across, &t->err));
    sotto_xof_aes_clear(&x);
    CHECK_OK(
        t, sotto_xof_hmac_sha256_aes128_init(&x, text(purpose), seed, text(""), text(""), &t->err));
    memset(x.start + 8, 0, 8);
    CHECK_OK(t, sotto_xof_aes_next(&x, after, sizeof after, &t->err));
    sotto_xof_aes_clear(&x);
    CHECK_BYTES(t, after, across + 16, sizeof after);
}

static void a_dst_that_cannot_be_framed_is_refused(sotto_test *t)
{
    static const uint8_t zeros[65536];
    const uint8_t seed[SOTTO_XOF_SEED_SIZE] = {0};
    sotto_bytes long_hmac = sotto_bytes_of(zeros, SOTTO_XOF_HMAC_MAX_DST + 1);
    sotto_bytes long_fixed = sotto_bytes_of(zeros, sizeof zeros);
    sotto_xof_aes x;

    CHECK_STATUS(
        t, SOTTO_TOO_LARGE,
        sotto_xof_hmac_sha256_aes128_init(&x, long_hmac, seed, text(""), text(""), &t->err));
    sotto_xof_aes_clear(&x);
    CHECK_STATUS(t, SOTTO_TOO_LARGE,
                 sotto_xof_fixed_key_aes128_init(&x, long_fixed, seed, text(""), &t->err));
    sotto_xof_aes_clear(&x);
}

/* ---- what is left behind ---------------------------------------------------------------------------- */

static void a_cleared_stream_is_all_zeros(sotto_test *t)
{
    static const sotto_xof_aes zeros;
    const uint8_t seed[SOTTO_XOF_SEED_SIZE] = {1};
    uint8_t out[5];
    sotto_xof_aes x;

    CHECK_OK(
        t, sotto_xof_hmac_sha256_aes128_init(&x, text(purpose), seed, text(""), text(""), &t->err));
    CHECK_OK(t, sotto_xof_aes_next(&x, out, sizeof out, &t->err));
    CHECK(t, memcmp(x.block, zeros.block, sizeof x.block) != 0);
    sotto_xof_aes_clear(&x);
    CHECK(t, !x.cipher);
    CHECK_BYTES(t, zeros.start, x.start, sizeof x.start);
    CHECK_BYTES(t, zeros.block, x.block, sizeof x.block);
}

#ifndef SOTTO_TEST_STACK_MOVES

/* Words that stand nowhere else: one found on the stack is of a state, or of the key made from it. */
static const uint64_t mark = 0x00c0ffee5ec2e700;

static void marking_permute(sotto_keccak_row *words, unsigned lanes)
{
    for (unsigned w = 0; w < SOTTO_KECCAK_WORDS; w++)
        for (unsigned l = 0; l < lanes; l++)
            words[w][l] = mark | w;
}

static const sotto_keccak_backend marking = {"marking", marking_permute, NULL, NULL, NULL};

static void start_fixed_key(void *arg)
{
    static const uint8_t seed[SOTTO_XOF_FIXED_KEY_SEED_SIZE];
    sotto_xof_aes *x = arg;

    if (sotto_xof_fixed_key_aes128_init(x, text(purpose), seed, text(bound_to), NULL) != SOTTO_OK)
        sotto_xof_aes_clear(x);
}

static void fixed_key_aes128_leaves_neither_state_nor_key(sotto_test *t)
{
    sotto_xof_aes x = {0};

    sotto_keccak_install(&marking);
    sotto_test_on_own_stack(t, start_fixed_key, &x);
    CHECK(t, sotto_keccak_use(NULL));
    CHECK(t, x.cipher != NULL);
    sotto_xof_aes_clear(&x);
    for (unsigned w = 0; w < SOTTO_KECCAK_WORDS; w++) {
        uint64_t word = mark | w;

        CHECK(t, !sotto_test_stack_holds(&word, sizeof word));
    }
}

#endif

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(turboshake128_gives_the_known_stream),
        CASE(turboshake128_takes_the_longest_dst),
        CASE(turboshake128_frames_each_lane),
        CASE(fixed_key_aes128_gives_the_known_stream),
        CASE(hmac_sha256_aes128_gives_the_known_stream),
        CASE(aes_streams_do_not_depend_on_how_they_are_cut),
        CASE(hmac_counter_wraps_within_its_64_bits),
        CASE(a_dst_that_cannot_be_framed_is_refused),
        CASE(a_cleared_stream_is_all_zeros),
#ifndef SOTTO_TEST_STACK_MOVES
        CASE(fixed_key_aes128_leaves_neither_state_nor_key),
#endif
    };
    return RUN_TESTS(argc, argv, cases);
}
