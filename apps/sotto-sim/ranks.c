#include "ranks.h"

#include <stdlib.h>

/* Open MPI's mpirun, PMIx and MPICH's launchers, in this order. */
static bool launched(void)
{
    return getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMIX_RANK") || getenv("PMI_SIZE");
}

sotto_status sotto_ranks_open(sotto_ranks *out, sotto_err *err)
{
    *out = (sotto_ranks){.count = 1};
    if (!launched())
        return SOTTO_OK;
    SOTTO_TRY(sotto_mpi_join(&out->rank, &out->count, err));
    out->joined = true;
    if (out->count > SOTTO_RANKS) {
        out->silent = out->rank > 0;
        return sotto_fail(err, SOTTO_TOO_LARGE, "%d ranks: at most %d wanted", out->count,
                          SOTTO_RANKS);
    }
    if (out->count > 1)
        out->counters = sotto_mpi_counters(SOTTO_RANKS_COUNTERS);
    return SOTTO_OK;
}

void sotto_ranks_close(sotto_ranks *r)
{
    if (r->joined)
        sotto_mpi_leave();
    r->joined = false;
}

static int64_t word_of(const uint8_t *digest)
{
    uint64_t word = 0;

    for (unsigned i = 0; digest && i < 7; i++)
        word = word << 8 | digest[i];
    return (int64_t)word;
}

sotto_status sotto_ranks_settle(sotto_ranks *r, sotto_status own, const uint8_t *digest,
                                const char *what, sotto_err *err)
{
    const int64_t word = word_of(digest);
    /* The first rank that failed, and the least and the negated largest digest. */
    int64_t numbers[3] = {own == SOTTO_OK ? r->count : r->rank, word, -word};

    if (r->count == 1 || r->over)
        return own;
    sotto_mpi_least(numbers, 3);
    if (numbers[0] < r->count) {
        r->over = true;
        r->silent = own != SOTTO_OK && numbers[0] != r->rank;
        if (own != SOTTO_OK)
            return own;
        return sotto_fail(err, SOTTO_STALE, "rank %d failed, and says why", (int)numbers[0]);
    }
    if (numbers[1] != -numbers[2]) {
        r->over = true;
        r->silent = r->rank > 0;
        return sotto_fail(err, SOTTO_STALE, "ranks do not have the same %s", what);
    }
    return SOTTO_OK;
}

/* Rank 0 clears the next turn's counter. All ranks have settled since the turn that last used it, and settle again before its own. */
atomic_size_t *sotto_ranks_counter(sotto_ranks *r)
{
    if (!r->counters)
        return NULL;
    const size_t turn = r->turn++;

    if (r->rank == 0)
        atomic_store(&r->counters[(turn + 1) % SOTTO_RANKS_COUNTERS], 0);
    return &r->counters[turn % SOTTO_RANKS_COUNTERS];
}

void sotto_ranks_add(const sotto_ranks *r, int64_t *numbers, size_t count)
{
    if (r->count > 1)
        sotto_mpi_add(numbers, count);
}

void sotto_ranks_copy(const sotto_ranks *r, void *bytes, size_t len)
{
    if (r->count > 1)
        sotto_mpi_copy(bytes, len);
}
