#include "ranks.h"

#include <stdlib.h>
#include <string.h>

/* All memory for sums, as numbers of 8 bytes: 512 MiB. Larger sums are messages. */
static const size_t SHARED_NUMBERS = (size_t)1 << 26;

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
        out->counters = sotto_mpi_memory(SOTTO_RANKS_COUNTERS * sizeof *out->counters);
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

void sotto_ranks_share(sotto_ranks *r, size_t room)
{
    const size_t numbers = 2 * (size_t)r->count * room;

    if (!r->counters || room == 0 || numbers > SHARED_NUMBERS)
        return;
    r->places = sotto_mpi_memory(numbers * sizeof *r->places);
    r->room = room;
}

/* What a rank wrote before it settled, the others read after they have. They are done with it before they settle the next time, and
 * its places are written again only after that. */
sotto_status sotto_ranks_add(sotto_ranks *r, sotto_status own, int64_t *numbers, size_t count,
                             sotto_err *err)
{
    int64_t *places = NULL;

    if (r->places && count <= r->room) {
        places = r->places + r->sum++ % 2 * (size_t)r->count * r->room;
        memcpy(places + (size_t)r->rank * r->room, numbers, count * sizeof *numbers);
        atomic_thread_fence(memory_order_seq_cst);
    }
    SOTTO_TRY(sotto_ranks_settle(r, own, NULL, "", err));
    if (r->count > 1 && !places)
        sotto_mpi_add(numbers, count);
    atomic_thread_fence(memory_order_seq_cst);
    for (int k = 0; places && k < r->count; k++)
        for (size_t i = 0; k != r->rank && i < count; i++)
            numbers[i] += places[(size_t)k * r->room + i];
    return SOTTO_OK;
}

void sotto_ranks_copy(const sotto_ranks *r, void *bytes, size_t len)
{
    if (r->count > 1)
        sotto_mpi_copy(bytes, len);
}
