/* Questions of a duty whose server answers at length: memory has a bound, and what waits behind a question still goes. */
#include "aggregate/aero/terms.h"
#include "base/arena.h"
#include "device/duties/inside.h"
#include "support/test.h"

#include <string.h>

enum { MIB = 1 << 20, MAIL = 32 * MIB, PIECE = 1 << 16 };

typedef struct scene {
    sotto_duties duties;
    sotto_posted_round posted;
    sotto_duties_mail mail;
    size_t answer; /* bytes of every answer */
    unsigned sent; /* requests */
} scene;

static sotto_status carry(void *context, sotto_exchange *e)
{
    static const uint8_t zeros[PIECE];
    const sotto_exchange_head head = {
        .size = sizeof head, .status = 200, .media_type = "application/vnd.sotto.inbox"};
    scene *s = context;
    uint8_t body[16];
    size_t len;

    s->sent++;
    SOTTO_TRY(e->read(e, 0, body, sizeof body, &len));
    SOTTO_TRY(e->begin(e, &head));
    for (size_t left = s->answer; left; left -= len) {
        len = left < PIECE ? left : PIECE;
        SOTTO_TRY(e->take(e, zeros, len));
    }
    return SOTTO_OK;
}

static void open_scene(scene *s, size_t answer)
{
    memset(s, 0, sizeof *s);
    s->answer = answer;
    s->duties.inbox = PIECE;
    s->duties.options.host = (sotto_device_host){.exchange = carry, .context = s};
    sotto_arena_init(&s->duties.memory, (size_t)512 * MIB);
}

static void close_scene(scene *s)
{
    sotto_arena_clear(&s->duties.memory);
}

static void ask(sotto_test *t, scene *s, int64_t row, bool *after, bool *done)
{
    static const uint8_t question[8] = {1};

    CHECK_OK(t, sotto_duties_ask(&s->duties, &s->posted, row,
                                 sotto_bytes_of(question, sizeof question), &s->mail, after, done,
                                 &t->err));
}

static void a_server_that_answers_at_length_is_asked_later(sotto_test *t)
{
    bool after, done;
    scene s;

    open_scene(&s, 12 * MIB);
    for (int64_t row = 1; row <= 3; row++) {
        ask(t, &s, row, &after, &done);
        CHECK(t, after && done);
    }
    CHECK(t, s.mail.len >= MAIL);
    const unsigned sent = s.sent;
    for (int64_t row = 4; row <= 6; row++) {
        ask(t, &s, row, &after, &done);
        /* It stays in the journal, and a complaint behind it goes. */
        CHECK(t, after && !done);
    }
    CHECK_EQUAL(t, sent, s.sent);
    CHECK_EQUAL(t, 3, s.mail.answers->row);
    /* The machine has read them. */
    s.mail = (sotto_duties_mail){0};
    ask(t, &s, 4, &after, &done);
    CHECK(t, after && done);
    CHECK(t, s.sent > sent);
    close_scene(&s);
}

static void an_answer_is_no_longer_than_a_message(sotto_test *t)
{
    const size_t longest = (size_t)SOTTO_AERO_LONG + 12 + SOTTO_MESSAGE_HEAD + SOTTO_SIGNATURE;
    bool after, done;
    scene s;

    open_scene(&s, longest);
    ask(t, &s, 1, &after, &done);
    CHECK(t, after && done);
    CHECK_EQUAL(t, longest, s.mail.len);
    close_scene(&s);
    open_scene(&s, longest + 1);
    ask(t, &s, 1, &after, &done);
    CHECK(t, after && !done);
    CHECK(t, !s.mail.answers);
    close_scene(&s);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_server_that_answers_at_length_is_asked_later),
        CASE(an_answer_is_no_longer_than_a_message),
    };
    return RUN_TESTS(argc, argv, cases);
}
