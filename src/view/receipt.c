/* A receipt in its own words, and as JSON. */
#include "view/view.h"

#include "dap/dap.h"
#include "recipe/statistic.h"

void sotto_receipt_as_text(sotto_text *t, const void *thing)
{
    enum { LONGEST = 16384 };
    uint8_t memory[LONGEST];
    sotto_buf text = sotto_buf_over(memory, sizeof memory);

    if (t->status == SOTTO_OK)
        t->status = sotto_receipt_explain(&text, thing, t->err);
    sotto_text_put(t, sotto_buf_bytes(&text));
}

/* null where a server did not tell. */
static void rate_checked(sotto_json *j, const char *key, const sotto_rejections *r)
{
    if (r->rate == SOTTO_RATE_UNTOLD)
        sotto_json_null(j, key);
    else
        sotto_json_bool(j, key, r->rate != SOTTO_RATE_OFF);
}

/* null also where there was no check that a batch could have failed. */
static void rate_released(sotto_json *j, const char *key, const sotto_rejections *r)
{
    if (r->rate == SOTTO_RATE_PASSED || r->rate == SOTTO_RATE_RELEASED)
        sotto_json_bool(j, key, r->rate == SOTTO_RATE_RELEASED);
    else
        sotto_json_null(j, key);
}

/* null where a server did not tell, with the reason beside it. */
static void rejections(sotto_json *j, const char *key, const char *why_key,
                       const sotto_rejections *r)
{
    if (!r->known) {
        sotto_json_null(j, key);
        sotto_json_text(j, why_key, r->why ? r->why : "nobody asked");
        return;
    }
    sotto_json_object(j, key);
    for (size_t i = 0; i < r->count; i++)
        sotto_json_uint(j, r->items[i].cause, r->items[i].reports);
    sotto_json_end(j);
}

void sotto_json_cohort(sotto_json *j, const sotto_cohort *cohort)
{
    sotto_json_uint(j, "cohort", cohort->number);
    sotto_json_object(j, "cohort_values");
    for (size_t i = 0; i < cohort->count; i++)
        sotto_json_text(j, cohort->fields[i], cohort->values[i]);
    sotto_json_end(j);
}

void sotto_json_stated(sotto_json *j, const sotto_stated_committee *s)
{
    sotto_json_object(j, "stated");
    sotto_json_real(j, "corrupt", s->corrupt);
    sotto_json_real(j, "dropout", s->dropout);
    sotto_json_uint(j, "cohort", s->cohort);
    sotto_json_uint(j, "decryptors", s->size);
    sotto_json_uint(j, "quorum", s->quorum);
    sotto_json_int(j, "tolerated", s->tolerated);
    sotto_json_real(j, "tail", s->tail);
    sotto_json_bool(j, "holds", s->holds);
    sotto_json_real(j, "cut_off", s->cut_off);
    sotto_json_bool(j, "connected", s->connected);
    sotto_json_end(j);
}

static void said_of_round(sotto_json *j, const sotto_stated_encryption *e)
{
    sotto_json_bool(j, "trial", e->is_trial);
    sotto_json_object(j, "left_out");
    for (size_t i = 0; i < e->dropped_count; i++)
        sotto_json_uint(j, e->dropped[i].cause, e->dropped[i].devices);
    sotto_json_end(j);
    sotto_json_object(j, "log");
    for (size_t i = 0; i < e->entry_count; i++)
        sotto_json_uint(j, e->entries[i].what, e->entries[i].index);
    sotto_json_end(j);
}

void sotto_json_encryption(sotto_json *j, const sotto_stated_encryption *e)
{
    sotto_json_object(j, "encryption");
    sotto_json_uint(j, "devices_least", e->devices_least);
    sotto_json_uint(j, "devices_most", e->devices_most);
    sotto_json_real(j, "corrupt", e->corrupt);
    sotto_json_real(j, "offline", e->offline);
    sotto_json_uint(j, "committees", e->committees);
    sotto_json_uint(j, "committee", e->committee);
    sotto_json_uint(j, "tolerated", e->tolerated);
    sotto_json_real(j, "tail", e->tail);
    sotto_json_real(j, "stalls", e->stalls);
    if (e->rekey)
        sotto_json_uint(j, "rekey", e->rekey);
    sotto_json_uint(j, "noise_members", e->noise_members);
    sotto_json_uint(j, "noise_corrupt", e->noise_corrupt);
    sotto_json_uint(j, "noise_missing", e->noise_missing);
    sotto_json_real(j, "noise_tail", e->noise_tail);
    sotto_json_real(j, "together", e->together);
    sotto_json_uint(j, "checks", e->checks);
    sotto_json_real(j, "miss", e->miss);
    sotto_json_bool(j, "holds", e->holds);
    sotto_json_text(j, "set", e->set);
    sotto_json_uint(j, "bits", e->bits);
    sotto_json_uint(j, "bits_with_hints", e->bits_left);
    sotto_json_text(j, "estimator", e->estimator);
    sotto_json_real(j, "rho", e->rho);
    sotto_json_real(j, "hint_rho", e->hint_rho);
    sotto_json_real(j, "proof_bits", e->soundness);
    sotto_json_real(j, "norm", e->norm);
    if (!e->is_session)
        said_of_round(j, e);
    sotto_json_end(j);
}

static void identity(sotto_json *j, const sotto_receipt *r)
{
    char task[SOTTO_DAP_ID_TEXT_MAX];

    sotto_dap_id_encode(task, sotto_bytes_of(r->task_id, sizeof r->task_id));
    sotto_json_text(j, "recipe", r->recipe);
    sotto_json_uint(j, "version", r->version);
    sotto_json_text(j, "analysis", r->analysis);
    sotto_json_cohort(j, &r->cohort);
    sotto_json_hex(j, "recipe_hash", sotto_bytes_of(r->recipe_hash, sizeof r->recipe_hash));
    if (r->server[0]) {
        sotto_json_hex(j, "round", sotto_bytes_of(r->task_id, sizeof r->task_id));
        sotto_json_text(j, "server", r->server);
        sotto_json_text(j, "honest_party", r->must_be_honest);
        sotto_json_text(j, "who_sees", r->who_sees);
        sotto_json_text(j, "inputs", r->validity);
        if (r->encryption.is_known)
            sotto_json_encryption(j, &r->encryption);
        else
            sotto_json_stated(j, &r->stated);
        return;
    }
    sotto_json_text(j, "task", task); /* base64url, as in every path, list and log */
    sotto_json_text(j, "leader", r->leader);
    sotto_json_text(j, "helper", r->helper);
    sotto_json_text(j, "honest_party", r->split ? "leader or helper" : "none");
}

static void claims(sotto_json *j, const sotto_receipt *r)
{
    sotto_json_text(j, "statistic", sotto_statistic_name(r->statistic));
    sotto_json_text(j, "by", sotto_noise_source_name(r->by));
    sotto_json_text(j, "randomizer", r->randomizer);
    sotto_json_text(j, "adjacency", r->adjacency);
    sotto_json_real(j, "epsilon_local", r->epsilon_local);
    sotto_json_real(j, "replacement_local", r->replacement_local);
    sotto_json_real(j, "epsilon_cohort", r->epsilon_cohort);
    sotto_json_real(j, "epsilon_charged", r->epsilon_charged);
    sotto_json_real(j, "delta", r->delta);
    sotto_json_uint(j, "min_cohort", r->min_cohort);
    sotto_json_uint(j, "honest", r->honest);
    sotto_json_real(j, "honest_share", r->honest_share);
    sotto_json_text(j, "theorem", r->theorem);
    sotto_json_bool(j, "aggregation", r->aggregation);
    sotto_json_bool(j, "sampling", r->sampling);
    sotto_json_text(j, "sampling_why", r->sampling_why);
    sotto_json_real(j, "epsilon_sampled", r->epsilon_sampled);
    sotto_json_uint(j, "population", r->population);
    sotto_json_bool(j, "tokens", r->tokens);
    if (r->token_kind)
        sotto_json_text(j, "token_kind", r->token_kind);
    sotto_json_bool(j, "none_told", r->none_told);
    if (r->rate_other > 0) {
        sotto_json_real(j, "rate_default", r->rate_default);
        sotto_json_real(j, "rate_other", r->rate_other);
    }
}

void sotto_receipt_members(sotto_json *j, const sotto_receipt *r)
{
    identity(j, r);
    claims(j, r);
    sotto_json_real(j, "liar", r->liar);
    sotto_json_uint(j, "liar_sums", r->liar_sums);
    sotto_json_uint(j, "weight", r->weight);
    sotto_json_real(j, "miss", r->miss);
    sotto_json_real(j, "noise_sigma", r->noise_sigma);
    sotto_json_real(j, "device_variance", r->device_variance);
    rejections(j, "leader_rejections", "leader_rejections_why", &r->leader_rejections);
    rejections(j, "helper_rejections", "helper_rejections_why", &r->helper_rejections);
    rate_checked(j, "leader_rate_checked", &r->leader_rejections);
    rate_checked(j, "helper_rate_checked", &r->helper_rejections);
    rate_released(j, "leader_rate_released", &r->leader_rejections);
    rate_released(j, "helper_rate_released", &r->helper_rejections);
}

static void as_json(sotto_text *t, const void *thing)
{
    sotto_json j = sotto_json_on(*t, SOTTO_JSON_INDENTED);

    sotto_json_object(&j, NULL);
    sotto_receipt_members(&j, thing);
    t->status = sotto_json_finish(&j);
}

sotto_status sotto_view_receipt(const sotto_view *view, const sotto_receipt *receipt,
                                sotto_err *err)
{
    sotto_err_clear(err);

    static sotto_show *const formats[SOTTO_VIEW_FORMATS] = {
        [SOTTO_VIEW_TEXT] = sotto_receipt_as_text,
        [SOTTO_VIEW_JSON] = as_json,
    };

    return sotto_view_run(view, formats, receipt, "a receipt", err);
}
