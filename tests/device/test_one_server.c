/* A device with a ledger in rounds of one server: what it pays, what allows it, and what it refuses. */
#define _POSIX_C_SOURCE 200809L
#include "support/one_rounds.h"
#include "support/one_server.h"

#include "base/arena.h"
#include "device/device_internal.h"
#include "device/duties/payment.h"
#include "sotto/rounds.h"
#include "support/fleet.h"
#include "support/recipes.h"

#include <string.h>
#include <time.h>

enum { MOST_LINES = 16 };

typedef struct scene {
    sotto_fleet fleet; /* of the others, and the keys of this one */
    sotto_device *device;
    sotto_rounds *rounds;
    sotto_bytes policy, recipe;
    unsigned sent;   /* requests with a vector */
    unsigned status; /* that they are answered with; 0: nobody answers */
} scene;

static sotto_status carry(void *context, sotto_exchange *exchange)
{
    const sotto_exchange_head head = {.size = sizeof head, .status = ((scene *)context)->status};
    scene *s = context;
    uint8_t piece[4096];
    size_t len = 1;

    for (uint64_t at = 0; len; at += len)
        SOTTO_TRY(exchange->read(exchange, at, piece, sizeof piece, &len));
    if (strstr(exchange->url, "/messages"))
        s->sent++;
    return s->status ? exchange->begin(exchange, &head) : SOTTO_IO;
}

static void donate(sotto_test *t, scene *s)
{
    const sotto_value value = {SOTTO_TYPE_INTEGER, {.integer = 150}};
    const sotto_event event = {"launches", {1}, (int64_t)time(NULL), &value, 1};

    CHECK_OK(t, sotto_device_donate(s->device, &event, 1, NULL, &t->err));
}

static sotto_rounds_options options_of(const scene *s)
{
    return (sotto_rounds_options){.size = sizeof(sotto_rounds_options),
                                  .secret = s->fleet.devices[0].secret,
                                  .policy = s->policy,
                                  .witnesses = s->fleet.epoch.witnesses.verify[0],
                                  .witness_count = s->fleet.epoch.witnesses.count,
                                  .server = "http://127.0.0.1:1/"};
}

static void open_device(sotto_test *t, scene *s, const char *duties)
{
    static const uint8_t server[SOTTO_SIGN_PUBLIC] = {5};
    static const sotto_field field = {"ms", SOTTO_TYPE_INTEGER};
    static const sotto_stream stream = {"launches", &field, 1, 30 * 86400, 100};
    const sotto_fleet_options fleet = {.devices = ONE_SERVER_DEVICES,
                                       .witnesses = 4,
                                       .members = ONE_SERVER_DEVICES,
                                       .server_key = server,
                                       .port = 1};
    sotto_device_options options = {.streams = &stream, .stream_count = 1};

    memset(s, 0, sizeof *s);
    CHECK_OK(t, sotto_fleet_open(&s->fleet, &fleet, &t->err));
    s->policy = sotto_test_one_server_policy(t, duties);
    s->recipe = sotto_test_one_server_recipe(t);
    options.policy = s->policy;
    options.parties = sotto_bytes_of("{}", 2);
    options.host = (sotto_device_host){.exchange = carry, .context = s};
    CHECK_OK(t, sotto_device_open(&s->device, &options, &t->err));
    CHECK_OK(t, sotto_device_consent(s->device, true, &t->err));
    CHECK_OK(t, sotto_device_offer(s->device, s->recipe, &t->err));
    donate(t, s);
}

static void open_scene(sotto_test *t, scene *s)
{
    open_device(t, s, "[\"client\"]");
    const sotto_rounds_options options = options_of(s);
    CHECK_OK(t, sotto_rounds_open(&s->rounds, s->device, &options, &t->err));
    CHECK_OK(t, sotto_rounds_consent(s->rounds, true, &t->err));
    uint8_t root[32];
    sotto_registry_root(&s->fleet.epoch.registry, root);
    sotto_rounds_expect(s->rounds, root, 0);
}

static void close_scene(scene *s)
{
    sotto_rounds_close(s->rounds);
    sotto_device_close(s->device);
    sotto_fleet_close(&s->fleet);
}

static sotto_status take(sotto_test *t, scene *s, uint64_t number, unsigned *parts,
                         sotto_explanation *why)
{
    const sotto_epoch_round round = sotto_test_one_server_round(t, s->recipe, number, 10);

    return sotto_test_take_round(t, s->rounds, &s->fleet.epoch, &round, parts, why);
}

static void tick(sotto_test *t, scene *s)
{
    uint64_t next;

    for (unsigned i = 0; i < 2; i++)
        (void)!sotto_rounds_tick(s->rounds, (uint64_t)time(NULL) * 1000, &next, &t->err);
}

/* ---- the record ------------------------------------------------------------------------------------------------- */

typedef struct told {
    sotto_record_kind kinds[MOST_LINES];
    size_t count;
    double epsilon;
} told;

static sotto_status hear(void *context, const sotto_record_line *line, sotto_err *err)
{
    told *all = context;

    (void)err;
    if (line->kind == SOTTO_RECORD_SPENT)
        all->epsilon += line->epsilon;
    if (line->kind != SOTTO_RECORD_DECIDED && all->count < MOST_LINES)
        all->kinds[all->count++] = line->kind;
    return SOTTO_OK;
}

static told record_of(sotto_test *t, scene *s, const char *name)
{
    told all = {0};

    CHECK_OK(t, sotto_device_record(s->device, name, 0, hear, &all, &t->err));
    return all;
}

/* ---- what it does ------------------------------------------------------------------------------------------------ */

static void a_round_is_paid_for_sent_and_acknowledged(sotto_test *t)
{
    sotto_explanation why;
    unsigned parts;
    scene s;

    open_scene(t, &s);
    CHECK_OK(t, take(t, &s, 1, &parts, &why));
    CHECK_EQUAL(t, SOTTO_ROUNDS_CLIENT, parts);
    CHECK_EQUAL(t, SOTTO_WHY_TRANSPORT, why.why);
    CHECK_EQUAL(t, SOTTO_WHY_TRANSPORT, sotto_test_round_why(t, s.device, "launches#1"));
    CHECK_EQUAL(t, 0, s.sent);
    /* Nobody answers: it has left, and goes again. */
    tick(t, &s);
    CHECK(t, s.sent >= 1);
    CHECK_EQUAL(t, SOTTO_WHY_TRANSPORT, sotto_test_round_why(t, s.device, "launches#1"));
    s.status = 204;
    tick(t, &s);
    CHECK_EQUAL(t, SOTTO_WHY_ANSWERED, sotto_test_round_why(t, s.device, "launches#1"));
    const told all = record_of(t, &s, "launches#1");
    CHECK_EQUAL(t, 3, all.count);
    CHECK_EQUAL(t, SOTTO_RECORD_SPENT, all.kinds[0]);
    CHECK_EQUAL(t, SOTTO_RECORD_LEFT, all.kinds[1]);
    CHECK_EQUAL(t, SOTTO_RECORD_ACKNOWLEDGED, all.kinds[2]);
    CHECK_NEAR(t, 2.0, all.epsilon, 1e-9);
    close_scene(&s);
}

static void a_vector_that_is_refused_is_given_up(sotto_test *t)
{
    sotto_explanation why;
    scene s;

    open_scene(t, &s);
    CHECK_OK(t, take(t, &s, 1, NULL, &why));
    s.status = 403;
    tick(t, &s);
    CHECK_EQUAL(t, SOTTO_WHY_GIVEN_UP, sotto_test_round_why(t, s.device, "launches#1"));
    const unsigned sent = s.sent;
    tick(t, &s);
    CHECK_EQUAL(t, sent, s.sent);
    close_scene(&s);
}

static void every_round_costs_and_budgets_end(sotto_test *t)
{
    sotto_explanation why;
    unsigned parts;
    scene s;

    open_scene(t, &s);
    CHECK_OK(t, take(t, &s, 1, &parts, &why));
    CHECK_OK(t, take(t, &s, 2, &parts, &why));
    CHECK_EQUAL(t, SOTTO_ROUNDS_CLIENT, parts);
    /* 5.0 pays for two rounds of 2.0 each. */
    CHECK_OK(t, take(t, &s, 3, &parts, &why));
    CHECK_EQUAL(t, 0, parts);
    CHECK_EQUAL(t, SOTTO_WHY_BUDGET, why.why);
    CHECK_NEAR(t, 4.0, record_of(t, &s, NULL).epsilon, 1e-9);
    close_scene(&s);
}

static void a_round_is_answered_once(sotto_test *t)
{
    sotto_explanation why;
    unsigned parts;
    scene s;

    open_scene(t, &s);
    CHECK_OK(t, take(t, &s, 1, &parts, &why));
    CHECK_OK(t, take(t, &s, 1, &parts, &why));
    CHECK_EQUAL(t, 0, parts);
    CHECK_EQUAL(t, SOTTO_WHY_TRANSPORT, why.why);
    CHECK_NEAR(t, 2.0, record_of(t, &s, NULL).epsilon, 1e-9);
    close_scene(&s);
}

/* ---- what allows it ------------------------------------------------------------------------------------------------ */

static void a_policy_must_name_duties(sotto_test *t)
{
    sotto_rounds *rounds;
    scene s;

    open_device(t, &s, NULL);
    sotto_rounds_options options = options_of(&s);
    CHECK_STATUS(t, SOTTO_DENIED, sotto_rounds_open(&rounds, s.device, &options, &t->err));
    /* Another policy that names them is not the device's. */
    options.policy = sotto_test_one_server_policy(t, "[\"client\"]");
    CHECK_STATUS(t, SOTTO_DENIED, sotto_rounds_open(&rounds, s.device, &options, &t->err));
    options.size = 1;
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_rounds_open(&rounds, s.device, &options, &t->err));
    close_scene(&s);
}

static void a_client_is_no_decryptor(sotto_test *t)
{
    const sotto_bytes nothing = {NULL, 0};
    scene s;

    open_scene(t, &s);
    CHECK_STATUS(t, SOTTO_DENIED, sotto_rounds_join(s.rounds, nothing, "launches", 1000, &t->err));
    CHECK_STATUS(t, SOTTO_MISSING, sotto_rounds_join(s.rounds, nothing, "other", 1000, &t->err));
    close_scene(&s);
}

static void both_consents_are_needed(sotto_test *t)
{
    sotto_explanation why;
    scene s;

    open_scene(t, &s);
    CHECK_OK(t, sotto_rounds_consent(s.rounds, false, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED, take(t, &s, 1, NULL, &why));
    CHECK_OK(t, sotto_rounds_consent(s.rounds, true, &t->err));
    CHECK_OK(t, sotto_device_consent(s.device, false, &t->err));
    CHECK_OK(t, take(t, &s, 1, NULL, &why));
    CHECK_EQUAL(t, SOTTO_WHY_NO_CONSENT, why.why);
    CHECK_NEAR(t, 0, record_of(t, &s, NULL).epsilon, 1e-9);
    close_scene(&s);
}

/* A no of the person erases what waits, and their next yes does not bring it back. */
static void nothing_leaves_after_a_no(sotto_test *t)
{
    sotto_explanation why;
    scene s;

    open_scene(t, &s);
    s.status = 204;
    CHECK_OK(t, take(t, &s, 1, NULL, &why));
    CHECK_OK(t, sotto_device_consent(s.device, false, &t->err));
    CHECK_OK(t, sotto_device_consent(s.device, true, &t->err));
    tick(t, &s);
    CHECK_EQUAL(t, 0, s.sent);
    CHECK_OK(t, take(t, &s, 2, NULL, &why));
    CHECK_OK(t, sotto_device_consent(s.device, false, &t->err));
    tick(t, &s);
    CHECK_EQUAL(t, 0, s.sent);
    /* It ended every duty: rounds need a yes of their own again. */
    CHECK_OK(t, sotto_device_consent(s.device, true, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED, take(t, &s, 3, NULL, &why));
    close_scene(&s);
}

static void what_was_not_paid_for_does_not_leave(sotto_test *t)
{
    scene s;

    open_scene(t, &s);
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_payment_leave(s.device->ledger, "launches#7", 1000, &t->err));
    close_scene(&s);
}

/* As after a crash, or where the journal had it from before. */
static void what_was_given_up_does_not_leave(sotto_test *t)
{
    sotto_explanation why;
    scene s;

    open_scene(t, &s);
    s.status = 204;
    CHECK_OK(t, take(t, &s, 1, NULL, &why));
    CHECK_OK(t, sotto_payment_end(s.device->ledger, "launches#1", false, "a test",
                                  (int64_t)time(NULL), &t->err));
    tick(t, &s);
    CHECK_EQUAL(t, 0, s.sent);
    CHECK_EQUAL(t, SOTTO_WHY_GIVEN_UP, sotto_test_round_why(t, s.device, "launches#1"));
    close_scene(&s);
}

/* ---- what a round must keep to ------------------------------------------------------------------------------------- */

typedef struct wrong {
    sotto_epoch_round round;
    sotto_status status;
} wrong;

static void a_round_keeps_its_recipes_promises(sotto_test *t)
{
    sotto_explanation why;
    scene s;

    open_scene(t, &s);
    const sotto_epoch_round right = sotto_test_one_server_round(t, s.recipe, 1, 10);
    wrong all[] = {{right, SOTTO_DENIED}, {right, SOTTO_DENIED},  {right, SOTTO_DENIED},
                   {right, SOTTO_DENIED}, {right, SOTTO_DENIED},  {right, SOTTO_DENIED},
                   {right, SOTTO_STALE},  {right, SOTTO_MISSING}, {right, SOTTO_DENIED},
                   {right, SOTTO_DENIED}};
    all[0].round.least--;
    all[1].round.neighbours--;
    all[2].round.edge /= 2;
    all[3].round.ring = SOTTO_RING_Z64;
    all[4].round.length++;
    all[5].round.most--;
    all[6].round.opens -= 3600000;
    all[6].round.closes -= 3600000;
    all[7].round.recipe[0] ^= 1;
    all[8].round.number = 1000000;
    all[9].round.number = 10; /* an epoch has ten, from 0 on */
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        CHECK_STATUS(t, all[i].status,
                     sotto_test_take_round(t, s.rounds, &s.fleet.epoch, &all[i].round, NULL, &why));
    CHECK_NEAR(t, 0, record_of(t, &s, NULL).epsilon, 1e-9);
    CHECK_OK(t, sotto_test_take_round(t, s.rounds, &s.fleet.epoch, &right, NULL, &why));
    CHECK_EQUAL(t, SOTTO_WHY_TRANSPORT, why.why);
    close_scene(&s);
}

/* Offers the recipe under another name, with these parts, and has a round of it posted. */
static sotto_status take_other(sotto_test *t, scene *s, const char *honest, const char *corrupt,
                               const char *dropout)
{
    const char *text = (const char *)s->recipe.data;
    const char *const parts[][2] = {{"\"recipe\": \"launches\"", "\"recipe\": \"others\""},
                                    {"\"honest\": 0.75", honest},
                                    {"\"corrupt\": 0.05", corrupt},
                                    {"\"dropout\": 0.2", dropout}};
    sotto_explanation why;

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        text = (const char *)sotto_test_replace(t, text, parts[i][0], parts[i][1]).data;
    const sotto_bytes recipe = sotto_bytes_of(text, strlen(text));
    CHECK_OK(t, sotto_device_offer(s->device, recipe, &t->err));
    const sotto_epoch_round round = sotto_test_one_server_round(t, recipe, 1, 10);
    return sotto_test_take_round(t, s->rounds, &s->fleet.epoch, &round, NULL, &why);
}

/* A price is for noise that is there, whichever of those drawn the server says are online. */
static void liars_of_the_cohort_are_not_counted_on(sotto_test *t)
{
    static const struct {
        const char *honest, *corrupt, *dropout;
        sotto_status status;
    } all[] = {
        {"\"honest\": 0.75", "\"corrupt\": 0.05", "\"dropout\": 0.2", SOTTO_OK},
        /* Lint refuses: of ten in a sum, 5 may lie; or fewer stay than the noise is shared among. */
        {"\"honest\": 0.75", "\"corrupt\": 0.4", "\"dropout\": 0.2", SOTTO_DENIED},
        {"\"honest\": 0.75", "\"corrupt\": 0.1", "\"dropout\": 0.3", SOTTO_DENIED},
        /* Lint would not: 5 parts are counted on, and 6 are sure. The policy counts on 7. */
        {"\"honest\": 0.5", "\"corrupt\": 0.29", "\"dropout\": 0.2", SOTTO_DENIED},
    };

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        scene s;

        open_scene(t, &s);
        CHECK_STATUS(t, all[i].status,
                     take_other(t, &s, all[i].honest, all[i].corrupt, all[i].dropout));
        CHECK_NEAR(t, all[i].status == SOTTO_OK ? 2.0 : 0, record_of(t, &s, NULL).epsilon, 1e-9);
        close_scene(&s);
    }
}

static void a_registry_must_be_known(sotto_test *t)
{
    uint8_t root[32];
    sotto_explanation why;
    scene s;

    open_scene(t, &s);
    sotto_registry_root(&s.fleet.epoch.registry, root);
    root[0] ^= 1;
    sotto_rounds_expect(s.rounds, root, 0);
    CHECK_STATUS(t, SOTTO_DENIED, take(t, &s, 1, NULL, &why));
    root[0] ^= 1;
    sotto_rounds_expect(s.rounds, root, 1); /* another's place */
    CHECK_STATUS(t, SOTTO_DENIED, take(t, &s, 1, NULL, &why));
    CHECK_NEAR(t, 0, record_of(t, &s, NULL).epsilon, 1e-9);
    close_scene(&s);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_round_is_paid_for_sent_and_acknowledged),
        CASE(a_vector_that_is_refused_is_given_up),
        CASE(every_round_costs_and_budgets_end),
        CASE(a_round_is_answered_once),
        CASE(a_policy_must_name_duties),
        CASE(a_client_is_no_decryptor),
        CASE(both_consents_are_needed),
        CASE(nothing_leaves_after_a_no),
        CASE(what_was_not_paid_for_does_not_leave),
        CASE(what_was_given_up_does_not_leave),
        CASE(a_round_keeps_its_recipes_promises),
        CASE(liars_of_the_cohort_are_not_counted_on),
        CASE(a_registry_must_be_known),
    };

    return RUN_TESTS(argc, argv, cases);
}
