/* What a device that has spent nothing would decide: lint, then the query as devices compile it, then the budgets. */
#include "recipe/judge.h"
#include "recipe/claim.h"
#include "recipe/encrypted.h"
#include "recipe/one_server.h"
#include "recipe/participation.h"
#include "recipe/policy_tables.h"
#include "recipe/schema.h"

#include "base/rule.h"
#include "query/check.h"

#include <stdio.h>
#include <string.h>

enum { ARENA = 4 << 20 }; /* tables of a policy of the largest size */

typedef struct judging {
    const sotto_recipe *recipe;
    const sotto_policy *policy;
    const sotto_streams *streams;
    const sotto_recipe_claim *claim;
    sotto_reading at;
    sotto_query_finding finding;
    sotto_arena arena;
} judging;

static const sotto_place query = {NULL, "query", 0};
static const sotto_place schedule = {NULL, "schedule", 0};

static bool is_of_machine(sotto_status status)
{
    return status == SOTTO_IO || status == SOTTO_NO_MEMORY || status == SOTTO_BUG ||
           status == SOTTO_AGAIN;
}

/* ---- the query ---------------------------------------------------------------------------------------- */

static bool is_listed(const sotto_query_policy *class, sotto_bytes sql)
{
    for (size_t i = 0; i < class->query_count; i++) {
        if (sotto_bytes_equal_vartime(class->queries[i], sql))
            return true;
    }
    return class->query_count == 0;
}

/* The verifier's reasons begin with what they are about, which the place of a mistake says. */
static const char *without_subject(const char *reason)
{
    return strncmp(reason, "query: ", 7) == 0 ? reason + 7 : reason;
}

/* No device could answer. */
static void say_missing(judging *j, const char *column, const char *reason)
{
    static const sotto_place encode = {NULL, "encode", 0};
    const sotto_place place = {&encode, column, 0};

    sotto_reading_mistake(&j->at, &place, "the name of one column of the query", "%s",
                          strstr(reason, "more than one")
                              ? "more than one column of the query has this name"
                              : "the query has no column of this name");
}

/* A recipe with an interval reads times that its query does not name. */
static void say_refused(judging *j, const char *reason, bool by_time)
{
    static const sotto_place interval = {NULL, "interval", 0};
    const bool of_interval = by_time && strstr(reason, "." SOTTO_STORE_TIME ": ") &&
                             !strstr(j->recipe->query, SOTTO_STORE_TIME);

    sotto_reading_mistake(&j->at, of_interval ? &interval : &query,
                          strstr(reason, "policy does not allow")
                              ? "fields that the policy lists for this analysis"
                              : "",
                          "%s", reason);
}

/* Fields that have a budget, or need none, are there on the policy's devices. */
static sotto_status name_likely(sotto_query_question *question, judging *j, sotto_err *err)
{
    const sotto_policy *p = j->policy;
    const sotto_policy_analysis *a = sotto_policy_find(p, j->recipe->analysis);
    const sotto_policy_name *more = a ? a->non_sensitive : p->non_sensitive;
    const size_t count = a ? a->non_sensitive_count : p->non_sensitive_count;
    sotto_field_name *likely =
        sotto_arena_take_array(&j->arena, p->field_count + count + 1, sizeof *likely);

    if (!likely)
        return sotto_fail(err, SOTTO_NO_MEMORY, "policy");
    question->likely = likely;
    for (size_t i = 0; i < p->field_count; i++)
        likely[question->likely_count++] =
            (sotto_field_name){p->fields[i].stream, p->fields[i].field};
    for (size_t i = 0; i < count; i++)
        likely[question->likely_count++] = (sotto_field_name){more[i].stream, more[i].field};
    return SOTTO_OK;
}

/* If the policy lacks the analysis, or does not list the query, that was reported already; the other checks still
 * run. */
static sotto_status judge_query(judging *j, sotto_err *err)
{
    const sotto_recipe *recipe = j->recipe;
    const char *columns[SOTTO_MAX_ENCODERS];
    sotto_query_policy class = {0};
    sotto_query_question question = {.sql = sotto_bytes_of(recipe->query, strlen(recipe->query)),
                                     .columns = columns,
                                     .column_count = recipe->encoding.count,
                                     .by_time = recipe->interval != SOTTO_INTERVAL_SINCE_BEGINNING};
    sotto_err first = {0};

    for (size_t i = 0; i < recipe->encoding.count; i++)
        columns[i] = recipe->encoding.encoders[i].column;
    if (j->streams) {
        static const sotto_stream none = {0}; /* an empty list of streams is a list, too */

        question.streams = j->streams->count ? j->streams->items : &none;
        question.stream_count = j->streams->count;
    }
    if (j->policy)
        SOTTO_TRY(name_likely(&question, j, err));
    if (j->policy && sotto_policy_find(j->policy, recipe->analysis)) {
        SOTTO_TRY(sotto_policy_query_class(&class, j->policy, recipe->analysis, &j->arena, err));
        class.by_time = question.by_time;
        question.policy = is_listed(&class, question.sql) ? &class : NULL;
    }
    sotto_status status = sotto_query_check(&j->finding, &question, &first);
    if (is_of_machine(status))
        return sotto_fail(err, status, "%s", first.reason);
    if (SOTTO_RULE(lint_finds_columns) && status == SOTTO_MISSING)
        say_missing(j, columns[j->finding.missing], first.reason);
    if (SOTTO_RULE(lint_compiles_query) && status != SOTTO_OK && status != SOTTO_MISSING)
        say_refused(j, without_subject(first.reason), question.by_time);
    return SOTTO_OK;
}

sotto_status sotto_recipe_judge_query(sotto_query_finding *out, const sotto_recipe *recipe,
                                      const sotto_policy *policy, const sotto_streams *streams,
                                      sotto_mistakes *mistakes, sotto_err *err)
{
    judging j = {.recipe = recipe,
                 .policy = policy,
                 .streams = streams,
                 .at = {.text = recipe->text, .object = "recipe", .mistakes = mistakes}};

    sotto_arena_init(&j.arena, ARENA);
    const sotto_status status = judge_query(&j, err);
    sotto_arena_clear(&j.arena);
    *out = j.finding;
    return status;
}

void sotto_verdict_reads(sotto_recipe_verdict *out, const sotto_query_finding *finding)
{
    for (size_t i = 0; i < finding->accessed_count; i++)
        (void)snprintf(out->reads[out->read_count++], SOTTO_VERDICT_NAME, "%s.%s",
                       finding->accessed[i].stream, finding->accessed[i].field);
}

/* ---- the policy --------------------------------------------------------------------------------------- */

static sotto_status judge_budgets(judging *j, sotto_err *err)
{
    static const sotto_place privacy = {NULL, "privacy", 0};
    const sotto_known_epsilon known = {j->claim->honest, j->claim->epsilon_cohort};
    sotto_budget_table table;
    sotto_refusal refusal;
    sotto_err first = {0};

    SOTTO_TRY(sotto_policy_budgets(&table, j->policy, &j->arena, err));
    SOTTO_TRY(sotto_budget_table_check(&table, err));
    sotto_status status = sotto_recipe_affordable(j->recipe, &table, known, j->finding.accessed,
                                                  j->finding.accessed_count, &refusal, &first);
    if (is_of_machine(status))
        return sotto_fail(err, status, "%s", first.reason);
    if (SOTTO_RULE(lint_affordable) && status != SOTTO_OK)
        sotto_reading_mistake(&j->at, &privacy, "", "%.190s",
                              refusal.check ? refusal.text : first.reason);
    return SOTTO_OK;
}

static sotto_status judge(judging *j, sotto_err *err)
{
    SOTTO_TRY(judge_query(j, err));
    /* A recipe with other mistakes may have no price, or its price was reported already. */
    return j->policy && j->at.mistakes->errors == 0 ? judge_budgets(j, err) : SOTTO_OK;
}

/* ---- the verdict -------------------------------------------------------------------------------------- */

/* Lint prices these, and warns of them; under any policy they are mistakes. */
static bool is_refused_by_all(const sotto_recipe *recipe)
{
    return recipe->adjacency != SOTTO_ADJACENCY_REPLACEMENT || sotto_importance_refused(recipe);
}

static void say(sotto_recipe_verdict *out, const judging *j)
{
    const sotto_mistakes *list = j->at.mistakes;
    const bool never = is_refused_by_all(j->recipe);

    out->accepts = list->errors == 0 && !never;
    out->streams_known = j->streams != NULL;
    out->policy_known = j->policy != NULL;
    out->query_open = j->finding.open;
    for (size_t i = 0; i < list->count && !out->why[0]; i++) {
        const sotto_mistake *m = &list->items[i];

        if (m->severity == SOTTO_MISTAKE ||
            (never && list->errors == 0 && strncmp(m->what, "refused by devices", 18) == 0))
            (void)snprintf(out->why, sizeof out->why, "%.60s: %.130s", m->path, m->what);
    }
    sotto_verdict_reads(out, &j->finding);
}

sotto_status sotto_recipe_judge(sotto_recipe_verdict *verdict, sotto_recipe_claim *claim,
                                const sotto_recipe *recipe, const sotto_policy *policy,
                                const sotto_streams *streams, sotto_mistakes *mistakes,
                                sotto_err *err)
{
    sotto_err_clear(err);

    judging j = {.recipe = recipe,
                 .policy = policy,
                 .streams = streams,
                 .claim = claim,
                 .at = {.text = recipe->text, .object = "recipe", .mistakes = mistakes}};
    sotto_err terms = {0};
    sotto_status status = sotto_recipe_lint_terms(claim, recipe, policy, mistakes, &terms);

    *verdict = (sotto_recipe_verdict){0};
    if (status != SOTTO_OK && (status != SOTTO_DENIED || mistakes->errors == 0))
        return sotto_fail(err, status, "%s", terms.reason);
    sotto_recipe_check_one_server(&j.at, recipe);
    sotto_recipe_warn_one_server(&j.at, recipe, 1, true);
    sotto_recipe_check_encrypted(&j.at, recipe);
    sotto_recipe_warn_long(&j.at, &schedule, recipe, (uint64_t)(recipe->closes - recipe->opens));
    SOTTO_TRY(sotto_recipe_say_sigma(mistakes, claim, recipe, err));
    /* Devices of all tasks are as many as the recipe says; of one, taken to be spread evenly. */
    SOTTO_TRY(sotto_recipe_claim_sampling(claim, recipe,
                                          recipe->population / sotto_recipe_cohorts(recipe), err));
    sotto_arena_init(&j.arena, ARENA);
    status = judge(&j, err);
    sotto_arena_clear(&j.arena);
    say(verdict, &j);
    return status == SOTTO_OK ? sotto_mistakes_status(mistakes, err) : status;
}

sotto_status sotto_recipe_lint(sotto_recipe_claim *claim, const sotto_recipe *recipe,
                               const sotto_policy *policy, sotto_mistakes *mistakes, sotto_err *err)
{
    sotto_err_clear(err);

    sotto_recipe_verdict verdict;

    return sotto_recipe_judge(&verdict, claim, recipe, policy, NULL, mistakes, err);
}
