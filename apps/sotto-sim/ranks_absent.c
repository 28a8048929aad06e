#include "ranks.h"

/* The interface is that of ranks_mpi.c, which writes through these pointers. */
/* NOLINTBEGIN(readability-non-const-parameter) */
sotto_status sotto_mpi_join(int *rank, int *count, sotto_err *err)
{
    (void)rank;
    (void)count;
    return sotto_fail(err, SOTTO_MISSING,
                      "this build has no MPI, so each rank would do all the work: start one "
                      "without mpirun, or build it where libopenmpi-dev is installed");
}

void sotto_mpi_leave(void)
{
}

void *sotto_mpi_memory(size_t bytes)
{
    (void)bytes;
    return NULL;
}

void sotto_mpi_add(int64_t *numbers, size_t count)
{
    (void)numbers;
    (void)count;
}

void sotto_mpi_least(int64_t *numbers, size_t count)
{
    (void)numbers;
    (void)count;
}

void sotto_mpi_copy(void *bytes, size_t len)
{
    (void)bytes;
    (void)len;
}
/* NOLINTEND(readability-non-const-parameter) */
