#define _POSIX_C_SOURCE 200809L
#include "ranks.h"

#include <mpi.h>
#include <time.h>

sotto_status sotto_mpi_join(int *rank, int *count, sotto_err *err)
{
    int level = 0;

    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS ||
        level < MPI_THREAD_FUNNELED)
        return sotto_fail(err, SOTTO_IO, "MPI: it can't be started beside threads");
    (void)MPI_Comm_rank(MPI_COMM_WORLD, rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, count);
    return SOTTO_OK;
}

void sotto_mpi_leave(void)
{
    (void)MPI_Finalize();
}

void sotto_mpi_add(int64_t *numbers, size_t count)
{
    /* A model has at most 2^24 parameters, so the count fits. */
    (void)MPI_Allreduce(MPI_IN_PLACE, numbers, (int)count, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
}

void sotto_mpi_least(int64_t *numbers, size_t count)
{
    struct timespec pause = {.tv_nsec = 20000};
    MPI_Request request;
    int done = 0;

    (void)MPI_Iallreduce(MPI_IN_PLACE, numbers, (int)count, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD,
                         &request);
    for (unsigned tries = 0; !done; tries++) {
        (void)MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (done || tries <= 20)
            continue;
        /* Who has waited for long can wait a little longer: up to a millisecond, and a quarter of what it has. */
        (void)nanosleep(&pause, NULL);
        if (pause.tv_nsec < 800000)
            pause.tv_nsec += pause.tv_nsec / 4;
    }
    (void)MPI_Wait(&request, MPI_STATUS_IGNORE); /* it is over: this gives the request back */
}

void sotto_mpi_copy(void *bytes, size_t len)
{
    (void)MPI_Bcast(bytes, (int)len, MPI_BYTE, 0, MPI_COMM_WORLD);
}
