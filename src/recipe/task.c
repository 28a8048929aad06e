/* A recipe and its parties become a DAP task; the same bytes on the log, on devices and on both servers. */
#include "recipe/task.h"

#include "recipe/calendar.h"
#include "recipe/claim.h"
#include "recipe/participation.h"

#include "account/trust.h"
#include "base/arena.h"
#include "base/rule.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { MAX_CONFIGURATION = 8192 };

/* ---- cohorts and targets ---------------------------------------------------------------------------- */

static bool find_value(const sotto_listed *listed, const char *value, size_t *position)
{
    for (size_t i = 0; value && i < listed->count; i++)
        if (strcmp(listed->values[i], value) == 0) {
            *position = i;
            return true;
        }
    return false;
}

sotto_status sotto_recipe_cohort_of(const sotto_recipe *recipe, size_t *cohort,
                                    const char *const *values, sotto_err *err)
{
    size_t number = 0, position = 0;

    for (size_t i = 0; i < recipe->cohort_count; i++) {
        if (!find_value(&recipe->cohorts[i], values[i], &position))
            return sotto_fail(err, SOTTO_MISSING,
                              "cohorts.%.60s: this device's value is not listed",
                              recipe->cohorts[i].field);
        number = number * recipe->cohorts[i].count + position;
    }
    *cohort = number;
    return SOTTO_OK;
}

bool sotto_recipe_targets(const sotto_recipe *recipe, size_t field, const char *value)
{
    size_t position;

    return find_value(&recipe->targeting[field], value, &position);
}

/* ---- compiling -------------------------------------------------------------------------------------- */

/* Names the schedule's end, which no key covers, and the newest key's end: one of the two has to change. */
static sotto_status refuse_keys(const sotto_party_entry *party, const sotto_recipe *recipe,
                                const char *wanted, sotto_err *err)
{
    bool late = !sotto_party_key_at(party, recipe->opens);
    char at[SOTTO_CALENDAR_TEXT], from[SOTTO_CALENDAR_TEXT] = "never",
                                  until[SOTTO_CALENDAR_TEXT] = "never";

    sotto_calendar_format_time(at, late ? recipe->opens : recipe->closes);
    if (party->key_count > 0) {
        sotto_calendar_format_time(from, party->keys[party->key_count - 1].from);
        sotto_calendar_format_time(until, party->keys[party->key_count - 1].until);
    }
    return sotto_fail(err, SOTTO_DENIED,
                      "aggregation.%s: no key of \"%.20s\" for the schedule's %s (%s); the last: %s"
                      " to %s",
                      wanted, party->name, late ? "start" : "end", at, from, until);
}

/* Another key may come into use by then, and a file with that key makes another task. So this file is too old. */
static sotto_status refuse_unknown(const sotto_party_entry *party, int64_t needed,
                                   const char *wanted, sotto_err *err)
{
    char known[SOTTO_CALENDAR_TEXT], until[SOTTO_CALENDAR_TEXT];

    sotto_calendar_format_time(known, sotto_party_known_until(party));
    sotto_calendar_format_time(until, needed);
    return sotto_fail(err, SOTTO_DENIED,
                      "aggregation.%s: keys of \"%.20s\" are known until %s, needed until %s: a"
                      " newer parties file is needed",
                      wanted, party->name, known, until);
}

static sotto_status find_server(const sotto_party_entry **out, const sotto_recipe *recipe,
                                const sotto_parties *parties, const char *name,
                                sotto_party_role role, sotto_err *err)
{
    const char *wanted = role == SOTTO_PARTY_LEADER ? "leader" : "helper";
    const sotto_party_entry *party = sotto_parties_find(parties, name);
    const int64_t known = party ? sotto_party_known_until(party) : 0;
    const int64_t needed = recipe->closes + SOTTO_SEAL_GRACE;

    if (!party)
        return sotto_fail(err, SOTTO_MISSING, "aggregation.%s: no party is named \"%.60s\"", wanted,
                          name);
    if (SOTTO_RULE(party_role) && party->role != role)
        return sotto_fail(err, SOTTO_DENIED, "aggregation.%s: \"%.60s\" has another role", wanted,
                          name);
    if (SOTTO_RULE(party_key_valid) && (!sotto_party_key_at(party, recipe->opens) ||
                                        !sotto_party_key_at(party, recipe->closes - 1)))
        return refuse_keys(party, recipe, wanted, err);
    if (SOTTO_RULE(keys_known) && known > 0 && known < needed)
        return refuse_unknown(party, needed, wanted, err);
    *out = party;
    return SOTTO_OK;
}

/* A task that binds a relay has one: the file says where it is, to devices and operators alike. */
static sotto_status find_relay(const sotto_anonymity *a, const sotto_parties *parties,
                               sotto_err *err)
{
    const sotto_party_entry *relay = a->relay ? sotto_parties_find(parties, a->relay) : NULL;
    const sotto_party_entry *gateway = a->relay ? sotto_parties_find(parties, a->gateway) : NULL;

    if (SOTTO_RULE(relay_among_the_parties) && a->relay &&
        (!relay || relay->role != SOTTO_PARTY_RELAY || !gateway ||
         gateway->role != SOTTO_PARTY_GATEWAY))
        return sotto_fail(err, SOTTO_DENIED,
                          "anonymity: the parties have no relay \"%.40s\" with gateway \"%.40s\"",
                          a->relay, a->gateway);
    return SOTTO_OK;
}

/* What both servers and every device must agree on, tied to the published recipe and to every key that a share
 * may be sealed to. A parties file with another key makes another task, whose reports open nowhere. */
static sotto_bytes write_info(sotto_buf *out, const sotto_recipe *recipe, sotto_bytes head,
                              const sotto_party_entry *const servers[2])
{
    sotto_writer w = sotto_writer_on(out);
    uint8_t keys[SOTTO_PARTIES_DIGEST];

    sotto_parties_digest(keys, servers[0], servers[1], recipe->opens,
                         recipe->closes + SOTTO_SEAL_GRACE - 1);
    sotto_write_bytes(&w, head);
    sotto_write_bytes(&w, sotto_bytes_of(keys, sizeof keys));
    return sotto_buf_bytes(out);
}

static unsigned anonymity_of(const sotto_anonymity *a)
{
    return (a->relay ? SOTTO_TASK_RELAY : 0U) | (a->tokens ? SOTTO_TASK_TOKENS : 0U) |
           (a->log ? SOTTO_TASK_LOG : 0U);
}

/* As Privacy Pass numbers them; ARC as its draft does. */
static unsigned token_type_of(const sotto_anonymity *a)
{
    static const uint16_t types[] = {
        [SOTTO_TOKENS_NONE] = 0, [SOTTO_TOKENS_TYPE_2] = 2, [SOTTO_TOKENS_ARC] = 0xe5ac};

    return types[a->tokens];
}

static sotto_status encode_task(sotto_task *out, const sotto_recipe *recipe, sotto_bytes head,
                                const sotto_party_entry *const servers[2], sotto_arena *arena,
                                sotto_err *err)
{
    uint8_t info[128];
    sotto_buf info_buf = sotto_buf_over(info, sizeof info);
    sotto_buf buf;
    sotto_task_configuration task = {
        .task_info = write_info(&info_buf, recipe, head, servers),
        .leader_url = out->leader_url,
        .helper_url = out->helper_url,
        .time_precision = out->precision,
        .min_batch_size = out->min_batch_size,
        .batch_mode = out->batch_mode,
        .vdaf = out->vdaf,
        .anonymity = anonymity_of(&recipe->anonymity),
        .token_type = token_type_of(&recipe->anonymity),
        .has_interval = true,
        .interval_start = out->opens / out->precision,
        .interval_duration = (out->closes - out->opens) / out->precision,
    };

    SOTTO_TRY(sotto_buf_take(&buf, arena, MAX_CONFIGURATION, err));
    SOTTO_TRY(sotto_task_configuration_encode(&buf, &task, err));
    out->configuration = sotto_buf_bytes(&buf);
    sotto_task_id_derive(out->id, out->configuration);
    return SOTTO_OK;
}

static void describe_reports(sotto_task *out, const sotto_recipe *recipe,
                             const sotto_report_content *content)
{
    const bool crowd = recipe->by == SOTTO_BY_CROWD;

    out->statistic = recipe->statistic;
    out->by = recipe->by;
    out->randomizer = content->name;
    out->epsilon_local = crowd ? content->randomizer.epsilon : INFINITY;
    out->p = content->p;
    out->q = content->q;
    out->bins = recipe->encoding.bins;
    out->weight = content->weight;
    out->miss = crowd ? sotto_recipe_miss(&content->randomizer) : 0;
    out->noise_sigma = recipe->by == SOTTO_BY_SERVERS ? sotto_recipe_sigma(recipe) : 0;
}

sotto_status sotto_task_finish(sotto_task *out, const sotto_recipe *recipe,
                               const sotto_parties *parties, sotto_bytes head, sotto_arena *arena,
                               sotto_err *err)
{
    const sotto_party_entry *servers[2]; /* leader, helper */

    SOTTO_TRY(find_server(&servers[0], recipe, parties, recipe->leader, SOTTO_PARTY_LEADER, err));
    SOTTO_TRY(find_server(&servers[1], recipe, parties, recipe->helper, SOTTO_PARTY_HELPER, err));
    SOTTO_TRY(find_relay(&recipe->anonymity, parties, err));
    memcpy(out->recipe_hash, recipe->hash, sizeof out->recipe_hash);
    out->leader_url = servers[0]->url;
    out->helper_url = servers[1]->url;
    out->precision = recipe->precision;
    out->min_batch_size = recipe->min_cohort;
    out->batch_mode = recipe->batch_mode;
    out->report_bytes = sotto_recipe_report_bytes(&out->sizes, recipe->anonymity.tokens);
    return encode_task(out, recipe, head, servers, arena, err);
}

sotto_status sotto_task_compile(sotto_task *out, const sotto_recipe *recipe,
                                const sotto_parties *parties, size_t cohort, sotto_arena *arena,
                                sotto_err *err)
{
    sotto_err_clear(err);

    uint8_t memory[64];
    sotto_buf head = sotto_buf_over(memory, sizeof memory);
    sotto_writer w = sotto_writer_on(&head);
    sotto_report_content content;

    *out = (sotto_task){
        .cohort = cohort, .opens = (uint64_t)recipe->opens, .closes = (uint64_t)recipe->closes};
    if (!sotto_trust_model_of(recipe->trust)->two_servers)
        return sotto_fail(err, SOTTO_DENIED, "aggregation.trust: only split has DAP tasks");
    if (sotto_participation_refused(&recipe->participation))
        return sotto_fail(err, SOTTO_DENIED, "participation: %s",
                          sotto_participation_refused(&recipe->participation));
    if (cohort >= sotto_recipe_cohorts(recipe))
        return sotto_fail(err, SOTTO_MISSING, "cohort %zu: there are %" PRIu64, cohort,
                          sotto_recipe_cohorts(recipe));
    SOTTO_TRY(sotto_recipe_content(&content, recipe, err));
    SOTTO_TRY(sotto_recipe_vdaf(&out->vdaf, &out->sizes, recipe->trust, &content, err));
    describe_reports(out, recipe, &content);
    sotto_write_bytes(&w, sotto_bytes_of(SOTTO_TASK_INFO_TAG, sizeof SOTTO_TASK_INFO_TAG - 1));
    sotto_write_bytes(&w, sotto_bytes_of(recipe->hash, sizeof recipe->hash));
    sotto_write_uint(&w, cohort, 2);
    return sotto_task_finish(out, recipe, parties, sotto_buf_bytes(&head), arena, err);
}
