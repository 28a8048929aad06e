/* Calls and posts of a key generation on the wire: what is refused, whoever sent it; and who speaks, with how much room. */
#include "chamber.h"

#include "base/arena.h"

#include <string.h>

/* ---- calls ------------------------------------------------------------------------------------------------------------------- */

static sotto_bytes encoded(sotto_test *t, const sotto_keygen *k)
{
    sotto_buf wire;

    CHECK_OK(t, sotto_buf_take(&wire, &t->arena, 1 << 16, &t->err));
    CHECK_OK(t, sotto_keygen_encode(&wire, k, &t->arena, &t->err));
    return sotto_buf_bytes(&wire);
}

static sotto_status opened(sotto_test *t, const sotto_keygen *k)
{
    sotto_keygen read;

    return sotto_keygen_open(&read, encoded(t, k), &t->arena, NULL);
}

static void a_call_that_was_cut_or_bent_is_malformed(sotto_test *t)
{
    chamber *h = chamber_open(t);
    const sotto_bytes wire = encoded(t, &h->k);
    uint8_t *copy = sotto_arena_take(&t->arena, wire.len + 1);
    sotto_keygen k;

    CHECK(t, copy != NULL);
    memcpy(copy, wire.data, wire.len);
    CHECK_OK(t, sotto_keygen_open(&k, sotto_bytes_of(copy, wire.len), &t->arena, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_keygen_open(&k, sotto_bytes_of(copy, wire.len + 1), &t->arena, NULL));
    for (size_t len = 0; len < wire.len; len += len + 40 < wire.len ? 7 : 1)
        CHECK_STATUS(t, SOTTO_MALFORMED,
                     sotto_keygen_open(&k, sotto_bytes_of(copy, len), &t->arena, NULL));
    for (size_t i = 0; i < 2; i++) { /* its label, and that of the posting in it */
        const size_t at = i * (14 + 4);

        copy[at] ^= 1;
        CHECK_STATUS(t, SOTTO_MALFORMED,
                     sotto_keygen_open(&k, sotto_bytes_of(copy, wire.len), &t->arena, NULL));
        copy[at] ^= 1;
    }
    chamber_close(h);
}

/* With parts of a beacon before that are more than any committee has. */
static void a_call_has_no_more_parts_than_a_committee(sotto_test *t)
{
    enum { MANY = SOTTO_DECRYPTORS_MOST + 1 };
    chamber *h = chamber_open(t);
    sotto_keygen k = h->k;

    k.old_parts = sotto_arena_take_array(&t->arena, MANY, sizeof *k.old_parts);
    CHECK(t, k.old_parts != NULL);
    k.old_part_count = MANY - 1;
    CHECK_OK(t, opened(t, &k));
    k.old_part_count = MANY;
    CHECK_STATUS(t, SOTTO_MALFORMED, opened(t, &k));
    k.old_part_count = 0;
    CHECK_OK(t, opened(t, &k));
    k.posting.old_parts = k.old_parts; /* where a posting has them, and a call does not */
    k.posting.old_part_count = 1;
    CHECK_STATUS(t, SOTTO_MALFORMED, opened(t, &k));
    chamber_close(h);
}

/* The terms stand where a posting has its round. A byte more is another call. */
static void terms_have_one_form(sotto_test *t)
{
    enum { LABEL = 14, HEAD = LABEL + 4 };
    chamber *h = chamber_open(t);
    const sotto_bytes wire = encoded(t, &h->k);
    sotto_posting posting;
    sotto_buf inner, out;
    uint8_t terms[200];
    sotto_keygen k;

    CHECK_OK(t,
             sotto_posting_decode(&posting, sotto_bytes_of(wire.data + HEAD, wire.len - HEAD - 2),
                                  &t->arena, &t->err));
    for (size_t more = 0; more < 2; more++) {
        sotto_posting longer = posting;

        CHECK(t, posting.round.len + more <= sizeof terms);
        memset(terms, 0, sizeof terms);
        memcpy(terms, posting.round.data, posting.round.len);
        longer.round = sotto_bytes_of(terms, posting.round.len + more);
        CHECK_OK(t, sotto_buf_take(&inner, &t->arena, wire.len + 1, &t->err));
        CHECK_OK(t, sotto_posting_encode(&inner, &longer, &t->err));
        CHECK_OK(t, sotto_buf_take(&out, &t->arena, wire.len + 1, &t->err));
        sotto_writer w = sotto_writer_on(&out);
        sotto_write_bytes(&w, sotto_bytes_of(wire.data, LABEL));
        sotto_write_opaque32(&w, sotto_buf_bytes(&inner));
        sotto_write_uint(&w, 0, 2);
        CHECK_STATUS(t, more ? SOTTO_MALFORMED : SOTTO_OK,
                     sotto_keygen_open(&k, sotto_buf_bytes(&out), &t->arena, NULL));
    }
    chamber_close(h);
}

static void a_committee_has_a_size_and_channel_keys(sotto_test *t)
{
    enum { MANY = SOTTO_DECRYPTORS_MOST + 1 };
    chamber *h = chamber_open(t);
    uint8_t(*keys)[32] = sotto_arena_take_array(&t->arena, MANY, sizeof *keys);
    sotto_keygen k = h->k;

    CHECK(t, keys != NULL);
    k.count = SOTTO_DECRYPTORS_LEAST;
    CHECK_OK(t, opened(t, &k));
    k.count--;
    CHECK_STATUS(t, SOTTO_DENIED, opened(t, &k));
    k.count = REGISTERED;
    CHECK_OK(t, opened(t, &k));
    k.count++;
    CHECK_STATUS(t, SOTTO_DENIED, opened(t, &k));
    k.count = MEMBERS;
    k.posting.registry.pair = k.posting.registry.channel = NULL;
    CHECK_STATUS(t, SOTTO_DENIED, opened(t, &k));
    k.posting.registry.keys = k.posting.registry.pair = k.posting.registry.channel =
        (const uint8_t(*)[32])keys;
    k.posting.registry.count = MANY;
    k.count = MANY - 1;
    CHECK_OK(t, opened(t, &k));
    k.count = MANY;
    CHECK_STATUS(t, SOTTO_DENIED, opened(t, &k));
    chamber_close(h);
}

/* The same call, by which the committee of this record hands on its key. */
static sotto_status opened_after(sotto_test *t, const sotto_keygen *call,
                                 const sotto_decryptors_record *old)
{
    sotto_keygen k = *call;
    sotto_buf record;

    CHECK_OK(t, sotto_buf_take(&record, &t->arena, SOTTO_DECRYPTORS_MOST_BYTES, &t->err));
    CHECK_OK(t, sotto_decryptors_encode(&record, old, &t->err));
    k.posting.decryptors = sotto_buf_bytes(&record);
    return opened(t, &k);
}

static void the_committee_before_is_of_this_session_and_registry(sotto_test *t)
{
    chamber *h = chamber_open(t);
    sotto_decryptors_record old;

    chamber_run(t, h, SOTTO_KEYGEN_RECORD);
    CHECK_OK(t, sotto_keygen_record(&h->k, &h->all, &old, &t->arena, &t->err));
    old.epoch = h->k.epoch - 1;
    CHECK_OK(t, opened_after(t, &h->k, &old));
    old.epoch = h->k.epoch;
    CHECK_STATUS(t, SOTTO_DENIED, opened_after(t, &h->k, &old));
    old.epoch--;
    old.session[0] ^= 1;
    CHECK_STATUS(t, SOTTO_DENIED, opened_after(t, &h->k, &old));
    old.session[0] ^= 1;
    old.members[MEMBERS - 1] = REGISTERED;
    CHECK_STATUS(t, SOTTO_DENIED, opened_after(t, &h->k, &old));
    chamber_close(h);
}

/* What stands in the place of a record, and is none. */
static void half_a_record_hands_nothing_on(sotto_test *t)
{
    static const uint8_t half[40];
    chamber *h = chamber_open(t);
    sotto_keygen k = h->k;

    k.posting.decryptors = sotto_bytes_of(half, sizeof half);
    CHECK_STATUS(t, SOTTO_MALFORMED, opened(t, &k));
    chamber_close(h);
}

/* ---- posts ---------------------------------------------------------------------------------------------------------------------- */

static void posts_are_of_who_signed_them(sotto_test *t)
{
    static const uint8_t empty[2] = {0, 0};
    chamber *h = chamber_open(t);
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
    p.place = MEMBERS; /* before anything is asked about its form */
    p.body.len = 1;
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_keygen_post_check(&h->k, &p, NULL));
    chamber_close(h);
}

static void a_body_is_no_longer_than_the_longest_post(sotto_test *t)
{
    sotto_keygen_post p = {.step = SOTTO_KEYGEN_DEAL}, read;
    sotto_buf wire, body;

    CHECK_OK(t, sotto_buf_take(&body, &t->arena, SOTTO_KEYGEN_MOST_BODY + 1, &t->err));
    CHECK_OK(t, sotto_buf_take(&wire, &t->arena, SOTTO_KEYGEN_MOST_POST + 1, &t->err));
    p.body = sotto_bytes_of(body.data, SOTTO_KEYGEN_MOST_BODY);
    CHECK_OK(t, sotto_keygen_post_encode(&wire, &p, &t->err));
    CHECK_OK(t, sotto_keygen_post_decode(&read, sotto_buf_bytes(&wire), &t->err));
    p.body.len++;
    wire.len = 0;
    CHECK_OK(t, sotto_keygen_post_encode(&wire, &p, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_keygen_post_decode(&read, sotto_buf_bytes(&wire), NULL));
}

/* A server that shows a member's second post after its first changes nothing of what was seen. */
static void the_first_post_stands(sotto_test *t)
{
    static const uint8_t none[] = {0, 0}, one[] = {0, 1, 0, 0};
    chamber *h = chamber_open(t);
    sotto_keygen_post p = {
        .step = SOTTO_KEYGEN_VOTE, .place = 2, .body = sotto_bytes_of(none, sizeof none)};

    sotto_keygen_board_put(&h->all, &p);
    p.body = sotto_bytes_of(one, sizeof one);
    sotto_keygen_board_put(&h->all, &p);
    CHECK_EQUAL(t, sizeof none, h->all.body[SOTTO_KEYGEN_VOTE][2].len);
    chamber_close(h);
}

static void bodies_keep_to_their_form(sotto_test *t)
{
    static const uint8_t descends[] = {0, 2, 0, 3, 0, 1}, beyond[] = {0, 1, 0, MEMBERS},
                         cut[] = {0, 2, 0, 1}, longer[] = {0, 1, 0, 1, 0},
                         once_down[] = {0, 3, 0, 2, 0, 1, 0, 3}, half[] = {0, 1, 0};
    const sotto_bytes bodies[] = {sotto_bytes_of(descends, sizeof descends),
                                  sotto_bytes_of(beyond, sizeof beyond),
                                  sotto_bytes_of(cut, sizeof cut),
                                  sotto_bytes_of(longer, sizeof longer),
                                  sotto_bytes_of(once_down, sizeof once_down),
                                  sotto_bytes_of(half, sizeof half)};
    chamber *h = chamber_open(t);

    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++)
        for (unsigned step = SOTTO_KEYGEN_DEAL; step < SOTTO_KEYGEN_OVER; step++) {
            const sotto_keygen_post p = {.step = step, .body = bodies[i]};

            CHECK_STATUS(t, SOTTO_MALFORMED, sotto_keygen_post_check(&h->k, &p, NULL));
        }
    chamber_close(h);
}

/* ---- who speaks, and with how much room ---------------------------------------------------------------------------------------- */

static void only_members_speak_and_only_in_steps(sotto_test *t)
{
    static const unsigned none[] = {0, SOTTO_KEYGEN_RECORD, SOTTO_KEYGEN_OVER};
    chamber *h = chamber_open(t);
    sotto_keygen_self self = {.index = h->k.members[0]};
    sotto_decryptors_record record;
    uint8_t share[32];
    sotto_buf body;

    CHECK_OK(t, sotto_buf_take(&body, &t->arena, SOTTO_KEYGEN_MOST_BODY, &t->err));
    self.seed = h->seeds[self.index];
    self.channel = &h->channels[self.index];
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        CHECK_STATUS(t, SOTTO_MISSING,
                     sotto_keygen_write(&h->k, &self, none[i], &h->all, &body, &t->arena, NULL));
    for (self.index = 0; sotto_keygen_place(&h->k, SOTTO_KEYGEN_DEAL, self.index) >= 0;)
        self.index++;
    for (unsigned step = SOTTO_KEYGEN_DEAL; step < SOTTO_KEYGEN_RECORD; step++)
        CHECK_STATUS(t, SOTTO_MISSING,
                     sotto_keygen_write(&h->k, &self, step, &h->all, &body, &t->arena, NULL));
    CHECK_STATUS(t, SOTTO_MISSING,
                 sotto_keygen_finish(&h->k, &self, &h->all, &record, share, &t->arena, NULL));
    CHECK_EQUAL(t, 0, body.len);
    chamber_close(h);
}

/* Half a post would be signed and sent as one. */
static void a_post_that_does_not_fit_is_not_begun(sotto_test *t)
{
    chamber *h = chamber_open(t);
    const uint32_t index = h->k.members[0];
    const sotto_keygen_self self = {
        .index = index, .seed = h->seeds[index], .channel = &h->channels[index]};
    sotto_buf body;

    CHECK_OK(t, sotto_buf_take(&body, &t->arena, 2 + THRESHOLD * SOTTO_P256_WIDE + 100, &t->err));
    CHECK(t, sotto_keygen_write(&h->k, &self, SOTTO_KEYGEN_DEAL, &h->all, &body, &t->arena, NULL) !=
                 SOTTO_OK);
    CHECK_EQUAL(t, 0, body.len);
    chamber_close(h);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_call_that_was_cut_or_bent_is_malformed),
        CASE(a_call_has_no_more_parts_than_a_committee),
        CASE(terms_have_one_form),
        CASE(a_committee_has_a_size_and_channel_keys),
        CASE(the_committee_before_is_of_this_session_and_registry),
        CASE(half_a_record_hands_nothing_on),
        CASE(posts_are_of_who_signed_them),
        CASE(bodies_keep_to_their_form),
        CASE(a_body_is_no_longer_than_the_longest_post),
        CASE(the_first_post_stands),
        CASE(only_members_speak_and_only_in_steps),
        CASE(a_post_that_does_not_fit_is_not_begun),
    };

    return RUN_TESTS(argc, argv, cases);
}
