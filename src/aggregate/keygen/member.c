#include "aggregate/keygen/view.h"
#include "aggregate/shared/mask.h"

#include "base/arena.h"
#include "base/rule.h"

#include <string.h>

/* One member at one step: a view, and what it alone knows. */
typedef struct member {
    const sotto_keygen *call;
    const sotto_keygen_self *self;
    sotto_keygen_view v;
    int place;                /* as a member; -1: none */
    sotto_dkg_values *values; /* of each dealer for this member */
    bool *fits;
} member;

static const uint8_t NONCE[SOTTO_AEAD_NONCE_SIZE]; /* a key seals one message */

/* ---- what goes from one to one ------------------------------------------------------------------------------------ */

static sotto_status pair_key(const member *m, uint8_t key[32], uint32_t from, uint32_t to,
                             sotto_err *err)
{
    const uint32_t other = from == m->self->index ? to : from;
    uint8_t agreed[32];

    sotto_status status = sotto_dh_agree(
        m->self->channel, agreed, sotto_bytes_of(m->call->posting.registry.channel[other], 32),
        "channel", NULL);
    /* Whoever registered a point of small order is corrupt: what is sealed to it may be known to all. It must not keep the others
     * from dealing. */
    if (SOTTO_RULE(keygen_small_order_survived) && status == SOTTO_REJECTED) {
        memset(agreed, 0, sizeof agreed);
        status = SOTTO_OK;
    }
    if (status == SOTTO_OK)
        status = sotto_round_kdf(key, "sotto-keygen-values-1", sotto_bytes_of(agreed, 32),
                                 m->call->id, from, to, err);
    sotto_wipe(agreed, sizeof agreed);
    return status;
}

static sotto_status seal(member *m, sotto_buf *out, const sotto_dkg_values *values, uint32_t to,
                         sotto_err *err)
{
    uint8_t key[32], plain[2 * SOTTO_P256_SCALAR];
    sotto_status status = pair_key(m, key, m->self->index, to, err);

    memcpy(plain, values->a.be, SOTTO_P256_SCALAR);
    memcpy(plain + SOTTO_P256_SCALAR, values->b.be, SOTTO_P256_SCALAR);
    if (status == SOTTO_OK)
        status = sotto_aead_set_key(&m->v.t.seal, key, err);
    if (status == SOTTO_OK)
        status = sotto_aead_seal(&m->v.t.seal, out, NONCE, (sotto_bytes){NULL, 0},
                                 sotto_bytes_of(plain, sizeof plain), err);
    sotto_wipe(key, sizeof key);
    sotto_wipe(plain, sizeof plain);
    return status;
}

/* False: the dealer sealed garbage, or has a key that nobody agrees with. */
static bool unseal(member *m, sotto_dkg_values *out, uint32_t dealer)
{
    const uint8_t *sealed = m->v.sealed[dealer] + (size_t)m->place * SOTTO_KEYGEN_SEALED;
    uint8_t key[32], plain[2 * SOTTO_P256_SCALAR];
    sotto_buf text = sotto_buf_over(plain, sizeof plain);
    sotto_status status = pair_key(m, key, m->call->dealer[dealer], m->self->index, NULL);

    if (status == SOTTO_OK)
        status = sotto_aead_set_key(&m->v.t.open, key, NULL);
    if (status == SOTTO_OK)
        status = sotto_aead_open(&m->v.t.open, &text, NONCE, (sotto_bytes){NULL, 0},
                                 sotto_bytes_of(sealed, SOTTO_KEYGEN_SEALED), NULL);
    const bool read = status == SOTTO_OK && sotto_keygen_values_read(&m->v, out, plain);
    sotto_wipe(key, sizeof key);
    sotto_wipe(plain, sizeof plain);
    return read;
}

/* ---- as a dealer --------------------------------------------------------------------------------------------------- */

/* The same polynomials each time: they come from the seed. */
static sotto_status deal(member *m, sotto_dkg_dealer *dealer, sotto_err *err)
{
    sotto_keystream stream;
    sotto_scalar share;

    *dealer = (sotto_dkg_dealer){0};
    if (m->call->hands_on &&
        (!m->self->share || !sotto_scalar_decode(&m->v.t.group, &share, m->self->share)))
        return sotto_fail(err, SOTTO_DENIED, "key generation: no share to hand on");
    sotto_status status = sotto_keystream_init(&stream, err);
    if (status == SOTTO_OK)
        status = sotto_keystream_seed(&stream, m->self->seed, err);
    if (status == SOTTO_OK)
        status = sotto_dkg_deal(dealer, &m->v.t, m->call->threshold,
                                m->call->hands_on ? &share : NULL, &stream, m->v.arena, err);
    sotto_keystream_clear(&stream);
    sotto_wipe(&share, sizeof share);
    return status;
}

static void forget(sotto_dkg_dealer *dealer)
{
    if (dealer->a && dealer->b)
        sotto_dkg_forget(dealer);
}

static sotto_status write_points(sotto_buf *out, const sotto_dkg_commitments *c, sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_write_uint(&w, c->count, 2);
    sotto_write_bytes(&w, sotto_bytes_of(c->at[0], (size_t)c->count * SOTTO_P256_WIDE));
    return sotto_writer_finish(&w, "key generation", err);
}

static sotto_status write_deal(member *m, sotto_buf *out, sotto_err *err)
{
    sotto_dkg_commitments commitments;
    sotto_dkg_dealer dealer;
    sotto_dkg_values values;
    sotto_status status = deal(m, &dealer, err);

    if (status == SOTTO_OK)
        status = m->call->hands_on
                     ? sotto_dkg_reveal(&dealer, &m->v.t, &commitments, m->v.arena, err)
                     : sotto_dkg_commit(&dealer, &m->v.t, &commitments, m->v.arena, err);
    if (status == SOTTO_OK)
        status = write_points(out, &commitments, err);
    for (uint32_t i = 0; i < m->call->count && status == SOTTO_OK; i++) {
        sotto_dkg_values_for(&dealer, &m->v.t, i, &values);
        status = seal(m, out, &values, m->call->members[i], err);
    }
    sotto_wipe(&values, sizeof values);
    forget(&dealer);
    return status;
}

/* In the open, for those who complained. */
static sotto_status write_answer(member *m, sotto_buf *out, sotto_err *err)
{
    const uint32_t count = m->call->count;
    const int own = sotto_keygen_place(m->call, SOTTO_KEYGEN_ANSWER, m->self->index);
    bool *against = m->v.complaints + (size_t)own * count;
    sotto_dkg_values *values = sotto_arena_take_array(m->v.arena, count, sizeof *values);
    sotto_dkg_dealer dealer;
    uint32_t complaints = 0;

    if (!values)
        return sotto_fail(err, SOTTO_NO_MEMORY, "key generation");
    for (uint32_t i = 0; i < count; i++)
        complaints += against[i];
    /* So many values are the polynomial. Fewer than a third lie: more complain only where the dealer does. */
    if (SOTTO_RULE(keygen_few_answers) && complaints >= m->call->threshold)
        return sotto_fail(err, SOTTO_DENIED, "key generation: %u members complain", complaints);
    sotto_status status = deal(m, &dealer, err);
    for (uint32_t i = 0; i < count && status == SOTTO_OK; i++)
        if (against[i])
            sotto_dkg_values_for(&dealer, &m->v.t, i, &values[i]);
    if (status == SOTTO_OK)
        status = sotto_keygen_shown_encode(out, against, values, count, err);
    forget(&dealer);
    return status;
}

static sotto_status write_reveal(member *m, sotto_buf *out, sotto_err *err)
{
    const int own = sotto_keygen_place(m->call, SOTTO_KEYGEN_REVEAL, m->self->index);
    static const bool nobody;
    sotto_dkg_commitments commitments;
    sotto_dkg_dealer dealer;

    if (!m->v.qualified[own])
        return sotto_keygen_places_encode(out, &nobody, 0, err);
    sotto_status status = deal(m, &dealer, err);
    if (status == SOTTO_OK)
        status = sotto_dkg_reveal(&dealer, &m->v.t, &commitments, m->v.arena, err);
    if (status == SOTTO_OK)
        status = write_points(out, &commitments, err);
    forget(&dealer);
    return status;
}

/* ---- as a member ---------------------------------------------------------------------------------------------------- */

/* What dealers gave it: sealed, or in the open after a complaint. */
static sotto_status read_values(member *m, sotto_err *err)
{
    const sotto_keygen *k = m->call;

    m->values = sotto_arena_take_array(m->v.arena, k->dealers, sizeof *m->values);
    m->fits = sotto_arena_take_array(m->v.arena, k->dealers, sizeof *m->fits);
    if (!m->values || !m->fits)
        return sotto_fail(err, SOTTO_NO_MEMORY, "key generation");
    for (uint32_t d = 0; d < k->dealers; d++) {
        const size_t at = (size_t)d * k->count + (size_t)m->place;

        if (m->v.deals[d].count == 0)
            continue;
        /* What nobody complained about is not checked by anybody: the sealed values count. */
        const bool open = m->v.complaints[at] && m->v.answered[at];
        if (open)
            m->values[d] = m->v.answers[at];
        m->fits[d] = (open || unseal(m, &m->values[d], d)) &&
                     sotto_keygen_view_fits(&m->v, d, (uint32_t)m->place, &m->values[d]);
    }
    return SOTTO_OK;
}

static sotto_status write_complaints(member *m, sotto_buf *out, sotto_err *err)
{
    bool *wrong = m->v.missing; /* not used before the last steps */

    SOTTO_TRY(read_values(m, err));
    for (uint32_t d = 0; d < m->call->dealers; d++)
        wrong[d] = m->v.deals[d].count != 0 && !m->fits[d];
    return sotto_keygen_places_encode(out, wrong, m->call->dealers, err);
}

/* The server can swallow this member's complaint. Who signed for a key without a share of it would be counted on. */
static sotto_status check_own(const member *m, sotto_err *err)
{
    for (uint32_t d = 0; d < m->call->dealers; d++)
        if (SOTTO_RULE(keygen_own_values) && m->v.qualified[d] && !m->fits[d])
            return sotto_fail(err, SOTTO_DENIED,
                              "key generation: a dealer that counts gave this "
                              "member no values that fit");
    return SOTTO_OK;
}

static sotto_status write_accusations(member *m, sotto_buf *out, sotto_err *err)
{
    const sotto_keygen *k = m->call;
    bool *wrong = sotto_arena_take_array(m->v.arena, k->dealers, sizeof *wrong);

    if (!wrong)
        return sotto_fail(err, SOTTO_NO_MEMORY, "key generation");
    for (uint32_t d = 0; d < k->dealers; d++)
        wrong[d] = m->v.qualified[d] && !m->v.missing[d] &&
                   !sotto_dkg_is_revealed_vartime(&m->v.t, &m->v.revealed[d], k->threshold,
                                                  (uint32_t)m->place, &m->values[d]);
    return sotto_keygen_shown_encode(out, wrong, m->values, k->dealers, err);
}

static sotto_status write_as_member(member *m, unsigned step, sotto_buf *out, sotto_err *err)
{
    sotto_keygen_view *v = &m->v;

    if (step == SOTTO_KEYGEN_COMPLAIN)
        return write_complaints(m, out, err);
    sotto_keygen_view_complaints(v);
    SOTTO_TRY(sotto_keygen_view_qualify(v, err));
    SOTTO_TRY(read_values(m, err));
    SOTTO_TRY(check_own(m, err));
    if (step == SOTTO_KEYGEN_AGREE) {
        sotto_writer w = sotto_writer_on(out);

        sotto_write_bytes(&w, sotto_bytes_of(v->agreed, sizeof v->agreed));
        return sotto_writer_finish(&w, "key generation", err);
    }
    SOTTO_TRY(sotto_keygen_view_agree(v, err));
    SOTTO_TRY(sotto_keygen_view_reveals(v, err));
    if (step == SOTTO_KEYGEN_ACCUSE)
        return write_accusations(m, out, err);
    sotto_keygen_view_accusations(v);
    if (step == SOTTO_KEYGEN_VOTE)
        return sotto_keygen_places_encode(out, v->missing, m->call->dealers, err);
    SOTTO_TRY(sotto_keygen_view_vote(v, err));
    return sotto_keygen_shown_encode(out, v->missing, m->values, m->call->dealers, err);
}

static sotto_status write_as_dealer(member *m, unsigned step, sotto_buf *out, sotto_err *err)
{
    if (step == SOTTO_KEYGEN_DEAL)
        return write_deal(m, out, err);
    sotto_keygen_view_complaints(&m->v);
    if (step == SOTTO_KEYGEN_ANSWER)
        return write_answer(m, out, err);
    SOTTO_TRY(sotto_keygen_view_qualify(&m->v, err));
    SOTTO_TRY(sotto_keygen_view_agree(&m->v, err));
    return write_reveal(m, out, err);
}

static void wipe(const member *m)
{
    if (m->values)
        sotto_wipe(m->values, m->call->dealers * sizeof *m->values);
}

sotto_status sotto_keygen_write(const sotto_keygen *k, const sotto_keygen_self *self, unsigned step,
                                const sotto_keygen_board *board, sotto_buf *out, sotto_arena *arena,
                                sotto_err *err)
{
    member m = {.call = k, .self = self};
    const size_t before = out->len;

    /* A hand-over reveals nothing, so that nothing is rebuilt. */
    if (step < SOTTO_KEYGEN_DEAL || step >= SOTTO_KEYGEN_RECORD ||
        (k->hands_on && step > SOTTO_KEYGEN_AGREE) || sotto_keygen_place(k, step, self->index) < 0)
        return sotto_fail(err, SOTTO_MISSING, "key generation: not a speaker of step %u", step);
    m.place = sotto_keygen_place(k, SOTTO_KEYGEN_AGREE, self->index);
    sotto_status status = sotto_keygen_view_open(&m.v, k, board, arena, err);
    if (status == SOTTO_OK)
        status =
            step == SOTTO_KEYGEN_DEAL || step == SOTTO_KEYGEN_ANSWER || step == SOTTO_KEYGEN_REVEAL
                ? write_as_dealer(&m, step, out, err)
                : write_as_member(&m, step, out, err);
    if (status != SOTTO_OK)
        out->len = before;
    wipe(&m);
    sotto_keygen_view_close(&m.v);
    return status;
}

/* ---- the end ---------------------------------------------------------------------------------------------------------- */

/* Everything that is public, up to the record. */
static sotto_status conclude(sotto_keygen_view *v, sotto_decryptors_record *record, sotto_err *err)
{
    sotto_keygen_view_complaints(v);
    SOTTO_TRY(sotto_keygen_view_qualify(v, err));
    SOTTO_TRY(sotto_keygen_view_agree(v, err));
    if (!v->call->hands_on) {
        SOTTO_TRY(sotto_keygen_view_reveals(v, err));
        sotto_keygen_view_accusations(v);
        SOTTO_TRY(sotto_keygen_view_rebuild(v, err));
    }
    return sotto_keygen_view_record(v, record, err);
}

static void own_share(member *m, uint8_t share[32])
{
    uint32_t places[SOTTO_DECRYPTORS_MOST];
    sotto_dkg_values given[SOTTO_DECRYPTORS_MOST];
    sotto_scalar sum;

    if (m->call->hands_on) {
        const uint32_t count = sotto_keygen_view_set(&m->v, places);

        for (uint32_t i = 0; i < count; i++)
            given[i] = m->values[places[i]];
        sotto_dkg_take_over(&m->v.t, &sum, given, places, count);
        sotto_wipe(given, sizeof given);
    } else {
        sotto_dkg_share(&m->v.t, &sum, m->values, m->v.qualified, m->call->dealers);
    }
    memcpy(share, sum.be, 32);
    sotto_wipe(&sum, sizeof sum);
}

sotto_status sotto_keygen_finish(const sotto_keygen *k, const sotto_keygen_self *self,
                                 const sotto_keygen_board *board, sotto_decryptors_record *record,
                                 uint8_t share[32], sotto_arena *arena, sotto_err *err)
{
    member m = {.call = k, .self = self};

    m.place = sotto_keygen_place(k, SOTTO_KEYGEN_RECORD, self->index);
    if (m.place < 0)
        return sotto_fail(err, SOTTO_MISSING, "key generation: not a member");
    sotto_status status = sotto_keygen_view_open(&m.v, k, board, arena, err);
    if (status == SOTTO_OK)
        status = conclude(&m.v, record, err);
    if (status == SOTTO_OK)
        status = read_values(&m, err);
    if (status == SOTTO_OK)
        status = check_own(&m, err);
    if (status == SOTTO_OK)
        own_share(&m, share);
    wipe(&m);
    sotto_keygen_view_close(&m.v);
    return status;
}

static sotto_status count_signatures(const sotto_keygen *k, const sotto_keygen_board *board,
                                     sotto_decryptors_record *r, sotto_err *err)
{
    uint8_t digest[32];
    uint32_t valid = 0;

    sotto_decryptors_digest(r, digest);
    for (uint32_t i = 0; i < k->count; i++) {
        const uint8_t *key = sotto_registry_key(&k->posting.registry, k->members[i]);

        /* Members are drawn from the registry, so each has a key. */
        if (!board->is_there[SOTTO_KEYGEN_RECORD][i] || !key)
            continue;
        memcpy(r->signatures[i], board->body[SOTTO_KEYGEN_RECORD][i].data, SOTTO_SIGNATURE);
        r->is_signed[i] = sotto_decryptors_is_signed(digest, key, r->signatures[i]);
        valid += r->is_signed[i];
    }
    return valid >= sotto_decryptors_quorum(k->count)
               ? SOTTO_OK
               : sotto_fail(err, SOTTO_AGAIN, "key generation: %u of %u signed the record", valid,
                            k->count);
}

sotto_status sotto_keygen_record(const sotto_keygen *k, const sotto_keygen_board *board,
                                 sotto_decryptors_record *record, sotto_arena *arena,
                                 sotto_err *err)
{
    sotto_keygen_view v;
    sotto_status status = sotto_keygen_view_open(&v, k, board, arena, err);

    if (status == SOTTO_OK)
        status = conclude(&v, record, err);
    if (status == SOTTO_OK)
        status = count_signatures(k, board, record, err);
    sotto_keygen_view_close(&v);
    return status;
}
