/* Long vectors come in pieces: nothing of one is taken from a stranger, memory is bounded, half a vector changes no sum. */
#define _POSIX_C_SOURCE 200809L
#include "aggregation.h"

#include "serve/aggregator/aggregator.h"
#include "support/http.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LONG = 20000 }; /* entries: 80,000 bytes */

static void open_long(sotto_test *t, aggregation *a, const char *more)
{
    aggregation_open(t, a, 3, 3, more);
    a->length = LONG;
    CHECK_EQUAL(t, 201, aggregation_post(t, a, 3));
    for (uint32_t i = 0; i < 3; i++)
        aggregation_answer(t, a, i, true);
}

/* What this device would send first; it is switched off. */
static sotto_bytes report_of(sotto_test *t, aggregation *a, uint32_t device)
{
    a->fleet.exchanges_left = 0;
    if (a->fleet.devices[device].duties)
        aggregation_turn(t, a, 1);
    sotto_fleet_kill(&a->fleet, device);
    return aggregation_waiting(t, a, device);
}

static void revive(sotto_test *t, aggregation *a)
{
    a->fleet.exchanges_left = UINT_MAX;
    for (uint32_t i = 0; i < a->fleet.count; i++)
        if (!a->fleet.devices[i].duties)
            CHECK_OK(t, sotto_fleet_revive(&a->fleet, i, &t->err));
}

static unsigned send_whole(sotto_test *t, const aggregation *a, sotto_bytes body)
{
    return aggregation_ask(t, a, SOTTO_HTTP_POST, aggregation_place(t, a, "/messages"), OPERATOR,
                           SOTTO_MESSAGE_TYPE, body)
        .status;
}

/* Sends the request's head and so much of its body. */
static int begin(sotto_test *t, const aggregation *a, sotto_bytes body, size_t now)
{
    const int fd = sotto_test_dial(t, (uint16_t)sotto_host_port(a->host));
    char head[400];

    (void)snprintf(head, sizeof head,
                   "POST /%s HTTP/1.1\r\nHost: a\r\nContent-Type: " SOTTO_MESSAGE_TYPE
                   "\r\nContent-Length: %zu\r\n\r\n",
                   aggregation_place(t, a, "/messages"), body.len);
    sotto_test_send_text(t, fd, head);
    sotto_test_send(t, fd, body.data, now);
    return fd;
}

static unsigned finish(sotto_test *t, int fd, sotto_bytes body, size_t sent)
{
    sotto_test_send(t, fd, body.data + sent, body.len - sent);
    const unsigned status = sotto_test_hear(t, fd).status;
    (void)close(fd);
    return status;
}

typedef struct counts {
    unsigned vectors, waiting;
    size_t gathered;
} counts;

static counts count(const aggregation *a)
{
    sotto_uploads *u = &((sotto_aggregator *)a->host->state)->uploads;

    pthread_mutex_lock(&u->lock);
    const counts now = {u->vectors, u->waiting, u->gathered};
    pthread_mutex_unlock(&u->lock);
    return now;
}

static bool becomes(const aggregation *a, unsigned vectors, unsigned waiting)
{
    for (uint64_t until = 0; sotto_test_waits(&until, 2);) {
        const counts now = count(a);

        if (now.vectors == vectors && now.waiting == waiting)
            return true;
    }
    return false;
}

static void check_released(sotto_test *t, aggregation *a)
{
    revive(t, a);
    CHECK(t, aggregation_ends(t, a, "released"));
    CHECK(t, aggregation_sum_is(t, a, 7));
    CHECK(t, becomes(a, 0, 0));
    CHECK_EQUAL(t, 0, count(a).gathered);
}

/* A byte at a time over every border: length, message, vector. */
static void a_vector_in_any_pieces_counts_once(sotto_test *t)
{
    aggregation a;

    open_long(t, &a, "");
    const sotto_bytes body = report_of(t, &a, 0);
    const size_t message =
        4 + ((size_t)body.data[2] << 8 | body.data[3] | (size_t)body.data[1] << 16);
    const size_t cuts[] = {1, 3, 5, message - 1, message, message + 3, body.len - 1};
    int fd = begin(t, &a, body, 0);
    size_t at = 0;

    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
        sotto_test_send(t, fd, body.data + at, cuts[i] - at);
        at = cuts[i];
        sotto_test_sleep_ms(3);
    }
    CHECK_EQUAL(t, 204, finish(t, fd, body, at));
    CHECK_EQUAL(t, 204, send_whole(t, &a, body)); /* it missed the answer */
    check_released(t, &a);
    aggregation_close(&a);
}

static void what_is_wrong_with_an_upload_is_told(sotto_test *t)
{
    aggregation a;

    open_long(t, &a, "");
    const sotto_bytes body = report_of(t, &a, 0);
    const size_t message =
        4 + ((size_t)body.data[2] << 8 | body.data[3] | (size_t)body.data[1] << 16);
    uint8_t *forged = sotto_arena_take(&t->arena, body.len + 4);

    CHECK(t, forged != NULL);
    memcpy(forged, body.data, body.len);
    memset(forged + body.len, 0, 4);
    CHECK_EQUAL(t, 400, send_whole(t, &a, sotto_bytes_of(forged, body.len - 4)));
    CHECK_EQUAL(t, 413, send_whole(t, &a, sotto_bytes_of(forged, body.len + 4)));
    /* Signed by nobody: it is told before its vector comes. */
    forged[message - 1] ^= 1;
    const sotto_bytes stranger = sotto_bytes_of(forged, body.len);
    const int fd = begin(t, &a, stranger, message);
    CHECK_EQUAL(t, 403, sotto_test_hear(t, fd).status);
    (void)close(fd);
    forged[0] = 0xff; /* a message of 4 GiB */
    CHECK_EQUAL(t, 400, send_whole(t, &a, stranger));
    CHECK(t, becomes(&a, 0, 0));
    CHECK_EQUAL(t, 204, send_whole(t, &a, body));
    check_released(t, &a);
    aggregation_close(&a);
}

static sotto_uploads *uploads_of(const aggregation *a)
{
    return &((sotto_aggregator *)a->host->state)->uploads;
}

/* As if a thread were at it: what asks meanwhile waits for the next that finds none. */
static void pretend_to_judge(const aggregation *a, bool judging)
{
    sotto_uploads *u = uploads_of(a);

    pthread_mutex_lock(&u->lock);
    u->judging = judging;
    pthread_mutex_unlock(&u->lock);
}

static bool asking(const aggregation *a, unsigned wanted)
{
    sotto_uploads *u = uploads_of(a);

    for (uint64_t until = 0; sotto_test_waits(&until, 2);) {
        unsigned count = 0;

        pthread_mutex_lock(&u->lock);
        for (const sotto_upload *one = u->asked; one; one = one->behind)
            count++;
        pthread_mutex_unlock(&u->lock);
        if (count == wanted)
            return true;
    }
    return false;
}

static sotto_bytes forged_like(sotto_test *t, sotto_bytes body)
{
    const size_t message =
        4 + ((size_t)body.data[2] << 8 | body.data[3] | (size_t)body.data[1] << 16);
    uint8_t *forged = sotto_arena_take(&t->arena, body.len);

    CHECK(t, forged != NULL);
    memcpy(forged, body.data, body.len);
    forged[message - 1] ^= 1;
    return sotto_bytes_of(forged, body.len);
}

/* Each is told what became of its own. */
static void messages_that_wait_are_judged_together(sotto_test *t)
{
    sotto_bytes bodies[4];
    aggregation a;
    int fds[4];

    open_long(t, &a, "");
    for (uint32_t i = 0; i < 3; i++)
        bodies[i] = report_of(t, &a, i);
    bodies[3] = forged_like(t, bodies[1]);
    pretend_to_judge(&a, true);
    fds[0] = begin(t, &a, bodies[0], bodies[0].len);
    fds[3] = begin(t, &a, bodies[3], bodies[3].len);
    fds[2] = begin(t, &a, bodies[2], bodies[2].len);
    CHECK(t, asking(&a, 3));
    CHECK(t, count(&a).gathered > 3 * 10000 && becomes(&a, 0, 0));
    pretend_to_judge(&a, false);
    CHECK_EQUAL(t, 204, send_whole(t, &a, bodies[1]));
    CHECK_EQUAL(t, 204, sotto_test_hear(t, fds[0]).status);
    CHECK_EQUAL(t, 403, sotto_test_hear(t, fds[3]).status);
    CHECK_EQUAL(t, 204, sotto_test_hear(t, fds[2]).status);
    for (size_t i = 0; i < 4; i++)
        if (i != 1)
            (void)close(fds[i]);
    check_released(t, &a);
    aggregation_close(&a);
}

/* What came behind its message has no room: the message is judged at once, and the rest waits nowhere. */
static void a_message_that_no_room_is_left_for_is_judged_at_once(sotto_test *t)
{
    const size_t full = SOTTO_UPLOADS_GATHERED - 16384; /* the message's own room is left */
    aggregation a;

    open_long(t, &a, "");
    const sotto_bytes body = report_of(t, &a, 0);
    pretend_to_judge(&a, true);
    pthread_mutex_lock(&uploads_of(&a)->lock);
    uploads_of(&a)->gathered += full;
    pthread_mutex_unlock(&uploads_of(&a)->lock);
    CHECK_EQUAL(t, 403, send_whole(t, &a, forged_like(t, body)));
    CHECK_EQUAL(t, 204, send_whole(t, &a, body));
    CHECK(t, becomes(&a, 0, 0));
    for (uint64_t until = 0; count(&a).gathered != full;) /* an upload ends after it was answered */
        CHECK(t, sotto_test_waits(&until, 2));
    pthread_mutex_lock(&uploads_of(&a)->lock);
    uploads_of(&a)->gathered -= full;
    pthread_mutex_unlock(&uploads_of(&a)->lock);
    pretend_to_judge(&a, false);
    check_released(t, &a);
    aggregation_close(&a);
}

/* Whoever judges it has its message in hands. */
static void an_upload_that_is_lost_while_it_is_judged_is_ended_by_the_judge(sotto_test *t)
{
    static sotto_aggregator a;
    sotto_upload first = {.of = &a, .is_at_work = true}, second = {.of = &a}, third = {.of = &a};

    CHECK_OK(t, sotto_uploads_init(&a.uploads, 1, &t->err));
    a.uploads.judging = true;
    sotto_upload_ask(&second);
    sotto_upload_ask(&third);
    CHECK(t, !sotto_upload_asks_no_more(&first) && first.is_lost);
    CHECK(t, sotto_upload_asks_no_more(&third) && !third.is_lost);
    CHECK(t, a.uploads.asked == &second && !second.behind);
    sotto_upload_ask(&third);
    CHECK(t, sotto_upload_asks_no_more(&second) && a.uploads.asked == &third);
    sotto_uploads_clear(&a.uploads);
}

static void a_server_that_ends_lets_go_of_what_asks(sotto_test *t)
{
    sotto_bytes bodies[3];
    aggregation a;
    int fds[2];

    open_long(t, &a, "");
    for (uint32_t i = 0; i < 3; i++)
        bodies[i] = report_of(t, &a, i);
    pretend_to_judge(&a, true);
    for (size_t i = 0; i < 2; i++)
        fds[i] = begin(t, &a, bodies[i], 50000);
    CHECK(t, asking(&a, 2));
    aggregation_restart(t, &a);
    for (size_t i = 0; i < 2; i++)
        (void)close(fds[i]);
    aggregation_turn(t, &a, 1000);
    for (uint32_t i = 0; i < 3; i++)
        CHECK_EQUAL(t, 204, send_whole(t, &a, bodies[i]));
    check_released(t, &a);
    aggregation_close(&a);
}

/* Whoever goes away in the middle leaves nothing behind, and may begin again. */
static void half_a_vector_changes_no_sum(sotto_test *t)
{
    aggregation a;

    open_long(t, &a, "");
    const sotto_bytes body = report_of(t, &a, 0);
    const int fd = begin(t, &a, body, body.len / 2);
    CHECK(t, becomes(&a, 1, 0));
    (void)close(fd);
    CHECK(t, becomes(&a, 0, 0));
    CHECK_EQUAL(t, 204, send_whole(t, &a, body));
    check_released(t, &a);
    aggregation_close(&a);
}

/* Those beyond max_uploads wait until there is room; nobody is refused. */
static void vectors_in_memory_are_bounded(sotto_test *t)
{
    sotto_bytes bodies[3];
    aggregation a;
    int fds[3];

    open_long(t, &a, "max_uploads = 1\n");
    for (uint32_t i = 0; i < 3; i++)
        bodies[i] = report_of(t, &a, i);
    fds[0] = begin(t, &a, bodies[0], 50000);
    CHECK(t, becomes(&a, 1, 0));
    fds[1] = begin(t, &a, bodies[1], 50000);
    CHECK(t, becomes(&a, 1, 1));
    fds[2] = begin(t, &a, bodies[2], bodies[2].len);
    CHECK(t, becomes(&a, 1, 2));
    (void)close(fds[2]); /* it does not wait for its turn */
    CHECK_EQUAL(t, 204, finish(t, fds[0], bodies[0], 50000));
    CHECK_EQUAL(t, 204, finish(t, fds[1], bodies[1], 50000));
    check_released(t, &a);
    aggregation_close(&a);
}

/* One client's many connections do not take the room of others. */
static void a_client_has_one_upload_at_a_time(sotto_test *t)
{
    aggregation a;

    open_long(t, &a, "");
    const sotto_bytes body = report_of(t, &a, 0), other = report_of(t, &a, 1);
    const int fd = begin(t, &a, body, 50000);
    CHECK(t, becomes(&a, 1, 0));
    CHECK_EQUAL(t, 503, send_whole(t, &a, body));
    CHECK_EQUAL(t, 204, send_whole(t, &a, other));
    CHECK_EQUAL(t, 204, finish(t, fd, body, 50000));
    check_released(t, &a);
    aggregation_close(&a);
}

/* Messages that nobody has judged have a budget. */
static void gathered_messages_are_bounded(sotto_test *t)
{
    aggregation a;

    open_long(t, &a, "");
    const sotto_bytes body = report_of(t, &a, 0);
    sotto_uploads *u = &((sotto_aggregator *)a.host->state)->uploads;

    pthread_mutex_lock(&u->lock);
    u->gathered += SOTTO_UPLOADS_GATHERED;
    pthread_mutex_unlock(&u->lock);
    CHECK_EQUAL(t, 503, send_whole(t, &a, body));
    pthread_mutex_lock(&u->lock);
    u->gathered -= SOTTO_UPLOADS_GATHERED;
    pthread_mutex_unlock(&u->lock);
    CHECK_EQUAL(t, 204, send_whole(t, &a, body));
    check_released(t, &a);
    aggregation_close(&a);
}

/* What was acknowledged is in the sum of the server that starts next; what was not is sent again. */
static void a_restart_between_pieces_loses_nothing(sotto_test *t)
{
    aggregation a;

    open_long(t, &a, "");
    const sotto_bytes first = report_of(t, &a, 0), second = report_of(t, &a, 1);
    CHECK_EQUAL(t, 204, send_whole(t, &a, first));
    const int fd = begin(t, &a, second, 60000);
    CHECK(t, becomes(&a, 1, 0));
    aggregation_restart(t, &a);
    (void)close(fd);
    aggregation_turn(t, &a, 1000); /* it looks for its rounds */
    CHECK_EQUAL(t, 204, send_whole(t, &a, first));
    check_released(t, &a);
    aggregation_close(&a);
}

static sotto_put_queue *queue_of(const aggregation *a)
{
    return sotto_running_puts(((sotto_aggregator *)a->host->state)->rounds->running);
}

/* Whether so many whole vectors wait to be stored with others. */
static bool waits(const aggregation *a, unsigned whole)
{
    sotto_put_queue *q = queue_of(a);

    for (uint64_t until = 0; sotto_test_waits(&until, 2);) {
        pthread_mutex_lock(&q->lock);
        const unsigned now = q->count;
        pthread_mutex_unlock(&q->lock);
        if (now == whole)
            return true;
    }
    return false;
}

/* The sum is written once for all that came meanwhile; the clock says how long that is. */
static void a_vector_waits_for_others_but_not_for_long(sotto_test *t)
{
    sotto_bytes bodies[3];
    aggregation a;
    int fds[3];

    open_long(t, &a, "");
    for (uint32_t i = 0; i < 3; i++)
        bodies[i] = report_of(t, &a, i);
    CHECK_EQUAL(t, 204, send_whole(t, &a, bodies[0])); /* alone */
    fds[1] = begin(t, &a, bodies[1], 50000);
    CHECK(t, becomes(&a, 1, 0));
    fds[2] = begin(t, &a, bodies[2], bodies[2].len);
    CHECK(t, waits(&a, 1));
    aggregation_turn(t, &a, SOTTO_PUTS_GATHER_MS);
    CHECK_EQUAL(t, 204, sotto_test_hear(t, fds[2]).status);
    CHECK(t, waits(&a, 0));
    CHECK_EQUAL(t, 204, finish(t, fds[1], bodies[1], 50000)); /* nobody else comes */
    (void)close(fds[2]);
    check_released(t, &a);
    aggregation_close(&a);
}

/* A report that is here when the window closes is in the sum, also where it waits for others. */
static void a_vector_that_waits_is_in_time(sotto_test *t)
{
    sotto_bytes bodies[3];
    aggregation a;
    int fds[3];

    open_long(t, &a, "");
    for (uint32_t i = 0; i < 3; i++)
        bodies[i] = report_of(t, &a, i);
    aggregation_turn(t, &a, 9900); /* of 10 s */
    CHECK_EQUAL(t, 204, send_whole(t, &a, bodies[0]));
    fds[1] = begin(t, &a, bodies[1], 50000);
    CHECK(t, becomes(&a, 1, 0));
    fds[2] = begin(t, &a, bodies[2], bodies[2].len);
    CHECK(t, waits(&a, 1));
    aggregation_turn(t, &a, 150);
    CHECK_EQUAL(t, 204, sotto_test_hear(t, fds[2]).status);
    (void)close(fds[1]);
    (void)close(fds[2]);
    aggregation_close(&a);
}

static sotto_status run_text(sotto_tx *tx, void *context, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, context, err));
    return sotto_sql_run(&q, NULL, err);
}

/* A step fails just when the window closes: what waited for it is no later for that. */
static void a_batch_that_can_not_be_stored_stays_in_time(sotto_test *t)
{
    static char away[] = "ALTER TABLE kept RENAME TO away",
                back[] = "ALTER TABLE away RENAME TO kept";
    sotto_bytes bodies[3];
    aggregation a;
    int fds[3];

    open_long(t, &a, "");
    for (uint32_t i = 0; i < 3; i++)
        bodies[i] = report_of(t, &a, i);
    aggregation_turn(t, &a, 9900); /* of 10 s */
    CHECK_EQUAL(t, 204, send_whole(t, &a, bodies[0]));
    fds[1] = begin(t, &a, bodies[1], 50000);
    CHECK(t, becomes(&a, 1, 0));
    fds[2] = begin(t, &a, bodies[2], bodies[2].len);
    CHECK(t, waits(&a, 1));
    CHECK_OK(t, sotto_db_run(a.host->db, run_text, away, &t->err));
    aggregation_turn(t, &a, 150);
    CHECK(t, waits(&a, 1));
    CHECK_OK(t, sotto_db_run(a.host->db, run_text, back, &t->err));
    aggregation_turn(t, &a, 1000);
    CHECK_EQUAL(t, 204, sotto_test_hear(t, fds[2]).status);
    (void)close(fds[1]);
    (void)close(fds[2]);
    aggregation_close(&a);
}

/* The third time its sender is told to try again. */
static void a_batch_is_tried_three_times(sotto_test *t)
{
    static char away[] = "ALTER TABLE kept RENAME TO away",
                back[] = "ALTER TABLE away RENAME TO kept";
    sotto_bytes bodies[3];
    aggregation a;
    int fd;

    open_long(t, &a, "");
    bodies[0] = report_of(t, &a, 0);
    CHECK_OK(t, sotto_db_run(a.host->db, run_text, away, &t->err));
    fd = begin(t, &a, bodies[0], bodies[0].len);
    CHECK(t, waits(&a, 1));
    aggregation_turn(t, &a, 1000);
    CHECK(t, waits(&a, 1));
    aggregation_turn(t, &a, 1000);
    CHECK_EQUAL(t, 503, sotto_test_hear(t, fd).status);
    CHECK_OK(t, sotto_db_run(a.host->db, run_text, back, &t->err));
    aggregation_turn(t, &a, 1000);
    CHECK_EQUAL(t, 204, send_whole(t, &a, bodies[0]));
    (void)close(fd);
    aggregation_close(&a);
}

static void count_done(sotto_put *put)
{
    put->is_known = true;
}

/* Two threads do not look at the clock at once. Who takes, and looked first, leaves nothing to a thread that has gone. */
static void what_comes_while_a_batch_is_stored_is_taken_with_the_next(sotto_test *t)
{
    sotto_put first = {.done = count_done}, second = first,
              waits = {.done = count_done, .may_wait = true};
    sotto_put_queue q;

    sotto_put_queue_init(&q);
    sotto_put_queue_add(&q, &first);
    CHECK(t, sotto_put_queue_begin(&q, 100));
    CHECK(t, sotto_put_queue_take(&q, 100) == &first);
    sotto_put_queue_add(&q, &second);
    CHECK(t, !sotto_put_queue_begin(&q, 101)); /* the other thread is at it ... */
    CHECK(t, sotto_put_queue_take(&q, 100) == &second);
    CHECK(t, sotto_put_queue_take(&q, 100) == NULL); /* ... until now */
    sotto_put_queue_add(&q, &waits);
    CHECK(t, !sotto_put_queue_begin(&q, 100 + SOTTO_PUTS_GATHER_MS - 1));
    CHECK_EQUAL(t, 1, sotto_put_queue_wait(&q, 100 + SOTTO_PUTS_GATHER_MS - 1));
    CHECK(t, sotto_put_queue_begin(&q, 100 + SOTTO_PUTS_GATHER_MS));
    sotto_put_queue_clear(&q);
    CHECK_EQUAL(t, SOTTO_IO, waits.status);
    CHECK(t, waits.is_known && !first.is_known);
}

/* Whoever waits when the server ends is not left without an end. */
static void a_server_that_ends_lets_go_of_what_waits(sotto_test *t)
{
    sotto_bytes bodies[3];
    aggregation a;
    int fds[3];

    open_long(t, &a, "");
    for (uint32_t i = 0; i < 3; i++)
        bodies[i] = report_of(t, &a, i);
    CHECK_EQUAL(t, 204, send_whole(t, &a, bodies[0]));
    fds[1] = begin(t, &a, bodies[1], 50000);
    CHECK(t, becomes(&a, 1, 0));
    fds[2] = begin(t, &a, bodies[2], bodies[2].len);
    CHECK(t, waits(&a, 1));
    aggregation_restart(t, &a);
    (void)close(fds[1]);
    (void)close(fds[2]);
    aggregation_turn(t, &a, 1000);
    for (uint32_t i = 0; i < 3; i++)
        CHECK_EQUAL(t, 204, send_whole(t, &a, bodies[i]));
    check_released(t, &a);
    aggregation_close(&a);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_vector_in_any_pieces_counts_once),
        CASE(what_is_wrong_with_an_upload_is_told),
        CASE(messages_that_wait_are_judged_together),
        CASE(a_message_that_no_room_is_left_for_is_judged_at_once),
        CASE(an_upload_that_is_lost_while_it_is_judged_is_ended_by_the_judge),
        CASE(a_server_that_ends_lets_go_of_what_asks),
        CASE(half_a_vector_changes_no_sum),
        CASE(vectors_in_memory_are_bounded),
        CASE(a_client_has_one_upload_at_a_time),
        CASE(gathered_messages_are_bounded),
        CASE(a_restart_between_pieces_loses_nothing),
        CASE(a_vector_waits_for_others_but_not_for_long),
        CASE(a_vector_that_waits_is_in_time),
        CASE(a_batch_that_can_not_be_stored_stays_in_time),
        CASE(a_batch_is_tried_three_times),
        CASE(what_comes_while_a_batch_is_stored_is_taken_with_the_next),
        CASE(a_server_that_ends_lets_go_of_what_waits),
    };
    return RUN_TESTS(argc, argv, cases);
}
