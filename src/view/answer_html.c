/* An answer as one page: chart, table, receipt, recipe and log proof. No script, nothing from elsewhere, for screens of any
 * width, light or dark, and for paper. Its policy allows the one style below by its hash, and nothing else. */
#include "view/view.h"

#include "account/numeric/shown.h"
#include "base/hex.h"
#include "recipe/calendar.h"
#include "recipe/model.h"
#include "recipe/task.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { SCALE = 1000, TABLE_MOST = 1000 };

const char sotto_html_style[] =
    ":root{color-scheme:light dark;--ink:#1c2733;--soft:#5a6b7b;--line:#d5dde5;--paper:#fff;"
    "--bar:#7fb2dd;--mark:#12324f}"
    "@media(prefers-color-scheme:dark){:root{--ink:#e4ebf1;--soft:#9fb0bf;--line:#33424f;"
    "--paper:#11181f;--bar:#2f6ea3;--mark:#dcecf9}}"
    "body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif}"
    "main{max-width:60rem;margin:0 auto;padding:1rem}"
    "h1{font-size:1.4rem;line-height:1.25;margin:.5rem 0}"
    "h2{font-size:1.1rem;margin:2rem 0 .5rem;border-bottom:1px solid var(--line)}"
    "p{margin:.5rem 0}.soft{color:var(--soft);font-size:.9rem}"
    "bdi,pre,h1,p{overflow-wrap:anywhere}"
    ".bars{list-style:none;margin:0;padding:0}"
    ".bars li{display:grid;grid-template-columns:13rem 1fr 18rem;gap:.1rem .8rem;"
    "align-items:center;padding:.2rem 0;break-inside:avoid}"
    ".bars svg{width:100%;height:1.2rem;display:block}"
    ".bars .n{font-variant-numeric:tabular-nums}"
    ".bar{fill:var(--bar)}.error{stroke:var(--mark);stroke-width:3}"
    ".all{stroke:var(--mark);stroke-width:1}.axis{stroke:var(--line);stroke-width:1}"
    "line{vector-effect:non-scaling-stroke}"
    ".wide{overflow-x:auto}table{border-collapse:collapse;font-size:.9rem}"
    "td,th{padding:.2rem .6rem;text-align:right;border-bottom:1px solid var(--line);"
    "font-variant-numeric:tabular-nums;vertical-align:top}"
    "td{white-space:nowrap}"
    "td:first-child,th:first-child{text-align:left;min-width:9rem;padding-left:0;"
    "white-space:normal}"
    "pre{white-space:pre-wrap;font-size:.85rem;margin:.5rem 0}"
    "@media(max-width:44rem){.bars li{grid-template-columns:1fr;padding:.35rem 0}"
    ".bars br{display:none}td{white-space:normal}td,th{padding:.2rem .3rem}"
    "td:first-child,th:first-child{min-width:5rem}}"
    "@media print{:root{--ink:#000;--soft:#333;--line:#999;--paper:#fff;--bar:#bbb;--mark:#000}"
    "body{font-size:10pt}table{font-size:7pt}td,th{padding:.1rem "
    ".25rem}main{max-width:none;padding:0}.wide{overflow:visible}"
    "tr{break-inside:avoid}h2{break-after:avoid}}";
const char sotto_html_style_hash[] = "VX5iO7v9/LXajQVIeQaw1jDzUDO3NN4VxdaYLAY6J/E=";

/* ---- numbers and text ---------------------------------------------------------------------------------- */

static void say_text(sotto_text *t, const char *text)
{
    sotto_text_xml(t, sotto_bytes_of(text, strlen(text)));
}

/* A label stands apart from the text around it, whatever direction it has. */
static void say_label(sotto_text *t, sotto_bytes label)
{
    sotto_text_say(t, "<bdi>");
    sotto_text_xml(t, label);
    sotto_text_say(t, "</bdi>");
}

static void say_fixed(sotto_text *t, const char *before, double x, int digits, const char *after)
{
    char text[SOTTO_NUMBER_TEXT];

    sotto_number_fixed(text, x, digits);
    sotto_text_say(t, "%s%s%s", before, text, after);
}

/* ---- bars ---------------------------------------------------------------------------------------------- */

static double most_of(const sotto_answer_page *p)
{
    double most = 1;

    for (size_t i = 0; i < p->most; i++)
        most = fmax(most, fmax(p->sorted[i].count, p->sorted[i].high_all));
    return most;
}

static double place(double x, double most)
{
    return fmin(fmax(x, 0) / most, 1) * SCALE;
}

static void say_line(sotto_text *t, const char *kind, double from, double to, int top, int bottom)
{
    sotto_text_say(t, "<line class=\"%s\" y1=\"%d\" y2=\"%d\"", kind, top, bottom);
    say_fixed(t, " x1=\"", from, 1, "\"");
    say_fixed(t, " x2=\"", to, 1, "\"/>");
}

static void say_drawn(sotto_text *t, const sotto_result_bin *b, double most)
{
    const double low = place(b->low, most), high = place(b->high, most);

    sotto_text_say(t,
                   "<svg viewBox=\"0 0 %d 20\" preserveAspectRatio=\"none\" role=\"img\" "
                   "aria-hidden=\"true\">",
                   SCALE);
    say_line(t, "axis", 0, 0, 0, 20);
    say_fixed(t, "<rect class=\"bar\" y=\"3\" height=\"14\" width=\"", place(b->count, most), 1,
              "\"/>");
    say_line(t, "all", place(b->low_all, most), place(b->high_all, most), 10, 10);
    say_line(t, "error", low, high, 10, 10);
    say_line(t, "error", low, low, 5, 15);
    say_line(t, "error", high, high, 5, 15);
    sotto_text_say(t, "</svg>");
}

/* Nothing is drawn without a scale. */
static void say_bar(sotto_text *t, const sotto_result *r, const sotto_result_bin *b,
                    sotto_bytes label, double most)
{
    sotto_text_say(t, "<li>");
    say_label(t, label);
    if (most > 0)
        say_drawn(t, b, most);
    else
        sotto_text_say(t, "<span class=\"soft\">not drawn</span>");
    say_fixed(t, "<span class=\"n\">", b->count, 0, "");
    say_fixed(t, " (", 100 * sotto_answer_share(r, b), 1, "%)");
    say_fixed(t, "<br/> <span class=\"soft\">", b->low, 0, " to ");
    say_fixed(t, "", b->high, 0, "");
    sotto_text_say(t, "%s</span></span></li>\n",
                   sotto_result_may_be_zero(b) ? "; not distinguishable from 0" : "");
}

static void say_bars(sotto_text *t, const sotto_answer_page *p)
{
    static const char no_value[] = "no value";
    const sotto_result *r = p->result;
    const double most = most_of(p);
    char memory[SOTTO_VIEW_LABEL];

    sotto_text_say(t, "<ol class=\"bars\">\n");
    for (size_t i = 0; i < p->most; i++)
        say_bar(t, r, &p->sorted[i], sotto_answer_name(memory, p, p->sorted[i].bin), most);
    if (r->has_no_value && p->column == SOTTO_ALL_COLUMNS)
        say_bar(t, r, &r->no_value, sotto_bytes_of(no_value, sizeof no_value - 1), 0);
    sotto_text_say(t, "</ol>\n");
    if (p->most < r->count)
        sotto_text_say(t, "<p class=\"soft\">and %zu bins with smaller counts</p>\n",
                       r->count - p->most);
}

/* ---- tables -------------------------------------------------------------------------------------------- */

static void say_cell(sotto_text *t, double x, int digits)
{
    say_fixed(t, "<td>", x, digits, "</td>");
}

static void say_range(sotto_text *t, double low, double high, int digits)
{
    say_fixed(t, "<td>", low, digits, " to ");
    say_fixed(t, "", high, digits, "</td>");
}

static void say_bin_cells(sotto_text *t, const sotto_result *r, const sotto_result_bin *b)
{
    const int digits = sotto_answer_digits(b->deviation);

    say_cell(t, b->count, digits);
    say_cell(t, b->deviation, digits);
    say_range(t, b->low, b->high, digits);
    say_range(t, b->low_all, b->high_all, digits);
    sotto_text_say(t, "<td>%s</td>", sotto_result_may_be_zero(b) ? "no" : "yes");
    if (r->adjusted)
        say_cell(t, b->adjusted, digits);
}

static void say_whole_cells(sotto_text *t, const sotto_result_whole *w)
{
    const int digits = sotto_answer_digits(w->privacy);

    say_cell(t, w->count, digits);
    say_cell(t, w->privacy, digits);
    say_cell(t, w->sampling, digits);
    say_range(t, w->low, w->high, digits);
}

static void begin_table(sotto_text *t, const sotto_result *r, const char *first, bool wholes)
{
    sotto_text_say(t, "<div class=\"wide\"><table><thead><tr><th scope=\"col\">");
    say_text(t, first);
    sotto_text_say(t, "</th><th scope=\"col\">count</th><th scope=\"col\">deviation</th>"
                      "<th scope=\"col\">interval</th><th scope=\"col\">all together</th>"
                      "<th scope=\"col\">above 0</th>");
    if (r->adjusted)
        sotto_text_say(t, "<th scope=\"col\">adjusted</th>");
    if (wholes)
        sotto_text_say(t, "<th scope=\"col\">of all devices</th>"
                          "<th scope=\"col\">deviation by privacy</th>"
                          "<th scope=\"col\">by sampling</th><th scope=\"col\">interval</th>");
    sotto_text_say(t, "</tr></thead><tbody>\n");
}

static void end_table(sotto_text *t)
{
    sotto_text_say(t, "</tbody></table></div>\n");
}

/* In the order of the bins. */
static void say_table(sotto_text *t, const sotto_answer_page *p, const char *first)
{
    const sotto_result *r = p->result;
    const size_t rows = r->count < TABLE_MOST ? r->count : TABLE_MOST;
    char memory[SOTTO_VIEW_LABEL];

    begin_table(t, r, first, r->wholes != NULL);
    for (size_t i = 0; i < rows; i++) {
        sotto_text_say(t, "<tr><td>");
        say_label(t, sotto_answer_name(memory, p, r->bins[i].bin));
        sotto_text_say(t, "</td>");
        say_bin_cells(t, r, &r->bins[i]);
        if (r->wholes)
            say_whole_cells(t, &r->wholes[i]);
        sotto_text_say(t, "</tr>\n");
    }
    end_table(t);
    if (rows < r->count)
        sotto_text_say(t, "<p class=\"soft\">and %zu more bins: CSV has all of them</p>\n",
                       r->count - rows);
}

static void say_tree(sotto_text *t, const sotto_answer_page *p)
{
    const size_t rows = p->tree_count < TABLE_MOST ? p->tree_count : TABLE_MOST;

    sotto_text_say(t, "<h2>Phrases of ");
    say_text(t, sotto_recipe_column(p->of->recipe, p->tree_column));
    sotto_text_say(t, "</h2>\n<p class=\"soft\">Each is the sum of all that begins with it.</p>\n");
    begin_table(t, p->result, "begins with", false);
    for (size_t i = 0; i < rows; i++) {
        const char *phrase = i == 0 ? "any known phrase" : p->tree[i].phrase;

        sotto_text_say(t, "<tr><td>");
        say_label(t, sotto_bytes_of(phrase, strlen(phrase)));
        sotto_text_say(t, "</td>");
        say_bin_cells(t, p->result, &p->tree[i].estimate);
        sotto_text_say(t, "</tr>\n");
    }
    end_table(t);
}

/* ---- figures ------------------------------------------------------------------------------------------- */

static void say_figures(sotto_text *t, const sotto_result *r)
{
    if (r->figure_count == 0)
        return;
    sotto_text_say(t, "<div class=\"wide\"><table><thead><tr><th scope=\"col\">figure</th>"
                      "<th scope=\"col\">value</th><th scope=\"col\">deviation</th>"
                      "<th scope=\"col\">interval</th>");
    if (r->rate > 0)
        sotto_text_say(t, "<th scope=\"col\">of all devices</th>"
                          "<th scope=\"col\">deviation by privacy</th>"
                          "<th scope=\"col\">by sampling</th><th scope=\"col\">interval</th>");
    sotto_text_say(t, "</tr></thead><tbody>\n");
    for (size_t i = 0; i < r->figure_count; i++) {
        const sotto_result_figure *f = &r->figures[i];
        const int digits = sotto_answer_digits(f->deviation);

        sotto_text_say(t, "<tr><td>%s</td>", f->name);
        say_cell(t, f->value, digits);
        say_cell(t, f->deviation, digits);
        say_range(t, f->low, f->high, digits);
        if (r->rate > 0)
            say_whole_cells(t, &f->whole);
        sotto_text_say(t, "</tr>\n");
    }
    end_table(t);
}

/* A mark on its own scale for each, where there is no bar to draw. */
static void say_mark(sotto_text *t, const sotto_figure_mark *m)
{
    const double low = SCALE * sotto_figure_place(m, m->low),
                 high = SCALE * sotto_figure_place(m, m->high);
    const int digits = sotto_answer_digits(m->deviation),
              steps = (int)((m->to - m->from) / m->step + 0.5);
    char from[SOTTO_NUMBER_TEXT], to[SOTTO_NUMBER_TEXT];

    sotto_text_say(t,
                   "<li><bdi>%s%s</bdi><svg viewBox=\"0 0 %d 20\" preserveAspectRatio=\"none\" "
                   "role=\"img\" aria-hidden=\"true\">",
                   m->name, m->of, SCALE);
    for (int i = 0; i <= steps; i++)
        say_line(t, "axis", SCALE * (double)i / steps, SCALE * (double)i / steps, 0, 20);
    say_fixed(t, "<rect class=\"bar\" y=\"3\" height=\"14\" width=\"12\" x=\"",
              SCALE * sotto_figure_place(m, m->value) - 6, 1, "\"/>");
    say_line(t, "error", low, high, 10, 10);
    say_line(t, "error", low, low, 5, 15);
    say_line(t, "error", high, high, 5, 15);
    say_fixed(t, "</svg><span class=\"n\">", m->value, digits, "<br/> ");
    say_fixed(t, "<span class=\"soft\">", m->low, digits, " to ");
    say_fixed(t, "", m->high, digits, "");
    sotto_number_format(from, m->from);
    sotto_number_format(to, m->to);
    sotto_text_say(t, "; drawn from %s to %s</span></span></li>\n", from, to);
}

static void say_marks(sotto_text *t, const sotto_result *r)
{
    sotto_figure_mark marks[SOTTO_FIGURE_MARKS];
    const size_t count = sotto_figure_marks(marks, r);

    sotto_text_say(t, "<ol class=\"bars\">\n");
    for (size_t i = 0; i < count; i++)
        say_mark(t, &marks[i]);
    sotto_text_say(t, "</ol>\n");
}

/* ---- the page ------------------------------------------------------------------------------------------ */

static void say_head(sotto_text *t, const sotto_answer_view *a)
{
    const char *title = a->recipe->description ? a->recipe->description : a->receipt->analysis;

    sotto_text_say(t,
                   "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
                   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                   "style-src 'sha256-%s'; base-uri 'none'; form-action 'none'\"/>\n"
                   "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
                   "<meta name=\"referrer\" content=\"no-referrer\"/>\n<title>",
                   sotto_html_style_hash);
    say_text(t, title);
    sotto_text_say(t, "</title>\n<style>%s</style>\n</head>\n<body>\n<main>\n<h1>",
                   sotto_html_style);
    say_text(t, title);
    sotto_text_say(t, "</h1>\n");
}

static void say_summary(sotto_text *t, const sotto_answer_view *a)
{
    const sotto_receipt *r = a->receipt;
    char from[SOTTO_CALENDAR_TEXT], until[SOTTO_CALENDAR_TEXT], cohort[SOTTO_COHORT_TEXT];

    sotto_calendar_format_time(from, (int64_t)r->from);
    sotto_calendar_format_time(until, (int64_t)r->until);
    sotto_text_say(t, "<p>%" PRIu64 " reports from %s until %s; recipe ", r->reports, from, until);
    say_text(t, r->recipe);
    sotto_text_say(t, ", version %" PRIu64 ", of ", r->version);
    say_text(t, r->analysis);
    if (r->cohort.count > 0) {
        sotto_text_say(t, "; cohort ");
        say_text(t, sotto_cohort_text(cohort, &r->cohort));
    }
    sotto_text_say(t, "; epsilon %.4g at delta %.3g.</p>\n",
                   sotto_bound_shown(r->epsilon_cohort, 4), sotto_bound_shown(r->delta, 3));
}

/* What each number means, beside the numbers. */
static void say_legend(sotto_text *t, const sotto_result *r)
{
    sotto_text_say(t, "<p class=\"soft\">");
    if (r->count > 0)
        sotto_text_say(t,
                       "Bars are estimated counts. The thick line is the %g%% interval of a bin by "
                       "itself; the thin line holds for all bins together. A bin is not "
                       "distinguishable from 0 where the thin line begins at 0. ",
                       100 * r->confidence);
    else
        sotto_text_say(t, "Intervals hold the truth with %g%%. ", 100 * r->confidence);
    sotto_text_say(t, "Counts are of reports, and intervals cover the error that privacy costs.");
    if (r->rate_default > 0)
        sotto_text_say(t,
                       " Devices took part with chance %g with the default value, and %g with any "
                       "other: shares of reports are not shares of devices.",
                       r->rate_default, r->rate);
    else if (r->rate > 0)
        sotto_text_say(t, " Each device took part with chance %g.", r->rate);
    if (r->rate > 0)
        sotto_text_say(t, " Figures of all devices cover that draw too, and not devices that were "
                          "drawn and never answered.");
    if (r->adjusted)
        sotto_text_say(t, " Adjusted counts are 0 or more and add up to all that were counted: "
                          "they are biased, and "
                          "intervals are not theirs.");
    sotto_text_say(t, "</p>\n");
}

static void say_log(sotto_text *t, const sotto_answer_view *a)
{
    const char *name = a->recipe->anonymity.log;

    sotto_text_say(t, "<h2>Log proof</h2>\n");
    if (a->log) {
        sotto_text_say(t, "<p>Entry %" PRIu64 " of the log ", a->log->index);
        say_text(t, a->log->name);
        sotto_text_say(t,
                       ", in a tree of %" PRIu64
                       " entries that at least %zu witnesses cosigned. It was checked against the "
                       "policy when this page was made; <code>sotto log verify</code> checks it "
                       "again.</p>\n<pre>",
                       a->log->size, a->log->witnesses);
        sotto_text_xml_lines(t, a->log->proof);
        sotto_text_say(t, "</pre>\n");
    } else if (name) {
        sotto_text_say(t, "<p>Not given. The recipe says that it is in the log ");
        say_text(t, name);
        sotto_text_say(t, ".</p>\n");
    } else {
        sotto_text_say(t, "<p>None: the recipe asks for no log.</p>\n");
    }
}

static void say_papers(sotto_text *t, const sotto_answer_view *a)
{
    enum { LONGEST = 16384 };
    uint8_t memory[LONGEST];
    char hash[2 * SOTTO_RECIPE_HASH_SIZE + 1];
    sotto_buf text = sotto_buf_over(memory, sizeof memory);

    if (t->status == SOTTO_OK)
        t->status = sotto_receipt_explain(&text, a->receipt, t->err);
    sotto_text_say(t, "<h2>Receipt</h2>\n<pre>");
    sotto_text_xml_lines(t, sotto_buf_bytes(&text));
    sotto_hex_encode(hash, sotto_bytes_of(a->recipe->hash, sizeof a->recipe->hash));
    sotto_text_say(t, "</pre>\n<h2>Recipe</h2>\n<p class=\"soft\">SHA-256 %s</p>\n<pre>", hash);
    sotto_text_xml_lines(t, a->recipe->text);
    sotto_text_say(t, "</pre>\n");
    say_log(t, a);
}

void sotto_answer_as_html(sotto_text *t, const void *thing)
{
    const sotto_answer_page *p = thing;
    const sotto_answer_view *a = p->of;
    const sotto_result *r = p->result;

    say_head(t, a);
    say_summary(t, a);
    if (r->count == 0 && r->figure_count > 0)
        say_marks(t, r);
    say_figures(t, r);
    if (r->count > 0)
        say_bars(t, p);
    say_legend(t, r);
    for (size_t i = 0; i < p->column_count; i++) {
        sotto_text_say(t, "<h2>By ");
        say_text(t, sotto_recipe_column(a->recipe, i));
        sotto_text_say(t, "</h2>\n");
        say_bars(t, &p->columns[i]);
    }
    if (p->cross)
        sotto_answer_cross_html(t, p);
    if (p->tree)
        say_tree(t, p);
    if (r->count > 0) {
        sotto_text_say(t, "<h2>Table</h2>\n");
        say_table(t, p, "bin");
    }
    for (size_t i = 0; i < p->column_count; i++)
        say_table(t, &p->columns[i], sotto_recipe_column(a->recipe, i));
    say_papers(t, a);
    sotto_text_say(t, "</main>\n</body>\n</html>\n");
}
