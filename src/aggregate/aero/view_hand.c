/* A key that is handed over, as everybody reads it off the board: who dealt, what new members say of it, and whether it holds. Where it does
 * not, the round goes on with a new key: nobody is worse off, so nobody gains by spoiling it. */
#include "aggregate/aero/aero.h"

#include "crypto/hash.h"

#include <string.h>

size_t sotto_aero_hand_size(const sotto_aero_plan *plan)
{
    return SOTTO_AERO_HAND_HEAD + plan->terms.committee * sotto_aero_sealed_share_size(plan);
}

size_t sotto_aero_taken_size(const sotto_aero_plan *plan)
{
    return SOTTO_AERO_A_SEED + sotto_aero_poly_size(&plan->aero);
}

static size_t cells(const sotto_aero_view *view)
{
    return (size_t)view->plan->old_members * view->plan->members;
}

sotto_status sotto_aero_handing_init(sotto_aero_view *view, sotto_arena *arena, sotto_err *err)
{
    sotto_aero_handing *h = &view->handing;
    const sotto_aero_plan *plan = view->plan;

    h->is_wanted = plan->terms.handed != 0;
    if (!h->is_wanted)
        return SOTTO_OK;
    h->from = sotto_arena_take_array(arena, plan->old_members, sizeof *h->from);
    h->has_probed = sotto_arena_take_array(arena, plan->members, sizeof *h->has_probed);
    h->holds = sotto_arena_take_array(arena, plan->members, sizeof *h->holds);
    h->probes = sotto_arena_take_array(arena, cells(view), sizeof *h->probes);
    h->opened = sotto_arena_take_array(arena, cells(view), sizeof *h->opened);
    h->wrong = sotto_arena_take_array(arena, cells(view), sizeof *h->wrong);
    if (!h->from || !h->has_probed || !h->holds || !h->probes || !h->opened || !h->wrong)
        return sotto_fail(err, SOTTO_NO_MEMORY, "aero: no memory");
    return SOTTO_OK;
}

bool sotto_aero_wants_key(const sotto_aero_view *view)
{
    return !view->handing.is_wanted || (view->handing.is_over && !view->handing.has_passed);
}

uint64_t sotto_aero_key_round(const sotto_aero_view *view)
{
    const uint64_t number = view->plan->round->number;

    return view->handing.has_passed ? number - view->plan->terms.handed : number;
}

/* ---- what is dealt, and what is said of it ------------------------------------------------------------------- */

static sotto_status out_of_turn(sotto_err *err, const char *what)
{
    return sotto_fail(err, SOTTO_REJECTED, "board: %s out of turn", what);
}

/* New members' keys of this round are on the board by then, and what is dealt is sealed to them. */
sotto_status sotto_aero_read_hand(sotto_aero_view *view, const sotto_aero_record *record,
                                  sotto_err *err)
{
    const int place = sotto_aero_old_place(view->plan, record->message.from);
    const sotto_bytes body = record->message.body;
    sotto_aero_handing *h = &view->handing;

    if (!h->is_wanted || place < 0 || h->from[place].is_there || !view->is_sealed || h->is_handed ||
        body.len < SOTTO_AERO_HAND_HEAD)
        return out_of_turn(err, "a share that is handed over");
    sotto_aero_hand *hand = &h->from[place];
    memcpy(hand->key, body.data, sizeof hand->key);
    memcpy(hand->public_key, body.data + 32, sizeof hand->public_key);
    memcpy(hand->dealt, record->digest, sizeof hand->dealt);
    hand->is_there = true;
    h->hands++;
    return SOTTO_OK;
}

sotto_status sotto_aero_read_handed(sotto_aero_view *view, sotto_err *err)
{
    if (!view->handing.is_wanted || !view->is_sealed || view->handing.is_handed)
        return out_of_turn(err, "the end of what is handed over");
    view->handing.is_handed = true;
    return SOTTO_OK;
}

/* Nobody knows them before everything is dealt: who deals something else is seen whatever it is. */
void sotto_aero_probe_seed(uint8_t out[SOTTO_AERO_SEED], const sotto_aero_view *view)
{
    static const char purpose[] = "sotto-aero-probe-seed-1";
    const sotto_aero_plan *plan = view->plan;
    sotto_hash hash;

    sotto_hash_init(&hash, SOTTO_SHA256);
    sotto_hash_update(&hash, sotto_bytes_of(purpose, sizeof purpose));
    sotto_hash_update(&hash, sotto_bytes_of(plan->id, sizeof plan->id));
    for (uint32_t d = 0; d < plan->old_members; d++) {
        const sotto_aero_hand *hand = &view->handing.from[d];
        const uint8_t is_there = hand->is_there;

        sotto_hash_update(&hash, sotto_bytes_of(&is_there, 1));
        if (hand->is_there)
            sotto_hash_update(&hash, sotto_bytes_of(hand->dealt, sizeof hand->dealt));
    }
    sotto_hash_final(&hash, out);
}

/* Of each old member that dealt, in their order: 1 and the probe, or 0 where it could not be opened. */
static bool read_probes(const sotto_aero_view *view, uint32_t place, sotto_bytes body,
                        sotto_aero_handing *into)
{
    const sotto_aero_plan *plan = view->plan;
    sotto_reader in = sotto_reader_over(body);
    bool malformed = false;

    for (uint32_t d = 0; d < plan->old_members; d++) {
        const size_t at = (size_t)d * plan->members + place;

        if (!view->handing.from[d].is_there)
            continue;
        sotto_aero_probe probe = {0};
        const uint64_t opened = sotto_read_uint(&in, 1);
        malformed |= opened > 1;
        if (opened == 1)
            sotto_aero_probe_read(&plan->aero, &in, &probe, &malformed);
        if (!into)
            continue;
        into->opened[at] = opened == 1;
        into->probes[at] = probe;
    }
    return sotto_reader_finish(&in, "probe", NULL) == SOTTO_OK && !malformed;
}

sotto_status sotto_aero_read_probe(sotto_aero_view *view, uint32_t place, sotto_bytes body,
                                   sotto_err *err)
{
    sotto_aero_handing *h = &view->handing;

    if (!h->is_wanted || !h->is_handed || h->is_over || h->has_probed[place] ||
        !view->members[place].has_sealed)
        return out_of_turn(err, "a probe");
    /* What does not count leaves nothing behind: whoever restarts does not read it again, and has to come to the same judgement. */
    if (!read_probes(view, place, body, NULL))
        return sotto_fail(err, SOTTO_REJECTED, "board: no probe");
    (void)read_probes(view, place, body, h);
    h->has_probed[place] = true;
    h->probed++;
    return SOTTO_OK;
}

/* ---- the judgement ------------------------------------------------------------------------------------------- */

typedef struct judgement {
    uint32_t dealers[SOTTO_AERO_MOST_COMMITTEE], members[SOTTO_AERO_MOST_COMMITTEE];
    bool bad[SOTTO_AERO_MOST_COMMITTEE];
    uint32_t dealer_count, count, threshold;
    sotto_aero_probe *at;
    bool *wrong;
} judgement;

/* Who deals a share of another key than the one that is posted hands over nothing. */
static bool is_of_key(const sotto_aero_handing *h, uint32_t dealer)
{
    return h->from[dealer].is_there && memcmp(h->from[dealer].key, h->key, sizeof h->key) == 0;
}

static sotto_status gather(const sotto_aero_view *view, judgement *j, sotto_arena *scratch,
                           sotto_err *err)
{
    const sotto_aero_handing *h = &view->handing;
    const sotto_aero_plan *plan = view->plan;

    j->threshold = plan->terms.threshold;
    for (uint32_t d = 0; d < plan->old_members; d++)
        if (is_of_key(h, d))
            j->dealers[j->dealer_count++] = d;
    for (uint32_t i = 0; i < plan->members; i++)
        if (h->has_probed[i])
            j->members[j->count++] = i;
    const size_t all = (size_t)j->dealer_count * j->count;
    j->at = sotto_arena_take_array(scratch, all + 1, sizeof *j->at);
    j->wrong = sotto_arena_take_array(scratch, all + 1, sizeof *j->wrong);
    if (!j->at || !j->wrong)
        return sotto_fail(err, SOTTO_NO_MEMORY, "aero: no memory");
    for (uint32_t d = 0; d < j->dealer_count; d++)
        for (uint32_t i = 0; i < j->count; i++) {
            const size_t from = (size_t)j->dealers[d] * plan->members + j->members[i];

            j->at[d * j->count + i] = h->probes[from];
        }
    return SOTTO_OK;
}

/* What a new member could not open is no share of it, whatever its probe says. */
static void note_wrong(sotto_aero_view *view, const judgement *j)
{
    sotto_aero_handing *h = &view->handing;
    const sotto_aero_plan *plan = view->plan;

    for (uint32_t d = 0; d < j->dealer_count; d++) {
        h->from[j->dealers[d]].is_bad = j->bad[d];
        for (uint32_t i = 0; i < j->count; i++) {
            const size_t at = (size_t)j->dealers[d] * plan->members + j->members[i];

            h->wrong[at] = j->wrong[d * j->count + i] || !h->opened[at];
        }
    }
}

static uint32_t count_wrong(const sotto_aero_view *view, const judgement *j, uint32_t dealer)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < j->count; i++)
        count += view->handing.wrong[(size_t)dealer * view->plan->members + j->members[i]];
    return count;
}

/* Those that dealt to the most members, so that as many as can be have a share: in their order, where they are equal. */
static void choose(sotto_aero_view *view, const judgement *j)
{
    bool is_in[SOTTO_AERO_MOST_COMMITTEE] = {false};
    uint32_t count = 0;

    for (uint32_t n = 0; n < j->threshold; n++) {
        uint32_t best = j->dealer_count, least = UINT32_MAX;

        for (uint32_t d = 0; d < j->dealer_count; d++) {
            const uint32_t wrong = count_wrong(view, j, j->dealers[d]);

            if (!j->bad[d] && !is_in[d] && wrong < least) {
                best = d;
                least = wrong;
            }
        }
        if (best < j->dealer_count)
            is_in[best] = true;
    }
    for (uint32_t d = 0; d < j->dealer_count; d++)
        if (is_in[d])
            view->handing.taken[count++] = j->dealers[d];
}

static uint32_t count_holders(sotto_aero_view *view, const judgement *j)
{
    sotto_aero_handing *h = &view->handing;
    uint32_t holders = 0;

    for (uint32_t i = 0; i < j->count; i++) {
        bool holds = true;

        for (uint32_t n = 0; n < j->threshold; n++)
            holds &= !h->wrong[(size_t)h->taken[n] * view->plan->members + j->members[i]];
        h->holds[j->members[i]] = holds;
        holders += holds;
    }
    return holders;
}

/* Whether enough agree, and as many new members have a share as a later hand-over takes. */
static sotto_status judge(sotto_aero_view *view, bool *passed, sotto_arena *scratch, sotto_err *err)
{
    judgement *j = sotto_arena_take(scratch, sizeof *j);

    *passed = false;
    if (!j)
        return sotto_fail(err, SOTTO_NO_MEMORY, "aero: no memory");
    SOTTO_TRY(gather(view, j, scratch, err));
    const uint32_t enough = 2 * j->threshold - 1;
    if (j->dealer_count < j->threshold || j->count < j->threshold)
        return SOTTO_OK;
    const sotto_aero_probes probes = {.at = j->at,
                                      .dealers = j->dealers,
                                      .members = j->members,
                                      .dealer_count = j->dealer_count,
                                      .old_threshold = j->threshold,
                                      .count = j->count,
                                      .threshold = j->threshold,
                                      .wrong = j->wrong};
    const sotto_status status =
        sotto_aero_hand_judge_vartime(&view->plan->aero, j->bad, &probes, scratch, NULL);
    if (status == SOTTO_NO_MEMORY)
        return sotto_fail(err, status, "aero: no memory");
    if (status != SOTTO_OK)
        return SOTTO_OK;
    note_wrong(view, j);
    choose(view, j);
    *passed = count_holders(view, j) >= enough;
    return SOTTO_OK;
}

/* The key of the origin, in place of the one that this round's beacon would give. */
static sotto_status adopt(sotto_aero_view *view, sotto_bytes body, sotto_arena *scratch,
                          sotto_err *err)
{
    sotto_aero_plan *plan = view->plan;
    sotto_aero_poly *b = sotto_arena_take(scratch, sizeof *b);
    const sotto_bytes part =
        sotto_bytes_of(body.data + SOTTO_AERO_A_SEED, body.len - SOTTO_AERO_A_SEED);

    if (!b)
        return sotto_fail(err, SOTTO_NO_MEMORY, "aero: no memory");
    if (sotto_aero_poly_decode(&plan->aero, b, part, NULL) != SOTTO_OK)
        return SOTTO_OK;
    SOTTO_TRY(sotto_aero_expand_vartime(&plan->aero, &plan->a, body.data, err));
    memcpy(plan->a_seed, body.data, SOTTO_AERO_A_SEED);
    view->b[0] = *b;
    view->dealers = view->dealt[0] = plan->terms.threshold;
    view->handing.has_passed = view->is_keyed = true;
    return SOTTO_OK;
}

sotto_status sotto_aero_read_taken(sotto_aero_view *view, sotto_bytes body, sotto_arena *scratch,
                                   sotto_err *err)
{
    bool passed = false;

    if (!view->handing.is_wanted || !view->handing.is_handed || view->handing.is_over)
        return out_of_turn(err, "a key that is handed over");
    view->handing.is_over = true;
    if (body.len != sotto_aero_taken_size(view->plan))
        return SOTTO_OK;
    sotto_aero_key_digest(view->handing.key, body);
    SOTTO_TRY(judge(view, &passed, scratch, err));
    return passed ? adopt(view, body, scratch, err) : SOTTO_OK;
}
