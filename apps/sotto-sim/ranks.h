/* apps/sotto-sim/ranks.h - copies of this program that a launcher of MPI started together, and what they tell each other.
 *
 *     ranks.c           what ranks agree on
 *     ranks_mpi.c       messages, where MPI was found at build time
 *     ranks_absent.c    one rank, where it was not
 *
 * Callers:  learn.c, learn_crew.c.
 * Threads:  the first one alone calls.
 *
 * Every rank keeps the whole session and computes every step. Only devices and test rows are divided. Ranks of one machine take them from
 * one counter, so that nobody waits for a slow processor; ranks of several machines divide them beforehand. What ranks add up are integers,
 * so neither their number nor who took what changes anything. An error of MPI itself ends all ranks.
 */
#ifndef SOTTO_APPS_SIM_RANKS_H
#define SOTTO_APPS_SIM_RANKS_H

#include "sotto/base.h"

#include <stdatomic.h>

enum { SOTTO_RANKS = 1024, SOTTO_RANKS_COUNTERS = 3 };

typedef struct sotto_ranks {
    int rank, count;
    bool joined; /* a launcher started this one                    */
    bool over;   /* some rank failed: no message is sent any more */
    bool silent; /* a rank before this one says why               */
    /* Memory of all ranks, used in turn; NULL: one rank, or several machines. */
    atomic_size_t *counters;
    size_t turn; /* that the next counter is for */
    /* Two times `room` numbers of each rank, used in turn; or NULL. */
    int64_t *places;
    size_t room, sum; /* sum: that the next places are for */
} sotto_ranks;

/* One rank without a launcher. SOTTO_MISSING: there is one, and this build has no MPI; SOTTO_TOO_LARGE: too many ranks. */
SOTTO_MUST_USE sotto_status sotto_ranks_open(sotto_ranks *out, sotto_err *err);
void sotto_ranks_close(sotto_ranks *ranks);

/* All ranks go on, or none does: own is what this one has come to. SOTTO_STALE: another rank failed, or has another digest.
 *   digest   SHA-256 of what must be the same on all, named by what; or NULL
 */
SOTTO_MUST_USE sotto_status sotto_ranks_settle(sotto_ranks *ranks, sotto_status own,
                                               const uint8_t *digest, const char *what,
                                               sotto_err *err);
/* After settling, by all ranks: memory for sums of at most so many numbers, where ranks share some. Without it, sums are messages. */
void sotto_ranks_share(sotto_ranks *ranks, size_t room);
/* Settles; then numbers become their sums over all ranks. */
SOTTO_MUST_USE sotto_status sotto_ranks_add(sotto_ranks *ranks, sotto_status own, int64_t *numbers,
                                            size_t count, sotto_err *err);
/* After settling, by all ranks: a counter at 0 that they share. It is theirs until the settling after the next one. NULL: see counters. */
atomic_size_t *sotto_ranks_counter(sotto_ranks *ranks);
/* After settling: bytes become those of rank 0. */
void sotto_ranks_copy(const sotto_ranks *ranks, void *bytes, size_t len);

/* ---- ranks_mpi.c or ranks_absent.c ---------------------------------------------------------------------------------- */

/* SOTTO_MISSING: this build has no MPI. */
SOTTO_MUST_USE sotto_status sotto_mpi_join(int *rank, int *count, sotto_err *err);
void sotto_mpi_leave(void);
/* So many bytes of zeros that all ranks see; NULL: none of them has it, as where they are on several machines. Called by all ranks, and
 * once or twice. */
void *sotto_mpi_memory(size_t bytes);
void sotto_mpi_add(int64_t *numbers, size_t count);
/* The least of each number over all ranks. Waits without taking CPU time, since ranks come here at different times. */
void sotto_mpi_least(int64_t *numbers, size_t count);
void sotto_mpi_copy(void *bytes, size_t len);

#endif
