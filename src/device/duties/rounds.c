/* A device with a ledger in rounds of one server: what it answers is judged and paid for like any report, and then is a client's duty. */
#include "sotto/rounds.h"

#include "account/honest.h"
#include "base/alloc.h"
#include "base/arena.h"
#include "base/rule.h"
#include "crypto/hash.h"
#include "device/answer/measure.h"
#include "device/device_internal.h"
#include "device/duties/duties.h"
#include "device/duties/encrypted_terms.h"
#include "device/duties/payment.h"
#include "device/ledger/consent.h"
#include "device/ledger/rounds.h"
#include "device/round.h"
#include "query/sqlite.h"
#include "recipe/one_server.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

enum { NAME = SOTTO_BUDGET_MAX_NAME + 1, PATH = 64 };

#define MOST_NUMBER 999999u /* of a round: six digits, as ledger/rounds.h leaves room */

static const size_t memory = (size_t)64 << 20;

struct sotto_rounds {
    sotto_device *device;
    sotto_duties *duties;
    sotto_device_counter counter;
    void *counter_context;
    uint8_t registry[32];
    uint32_t index;
    bool expects;       /* registry and index were told */
    sotto_arena memory; /* of one posting */
};

/* ---- what the host does ---------------------------------------------------------------------------------------- */

static sotto_status exchange(void *context, sotto_exchange *request)
{
    const sotto_device_host *host = &((sotto_rounds *)context)->device->host;

    return host->exchange ? host->exchange(host->context, request) : SOTTO_IO;
}

static sotto_status read_counter(void *context, uint64_t *generation, sotto_err *err)
{
    const sotto_rounds *r = context;

    return r->counter.read(r->counter_context, generation, err);
}

static sotto_status raise_counter(void *context, uint64_t generation, sotto_err *err)
{
    const sotto_rounds *r = context;

    return r->counter.raise(r->counter_context, generation, err);
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* Whose recipe a round is of, among those that this device admitted. */
static sotto_status find_recipe(sotto_rounds *r, sotto_shelved *out, const uint8_t *hash,
                                const char *name, sotto_err *err)
{
    bool found = true;

    *out = (sotto_shelved){0};
    while (found) {
        SOTTO_TRY(sotto_shelf_next(r->device->ledger, out, &found, out->id, err));
        if (found &&
            (hash ? memcmp(out->hash, hash, sizeof out->hash) == 0 : strcmp(out->name, name) == 0))
            return SOTTO_OK;
    }
    return sotto_fail(err, SOTTO_MISSING, "no such recipe was offered to this device");
}

/* The record of a round of learning has such a name itself. No recipe has a # in its name. */
static sotto_status name_round(char out[NAME], const sotto_shelved *recipe, uint64_t number,
                               sotto_err *err)
{
    if (strchr(recipe->name, '#')) {
        (void)snprintf(out, NAME, "%s", recipe->name);
        return SOTTO_OK;
    }
    if (strlen(recipe->name) > SOTTO_ROUND_RECIPE || number > MOST_NUMBER)
        return sotto_fail(err, SOTTO_DENIED, "recipe %.63s: no name for round %" PRIu64,
                          recipe->name, number);
    (void)snprintf(out, NAME, "%.*s#%u", SOTTO_ROUND_RECIPE, recipe->name,
                   (unsigned)number % (MOST_NUMBER + 1));
    return SOTTO_OK;
}

/* What became of a vector goes into the person's record. */
static sotto_status hear(void *context, const sotto_round *round, sotto_duties_news news,
                         sotto_err *err)
{
    sotto_rounds *r = context;
    const int64_t now = sotto_device_now(r->device);
    sotto_shelved recipe;
    char name[NAME];

    SOTTO_TRY(find_recipe(r, &recipe, round->recipe, NULL, err));
    SOTTO_TRY(name_round(name, &recipe, round->number, err));
    if (news == SOTTO_DUTIES_LEAVES)
        return sotto_payment_leave(r->device->ledger, name, now, err);
    const bool taken = news == SOTTO_DUTIES_TAKEN;
    const char *why = news == SOTTO_DUTIES_NO_BOARD ? "no board was shown" : "its round is over";
    return sotto_payment_end(r->device->ledger, name, taken, taken ? NULL : why, now, err);
}

/* ---- up and down ------------------------------------------------------------------------------------------------- */

/* What the policy names. The device has read it, so it is well formed. */
static sotto_status read_allowed(const sotto_device *device, sotto_bytes policy, unsigned *allowed,
                                 sotto_err *err)
{
    static const struct {
        const char *word;
        unsigned duty;
    } words[] = {{"client", SOTTO_DUTY_CLIENT},           {"decryptor", SOTTO_DUTY_DECRYPTOR},
                 {"contributor", SOTTO_DUTY_CONTRIBUTOR}, {"verifier", SOTTO_DUTY_VERIFIER},
                 {"committee", SOTTO_DUTY_COMMITTEE},     {"noise", SOTTO_DUTY_NOISE}};
    uint8_t hash[SOTTO_RECIPE_HASH_SIZE];

    *allowed = 0;
    sotto_hash_once(hash, SOTTO_SHA256, policy);
    if (SOTTO_RULE(rounds_of_this_policy) &&
        memcmp(hash, device->terms.policy->hash, sizeof hash) != 0)
        return sotto_fail(err, SOTTO_DENIED, "rounds: another policy than the device's");
    json_t *root = json_loadb((const char *)policy.data, policy.len, 0, NULL);
    const json_t *list = json_object_get(root, "duties");
    for (size_t i = 0; i < json_array_size(list); i++)
        for (size_t k = 0; k < sizeof words / sizeof words[0]; k++)
            if (strcmp(json_string_value(json_array_get(list, i)), words[k].word) == 0)
                *allowed |= words[k].duty;
    json_decref(root);
    return *allowed ? SOTTO_OK : sotto_fail(err, SOTTO_DENIED, "the policy names no duties");
}

static sotto_status start(sotto_rounds *r, const sotto_rounds_options *o, sotto_err *err)
{
    char path[PATH];
    sotto_duties_options options = {.journal = o->journal,
                                    .memory = !o->journal,
                                    .secret = o->secret,
                                    .witnesses = (const uint8_t(*)[SOTTO_P256_WIDE])o->witnesses,
                                    .witness_count = o->witness_count,
                                    .server = o->server,
                                    .logs = r->device->terms.policy->logs,
                                    .log_count = r->device->terms.policy->log_count,
                                    .news = hear,
                                    .host = {.exchange = exchange, .context = r}};

    SOTTO_TRY(read_allowed(r->device, o->policy, &options.allowed, err));
    if (o->counter.read && o->counter.raise)
        options.host.counter = (sotto_device_counter){read_counter, raise_counter};
    if (!o->journal) {
        sotto_sqlite_memory_name(path, sizeof path);
        options.journal = path;
    }
    return sotto_duties_open(&r->duties, &options, err);
}

sotto_status sotto_rounds_open(sotto_rounds **out, sotto_device *device,
                               const sotto_rounds_options *options, sotto_err *err)
{
    sotto_err_clear(err);

    *out = NULL;
    if (options->size < sizeof *options || !options->secret || !options->server ||
        !options->witnesses || options->witness_count == 0 ||
        options->witness_count > SOTTO_DECRYPTORS_MOST)
        return sotto_fail(err, SOTTO_MALFORMED,
                          "rounds: a size, a secret, witnesses and a server are needed");
    sotto_rounds *r = sotto_alloc(sizeof *r);
    if (!r)
        return sotto_fail(err, SOTTO_NO_MEMORY, "rounds");
    r->device = device;
    r->counter = options->counter;
    r->counter_context = options->counter_context;
    sotto_arena_init(&r->memory, memory);
    const sotto_status status = start(r, options, err);
    if (status == SOTTO_OK)
        *out = r;
    else
        sotto_rounds_close(r);
    return status;
}

void sotto_rounds_close(sotto_rounds *r)
{
    if (!r)
        return;
    sotto_duties_close(r->duties);
    sotto_arena_clear(&r->memory);
    sotto_release(r, sizeof *r);
}

sotto_status sotto_rounds_consent(sotto_rounds *r, bool given, sotto_err *err)
{
    sotto_err_clear(err);

    return sotto_duties_consent(r->duties, given, err);
}

void sotto_rounds_keys(const sotto_rounds *r, sotto_rounds_public *out)
{
    sotto_duty_keys keys;

    sotto_duties_keys(r->duties, &keys);
    memcpy(out->sign, keys.sign, sizeof out->sign);
    memcpy(out->pair, keys.pair, sizeof out->pair);
    memcpy(out->channel, keys.channel, sizeof out->channel);
}

sotto_duties *sotto_rounds_duties(sotto_rounds *r)
{
    return r->duties;
}

void sotto_rounds_expect(sotto_rounds *r, const uint8_t registry[32], uint32_t index)
{
    memcpy(r->registry, registry, sizeof r->registry);
    r->index = index;
    r->expects = true;
}

/* ---- what a round must keep to ------------------------------------------------------------------------------------- */

/* What lint says of such recipes: others may have sent this one without. */
static sotto_status check_lint(const sotto_recipe *recipe, sotto_err *err)
{
    sotto_mistakes *mistakes = sotto_alloc(sizeof *mistakes);
    sotto_reading at = {.text = recipe->text, .object = "recipe", .mistakes = mistakes};

    if (!mistakes)
        return sotto_fail(err, SOTTO_NO_MEMORY, "recipe");
    sotto_recipe_check_one_server(&at, recipe);
    const sotto_status status = sotto_mistakes_status(mistakes, err);
    sotto_release(mistakes, sizeof *mistakes);
    if (SOTTO_RULE(rounds_linted) && status != SOTTO_OK)
        return status;
    return SOTTO_OK;
}

/* The server says who of those drawn is online, and may have every liar in the smallest sum. What is charged here counts on as many parts
 * of the noise as the policy says. */
static sotto_status check_honest(const sotto_rounds *r, const sotto_recipe *recipe,
                                 const sotto_one_server *server, sotto_err *err)
{
    const uint64_t least = recipe->min_cohort, liars = sotto_one_server_liars(server),
                   left = least > liars ? least - liars : 0;

    SOTTO_TRY(check_lint(recipe, err));
    if (SOTTO_RULE(rounds_honest) &&
        sotto_honest_count(least, r->device->terms.policy->honest) > left)
        return sotto_fail(err, SOTTO_DENIED,
                          "recipe %.63s: the policy counts on more parts of the noise than the "
                          "%" PRIu64 " that are sure",
                          recipe->name, left);
    return SOTTO_OK;
}

/* The recipe's promises, as terms of duties; round: NULL for a committee's call, which has none yet. A posting names what was published: the recipe, or the
 * record of a round of learning, and with it the model. */
static sotto_status set_terms(sotto_rounds *r, const sotto_case *c, const sotto_round *round,
                              sotto_err *err)
{
    const sotto_recipe *recipe = c->recipe;
    sotto_duties_terms terms = {.methods = 1u << SOTTO_METHOD_FLAMINGO,
                                .least = recipe->min_cohort};
    sotto_one_server_graph graph;
    sotto_one_server server;
    bool encrypted = false;

    if (!r->expects)
        return sotto_fail(err, SOTTO_DENIED, "rounds: the registry of this epoch is not known");
    if (round)
        SOTTO_TRY(sotto_record_terms(c, round, err));
    if (round)
        SOTTO_TRY(sotto_encrypted_terms(&terms, &encrypted, c, round, err));
    if (encrypted) {
        memcpy(terms.registry, r->registry, sizeof terms.registry);
        sotto_duties_expect(r->duties, &terms);
        return SOTTO_OK;
    }
    if (!sotto_recipe_one_server(&server, recipe) || !sotto_recipe_one_server_graph(&graph, recipe))
        return sotto_fail(err, SOTTO_DENIED, "recipe %.63s: no one server adds it up",
                          recipe->name);
    SOTTO_TRY(check_honest(r, recipe, &server, err));
    terms.cohort = server.cohort;
    terms.committee = (uint32_t)server.decryptors;
    terms.neighbours = (uint32_t)graph.neighbours;
    /* The owner of a model signs the number of each round; that of a statistic is the server's to pick. */
    terms.numbers = c->round ? UINT64_MAX : server.epoch_rounds;
    terms.edge = sotto_one_server_edge(graph.degree, round ? round->largest : 2);
    terms.densest = terms.edge;
    memcpy(terms.recipe, c->kept->hash, sizeof terms.recipe);
    memcpy(terms.registry, r->registry, sizeof terms.registry);
    sotto_duties_expect(r->duties, &terms);
    return SOTTO_OK;
}

/* Terms by what was published, read again: a recipe, or a record. */
static sotto_status expect_terms(sotto_rounds *r, const sotto_shelved *shelved,
                                 const sotto_round *round, sotto_err *err)
{
    sotto_case c = {.shelved = *shelved};
    sotto_bytes text;
    sotto_status status =
        sotto_shelf_text(r->device->ledger, &text, shelved, &r->device->work, err);

    if (status == SOTTO_OK)
        status = sotto_case_read(r->device, &c, text, err);
    if (status == SOTTO_OK)
        status = set_terms(r, &c, round, err);
    sotto_arena_reset(&r->device->work);
    return status;
}

sotto_status sotto_rounds_join(sotto_rounds *r, sotto_bytes call, const char *recipe,
                               uint64_t now_ms, sotto_err *err)
{
    sotto_shelved shelved;

    sotto_err_clear(err);
    SOTTO_TRY(find_recipe(r, &shelved, NULL, recipe, err));
    SOTTO_TRY(expect_terms(r, &shelved, NULL, err));
    return sotto_duties_join_keygen(r->duties, call, r->index, now_ms, err);
}

/* ---- an answer ------------------------------------------------------------------------------------------------------ */

/* most: an entry of an answer is no further from 0. */
static sotto_status check_room(const sotto_recipe *recipe, const sotto_round *round,
                               uint64_t entries, uint64_t most, sotto_err *err)
{
    sotto_one_server_graph graph;
    sotto_one_server server;

    const bool masked =
        sotto_recipe_one_server(&server, recipe) && sotto_recipe_one_server_graph(&graph, recipe);
    if (SOTTO_RULE(rounds_ring) && masked &&
        round->ring != (graph.wide ? SOTTO_RING_Z64 : SOTTO_RING_Z32))
        return sotto_fail(err, SOTTO_DENIED, "the round adds in another ring than the recipe says");
    if (SOTTO_RULE(rounds_room) && (round->length != entries || round->most < most))
        return sotto_fail(err, SOTTO_DENIED, "the round has no room for the recipe's answers");
    return SOTTO_OK;
}

/* Each cohort would need rounds of its own. Silence would be seen by the server, which knows who was drawn. */
static sotto_status check_recipe(const sotto_recipe *recipe, const sotto_round *round,
                                 const sotto_report_content *content, sotto_err *err)
{
    if (recipe->cohort_count || recipe->dummies > 0 ||
        recipe->on_no_match == SOTTO_NO_MATCH_SILENCE)
        return sotto_fail(err, SOTTO_DENIED,
                          "one server: no cohorts, no dummies, and no silence without a value");
    return check_room(recipe, round, content->entries, content->max, err);
}

static sotto_status pay(sotto_rounds *r, sotto_case *c, const uint8_t *id, size_t bytes,
                        sotto_bytes bits, sotto_err *err)
{
    sotto_report report = {.bytes = {NULL, bytes}, .randomised = bits};
    sotto_refusal refusal = {0};
    sotto_err first = {0};

    memcpy(report.id, id, sizeof report.id);
    const sotto_status status =
        sotto_ledger_spend(r->device->ledger, &c->charge, &report, c->now, &refusal, &first);
    if (status == SOTTO_DENIED && refusal.check) {
        sotto_case_refuse(c, &refusal);
        return SOTTO_OK;
    }
    return sotto_case_overtaken(r->device, c, status, &first, err);
}

/* Paid for first: a vector that the journal could not keep has cost its spend, and is recorded as given up. */
static sotto_status keep(sotto_rounds *r, sotto_case *c, sotto_bytes posting,
                         const sotto_measurement *values, sotto_err *err)
{
    const sotto_status status = sotto_duties_take(r->duties, posting, r->index, SOTTO_DUTY_CLIENT,
                                                  values->values, values->count, err);

    if (status != SOTTO_OK)
        (void)!sotto_payment_end(r->device->ledger, c->recipe->name, false, "it could not be kept",
                                 c->now, NULL);
    return status;
}

/* An update, by the trainer that the device was given. */
static sotto_status make_update(sotto_rounds *r, sotto_case *c, const sotto_posted_round *p,
                                sotto_bytes posting, bool *made, sotto_err *err)
{
    sotto_report report = {.bytes = {NULL, 0}};
    sotto_measurement values = {0};

    SOTTO_TRY(check_room(&c->round->head, &p->round, sotto_learning_length(c->round->learning),
                         c->round->claim.most, err));
    SOTTO_TRY(sotto_linked_rounds->measure(r->device, c, &values, err));
    if (c->out.why != SOTTO_WHY_READY)
        return SOTTO_OK;
    report.bytes.len = values.count * sotto_ring_width(p->round.ring);
    memcpy(report.id, p->id, sizeof report.id);
    SOTTO_TRY(sotto_linked_rounds->pay(r->device, c, &report, err));
    if (c->out.why != SOTTO_WHY_READY)
        return SOTTO_OK;
    SOTTO_TRY(keep(r, c, posting, &values, err));
    *made = true;
    return SOTTO_OK;
}

static sotto_status make(sotto_rounds *r, sotto_case *c, const sotto_posted_round *p,
                         sotto_bytes posting, sotto_entropy *entropy, bool *made, sotto_err *err)
{
    const sotto_device_simulation *simulation = &r->device->simulation;
    sotto_measurement values;
    sotto_bytes bits;
    uint64_t bin;
    bool silent;

    SOTTO_TRY(check_recipe(c->recipe, &p->round, &c->mechanism.content, err));
    SOTTO_TRY(sotto_case_read_bin(c, &bin, &silent, entropy, err));
    sotto_query_finish(c->query);
    if (c->out.why != SOTTO_WHY_READY)
        return SOTTO_OK;
    SOTTO_TRY(
        sotto_measure(&values, &bits, &c->mechanism.content, bin, entropy, &r->device->work, err));
    SOTTO_TRY(pay(r, c, p->id, values.count * sotto_ring_width(p->round.ring), bits, err));
    if (c->out.why != SOTTO_WHY_READY)
        return SOTTO_OK;
    SOTTO_TRY(keep(r, c, posting, &values, err));
    *made = true;
    if (simulation->answered)
        simulation->answered(simulation->context, bin);
    return SOTTO_OK;
}

static sotto_status answer(sotto_rounds *r, const sotto_shelved *shelved,
                           const sotto_posted_round *p, sotto_bytes posting, bool held, bool *made,
                           sotto_explanation *why, sotto_err *err)
{
    /* Where the beacon drew this device, it draws no more. */
    sotto_case c = {
        .shelved = *shelved, .now = sotto_device_now(r->device), .draw = !p->method->contributes};
    sotto_recipe named;
    sotto_entropy entropy;
    char name[NAME];
    bool given;

    SOTTO_TRY(name_round(name, shelved, p->round.number, err));
    SOTTO_TRY(sotto_consent_hold(r->device->ledger, &given, err));
    if (!given) {
        sotto_explain(why, SOTTO_WHY_NO_CONSENT, "",
                      "Nobody has agreed that this device takes part.");
        return SOTTO_OK;
    }
    sotto_device_entropy(r->device, &entropy);
    sotto_status status = sotto_device_judge_posted(r->device, &c, &named, name, err);
    /* The journal would not keep it, so it is not paid for. */
    if (SOTTO_RULE(rounds_pay_for_what_is_kept) && held && c.out.why == SOTTO_WHY_READY)
        sotto_explain(&c.out, SOTTO_WHY_SLOT_MISSED, "", "It joined this round without an answer.");
    if (status == SOTTO_OK && c.out.why == SOTTO_WHY_READY)
        status = c.round ? make_update(r, &c, p, posting, made, err)
                         : make(r, &c, p, posting, &entropy, made, err);
    if (*made)
        sotto_explain(&c.out, SOTTO_WHY_TRANSPORT, "",
                      "The answer is paid for, and waits until it is acknowledged.");
    sotto_entropy_clear(&entropy);
    *why = c.out;
    if (status != SOTTO_OK)
        *why = (sotto_explanation){0};
    sotto_case_close(r->device, &c);
    return status;
}

/* ---- a round -------------------------------------------------------------------------------------------------------- */

static bool is_drawn(const sotto_rounds *r, const sotto_posted_round *p, sotto_part part)
{
    const sotto_method *m = p->method;

    return m->parts[part] && (!m->takes_part || m->takes_part(&p->round, part, r->index));
}

/* SOTTO_DENIED: the policy does not name it, which is no failure where there is another part. */
static sotto_status take_decryptor(sotto_rounds *r, const sotto_posted_round *p,
                                   sotto_bytes posting, unsigned *parts, sotto_err *err)
{
    SOTTO_TRY(sotto_duties_check(r->duties, p, r->index, SOTTO_DUTY_DECRYPTOR, err));
    SOTTO_TRY(sotto_duties_take(r->duties, posting, r->index, SOTTO_DUTY_DECRYPTOR, NULL, 0, err));
    *parts |= SOTTO_ROUNDS_DECRYPTOR;
    return SOTTO_OK;
}

/* Whoever has no answer checks what others' answers became, where a method wants that. */
static sotto_status take_verifier(sotto_rounds *r, const sotto_posted_round *p, sotto_bytes posting,
                                  unsigned *parts, sotto_err *err)
{
    SOTTO_TRY(sotto_duties_check(r->duties, p, r->index, SOTTO_DUTY_CLIENT, err));
    SOTTO_TRY(sotto_duties_take(r->duties, posting, r->index, SOTTO_DUTY_CLIENT, NULL, 0, err));
    *parts |= SOTTO_ROUNDS_VERIFIER;
    return SOTTO_OK;
}

static sotto_status take_client(sotto_rounds *r, const sotto_shelved *shelved,
                                const sotto_posted_round *p, sotto_bytes posting, unsigned *parts,
                                sotto_explanation *why, sotto_err *err)
{
    const bool verifies = sotto_method_entry(p->method) != NULL,
               drawn = !p->method->contributes || p->method->contributes(&p->round, r->index);
    bool made = false, held = false;

    if (!drawn)
        sotto_explain_not_sampled(why);
    /* What the policy does not name is not paid for, either. */
    if (SOTTO_RULE(rounds_verifier_pays_nothing) && verifies && drawn &&
        !sotto_duties_may_answer(r->duties, p->method)) {
        sotto_explain(why, SOTTO_WHY_POLICY, "duties",
                      "The policy does not name the duty of a contributor.");
        return take_verifier(r, p, posting, parts, err);
    }
    if (drawn) {
        SOTTO_TRY(sotto_duties_check(r->duties, p, r->index, SOTTO_DUTY_CLIENT, err));
        SOTTO_TRY(sotto_duties_holds(r->duties, p, SOTTO_DUTY_CLIENT, &held, err));
        SOTTO_TRY(answer(r, shelved, p, posting, held, &made, why, err));
    }
    if (made)
        *parts |= SOTTO_ROUNDS_CLIENT | (verifies ? SOTTO_ROUNDS_VERIFIER : 0u);
    return made || held || !verifies ? SOTTO_OK : take_verifier(r, p, posting, parts, err);
}

static sotto_status take_parts(sotto_rounds *r, const sotto_shelved *shelved,
                               const sotto_posted_round *p, sotto_bytes posting, unsigned *parts,
                               sotto_explanation *why, sotto_err *err)
{
    const bool client = is_drawn(r, p, SOTTO_PART_CLIENT);
    sotto_status decrypts = SOTTO_OK;

    if (is_drawn(r, p, SOTTO_PART_DECRYPTOR))
        decrypts = take_decryptor(r, p, posting, parts, client ? NULL : err);
    if (!client) {
        sotto_explain_not_sampled(why);
        return decrypts;
    }
    return take_client(r, shelved, p, posting, parts, why, err);
}

static sotto_status take(sotto_rounds *r, const sotto_posted_round *p, sotto_bytes posting,
                         unsigned *parts, sotto_explanation *why, sotto_err *err)
{
    const uint64_t now_ms = (uint64_t)sotto_device_now(r->device) * 1000;
    sotto_shelved shelved;

    if (now_ms >= p->round.closes)
        return sotto_fail(err, SOTTO_STALE, "the round has closed");
    SOTTO_TRY(sotto_round_check_begins(&p->round, now_ms, err));
    SOTTO_TRY(find_recipe(r, &shelved, p->round.recipe, NULL, err));
    SOTTO_TRY(expect_terms(r, &shelved, &p->round, err));
    return take_parts(r, &shelved, p, posting, parts, why, err);
}

sotto_status sotto_rounds_take(sotto_rounds *r, unsigned *parts, sotto_explanation *why,
                               sotto_bytes posting, sotto_err *err)
{
    sotto_posted_round p;
    unsigned taken = 0;

    sotto_err_clear(err);
    *why = (sotto_explanation){0};
    sotto_arena_reset(&r->memory);
    sotto_status status = sotto_posted_round_open(&p, posting, &r->memory, err);
    if (status == SOTTO_OK)
        status = take(r, &p, posting, &taken, why, err);
    sotto_posted_round_close(&p);
    sotto_arena_reset(&r->memory);
    if (parts)
        *parts = taken;
    return status;
}

sotto_status sotto_rounds_tick(sotto_rounds *r, uint64_t now_ms, uint64_t *next_ms, sotto_err *err)
{
    bool given;

    sotto_err_clear(err);
    *next_ms = UINT64_MAX;
    SOTTO_TRY(sotto_consent_get(r->device->ledger, &given, err));
    if (SOTTO_RULE(rounds_after_a_no) && !given)
        return sotto_duties_consent(r->duties, false, err);
    return sotto_duties_tick(r->duties, now_ms, next_ms, err);
}
