/* Budgets: the three checks of Table 1, and what time and policies change. */
#include "support/ledger.h"

#include <stdio.h>
#include <string.h>

#define NOW SOTTO_TEST_NOW
#define ONE UINT64_C(1000000000000)

/* ---- the three checks --------------------------------------------------------------------------------- */

static void table_1_as_printed_refuses_the_second_recipe(sotto_test *t)
{
    sotto_ledger *ledger = sotto_test_ledger(t, NULL, NULL, &sotto_test_table1);
    sotto_charge first = sotto_test_charge(t, "50001", "0.3");
    sotto_charge second = sotto_test_charge(t, "50002", "0.3");
    sotto_refusal refusal;

    CHECK_OK(t, sotto_ledger_check(ledger, &first, NOW, &refusal, &t->err));
    CHECK_OK(t, sotto_test_spend(t, ledger, &first, 1, NOW));
    CHECK_STATUS(t, SOTTO_DENIED, sotto_ledger_check(ledger, &second, NOW, &refusal, &t->err));
    CHECK_EQUAL(t, 1, refusal.check);
    CHECK(t, strcmp(refusal.subject, SOTTO_TEST_ANALYSIS) == 0);
    CHECK_REASON(t, "1 of 1 reports are used");
    CHECK(t, strstr(refusal.text, "0.3 of 0.5 is spent, this asks for 0.3; 0.2 would still fit"));
    CHECK_STATUS(t, SOTTO_DENIED, sotto_test_spend(t, ledger, &second, 2, NOW));
    CHECK_EQUAL(t, 1, sotto_test_spent(t, ledger, NOW).reports); /* a refusal costs nothing */
    sotto_ledger_close(ledger);
}

static void more_reports_are_refused_by_the_most_sensitive_field(sotto_test *t)
{
    sotto_analysis_budget analysis = sotto_test_table1.analyses[0];
    sotto_budget_table table = sotto_test_table1;
    sotto_charge second = sotto_test_charge(t, "50002", "0.2");
    sotto_charge first = sotto_test_charge(t, "50001", "0.3");
    sotto_refusal refusal;

    analysis.reports = 3;
    table.analyses = &analysis;
    second.min_cohort = 100000;
    sotto_ledger *ledger = sotto_test_ledger(t, NULL, NULL, &table);
    CHECK_OK(t, sotto_test_spend(t, ledger, &first, 1, NOW));
    CHECK_STATUS(t, SOTTO_DENIED, sotto_ledger_check(ledger, &second, NOW, &refusal, &t->err));
    CHECK_EQUAL(t, 2, refusal.check);
    CHECK(t, strcmp(refusal.subject, "keyboard_ngrams.age") == 0);
    CHECK_REASON(t, "0.3 of 0.3 is spent");
    sotto_ledger_close(ledger);
}

static void a_cohort_too_small_is_told_which_would_do(sotto_test *t)
{
    sotto_ledger *ledger = sotto_test_ledger(t, NULL, NULL, &sotto_test_table1);
    sotto_charge charge = sotto_test_charge(t, "50001", "0.3");
    sotto_refusal refusal;

    charge.min_cohort = 20000; /* enough if all of them were honest */
    CHECK_STATUS(t, SOTTO_DENIED, sotto_ledger_check(ledger, &charge, NOW, &refusal, &t->err));
    CHECK_EQUAL(t, 3, refusal.check);
    CHECK_REASON(t, "10000 honest of 20000");
    CHECK_REASON(t, "a cohort of 39202 would do"); /* 42 / sqrt(19600) is 0.3, rounded */
    charge.min_cohort = 39202;
    CHECK_OK(t, sotto_ledger_check(ledger, &charge, NOW, &refusal, &t->err));
    charge.min_cohort = 39199;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_ledger_check(ledger, &charge, NOW, &refusal, &t->err));
    sotto_ledger_close(ledger);
}

static void a_cohort_of_one_protects_nobody(sotto_test *t)
{
    sotto_ledger *ledger = sotto_test_ledger(t, NULL, NULL, &sotto_test_table1);
    sotto_charge charge = sotto_test_charge(t, "50001", "0.3");
    sotto_refusal refusal;

    for (charge.min_cohort = 0; charge.min_cohort < 4; charge.min_cohort++) {
        CHECK_STATUS(t, SOTTO_DENIED, sotto_ledger_check(ledger, &charge, NOW, &refusal, &t->err));
        CHECK_EQUAL(t, 3, refusal.check);
        CHECK_REASON(t, "a cohort of 39202 would do");
    }
    charge = sotto_test_charge(t, "50001", "0.000000000001");
    CHECK_STATUS(t, SOTTO_DENIED, sotto_ledger_check(ledger, &charge, NOW, &refusal, &t->err));
    CHECK_REASON(t, "no cohort would do");
    sotto_ledger_close(ledger);
}

static void a_device_joins_no_cohort_below_its_policys(sotto_test *t)
{
    sotto_budget_table table = sotto_test_table1;
    sotto_charge charge = sotto_test_charge(t, "50001", "0.3");

    table.min_cohort = 50000;
    sotto_ledger *ledger = sotto_test_ledger(t, NULL, NULL, &table);
    CHECK_STATUS(t, SOTTO_DENIED, sotto_ledger_check(ledger, &charge, NOW, NULL, &t->err));
    CHECK_REASON(t, "none below 50000");
    sotto_ledger_close(ledger);
}

static void tenths_add_up_exactly(sotto_test *t)
{
    sotto_budget_table table = sotto_test_wide;
    sotto_analysis_budget analysis = table.analyses[0];
    sotto_charge a = sotto_test_charge(t, "a", "0.1"), b = sotto_test_charge(t, "b", "0.2");
    sotto_charge c = sotto_test_charge(t, "c", "0.000000000001");

    analysis.epsilon = sotto_test_decimal(t, "0.3");
    table.analyses = &analysis;
    a.min_cohort = b.min_cohort = 1000000;
    c.min_cohort = a.min_cohort;
    sotto_ledger *ledger = sotto_test_ledger(t, NULL, NULL, &table);
    CHECK_OK(t, sotto_test_spend(t, ledger, &a, 1, NOW));
    CHECK_OK(t, sotto_test_spend(t, ledger, &b, 2, NOW));
    CHECK_STATUS(t, SOTTO_DENIED, sotto_test_spend(t, ledger, &c, 3, NOW));
    CHECK_REASON(t, "0.3 of 0.3 is spent, this asks for 0.000000000001; 0 would still fit");
    sotto_ledger_close(ledger);
}

static void a_local_epsilon_against_no_value_counts_twice(sotto_test *t)
{
    sotto_ledger *ledger = sotto_test_ledger(t, NULL, NULL, &sotto_test_table1);
    sotto_charge charge = sotto_test_charge(t, "50001", "0.3");

    charge.local_adjacency = SOTTO_ADJACENCY_DELETION;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_ledger_check(ledger, &charge, NOW, NULL, &t->err));
    CHECK_REASON(t, "one report may cost 2 in the replacement model, this asks for 4");
    charge.local = sotto_test_decimal(t, "1");
    CHECK_OK(t, sotto_ledger_check(ledger, &charge, NOW, NULL, &t->err));
    charge.local_adjacency = SOTTO_ADJACENCY_ADD_REMOVE;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_ledger_check(ledger, &charge, NOW, NULL, &t->err));
    sotto_ledger_close(ledger);
}

static void a_report_keeps_to_each_fields_own_cap(sotto_test *t)
{
    sotto_ledger *ledger = sotto_test_ledger(t, NULL, NULL, &sotto_test_table1);
    sotto_charge charge = sotto_test_charge(t, "50001", "0.3");

    charge.local = sotto_test_decimal(t, "2.000000000001");
    CHECK_STATUS(t, SOTTO_DENIED, sotto_ledger_check(ledger, &charge, NOW, NULL, &t->err));
    CHECK_REASON(t, "field keyboard_ngrams.age");
    sotto_ledger_close(ledger);
}

/* The first field of a table with another line for it. */
static sotto_ledger *with_line(sotto_test *t, sotto_budget_table *table,
                               sotto_field_budget lines[2], unsigned not_by, bool local_none)
{
    *table = sotto_test_wide;
    for (size_t i = 0; i < 2; i++) {
        lines[i] = table->fields[i];
        lines[i].not_by = not_by;
        lines[i].local_none = local_none;
    }
    table->fields = lines;
    return sotto_test_ledger(t, NULL, NULL, table);
}

static void who_adds_noise_is_the_policy_s_choice(sotto_test *t)
{
    sotto_charge charge = sotto_test_charge(t, "50001", "0.3");
    sotto_field_budget lines[2];
    sotto_budget_table table;
    sotto_ledger *ledger = with_line(t, &table, lines, 1U << 2, true);

    charge.by = 2;
    charge.by_name = "servers";
    CHECK_STATUS(t, SOTTO_DENIED, sotto_ledger_check(ledger, &charge, NOW, NULL, &t->err));
    CHECK_REASON(t, "does not allow noise by servers");
    charge.by = 1;
    CHECK_OK(t, sotto_ledger_check(ledger, &charge, NOW, NULL, &t->err));
    sotto_ledger_close(ledger);
}

static void a_report_without_local_protection_needs_the_policy_s_word(sotto_test *t)
{
    sotto_charge charge = sotto_test_charge(t, "50001", "0.3");
    sotto_field_budget lines[2];
    sotto_budget_table table;
    sotto_ledger *ledger = with_line(t, &table, lines, 0, false);

    charge.unprotected = true;
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_ledger_check(ledger, &charge, NOW, NULL, &t->err));
    charge.local.units = 0;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_ledger_check(ledger, &charge, NOW, NULL, &t->err));
    CHECK_REASON(t, "insists on a local epsilon");
    sotto_ledger_close(ledger);
    ledger = with_line(t, &table, lines, 0, true);
    CHECK_OK(t, sotto_ledger_check(ledger, &charge, NOW, NULL, &t->err));
    charge.unprotected = false; /* nothing costs nothing */
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_ledger_check(ledger, &charge, NOW, NULL, &t->err));
    charge.local = sotto_test_decimal(t, "20"); /* no cap where none is allowed */
    CHECK_OK(t, sotto_ledger_check(ledger, &charge, NOW, NULL, &t->err));
    sotto_ledger_close(ledger);
}

static void budgets_count_in_the_replacement_model_only(sotto_test *t)
{
    sotto_ledger *ledger = sotto_test_ledger(t, NULL, NULL, &sotto_test_table1);
    sotto_charge charge = sotto_test_charge(t, "50001", "0.3");

    charge.adjacency = SOTTO_ADJACENCY_DELETION;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_ledger_check(ledger, &charge, NOW, NULL, &t->err));
    sotto_ledger_close(ledger);
}

static void deltas_are_spent_too(sotto_test *t)
{
    sotto_budget_table table = sotto_test_wide;
    sotto_analysis_budget analysis = table.analyses[0];
    sotto_charge a = sotto_test_charge(t, "a", "0.3"), b = sotto_test_charge(t, "b", "0.3");

    analysis.delta.units = 3 * a.delta.units / 2;
    table.analyses = &analysis;
    sotto_ledger *ledger = sotto_test_ledger(t, NULL, NULL, &table);
    CHECK_OK(t, sotto_test_spend(t, ledger, &a, 1, NOW));
    CHECK_STATUS(t, SOTTO_DENIED, sotto_test_spend(t, ledger, &b, 2, NOW));
    CHECK_REASON(t, "delta: 0.0000001 of 0.00000015 is spent");
    sotto_ledger_close(ledger);
}

static void what_the_policy_does_not_name_is_denied(sotto_test *t)
{
    static const sotto_access unknown[] = {{"health", "pulse", true}};
    static const sotto_access open[] = {{"health", "locale", false}};
    sotto_ledger *ledger = sotto_test_ledger(t, NULL, NULL, &sotto_test_table1);
    sotto_charge charge = sotto_test_charge(t, "50001", "0.3");

    charge.fields = unknown;
    charge.field_count = 1;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_ledger_check(ledger, &charge, NOW, NULL, &t->err));
    CHECK_REASON(t, "health.pulse");
    charge.fields = open;
    CHECK_OK(t, sotto_ledger_check(ledger, &charge, NOW, NULL, &t->err));
    charge.analysis = "com.example.other";
    CHECK_STATUS(t, SOTTO_DENIED, sotto_ledger_check(ledger, &charge, NOW, NULL, &t->err));
    sotto_ledger_close(ledger);
    ledger = sotto_test_ledger(t, NULL, NULL, NULL);
    CHECK_STATUS(t, SOTTO_DENIED, sotto_ledger_check(ledger, &charge, NOW, NULL, &t->err));
    CHECK_REASON(t, "no policy");
    sotto_ledger_close(ledger);
}

static void charges_and_tables_that_make_no_sense_are_refused(sotto_test *t)
{
    sotto_ledger *ledger = sotto_test_ledger(t, NULL, NULL, &sotto_test_table1);
    const sotto_charge good = sotto_test_charge(t, "50001", "0.3");
    sotto_charge charge = good;
    sotto_budget_table table = sotto_test_table1;

    charge.epsilon.units = 0;
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_ledger_check(ledger, &charge, NOW, NULL, &t->err));
    charge = good;
    charge.population = 100;
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_ledger_check(ledger, &charge, NOW, NULL, &t->err));
    charge = good;
    charge.recipe = "";
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_ledger_check(ledger, &charge, NOW, NULL, &t->err));
    table.composition = 0;
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_ledger_adopt(ledger, &table, &sotto_test_recompute, NOW, &t->err));
    table = sotto_test_table1;
    table.honest.units = 2 * ONE;
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_ledger_adopt(ledger, &table, &sotto_test_recompute, NOW, &t->err));
    table = sotto_test_table1;
    table.slack.units = ONE / 2;
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_ledger_adopt(ledger, &table, &sotto_test_recompute, NOW, &t->err));
    CHECK_OK(t, sotto_ledger_check(ledger, &good, NOW, NULL, &t->err));
    sotto_ledger_close(ledger);
}

/* 0.1 a time within 3: basic composition admits 30, the filter at delta 5e-4 many more, that for zCDP a few more still. */
static void the_filter_admits_more_small_spends_than_adding_up(sotto_test *t)
{
    sotto_budget_table table = sotto_test_wide;
    sotto_analysis_budget analysis = table.analyses[0];
    char name[16];
    int admitted[3] = {0, 0, 0};

    analysis.epsilon = sotto_test_decimal(t, "3");
    table.analyses = &analysis;
    for (int kind = 0; kind < 3; kind++) {
        table.composition = (sotto_composition)(SOTTO_COMPOSITION_BASIC + kind);
        sotto_ledger *ledger = sotto_test_ledger(t, NULL, NULL, &table);
        for (; admitted[kind] < 200; admitted[kind]++) {
            (void)snprintf(name, sizeof name, "r%d", admitted[kind]);
            sotto_charge charge = sotto_test_charge(t, name, "0.1");
            charge.min_cohort = 1000000;
            charge.delta.units = 1;
            t->err = (sotto_err){0};
            if (sotto_test_spend(t, ledger, &charge, (uint64_t)admitted[kind], NOW) != SOTTO_OK)
                break;
        }
        CHECK_REASON(t, kind ? "in all passed a filter for 3" : "3 of 3 is spent");
        sotto_ledger_close(ledger);
    }
    CHECK_EQUAL(t, 30, admitted[0]);
    CHECK(t, admitted[1] > 40 && admitted[1] < 80);
    CHECK(t, admitted[2] > admitted[1] && admitted[2] < 90);
}

static void every_field_read_is_charged(sotto_test *t)
{
    const sotto_access age = {"keyboard_ngrams", "age", true};
    sotto_ledger *ledger = sotto_test_ledger(t, NULL, NULL, &sotto_test_wide);
    sotto_charge charge = sotto_test_charge(t, "50001", "0.3");
    sotto_spent on_age;

    CHECK_OK(t, sotto_test_spend(t, ledger, &charge, 1, NOW));
    CHECK_OK(t, sotto_ledger_spent_on_field(ledger, &on_age, &age, NOW, &t->err));
    CHECK_EQUAL(t, charge.epsilon.units, on_age.epsilon.units);
    CHECK_EQUAL(t, charge.delta.units, on_age.delta.units);
    CHECK_EQUAL(t, 1, on_age.reports);
    CHECK_EQUAL(t, charge.epsilon.units, sotto_test_spent(t, ledger, NOW).epsilon.units);
    sotto_ledger_close(ledger);
}

static void a_round_is_answered_once(sotto_test *t)
{
    sotto_ledger *ledger = sotto_test_ledger(t, NULL, NULL, &sotto_test_wide);
    sotto_charge charge = sotto_test_charge(t, "50001", "0.3");

    CHECK_OK(t, sotto_test_spend(t, ledger, &charge, 1, NOW));
    CHECK_STATUS(t, SOTTO_STALE, sotto_test_spend(t, ledger, &charge, 2, NOW));
    charge.round = 1;
    CHECK_STATUS(t, SOTTO_STALE,
                 sotto_test_spend(t, ledger, &charge, 1, NOW)); /* the report id is known */
    CHECK_OK(t, sotto_test_spend(t, ledger, &charge, 2, NOW));
    sotto_ledger_close(ledger);
}

/* ---- time and policies ---------------------------------------------------------------------------------- */

static void budgets_do_not_renew_by_themselves(sotto_test *t)
{
    sotto_ledger *ledger = sotto_test_ledger(t, NULL, NULL, &sotto_test_table1);
    sotto_charge first = sotto_test_charge(t, "a", "0.3"),
                 second = sotto_test_charge(t, "b", "0.3");

    CHECK_OK(t, sotto_test_spend(t, ledger, &first, 1, NOW));
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_test_spend(t, ledger, &second, 2, NOW + INT64_C(1000000000)));
    sotto_ledger_close(ledger);
}

static void a_period_renews_when_it_is_over(sotto_test *t)
{
    sotto_budget_table table;
    sotto_ledger *ledger = sotto_test_ledger_with_period(t, &table, 100);
    sotto_charge a = sotto_test_charge(t, "a", "0.3"), b = sotto_test_charge(t, "b", "0.3");

    CHECK_OK(t, sotto_test_spend(t, ledger, &a, 1, 1010));
    CHECK_STATUS(t, SOTTO_DENIED, sotto_test_spend(t, ledger, &b, 2, 1099));
    CHECK_OK(t, sotto_test_spend(t, ledger, &b, 2, 1100));
    CHECK_EQUAL(t, 1, sotto_test_spent(t, ledger, 1100).reports);
    sotto_ledger_close(ledger);
}

static void no_clock_turned_back_gives_budget_back(sotto_test *t)
{
    sotto_analysis_budget analysis = sotto_test_wide.analyses[0];
    sotto_budget_table table = sotto_test_wide;
    sotto_ledger *ledger = sotto_test_ledger(t, NULL, NULL, NULL);
    sotto_charge a = sotto_test_charge(t, "a", "0.3"), b = sotto_test_charge(t, "b", "0.3");
    sotto_charge c = sotto_test_charge(t, "c", "0.3");

    analysis.reports = 2;
    table.analyses = &analysis;
    table.period = 100;
    CHECK_OK(t, sotto_ledger_adopt(ledger, &table, &sotto_test_recompute, 0, &t->err));
    CHECK_OK(t, sotto_test_spend(t, ledger, &a, 1, 1000));
    CHECK_OK(t, sotto_test_spend(t, ledger, &b, 2, 500)); /* the clock was set back */
    CHECK_STATUS(t, SOTTO_DENIED, sotto_test_spend(t, ledger, &c, 3, 500));
    CHECK_STATUS(t, SOTTO_DENIED, sotto_test_spend(t, ledger, &c, 3, 650));
    CHECK_STATUS(t, SOTTO_DENIED, sotto_test_spend(t, ledger, &c, 3, -1));
    CHECK_STATUS(t, SOTTO_DENIED, sotto_test_spend(t, ledger, &c, 3, 1050));
    CHECK_OK(t, sotto_test_spend(t, ledger, &c, 3, 1100));
    sotto_ledger_close(ledger);
}

static void a_new_policy_refunds_nothing(sotto_test *t)
{
    sotto_budget_table monthly = sotto_test_table1;
    sotto_ledger *ledger = sotto_test_ledger(t, NULL, NULL, NULL);
    sotto_charge a = sotto_test_charge(t, "a", "0.3"), b = sotto_test_charge(t, "b", "0.3");

    CHECK_OK(t, sotto_ledger_adopt(ledger, &sotto_test_table1, &sotto_test_recompute, 0, &t->err));
    CHECK_OK(t, sotto_test_spend(t, ledger, &a, 1, 50));
    CHECK_OK(t, sotto_ledger_adopt(ledger, &sotto_test_table1, &sotto_test_recompute, 60, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED, sotto_test_spend(t, ledger, &b, 2, 70));
    monthly.period = 100; /* what was spent before counts in the period that is running */
    CHECK_OK(t, sotto_ledger_adopt(ledger, &monthly, &sotto_test_recompute, 250, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED, sotto_test_spend(t, ledger, &b, 2, 250));
    CHECK_OK(t, sotto_test_spend(t, ledger, &b, 2, 300));
    CHECK_EQUAL(t, 1, sotto_test_recorded(t, ledger, SOTTO_RECORD_POLICY));
    sotto_ledger_close(ledger);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(table_1_as_printed_refuses_the_second_recipe),
        CASE(more_reports_are_refused_by_the_most_sensitive_field),
        CASE(a_cohort_too_small_is_told_which_would_do),
        CASE(a_cohort_of_one_protects_nobody),
        CASE(a_device_joins_no_cohort_below_its_policys),
        CASE(tenths_add_up_exactly),
        CASE(a_local_epsilon_against_no_value_counts_twice),
        CASE(a_report_keeps_to_each_fields_own_cap),
        CASE(who_adds_noise_is_the_policy_s_choice),
        CASE(a_report_without_local_protection_needs_the_policy_s_word),
        CASE(budgets_count_in_the_replacement_model_only),
        CASE(deltas_are_spent_too),
        CASE(what_the_policy_does_not_name_is_denied),
        CASE(charges_and_tables_that_make_no_sense_are_refused),
        CASE(the_filter_admits_more_small_spends_than_adding_up),
        CASE(every_field_read_is_charged),
        CASE(a_round_is_answered_once),
        CASE(budgets_do_not_renew_by_themselves),
        CASE(a_period_renews_when_it_is_over),
        CASE(no_clock_turned_back_gives_budget_back),
        CASE(a_new_policy_refunds_nothing),
    };
    return RUN_TESTS(argc, argv, cases);
}
