/* Everything that can keep a device from answering a recipe, in the order of the checks. Secret draws come before
 * the query is even compiled, and nothing here reads an event. */
#include "device/device_internal.h"

#include "base/alloc.h"
#include "base/rule.h"
#include "device/answer/participate.h"
#include "device/oblivious.h"
#include "device/round.h"
#include "recipe/calendar.h"
#include "recipe/claim.h"
#include "recipe/participation.h"
#include "recipe/task.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Failures that say something of the recipe or the policy become a reason; those of the machine are passed on. */
static sotto_status blame(sotto_case *c, sotto_why why, const char *subject, sotto_status status,
                          const sotto_err *first, sotto_err *err)
{
    switch (status) {
    case SOTTO_OK:
        return SOTTO_OK;
    case SOTTO_IO:
    case SOTTO_AGAIN:
    case SOTTO_NO_MEMORY:
    case SOTTO_BUG:
        return sotto_fail(err, status, "%s", first->reason);
    default:
        sotto_explain(&c->out, why, subject, "%s", first->reason);
        return SOTTO_OK;
    }
}

/* ---- the steps -------------------------------------------------------------------------------------------- */

sotto_status sotto_device_outcome(sotto_device *device, sotto_case *c, const char *recipe,
                                  sotto_err *err)
{
    sotto_outcome outcome;

    SOTTO_TRY(sotto_record_outcome(device->ledger, &outcome, recipe, err));
    if (outcome.dummy)
        sotto_explain(&c->out, SOTTO_WHY_NOT_SAMPLED, "",
                      "The secret draw was against it, or it was not this device's turn. A dummy, "
                      "which says nothing about this device, was made in its place.");
    else if (outcome.kind == SOTTO_RECORD_ACKNOWLEDGED)
        sotto_explain(&c->out, SOTTO_WHY_ANSWERED, "", "It was answered, and the answer arrived.");
    else if (outcome.kind == SOTTO_RECORD_GIVEN_UP)
        sotto_explain(&c->out, SOTTO_WHY_GIVEN_UP, "",
                      "An answer was made and paid for, and erased before anyone acknowledged it: "
                      "%s. A second one would cost twice.",
                      outcome.note);
    else if (outcome.kind == SOTTO_RECORD_SPENT && outcome.note[0])
        sotto_explain(
            &c->out, SOTTO_WHY_NO_VALUE, "",
            "This device stayed silent: it had nothing to tell, or its secret draw, which "
            "depends on its value, was against it. Silence tells something too, so it "
            "was paid for.");
    else if (outcome.kind)
        sotto_explain(&c->out, SOTTO_WHY_TRANSPORT, "",
                      "The answer is sealed and paid for, and waits until it is acknowledged.");
    return SOTTO_OK;
}

static sotto_status check_outcome(sotto_device *device, sotto_case *c, sotto_err *err)
{
    return sotto_device_outcome(device, c, c->shelved.name, err);
}

static sotto_status check_window(sotto_device *device, sotto_case *c, sotto_err *err)
{
    char at[SOTTO_CALENDAR_TEXT];

    (void)device;
    (void)err;
    if (c->now < c->shelved.opens) {
        sotto_calendar_format_time(at, c->shelved.opens);
        sotto_explain(&c->out, SOTTO_WHY_NOT_OPEN_YET, "", "The recipe opens at %s.", at);
    } else if (c->now >= c->shelved.closes) {
        sotto_calendar_format_time(at, c->shelved.closes);
        sotto_explain(&c->out, SOTTO_WHY_CLOSED, "", "The recipe closed at %s.", at);
    }
    return SOTTO_OK;
}

/* The third budget check, made before anything can be spent. */
static void explain_claim(sotto_case *c, const sotto_recipe_claim *claim)
{
    char would_do[64] = "No cohort would do.";

    if (claim->by != SOTTO_BY_CROWD)
        (void)snprintf(would_do, sizeof would_do, "More noise would do.");
    else if (claim->min_cohort)
        (void)snprintf(would_do, sizeof would_do, "A min_cohort of %" PRIu64 " or more would do.",
                       claim->min_cohort);
    sotto_explain(&c->out, SOTTO_WHY_BUDGET, c->recipe->analysis,
                  "The recipe claims an epsilon of %.6g, but %" PRIu64
                  " honest ones among its cohort of %" PRIu64 " make it %.6g. %s",
                  sotto_decimal_up(c->recipe->epsilon), claim->honest, c->recipe->min_cohort,
                  claim->epsilon_cohort, would_do);
    c->out.check = 3;
}

static sotto_status lint(sotto_device *device, sotto_case *c, sotto_err *err)
{
    sotto_recipe_claim claim = {0};
    sotto_err first = {0};
    sotto_status status;

    if (sotto_shared_passed(device->shared, &c->known, c->recipe, device->terms.judge))
        return SOTTO_OK;
    sotto_mistakes *mistakes =
        sotto_alloc(sizeof *mistakes); /* large, and given back before the report */
    if (!mistakes)
        return sotto_fail(err, SOTTO_NO_MEMORY, "recipe");
    if (c->round)
        status = sotto_linked_rounds->lint(device, c, &claim, mistakes, &first);
    else
        status = sotto_recipe_lint_terms(&claim, c->recipe, device->terms.policy, mistakes, &first);
    sotto_release(mistakes, sizeof *mistakes);
    if (status == SOTTO_DENIED && claim.epsilon_cohort > sotto_decimal_down(c->recipe->epsilon)) {
        explain_claim(c, &claim);
        return SOTTO_OK;
    }
    c->known = (sotto_known_epsilon){claim.honest, claim.epsilon_cohort};
    if (status == SOTTO_OK)
        sotto_shared_pass(device->shared, c->known, c->recipe, device->terms.judge);
    return blame(c, SOTTO_WHY_POLICY, "", status, &first, err);
}

sotto_status sotto_case_read(sotto_device *device, sotto_case *c, sotto_bytes text, sotto_err *err)
{
    if (sotto_linked_rounds && sotto_linked_rounds->is(text))
        return sotto_linked_rounds->read(device, c, text, err);
    const sotto_status status =
        sotto_shared_recipe(&c->recipe, device->shared, text, &device->work, err);
    c->kept = c->recipe;
    return status;
}

static sotto_status check_text(sotto_device *device, sotto_case *c, sotto_err *err)
{
    sotto_bytes text;
    sotto_err first = {0};
    sotto_status status =
        sotto_shelf_text(device->ledger, &text, &c->shelved, &device->work, &first);

    if (status == SOTTO_MISSING) {
        sotto_explain(&c->out, SOTTO_WHY_UNKNOWN, "",
                      "The recipe was replaced or removed just now by another process.");
        return SOTTO_OK;
    }
    if (status != SOTTO_OK)
        return sotto_fail(err, status, "%s", first.reason);
    return sotto_case_read(device, c, text, err);
}

/* A recipe was judged when it was offered; a policy that came since judges it again. */
static sotto_status check_policy(sotto_device *device, sotto_case *c, sotto_err *err)
{
    if (memcmp(c->shelved.judged, device->terms.judge, sizeof device->terms.judge) == 0) {
        c->known = c->shelved.known;
        return SOTTO_OK;
    }
    if (SOTTO_RULE(logged_under_this_policy) && device->terms.policy->log_count > 0) {
        sotto_explain(&c->out, SOTTO_WHY_LOG, "",
                      "It came before this policy, which takes recipes from a public log alone. It "
                      "is answered once it comes from there.");
        return SOTTO_OK;
    }
    return lint(device, c, err);
}

static sotto_status check_sampling(sotto_device *device, sotto_case *c, sotto_err *err)
{
    (void)device;
    (void)err;
    const char *refused = sotto_participation_refused(&c->recipe->participation);

    if (refused) /* also for one that an earlier version accepted */
        sotto_explain(&c->out, SOTTO_WHY_POLICY, "participation", "Refused: %s.", refused);
    return SOTTO_OK;
}

static sotto_status check_targeting(sotto_device *device, sotto_case *c, sotto_err *err)
{
    (void)err;
    for (size_t i = 0; i < c->recipe->targeting_count; i++) {
        const char *field = c->recipe->targeting[i].field;

        if (SOTTO_RULE(targeting_kept) &&
            !sotto_recipe_targets(c->recipe, i, sotto_device_described(device, field))) {
            sotto_explain(&c->out, SOTTO_WHY_NOT_TARGETED, field,
                          "The recipe asks devices whose %s is another than this one's.", field);
            return SOTTO_OK;
        }
    }
    return SOTTO_OK;
}

static sotto_status check_cohort(sotto_device *device, sotto_case *c, sotto_err *err)
{
    const char *values[SOTTO_MAX_COHORT_FIELDS] = {0};
    sotto_err first = {0};

    for (size_t i = 0; i < c->recipe->cohort_count; i++)
        values[i] = sotto_device_described(device, c->recipe->cohorts[i].field);
    sotto_status status = sotto_recipe_cohort_of(c->recipe, &c->task.cohort, values, &first);
    return blame(c, SOTTO_WHY_COHORT_VALUE, "cohorts", status, &first, err);
}

static sotto_status check_analysis(sotto_device *device, sotto_case *c, sotto_err *err)
{
    bool answered = false;

    if (sotto_participation_scope(&c->recipe->participation) == SOTTO_DECISION_ANALYSIS)
        SOTTO_TRY(sotto_record_answered(device->ledger, &answered, c->recipe->analysis, err));
    if (SOTTO_RULE(one_answer_an_analysis) && answered)
        sotto_explain(&c->out, SOTTO_WHY_ANALYSIS_DONE, c->recipe->analysis,
                      "The analysis draws once for all its rounds, and this device answered "
                      "another one.");
    return SOTTO_OK;
}

static sotto_status draw(sotto_device *device, sotto_case *c, sotto_decision_scope scope,
                         const char *name, sotto_err *err)
{
    sotto_entropy entropy;
    sotto_lot lot = {c->recipe, &entropy, c->now};
    sotto_err first = {0};

    sotto_device_entropy(device, &entropy);
    sotto_status status = sotto_ledger_decide(device->ledger, &c->decision, scope, name,
                                              sotto_participation_draw, &lot, c->now, &first);
    sotto_entropy_clear(&entropy);
    c->decided = status == SOTTO_OK;
    if (status == SOTTO_DENIED && !sotto_ledger_closed(device->ledger)) {
        sotto_explain(&c->out, SOTTO_WHY_NO_CONSENT, "", "%s", first.reason);
        return SOTTO_OK;
    }
    return status == SOTTO_OK ? SOTTO_OK : sotto_fail(err, status, "%s", first.reason);
}

static sotto_status check_decision(sotto_device *device, sotto_case *c, sotto_err *err)
{
    sotto_decision_scope scope = sotto_participation_scope(&c->recipe->participation);
    const char *name = scope == SOTTO_DECISION_RECIPE ? c->recipe->name : c->recipe->analysis;

    /* Importance sampling draws after the value, before the transaction that pays. A draw for another version stays what it was. */
    if (c->draw && c->recipe->participation.type != SOTTO_IMPORTANCE)
        SOTTO_TRY(draw(device, c, scope, name, err));
    else
        SOTTO_TRY(
            sotto_ledger_decided(device->ledger, &c->decision, &c->decided, scope, name, err));
    /* A dummy that was drawn for an earlier version or round counts only if this one has dummies. */
    bool out = c->decision.choice == SOTTO_CHOICE_SILENT ||
               (c->decision.choice == SOTTO_CHOICE_DUMMY && !(c->recipe->dummies > 0));
    if (SOTTO_RULE(not_sampled_silent) && c->decided && out)
        sotto_explain_not_sampled(&c->out);
    return SOTTO_OK;
}

/* A draw holds for the law it was made by. A version of the recipe, or a round of the analysis, that has another rate claims what
 * this draw did not give. If a first version made everybody answer, a second one had all devices as its secret sample. */
static sotto_status check_law(sotto_device *device, sotto_case *c, sotto_err *err)
{
    (void)device;
    (void)err;
    if (!c->decided)
        return SOTTO_OK;
    const sotto_participation *p = &c->recipe->participation;
    if (SOTTO_RULE(drawn_at_its_rate) && p->slots == 0 &&
        !sotto_participation_drawn_for(p, &c->decision.window))
        sotto_explain(&c->out, SOTTO_WHY_POLICY, "participation",
                      "The draw for this recipe was made at another rate, for another version.");
    if (SOTTO_RULE(drawn_with_its_dummies) && !c->out.why &&
        c->decision.window.dummies != c->recipe->dummies)
        sotto_explain(
            &c->out, SOTTO_WHY_POLICY, "dummies",
            "The draw was made with another rate of dummies, for another version or round.");
    return SOTTO_OK;
}

/* A draw holds for the slots it was made from. Others, or a recipe that is drawn for by itself, would let a device answer an
 * analysis a second time, or after its slot has passed. */
static sotto_status check_slots(sotto_device *device, sotto_case *c, sotto_err *err)
{
    const sotto_participation *p = &c->recipe->participation;
    sotto_decision decision = c->decision;
    bool drawn = c->decided;

    if (sotto_participation_scope(p) == SOTTO_DECISION_RECIPE)
        SOTTO_TRY(sotto_ledger_decided(device->ledger, &decision, &drawn, SOTTO_DECISION_ANALYSIS,
                                       c->recipe->analysis, err));
    if (SOTTO_RULE(one_window_an_analysis) && drawn &&
        !sotto_participation_drawn_for(p, &decision.window))
        sotto_explain(&c->out, SOTTO_WHY_POLICY, "participation",
                      "The draw for this analysis was made from other slots than the recipe's.");
    return SOTTO_OK;
}

static sotto_status check_turn(sotto_device *device, sotto_case *c, sotto_err *err)
{
    (void)device;
    (void)err;
    if (!c->decided)
        return SOTTO_OK;
    switch (sotto_participation_turn(&c->decision, c->now)) {
    case SOTTO_TURN_TO_COME:
        sotto_explain(&c->out, SOTTO_WHY_SLOT_TO_COME, "", "Its secret time is still to come.");
        break;
    case SOTTO_TURN_MISSED:
        sotto_explain(&c->out, SOTTO_WHY_SLOT_MISSED, "",
                      "Its secret time passed while the device was not ready.");
        break;
    case SOTTO_TURN_NOW:
        break;
    }
    return SOTTO_OK;
}

static sotto_status compile(sotto_device *device, sotto_case *c, sotto_err *err)
{
    const char *const names[SOTTO_REPORT_SHARES] = {c->recipe->leader, c->recipe->helper};

    if (c->round)
        SOTTO_TRY(sotto_linked_rounds->compile(device, c, err));
    else
        SOTTO_TRY(sotto_task_compile(&c->task, c->recipe, device->terms.parties, c->task.cohort,
                                     &device->work, err));
    for (unsigned who = 0; who < SOTTO_REPORT_SHARES; who++) {
        const sotto_party_entry *party = sotto_parties_find(device->terms.parties, names[who]);

        c->plan.parties[who] = party;
        c->plan.keys[who] = party ? sotto_party_key_at(party, c->now) : NULL;
        if (!c->plan.keys[who])
            return sotto_fail(err, SOTTO_MISSING, "\"%.60s\" has no key that is used now",
                              names[who]);
    }
    SOTTO_TRY(sotto_oblivious_serves(device->terms.parties, &c->recipe->anonymity, c->now, err));
    if (c->round)
        return SOTTO_OK;
    SOTTO_TRY(sotto_recipe_mechanism_init(&c->mechanism, c->recipe, err));
    c->mechanism.known = c->known;
    return SOTTO_OK;
}

static sotto_status check_parties(sotto_device *device, sotto_case *c, sotto_err *err)
{
    sotto_err first = {0};
    sotto_status status = compile(device, c, &first);

    c->plan.recipe = c->recipe;
    c->plan.task = &c->task;
    c->plan.content = &c->mechanism.content;
    c->plan.now = c->now;
    c->plan.ephemerals = device->ephemerals;
    return blame(c, SOTTO_WHY_PARTIES, "", status, &first, err);
}

/* A token's one-time key agrees with both servers' keys (dap/admission.h). An encoded HpkeConfig has its KEM behind its id. */
static bool takes_tokens(const sotto_party_key *key)
{
    return key->config.data[1] == SOTTO_HPKE_KEM_X25519 >> 8 &&
           key->config.data[2] == (SOTTO_HPKE_KEM_X25519 & 0xff);
}

static sotto_status check_token(sotto_device *device, sotto_case *c, sotto_err *err)
{
    if (c->recipe->anonymity.tokens == SOTTO_TOKENS_NONE)
        return SOTTO_OK;
    if (SOTTO_RULE(tokens_need_a_group) &&
        (!takes_tokens(c->plan.keys[0]) || !takes_tokens(c->plan.keys[1]))) {
        sotto_explain(&c->out, SOTTO_WHY_TOKEN, "",
                      "The recipe asks for a token: a server's key is not one of X25519.");
        return SOTTO_OK;
    }
    return sotto_device_find_token(device, c, err);
}

static bool is_dummy(const sotto_case *c)
{
    return c->decided && c->decision.choice == SOTTO_CHOICE_DUMMY;
}

/* Everything that belongs to the policy was checked before: the host's verifier can only narrow it. */
static sotto_status ask_host(const sotto_device *device, const sotto_case *c, sotto_err *err)
{
    const sotto_device_host *host = &device->host;
    sotto_query_field fields[SOTTO_QUERY_MAX_ACCESSED];
    sotto_query_shown shown = {.size = sizeof shown,
                               .recipe = c->recipe->name,
                               .analysis = c->recipe->analysis,
                               .query = c->recipe->query,
                               .fields = fields};
    const sotto_access *read = sotto_query_accessed(c->query, &shown.field_count);
    sotto_err said = {0};

    if (!host->verify)
        return SOTTO_OK;
    for (size_t i = 0; i < shown.field_count; i++)
        fields[i] = (sotto_query_field){read[i].stream, read[i].field, read[i].sensitive};
    sotto_status status = host->verify(host->context, &shown, &said);
    if (SOTTO_RULE(hosts_class_holds) && status != SOTTO_OK)
        return sotto_fail(err, status, "%s",
                          said.reason[0] ? said.reason
                                         : "the application does not allow this query");
    return SOTTO_OK;
}

/* From which time on the query sees events. */
static sotto_status set_interval(sotto_device *device, sotto_case *c, sotto_err *err)
{
    int64_t answered;

    c->allowed.by_time = c->recipe->interval != SOTTO_INTERVAL_SINCE_BEGINNING;
    if (c->recipe->interval == SOTTO_INTERVAL_LAST)
        c->allowed.since = c->now - (int64_t)c->recipe->last;
    if (c->recipe->interval != SOTTO_INTERVAL_SINCE_LAST_ANSWER)
        return SOTTO_OK;
    SOTTO_TRY(sotto_record_last_answer(device->ledger, &answered, c->recipe->analysis, err));
    c->allowed.since = answered < 0 ? -INT64_MAX : answered + 1;
    return SOTTO_OK;
}

static sotto_status open_query(sotto_device *device, sotto_case *c, sotto_err *err)
{
    const char *sql = c->recipe->query;
    size_t columns[SOTTO_MAX_ENCODERS];

    SOTTO_TRY(sotto_policy_query_class(&c->allowed, device->terms.policy, c->recipe->analysis,
                                       &device->work, err));
    SOTTO_TRY(set_interval(device, c, err));
    SOTTO_TRY(sotto_query_open(&c->query, device->store, &c->allowed,
                               sotto_bytes_of(sql, strlen(sql)), NULL, err));
    SOTTO_TRY(sotto_answer_columns(columns, c->recipe, c->query, err));
    return ask_host(device, c, err);
}

static sotto_status check_query(sotto_device *device, sotto_case *c, sotto_err *err)
{
    sotto_err first = {0};

    if (is_dummy(c))
        return SOTTO_OK;
    return blame(c, SOTTO_WHY_FIELD, "query", open_query(device, c, &first), &first, err);
}

void sotto_case_refuse(sotto_case *c, const sotto_refusal *refusal)
{
    sotto_explain(&c->out, SOTTO_WHY_BUDGET, refusal->subject, "%s", refusal->text);
    c->out.check = refusal->check;
}

static sotto_status charge(sotto_device *device, sotto_case *c, sotto_refusal *refusal,
                           sotto_err *err)
{
    size_t count;

    if (c->round)
        return sotto_linked_rounds->check(device, c, false, refusal, err);
    const sotto_access *fields = sotto_query_accessed(c->query, &count);
    c->charge = sotto_recipe_charge(
        &c->mechanism, sotto_participation_round(c->recipe, &c->decision), fields, count);
    c->charge.scope = sotto_participation_scope(&c->recipe->participation);
    c->asked = sotto_shelf_asked(c->recipe);
    c->charge.asked = &c->asked;
    return sotto_ledger_check(device->ledger, &c->charge, c->now, refusal, err);
}

static sotto_status check_budget(sotto_device *device, sotto_case *c, sotto_err *err)
{
    sotto_refusal refusal = {0};
    sotto_err first = {0};

    if (is_dummy(c))
        return SOTTO_OK;
    const sotto_status status = charge(device, c, &refusal, &first);
    if (sotto_ledger_closed(device->ledger))
        return sotto_fail(err, status, "%s", first.reason);
    if (status == SOTTO_DENIED && refusal.check) {
        sotto_case_refuse(c, &refusal);
        return SOTTO_OK;
    }
    if (status == SOTTO_STALE) { /* by another process, since its outcome was looked for */
        sotto_explain(&c->out, SOTTO_WHY_TRANSPORT, "", "%s", first.reason);
        return SOTTO_OK;
    }
    return blame(c, SOTTO_WHY_BUDGET, "", status, &first, err);
}

/* A report that no untouched budget allows is never made, so its recipe takes no place among those that may be. */
static sotto_status check_affordable(sotto_device *device, sotto_case *c, sotto_err *err)
{
    sotto_refusal refusal = {0};
    sotto_err first = {0};
    size_t count;
    const sotto_access *fields = sotto_query_accessed(c->query, &count);
    sotto_status status = c->round
                              ? sotto_linked_rounds->check(device, c, true, &refusal, &first)
                              : sotto_recipe_affordable(c->recipe, &device->terms.budgets, c->known,
                                                        fields, count, &refusal, &first);

    if (SOTTO_RULE(affordable_when_offered) && refusal.check) {
        sotto_case_refuse(c, &refusal);
        return SOTTO_OK;
    }
    return refusal.check ? SOTTO_OK : blame(c, SOTTO_WHY_BUDGET, "", status, &first, err);
}

/* ---- all of them ------------------------------------------------------------------------------------------ */

typedef sotto_status step(sotto_device *device, sotto_case *c, sotto_err *err);

static sotto_status walk(sotto_device *device, sotto_case *c, step *const *steps, size_t count,
                         sotto_err *err)
{
    for (size_t i = 0; i < count && !c->out.why; i++)
        SOTTO_TRY(steps[i](device, c, err));
    return SOTTO_OK;
}

sotto_status sotto_device_judge(sotto_device *device, sotto_case *c, sotto_err *err)
{
    static step *const steps[] = {
        check_outcome,  check_window,    check_text,   check_policy,   sotto_case_check_log,
        check_sampling, check_targeting, check_cohort, check_analysis, check_decision,
        check_law,      check_slots,     check_turn,   check_parties,  check_token,
        check_query,    check_budget};

    SOTTO_TRY(walk(device, c, steps, sizeof steps / sizeof steps[0], err));
    if (c->out.why)
        return SOTTO_OK;
    sotto_explain(&c->out, SOTTO_WHY_READY, "",
                  c->decided
                      ? "It is answered at the next moment when the device is idle, charging "
                        "and online."
                      : "Whether it is answered is drawn when the device is next idle, "
                        "charging and online.");
    return SOTTO_OK;
}

sotto_status sotto_device_admit(sotto_device *device, sotto_case *c, sotto_bytes text,
                                sotto_err *err)
{
    static step *const steps[] = {sotto_case_check_log, lint, check_sampling, check_query,
                                  check_affordable};

    SOTTO_TRY(sotto_case_read(device, c, text, err));
    if (c->now >= c->recipe->closes)
        return sotto_fail(err, SOTTO_STALE, "recipe %.63s: it has closed", c->recipe->name);
    if (SOTTO_RULE(opens_soon) && c->recipe->opens - c->now > SOTTO_DEVICE_RECIPES_AHEAD)
        return sotto_fail(err, SOTTO_STALE,
                          "recipe %.63s: it opens in more than 90 days; offer it again later",
                          c->recipe->name);
    return walk(device, c, steps, sizeof steps / sizeof steps[0], err);
}

static sotto_status check_mechanism(sotto_device *device, sotto_case *c, sotto_err *err)
{
    sotto_err first = {0};
    (void)device;
    const sotto_status status = /* a round of learning has none */
        c->round ? SOTTO_OK : sotto_recipe_mechanism_init(&c->mechanism, c->recipe, &first);
    c->mechanism.known = c->known;
    return blame(c, SOTTO_WHY_POLICY, "", status, &first, err);
}

/* No server's key, token or relay is asked for: the server of such a round sees who sends what is masked. */
sotto_status sotto_device_judge_posted(sotto_device *device, sotto_case *c, sotto_recipe *named,
                                       const char *name, sotto_err *err)
{
    static step *const first[] = {check_window, check_text, check_policy, sotto_case_check_log};
    static step *const then[] = {check_sampling, check_targeting, check_analysis, check_decision,
                                 check_law,      check_slots,     check_turn,     check_mechanism,
                                 check_query,    check_budget};
    SOTTO_TRY(sotto_device_outcome(device, c, name, err));
    SOTTO_TRY(walk(device, c, first, sizeof first / sizeof first[0], err));
    if (c->out.why)
        return SOTTO_OK;
    *named = *c->recipe;
    named->name = name;
    c->recipe = named;
    SOTTO_TRY(walk(device, c, then, sizeof then / sizeof then[0], err));
    if (!c->out.why)
        c->out.why = SOTTO_WHY_READY;
    return SOTTO_OK;
}

void sotto_case_close(sotto_device *device, sotto_case *c)
{
    sotto_query_close(c->query);
    c->query = NULL;
    sotto_wipe(&c->token, sizeof c->token);
    sotto_wipe(&c->helper_token, sizeof c->helper_token);
    sotto_arena_reset(&device->work);
}
