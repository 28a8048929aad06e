/* Boards of key generations in the database: which step is open, what is taken in it, and what one answer holds. */
#include "serve/aggregator/keygen_store.h"

#include "base/arena.h"
#include "db/migrate.h"
#include "support/database.h"
#include "support/test.h"

#include <string.h>

enum { MEMBERS = 3, DEALERS = 4, STEP_MS = 1000, ENDS = 100000, MOST = 1 << 16 };

typedef struct scene {
    sotto_test *t;
    sotto_db *db;
    sotto_keygen k;
} scene;

/* Posts were checked before they come here: what is in them is no matter. */
static void open_scene(sotto_test *t, scene *s, bool hands_on)
{
    static const sotto_migration steps[] = {{1, SOTTO_KEYGEN_STORE_SCHEMA}};
    static const uint32_t members[MEMBERS] = {0, 1, 2}, dealers[DEALERS] = {0, 1, 2, 3};

    *s = (scene){.t = t,
                 .db = sotto_test_db_at(t, sotto_test_address(t)),
                 .k = {.id = {7},
                       .session = {1},
                       .epoch = 2,
                       .count = MEMBERS,
                       .members = (uint32_t *)(size_t)members,
                       .hands_on = hands_on,
                       .dealers = hands_on ? DEALERS : MEMBERS,
                       .dealer = hands_on ? dealers : members,
                       .step_ms = STEP_MS,
                       .ends = ENDS}};
    CHECK_OK(t, sotto_db_migrate(s->db, steps, 1, &t->err));
    CHECK_OK(t, sotto_keygen_store_add(s->db, &s->k, sotto_bytes_of((const uint8_t *)"call", 4), 0,
                                       &t->err));
}

static sotto_status put_bytes(scene *s, unsigned step, uint32_t place, sotto_bytes wire,
                              uint64_t now)
{
    const sotto_keygen_post post = {.step = step, .place = place};

    return sotto_keygen_store_put(s->db, &s->k, &post, wire, now, NULL);
}

static sotto_status put(scene *s, unsigned step, uint32_t place, uint64_t now)
{
    const uint8_t wire[] = {(uint8_t)step, (uint8_t)place};

    return put_bytes(s, step, place, sotto_bytes_of(wire, sizeof wire), now);
}

static sotto_bytes board(scene *s, uint64_t since, size_t most, uint64_t now)
{
    sotto_bytes out;

    CHECK_OK(s->t, sotto_keygen_store_board(s->db, &s->k, since, most, now, &out, &s->t->arena,
                                            &s->t->err));
    CHECK(s->t, out.len >= 5);
    return out;
}

static unsigned step_at(scene *s, uint64_t now)
{
    return board(s, 0, MOST, now).data[0];
}

static void what_is_not_there_is_missing(sotto_test *t)
{
    static const uint8_t other[SOTTO_KEYGEN_ID] = {8};
    sotto_bytes wire;
    scene s;

    open_scene(t, &s, false);
    CHECK_OK(t, sotto_keygen_store_call(s.db, s.k.id, &wire, &t->arena, &t->err));
    CHECK_EQUAL(t, 4, wire.len);
    CHECK_STATUS(t, SOTTO_MISSING, sotto_keygen_store_call(s.db, other, &wire, &t->arena, NULL));
    s.k.id[0]++;
    CHECK_STATUS(t, SOTTO_MISSING, put(&s, SOTTO_KEYGEN_DEAL, 0, 1));
    CHECK_STATUS(t, SOTTO_MISSING,
                 sotto_keygen_store_board(s.db, &s.k, 0, MOST, 1, &wire, &t->arena, NULL));
    sotto_db_close(s.db);
}

static void a_sender_says_one_thing_in_a_step(sotto_test *t)
{
    static const uint8_t other[] = {9, 9};
    scene s;

    open_scene(t, &s, false);
    CHECK_OK(t, put(&s, SOTTO_KEYGEN_DEAL, 0, 1));
    CHECK_OK(t, put(&s, SOTTO_KEYGEN_DEAL, 0, 2));
    CHECK_STATUS(t, SOTTO_STALE,
                 put_bytes(&s, SOTTO_KEYGEN_DEAL, 0, sotto_bytes_of(other, sizeof other), 3));
    CHECK_EQUAL(t, 1, board(&s, 0, MOST, 4).data[4]);
    CHECK_STATUS(t, SOTTO_AGAIN, put(&s, SOTTO_KEYGEN_COMPLAIN, 0, 5));
    for (uint32_t i = 1; i < MEMBERS; i++)
        CHECK_OK(t, put(&s, SOTTO_KEYGEN_DEAL, i, 6));
    CHECK_EQUAL(t, SOTTO_KEYGEN_COMPLAIN, step_at(&s, 7));
    /* Late, and the same as before: it is there. Late and new: it is not taken. */
    CHECK_OK(t, put(&s, SOTTO_KEYGEN_DEAL, 0, 8));
    CHECK_STATUS(t, SOTTO_STALE,
                 put_bytes(&s, SOTTO_KEYGEN_DEAL, 0, sotto_bytes_of(other, sizeof other), 8));
    sotto_db_close(s.db);
}

/* Nobody looked at the board meanwhile: a post finds the time over by itself. */
static void a_post_after_its_time_is_late(sotto_test *t)
{
    scene s;

    open_scene(t, &s, false);
    CHECK_OK(t, put(&s, SOTTO_KEYGEN_DEAL, 0, STEP_MS - 1));
    CHECK_STATUS(t, SOTTO_STALE, put(&s, SOTTO_KEYGEN_DEAL, 1, STEP_MS));
    CHECK_EQUAL(t, SOTTO_KEYGEN_COMPLAIN, step_at(&s, STEP_MS));
    /* That step has its whole time. */
    CHECK_EQUAL(t, SOTTO_KEYGEN_COMPLAIN, step_at(&s, 2 * STEP_MS - 1));
    CHECK_EQUAL(t, SOTTO_KEYGEN_ANSWER, step_at(&s, 2 * STEP_MS));
    sotto_db_close(s.db);
}

static void what_is_over_stays_over(sotto_test *t)
{
    scene s;

    open_scene(t, &s, false);
    /* By its steps, long before the end of its time. */
    for (uint64_t i = 1; i < SOTTO_KEYGEN_OVER; i++)
        CHECK_EQUAL(t, SOTTO_KEYGEN_DEAL + i, step_at(&s, i * STEP_MS));
    CHECK_EQUAL(t, SOTTO_KEYGEN_OVER, step_at(&s, SOTTO_KEYGEN_OVER * STEP_MS));
    CHECK_EQUAL(t, SOTTO_KEYGEN_OVER, step_at(&s, ENDS));
    CHECK_EQUAL(t, SOTTO_KEYGEN_OVER, step_at(&s, ENDS + 2 * STEP_MS));
    CHECK_STATUS(t, SOTTO_STALE, put(&s, SOTTO_KEYGEN_DEAL, 0, ENDS + 2 * STEP_MS));
    /* A clock that was put back opens nothing again. */
    CHECK_EQUAL(t, SOTTO_KEYGEN_OVER, step_at(&s, 5));
    sotto_db_close(s.db);
}

/* In a hand-over those who complain have not spoken before: all of them are waited for. */
static void new_members_are_waited_for_in_their_first_step(sotto_test *t)
{
    scene s;

    open_scene(t, &s, true);
    for (uint32_t i = 0; i < DEALERS; i++)
        CHECK_OK(t, put(&s, SOTTO_KEYGEN_DEAL, i, 1));
    for (uint32_t i = 0; i < MEMBERS; i++) {
        CHECK_EQUAL(t, SOTTO_KEYGEN_COMPLAIN, step_at(&s, 2));
        CHECK_OK(t, put(&s, SOTTO_KEYGEN_COMPLAIN, i, 2));
    }
    CHECK_EQUAL(t, SOTTO_KEYGEN_ANSWER, step_at(&s, 3));
    sotto_db_close(s.db);
}

/* Who was silent in its last step is not waited for. */
static void who_was_silent_is_not_waited_for(sotto_test *t)
{
    scene s;

    open_scene(t, &s, true);
    for (uint32_t i = 0; i < DEALERS - 1; i++)
        CHECK_OK(t, put(&s, SOTTO_KEYGEN_DEAL, i, 1));
    CHECK_EQUAL(t, SOTTO_KEYGEN_COMPLAIN, step_at(&s, STEP_MS));
    for (uint32_t i = 0; i < MEMBERS; i++)
        CHECK_OK(t, put(&s, SOTTO_KEYGEN_COMPLAIN, i, STEP_MS));
    for (uint32_t i = 0; i < DEALERS - 1; i++) {
        CHECK_EQUAL(t, SOTTO_KEYGEN_ANSWER, step_at(&s, STEP_MS + 1));
        CHECK_OK(t, put(&s, SOTTO_KEYGEN_ANSWER, i, STEP_MS + 1));
    }
    for (uint32_t i = 0; i < MEMBERS; i++) {
        CHECK_EQUAL(t, SOTTO_KEYGEN_AGREE, step_at(&s, STEP_MS + 2));
        CHECK_OK(t, put(&s, SOTTO_KEYGEN_AGREE, i, STEP_MS + 2));
    }
    CHECK_EQUAL(t, SOTTO_KEYGEN_RECORD, step_at(&s, STEP_MS + 3));
    sotto_db_close(s.db);
}

/* The first post, and then what fits. */
static void a_long_board_comes_in_parts(sotto_test *t)
{
    enum { LEN = 100, FRAME = 12, HEAD = 5 };
    static const uint8_t body[LEN];
    scene s;

    open_scene(t, &s, true);
    for (uint32_t i = 0; i < DEALERS - 1; i++)
        CHECK_OK(t, put_bytes(&s, SOTTO_KEYGEN_DEAL, i, sotto_bytes_of(body, LEN), 1));
    CHECK_EQUAL(t, HEAD + 3 * (LEN + FRAME), board(&s, 0, MOST, 2).len);
    CHECK_EQUAL(t, HEAD + 2 * (LEN + FRAME), board(&s, 0, HEAD + 2 * (LEN + FRAME), 2).len);
    CHECK_EQUAL(t, HEAD + LEN + FRAME, board(&s, 0, HEAD + 2 * (LEN + FRAME) - 1, 2).len);
    CHECK_EQUAL(t, HEAD + LEN + FRAME, board(&s, 1, 1, 2).len);
    CHECK_EQUAL(t, HEAD, board(&s, 3, MOST, 2).len);
    CHECK_EQUAL(t, HEAD, board(&s, UINT64_MAX, MOST, 2).len);
    sotto_db_close(s.db);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(what_is_not_there_is_missing),
        CASE(a_sender_says_one_thing_in_a_step),
        CASE(a_post_after_its_time_is_late),
        CASE(what_is_over_stays_over),
        CASE(new_members_are_waited_for_in_their_first_step),
        CASE(who_was_silent_is_not_waited_for),
        CASE(a_long_board_comes_in_parts),
    };

    return RUN_TESTS(argc, argv, cases);
}
