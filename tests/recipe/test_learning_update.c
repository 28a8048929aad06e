/* What a learning recipe does to an update before it is sent: projected to fewer numbers, weighed by its rows. */
#include "support/judged.h"

#include "recipe/claim.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TEXT = 8192 };

/* The same with k in the place of d: projected to 2,000 numbers, honest reports need a fifth of the room. Epsilon stays. */
static void a_projection_lowers_the_bound_that_honest_devices_need(sotto_test *t)
{
    const double without = sqrt(1 + 16.0 * 48846 / 18000), with_it = sqrt(1 + 16.0 * 2000 / 18000);
    sotto_learning l = *sotto_test_judge(t, sotto_test_learning_sound(t), NULL)->learning;
    sotto_learning_claim whole, fewer;

    CHECK_OK(t, sotto_learning_claim_compute(&whole, &l, l.head.honest, &t->err));
    CHECK_NEAR(t, 0, whole.factor_unprojected, 0);
    CHECK_NEAR(t, 1, sotto_learning_lift(&l), 0);
    l.projected = 2000;
    CHECK_OK(t, sotto_learning_claim_compute(&fewer, &l, l.head.honest, &t->err));
    CHECK(t, fewer.factor_needed > with_it && fewer.factor_needed < 1.2 * with_it);
    CHECK(t, fewer.factor_unprojected > without && fewer.factor_unprojected < 1.05 * without);
    CHECK_NEAR(t, whole.factor_needed, fewer.factor_unprojected, 1e-12);
    CHECK(t, fewer.report_bytes < whole.report_bytes / 5);
    /* Rounding of fewer numbers adds less to an update's norm, so an update costs no more. */
    CHECK(t, fewer.epsilon <= whole.epsilon && fewer.epsilon > 0.95 * whole.epsilon);
    CHECK_NEAR(t, 5, sotto_learning_lift(&l), 1e-12); /* 25 parameters in a number */
    const uint64_t to = sotto_learning_projects_to(&l, &fewer, fewer.factor_needed);
    CHECK(t, to >= 2000 && to < 2040);
    /* 0 to 1 step of rounding, and the clip: no projection has no room at all. */
    CHECK_EQUAL(t, 0, sotto_learning_projects_to(&l, &fewer, 0.5));
}

/* The good recipe is refused for its factor of 19. The refusal says to how many numbers to project, and that is accepted. */
static void the_way_out_that_lint_names_is_one(sotto_test *t)
{
    sotto_test_judged *j = sotto_test_judge(t, sotto_test_learning_with(t, NULL, NULL), NULL);
    const char *said =
        sotto_test_mistake(j, "aggregation.proof.bound_factor", SOTTO_MISTAKE)->accepted;
    unsigned to = 0;
    char projection[96], *text = sotto_arena_take(&t->arena, TEXT);
    sotto_buf out = sotto_test_buf(t, TEXT);

    CHECK(t, text && strstr(said, "projection") &&
                 sscanf(strstr(said, "projection"), "projection to at most %u", &to) == 1 &&
                 to > 0);
    (void)snprintf(projection, sizeof projection,
                   "\"weights\": \"equal\", \"projection\": {\"dimension\": %u}", to);
    const char *projected =
                   (const char *)sotto_test_learning_with(t, "\"weights\": \"equal\"", projection)
                       .data,
               *factor = strstr(projected, "\"bound_factor\": 19");
    (void)snprintf(text, TEXT, "%.*s\"bound_factor\": 10%s", (int)(factor - projected), projected,
                   factor + strlen("\"bound_factor\": 19"));
    j = sotto_test_judge(t, sotto_bytes_of(text, strlen(text)), NULL);
    CHECK_EQUAL(t, SOTTO_OK, j->status);
    CHECK(t, j->claim.factor_needed <= 10 && j->claim.factor_needed > 9.9);
    CHECK_OK(t, sotto_learning_explain(&out, j->learning, &j->claim, &t->err));
    out.data[out.len < TEXT ? out.len : TEXT - 1] = 0;
    CHECK(t, strstr((char *)out.data, "Without the projection that bound would have to be"));
    CHECK(t, strstr((char *)out.data, "by a public matrix of signs"));
}

/* A weight is at most 1, and follows the clip: neither sensitivity nor epsilon nor the bound is another. */
static void capped_weights_cost_what_equal_ones_do(sotto_test *t)
{
    sotto_test_judged *equal = sotto_test_judge(
        t, sotto_test_learning_with(t, "\"by\": \"shares\"", "\"by\": \"servers\""), NULL);
    sotto_learning l = *equal->learning;
    sotto_learning_claim claim;

    l.weights = SOTTO_WEIGHTS_CAPPED;
    l.cap = 50;
    CHECK_OK(t, sotto_learning_claim_compute(&claim, &l, SOTTO_HONEST_UNSAID, &t->err));
    CHECK_NEAR(t, equal->claim.epsilon, claim.epsilon, 0);
    CHECK_NEAR(t, equal->claim.sensitivity, claim.sensitivity, 0);
    CHECK_NEAR(t, equal->claim.factor_needed, claim.factor_needed, 0);
    sotto_test_judged *j =
        sotto_test_judge(t,
                         sotto_test_learning_with(t, "\"weights\": \"equal\"",
                                                  "\"weights\": \"capped\", \"cap\": 50"),
                         NULL);
    CHECK(t, j->learning && j->learning->cap == 50);
    CHECK(t, sotto_test_mistake(j, "learn.update.weights", SOTTO_WARNING) != NULL);
    sotto_buf out = sotto_test_buf(t, TEXT);
    CHECK_OK(t, sotto_learning_explain(&out, j->learning, &j->claim, &t->err));
    out.data[out.len < TEXT ? out.len : TEXT - 1] = 0;
    CHECK(t, strstr((char *)out.data, "fewer than 50 rows"));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_projection_lowers_the_bound_that_honest_devices_need),
        CASE(the_way_out_that_lint_names_is_one),
        CASE(capped_weights_cost_what_equal_ones_do),
    };

    return RUN_TESTS(argc, argv, cases);
}
