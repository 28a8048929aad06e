/* An answer as one JSON object, with all its bins. */
#include "view/view.h"

static void bin_members(sotto_json *j, const sotto_result *r, const sotto_result_bin *b)
{
    sotto_json_int(j, "sum", b->sum);
    sotto_json_real(j, "count", b->count);
    sotto_json_real(j, "deviation", b->deviation);
    sotto_json_real(j, "low", b->low);
    sotto_json_real(j, "high", b->high);
    sotto_json_real(j, "low_all", b->low_all);
    sotto_json_real(j, "high_all", b->high_all);
    sotto_json_bool(j, "above_zero", !sotto_result_may_be_zero(b));
    sotto_json_real(j, "share", sotto_answer_share(r, b));
    if (r->adjusted)
        sotto_json_real(j, "adjusted", b->adjusted);
}

/* Of all devices, in an object of its own. */
static void whole_members(sotto_json *j, const sotto_result_whole *w, const char *value, bool all)
{
    sotto_json_object(j, "all_devices");
    sotto_json_real(j, value, w->count);
    sotto_json_real(j, "privacy", w->privacy);
    sotto_json_real(j, "sampling", w->sampling);
    sotto_json_real(j, "low", w->low);
    sotto_json_real(j, "high", w->high);
    if (all) {
        sotto_json_real(j, "low_all", w->low_all);
        sotto_json_real(j, "high_all", w->high_all);
    }
    sotto_json_end(j);
}

static void show_bins(sotto_json *j, const sotto_answer_page *p)
{
    const sotto_result *r = p->result;
    char memory[SOTTO_VIEW_LABEL];

    sotto_json_array(j, "bins");
    for (size_t i = 0; i < r->count; i++) {
        uint64_t bin = r->bins[i].bin;
        sotto_bytes label = sotto_answer_label(memory, p, bin);

        sotto_json_object(j, NULL);
        bin_members(j, r, &r->bins[i]);
        sotto_json_uint(j, "bin", bin);
        if (label.len > 0)
            sotto_json_bytes(j, "label", label);
        if (r->wholes)
            whole_members(j, &r->wholes[i], "count", true);
        if (p->truth)
            sotto_json_uint(j, "truth", p->truth[bin]);
        sotto_json_end(j);
    }
    sotto_json_end(j);
}

static void show_no_value(sotto_json *j, const sotto_result *r)
{
    if (!r->has_no_value)
        return;
    sotto_json_object(j, "no_value");
    bin_members(j, r, &r->no_value);
    sotto_json_end(j);
}

static void show_figures(sotto_json *j, const sotto_result *r)
{
    sotto_json_array(j, "figures");
    for (size_t i = 0; i < r->figure_count; i++) {
        const sotto_result_figure *f = &r->figures[i];

        sotto_json_object(j, NULL);
        sotto_json_text(j, "name", f->name);
        sotto_json_real(j, "value", f->value);
        sotto_json_real(j, "deviation", f->deviation);
        sotto_json_real(j, "low", f->low);
        sotto_json_real(j, "high", f->high);
        if (r->rate > 0) {
            whole_members(j, &f->whole, "value", false);
            sotto_json_bool(j, "sampling_at_most", f->sampling_most);
        }
        sotto_json_end(j);
    }
    sotto_json_end(j);
}

/* Of several columns each by itself; and a prefix tree. */
static void show_columns(sotto_json *j, const sotto_answer_page *p)
{
    if (p->column_count > 0)
        sotto_json_array(j, "columns");
    for (size_t i = 0; i < p->column_count; i++) {
        sotto_json_object(j, NULL);
        sotto_json_text(j, "column", sotto_recipe_column(p->of->recipe, i));
        show_bins(j, &p->columns[i]);
        sotto_json_end(j);
    }
    if (p->column_count > 0)
        sotto_json_end(j);
    if (!p->tree)
        return;
    sotto_json_object(j, "tree");
    sotto_json_text(j, "column", sotto_recipe_column(p->of->recipe, p->tree_column));
    sotto_json_array(j, "phrases");
    for (size_t i = 0; i < p->tree_count; i++) {
        sotto_json_object(j, NULL);
        sotto_json_text(j, "phrase", p->tree[i].phrase);
        sotto_json_uint(j, "parent", p->tree[i].parent);
        sotto_json_uint(j, "bins", p->tree[i].bins);
        bin_members(j, p->result, &p->tree[i].estimate);
        sotto_json_end(j);
    }
    sotto_json_end(j);
    sotto_json_end(j);
}

static void show_check(sotto_json *j, const sotto_result_check *c)
{
    sotto_json_object(j, "check");
    sotto_json_uint(j, "bins", c->bins);
    sotto_json_uint(j, "missed", c->missed);
    sotto_json_real(j, "missed_chance", c->missed_chance);
    sotto_json_uint(j, "worst", c->worst);
    sotto_json_real(j, "worst_chance", c->worst_chance);
    sotto_json_bool(j, "wrong", c->wrong);
    sotto_json_end(j);
}

static void show_trial(sotto_json *j, const sotto_answer_trial *trial)
{
    sotto_json_object(j, "trial");
    sotto_json_uint(j, "devices", trial->devices);
    sotto_json_uint(j, "should_count", trial->answered);
    sotto_json_uint(j, "tampered", trial->tampered);
    sotto_json_uint(j, "replayed", trial->replayed);
    sotto_json_uint(j, "forged", trial->forged);
    sotto_json_uint(j, "seconds", trial->seconds);
    sotto_json_real(j, "epsilon_left", trial->epsilon_left);
    sotto_json_real(j, "epsilon_allowed", trial->epsilon_allowed);
    sotto_json_end(j);
}

void sotto_answer_as_json(sotto_text *t, const void *thing)
{
    const sotto_answer_page *p = thing;
    const sotto_answer_view *a = p->of;
    sotto_json j = sotto_json_on(*t, SOTTO_JSON_INDENTED);

    sotto_json_object(&j, NULL);
    sotto_json_uint(&j, "reports", a->result->reports);
    sotto_json_cohort(&j, &a->receipt->cohort);
    sotto_json_time(&j, "from", (int64_t)a->receipt->from);
    sotto_json_time(&j, "until", (int64_t)a->receipt->until);
    sotto_json_real(&j, "confidence", a->result->confidence);
    if (a->result->rate > 0)
        sotto_json_real(&j, "rate", a->result->rate);
    if (a->result->rate_default > 0)
        sotto_json_real(&j, "rate_default", a->result->rate_default);
    sotto_json_bool(&j, "adjusted", a->result->adjusted);
    show_figures(&j, a->result);
    show_bins(&j, p);
    show_no_value(&j, a->result);
    show_columns(&j, p);
    sotto_json_object(&j, "receipt");
    sotto_receipt_members(&j, a->receipt);
    sotto_json_end(&j);
    if (a->check)
        show_check(&j, a->check);
    if (a->trial)
        show_trial(&j, a->trial);
    t->status = sotto_json_finish(&j);
}
