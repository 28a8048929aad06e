/* A member's part of a robust opening: noise for others, and its point. */
#include "aggregate/aero/member.h"
#include "aggregate/aero/robust.h"

#include "base/rule.h"
#include "crypto/hash.h"

#include <stdio.h>
#include <string.h>

static const uint8_t NONCE[SOTTO_AEAD_NONCE_SIZE]; /* a key seals one message */

/* A purpose for each attempt, so that no key seals two messages. */
static void purpose_of(char out[32], uint32_t attempt)
{
    (void)snprintf(out, 32, "sotto-aero-noise-1-%u", attempt);
}

static int own_place(const sotto_aero_committee_member *m)
{
    const sotto_aero_call *call = &m->base.view->call;

    for (uint32_t i = 0; i < m->base.plan->terms.threshold; i++)
        if (call->dealers[i] == m->place)
            return (int)i;
    return -1;
}

/* ---- dealing -------------------------------------------------------------------------------------------- */

typedef struct dealing {
    sotto_noise noise, pads;
    sotto_aero_poly v;
    sotto_aero_share *shares; /* of one polynomial, by member */
    sotto_buf *plain;         /* of all, by member            */
} dealing;

static sotto_status make_dealing(dealing *d, const sotto_aero_plan *plan, sotto_arena *scratch,
                                 sotto_err *err)
{
    uint32_t count = plan->terms.committee;
    size_t size = sotto_aero_noises_sealed(plan);

    d->shares = sotto_arena_take_array(scratch, count, sizeof *d->shares);
    d->plain = sotto_arena_take_array(scratch, count, sizeof *d->plain);
    if (!d->shares || !d->plain)
        return sotto_aero_no_memory(err);
    for (uint32_t i = 0; i < count; i++) {
        d->plain[i] = sotto_aero_buffer(scratch, size);
        if (!d->plain[i].data)
            return sotto_aero_no_memory(err);
    }
    SOTTO_TRY(sotto_noise_gaussian_wide(&d->noise, plan->ledger.sigma, scratch, err));
    return sotto_noise_gaussian_wide(&d->pads, plan->ledger.pad, scratch, err);
}

/* The last polynomial has the pads. */
static sotto_status deal_all(dealing *d, const sotto_aero_plan *plan, sotto_entropy *entropy,
                             sotto_err *err)
{
    for (uint32_t i = 0; i <= plan->ciphertexts; i++) {
        bool is_last = i == plan->ciphertexts;

        SOTTO_TRY(sotto_aero_noise_of(&plan->aero, &d->v, is_last ? &d->pads : &d->noise,
                                      is_last ? SOTTO_AERO_LOOKS : SOTTO_AERO_N, entropy, err));
        SOTTO_TRY(sotto_aero_deal_poly(&plan->aero, d->shares, plan->terms.committee,
                                       plan->terms.threshold, &d->v, entropy, err));
        for (uint32_t j = 0; j < plan->terms.committee; j++)
            SOTTO_TRY(sotto_aero_poly_encode(&plan->aero, &d->plain[j], &d->shares[j].s, err));
    }
    return SOTTO_OK;
}

static sotto_status seal_to(const sotto_aero_committee_member *m, sotto_buf *out, uint32_t place,
                            sotto_bytes plain, uint32_t attempt, sotto_err *err)
{
    char purpose[32];
    sotto_aead aead = {0};

    purpose_of(purpose, attempt);
    sotto_status status =
        sotto_aero_share_cipher(&aead, m, purpose, m->base.self.index,
                                m->base.plan->committee[place], NULL, SOTTO_AEAD_SEAL, err);
    if (status == SOTTO_OK)
        status = sotto_aead_seal(&aead, out, NONCE, (sotto_bytes){NULL, 0}, plain, err);
    sotto_aead_clear(&aead);
    return status;
}

static sotto_status deal(sotto_aero_committee_member *m, uint32_t attempt, sotto_arena *scratch,
                         sotto_effects *effects, sotto_err *err)
{
    const sotto_aero_plan *plan = m->base.plan;
    dealing *d = sotto_arena_take(scratch, sizeof *d);
    sotto_buf body =
        sotto_aero_buffer(scratch, 1 + plan->terms.committee * sotto_aero_noises_sealed(plan));
    sotto_aero_stream stream;

    if (!d || !body.data)
        return sotto_aero_no_memory(err);
    SOTTO_TRY(make_dealing(d, plan, scratch, err));
    sotto_status status =
        sotto_aero_stream_open(&stream, &m->base, SOTTO_AERO_FOR_NOISES, attempt, err);
    if (status == SOTTO_OK)
        status = deal_all(d, plan, &stream.entropy, err);
    sotto_aero_stream_close(&stream);
    SOTTO_TRY(status);
    body.data[body.len++] = (uint8_t)attempt;
    for (uint32_t j = 0; j < plan->terms.committee; j++)
        SOTTO_TRY(seal_to(m, &body, j, sotto_buf_bytes(&d->plain[j]), attempt, err));
    return sotto_aero_send(effects, m->base.round, &m->base.self, SOTTO_TO_SERVER,
                           SOTTO_AERO_NOISES, sotto_buf_bytes(&body), err);
}

sotto_status sotto_aero_member_noises(sotto_aero_committee_member *m, sotto_effects *effects,
                                      sotto_err *err)
{
    uint32_t attempt = m->base.view->call.calls - 1;
    sotto_status verdict;
    sotto_arena scratch;

    if (own_place(m) < 0 || !sotto_aero_member_may_open(m, attempt, &verdict))
        return SOTTO_OK;
    sotto_arena_init(&scratch, SOTTO_AERO_SCRATCH);
    sotto_status status = deal(m, attempt, &scratch, effects, err);
    sotto_arena_clear(&scratch);
    return status;
}

/* ---- the point ------------------------------------------------------------------------------------------- */

typedef struct taking {
    sotto_aero_poly *noise,
        *sum; /* one dealer's, then its pads; and of all dealers, by ciphertext */
    sotto_aero_poly point, c1;
    sotto_aero_looks looks;
    sotto_buf plain, body;
} taking;

static sotto_status make_taking(taking *k, const sotto_aero_plan *plan, sotto_arena *scratch,
                                sotto_err *err)
{
    size_t each = sotto_aero_poly_size(&plan->aero);

    k->noise = sotto_arena_take_array(scratch, (size_t)plan->ciphertexts + 1, sizeof *k->noise);
    k->sum = sotto_arena_take_array(scratch, plan->ciphertexts, sizeof *k->sum);
    k->plain = sotto_aero_buffer(scratch, sotto_aero_noises_sealed(plan));
    k->body = sotto_aero_buffer(scratch, 1 + plan->ciphertexts * each +
                                             plan->terms.threshold * SOTTO_AERO_LOOKS * 16);
    if (!k->noise || !k->sum || !k->plain.data || !k->body.data)
        return sotto_aero_no_memory(err);
    return SOTTO_OK;
}

/* Every dealer's shares are what the board says, and were sealed by it. Without the noise of one that is honest, a point tells c1 s. */
static sotto_status open_from(const sotto_aero_committee_member *m, taking *k, uint32_t dealer,
                              sotto_reader *in, sotto_err *err)
{
    const sotto_aero_plan *plan = m->base.plan;
    const sotto_aero_call *call = &m->base.view->call;
    size_t each = sotto_aero_poly_size(&plan->aero);
    sotto_bytes digests = sotto_read_bytes(in, 32 * (size_t)plan->terms.committee);
    sotto_bytes sealed = sotto_read_bytes(in, sotto_aero_noises_sealed(plan));
    uint8_t all[32], own[32];
    char purpose[32];
    sotto_aead aead = {0};

    if (!digests.data || !sealed.data)
        return SOTTO_REJECTED;
    sotto_aero_dealt_digest(all, digests);
    sotto_hash_once(own, SOTTO_SHA256, sealed);
    if (SOTTO_RULE(aero_shares_dealt) &&
        (memcmp(all, call->digests[dealer], 32) != 0 ||
         memcmp(own, digests.data + 32 * (size_t)m->place, 32) != 0))
        return SOTTO_REJECTED;
    purpose_of(purpose, call->calls - 1);
    k->plain.len = 0;
    sotto_status status =
        sotto_aero_share_cipher(&aead, m, purpose, plan->committee[call->dealers[dealer]],
                                m->base.self.index, NULL, SOTTO_AEAD_OPEN, err);
    if (status == SOTTO_OK)
        status = sotto_aead_open(&aead, &k->plain, NONCE, (sotto_bytes){NULL, 0}, sealed, NULL);
    sotto_aead_clear(&aead);
    for (size_t i = 0; i <= plan->ciphertexts && status == SOTTO_OK; i++)
        status = sotto_aero_poly_decode(&plan->aero, &k->noise[i],
                                        sotto_bytes_of(k->plain.data + i * each, each), NULL);
    return status == SOTTO_NO_MEMORY || status == SOTTO_OK ? status : SOTTO_REJECTED;
}

static sotto_status take_all(const sotto_aero_committee_member *m, taking *k, sotto_reader *in,
                             sotto_buf *looks, sotto_err *err)
{
    const sotto_aero_plan *plan = m->base.plan;

    for (uint32_t d = 0; d < plan->terms.threshold; d++) {
        SOTTO_TRY(open_from(m, k, d, in, err));
        for (uint32_t i = 0; i < plan->ciphertexts; i++)
            sotto_aero_add(&plan->aero.ring, &k->sum[i], &k->noise[i]);
        SOTTO_TRY(sotto_aero_looks_of(&plan->aero, &k->looks, k->noise, plan->ciphertexts,
                                      &k->noise[plan->ciphertexts], m->base.view->call.seed, err));
        for (size_t i = 0; i < SOTTO_AERO_LOOKS; i++, looks->len += 16) {
            sotto_f64_store(looks->data + looks->len, k->looks.first[i]);
            sotto_store64(looks->data + looks->len + 8, k->looks.second[i]);
        }
    }
    return sotto_reader_finish(in, "shares", NULL) == SOTTO_OK ? SOTTO_OK : SOTTO_REJECTED;
}

/* The sums of ciphertexts, then looks at each dealer. */
static sotto_status write_point(sotto_aero_committee_member *m, taking *k, sotto_reader *in,
                                sotto_arena *scratch, sotto_err *err)
{
    const sotto_aero_plan *plan = m->base.plan;
    sotto_buf looks =
        sotto_aero_buffer(scratch, plan->terms.threshold * (size_t)SOTTO_AERO_LOOKS * 16);

    if (!looks.data)
        return sotto_aero_no_memory(err);
    SOTTO_TRY(take_all(m, k, in, &looks, err));
    for (uint32_t i = 0; i < plan->ciphertexts; i++) {
        const sotto_aero_roots *roots = &m->roots[i / SOTTO_AERO_GROUP];

        sotto_aero_total_reduce(&plan->aero, &k->c1, &roots->c1[i % SOTTO_AERO_GROUP]);
        sotto_aero_point_of(&plan->aero, &k->point, &m->share, &k->c1, &k->sum[i]);
        SOTTO_TRY(sotto_aero_poly_encode(&plan->aero, &k->body, &k->point, err));
    }
    memcpy(k->body.data + k->body.len, looks.data, looks.len);
    k->body.len += looks.len;
    return SOTTO_OK;
}

static sotto_status give_point(sotto_aero_committee_member *m, const sotto_message *message,
                               sotto_arena *scratch, sotto_status *verdict, sotto_effects *effects,
                               sotto_err *err)
{
    const sotto_aero_call *call = &m->base.view->call;
    sotto_reader in = sotto_reader_over(message->body);
    uint32_t attempt = (uint32_t)sotto_read_uint(&in, 1);
    taking *k = sotto_arena_take(scratch, sizeof *k);

    if (!k)
        return sotto_aero_no_memory(err);
    *verdict = attempt >= call->calls || (attempt + 1 == call->calls && !call->is_dealt)
                   ? SOTTO_AGAIN
                   : SOTTO_STALE;
    if (m->base.plan->terms.opening != SOTTO_AERO_ROBUST)
        *verdict = SOTTO_REJECTED;
    if (attempt + 1 != call->calls || !call->is_dealt ||
        !sotto_aero_member_may_open(m, attempt, verdict))
        return SOTTO_OK;
    SOTTO_TRY(make_taking(k, m->base.plan, scratch, err));
    k->body.data[k->body.len++] = (uint8_t)attempt;
    sotto_status status = write_point(m, k, &in, scratch, err);
    *verdict = status;
    if (status == SOTTO_REJECTED)
        return SOTTO_OK;
    SOTTO_TRY(status);
    m->tries = (uint8_t)(attempt + 1);
    SOTTO_TRY(sotto_aero_vow(&m->base, effects, SOTTO_AERO_PART, attempt, message->body, err));
    return sotto_aero_send(effects, m->base.round, &m->base.self, SOTTO_TO_SERVER, SOTTO_AERO_POINT,
                           sotto_buf_bytes(&k->body), err);
}

sotto_status sotto_aero_member_point(sotto_aero_committee_member *m, const sotto_message *message,
                                     sotto_status *verdict, sotto_effects *effects, sotto_err *err)
{
    sotto_arena scratch;

    sotto_arena_init(&scratch, SOTTO_AERO_SCRATCH);
    sotto_status status = give_point(m, message, &scratch, verdict, effects, err);
    sotto_arena_clear(&scratch);
    return status;
}
