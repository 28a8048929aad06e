/* Encryption, sums and threshold opening, against plain integers. */
#include "aggregate/aero/ledger.h"
#include "aggregate/aero/threshold.h"
#include "sim/random.h"
#include "support/test.h"

#include <math.h>
#include <string.h>

enum { MEMBERS = 5, THRESHOLD = 3, DEALERS = 2 };

static sotto_status fill(void *context, void *out, size_t len, sotto_err *err)
{
    (void)err;
    sotto_sim_random_bytes(context, out, len);
    return SOTTO_OK;
}

/* A key of two dealers among five members. */
typedef struct lab {
    sotto_aero aero;
    sotto_aero_ledger ledger;
    sotto_sim_random random;
    sotto_entropy entropy;
    sotto_aero_poly a, b;
    sotto_aero_public key;
    sotto_aero_secret secrets[DEALERS];
    sotto_aero_share shares[MEMBERS];
    sotto_noise smudge;
} lab;

static const sotto_aero_wish small_wish = {
    .devices = 100,
    .liars = 3,
    .most = 1 << 12,
    .noise = 1 << 12,
    .dealers = DEALERS,
    .threshold = THRESHOLD,
    .rounds = 1,
    .ciphertexts = 1,
    .tries = 2,
    .failure = 40,
};

static void make_key(sotto_test *t, lab *l)
{
    static sotto_aero_share dealt[MEMBERS];
    sotto_aero_poly part;
    const uint8_t seed[SOTTO_AERO_SEED] = {1, 2, 3};

    memset(l->shares, 0, sizeof l->shares);
    memset(&l->b, 0, sizeof l->b);
    CHECK_OK(t, sotto_aero_expand_vartime(&l->aero, &l->a, seed, &t->err));
    for (size_t d = 0; d < DEALERS; d++) {
        CHECK_OK(t,
                 sotto_aero_keygen(&l->aero, &l->secrets[d], &part, &l->a, &l->entropy, &t->err));
        sotto_aero_add(&l->aero.ring, &l->b, &part);
        CHECK_OK(t, sotto_aero_deal(&l->aero, dealt, MEMBERS, THRESHOLD, &l->secrets[d],
                                    &l->entropy, &t->err));
        for (size_t j = 0; j < MEMBERS; j++)
            sotto_aero_share_add(&l->aero, &l->shares[j], &dealt[j]);
    }
    sotto_aero_public_of(&l->aero, &l->key, &l->a, &l->b);
}

static lab *lab_open(sotto_test *t, const char *name, uint64_t seed)
{
    static lab l;
    sotto_aero_wish wish = small_wish;

    sotto_sim_random_init(&l.random, seed);
    sotto_entropy_init(&l.entropy, fill, &l.random);
    CHECK_OK(t, sotto_aero_set_named(&wish.set, name, &t->err));
    CHECK_OK(t, sotto_aero_ledger_plan(&l.ledger, &wish, &t->err));
    CHECK_OK(t, sotto_aero_init(&l.aero, wish.set, l.ledger.log_t, &t->arena, &t->err));
    CHECK_OK(t, sotto_noise_gaussian_wide(&l.smudge, l.ledger.sigma, &t->arena, &t->err));
    make_key(t, &l);
    return &l;
}

static void encrypt(sotto_test *t, lab *l, sotto_aero_cipher *out, const int64_t *m)
{
    static sotto_aero_witness witness;

    CHECK_OK(t, sotto_aero_draw(&l->aero, &witness, &l->entropy, &t->err));
    CHECK_OK(t, sotto_aero_encrypt(&l->aero, out, &l->key, &witness, m, &t->err));
}

/* What the member at `own` shares with each: the same from both sides. */
static void pair_seeds(uint8_t seeds[][SOTTO_AERO_SEED], const uint32_t *members, size_t count,
                       size_t own)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t a = members[i], b = members[own];

        memset(seeds[i], (int)(10 * (a < b ? a : b) + (a < b ? b : a)), SOTTO_AERO_SEED);
    }
}

static sotto_status open_by(sotto_test *t, lab *l, int64_t *sum, const sotto_aero_cipher *c,
                            const uint32_t *members, size_t count)
{
    static sotto_aero_poly parts[MEMBERS];
    const sotto_aero_poly *at[MEMBERS];
    sotto_aero_weight weights[MEMBERS];

    CHECK_OK(t, sotto_aero_weights_vartime(&l->aero, weights, members, count, &t->err));
    for (size_t i = 0; i < count; i++) {
        uint8_t seeds[MEMBERS][SOTTO_AERO_SEED];
        const sotto_aero_place place = {members, count, i,
                                        (const uint8_t(*)[SOTTO_AERO_SEED])seeds};

        pair_seeds(seeds, members, count, i);
        CHECK_OK(t, sotto_aero_partial(&l->aero, &parts[i], &l->shares[members[i]], weights[i],
                                       &place, &c->c1, &l->smudge, &l->entropy, &t->err));
        at[i] = &parts[i];
    }
    t->err = (sotto_err){0};
    return sotto_aero_open_vartime(&l->aero, sum, &c->c2, at, count,
                                   sotto_aero_ledger_most(&l->ledger), &t->err);
}

static void messages(lab *l, int64_t *m)
{
    for (size_t k = 0; k < SOTTO_AERO_N; k++)
        m[k] = (int64_t)sotto_sim_random_below(&l->random, 8193) - 4096;
}

static void a_sum_of_ciphertexts_opens_to_the_sum(sotto_test *t)
{
    static const char *const names[] = {"b64", "b87", "b109"};
    static const uint32_t sets[3][THRESHOLD] = {{0, 1, 2}, {4, 2, 0}, {1, 3, 4}};
    static sotto_aero_cipher sum, one;
    static int64_t m[SOTTO_AERO_N], wanted[SOTTO_AERO_N], got[SOTTO_AERO_N];

    for (size_t s = 0; s < 3; s++) {
        lab *l = lab_open(t, names[s], s + 1);

        memset(wanted, 0, sizeof wanted);
        memset(&sum, 0, sizeof sum);
        for (int i = 0; i < 12; i++) {
            messages(l, m);
            encrypt(t, l, &one, m);
            sotto_aero_cipher_add(&l->aero, &sum, &one);
            for (size_t k = 0; k < SOTTO_AERO_N; k++)
                wanted[k] += m[k];
        }
        CHECK_OK(t, open_by(t, l, got, &sum, sets[s], THRESHOLD));
        CHECK_BYTES(t, wanted, got, sizeof got);
        sotto_arena_reset(&t->arena);
    }
}

/* The largest sums that the plan allows, of both signs. */
static void the_largest_sum_opens(sotto_test *t)
{
    static const uint32_t members[] = {0, 2, 3};
    static sotto_aero_cipher sum, one;
    static int64_t m[SOTTO_AERO_N], got[SOTTO_AERO_N];
    lab *l = lab_open(t, "b87", 9);
    int64_t most = ((int64_t)1 << (l->aero.log_t - 1)) - 1;

    for (size_t k = 0; k < SOTTO_AERO_N; k++)
        m[k] = k % 2 ? most : -most;
    encrypt(t, l, &sum, m);
    CHECK_OK(t, open_by(t, l, got, &sum, members, THRESHOLD));
    CHECK_BYTES(t, m, got, sizeof got);
    memset(m, 0, sizeof m);
    encrypt(t, l, &one, m);
    sotto_aero_cipher_add(&l->aero, &sum, &one);
    CHECK_OK(t, open_by(t, l, got, &sum, members, THRESHOLD));
    CHECK_EQUAL(t, -most, got[0]);
}

static void a_message_that_is_too_long_is_not_encrypted(sotto_test *t)
{
    static sotto_aero_cipher c;
    static sotto_aero_witness witness;
    static int64_t m[SOTTO_AERO_N];
    lab *l = lab_open(t, "b87", 10);

    for (int sign = -1; sign <= 1; sign += 2) {
        m[77] = sign * ((int64_t)1 << (l->aero.log_t - 1));
        CHECK_STATUS(t, SOTTO_DENIED,
                     sotto_aero_encrypt(&l->aero, &c, &l->key, &witness, m, &t->err));
        m[77] -= sign;
        CHECK_OK(t, sotto_aero_encrypt(&l->aero, &c, &l->key, &witness, m, &t->err));
    }
    m[77] = INT64_MIN;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_aero_encrypt(&l->aero, &c, &l->key, &witness, m, &t->err));
}

static void a_wrong_part_is_seen_in_the_residual(sotto_test *t)
{
    static const uint32_t members[] = {0, 1, 2};
    static sotto_aero_cipher c;
    static int64_t m[SOTTO_AERO_N], got[SOTTO_AERO_N];
    lab *l = lab_open(t, "b87", 11);

    messages(l, m);
    encrypt(t, l, &c, m);
    /* One member short of the threshold. */
    CHECK_STATUS(t, SOTTO_REJECTED, open_by(t, l, got, &c, members, THRESHOLD - 1));
    for (size_t k = 0; k < SOTTO_AERO_N; k++)
        CHECK_EQUAL(t, 0, got[k]);
    /* Another member's share. */
    l->shares[1] = l->shares[3];
    CHECK_STATUS(t, SOTTO_REJECTED, open_by(t, l, got, &c, members, THRESHOLD));
}

/* How many coefficients are below 2^54, of either sign. */
static size_t small_ones(const lab *l, const sotto_aero_poly *v)
{
    size_t count = 0;

    for (size_t k = 0; k < SOTTO_AERO_N; k++) {
        sotto_u128 x = sotto_aero_lift(&l->aero.ring, v, k);

        count += x >> 54 == 0 || (l->aero.ring.q - x) >> 54 == 0;
    }
    return count;
}

/* How many coefficients of a part are that close to lambda c1 s_j: all would be with smudging alone. */
static size_t bare(const lab *l, const sotto_aero_poly *part, const sotto_aero_share *share,
                   sotto_aero_weight weight, const sotto_aero_poly *c1)
{
    static sotto_aero_poly exact, s;

    exact = *c1;
    s = share->s;
    sotto_aero_transform(&l->aero.ring, &exact);
    sotto_aero_transform_over(&l->aero.ring, &s);
    sotto_aero_product(&l->aero.ring, &exact, &exact, &s);
    sotto_aero_scale(&l->aero.ring, &exact, weight.first, weight.second);
    sotto_aero_subtract(&l->aero.ring, &exact, part);
    return small_ones(l, &exact);
}

/* Uniform numbers of 87 bits are that close with probability 2^-32. */
static void one_part_alone_is_masked(sotto_test *t)
{
    static const uint32_t members[] = {4, 0, 2}, others[] = {4, 0, 3};
    static sotto_aero_cipher c;
    static sotto_aero_poly part, again;
    static int64_t m[SOTTO_AERO_N];
    uint8_t seeds[MEMBERS][SOTTO_AERO_SEED];
    sotto_aero_weight weights[THRESHOLD];
    lab *l = lab_open(t, "b87", 13);
    sotto_aero_place place = {members, THRESHOLD, 0, (const uint8_t(*)[SOTTO_AERO_SEED])seeds};

    encrypt(t, l, &c, m);
    CHECK_OK(t, sotto_aero_weights_vartime(&l->aero, weights, members, THRESHOLD, &t->err));
    pair_seeds(seeds, members, THRESHOLD, 0);
    CHECK_OK(t, sotto_aero_partial(&l->aero, &part, &l->shares[4], weights[0], &place, &c.c1,
                                   &l->smudge, &l->entropy, &t->err));
    CHECK(t, bare(l, &part, &l->shares[4], weights[0], &c.c1) < 3);
    /* A pair's seed decides its mask: who knows one of two takes away nothing. */
    memset(seeds[1], 0, SOTTO_AERO_SEED);
    CHECK_OK(t, sotto_aero_partial(&l->aero, &again, &l->shares[4], weights[0], &place, &c.c1,
                                   &l->smudge, &l->entropy, &t->err));
    sotto_aero_subtract(&l->aero.ring, &again, &part);
    CHECK(t, small_ones(l, &again) < 3);
    /* Another set has other masks, even for the pairs that are in both. */
    pair_seeds(seeds, members, THRESHOLD, 0);
    place.members = others;
    CHECK_OK(t, sotto_aero_partial(&l->aero, &again, &l->shares[4], weights[0], &place, &c.c1,
                                   &l->smudge, &l->entropy, &t->err));
    sotto_aero_subtract(&l->aero.ring, &again, &part);
    CHECK(t, small_ones(l, &again) < 3);
    place.own = THRESHOLD;
    CHECK_STATUS(t, SOTTO_BUG,
                 sotto_aero_partial(&l->aero, &again, &l->shares[4], weights[0], &place, &c.c1,
                                    &l->smudge, &l->entropy, &t->err));
}

/* Members that were told different ciphertexts have other masks: nothing is opened. */
static void members_open_the_same(sotto_test *t)
{
    static const uint32_t members[] = {1, 2, 4};
    static sotto_aero_cipher c[2];
    static sotto_aero_poly parts[THRESHOLD];
    static int64_t m[SOTTO_AERO_N];
    uint8_t seeds[MEMBERS][SOTTO_AERO_SEED];
    sotto_aero_weight weights[THRESHOLD];
    lab *l = lab_open(t, "b87", 14);
    sotto_u128 distance = 0;

    encrypt(t, l, &c[0], m);
    c[1] = c[0];
    c[1].c1.second[7] = (c[0].c1.second[7] + 1) % l->aero.ring.set->second;
    CHECK_OK(t, sotto_aero_weights_vartime(&l->aero, weights, members, THRESHOLD, &t->err));
    for (size_t i = 0; i < THRESHOLD; i++) {
        const sotto_aero_place place = {members, THRESHOLD, i,
                                        (const uint8_t(*)[SOTTO_AERO_SEED])seeds};

        pair_seeds(seeds, members, THRESHOLD, i);
        CHECK_OK(t, sotto_aero_partial(&l->aero, &parts[i], &l->shares[members[i]], weights[i],
                                       &place, &c[i == 2].c1, &l->smudge, &l->entropy, &t->err));
        sotto_aero_subtract(&l->aero.ring, &c[0].c2, &parts[i]);
    }
    sotto_aero_decode_vartime(&l->aero, m, &distance, &c[0].c2);
    CHECK(t, distance > sotto_aero_ledger_most(&l->ledger));
}

static void a_set_names_a_member_once(sotto_test *t)
{
    static const uint32_t twice[] = {0, 3, 0}, none[] = {0, 1, SOTTO_AERO_MOST_MEMBERS};
    sotto_aero_weight weights[3];
    lab *l = lab_open(t, "b64", 12);

    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_aero_weights_vartime(&l->aero, weights, twice, 3, &t->err));
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_aero_weights_vartime(&l->aero, weights, none, 3, &t->err));
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_aero_weights_vartime(&l->aero, weights, none, 0, &t->err));
    CHECK_STATUS(t, SOTTO_BUG,
                 sotto_aero_deal(&l->aero, l->shares, 2, 3, l->secrets, &l->entropy, &t->err));
}

/* The constant term of the polynomial through these members' shares. */
static void put_together(sotto_test *t, const lab *l, sotto_aero_poly *out,
                         const sotto_aero_share *shares, const uint32_t members[THRESHOLD])
{
    sotto_aero_weight weights[THRESHOLD];

    CHECK_OK(t, sotto_aero_weights_vartime(&l->aero, weights, members, THRESHOLD, &t->err));
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < THRESHOLD; i++) {
        sotto_aero_poly part = shares[members[i]].s;

        sotto_aero_scale(&l->aero.ring, &part, weights[i].first, weights[i].second);
        sotto_aero_add(&l->aero.ring, out, &part);
    }
}

static void shares_of_seeds_are_shares_of_the_key(sotto_test *t)
{
    static const char *const names[] = {"b64", "b87", "b109"};
    static const uint32_t sets[][THRESHOLD] = {{0, 1, 2}, {1, 3, 4}, {0, 2, 4}};
    static sotto_aero_share shares[MEMBERS], one;
    static sotto_aero_poly wanted, got;
    uint8_t seeds[THRESHOLD - 1][SOTTO_AERO_SEED] = {{1}, {2}};
    int64_t secret[SOTTO_AERO_N];

    for (size_t s = 0; s < 3; s++) {
        lab *l = lab_open(t, names[s], 40 + s);

        for (size_t k = 0; k < SOTTO_AERO_N; k++)
            secret[k] = (int)l->secrets[0].s[k];
        memset(&wanted, 0, sizeof wanted);
        sotto_aero_add_small(&l->aero.ring, &wanted, secret);
        for (size_t first = 0; first < MEMBERS; first++) {
            CHECK_OK(t, sotto_aero_deal_seeded(&l->aero, shares, MEMBERS, THRESHOLD, first,
                                               &l->secrets[0],
                                               (const uint8_t(*)[SOTTO_AERO_SEED])seeds, &t->err));
            for (size_t i = 0; i < THRESHOLD - 1; i++) {
                CHECK_OK(t, sotto_aero_share_of_seed(&l->aero, &one, seeds[i], &t->err));
                CHECK_BYTES(t, &one, &shares[(first + 1 + i) % MEMBERS], sizeof one);
            }
            for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
                put_together(t, l, &got, shares, sets[i]);
                CHECK_BYTES(t, &wanted, &got, sizeof got);
            }
            seeds[0][1]++;
        }
        sotto_arena_reset(&t->arena);
    }
}

static void a_polynomial_has_one_encoding(sotto_test *t)
{
    static const char *const names[] = {"b64", "b87", "b109"};
    static const size_t sizes[] = {32768, 44544, 55808};
    static uint8_t memory[60000], again[60000];
    static sotto_aero_poly back;

    for (size_t s = 0; s < 3; s++) {
        lab *l = lab_open(t, names[s], 20 + s);
        sotto_buf out = sotto_buf_over(memory, sizeof memory);
        sotto_buf second = sotto_buf_over(again, sizeof again);

        CHECK_OK(t, sotto_aero_poly_encode(&l->aero, &out, &l->b, &t->err));
        CHECK_EQUAL(t, sizes[s], out.len);
        CHECK_EQUAL(t, sizes[s], sotto_aero_poly_size(&l->aero));
        CHECK_OK(t, sotto_aero_poly_decode(&l->aero, &back, sotto_buf_bytes(&out), &t->err));
        CHECK_BYTES(t, &l->b, &back, sizeof back);
        CHECK_OK(t, sotto_aero_poly_encode(&l->aero, &second, &back, &t->err));
        CHECK_BYTES(t, memory, again, out.len);
        for (int change = -1; change <= 1; change += 2)
            CHECK_STATUS(t, SOTTO_MALFORMED,
                         sotto_aero_poly_decode(&l->aero, &back,
                                                sotto_bytes_of(memory, out.len + (size_t)change),
                                                &t->err));
        memset(memory + 8 * 100, 0xff, 8); /* 2^64 - 1 */
        CHECK_STATUS(t, SOTTO_MALFORMED,
                     sotto_aero_poly_decode(&l->aero, &back, sotto_buf_bytes(&out), &t->err));
        sotto_f64_store(memory + 8 * 100, (sotto_f64){SOTTO_F64_P}); /* 0, once more */
        CHECK_STATUS(t, SOTTO_MALFORMED,
                     sotto_aero_poly_decode(&l->aero, &back, sotto_buf_bytes(&out), &t->err));
        sotto_f64_store(memory + 8 * 100, l->b.first[100]);
        CHECK_OK(t, sotto_aero_poly_decode(&l->aero, &back, sotto_buf_bytes(&out), &t->err));
        if (s > 0) {
            memset(memory + 32768, 0xff, 6);
            CHECK_STATUS(t, SOTTO_MALFORMED,
                         sotto_aero_poly_decode(&l->aero, &back, sotto_buf_bytes(&out), &t->err));
        }
        sotto_arena_reset(&t->arena);
    }
}

/* Residues of the second prime are sums, in as many bits as the largest. No sum of so many leaves is above that, and none is taken. */
static void a_sum_has_one_encoding(sotto_test *t)
{
    static const char *const names[] = {"b64", "b87", "b109"};
    static const uint32_t leaves[] = {1, 3, 11280, UINT32_C(1) << 24};
    static const unsigned bits[3][4] = {{0, 0, 0, 0}, {23, 25, 37, 47}, {45, 47, 59, 64}};
    static uint8_t memory[80000];
    static sotto_aero_poly sum, back;

    for (size_t i = 0; i < 12; i++) {
        lab *l = lab_open(t, names[i / 4], 20 + i);
        const uint32_t n = leaves[i % 4];
        const size_t size = 32768 + (size_t)512 * bits[i / 4][i % 4];
        const uint64_t prime = l->aero.ring.set->second;
        const uint64_t most = prime == 0 ? 0 : size == 65536 ? UINT64_MAX : (prime - 1) * n;
        sotto_buf out = sotto_buf_over(memory, sizeof memory);

        memset(&sum, 0, sizeof sum);
        for (size_t k = 0; k < SOTTO_AERO_N; k++) {
            sum.first[k] = sotto_f64_from(k);
            sum.second[k] = most - (most ? k : 0);
        }
        CHECK_OK(t, sotto_aero_sum_encode(&l->aero, &out, &sum, n, &t->err));
        CHECK_EQUAL(t, size, out.len);
        CHECK_EQUAL(t, size, sotto_aero_sum_size(&l->aero, n));
        CHECK_OK(t, sotto_aero_sum_decode(&l->aero, &back, n, sotto_buf_bytes(&out), &t->err));
        CHECK_BYTES(t, &sum, &back, sizeof back);
        for (int change = -1; change <= 1; change += 2)
            CHECK_STATUS(t, SOTTO_MALFORMED,
                         sotto_aero_sum_decode(&l->aero, &back, n,
                                               sotto_bytes_of(memory, out.len + (size_t)change),
                                               &t->err));
        sotto_f64_store(memory, (sotto_f64){SOTTO_F64_P}); /* 0, once more */
        CHECK_STATUS(t, SOTTO_MALFORMED,
                     sotto_aero_sum_decode(&l->aero, &back, n, sotto_buf_bytes(&out), &t->err));
        sum.second[7] = most + 1;
        out.len = 0;
        CHECK_OK(t, sotto_aero_sum_encode(&l->aero, &out, &sum, n, &t->err));
        if (most && most != UINT64_MAX)
            CHECK_STATUS(t, SOTTO_MALFORMED,
                         sotto_aero_sum_decode(&l->aero, &back, n, sotto_buf_bytes(&out), &t->err));
        sotto_arena_reset(&t->arena);
    }
}

/* Chi-square statistics that a right sampler passes with probability above 1 - 10^-6, under a fixed seed. */
static void what_is_drawn_follows_its_law(sotto_test *t)
{
    static sotto_aero_witness witness;
    lab *l = lab_open(t, "b87", 30);
    double ternary[3] = {0}, errors[31] = {0}, weights[31], all = 0, chi = 0;
    const int draws = 60;

    for (int i = 0; i < draws; i++) {
        CHECK_OK(t, sotto_aero_draw(&l->aero, &witness, &l->entropy, &t->err));
        for (size_t k = 0; k < SOTTO_AERO_N; k++) {
            CHECK(t, witness.r[k] >= -1 && witness.r[k] <= 1);
            CHECK(t, witness.e1[k] >= -15 && witness.e1[k] <= 15);
            CHECK(t, witness.e2[k] >= -15 && witness.e2[k] <= 15);
            ternary[witness.r[k] + 1]++;
            errors[witness.e1[k] + 15]++;
            errors[witness.e2[k] + 15]++;
        }
    }
    for (int v = -15; v <= 15; v++)
        all += weights[v + 15] = exp(-v * v / 21.0);
    double count = (double)draws * SOTTO_AERO_N;
    for (int i = 0; i < 3; i++)
        chi += (ternary[i] - count / 3) * (ternary[i] - count / 3) / (count / 3);
    CHECK(t, chi < 27.7); /* two degrees of freedom */
    chi = 0;
    for (int i = 2; i < 29; i++) { /* the outermost values are too rare for a chi-square */
        double wanted = 2 * count * weights[i] / all;

        chi += (errors[i] - wanted) * (errors[i] - wanted) / wanted;
    }
    CHECK(t, chi < 79); /* 27 degrees of freedom */
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_sum_of_ciphertexts_opens_to_the_sum),
        CASE(the_largest_sum_opens),
        CASE(a_message_that_is_too_long_is_not_encrypted),
        CASE(a_wrong_part_is_seen_in_the_residual),
        CASE(a_set_names_a_member_once),
        CASE(one_part_alone_is_masked),
        CASE(members_open_the_same),
        CASE(a_polynomial_has_one_encoding),
        CASE(shares_of_seeds_are_shares_of_the_key),
        CASE(a_sum_has_one_encoding),
        CASE(what_is_drawn_follows_its_law),
    };
    return RUN_TESTS(argc, argv, cases);
}
