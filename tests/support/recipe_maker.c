#include "support/recipe_maker_parts.h"

#include <stdio.h>
#include <string.h>

/* ---- an acceptable triple, in parts ----------------------------------------------------------------------------- */

static uint64_t below(const sotto_test_parts *p, uint64_t bound)
{
    return sotto_sim_random_below(p->random, bound);
}

static double between(const sotto_test_parts *p, double low, double high)
{
    return low + (high - low) * sotto_sim_random_unit(p->random);
}

static void set(char *out, size_t size, const char *text)
{
    (void)snprintf(out, size, "%s", text);
}

static const char *any(const sotto_test_parts *p, const char *const *list, size_t count)
{
    return list[below(p, count)];
}
#define ANY(p, list) any(p, list, sizeof(list) / sizeof((list)[0]))

static void make_query(sotto_test_parts *p)
{
    static const char *const queries[] = {
        "SELECT code FROM errors",
        "SELECT Code FROM Errors",
        "SELECT errors.code FROM errors",
        "SELECT e.code FROM errors AS e WHERE e.seconds > 3",
        "SELECT code FROM main.errors WHERE kind LIKE 'net%' ORDER BY seconds",
        "SELECT max(code) AS code FROM errors GROUP BY kind",
        "SELECT DISTINCT code FROM errors LIMIT 5",
        "SELECT coalesce(code, 0) AS code FROM errors -- why not",
        "SELECT length(kind) AS code FROM errors;",
        "SELECT e.code FROM errors e JOIN taps t ON t.strength = e.code",
        "SELECT code FROM errors UNION SELECT strength FROM taps",
        "SELECT code FROM (SELECT code, seconds FROM errors) WHERE seconds < 9",
        "WITH x AS (SELECT code FROM errors) SELECT code FROM x",
        "SELECT (SELECT max(strength) FROM taps) AS code FROM errors WHERE kind IS NOT NULL",
        "VALUES (1), (2)",
        "SELECT 7 AS code",
        "SELECT event_time / 3600 AS code FROM taps",
        "SELECT count(*) AS code FROM errors",
        "SELECT substr(place, 1, 3) AS code FROM taps",
        "SELECT round(seconds) AS code FROM errors /* in seconds */ ;",
    };

    set(p->query, sizeof p->query, ANY(p, queries));
    set(p->column, sizeof p->column, strncmp(p->query, "VALUES", 6) == 0 ? "column1" : "code");
}

/* Who adds the noise, each as often as another, and a statistic that goes with it. Half of the policies that need not allow reports
 * without local protection do all the same. */
static void make_statistic(sotto_test_parts *p)
{
    static const char *const sources[] = {"crowd", "crowd", "servers", "shares"};
    static const char *const of_crowd[] = {"histogram", "histogram", "quantiles", "count"};
    static const char *const of_others[] = {"histogram", "quantiles", "count", "sum", "mean"};

    set(p->by, sizeof p->by, ANY(p, sources));
    const bool crowd = strcmp(p->by, "crowd") == 0;
    set(p->statistic, sizeof p->statistic, crowd ? ANY(p, of_crowd) : ANY(p, of_others));
    p->local_none = !crowd || below(p, 2) == 0;
    set(p->sources, sizeof p->sources,
        p->local_none ? "\"crowd\", \"shares\", \"servers\"" : "\"crowd\"");
    /* At most sqrt(40^2 + 20^2) apart: epsilon 0.3 takes some 16 deviations of that. */
    p->sigma = 1000 + (double)below(p, 1000);
}

#define START "\"start\": \"2026-11-20T00:00:00Z\""

/* Each law as often as another. The first slot of donations has some 90,000 reports at least. */
static void make_participation(sotto_test_parts *p)
{
    static const char *const variants[] = {"averaged", "fixed"}, *const lengths[] = {"1h", "6h"};
    char *out = p->participation;
    const size_t size = sizeof p->participation;

    p->rate = between(p, 0.2, 1);
    switch (below(p, 3)) {
    case 0:
        (void)snprintf(out, size, "{\"type\": \"poisson\", \"rate\": %.4f}", p->rate);
        return;
    case 1:
        (void)snprintf(out, size,
                       "{\"type\": \"check-in\", \"variant\": \"%s\", \"window\": %u, " START
                       ", \"slot\": \"%s\"}",
                       ANY(p, variants), 2 + (unsigned)below(p, 300), ANY(p, lengths));
        return;
    default:
        (void)snprintf(out, size,
                       "{\"type\": \"donation\", \"slots\": %u, \"rate\": %.4f, " START
                       ", \"slot\": \"%s\"}",
                       2 + (unsigned)below(p, 9), between(p, 0.9, 1), ANY(p, lengths));
    }
}

static void make(sotto_test_parts *p)
{
    static const char *const numbers[] = {"integer", "real"}, *const texts[] = {"text", "text"};
    static const char *const no_match[] = {"no-value", "no-value", "random-bin"};
    static const char *const intervals[] = {
        "\"interval\": {\"type\": \"since-beginning\"},",
        "\"interval\": {\"type\": \"last\", \"duration\": \"3d\"},",
        "\"interval\": {\"type\": \"since-last-answer\"},"};
    static const char *const compositions[] = {"basic", "filter", "zcdp"};

    make_query(p);
    make_statistic(p);
    set(p->analysis, sizeof p->analysis, "errors");
    make_participation(p);
    set(p->adjacency, sizeof p->adjacency, "replacement");
    set(p->aggregation, sizeof p->aggregation,
        "{\"trust\": \"split\", \"leader\": \"key:leader-2026a\", \"helper\": "
        "\"key:helper-2026a\"}");
    set(p->cohorts, sizeof p->cohorts,
        below(p, 3) == 0 ? "\"cohorts\": {\"locale\": [\"en_US\"]}," : "");
    set(p->targeting, sizeof p->targeting,
        below(p, 5) == 0 ? "\"targeting\": {\"platform\": [\"phone\"]}," : "");
    set(p->no_match, sizeof p->no_match,
        strcmp(p->statistic, "histogram") == 0 ? ANY(p, no_match) : "no-value");
    p->bins = 2 + (unsigned)below(p, 40);
    p->epsilon_local = between(p, 0.5, 2);
    p->epsilon = between(p, 0.3, 0.5);
    p->delta = 1e-6;
    p->min_cohort = 40000 + below(p, 40000);
    p->population = 1000000;
    set(p->composition, sizeof p->composition, ANY(p, compositions));
    set(p->interval, sizeof p->interval, below(p, 8) == 0 ? ANY(p, intervals) : "");
    set(p->non_sensitive, sizeof p->non_sensitive, "\"locale\", \"platform\"");
    p->whole_epsilon = p->field_epsilon = 2;
    p->whole_delta = p->field_delta = 1e-5;
    p->cap = 4;
    p->honest = 0.5;
    p->reports = p->field_reports = 1 + below(p, 4);
    p->least_cohort = 20000 + below(p, 20000);
    set(p->allowed, sizeof p->allowed,
        "\"errors.code\", \"errors.kind\", \"errors.seconds\", \"errors.*\", \"taps.strength\", "
        "\"taps.place\", \"taps.event_time\"");
    if (below(p, 3) == 0)
        (void)snprintf(p->queries, sizeof p->queries, "\"SELECT 1\", \"%s\"", p->query);
    p->types[0] = ANY(p, numbers);
    p->types[1] = ANY(p, texts);
    p->types[2] = ANY(p, numbers);
    p->types[3] = ANY(p, numbers);
}

/* ---- what spoils it --------------------------------------------------------------------------------------------- */

typedef void spoil(sotto_test_parts *p);

/* A query that devices refuse whatever the policy says is listed by it, so that nothing else is against it. */
static void ask(sotto_test_parts *p, const char *query)
{
    set(p->query, sizeof p->query, query);
    (void)snprintf(p->queries, sizeof p->queries, "\"%s\"", query);
    set(p->column, sizeof p->column, "code");
}

#define ASKING(name, query)                                                                        \
    static void name(sotto_test_parts *p)                                                          \
    {                                                                                              \
        ask(p, query);                                                                             \
    }
ASKING(misspelt, "SELEC code FROM errors")
ASKING(no_table, "SELECT code FROM passwords")
ASKING(no_column, "SELECT secret AS code FROM errors")
ASKING(ambiguous, "SELECT event_time AS code FROM errors, taps")
ASKING(two_statements, "SELECT code FROM errors; DROP TABLE errors")
ASKING(two_ambiguous, "SELECT a.code FROM errors a, errors b; SELECT 1")
ASKING(indexed, "SELECT code FROM errors INDEXED BY sotto_time_of_errors")
ASKING(not_indexed, "SELECT code FROM errors NOT INDEXED")
ASKING(parameter, "SELECT code FROM errors WHERE code = ?")
ASKING(natural, "SELECT code FROM errors NATURAL JOIN taps")
ASKING(using, "SELECT code FROM errors JOIN taps USING (event_time)")
ASKING(stray, "SELECT code FROM errors \\u00e9")
ASKING(row_number, "SELECT rowid AS code FROM errors")
ASKING(event_id, "SELECT event_id AS code FROM errors")
ASKING(everything, "SELECT * FROM errors")
ASKING(schema, "SELECT type AS code FROM sqlite_master")
ASKING(function, "SELECT random() AS code FROM errors")
ASKING(no_function, "SELECT whatever(code) AS code FROM errors")
ASKING(recursive,
       "WITH RECURSIVE x(code) AS (SELECT code FROM errors UNION SELECT code FROM x) SELECT code "
       "FROM x")
ASKING(pragma, "PRAGMA user_version")
ASKING(attach, "ATTACH 'x' AS y")
ASKING(transaction, "BEGIN")
ASKING(change, "DELETE FROM errors")
ASKING(insertion, "INSERT INTO errors(code) VALUES (1)")
ASKING(table_made, "CREATE TABLE code(x)")
ASKING(sorted_anew, "REINDEX taps")
ASKING(explained, "EXPLAIN SELECT code FROM errors")
ASKING(nothing, "-- SELECT code FROM errors")
ASKING(column_twice, "SELECT code, seconds AS code FROM errors")
ASKING(uneven, "SELECT code FROM errors UNION SELECT place, strength FROM taps")
ASKING(arguments, "SELECT coalesce(1, 2, 3, 4, 5, 6, 7, 8, code) AS code FROM errors")
ASKING(nested,
       "SELECT code FROM (SELECT code FROM (SELECT code FROM (SELECT code FROM (SELECT code FROM "
       "errors))))")

/* One text of the recipe or the policy is another. */
#define SETTING(name, member, text)                                                                \
    static void name(sotto_test_parts *p)                                                          \
    {                                                                                              \
        set(p->member, sizeof p->member, text);                                                    \
    }
SETTING(column_lacking, column, "nowhere")

/* Only SQLite can tell what it is called. */
static void column_unnamed(sotto_test_parts *p)
{
    ask(p, "SELECT code + 1 FROM errors");
}

static void many_columns(sotto_test_parts *p)
{
    char query[1024] = "SELECT code";

    for (unsigned i = 0; i < 40; i++)
        (void)strcat(query, ", 1");
    (void)strcat(query, " FROM errors");
    ask(p, query);
}

static void many_fields(sotto_test_parts *p)
{
    char query[2048] = "SELECT code FROM errors, taps WHERE kind > seconds AND place > strength";

    p->wide = 62;
    for (unsigned i = 0; i < p->wide; i++)
        (void)snprintf(query + strlen(query), sizeof query - strlen(query), "%sw%u",
                       i % 16 ? "+" : " AND ", i);
    ask(p, query);
}

static void deep(sotto_test_parts *p)
{
    char query[1024] = "SELECT code";

    for (unsigned i = 0; i < 80; i++)
        (void)strcat(query, "+1");
    (void)strcat(query, " AS code FROM errors");
    ask(p, query);
}

static void bracketed(sotto_test_parts *p)
{
    char query[1024] = "SELECT ";

    for (unsigned i = 0; i < 120; i++)
        (void)strcat(query, "(");
    (void)strcat(query, "code");
    for (unsigned i = 0; i < 120; i++)
        (void)strcat(query, ")");
    (void)strcat(query, " AS code FROM errors");
    ask(p, query);
}

static void field_forbidden(sotto_test_parts *p)
{
    ask(p, "SELECT code FROM errors WHERE ok");
    p->queries[0] = 0;
}

static void rows_forbidden(sotto_test_parts *p)
{
    ask(p, "SELECT count(*) AS code FROM taps");
    p->queries[0] = 0;
}

SETTING(other_query, queries, "\"SELECT kind AS code FROM errors\"")

static void stream_gone(sotto_test_parts *p)
{
    ask(p, "SELECT code FROM errors");
    p->queries[0] = 0;
    p->types[0] = NULL;
}

SETTING(other_analysis, analysis, "other")

static void much_epsilon(sotto_test_parts *p)
{
    p->whole_epsilon = p->epsilon / 2;
}

static void much_delta(sotto_test_parts *p)
{
    p->whole_delta = p->delta / 2;
}

/* Half of it is the filter's. */
static void filtered_delta(sotto_test_parts *p)
{
    set(p->composition, sizeof p->composition, "filter");
    p->whole_delta = p->delta * 1.5;
}

static void no_reports(sotto_test_parts *p)
{
    p->reports = 0;
}

/* The fields of the query have budgets that are too small. */
static void ask_code(sotto_test_parts *p)
{
    ask(p, "SELECT code FROM errors");
    p->queries[0] = 0;
}

static void no_field_reports(sotto_test_parts *p)
{
    ask_code(p);
    p->field_reports = 0;
}

/* A histogram whose reports have a local epsilon, under a policy that insists on one. */
static void by_crowd(sotto_test_parts *p)
{
    set(p->by, sizeof p->by, "crowd");
    set(p->statistic, sizeof p->statistic, "histogram");
    set(p->sources, sizeof p->sources, "\"crowd\"");
    p->local_none = false;
}

static void low_cap(sotto_test_parts *p)
{
    by_crowd(p);
    ask_code(p);
    p->cap = p->epsilon_local * 0.9;
}

/* The source is not on the policy's list; then it is, and a local epsilon is insisted on. Numbers that no policy
 * reads are a mistake of the policy itself, so these fields are read. */
static void source_forbidden(sotto_test_parts *p)
{
    ask_code(p);
    set(p->by, sizeof p->by, "servers");
    set(p->statistic, sizeof p->statistic, "histogram");
    set(p->no_match, sizeof p->no_match, "no-value");
    p->local_none = true;
    set(p->sources, sizeof p->sources, "\"crowd\", \"shares\"");
}

static void little_noise(sotto_test_parts *p)
{
    set(p->by, sizeof p->by, below(p, 2) ? "servers" : "shares");
    set(p->statistic, sizeof p->statistic, "mean");
    set(p->no_match, sizeof p->no_match, "no-value");
    p->local_none = true;
    set(p->sources, sizeof p->sources, "\"shares\", \"servers\"");
    p->sigma = 20;
}

static void committee(sotto_test_parts *p)
{
    set(p->by, sizeof p->by, "committee");
}

static void sum_by_crowd(sotto_test_parts *p)
{
    set(p->by, sizeof p->by, "crowd");
    set(p->statistic, sizeof p->statistic, "sum");
    set(p->no_match, sizeof p->no_match, "no-value");
}

static void field_little_epsilon(sotto_test_parts *p)
{
    ask_code(p);
    p->field_epsilon = p->epsilon * 0.9;
}

static void field_little_delta(sotto_test_parts *p)
{
    ask_code(p);
    p->field_delta = p->delta * 0.9;
}

static void field_unpriced(sotto_test_parts *p)
{
    ask(p, "SELECT code FROM errors");
    p->unpriced = "errors.code";
}

static void small_cohort(sotto_test_parts *p)
{
    p->least_cohort = p->min_cohort + 1;
}

static void false_claim(sotto_test_parts *p)
{
    by_crowd(p);
    p->epsilon_local = 5;
    p->epsilon = 0.02;
    p->cap = 10;
}

static void few_honest(sotto_test_parts *p)
{
    by_crowd(p);
    p->honest = 0.01;
    p->epsilon_local = 2;
    p->epsilon = 0.1;
}

static void out_of_reach(sotto_test_parts *p)
{
    p->population = p->min_cohort;
    p->rate = 0.5;
    (void)snprintf(p->participation, sizeof p->participation,
                   "{\"type\": \"poisson\", \"rate\": 0.5}");
}

SETTING(sliding, participation,
        "{\"type\": \"check-in\", \"variant\": \"sliding\", \"window\": 24, " START
        ", \"slot\": \"1h\"}")
SETTING(rare_check_in, participation,
        "{\"type\": \"check-in\", \"variant\": \"fixed\", \"window\": 24, \"probability\": "
        "0.9, " START ", \"slot\": \"1h\"}")
SETTING(wide_check_in, participation,
        "{\"type\": \"check-in\", \"variant\": \"averaged\", \"window\": "
        "100000, " START ", \"slot\": \"1h\"}")
SETTING(thin_donation, participation,
        "{\"type\": \"donation\", \"slots\": 100, " START ", \"slot\": \"1h\"}")
SETTING(round_across_slots, participation,
        "{\"type\": \"donation\", \"slots\": 5, " START ", \"slot\": \"30m\"}")
SETTING(slots_elsewhere, participation,
        "{\"type\": \"donation\", \"slots\": 5, \"start\": "
        "\"2026-12-20T00:00:00Z\", \"slot\": \"1h\"}")

SETTING(deletion, adjacency, "deletion")

SETTING(sensitive_cohort, cohorts, "\"cohorts\": {\"income\": [\"low\"]},")

SETTING(sensitive_target, targeting, "\"targeting\": {\"wealth\": [\"low\"]},")

static void target_forbidden(sotto_test_parts *p)
{
    set(p->targeting, sizeof p->targeting, "\"targeting\": {\"platform\": [\"phone\"]},");
    p->no_floor = true;
}

/* Of a count that is a mistake of the recipe itself. */
static void silence(sotto_test_parts *p)
{
    if (strcmp(p->statistic, "count") == 0)
        set(p->statistic, sizeof p->statistic, strcmp(p->by, "crowd") == 0 ? "histogram" : "mean");
    set(p->no_match, sizeof p->no_match, "silence");
}

SETTING(importance, participation,
        "{\"type\": \"importance\", \"rate_default\": 0.5, \"rate_other\": 0.9}")

SETTING(trust_forbidden, rules, ", \"trusts\": [\"aero\"]")

static void long_report(sotto_test_parts *p)
{
    by_crowd(p);
    p->bins = 100;
    p->report_bytes = 1000;
}

SETTING(not_a_recipe, extra, "\"quary\": 1,")

static const struct {
    const char *how;
    spoil *run;
} spoilers[] = {
#define SPOILS(name)                                                                               \
    {                                                                                              \
#name, name                                                                                \
    }
    SPOILS(misspelt),
    SPOILS(no_table),
    SPOILS(no_column),
    SPOILS(ambiguous),
    SPOILS(two_statements),
    SPOILS(two_ambiguous),
    SPOILS(indexed),
    SPOILS(not_indexed),
    SPOILS(parameter),
    SPOILS(natural),
    SPOILS(using),
    SPOILS(stray),
    SPOILS(row_number),
    SPOILS(event_id),
    SPOILS(everything),
    SPOILS(schema),
    SPOILS(function),
    SPOILS(no_function),
    SPOILS(recursive),
    SPOILS(pragma),
    SPOILS(attach),
    SPOILS(transaction),
    SPOILS(change),
    SPOILS(insertion),
    SPOILS(table_made),
    SPOILS(sorted_anew),
    SPOILS(explained),
    SPOILS(nothing),
    SPOILS(column_twice),
    SPOILS(uneven),
    SPOILS(arguments),
    SPOILS(nested),
    SPOILS(column_lacking),
    SPOILS(column_unnamed),
    SPOILS(many_columns),
    SPOILS(many_fields),
    SPOILS(deep),
    SPOILS(bracketed),
    SPOILS(field_forbidden),
    SPOILS(rows_forbidden),
    SPOILS(other_query),
    SPOILS(stream_gone),
    SPOILS(other_analysis),
    SPOILS(much_epsilon),
    SPOILS(much_delta),
    SPOILS(filtered_delta),
    SPOILS(no_reports),
    SPOILS(no_field_reports),
    SPOILS(low_cap),
    SPOILS(source_forbidden),
    SPOILS(little_noise),
    SPOILS(committee),
    SPOILS(sum_by_crowd),
    SPOILS(field_little_epsilon),
    SPOILS(field_little_delta),
    SPOILS(field_unpriced),
    SPOILS(small_cohort),
    SPOILS(false_claim),
    SPOILS(few_honest),
    SPOILS(out_of_reach),
    SPOILS(sliding),
    SPOILS(rare_check_in),
    SPOILS(wide_check_in),
    SPOILS(thin_donation),
    SPOILS(round_across_slots),
    SPOILS(slots_elsewhere),
    SPOILS(deletion),
    SPOILS(sensitive_cohort),
    SPOILS(sensitive_target),
    SPOILS(target_forbidden),
    SPOILS(silence),
    SPOILS(importance),
    SPOILS(trust_forbidden),
    SPOILS(long_report),
    SPOILS(not_a_recipe),
};

void sotto_test_make_triple(sotto_test_triple *out, sotto_sim_random *random)
{
    sotto_test_parts p = {.random = random};

    *out = (sotto_test_triple){.spoiled = {NULL, NULL}};
    make(&p);
    if (sotto_sim_random_chance(random, 0.55)) {
        for (size_t i = 0; i < 2 && (i == 0 || below(&p, 8) == 0); i++) {
            const uint64_t which = below(&p, sizeof spoilers / sizeof spoilers[0]);

            out->spoiled[i] = spoilers[which].how;
            spoilers[which].run(&p);
        }
    }
    sotto_test_write_triple(out, &p);
}
