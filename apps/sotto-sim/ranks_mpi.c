#define _POSIX_C_SOURCE 200809L
#include "ranks.h"

#include <mpi.h>
#include <string.h>
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

static MPI_Win windows[2];
static int window_count;

void sotto_mpi_leave(void)
{
    while (window_count > 0)
        (void)MPI_Win_free(&windows[--window_count]);
    (void)MPI_Finalize();
}

/* Rank 0 brings the memory. A shared window that can't be had is no error: ranks then do without. */
static void *share(MPI_Comm machine, MPI_Win *window, size_t bytes)
{
    int rank = 0, unit = 0;
    MPI_Aint size = 0;
    void *own = NULL, *all = NULL;

    (void)MPI_Comm_rank(machine, &rank);
    (void)MPI_Comm_set_errhandler(machine, MPI_ERRORS_RETURN);
    if (MPI_Win_allocate_shared(rank ? 0 : (MPI_Aint)bytes, 1, MPI_INFO_NULL, machine, &own,
                                window) != MPI_SUCCESS)
        return NULL;
    if (rank == 0)
        memset(own, 0, bytes);
    (void)MPI_Win_shared_query(*window, 0, &size, &unit, &all);
    return all;
}

void *sotto_mpi_memory(size_t bytes)
{
    MPI_Comm machine;
    MPI_Win window = MPI_WIN_NULL;
    int here = 0, everywhere = 0;

    (void)MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    (void)MPI_Comm_size(machine, &here);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &everywhere);
    const int most = sizeof windows / sizeof windows[0];
    void *memory =
        here == everywhere && window_count < most ? share(machine, &window, bytes) : NULL;
    int64_t had = memory != NULL;

    /* All have it or none does; and nobody writes before rank 0 has cleared it. */
    sotto_mpi_least(&had, 1);
    (void)MPI_Comm_free(&machine);
    if (had) /* else freeing, which is for all together, is left to the end of the process */
        windows[window_count++] = window;
    return had ? memory : NULL;
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
