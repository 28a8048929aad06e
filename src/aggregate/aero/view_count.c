/* How many members of each committee have done what the next phase takes. A round goes on where all committees have enough: A corrupt members
 * of each are together more than one tolerates. */
#include "aggregate/aero/aero.h"

#include "base/rule.h"

#include <string.h>

bool sotto_aero_is_dealt(const sotto_aero_view *view)
{
    for (uint32_t d = 0; d < view->plan->terms.committees; d++)
        if (view->dealt[d] < view->plan->terms.threshold)
            return false;
    return true;
}

/* Of the committee in which the fewest are what `is` asks for. */
static uint32_t fewest(const sotto_aero_view *view,
                       bool (*is)(const sotto_aero_view *, const sotto_aero_member *, uint64_t),
                       uint64_t before)
{
    const uint32_t each = view->plan->terms.committee;
    uint32_t least = each;

    for (uint32_t first = 0; first < view->plan->members; first += each) {
        uint32_t count = 0;

        for (uint32_t i = first; i < first + each; i++)
            count += is(view, &view->members[i], before);
        least = count < least ? count : least;
    }
    return least;
}

static bool certifies(const sotto_aero_view *view, const sotto_aero_member *m, uint64_t before)
{
    (void)before;
    return m->has_certified &&
           memcmp(m->certificate, view->certificate, sizeof m->certificate) == 0;
}

static bool opened_before(const sotto_aero_view *view, const sotto_aero_member *m, uint64_t before)
{
    (void)view;
    return m->has_opened && m->opened_at < before;
}

bool sotto_aero_is_certified(const sotto_aero_view *view)
{
    if (!view->is_keyed)
        return false;
    if (SOTTO_RULE(aero_dealers_enough) && !sotto_aero_is_dealt(view))
        return false;
    if (SOTTO_RULE(aero_certificate_signed) &&
        fewest(view, certifies, 0) < view->plan->terms.threshold)
        return false;
    return sotto_aero_budget(view->plan, NULL) == SOTTO_OK;
}

uint32_t sotto_aero_count_sealed(const sotto_aero_view *view)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < view->plan->members; i++)
        count += view->members[i].has_sealed;
    return count;
}

uint32_t sotto_aero_opened(const sotto_aero_view *view, uint64_t before)
{
    return fewest(view, opened_before, before);
}

/* Corrupt devices may say it without a look. The odds take them off (odds.c). */
sotto_status sotto_aero_read_clear(sotto_aero_view *view, uint32_t from, sotto_bytes body,
                                   sotto_err *err)
{
    if (!view->is_summed || from >= view->plan->round->registered ||
        body.len != sizeof view->verdict)
        return sotto_fail(err, SOTTO_REJECTED, "board: nothing wrong in what is not there");
    uint8_t *clear = &view->clear[from / 8], bit = (uint8_t)(1u << (from % 8));
    /* A server that shows devices other sums than it shows members gets no help from them. */
    if (SOTTO_RULE(aero_clears_of_sums) && memcmp(body.data, view->verdict, body.len) != 0)
        return sotto_fail(err, SOTTO_REJECTED, "board: nothing wrong in other sums");
    if (SOTTO_RULE(aero_clears_once) && (*clear & bit))
        return sotto_fail(err, SOTTO_REJECTED, "board: nothing wrong, once more");
    *clear |= bit;
    view->clears++;
    return SOTTO_OK;
}

bool sotto_aero_is_clear(const sotto_aero_view *view)
{
    if (SOTTO_RULE(aero_clears_counted) && view->clears < view->plan->terms.clears)
        return false;
    return true;
}

uint32_t sotto_aero_verdicts(const sotto_aero_view *view, uint32_t committee, uint32_t *places)
{
    const uint32_t each = view->plan->terms.committee;
    const sotto_aero_member *members = view->members + (size_t)committee * each;
    uint32_t count = 0;

    for (uint32_t i = 0; i < each && view->is_summed && sotto_aero_is_clear(view); i++)
        if (members[i].has_verdict &&
            memcmp(members[i].verdict, view->verdict, sizeof view->verdict) == 0)
            places[count++] = i;
    return count;
}
