/* A device in rounds of learning that one server posted: it trains, clips, adds its part of the noise, pays, and keeps to the record. */
#include "support/one_learning.h"
#include "support/one_rounds.h"

#include "crypto/hash.h"
#include "device/round.h"
#include "sotto/rounds.h"
#include "support/fleet.h"
#include "support/learners.h"
#include "support/one_learner.h"

#include <math.h>
#include <string.h>

typedef struct scene {
    sotto_fleet fleet; /* of the others, and the keys of this one */
    sotto_test_one_learner l;
} scene;

/* The recipe has `old` replaced; NULL: nothing. */
static void open_scene_of(sotto_test *t, scene *s, const char *old, const char *new)
{
    static const uint8_t server[SOTTO_SIGN_PUBLIC] = {5};
    const sotto_fleet_options fleet = {.devices = ONE_LEARNING_DEVICES,
                                       .witnesses = 4,
                                       .members = ONE_LEARNING_DEVICES,
                                       .server_key = server,
                                       .port = 1};
    uint8_t digest[32], root[32];

    memset(s, 0, sizeof *s);
    sotto_test_one_learner_go(&s->l, 0);
    s->l.model = sotto_test_model(t, 0.5F);
    sotto_hash_once(digest, SOTTO_SHA256, s->l.model);
    s->l.recipe = sotto_test_one_learning(t, digest, old, new);
    CHECK_OK(t, sotto_fleet_open(&s->fleet, &fleet, &t->err));
    sotto_test_one_learner_open(t, &s->l, sotto_test_one_learning_policy,
                                s->fleet.devices[0].secret, &s->fleet.epoch.witnesses);
    sotto_registry_root(&s->fleet.epoch.registry, root);
    sotto_rounds_expect(s->l.rounds, root, 0);
}

static void open_scene(sotto_test *t, scene *s)
{
    open_scene_of(t, s, NULL, NULL);
}

static void close_scene(scene *s)
{
    sotto_test_one_learner_close(&s->l);
    sotto_fleet_close(&s->fleet);
}

/* ---- rounds --------------------------------------------------------------------------------------------------------- */

static sotto_epoch_round round_of(sotto_test *t, const scene *s, uint64_t number,
                                  sotto_bytes record)
{
    const uint64_t now = (uint64_t)s->l.now * 1000;
    static sotto_mistakes mistakes;
    const sotto_learning *learning;
    sotto_learning_claim claim;
    sotto_epoch_round out = {.number = number,
                             .ring = SOTTO_RING_Z32,
                             .length = ONE_LEARNING_PARAMETERS,
                             .least = ONE_LEARNING_LEAST,
                             .neighbours = 4,
                             .edge = UINT64_MAX,
                             .opens = now,
                             .closes = now + 60000,
                             .verify_by = now + 120000,
                             .release_by = now + 180000};

    memset(&mistakes, 0, sizeof mistakes);
    CHECK_OK(t, sotto_learning_read(&learning, s->l.recipe, &t->arena, &mistakes, &t->err));
    CHECK_OK(t, sotto_learning_claim_compute(&claim, learning, learning->head.honest, &t->err));
    out.most = claim.most;
    sotto_hash_once(out.recipe, SOTTO_SHA256, record);
    return out;
}

/* Goes to the round, offers its record, and has it posted. */
static sotto_status take(sotto_test *t, scene *s, uint64_t number, unsigned *parts,
                         sotto_explanation *why)
{
    const sotto_bytes record = sotto_test_round_record(t, s->l.recipe, number, s->l.model);

    sotto_test_one_learner_go(&s->l, number);
    CHECK_OK(t, sotto_device_offer(s->l.device, record, &t->err));
    const sotto_epoch_round round = round_of(t, s, number, record);
    return sotto_test_take_round(t, s->l.rounds, &s->fleet.epoch, &round, parts, why);
}

static void tick(sotto_test *t, scene *s)
{
    uint64_t next;

    for (unsigned i = 0; i < 2; i++)
        (void)!sotto_rounds_tick(s->l.rounds, (uint64_t)s->l.now * 1000, &next, &t->err);
}

/* ---- what it does -------------------------------------------------------------------------------------------------------- */

static void an_update_is_trained_paid_for_and_acknowledged(sotto_test *t)
{
    sotto_explanation why;
    unsigned parts;
    scene s;

    open_scene(t, &s);
    CHECK_OK(t, take(t, &s, 0, &parts, &why));
    CHECK_EQUAL(t, SOTTO_ROUNDS_CLIENT, parts);
    CHECK_EQUAL(t, SOTTO_WHY_TRANSPORT, why.why);
    CHECK(t, s.l.fetches == 1 && s.l.trainings == 1 && s.l.sent == 0);
    s.l.status = 204;
    tick(t, &s);
    CHECK(t, s.l.sent >= 1);
    CHECK_EQUAL(t, SOTTO_WHY_ANSWERED, sotto_test_round_why(t, s.l.device, "digits#0"));
    /* The same round again, under another posting. */
    CHECK_OK(t, take(t, &s, 0, &parts, &why));
    CHECK(t, parts == 0 && s.l.trainings == 1);
    close_scene(&s);
}

/* One charge for all participations; zCDP for each of them. */
static void all_rounds_of_a_device_are_one_charge(sotto_test *t)
{
    sotto_explanation why;
    unsigned parts;
    scene s;

    open_scene(t, &s);
    CHECK_OK(t, take(t, &s, 0, &parts, &why));
    CHECK_NEAR(t, 3.0, sotto_test_one_learner_spent(t, &s.l), 1e-9);
    const double rho = sotto_test_one_learner_rho(t, &s.l).rho;
    CHECK(t, rho > 0.031 && rho < 0.035);
    /* 2 rounds lie between two of its own. */
    CHECK_OK(t, take(t, &s, 1, &parts, &why));
    CHECK(t, parts == 0 && why.why == SOTTO_WHY_ROUNDS);
    CHECK_OK(t, take(t, &s, 2, &parts, &why));
    CHECK_OK(t, take(t, &s, 4, &parts, &why));
    CHECK_EQUAL(t, SOTTO_ROUNDS_CLIENT, parts);
    CHECK_NEAR(t, 3.0, sotto_test_one_learner_spent(t, &s.l), 1e-9);
    CHECK_NEAR(t, 3 * rho, sotto_test_one_learner_rho(t, &s.l).rho, 1e-9);
    CHECK_OK(t, take(t, &s, 6, &parts, &why));
    CHECK(t, parts == 0 && why.why == SOTTO_WHY_ROUNDS);
    close_scene(&s);
}

static sotto_status measure(sotto_test *t, scene *s, sotto_case *c, sotto_measurement *out)
{
    sotto_recipe named;
    bool found;

    CHECK_OK(t, sotto_shelf_next(s->l.device->ledger, &c->shelved, &found, 0, &t->err));
    CHECK_OK(t, sotto_device_judge_posted(s->l.device, c, &named, "digits#0", &t->err));
    CHECK_EQUAL(t, SOTTO_WHY_READY, c->out.why);
    return sotto_round_measure(s->l.device, c, out, &t->err);
}

/* Entries are the update on the grid, with a seventh of the noise's variance. Bounds are six standard errors wide. */
static void entries_have_a_share_of_the_noise(sotto_test *t)
{
    enum { REPEATS = 20 };
    const double sigma = 8 * 0.5 * 4096 / sqrt(7),
                 samples = (double)REPEATS * (ONE_LEARNING_PARAMETERS - 10);
    double first = 0, square = 0;
    scene s;

    open_scene(t, &s);
    CHECK_OK(t, sotto_device_offer(s.l.device, sotto_test_round_record(t, s.l.recipe, 0, s.l.model),
                                   &t->err));
    for (unsigned k = 0; k < REPEATS; k++) {
        sotto_case c = {.now = s.l.now, .draw = true};
        sotto_measurement values;

        CHECK_OK(t, measure(t, &s, &c, &values));
        CHECK_EQUAL(t, ONE_LEARNING_PARAMETERS, values.count);
        for (size_t i = 0; i < values.count; i++) {
            const double v = (double)(int64_t)values.values[i];

            first += i < 10 ? v / (10.0 * REPEATS) : 0;
            square += i < 10 ? 0 : v * v / samples;
        }
        sotto_case_close(s.l.device, &c);
    }
    CHECK_NEAR(t, 0.1 * 4096, first, 6 * sigma / sqrt(10.0 * REPEATS));
    CHECK_NEAR(t, sigma * sigma, square, 6 * sigma * sigma * sqrt(2 / samples));
    close_scene(&s);
}

/* A posted round has as many entries as the recipe projects to, and a report has no more. */
static void a_projected_round_has_fewer_entries(sotto_test *t)
{
    enum { TO = 32 };
    sotto_case c = {.draw = true};
    sotto_measurement values;
    sotto_explanation why;
    unsigned parts;
    scene s;

    open_scene_of(t, &s, "\"scale\": 4096", "\"scale\": 4096, \"projection\": {\"dimension\": 32}");
    const sotto_bytes record = sotto_test_round_record(t, s.l.recipe, 0, s.l.model);
    CHECK_OK(t, sotto_device_offer(s.l.device, record, &t->err));
    sotto_epoch_round round = round_of(t, &s, 0, record);
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_test_take_round(t, s.l.rounds, &s.fleet.epoch, &round, &parts, &why));
    sotto_err_clear(&t->err);
    c.now = s.l.now;
    CHECK_OK(t, measure(t, &s, &c, &values));
    CHECK_EQUAL(t, TO, values.count);
    sotto_case_close(s.l.device, &c);
    round.length = TO;
    CHECK_OK(t, sotto_test_take_round(t, s.l.rounds, &s.fleet.epoch, &round, &parts, &why));
    CHECK_EQUAL(t, SOTTO_ROUNDS_CLIENT, parts);
    close_scene(&s);
}

/* ---- what a round must keep to ------------------------------------------------------------------------------------------- */

static void a_round_keeps_to_its_record(sotto_test *t)
{
    static const struct {
        const char *what;
        sotto_status status;
    } names[] = {{"another number", SOTTO_DENIED}, {"another ring", SOTTO_DENIED},
                 {"longer", SOTTO_DENIED},         {"no room for the noise", SOTTO_DENIED},
                 {"a smaller sum", SOTTO_DENIED},  {"another record", SOTTO_MISSING}};
    sotto_explanation why;
    unsigned parts;
    scene s;

    open_scene(t, &s);
    const sotto_bytes record = sotto_test_round_record(t, s.l.recipe, 0, s.l.model);
    CHECK_OK(t, sotto_device_offer(s.l.device, record, &t->err));
    const sotto_epoch_round right = round_of(t, &s, 0, record);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        sotto_epoch_round wrong = right;

        wrong.number += i == 0;
        wrong.ring = i == 1 ? SOTTO_RING_Z64 : wrong.ring;
        wrong.length += i == 2;
        wrong.most -= i == 3;
        wrong.least -= i == 4;
        wrong.recipe[0] ^= i == 5;
        CHECK_STATUS(t, names[i].status,
                     sotto_test_take_round(t, s.l.rounds, &s.fleet.epoch, &wrong, &parts, &why));
        sotto_err_clear(&t->err);
    }
    CHECK_NEAR(t, 0, sotto_test_one_learner_spent(t, &s.l), 1e-9);
    CHECK_EQUAL(t, 0, s.l.trainings);
    CHECK_OK(t, sotto_test_take_round(t, s.l.rounds, &s.fleet.epoch, &right, &parts, &why));
    CHECK_EQUAL(t, SOTTO_ROUNDS_CLIENT, parts);
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

/* No tick answers it, since it has no task; and nobody answers without a trainer. */
static void only_a_posted_round_is_answered(sotto_test *t)
{
    sotto_tick tick = {0};
    sotto_explanation why;
    unsigned parts;
    scene s;

    open_scene(t, &s);
    CHECK_OK(t, sotto_device_offer(s.l.device, sotto_test_round_record(t, s.l.recipe, 0, s.l.model),
                                   &t->err));
    CHECK_OK(t,
             sotto_device_tick(s.l.device, &tick, (sotto_conditions){true, true, true}, &t->err));
    CHECK(t, tick.made == 0 && s.l.trainings == 0);
    CHECK_EQUAL(t, SOTTO_WHY_PARTIES, sotto_test_round_why(t, s.l.device, "digits#0"));
    CHECK_OK(t, sotto_device_learn(s.l.device, NULL, &t->err));
    CHECK_OK(t, take(t, &s, 0, &parts, &why));
    CHECK(t, parts == 0 && why.why == SOTTO_WHY_TRAINER);
    CHECK_NEAR(t, 0, sotto_test_one_learner_spent(t, &s.l), 1e-9);
    close_scene(&s);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(an_update_is_trained_paid_for_and_acknowledged),
        CASE(all_rounds_of_a_device_are_one_charge),
        CASE(entries_have_a_share_of_the_noise),
        CASE(a_projected_round_has_fewer_entries),
        CASE(a_round_keeps_to_its_record),
        CASE(a_recipe_begins_with_its_model),
        CASE(only_a_posted_round_is_answered),
    };

    return RUN_TESTS(argc, argv, cases);
}
