/* A key that goes from committee to committee, with members that lie. */
#include "aggregate/aero/hand_over.h"
#include "aggregate/aero/ledger.h"
#include "sim/random.h"
#include "support/test.h"

#include <string.h>

enum { OLD = 7, NEW = 6, THRESHOLD = 3, DEALERS = 2 };

typedef struct lab {
    sotto_aero aero;
    sotto_sim_random random;
    sotto_entropy entropy;
    sotto_aero_poly key; /* what everybody together holds */
    sotto_aero_holding old[OLD], taken[OLD];
    sotto_aero_holding dealt[OLD][OLD]; /* by old member, then by new one */
    sotto_aero_probe probes[OLD * OLD];
} lab;

static lab l;

static sotto_status fill(void *context, void *out, size_t len, sotto_err *err)
{
    (void)err;
    sotto_sim_random_bytes(context, out, len);
    return SOTTO_OK;
}

static void open_lab(sotto_test *t, const char *name)
{
    static sotto_aero_share dealt[OLD];
    static sotto_aero_poly v;
    const sotto_aero_set *set;

    memset(&l, 0, sizeof l);
    sotto_sim_random_init(&l.random, 4);
    sotto_entropy_init(&l.entropy, fill, &l.random);
    CHECK_OK(t, sotto_aero_set_named(&set, name, &t->err));
    CHECK_OK(t, sotto_aero_init(&l.aero, set, 20, &t->arena, &t->err));
    for (size_t d = 0; d < DEALERS; d++) {
        memset(&v, 0, sizeof v);
        for (size_t k = 0; k < SOTTO_AERO_N; k++)
            v.first[k].v = sotto_sim_random_below(&l.random, 1000);
        sotto_aero_add(&l.aero.ring, &l.key, &v);
        CHECK_OK(t, sotto_aero_deal_poly(&l.aero, dealt, OLD, THRESHOLD, &v, &l.entropy, &t->err));
        CHECK_OK(t, sotto_aero_pads_deal(&l.aero, l.old, OLD, THRESHOLD, &l.entropy, &t->err));
        for (size_t j = 0; j < OLD; j++)
            sotto_aero_share_add(&l.aero, &l.old[j].share, &dealt[j]);
    }
}

/* What three holdings give together. */
static bool is_key(sotto_test *t, const sotto_aero_holding *const *holdings, const uint32_t *who)
{
    static sotto_aero_poly sum, v;
    sotto_aero_weight weights[THRESHOLD];

    memset(&sum, 0, sizeof sum);
    CHECK_OK(t, sotto_aero_weights_vartime(&l.aero, weights, who, THRESHOLD, &t->err));
    for (size_t i = 0; i < THRESHOLD; i++) {
        v = holdings[i]->share.s;
        sotto_aero_scale(&l.aero.ring, &v, weights[i].first, weights[i].second);
        sotto_aero_add(&l.aero.ring, &sum, &v);
    }
    return memcmp(&sum, &l.key, sizeof sum) == 0;
}

static void deal(sotto_test *t, size_t count)
{
    for (size_t d = 0; d < OLD; d++)
        CHECK_OK(t, sotto_aero_hand_deal(&l.aero, l.dealt[d], count, THRESHOLD, &l.old[d],
                                         &l.entropy, &t->err));
}

static void probe(sotto_test *t, size_t count, uint32_t before)
{
    const uint8_t seed[SOTTO_AERO_SEED] = {9};

    for (size_t j = 0; j < count; j++) {
        const sotto_aero_holding *to[OLD];
        sotto_aero_probe out[OLD];

        for (size_t d = 0; d < OLD; d++)
            to[d] = &l.dealt[d][j];
        CHECK_OK(t, sotto_aero_hand_probe(&l.aero, out, to, OLD, before, seed, &t->err));
        for (size_t d = 0; d < OLD; d++)
            l.probes[d * count + j] = out[d];
    }
}

static sotto_status judge(sotto_test *t, bool *bad, size_t count)
{
    static const uint32_t dealers[OLD] = {0, 1, 2, 3, 4, 5, 6};
    const sotto_aero_probes probes = {.at = l.probes,
                                      .dealers = dealers,
                                      .dealer_count = OLD,
                                      .old_threshold = THRESHOLD,
                                      .count = count,
                                      .threshold = THRESHOLD};

    t->err = (sotto_err){0};
    return sotto_aero_hand_judge_vartime(&l.aero, bad, &probes, &t->arena, &t->err);
}

/* New members take over from the first three who are not bad. */
static void take(sotto_test *t, const bool *bad, size_t count)
{
    uint32_t dealers[THRESHOLD], chosen = 0;

    for (uint32_t d = 0; d < OLD && chosen < THRESHOLD; d++)
        if (!bad[d])
            dealers[chosen++] = d;
    CHECK_EQUAL(t, THRESHOLD, chosen);
    for (size_t j = 0; j < count; j++) {
        const sotto_aero_holding *from[THRESHOLD];

        for (size_t i = 0; i < THRESHOLD; i++)
            from[i] = &l.dealt[dealers[i]][j];
        CHECK_OK(t, sotto_aero_hand_take(&l.aero, &l.taken[j], from, dealers, THRESHOLD, &t->err));
    }
}

static bool new_members_hold_the_key(sotto_test *t)
{
    const uint32_t who[THRESHOLD] = {5, 1, 2};
    const sotto_aero_holding *const holdings[] = {&l.taken[5], &l.taken[1], &l.taken[2]};

    return is_key(t, holdings, who);
}

static void a_key_is_handed_over(sotto_test *t)
{
    static const char *const sets[] = {"b64", "b87"};
    bool bad[OLD];

    for (size_t i = 0; i < 2; i++) {
        open_lab(t, sets[i]);
        for (uint32_t before = 0; before < 2; before++) { /* ... and on */
            size_t count = before ? OLD : NEW + 1;

            deal(t, count);
            probe(t, count, before);
            CHECK_OK(t, judge(t, bad, count));
            for (size_t d = 0; d < OLD; d++)
                CHECK(t, !bad[d]);
            take(t, bad, count);
            CHECK(t, new_members_hold_the_key(t));
            memcpy(l.old, l.taken, sizeof l.old);
        }
        sotto_arena_reset(&t->arena);
    }
}

/* Two of seven lie, each in another way: they are named, and the key is taken over from the others. */
static void who_deals_something_else_is_named(sotto_test *t)
{
    static sotto_aero_holding other;
    bool bad[OLD];

    open_lab(t, "b87");
    other = l.old[0];
    other.share.s.second[17] ^= 1; /* another share, dealt as it should be */
    deal(t, NEW);
    CHECK_OK(
        t, sotto_aero_hand_deal(&l.aero, l.dealt[0], NEW, THRESHOLD, &other, &l.entropy, &t->err));
    for (size_t j = 0; j < NEW; j++) /* its own share, on no polynomial */
        l.dealt[4][j].share.s.first[3].v = 1000 + j * j * j;
    probe(t, NEW, 0);
    CHECK_OK(t, judge(t, bad, NEW));
    for (size_t d = 0; d < OLD; d++)
        CHECK(t, bad[d] == (d == 0 || d == 4));
    take(t, bad, NEW);
    CHECK(t, new_members_hold_the_key(t));
    take(t, (const bool[OLD]){false}, NEW); /* with theirs it would be lost */
    CHECK(t, !new_members_hold_the_key(t));
}

/* Two honest members are away. Two liars fit two of the three others, so that the third one looks wrong: nobody is believed. */
static void too_few_that_agree_are_not_believed(sotto_test *t)
{
    bool bad[OLD];

    open_lab(t, "b64");
    deal(t, NEW);
    for (uint32_t d = 5; d < OLD; d++) { /* (x - 1)(x - 2) is zero at two honest members */
        sotto_aero_holding other = l.old[d];
        uint64_t x = d + 1, more = (x - 1) * (x - 2);

        other.share.s.first[0] = sotto_f64_add(other.share.s.first[0], sotto_f64_from(more));
        CHECK_OK(t, sotto_aero_hand_deal(&l.aero, l.dealt[d], NEW, THRESHOLD, &other, &l.entropy,
                                         &t->err));
    }
    probe(t, NEW, 0);
    for (size_t j = 0; j < NEW; j++) /* what was not dealt is no word */
        for (size_t d = 3; d < 5; d++)
            l.probes[d * NEW + j].first[0].v = 7 * j * j * j;
    CHECK_STATUS(t, SOTTO_REJECTED, judge(t, bad, NEW));
}

/* New members that lie about what they were dealt make nobody bad, and do not stop the hand-over. */
static void a_wrong_probe_is_passed_over(sotto_test *t)
{
    bool bad[OLD];

    open_lab(t, "b64");
    deal(t, NEW + 1);
    probe(t, NEW + 1, 0);
    for (size_t d = 0; d < OLD; d++)
        for (size_t j = 0; j < 2; j++)
            l.probes[d * (NEW + 1) + j].first[1].v ^= 5;
    CHECK_OK(t, judge(t, bad, NEW + 1));
    for (size_t d = 0; d < OLD; d++)
        CHECK(t, !bad[d]);
}

/* Whoever collects old and new shares has nothing, below the threshold of either. As many old shares as the threshold are the key: this is
 * why old members wipe theirs. */
static void old_shares_are_worth_nothing_beside_new_ones(sotto_test *t)
{
    const uint32_t who[THRESHOLD] = {0, 1, 2};
    bool bad[OLD];

    open_lab(t, "b64");
    deal(t, NEW);
    probe(t, NEW, 0);
    CHECK_OK(t, judge(t, bad, NEW));
    take(t, bad, NEW);
    const sotto_aero_holding *mixed[THRESHOLD] = {&l.old[0], &l.old[1], &l.taken[2]};
    CHECK(t, !is_key(t, mixed, who));
    mixed[1] = &l.taken[1];
    CHECK(t, !is_key(t, mixed, who));
    for (size_t j = 0; j < NEW; j++) /* nor does one have all of it */
        CHECK(t, memcmp(&l.taken[j].share.s, &l.key, sizeof l.key) != 0);
    const sotto_aero_holding *const kept[THRESHOLD] = {&l.old[0], &l.old[1], &l.old[2]};
    CHECK(t, is_key(t, kept, who));
}

static void a_pad_is_used_once(sotto_test *t)
{
    const uint8_t seed[SOTTO_AERO_SEED] = {1};
    const sotto_aero_holding *one = &l.old[0];
    sotto_aero_probe out;

    open_lab(t, "b64");
    CHECK_OK(t, sotto_aero_hand_probe(&l.aero, &out, &one, 1, SOTTO_AERO_MOST_HAND_OVERS - 1, seed,
                                      &t->err));
    CHECK_STATUS(
        t, SOTTO_DENIED,
        sotto_aero_hand_probe(&l.aero, &out, &one, 1, SOTTO_AERO_MOST_HAND_OVERS, seed, &t->err));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_key_is_handed_over),
        CASE(who_deals_something_else_is_named),
        CASE(too_few_that_agree_are_not_believed),
        CASE(a_wrong_probe_is_passed_over),
        CASE(old_shares_are_worth_nothing_beside_new_ones),
        CASE(a_pad_is_used_once),
    };
    return RUN_TESTS(argc, argv, cases);
}
