/* Two columns of an answer against each other: a row for each bin of the longer one, cut to the largest counts that fit. */
#include "view/view.h"

#include <stdio.h>
#include <string.h>

enum { WIDTH = 110, LABEL = 24 }; /* of a text */

/* Columns of a cell: "490 to 554", and a space before it. */
static size_t cell_columns(const sotto_result *r)
{
    size_t digits = 1;

    for (uint64_t left = r->reports; left >= 10; left /= 10)
        digits++;
    return 2 * digits + 4 + 2;
}

size_t sotto_answer_cross_fit(const sotto_result *r)
{
    const size_t cell = cell_columns(r);

    return cell + LABEL < WIDTH ? (WIDTH - LABEL) / cell : 1;
}

static const sotto_result_bin *bin_at(const sotto_answer_page *p, size_t row, size_t column)
{
    const sotto_answer_page *rows = &p->cross[0], *columns = &p->cross[1];
    const uint64_t y = rows->sorted[row].bin, x = columns->sorted[column].bin;

    return &p->result->bins[rows->column < columns->column ? y * columns->result->count + x
                                                           : x * rows->result->count + y];
}

/* What was cut off, if anything was. */
static void say_rest(sotto_text *t, const sotto_answer_page *p, const char *before,
                     const char *after)
{
    const size_t rows = p->cross[0].result->count - p->cross[0].most,
                 columns = p->cross[1].result->count - p->cross[1].most;

    if (rows > 0 || columns > 0)
        sotto_text_say(t, "%snot shown: %zu rows and %zu columns of less%s", before, rows, columns,
                       after);
}

/* ---- text ---------------------------------------------------------------------------------------------- */

static void say_padded(sotto_text *t, sotto_bytes text, size_t columns)
{
    const size_t used = sotto_text_columns(text), most = columns - 2;

    sotto_text_say(t, "%*s", (int)(columns - (used < most ? used : most)), "");
    (void)sotto_text_plain_cut(t, text, most);
}

static void say_label(sotto_text *t, sotto_bytes label)
{
    sotto_text_say(t, "  ");
    const size_t used = sotto_text_plain_cut(t, label, LABEL - 4);
    sotto_text_say(t, "%*s", (int)(LABEL - 2 - used), "");
}

static void say_line(sotto_text *t, const sotto_answer_page *p, size_t row, bool intervals)
{
    const size_t columns = cell_columns(p->result);
    char count[SOTTO_NUMBER_TEXT], low[SOTTO_NUMBER_TEXT], high[SOTTO_NUMBER_TEXT],
        cell[3 * SOTTO_NUMBER_TEXT];

    for (size_t i = 0; i < p->cross[1].most; i++) {
        const sotto_result_bin *b = bin_at(p, row, i);

        sotto_number_fixed(count, b->count, 0);
        sotto_number_fixed(low, b->low, 0);
        sotto_number_fixed(high, b->high, 0);
        if (intervals)
            (void)snprintf(cell, sizeof cell, "%s to %s", low, high);
        else
            (void)snprintf(cell, sizeof cell, "%s%s", sotto_result_may_be_zero(b) ? "*" : "",
                           count);
        say_padded(t, sotto_bytes_of(cell, strlen(cell)), columns);
    }
    sotto_text_say(t, "\n");
}

void sotto_answer_cross_text(sotto_text *t, const sotto_answer_page *p)
{
    const sotto_answer_page *rows = &p->cross[0], *columns = &p->cross[1];
    char memory[SOTTO_VIEW_LABEL];

    sotto_text_say(t, "\n%s by %s: counts above their intervals\n\n",
                   sotto_recipe_column(p->of->recipe, rows->column),
                   sotto_recipe_column(p->of->recipe, columns->column));
    sotto_text_say(t, "%*s", LABEL, "");
    for (size_t i = 0; i < columns->most; i++)
        say_padded(t, sotto_answer_name(memory, columns, columns->sorted[i].bin),
                   cell_columns(p->result));
    sotto_text_say(t, "\n");
    for (size_t i = 0; i < rows->most; i++) {
        say_label(t, sotto_answer_name(memory, rows, rows->sorted[i].bin));
        say_line(t, p, i, false);
        sotto_text_say(t, "%*s", LABEL, "");
        say_line(t, p, i, true);
    }
    say_rest(t, p, "  ", "\n");
    sotto_text_say(t, "  *: not distinguishable from 0\n");
}

/* ---- HTML ---------------------------------------------------------------------------------------------- */

static void say_head(sotto_text *t, const sotto_answer_page *of, uint64_t bin)
{
    char memory[SOTTO_VIEW_LABEL];

    sotto_text_say(t, "<th scope=\"col\"><bdi>");
    sotto_text_xml(t, sotto_answer_name(memory, of, bin));
    sotto_text_say(t, "</bdi></th>");
}

static void say_cell(sotto_text *t, const sotto_result_bin *b)
{
    char count[SOTTO_NUMBER_TEXT], low[SOTTO_NUMBER_TEXT], high[SOTTO_NUMBER_TEXT];

    sotto_number_fixed(count, b->count, 0);
    sotto_number_fixed(low, b->low, 0);
    sotto_number_fixed(high, b->high, 0);
    sotto_text_say(t, "<td>%s%s<br/><span class=\"soft\">%s to %s</span></td>",
                   sotto_result_may_be_zero(b) ? "*" : "", count, low, high);
}

void sotto_answer_cross_html(sotto_text *t, const sotto_answer_page *p)
{
    const sotto_answer_page *rows = &p->cross[0], *columns = &p->cross[1];
    const char *down = sotto_recipe_column(p->of->recipe, rows->column),
               *across = sotto_recipe_column(p->of->recipe, columns->column);
    char memory[SOTTO_VIEW_LABEL];

    sotto_text_say(t, "<h2>");
    sotto_text_xml(t, sotto_bytes_of(down, strlen(down)));
    sotto_text_say(t, " by ");
    sotto_text_xml(t, sotto_bytes_of(across, strlen(across)));
    sotto_text_say(t, "</h2>\n<div class=\"wide\"><table><thead><tr><th scope=\"col\">");
    sotto_text_xml(t, sotto_bytes_of(down, strlen(down)));
    sotto_text_say(t, "</th>");
    for (size_t i = 0; i < columns->most; i++)
        say_head(t, columns, columns->sorted[i].bin);
    sotto_text_say(t, "</tr></thead><tbody>\n");
    for (size_t i = 0; i < rows->most; i++) {
        sotto_text_say(t, "<tr><td><bdi>");
        sotto_text_xml(t, sotto_answer_name(memory, rows, rows->sorted[i].bin));
        sotto_text_say(t, "</bdi></td>");
        for (size_t j = 0; j < columns->most; j++)
            say_cell(t, bin_at(p, i, j));
        sotto_text_say(t, "</tr>\n");
    }
    sotto_text_say(t, "</tbody></table></div>\n<p class=\"soft\">*: not distinguishable from 0");
    say_rest(t, p, "; ", "");
    sotto_text_say(t, "</p>\n");
}
