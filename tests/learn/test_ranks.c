/* A simulator that was built without MPI: one rank, and a refusal where a launcher started several. */
#define _POSIX_C_SOURCE 200809L
#include "ranks.h"
#include "support/test.h"

#include <stdlib.h>

static void without_a_launcher_there_is_one_rank(sotto_test *t)
{
    sotto_ranks ranks;
    int64_t numbers[2] = {3, -4};
    const uint8_t digest[32] = {1};

    CHECK_OK(t, sotto_ranks_open(&ranks, &t->err));
    CHECK_EQUAL(t, 1, ranks.count);
    CHECK_EQUAL(t, 0, ranks.rank);
    CHECK_OK(t, sotto_ranks_settle(&ranks, SOTTO_OK, digest, "model", &t->err));
    CHECK_STATUS(t, SOTTO_IO, sotto_ranks_settle(&ranks, SOTTO_IO, digest, "model", &t->err));
    sotto_ranks_share(&ranks, 2);
    CHECK_OK(t, sotto_ranks_add(&ranks, SOTTO_OK, numbers, 2, &t->err));
    CHECK_EQUAL(t, 3, numbers[0]);
    CHECK_EQUAL(t, -4, numbers[1]);
    CHECK_STATUS(t, SOTTO_IO, sotto_ranks_add(&ranks, SOTTO_IO, numbers, 2, &t->err));
    sotto_ranks_close(&ranks);
}

static void under_a_launcher_a_build_without_mpi_refuses(sotto_test *t)
{
    static const char *const launchers[] = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_SIZE"};

    for (size_t i = 0; i < 3; i++) {
        sotto_ranks ranks;

        CHECK(t, setenv(launchers[i], "2", 1) == 0);
        CHECK_STATUS(t, SOTTO_MISSING, sotto_ranks_open(&ranks, &t->err));
        CHECK_REASON(t, "this build has no MPI");
        CHECK(t, unsetenv(launchers[i]) == 0);
        sotto_err_clear(&t->err);
        sotto_ranks_close(&ranks);
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(without_a_launcher_there_is_one_rank),
        CASE(under_a_launcher_a_build_without_mpi_refuses),
    };

    return RUN_TESTS(argc, argv, cases);
}
