/* An answer as a picture: a bar for each bin, with its interval as an error bar; or a mark for each figure. */
#include "view/view.h"

#include "account/numeric/shown.h"
#include "recipe/task.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { WIDTH = 760, LEFT = 220, RIGHT = 110, TOP = 64, ROW = 24, BAR = 14, BOTTOM = 44 };
enum { LABEL_CHARACTERS = 30, TICKS = 5, FIGURE_ROW = 52 };

void sotto_text_xml(sotto_text *t, sotto_bytes text)
{
    for (size_t at = 0; at < text.len;) {
        uint32_t c = sotto_character_next(text, &at);

        /* Production 2 of XML 1.0; tabs and line feeds are allowed there, and mean nothing in a label. */
        if (c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xfffe || c == 0xffff)
            c = SOTTO_CHARACTER_BAD;
        if (sotto_text_turns(c))
            sotto_text_say(t, "\\u%04x", (unsigned)c);
        else if (c == '&' || c == '<' || c == '>' || c == '"' || c == '\'')
            sotto_text_say(t, "&#%u;", (unsigned)c);
        else
            sotto_text_character(t, c);
    }
}

void sotto_text_xml_lines(sotto_text *t, sotto_bytes text)
{
    for (size_t at = 0, end; at < text.len; at = end + 1) {
        for (end = at; end < text.len && text.data[end] != '\n';)
            end++;
        sotto_text_xml(t, sotto_bytes_of(text.data + at, end - at));
        if (end < text.len)
            sotto_text_say(t, "\n");
    }
}

/* The first characters of a label that is too long for its column, with the rest as dots. */
static void say_cut(sotto_text *t, sotto_bytes label)
{
    size_t at = 0, count = 0;

    while (at < label.len && count < LABEL_CHARACTERS) {
        (void)sotto_character_next(label, &at);
        count++;
    }
    sotto_text_xml(t, sotto_bytes_of(label.data, at));
    if (at < label.len)
        sotto_text_say(t, "\xe2\x80\xa6");
}

/* ---- the scale ----------------------------------------------------------------------------------------- */

/* The largest number that is drawn; more than 0. */
static double most_of(const sotto_answer_page *p)
{
    double most = 1;

    for (size_t i = 0; i < p->most; i++)
        most = fmax(most, fmax(p->sorted[i].count, p->sorted[i].high_all));
    return most;
}

static double place(double x, double most)
{
    return LEFT + fmax(x, 0) / most * (WIDTH - LEFT - RIGHT);
}

/* ---- pieces -------------------------------------------------------------------------------------------- */

/* name="12.5", which no locale turns into 12,5. */
static void say_at(sotto_text *t, const char *name, double x)
{
    char text[SOTTO_NUMBER_TEXT];

    sotto_number_fixed(text, x, 1);
    sotto_text_say(t, " %s=\"%s\"", name, text);
}

static void say_line(sotto_text *t, const char *kind, double x1, double y1, double x2, double y2)
{
    sotto_text_say(t, "<line class=\"%s\"", kind);
    say_at(t, "x1", x1);
    say_at(t, "y1", y1);
    say_at(t, "x2", x2);
    say_at(t, "y2", y2);
    sotto_text_say(t, "/>\n");
}

static void say_bar(sotto_text *t, const sotto_result_bin *b, double most, double middle)
{
    sotto_text_say(t, "<rect class=\"bar\"");
    say_at(t, "x", LEFT);
    say_at(t, "y", middle - (double)BAR / 2);
    say_at(t, "width", place(b->count, most) - LEFT);
    say_at(t, "height", BAR);
    sotto_text_say(t, "/>\n");
    say_line(t, "all", place(b->low_all, most), middle, place(b->high_all, most), middle);
    say_line(t, "error", place(b->low, most), middle, place(b->high, most), middle);
    say_line(t, "error", place(b->low, most), middle - 4, place(b->low, most), middle + 4);
    say_line(t, "error", place(b->high, most), middle - 4, place(b->high, most), middle + 4);
}

/* Without a scale it has its interval in words. */
static void say_row(sotto_text *t, const sotto_result_bin *b, sotto_bytes label, double most,
                    size_t row)
{
    double top = TOP + (double)row * ROW, middle = top + (double)ROW / 2;
    char count[SOTTO_NUMBER_TEXT], low[SOTTO_NUMBER_TEXT], high[SOTTO_NUMBER_TEXT];

    sotto_number_fixed(count, b->count, 0); /* 0, not -0 */
    sotto_number_fixed(low, b->low, 0);
    sotto_number_fixed(high, b->high, 0);
    sotto_text_say(t, "<g><title>");
    sotto_text_xml(t, label);
    sotto_text_say(t, ": %s, from %s to %s%s</title>\n<text text-anchor=\"end\"", count, low, high,
                   sotto_result_may_be_zero(b) ? ", not distinguishable from 0" : "");
    say_at(t, "x", LEFT - 8);
    say_at(t, "y", middle + 4);
    sotto_text_say(t, ">");
    say_cut(t, label);
    sotto_text_say(t, "</text>\n");
    if (most > 0) {
        say_bar(t, b, most, middle);
    } else {
        sotto_text_say(t, "<text");
        say_at(t, "x", LEFT + 8);
        say_at(t, "y", middle + 4);
        sotto_text_say(t, ">from %s to %s, not drawn</text>\n", low, high);
    }
    sotto_text_say(t, "<text");
    say_at(t, "x", WIDTH - RIGHT + 12);
    say_at(t, "y", middle + 4);
    sotto_text_say(t, ">%s</text></g>\n", count);
}

static void say_scale(sotto_text *t, double most, double drawn, double bottom)
{
    double step = sotto_scale_step(most, TICKS);

    for (int i = 0; i * step <= most; i++) {
        double x = place(i * step, most);
        char text[SOTTO_NUMBER_TEXT];

        say_line(t, "grid", x, TOP - 4, x, drawn);
        sotto_number_format(text, i * step);
        sotto_text_say(t, "<text text-anchor=\"middle\"");
        say_at(t, "x", x);
        say_at(t, "y", bottom + 16);
        sotto_text_say(t, ">%s</text>\n", text);
    }
}

static void say_head(sotto_text *t, const sotto_answer_page *p, double height)
{
    const sotto_receipt *receipt = p->of->receipt;
    const sotto_result *r = p->result;
    char confidence[SOTTO_NUMBER_TEXT], cohort[SOTTO_COHORT_TEXT];

    sotto_number_format(confidence, 100 * r->confidence);
    sotto_text_say(
        t,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" viewBox=\"0 0 %d %.0f\" "
        "font-family=\"sans-serif\" font-size=\"12\">\n"
        "<style>.grid{stroke:#ddd}.bar{fill:#7fb2dd}"
        ".error{stroke:#1b3a57;stroke-width:1.5}.all{stroke:#1b3a57;stroke-width:.5}</style>\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
        "<text x=\"16\" y=\"22\" font-size=\"14\">%" PRIu64
        " reports; estimated %s with %s%% intervals%s</text>\n"
        "<text x=\"16\" y=\"40\" font-size=\"11\">recipe ",
        WIDTH, height, r->reports, r->count > 0 || r->figure_count == 0 ? "counts" : "figures",
        confidence, r->count > 0 || r->figure_count == 0 ? ", thin: of all together" : "");
    say_cut(t, sotto_bytes_of(receipt->recipe, strlen(receipt->recipe)));
    sotto_text_say(t, ", version %" PRIu64 ", of ", receipt->version);
    say_cut(t, sotto_bytes_of(receipt->analysis, strlen(receipt->analysis)));
    if (receipt->cohort.count > 0) {
        (void)sotto_cohort_text(cohort, &receipt->cohort);
        sotto_text_say(t, "; cohort ");
        say_cut(t, sotto_bytes_of(cohort, strlen(cohort)));
    }
    /* With the digits that the receipt's words have. */
    sotto_text_say(t, "; epsilon %.4g at delta %.3g</text>\n",
                   sotto_bound_shown(receipt->epsilon_cohort, 4),
                   sotto_bound_shown(receipt->delta, 3));
}

/* ---- figures ------------------------------------------------------------------------------------------- */

static double across(const sotto_figure_mark *m, double x)
{
    return LEFT + sotto_figure_place(m, x) * (WIDTH - LEFT - RIGHT);
}

static void say_ticks(sotto_text *t, const sotto_figure_mark *m, double top, double bottom)
{
    const int steps = (int)((m->to - m->from) / m->step + 0.5);

    for (int i = 0; i <= steps; i++) {
        const double at = m->from + i * m->step, x = across(m, at);
        char text[SOTTO_NUMBER_TEXT];

        say_line(t, "grid", x, top, x, bottom);
        sotto_number_fixed(text, at, (int)fmin(fmax(ceil(-log10(m->step) - 1e-9), 0), 9));
        sotto_text_say(t, "<text text-anchor=\"middle\" font-size=\"10\"");
        say_at(t, "x", x);
        say_at(t, "y", bottom + 12);
        sotto_text_say(t, ">%s</text>\n", text);
    }
}

static void say_mark(sotto_text *t, const sotto_figure_mark *m, double top)
{
    const double middle = top + 14, low = across(m, m->low), high = across(m, m->high);
    const int digits = sotto_answer_digits(m->deviation);
    char value[SOTTO_NUMBER_TEXT], from[SOTTO_NUMBER_TEXT], to[SOTTO_NUMBER_TEXT];

    sotto_number_fixed(value, m->value, digits);
    sotto_number_fixed(from, m->low, digits);
    sotto_number_fixed(to, m->high, digits);
    sotto_text_say(t, "<g><title>%s%s: %s, from %s to %s</title>\n<text text-anchor=\"end\"",
                   m->name, m->of, value, from, to);
    say_at(t, "x", LEFT - 8);
    say_at(t, "y", middle + 4);
    sotto_text_say(t, ">%s%s</text>\n", m->name, m->of);
    say_ticks(t, m, top, top + 28);
    sotto_text_say(t, "<circle class=\"bar\" r=\"6\"");
    say_at(t, "cx", across(m, m->value));
    say_at(t, "cy", middle);
    sotto_text_say(t, "/>\n");
    say_line(t, "error", low, middle, high, middle);
    say_line(t, "error", low, middle - 5, low, middle + 5);
    say_line(t, "error", high, middle - 5, high, middle + 5);
    sotto_text_say(t, "<text");
    say_at(t, "x", WIDTH - RIGHT + 12);
    say_at(t, "y", middle + 4);
    sotto_text_say(t, ">%s</text></g>\n", value);
}

static void say_marks(sotto_text *t, const sotto_answer_page *p)
{
    sotto_figure_mark marks[SOTTO_FIGURE_MARKS];
    const size_t count = sotto_figure_marks(marks, p->result);

    say_head(t, p, TOP + (double)count * FIGURE_ROW + 8);
    for (size_t i = 0; i < count; i++)
        say_mark(t, &marks[i], TOP + (double)i * FIGURE_ROW);
    sotto_text_say(t, "</svg>\n");
}

/* ---- bins ---------------------------------------------------------------------------------------------- */

void sotto_answer_as_svg(sotto_text *t, const void *thing)
{
    static const char no_value[] = "no value";
    const sotto_answer_page *p = thing;
    const sotto_result *r = p->result;
    size_t rows = p->most + r->has_no_value;
    double most = most_of(p), bottom = TOP + (double)rows * ROW,
           drawn = TOP + (double)p->most * ROW;
    char memory[SOTTO_VIEW_LABEL];

    if (r->count == 0 && r->figure_count > 0) {
        say_marks(t, p);
        return;
    }
    say_head(t, p, bottom + BOTTOM);
    say_scale(t, most, drawn, bottom);
    for (size_t i = 0; i < p->most; i++)
        say_row(t, &p->sorted[i], sotto_answer_name(memory, p, p->sorted[i].bin), most, i);
    if (r->has_no_value)
        say_row(t, &r->no_value, sotto_bytes_of(no_value, sizeof no_value - 1), 0, p->most);
    if (p->most < r->count) {
        sotto_text_say(t, "<text x=\"16\"");
        say_at(t, "y", bottom + BOTTOM - 10);
        sotto_text_say(t, ">and %zu bins with smaller counts</text>\n", r->count - p->most);
    }
    sotto_text_say(t, "</svg>\n");
}
