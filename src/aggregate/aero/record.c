/* What a record of the board is for different readers, and what it says of rounds before. */
#include "aggregate/aero/aero.h"

#include "aggregate/excerpt.h"
#include "base/alloc.h"
#include "base/arena.h"
#include "base/rule.h"

#include <math.h>
#include <string.h>

/* Bytes of a polynomial and of a sealed one, before there is a plan; 0: no such set. */
static size_t poly_size(const sotto_aero_terms *t)
{
    uint8_t row = 0;

    while (row < t->set && sotto_aero_sets[row].name)
        row++;
    return sotto_aero_sets[row].name
               ? (size_t)SOTTO_AERO_N * 8 +
                     (size_t)SOTTO_AERO_N / 8 * sotto_aero_sets[row].second_bits
               : 0;
}

size_t sotto_aero_needed(const sotto_round *round, const sotto_message *record)
{
    sotto_aero_terms t;

    if (record->kind != SOTTO_AERO_KEY ||
        sotto_aero_terms_decode(&t, round->parameters, NULL) != SOTTO_OK)
        return record->body.len;
    const size_t needed = 32 + poly_size(&t);
    return needed < record->body.len ? needed : record->body.len;
}

bool sotto_aero_contributes(const sotto_round *round, uint32_t index)
{
    sotto_aero_plan *plan = sotto_alloc(sizeof *plan);
    bool drawn = false;

    if (!plan)
        return false;
    plan->round = round;
    if (sotto_aero_terms_decode(&plan->terms, round->parameters, NULL) == SOTTO_OK)
        drawn = sotto_aero_is_sampled(plan, index);
    sotto_release(plan, sizeof *plan);
    return drawn;
}

/* A part of the key with one sealed share for each member. head, which may be NULL: without the shares. */
static size_t key_size(const sotto_round *round, size_t *head)
{
    sotto_aero_terms t;

    if (sotto_aero_terms_decode(&t, round->parameters, NULL) != SOTTO_OK)
        return 0;
    if (head)
        *head = 32 + poly_size(&t);
    return 32 + poly_size(&t) + t.committee * (poly_size(&t) + 16);
}

static sotto_status open_excerpt(sotto_message *known, const sotto_round *round, sotto_bytes record,
                                 bool is_checked, sotto_err *err)
{
    size_t head = 0, whole = key_size(round, &head);
    sotto_excerpt e;

    SOTTO_TRY(sotto_excerpt_decode(&e, record, err));
    /* Of any other record somebody could show a beginning that is not its own. */
    if (SOTTO_RULE(aero_excerpts_of_keys) &&
        (e.message.kind != SOTTO_AERO_KEY || e.length != whole))
        return sotto_fail(err, SOTTO_REJECTED, "board: an excerpt of what is read whole");
    if (SOTTO_RULE(aero_excerpts_of_heads) && e.message.body.len != head)
        return sotto_fail(err, SOTTO_REJECTED, "board: an excerpt of another size");
    *known = e.message;
    return is_checked ? SOTTO_OK : sotto_excerpt_judge(&e, round, &sotto_method_aero, err);
}

sotto_status sotto_aero_record_open(sotto_message *known, const sotto_round *round,
                                    sotto_bytes record, bool is_checked, sotto_err *err)
{
    if (sotto_excerpt_is(record))
        return open_excerpt(known, round, record, is_checked, err);
    SOTTO_TRY(sotto_message_decode(known, record, err));
    if (known->kind == SOTTO_AERO_KEY && known->body.len != key_size(round, NULL))
        return sotto_fail(err, SOTTO_REJECTED, "board: a part of the key of another size");
    return is_checked ? SOTTO_OK : sotto_message_judge(known, round, &sotto_method_aero, err);
}

/* A budget is of one device's data. Its own ledger keeps a device from more rounds than the terms say, so no others count for it. */
static double counted_before(const sotto_aero_plan *plan)
{
    const uint64_t before = plan->round->number - 1, most = plan->terms.participations;

    return (double)(most > 0 && before >= most ? most - 1 : before);
}

/* Members of a number's committee are the same in every round that has this number, registry and beacon: they vow, so one of them is
 * opened at most. What others cost is therefore at most what all numbers before this one cost. */
sotto_status sotto_aero_count(sotto_aero_account *account, const sotto_round *round, sotto_err *err)
{
    sotto_arena scratch;

    if (SOTTO_RULE(aero_number_is_epoch) && round->epoch != round->number)
        return sotto_fail(err, SOTTO_DENIED, "aero: round %llu has the beacon of %llu",
                          (unsigned long long)round->number, (unsigned long long)round->epoch);
    account->rho = 0;
    if (round->number == 1)
        return SOTTO_OK;
    sotto_arena_init(&scratch, (size_t)64 << 20);
    sotto_aero_plan *plan = sotto_arena_take(&scratch, sizeof *plan);
    sotto_status status = plan ? sotto_aero_plan_init(plan, round, &scratch, err) : SOTTO_NO_MEMORY;
    if (status == SOTTO_OK)
        account->rho = nextafter(counted_before(plan) * plan->rho, INFINITY);
    sotto_arena_clear(&scratch);
    return status == SOTTO_NO_MEMORY ? sotto_fail(err, status, "aero: no memory") : status;
}
