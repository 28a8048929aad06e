/* What everybody reads off the board, and which of it counts. Order is the log's: a record that comes before what it must follow counts
 * for nothing. */
#include "aggregate/aero/aero.h"
#include "aggregate/aero/odds.h"

#include "base/rule.h"
#include "crypto/hash.h"

#include <stdio.h>
#include <string.h>

sotto_status sotto_aero_view_init(sotto_aero_view *view, sotto_aero_plan *plan, sotto_arena *arena,
                                  sotto_err *err)
{
    memset(view, 0, sizeof *view);
    view->plan = plan;
    view->reader = SOTTO_TO_EVERYBODY;
    view->b = sotto_arena_take_array(arena, plan->terms.committees, sizeof *view->b);
    view->posted.b = view->b;
    view->members = sotto_arena_take_array(arena, plan->members, sizeof *view->members);
    view->left = sotto_arena_take_array(arena, (size_t)plan->terms.liars + 1, sizeof *view->left);
    view->wrong = sotto_arena_take(arena, (size_t)plan->round->registered / 8 + 1);
    view->clear = sotto_arena_take(arena, (size_t)plan->round->registered / 8 + 1);
    view->named =
        sotto_arena_take_array(arena, (size_t)plan->round->registered + 1, sizeof *view->named);
    if (!view->b || !view->members || !view->left || !view->wrong || !view->clear || !view->named)
        return sotto_fail(err, SOTTO_NO_MEMORY, "aero: no memory");
    return sotto_aero_handing_init(view, arena, err);
}

/* ---- digests ------------------------------------------------------------------------------------------- */

static void digest_of(uint8_t out[32], const char *purpose, const sotto_aero_plan *plan,
                      uint32_t number, sotto_bytes first, sotto_bytes second)
{
    uint8_t word[8];
    sotto_hash hash;

    sotto_store64(word, number);
    sotto_hash_init(&hash, SOTTO_SHA256);
    sotto_hash_update(&hash, sotto_bytes_of(purpose, strlen(purpose) + 1));
    sotto_hash_update(&hash, sotto_bytes_of(plan->id, sizeof plan->id));
    sotto_hash_update(&hash, sotto_bytes_of(word, sizeof word));
    sotto_hash_update(&hash, first);
    sotto_hash_update(&hash, second);
    sotto_hash_final(&hash, out);
}

void sotto_aero_seal_key(uint8_t out[32], const sotto_aero_plan *plan, uint32_t member,
                         const uint8_t nonce[32], sotto_bytes b)
{
    digest_of(out, "sotto-aero-key-1", plan, member, sotto_bytes_of(nonce, 32), b);
}

void sotto_aero_seal_value(uint8_t out[32], const sotto_aero_plan *plan, uint32_t member,
                           const uint8_t nonce[32], const uint8_t value[32])
{
    digest_of(out, "sotto-aero-value-1", plan, member, sotto_bytes_of(nonce, 32),
              sotto_bytes_of(value, 32));
}

size_t sotto_aero_sealed_share_size(const sotto_aero_plan *plan)
{
    return (plan->terms.rekey ? sotto_aero_holding_size(&plan->aero)
                              : sotto_aero_poly_size(&plan->aero)) +
           16;
}

void sotto_aero_total_digest(uint8_t out[32], sotto_bytes first, const uint8_t second[32])
{
    static const char purpose[] = "sotto-aero-total-2";
    uint8_t digest[32];
    sotto_hash hash;

    sotto_hash_once(digest, SOTTO_SHA256, first);
    sotto_hash_init(&hash, SOTTO_SHA256);
    sotto_hash_update(&hash, sotto_bytes_of(purpose, sizeof purpose));
    sotto_hash_update(&hash, sotto_bytes_of(digest, sizeof digest));
    sotto_hash_update(&hash, sotto_bytes_of(second, sizeof digest));
    sotto_hash_final(&hash, out);
}

/* ---- records of members ----------------------------------------------------------------------------------- */

static sotto_status nothing(sotto_err *err, const char *what)
{
    return sotto_fail(err, SOTTO_REJECTED, "board: %s", what);
}

static sotto_status read_seal(sotto_aero_view *view, sotto_aero_member *m, sotto_bytes body,
                              sotto_err *err)
{
    if (m->has_sealed || view->is_sealed || body.len != SOTTO_AERO_SEAL_SIZE)
        return nothing(err, "a commitment too late, or a second one");
    memcpy(m->key_seal, body.data, 32);
    memcpy(m->value_seal, body.data + 32, 32);
    memcpy(m->public_key, body.data + 64, 32);
    m->has_sealed = true;
    return SOTTO_OK;
}

static sotto_status read_value(sotto_aero_view *view, uint32_t place, sotto_aero_member *m,
                               uint64_t index, sotto_bytes body, sotto_err *err)
{
    uint8_t seal[32];

    if (m->has_opened || !m->has_sealed || view->is_summed || body.len != 64)
        return nothing(err, "a value out of turn");
    sotto_aero_seal_value(seal, view->plan, view->plan->committee[place], body.data,
                          body.data + 32);
    if (SOTTO_RULE(aero_values_sealed) && memcmp(seal, m->value_seal, sizeof seal) != 0)
        return nothing(err, "a value that was not committed to");
    memcpy(m->value, body.data + 32, 32);
    m->has_opened = true;
    m->opened_at = index;
    return SOTTO_OK;
}

static sotto_status read_member(sotto_aero_view *view, uint64_t index, const sotto_message *r,
                                sotto_arena *scratch, sotto_err *err)
{
    int place = sotto_aero_committee_place(view->plan, r->from);

    if (r->kind == SOTTO_AERO_HAND)
        return sotto_aero_read_hand(view, &view->last, err);
    if (place < 0)
        return nothing(err, "a record of somebody who is no member");
    sotto_aero_member *m = &view->members[place];
    switch (r->kind) {
    case SOTTO_AERO_SEAL:
        return read_seal(view, m, r->body, err);
    case SOTTO_AERO_KEY:
        return sotto_aero_read_key(view, (uint32_t)place, r->body, scratch, err);
    case SOTTO_AERO_PROBE:
        return sotto_aero_read_probe(view, (uint32_t)place, r->body, err);
    case SOTTO_AERO_VALUE:
        return read_value(view, (uint32_t)place, m, index, r->body, err);
    case SOTTO_AERO_CERTIFY:
        if (m->has_certified || !view->is_keyed || r->body.len != SOTTO_AERO_CERTIFICATE)
            return nothing(err, "a certificate out of turn");
        memcpy(m->certificate, r->body.data, sizeof m->certificate);
        m->has_certified = true;
        return SOTTO_OK;
    default:
        if (m->has_verdict || !view->is_summed || r->body.len != 32)
            return nothing(err, "a verdict out of turn");
        memcpy(m->verdict, r->body.data, sizeof m->verdict);
        m->has_verdict = true;
        return SOTTO_OK;
    }
}

/* ---- records of the server -------------------------------------------------------------------------------- */

static sotto_status refute(sotto_aero_view *view, const char *why)
{
    if (!view->is_refuted)
        (void)snprintf(view->reason, sizeof view->reason, "%s", why);
    view->is_refuted = true;
    return SOTTO_OK;
}

static sotto_status refute_leaf(sotto_aero_view *view, sotto_aero_fault fault)
{
    char why[64];

    (void)snprintf(why, sizeof why, "a leaf is %s", sotto_aero_fault_name(fault));
    return refute(view, why);
}

static sotto_status read_committed(sotto_aero_view *view, uint64_t index, sotto_bytes body,
                                   sotto_err *err)
{
    sotto_reader in = sotto_reader_over(body);
    const sotto_aero_terms *t = &view->plan->terms;
    uint32_t leaves = (uint32_t)sotto_read_uint(&in, 4);
    uint8_t root[32];

    sotto_read_fixed(&in, root, sizeof root);
    SOTTO_TRY(sotto_reader_finish(&in, "committed", err));
    if (view->is_committed && leaves == view->posted.leaves &&
        memcmp(view->posted.promises.hash, root, sizeof root) == 0)
        return nothing(err, "the same once more");
    if (SOTTO_RULE(aero_one_tree) && view->is_committed)
        return refute(view, "two trees of promises in one round");
    memcpy(view->posted.promises.hash, root, sizeof root);
    view->posted.leaves = leaves;
    view->committed_at = index;
    view->is_committed = true;
    if (leaves < t->noise_members || leaves > SOTTO_AERO_MOST_LEAVES)
        return refute(view, "a tree without leaves for all noise members");
    if (SOTTO_RULE(aero_leaves_at_most) && leaves - t->noise_members > view->plan->round->largest)
        return refute(view, "more leaves than there can be contributors");
    return SOTTO_OK;
}

static sotto_status read_added(sotto_aero_view *view, uint64_t index, sotto_bytes body,
                               sotto_err *err)
{
    sotto_reader in = sotto_reader_over(body);
    const sotto_aero_plan *plan = view->plan;
    sotto_aero_posted *posted = &view->posted;
    uint32_t present = (uint32_t)sotto_read_uint(&in, 4);
    uint8_t digest[32];

    sotto_hash_once(digest, SOTTO_SHA256, body);
    if (view->is_added && memcmp(digest, view->added, sizeof digest) == 0)
        return nothing(err, "the same once more");
    if (SOTTO_RULE(aero_one_root) && view->is_added)
        return refute(view, "two sums in one round");
    for (uint32_t g = 0; g < plan->groups; g++) {
        sotto_read_fixed(&in, posted->added[g].hash, 32);
        sotto_read_fixed(&in, view->totals[g], 32);
    }
    SOTTO_TRY(sotto_reader_finish(&in, "added", err));
    if (!view->is_committed)
        return nothing(err, "sums before promises");
    view->present = present;
    view->added_at = index;
    memcpy(view->added, digest, sizeof digest);
    view->is_added = true;
    if (present > posted->leaves)
        return refute(view, "more is added than there are leaves");
    return SOTTO_OK;
}

/* The points are those of all values that were opened before an entry that the server names. Its choice of that entry, and A members'
 * choice to open or not, are all that anybody can vary. */
void sotto_aero_draw_points(const sotto_aero_view *view, uint64_t before,
                            sotto_f64 points[SOTTO_AERO_POINTS])
{
    static const char purpose[] = "sotto-aero-draw-points-1";
    uint8_t seed[32], place;
    sotto_hash hash;

    sotto_hash_init(&hash, SOTTO_SHA256);
    sotto_hash_update(&hash, sotto_bytes_of(purpose, sizeof purpose));
    sotto_hash_update(&hash, sotto_bytes_of(view->plan->id, SOTTO_ROUND_ID));
    sotto_hash_update(&hash, sotto_bytes_of(view->added, sizeof view->added));
    for (uint32_t i = 0; i < view->plan->members; i++) {
        if (!view->members[i].has_opened || view->members[i].opened_at >= before)
            continue;
        place = (uint8_t)i;
        sotto_hash_update(&hash, sotto_bytes_of(&place, 1));
        sotto_hash_update(&hash, sotto_bytes_of(view->members[i].value, 32));
    }
    sotto_hash_final(&hash, seed);
    sotto_aero_points_of(points, seed);
}

static sotto_status read_summed(sotto_aero_view *view, uint64_t index, sotto_bytes body,
                                sotto_err *err)
{
    sotto_reader in = sotto_reader_over(body);
    bool malformed = false;
    uint64_t before = sotto_read_uint(&in, 8);
    uint8_t verdict[32];

    digest_of(verdict, "sotto-aero-verdict-1", view->plan, 0,
              sotto_bytes_of(view->added, sizeof view->added), body);
    if (view->is_summed && memcmp(verdict, view->verdict, sizeof verdict) == 0)
        return nothing(err, "the same once more");
    if (view->is_summed)
        return refute(view, "two trees of sums in one round");
    if (!view->is_added || before > index)
        return nothing(err, "sums out of turn");
    if (SOTTO_RULE(aero_points_enough) &&
        sotto_aero_opened(view, before) < view->plan->terms.threshold)
        return nothing(err, "sums at points that nobody drew");
    for (uint32_t g = 0; g < view->plan->groups; g++) {
        sotto_aero_sum *root = &view->posted.summed[g];

        sotto_read_fixed(&in, root->hash, 32);
        for (unsigned i = 0; i < SOTTO_AERO_VALUES; i++) {
            root->v[i] = (sotto_f64){sotto_read_uint(&in, 8)};
            malformed |= root->v[i].v >= SOTTO_F64_P;
        }
    }
    SOTTO_TRY(sotto_reader_finish(&in, "summed", err));
    if (malformed)
        return nothing(err, "a sum that is not below the prime");
    sotto_aero_draw_points(view, before, view->posted.points);
    view->summed_at = index;
    memcpy(view->verdict, verdict, sizeof verdict);
    view->is_summed = true;
    return SOTTO_OK;
}

/* ---- complaints ------------------------------------------------------------------------------------------- */

/* Nobody can show what it sent, so a single device proves nothing. But more of them than may lie don't all lie. */
static sotto_status read_left_out(sotto_aero_view *view, uint32_t from, sotto_bytes body,
                                  sotto_err *err)
{
    if (body.len != 2 || !sotto_aero_may(view->plan, body.data[1], from))
        return nothing(err, "left out of what it was not drawn for");
    if (sotto_aero_place_of(view->left, view->left_out, from) >= 0 ||
        view->left_out > view->plan->terms.liars)
        return SOTTO_OK;
    view->left[view->left_out++] = from;
    if (SOTTO_RULE(aero_left_out_limited) && view->left_out > view->plan->terms.liars)
        return refute(view, "more devices than may lie were left out");
    return SOTTO_OK;
}

/* Where a further challenge goes; NULL: all wait for an answer. */
static sotto_aero_challenge *room_for_challenge(sotto_aero_view *view)
{
    if (view->challenge_count < SOTTO_AERO_MOST_CHALLENGES)
        return &view->challenges[view->challenge_count++];
    for (uint32_t i = 0; i < view->challenge_count; i++)
        if (view->challenges[i].is_answered)
            return &view->challenges[i];
    return NULL;
}

/* A server that answers is not refuted, however many ask. Nor can one device take all the room. It asks for no more leaves than the
 * terms say; what it names beyond that was never asked for. Each answer is megabytes that everybody reads, and a proof that everybody
 * checks: so leaves that were answered count, too. */
static sotto_status read_no_answer(sotto_aero_view *view, uint32_t from, sotto_bytes body,
                                   sotto_err *err)
{
    sotto_reader in = sotto_reader_over(sotto_bytes_of(body.data + 1, body.len - 1));
    sotto_aero_challenge c = {0};

    c.group = (uint32_t)sotto_read_uint(&in, 1);
    c.position = (uint32_t)sotto_read_uint(&in, 4);
    SOTTO_TRY(sotto_reader_finish(&in, "complaint", err));
    for (uint32_t i = 0; i < view->challenge_count; i++) {
        const sotto_aero_challenge *other = &view->challenges[i];

        if (other->group == c.group && other->position == c.position)
            return nothing(err, "a complaint about the same leaf");
    }
    if (c.group >= view->plan->groups || c.position >= view->posted.leaves)
        return nothing(err, "a complaint about a leaf that there is not");
    if (SOTTO_RULE(aero_challenges_fair) &&
        view->named[from] >= view->plan->groups * sotto_aero_most_checks(&view->plan->terms))
        return nothing(err, "a complaint about a leaf that was not asked for");
    sotto_aero_challenge *at = room_for_challenge(view);
    if (!at)
        return refute(view, "too many devices got no answer");
    *at = c;
    view->named[from]++;
    return SOTTO_OK;
}

/* To check a leaf takes time. An honest device's complaint is right, so a device that was wrong once is not heard again. */
static sotto_status read_false_leaf(sotto_aero_view *view, uint32_t from, sotto_bytes body,
                                    sotto_arena *scratch, sotto_err *err)
{
    sotto_aero_fault fault = SOTTO_AERO_SOUND;
    bool upheld = false;
    uint8_t *wrong = &view->wrong[from / 8], bit = (uint8_t)(1u << (from % 8));

    if (SOTTO_RULE(aero_wrong_once) && (*wrong & bit))
        return nothing(err, "a complaint of somebody who was wrong before");
    SOTTO_TRY(
        sotto_aero_complaint_check(&upheld, &fault, view->plan, &view->posted, body, scratch, err));
    if (!upheld) {
        *wrong |= bit;
        return nothing(err, "a complaint that is not right");
    }
    view->complaints++;
    return refute_leaf(view, fault);
}

static sotto_status read_complaint(sotto_aero_view *view, uint32_t from, sotto_bytes body,
                                   sotto_arena *scratch, sotto_err *err)
{
    if (!view->is_summed || body.len == 0)
        return nothing(err, "a complaint about nothing");
    if (from >= view->plan->round->registered)
        return nothing(err, "a complaint of nobody");
    if (body.data[0] == SOTTO_AERO_LEFT_OUT)
        return read_left_out(view, from, body, err);
    if (body.data[0] == SOTTO_AERO_NO_ANSWER)
        return read_no_answer(view, from, body, err);
    return read_false_leaf(view, from, body, scratch, err);
}

sotto_status sotto_aero_complaint_check(bool *upheld, sotto_aero_fault *fault,
                                        const sotto_aero_plan *plan,
                                        const sotto_aero_posted *posted, sotto_bytes complaint,
                                        sotto_arena *scratch, sotto_err *err)
{
    sotto_message m;
    sotto_aero_sample *sample = sotto_arena_take(scratch, sizeof *sample);

    *upheld = false;
    *fault = SOTTO_AERO_SOUND;
    if (!sample)
        return sotto_fail(err, SOTTO_NO_MEMORY, "complaint: no memory");
    if (complaint.len < 1 || complaint.data[0] != SOTTO_AERO_FALSE_LEAF ||
        sotto_message_decode(&m, sotto_bytes_of(complaint.data + 1, complaint.len - 1), NULL) !=
            SOTTO_OK ||
        m.kind != SOTTO_AERO_SAMPLE)
        return SOTTO_OK;
    /* Without its signature anybody could make up what the server is said to have sent. */
    if (SOTTO_RULE(aero_complaints_signed) &&
        sotto_message_judge(&m, plan->round, &sotto_method_aero, NULL) != SOTTO_OK)
        return SOTTO_OK;
    if (sotto_aero_sample_decode(sample, plan->groups, m.body, NULL) != SOTTO_OK) {
        *fault = SOTTO_AERO_NOT_POSTED;
        *upheld = true;
        return SOTTO_OK;
    }
    SOTTO_TRY(sotto_aero_sample_check(fault, plan, posted, sample, scratch, err));
    *upheld = *fault != SOTTO_AERO_SOUND;
    return SOTTO_OK;
}

/* An answer that is wrong speaks for itself: it is signed, and on the board. */
static sotto_status read_answer(sotto_aero_view *view, sotto_bytes body, sotto_arena *scratch,
                                sotto_err *err)
{
    sotto_aero_sample *s = sotto_arena_take(scratch, sizeof *s);
    sotto_aero_fault fault = SOTTO_AERO_SOUND;

    if (!s)
        return sotto_fail(err, SOTTO_NO_MEMORY, "board: no memory");
    if (!view->is_summed)
        return nothing(err, "an answer to nothing");
    if (sotto_aero_sample_decode(s, view->plan->groups, body, NULL) != SOTTO_OK)
        return refute(view, "an answer that does not parse");
    SOTTO_TRY(sotto_aero_sample_check(&fault, view->plan, &view->posted, s, scratch, err));
    if (fault != SOTTO_AERO_SOUND)
        return refute_leaf(view, fault);
    for (uint32_t i = 0; i < view->challenge_count; i++)
        if (view->challenges[i].group == s->group && view->challenges[i].position == s->position)
            view->challenges[i].is_answered = true;
    return SOTTO_OK;
}

static sotto_status read_taken(sotto_aero_view *view, sotto_bytes body, sotto_arena *scratch,
                               sotto_err *err)
{
    uint8_t digest[32];

    sotto_hash_once(digest, SOTTO_SHA256, body);
    if (view->handing.is_over && memcmp(digest, view->handing.record, sizeof digest) == 0)
        return nothing(err, "the same once more");
    if (SOTTO_RULE(aero_one_hand_over) && view->handing.is_over)
        return refute(view, "two keys handed over in one round");
    memcpy(view->handing.record, digest, sizeof digest);
    SOTTO_TRY(sotto_aero_read_taken(view, body, scratch, err));
    return view->handing.has_passed ? sotto_aero_write_certificate(view, scratch, err) : SOTTO_OK;
}

static sotto_status read_server(sotto_aero_view *view, uint64_t index, const sotto_message *r,
                                sotto_arena *scratch, sotto_err *err)
{
    switch (r->kind) {
    case SOTTO_AERO_SEALED:
        view->is_sealed = true;
        return SOTTO_OK;
    case SOTTO_AERO_KEYED:
        return sotto_aero_read_keyed(view, r->body, scratch, err);
    case SOTTO_AERO_HANDED:
        return sotto_aero_read_handed(view, err);
    case SOTTO_AERO_TAKEN:
        return read_taken(view, r->body, scratch, err);
    case SOTTO_AERO_COMMITTED:
        return read_committed(view, index, r->body, err);
    case SOTTO_AERO_ADDED:
        return read_added(view, index, r->body, err);
    case SOTTO_AERO_ANSWER:
        return read_answer(view, r->body, scratch, err);
    case SOTTO_AERO_DEALERS:
        return sotto_aero_read_dealers(view, r->body, err);
    case SOTTO_AERO_DEALT:
        return sotto_aero_read_dealt(view, r->body, err);
    default:
        return read_summed(view, index, r->body, err);
    }
}

static sotto_status read_record(sotto_aero_view *view, uint64_t index, const sotto_message *r,
                                sotto_arena *scratch, sotto_err *err)
{
    const sotto_kind *kind = sotto_method_kind(&sotto_method_aero, r->kind);

    if (!kind || kind->to != SOTTO_PART_BOARD)
        return nothing(err, "not for the board");
    if (kind->kind == SOTTO_AERO_COMPLAINT)
        return read_complaint(view, r->from, r->body, scratch, err);
    if (kind->kind == SOTTO_AERO_CLEAR)
        return sotto_aero_read_clear(view, r->from, r->body, err);
    if (kind->from == SOTTO_PART_SERVER)
        return read_server(view, index, r, scratch, err);
    return read_member(view, index, r, scratch, err);
}

/* What does not count must not stop the reading: anybody could post it. */
sotto_status sotto_aero_view_read(sotto_aero_view *view, sotto_message *known, uint64_t index,
                                  sotto_bytes record, bool is_checked, sotto_arena *scratch,
                                  sotto_err *err)
{
    memset(known, 0, sizeof *known);
    if (index < view->next)
        return SOTTO_STALE;
    if (index > view->next)
        return SOTTO_AGAIN;
    sotto_status status = sotto_aero_record_open(&view->last, &view->plan->judged, view->reader,
                                                 record, is_checked, NULL);
    *known = view->last.message;
    if (status == SOTTO_OK)
        status = read_record(view, index, known, scratch, NULL);
    if (status == SOTTO_NO_MEMORY || status == SOTTO_BUG)
        return sotto_fail(err, status, "board: an entry can't be read");
    view->next++;
    if (status != SOTTO_OK)
        known->kind = 0;
    return SOTTO_OK;
}
