/* The answer as one JSON object. */
#include "answer.h"

#include "dap/dap.h"
#include "recipe/calendar.h"

#include <jansson.h>
#include <stdio.h>

enum { LABEL = 4096 };

static json_t *integer(uint64_t value)
{
    return json_integer((json_int_t)value);
}

static json_t *time_of(uint64_t seconds)
{
    char text[SOTTO_CALENDAR_TEXT];

    sotto_calendar_format_time(text, (int64_t)seconds);
    return json_string(text);
}

/* base64url, as in every path, list and log. */
static json_t *task_id(const uint8_t id[SOTTO_TASK_ID_SIZE])
{
    char text[SOTTO_DAP_ID_TEXT_MAX];

    sotto_dap_id_encode(text, sotto_bytes_of(id, SOTTO_TASK_ID_SIZE));
    return json_string(text);
}

static json_t *hex(const uint8_t *bytes, size_t len)
{
    char text[2 * 64 + 1] = "";

    for (size_t i = 0; i < len && i < 64; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    return json_string(text);
}

static json_t *bin_of(const sotto_answer_view *v, const sotto_result_bin *b, bool labelled)
{
    char label[LABEL];
    sotto_buf out = sotto_buf_over(label, sizeof label);
    json_t *json = json_pack("{s:o, s:f, s:f, s:f, s:f}", "sum", json_integer(b->sum), "count",
                             b->count, "deviation", b->deviation, "low", b->low, "high", b->high);

    if (!labelled)
        return json;
    (void)json_object_set_new(json, "bin", integer(b->bin));
    if (sotto_recipe_label(v->recipe, &out, b->bin, NULL) == SOTTO_OK)
        (void)json_object_set_new(json, "label", json_stringn(label, out.len));
    if (v->truth)
        (void)json_object_set_new(json, "truth", integer(v->truth[b->bin]));
    return json;
}

/* null where a server did not tell. */
static json_t *checked_of(const sotto_rejections *r)
{
    return r->rate == SOTTO_RATE_UNTOLD ? json_null() : json_boolean(r->rate != SOTTO_RATE_OFF);
}

/* null also where there was no check that a batch could have failed. */
static json_t *released_of(const sotto_rejections *r)
{
    return r->rate == SOTTO_RATE_PASSED || r->rate == SOTTO_RATE_RELEASED
               ? json_boolean(r->rate == SOTTO_RATE_RELEASED)
               : json_null();
}

/* null where a server did not tell, with the reason beside it. */
static void set_rejections(json_t *receipt, const char *key, const char *why_key,
                           const sotto_rejections *r)
{
    json_t *counts = r->known ? json_object() : json_null();

    for (size_t i = 0; r->known && i < r->count; i++)
        (void)json_object_set_new(counts, r->items[i].cause, integer(r->items[i].reports));
    (void)json_object_set_new(receipt, key, counts);
    if (!r->known)
        (void)json_object_set_new(receipt, why_key, json_string(r->why ? r->why : "nobody asked"));
}

static json_t *receipt_of(const sotto_receipt *r)
{
    json_t *json = json_pack("{s:s, s:o, s:s, s:o, s:o, s:s?, s:s?, s:s}", "recipe", r->recipe,
                             "version", integer(r->version), "analysis", r->analysis, "recipe_hash",
                             hex(r->recipe_hash, sizeof r->recipe_hash), "task",
                             task_id(r->task_id), "leader", r->leader, "helper", r->helper,
                             "honest_party", r->split ? "leader or helper" : "none");
    json_t *claim = json_pack(
        "{s:s, s:s, s:f, s:f, s:f, s:f, s:o, s:o, s:f, s:s, s:b, s:b, s:s}", "randomizer",
        r->randomizer, "adjacency", r->adjacency, "epsilon_local", r->epsilon_local,
        "replacement_local", r->replacement_local, "epsilon_cohort", r->epsilon_cohort, "delta",
        r->delta, "min_cohort", integer(r->min_cohort), "honest", integer(r->honest),
        "honest_share", r->honest_share, "theorem", r->theorem, "aggregation", (int)r->aggregation,
        "sampling", (int)r->sampling, "sampling_why", r->sampling_why);

    (void)json_object_update(json, claim);
    json_decref(claim);
    (void)json_object_set_new(json, "none_told", json_boolean(r->none_told));
    (void)json_object_set_new(json, "liar", json_real(r->liar));
    (void)json_object_set_new(json, "weight", integer(r->weight));
    (void)json_object_set_new(json, "miss", json_real(r->miss));
    (void)json_object_set_new(json, "noise_sigma", json_real(r->noise_sigma));
    (void)json_object_set_new(json, "epsilon_noise", json_real(r->epsilon_noise));
    (void)json_object_set_new(json, "noise_by",
                              r->noise_by ? json_string(r->noise_by) : json_null());
    set_rejections(json, "leader_rejections", "leader_rejections_why", &r->leader_rejections);
    set_rejections(json, "helper_rejections", "helper_rejections_why", &r->helper_rejections);
    (void)json_object_set_new(json, "leader_rate_checked", checked_of(&r->leader_rejections));
    (void)json_object_set_new(json, "helper_rate_checked", checked_of(&r->helper_rejections));
    (void)json_object_set_new(json, "leader_rate_released", released_of(&r->leader_rejections));
    (void)json_object_set_new(json, "helper_rate_released", released_of(&r->helper_rejections));
    return json;
}

static json_t *check_of(const sotto_result_check *c)
{
    return json_pack("{s:o, s:o, s:f, s:o, s:f, s:b}", "bins", integer(c->bins), "missed",
                     integer(c->missed), "missed_chance", c->missed_chance, "worst",
                     integer(c->worst), "worst_chance", c->worst_chance, "wrong", (int)c->wrong);
}

static json_t *trial_of(const sotto_answer_trial *t)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:f, s:f}", "devices", integer(t->devices),
                     "should_count", integer(t->answered), "tampered", integer(t->tampered),
                     "replayed", integer(t->replayed), "forged", integer(t->forged), "seconds",
                     integer(t->seconds), "epsilon_left", t->epsilon_left, "epsilon_allowed",
                     t->epsilon_allowed);
}

sotto_status sotto_answer_print_json(const sotto_answer_view *v, sotto_err *err)
{
    const sotto_result *r = v->result;
    json_t *bins = json_array();
    json_t *json = json_pack("{s:o, s:o, s:o, s:f}", "reports", integer(r->reports), "from",
                             time_of(v->receipt->from), "until", time_of(v->receipt->until),
                             "confidence", r->confidence);
    bool failed = !json || !bins;

    for (size_t i = 0; !failed && i < r->count; i++)
        failed = json_array_append_new(bins, bin_of(v, &r->bins[i], true)) != 0;
    failed = failed || json_object_set_new(json, "bins", bins) != 0;
    if (!failed && r->has_no_value)
        failed = json_object_set_new(json, "no_value", bin_of(v, &r->no_value, false)) != 0;
    failed = failed || json_object_set_new(json, "receipt", receipt_of(v->receipt)) != 0;
    if (!failed && v->check)
        failed = json_object_set_new(json, "check", check_of(v->check)) != 0;
    if (!failed && v->trial)
        failed = json_object_set_new(json, "trial", trial_of(v->trial)) != 0;
    failed = failed || json_dumpf(json, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(12)) != 0;
    printf("\n");
    json_decref(json);
    return failed ? sotto_fail(err, SOTTO_NO_MEMORY, "the answer as JSON") : SOTTO_OK;
}
