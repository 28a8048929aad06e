/* What a record of the board is for different readers, and what it says of rounds before. */
#include "aggregate/aero/aero.h"

#include "aggregate/excerpt.h"
#include "base/alloc.h"
#include "base/arena.h"
#include "base/rule.h"

#include <math.h>
#include <string.h>

/* A record with what one member sealed to each of a committee: how it begins, what is for one member, and how long it is. Before there is
 * a plan. */
typedef struct layout {
    sotto_aero_terms terms;
    size_t head, each, whole; /* 0: not such a record */
} layout;

static layout layout_of(const sotto_round *round, unsigned kind)
{
    layout l = {.whole = 0};
    uint8_t row = 0;

    if ((kind != SOTTO_AERO_KEY && kind != SOTTO_AERO_HAND) ||
        sotto_aero_terms_decode(&l.terms, round->parameters, NULL) != SOTTO_OK)
        return l;
    while (row < l.terms.set && sotto_aero_sets[row].name)
        row++;
    const unsigned bits = sotto_aero_sets[row].name ? sotto_aero_sets[row].second_bits : 0;
    const size_t poly = (size_t)SOTTO_AERO_N * 8 + (size_t)SOTTO_AERO_N / 8 * bits,
                 pads = l.terms.rekey ? SOTTO_AERO_PADS * (8 + (size_t)(bits + 7) / 8) : 0;
    l.head = kind == SOTTO_AERO_HAND ? (size_t)SOTTO_AERO_HAND_HEAD : 32 + poly;
    l.each = poly + pads + 16;
    l.whole = l.head + l.terms.committee * l.each;
    if (kind == SOTTO_AERO_KEY && l.terms.rekey == 0 && l.terms.threshold > 1)
        l.whole -= (l.terms.threshold - 1) * (l.each - SOTTO_AERO_SEALED_SEED);
    return l;
}

/* What is sealed to one place, behind the head. */
static sotto_body_span share_of(const layout *l, unsigned kind, uint32_t dealer, uint32_t place)
{
    sotto_body_span span = {.at = l->head, .len = 0};

    for (uint32_t i = 0; i <= place; i++) {
        span.at += span.len;
        span.len = kind == SOTTO_AERO_KEY && sotto_aero_is_seeded(&l->terms, dealer, i)
                       ? (size_t)SOTTO_AERO_SEALED_SEED
                       : l->each;
    }
    return span;
}

size_t sotto_aero_key_size(const sotto_aero_plan *plan)
{
    return layout_of(plan->round, SOTTO_AERO_KEY).whole;
}

const uint32_t *sotto_aero_members_of(const sotto_round *round, sotto_aero_terms *t,
                                      uint32_t room[SOTTO_AERO_MOST_SPEAKERS])
{
    sotto_arena scratch;

    if (sotto_aero_terms_decode(t, round->parameters, NULL) != SOTTO_OK || t->committees < 1 ||
        t->committee > SOTTO_AERO_MOST_COMMITTEE / t->committees ||
        t->committee * t->committees > round->registered)
        return NULL;
    if (round->account && round->account->members)
        return round->account->members;
    sotto_arena_init(&scratch, (size_t)64 << 20);
    const bool drawn = sotto_aero_draw_members(room, round, t, &scratch, NULL) == SOTTO_OK;
    sotto_arena_clear(&scratch);
    return drawn ? room : NULL;
}

/* The reader's place in the committee that this was dealt to, and the dealer's in that of a new key. False: it is in none, or in another one. */
static bool places_of(const sotto_round *round, const sotto_message *record, uint32_t reader,
                      uint32_t *place, uint32_t *from)
{
    uint32_t room[SOTTO_AERO_MOST_SPEAKERS];
    sotto_aero_terms t;
    const uint32_t *members =
        reader < round->registered ? sotto_aero_members_of(round, &t, room) : NULL;

    if (!members)
        return false;
    const int own = sotto_aero_place_of(members, t.committee * t.committees, reader);
    const int dealer = sotto_aero_place_of(members, t.committee * t.committees, record->from);
    if (own < 0)
        return false;
    /* A key is handed over where there is one committee, by who is in the last one. */
    if (record->kind == SOTTO_AERO_KEY &&
        (dealer < 0 || (uint32_t)dealer / t.committee != (uint32_t)own / t.committee))
        return false;
    *place = (uint32_t)own % t.committee;
    *from = dealer < 0 ? 0 : (uint32_t)dealer % t.committee;
    return true;
}

bool sotto_aero_needed(const sotto_round *round, const sotto_message *record, uint32_t reader,
                       sotto_body_span spans[SOTTO_BODY_SPANS])
{
    const layout l = layout_of(round, record->kind);
    uint32_t place, dealer;

    if (l.whole == 0)
        return false;
    /* Nobody needs what does not count. */
    if (record->body.len != l.whole)
        return true;
    const bool is_for = places_of(round, record, reader, &place, &dealer);
    /* Others read the sum of all parts of a key, which its committee certifies (KEYED). */
    if (is_for || record->kind == SOTTO_AERO_HAND)
        spans[0] = (sotto_body_span){0, l.head};
    if (is_for)
        spans[1] = share_of(&l, record->kind, dealer, place);
    return true;
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

static sotto_status open_excerpt(sotto_aero_record *out, const sotto_round *round, uint32_t reader,
                                 sotto_bytes record, bool is_checked, sotto_err *err)
{
    sotto_body_span spans[SOTTO_BODY_SPANS] = {{0, 0}};
    sotto_pieces wanted;
    sotto_excerpt e;

    SOTTO_TRY(sotto_excerpt_decode(&e, record, err));
    const layout l = layout_of(round, e.message.kind);
    /* Everything else is read whole: half of a complaint is none. */
    if (SOTTO_RULE(aero_excerpts_of_keys) && (l.whole == 0 || e.length != l.whole))
        return sotto_fail(err, SOTTO_REJECTED, "board: an excerpt of what is read whole");
    out->message = e.message;
    out->message.body.len = e.length;
    (void)!sotto_aero_needed(round, &out->message, reader, spans);
    sotto_pieces_of(&wanted, e.length, spans);
    /* A server that shows a member less keeps its share from it. */
    if (SOTTO_RULE(aero_excerpts_of_heads) && !sotto_pieces_equal(&wanted, &e.pieces))
        return sotto_fail(err, SOTTO_REJECTED, "board: an excerpt for somebody else");
    out->message.body = sotto_excerpt_bytes(&e, spans[0]);
    out->own = sotto_excerpt_bytes(&e, spans[1]);
    memcpy(out->digest, e.digest, sizeof out->digest);
    return is_checked ? SOTTO_OK : sotto_excerpt_judge(&e, round, &sotto_method_aero, err);
}

sotto_status sotto_aero_record_open(sotto_aero_record *out, const sotto_round *round,
                                    uint32_t reader, sotto_bytes record, bool is_checked,
                                    sotto_err *err)
{
    sotto_body_span spans[SOTTO_BODY_SPANS] = {{0, 0}};

    memset(out, 0, sizeof *out);
    if (sotto_excerpt_is(record))
        return open_excerpt(out, round, reader, record, is_checked, err);
    SOTTO_TRY(sotto_message_decode(&out->message, record, err));
    const layout l = layout_of(round, out->message.kind);
    if (l.whole && out->message.body.len != l.whole)
        return sotto_fail(err, SOTTO_REJECTED, "board: a part of the key of another size");
    if (!is_checked)
        SOTTO_TRY(sotto_message_judge(&out->message, round, &sotto_method_aero, err));
    if (l.whole == 0)
        return SOTTO_OK;
    if (out->message.kind == SOTTO_AERO_HAND)
        sotto_body_digest(out->digest, out->message.body);
    (void)!sotto_aero_needed(round, &out->message, reader, spans);
    if (spans[1].len)
        out->own = sotto_bytes_of(out->message.body.data + spans[1].at, spans[1].len);
    out->message.body.len = l.head;
    return SOTTO_OK;
}

/* A budget is of one device's data. Its own ledger keeps a device from more rounds than the terms say, so no others count for it. */
static double counted_before(const sotto_aero_plan *plan)
{
    const uint64_t before = plan->round->number - 1, most = plan->terms.participations;

    return (double)(most > 0 && before >= most ? most - 1 : before);
}

/* Members of a number's committee are the same in every round that has this number, registry and beacon: they vow, so one of them is
 * opened at most. What others cost is therefore at most what all numbers before this one cost. */
sotto_status sotto_aero_count(sotto_aero_account *account, const sotto_round *round,
                              sotto_arena *arena, sotto_err *err)
{
    uint32_t *members = sotto_arena_take_array(arena, SOTTO_AERO_MOST_SPEAKERS, sizeof *members);
    sotto_aero_terms t;
    sotto_arena scratch;

    if (!members)
        return sotto_fail(err, SOTTO_NO_MEMORY, "aero: no memory");
    if (SOTTO_RULE(aero_number_is_epoch) && round->epoch != round->number)
        return sotto_fail(err, SOTTO_DENIED, "aero: round %llu has the beacon of %llu",
                          (unsigned long long)round->number, (unsigned long long)round->epoch);
    account->rho = 0;
    account->members = sotto_aero_members_of(round, &t, members);
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
