/* A committee that makes its key among liars, beside a server that swallows posts: what nobody believes, and where members stop. */
#include "chamber.h"

#include "base/alloc.h"
#include "base/arena.h"

#include <string.h>

enum { VALUES = 2 * SOTTO_P256_SCALAR };
static const uint32_t SOME[THRESHOLD] = {0, 2, 6}, OTHERS[THRESHOLD] = {1, 4, 5};

static sotto_keygen_self self_at(chamber *h, uint32_t place)
{
    const uint32_t index = h->k.members[place];

    return (sotto_keygen_self){
        .index = index, .seed = h->seeds[index], .channel = &h->channels[index]};
}

/* Whether anybody said anything in the steps from this one on. */
static bool is_silent_from(const chamber *h, unsigned first)
{
    for (unsigned step = first; step < SOTTO_KEYGEN_OVER; step++)
        for (uint32_t i = 0; i < MEMBERS; i++)
            if (h->all.is_there[step][i])
                return false;
    return true;
}

/* ---- deals ------------------------------------------------------------------------------------------------------------ */

/* Its member agrees with others on something else than they do, so it gets no values and its own do not count. */
static void a_key_of_small_order_stops_nobody(sotto_test *t)
{
    chamber *h = chamber_open(t);
    const uint32_t bad = h->k.members[3];

    memset((uint8_t *)(size_t)h->k.posting.registry.channel[bad], 0, 32);
    chamber_run(t, h, SOTTO_KEYGEN_RECORD);
    CHECK_EQUAL(t, 1, chamber_stopped(h));
    CHECK(t, h->stops[bad]);
    /* So many complained about its own deal that it does not count. */
    CHECK_EQUAL(t, 2, h->all.body[SOTTO_KEYGEN_REVEAL][3].len);
    chamber_check_key(t, h, SOME);
    chamber_close(h);
}

/* What the dealer at place 0 says with other polynomials. */
static uint8_t other_deal[SOTTO_KEYGEN_MOST_BODY];

static void make_other_deal(sotto_test *t, chamber *h)
{
    static const uint8_t seed[SOTTO_KEYGEN_SEED] = {200};
    sotto_keygen_self self = self_at(h, 0);
    sotto_buf body = sotto_buf_over(other_deal, sizeof other_deal);

    self.seed = seed;
    CHECK_OK(t, sotto_keygen_write(&h->k, &self, SOTTO_KEYGEN_DEAL, &h->seen[self.index], &body,
                                   &t->arena, &t->err));
}

/* The member at place 1 gets values of the other ones: sealed as they should be, and not what was committed to. */
static void other_values_for_one(chamber *h, uint32_t place, unsigned step, sotto_buf *body)
{
    const size_t at = body->len - (MEMBERS - 1) * SOTTO_KEYGEN_SEALED;

    (void)h;
    if (step == SOTTO_KEYGEN_DEAL && place == 0)
        memcpy(body->data + at, other_deal + at, SOTTO_KEYGEN_SEALED);
}

static void values_that_were_not_committed_to_are_complained_about(sotto_test *t)
{
    static const uint8_t complaint[] = {0, 1, 0, 0};
    static const uint32_t with_it[THRESHOLD] = {0, 1, 3};
    chamber *h = chamber_open(t);

    make_other_deal(t, h);
    h->lies = other_values_for_one;
    chamber_run(t, h, SOTTO_KEYGEN_RECORD);
    CHECK_EQUAL(t, sizeof complaint, h->all.body[SOTTO_KEYGEN_COMPLAIN][1].len);
    CHECK_BYTES(t, complaint, h->all.body[SOTTO_KEYGEN_COMPLAIN][1].data, sizeof complaint);
    CHECK_EQUAL(t, 0, chamber_stopped(h));
    chamber_check_key(t, h, with_it);
    chamber_close(h);
}

/* The member at place 1 complains, and the server swallows it: nobody answers, and the dealer counts. */
static void nobody_signs_for_a_share_that_it_does_not_have(sotto_test *t)
{
    chamber *h = chamber_open(t);

    make_other_deal(t, h);
    h->lies = other_values_for_one;
    chamber_run(t, h, SOTTO_KEYGEN_COMPLAIN);
    for (uint32_t i = 0; i < REGISTERED; i++)
        h->seen[i].is_there[SOTTO_KEYGEN_COMPLAIN][1] = false;
    h->all.is_there[SOTTO_KEYGEN_COMPLAIN][1] = false;
    for (unsigned step = SOTTO_KEYGEN_ANSWER; step < SOTTO_KEYGEN_OVER; step++)
        chamber_step(t, h, step);
    CHECK_EQUAL(t, 1, chamber_stopped(h));
    CHECK(t, h->stops[h->k.members[1]] && !h->all.is_there[SOTTO_KEYGEN_AGREE][1] &&
                 !h->all.is_there[SOTTO_KEYGEN_RECORD][1]);
    chamber_check_key(t, h, SOME);
    chamber_close(h);
}

static void answers_by_no_numbers(chamber *h, uint32_t place, unsigned step, sotto_buf *body)
{
    other_values_for_one(h, place, step, body);
    if (step == SOTTO_KEYGEN_ANSWER && place == 0)
        memset(body->data + body->len - VALUES, 255, VALUES);
}

static void an_answer_that_is_no_numbers_is_none(sotto_test *t)
{
    chamber *h = chamber_open(t);

    make_other_deal(t, h);
    h->lies = answers_by_no_numbers;
    chamber_run(t, h, SOTTO_KEYGEN_RECORD);
    CHECK_EQUAL(t, 4 + VALUES, h->all.body[SOTTO_KEYGEN_ANSWER][0].len);
    CHECK_EQUAL(t, 2, h->all.body[SOTTO_KEYGEN_REVEAL][0].len);
    CHECK_EQUAL(t, 0, chamber_stopped(h));
    chamber_check_key(t, h, SOME);
    chamber_close(h);
}

/* The dealer at place 0 says that it has another number of coefficients. */
static void other_count(chamber *h, uint32_t place, unsigned step, sotto_buf *body)
{
    (void)h;
    if (step == SOTTO_KEYGEN_DEAL && place == 0)
        body->data[1]++;
}

static void a_deal_of_another_degree_does_not_count(sotto_test *t)
{
    chamber *h = chamber_open(t);

    h->lies = other_count;
    chamber_run(t, h, SOTTO_KEYGEN_RECORD);
    CHECK_EQUAL(t, 0, chamber_stopped(h));
    CHECK_EQUAL(t, 2, h->all.body[SOTTO_KEYGEN_REVEAL][0].len);
    chamber_check_key(t, h, OTHERS);
    chamber_close(h);
}

/* ---- reveals and accusations ---------------------------------------------------------------------------------------------- */

/* The dealer at place 0 reveals two bytes: that points follow, and none. */
static void promise_of_points(chamber *h, uint32_t place, unsigned step, sotto_buf *body)
{
    (void)h;
    if (step == SOTTO_KEYGEN_REVEAL && place == 0)
        body->len = 2;
}

static void a_reveal_without_points_is_rebuilt(sotto_test *t)
{
    chamber *h = chamber_open(t);

    h->lies = promise_of_points;
    chamber_run(t, h, SOTTO_KEYGEN_RECORD);
    CHECK_EQUAL(t, 0, chamber_stopped(h));
    CHECK_EQUAL(t, MEMBERS, h->shown);
    /* Nobody needs to accuse who said nothing: values are shown after the vote alone. */
    for (uint32_t i = 0; i < MEMBERS; i++)
        CHECK_EQUAL(t, 2, h->all.body[SOTTO_KEYGEN_ACCUSE][i].len);
    chamber_check_key(t, h, OTHERS);
    chamber_close(h);
}

/* The member at place 6 accuses the dealer at place 0, which did nothing wrong, with these values. */
static uint8_t accusation[VALUES];

static void accuses(chamber *h, uint32_t place, unsigned step, sotto_buf *body)
{
    static const uint8_t head[] = {0, 1, 0, 0};

    (void)h;
    if (step != SOTTO_KEYGEN_ACCUSE || place != 6)
        return;
    memcpy(body->data, head, sizeof head);
    memcpy(body->data + sizeof head, accusation, sizeof accusation);
    body->len = sizeof head + sizeof accusation;
}

static void check_accusation_fails(sotto_test *t, chamber *h)
{
    h->lies = accuses;
    chamber_run(t, h, SOTTO_KEYGEN_RECORD);
    CHECK_EQUAL(t, sizeof accusation + 4, h->all.body[SOTTO_KEYGEN_ACCUSE][6].len);
    CHECK_EQUAL(t, 0, chamber_stopped(h));
    for (uint32_t i = 0; i < MEMBERS; i++)
        CHECK_EQUAL(t, 2, h->all.body[SOTTO_KEYGEN_VOTE][i].len);
    CHECK_EQUAL(t, 0, h->shown);
    chamber_check_key(t, h, OTHERS);
}

static void made_up_values_accuse_nobody(sotto_test *t)
{
    chamber *h = chamber_open(t);

    memset(accusation, 1, sizeof accusation);
    check_accusation_fails(t, h);
    chamber_close(h);
}

static void numbers_beyond_the_order_accuse_nobody(sotto_test *t)
{
    chamber *h = chamber_open(t);

    memset(accusation, 255, sizeof accusation);
    check_accusation_fails(t, h);
    chamber_close(h);
}

/* What the dealer at place 0 gave the member at place 6. */
static void read_true_values(sotto_test *t, const chamber *h)
{
    sotto_dkg_dealer dealer;
    sotto_dkg_values values;
    sotto_keystream stream;
    sotto_tdh2 tdh2;

    CHECK_OK(t, sotto_tdh2_init(&tdh2, &t->err));
    CHECK_OK(t, sotto_keystream_init(&stream, &t->err));
    CHECK_OK(t, sotto_keystream_seed(&stream, h->seeds[h->k.members[0]], &t->err));
    CHECK_OK(t, sotto_dkg_deal(&dealer, &tdh2, THRESHOLD, NULL, &stream, &t->arena, &t->err));
    sotto_dkg_values_for(&dealer, &tdh2, 6, &values);
    memcpy(accusation, values.a.be, SOTTO_P256_SCALAR);
    memcpy(accusation + SOTTO_P256_SCALAR, values.b.be, SOTTO_P256_SCALAR);
    sotto_keystream_clear(&stream);
    sotto_tdh2_clear(&tdh2);
}

static void values_as_they_were_revealed_accuse_nobody(sotto_test *t)
{
    chamber *h = chamber_open(t);

    read_true_values(t, h);
    check_accusation_fails(t, h);
    chamber_close(h);
}

/* ---- no agreement ----------------------------------------------------------------------------------------------------------- */

static bool hide_agreement(const chamber *h, uint32_t from, unsigned step, uint32_t to)
{
    (void)h;
    (void)to;
    return step == SOTTO_KEYGEN_AGREE && from >= QUORUM - 2;
}

static void nobody_says_anything_without_agreement(sotto_test *t)
{
    chamber *h = chamber_open(t);

    h->hides = hide_agreement;
    chamber_run(t, h, SOTTO_KEYGEN_RECORD);
    CHECK_EQUAL(t, MEMBERS, chamber_stopped(h));
    CHECK(t, is_silent_from(h, SOTTO_KEYGEN_REVEAL));
    chamber_close(h);
}

static bool hide_three_deals(const chamber *h, uint32_t from, unsigned step, uint32_t to)
{
    (void)h;
    (void)to;
    return step == SOTTO_KEYGEN_DEAL && from < 3;
}

/* Everybody agrees on the digest that a view has before anybody counts. */
static void agree_on_nothing(chamber *h)
{
    static const uint8_t nothing[32];

    for (uint32_t i = 0; i < REGISTERED; i++)
        for (uint32_t m = 0; m < MEMBERS; m++) {
            h->seen[i].is_there[SOTTO_KEYGEN_AGREE][m] = true;
            h->seen[i].body[SOTTO_KEYGEN_AGREE][m] = sotto_bytes_of(nothing, sizeof nothing);
        }
}

static void nobody_says_anything_where_few_deals_count(sotto_test *t)
{
    chamber *h = chamber_open(t);

    h->hides = hide_three_deals;
    chamber_run(t, h, SOTTO_KEYGEN_AGREE);
    agree_on_nothing(h);
    for (unsigned step = SOTTO_KEYGEN_REVEAL; step < SOTTO_KEYGEN_OVER; step++)
        chamber_step(t, h, step);
    CHECK(t, is_silent_from(h, SOTTO_KEYGEN_REVEAL));
    chamber_close(h);
}

static bool hide_one_reveal(const chamber *h, uint32_t from, unsigned step, uint32_t to)
{
    (void)h;
    (void)to;
    return step == SOTTO_KEYGEN_REVEAL && from == 0;
}

static void too_few_values_rebuild_nothing(sotto_test *t)
{
    chamber *h = chamber_open(t);
    sotto_keygen_self self = self_at(h, 5);
    sotto_keygen_board *board = &h->seen[self.index];
    sotto_decryptors_record record;
    uint8_t share[32];

    h->hides = hide_one_reveal;
    chamber_run(t, h, SOTTO_KEYGEN_SHOW);
    CHECK_EQUAL(t, MEMBERS - 1, h->shown);
    for (uint32_t m = THRESHOLD; m < MEMBERS; m++)
        board->is_there[SOTTO_KEYGEN_SHOW][m] = false;
    CHECK_STATUS(t, SOTTO_AGAIN,
                 sotto_keygen_finish(&h->k, &self, board, &record, share, &t->arena, NULL));
    /* The dealer saw its own reveal and showed nothing: those at places 1, 2 and 3 are a threshold. */
    board->is_there[SOTTO_KEYGEN_SHOW][THRESHOLD] = true;
    CHECK_OK(t, sotto_keygen_finish(&h->k, &self, board, &record, share, &t->arena, &t->err));
    chamber_close(h);
}

/* ---- no memory --------------------------------------------------------------------------------------------------------------- */

/* One member's turn in a step, or the end of it all, with an arena of its own. */
static sotto_status turn(chamber *h, unsigned step, sotto_buf *body, sotto_arena *arena)
{
    const sotto_keygen_self self = self_at(h, 1);
    const sotto_keygen_board *board = &h->seen[self.index];
    sotto_decryptors_record record;
    uint8_t share[32];

    if (step == SOTTO_KEYGEN_OVER)
        return sotto_keygen_record(&h->k, board, &record, arena, NULL);
    return step == SOTTO_KEYGEN_RECORD
               ? sotto_keygen_finish(&h->k, &self, board, &record, share, arena, NULL)
               : sotto_keygen_write(&h->k, &self, step, board, body, arena, NULL);
}

/* With somebody to complain about and somebody to rebuild, so that every list is needed. */
static void memory_that_fails_is_told_and_nothing_is_said(sotto_test *t)
{
    chamber *h = chamber_open(t);
    sotto_buf body;

    h->lies = promise_of_points;
    chamber_run(t, h, SOTTO_KEYGEN_RECORD);
    CHECK_OK(t, sotto_buf_take(&body, &t->arena, SOTTO_KEYGEN_MOST_BODY, &t->err));
    for (unsigned step = SOTTO_KEYGEN_DEAL; step <= SOTTO_KEYGEN_OVER; step++) {
        sotto_status status = SOTTO_NO_MEMORY;

        for (long n = 0; status != SOTTO_OK; n++) {
            sotto_arena arena;

            CHECK(t, n < 200);
            CHECK_EQUAL(t, 0, body.len);
            sotto_arena_init(&arena, SIZE_MAX / 2);
            sotto_alloc_fail_after(n);
            status = turn(h, step, &body, &arena);
            sotto_alloc_fail_after(-1);
            sotto_arena_clear(&arena);
            CHECK(t, status == SOTTO_OK || status == SOTTO_NO_MEMORY);
        }
        body.len = 0;
    }
    chamber_close(h);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_key_of_small_order_stops_nobody),
        CASE(values_that_were_not_committed_to_are_complained_about),
        CASE(nobody_signs_for_a_share_that_it_does_not_have),
        CASE(an_answer_that_is_no_numbers_is_none),
        CASE(a_deal_of_another_degree_does_not_count),
        CASE(a_reveal_without_points_is_rebuilt),
        CASE(made_up_values_accuse_nobody),
        CASE(numbers_beyond_the_order_accuse_nobody),
        CASE(values_as_they_were_revealed_accuse_nobody),
        CASE(nobody_says_anything_without_agreement),
        CASE(nobody_says_anything_where_few_deals_count),
        CASE(too_few_values_rebuild_nothing),
        CASE(memory_that_fails_is_told_and_nothing_is_said),
    };

    return RUN_TESTS(argc, argv, cases);
}
