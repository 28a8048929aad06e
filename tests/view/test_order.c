/* Answers that people look at: figures without bins as pictures, bars in order, and a page that can be read anywhere. */
#include "sotto/view.h"

#include "support/recipes.h"
#include "view/view.h"
#include "xml.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static char memory[1 << 18];

/* ---- figures -------------------------------------------------------------------------------------------- */

typedef struct answer {
    sotto_result result;
    sotto_receipt receipt;
    sotto_answer_view view;
} answer;

static void make(sotto_test *t, answer *a)
{
    static sotto_mistakes mistakes;
    static sotto_collection collection;
    const sotto_recipe *recipe = sotto_test_recipe(t, NULL, NULL);
    sotto_recipe_claim claim;
    sotto_task task;

    memset(&mistakes, 0, sizeof mistakes);
    CHECK_OK(t, sotto_recipe_lint(&claim, recipe, NULL, &mistakes, &t->err));
    CHECK_OK(t, sotto_task_compile(&task, recipe, sotto_test_parties(t, NULL, NULL), 0, &t->arena,
                                   &t->err));
    a->result = (sotto_result){.reports = 41000, .confidence = 0.95, .p = 0.5, .q = 0.125};
    collection = (sotto_collection){.reports = 41000, .from = task.opens, .until = task.closes};
    sotto_receipt_of(&a->receipt, recipe, &task, &claim, &collection, &a->result);
    a->view = (sotto_answer_view){.recipe = recipe, .result = &a->result, .receipt = &a->receipt};
}

static sotto_bytes show(sotto_test *t, const answer *a, sotto_view_format format)
{
    sotto_buf out = sotto_buf_over(memory, sizeof memory - 1);
    sotto_view view = sotto_view_into(&out, format);

    CHECK_OK(t, sotto_view_answer(&view, &a->view, &t->arena, &t->err));
    memory[out.len] = 0;
    return sotto_buf_bytes(&out);
}

/* Without bins there is a mark for each figure, on a scale of its own, and its interval is within the scale. */
static void figures_without_bins_are_drawn_on_scales(sotto_test *t)
{
    static const sotto_result_figure figures[] = {
        {.name = "mean", .value = 14.563, .deviation = 0.31, .low = 13.951, .high = 15.173},
        {.name = "count", .value = 41012.4, .deviation = 12, .low = 40990, .high = 41000},
        {.name = "sum", .value = -3e9, .deviation = 1e6, .low = -3.002e9, .high = -2.998e9},
        {.name = "count", .value = 3, .deviation = 12, .low = 0, .high = 26},
        {.name = "quantile 0.5", .value = 512, .deviation = 0, .low = 512, .high = 512},
        {.name = "mean", .value = 0, .deviation = 0, .low = 0, .high = 0},
    };
    answer a;

    make(t, &a);
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        sotto_figure_mark marks[SOTTO_FIGURE_MARKS];

        a.result.figures[0] = figures[i];
        a.result.figure_count = 1;
        CHECK_EQUAL(t, 1, sotto_figure_marks(marks, &a.result));
        CHECK(t, marks[0].from <= fmin(figures[i].low, figures[i].value));
        CHECK(t, marks[0].to >= fmax(figures[i].high, figures[i].value));
        CHECK(t, marks[0].from < marks[0].to && marks[0].step > 0);
        CHECK(t, (marks[0].to - marks[0].from) / marks[0].step < 9);
        CHECK(t, figures[i].low < 0 || marks[0].from >= 0);
        sotto_bytes shown = show(t, &a, SOTTO_VIEW_SVG);
        sotto_test_svg(t, shown);
        CHECK_EQUAL(t, 1, sotto_test_count(shown, "<circle class=\"bar\""));
        CHECK_EQUAL(t, 3, sotto_test_count(shown, "<line class=\"error\""));
        CHECK_EQUAL(t, 0, sotto_test_count(shown, "nan") + sotto_test_count(shown, "inf"));
        shown = show(t, &a, SOTTO_VIEW_HTML);
        CHECK_EQUAL(t, 1, sotto_test_count(shown, "<rect class=\"bar\""));
        CHECK_EQUAL(t, 3, sotto_test_count(shown, "<line class=\"error\""));
    }
    a.result.figures[0] = figures[0];
    a.result.figures[0].whole =
        (sotto_result_whole){.count = 14.563, .privacy = 0.31, .low = 13.5, .high = 15.6};
    a.result.rate = 0.5;
    (void)show(t, &a, SOTTO_VIEW_SVG);
    CHECK(t, strstr(memory, "estimated figures with 95% intervals</text>"));
    CHECK(t, strstr(memory, "<title>mean: 14.56, from 13.95 to 15.17</title>"));
    CHECK(t, strstr(memory, ">mean, of all devices</text>"));
    (void)show(t, &a, SOTTO_VIEW_HTML);
    CHECK(t, strstr(memory, "13.95 to 15.17; drawn from 13 to 16</span>"));
}

/* ---- order ---------------------------------------------------------------------------------------------- */

static bool stands_before(const char *first, const char *second)
{
    const char *a = strstr(memory, first), *b = strstr(memory, second);

    return a && b && a < b;
}

/* Ages in the order of ages, and phrases with the largest counts first. Both leave out the smallest counts. */
static void numbers_are_shown_in_their_order(sotto_test *t)
{
    static const sotto_view_format formats[] = {SOTTO_VIEW_TEXT, SOTTO_VIEW_SVG};
    static sotto_result_bin bins[4096];
    answer a;

    make(t, &a);
    a.result.bins = bins;
    a.result.count = (size_t)sotto_recipe_bins(a.view.recipe);
    CHECK(t, a.result.count <= sizeof bins / sizeof bins[0]);
    for (size_t i = 0; i < a.result.count; i++) /* the later a bin, the larger */
        bins[i] = (sotto_result_bin){.bin = i, .sum = 6000 + (int64_t)i, .deviation = 1};
    for (size_t i = 0; i < 2; i++) {
        a.view.by = "age";
        (void)show(t, &a, formats[i]);
        CHECK(t, stands_before("[20,30)", "[30,40)") && stands_before("[60,70)", "[70,80)"));
        a.view.by = "ngram";
        (void)show(t, &a, formats[i]);
        CHECK(t, stands_before("i went", "hello world"));
    }
    /* The bar of the largest count is the longest, wherever it stands. */
    a.view.by = "age";
    (void)show(t, &a, SOTTO_VIEW_TEXT);
    CHECK(t, strstr(memory, "\n  [20,30) ################################ ") == NULL);
    CHECK(t, strstr(memory, "################################ ") != NULL);
}

/* ---- the page --------------------------------------------------------------------------------------------- */

/* The luminance of #rgb or #rrggbb (Web Content Accessibility Guidelines 2.1, "relative luminance"). */
static double luminance(const char *colour)
{
    static const double part[] = {0.2126, 0.7152, 0.0722};
    const bool brief = strspn(colour + 1, "0123456789abcdef") == 3;
    double all = 0;

    for (size_t i = 0; i < 3; i++) {
        const char digits[3] = {colour[brief ? 1 + i : 1 + 2 * i],
                                colour[brief ? 1 + i : 2 + 2 * i], 0};
        const double c = (double)strtol(digits, NULL, 16) / 255;

        all += part[i] * (c <= 0.03928 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4));
    }
    return all;
}

/* How far a colour is from the paper's, in the part of the style that begins here: 1 to 21. */
static double contrast(sotto_test *t, const char *style, const char *name)
{
    const char *paper = strstr(style, "--paper:#"), *other = strstr(style, name);

    CHECK(t, paper != NULL && other != NULL);
    const double a = luminance(paper + strlen("--paper:")), b = luminance(other + strlen(name));
    return (fmax(a, b) + 0.05) / (fmin(a, b) + 0.05);
}

/* On a phone, on paper, in the light and in the dark. */
static void a_page_is_readable_wherever_it_is_read(sotto_test *t)
{
    static const char *const where[] = {":root{color-scheme:light dark;",
                                        "@media(prefers-color-scheme:dark){:root{",
                                        "@media print{:root{"};
    answer a;

    make(t, &a);
    a.result.figures[0] = (sotto_result_figure){.name = "mean", .value = 14, .low = 13, .high = 15};
    a.result.figure_count = 1;
    (void)show(t, &a, SOTTO_VIEW_HTML);
    CHECK(t, strstr(memory, "<meta name=\"viewport\" content=\"width=device-width, "
                            "initial-scale=1\"/>"));
    /* In a narrow window a bar has a line of its own, and a table scrolls within itself. */
    CHECK(t, strstr(memory, "@media(max-width:44rem){.bars li{grid-template-columns:1fr;"));
    CHECK(t, strstr(memory, ".wide{overflow-x:auto}") &&
                 strstr(memory, "<div class=\"wide\"><table>"));
    CHECK(t, strstr(memory, "break-inside:avoid")); /* no bar is cut by the end of a sheet */
    for (size_t i = 0; i < sizeof where / sizeof where[0]; i++) {
        const char *style = strstr(memory, where[i]);

        CHECK(t, style != NULL);
        CHECK(t, contrast(t, style, "--ink:") >= 7);
        CHECK(t, contrast(t, style, "--soft:") >= 4.5);
        CHECK(t, contrast(t, style, "--mark:") >= 4.5);
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(figures_without_bins_are_drawn_on_scales),
        CASE(numbers_are_shown_in_their_order),
        CASE(a_page_is_readable_wherever_it_is_read),
    };

    return RUN_TESTS(argc, argv, cases);
}
