/* What a record of the board is for different readers, and what it says of rounds before. */
#include "aggregate/aero/aero.h"

#include "aggregate/excerpt.h"
#include "base/alloc.h"
#include "base/arena.h"
#include "base/rule.h"

#include <math.h>
#include <string.h>

/* A record that only the committee reads whole: how it begins, for others, and how long it is. Before there is a plan. */
typedef struct record_size {
    size_t head, whole; /* 0: not such a record */
} record_size;

static record_size size_of(const sotto_round *round, unsigned kind)
{
    sotto_aero_terms t;
    uint8_t row = 0;

    if ((kind != SOTTO_AERO_KEY && kind != SOTTO_AERO_HAND) ||
        sotto_aero_terms_decode(&t, round->parameters, NULL) != SOTTO_OK)
        return (record_size){0, 0};
    while (row < t.set && sotto_aero_sets[row].name)
        row++;
    const unsigned bits = sotto_aero_sets[row].name ? sotto_aero_sets[row].second_bits : 0;
    const size_t poly = (size_t)SOTTO_AERO_N * 8 + (size_t)SOTTO_AERO_N / 8 * bits,
                 pads = t.rekey ? SOTTO_AERO_PADS * (8 + (size_t)(bits + 7) / 8) : 0,
                 head = kind == SOTTO_AERO_HAND ? (size_t)SOTTO_AERO_HAND_HEAD : 32 + poly;
    return (record_size){head, head + t.committee * (poly + pads + 16)};
}

size_t sotto_aero_needed(const sotto_round *round, const sotto_message *record)
{
    const record_size size = size_of(round, record->kind);

    return size.whole && size.head < record->body.len ? size.head : record->body.len;
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

static sotto_status open_excerpt(sotto_message *known, const sotto_round *round, sotto_bytes record,
                                 bool is_checked, sotto_err *err)
{
    sotto_excerpt e;

    SOTTO_TRY(sotto_excerpt_decode(&e, record, err));
    const record_size size = size_of(round, e.message.kind);
    /* Of any other record somebody could show a beginning that is not its own. That of HAND says which key is handed over: members who read it
     * whole say the same in their certificates, or nobody encrypts. */
    if (SOTTO_RULE(aero_excerpts_of_keys) && (size.whole == 0 || e.length != size.whole))
        return sotto_fail(err, SOTTO_REJECTED, "board: an excerpt of what is read whole");
    if (SOTTO_RULE(aero_excerpts_of_heads) && size.whole && e.message.body.len != size.head)
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
    const record_size size = size_of(round, known->kind);
    if (size.whole && known->body.len != size.whole)
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
