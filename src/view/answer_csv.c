/* An answer as CSV: a header, then a line for each bin and each figure. */
#include "view/view.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* "-12", "+4.5", "-1e+20": a sign, digits with a point among them, and perhaps an exponent. */
static bool is_signed_number(sotto_bytes text)
{
    size_t at = 1, digits = 0;

    if (text.len < 2 || !memchr("+-", text.data[0], 2))
        return false;
    for (; at < text.len && memchr("0123456789.", text.data[at], 11); at++)
        digits += text.data[at] != '.';
    if (digits > 0 && at + 1 < text.len && memchr("eE", text.data[at], 2)) {
        at += memchr("+-", text.data[at + 1], 2) ? 2 : 1;
        for (digits = 0; at < text.len && memchr("0123456789", text.data[at], 10); at++)
            digits++;
    }
    return digits > 0 && at == text.len;
}

/* Spreadsheets compute a cell that begins like this, quoted or not, and labels may be what strangers typed. */
static bool is_formula(sotto_bytes text)
{
    size_t from = 0;

    while (from < text.len && text.data[from] == '\'')
        from++;
    return from < text.len && memchr("=+-@\t\r", text.data[from], 6) && !is_signed_number(text);
}

/* A formula gets an apostrophe before it, and so does one that has some already: whoever reads it takes one off. */
void sotto_text_csv(sotto_text *t, sotto_bytes text)
{
    bool quoted = false;

    for (size_t i = 0; i < text.len; i++)
        quoted = quoted || strchr(",\"\r\n", text.data[i]);
    if (quoted)
        sotto_text_say(t, "\"");
    if (is_formula(text))
        sotto_text_say(t, "'");
    for (size_t at = 0; at < text.len;) {
        uint32_t c = sotto_character_next(text, &at);

        if (c == '"')
            sotto_text_say(t, "\"");
        sotto_text_character(t, c);
    }
    if (quoted)
        sotto_text_say(t, "\"");
}

static void say_number(sotto_text *t, double x)
{
    char text[SOTTO_NUMBER_TEXT] = "";

    if (isfinite(x))
        sotto_number_format(text, x);
    sotto_text_say(t, ",%s", text);
}

static void say_figure_whole(sotto_text *t, const sotto_result_whole *w)
{
    say_number(t, w->count);
    say_number(t, w->privacy);
    say_number(t, w->sampling);
    say_number(t, w->low);
    say_number(t, w->high);
}

static void say_whole(sotto_text *t, const sotto_result_whole *w)
{
    say_figure_whole(t, w);
    say_number(t, w->low_all);
    say_number(t, w->high_all);
}

/* Behind the label; whole: NULL where there is none. */
static void say_numbers(sotto_text *t, const sotto_result *r, const sotto_result_bin *b,
                        const sotto_result_whole *whole)
{
    sotto_text_say(t, ",%" PRId64, b->sum);
    say_number(t, b->count);
    say_number(t, b->deviation);
    say_number(t, b->low);
    say_number(t, b->high);
    say_number(t, sotto_answer_share(r, b));
    say_number(t, b->low_all);
    say_number(t, b->high_all);
    sotto_text_say(t, ",%s", sotto_result_may_be_zero(b) ? "no" : "yes");
    if (r->adjusted)
        say_number(t, b->adjusted);
    if (whole)
        say_whole(t, whole);
    else if (r->rate > 0)
        sotto_text_say(t, ",,,,,,,");
}

static void say_figure(sotto_text *t, const sotto_result_figure *f)
{
    say_number(t, f->value);
    say_number(t, f->deviation);
    say_number(t, f->low);
    say_number(t, f->high);
}

/* Of an answer without bins. */
static void say_figures(sotto_text *t, const sotto_result *r)
{
    sotto_text_say(t, "figure,value,deviation,low,high%s\n",
                   r->rate > 0 ? ",all_value,all_privacy,all_sampling,all_low,all_high" : "");
    for (size_t i = 0; i < r->figure_count; i++) {
        sotto_text_say(t, "%s", r->figures[i].name);
        say_figure(t, &r->figures[i]);
        if (r->rate > 0)
            say_figure_whole(t, &r->figures[i].whole);
        sotto_text_say(t, "\n");
    }
}

/* Beside bins a figure is a line without a bin: its value stands where counts do. */
static void say_figure_lines(sotto_text *t, const sotto_answer_page *p)
{
    const sotto_result *r = p->result;

    for (size_t i = 0; i < r->figure_count; i++) {
        sotto_text_say(t, ",%s,", r->figures[i].name);
        say_figure(t, &r->figures[i]);
        sotto_text_say(t, ",,,,%s", r->adjusted ? "," : "");
        if (r->rate > 0) {
            say_figure_whole(t, &r->figures[i].whole);
            sotto_text_say(t, ",,");
        }
        sotto_text_say(t, p->truth ? ",\n" : "\n");
    }
}

static void say_header(sotto_text *t, const sotto_answer_page *p)
{
    const sotto_result *r = p->result;

    sotto_text_say(
        t, "bin,label,sum,count,deviation,low,high,share,low_all,high_all,above_zero%s%s%s\n",
        r->adjusted ? ",adjusted" : "",
        r->rate > 0 ? ",all_count,all_privacy,all_sampling,all_low,all_high,all_low_all,"
                      "all_high_all"
                    : "",
        p->truth ? ",truth" : "");
}

void sotto_answer_as_csv(sotto_text *t, const void *thing)
{
    const sotto_answer_page *p = thing;
    const sotto_result *r = p->result;
    char memory[SOTTO_VIEW_LABEL];

    if (r->count == 0) {
        say_figures(t, r);
        return;
    }
    say_header(t, p);
    for (size_t i = 0; i < r->count; i++) {
        const sotto_result_bin *b = &r->bins[i];

        sotto_text_say(t, "%" PRIu64 ",", b->bin);
        sotto_text_csv(t, sotto_answer_label(memory, p, b->bin));
        say_numbers(t, r, b, r->wholes ? &r->wholes[i] : NULL);
        if (p->truth)
            sotto_text_say(t, ",%" PRIu64, p->truth[b->bin]);
        sotto_text_say(t, "\n");
    }
    if (r->has_no_value) {
        sotto_text_say(t, ",no value"); /* no number: it is not one of the recipe's bins */
        say_numbers(t, r, &r->no_value, NULL);
        sotto_text_say(t, p->truth ? ",\n" : "\n");
    }
    say_figure_lines(t, p);
}
