#include "aggregate/keygen/view.h"

#include "base/arena.h"
#include "base/rule.h"

#include <string.h>

static sotto_status no_memory(sotto_err *err)
{
    return sotto_fail(err, SOTTO_NO_MEMORY, "key generation: no memory");
}

bool sotto_keygen_values_read(const sotto_keygen_view *v, sotto_dkg_values *out,
                              const uint8_t bytes[2 * SOTTO_P256_SCALAR])
{
    return sotto_scalar_decode(&v->t.group, &out->a, bytes) &&
           sotto_scalar_decode(&v->t.group, &out->b, bytes + SOTTO_P256_SCALAR);
}

/* A body of the right length whose first number says so; a count of 0 otherwise. */
static sotto_status read_points(sotto_keygen_view *v, sotto_dkg_commitments *out, sotto_bytes body,
                                sotto_err *err)
{
    const uint32_t threshold = v->call->threshold;

    *out = (sotto_dkg_commitments){0};
    if (body.len < 2 + (size_t)threshold * SOTTO_P256_WIDE ||
        ((uint32_t)body.data[0] << 8 | body.data[1]) != threshold)
        return SOTTO_OK;
    out->at = sotto_arena_take_array(v->arena, threshold, sizeof *out->at);
    if (!out->at)
        return no_memory(err);
    memcpy(out->at, body.data + 2, (size_t)threshold * SOTTO_P256_WIDE);
    out->count = threshold;
    return SOTTO_OK;
}

/* ---- deals ------------------------------------------------------------------------------------------------------ */

static sotto_status take_lists(sotto_keygen_view *v, sotto_err *err)
{
    const size_t dealers = v->call->dealers, all = dealers * v->call->count;

    v->deals = sotto_arena_take_array(v->arena, dealers, sizeof *v->deals);
    v->sealed = sotto_arena_take_array(v->arena, dealers, sizeof *v->sealed);
    v->revealed = sotto_arena_take_array(v->arena, dealers, sizeof *v->revealed);
    v->qualified = sotto_arena_take_array(v->arena, dealers, sizeof *v->qualified);
    v->missing = sotto_arena_take_array(v->arena, dealers, sizeof *v->missing);
    v->complaints = sotto_arena_take_array(v->arena, all, sizeof *v->complaints);
    v->answered = sotto_arena_take_array(v->arena, all, sizeof *v->answered);
    v->answers = sotto_arena_take_array(v->arena, all, sizeof *v->answers);
    return v->deals && v->sealed && v->revealed && v->qualified && v->missing && v->complaints &&
                   v->answered && v->answers
               ? SOTTO_OK
               : no_memory(err);
}

sotto_status sotto_keygen_view_open(sotto_keygen_view *v, const sotto_keygen *call,
                                    const sotto_keygen_board *board, sotto_arena *arena,
                                    sotto_err *err)
{
    memset(v, 0, sizeof *v);
    v->call = call;
    v->board = board;
    v->arena = arena;
    SOTTO_TRY(take_lists(v, err));
    SOTTO_TRY(sotto_tdh2_init(&v->t, err));
    for (uint32_t d = 0; d < call->dealers; d++) {
        const sotto_bytes body = board->body[SOTTO_KEYGEN_DEAL][d];

        if (!board->is_there[SOTTO_KEYGEN_DEAL][d])
            continue;
        SOTTO_TRY(read_points(v, &v->deals[d], body, err));
        v->sealed[d] = body.data + 2 + (size_t)call->threshold * SOTTO_P256_WIDE;
    }
    return SOTTO_OK;
}

void sotto_keygen_view_close(sotto_keygen_view *v)
{
    sotto_tdh2_clear(&v->t);
}

bool sotto_keygen_view_fits(sotto_keygen_view *v, uint32_t dealer, uint32_t member,
                            const sotto_dkg_values *values)
{
    const sotto_dkg_commitments *deal = &v->deals[dealer];

    /* Callers ask of deals that are there, and those have as many points as the threshold. */
    if (deal->count != v->call->threshold)
        return false;
    return v->call->hands_on
               ? sotto_dkg_is_revealed_vartime(&v->t, deal, v->call->threshold, member, values)
               : sotto_dkg_is_committed_vartime(&v->t, deal, member, values);
}

/* ---- who counts -------------------------------------------------------------------------------------------------- */

void sotto_keygen_view_complaints(sotto_keygen_view *v)
{
    const sotto_keygen *k = v->call;
    sotto_keygen_places places;

    for (uint32_t m = 0; m < k->count; m++) {
        if (!v->board->is_there[SOTTO_KEYGEN_COMPLAIN][m] ||
            sotto_keygen_places_decode(&places, v->board->body[SOTTO_KEYGEN_COMPLAIN][m],
                                       k->dealers, NULL) != SOTTO_OK)
            continue;
        for (uint32_t i = 0; i < places.count; i++)
            v->complaints[(size_t)places.at[i] * k->count + m] = true;
    }
}

static void read_answers(sotto_keygen_view *v)
{
    const sotto_keygen *k = v->call;
    sotto_keygen_shown shown;

    for (uint32_t d = 0; d < k->dealers; d++) {
        if (!v->board->is_there[SOTTO_KEYGEN_ANSWER][d] ||
            sotto_keygen_shown_decode(&shown, v->board->body[SOTTO_KEYGEN_ANSWER][d], k->count,
                                      NULL) != SOTTO_OK)
            continue;
        for (uint32_t i = 0; i < shown.count; i++) {
            const size_t at = (size_t)d * k->count + shown.at[i];

            v->answered[at] = sotto_keygen_values_read(v, &v->answers[at], shown.values[i]);
        }
    }
}

uint32_t sotto_keygen_view_set(const sotto_keygen_view *v, uint32_t places[SOTTO_DECRYPTORS_MOST])
{
    uint32_t count = 0;

    for (uint32_t d = 0; d < v->call->dealers; d++)
        if (v->qualified[d])
            places[count++] = d;
    return count;
}

static sotto_status qualify_handed(sotto_keygen_view *v, sotto_err *err)
{
    const sotto_keygen *k = v->call;
    const uint32_t wanted = sotto_decryptors_threshold(k->dealers);
    const sotto_dkg_handed handed = {v->deals, k->old.verify, k->dealers, k->count, k->threshold};

    sotto_dkg_qualify_handed(&v->t, v->qualified, &handed, v->complaints, v->answers, v->answered);
    /* The first ones will do, and everybody takes the same. */
    for (uint32_t d = 0; d < k->dealers; d++) {
        v->qualified[d] = v->qualified[d] && v->qualified_count < wanted;
        v->qualified_count += v->qualified[d];
    }
    return v->qualified_count == wanted
               ? SOTTO_OK
               : sotto_fail(err, SOTTO_DENIED, "key generation: %u of %u shares are handed on",
                            v->qualified_count, wanted);
}

sotto_status sotto_keygen_view_qualify(sotto_keygen_view *v, sotto_err *err)
{
    const sotto_keygen *k = v->call;

    read_answers(v);
    if (k->hands_on) {
        SOTTO_TRY(qualify_handed(v, err));
    } else {
        sotto_dkg_qualify(&v->t, v->qualified, v->deals, k->count, k->threshold, v->complaints,
                          v->answers, v->answered);
        for (uint32_t d = 0; d < k->dealers; d++)
            v->qualified_count += v->qualified[d];
        /* Fewer, and liars with those whose polynomials are rebuilt in the open may be all of them. */
        if (SOTTO_RULE(keygen_enough_dealers) &&
            v->qualified_count < sotto_decryptors_quorum(k->count))
            return sotto_fail(err, SOTTO_DENIED, "key generation: %u of %u deals count",
                              v->qualified_count, sotto_decryptors_quorum(k->count));
    }
    sotto_dkg_agreed(v->agreed, v->qualified, v->deals, k->dealers);
    return SOTTO_OK;
}

/* How many members posted exactly this. */
static uint32_t equal_posts(const sotto_keygen_view *v, unsigned step, sotto_bytes body)
{
    uint32_t count = 0;

    for (uint32_t m = 0; m < v->call->count; m++) {
        const sotto_bytes other = v->board->body[step][m];

        count += v->board->is_there[step][m] && other.len == body.len &&
                 memcmp(other.data, body.data, body.len) == 0;
    }
    return count;
}

sotto_status sotto_keygen_view_agree(sotto_keygen_view *v, sotto_err *err)
{
    const uint32_t equal =
        equal_posts(v, SOTTO_KEYGEN_AGREE, sotto_bytes_of(v->agreed, sizeof v->agreed));

    /* Whoever reveals before that shows where the key is going while a liar can still drop out. */
    if (SOTTO_RULE(keygen_agreed_first) && equal < sotto_decryptors_quorum(v->call->count))
        return sotto_fail(err, SOTTO_DENIED, "key generation: %u members agree, wanted %u", equal,
                          sotto_decryptors_quorum(v->call->count));
    return SOTTO_OK;
}

/* ---- who is rebuilt ----------------------------------------------------------------------------------------------- */

sotto_status sotto_keygen_view_reveals(sotto_keygen_view *v, sotto_err *err)
{
    const sotto_keygen *k = v->call;

    for (uint32_t d = 0; d < k->dealers; d++) {
        if (v->board->is_there[SOTTO_KEYGEN_REVEAL][d])
            SOTTO_TRY(read_points(v, &v->revealed[d], v->board->body[SOTTO_KEYGEN_REVEAL][d], err));
        v->missing[d] = v->qualified[d] && v->revealed[d].count != k->threshold;
    }
    return SOTTO_OK;
}

/* A member that shows values of its own which were committed to, and are not what was revealed. */
static bool is_proved(sotto_keygen_view *v, uint32_t dealer, uint32_t member, const uint8_t *bytes)
{
    sotto_dkg_values values;

    if (!sotto_keygen_values_read(v, &values, bytes))
        return false;
    if (SOTTO_RULE(keygen_accused_as_committed) &&
        !sotto_keygen_view_fits(v, dealer, member, &values))
        return false;
    if (SOTTO_RULE(keygen_accused_of_something) &&
        sotto_dkg_is_revealed_vartime(&v->t, &v->revealed[dealer], v->call->threshold, member,
                                      &values))
        return false;
    return true;
}

void sotto_keygen_view_accusations(sotto_keygen_view *v)
{
    const sotto_keygen *k = v->call;
    sotto_keygen_shown shown;

    for (uint32_t m = 0; m < k->count; m++) {
        if (!v->board->is_there[SOTTO_KEYGEN_ACCUSE][m] ||
            sotto_keygen_shown_decode(&shown, v->board->body[SOTTO_KEYGEN_ACCUSE][m], k->dealers,
                                      NULL) != SOTTO_OK)
            continue;
        for (uint32_t i = 0; i < shown.count; i++) {
            const uint32_t d = shown.at[i];

            if (v->qualified[d] && !v->missing[d])
                v->missing[d] = is_proved(v, d, m, shown.values[i]);
        }
    }
    v->missing_count = 0;
    for (uint32_t d = 0; d < k->dealers; d++)
        v->missing_count += v->missing[d];
}

sotto_status sotto_keygen_view_vote(sotto_keygen_view *v, sotto_err *err)
{
    const sotto_keygen *k = v->call;
    uint8_t bytes[2 + 2 * SOTTO_DECRYPTORS_MOST];
    sotto_buf wanted = sotto_buf_over(bytes, sizeof bytes);

    if (v->missing_count == 0)
        return SOTTO_OK;
    /* Fewer than a third lie: who hides more than that hides honest dealers, to have their polynomials shown. */
    if (SOTTO_RULE(keygen_few_rebuilt) && v->missing_count > (k->count - 1) / 3)
        return sotto_fail(err, SOTTO_DENIED, "key generation: %u dealers are missing, at most %u",
                          v->missing_count, (k->count - 1) / 3);
    SOTTO_TRY(sotto_keygen_places_encode(&wanted, v->missing, k->dealers, err));
    const uint32_t equal = equal_posts(v, SOTTO_KEYGEN_VOTE, sotto_buf_bytes(&wanted));
    /* Without it the server has each member show another dealer's values. */
    if (SOTTO_RULE(keygen_voted_first) && equal < sotto_decryptors_quorum(k->count))
        return sotto_fail(err, SOTTO_DENIED, "key generation: %u members vote alike, wanted %u",
                          equal, sotto_decryptors_quorum(k->count));
    return SOTTO_OK;
}

/* What members showed of this dealer's polynomial. */
static void gather(sotto_keygen_view *v, uint32_t dealer, sotto_dkg_values *values, bool *is_there)
{
    sotto_keygen_shown shown;

    for (uint32_t m = 0; m < v->call->count; m++) {
        if (!v->board->is_there[SOTTO_KEYGEN_SHOW][m] ||
            sotto_keygen_shown_decode(&shown, v->board->body[SOTTO_KEYGEN_SHOW][m],
                                      v->call->dealers, NULL) != SOTTO_OK)
            continue;
        for (uint32_t i = 0; i < shown.count; i++)
            if (shown.at[i] == dealer)
                is_there[m] = sotto_keygen_values_read(v, &values[m], shown.values[i]);
    }
}

sotto_status sotto_keygen_view_rebuild(sotto_keygen_view *v, sotto_err *err)
{
    const sotto_keygen *k = v->call;
    sotto_dkg_values *values = sotto_arena_take_array(v->arena, k->count, sizeof *values);
    bool *is_there = sotto_arena_take_array(v->arena, k->count, sizeof *is_there);

    if (!values || !is_there)
        return no_memory(err);
    for (uint32_t d = 0; d < k->dealers; d++) {
        if (!v->missing[d])
            continue;
        memset(values, 0, k->count * sizeof *values);
        memset(is_there, 0, k->count * sizeof *is_there);
        gather(v, d, values, is_there);
        SOTTO_TRY(sotto_dkg_rebuild_vartime(&v->t, &v->revealed[d], &v->deals[d], values, is_there,
                                            k->count, v->arena, err));
    }
    return SOTTO_OK;
}

/* ---- the record ---------------------------------------------------------------------------------------------------- */

static sotto_status publish(sotto_keygen_view *v, sotto_decryptors_record *r, sotto_err *err)
{
    const sotto_keygen *k = v->call;
    uint32_t places[SOTTO_DECRYPTORS_MOST];

    if (!k->hands_on)
        return sotto_dkg_publish_vartime(&v->t, r->key, r->verify, v->revealed, v->qualified,
                                         k->count, k->threshold, err);
    const sotto_dkg_handed handed = {v->deals, k->old.verify, k->dealers, k->count, k->threshold};
    const uint32_t count = sotto_keygen_view_set(v, places);
    SOTTO_TRY(sotto_dkg_publish_handed_vartime(&v->t, r->key, r->verify, &handed, places, count,
                                               v->arena, err));
    /* Each deal began with the share of its dealer, so this holds where the old record's values are those of its key. */
    return memcmp(r->key, k->old.key, sizeof r->key) == 0
               ? SOTTO_OK
               : sotto_fail(err, SOTTO_REJECTED, "key generation: another key is handed on");
}

sotto_status sotto_keygen_view_record(sotto_keygen_view *v, sotto_decryptors_record *r,
                                      sotto_err *err)
{
    const sotto_keygen *k = v->call;

    memset(r, 0, sizeof *r);
    memcpy(r->session, k->session, sizeof r->session);
    r->epoch = k->epoch;
    r->count = k->count;
    r->members = k->members;
    r->verify = sotto_arena_take_array(v->arena, k->count, sizeof *r->verify);
    r->signatures = sotto_arena_take_array(v->arena, k->count, sizeof *r->signatures);
    r->is_signed = sotto_arena_take_array(v->arena, k->count, sizeof *r->is_signed);
    if (!r->verify || !r->signatures || !r->is_signed)
        return no_memory(err);
    return publish(v, r, err);
}
