/* Vectors that come in pieces: what is known of them before they are whole needs no state of the round. */
#include "serve/aggregator/running.h"

#include "base/arena.h"
#include "base/rule.h"

#define SCRATCH ((size_t)1 << 30) /* of one message */

enum { LONG_VECTOR = 65536 };

size_t sotto_running_vector(const sotto_running *r)
{
    return sotto_running_posted(r)->method->bulk->state_size(&sotto_running_posted(r)->round);
}

bool sotto_running_is_long(const sotto_running *r, uint64_t body)
{
    const size_t vector =
        sotto_running_posted(r)->method->tally->size(&sotto_running_posted(r)->round);

    return sotto_running_posted(r)->method->bulk && vector >= LONG_VECTOR && body >= vector;
}

sotto_status sotto_running_judge(const sotto_running *r, sotto_bytes message, uint32_t *from,
                                 bool *alone, sotto_err *err)
{
    sotto_arena scratch;
    sotto_message m;

    SOTTO_TRY(sotto_message_decode(&m, message, err));
    *from = m.from;
    *alone = m.bulk_len == 0;
    if (*alone)
        return SOTTO_OK;
    sotto_arena_init(&scratch, SCRATCH);
    const sotto_machine_ops *ops = sotto_running_posted(r)->method->parts[SOTTO_PART_SERVER];
    const sotto_status judged = ops->check(&sotto_running_posted(r)->round, &m, &scratch, err);
    sotto_arena_clear(&scratch);
    /* Nobody looks at it again: whoever is not registered would have its vector in the sum. */
    if (SOTTO_RULE(aggregator_upload_judged) && judged != SOTTO_OK)
        return judged;
    return SOTTO_OK;
}

sotto_status sotto_running_begin(const sotto_running *r, void *vector, sotto_bytes message,
                                 sotto_err *err)
{
    sotto_message m;

    SOTTO_TRY(sotto_message_decode(&m, message, err));
    return sotto_running_posted(r)->method->bulk->begin(vector, &sotto_running_posted(r)->round, &m,
                                                        err);
}
