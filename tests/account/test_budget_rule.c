#include "account/budget_rule.h"
#include "support/test.h"

#include <string.h>

static sotto_decimal dec(sotto_test *t, const char *text)
{
    sotto_decimal d = {0};

    CHECK_OK(t, sotto_decimal_parse(&d, sotto_bytes_of(text, strlen(text)), SOTTO_DECIMAL_EXACT,
                                    &t->err));
    return d;
}

static sotto_budget_query query_of(sotto_test *t, const char *eps, const char *eps_local)
{
    return (sotto_budget_query){dec(t, eps), dec(t, eps_local)};
}

static sotto_budget_analysis analysis_of(sotto_test *t, const char *allowed, uint64_t reports)
{
    return (sotto_budget_analysis){dec(t, allowed), {0}, reports, 0};
}

static sotto_budget_field field_of(sotto_test *t, const char *local, const char *allowed,
                                   uint64_t reports)
{
    return (sotto_budget_field){dec(t, local), dec(t, allowed), {0}, reports, 0};
}

static void each_rule_refuses_alone_and_in_order(sotto_test *t)
{
    static const struct {
        const char *eps, *local;
        uint64_t used;
        const char *reasons;
    } rows[] = {
        {"0.3", "2", 0, ""},
        {"0.3", "2", 1, "report count"},
        {"0.3", "2.000000000001", 0, "field local eps"},
        {"0.300000000001", "2", 0, "field eps"},
        {"0.6", "5", 1, "analysis eps; report count; field local eps; field eps"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        sotto_budget_query q = query_of(t, rows[i].eps, rows[i].local);
        sotto_budget_analysis a = analysis_of(t, "0.5", 1);
        sotto_budget_field f = field_of(t, "2", "0.3", 9);
        char text[SOTTO_BUDGET_TEXT];

        a.reports_used = rows[i].used;
        sotto_budget_reasons(text, sotto_budget_decide(&q, &a, &f, 1));
        CHECK(t, strcmp(text, rows[i].reasons) == 0);
    }
}

static void the_analysis_alone_can_be_what_refuses(sotto_test *t)
{
    sotto_budget_query q = query_of(t, "0.6", "1");
    sotto_budget_analysis a = analysis_of(t, "0.5", 1);
    sotto_budget_field f = field_of(t, "2", "1", 1);

    CHECK_EQUAL(t, SOTTO_BUDGET_ANALYSIS_EPS, sotto_budget_decide(&q, &a, &f, 1));
    CHECK_EQUAL(t, SOTTO_BUDGET_ANALYSIS_EPS, sotto_budget_decide(&q, &a, NULL, 0));
}

static void one_strict_field_among_many_refuses(sotto_test *t)
{
    sotto_budget_query q = query_of(t, "0.3", "2");
    sotto_budget_analysis a = analysis_of(t, "0.5", 5);
    sotto_budget_field f[3] = {field_of(t, "5", "1", 5), field_of(t, "5", "1", 5),
                               field_of(t, "5", "1", 5)};

    CHECK_EQUAL(t, 0, sotto_budget_decide(&q, &a, f, 3));
    f[2].reports_used = 5;
    CHECK_EQUAL(t, SOTTO_BUDGET_REPORT_COUNT, sotto_budget_decide(&q, &a, f, 3));
    f[2] = field_of(t, "1", "1", 5);
    CHECK_EQUAL(t, SOTTO_BUDGET_FIELD_LOCAL_EPS, sotto_budget_decide(&q, &a, f, 3));
    f[2] = field_of(t, "5", "0.2", 5);
    CHECK_EQUAL(t, SOTTO_BUDGET_FIELD_EPS, sotto_budget_decide(&q, &a, f, 3));
}

static void spending_is_exact_and_all_or_nothing(sotto_test *t)
{
    sotto_budget_query first = query_of(t, "0.1", "1"), second = query_of(t, "0.2", "1");
    sotto_budget_query least = query_of(t, "0.000000000001", "1");
    sotto_budget_analysis a = analysis_of(t, "0.3", 5);
    sotto_budget_field f = field_of(t, "1", "0.3", 5);

    CHECK_OK(t, sotto_budget_spend(&first, &a, &f, 1, &t->err));
    CHECK_OK(t, sotto_budget_spend(&second, &a, &f, 1, &t->err));
    CHECK_EQUAL(t, a.allowed.units, a.used.units);
    CHECK_STATUS(t, SOTTO_DENIED, sotto_budget_spend(&least, &a, &f, 1, &t->err));
    CHECK_REASON(t, "analysis eps; field eps");
    CHECK_EQUAL(t, a.allowed.units, a.used.units);
    CHECK_EQUAL(t, 2, a.reports_used);
    CHECK_EQUAL(t, 2, f.reports_used);
}

static void what_overflows_is_refused(sotto_test *t)
{
    sotto_budget_query q = {{UINT64_MAX}, {0}};
    sotto_budget_analysis a = {{UINT64_MAX}, {1}, UINT64_MAX, UINT64_MAX - 1};

    CHECK_EQUAL(t, SOTTO_BUDGET_ANALYSIS_EPS, sotto_budget_decide(&q, &a, NULL, 0));
    a.used.units = 2;
    a.allowed.units = 1; /* a limit that was lowered below what is spent */
    q.eps.units = 0;
    CHECK_EQUAL(t, SOTTO_BUDGET_ANALYSIS_EPS, sotto_budget_decide(&q, &a, NULL, 0));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(each_rule_refuses_alone_and_in_order),
        CASE(the_analysis_alone_can_be_what_refuses),
        CASE(one_strict_field_among_many_refuses),
        CASE(spending_is_exact_and_all_or_nothing),
        CASE(what_overflows_is_refused),
    };
    return RUN_TESTS(argc, argv, cases);
}
