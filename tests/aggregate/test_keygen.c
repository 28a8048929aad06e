/* A committee that meets on a board: its key is made, and handed on, whoever lies and whatever the server hides. */
#include "chamber.h"

#include "base/arena.h"

#include <string.h>

static const uint32_t SOME[THRESHOLD] = {0, 2, 6}, OTHERS[THRESHOLD] = {1, 4, 5};

/* ---- as it should be --------------------------------------------------------------------------------------------------- */

static void members_that_meet_make_a_key(sotto_test *t)
{
    chamber *h = chamber_open(t);

    chamber_run(t, h, SOTTO_KEYGEN_RECORD);
    CHECK_EQUAL(t, 0, chamber_stopped(h));
    CHECK_EQUAL(t, 0, h->shown);
    chamber_check_key(t, h, SOME);
    chamber_check_key(t, h, OTHERS);
    chamber_close(h);
}

static void record_waits_for_a_quorum(sotto_test *t)
{
    chamber *h = chamber_open(t);
    sotto_decryptors_record r;

    chamber_run(t, h, SOTTO_KEYGEN_SHOW);
    CHECK_STATUS(t, SOTTO_AGAIN, sotto_keygen_record(&h->k, &h->all, &r, &t->arena, &t->err));
    chamber_step(t, h, SOTTO_KEYGEN_RECORD);
    /* A signature on something else does not count. */
    for (uint32_t i = 0; i < MEMBERS - QUORUM; i++)
        h->all.body[SOTTO_KEYGEN_RECORD][i] = h->all.body[SOTTO_KEYGEN_RECORD][6];
    CHECK_OK(t, sotto_keygen_record(&h->k, &h->all, &r, &t->arena, &t->err));
    CHECK(t, !r.is_signed[0] && !r.is_signed[1] && r.is_signed[2]);
    h->all.is_there[SOTTO_KEYGEN_RECORD][4] = false;
    t->err.status = SOTTO_OK;
    CHECK_STATUS(t, SOTTO_AGAIN, sotto_keygen_record(&h->k, &h->all, &r, &t->arena, &t->err));
    chamber_close(h);
}

/* ---- liars ---------------------------------------------------------------------------------------------------------------- */

/* The dealer at place 0 seals something else to the member at place 1. */
static void garbage_for_one(chamber *h, uint32_t place, unsigned step, sotto_buf *body)
{
    (void)h;
    if (step == SOTTO_KEYGEN_DEAL && place == 0)
        body->data[body->len - (MEMBERS - 1) * SOTTO_KEYGEN_SEALED] ^= 1;
}

static void garbage_and_no_answer(chamber *h, uint32_t place, unsigned step, sotto_buf *body)
{
    garbage_for_one(h, place, step, body);
    if (step == SOTTO_KEYGEN_ANSWER && place == 0) {
        body->data[1] = 0;
        body->len = 2;
    }
}

/* Nobody complained: the dealer at place 0 "answers" everybody with ones. */
static void answers_unasked(chamber *h, uint32_t place, unsigned step, sotto_buf *body)
{
    uint8_t values[2 * SOTTO_P256_SCALAR];

    (void)h;
    if (step != SOTTO_KEYGEN_ANSWER || place != 0)
        return;
    memset(values, 1, sizeof values);
    body->len = 0;
    sotto_writer w = sotto_writer_on(body);
    sotto_write_uint(&w, MEMBERS, 2);
    for (unsigned i = 0; i < MEMBERS; i++) {
        sotto_write_uint(&w, i, 2);
        sotto_write_bytes(&w, sotto_bytes_of(values, sizeof values));
    }
}

static void an_answer_that_nobody_asked_for_changes_nothing(sotto_test *t)
{
    chamber *h = chamber_open(t);

    h->lies = answers_unasked;
    chamber_run(t, h, SOTTO_KEYGEN_RECORD);
    CHECK_EQUAL(t, 2 + MEMBERS * 66, h->all.body[SOTTO_KEYGEN_ANSWER][0].len);
    CHECK_EQUAL(t, 0, chamber_stopped(h));
    CHECK_EQUAL(t, 2 + THRESHOLD * SOTTO_P256_WIDE, h->all.body[SOTTO_KEYGEN_REVEAL][0].len);
    chamber_check_key(t, h, SOME);
    chamber_close(h);
}

static void a_complaint_is_answered_in_the_open(sotto_test *t)
{
    chamber *h = chamber_open(t);
    static const uint32_t with_it[THRESHOLD] = {0, 1, 3};

    h->lies = garbage_for_one;
    chamber_run(t, h, SOTTO_KEYGEN_RECORD);
    CHECK_EQUAL(t, 0, chamber_stopped(h));
    CHECK_EQUAL(t, 2 + 66, h->all.body[SOTTO_KEYGEN_ANSWER][0].len);
    CHECK_EQUAL(t, 2 + THRESHOLD * SOTTO_P256_WIDE, h->all.body[SOTTO_KEYGEN_REVEAL][0].len);
    chamber_check_key(t, h, with_it);
    chamber_close(h);
}

static void a_dealer_that_does_not_answer_is_out(sotto_test *t)
{
    chamber *h = chamber_open(t);

    h->lies = garbage_and_no_answer;
    chamber_run(t, h, SOTTO_KEYGEN_RECORD);
    CHECK_EQUAL(t, 0, chamber_stopped(h));
    CHECK_EQUAL(t, 2, h->all.body[SOTTO_KEYGEN_REVEAL][0].len);
    chamber_check_key(t, h, SOME);
    chamber_close(h);
}

/* Three members complain about the dealer at place 0, who did nothing wrong. */
static void three_complain(chamber *h, uint32_t place, unsigned step, sotto_buf *body)
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
    chamber *h = chamber_open(t);

    h->lies = three_complain;
    chamber_run(t, h, SOTTO_KEYGEN_ANSWER);
    CHECK(t, h->stops[h->k.members[0]]);
    CHECK_EQUAL(t, 1, chamber_stopped(h));
    chamber_close(h);
}

/* The dealer at place 0 reveals another constant term. */
static void other_reveal(chamber *h, uint32_t place, unsigned step, sotto_buf *body)
{
    (void)h;
    if (step == SOTTO_KEYGEN_REVEAL && place == 0)
        memcpy(body->data + 2, body->data + 2 + SOTTO_P256_WIDE, SOTTO_P256_WIDE);
}

static bool hide_one_reveal(const chamber *h, uint32_t from, unsigned step, uint32_t to)
{
    (void)h;
    (void)to;
    return step == SOTTO_KEYGEN_REVEAL && from == 0;
}

static void whoever_reveals_something_else_or_nothing_changes_nothing(sotto_test *t)
{
    chamber *h = chamber_open(t);
    uint8_t key[SOTTO_P256_WIDE];

    chamber_run(t, h, SOTTO_KEYGEN_RECORD);
    chamber_check_key(t, h, SOME);
    memcpy(key, h->record.key, sizeof key);
    for (unsigned i = 0; i < 2; i++) {
        chamber_call(t, h, NULL, NULL);
        h->lies = i == 0 ? other_reveal : NULL;
        h->hides = i == 1 ? hide_one_reveal : NULL;
        chamber_run(t, h, SOTTO_KEYGEN_RECORD);
        CHECK_EQUAL(t, 0, chamber_stopped(h));
        CHECK_EQUAL(t, MEMBERS - i, h->shown); /* who was hidden from the others sees its own */
        if (i == 1)
            h->all.is_there[SOTTO_KEYGEN_REVEAL][0] =
                false; /* the server's own board, as it shows it */
        chamber_check_key(t, h, OTHERS);
        CHECK(t, memcmp(key, h->record.key, sizeof key) == 0);
    }
    chamber_close(h);
}

/* ---- what the server hides --------------------------------------------------------------------------------------------------- */

static bool hide_three_deals(const chamber *h, uint32_t from, unsigned step, uint32_t to)
{
    (void)h;
    (void)to;
    return step == SOTTO_KEYGEN_DEAL && from < 3;
}

static void a_key_of_few_dealers_is_not_made(sotto_test *t)
{
    chamber *h = chamber_open(t);

    h->hides = hide_three_deals;
    chamber_run(t, h, SOTTO_KEYGEN_AGREE);
    /* The three see their own deal, and so another set; the others do not go on with four. */
    for (uint32_t i = 3; i < MEMBERS; i++)
        CHECK(t, h->stops[h->k.members[i]]);
    chamber_close(h);
}

static bool hide_agreement(const chamber *h, uint32_t from, unsigned step, uint32_t to)
{
    (void)h;
    (void)to;
    return step == SOTTO_KEYGEN_AGREE && from >= QUORUM - 2;
}

static void nobody_reveals_before_a_quorum_agrees(sotto_test *t)
{
    chamber *h = chamber_open(t);

    h->hides = hide_agreement;
    chamber_run(t, h, SOTTO_KEYGEN_REVEAL);
    CHECK_EQUAL(t, MEMBERS, chamber_stopped(h));
    chamber_close(h);
}

static bool hide_three_reveals(const chamber *h, uint32_t from, unsigned step, uint32_t to)
{
    (void)h;
    (void)to;
    return step == SOTTO_KEYGEN_REVEAL && from < 3;
}

static void nobody_shows_values_of_many_dealers(sotto_test *t)
{
    chamber *h = chamber_open(t);

    h->hides = hide_three_reveals;
    chamber_run(t, h, SOTTO_KEYGEN_VOTE);
    /* Each of the three knows its own reveal: let everybody see the same three missing. */
    for (uint32_t i = 0; i < 3; i++)
        h->seen[h->k.members[i]] = h->seen[h->k.members[6]];
    for (uint32_t i = 0; i < REGISTERED; i++)
        for (uint32_t m = 0; m < 3; m++)
            h->seen[i].body[SOTTO_KEYGEN_VOTE][m] = h->all.body[SOTTO_KEYGEN_VOTE][6];
    chamber_step(t, h, SOTTO_KEYGEN_SHOW);
    CHECK_EQUAL(t, 0, h->shown);
    for (uint32_t m = 0; m < MEMBERS; m++) /* an accusation shows values, too */
        CHECK_EQUAL(t, 2, h->all.body[SOTTO_KEYGEN_ACCUSE][m].len);
    CHECK_EQUAL(t, MEMBERS, chamber_stopped(h));
    chamber_close(h);
}

/* From each member the reveal of another dealer. */
static bool hide_another_reveal(const chamber *h, uint32_t from, unsigned step, uint32_t to)
{
    const int place = sotto_keygen_place(&h->k, SOTTO_KEYGEN_AGREE, to);

    return step == SOTTO_KEYGEN_REVEAL && place >= 0 && ((uint32_t)place + 1) % MEMBERS == from;
}

static void nobody_shows_values_without_a_vote(sotto_test *t)
{
    chamber *h = chamber_open(t);

    h->hides = hide_another_reveal;
    chamber_run(t, h, SOTTO_KEYGEN_SHOW);
    CHECK_EQUAL(t, 0, h->shown);
    CHECK_EQUAL(t, MEMBERS, chamber_stopped(h));
    chamber_close(h);
}

/* ---- who is drawn ------------------------------------------------------------------------------------------------------------- */

static void the_beacon_draws_the_committee(sotto_test *t)
{
    chamber *h = chamber_open(t);
    const uint8_t(*witnesses)[SOTTO_P256_WIDE] =
        (const uint8_t(*)[SOTTO_P256_WIDE])h->e.witnesses.verify;

    CHECK_OK(t, sotto_keygen_verify(&h->k, witnesses, WITNESSES, &t->arena, &t->err));
    h->k.beacon[0] ^= 1;
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_keygen_verify(&h->k, witnesses, WITNESSES, &t->arena, NULL));
    chamber_close(h);
}

/* ---- handing on ------------------------------------------------------------------------------------------------------------------ */

/* A key is made, and a call of the next epoch is open. */
static chamber *open_next(sotto_test *t, sotto_decryptors_record *old, sotto_epoch *before)
{
    chamber *h = chamber_open(t);

    chamber_run(t, h, SOTTO_KEYGEN_RECORD);
    CHECK_OK(t, sotto_keygen_record(&h->k, &h->all, old, &t->arena, &t->err));
    *before = h->e;
    h->e.number++;
    CHECK_OK(t, sotto_epoch_beacon(&h->e, &t->arena, &t->err));
    for (uint8_t i = 0; i < REGISTERED; i++)
        memset(h->seeds[i], 77 + i, sizeof h->seeds[i]);
    chamber_call(t, h, old, before);
    return h;
}

/* A server that opens a step which hand-overs do not have hears nothing, and keeps no post of it. */
static void check_silent(sotto_test *t, chamber *h, unsigned step)
{
    static const uint8_t empty[2];
    const uint32_t *indices;
    const uint32_t count = sotto_keygen_senders(&h->k, step, &indices);
    sotto_buf body;

    CHECK_OK(t, sotto_buf_take(&body, &t->arena, SOTTO_KEYGEN_MOST_BODY, &t->err));
    for (uint32_t i = 0; i < count; i++) {
        const sotto_keygen_self self = {.index = indices[i],
                                        .seed = h->seeds[indices[i]],
                                        .share = h->shares[indices[i]],
                                        .channel = &h->channels[indices[i]]};

        CHECK_STATUS(
            t, SOTTO_MISSING,
            sotto_keygen_write(&h->k, &self, step, &h->seen[indices[i]], &body, &t->arena, NULL));
        CHECK_EQUAL(t, 0, body.len);
        sotto_keygen_post p = {
            .step = step, .place = i, .body = sotto_bytes_of(empty, sizeof empty)};
        CHECK_OK(t, sotto_keygen_post_sign(&h->k, &p, &h->signers[indices[i]], &t->err));
        CHECK_STATUS(t, SOTTO_MALFORMED, sotto_keygen_post_check(&h->k, &p, NULL));
    }
}

static void a_key_is_handed_on(sotto_test *t)
{
    sotto_decryptors_record old;
    sotto_epoch before;
    chamber *h = open_next(t, &old, &before);
    uint8_t earlier[REGISTERED][32];
    const uint8_t(*witnesses)[SOTTO_P256_WIDE] =
        (const uint8_t(*)[SOTTO_P256_WIDE])h->e.witnesses.verify;

    memcpy(earlier, h->shares, sizeof earlier);
    CHECK_OK(t, sotto_keygen_verify(&h->k, witnesses, WITNESSES, &t->arena, &t->err));
    chamber_run(t, h, SOTTO_KEYGEN_AGREE);
    for (unsigned step = SOTTO_KEYGEN_REVEAL; step < SOTTO_KEYGEN_RECORD; step++)
        check_silent(t, h, step);
    chamber_step(t, h, SOTTO_KEYGEN_RECORD);
    CHECK_EQUAL(t, 0, chamber_stopped(h));
    chamber_check_key(t, h, SOME);
    CHECK(t, memcmp(h->record.key, old.key, sizeof old.key) == 0);
    for (uint32_t i = 0; i < MEMBERS; i++)
        CHECK(t, memcmp(h->shares[h->k.members[i]], earlier[h->k.members[i]], 32) != 0);
    chamber_close(h);
}

static void the_committee_before_is_the_beacons(sotto_test *t)
{
    sotto_decryptors_record old;
    sotto_epoch before;
    chamber *h = open_next(t, &old, &before);
    const uint8_t(*witnesses)[SOTTO_P256_WIDE] =
        (const uint8_t(*)[SOTTO_P256_WIDE])h->e.witnesses.verify;

    h->k.old_parts[0].bytes[70] ^= 1;
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_keygen_verify(&h->k, witnesses, WITNESSES, &t->arena, NULL));
    h->k.old_parts[0].bytes[70] ^= 1;
    h->k.old.is_signed[0] = h->k.old.is_signed[1] = h->k.old.is_signed[2] = false;
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_keygen_verify(&h->k, witnesses, WITNESSES, &t->arena, NULL));
    chamber_close(h);
}

static void whoever_hands_on_something_else_is_passed_over(sotto_test *t)
{
    sotto_decryptors_record old;
    sotto_epoch before;
    chamber *h = open_next(t, &old, &before);

    /* One has another share, one seals garbage and does not answer. */
    memset(h->shares[h->k.dealer[1]], 5, 32);
    h->lies = garbage_and_no_answer;
    chamber_run(t, h, SOTTO_KEYGEN_RECORD);
    CHECK_EQUAL(t, 0, chamber_stopped(h));
    chamber_check_key(t, h, OTHERS);
    CHECK(t, memcmp(h->record.key, old.key, sizeof old.key) == 0);
    chamber_close(h);
}

static bool hide_most_deals(const chamber *h, uint32_t from, unsigned step, uint32_t to)
{
    (void)h;
    (void)to;
    return step == SOTTO_KEYGEN_DEAL && from > 0;
}

/* Each sees two deals at most, of three that make the key. */
static void a_key_of_few_shares_is_not_handed_on(sotto_test *t)
{
    sotto_decryptors_record old;
    sotto_epoch before;
    chamber *h = open_next(t, &old, &before);

    h->hides = hide_most_deals;
    chamber_run(t, h, SOTTO_KEYGEN_AGREE);
    for (uint32_t i = 0; i < MEMBERS; i++)
        CHECK(t, h->stops[h->k.members[i]] && !h->all.is_there[SOTTO_KEYGEN_AGREE][i]);
    chamber_close(h);
}

/* The record before is of another key than its public values. Nobody signs for it. */
static void the_key_that_is_handed_on_is_that_of_the_record(sotto_test *t)
{
    sotto_decryptors_record old, record;
    sotto_epoch before;
    chamber *h = open_next(t, &old, &before);
    uint8_t share[32];

    chamber_run(t, h, SOTTO_KEYGEN_AGREE);
    const uint32_t index = h->k.members[0];
    const sotto_keygen_self self = {
        .index = index, .seed = h->seeds[index], .channel = &h->channels[index]};
    CHECK_OK(
        t, sotto_keygen_finish(&h->k, &self, &h->seen[index], &record, share, &t->arena, &t->err));
    h->k.old.key[9] ^= 1;
    CHECK_STATUS(
        t, SOTTO_REJECTED,
        sotto_keygen_finish(&h->k, &self, &h->seen[index], &record, share, &t->arena, NULL));
    chamber_close(h);
}

static void who_has_no_share_hands_nothing_on(sotto_test *t)
{
    sotto_decryptors_record old;
    sotto_epoch before;
    chamber *h = open_next(t, &old, &before);
    const uint32_t index = h->k.dealer[0];
    uint8_t no_scalar[32];
    sotto_keygen_self self = {
        .index = index, .seed = h->seeds[index], .channel = &h->channels[index]};
    sotto_buf body;

    memset(no_scalar, 255, sizeof no_scalar);
    CHECK_OK(t, sotto_buf_take(&body, &t->arena, SOTTO_KEYGEN_MOST_BODY, &t->err));
    for (unsigned i = 0; i < 2; i++) {
        self.share = i ? no_scalar : NULL;
        CHECK_STATUS(t, SOTTO_DENIED,
                     sotto_keygen_write(&h->k, &self, SOTTO_KEYGEN_DEAL, &h->seen[index], &body,
                                        &t->arena, NULL));
        CHECK_EQUAL(t, 0, body.len);
    }
    chamber_close(h);
}

static void an_answer_that_nobody_asked_for_stops_no_hand_over(sotto_test *t)
{
    sotto_decryptors_record old;
    sotto_epoch before;
    chamber *h = open_next(t, &old, &before);

    h->lies = answers_unasked;
    chamber_run(t, h, SOTTO_KEYGEN_RECORD);
    CHECK_EQUAL(t, 2 + MEMBERS * 66, h->all.body[SOTTO_KEYGEN_ANSWER][0].len);
    CHECK_EQUAL(t, 0, chamber_stopped(h));
    chamber_check_key(t, h, SOME);
    CHECK(t, memcmp(h->record.key, old.key, sizeof old.key) == 0);
    chamber_close(h);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(members_that_meet_make_a_key),
        CASE(record_waits_for_a_quorum),
        CASE(an_answer_that_nobody_asked_for_changes_nothing),
        CASE(a_complaint_is_answered_in_the_open),
        CASE(a_dealer_that_does_not_answer_is_out),
        CASE(so_many_answers_are_not_given),
        CASE(whoever_reveals_something_else_or_nothing_changes_nothing),
        CASE(a_key_of_few_dealers_is_not_made),
        CASE(nobody_reveals_before_a_quorum_agrees),
        CASE(nobody_shows_values_of_many_dealers),
        CASE(nobody_shows_values_without_a_vote),
        CASE(the_beacon_draws_the_committee),
        CASE(a_key_is_handed_on),
        CASE(the_committee_before_is_the_beacons),
        CASE(whoever_hands_on_something_else_is_passed_over),
        CASE(an_answer_that_nobody_asked_for_stops_no_hand_over),
        CASE(a_key_of_few_shares_is_not_handed_on),
        CASE(the_key_that_is_handed_on_is_that_of_the_record),
        CASE(who_has_no_share_hands_nothing_on),
    };

    return RUN_TESTS(argc, argv, cases);
}
