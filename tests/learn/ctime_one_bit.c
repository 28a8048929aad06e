/* No branch and no address depends on the update, or on the randomness of its report. */
#include "learn/one_bit.h"
#include "sim/random.h"
#include "support/ctime.h"
#include "support/test.h"

enum { SIZE = 100 };

static sotto_status fill_secret(void *context, void *out, size_t len, sotto_err *err)
{
    (void)err;
    sotto_sim_random_bytes(context, out, len);
    sotto_ctime_secret(out, len);
    return SOTTO_OK;
}

static void reports_take_no_branch_on_the_update(sotto_test *t)
{
    int64_t update[SIZE];
    sotto_sim_random random;
    sotto_entropy entropy;
    sotto_one_bit b;

    CHECK_OK(t, sotto_one_bit_init(&b, SIZE, 50, 1, 3, &t->err));
    sotto_sim_random_init(&random, 1);
    sotto_entropy_init(&entropy, fill_secret, &random);
    for (int i = 0; i < 20; i++) {
        sotto_one_bit_report report;

        for (size_t j = 0; j < SIZE; j++)
            update[j] = (int64_t)j * (i - 10); /* the longest are cut */
        sotto_ctime_secret(update, sizeof update);
        CHECK_OK(t, sotto_one_bit_draw(&b, &report, i ? update : NULL, &entropy, &t->err));
        sotto_ctime_public(&report, sizeof report);
        CHECK(t, report.row < b.rows && (report.sign == 1 || report.sign == -1));
    }
    sotto_entropy_clear(&entropy);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {CASE(reports_take_no_branch_on_the_update)};

    return RUN_TESTS(argc, argv, cases);
}
