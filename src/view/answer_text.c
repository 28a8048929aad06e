/* An answer for people: bars with their intervals, then the receipt, then a check if there is one. */
#include "view/view.h"

#include "recipe/statistic.h"
#include "recipe/task.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { WIDTH = 32, LABEL_COLUMNS = 36, LABEL_MOST = 72 };

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

static void say_count(sotto_text *t, const char *before, double x)
{
    char text[SOTTO_NUMBER_TEXT];

    sotto_number_fixed(text, x, 0);
    sotto_text_say(t, "%s%s", before, text);
}

static void say_bin(sotto_text *t, const sotto_answer_page *p, const sotto_result_bin *b,
                    double largest, size_t columns)
{
    char memory[SOTTO_VIEW_LABEL];
    double shown = fmax(b->count, 0);

    sotto_text_say(t, "  ");
    size_t used = sotto_text_plain_cut(t, sotto_answer_name(memory, p, b->bin), LABEL_MOST);
    sotto_text_say(t, "%*s ", used < columns ? (int)(columns - used) : 0, "");
    say_cells(t, largest > 0 ? (unsigned)(shown / largest * WIDTH) : 0, p->view->colours);
    sotto_text_say(t, " ");
    say_interval(t, p->result, b, true);
    if (p->result->adjusted)
        say_count(t, "  adjusted ", b->adjusted);
    if (sotto_result_may_be_zero(b))
        sotto_text_say(t, "  not distinguishable from 0");
    if (p->truth) {
        uint64_t truth = p->truth[b->bin];

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
    const sotto_result *r = p->result;
    const sotto_result_bin *sorted = p->sorted;
    size_t most = p->most, columns = 0, zeros = 0;
    bool chance = r->has_no_value && impossible(&r->no_value, r);
    double largest = 0;

    for (size_t i = 0; i < most; i++) {
        char memory[SOTTO_VIEW_LABEL];
        size_t used = sotto_text_columns(sotto_answer_name(memory, p, sorted[i].bin));

        if (used > columns && used <= LABEL_COLUMNS)
            columns = used;
        largest = fmax(largest, sorted[i].count);
        chance = chance || impossible(&sorted[i], r);
    }
    for (size_t i = 0; i < most; i++) {
        say_bin(t, p, &sorted[i], largest, columns);
        zeros += sotto_result_may_be_zero(&sorted[i]);
    }
    if (most < r->count)
        sotto_text_say(t, "  and %zu bins with smaller counts\n", r->count - most);
    if (r->has_no_value) {
        sotto_text_say(t, "  no value: ");
        say_interval(t, r, &r->no_value, false);
        sotto_text_say(t, "\n");
    }
    if (most > 0 && chance)
        sotto_text_say(t,
                       "  a count below 0 or above %" PRIu64
                       " is chance: counts are left as they are, to be right on average; intervals "
                       "are cut\n",
                       r->reports);
    if (zeros > 0)
        sotto_text_say(t, "  not distinguishable from 0: judged over all bins together, where an "
                          "interval by itself may begin above 0\n");
    if (r->adjusted)
        sotto_text_say(
            t,
            "  adjusted counts are 0 or more and add up to all that were counted: they are biased, "
            "and intervals are not theirs\n");
}

/* ---- all devices --------------------------------------------------------------------------------------- */

static void say_whole(sotto_text *t, const sotto_result_whole *w)
{
    say_count(t, "  ", w->count);
    say_count(t, "  ", w->low);
    say_count(t, " to ", w->high);
    say_count(t, "  (deviation ", w->privacy);
    say_count(t, " by privacy, ", w->sampling);
    sotto_text_say(t, " by sampling)\n");
}

static void say_rates(sotto_text *t, const sotto_result *r)
{
    if (r->rate_default > 0)
        sotto_text_say(t,
                       "\nof all devices, which took part with chance %g with the default value, "
                       "and %g with any other:\n\n",
                       r->rate_default, r->rate);
    else
        sotto_text_say(t, "\nof all devices, each of which took part with chance %g:\n\n", r->rate);
}

/* As many bins as there are bars. */
static void say_wholes(sotto_text *t, const sotto_answer_page *p)
{
    const sotto_result *r = p->result;
    char memory[SOTTO_VIEW_LABEL];

    if (!r->wholes)
        return;
    say_rates(t, r);
    for (size_t i = 0; i < p->most; i++) {
        sotto_text_say(t, "  ");
        size_t used =
            sotto_text_plain_cut(t, sotto_answer_name(memory, p, p->sorted[i].bin), LABEL_MOST);
        sotto_text_say(t, "%*s", used < LABEL_COLUMNS ? (int)(LABEL_COLUMNS - used) : 0, "");
        say_whole(t, &r->wholes[p->sorted[i].bin]);
    }
}

static bool is_whole(double x, int digits)
{
    return x * pow(10, digits) == round(x * pow(10, digits));
}

/* To a hundredth of the deviation, and ends outward: a large sum has more digits than most, and all of them count. */
static void say_figure(sotto_text *t, const char *name, double value, double deviation, double low,
                       double high)
{
    const double fine = deviation > 0 ? 2 - floor(log10(deviation)) : 6;
    int digits = (int)fmin(fmax(fine, 0), 9);

    while (digits > 0 && is_whole(value, digits - 1) && is_whole(low, digits - 1) &&
           is_whole(high, digits - 1))
        digits--;
    const double unit = pow(10, digits);

    /* Plus 0: not -0. */
    sotto_text_say(t, "  %-14s %.*f  %.*f to %.*f", name, digits, round(value * unit) / unit + 0.0,
                   digits, floor(low * unit) / unit + 0.0, digits, ceil(high * unit) / unit + 0.0);
}

/* Numbers were clipped: at an end of their range they may have been beyond it. */
static const char *beyond(const sotto_answer_page *p, double low, double high)
{
    const sotto_number_grid grid = sotto_recipe_grid(p->of->recipe);
    const bool less = low <= grid.min,
               more = high >= grid.min + grid.step * ((double)p->result->count - 1);

    return less && more ? "  or beyond" : less ? "  or less" : more ? "  or more" : "";
}

static void say_figures(sotto_text *t, const sotto_answer_page *p)
{
    const sotto_result *r = p->result;
    const bool quantiles = r->statistic == SOTTO_STATISTIC_QUANTILES;

    for (size_t i = 0; i < r->figure_count; i++) {
        const sotto_result_figure *f = &r->figures[i];
        const bool counts = strcmp(f->name, "count") == 0;

        say_figure(t, f->name, f->value, f->deviation, f->low, f->high);
        sotto_text_say(t, "%s\n",
                       counts && f->low <= 0 ? "  not distinguishable from 0"
                       : quantiles           ? beyond(p, f->low, f->high)
                                             : "");
    }
    if (quantiles)
        sotto_text_say(t, "  of numbers that were rounded to steps of %g\n\n",
                       sotto_recipe_grid(p->of->recipe).step);
    if (r->rate > 0 && r->figure_count > 0)
        say_rates(t, r);
    for (size_t i = 0; r->rate > 0 && i < r->figure_count; i++) {
        const sotto_result_figure *f = &r->figures[i];
        const sotto_result_whole *w = &f->whole;

        say_figure(t, f->name, w->count, w->privacy, w->low, w->high);
        sotto_text_say(t, "  (deviation %.3g by privacy, %s%.3g by sampling)\n", w->privacy,
                       f->sampling_most ? "at most " : "", w->sampling);
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
    const sotto_result *r = p->result;
    const sotto_cohort *cohort = &p->of->receipt->cohort;
    char name[SOTTO_COHORT_TEXT];

    if (cohort->count > 0)
        sotto_text_say(t, "cohort %s: ", sotto_cohort_text(name, cohort));
    sotto_text_say(t, "%" PRIu64 " reports; estimated %s with %g%% intervals\n\n", r->reports,
                   r->statistic == SOTTO_STATISTIC_QUANTILES ? "quantiles and counts"
                   : r->count > 0                            ? "counts"
                                                             : "figures",
                   100 * r->confidence);
    if (p->column != SOTTO_ALL_COLUMNS)
        sotto_text_say(t, "by %s, whatever the other columns hold:\n\n", p->of->by);
    say_figures(t, p);
    if (r->count > 0) {
        say_bars(t, p);
        say_wholes(t, p);
    }
    if (p->cross)
        sotto_answer_cross_text(t, p);
    sotto_text_say(t, "\n");
    sotto_receipt_as_text(t, p->of->receipt);
    if (p->of->check)
        say_check(t, p->of->check);
}
