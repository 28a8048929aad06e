#include "chamber.h"

#include "base/arena.h"

#include <string.h>

static chamber the_chamber;

/* ---- set-up ---------------------------------------------------------------------------------------------------------- */

static void make_keys(sotto_test *t, chamber *h)
{
    uint8_t(*keys)[32] = sotto_arena_take_array(&t->arena, REGISTERED, sizeof *keys);
    uint8_t(*pair)[32] = sotto_arena_take_array(&t->arena, REGISTERED, sizeof *pair);
    uint8_t(*channel)[32] = sotto_arena_take_array(&t->arena, REGISTERED, sizeof *channel);

    CHECK(t, keys && pair && channel);
    for (uint8_t i = 0; i < REGISTERED; i++) {
        const uint8_t sign[SOTTO_SIGN_SEED] = {1, i}, agree[32] = {64, i, 2};

        CHECK_OK(t, sotto_signer_init(&h->signers[i], sign, &t->err));
        CHECK_OK(t, sotto_dh_init(&h->channels[i], sotto_kem_find(SOTTO_KEM_X25519),
                                  sotto_bytes_of(agree, sizeof agree), &t->err));
        memcpy(keys[i], h->signers[i].public_key, 32);
        memcpy(channel[i], h->channels[i].public_key, 32);
        pair[i][0] = (uint8_t)(9 + i);
        memset(h->seeds[i], 7 + i, sizeof h->seeds[i]);
    }
    h->e.registry = (sotto_registry){.keys = (const uint8_t(*)[32])keys,
                                     .pair = (const uint8_t(*)[32])pair,
                                     .channel = (const uint8_t(*)[32])channel,
                                     .count = REGISTERED};
}

void chamber_call(sotto_test *t, chamber *h, const sotto_decryptors_record *old,
                  const sotto_epoch *before)
{
    sotto_keygen k = {
        .epoch = h->e.number,
        .count = MEMBERS,
        .step_ms = 1000,
        .ends = 1000000,
        .posting = {.registry = h->e.registry, .part_count = h->e.part_count, .parts = h->e.parts}};
    sotto_buf record, wire;

    memcpy(k.session, h->e.session, sizeof k.session);
    memcpy(k.beacon, h->e.beacon, sizeof k.beacon);
    if (old) {
        CHECK_OK(t, sotto_buf_take(&record, &t->arena, SOTTO_DECRYPTORS_MOST_BYTES, &t->err));
        CHECK_OK(t, sotto_decryptors_encode(&record, old, &t->err));
        k.posting.decryptors = sotto_buf_bytes(&record);
        k.old_parts = before->parts;
        k.old_part_count = before->part_count;
        memcpy(k.old_beacon, before->beacon, sizeof k.old_beacon);
    }
    CHECK_OK(t, sotto_buf_take(&wire, &t->arena, 1 << 16, &t->err));
    CHECK_OK(t, sotto_keygen_encode(&wire, &k, &t->arena, &t->err));
    CHECK_OK(t, sotto_keygen_open(&h->k, sotto_buf_bytes(&wire), &t->arena, &t->err));
    memset(h->seen, 0, sizeof h->seen);
    memset(&h->all, 0, sizeof h->all);
    memset(h->stops, 0, sizeof h->stops);
    h->shown = 0;
}

chamber *chamber_open(sotto_test *t)
{
    chamber *h = &the_chamber;

    memset(h, 0, sizeof *h);
    h->e.number = 3;
    h->e.session[0] = 1;
    make_keys(t, h);
    CHECK_OK(t, sotto_epoch_witnesses(&h->e, WITNESSES, &t->arena, &t->err));
    CHECK_OK(t, sotto_epoch_beacon(&h->e, &t->arena, &t->err));
    chamber_call(t, h, NULL, NULL);
    return h;
}

void chamber_close(chamber *h)
{
    for (size_t i = 0; i < REGISTERED; i++) {
        sotto_signer_clear(&h->signers[i]);
        sotto_dh_clear(&h->channels[i]);
    }
}

/* ---- steps ----------------------------------------------------------------------------------------------------------- */

static sotto_keygen_self self_of(chamber *h, uint32_t index)
{
    return (sotto_keygen_self){.index = index,
                               .seed = h->seeds[index],
                               .share = h->k.hands_on ? h->shares[index] : NULL,
                               .channel = &h->channels[index]};
}

static sotto_status write_body(sotto_test *t, chamber *h, uint32_t index, unsigned step,
                               sotto_buf *body, uint8_t share[32])
{
    const sotto_keygen_self self = self_of(h, index);
    uint8_t digest[32];

    if (step != SOTTO_KEYGEN_RECORD)
        return sotto_keygen_write(&h->k, &self, step, &h->seen[index], body, &t->arena, NULL);
    SOTTO_TRY(
        sotto_keygen_finish(&h->k, &self, &h->seen[index], &h->record, share, &t->arena, NULL));
    sotto_decryptors_digest(&h->record, digest);
    CHECK_OK(t, sotto_decryptors_sign(digest, body->data, &h->signers[index], &t->err));
    body->len = SOTTO_SIGNATURE;
    return SOTTO_OK;
}

static void spread(sotto_test *t, chamber *h, uint32_t index, sotto_keygen_post *post)
{
    sotto_keygen_post read;
    sotto_buf wire;

    CHECK_OK(t, sotto_keygen_post_sign(&h->k, post, &h->signers[index], &t->err));
    CHECK_OK(t, sotto_buf_take(&wire, &t->arena, SOTTO_KEYGEN_MOST_POST, &t->err));
    CHECK_OK(t, sotto_keygen_post_encode(&wire, post, &t->err));
    CHECK_OK(t, sotto_keygen_post_decode(&read, sotto_buf_bytes(&wire), &t->err));
    CHECK_OK(t, sotto_keygen_post_check(&h->k, &read, &t->err));
    sotto_keygen_board_put(&h->all, &read);
    for (uint32_t to = 0; to < REGISTERED; to++)
        if (to == index || !h->hides || !h->hides(h, post->place, post->step, to))
            sotto_keygen_board_put(&h->seen[to], &read);
}

void chamber_step(sotto_test *t, chamber *h, unsigned step)
{
    uint8_t shares[REGISTERED][32] = {{0}};
    const uint32_t *indices;
    const uint32_t count = sotto_keygen_senders(&h->k, step, &indices);
    sotto_keygen_post posts[MEMBERS] = {{0}};

    for (uint32_t i = 0; i < count; i++) {
        sotto_buf body;

        CHECK_OK(t, sotto_buf_take(&body, &t->arena, SOTTO_KEYGEN_MOST_BODY, &t->err));
        const sotto_status status = write_body(t, h, indices[i], step, &body, shares[indices[i]]);
        CHECK(t, status == SOTTO_OK || status == SOTTO_DENIED);
        h->stops[indices[i]] = h->stops[indices[i]] || status != SOTTO_OK;
        if (status == SOTTO_OK && h->lies)
            h->lies(h, i, step, &body);
        if (status == SOTTO_OK)
            posts[i] =
                (sotto_keygen_post){.step = step, .place = i, .body = sotto_buf_bytes(&body)};
        if (status == SOTTO_OK && step == SOTTO_KEYGEN_SHOW)
            h->shown += body.len > 2;
    }
    for (uint32_t i = 0; i < count; i++)
        if (posts[i].step)
            spread(t, h, indices[i], &posts[i]);
    if (step == SOTTO_KEYGEN_RECORD)
        memcpy(h->shares, shares, sizeof h->shares);
}

void chamber_run(sotto_test *t, chamber *h, unsigned last)
{
    for (unsigned step = SOTTO_KEYGEN_DEAL; step <= last; step = sotto_keygen_next(&h->k, step))
        chamber_step(t, h, step);
}

unsigned chamber_stopped(const chamber *h)
{
    unsigned count = 0;

    for (size_t i = 0; i < REGISTERED; i++)
        count += h->stops[i];
    return count;
}

void chamber_check_key(sotto_test *t, chamber *h, const uint32_t places[THRESHOLD])
{
    sotto_decryptors_record r;
    sotto_decryptors d;
    sotto_scalar weights[THRESHOLD], share, sum, product;
    uint8_t key[SOTTO_P256_WIDE];
    uint32_t xs[THRESHOLD];

    CHECK_OK(t, sotto_keygen_record(&h->k, &h->all, &r, &t->arena, &t->err));
    CHECK_OK(t, sotto_decryptors_open(&d, &r, &h->e.registry, h->e.beacon, &t->arena, &t->err));
    sotto_group *g = &d.tdh2.group;
    for (size_t i = 0; i < THRESHOLD; i++)
        xs[i] = places[i] + 1;
    sotto_scalar_weights_vartime(g, weights, xs, THRESHOLD);
    sotto_scalar_set(g, &sum, 0);
    for (size_t i = 0; i < THRESHOLD; i++) {
        CHECK(t, sotto_scalar_decode(g, &share, h->shares[r.members[places[i]]]));
        sotto_point_multiply(g, d.tdh2.at[0], &share, NULL);
        CHECK(t, sotto_point_encode_wide(g, key, d.tdh2.at[0]));
        CHECK(t, memcmp(key, r.verify[places[i]], sizeof key) == 0);
        sotto_scalar_multiply(g, &product, &weights[i], &share);
        sotto_scalar_add(g, &sum, &sum, &product);
    }
    sotto_point_multiply(g, d.tdh2.at[0], &sum, NULL);
    CHECK(t, sotto_point_encode_wide(g, key, d.tdh2.at[0]));
    CHECK(t, memcmp(key, r.key, sizeof key) == 0);
    memcpy(h->record.key, key, sizeof key);
    sotto_decryptors_close(&d);
}
