/* A committee that meets on a board: its key is made, and handed on, whoever lies and whatever the server hides. */
#include "aggregate/keygen/keygen.h"
#include "base/arena.h"
#include "support/epoch.h"
#include "support/test.h"

#include <string.h>

enum { REGISTERED = 9, MEMBERS = 7, THRESHOLD = 3, QUORUM = 5, WITNESSES = 4 };

typedef struct hall {
    sotto_epoch e;
    sotto_signer signers[REGISTERED];
    sotto_dh channels[REGISTERED];
    uint8_t seeds[REGISTERED][32], shares[REGISTERED][32];
    sotto_keygen k;
    sotto_decryptors_record record;           /* as the last who finished has it */
    sotto_keygen_board seen[REGISTERED], all; /* all: what was posted */
    bool stops[REGISTERED];                   /* by registry index: it said SOTTO_DENIED */
    unsigned shown;                           /* values in SHOW */
    /* What the server hides of a post from a member, and what a liar makes of its own. */
    bool (*hides)(const struct hall *h, uint32_t from, unsigned step, uint32_t to);
    void (*lies)(struct hall *h, uint32_t place, unsigned step, sotto_buf *body);
} hall;

static hall the_hall;

/* ---- set-up ---------------------------------------------------------------------------------------------------------- */

static void make_keys(sotto_test *t, hall *h)
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

/* A call of this epoch; old: NULL, or whose key is handed on, with the beacon that drew them. */
static void call(sotto_test *t, hall *h, const sotto_decryptors_record *old,
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

static hall *open_hall(sotto_test *t)
{
    hall *h = &the_hall;

    memset(h, 0, sizeof *h);
    h->e.number = 3;
    h->e.session[0] = 1;
    make_keys(t, h);
    CHECK_OK(t, sotto_epoch_witnesses(&h->e, WITNESSES, &t->arena, &t->err));
    CHECK_OK(t, sotto_epoch_beacon(&h->e, &t->arena, &t->err));
    call(t, h, NULL, NULL);
    return h;
}

static void close_hall(hall *h)
{
    for (size_t i = 0; i < REGISTERED; i++) {
        sotto_signer_clear(&h->signers[i]);
        sotto_dh_clear(&h->channels[i]);
    }
}

/* ---- steps ----------------------------------------------------------------------------------------------------------- */

static sotto_keygen_self self_of(hall *h, uint32_t index)
{
    return (sotto_keygen_self){.index = index,
                               .seed = h->seeds[index],
                               .share = h->k.hands_on ? h->shares[index] : NULL,
                               .channel = &h->channels[index]};
}

static sotto_status write_body(sotto_test *t, hall *h, uint32_t index, unsigned step,
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

static void spread(sotto_test *t, hall *h, uint32_t index, sotto_keygen_post *post)
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

static void run_step(sotto_test *t, hall *h, unsigned step)
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

static void run(sotto_test *t, hall *h, unsigned last)
{
    for (unsigned step = SOTTO_KEYGEN_DEAL; step <= last; step = sotto_keygen_next(&h->k, step))
        run_step(t, h, step);
}

static unsigned stopped(const hall *h)
{
    unsigned count = 0;

    for (size_t i = 0; i < REGISTERED; i++)
        count += h->stops[i];
    return count;
}

/* The record is valid, and the shares at these three places are the key's. */
static void check_key(sotto_test *t, hall *h, const uint32_t places[THRESHOLD])
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

static const uint32_t SOME[THRESHOLD] = {0, 2, 6}, OTHERS[THRESHOLD] = {1, 4, 5};

/* ---- as it should be --------------------------------------------------------------------------------------------------- */

static void members_that_meet_make_a_key(sotto_test *t)
{
    hall *h = open_hall(t);

    run(t, h, SOTTO_KEYGEN_RECORD);
    CHECK_EQUAL(t, 0, stopped(h));
    CHECK_EQUAL(t, 0, h->shown);
    check_key(t, h, SOME);
    check_key(t, h, OTHERS);
    close_hall(h);
}

static void record_waits_for_a_quorum(sotto_test *t)
{
    hall *h = open_hall(t);
    sotto_decryptors_record r;

    run(t, h, SOTTO_KEYGEN_SHOW);
    CHECK_STATUS(t, SOTTO_AGAIN, sotto_keygen_record(&h->k, &h->all, &r, &t->arena, &t->err));
    run_step(t, h, SOTTO_KEYGEN_RECORD);
    /* A signature on something else does not count. */
    for (uint32_t i = 0; i < MEMBERS - QUORUM; i++)
        h->all.body[SOTTO_KEYGEN_RECORD][i] = h->all.body[SOTTO_KEYGEN_RECORD][6];
    CHECK_OK(t, sotto_keygen_record(&h->k, &h->all, &r, &t->arena, &t->err));
    CHECK(t, !r.is_signed[0] && !r.is_signed[1] && r.is_signed[2]);
    h->all.is_there[SOTTO_KEYGEN_RECORD][4] = false;
    t->err.status = SOTTO_OK;
    CHECK_STATUS(t, SOTTO_AGAIN, sotto_keygen_record(&h->k, &h->all, &r, &t->arena, &t->err));
    close_hall(h);
}

/* ---- liars ---------------------------------------------------------------------------------------------------------------- */

/* The dealer at place 0 seals something else to the member at place 1. */
static void garbage_for_one(hall *h, uint32_t place, unsigned step, sotto_buf *body)
{
    (void)h;
    if (step == SOTTO_KEYGEN_DEAL && place == 0)
        body->data[body->len - (MEMBERS - 1) * SOTTO_KEYGEN_SEALED] ^= 1;
}

static void garbage_and_no_answer(hall *h, uint32_t place, unsigned step, sotto_buf *body)
{
    garbage_for_one(h, place, step, body);
    if (step == SOTTO_KEYGEN_ANSWER && place == 0) {
        body->data[1] = 0;
        body->len = 2;
    }
}

static void a_complaint_is_answered_in_the_open(sotto_test *t)
{
    hall *h = open_hall(t);
    static const uint32_t with_it[THRESHOLD] = {0, 1, 3};

    h->lies = garbage_for_one;
    run(t, h, SOTTO_KEYGEN_RECORD);
    CHECK_EQUAL(t, 0, stopped(h));
    CHECK_EQUAL(t, 2 + 66, h->all.body[SOTTO_KEYGEN_ANSWER][0].len);
    CHECK_EQUAL(t, 2 + THRESHOLD * SOTTO_P256_WIDE, h->all.body[SOTTO_KEYGEN_REVEAL][0].len);
    check_key(t, h, with_it);
    close_hall(h);
}

static void a_dealer_that_does_not_answer_is_out(sotto_test *t)
{
    hall *h = open_hall(t);

    h->lies = garbage_and_no_answer;
    run(t, h, SOTTO_KEYGEN_RECORD);
    CHECK_EQUAL(t, 0, stopped(h));
    CHECK_EQUAL(t, 2, h->all.body[SOTTO_KEYGEN_REVEAL][0].len);
    check_key(t, h, SOME);
    close_hall(h);
}

/* Three members complain about the dealer at place 0, who did nothing wrong. */
static void three_complain(hall *h, uint32_t place, unsigned step, sotto_buf *body)
{
    static const uint8_t one[] = {0, 1, 0, 0};

    (void)h;
    if (step != SOTTO_KEYGEN_COMPLAIN || place < 4)
        return;
    memcpy(body->data, one, sizeof one);
    body->len = sizeof one;
}

static void so_many_answers_are_not_given(sotto_test *t)
{
    hall *h = open_hall(t);

    h->lies = three_complain;
    run(t, h, SOTTO_KEYGEN_ANSWER);
    CHECK(t, h->stops[h->k.members[0]]);
    CHECK_EQUAL(t, 1, stopped(h));
    close_hall(h);
}

/* The dealer at place 0 reveals another constant term. */
static void other_reveal(hall *h, uint32_t place, unsigned step, sotto_buf *body)
{
    (void)h;
    if (step == SOTTO_KEYGEN_REVEAL && place == 0)
        memcpy(body->data + 2, body->data + 2 + SOTTO_P256_WIDE, SOTTO_P256_WIDE);
}

static bool hide_one_reveal(const hall *h, uint32_t from, unsigned step, uint32_t to)
{
    (void)h;
    (void)to;
    return step == SOTTO_KEYGEN_REVEAL && from == 0;
}

static void whoever_reveals_something_else_or_nothing_changes_nothing(sotto_test *t)
{
    hall *h = open_hall(t);
    uint8_t key[SOTTO_P256_WIDE];

    run(t, h, SOTTO_KEYGEN_RECORD);
    check_key(t, h, SOME);
    memcpy(key, h->record.key, sizeof key);
    for (unsigned i = 0; i < 2; i++) {
        call(t, h, NULL, NULL);
        h->lies = i == 0 ? other_reveal : NULL;
        h->hides = i == 1 ? hide_one_reveal : NULL;
        run(t, h, SOTTO_KEYGEN_RECORD);
        CHECK_EQUAL(t, 0, stopped(h));
        CHECK_EQUAL(t, MEMBERS - i, h->shown); /* who was hidden from the others sees its own */
        if (i == 1)
            h->all.is_there[SOTTO_KEYGEN_REVEAL][0] =
                false; /* the server's own board, as it shows it */
        check_key(t, h, OTHERS);
        CHECK(t, memcmp(key, h->record.key, sizeof key) == 0);
    }
    close_hall(h);
}

/* ---- what the server hides --------------------------------------------------------------------------------------------------- */

static bool hide_three_deals(const hall *h, uint32_t from, unsigned step, uint32_t to)
{
    (void)h;
    (void)to;
    return step == SOTTO_KEYGEN_DEAL && from < 3;
}

static void a_key_of_few_dealers_is_not_made(sotto_test *t)
{
    hall *h = open_hall(t);

    h->hides = hide_three_deals;
    run(t, h, SOTTO_KEYGEN_AGREE);
    /* The three see their own deal, and so another set; the others do not go on with four. */
    for (uint32_t i = 3; i < MEMBERS; i++)
        CHECK(t, h->stops[h->k.members[i]]);
    close_hall(h);
}

static bool hide_agreement(const hall *h, uint32_t from, unsigned step, uint32_t to)
{
    (void)h;
    (void)to;
    return step == SOTTO_KEYGEN_AGREE && from >= QUORUM - 2;
}

static void nobody_reveals_before_a_quorum_agrees(sotto_test *t)
{
    hall *h = open_hall(t);

    h->hides = hide_agreement;
    run(t, h, SOTTO_KEYGEN_REVEAL);
    CHECK_EQUAL(t, MEMBERS, stopped(h));
    close_hall(h);
}

static bool hide_three_reveals(const hall *h, uint32_t from, unsigned step, uint32_t to)
{
    (void)h;
    (void)to;
    return step == SOTTO_KEYGEN_REVEAL && from < 3;
}

static void nobody_shows_values_of_many_dealers(sotto_test *t)
{
    hall *h = open_hall(t);

    h->hides = hide_three_reveals;
    run(t, h, SOTTO_KEYGEN_VOTE);
    /* Each of the three knows its own reveal: let everybody see the same three missing. */
    for (uint32_t i = 0; i < 3; i++)
        h->seen[h->k.members[i]] = h->seen[h->k.members[6]];
    for (uint32_t i = 0; i < REGISTERED; i++)
        for (uint32_t m = 0; m < 3; m++)
            h->seen[i].body[SOTTO_KEYGEN_VOTE][m] = h->all.body[SOTTO_KEYGEN_VOTE][6];
    run_step(t, h, SOTTO_KEYGEN_SHOW);
    CHECK_EQUAL(t, 0, h->shown);
    CHECK_EQUAL(t, MEMBERS, stopped(h));
    close_hall(h);
}

/* From each member the reveal of another dealer. */
static bool hide_another_reveal(const hall *h, uint32_t from, unsigned step, uint32_t to)
{
    const int place = sotto_keygen_place(&h->k, SOTTO_KEYGEN_AGREE, to);

    return step == SOTTO_KEYGEN_REVEAL && place >= 0 && ((uint32_t)place + 1) % MEMBERS == from;
}

static void nobody_shows_values_without_a_vote(sotto_test *t)
{
    hall *h = open_hall(t);

    h->hides = hide_another_reveal;
    run(t, h, SOTTO_KEYGEN_SHOW);
    CHECK_EQUAL(t, 0, h->shown);
    CHECK_EQUAL(t, MEMBERS, stopped(h));
    close_hall(h);
}

/* ---- what is on the wire ------------------------------------------------------------------------------------------------------ */

static void posts_are_of_who_signed_them(sotto_test *t)
{
    static const uint8_t empty[2] = {0, 0};
    hall *h = open_hall(t);
    sotto_keygen_post p = {
        .step = SOTTO_KEYGEN_COMPLAIN, .place = 2, .body = sotto_bytes_of(empty, sizeof empty)};

    CHECK_OK(t, sotto_keygen_post_sign(&h->k, &p, &h->signers[h->k.members[2]], &t->err));
    CHECK_OK(t, sotto_keygen_post_check(&h->k, &p, &t->err));
    p.place = 3;
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_keygen_post_check(&h->k, &p, NULL));
    p.place = 2;
    p.step = SOTTO_KEYGEN_VOTE;
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_keygen_post_check(&h->k, &p, NULL));
    p.step = SOTTO_KEYGEN_COMPLAIN;
    h->k.id[0] ^= 1;
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_keygen_post_check(&h->k, &p, NULL));
    h->k.id[0] ^= 1;
    p.place = MEMBERS;
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_keygen_post_check(&h->k, &p, NULL));
    close_hall(h);
}

static void bodies_keep_to_their_form(sotto_test *t)
{
    static const uint8_t descends[] = {0, 2, 0, 3, 0, 1}, beyond[] = {0, 1, 0, MEMBERS},
                         cut[] = {0, 2, 0, 1};
    const sotto_bytes bodies[] = {sotto_bytes_of(descends, sizeof descends),
                                  sotto_bytes_of(beyond, sizeof beyond),
                                  sotto_bytes_of(cut, sizeof cut)};
    hall *h = open_hall(t);

    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++)
        for (unsigned step = SOTTO_KEYGEN_DEAL; step < SOTTO_KEYGEN_OVER; step++) {
            const sotto_keygen_post p = {.step = step, .body = bodies[i]};

            CHECK_STATUS(t, SOTTO_MALFORMED, sotto_keygen_post_check(&h->k, &p, NULL));
        }
    close_hall(h);
}

static void the_beacon_draws_the_committee(sotto_test *t)
{
    hall *h = open_hall(t);
    const uint8_t(*witnesses)[SOTTO_P256_WIDE] =
        (const uint8_t(*)[SOTTO_P256_WIDE])h->e.witnesses.verify;

    CHECK_OK(t, sotto_keygen_verify(&h->k, witnesses, WITNESSES, &t->arena, &t->err));
    h->k.beacon[0] ^= 1;
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_keygen_verify(&h->k, witnesses, WITNESSES, &t->arena, NULL));
    close_hall(h);
}

/* ---- handing on ------------------------------------------------------------------------------------------------------------------ */

/* A key is made, and a call of the next epoch is open. */
static hall *open_next(sotto_test *t, sotto_decryptors_record *old, sotto_epoch *before)
{
    hall *h = open_hall(t);

    run(t, h, SOTTO_KEYGEN_RECORD);
    CHECK_OK(t, sotto_keygen_record(&h->k, &h->all, old, &t->arena, &t->err));
    *before = h->e;
    h->e.number++;
    CHECK_OK(t, sotto_epoch_beacon(&h->e, &t->arena, &t->err));
    for (uint8_t i = 0; i < REGISTERED; i++)
        memset(h->seeds[i], 77 + i, sizeof h->seeds[i]);
    call(t, h, old, before);
    return h;
}

static void a_key_is_handed_on(sotto_test *t)
{
    sotto_decryptors_record old;
    sotto_epoch before;
    hall *h = open_next(t, &old, &before);
    uint8_t earlier[REGISTERED][32];
    const uint8_t(*witnesses)[SOTTO_P256_WIDE] =
        (const uint8_t(*)[SOTTO_P256_WIDE])h->e.witnesses.verify;

    memcpy(earlier, h->shares, sizeof earlier);
    CHECK_OK(t, sotto_keygen_verify(&h->k, witnesses, WITNESSES, &t->arena, &t->err));
    run(t, h, SOTTO_KEYGEN_RECORD);
    CHECK_EQUAL(t, 0, stopped(h));
    check_key(t, h, SOME);
    CHECK(t, memcmp(h->record.key, old.key, sizeof old.key) == 0);
    for (uint32_t i = 0; i < MEMBERS; i++)
        CHECK(t, memcmp(h->shares[h->k.members[i]], earlier[h->k.members[i]], 32) != 0);
    close_hall(h);
}

static void the_committee_before_is_the_beacons(sotto_test *t)
{
    sotto_decryptors_record old;
    sotto_epoch before;
    hall *h = open_next(t, &old, &before);
    const uint8_t(*witnesses)[SOTTO_P256_WIDE] =
        (const uint8_t(*)[SOTTO_P256_WIDE])h->e.witnesses.verify;

    h->k.old_parts[0].bytes[70] ^= 1;
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_keygen_verify(&h->k, witnesses, WITNESSES, &t->arena, NULL));
    h->k.old_parts[0].bytes[70] ^= 1;
    h->k.old.is_signed[0] = h->k.old.is_signed[1] = h->k.old.is_signed[2] = false;
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_keygen_verify(&h->k, witnesses, WITNESSES, &t->arena, NULL));
    close_hall(h);
}

static void whoever_hands_on_something_else_is_passed_over(sotto_test *t)
{
    sotto_decryptors_record old;
    sotto_epoch before;
    hall *h = open_next(t, &old, &before);

    /* One has another share, one seals garbage and does not answer. */
    memset(h->shares[h->k.dealer[1]], 5, 32);
    h->lies = garbage_and_no_answer;
    run(t, h, SOTTO_KEYGEN_RECORD);
    CHECK_EQUAL(t, 0, stopped(h));
    check_key(t, h, OTHERS);
    CHECK(t, memcmp(h->record.key, old.key, sizeof old.key) == 0);
    close_hall(h);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(members_that_meet_make_a_key),
        CASE(record_waits_for_a_quorum),
        CASE(a_complaint_is_answered_in_the_open),
        CASE(a_dealer_that_does_not_answer_is_out),
        CASE(so_many_answers_are_not_given),
        CASE(whoever_reveals_something_else_or_nothing_changes_nothing),
        CASE(a_key_of_few_dealers_is_not_made),
        CASE(nobody_reveals_before_a_quorum_agrees),
        CASE(nobody_shows_values_of_many_dealers),
        CASE(nobody_shows_values_without_a_vote),
        CASE(posts_are_of_who_signed_them),
        CASE(bodies_keep_to_their_form),
        CASE(the_beacon_draws_the_committee),
        CASE(a_key_is_handed_on),
        CASE(the_committee_before_is_the_beacons),
        CASE(whoever_hands_on_something_else_is_passed_over),
    };

    return RUN_TESTS(argc, argv, cases);
}
