/* Lint with a policy and streams, against what a device with them decides when it is offered the recipe: they never
 * disagree. SOTTO_CHAOS_RECIPES says how many random recipes are tried; with 10,000 or more every cause must be met. */
#include "support/devices.h"
#include "support/recipe_maker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECIPES = 400, MANY = 10000, EACH = 20 };

/* ---- causes --------------------------------------------------------------------------------------------------------- */

/* A cause by a part of what lint says and of what a device says. */
typedef struct cause {
    const char *name, *lint, *device;
    unsigned by_lint, by_device;
} cause;

static cause causes[] = {
    {"not a recipe", "unknown key", "unknown key", 0, 0},
    {"syntax", "syntax error", "syntax error", 0, 0},
    {"unknown table", "no such table", "no such table", 0, 0},
    {"unknown column", "no such column", "no such column", 0, 0},
    {"ambiguous column", "ambiguous column", "ambiguous column", 0, 0},
    {"two statements", "more than one statement", "more than one statement", 0, 0},
    {"no statement", "no statement", "no statement", 0, 0},
    {"index named", "INDEXED BY and NOT", "INDEXED BY and NOT", 0, 0},
    {"parameter", "parameters have no value", "parameters have no value", 0, 0},
    {"join by name", "NATURAL and USING", "NATURAL and USING", 0, 0},
    {"not ASCII", "not plain ASCII", "not plain ASCII", 0, 0},
    {"identifies an event", "identifies an event", "identifies an event", 0, 0},
    {"not a stream", "not a field of a declared", "not a field of a declared", 0, 0},
    {"function forbidden", "not an allowed function", "not an allowed function", 0, 0},
    {"function unknown", "no such function", "no such function", 0, 0},
    {"recursion", "WITH RECURSIVE", "WITH RECURSIVE", 0, 0},
    {"pragma", "PRAGMA", "PRAGMA", 0, 0},
    {"attach", "ATTACH", "ATTACH", 0, 0},
    {"transaction", "a transaction", "a transaction", 0, 0},
    {"change", "a change", "a change", 0, 0},
    {"other action", "an action", "an action", 0, 0},
    {"explain", "EXPLAIN shows", "EXPLAIN shows", 0, 0},
    {"column twice", "more than one column of the", "more than one column of its", 0, 0},
    {"column lacking", "no column of this name", "no column of its answer", 0, 0},
    {"uneven UNION", "do not have the same number", "do not have the same number", 0, 0},
    {"many arguments", "too many arguments", "too many arguments", 0, 0},
    {"many SELECTs", "SELECTs and", "SELECTs and", 0, 0},
    {"many columns", "columns, 32 allowed", "columns, 32 allowed", 0, 0},
    {"many fields", "one field too many", "one field too many", 0, 0},
    {"deep expression", "Expression tree is too large", "Expression tree is too large", 0, 0},
    {"many brackets", "parser stack overflow", "parser stack overflow", 0, 0},
    {"field forbidden", "does not allow this field", "does not allow this field", 0, 0},
    {"query not listed", "queries of this analysis", "queries of this analysis", 0, 0},
    {"unknown analysis", "no such analysis", "no such analysis", 0, 0},
    {"analysis epsilon or delta", "gives the whole analysis", "gives the whole analysis", 0, 0},
    {"analysis account", "analysis errors: ", "analysis errors: ", 0, 0},
    {"field reports", "of 0 reports are used", "of 0 reports are used", 0, 0},
    {"field local cap", "one report may cost", "one report may cost", 0, 0},
    {"source of noise", "does not allow noise by", "does not allow noise by", 0, 0},
    {"committee", "nobody adds such noise", "nobody adds such noise", 0, 0},
    {"sum by crowd", "protects a sum by itself", "protects a sum by itself", 0, 0},
    {"field without budget", "has no budget for it", "has no budget for it", 0, 0},
    {"field account", "field errors.", "field errors.", 0, 0},
    {"policy's cohort", "below what the policy insists", "below what the policy insists", 0, 0},
    {"claim", "claims less than", "claims an epsilon of", 0, 0},
    {"out of reach", "nothing would ever be", "nothing would ever be", 0, 0},
    {"no theorem", "no theorem covers", "no theorem covers", 0, 0},
    {"round across slots", "may not outlast a slot", "may not outlast a slot", 0, 0},
    {"slots elsewhere", "no slot is within", "no slot is within", 0, 0},
    {"adjacency", "in the replacement model", "in the replacement model", 0, 0},
    {"sensitive cohort", "as non-sensitive", "as non-sensitive", 0, 0},
    {"targeting", "so allows no targeting", "so allows no targeting", 0, 0},
    {"silence", "does not allow silence", "does not allow silence", 0, 0},
    {"importance", "would depend on its value, and be", "would depend on its value, and be", 0, 0},
    {"trust", "does not allow this way", "does not allow this way", 0, 0},
    {"long report", "longer than the policy", "longer than the policy", 0, 0},
};
enum { CAUSES = sizeof causes / sizeof causes[0] };

static cause *find_cause(const char *reason, bool device)
{
    for (size_t i = 0; i < CAUSES; i++) {
        if (strstr(reason, device ? causes[i].device : causes[i].lint))
            return &causes[i];
    }
    return NULL;
}

/* ---- both sides ----------------------------------------------------------------------------------------------------- */

static sotto_bytes text_of(const char *text)
{
    return sotto_bytes_of(text, strlen(text));
}

static sotto_test_phone phone;

static void check_known(sotto_test *t, const cause *found, const char *who, const char *reason)
{
    if (!found)
        (void)fprintf(stderr, "%s: a cause that is not in the table: %s\n", who, reason);
    CHECK(t, found != NULL);
}

static sotto_status lint(sotto_test *t, const sotto_test_triple *triple,
                         const sotto_streams *streams, sotto_arena *arena)
{
    static sotto_mistakes mistakes;
    static sotto_recipe_verdict verdict;
    const sotto_recipe *recipe;
    const sotto_policy *policy;
    sotto_recipe_claim claim;
    sotto_err err = {0};

    mistakes = (sotto_mistakes){0};
    CHECK_OK(t, sotto_policy_read(&policy, text_of(triple->policy), arena, &mistakes, &t->err));
    sotto_status status =
        sotto_recipe_read(&recipe, text_of(triple->recipe), arena, &mistakes, &err);
    if (status == SOTTO_OK) {
        status = sotto_recipe_judge(&verdict, &claim, recipe, policy, streams, &mistakes, &err);
        CHECK_EQUAL(t, status == SOTTO_OK, verdict.accepts);
        CHECK_EQUAL(t, status == SOTTO_OK, verdict.why[0] == 0);
    }
    for (size_t i = 0; i < mistakes.count; i++) {
        if (mistakes.items[i].severity == SOTTO_MISTAKE) {
            cause *found = find_cause(mistakes.items[i].what, false);

            check_known(t, found, "lint", mistakes.items[i].what);
            found->by_lint++;
        }
    }
    return status;
}

static sotto_status offer(sotto_test *t, const sotto_test_triple *triple,
                          const sotto_streams *streams, sotto_err *err)
{
    sotto_test_phone_init(t, &phone, triple->policy);
    phone.options.streams = streams->items;
    phone.options.stream_count = streams->count;
    sotto_test_phone_open(&phone);
    sotto_status status = sotto_device_offer(phone.device, text_of(triple->recipe), err);
    sotto_test_phone_close(&phone);
    return status;
}

static bool agree(sotto_test *t, const sotto_test_triple *triple)
{
    static sotto_mistakes mistakes;
    sotto_arena arena;
    const sotto_streams *streams;
    sotto_err err = {0};

    sotto_arena_init(&arena, SOTTO_RECIPE_ARENA);
    mistakes = (sotto_mistakes){0};
    CHECK_OK(t, sotto_streams_read(&streams, text_of(triple->streams), &arena, &mistakes, &t->err));
    sotto_status by_lint = lint(t, triple, streams, &arena);
    sotto_status by_device = offer(t, triple, streams, &err);
    if ((by_lint == SOTTO_OK) != (by_device == SOTTO_OK)) {
        (void)fprintf(stderr, "lint: %s, device: %s (%s), spoiled: %s, %s\n%s\n%s\n%s\n",
                      sotto_status_name(by_lint), sotto_status_name(by_device), err.reason,
                      triple->spoiled[0] ? triple->spoiled[0] : "no",
                      triple->spoiled[1] ? triple->spoiled[1] : "no", triple->recipe,
                      triple->policy, triple->streams);
        CHECK(t, !"lint and a device disagree");
    }
    if (by_device != SOTTO_OK) {
        cause *found = find_cause(err.reason, true);

        check_known(t, found, "device", err.reason);
        found->by_device++;
    }
    sotto_arena_clear(&arena);
    return by_device == SOTTO_OK;
}

/* What lint refuses without streams, no device accepts. Gives whether it refuses. */
static bool refuses_without_streams(sotto_test *t, const sotto_test_triple *triple)
{
    static sotto_mistakes mistakes;
    const sotto_recipe *recipe;
    const sotto_policy *policy;
    sotto_recipe_claim claim;
    sotto_arena arena;
    sotto_err err = {0};

    mistakes = (sotto_mistakes){0};
    sotto_arena_init(&arena, SOTTO_RECIPE_ARENA);
    CHECK_OK(t, sotto_policy_read(&policy, text_of(triple->policy), &arena, &mistakes, &t->err));
    sotto_status status =
        sotto_recipe_read(&recipe, text_of(triple->recipe), &arena, &mistakes, &err);
    if (status == SOTTO_OK)
        status = sotto_recipe_lint(&claim, recipe, policy, &mistakes, &err);
    sotto_arena_clear(&arena);
    return status != SOTTO_OK;
}

/* ---- the test ------------------------------------------------------------------------------------------------------- */

static void lint_and_a_device_never_disagree(sotto_test *t)
{
    static sotto_test_triple triple;
    const char *asked = getenv("SOTTO_CHAOS_RECIPES");
    const unsigned long count = asked ? strtoul(asked, NULL, 10) : RECIPES;
    sotto_sim_random random;
    unsigned long accepted = 0, blind = 0;

    sotto_sim_random_init(&random, 68);
    for (unsigned long i = 0; i < count; i++) {
        sotto_test_make_triple(&triple, &random);
        const bool both = agree(t, &triple), refused = refuses_without_streams(t, &triple);

        accepted += both;
        blind += refused;
        CHECK(t, !both || !refused);
    }
    printf(
        "%lu recipes, %lu accepted by both (%.1f %%), %lu refused without streams\n%-28s %8s %8s\n",
        count, accepted, 100.0 * (double)accepted / (double)count, blind, "cause of refusal",
        "lint", "device");
    for (size_t i = 0; i < CAUSES; i++)
        printf("%-28s %8u %8u\n", causes[i].name, causes[i].by_lint, causes[i].by_device);
    CHECK(t, accepted * 10 >= count * 3);
    for (size_t i = 0; i < CAUSES && count >= MANY; i++) {
        CHECK(t, causes[i].by_lint >= EACH);
        CHECK(t, causes[i].by_device >= EACH);
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {CASE(lint_and_a_device_never_disagree)};

    return RUN_TESTS(argc, argv, cases);
}
