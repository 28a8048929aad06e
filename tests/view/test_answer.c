#include "sotto/view.h"

#include "support/recipes.h"
#include "xml.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char OLD[] = "{\"type\": \"buckets\", \"boundaries\": [20, 30, 40, 50, 60, 70, 80], "
                          "\"underflow\": \"oov\", \"overflow\": \"bucket\"}";
static const char HOSTILE[] =
    "{\"type\": \"categories\", \"values\": [\"a,b\", \"say \\\"hi\\\"\", \"</text><script>&'\", "
    "\"\\u009b2J\", \"caf\xc3\xa9\"], \"oov\": true}";

typedef struct answer {
    const sotto_recipe *recipe;
    sotto_result result;
    sotto_receipt receipt;
    sotto_answer_view view;
} answer;

static char memory[1 << 18];

/* Every label of the recipe, its counts falling off into what chance makes of nothing. */
static void make_of(sotto_test *t, answer *a, const char *old, const char *new)
{
    static sotto_mistakes mistakes;
    const sotto_parties *parties = sotto_test_parties(t, NULL, NULL);
    static sotto_collection collection;
    sotto_recipe_claim claim;
    sotto_task task;

    a->recipe = sotto_test_recipe(t, old, new);
    mistakes = (sotto_mistakes){0};
    CHECK_OK(t, sotto_recipe_lint(&claim, a->recipe, NULL, &mistakes, &t->err));
    CHECK_OK(t, sotto_task_compile(&task, a->recipe, parties, 0, &t->arena, &t->err));
    size_t count = (size_t)sotto_recipe_bins(a->recipe);
    sotto_result_bin *bins = sotto_arena_take_array(&t->arena, count, sizeof *bins);
    CHECK(t, bins != NULL);
    for (size_t i = 0; i < count; i++) {
        double truth = 12000 / (double)(1 + i) - 300.25;

        bins[i] = (sotto_result_bin){.bin = i,
                                     .sum = 5000 - (int64_t)i,
                                     .count = truth,
                                     .deviation = 100.5,
                                     .low = truth > 200 ? truth - 200 : 0,
                                     .high = truth > -200 ? truth + 200 : 0};
    }
    a->result = (sotto_result){
        .reports = 41000, .confidence = 0.95, .p = 0.5, .q = 0.125, .bins = bins, .count = count};
    collection = (sotto_collection){.reports = 41000, .from = task.opens, .until = task.closes};
    collection.leader = (sotto_rejections){
        .known = true, .rate = SOTTO_RATE_OFF, .count = 1, .items = {{"report_replayed", 3}}};
    collection.helper.why = "it does not tell";
    sotto_receipt_of(&a->receipt, a->recipe, &task, &claim, &collection, &a->result);
    a->view =
        (sotto_answer_view){.recipe = a->recipe, .result = &a->result, .receipt = &a->receipt};
}

static sotto_bytes show(sotto_test *t, const answer *a, sotto_view_format format, size_t most)
{
    sotto_buf out = sotto_buf_over(memory, sizeof memory - 1);
    sotto_view view = sotto_view_into(&out, format);

    view.most = most;
    CHECK_OK(t, sotto_view_answer(&view, &a->view, &t->arena, &t->err));
    memory[out.len] = 0;
    return sotto_buf_bytes(&out);
}

static void a_text_has_bars_and_the_receipt(sotto_test *t)
{
    answer a;

    make_of(t, &a, NULL, NULL);
    (void)show(t, &a, SOTTO_VIEW_TEXT, 3);
    CHECK(t, strstr(memory, "cohort locale en_US: 41000 reports; estimated counts with 95% "
                            "intervals\n\n") == memory);
    CHECK(t, strstr(memory, "\n  cohort locale en_US\n"));
    CHECK(t,
          strstr(memory, " ################################      11700   28.5%  11500 to 11900\n"));
    CHECK(t, strstr(memory, "bins with smaller counts\n"));
    CHECK(t, !strstr(memory, "is chance"));
    CHECK(t, strstr(memory, "\nreceipt\n") && strstr(memory, "it does not tell"));
    (void)show(t, &a, SOTTO_VIEW_TEXT, 0);
    CHECK(t, strstr(memory, "a count below 0 or above 41000 is chance"));
    CHECK(t, !strstr(memory, "\033") && !strstr(memory, "smaller counts"));
}

static void a_figure_has_all_digits_that_count(sotto_test *t)
{
    answer a;

    make_of(t, &a, NULL, NULL);
    a.result.count = 0;
    a.result.figure_count = 3;
    a.result.figures[0] =
        (sotto_result_figure){"sum", 1234567890.4, 700.5, 1234566517.6, 1234569263.2};
    a.result.figures[1] = (sotto_result_figure){"mean", 37.12345678, 0.0421, 37.04094, 37.20597};
    a.result.figures[2] = (sotto_result_figure){"count", -0.2, 1000, 0, 1960.1};
    (void)show(t, &a, SOTTO_VIEW_TEXT, 0);
    CHECK(t, strstr(memory, "  sum            1234567890  1234566517 to 1234569264\n"));
    CHECK(t, strstr(memory, "  mean           37.1235  37.0409 to 37.2060\n"));
    CHECK(t, strstr(memory, "  count          0  0 to 1961\n"));
}

static void a_count_near_zero_has_no_sign(sotto_test *t)
{
    answer a;

    make_of(t, &a, NULL, NULL);
    a.result.bins[0].count = -0.25;
    a.result.count = 1;
    (void)show(t, &a, SOTTO_VIEW_TEXT, 0);
    CHECK(t, strstr(memory, "          0    0.0%  ") && !strstr(memory, " -0"));
    a.result.bins[0].low = a.result.bins[0].high = -0.0;
    (void)show(t, &a, SOTTO_VIEW_TEXT, 0);
    CHECK(t, strstr(memory, "  0 to 0\n") && !strstr(memory, " -0"));
    (void)show(t, &a, SOTTO_VIEW_SVG, 0);
    CHECK(t, !strstr(memory, ">-0<") && !strstr(memory, " -0"));
}

static void colours_are_for_terminals(sotto_test *t)
{
    sotto_buf out = sotto_buf_over(memory, sizeof memory - 1);
    sotto_view view = sotto_view_into(&out, SOTTO_VIEW_TEXT);
    answer a;

    make_of(t, &a, NULL, NULL);
    view.colours = true;
    CHECK_OK(t, sotto_view_answer(&view, &a.view, &t->arena, &t->err));
    CHECK(t, sotto_test_count(sotto_buf_bytes(&out), "\033[36m\xe2\x96\x88") > 0);
}

static void a_trial_shows_the_truth(sotto_test *t)
{
    sotto_result_check check = {.bins = 4, .missed = 1, .missed_chance = 0.2, .worst_chance = 0.5};
    sotto_answer_trial trial = {.devices = 800, .answered = 700, .epsilon_allowed = 5};
    answer a;

    make_of(t, &a, NULL, NULL);
    uint64_t *truth = sotto_arena_take_array(&t->arena, a.result.count, sizeof *truth);
    CHECK(t, truth != NULL);
    truth[0] = 11700;
    a.view.truth = truth;
    a.view.check = &check;
    a.view.trial = &trial;
    (void)show(t, &a, SOTTO_VIEW_TEXT, 2);
    CHECK(t, strstr(memory, "(truth 11700)\n") && strstr(memory, "(truth 0, missed)\n"));
    CHECK(t, strstr(memory, "check: 1 of 4 intervals miss the truth"));
    json_t *json = json_loads((show(t, &a, SOTTO_VIEW_JSON, 0), memory), 0, NULL);
    json_t *first = json_array_get(json_object_get(json, "bins"), 0);
    CHECK_EQUAL(t, 11700, json_integer_value(json_object_get(first, "truth")));
    CHECK_EQUAL(
        t, 700,
        json_integer_value(json_object_get(json_object_get(json, "trial"), "should_count")));
    CHECK_EQUAL(t, 1,
                json_integer_value(json_object_get(json_object_get(json, "check"), "missed")));
    json_decref(json);
    (void)show(t, &a, SOTTO_VIEW_CSV, 0);
    CHECK(t, strstr(memory, ",high,share,truth\n") && strstr(memory, ",11899.75,0.28") &&
                 strstr(memory, ",11700\n"));
}

static void json_has_every_number_as_it_is(sotto_test *t)
{
    answer a;

    make_of(t, &a, NULL, NULL);
    a.result.has_no_value = true;
    a.result.no_value = (sotto_result_bin){.sum = -3, .count = 0.1 + 0.2, .high = 7};
    json_t *json =
        json_loads((show(t, &a, SOTTO_VIEW_JSON, 2), memory), JSON_REJECT_DUPLICATES, NULL);
    json_t *bins = json_object_get(json, "bins"), *receipt = json_object_get(json, "receipt");
    CHECK_EQUAL(t, a.result.count, json_array_size(bins)); /* whatever `most` says */
    for (size_t i = 0; i < a.result.count; i++) {
        json_t *bin = json_array_get(bins, i);

        CHECK_NEAR(t, a.result.bins[i].count, json_real_value(json_object_get(bin, "count")), 0);
        CHECK_EQUAL(t, i, json_integer_value(json_object_get(bin, "bin")));
        CHECK(t, json_is_string(json_object_get(bin, "label")));
    }
    json_t *none = json_object_get(json, "no_value");
    CHECK_NEAR(t, 0.1 + 0.2, json_real_value(json_object_get(none, "count")), 0);
    CHECK(t, json_integer_value(json_object_get(none, "sum")) == -3);
    CHECK_NEAR(t, a.receipt.epsilon_cohort,
               json_real_value(json_object_get(receipt, "epsilon_cohort")), 0);
    CHECK(t, json_is_null(json_object_get(receipt, "helper_rejections")));
    CHECK(t, json_is_false(json_object_get(receipt, "leader_rate_checked")));
    CHECK(t, strcmp(json_string_value(json_object_get(json, "from")), "2026-11-20T00:00:00Z") == 0);
    json_decref(json);
}

/* A field by RFC 4180, which may hold line feeds; *at moves behind its comma or line feed. */
static size_t read_field(sotto_test *t, char *out, const char **at)
{
    size_t len = 0;
    bool quoted = **at == '"';

    for (*at += quoted; **at; ++*at) {
        if (quoted && **at == '"' && *++*at != '"')
            break;
        if (!quoted && strchr(",\n", **at))
            break;
        CHECK(t, quoted || **at != '"');
        out[len++] = **at;
    }
    CHECK(t, **at == ',' || **at == '\n');
    ++*at;
    out[len] = 0;
    return len;
}

static void csv_reads_back(sotto_test *t)
{
    static const char header[] = "bin,label,sum,count,deviation,low,high,share\n";
    answer a;

    make_of(t, &a, OLD, HOSTILE);
    (void)show(t, &a, SOTTO_VIEW_CSV, 2);
    CHECK(t, strncmp(memory, header, sizeof header - 1) == 0);
    const char *at = memory + sizeof header - 1;
    for (size_t i = 0; i < a.result.count; i++) {
        char field[8][512], label[512];
        sotto_buf wanted = sotto_buf_over(label, sizeof label - 1);

        for (size_t f = 0; f < 8; f++)
            (void)read_field(t, field[f], &at);
        CHECK_OK(t, sotto_recipe_label(a.recipe, &wanted, i, &t->err));
        label[wanted.len] = 0;
        CHECK_EQUAL(t, i, strtoull(field[0], NULL, 10));
        CHECK(t, strcmp(label, field[1]) == 0);
        CHECK_NEAR(t, a.result.bins[i].count, strtod(field[3], NULL), 0);
        CHECK_NEAR(t, a.result.bins[i].high, strtod(field[6], NULL), 0);
        CHECK_NEAR(t, a.result.bins[i].count / 41000, strtod(field[7], NULL), 1e-15);
    }
    CHECK(t, *at == 0);
    CHECK(t, strstr(memory, "\"\"hi\"\""));
    a.result.has_no_value = true;
    (void)show(t, &a, SOTTO_VIEW_CSV, 0);
    CHECK(t, strstr(memory, "\n,no value,0,0,0,0,0,0\n"));
}

static void svg_is_valid_whatever_the_labels(sotto_test *t)
{
    answer a;

    make_of(t, &a, OLD, HOSTILE);
    a.result.has_no_value = true;
    sotto_bytes svg = show(t, &a, SOTTO_VIEW_SVG, 0);
    sotto_test_svg(t, svg);
    CHECK_EQUAL(t, a.result.count + 1, sotto_test_count(svg, "<rect class=\"bar\""));
    CHECK_EQUAL(t, 3 * (a.result.count + 1), sotto_test_count(svg, "<line class=\"error\""));
    CHECK_EQUAL(t, 0, sotto_test_count(svg, "<script"));
    CHECK(t, sotto_test_count(svg, "caf\xc3\xa9") > 0);
    CHECK_EQUAL(t, 1, sotto_test_count(svg, " at delta 1e-06</text>"));
    svg = show(t, &a, SOTTO_VIEW_SVG, 2);
    sotto_test_svg(t, svg);
    CHECK_EQUAL(t, 3, sotto_test_count(svg, "<rect class=\"bar\""));
    CHECK(t, strstr(memory, "bins with smaller counts</text>"));
}

static void bars_stay_within_the_picture(sotto_test *t)
{
    answer a;

    make_of(t, &a, NULL, NULL);
    a.result.bins[0].count = 90000; /* above its own interval and all reports */
    (void)show(t, &a, SOTTO_VIEW_SVG, 0);
    for (const char *at = memory; (at = strstr(at, " width=\"")) != NULL; at++)
        CHECK(t, strtod(at + 8, NULL) >= 0 && strtod(at + 8, NULL) <= 430.01);
    a.result.bins[0].count = a.result.bins[0].high = 0;
    a.result.count = 1; /* nothing at all to scale by */
    sotto_test_svg(t, show(t, &a, SOTTO_VIEW_SVG, 0));
    a.result.count = 0;
    sotto_test_svg(t, show(t, &a, SOTTO_VIEW_SVG, 0));
}

static void a_buffer_that_is_too_small_stays_as_it_was(sotto_test *t)
{
    static const sotto_view_format formats[] = {SOTTO_VIEW_TEXT, SOTTO_VIEW_JSON, SOTTO_VIEW_CSV,
                                                SOTTO_VIEW_SVG};
    answer a;

    make_of(t, &a, NULL, NULL);
    for (size_t i = 0; i < 4; i++) {
        sotto_buf out = sotto_buf_over(memory, 300);
        sotto_view view = sotto_view_into(&out, formats[i]);

        out.len = 7;
        CHECK_STATUS(t, SOTTO_TOO_LARGE, sotto_view_answer(&view, &a.view, &t->arena, &t->err));
        CHECK_EQUAL(t, 7, out.len);
    }
}

static void a_format_that_is_lacking_writes_nothing(sotto_test *t)
{
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    sotto_view view = sotto_view_into(&out, (sotto_view_format)9);
    answer a;

    make_of(t, &a, NULL, NULL);
    CHECK_STATUS(t, SOTTO_DENIED, sotto_view_answer(&view, &a.view, &t->arena, &t->err));
    view.format = SOTTO_VIEW_SVG;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_view_receipt(&view, &a.receipt, &t->err));
    CHECK_EQUAL(t, 0, out.len);
    view.format = SOTTO_VIEW_JSON;
    CHECK_OK(t, sotto_view_receipt(&view, &a.receipt, &t->err));
    CHECK(t, strncmp(memory, "{\n  \"recipe\": \"50001\",\n", 23) == 0);
    out.len = 0;
    view.format = SOTTO_VIEW_TEXT;
    CHECK_OK(t, sotto_view_receipt(&view, &a.receipt, &t->err));
    CHECK(t, strncmp(memory, "receipt\n  recipe 50001", 22) == 0);
}

/* A value is the recipe's author's; nothing in it moves a cursor, and a recipe without cohorts says nothing. */
static void every_format_names_the_cohort(sotto_test *t)
{
    answer a;

    make_of(t, &a, NULL, NULL);
    a.receipt.cohort = (sotto_cohort){
        .number = 1, .count = 2, .fields = {"os", "form"}, .values = {"<b>", "a\033[2J"}};
    (void)show(t, &a, SOTTO_VIEW_TEXT, 1);
    CHECK(t, strstr(memory, "cohort os <b>, form a?[2J: 41000 reports") == memory);
    CHECK(t, strstr(memory, "\n  cohort os <b>, form a?[2J\n"));
    (void)show(t, &a, SOTTO_VIEW_JSON, 1);
    CHECK_EQUAL(t, 2,
                sotto_test_count(sotto_bytes_of(memory, strlen(memory)), "\"cohort_values\": {"));
    CHECK(t, strstr(memory, "\"cohort\": 1,") && strstr(memory, "\"os\": \"<b>\""));
    (void)show(t, &a, SOTTO_VIEW_SVG, 1);
    CHECK(t, strstr(memory, "; cohort os &#60;b&#62;, form a?[2J"));
    a.receipt.cohort = (sotto_cohort){0};
    (void)show(t, &a, SOTTO_VIEW_TEXT, 1);
    CHECK(t, strstr(memory, "41000 reports") == memory && !strstr(memory, "  cohort "));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_text_has_bars_and_the_receipt),
        CASE(a_figure_has_all_digits_that_count),
        CASE(a_count_near_zero_has_no_sign),
        CASE(colours_are_for_terminals),
        CASE(a_trial_shows_the_truth),
        CASE(json_has_every_number_as_it_is),
        CASE(every_format_names_the_cohort),
        CASE(csv_reads_back),
        CASE(svg_is_valid_whatever_the_labels),
        CASE(bars_stay_within_the_picture),
        CASE(a_buffer_that_is_too_small_stays_as_it_was),
        CASE(a_format_that_is_lacking_writes_nothing),
    };

    return RUN_TESTS(argc, argv, cases);
}
