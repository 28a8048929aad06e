/* Proofs of groups of ciphertexts: what is so is accepted, and nothing else. */
#include "aggregate/aero/proof_rows.h"
#include "sim/random.h"
#include "support/test.h"

/* A prover that cheats: the product's own, with these calls of it changed. */
sotto_status sotto_cheat_prove(sotto_buf *out, const sotto_aero_statement *statement,
                               const sotto_aero_witness *witnesses, const int64_t *m,
                               sotto_entropy *entropy, sotto_arena *scratch, sotto_err *err);
static void cheat_interpolate(const cosets *c, sotto_f64 *v);
static void cheat_absorb(uint8_t state[HASH], sotto_bytes what);
static bool cheat_worked(uint8_t seed[HASH], const sotto_aero_statement *s,
                         const uint8_t state[HASH], uint64_t nonce);
#define sotto_aero_prove       sotto_cheat_prove
#define sotto_aero_interpolate cheat_interpolate
#define sotto_aero_absorb      cheat_absorb
#define sotto_aero_worked      cheat_worked
#include "aggregate/aero/proof_prove.c"
#undef sotto_aero_prove
#undef sotto_aero_interpolate
#undef sotto_aero_absorb
#undef sotto_aero_worked

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 3, BITS = 6, ROUND_NUMBER = 17, ROOM = 4 << 20 };

/* As many queries as a false statement needs to be found, with little work for every test. */
static const sotto_aero_profile quick = {"quick", 10, 4, 1, 1};

typedef struct lab {
    sotto_aero aero;
    sotto_sim_random random;
    sotto_entropy entropy;
    sotto_arena scratch;
    sotto_aero_poly a, b;
    sotto_aero_public key;
    sotto_aero_witness witnesses[MOST];
    sotto_aero_cipher ciphers[MOST];
    int64_t m[MOST * SOTTO_AERO_N];
    sotto_aero_statement s;
    uint8_t memory[ROOM];
    sotto_buf proof;
} lab;

static sotto_status fill(void *context, void *out, size_t len, sotto_err *err)
{
    (void)err;
    sotto_sim_random_bytes(context, out, len);
    return SOTTO_OK;
}

static void encrypt_all(sotto_test *t, lab *l)
{
    for (size_t i = 0; i < l->s.count; i++)
        CHECK_OK(t, sotto_aero_encrypt(&l->aero, &l->ciphers[i], &l->key, &l->witnesses[i],
                                       l->m + i * SOTTO_AERO_N, &t->err));
}

static uint64_t squares(const lab *l)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < l->s.count * SOTTO_AERO_N; i++)
        if (i % SOTTO_AERO_N)
            sum += (uint64_t)(l->m[i] * l->m[i]);
    return sum;
}

static lab *open_lab(sotto_test *t, const char *name, size_t count, uint64_t number)
{
    static lab l;
    sotto_aero_secret secret;
    const sotto_aero_set *set = NULL;
    const uint8_t seed[SOTTO_AERO_SEED] = {9};

    sotto_sim_random_init(&l.random, number);
    sotto_entropy_init(&l.entropy, fill, &l.random);
    CHECK_OK(t, sotto_aero_set_named(&set, name, &t->err));
    CHECK_OK(t, sotto_aero_init(&l.aero, set, 26, &t->arena, &t->err));
    CHECK_OK(t, sotto_aero_expand_vartime(&l.aero, &l.a, seed, &t->err));
    CHECK_OK(t, sotto_aero_keygen(&l.aero, &secret, &l.b, &l.a, &l.entropy, &t->err));
    sotto_aero_public_of(&l.aero, &l.key, &l.a, &l.b);
    l.s = (sotto_aero_statement){.aero = &l.aero,
                                 .profile = &quick,
                                 .a = &l.a,
                                 .b = &l.b,
                                 .ciphers = l.ciphers,
                                 .count = count,
                                 .bits = BITS,
                                 .session = {1},
                                 .device = {2},
                                 .commitment = {3},
                                 .epoch = 4,
                                 .round = ROUND_NUMBER,
                                 .role = 1,
                                 .group = 6};
    for (size_t i = 0; i < count; i++) {
        CHECK_OK(t, sotto_aero_draw(&l.aero, &l.witnesses[i], &l.entropy, &t->err));
        for (size_t k = 0; k < SOTTO_AERO_N; k++)
            l.m[i * SOTTO_AERO_N + k] =
                k ? (int64_t)sotto_sim_random_below(&l.random, 1 << BITS) - (1 << (BITS - 1))
                  : ROUND_NUMBER;
    }
    l.s.norm2 = squares(&l);
    encrypt_all(t, &l);
    sotto_arena_init(&l.scratch, SOTTO_AERO_PROOF_PROVER);
    l.proof = sotto_buf_over(l.memory, sizeof l.memory);
    return &l;
}

static void prove_(sotto_test *t, lab *l)
{
    l->proof.len = 0;
    CHECK_OK(t, sotto_aero_prove(&l->proof, &l->s, l->witnesses, l->m, &l->entropy, &l->scratch,
                                 &t->err));
    sotto_arena_reset(&l->scratch);
}

/* A lab of one ciphertext and its proof, which is made once and then copied. */
static lab *open_proved(sotto_test *t)
{
    static uint8_t proof[ROOM];
    static size_t len;
    lab *l = open_lab(t, "b64", 1, 24);

    if (!len) {
        prove_(t, l);
        len = l->proof.len;
        memcpy(proof, l->memory, len);
    }
    memcpy(l->memory, proof, len);
    l->proof.len = len;
    return l;
}

static sotto_status verify(sotto_test *t, lab *l)
{
    t->err = (sotto_err){0};
    sotto_status status =
        sotto_aero_verify_vartime(&l->s, sotto_buf_bytes(&l->proof), &l->scratch, &t->err);
    sotto_arena_reset(&l->scratch);
    return status;
}

static void close_lab(lab *l)
{
    sotto_arena_clear(&l->scratch);
}

/* Proves what is not so, and expects a refusal with this reason. */
static void refused(sotto_test *t, lab *l, const char *reason)
{
    prove_(t, l);
    CHECK_STATUS(t, SOTTO_REJECTED, verify(t, l));
    t->err.status = SOTTO_REJECTED;
    CHECK_REASON(t, reason);
}

/* At the bound of the norm, and below it; with one prime and with two; a whole pair, and half of one. */
static void what_is_so_is_accepted(sotto_test *t)
{
    for (int both = 0; both < 2; both++) {
        lab *l = both ? open_lab(t, "b87", 3, 1) : open_proved(t);
        size_t size = 0;

        if (both) {
            l->s.norm2 += 12345;
            prove_(t, l);
        }
        CHECK_OK(t, sotto_aero_proof_size(&size, &l->s, &t->err));
        CHECK_EQUAL(t, size, l->proof.len);
        CHECK_OK(t, verify(t, l));
        close_lab(l);
        sotto_arena_reset(&t->arena);
    }
}

/* Two equations of every set; sets with a second prime have two more. */
static void every_equation_holds_or_the_proof_is_refused(sotto_test *t)
{
    lab *l = open_lab(t, "b64", 2, 20);
    sotto_aero_cipher *c = &l->ciphers[1];
    sotto_f64 first = c->c1.first[5];

    c->c1.first[5] = sotto_f64_add(first, sotto_f64_one());
    refused(t, l, "equations");
    c->c1.first[5] = first;
    c->c2.first[4095] = sotto_f64_sub(c->c2.first[4095], sotto_f64_one());
    refused(t, l, "equations");
    close_lab(l);
    sotto_arena_reset(&t->arena);

    l = open_lab(t, "b87", 2, 20);
    uint64_t second = c->c1.second[0];
    c->c1.second[0] = (second + 1) % l->aero.ring.set->second;
    refused(t, l, "equations");
    c->c1.second[0] = second;
    c->c2.second[77] = (c->c2.second[77] + 1) % l->aero.ring.set->second;
    refused(t, l, "equations");
    close_lab(l);
}

static void every_range_is_kept_or_the_proof_is_refused(sotto_test *t)
{
    lab *l = open_lab(t, "b64", 2, 21);
    static sotto_aero_witness good;

    good = l->witnesses[0];
    l->witnesses[0].r[3] = 2;
    encrypt_all(t, l);
    refused(t, l, "equations");
    l->witnesses[0] = good;
    l->witnesses[0].e1[3] = 16;
    encrypt_all(t, l);
    refused(t, l, "equations");
    l->witnesses[0] = good;
    l->witnesses[0].e2[3] = -17;
    encrypt_all(t, l);
    refused(t, l, "equations");
    l->witnesses[0] = good;
    l->m[9] = 1 << (BITS - 1); /* one above the largest */
    l->s.norm2 = squares(l);
    encrypt_all(t, l);
    refused(t, l, "equations");
    l->m[9] = -(1 << (BITS - 1)); /* the smallest is fine, as are -16 and 15 */
    l->witnesses[0].e1[3] = -16;
    l->witnesses[0].e2[3] = 15;
    l->s.norm2 = squares(l);
    encrypt_all(t, l);
    prove_(t, l);
    CHECK_OK(t, verify(t, l));
    close_lab(l);
}

static void slot_0_is_the_round(sotto_test *t)
{
    lab *l = open_lab(t, "b64", 2, 22);

    l->m[SOTTO_AERO_N] = ROUND_NUMBER - 1;
    encrypt_all(t, l);
    refused(t, l, "equations");
    close_lab(l);
}

static void the_norm_is_bounded(sotto_test *t)
{
    lab *l = open_lab(t, "b64", 2, 23);

    l->s.norm2--;
    refused(t, l, "equations");
    close_lab(l);
}

/* Proved for one, shown for another. */
static void a_proof_is_of_its_statement(sotto_test *t)
{
    lab *l = open_proved(t);
    static sotto_aero_poly other;
    const sotto_aero_statement good = l->s;
    const sotto_aero_profile more = {"more work", 10, 5, 1, 1};

    for (int i = 0; i < 11; i++) {
        l->s = good;
        l->s.session[31] ^= i == 0;
        l->s.device[0] ^= i == 1;
        l->s.commitment[7] ^= i == 2;
        l->s.epoch += i == 3;
        l->s.round += i == 4;
        l->s.role ^= i == 5;
        l->s.group += i == 6;
        l->s.norm2 += i == 7;
        if (i == 8) {
            other = l->b;
            other.first[1] = sotto_f64_add(other.first[1], sotto_f64_one());
            l->s.b = &other;
        }
        if (i == 9)
            l->s.profile = &more;
        if (i == 10)
            l->ciphers[0].c1.first[0] = sotto_f64_add(l->ciphers[0].c1.first[0], sotto_f64_one());
        CHECK_STATUS(t, SOTTO_REJECTED, verify(t, l));
    }
    close_lab(l);
}

/* A sample of bytes: of every part of the proof the first and the last, and 20 others. SOTTO_TEST_EVERY_BYTE tries them all. */
static void every_byte_of_a_proof_counts(sotto_test *t)
{
    lab *l = open_proved(t);
    size_t polys = 8 * ((size_t)ROW + SUM + QUOTIENT), columns = HASH + polys + 8 + COSETS * HASH;
    size_t each = (l->proof.len - columns) / quick.queries;
    const size_t places[] = {0,
                             31,
                             32,
                             31 + 8 * ROW,
                             32 + 8 * ROW,
                             HASH + polys - 1,
                             HASH + polys,
                             HASH + polys + 7,
                             HASH + polys + 8,
                             columns - 1,
                             columns,
                             columns + SALT,
                             columns + each - H_LOG * HASH - 1,
                             columns + each - 1,
                             columns + each,
                             l->proof.len - 1};
    size_t fixed = sizeof places / sizeof places[0];
    bool all = getenv("SOTTO_TEST_EVERY_BYTE") != NULL;

    for (size_t i = 0; i < (all ? l->proof.len : fixed + 20); i++) {
        size_t at = all         ? i
                    : i < fixed ? places[i]
                                : sotto_sim_random_below(&l->random, l->proof.len);
        uint8_t flip = (uint8_t)(1U << sotto_sim_random_below(&l->random, 8));

        l->memory[at] ^= flip;
        CHECK(t, verify(t, l) != SOTTO_OK);
        l->memory[at] ^= flip;
    }
    CHECK_OK(t, verify(t, l));
    l->proof.len--;
    CHECK_STATUS(t, SOTTO_MALFORMED, verify(t, l));
    l->proof.len += 2;
    CHECK_STATUS(t, SOTTO_MALFORMED, verify(t, l));
    close_lab(l);
}

static void an_element_has_one_encoding(sotto_test *t)
{
    lab *l = open_proved(t);

    memset(l->memory + HASH + 8, 0xff, 8);
    CHECK_STATUS(t, SOTTO_MALFORMED, verify(t, l));
    close_lab(l);
}

/* ---- provers that cheat ------------------------------------------------------------------------------- */

static enum { NO_BIT, NO_SQUARE, MADE_UP_SUM, NOT_NEAR, OTHER_ROOT, NO_WORK } cheat;
static lab *cheated;
static unsigned calls;               /* of the function that cheats, for rows */
static const sotto_f64 *rows_are_at; /* where the prover has every row        */

/* The lowest row of m gets a number that is no bit, or the row of squares a number that is no square; no slack is left. */
static void cheat_interpolate(const cosets *c, sotto_f64 *v)
{
    const uint64_t most = 1 << (BITS - 1);
    proof_shape shape = sotto_aero_shape(&cheated->s);

    if (!calls)
        rows_are_at = v;
    size_t index = v == rows_are_at ? calls++ % shape.rows : SIZE_MAX;

    if (cheat == NO_BIT && index == shape.first[KIND_M])
        v[9] = sotto_f64_from(most);
    if (cheat == NO_BIT && index == shape.first[KIND_SQUARE])
        v[9] = sotto_f64_from(most * most);
    if (cheat == NO_SQUARE && index == shape.first[KIND_SQUARE])
        v[9] = sotto_f64_zero();
    for (size_t k = 0; k < SLACK && index == shape.rows - 1; k++)
        if (cheat == NO_BIT || cheat == NO_SQUARE)
            v[k] = sotto_f64_zero();
    sotto_aero_interpolate(c, v);
}

static void cheat_absorb(uint8_t state[HASH], sotto_bytes what)
{
    uint8_t *bytes = cheated->memory + HASH;

    if (what.len == HASH && cheat == OTHER_ROOT) {
        cheated->memory[3] ^= 1;
        what.data = cheated->memory;
    }
    if (what.len > HASH && cheat == NOT_NEAR)
        bytes[8 * 5] ^= 1;
    if (what.len > HASH && cheat == MADE_UP_SUM) {
        sotto_arena arena;
        challenges ch;
        proof_shape shape = sotto_aero_shape(&cheated->s);
        uint8_t *q = bytes + (size_t)8 * ROW;
        sotto_f64 others =
            sotto_f64_add(sotto_f64_load(q + (size_t)8 * H), sotto_f64_load(q + (size_t)16 * H));

        sotto_arena_init(&arena, 1 << 20);
        if (sotto_aero_challenges(&ch, &cheated->s, &shape, state, &arena, NULL) == SOTTO_OK) {
            sotto_f64 sum = sotto_f64_mul(sotto_aero_target(&cheated->s, ch.of[0]),
                                          sotto_f64_inv(sotto_f64_from(H)));
            sotto_f64_store(q, sotto_f64_sub(sum, others));
        }
        sotto_arena_clear(&arena);
    }
    sotto_aero_absorb(state, what);
}

static bool cheat_worked(uint8_t seed[HASH], const sotto_aero_statement *s,
                         const uint8_t state[HASH], uint64_t nonce)
{
    bool worked = sotto_aero_worked(seed, s, state, nonce);

    return cheat == NO_WORK ? !worked : worked;
}

/* Proves as the cheat does, and expects this reason. */
static void caught(sotto_test *t, lab *l, int how, const char *reason)
{
    cheat = how;
    cheated = l;
    calls = 0;
    l->proof.len = 0;
    CHECK_OK(t, sotto_cheat_prove(&l->proof, &l->s, l->witnesses, l->m, &l->entropy, &l->scratch,
                                  &t->err));
    sotto_arena_reset(&l->scratch);
    CHECK_STATUS(t, SOTTO_REJECTED, verify(t, l));
    CHECK_REASON(t, reason);
}

/* m[9] is one too large for its bits: the lowest row holds the rest. */
static void a_bit_that_is_none_is_caught(sotto_test *t)
{
    lab *l = open_lab(t, "b64", 1, 40);

    l->m[9] = 1 << (BITS - 1);
    l->s.norm2 = squares(l);
    encrypt_all(t, l);
    l->m[9] = 0; /* the cheat adds the rest in the lowest row */
    caught(t, l, NO_BIT, "a bit is none");
    close_lab(l);
}

static void a_square_that_is_none_is_caught(sotto_test *t)
{
    lab *l = open_lab(t, "b64", 1, 41);

    l->m[9] = 20;
    l->s.norm2 = squares(l) - 20 * 20;
    encrypt_all(t, l);
    caught(t, l, NO_SQUARE, "a square is none");
    close_lab(l);
}

static void a_sum_that_is_made_up_is_caught(sotto_test *t)
{
    lab *l = open_lab(t, "b64", 1, 42);

    l->s.norm2--;
    caught(t, l, MADE_UP_SUM, "a sum is not that of its rows");
    close_lab(l);
}

static void a_combination_of_other_rows_is_caught(sotto_test *t)
{
    lab *l = open_lab(t, "b64", 1, 43);

    caught(t, l, NOT_NEAR, "no polynomials");
    close_lab(l);
}

static void another_root_is_caught(sotto_test *t)
{
    lab *l = open_lab(t, "b64", 1, 44);

    caught(t, l, OTHER_ROOT, "another root");
    close_lab(l);
}

static void queries_are_worked_for(sotto_test *t)
{
    lab *l = open_lab(t, "b64", 1, 45);

    caught(t, l, NO_WORK, "no work");
    close_lab(l);
}

/* Memory, and both profiles, at full size: 37 ciphertexts of the default set. The long form alone. */
static void a_whole_group_fits(sotto_test *t)
{
    if (!getenv("SOTTO_TEST_LONG"))
        sotto_test_leave_out(t, "the long form alone runs it", __FILE__, __LINE__);
    lab *l = open_lab(t, NULL, MOST, 50);
    sotto_aero_cipher *ciphers = malloc(SOTTO_AERO_GROUP * sizeof *ciphers);
    sotto_aero_witness *witnesses = malloc(SOTTO_AERO_GROUP * sizeof *witnesses);
    int64_t *m = malloc(SOTTO_AERO_GROUP * sizeof l->m / MOST);

    CHECK(t, ciphers && witnesses && m);
    for (size_t i = 0; i < SOTTO_AERO_GROUP; i++) {
        ciphers[i] = l->ciphers[i % MOST];
        witnesses[i] = l->witnesses[i % MOST];
        memcpy(m + i * SOTTO_AERO_N, l->m + i % MOST * SOTTO_AERO_N, sizeof l->m / MOST);
    }
    l->s.count = SOTTO_AERO_GROUP;
    l->s.ciphers = ciphers;
    l->s.norm2 = (UINT64_C(1) << 40) - 1;
    for (int high = 0; high < 2; high++) {
        l->s.profile = high ? &sotto_aero_profile_high : &sotto_aero_profile_standard;
        l->proof.len = 0;
        CHECK_OK(
            t, sotto_aero_prove(&l->proof, &l->s, witnesses, m, &l->entropy, &l->scratch, &t->err));
        sotto_arena_reset(&l->scratch);
        CHECK_OK(t, verify(t, l));
    }
    CHECK(t, l->scratch.peak <= SOTTO_AERO_PROOF_PROVER);
    free(ciphers);
    free(witnesses);
    free(m);
    close_lab(l);
}

static void a_statement_has_its_limits(sotto_test *t)
{
    lab *l = open_lab(t, "b64", 1, 26);
    const sotto_aero_statement good = l->s;
    size_t size;

    for (int i = 0; i < 5; i++) {
        l->s = good;
        if (i == 0)
            l->s.count = 0;
        if (i == 1)
            l->s.count = SOTTO_AERO_GROUP + 1;
        if (i == 2)
            l->s.bits = SOTTO_AERO_PROOF_MOST_BITS + 1;
        if (i == 3)
            l->s.norm2 = UINT64_C(1) << 48;
        if (i == 4)
            l->s.round = 1 << (BITS - 1);
        CHECK_STATUS(t, SOTTO_DENIED, sotto_aero_proof_size(&size, &l->s, &t->err));
    }
    close_lab(l);
}

/* A column of a witness of zeros and one of a full witness: elements of opened columns are uniform either way. Two-sample chi-square over
 * sixteen bins, below its bound with probability 1 - 10^-6. */
static void opened_columns_do_not_tell_witnesses_apart(sotto_test *t)
{
    double bins[2][16] = {{0}}, chi = 0, count[2] = {0};

    for (int which = 0; which < 2; which++) {
        lab *l = open_proved(t);

        if (which) {
            memset(l->m + 1, 0, (SOTTO_AERO_N - 1) * sizeof *l->m);
            memset(&l->witnesses[0], 0, sizeof l->witnesses[0]);
            l->s.norm2 = squares(l);
            encrypt_all(t, l);
            prove_(t, l);
        }
        CHECK_OK(t, verify(t, l));
        proof_shape shape = sotto_aero_shape(&l->s);
        const uint8_t *columns =
            l->memory + HASH + 8 * ((size_t)ROW + SUM + QUOTIENT) + 8 + (size_t)COSETS * HASH;
        for (unsigned q = 0; q < quick.queries; q++)
            for (size_t k = 0; k < shape.rows; k++) {
                const uint8_t *at =
                    columns + q * (shape.column + (size_t)H_LOG * HASH) + SALT + 8 * k;

                bins[which][sotto_load64(at) >> 60]++;
                count[which]++;
            }
        close_lab(l);
        sotto_arena_reset(&t->arena);
    }
    for (int b = 0; b < 16; b++) {
        double wanted = (bins[0][b] + bins[1][b]) / 2;

        chi += (bins[0][b] - wanted) * (bins[0][b] - wanted) / wanted;
        chi += (bins[1][b] - wanted) * (bins[1][b] - wanted) / wanted;
    }
    CHECK(t, count[0] == count[1] && chi < 57);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(what_is_so_is_accepted),
        CASE(every_equation_holds_or_the_proof_is_refused),
        CASE(every_range_is_kept_or_the_proof_is_refused),
        CASE(slot_0_is_the_round),
        CASE(the_norm_is_bounded),
        CASE(a_proof_is_of_its_statement),
        CASE(every_byte_of_a_proof_counts),
        CASE(an_element_has_one_encoding),
        CASE(a_bit_that_is_none_is_caught),
        CASE(a_square_that_is_none_is_caught),
        CASE(a_sum_that_is_made_up_is_caught),
        CASE(a_combination_of_other_rows_is_caught),
        CASE(another_root_is_caught),
        CASE(queries_are_worked_for),
        CASE(a_whole_group_fits),
        CASE(a_statement_has_its_limits),
        CASE(opened_columns_do_not_tell_witnesses_apart),
    };
    return RUN_TESTS(argc, argv, cases);
}
