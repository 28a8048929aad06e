/* An answer as CSV: a header, then a line for each bin, or for each figure where there are no bins. */
#include "view/view.h"

#include <inttypes.h>
#include <string.h>

void sotto_text_csv(sotto_text *t, sotto_bytes text)
{
    bool quoted = false;

    for (size_t i = 0; i < text.len; i++)
        quoted = quoted || strchr(",\"\r\n", text.data[i]);
    if (quoted)
        sotto_text_say(t, "\"");
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
    char text[SOTTO_NUMBER_TEXT];

    sotto_number_format(text, x);
    sotto_text_say(t, ",%s", text);
}

static void say_numbers(sotto_text *t, const sotto_result *r, const sotto_result_bin *b)
{
    sotto_text_say(t, ",%" PRId64, b->sum);
    say_number(t, b->count);
    say_number(t, b->deviation);
    say_number(t, b->low);
    say_number(t, b->high);
    say_number(t, sotto_answer_share(r, b));
}

static void say_figures(sotto_text *t, const sotto_result *r)
{
    sotto_text_say(t, "figure,value,deviation,low,high\n");
    for (size_t i = 0; i < r->figure_count; i++) {
        sotto_text_say(t, "%s", r->figures[i].name);
        say_number(t, r->figures[i].value);
        say_number(t, r->figures[i].deviation);
        say_number(t, r->figures[i].low);
        say_number(t, r->figures[i].high);
        sotto_text_say(t, "\n");
    }
}

void sotto_answer_as_csv(sotto_text *t, const void *thing)
{
    const sotto_answer_page *p = thing;
    const sotto_answer_view *a = p->of;
    const sotto_result *r = a->result;
    char memory[SOTTO_VIEW_LABEL];

    if (r->count == 0) {
        say_figures(t, r);
        return;
    }
    sotto_text_say(t, "bin,label,sum,count,deviation,low,high,share%s\n", a->truth ? ",truth" : "");
    for (size_t i = 0; i < r->count; i++) {
        const sotto_result_bin *b = &r->bins[i];

        sotto_text_say(t, "%" PRIu64 ",", b->bin);
        sotto_text_csv(t, sotto_answer_label(memory, a->recipe, b->bin));
        say_numbers(t, r, b);
        if (a->truth)
            sotto_text_say(t, ",%" PRIu64, a->truth[b->bin]);
        sotto_text_say(t, "\n");
    }
    if (!r->has_no_value)
        return;
    sotto_text_say(t, ",no value"); /* no number: it is not one of the recipe's bins */
    say_numbers(t, r, &r->no_value);
    sotto_text_say(t, a->truth ? ",\n" : "\n");
}
