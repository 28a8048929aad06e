/* A new key, of which every member deals a part. It lives for a round, or is handed on (member_hand.c).
 * Parts are committed to before any is shown. Shares go to the board, sealed: everybody sees that they were dealt.
 *
 * What is not checked: whether a dealer's shares belong to its part, and whether its secret is small. Shares that do not fit give a sum
 * that does not open, which the residual shows. */
#include "aggregate/aero/member.h"

#include "aggregate/shared/mask.h"
#include "base/rule.h"
#include "crypto/aead.h"

#include <string.h>

static const uint8_t NONCE[SOTTO_AEAD_NONCE_SIZE]; /* a key seals one message */
static const char PURPOSE[] = "sotto-aero-share-2";

typedef struct part {
    sotto_aero_secret secret;
    sotto_aero_poly b;
    uint8_t nonces[3][32]; /* of the key's part, of the value, and the value */
} part;

static sotto_status make_part(const sotto_aero_committee_member *m, part *p, sotto_buf *b,
                              sotto_err *err)
{
    const sotto_aero_plan *plan = m->base.plan;
    sotto_aero_stream stream;

    for (uint32_t i = 0; i < 3; i++)
        SOTTO_TRY(sotto_aero_secret_of(&m->base, p->nonces[i], SOTTO_AERO_FOR_SEALS, i, err));
    sotto_status status = sotto_aero_stream_open(&stream, &m->base, SOTTO_AERO_FOR_KEY, 0, err);
    if (status == SOTTO_OK)
        status = sotto_aero_keygen(&plan->aero, &p->secret, &p->b, &plan->a, &stream.entropy, err);
    sotto_aero_stream_close(&stream);
    if (status == SOTTO_OK)
        status = sotto_aero_poly_encode(&plan->aero, b, &p->b, err);
    return status;
}

/* Runs with a part that is wiped afterwards. */
typedef sotto_status with_part(sotto_aero_committee_member *m, part *p, sotto_buf *b,
                               sotto_effects *effects, sotto_arena *scratch, sotto_err *err);

static sotto_status for_part(sotto_aero_committee_member *m, with_part *run, sotto_effects *effects,
                             sotto_err *err)
{
    sotto_arena scratch;
    sotto_status status = SOTTO_NO_MEMORY;

    sotto_arena_init(&scratch, SOTTO_AERO_SCRATCH);
    part *p = sotto_arena_take(&scratch, sizeof *p);
    sotto_buf b = sotto_aero_buffer(&scratch, sotto_aero_poly_size(&m->base.plan->aero));
    if (p && b.data)
        status = make_part(m, p, &b, err);
    if (status == SOTTO_OK)
        status = run(m, p, &b, effects, &scratch, err);
    sotto_arena_clear(&scratch);
    return status == SOTTO_NO_MEMORY ? sotto_aero_no_memory(err) : status;
}

/* The member's X25519 key of this round. Clear after a failure is allowed. */
sotto_status sotto_aero_round_key(sotto_dh *dh, const sotto_aero_committee_member *m,
                                  sotto_err *err)
{
    uint8_t secret[32];

    memset(dh, 0, sizeof *dh);
    sotto_status status = sotto_aero_secret_of(&m->base, secret, SOTTO_AERO_FOR_CHANNEL, 0, err);
    if (status == SOTTO_OK)
        status = sotto_dh_init(dh, sotto_kem_find(SOTTO_KEM_X25519),
                               sotto_bytes_of(secret, sizeof secret), err);
    sotto_wipe(secret, sizeof secret);
    return status;
}

static sotto_status seal(sotto_aero_committee_member *m, part *p, sotto_buf *b,
                         sotto_effects *effects, sotto_arena *scratch, sotto_err *err)
{
    uint8_t body[SOTTO_AERO_SEAL_SIZE];
    sotto_dh dh;

    (void)scratch;
    sotto_aero_seal_key(body, m->base.plan, m->base.self.index, p->nonces[0], sotto_buf_bytes(b));
    sotto_aero_seal_value(body + 32, m->base.plan, m->base.self.index, p->nonces[1], p->nonces[2]);
    sotto_status status = sotto_aero_round_key(&dh, m, err);
    if (status == SOTTO_OK)
        memcpy(body + 64, dh.public_key, 32);
    sotto_dh_clear(&dh);
    SOTTO_TRY(status);
    return sotto_aero_post(&m->base, effects, SOTTO_AERO_SEAL, sotto_bytes_of(body, sizeof body),
                           err);
}

sotto_status sotto_aero_member_seal(sotto_aero_committee_member *m, sotto_effects *effects,
                                    sotto_err *err)
{
    return for_part(m, seal, effects, err);
}

sotto_status sotto_aero_member_value(sotto_aero_committee_member *m, sotto_effects *effects,
                                     sotto_err *err)
{
    uint8_t body[64];

    SOTTO_TRY(sotto_aero_secret_of(&m->base, body, SOTTO_AERO_FOR_SEALS, 1, err));
    SOTTO_TRY(sotto_aero_secret_of(&m->base, body + 32, SOTTO_AERO_FOR_SEALS, 2, err));
    return sotto_aero_post(&m->base, effects, SOTTO_AERO_VALUE, sotto_bytes_of(body, sizeof body),
                           err);
}

/* ---- sealed shares --------------------------------------------------------------------------------------- */

/* Who registered or posted a point of small order shares its secrets with everybody: that is its own loss. */
static sotto_status agree(sotto_dh *dh, uint8_t out[32], const uint8_t key[32])
{
    sotto_status status = sotto_dh_agree(dh, out, sotto_bytes_of(key, 32), "member's key", NULL);

    if (status != SOTTO_REJECTED)
        return status;
    memset(out, 0, 32);
    return SOTTO_OK;
}

static const uint8_t *round_key_of(const sotto_aero_committee_member *m, uint32_t other)
{
    const int place = sotto_aero_committee_place(m->base.plan, other);

    return place >= 0 && m->base.view->members[place].has_sealed
               ? m->base.view->members[place].public_key
               : NULL;
}

sotto_status sotto_aero_pair_secret(uint8_t out[SOTTO_AERO_AGREED],
                                    const sotto_aero_committee_member *m, uint32_t other,
                                    bool is_channel, sotto_err *err)
{
    return sotto_aero_agree(out, m, other, NULL, is_channel, err);
}

sotto_status sotto_aero_agree(uint8_t out[SOTTO_AERO_AGREED], const sotto_aero_committee_member *m,
                              uint32_t other, const uint8_t *with, bool is_channel, sotto_err *err)
{
    sotto_self_secrets *s = m->base.self.secrets;
    const sotto_registry *keys = m->base.round->keys;
    sotto_dh dh;

    with = with ? with : round_key_of(m, other);
    memset(out, 0, SOTTO_AERO_AGREED);
    sotto_status status = agree(is_channel ? &s->channel : &s->pair, out,
                                is_channel ? keys->channel[other] : keys->pair[other]);
    if (status == SOTTO_OK && with) {
        status = sotto_aero_round_key(&dh, m, NULL);
        if (status == SOTTO_OK)
            status = agree(&dh, out + 32, with);
        sotto_dh_clear(&dh);
    }
    return status == SOTTO_OK
               ? SOTTO_OK
               : sotto_fail(err, status, "aero: the keys of %u are of no use", other);
}

sotto_status sotto_aero_share_cipher(sotto_aead *aead, const sotto_aero_committee_member *m,
                                     const char *purpose, uint32_t from, uint32_t to,
                                     const uint8_t *with, sotto_aead_direction direction,
                                     sotto_err *err)
{
    uint8_t agreed[SOTTO_AERO_AGREED], key[32];
    uint32_t other = from == m->base.self.index ? to : from;

    SOTTO_TRY(sotto_aero_agree(agreed, m, other, with, true, err));
    sotto_status status = sotto_round_kdf(key, purpose, sotto_bytes_of(agreed, sizeof agreed),
                                          m->base.plan->id, from, to, err);
    if (status == SOTTO_OK)
        status = sotto_aead_init(aead, sotto_aead_find(SOTTO_AES256_GCM), direction, err);
    if (status == SOTTO_OK)
        status = sotto_aead_set_key(aead, key, err);
    sotto_wipe(agreed, sizeof agreed);
    sotto_wipe(key, sizeof key);
    return status;
}

/* Pads are there where the key may be handed on. */
static sotto_status encode_holding(const sotto_aero_plan *plan, sotto_buf *out,
                                   const sotto_aero_holding *holding, sotto_err *err)
{
    return plan->terms.rekey ? sotto_aero_holding_encode(&plan->aero, out, holding, err)
                             : sotto_aero_poly_encode(&plan->aero, out, &holding->share.s, err);
}

static sotto_status decode_holding(const sotto_aero_plan *plan, sotto_aero_holding *out,
                                   sotto_bytes wire, sotto_err *err)
{
    return plan->terms.rekey ? sotto_aero_holding_decode(&plan->aero, out, wire, err)
                             : sotto_aero_poly_decode(&plan->aero, &out->share.s, wire, err);
}

sotto_status sotto_aero_holding_seal(sotto_aero_committee_member *m, sotto_buf *out,
                                     const char *purpose, uint32_t to, const uint8_t *with,
                                     const sotto_aero_holding *holding, sotto_arena *scratch,
                                     sotto_err *err)
{
    const sotto_aero_plan *plan = m->base.plan;
    sotto_buf plain = sotto_aero_buffer(scratch, sotto_aero_sealed_share_size(plan) - 16);
    sotto_aead aead = {0};

    if (!plain.data)
        return sotto_aero_no_memory(err);
    sotto_status status = encode_holding(plan, &plain, holding, err);
    if (status == SOTTO_OK)
        status = sotto_aero_share_cipher(&aead, m, purpose, m->base.self.index, to, with,
                                         SOTTO_AEAD_SEAL, err);
    if (status == SOTTO_OK)
        status = sotto_aead_seal(&aead, out, NONCE, (sotto_bytes){NULL, 0}, sotto_buf_bytes(&plain),
                                 err);
    sotto_aead_clear(&aead);
    sotto_wipe(plain.data, plain.len);
    return status;
}

sotto_status sotto_aero_holding_unseal(sotto_aero_committee_member *m, sotto_aero_holding *out,
                                       const char *purpose, uint32_t from, const uint8_t *with,
                                       sotto_bytes sealed, sotto_arena *scratch, sotto_err *err)
{
    const sotto_aero_plan *plan = m->base.plan;
    sotto_buf plain = sotto_aero_buffer(scratch, sotto_aero_sealed_share_size(plan) - 16);
    sotto_aead aead = {0};

    if (!plain.data)
        return sotto_aero_no_memory(err);
    sotto_status status = sotto_aero_share_cipher(&aead, m, purpose, from, m->base.self.index, with,
                                                  SOTTO_AEAD_OPEN, err);
    if (status == SOTTO_OK)
        status = sotto_aead_open(&aead, &plain, NONCE, (sotto_bytes){NULL, 0}, sealed, err);
    if (status == SOTTO_OK)
        status = decode_holding(plan, out, sotto_buf_bytes(&plain), err);
    sotto_aead_clear(&aead);
    sotto_wipe(plain.data, plain.len);
    return status;
}

/* Shares that are the streams of seeds, and all others. A key that is handed on has pads, and none from seeds. */
static sotto_status deal_holdings(sotto_aero_committee_member *m, const part *p,
                                  sotto_aero_holding *holdings, uint8_t (*seeds)[SOTTO_AERO_SEED],
                                  sotto_arena *scratch, sotto_err *err)
{
    const sotto_aero_plan *plan = m->base.plan;
    const uint32_t count = plan->terms.committee, threshold = plan->terms.threshold;
    sotto_aero_share *shares = sotto_arena_take_array(scratch, count, sizeof *shares);
    sotto_aero_stream stream;

    if (!shares)
        return sotto_aero_no_memory(err);
    sotto_status status = sotto_aero_stream_open(&stream, &m->base, SOTTO_AERO_FOR_DEAL, 0, err);
    if (status == SOTTO_OK && plan->terms.rekey)
        status = sotto_aero_deal(&plan->aero, shares, count, threshold, &p->secret, &stream.entropy,
                                 err);
    else if (status == SOTTO_OK)
        status = sotto_entropy_take(&stream.entropy, seeds[0],
                                    (size_t)(threshold - 1) * SOTTO_AERO_SEED, err);
    if (status == SOTTO_OK && !plan->terms.rekey)
        status = sotto_aero_deal_seeded(&plan->aero, shares, count, threshold, m->place, &p->secret,
                                        (const uint8_t(*)[SOTTO_AERO_SEED])seeds, err);
    for (uint32_t i = 0; i < count; i++)
        holdings[i].share = shares[i];
    if (status == SOTTO_OK && plan->terms.rekey)
        status =
            sotto_aero_pads_deal(&plan->aero, holdings, count, threshold, &stream.entropy, err);
    sotto_aero_stream_close(&stream);
    return status;
}

static sotto_status seal_seed(sotto_aero_committee_member *m, sotto_buf *out, uint32_t to,
                              const uint8_t seed[SOTTO_AERO_SEED], sotto_err *err)
{
    sotto_aead aead = {0};
    sotto_status status = sotto_aero_share_cipher(&aead, m, PURPOSE, m->base.self.index, to, NULL,
                                                  SOTTO_AEAD_SEAL, err);

    if (status == SOTTO_OK)
        status = sotto_aead_seal(&aead, out, NONCE, (sotto_bytes){NULL, 0},
                                 sotto_bytes_of(seed, SOTTO_AERO_SEED), err);
    sotto_aead_clear(&aead);
    return status;
}

static sotto_status deal(sotto_aero_committee_member *m, part *p, sotto_buf *b,
                         sotto_effects *effects, sotto_arena *scratch, sotto_err *err)
{
    const sotto_aero_plan *plan = m->base.plan;
    const uint32_t count = plan->terms.committee;
    sotto_aero_holding *holdings = sotto_arena_take_array(scratch, count, sizeof *holdings);
    uint8_t(*seeds)[SOTTO_AERO_SEED] = sotto_arena_take_array(scratch, count, sizeof *seeds);
    sotto_buf body = sotto_aero_buffer(scratch, sotto_aero_key_size(plan));

    if (!holdings || !seeds || !body.data)
        return sotto_aero_no_memory(err);
    SOTTO_TRY(deal_holdings(m, p, holdings, seeds, scratch, err));
    memcpy(body.data, p->nonces[0], 32);
    memcpy(body.data + 32, b->data, b->len);
    body.len = 32 + b->len;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t to = plan->committee[m->committee * count + i];

        SOTTO_TRY(
            sotto_aero_is_seeded(&plan->terms, m->place, i)
                ? seal_seed(m, &body, to, seeds[(i + count - m->place - 1) % count], err)
                : sotto_aero_holding_seal(m, &body, PURPOSE, to, NULL, &holdings[i], scratch, err));
    }
    return sotto_aero_post(&m->base, effects, SOTTO_AERO_KEY, sotto_buf_bytes(&body), err);
}

sotto_status sotto_aero_member_deal(sotto_aero_committee_member *m, sotto_effects *effects,
                                    sotto_err *err)
{
    return for_part(m, deal, effects, err);
}

static sotto_status open_seed(sotto_aero_committee_member *m, sotto_aero_holding *out,
                              uint32_t from, sotto_bytes own, sotto_err *err)
{
    uint8_t seed[SOTTO_AERO_SEED];
    sotto_buf plain = sotto_buf_over(seed, sizeof seed);
    sotto_aead aead = {0};
    sotto_status status = sotto_aero_share_cipher(&aead, m, PURPOSE, from, m->base.self.index, NULL,
                                                  SOTTO_AEAD_OPEN, err);

    if (status == SOTTO_OK)
        status = sotto_aead_open(&aead, &plain, NONCE, (sotto_bytes){NULL, 0}, own, err);
    if (status == SOTTO_OK)
        status = sotto_aero_share_of_seed(&m->base.plan->aero, &out->share, seed, err);
    sotto_aead_clear(&aead);
    sotto_wipe(seed, sizeof seed);
    return status;
}

static sotto_status open_share(sotto_aero_committee_member *m, sotto_aero_holding *out,
                               uint32_t from, sotto_bytes own, sotto_arena *scratch, sotto_err *err)
{
    const sotto_aero_plan *plan = m->base.plan;
    const uint32_t dealer =
        (uint32_t)sotto_aero_committee_place(plan, from) % plan->terms.committee;
    const bool is_seed = sotto_aero_is_seeded(&plan->terms, dealer, m->place);
    const size_t each =
        is_seed ? (size_t)SOTTO_AERO_SEALED_SEED : sotto_aero_sealed_share_size(plan);

    /* A server that shows a member the excerpt for others keeps it from opening anything. */
    if (SOTTO_RULE(aero_shares_there) && own.len != each)
        return sotto_fail(err, SOTTO_MALFORMED, "aero: a part of the key without its shares");
    own = sotto_bytes_of(own.data, each);
    return is_seed ? open_seed(m, out, from, own, err)
                   : sotto_aero_holding_unseal(m, out, PURPOSE, from, NULL, own, scratch, err);
}

sotto_status sotto_aero_member_take(sotto_aero_committee_member *m, uint32_t dealer,
                                    sotto_bytes own, sotto_err *err)
{
    const int from = sotto_aero_committee_place(m->base.plan, dealer);
    sotto_arena scratch;

    /* Other committees have other keys. */
    if (from < 0 || sotto_aero_committee_of_place(m->base.plan, (uint32_t)from) != m->committee)
        return SOTTO_OK;
    sotto_arena_init(&scratch, SOTTO_AERO_SCRATCH);
    sotto_aero_holding *one = sotto_arena_take(&scratch, sizeof *one);
    sotto_status status = one ? open_share(m, one, dealer, own, &scratch, NULL) : SOTTO_NO_MEMORY;
    if (status == SOTTO_OK) {
        sotto_aero_share_add(&m->base.plan->aero, &m->share, &one->share);
        sotto_aero_pads_add(&m->base.plan->aero, &m->pads, &one->pads);
    }
    sotto_arena_clear(&scratch);
    if (status == SOTTO_NO_MEMORY)
        return sotto_aero_no_memory(err);
    if (status != SOTTO_OK)
        m->lacks = true; /* the dealer lied: the sum opens without this member or not at all */
    return SOTTO_OK;
}
