/* Keys of ARC: an epoch has one, and for whom a server issues credentials under it. */
#include "support/arc_admitted.h"
#include "support/database.h"
#include "support/http.h"
#include "support/steps.h"

#include "base/arena.h"
#include "base/hex.h"
#include "dap/task_configuration.h"
#include "serve/tasks/arc_issue.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const sotto_test_service_options later = {.job_delay_ms = 3600000, .job_reports = 1000};

/* ---- epochs ------------------------------------------------------------------------------------------------------ */

static void epochs_never_overlap_and_are_made_once(sotto_test *t)
{
    static const uint8_t attester[32] = "digest", other[32] = "another digest";
    sotto_arc_key again, got;
    sotto_test_arc a;
    bool made;

    sotto_test_arc_open(t, &a, &later);
    const sotto_server *s = a.s.leader;
    const sotto_arc_epoch *epoch = &a.keys[0].epoch;
    CHECK_OK(t, sotto_arc_key_add(s->db, &again, &made, epoch->opens, epoch->closes, other,
                                  s->columns, &t->err));
    CHECK(t, !made && memcmp(again.public_key, a.keys[0].public_key, SOTTO_ARC_PUBLIC) == 0);
    CHECK_OK(t, sotto_arc_key_get(s->db, &got, epoch->key_id, other, s->columns, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_arc_key_add(s->db, &again, &made, epoch->closes - 1, epoch->closes + 10,
                                   attester, s->columns, &t->err));
    CHECK_REASON(t, "ARC key: another epoch overlaps this one");
    CHECK_OK(t, sotto_arc_key_add(s->db, &again, &made, epoch->closes, epoch->closes + 10, attester,
                                  s->columns, &t->err));
    CHECK(t, made && memcmp(again.public_key, a.keys[0].public_key, SOTTO_ARC_PUBLIC) != 0);
    sotto_test_arc_close(&a);
}

static void a_task_lies_within_an_epoch(sotto_test *t)
{
    sotto_test_arc a;
    sotto_task_configuration c;
    sotto_buf wire = sotto_test_buf(t, 1024);
    sotto_bare_task bare;

    sotto_test_arc_open(t, &a, &later);
    bare = sotto_test_arc_task(t, &a);
    CHECK_OK(t, sotto_task_configuration_decode(&c, bare.configuration, &t->err));
    c.extensions = sotto_bytes_of(NULL, 0);
    c.interval_duration += 3600 / c.time_precision + 1; /* past the epoch's end */
    CHECK_OK(t, sotto_task_configuration_encode(&wire, &c, &t->err));
    bare.configuration = sotto_buf_bytes(&wire);
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_tasks_add_bare(a.s.leader->db, a.s.leader->columns, SOTTO_LEADER, &bare, 0,
                                      a.s.task.id, &t->err));
    CHECK(t, strstr(t->err.reason, "no epoch of this server has the whole schedule"));
    sotto_test_arc_close(&a);
}

/* ---- issuing ----------------------------------------------------------------------------------------------------- */

static sotto_bytes request_for(sotto_test *t, const sotto_arc_key *key)
{
    sotto_scalar random[SOTTO_ARC_REQUEST_RANDOM];
    uint8_t context[SOTTO_ARC_CONTEXT];
    sotto_buf out = sotto_test_buf(t, SOTTO_TOKEN_ARC_REQUEST);
    sotto_arc_pending pending;
    sotto_group g;

    CHECK_OK(t, sotto_group_init(&g, &sotto_p256, &t->err));
    CHECK_OK(t, sotto_scalar_random(&g, random, SOTTO_ARC_REQUEST_RANDOM, &t->err));
    sotto_arc_request_context(context, &key->epoch);
    out.data[0] = 0xe5;
    out.data[1] = 0xac;
    out.data[2] = key->epoch.key_id[SOTTO_TOKEN_KEY_ID - 1];
    CHECK_OK(t, sotto_arc_request(&g, &pending, out.data + 3,
                                  sotto_bytes_of(context, sizeof context), random, &t->err));
    sotto_group_clear(&g);
    return sotto_bytes_of(out.data, SOTTO_TOKEN_ARC_REQUEST);
}

static sotto_http_response ask(sotto_test *t, sotto_test_arc *a, const uint8_t id[32],
                               const char *bearer, sotto_bytes body)
{
    char url[300], hex[65], who[100];
    const sotto_http_field headers[] = {{"Authorization", who},
                                        {"Content-Type", "application/private-token-request"}};
    sotto_http_response response;

    sotto_hex_encode(hex, sotto_bytes_of(id, 32));
    (void)snprintf(who, sizeof who, "Bearer %s", bearer);
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u/arc/keys/%s/token-request",
                   sotto_server_port(a->s.leader), hex);
    const sotto_http_call call = {.method = SOTTO_HTTP_POST,
                                  .url = url,
                                  .fields = headers,
                                  .field_count = 2,
                                  .body = body,
                                  .attempts = 1};
    CHECK_OK(t, sotto_http_call_wait(a->s.client, &response, &call, &t->arena, &t->err));
    return response;
}

/* A request with the first byte of its body: what does not come with its head has a share of an address. */
static int begin_request(sotto_test *t, const sotto_test_arc *a, const char *bearer,
                         sotto_bytes body)
{
    char head[500], hex[65];
    const int fd = sotto_test_dial(t, (uint16_t)sotto_server_port(a->s.leader));

    sotto_hex_encode(hex, sotto_bytes_of(a->keys[0].epoch.key_id, 32));
    (void)snprintf(head, sizeof head,
                   "POST /arc/keys/%s/token-request HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer "
                   "%s\r\nContent-Type: application/private-token-request\r\n"
                   "Content-Length: %zu\r\n\r\n",
                   hex, bearer, body.len);
    sotto_test_send_text(t, fd, head);
    sotto_test_send(t, fd, body.data, 1);
    return fd;
}

static bool is_answered(int fd, int milliseconds)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};

    return poll(&p, 1, milliseconds) > 0;
}

static void only_the_attester_has_credentials_issued(sotto_test *t)
{
    sotto_test_arc a;
    sotto_arc_key old;
    bool made;

    sotto_test_arc_open(t, &a, &later);
    const sotto_bytes asked = request_for(t, &a.keys[0]);
    const uint8_t *id = a.keys[0].epoch.key_id;
    const sotto_http_response good = ask(t, &a, id, SOTTO_TEST_ARC_ATTESTER, asked);
    CHECK_EQUAL(t, 200, good.status);
    CHECK_EQUAL(t, SOTTO_ARC_RESPONSE, good.body.len);
    CHECK_EQUAL(t, 401, ask(t, &a, id, "somebody else's token", asked).status);
    CHECK_EQUAL(t, 404, ask(t, &a, a.keys[1].epoch.key_id, SOTTO_TEST_ARC_ATTESTER, asked).status);
    /* An epoch that has closed. */
    CHECK_OK(t, sotto_arc_key_add(a.s.leader->db, &old, &made, 1000, 2000, a.keys[0].attester,
                                  a.s.leader->columns, &t->err));
    CHECK_EQUAL(t, 410,
                ask(t, &a, old.epoch.key_id, SOTTO_TEST_ARC_ATTESTER, request_for(t, &old)).status);
    sotto_test_arc_close(&a);
}

/* Without a bearer token a key's existence is not told, and with a wrong one its private key, here damaged, is not read. */
static void a_bearer_is_checked_before_anything_else(sotto_test *t)
{
    static const uint8_t none[SOTTO_TOKEN_KEY_ID] = {1};
    sotto_test_arc a;

    sotto_test_arc_open(t, &a, &later);
    const sotto_bytes asked = request_for(t, &a.keys[0]);
    CHECK_EQUAL(t, 401, ask(t, &a, none, "", asked).status);
    sotto_test_do(t, a.s.leader->db, "UPDATE arc_key SET secret = attester");
    CHECK_EQUAL(t, 401, ask(t, &a, a.keys[0].epoch.key_id, "somebody else's", asked).status);
    CHECK_EQUAL(t, 503, ask(t, &a, a.keys[0].epoch.key_id, SOTTO_TEST_ARC_ATTESTER, asked).status);
    sotto_test_arc_close(&a);
}

/* It stands for many devices: once a key named it, no share of an address applies to it, until its token is replaced. */
static void the_attester_has_no_share_of_an_address(sotto_test *t)
{
    enum { MOST = 14 };
    static const uint8_t another[32] = "digest";
    int fds[MOST + 1], fd;
    size_t held = 0;
    sotto_test_arc a;
    bool made;

    sotto_test_arc_open(t, &a, &later);
    a.s.leader_options.host.connections = 16;
    a.s.leader_options.host.address_share = 1;
    sotto_test_leader_restart(t, &a.s);
    const sotto_bytes asked = request_for(t, &a.keys[0]);
    const sotto_arc_epoch *epoch = &a.keys[0].epoch;
    CHECK_EQUAL(t, 200, ask(t, &a, epoch->key_id, SOTTO_TEST_ARC_ATTESTER, asked).status);
    while (held == 0 || (held < MOST && !is_answered(fds[held - 1], held < 9 ? 20 : 2000)))
        fds[held++] = begin_request(t, &a, "somebody else's", asked);
    CHECK_EQUAL(t, 503, sotto_test_hear(t, fds[held - 1]).status);
    fd = begin_request(t, &a, SOTTO_TEST_ARC_ATTESTER, asked);
    /* The rest of the body comes when the head was read: a later request, which is refused, shows that. */
    fds[held++] = begin_request(t, &a, "somebody else's", asked);
    CHECK_EQUAL(t, 503, sotto_test_hear(t, fds[held - 1]).status);
    sotto_test_send(t, fd, asked.data + 1, asked.len - 1);
    CHECK_EQUAL(t, 200, sotto_test_hear(t, fd).status);
    (void)close(fd);
    CHECK_OK(t, sotto_arc_key_add(a.s.leader->db, &a.other, &made, epoch->opens, epoch->closes,
                                  another, a.s.leader->columns, &t->err));
    CHECK_EQUAL(t, 401, ask(t, &a, epoch->key_id, SOTTO_TEST_ARC_ATTESTER, asked).status);
    fd = begin_request(t, &a, SOTTO_TEST_ARC_ATTESTER, asked);
    CHECK(t, is_answered(fd, 5000));
    CHECK_EQUAL(t, 503, sotto_test_hear(t, fd).status);
    (void)close(fd);
    while (held > 0)
        (void)close(fds[--held]);
    sotto_test_arc_close(&a);
}

static void requests_that_do_not_hold_are_refused(sotto_test *t)
{
    sotto_test_arc a;

    sotto_test_arc_open(t, &a, &later);
    const uint8_t *id = a.keys[0].epoch.key_id;
    for (size_t at = 0; at < SOTTO_TOKEN_ARC_REQUEST; at += 19) {
        const sotto_bytes asked = request_for(t, &a.keys[0]);
        uint8_t *bytes = sotto_arena_take(&t->arena, asked.len);

        memcpy(bytes, asked.data, asked.len);
        bytes[at] ^= 0x04;
        CHECK_EQUAL(
            t, 400,
            ask(t, &a, id, SOTTO_TEST_ARC_ATTESTER, sotto_bytes_of(bytes, asked.len)).status);
        CHECK_EQUAL(t, 400,
                    ask(t, &a, id, SOTTO_TEST_ARC_ATTESTER, sotto_bytes_of(asked.data, at)).status);
    }
    sotto_test_arc_close(&a);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(epochs_never_overlap_and_are_made_once),
        CASE(a_task_lies_within_an_epoch),
        CASE(only_the_attester_has_credentials_issued),
        CASE(a_bearer_is_checked_before_anything_else),
        CASE(the_attester_has_no_share_of_an_address),
        CASE(requests_that_do_not_hold_are_refused),
    };

    return RUN_TESTS(argc, argv, cases);
}
