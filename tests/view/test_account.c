#include "sotto/view.h"

#include "support/test.h"

#include <stdio.h>
#include <string.h>

static char memory[1 << 14];

static const sotto_question question = {
    .adjacency = SOTTO_ADJACENCY_ADD_REMOVE,
    .trust = SOTTO_TRUST_SPLIT,
    .dishonest = {1, 4},
    .delta = 1e-6,
    .mechanism = SOTTO_MECHANISM_GAUSSIAN,
};
static const sotto_answer answered = {
    .low = 0.5,
    .high = 2,
    .optimal = true,
    .theorem = "a theorem",
    .route = "a route",
    .adjacency = SOTTO_ADJACENCY_ADD_REMOVE,
    .trust = SOTTO_TRUST_SPLIT,
    .honest = 30,
};

static const char *show(sotto_test *t, const sotto_account_view *account, sotto_view_format format)
{
    sotto_buf out = sotto_buf_over(memory, sizeof memory - 1);
    sotto_view view = sotto_view_into(&out, format);

    CHECK_OK(t, sotto_view_account(&view, account, &t->err));
    memory[out.len] = 0;
    return memory;
}

static void an_account_is_one_line_of_json(sotto_test *t)
{
    sotto_account_view v = {
        .question = &question, .answer = &answered, .seconds = 0.0015, .number = 3};

    CHECK(t, strcmp(show(t, &v, SOTTO_VIEW_JSON),
                    "{\"line\":3,\"mechanism\":\"gaussian\",\"quantity\":\"epsilon\",\"low\":0.5,"
                    "\"high\":2.0,\"accuracy\":0.75,\"delta\":1e-6,\"optimal\":true,\"no_gain\":"
                    "false,\"theorem\":"
                    "\"a theorem\","
                    "\"route\":\"a route\",\"adjacency\":\"add-remove\",\"trust\":\"split\","
                    "\"participation_hidden\":false,\"assumes\":\"leader or helper honest; who "
                    "takes part is seen\",\"dishonest\":0.25,\"honest\":30,\"seconds\":0.001500000"
                    "}\n") == 0);
}

static void an_account_reads_well(sotto_test *t)
{
    sotto_account_view v = {.question = &question, .answer = &answered, .seconds = 0.0015};

    CHECK(t,
          strcmp(show(t, &v, SOTTO_VIEW_TEXT),
                 "  epsilon   <= 2   (at least 0.5)\n"
                 "  accuracy  75 %: it may be smaller by as much, and is not larger\n"
                 "  at        delta 1e-06\n"
                 "  theorem   a theorem\n"
                 "  route     a route\n"
                 "  adjacency add-remove\n"
                 "  trust     split: leader or helper honest; who takes part is seen\n"
                 "  honest    0.25 of the cohort assumed dishonest or dropped; 30 honest counted "
                 "on\n"
                 "  time      1.500 ms\n") == 0);
    v.asks_delta = true;
    v.epsilon = 0.75;
    CHECK(t, strstr(show(t, &v, SOTTO_VIEW_TEXT), "  delta     <= 2") == memory);
    CHECK(t, strstr(memory, "  at        epsilon 0.75\n"));
}

static void a_claim_is_judged(sotto_test *t)
{
    static const struct {
        double claim;
        const char *json, *text;
    } claims[] = {
        {2, "\"claim\":2.0,\"claim_holds\":true,\"claim_delta\":2.0}", " holds: "},
        {1, "\"claim\":1.0,\"claim_holds\":null,\"claim_delta\":2.0}", "cannot be told"},
        {0.25, "\"claim\":0.25,\"claim_holds\":false,\"claim_delta\":2.0}", "does NOT hold"},
    };
    sotto_account_view v = {
        .question = &question, .answer = &answered, .has_claim = true, .claim_delta = &answered};

    for (size_t i = 0; i < sizeof claims / sizeof claims[0]; i++) {
        v.claim = claims[i].claim;
        CHECK(t, strstr(show(t, &v, SOTTO_VIEW_JSON), claims[i].json));
        CHECK(t, strstr(show(t, &v, SOTTO_VIEW_TEXT), claims[i].text));
        CHECK(t, strstr(memory, "goes with delta 2 (certified from above)\n"));
    }
    v.claim_delta = NULL;
    CHECK(t, strstr(show(t, &v, SOTTO_VIEW_JSON), "\"claim_delta\":null}"));
}

static void a_refusal_says_why(sotto_test *t)
{
    sotto_account_view v = {.question = &question,
                            .refused = SOTTO_DENIED,
                            .reason = "\"no\" theorem",
                            .hint = "another way"};

    CHECK(t, strcmp(show(t, &v, SOTTO_VIEW_JSON),
                    "{\"refused\":\"denied\",\"reason\":\"\\\"no\\\" theorem\",\"hint\":\"another "
                    "way\"}\n") == 0);
    CHECK(t, strcmp(show(t, &v, SOTTO_VIEW_TEXT), "refused: \"no\" theorem\nanother way\n") == 0);
    v.refused = SOTTO_MALFORMED;
    v.hint = NULL;
    CHECK(t,
          strcmp(show(t, &v, SOTTO_VIEW_JSON), "{\"mistakes\":[\"\\\"no\\\" theorem\"]}\n") == 0);
    CHECK(t, strcmp(show(t, &v, SOTTO_VIEW_TEXT), "\"no\" theorem\n") == 0);
}

static void a_ledger_shows_what_is_left(sotto_test *t)
{
    sotto_buf out = sotto_buf_over(memory, sizeof memory - 1);
    sotto_view view = sotto_view_into(&out, SOTTO_VIEW_JSON);
    sotto_budget_line line = {.name = "s.f",
                              .epsilon = 1,
                              .delta = 1e-6,
                              .reports = 2,
                              .epsilon_allowed = 1.5,
                              .delta_allowed = 1e-5,
                              .reports_allowed = 3,
                              .local_allowed = 4,
                              .unknown = true};

    CHECK_OK(t, sotto_view_ledger(&view, &line, &t->err));
    memory[out.len] = 0;
    CHECK(t, strcmp(memory,
                    "{\"of\":\"field\",\"name\":\"s.f\",\"epsilon\":1.0,\"delta\":1e-6,\"reports\":"
                    "2,\"epsilon_allowed\":1.5,\"delta_allowed\":1e-5,\"reports_allowed\":3,"
                    "\"local_allowed\":4.0,\"unknown\":true,\"all_spent\":true}\n") == 0);
    out.len = 0;
    view.format = SOTTO_VIEW_TEXT;
    CHECK_OK(t, sotto_view_ledger(&view, &line, &t->err));
    memory[out.len] = 0;
    CHECK(t, strcmp(memory, "field    s.f\n"
                            "         epsilon 1 of 1.5, delta 1e-06 of 1e-05, 2 of 3 reports\n"
                            "         all of it counts as spent: the ledger was reset, and nobody "
                            "knows better\n"
                            "         one report: epsilon 4 at most\n") == 0);
    view.format = SOTTO_VIEW_CSV;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_view_ledger(&view, &line, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_view_account(&view, &(sotto_account_view){.question = &question}, &t->err));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(an_account_is_one_line_of_json),
        CASE(an_account_reads_well),
        CASE(a_claim_is_judged),
        CASE(a_refusal_says_why),
        CASE(a_ledger_shows_what_is_left),
    };

    return RUN_TESTS(argc, argv, cases);
}
