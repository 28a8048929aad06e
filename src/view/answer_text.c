/* An answer for people: bars with their intervals, then the receipt, then a check if there is one. */
#include "view/view.h"

#include "recipe/task.h"

#include <inttypes.h>
#include <math.h>

enum { WIDTH = 32, LABEL_COLUMNS = 36 };

static void say_cells(sotto_text *t, unsigned cells, bool colours)
{
    sotto_text_say(t, colours ? "\033[36m" : "");
    for (unsigned i = 0; i < WIDTH; i++)
        sotto_text_say(t, i < cells ? (colours ? "\xe2\x96\x88" : "#") : " ");
    sotto_text_say(t, colours ? "\033[0m" : "");
}

/* "11700  28.5%  11500 to 11900". Numbers round to 0, not to -0. */
static void say_interval(sotto_text *t, const sotto_result *r, const sotto_result_bin *b, bool wide)
{
    char count[SOTTO_NUMBER_TEXT], percent[SOTTO_NUMBER_TEXT], low[SOTTO_NUMBER_TEXT],
        high[SOTTO_NUMBER_TEXT];

    sotto_number_fixed(count, b->count, 0);
    sotto_number_fixed(percent, 100 * sotto_answer_share(r, b), 1);
    sotto_number_fixed(low, b->low, 0);
    sotto_number_fixed(high, b->high, 0);
    sotto_text_say(t, "%*s  %*s%%  %s to %s", wide ? 10 : 0, count, wide ? 5 : 0, percent, low,
                   high);
}

static void say_bin(sotto_text *t, const sotto_answer_page *p, const sotto_result_bin *b,
                    double largest, size_t columns)
{
    char memory[SOTTO_VIEW_LABEL];
    double shown = fmax(b->count, 0);

    sotto_text_say(t, "  ");
    size_t used = sotto_text_plain(t, sotto_answer_name(memory, p->of->recipe, b->bin));
    sotto_text_say(t, "%*s ", used < columns ? (int)(columns - used) : 0, "");
    say_cells(t, largest > 0 ? (unsigned)(shown / largest * WIDTH) : 0, p->view->colours);
    sotto_text_say(t, " ");
    say_interval(t, p->of->result, b, true);
    if (p->of->truth) {
        uint64_t truth = p->of->truth[b->bin];

        sotto_text_say(t, "  (truth %" PRIu64 "%s)", truth,
                       (double)truth < b->low || (double)truth > b->high ? ", missed" : "");
    }
    sotto_text_say(t, "\n");
}

/* As it is printed: no true count is like that. */
static bool impossible(const sotto_result_bin *b, const sotto_result *r)
{
    return b->count < -0.5 || b->count > (double)r->reports + 0.5;
}

static void say_bars(sotto_text *t, const sotto_answer_page *p)
{
    const sotto_result *r = p->of->result;
    const sotto_result_bin *sorted = p->sorted;
    size_t most = p->most, columns = 0;

    for (size_t i = 0; i < most; i++) {
        char memory[SOTTO_VIEW_LABEL];
        size_t used = sotto_text_columns(sotto_answer_name(memory, p->of->recipe, sorted[i].bin));

        if (used > columns && used <= LABEL_COLUMNS)
            columns = used;
    }
    for (size_t i = 0; i < most; i++)
        say_bin(t, p, &sorted[i], sorted[0].count, columns);
    if (most < r->count)
        sotto_text_say(t, "  and %zu bins with smaller counts\n", r->count - most);
    if (r->has_no_value) {
        sotto_text_say(t, "  no value: ");
        say_interval(t, r, &r->no_value, false);
        sotto_text_say(t, "\n");
    }
    if (most > 0 && (impossible(&sorted[0], r) || impossible(&sorted[most - 1], r) ||
                     (r->has_no_value && impossible(&r->no_value, r))))
        sotto_text_say(t,
                       "  a count below 0 or above %" PRIu64
                       " is chance: counts are left as they are, to be right on average; intervals "
                       "are cut\n",
                       r->reports);
}

static void say_figures(sotto_text *t, const sotto_result *r)
{
    for (size_t i = 0; i < r->figure_count; i++) {
        const sotto_result_figure *f = &r->figures[i];

        sotto_text_say(t, "  %-14s %.6g  %.6g to %.6g\n", f->name, f->value, f->low, f->high);
    }
}

static void say_check(sotto_text *t, const sotto_result_check *c)
{
    sotto_text_say(t,
                   "check: %zu of %zu intervals miss the truth (chance of so many: %.3g); the "
                   "farthest bin is off by what has a chance of %.3g at most: %s\n",
                   c->missed, c->bins, c->missed_chance, c->worst_chance,
                   c->wrong ? "WRONG" : "as it should be");
}

void sotto_answer_as_text(sotto_text *t, const void *thing)
{
    const sotto_answer_page *p = thing;
    const sotto_result *r = p->of->result;
    const sotto_cohort *cohort = &p->of->receipt->cohort;
    char name[SOTTO_COHORT_TEXT];

    if (cohort->count > 0)
        sotto_text_say(t, "cohort %s: ", sotto_cohort_text(name, cohort));
    sotto_text_say(t, "%" PRIu64 " reports; estimated %s with %g%% intervals\n\n", r->reports,
                   r->count > 0 ? "counts" : "figures", 100 * r->confidence);
    say_figures(t, r);
    if (r->count > 0)
        say_bars(t, p);
    sotto_text_say(t, "\n");
    sotto_receipt_as_text(t, p->of->receipt);
    if (p->of->check)
        say_check(t, p->of->check);
}
