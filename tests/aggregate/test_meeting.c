/* A meeting of everybody who is listed: who is met, whose channel keys are used, and whose signatures make a key. */
#include "aggregate/keygen/meeting.h"

#include "base/arena.h"
#include "support/test.h"

#include <string.h>

enum { MEMBERS = 4 };

typedef struct scene {
    sotto_test *t;
    sotto_signer signers[MEMBERS];
    uint8_t keys[MEMBERS][SOTTO_SIGN_PUBLIC], channel[MEMBERS][32];
    uint8_t signatures[MEMBERS][SOTTO_SIGNATURE];
    sotto_keygen call;
    sotto_meeting m;
} scene;

static void sign_seat(scene *s, unsigned i, const sotto_signer *signer)
{
    sotto_meeting_seat seat;

    memcpy(seat.channel, s->channel[i], sizeof seat.channel);
    CHECK_OK(s->t,
             sotto_meeting_seat_sign(&seat, s->call.session, s->call.epoch, signer, &s->t->err));
    memcpy(s->signatures[i], seat.signature, SOTTO_SIGNATURE);
}

static void set_up(sotto_test *t, scene *s)
{
    *s = (scene){.t = t, .call = {.session = {1}, .epoch = 7, .count = MEMBERS, .ends = 99}};
    for (unsigned i = 0; i < MEMBERS; i++) {
        const uint8_t seed[SOTTO_SIGN_SEED] = {(uint8_t)(i + 1)};

        CHECK_OK(t, sotto_signer_init(&s->signers[i], seed, &t->err));
        memcpy(s->keys[i], s->signers[i].public_key, SOTTO_SIGN_PUBLIC);
        memset(s->channel[i], (int)i + 1, sizeof s->channel[i]);
        sign_seat(s, i, &s->signers[i]);
    }
}

static void tear_down(scene *s)
{
    for (unsigned i = 0; i < MEMBERS; i++)
        sotto_signer_clear(&s->signers[i]);
}

/* The meeting that these keys and seats make, to members who know `listed`. */
static sotto_status open_with(scene *s, const uint8_t (*members)[SOTTO_SIGN_PUBLIC],
                              uint64_t registered, const uint8_t (*listed)[SOTTO_SIGN_PUBLIC])
{
    sotto_buf wire = sotto_test_buf(s->t, 4096);
    sotto_registry *r = &s->call.posting.registry;
    sotto_keygen opened;

    r->keys = members;
    r->pair = r->channel = (const uint8_t(*)[32])s->channel;
    r->count = registered;
    CHECK_OK(s->t, sotto_keygen_encode(&wire, &s->call, &s->t->arena, &s->t->err));
    s->m = (sotto_meeting){.call = sotto_buf_bytes(&wire),
                           .count = s->call.count,
                           .signatures = s->signatures[0],
                           .step = SOTTO_KEYGEN_DEAL};
    return sotto_meeting_open(&opened, &s->m, listed, MEMBERS, &s->t->arena, &s->t->err);
}

static sotto_status open_meeting(scene *s)
{
    return open_with(s, (const uint8_t(*)[SOTTO_SIGN_PUBLIC])s->keys, MEMBERS,
                     (const uint8_t(*)[SOTTO_SIGN_PUBLIC])s->keys);
}

static void everybody_who_is_listed_meets(sotto_test *t)
{
    scene s;

    set_up(t, &s);
    CHECK_OK(t, open_meeting(&s));
    s.call.count = MEMBERS - 1; /* a beacon that nobody made would draw them */
    CHECK_STATUS(t, SOTTO_REJECTED, open_meeting(&s));
    tear_down(&s);
}

/* With its own members beside one that is listed, whoever carries the posts has the key. */
static void others_than_the_listed_are_not_met(sotto_test *t)
{
    uint8_t members[MEMBERS][SOTTO_SIGN_PUBLIC];
    scene s;

    set_up(t, &s);
    memcpy(members, s.keys, sizeof members);
    for (unsigned i = 1; i < MEMBERS; i++) {
        const uint8_t seed[SOTTO_SIGN_SEED] = {(uint8_t)(50 + i)};
        sotto_signer own;

        CHECK_OK(t, sotto_signer_init(&own, seed, &t->err));
        memcpy(members[i], own.public_key, SOTTO_SIGN_PUBLIC);
        sign_seat(&s, i, &own);
        sotto_signer_clear(&own);
    }
    CHECK_STATUS(t, SOTTO_REJECTED,
                 open_with(&s, (const uint8_t(*)[SOTTO_SIGN_PUBLIC])members, MEMBERS,
                           (const uint8_t(*)[SOTTO_SIGN_PUBLIC])s.keys));
    sotto_err_clear(&t->err);
    tear_down(&s);
}

static void a_channel_key_is_its_members_own(sotto_test *t)
{
    uint8_t kept[SOTTO_SIGNATURE];
    scene s;

    set_up(t, &s);
    s.channel[2][0] ^= 1; /* whoever carries the posts would read what is dealt to this one */
    CHECK_STATUS(t, SOTTO_REJECTED, open_meeting(&s));
    sotto_err_clear(&t->err);
    sign_seat(&s, 2, &s.signers[1]);
    CHECK_STATUS(t, SOTTO_REJECTED, open_meeting(&s));
    sotto_err_clear(&t->err);
    sign_seat(&s, 2, &s.signers[2]);
    CHECK_OK(t, open_meeting(&s));
    memcpy(kept, s.signatures[2], sizeof kept);
    s.call.epoch++; /* of another meeting, whose secrets may be known by now */
    for (unsigned i = 0; i < MEMBERS; i++)
        sign_seat(&s, i, &s.signers[i]);
    CHECK_OK(t, open_meeting(&s));
    memcpy(s.signatures[2], kept, sizeof kept);
    CHECK_STATUS(t, SOTTO_REJECTED, open_meeting(&s));
    sotto_err_clear(&t->err);
    tear_down(&s);
}

static void a_key_has_a_quorum_of_the_listed(sotto_test *t)
{
    uint8_t verify[MEMBERS][SOTTO_P256_WIDE] = {{4}};
    uint8_t signatures[MEMBERS][SOTTO_SIGNATURE], digest[32];
    uint32_t members[MEMBERS] = {0, 1, 2, 3};
    bool is_signed[MEMBERS] = {true, true, true, false};
    sotto_decryptors_record r = {.epoch = 7,
                                 .count = MEMBERS,
                                 .members = members,
                                 .verify = verify,
                                 .signatures = signatures,
                                 .is_signed = is_signed};
    scene s;

    set_up(t, &s);
    const uint8_t(*keys)[SOTTO_SIGN_PUBLIC] = (const uint8_t(*)[SOTTO_SIGN_PUBLIC])s.keys;
    sotto_decryptors_digest(&r, digest);
    for (unsigned i = 0; i < MEMBERS; i++)
        CHECK_OK(t, sotto_decryptors_sign(digest, signatures[i], &s.signers[i], &t->err));
    CHECK_OK(t, sotto_meeting_check_record(&r, keys, MEMBERS, &t->err));
    is_signed[2] = false;
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_meeting_check_record(&r, keys, MEMBERS, &t->err));
    sotto_err_clear(&t->err);
    is_signed[2] = is_signed[3] = true;
    memcpy(signatures[2], signatures[3], SOTTO_SIGNATURE); /* nobody signs for another */
    CHECK_OK(t, sotto_meeting_check_record(&r, keys, MEMBERS, &t->err));
    memcpy(signatures[1], signatures[3], SOTTO_SIGNATURE);
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_meeting_check_record(&r, keys, MEMBERS, &t->err));
    sotto_err_clear(&t->err);
    /* All three that are left have signed. The key is that of four. */
    for (unsigned i = 0; i < MEMBERS; i++)
        CHECK_OK(t, sotto_decryptors_sign(digest, signatures[i], &s.signers[i], &t->err));
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_meeting_check_record(&r, keys, MEMBERS - 1, &t->err));
    sotto_err_clear(&t->err);
    tear_down(&s);
}

/* Signed by all: but shares are for other places than those of the list. */
static void members_have_the_places_of_the_list(sotto_test *t)
{
    uint8_t verify[MEMBERS][SOTTO_P256_WIDE] = {{4}};
    uint8_t signatures[MEMBERS][SOTTO_SIGNATURE], digest[32];
    uint32_t members[MEMBERS] = {0, 2, 3, 4};
    bool is_signed[MEMBERS] = {true, true, true, true};
    const sotto_decryptors_record r = {.epoch = 7,
                                       .count = MEMBERS,
                                       .members = members,
                                       .verify = verify,
                                       .signatures = signatures,
                                       .is_signed = is_signed};
    scene s;

    set_up(t, &s);
    sotto_decryptors_digest(&r, digest);
    for (unsigned i = 0; i < MEMBERS; i++)
        CHECK_OK(t, sotto_decryptors_sign(digest, signatures[i], &s.signers[i], &t->err));
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_meeting_check_record(&r, (const uint8_t(*)[SOTTO_SIGN_PUBLIC])s.keys,
                                            MEMBERS, &t->err));
    tear_down(&s);
}

/* More or fewer than are listed, in a call that is whole. */
static void as_many_meet_as_are_listed(sotto_test *t)
{
    sotto_keygen opened;
    scene s;

    set_up(t, &s);
    CHECK_OK(t, open_meeting(&s));
    const uint8_t(*keys)[SOTTO_SIGN_PUBLIC] = (const uint8_t(*)[SOTTO_SIGN_PUBLIC])s.keys;
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_meeting_open(&opened, &s.m, keys, MEMBERS - 1, &t->arena, NULL));
    s.m.call.len--;
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_meeting_open(&opened, &s.m, keys, MEMBERS, &t->arena, NULL));
    s.m.call.len++;
    for (uint32_t less = 1; less <= MEMBERS; less++) { /* signatures that are not there */
        s.m.count = MEMBERS - less;
        CHECK_STATUS(t, SOTTO_REJECTED,
                     sotto_meeting_open(&opened, &s.m, keys, MEMBERS, &t->arena, NULL));
    }
    tear_down(&s);
}

/* A key that somebody had before is not made by those who meet. */
static void nobody_hands_a_key_on_in_a_meeting(sotto_test *t)
{
    uint8_t verify[MEMBERS][SOTTO_P256_WIDE] = {{4}}, signatures[MEMBERS][SOTTO_SIGNATURE];
    uint32_t members[MEMBERS] = {0, 1, 2, 3};
    bool is_signed[MEMBERS] = {false};
    sotto_decryptors_record before = {.epoch = 6,
                                      .count = MEMBERS,
                                      .members = members,
                                      .verify = verify,
                                      .signatures = signatures,
                                      .is_signed = is_signed};
    sotto_buf record = sotto_test_buf(t, 2048);
    scene s;

    set_up(t, &s);
    memcpy(before.session, s.call.session, sizeof before.session);
    CHECK_OK(t, sotto_decryptors_encode(&record, &before, &t->err));
    s.call.posting.decryptors = sotto_buf_bytes(&record);
    CHECK_STATUS(t, SOTTO_REJECTED, open_meeting(&s));
    tear_down(&s);
}

static sotto_status read_back(sotto_test *t, const sotto_meeting *m)
{
    sotto_buf wire = sotto_test_buf(t, 1 << 17);
    sotto_meeting read;

    CHECK_OK(t, sotto_meeting_encode(&wire, m, &t->err));
    return sotto_meeting_decode(&read, sotto_buf_bytes(&wire), NULL);
}

static void a_meeting_is_read_as_it_was_written_or_not_at_all(sotto_test *t)
{
    enum { MANY = SOTTO_DECRYPTORS_MOST + 1 };
    uint8_t *signatures = sotto_arena_take(&t->arena, (size_t)MANY * SOTTO_SIGNATURE);
    sotto_meeting m = {.count = MANY - 1, .signatures = signatures, .step = SOTTO_KEYGEN_RECORD};
    sotto_buf wire = sotto_test_buf(t, 1 << 17);
    sotto_meeting read;

    CHECK(t, signatures != NULL);
    CHECK_OK(t, read_back(t, &m));
    m.count = MANY;
    CHECK_STATUS(t, SOTTO_MALFORMED, read_back(t, &m));
    m.count = 1;
    m.step = SOTTO_KEYGEN_OVER;
    CHECK_STATUS(t, SOTTO_MALFORMED, read_back(t, &m));
    m.step = SOTTO_KEYGEN_DEAL - 1;
    CHECK_STATUS(t, SOTTO_MALFORMED, read_back(t, &m));
    m.step = SOTTO_KEYGEN_DEAL;
    CHECK_OK(t, sotto_meeting_encode(&wire, &m, &t->err));
    for (size_t len = 0; len < wire.len; len++)
        CHECK_STATUS(t, SOTTO_MALFORMED,
                     sotto_meeting_decode(&read, sotto_bytes_of(wire.data, len), NULL));
    wire.data[0] ^= 1;
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_meeting_decode(&read, sotto_buf_bytes(&wire), NULL));
}

static void a_list_of_posts_ends_where_it_is_cut(sotto_test *t)
{
    static const uint8_t list[] = {0, 0, 0, 1, 7, 0, 0, 0, 0, 0, 0, 0, 2, 8};
    sotto_bytes posts = sotto_bytes_of(list, sizeof list), post;

    CHECK(t, sotto_meeting_next(&posts, &post) && post.len == 1 && post.data[0] == 7);
    CHECK(t, sotto_meeting_next(&posts, &post) && post.len == 0);
    CHECK(t, !sotto_meeting_next(&posts, &post)); /* two bytes are promised */
    posts.len = 3;
    CHECK(t, !sotto_meeting_next(&posts, &post));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(everybody_who_is_listed_meets),
        CASE(others_than_the_listed_are_not_met),
        CASE(a_channel_key_is_its_members_own),
        CASE(a_key_has_a_quorum_of_the_listed),
        CASE(members_have_the_places_of_the_list),
        CASE(as_many_meet_as_are_listed),
        CASE(nobody_hands_a_key_on_in_a_meeting),
        CASE(a_meeting_is_read_as_it_was_written_or_not_at_all),
        CASE(a_list_of_posts_ends_where_it_is_cut),
    };

    return RUN_TESTS(argc, argv, cases);
}
