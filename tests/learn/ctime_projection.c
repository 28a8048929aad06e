/* No branch and no address depends on an update that is projected: the matrix is public. */
#include "learn/projection.h"
#include "support/ctime.h"
#include "support/test.h"

enum { FROM = 5000, TO = 700 };

static void projecting_takes_no_branch_on_the_update(sotto_test *t)
{
    static const uint8_t seed[SOTTO_PROJECTION_SEED] = {1};
    static float update[FROM];
    static double projected[TO];
    sotto_projection p;
    double sum = 0;

    CHECK_OK(t, sotto_projection_init(&p, FROM, TO, seed, 3, &t->err));
    for (size_t i = 0; i < FROM; i++)
        update[i] = (float)(i % 91) - 40;
    sotto_ctime_secret(update, sizeof update);
    CHECK_OK(t, sotto_projection_apply(&p, projected, update, &t->err));
    sotto_ctime_public(projected, sizeof projected);
    for (size_t i = 0; i < TO; i++)
        sum += projected[i] * projected[i];
    CHECK(t, sum > 0);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {CASE(projecting_takes_no_branch_on_the_update)};

    return RUN_TESTS(argc, argv, cases);
}
