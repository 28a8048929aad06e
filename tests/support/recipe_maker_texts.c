/* From parts to texts. */
#include "support/recipe_maker_parts.h"

#include <stdio.h>
#include <string.h>

/* A count has no bins, and only SOTTO_BY_CROWD has a randomizer. */
static void write_question(char *out, size_t size, const sotto_test_parts *p)
{
    const bool count = strcmp(p->statistic, "count") == 0, crowd = strcmp(p->by, "crowd") == 0,
               zero = strcmp(p->statistic, "sum") == 0;
    char encode[160] = "", randomizer[128] = "";

    if (!count)
        (void)snprintf(encode, sizeof encode,
                       "\"encode\": {\"%s\": {\"type\": \"integer\", \"min\": %d, \"max\": %u}}, ",
                       p->column, zero ? 0 : 1, p->bins);
    if (crowd)
        (void)snprintf(randomizer, sizeof randomizer,
                       "\"randomizer\": {\"type\": %s, \"epsilon_local\": %.6f}, ",
                       count ? "\"binary\"" : "\"one-hot\", \"form\": \"asymmetric\"",
                       p->epsilon_local);
    (void)snprintf(out, size, "\"statistic\": \"%s\", %s%s", p->statistic, encode, randomizer);
}

static void write_noise(char *out, size_t size, const sotto_test_parts *p)
{
    const bool noise = strcmp(p->by, "crowd") != 0;

    (void)snprintf(out, size, noise ? ", \"by\": \"%s\", \"sigma\": %.0f" : ", \"by\": \"%s\"",
                   p->by, p->sigma);
}

static void write_recipe(char *out, size_t size, const sotto_test_parts *p)
{
    char question[384], noise[96];

    write_question(question, sizeof question, p);
    write_noise(noise, sizeof noise, p);
    (void)snprintf(
        out, size,
        "{\"recipe\": \"r\", \"version\": 1, \"analysis\": \"%s\", \"query\": \"%s\", %s %s %s %s "
        "%s \"participation\": %s, \"privacy\": {\"adjacency\": \"%s\", \"epsilon\": %.6f, "
        "\"delta\": "
        "%.9f, \"min_cohort\": %lu%s}, \"aggregation\": %s, \"schedule\": {\"opens\": "
        "\"2026-11-20T00:00:00Z\", \"closes\": \"2026-11-27T00:00:00Z\", \"precision\": \"1h\"}, "
        "\"population\": %lu, \"on_no_match\": \"%s\"}",
        p->analysis, p->query, p->interval, p->extra, p->cohorts, p->targeting, question,
        p->participation, p->adjacency, p->epsilon, p->delta, p->min_cohort, noise, p->aggregation,
        p->population, p->no_match);
}

static void write_field(char *out, size_t size, const sotto_test_parts *p, const char *name)
{
    size_t used = strlen(out);
    char local[32];

    if (p->unpriced && strcmp(p->unpriced, name) == 0)
        return;
    (void)snprintf(local, sizeof local, p->local_none ? "\"none\"" : "%.6f", p->cap);
    (void)snprintf(out + used, size - used,
                   "%s\"%s\": {\"epsilon_local\": %s, \"by\": [%s], \"epsilon\": %.6f, \"delta\": "
                   "%.9f, \"reports\": %lu}",
                   used ? ", " : "", name, local, p->sources, p->field_epsilon, p->field_delta,
                   p->field_reports);
}

static void write_policy(char *out, size_t size, const sotto_test_parts *p)
{
    static const char *const names[] = {"errors.code", "errors.kind",       "errors.seconds",
                                        "errors.*",    "errors.event_time", "taps.strength",
                                        "taps.place",  "taps.event_time",   "taps.*"};
    char fields[4096] = "", limit[48] = "";

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        write_field(fields, sizeof fields, p, names[i]);
    if (p->report_bytes)
        (void)snprintf(limit, sizeof limit, ", \"report_bytes\": %lu", p->report_bytes);
    (void)snprintf(out, size,
                   "{\"policy\": \"p\", \"version\": 1, \"analyses\": {\"errors\": {\"epsilon\": "
                   "%.6f, \"delta\": %.9f, \"reports\": %lu, \"queries\": [%s], \"fields\": "
                   "[%s]}}, \"fields\": {%s}, \"composition\": \"%s\", \"non_sensitive\": [%s]%s, "
                   "\"min_cohort\": %lu, \"honest\": %.3f%s%s}",
                   p->whole_epsilon, p->whole_delta, p->reports, p->queries,
                   p->unpriced ? "\"errors.kind\"" : p->allowed, fields, p->composition,
                   p->non_sensitive, p->no_floor ? "" : ", \"targeting_floor\": 0", p->least_cohort,
                   p->honest, p->rules, limit);
}

static void write_streams(char *out, size_t size, const sotto_test_parts *p)
{
    char wide[2048] = "";

    for (unsigned i = 0; i < p->wide; i++)
        (void)snprintf(wide + strlen(wide), sizeof wide - strlen(wide), ", \"w%u\": \"integer\"",
                       i);
    (void)snprintf(
        out, size,
        "{\"%s\": {\"fields\": {\"code\": \"%s\", \"kind\": \"%s\", \"seconds\": \"%s\", "
        "\"ok\": \"boolean\"}, \"max_age\": \"30d\", \"max_rows\": 100}, \"taps\": "
        "{\"fields\": {\"place\": \"text\", \"strength\": \"%s\"%s}, \"max_age\": "
        "\"1d\", \"max_rows\": 10}}",
        p->types[0] ? "errors" : "mistakes", p->types[0] ? p->types[0] : "integer", p->types[1],
        p->types[2], p->types[3], wide);
}

void sotto_test_write_triple(sotto_test_triple *out, const sotto_test_parts *p)
{
    write_recipe(out->recipe, sizeof out->recipe, p);
    write_policy(out->policy, sizeof out->policy, p);
    write_streams(out->streams, sizeof out->streams, p);
}
