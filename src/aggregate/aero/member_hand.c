/* A member of two rounds (Liu and Gupta 2023, 4.1; hand_over.h). In the one before it held a share of the key, and it deals that to the
 * members of this one. Or it takes over from them. What it took along is erased once the hand-over was judged, and at the end of the set-up
 * at the latest. Shares of two committees are never of one polynomial, and nobody honest has both. */
#include "aggregate/aero/member.h"

#include "base/rule.h"
#include "crypto/hash.h"

#include <string.h>

static const char PURPOSE[] = "sotto-aero-hand-1";

/* ---- what it took along --------------------------------------------------------------------------------------- */

/* To the round after its own, of the same session and registry, on the same terms: what hints, odds and the threshold were planned for. */
static bool may_hand_over(const sotto_aero_committee_member *m, const sotto_aero_carried *own,
                          const uint8_t terms[32])
{
    const sotto_aero_plan *plan = m->base.plan;
    const sotto_round *r = plan->round;

    if (SOTTO_RULE(aero_hand_next_round) &&
        (own->number + 1 != r->number || own->handed + 1 != plan->terms.handed ||
         memcmp(own->round, plan->terms.origin.round, sizeof own->round) != 0))
        return false;
    if (SOTTO_RULE(aero_hand_same_terms) && memcmp(own->terms, terms, 32) != 0)
        return false;
    return true;
}

sotto_status sotto_aero_member_inherit(sotto_aero_committee_member *m, sotto_err *err)
{
    const sotto_aero_plan *plan = m->base.plan;
    uint8_t terms[32];

    if (sotto_aero_old_place(plan, m->base.self.index) < 0 || m->base.self.carried.len == 0)
        return SOTTO_OK;
    sotto_aero_carried *own = sotto_arena_take(m->base.arena, sizeof *own);
    if (!own)
        return sotto_aero_no_memory(err);
    SOTTO_TRY(sotto_aero_key_terms(terms, plan, err));
    if (sotto_aero_carried_decode(&plan->aero, own, m->base.self.carried, NULL) == SOTTO_OK &&
        may_hand_over(m, own, terms))
        m->own = own;
    else
        sotto_wipe(own, sizeof *own);
    return SOTTO_OK;
}

void sotto_aero_member_forget(sotto_aero_committee_member *m)
{
    if (m->own)
        sotto_wipe(m->own, sizeof *m->own);
    if (m->dealt)
        sotto_wipe(m->dealt, m->base.plan->old_members * sizeof *m->dealt);
    m->own = NULL;
    m->dealt = NULL; /* zeros are nobody's share */
}

sotto_status sotto_aero_member_erase(sotto_aero_committee_member *m, sotto_effects *effects,
                                     sotto_err *err)
{
    if (m->hand & SOTTO_AERO_HAS_ERASED)
        return SOTTO_OK;
    m->hand |= SOTTO_AERO_HAS_ERASED;
    if (!m->base.view->handing.is_over)
        m->hand |= SOTTO_AERO_TAKES_NOTHING;
    sotto_aero_member_forget(m);
    return sotto_effects_carry(effects, (sotto_bytes){NULL, 0}, err);
}

/* ---- dealing --------------------------------------------------------------------------------------------------- */

/* Who did not commit to anything has no key of this round, and can't take over: its place stays empty. */
static sotto_status seal_all(sotto_aero_committee_member *m, sotto_buf *body,
                             const sotto_aero_holding *holdings, sotto_arena *scratch,
                             sotto_err *err)
{
    const sotto_aero_plan *plan = m->base.plan;
    const size_t each = sotto_aero_sealed_share_size(plan);

    for (uint32_t i = 0; i < plan->terms.committee; i++) {
        if (m->base.view->members[i].has_sealed) {
            SOTTO_TRY(sotto_aero_holding_seal(m, body, PURPOSE, plan->committee[i], NULL,
                                              &holdings[i], scratch, err));
            continue;
        }
        memset(body->data + body->len, 0, each);
        body->len += each;
    }
    return SOTTO_OK;
}

static sotto_status write_head(const sotto_aero_committee_member *m, sotto_buf *body,
                               sotto_err *err)
{
    sotto_writer w = sotto_writer_on(body);
    sotto_dh dh;

    sotto_write_bytes(&w, sotto_bytes_of(m->own->key, sizeof m->own->key));
    sotto_status status = sotto_aero_round_key(&dh, m, err);
    if (status == SOTTO_OK)
        sotto_write_bytes(&w, sotto_bytes_of(dh.public_key, 32));
    sotto_dh_clear(&dh);
    SOTTO_TRY(status);
    return sotto_writer_finish(&w, "hand", err);
}

static sotto_status deal(sotto_aero_committee_member *m, sotto_effects *effects,
                         sotto_arena *scratch, sotto_err *err)
{
    const sotto_aero_plan *plan = m->base.plan;
    const uint32_t count = plan->terms.committee;
    sotto_aero_holding *holdings = sotto_arena_take_array(scratch, count, sizeof *holdings);
    sotto_buf body = sotto_aero_buffer(scratch, sotto_aero_hand_size(plan));
    sotto_aero_stream stream;

    if (!holdings || !body.data)
        return sotto_aero_no_memory(err);
    sotto_status status = sotto_aero_stream_open(&stream, &m->base, SOTTO_AERO_FOR_HAND, 0, err);
    if (status == SOTTO_OK)
        status = sotto_aero_hand_deal(&plan->aero, holdings, count, plan->terms.threshold,
                                      &m->own->holding, &stream.entropy, err);
    sotto_aero_stream_close(&stream);
    if (status == SOTTO_OK)
        status = write_head(m, &body, err);
    if (status == SOTTO_OK)
        status = seal_all(m, &body, holdings, scratch, err);
    SOTTO_TRY(status);
    /* A share is dealt once: on no second board, and in no other round of this number. */
    SOTTO_TRY(sotto_aero_vow(&m->base, effects, SOTTO_AERO_HAND, 0, sotto_buf_bytes(&body), err));
    return sotto_aero_post(&m->base, effects, SOTTO_AERO_HAND, sotto_buf_bytes(&body), err);
}

/* ---- taking over ------------------------------------------------------------------------------------------------ */

/* A server may end the hand-over as late as it likes. Whoever erased what it was dealt neither reads it again, nor says that it got nothing. */
static bool is_too_late(const sotto_aero_committee_member *m)
{
    if (SOTTO_RULE(aero_hands_in_time) && (m->hand & SOTTO_AERO_TAKES_NOTHING))
        return true;
    return false;
}

/* What cannot be opened is said to be so in the probe: it is the dealer's or the server's fault. */
static sotto_status open_hand(sotto_aero_committee_member *m, const sotto_message *hand,
                              sotto_arena *scratch, sotto_err *err)
{
    const sotto_aero_plan *plan = m->base.plan;
    const sotto_bytes sealed = m->base.view->last.own;
    const int place = sotto_aero_old_place(plan, hand->from);

    if (place < 0 || is_too_late(m) || sealed.len != sotto_aero_sealed_share_size(plan))
        return SOTTO_OK;
    if (!m->dealt) {
        m->dealt = sotto_arena_take_array(m->base.arena, plan->old_members, sizeof *m->dealt);
        m->opened = sotto_arena_take_array(m->base.arena, plan->old_members, sizeof *m->opened);
        if (!m->dealt || !m->opened)
            return sotto_aero_no_memory(err);
    }
    const sotto_status status = sotto_aero_holding_unseal(
        m, &m->dealt[place], PURPOSE, hand->from, m->base.view->handing.from[place].public_key,
        sealed, scratch, NULL);
    m->opened[place] = status == SOTTO_OK;
    return status == SOTTO_NO_MEMORY ? sotto_aero_no_memory(err) : SOTTO_OK;
}

/* What this member would say of the share that it takes from a dealer, and whether others' probes of that dealer agree. */
static sotto_status fits(const sotto_aero_committee_member *m, bool *out, uint32_t dealer,
                         sotto_arena *scratch, sotto_err *err)
{
    const sotto_aero_handing *h = &m->base.view->handing;
    const sotto_aero_plan *plan = m->base.plan;
    const size_t row = (size_t)dealer * plan->members;
    const sotto_aero_holding *dealt = &m->dealt[dealer];
    sotto_aero_probe own;
    sotto_aero_probe *others = sotto_arena_take_array(scratch, plan->members, sizeof *others);
    uint32_t from[SOTTO_AERO_MOST_COMMITTEE], count = 0;
    uint8_t seed[SOTTO_AERO_SEED];

    if (!others)
        return sotto_aero_no_memory(err);
    for (uint32_t i = 0; i < plan->members && count < plan->terms.threshold; i++) {
        if (!h->has_probed[i] || h->wrong[row + i])
            continue;
        from[count] = i;
        others[count++] = h->probes[row + i];
    }
    sotto_aero_probe_seed(seed, m->base.view);
    SOTTO_TRY(
        sotto_aero_hand_probe(&plan->aero, &own, &dealt, 1, plan->terms.handed - 1u, seed, err));
    *out = count == plan->terms.threshold &&
           sotto_aero_hand_fits_vartime(&plan->aero, &own, m->place, others, from, count);
    sotto_wipe(&own, sizeof own);
    return SOTTO_OK;
}

/* A server that leaves a member's probe out, and a dealer that lies, would have it take a share that nobody judged. It judges by itself: its own
 * probe is a point of the polynomial of those that were judged. */
static sotto_status look_at_own(sotto_aero_committee_member *m, sotto_arena *scratch,
                                sotto_err *err)
{
    const sotto_aero_handing *h = &m->base.view->handing;
    bool is_sound = true;

    if (h->has_probed[m->place])
        return SOTTO_OK;
    for (uint32_t i = 0; i < m->base.plan->terms.threshold && !m->lacks; i++) {
        SOTTO_TRY(fits(m, &is_sound, h->taken[i], scratch, err));
        if (SOTTO_RULE(aero_unheard_probes) && !is_sound)
            m->lacks = true;
    }
    return SOTTO_OK;
}

/* Its share of the key, from as many old members as the threshold. */
static sotto_status take_over(sotto_aero_committee_member *m, sotto_arena *scratch, sotto_err *err)
{
    const sotto_aero_handing *h = &m->base.view->handing;
    const sotto_aero_plan *plan = m->base.plan;
    const sotto_aero_holding *from[SOTTO_AERO_MOST_COMMITTEE];
    sotto_aero_holding *sum = sotto_arena_take(scratch, sizeof *sum);

    if (!sum)
        return sotto_aero_no_memory(err);
    m->took = true;
    m->lacks = !m->dealt || is_too_late(m);
    for (uint32_t i = 0; i < plan->terms.threshold && !m->lacks; i++) {
        from[i] = &m->dealt[h->taken[i]];
        m->lacks =
            !m->opened[h->taken[i]] || h->wrong[(size_t)h->taken[i] * plan->members + m->place];
    }
    if (!m->lacks)
        SOTTO_TRY(look_at_own(m, scratch, err));
    if (m->lacks)
        return SOTTO_OK;
    if (sotto_aero_hand_take(&plan->aero, sum, from, h->taken, plan->terms.threshold, NULL) !=
        SOTTO_OK) {
        m->lacks = true;
        return SOTTO_OK;
    }
    m->share = sum->share;
    m->pads = sum->pads;
    return SOTTO_OK;
}

static sotto_status learn(sotto_aero_committee_member *m, const sotto_message *known,
                          sotto_arena *scratch, sotto_err *err)
{
    if (known->kind == SOTTO_AERO_HAND)
        return open_hand(m, known, scratch, err);
    return m->base.view->handing.has_passed && !m->took ? take_over(m, scratch, err) : SOTTO_OK;
}

sotto_status sotto_aero_member_learn(sotto_aero_committee_member *m, const sotto_message *known,
                                     sotto_err *err)
{
    sotto_arena scratch;

    if (m->is_old || (known->kind != SOTTO_AERO_HAND && known->kind != SOTTO_AERO_TAKEN))
        return SOTTO_OK;
    sotto_arena_init(&scratch, SOTTO_AERO_SCRATCH);
    const sotto_status status = learn(m, known, &scratch, err);
    sotto_arena_clear(&scratch);
    return status;
}

/* ---- probes ------------------------------------------------------------------------------------------------------ */

static sotto_status probe_all(sotto_aero_committee_member *m, sotto_aero_probe *out,
                              uint32_t *count, sotto_err *err)
{
    const sotto_aero_holding *to[SOTTO_AERO_MOST_COMMITTEE];
    const sotto_aero_plan *plan = m->base.plan;
    uint8_t seed[SOTTO_AERO_SEED];

    *count = 0;
    for (uint32_t d = 0; d < plan->old_members; d++)
        if (m->dealt && m->opened[d])
            to[(*count)++] = &m->dealt[d];
    if (*count == 0)
        return SOTTO_OK;
    sotto_aero_probe_seed(seed, m->base.view);
    return sotto_aero_hand_probe(&plan->aero, out, to, *count, plan->terms.handed - 1u, seed, err);
}

static sotto_status probe(sotto_aero_committee_member *m, sotto_effects *effects,
                          sotto_arena *scratch, sotto_err *err)
{
    const sotto_aero_plan *plan = m->base.plan;
    const size_t each = 1 + SOTTO_AERO_PROBES * 16;
    sotto_aero_probe *probes = sotto_arena_take_array(scratch, plan->old_members, sizeof *probes);
    sotto_buf body = sotto_aero_buffer(scratch, plan->old_members * each);
    sotto_writer w = sotto_writer_on(&body);
    uint32_t count = 0, next = 0;

    if (!probes || !body.data)
        return sotto_aero_no_memory(err);
    SOTTO_TRY(probe_all(m, probes, &count, err));
    for (uint32_t d = 0; d < plan->old_members; d++) {
        const bool opened = m->dealt && m->opened[d];

        if (!m->base.view->handing.from[d].is_there)
            continue;
        sotto_write_uint(&w, opened, 1);
        if (opened)
            sotto_aero_probe_write(&plan->aero, &w, &probes[next++]);
    }
    SOTTO_TRY(sotto_writer_finish(&w, "probe", err));
    /* A pad hides one set of combinations: of one board. */
    SOTTO_TRY(sotto_aero_vow(&m->base, effects, SOTTO_AERO_PROBE, 0, sotto_buf_bytes(&body), err));
    return sotto_aero_post(&m->base, effects, SOTTO_AERO_PROBE, sotto_buf_bytes(&body), err);
}

/* ---- steps ------------------------------------------------------------------------------------------------------ */

typedef sotto_status hand_step(sotto_aero_committee_member *, sotto_effects *, sotto_arena *,
                               sotto_err *);

static sotto_status once(sotto_aero_committee_member *m, uint8_t what, hand_step *run,
                         sotto_effects *effects, sotto_err *err)
{
    sotto_arena scratch;

    if (m->hand & what)
        return SOTTO_OK;
    sotto_arena_init(&scratch, SOTTO_AERO_SCRATCH);
    const sotto_status status = run(m, effects, &scratch, err);
    sotto_arena_clear(&scratch);
    if (status == SOTTO_OK)
        m->hand |= what;
    return status;
}

sotto_status sotto_aero_member_hand_on(sotto_aero_committee_member *m, sotto_effects *effects,
                                       sotto_err *err)
{
    const sotto_aero_view *view = m->base.view;
    const sotto_aero_handing *h = &view->handing;

    if (!h->is_wanted)
        return SOTTO_OK;
    if (m->own && view->is_sealed && !h->is_handed)
        SOTTO_TRY(once(m, SOTTO_AERO_HAS_HANDED, deal, effects, err));
    if (!m->is_old && h->is_handed && !h->is_over && !is_too_late(m) &&
        view->members[m->place].has_sealed)
        SOTTO_TRY(once(m, SOTTO_AERO_HAS_PROBED, probe, effects, err));
    return h->is_over ? sotto_aero_member_erase(m, effects, err) : SOTTO_OK;
}

/* ---- what it takes along ----------------------------------------------------------------------------------------- */

static sotto_status write_carried(sotto_aero_committee_member *m, sotto_aero_carried *c,
                                  sotto_buf *out, sotto_arena *scratch, sotto_err *err)
{
    const sotto_aero_plan *plan = m->base.plan;
    sotto_buf key;

    SOTTO_TRY(sotto_aero_taken_encode(m->base.view, &key, scratch, err));
    sotto_aero_key_digest(c->key, sotto_buf_bytes(&key));
    SOTTO_TRY(sotto_aero_key_terms(c->terms, plan, err));
    memcpy(c->round, plan->id, sizeof c->round);
    c->number = plan->round->number;
    c->handed = (uint32_t)(c->number - sotto_aero_key_round(m->base.view));
    c->holding = (sotto_aero_holding){m->share, m->pads};
    return sotto_aero_carried_encode(&plan->aero, out, c, err);
}

sotto_status sotto_aero_member_bequeath(sotto_aero_committee_member *m, sotto_effects *effects,
                                        sotto_err *err)
{
    const sotto_aero_plan *plan = m->base.plan;
    const uint64_t age = plan->round->number - sotto_aero_key_round(m->base.view);
    const bool has = (m->hand & SOTTO_AERO_HAS_BEQUEATHED) != 0;
    sotto_arena scratch;

    if (m->is_old || has != m->base.view->is_refuted)
        return SOTTO_OK;
    /* A key is not handed on where the server contradicted itself. */
    if (has) {
        m->hand = (uint8_t)(m->hand & ~SOTTO_AERO_HAS_BEQUEATHED);
        return sotto_effects_carry(effects, (sotto_bytes){NULL, 0}, err);
    }
    /* After the last round under a key nobody needs it any more. */
    if (m->lacks || age + 1 >= plan->terms.rekey || !sotto_aero_is_certified(m->base.view))
        return SOTTO_OK;
    m->hand |= SOTTO_AERO_HAS_BEQUEATHED;
    sotto_arena_init(&scratch, SOTTO_AERO_SCRATCH);
    sotto_aero_carried *c = sotto_arena_take(&scratch, sizeof *c);
    sotto_buf out = sotto_aero_buffer(&scratch, sotto_aero_carried_size(&plan->aero));
    sotto_status status =
        c && out.data ? write_carried(m, c, &out, &scratch, err) : sotto_aero_no_memory(err);
    if (status == SOTTO_OK)
        status = sotto_effects_carry(effects, sotto_buf_bytes(&out), err);
    sotto_arena_clear(&scratch);
    return status;
}
