/* What is asked, what devices allow, and who adds up. */
#define _POSIX_C_SOURCE 200809L
#include "demo.h"

#include "base/hex.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

const char *const demo_choices[DEMO_CHOICES] = {"walking",   "bicycle",    "bus",   "train",
                                                "car alone", "car shared", "ferry", "home office"};

static void write_time(char out[32], time_t at)
{
    struct tm tm;

    (void)strftime(out, 32, "%Y-%m-%dT%H:00:00Z", gmtime_r(&at, &tm));
}

/* Every device answers; the cohort may be as small as half of them, so that some may fail or lie. */
void demo_write_recipe(demo *d)
{
    char values[512] = "", opens[32], closes[32];
    time_t now = time(NULL);

    for (size_t i = 0; i < DEMO_CHOICES; i++) {
        size_t at = strlen(values);

        (void)snprintf(values + at, sizeof values - at, "%s\"%s\"", i ? ", " : "", demo_choices[i]);
    }
    write_time(opens, now - 3600);
    write_time(closes, now + 3 * 3600);
    (void)snprintf(
        d->recipe_text, sizeof d->recipe_text,
        "{\n"
        "  \"recipe\": \"demo-1\", \"version\": 1, \"analysis\": \"com.example.commute\",\n"
        "  \"description\": \"How people got to work today.\",\n"
        "  \"query\": \"SELECT way FROM commutes\", \"pick\": \"one-at-random\",\n"
        "  \"encode\": {\"way\": {\"type\": \"categories\", \"values\": [%s], \"oov\": true},\n"
        "             \"combine\": [\"way\"]},\n"
        "  \"randomizer\": {\"type\": \"one-hot\", \"form\": \"asymmetric\", \"epsilon_local\": "
        "4.0},\n"
        "  \"participation\": {\"type\": \"poisson\", \"rate\": 1.0},\n"
        "  \"privacy\": {\"adjacency\": \"replacement\", \"epsilon\": 4.0, \"delta\": 1e-6,\n"
        "              \"min_cohort\": %llu},\n"
        "  \"aggregation\": {\"trust\": \"split\", \"leader\": \"key:leader\", \"helper\": "
        "\"key:helper\",\n"
        "                  \"collector\": \"key:collector\"},\n"
        "  \"schedule\": {\"opens\": \"%s\", \"closes\": \"%s\", \"precision\": \"1h\"},\n"
        "  \"population\": %llu, \"on_no_match\": \"no-value\"\n"
        "}\n",
        values, (unsigned long long)(d->devices / 2), opens, closes,
        (unsigned long long)d->devices);
}

void demo_write_policy(demo *d)
{
    (void)snprintf(
        d->policy_text, sizeof d->policy_text,
        "{\n"
        "  \"policy\": \"com.example.demo\", \"version\": 1,\n"
        "  \"analyses\": {\"com.example.commute\": {\"epsilon\": 5, \"delta\": 1e-5, \"reports\": "
        "2,\n"
        "                                      \"fields\": [\"commutes.way\"]}},\n"
        "  \"fields\": {\"commutes.way\": {\"epsilon_local\": 5, \"epsilon\": 5, \"delta\": 1e-5,\n"
        "                               \"reports\": 2}},\n"
        "  \"non_sensitive\": [], \"min_cohort\": %llu, \"honest\": 0.5\n"
        "}\n",
        (unsigned long long)(d->devices / 2));
}

static const char *hex_of(char *out, const uint8_t *bytes, size_t len)
{
    sotto_hex_encode(out, sotto_bytes_of(bytes, len));
    return out;
}

sotto_status demo_write_parties(demo *d, sotto_err *err)
{
    static const char valid[] =
        "\"from\": \"2020-01-01T00:00:00Z\", \"until\": \"2090-01-01T00:00:00Z\"";
    char leader[520], helper[520], collector[520];
    uint8_t wire[256];
    sotto_buf config = sotto_buf_over(wire, sizeof wire);
    sotto_hpke_config own = sotto_collector_key_config(&d->collector);

    SOTTO_TRY(sotto_hpke_config_encode(&config, &own, err));
    (void)snprintf(
        d->parties_text, sizeof d->parties_text,
        "{\"key:leader\": {\"role\": \"leader\", \"url\": \"http://127.0.0.1:%u/\",\n"
        "   \"hpke\": [{\"config\": \"%s\", %s}]},\n"
        " \"key:helper\": {\"role\": \"helper\", \"url\": \"http://127.0.0.1:%u/\",\n"
        "   \"hpke\": [{\"config\": \"%s\", %s}]},\n"
        " \"key:collector\": {\"role\": \"collector\", \"hpke\": [{\"config\": \"%s\", %s}]}}\n",
        d->leader.port, hex_of(leader, d->leader.hpke, d->leader.hpke_len), valid, d->helper.port,
        hex_of(helper, d->helper.hpke, d->helper.hpke_len), valid,
        hex_of(collector, config.data, config.len), valid);
    return SOTTO_OK;
}

sotto_status demo_compile(demo *d, sotto_err *err)
{
    sotto_mistakes *mistakes = sotto_arena_take(&d->arena, sizeof *mistakes);
    const sotto_parties *parties;

    if (!mistakes)
        return sotto_fail(err, SOTTO_NO_MEMORY, "the demo");
    SOTTO_TRY(sotto_recipe_read(&d->recipe, sotto_bytes_of(d->recipe_text, strlen(d->recipe_text)),
                                &d->arena, mistakes, err));
    SOTTO_TRY(sotto_parties_read(&parties, sotto_bytes_of(d->parties_text, strlen(d->parties_text)),
                                 &d->arena, mistakes, err));
    SOTTO_TRY(sotto_recipe_lint(&d->claim, d->recipe, NULL, mistakes, err));
    return sotto_task_compile(&d->task, d->recipe, parties, 0, &d->arena, err);
}
