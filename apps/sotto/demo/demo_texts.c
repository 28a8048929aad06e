/* What is asked, what devices allow, and who adds up. */
#define _POSIX_C_SOURCE 200809L
#include "demo.h"

#include "base/hex.h"
#include "recipe/content.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* Reports that a deployment which stays waits for: an application's developer has few devices. */
enum { FEWEST_KEPT = 10 };

const char *const demo_choices[DEMO_CHOICES] = {"walking",   "bicycle",    "bus",   "train",
                                                "car alone", "car shared", "ferry", "home office"};

void demo_write_time(char out[32], time_t at)
{
    struct tm tm;

    (void)strftime(out, 32, "%Y-%m-%dT%H:00:00Z", gmtime_r(&at, &tm));
}

const char *demo_values(char out[512])
{
    out[0] = 0;
    for (size_t i = 0; i < DEMO_CHOICES; i++) {
        size_t at = strlen(out);

        (void)snprintf(out + at, 512 - at, "%s\"%s\"", i ? ", " : "", demo_choices[i]);
    }
    return out;
}

/* What hides who takes part, as far as it is not turned off. */
static const char *anonymity_of(char out[512], const demo *d)
{
    const struct {
        unsigned part;
        const char *text;
    } parts[] = {{DEMO_RELAY, "\"relay\": \"key:relay\", \"gateway\": \"key:gateway\""},
                 {DEMO_TOKENS,
                  d->arc ? "\"tokens\": \"arc\", \"attester\": \"key:attester\""
                         : "\"tokens\": \"type-2\", \"attester\": \"key:attester\", \"issuer\": "
                           "\"key:issuer\""},
                 {DEMO_LOG, "\"log\": \"main\""}};
    const char *before = "  \"anonymity\": {";
    size_t at = 0;

    out[0] = 0;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (d->without & parts[i].part)
            continue;
        at += (size_t)snprintf(out + at, 512 - at, "%s%s", before, parts[i].text);
        before = ",\n                ";
    }
    if (at > 0)
        (void)snprintf(out + at, 512 - at, "},\n");
    return out;
}

/* Half of the devices answer, and the others are silent. The cohort may be as small as half of those, so that some may fail or lie.
 *
 * Servers have the real clock, and devices have clocks that the demo sets. The schedule opened an hour or two ago. So a device can live
 * through the hours before, in which it asks for its token, and through the first hour, in which the token rests, and then answer now. */
sotto_status demo_write_recipe(demo *d, sotto_err *err)
{
    static const sotto_field way = {"way", SOTTO_TYPE_TEXT};
    const unsigned long long cohort = d->keep ? FEWEST_KEPT : d->devices / 4;
    char values[512], hidden[512], opens[32], closes[32];
    const time_t now = time(NULL);

    d->opens = (int64_t)(now - 3600) / 3600 * 3600;
    d->closes = d->opens + (int64_t)(d->keep ? DEMO_KEPT_SCHEDULE : DEMO_SCHEDULE) * 3600;
    demo_write_time(opens, (time_t)d->opens);
    demo_write_time(closes, (time_t)d->closes);
    if (d->recipe_file) {
        SOTTO_TRY(demo_own_recipe(d, anonymity_of(hidden, d), opens, closes, err));
        d->offer = sotto_bytes_of(d->recipe_text, strlen(d->recipe_text));
        return SOTTO_OK;
    }
    d->table.fields[0] = way;
    d->table.stream = (sotto_stream){"commutes", d->table.fields, 1, 86400, 100};
    (void)snprintf(
        d->recipe_text, sizeof d->recipe_text,
        DEMO_QUESTION
        "  \"randomizer\": {\"type\": \"one-hot\", \"form\": \"asymmetric\", \"epsilon_local\": "
        "4.0},\n"
        "  \"participation\": {\"type\": \"poisson\", \"rate\": %s},\n"
        "  \"privacy\": {\"adjacency\": \"replacement\", \"epsilon\": 4.0, \"delta\": 1e-6,\n"
        "              \"min_cohort\": %llu},\n"
        "  \"aggregation\": {\"trust\": \"split\", \"leader\": \"key:leader\", \"helper\": "
        "\"key:helper\",\n"
        "                  \"collector\": \"key:collector\"},\n"
        "%s"
        "  \"schedule\": {\"opens\": \"%s\", \"closes\": \"%s\", \"precision\": \"1h\"},\n"
        "  \"population\": %llu, \"on_no_match\": \"no-value\"\n"
        "}\n",
        demo_values(values), d->keep ? "1" : "0.5", cohort, anonymity_of(hidden, d), opens, closes,
        (unsigned long long)d->devices);
    d->offer = sotto_bytes_of(d->recipe_text, strlen(d->recipe_text));
    return SOTTO_OK;
}

static const char *hex_of(char *out, const uint8_t *bytes, size_t len)
{
    sotto_hex_encode(out, sotto_bytes_of(bytes, len));
    return out;
}

/* Whose signatures devices believe: with a log they take nothing that is not on it. */
sotto_status demo_write_policy(demo *d, sotto_err *err)
{
    char issuers[240] = "", logs[2 * DEMO_NOTE_KEY + 100] = "", key[65], helper[65];

    if (d->arc)
        (void)snprintf(issuers, sizeof issuers,
                       "  \"issuers\": {\"key:leader\": \"%s\", \"key:helper\": \"%s\"},\n",
                       hex_of(key, d->issuer_signer.public_key, SOTTO_SIGN_PUBLIC),
                       hex_of(helper, d->helper_signer.public_key, SOTTO_SIGN_PUBLIC));
    else if (!(d->without & DEMO_TOKENS))
        (void)snprintf(issuers, sizeof issuers, "  \"issuers\": {\"key:issuer\": \"%s\"},\n",
                       hex_of(key, d->issuer_signer.public_key, SOTTO_SIGN_PUBLIC));
    if (!(d->without & DEMO_LOG))
        (void)snprintf(logs, sizeof logs,
                       "  \"logs\": {\"main\": {\"key\": \"%s\",\n"
                       "                    \"witnesses\": [\"%s\"]}},\n",
                       d->log_key, d->witness_key);
    if (d->recipe_file)
        return demo_own_policy(d, issuers, logs, err);
    (void)snprintf(
        d->policy_text, sizeof d->policy_text,
        "{\n"
        "  \"policy\": \"com.example.demo\", \"version\": 1,\n"
        "  \"analyses\": {\"" DEMO_ANALYSIS "\": {\"epsilon\": 5, \"delta\": 1e-5, \"reports\": "
        "2,\n"
        "                                      \"fields\": [\"commutes.way\"]}},\n"
        "  \"fields\": {\"commutes.way\": {\"epsilon_local\": 5, \"epsilon\": 5, \"delta\": 1e-5,\n"
        "                               \"reports\": 2}},\n"
        "%s%s"
        "  \"non_sensitive\": [], \"min_cohort\": %llu, \"honest\": 0.5\n"
        "}\n",
        issuers, logs, (unsigned long long)(d->keep ? FEWEST_KEPT : d->devices / 4));
    return SOTTO_OK;
}

#define VALID "\"from\": \"2020-01-01T00:00:00Z\", \"until\": \"2090-01-01T00:00:00Z\""

/* Those beside leader, helper and collector. */
static void write_more(const demo *d, char out[1024], const char *gateway)
{
    size_t at = 0;

    out[0] = 0;
    if (!(d->without & DEMO_RELAY))
        at += (size_t)snprintf(
            out, 1024,
            ",\n \"key:relay\": {\"role\": \"relay\", \"url\": \"http://127.0.0.1:%u/demo\"},\n"
            " \"key:gateway\": {\"role\": \"gateway\", \"url\": \"http://127.0.0.1:%u/\",\n"
            "   \"hpke\": [{\"config\": \"%s\", " VALID "}]}",
            d->relay.port, d->gateway.port, gateway);
    if (!(d->without & DEMO_TOKENS))
        at += (size_t)snprintf(
            out + at, 1024 - at,
            ",\n \"key:attester\": {\"role\": \"attester\", \"url\": \"http://127.0.0.1:%u/\"}",
            d->attester.port);
    if (!(d->without & DEMO_TOKENS) && !d->arc)
        (void)snprintf(out + at, 1024 - at,
                       ",\n \"key:issuer\": {\"role\": \"issuer\", \"url\": "
                       "\"http://127.0.0.1:%u/\"}",
                       d->issuer.port);
}

static sotto_status write_parties(const demo *d, char out[DEMO_TEXT], const char *gateway,
                                  sotto_err *err)
{
    char leader[520], helper[520], collector[520], more[1024];
    uint8_t wire[256];
    sotto_buf config = sotto_buf_over(wire, sizeof wire);
    sotto_hpke_config own = sotto_collector_key_config(&d->collector);

    SOTTO_TRY(sotto_hpke_config_encode(&config, &own, err));
    write_more(d, more, gateway);
    (void)snprintf(
        out, DEMO_TEXT,
        "{\"key:leader\": {\"role\": \"leader\", \"url\": \"http://127.0.0.1:%u/\",\n"
        "   \"hpke\": [{\"config\": \"%s\", " VALID "}]},\n"
        " \"key:helper\": {\"role\": \"helper\", \"url\": \"http://127.0.0.1:%u/\",\n"
        "   \"hpke\": [{\"config\": \"%s\", " VALID "}]},\n"
        " \"key:collector\": {\"role\": \"collector\", \"hpke\": [{\"config\": \"%s\", " VALID
        "}]}%s}\n",
        d->leader.port, hex_of(leader, d->leader.hpke, d->leader.hpke_len), d->helper.port,
        hex_of(helper, d->helper.hpke, d->helper.hpke_len),
        hex_of(collector, config.data, config.len), more);
    return SOTTO_OK;
}

/* A hostile device's file differs in the gateway's key alone, which no task is bound to. */
sotto_status demo_write_parties(demo *d, sotto_err *err)
{
    uint8_t wire[256];
    sotto_buf hostile = sotto_buf_over(wire, sizeof wire);
    char gateway[520];

    SOTTO_TRY(write_parties(d, d->parties_text,
                            hex_of(gateway, d->gateway.hpke, d->gateway.hpke_len), err));
    if (d->without & DEMO_RELAY) {
        memcpy(d->hostile_parties_text, d->parties_text, sizeof d->parties_text);
        return SOTTO_OK;
    }
    const sotto_hpke_config config = demo_hostile_gateway(d);
    SOTTO_TRY(sotto_hpke_config_encode(&hostile, &config, err));
    return write_parties(d, d->hostile_parties_text, hex_of(gateway, hostile.data, hostile.len),
                         err);
}

sotto_status demo_compile(demo *d, sotto_err *err)
{
    sotto_mistakes *mistakes = sotto_arena_take(&d->arena, sizeof *mistakes);
    sotto_report_content *content = sotto_arena_take(&d->arena, sizeof *content);
    const sotto_parties *parties;

    if (!mistakes || !content)
        return sotto_fail(err, SOTTO_NO_MEMORY, "the demo");
    SOTTO_TRY(sotto_recipe_read(&d->recipe, sotto_bytes_of(d->recipe_text, strlen(d->recipe_text)),
                                &d->arena, mistakes, err));
    SOTTO_TRY(sotto_parties_read(&parties, sotto_bytes_of(d->parties_text, strlen(d->parties_text)),
                                 &d->arena, mistakes, err));
    SOTTO_TRY(sotto_recipe_lint(&d->claim, d->recipe, NULL, mistakes, err));
    SOTTO_TRY(sotto_recipe_content(content, d->recipe, err));
    d->values = (size_t)content->values;
    d->truth.bins = sotto_arena_take_array(&d->arena, d->values, sizeof *d->truth.bins);
    if (!d->truth.bins)
        return sotto_fail(err, SOTTO_NO_MEMORY, "the demo");
    return sotto_task_compile(&d->task, d->recipe, parties, 0, &d->arena, err);
}
