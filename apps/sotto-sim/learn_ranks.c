#include "learn.h"

#include <stdlib.h>
#include <string.h>

sotto_status learn_ranks_open(learn_run *run, sotto_err *err)
{
    if (run->ranks.count == 1)
        return SOTTO_OK;
    run->by_rows = sotto_arena_take_array(&run->arena, run->dataset.users, sizeof *run->by_rows);
    return run->by_rows
               ? SOTTO_OK
               : sotto_fail(err, SOTTO_NO_MEMORY, "no memory for %zu users", run->dataset.users);
}

static int more_rows_first(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x < y) - (x > y);
}

static void sort(learn_run *run)
{
    for (size_t i = 0; i < run->chosen_count; i++) {
        const uint32_t device = run->chosen[i];

        run->by_rows[i] = (run->firsts[device + 1] - run->firsts[device]) << 32 | device;
    }
    qsort(run->by_rows, run->chosen_count, sizeof *run->by_rows, more_rows_first);
    for (size_t i = 0; i < run->chosen_count; i++)
        run->chosen[i] = (uint32_t)run->by_rows[i];
}

static bool divided(const learn_run *run)
{
    return run->ranks.count > 1 && !run->ranks.counters;
}

/* Devices with most rows first: of a counter, so that the last ones to be taken are short; else each to the rank that has the fewest rows
 * so far. No rank is waited for longer than one device of the last takes, if all processors are as fast. */
void learn_ranks_divide(learn_run *run)
{
    const sotto_ranks *r = &run->ranks;
    uint64_t rows[SOTTO_RANKS] = {0};
    size_t kept = 0;

    if (r->count > 1)
        sort(run);
    if (!divided(run))
        return;
    for (size_t i = 0; i < run->chosen_count; i++) {
        int least = 0;

        for (int k = 1; k < r->count; k++)
            least = rows[k] < rows[least] ? k : least;
        rows[least] += (run->by_rows[i] >> 32) + 1;
        if (least == r->rank)
            run->chosen[kept++] = (uint32_t)run->by_rows[i];
    }
    run->chosen_count = kept;
    run->dummies = learn_ranks_part(run, run->dummies);
}

size_t learn_ranks_part(const learn_run *run, size_t all)
{
    const size_t rank = (size_t)run->ranks.rank, count = (size_t)run->ranks.count;

    if (!divided(run))
        return all;
    return all > rank ? (all - rank - 1) / count + 1 : 0;
}

size_t learn_ranks_item(const learn_run *run, size_t i)
{
    return divided(run) ? i * (size_t)run->ranks.count + (size_t)run->ranks.rank : i;
}

sotto_status learn_ranks_gather(learn_run *run, sotto_status own, int64_t *numbers, size_t count,
                                sotto_err *err)
{
    return sotto_ranks_add(&run->ranks, own, numbers, count, err);
}

/* The checkpoint is where rank 0 is. Other ranks may be on other machines. */
static sotto_status take_session(learn_run *run, sotto_err *err)
{
    const sotto_arena_mark here = sotto_arena_here(&run->arena);
    uint64_t size = sotto_session_size(&run->session);

    sotto_ranks_copy(&run->ranks, &size, sizeof size);
    uint8_t *memory = sotto_arena_take(&run->arena, (size_t)size);
    sotto_buf buf = sotto_buf_over(memory, (size_t)size);
    sotto_status status =
        memory ? SOTTO_OK : sotto_fail(err, SOTTO_NO_MEMORY, "no memory for a session");

    if (status == SOTTO_OK && run->ranks.rank == 0)
        status = sotto_session_encode(&run->session, &buf, err);
    status = sotto_ranks_settle(&run->ranks, status, NULL, "", err);
    if (status == SOTTO_OK) {
        uint64_t len = buf.len;

        sotto_ranks_copy(&run->ranks, &len, sizeof len);
        sotto_ranks_copy(&run->ranks, memory, (size_t)len);
        if (run->ranks.rank > 0)
            status = sotto_session_decode(&run->session, sotto_bytes_of(memory, (size_t)len), err);
        status = sotto_ranks_settle(&run->ranks, status, NULL, "", err);
    }
    sotto_arena_rollback(&run->arena, here);
    return status;
}

sotto_status learn_ranks_begin(learn_run *run, sotto_status own, sotto_err *err)
{
    SOTTO_TRY(sotto_ranks_settle(&run->ranks, own, run->session.purpose, "data and options", err));
    sotto_ranks_share(&run->ranks, run->numbers + LEARN_FACTS);
    return run->ranks.count > 1 && run->options->checkpoint ? take_session(run, err) : SOTTO_OK;
}

sotto_status learn_ranks_compare(learn_run *run, sotto_status own, sotto_err *err)
{
    return sotto_ranks_settle(&run->ranks, own, run->session.transcript, "model", err);
}
