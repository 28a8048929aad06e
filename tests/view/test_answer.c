#include "answers.h"
#include "xml.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void a_text_has_bars_and_the_receipt(sotto_test *t)
{
    answer a;

    make_of(t, &a, NULL, NULL);
    (void)show(t, &a, SOTTO_VIEW_TEXT, 3);
    CHECK(t, strstr(shown, "cohort locale en_US: 41000 reports; estimated counts with 95% "
                           "intervals\n\n") == shown);
    CHECK(t, strstr(shown, "\n  cohort locale en_US\n"));
    CHECK(t,
          strstr(shown, " ################################      11700   28.5%  11500 to 11900\n"));
    CHECK(t, strstr(shown, "bins with smaller counts\n"));
    CHECK(t, !strstr(shown, "is chance"));
    CHECK(t, strstr(shown, "\nreceipt\n") && strstr(shown, "it does not tell"));
    (void)show(t, &a, SOTTO_VIEW_TEXT, 0);
    CHECK(t, strstr(shown, "a count below 0 or above 41000 is chance"));
    CHECK(t, !strstr(shown, "\033") && !strstr(shown, "smaller counts"));
}

static void a_figure_has_all_digits_that_count(sotto_test *t)
{
    answer a;

    make_of(t, &a, NULL, NULL);
    a.result.count = 0;
    a.result.figure_count = 3;
    a.result.figures[0] = (sotto_result_figure){.name = "sum",
                                                .value = 1234567890.4,
                                                .deviation = 700.5,
                                                .low = 1234566517.6,
                                                .high = 1234569263.2};
    a.result.figures[1] = (sotto_result_figure){.name = "mean",
                                                .value = 37.12345678,
                                                .deviation = 0.0421,
                                                .low = 37.04094,
                                                .high = 37.20597};
    a.result.figures[2] =
        (sotto_result_figure){.name = "count", .value = -0.2, .deviation = 1000, .high = 1960.1};
    (void)show(t, &a, SOTTO_VIEW_TEXT, 0);
    CHECK(t, strstr(shown, "  sum            1234567890  1234566517 to 1234569264\n"));
    CHECK(t, strstr(shown, "  mean           37.1235  37.0409 to 37.2060\n"));
    CHECK(t, strstr(shown, "  count          0  0 to 1961  not distinguishable from 0\n"));
}

static void a_count_near_zero_has_no_sign(sotto_test *t)
{
    answer a;

    make_of(t, &a, NULL, NULL);
    a.result.bins[0].count = -0.25;
    a.result.count = 1;
    (void)show(t, &a, SOTTO_VIEW_TEXT, 0);
    CHECK(t, strstr(shown, "          0    0.0%  ") && !strstr(shown, " -0"));
    a.result.bins[0].low = a.result.bins[0].high = -0.0;
    a.result.bins[0].low_all = -0.0;
    (void)show(t, &a, SOTTO_VIEW_TEXT, 0);
    CHECK(t, strstr(shown, "  0 to 0  not distinguishable from 0\n") && !strstr(shown, " -0"));
    (void)show(t, &a, SOTTO_VIEW_SVG, 0);
    CHECK(t, !strstr(shown, ">-0<") && !strstr(shown, " -0"));
}

static void colours_are_for_terminals(sotto_test *t)
{
    sotto_buf out = sotto_buf_over(shown, sizeof shown - 1);
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
    CHECK(t, strstr(shown, "(truth 11700)\n") && strstr(shown, "(truth 0, missed)\n"));
    CHECK(t, strstr(shown, "check: 1 of 4 intervals miss the truth"));
    json_t *json = json_loads((show(t, &a, SOTTO_VIEW_JSON, 0), shown), 0, NULL);
    json_t *first = json_array_get(json_object_get(json, "bins"), 0);
    CHECK_EQUAL(t, 11700, json_integer_value(json_object_get(first, "truth")));
    CHECK_EQUAL(
        t, 700,
        json_integer_value(json_object_get(json_object_get(json, "trial"), "should_count")));
    CHECK_EQUAL(t, 1,
                json_integer_value(json_object_get(json_object_get(json, "check"), "missed")));
    json_decref(json);
    (void)show(t, &a, SOTTO_VIEW_CSV, 0);
    CHECK(t, strstr(shown, ",high_all,above_zero,truth\n") && strstr(shown, ",11899.75,0.28") &&
                 strstr(shown, ",11700\n"));
}

static void json_has_every_number_as_it_is(sotto_test *t)
{
    answer a;

    make_of(t, &a, NULL, NULL);
    a.result.has_no_value = true;
    a.result.no_value = (sotto_result_bin){.sum = -3, .count = 0.1 + 0.2, .high = 7};
    json_t *json =
        json_loads((show(t, &a, SOTTO_VIEW_JSON, 2), shown), JSON_REJECT_DUPLICATES, NULL);
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
    CHECK_NEAR(t, 0.3, json_real_value(json_object_get(receipt, "epsilon_charged")), 1e-12);
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
    static const char header[] =
        "bin,label,sum,count,deviation,low,high,share,low_all,high_all,above_zero\n";
    answer a;

    make_of(t, &a, OLD, HOSTILE);
    (void)show(t, &a, SOTTO_VIEW_CSV, 2);
    CHECK(t, strncmp(shown, header, sizeof header - 1) == 0);
    const char *at = shown + sizeof header - 1;
    for (size_t i = 0; i < a.result.count; i++) {
        char field[11][512], label[512];
        sotto_buf wanted = sotto_buf_over(label, sizeof label - 1);

        for (size_t f = 0; f < 11; f++)
            (void)read_field(t, field[f], &at);
        CHECK_OK(t, sotto_recipe_label(a.recipe, &wanted, i, &t->err));
        label[wanted.len] = 0;
        CHECK_EQUAL(t, i, strtoull(field[0], NULL, 10));
        /* No spreadsheet computes a label: =1+2 has an apostrophe before it. */
        CHECK(t, strcmp(label, field[1] + (label[0] == '=')) == 0);
        CHECK(t, (label[0] == '=') == (field[1][0] == '\''));
        CHECK_NEAR(t, a.result.bins[i].count, strtod(field[3], NULL), 0);
        CHECK_NEAR(t, a.result.bins[i].high, strtod(field[6], NULL), 0);
        CHECK_NEAR(t, a.result.bins[i].count / 41000, strtod(field[7], NULL), 1e-15);
        CHECK_NEAR(t, a.result.bins[i].low_all, strtod(field[8], NULL), 0);
        CHECK(t, strcmp(field[10], a.result.bins[i].low_all > 0 ? "yes" : "no") == 0);
    }
    CHECK(t, *at == 0);
    CHECK(t, strstr(shown, "\"\"hi\"\""));
    CHECK(t, strstr(shown, ",</text><script>&' | ") && strstr(shown, ",p | q<r | "));
    CHECK(t, !strchr(shown, '\\')); /* RFC 4180 knows no other escape than quotes */
    a.result.has_no_value = true;
    (void)show(t, &a, SOTTO_VIEW_CSV, 0);
    CHECK(t, strstr(shown, "\n,no value,0,0,0,0,0,0,0,0,no\n"));
}

static void svg_is_valid_whatever_the_labels(sotto_test *t)
{
    answer a;

    make_of(t, &a, OLD, HOSTILE);
    a.result.has_no_value = true;
    sotto_bytes svg = show(t, &a, SOTTO_VIEW_SVG, 0);
    sotto_test_svg(t, svg);
    CHECK_EQUAL(t, a.result.count, sotto_test_count(svg, "<rect class=\"bar\""));
    CHECK_EQUAL(t, 3 * a.result.count, sotto_test_count(svg, "<line class=\"error\""));
    CHECK_EQUAL(t, 0, sotto_test_count(svg, "<script"));
    CHECK(t, sotto_test_count(svg, "caf\xc3\xa9") > 0);
    CHECK_EQUAL(t, 1, sotto_test_count(svg, " at delta 1e-06</text>"));
    svg = show(t, &a, SOTTO_VIEW_SVG, 2);
    sotto_test_svg(t, svg);
    CHECK_EQUAL(t, 2, sotto_test_count(svg, "<rect class=\"bar\""));
    CHECK(t, strstr(shown, "bins with smaller counts</text>"));
}

/* Most devices may have none, and beside them every bar would be a sliver. */
static void no_value_is_off_the_scale(sotto_test *t)
{
    static const sotto_view_format formats[] = {SOTTO_VIEW_SVG, SOTTO_VIEW_HTML};
    static char before[sizeof shown];

    for (size_t i = 0; i < 2; i++) {
        const char *bar = "<rect class=\"bar\"";
        answer a;

        make_of(t, &a, NULL, NULL);
        a.result.has_no_value = true;
        sotto_bytes page = show(t, &a, formats[i], 0);
        const size_t bars = sotto_test_count(page, bar);
        memcpy(before, shown, sizeof before);
        const char *first = strstr(before, bar);
        a.result.no_value =
            (sotto_result_bin){.count = 1e7, .low = 9e6, .high = 2e7, .high_all = 3e7};
        page = show(t, &a, formats[i], 0);
        CHECK_EQUAL(t, bars, sotto_test_count(page, bar));
        CHECK_EQUAL(t, 1, sotto_test_count(page, "not drawn"));
        const char *same = strstr(shown, bar);
        CHECK(t, first && same && strncmp(first, same, strcspn(first, "\n>")) == 0);
        CHECK(t, strstr(shown, "10000000") && strstr(shown, "9000000"));
    }
}

static void bars_stay_within_the_picture(sotto_test *t)
{
    answer a;

    make_of(t, &a, NULL, NULL);
    a.result.bins[0].count = 90000; /* above its own interval and all reports */
    (void)show(t, &a, SOTTO_VIEW_SVG, 0);
    for (const char *at = shown; (at = strstr(at, " width=\"")) != NULL; at++)
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
                                                SOTTO_VIEW_SVG, SOTTO_VIEW_HTML};
    answer a;

    make_of(t, &a, NULL, NULL);
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        sotto_buf out = sotto_buf_over(shown, 300);
        sotto_view view = sotto_view_into(&out, formats[i]);

        out.len = 7;
        CHECK_STATUS(t, SOTTO_TOO_LARGE, sotto_view_answer(&view, &a.view, &t->arena, &t->err));
        CHECK_EQUAL(t, 7, out.len);
    }
}

static void a_format_that_is_lacking_writes_nothing(sotto_test *t)
{
    sotto_buf out = sotto_buf_over(shown, sizeof shown);
    sotto_view view = sotto_view_into(&out, (sotto_view_format)9);
    answer a;

    make_of(t, &a, NULL, NULL);
    CHECK_STATUS(t, SOTTO_DENIED, sotto_view_answer(&view, &a.view, &t->arena, &t->err));
    view.format = SOTTO_VIEW_SVG;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_view_receipt(&view, &a.receipt, &t->err));
    CHECK_EQUAL(t, 0, out.len);
    view.format = SOTTO_VIEW_JSON;
    CHECK_OK(t, sotto_view_receipt(&view, &a.receipt, &t->err));
    CHECK(t, strncmp(shown, "{\n  \"recipe\": \"50001\",\n", 23) == 0);
    out.len = 0;
    view.format = SOTTO_VIEW_TEXT;
    CHECK_OK(t, sotto_view_receipt(&view, &a.receipt, &t->err));
    CHECK(t, strncmp(shown, "receipt\n  recipe 50001", 22) == 0);
}

/* A value is the recipe's author's; nothing in it moves a cursor, and a recipe without cohorts says nothing. */
static void every_format_names_the_cohort(sotto_test *t)
{
    answer a;

    make_of(t, &a, NULL, NULL);
    a.receipt.cohort = (sotto_cohort){
        .number = 1, .count = 2, .fields = {"os", "form"}, .values = {"<b>", "a\033[2J"}};
    (void)show(t, &a, SOTTO_VIEW_TEXT, 1);
    CHECK(t, strstr(shown, "cohort os <b>, form a?[2J: 41000 reports") == shown);
    CHECK(t, strstr(shown, "\n  cohort os <b>, form a?[2J\n"));
    (void)show(t, &a, SOTTO_VIEW_JSON, 1);
    CHECK_EQUAL(t, 2,
                sotto_test_count(sotto_bytes_of(shown, strlen(shown)), "\"cohort_values\": {"));
    CHECK(t, strstr(shown, "\"cohort\": 1,") && strstr(shown, "\"os\": \"<b>\""));
    (void)show(t, &a, SOTTO_VIEW_SVG, 1);
    CHECK(t, strstr(shown, "; cohort os &#60;b&#62;, form a?[2J"));
    a.receipt.cohort = (sotto_cohort){0};
    (void)show(t, &a, SOTTO_VIEW_TEXT, 1);
    CHECK(t, strstr(shown, "41000 reports") == shown && !strstr(shown, "  cohort "));
}

/* A label of hundreds of characters is cut where there is no room, and whole where a program reads it. */
static void long_labels_are_cut_for_people(sotto_test *t)
{
    char category[241], new[400];
    answer a;

    memset(category, 'w', sizeof category - 1);
    category[sizeof category - 1] = 0;
    (void)snprintf(new, sizeof new,
                   "{\"type\": \"categories\", \"values\": [\"%s\", \"b\"], \"oov\": false}",
                   category);
    make_of(t, &a, OLD, new);
    (void)show(t, &a, SOTTO_VIEW_TEXT, 1);
    CHECK(t, strstr(shown, "wwww... ####"));
    CHECK(t, !strstr(shown, category));
    (void)show(t, &a, SOTTO_VIEW_CSV, 1);
    CHECK(t, strstr(shown, category));
    (void)show_html(t, &a, 1);
    CHECK(t, strstr(shown, category));
    sotto_test_svg(t, show(t, &a, SOTTO_VIEW_SVG, 1));
}

/* ---- what an answer may have besides counts ------------------------------------------------------------- */

static void all_devices_and_adjusted_counts_are_shown(sotto_test *t)
{
    answer a;

    make_of(t, &a, NULL, NULL);
    a.result.rate = 0.1;
    a.result.adjusted = true;
    a.result.wholes = sotto_arena_take_array(&t->arena, a.result.count, sizeof *a.result.wholes);
    CHECK(t, a.result.wholes != NULL);
    a.result.bins[0].adjusted = 11600;
    a.result.wholes[0] = (sotto_result_whole){117000, 1000, 320, 115000, 119000, 114000, 120000};
    (void)show(t, &a, SOTTO_VIEW_TEXT, 1);
    CHECK(t, strstr(shown, "11500 to 11900  adjusted 11600\n"));
    CHECK(
        t,
        strstr(
            shown,
            "adjusted counts are 0 or more and add up to all that were counted: they are biased"));
    CHECK(t, strstr(shown, "of all devices, each of which took part with chance 0.1:"));
    CHECK(t, strstr(shown,
                    "  117000  115000 to 119000  (deviation 1000 by privacy, 320 by sampling)\n"));
    (void)show(t, &a, SOTTO_VIEW_CSV, 1);
    CHECK(t,
          strstr(shown, ",above_zero,adjusted,all_count,all_privacy,all_sampling,all_low,all_high,"
                        "all_low_all,all_high_all\n"));
    CHECK(t, strstr(shown, ",yes,11600,117000,1000,320,115000,119000,114000,120000\n"));
    json_t *json =
        json_loads((show(t, &a, SOTTO_VIEW_JSON, 0), shown), JSON_REJECT_DUPLICATES, NULL);
    json_t *first = json_array_get(json_object_get(json, "bins"), 0);
    CHECK_NEAR(t, 320,
               json_real_value(json_object_get(json_object_get(first, "all_devices"), "sampling")),
               0);
    CHECK(t, json_is_true(json_object_get(first, "above_zero")));
    CHECK_EQUAL(t, 2, json_array_size(json_object_get(json, "columns")));
    CHECK_EQUAL(t, 6, json_array_size(json_object_get(json_object_get(json, "tree"), "phrases")));
    json_decref(json);
    (void)show_html(t, &a, 1);
    CHECK(t, strstr(shown, "<th scope=\"col\">by sampling</th>"));
    CHECK(t, strstr(shown, "Adjusted counts are 0 or more and add up to all that were counted"));
}

static void an_answer_is_shown_by_one_column(sotto_test *t)
{
    sotto_buf out = sotto_buf_over(shown, sizeof shown);
    sotto_view view = sotto_view_into(&out, SOTTO_VIEW_TEXT);
    answer a;

    make_of(t, &a, NULL, NULL);
    a.view.by = "age";
    (void)show(t, &a, SOTTO_VIEW_TEXT, 0);
    CHECK(t, strstr(shown, "by age, whatever the other columns hold:\n\n"));
    CHECK(t, strstr(shown, "\n  [20,30) ") && !strstr(shown, " | "));
    (void)show(t, &a, SOTTO_VIEW_CSV, 0);
    CHECK(t, strstr(shown, "\n1,\"[20,30)\",") && !strstr(shown, " | "));
    sotto_test_svg(t, show(t, &a, SOTTO_VIEW_SVG, 0));
    a.view.by = "size";
    CHECK_STATUS(t, SOTTO_MISSING, sotto_view_answer(&view, &a.view, &t->arena, &t->err));
}

/* Beside bins, a figure is a line without a number. */
static void csv_of_quantiles_has_figures(sotto_test *t)
{
    answer a;

    make_of(t, &a, NULL, NULL);
    a.result.count = 1;
    a.result.figure_count = 1;
    a.result.figures[0] = (sotto_result_figure){
        .name = "quantile 0.5", .value = 37, .deviation = 1.5, .low = 34, .high = 40};
    (void)show(t, &a, SOTTO_VIEW_CSV, 0);
    CHECK(t, strstr(shown, "\n,quantile 0.5,,37,1.5,34,40,,,,\n"));
    a.result.rate = 0.5;
    a.result.figures[0].whole =
        (sotto_result_whole){.count = 37, .privacy = 1.5, .low = 33, .high = 41};
    (void)show(t, &a, SOTTO_VIEW_CSV, 0);
    CHECK(t, strstr(shown, "\n,quantile 0.5,,37,1.5,34,40,,,,,37,1.5,0,33,41,,\n"));
    a.result.count = 0;
    (void)show(t, &a, SOTTO_VIEW_CSV, 0);
    CHECK(
        t,
        strstr(
            shown,
            "figure,value,deviation,low,high,all_value,all_privacy,all_sampling,all_low,all_high\n"
            "quantile 0.5,37,1.5,34,40,37,1.5,0,33,41\n") == shown);
    (void)show_html(t, &a, 0);
    CHECK(t, strstr(shown, "<td>quantile 0.5</td><td>37.0</td>"));
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
        CASE(no_value_is_off_the_scale),
        CASE(bars_stay_within_the_picture),
        CASE(a_buffer_that_is_too_small_stays_as_it_was),
        CASE(a_format_that_is_lacking_writes_nothing),
        CASE(long_labels_are_cut_for_people),
        CASE(all_devices_and_adjusted_counts_are_shown),
        CASE(an_answer_is_shown_by_one_column),
        CASE(csv_of_quantiles_has_figures),
    };

    return RUN_TESTS(argc, argv, cases);
}
