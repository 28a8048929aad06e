/* A device in rounds of learning that one server posted: it trains, clips, adds its part of the noise, pays, and keeps to the record. */
#include "support/one_learning.h"
#include "support/one_rounds.h"

#include "crypto/hash.h"
#include "device/round.h"
#include "sotto/rounds.h"
#include "support/fleet.h"
#include "support/learners.h"

#include <math.h>
#include <string.h>

typedef struct scene {
    sotto_fleet fleet; /* of the others, and the keys of this one */
    sotto_device *device;
    sotto_rounds *rounds;
    sotto_bytes model, recipe;
    int64_t now;
    unsigned fetches, sent, trainings;
    unsigned status; /* that vectors are answered with; 0: nobody answers */
} scene;

/* ---- the host --------------------------------------------------------------------------------------------------- */

static sotto_status carry(void *context, sotto_exchange *exchange)
{
    scene *s = context;
    const bool get = strcmp(exchange->method, "GET") == 0;
    const sotto_exchange_head head = {.size = sizeof head, .status = get ? 200 : s->status};
    uint8_t piece[4096];
    size_t len = 1;

    if (get) {
        s->fetches++;
        SOTTO_TRY(exchange->begin(exchange, &head));
        return exchange->take(exchange, s->model.data, s->model.len);
    }
    for (uint64_t at = 0; len; at += len)
        SOTTO_TRY(exchange->read(exchange, at, piece, sizeof piece, &len));
    if (strstr(exchange->url, "/messages"))
        s->sent++;
    return s->status ? exchange->begin(exchange, &head) : SOTTO_IO;
}

static int64_t clock_of(void *context)
{
    return ((const scene *)context)->now;
}

/* Ten entries of 0.1: a norm of 0.32, within the clip. */
static sotto_status train(void *context, const sotto_trainer_input *in, float *update,
                          sotto_err *err)
{
    (void)err;
    ((scene *)context)->trainings++;
    for (size_t i = 0; i < 10 && i < in->parameters; i++)
        update[i] = 0.1F;
    return SOTTO_OK;
}

/* ---- the device --------------------------------------------------------------------------------------------------- */

static void donate(sotto_test *t, scene *s)
{
    const sotto_value values[] = {{.type = SOTTO_TYPE_TEXT, .as.text = sotto_bytes_of("00ff7f", 6)},
                                  {.type = SOTTO_TYPE_INTEGER, .as.integer = 1}};
    const sotto_event event = {
        .stream = "digits", .id = {1}, .time = s->now, .values = values, .value_count = 2};

    CHECK_OK(t, sotto_device_donate(s->device, &event, 1, NULL, &t->err));
}

static void open_device(sotto_test *t, scene *s)
{
    static const sotto_field fields[] = {{"pixels", SOTTO_TYPE_TEXT},
                                         {"label", SOTTO_TYPE_INTEGER}};
    static const sotto_stream stream = {"digits", fields, 2, 86400 * 365, 1000};
    const sotto_trainer trainer = {.size = sizeof trainer,
                                   .models = "https://models.example.com/",
                                   .train = train,
                                   .context = s};
    sotto_device_options options = {.streams = &stream, .stream_count = 1};

    options.policy =
        sotto_bytes_of(sotto_test_one_learning_policy, strlen(sotto_test_one_learning_policy));
    options.parties = sotto_bytes_of("{}", 2);
    options.host = (sotto_device_host){.exchange = carry, .clock = clock_of, .context = s};
    CHECK_OK(t, sotto_device_open(&s->device, &options, &t->err));
    CHECK_OK(t, sotto_device_learn(s->device, &trainer, &t->err));
    CHECK_OK(t, sotto_device_consent(s->device, true, &t->err));
    donate(t, s);
    const sotto_rounds_options rounds = {.size = sizeof rounds,
                                         .secret = s->fleet.devices[0].secret,
                                         .policy = options.policy,
                                         .witnesses = s->fleet.epoch.witnesses.verify[0],
                                         .witness_count = s->fleet.epoch.witnesses.count,
                                         .server = "http://127.0.0.1:1/"};
    CHECK_OK(t, sotto_rounds_open(&s->rounds, s->device, &rounds, &t->err));
    CHECK_OK(t, sotto_rounds_consent(s->rounds, true, &t->err));
}

static void go_to(scene *s, uint64_t round)
{
    s->now = SOTTO_TEST_OPENS + (int64_t)round * 3600 + 1800;
}

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
    go_to(s, 0);
    s->model = sotto_test_model(t, 0.5F);
    sotto_hash_once(digest, SOTTO_SHA256, s->model);
    s->recipe = sotto_test_one_learning(t, digest, old, new);
    CHECK_OK(t, sotto_fleet_open(&s->fleet, &fleet, &t->err));
    open_device(t, s);
    sotto_registry_root(&s->fleet.epoch.registry, root);
    sotto_rounds_expect(s->rounds, root, 0);
}

static void open_scene(sotto_test *t, scene *s)
{
    open_scene_of(t, s, NULL, NULL);
}

static void close_scene(scene *s)
{
    sotto_rounds_close(s->rounds);
    sotto_device_close(s->device);
    sotto_fleet_close(&s->fleet);
}

/* ---- rounds --------------------------------------------------------------------------------------------------------- */

static sotto_epoch_round round_of(sotto_test *t, const scene *s, uint64_t number,
                                  sotto_bytes record)
{
    const uint64_t now = (uint64_t)s->now * 1000;
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
    CHECK_OK(t, sotto_learning_read(&learning, s->recipe, &t->arena, &mistakes, &t->err));
    CHECK_OK(t, sotto_learning_claim_compute(&claim, learning, learning->head.honest, &t->err));
    out.most = claim.most;
    sotto_hash_once(out.recipe, SOTTO_SHA256, record);
    return out;
}

/* Goes to the round, offers its record, and has it posted. */
static sotto_status take(sotto_test *t, scene *s, uint64_t number, unsigned *parts,
                         sotto_explanation *why)
{
    const sotto_bytes record = sotto_test_round_record(t, s->recipe, number, s->model);

    go_to(s, number);
    CHECK_OK(t, sotto_device_offer(s->device, record, &t->err));
    const sotto_epoch_round round = round_of(t, s, number, record);
    return sotto_test_take_round(t, s->rounds, &s->fleet.epoch, &round, parts, why);
}

static sotto_status keep_rho(void *context, const sotto_rho_line *line, sotto_err *err)
{
    (void)err;
    if (line->account == SOTTO_RHO_RECIPE)
        *(sotto_rho_line *)context = *line;
    return SOTTO_OK;
}

static sotto_rho_line rho_of(sotto_test *t, const scene *s)
{
    sotto_rho_line line = {0};

    CHECK_OK(t, sotto_device_rho(s->device, keep_rho, &line, &t->err));
    return line;
}

static sotto_status keep_epsilon(void *context, const sotto_budget_line *line, sotto_err *err)
{
    (void)err;
    if (line->analysis)
        *(double *)context = line->epsilon;
    return SOTTO_OK;
}

static double spent(sotto_test *t, const scene *s)
{
    double epsilon = 0;

    CHECK_OK(t, sotto_device_ledger(s->device, keep_epsilon, &epsilon, &t->err));
    return epsilon;
}

static void tick(sotto_test *t, scene *s)
{
    uint64_t next;

    for (unsigned i = 0; i < 2; i++)
        (void)!sotto_rounds_tick(s->rounds, (uint64_t)s->now * 1000, &next, &t->err);
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
    CHECK(t, s.fetches == 1 && s.trainings == 1 && s.sent == 0);
    s.status = 204;
    tick(t, &s);
    CHECK(t, s.sent >= 1);
    CHECK_EQUAL(t, SOTTO_WHY_ANSWERED, sotto_test_round_why(t, s.device, "digits#0"));
    /* The same round again, under another posting. */
    CHECK_OK(t, take(t, &s, 0, &parts, &why));
    CHECK(t, parts == 0 && s.trainings == 1);
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
    CHECK_NEAR(t, 3.0, spent(t, &s), 1e-9);
    const double rho = rho_of(t, &s).rho;
    CHECK(t, rho > 0.031 && rho < 0.035);
    /* 2 rounds lie between two of its own. */
    CHECK_OK(t, take(t, &s, 1, &parts, &why));
    CHECK(t, parts == 0 && why.why == SOTTO_WHY_ROUNDS);
    CHECK_OK(t, take(t, &s, 2, &parts, &why));
    CHECK_OK(t, take(t, &s, 4, &parts, &why));
    CHECK_EQUAL(t, SOTTO_ROUNDS_CLIENT, parts);
    CHECK_NEAR(t, 3.0, spent(t, &s), 1e-9);
    CHECK_NEAR(t, 3 * rho, rho_of(t, &s).rho, 1e-9);
    CHECK_OK(t, take(t, &s, 6, &parts, &why));
    CHECK(t, parts == 0 && why.why == SOTTO_WHY_ROUNDS);
    close_scene(&s);
}

static sotto_status measure(sotto_test *t, scene *s, sotto_case *c, sotto_measurement *out)
{
    sotto_recipe named;
    bool found;

    CHECK_OK(t, sotto_shelf_next(s->device->ledger, &c->shelved, &found, 0, &t->err));
    CHECK_OK(t, sotto_device_judge_posted(s->device, c, &named, "digits#0", &t->err));
    CHECK_EQUAL(t, SOTTO_WHY_READY, c->out.why);
    return sotto_round_measure(s->device, c, out, &t->err);
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
    CHECK_OK(
        t, sotto_device_offer(s.device, sotto_test_round_record(t, s.recipe, 0, s.model), &t->err));
    for (unsigned k = 0; k < REPEATS; k++) {
        sotto_case c = {.now = s.now, .draw = true};
        sotto_measurement values;

        CHECK_OK(t, measure(t, &s, &c, &values));
        CHECK_EQUAL(t, ONE_LEARNING_PARAMETERS, values.count);
        for (size_t i = 0; i < values.count; i++) {
            const double v = (double)(int64_t)values.values[i];

            first += i < 10 ? v / (10.0 * REPEATS) : 0;
            square += i < 10 ? 0 : v * v / samples;
        }
        sotto_case_close(s.device, &c);
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
    const sotto_bytes record = sotto_test_round_record(t, s.recipe, 0, s.model);
    CHECK_OK(t, sotto_device_offer(s.device, record, &t->err));
    sotto_epoch_round round = round_of(t, &s, 0, record);
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_test_take_round(t, s.rounds, &s.fleet.epoch, &round, &parts, &why));
    sotto_err_clear(&t->err);
    c.now = s.now;
    CHECK_OK(t, measure(t, &s, &c, &values));
    CHECK_EQUAL(t, TO, values.count);
    sotto_case_close(s.device, &c);
    round.length = TO;
    CHECK_OK(t, sotto_test_take_round(t, s.rounds, &s.fleet.epoch, &round, &parts, &why));
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
    const sotto_bytes record = sotto_test_round_record(t, s.recipe, 0, s.model);
    CHECK_OK(t, sotto_device_offer(s.device, record, &t->err));
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
                     sotto_test_take_round(t, s.rounds, &s.fleet.epoch, &wrong, &parts, &why));
        sotto_err_clear(&t->err);
    }
    CHECK_NEAR(t, 0, spent(t, &s), 1e-9);
    CHECK_EQUAL(t, 0, s.trainings);
    CHECK_OK(t, sotto_test_take_round(t, s.rounds, &s.fleet.epoch, &right, &parts, &why));
    CHECK_EQUAL(t, SOTTO_ROUNDS_CLIENT, parts);
    close_scene(&s);
}

/* Round 0 of another model than the recipe's. */
static void a_recipe_begins_with_its_model(sotto_test *t)
{
    sotto_explanation why;
    scene s;

    open_scene(t, &s);
    s.model = sotto_test_model(t, 0.25F);
    CHECK_STATUS(t, SOTTO_DENIED, take(t, &s, 0, NULL, &why));
    CHECK_EQUAL(t, 0, s.trainings);
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
    CHECK_OK(
        t, sotto_device_offer(s.device, sotto_test_round_record(t, s.recipe, 0, s.model), &t->err));
    CHECK_OK(t, sotto_device_tick(s.device, &tick, (sotto_conditions){true, true, true}, &t->err));
    CHECK(t, tick.made == 0 && s.trainings == 0);
    CHECK_EQUAL(t, SOTTO_WHY_PARTIES, sotto_test_round_why(t, s.device, "digits#0"));
    CHECK_OK(t, sotto_device_learn(s.device, NULL, &t->err));
    CHECK_OK(t, take(t, &s, 0, &parts, &why));
    CHECK(t, parts == 0 && why.why == SOTTO_WHY_TRAINER);
    CHECK_NEAR(t, 0, spent(t, &s), 1e-9);
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
