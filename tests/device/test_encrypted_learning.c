/* A device in rounds of learning whose updates are added up encrypted: it trains, clips, pays, and keeps to recipe and record. Everybody of 32 is
 * drawn. */
#include "support/encrypted_learning.h"
#include "support/one_learner.h"

#include "aggregate/aero/odds.h"
#include "base/arena.h"
#include "crypto/hash.h"
#include "device/round.h"
#include "recipe/learning_encrypted.h"
#include "sotto/rounds.h"
#include "support/epoch.h"
#include "support/learners.h"
#include "support/recipes.h"

#include <math.h>
#include <string.h>

enum { WITNESSES = 4, DEVICES = ENCRYPTED_LEARNING_DEVICES };

static const uint8_t secret[SOTTO_ROUNDS_SECRET] = {42};

typedef struct scene {
    sotto_test_one_learner l;
    sotto_epoch epoch;
    const sotto_learning *learning;
    sotto_encrypted plan;
} scene;

/* Place 0 is this device's; nobody looks at what the others are. */
static void make_registry(sotto_test *t, scene *s)
{
    uint8_t(*keys)[32] = sotto_arena_take_array(&t->arena, DEVICES, sizeof *keys);
    uint8_t(*pair)[32] = sotto_arena_take_array(&t->arena, DEVICES, sizeof *pair);
    uint8_t(*channel)[32] = sotto_arena_take_array(&t->arena, DEVICES, sizeof *channel);
    sotto_rounds_public mine;
    uint8_t root[32];

    CHECK(t, keys && pair && channel);
    sotto_rounds_keys(s->l.rounds, &mine);
    for (size_t i = 0; i < DEVICES; i++) {
        keys[i][0] = pair[i][1] = channel[i][2] = (uint8_t)i;
        keys[i][31] = 1;
    }
    memcpy(keys[0], mine.sign, 32);
    memcpy(pair[0], mine.pair, 32);
    memcpy(channel[0], mine.channel, 32);
    s->epoch.registry = (sotto_registry){.server = {5},
                                         .keys = (const uint8_t(*)[32])keys,
                                         .pair = (const uint8_t(*)[32])pair,
                                         .channel = (const uint8_t(*)[32])channel,
                                         .count = DEVICES};
    sotto_registry_root(&s->epoch.registry, root);
    sotto_rounds_expect(s->l.rounds, root, 0);
}

static void open_by_policy(sotto_test *t, scene *s, const char *policy)
{
    static sotto_mistakes mistakes;
    uint8_t digest[32];

    memset(s, 0, sizeof *s);
    memset(&mistakes, 0, sizeof mistakes);
    sotto_test_one_learner_go(&s->l, 0);
    s->l.model = sotto_test_model(t, 0.5F);
    sotto_hash_once(digest, SOTTO_SHA256, s->l.model);
    s->l.recipe = sotto_test_encrypted_learning(t, digest, NULL, NULL);
    CHECK_OK(t, sotto_learning_read(&s->learning, s->l.recipe, &t->arena, &mistakes, &t->err));
    CHECK_OK(t, sotto_learning_encrypted_plan(&s->plan, s->learning, &t->err));
    CHECK_OK(t, sotto_epoch_witnesses(&s->epoch, WITNESSES, &t->arena, &t->err));
    sotto_test_one_learner_open(t, &s->l, policy, secret, &s->epoch.witnesses);
    make_registry(t, s);
    sotto_encrypted_session(s->epoch.session, &s->learning->head);
}

static void open_scene(sotto_test *t, scene *s)
{
    open_by_policy(t, s, sotto_test_encrypted_learning_policy);
}

static void close_scene(scene *s)
{
    sotto_test_one_learner_close(&s->l);
}

/* ---- rounds ------------------------------------------------------------------------------------------------------ */

/* The round of this number, for this record, as the recipe wants it. */
static sotto_round round_of(sotto_test *t, scene *s, uint64_t number, sotto_bytes record,
                            uint8_t parameters[SOTTO_AERO_TERMS_HANDED])
{
    const uint64_t now = (uint64_t)s->l.now * 1000;
    sotto_recipe named = s->learning->head;
    sotto_round r = {.epoch = number,
                     .number = number,
                     .registered = DEVICES,
                     .opens = now,
                     .commit_by = now + 600000,
                     .closes = now + 900000,
                     .verify_by = now + 1200000,
                     .release_by = now + 1500000};

    sotto_hash_once(named.hash, SOTTO_SHA256, record);
    s->epoch.number = number;
    CHECK_OK(t, sotto_epoch_beacon(&s->epoch, &t->arena, &t->err));
    memcpy(r.session, s->epoch.session, sizeof r.session);
    memcpy(r.beacon, s->epoch.beacon, sizeof r.beacon);
    sotto_registry_root(&s->epoch.registry, r.registry);
    CHECK_OK(t, sotto_encrypted_round(&r, parameters, &s->plan, &named, &t->err));
    return r;
}

static sotto_bytes post(sotto_test *t, const scene *s, const sotto_round *r)
{
    uint8_t bytes[SOTTO_ROUND_MOST_BYTES];
    sotto_buf wire, round = sotto_buf_over(bytes, sizeof bytes);

    CHECK_OK(t, sotto_round_encode(&round, r, &t->err));
    const sotto_posting p = {.registry = s->epoch.registry,
                             .part_count = s->epoch.part_count,
                             .parts = s->epoch.parts,
                             .round = sotto_buf_bytes(&round)};
    CHECK_OK(t, sotto_buf_take(&wire, &t->arena, 1 << 15, &t->err));
    CHECK_OK(t, sotto_posting_encode(&wire, &p, &t->err));
    return sotto_buf_bytes(&wire);
}

/* Goes to the round, offers its record, and has it posted. */
static sotto_status take(sotto_test *t, scene *s, uint64_t number, unsigned *parts,
                         sotto_explanation *why)
{
    const sotto_bytes record = sotto_test_round_record(t, s->l.recipe, number, s->l.model);
    uint8_t parameters[SOTTO_AERO_TERMS_HANDED];

    sotto_test_one_learner_go(&s->l, number);
    CHECK_OK(t, sotto_device_offer(s->l.device, record, &t->err));
    const sotto_round r = round_of(t, s, number + 1, record, parameters);
    return sotto_rounds_take(s->l.rounds, parts, why, post(t, s, &r), &t->err);
}

static unsigned others_than_decryptor(unsigned parts)
{
    return parts & ~(unsigned)SOTTO_ROUNDS_DECRYPTOR;
}

/* ---- what it does -------------------------------------------------------------------------------------------------- */

static void an_update_is_trained_and_paid_for(sotto_test *t)
{
    sotto_explanation why;
    unsigned parts;
    scene s;

    open_scene(t, &s);
    CHECK_OK(t, take(t, &s, 0, &parts, &why));
    CHECK_EQUAL(t, SOTTO_ROUNDS_CLIENT | SOTTO_ROUNDS_VERIFIER, others_than_decryptor(parts));
    CHECK_EQUAL(t, SOTTO_WHY_TRANSPORT, why.why);
    CHECK(t, s.l.fetches == 1 && s.l.trainings == 1);
    CHECK_NEAR(t, 3.0, sotto_test_one_learner_spent(t, &s.l), 1e-9);
    close_scene(&s);
}

/* One charge for all participations, and what openings tell is within each of them. Without a turn it checks all the same. Rounds after the first
 * three are within the budget, since three of them count. */
static void all_rounds_of_a_device_are_one_charge(sotto_test *t)
{
    sotto_explanation why;
    unsigned parts;
    scene s;

    open_scene(t, &s);
    CHECK_OK(t, take(t, &s, 0, &parts, &why));
    const double rho = sotto_test_one_learner_rho(t, &s.l).rho;
    CHECK_NEAR(t, s.plan.rho, rho, 1e-9);
    CHECK_OK(t, take(t, &s, 1, &parts, &why));
    CHECK(t, others_than_decryptor(parts) == SOTTO_ROUNDS_VERIFIER && why.why == SOTTO_WHY_ROUNDS);
    CHECK_OK(t, take(t, &s, 20, &parts, &why));
    CHECK_OK(t, take(t, &s, 47, &parts, &why));
    CHECK_EQUAL(t, SOTTO_ROUNDS_CLIENT | SOTTO_ROUNDS_VERIFIER, others_than_decryptor(parts));
    CHECK_NEAR(t, 3.0, sotto_test_one_learner_spent(t, &s.l), 1e-9);
    CHECK_NEAR(t, 3 * rho, sotto_test_one_learner_rho(t, &s.l).rho, 1e-9);
    CHECK_EQUAL(t, 3, s.l.trainings);
    close_scene(&s);
}

/* Nobody adds noise here: entries are the update on the grid, rounded at random, within the norm that is proved. */
static void an_update_is_within_what_is_proved(sotto_test *t)
{
    sotto_case c = {.draw = true};
    sotto_measurement values;
    sotto_recipe named;
    double squares = 0;
    bool found;
    scene s;

    open_scene(t, &s);
    CHECK_OK(t, sotto_device_offer(s.l.device, sotto_test_round_record(t, s.l.recipe, 0, s.l.model),
                                   &t->err));
    c.now = s.l.now;
    CHECK_OK(t, sotto_shelf_next(s.l.device->ledger, &c.shelved, &found, 0, &t->err));
    CHECK_OK(t, sotto_device_judge_posted(s.l.device, &c, &named, "digits#0", &t->err));
    CHECK_OK(t, sotto_round_measure(s.l.device, &c, &values, &t->err));
    CHECK_EQUAL(t, ENCRYPTED_LEARNING_PARAMETERS, values.count);
    for (size_t i = 0; i < values.count; i++) {
        const double v = (double)(int64_t)values.values[i];

        CHECK_NEAR(t, i < 10 ? 0.1 * 4096 : 0, v, 1);
        squares += v * v;
    }
    CHECK(t, squares > 0 && squares <= (double)s.plan.sum.norm2);
    sotto_case_close(s.l.device, &c);
    close_scene(&s);
}

/* ---- what a round must keep to ------------------------------------------------------------------------------------------- */

static void a_round_keeps_to_its_record(sotto_test *t)
{
    enum { CASES = 7 };
    sotto_explanation why;
    unsigned parts;
    scene s;

    open_scene(t, &s);
    const sotto_bytes record = sotto_test_round_record(t, s.l.recipe, 0, s.l.model);
    CHECK_OK(t, sotto_device_offer(s.l.device, record, &t->err));
    for (unsigned i = 0; i < CASES; i++) {
        uint8_t parameters[SOTTO_AERO_TERMS_HANDED];
        sotto_round wrong = round_of(t, &s, i == 0 ? 2 : 1, record, parameters);

        wrong.length += i == 1;
        wrong.norm2 += i == 2;
        wrong.least -= i == 3;
        wrong.noise.num -= i == 4;
        parameters[SOTTO_AERO_TERMS - 1] ^= i == 5; /* rounds that count against the budget */
        wrong.recipe[0] ^= i == 6;
        CHECK_STATUS(t, i == 6 ? SOTTO_MISSING : SOTTO_DENIED,
                     sotto_rounds_take(s.l.rounds, &parts, &why, post(t, &s, &wrong), &t->err));
        sotto_err_clear(&t->err);
    }
    CHECK_NEAR(t, 0, sotto_test_one_learner_spent(t, &s.l), 1e-9);
    CHECK_EQUAL(t, 0, s.l.trainings);
    CHECK_OK(t, take(t, &s, 0, &parts, &why));
    CHECK_EQUAL(t, SOTTO_ROUNDS_CLIENT, parts & SOTTO_ROUNDS_CLIENT);
    close_scene(&s);
}

/* A record's hash would be another session for each round, and each would begin with nothing spent. */
static void all_records_are_of_one_session(sotto_test *t)
{
    const sotto_recipe *head;
    sotto_explanation why;
    sotto_recipe named;
    scene s;

    open_scene(t, &s);
    head = &s.learning->head;
    named = *head;
    sotto_hash_once(named.hash, SOTTO_SHA256, sotto_test_round_record(t, s.l.recipe, 0, s.l.model));
    sotto_encrypted_session(s.epoch.session, &named);
    CHECK_STATUS(t, SOTTO_DENIED, take(t, &s, 0, NULL, &why));
    CHECK_REASON(t, "another session");
    close_scene(&s);
}

/* Round 0 of another model than the recipe's. */
static void a_recipe_begins_with_its_model(sotto_test *t)
{
    sotto_explanation why;
    scene s;

    open_scene(t, &s);
    s.l.model = sotto_test_model(t, 0.25F);
    CHECK_STATUS(t, SOTTO_DENIED, take(t, &s, 0, NULL, &why));
    CHECK_EQUAL(t, 0, s.l.trainings);
    close_scene(&s);
}

/* Whoever opens a sum asks what whoever answers asks: round 0 of another model than the recipe's has no members either. */
static void members_keep_to_the_record_too(sotto_test *t)
{
    const sotto_bytes policy =
        sotto_test_replace(t, sotto_test_encrypted_learning_policy, "\"contributor\", ", "");
    sotto_explanation why;
    unsigned parts;
    scene s;

    open_by_policy(t, &s, (const char *)policy.data);
    CHECK_OK(t, take(t, &s, 0, &parts, &why));
    CHECK_EQUAL(t, SOTTO_ROUNDS_VERIFIER, others_than_decryptor(parts));
    close_scene(&s);
    open_by_policy(t, &s, (const char *)policy.data);
    s.l.model = sotto_test_model(t, 0.25F);
    CHECK_STATUS(t, SOTTO_DENIED, take(t, &s, 0, &parts, &why));
    CHECK_REASON(t, "round 0: its model is not the one that the recipe begins with");
    close_scene(&s);
}

/* ---- what members count ------------------------------------------------------------------------------------------------ */

/* Lint and members price a round alike, and what a recipe may claim is what its last round is certified with. */
static void members_certify_what_lint_accepts(sotto_test *t)
{
    static const uint64_t numbers[] = {1, 2, 3, 4, 48};
    uint8_t parameters[SOTTO_AERO_TERMS_HANDED];
    scene s;

    open_scene(t, &s);
    const sotto_bytes record = sotto_test_round_record(t, s.l.recipe, 0, s.l.model);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        sotto_round round = round_of(t, &s, numbers[i], record, parameters);
        sotto_aero_account account = {0};
        static sotto_aero_plan plan;
        const sotto_arena_mark mark = sotto_arena_here(&t->arena);

        CHECK_OK(t, sotto_method_aero.account(&account, &round, &t->arena, &t->err));
        const uint64_t before = numbers[i] < 3 ? numbers[i] - 1 : 2;
        CHECK_NEAR(t, (double)before * s.plan.rho, account.rho, 1e-12);
        round.account = &account;
        CHECK_OK(t, sotto_aero_plan_init(&plan, &round, &t->arena, &t->err));
        CHECK_NEAR(t, s.plan.rho, plan.rho, 1e-15);
        CHECK_OK(t, sotto_aero_admit(&plan, &t->err));
        sotto_arena_rollback(&t->arena, mark);
    }
    close_scene(&s);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(an_update_is_trained_and_paid_for),  CASE(all_rounds_of_a_device_are_one_charge),
        CASE(an_update_is_within_what_is_proved), CASE(a_round_keeps_to_its_record),
        CASE(all_records_are_of_one_session),     CASE(a_recipe_begins_with_its_model),
        CASE(members_keep_to_the_record_too),     CASE(members_certify_what_lint_accepts),
    };

    return RUN_TESTS(argc, argv, cases);
}
