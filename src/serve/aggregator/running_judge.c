/* What of a running round needs no state of its machine: whether messages are right, and where vectors go. */
#include "serve/aggregator/running.h"

#include "base/arena.h"
#include "base/rule.h"

#define SCRATCH ((size_t)1 << 30) /* of one message */

enum { LONG_VECTOR = 65536 };

/* ---- vectors in pieces ------------------------------------------------------------------------------------------- */

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

static void judge(const sotto_posted_round *p, sotto_judged *one, const sotto_message *m)
{
    const sotto_machine_ops *ops = p->method->parts[SOTTO_PART_SERVER];
    sotto_arena scratch;

    one->from = m->from;
    one->alone = m->bulk_len == 0;
    one->status = SOTTO_OK;
    one->holds_for = m->holds_for;
    memcpy(one->digest, m->digest, sizeof one->digest);
    if (one->alone)
        return;
    sotto_arena_init(&scratch, SCRATCH);
    const sotto_status judged = ops->check(&p->round, m, &scratch, NULL);
    sotto_arena_clear(&scratch);
    /* Nobody looks at it again: whoever is not registered would have its vector in the sum. */
    if (SOTTO_RULE(aggregator_upload_judged) && judged != SOTTO_OK)
        one->status = judged;
}

void sotto_running_judge(const sotto_running *r, sotto_judged *all, size_t count)
{
    const sotto_posted_round *p = sotto_running_posted(r);
    sotto_message messages[SOTTO_JUDGED_TOGETHER];

    for (size_t i = 0; i < count; i++) {
        all[i].status = sotto_message_decode(&messages[i], all[i].message, NULL);
        if (all[i].status != SOTTO_OK)
            messages[i] = (sotto_message){0};
    }
    sotto_messages_vouch(messages, count, &p->round, p->method);
    for (size_t i = 0; i < count; i++)
        if (all[i].status == SOTTO_OK)
            judge(p, &all[i], &messages[i]);
}

sotto_status sotto_running_begin(const sotto_running *r, void *vector, sotto_bytes message,
                                 sotto_err *err)
{
    sotto_message m;

    SOTTO_TRY(sotto_message_decode(&m, message, err));
    return sotto_running_posted(r)->method->bulk->begin(vector, &sotto_running_posted(r)->round, &m,
                                                        err);
}

/* ---- signatures --------------------------------------------------------------------------------------------------- */

/* Signatures of all that are taken together, before anything else of them. Refusals are left to `deliver`. */
sotto_status sotto_running_vouch(const sotto_running *r, sotto_put *puts, sotto_arena *scratch,
                                 sotto_err *err)
{
    const sotto_posted_round *p = sotto_running_posted(r);
    size_t count = 0, at = 0;

    for (const sotto_put *put = puts; put; put = put->next)
        count++;
    sotto_message *messages = sotto_arena_take_array(scratch, count + 1, sizeof *messages);
    if (!messages)
        return sotto_fail(err, SOTTO_NO_MEMORY, "messages");
    for (const sotto_put *put = puts; put; put = put->next, at++)
        /* Those whose vectors came in pieces were judged before the first of them. */
        if (put->vector || sotto_message_decode(&messages[at], put->message, NULL) != SOTTO_OK)
            messages[at] = (sotto_message){0};
    sotto_messages_vouch(messages, count, &p->round, p->method);
    at = 0;
    for (sotto_put *put = puts; put; put = put->next, at++) {
        if (put->vector)
            continue;
        put->holds_for = messages[at].holds_for;
        memcpy(put->digest, messages[at].digest, sizeof put->digest);
    }
    return SOTTO_OK;
}
