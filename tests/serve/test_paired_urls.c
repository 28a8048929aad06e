/* The leader's token goes to the helper URL that was paired: no parties file, first or later, brings in another. */
#define _POSIX_C_SOURCE 200809L
#include "support/database.h"
#include "support/service.h"

#include "serve/leader/peer.h"
#include "serve/tasks/listing.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static sotto_test_service s;

/* ---- a stranger ---------------------------------------------------------------------------------------------- */

/* A port of his own, where a call would be seen. */
typedef struct stranger {
    int listens;
    struct sockaddr_in address;
    char url[64];
} stranger;

static stranger stranger_open(sotto_test *t)
{
    stranger x = {.listens = socket(AF_INET, SOCK_STREAM, 0),
                  .address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}}};
    socklen_t size = sizeof x.address;

    CHECK(t, x.listens >= 0 && fcntl(x.listens, F_SETFL, O_NONBLOCK) == 0);
    CHECK(t, bind(x.listens, (struct sockaddr *)&x.address, size) == 0);
    CHECK(t, listen(x.listens, 8) == 0);
    CHECK(t, getsockname(x.listens, (struct sockaddr *)&x.address, &size) == 0);
    (void)snprintf(x.url, sizeof x.url, "http://127.0.0.1:%u/", ntohs(x.address.sin_port));
    return x;
}

/* Nobody has come until now; and somebody who comes is seen. */
static void stranger_saw_nobody(sotto_test *t, stranger *x)
{
    int comes = socket(AF_INET, SOCK_STREAM, 0), seen;

    CHECK(t, accept(x->listens, NULL, NULL) == -1);
    CHECK(t, errno == EAGAIN || errno == EWOULDBLOCK);
    CHECK(t, connect(comes, (struct sockaddr *)&x->address, sizeof x->address) == 0);
    seen = accept(x->listens, NULL, NULL);
    CHECK(t, seen >= 0);
    (void)close(seen);
    (void)close(comes);
    (void)close(x->listens);
}

/* ---- parties files that name others ----------------------------------------------------------------------------- */

static sotto_bytes right_parties(void)
{
    return sotto_bytes_of(s.parties_text, strlen(s.parties_text));
}

/* The parties file with another URL in place of this one. */
static sotto_bytes parties_at(sotto_test *t, const char *old, const char *new)
{
    size_t room = strlen(s.parties_text) + strlen(new) + 1;
    char *text = sotto_arena_take(&t->arena, room);
    const char *at = strstr(s.parties_text, old);

    CHECK(t, text != NULL && at != NULL);
    if (!text || !at)
        return sotto_bytes_of(NULL, 0);
    (void)snprintf(text, room, "%.*s%s%s", (int)(at - s.parties_text), s.parties_text, new,
                   at + strlen(old));
    return sotto_bytes_of(text, strlen(text));
}

/* What that task is. */
static sotto_task task_of(sotto_test *t, sotto_bytes parties_json)
{
    sotto_mistakes *mistakes = sotto_arena_take(&t->arena, sizeof *mistakes);
    const sotto_parties *parties;
    sotto_task task = {0};

    CHECK(t, mistakes != NULL);
    CHECK_OK(t, sotto_parties_read(&parties, parties_json, &t->arena, mistakes, &t->err));
    CHECK_OK(t, sotto_task_compile(&task, s.recipe, parties, 0, &t->arena, &t->err));
    return task;
}

/* The id of such a task covers the URLs, and both sides have the same ones: --expect finds nothing. */
static sotto_status add(sotto_test *t, sotto_server *server, sotto_bytes parties)
{
    uint8_t memory[SOTTO_TASK_ID_SIZE];
    sotto_buf ids = sotto_buf_over(memory, sizeof memory);
    sotto_mistakes *mistakes = sotto_arena_take(&t->arena, sizeof *mistakes);
    sotto_task task = task_of(t, parties);

    CHECK(t, mistakes != NULL);
    return sotto_tasks_add(server->db, server->columns, server->role,
                           sotto_bytes_of(s.recipe_text, strlen(s.recipe_text)), parties, 0,
                           sotto_bytes_of(task.id, sizeof task.id), &ids, mistakes, &t->err);
}

static void refuses(sotto_test *t, sotto_server *server, sotto_bytes parties, const char *why)
{
    t->err.reason[0] = 0;
    CHECK_STATUS(t, SOTTO_DENIED, add(t, server, parties));
    CHECK(t, strstr(t->err.reason, why) != NULL);
    CHECK(t, strstr(t->err.reason, s.pairing.fingerprint) != NULL);
    CHECK_OK(t, sotto_tasks_refresh(server->tasks, &t->err));
    CHECK_EQUAL(t, 1, sotto_tasks_count(server->tasks)); /* the one that is right */
}

static void a_leader_refuses_a_helper_at_another_url(sotto_test *t)
{
    stranger x = stranger_open(t);

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    refuses(t, s.leader, parties_at(t, s.pairing.helper_url, x.url), "another helper URL");
    refuses(t, s.helper, parties_at(t, s.pairing.helper_url, x.url), "another helper URL");
    sotto_test_service_close(&s);
    stranger_saw_nobody(t, &x);
}

static void a_helper_refuses_a_leader_at_another_url(sotto_test *t)
{
    stranger x = stranger_open(t);

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    refuses(t, s.helper, parties_at(t, s.pairing.leader_url, x.url), "another leader URL");
    refuses(t, s.leader, parties_at(t, s.pairing.leader_url, x.url), "another leader URL");
    sotto_test_service_close(&s);
    stranger_saw_nobody(t, &x);
}

/* DAP normalises no URL, and the id of a task covers its bytes: what means the same is another. */
static void urls_are_compared_byte_for_byte(sotto_test *t)
{
    char other[4][80], *paired;
    unsigned port;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    for (unsigned helper = 0; helper < 2; helper++) {
        paired = helper ? s.pairing.helper_url : s.pairing.leader_url;
        port = sotto_server_port(helper ? s.helper : s.leader);
        (void)snprintf(other[0], sizeof other[0], "http://127.0.0.1:%u", port);
        (void)snprintf(other[1], sizeof other[1], "http://127.0.0.1:%u//", port);
        (void)snprintf(other[2], sizeof other[2], "http://127.0.0.1:0%u/", port);
        (void)snprintf(other[3], sizeof other[3], "HTTP://127.0.0.1:%u/", port);
        for (unsigned i = 0; i < 4; i++)
            refuses(t, s.leader, parties_at(t, paired, other[i]), helper ? "helper" : "leader");
    }
    sotto_test_service_close(&s);
}

/* ---- stored before, stored by others ------------------------------------------------------------------------------ */

static void a_task_that_waits_is_compared_when_its_pairing_comes(sotto_test *t)
{
    stranger x = stranger_open(t);

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    for (unsigned helper = 0; helper < 2; helper++) {
        const char *paired = helper ? s.pairing.helper_url : s.pairing.leader_url;
        sotto_server *empty = sotto_test_helper_twin(t, &s);

        t->err.reason[0] = 0;
        CHECK_OK(t, add(t, empty, parties_at(t, paired, x.url)));
        CHECK_STATUS(t, SOTTO_DENIED,
                     sotto_pairing_put(empty->db, empty->columns, &s.pairing, &t->err));
        CHECK(t, strstr(t->err.reason, "other server URLs") != NULL);
        CHECK_EQUAL(t, 0, sotto_test_ask_number(t, empty->db, "SELECT count(*) FROM pairing"));
        CHECK_OK(t, sotto_tasks_refresh(empty->tasks, &t->err));
        CHECK_EQUAL(t, 0, sotto_tasks_count(empty->tasks));
        sotto_server_close(empty);
    }
    sotto_test_service_close(&s);
    stranger_saw_nobody(t, &x);
}

static sotto_status delete_task(sotto_test *t, sotto_server *server, sotto_bytes parties)
{
    const sotto_task task = task_of(t, parties);

    t->err = (sotto_err){0};
    return sotto_tasks_delete(server->db, server->role, sotto_bytes_of(task.id, sizeof task.id),
                              &t->err);
}

/* Else it would keep the pairing out for good. */
static void a_task_with_a_wrong_url_can_be_deleted_before_its_pairing(sotto_test *t)
{
    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    sotto_server *empty = sotto_test_helper_twin(t, &s);
    const sotto_bytes wrong = parties_at(t, s.pairing.helper_url, "http://127.0.0.1:1/");

    CHECK_STATUS(t, SOTTO_MISSING, delete_task(t, empty, wrong));
    t->err = (sotto_err){0};
    CHECK_OK(t, add(t, empty, wrong));
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_pairing_put(empty->db, empty->columns, &s.pairing, &t->err));
    CHECK(t, strstr(t->err.reason, "sotto admin task delete") != NULL);
    CHECK_OK(t, sotto_tasks_refresh(empty->tasks, &t->err));
    CHECK_OK(t, delete_task(t, empty, wrong));
    /* One is gone and one has come: the server sees it all the same. */
    CHECK_OK(t, add(t, empty, right_parties()));
    CHECK_EQUAL(t, 1, sotto_test_ask_number(t, empty->db, "SELECT count(*) FROM task"));
    CHECK_OK(t, sotto_pairing_put(empty->db, empty->columns, &s.pairing, &t->err));
    CHECK_OK(t, sotto_tasks_refresh(empty->tasks, &t->err));
    CHECK_EQUAL(t, 1, sotto_tasks_count(empty->tasks));
    sotto_server_close(empty);
    sotto_test_service_close(&s);
}

static void a_task_that_may_be_served_is_not_deleted(sotto_test *t)
{
    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    CHECK_STATUS(t, SOTTO_DENIED, delete_task(t, s.leader, right_parties()));
    CHECK_REASON(t, "are paired");
    CHECK_EQUAL(t, 1, sotto_test_ask_number(t, s.leader->db, "SELECT count(*) FROM task"));
    sotto_test_service_close(&s);
}

/* Whatever the way by which they came. */
static void a_task_with_reports_is_not_deleted(sotto_test *t)
{
    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    sotto_server *empty = sotto_test_helper_twin(t, &s);

    t->err = (sotto_err){0};
    CHECK_OK(t, add(t, empty, right_parties()));
    sotto_test_do(t, empty->db,
                  "INSERT INTO rejection (task, batch, cause, shard, reports)"
                  " SELECT n, id, 1, 0, 1 FROM task");
    CHECK_STATUS(t, SOTTO_DENIED, delete_task(t, empty, right_parties()));
    CHECK_REASON(t, "so it stays");
    sotto_server_close(empty);
    sotto_test_service_close(&s);
}

/* A task of the interop API has its URLs in its configuration, and its pairing's tokens are others'. */
static void a_bare_task_is_compared_too(sotto_test *t)
{
    static const char *const names[] = {"key:leader", "key:helper", "key:collector"};
    stranger x = stranger_open(t);
    sotto_bare_task bare = {.leader = names[0], .helper = names[1]};
    uint8_t id[SOTTO_TASK_ID_SIZE], wire[SOTTO_COLLECTOR_CONFIG];
    sotto_buf config = sotto_buf_over(wire, sizeof wire);
    sotto_hpke_config collector;
    sotto_pairing foreign;
    sotto_server *empty;
    sotto_task task;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    collector =
        sotto_hpke_config_of(&s.collector, 9, SOTTO_HPKE_KDF_SHA256, SOTTO_HPKE_AEAD_AES128_GCM);
    CHECK_OK(t, sotto_hpke_config_encode(&config, &collector, &t->err));
    bare.collector_config = sotto_buf_bytes(&config);
    task = task_of(t, parties_at(t, s.pairing.helper_url, x.url));
    CHECK_OK(t, sotto_pairing_foreign(&foreign,
                                      &(sotto_paired){names[0], names[1], names[2],
                                                      s.task.leader_url, s.task.helper_url},
                                      "one", "two", &t->err));
    empty = sotto_test_helper_twin(t, &s);
    CHECK_OK(t, sotto_pairing_put(empty->db, empty->columns, &foreign, &t->err));
    bare.configuration = task.configuration;
    CHECK_STATUS(
        t, SOTTO_DENIED,
        sotto_tasks_add_bare(empty->db, empty->columns, SOTTO_HELPER, &bare, 0, id, &t->err));
    bare.configuration = s.task.configuration;
    CHECK_OK(t,
             sotto_tasks_add_bare(empty->db, empty->columns, SOTTO_HELPER, &bare, 0, id, &t->err));
    sotto_server_close(empty);
    sotto_test_service_close(&s);
    stranger_saw_nobody(t, &x);
}

typedef struct overwriting {
    sotto_bytes parties, id;
} overwriting;

static sotto_status overwrite_task(sotto_tx *tx, void *context, sotto_err *err)
{
    const overwriting *o = context;
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, "UPDATE task SET parties = ?1, id = ?2", err));
    sotto_sql_bytes(&q, 1, o->parties);
    sotto_sql_bytes(&q, 2, o->id);
    return sotto_sql_run(&q, NULL, err);
}

static sotto_status keep_reason(void *context, const sotto_task_line *line, sotto_err *err)
{
    (void)err;
    (void)snprintf(context, 160, "%s%s", line->paired ? "paired " : "",
                   line->broken ? line->broken : "");
    return SOTTO_OK;
}

/* As a version that compared nothing left it, or whoever writes into the database: the task is whole, but for the pairing. */
static void a_stored_task_with_another_url_is_not_served(sotto_test *t)
{
    stranger x = stranger_open(t);
    char why[160] = "";
    overwriting o;
    sotto_task task;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    o.parties = parties_at(t, s.pairing.helper_url, x.url);
    task = task_of(t, o.parties);
    o.id = sotto_bytes_of(task.id, sizeof task.id);
    CHECK_OK(t, sotto_db_run(s.leader->db, overwrite_task, &o, &t->err));
    sotto_test_leader_restart(t, &s);
    CHECK(t, sotto_tasks_find(s.leader->tasks, task.id) == NULL);
    CHECK_EQUAL(t, 1, sotto_tasks_broken(s.leader->tasks));
    CHECK_OK(t, sotto_list_tasks(s.leader->db, s.leader->columns, SOTTO_LEADER, keep_reason, why,
                                 &t->err));
    CHECK(t, strstr(why, "another helper URL") != NULL && !strstr(why, "paired "));
    sotto_test_service_close(&s);
    stranger_saw_nobody(t, &x);
}

static sotto_status overwrite_pairing(sotto_tx *tx, void *context, sotto_err *err)
{
    const sotto_bytes *sealed = context;
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, "UPDATE pairing SET secrets = ?1", err));
    sotto_sql_bytes(&q, 1, *sealed);
    return sotto_sql_run(&q, NULL, err);
}

/* Stored as earlier versions wrote it: without the URLs. */
static void store_without_urls(sotto_test *t, sotto_server *server)
{
    enum { ROOM = 8192 };
    uint8_t plain[ROOM], sealed[ROOM + SOTTO_COLUMN_OVERHEAD];
    sotto_buf json = sotto_buf_over(plain, sizeof plain - 1),
              out = sotto_buf_over(sealed, sizeof sealed);
    sotto_column_place place = {
        "pairing", "secrets", sotto_bytes_of(s.pairing.fingerprint, strlen(s.pairing.fingerprint))};
    sotto_bytes bytes;

    CHECK_OK(t, sotto_pairing_encode(&json, &s.pairing, &t->err));
    plain[json.len] = 0;
    for (unsigned i = 0; i < 2; i++) {
        char *at = strstr((char *)plain, i ? "\"helper_url\"" : "\"leader_url\"");
        char *end = at ? strchr(at, '\n') : NULL;

        CHECK(t, end != NULL);
        if (end)
            memset(at, ' ', (size_t)(end - at));
    }
    CHECK_OK(t, sotto_column_seal(&out, server->columns, &place, sotto_buf_bytes(&json), &t->err));
    bytes = sotto_buf_bytes(&out);
    CHECK_OK(t, sotto_db_run(server->db, overwrite_pairing, &bytes, &t->err));
}

static void a_pairing_of_an_earlier_version_serves_nothing(sotto_test *t)
{
    char why[160] = "";

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    store_without_urls(t, s.leader);
    sotto_test_leader_restart(t, &s);
    CHECK(t, sotto_tasks_find(s.leader->tasks, s.task.id) == NULL);
    CHECK_EQUAL(t, 1, sotto_tasks_broken(s.leader->tasks));
    CHECK_OK(t, sotto_list_tasks(s.leader->db, s.leader->columns, SOTTO_LEADER, keep_reason, why,
                                 &t->err));
    CHECK(t, strstr(why, s.pairing.fingerprint) != NULL); /* which of them */
    CHECK(t, strstr(why, "pair again, under other names") != NULL);
    t->err.reason[0] = 0;
    CHECK_STATUS(t, SOTTO_MALFORMED, add(t, s.leader, right_parties()));
    CHECK(t, strstr(t->err.reason, "pair again, under other names") != NULL);
    sotto_test_service_close(&s);
}

/* ---- sending --------------------------------------------------------------------------------------------------------- */

/* Even if a task came past every check: the calls that carry the token are to the pairing's URL. */
static void the_token_goes_to_the_paired_url_whatever_a_task_says(sotto_test *t)
{
    static const char strangers[] = "http://127.0.0.1:9/";
    sotto_bytes body = sotto_bytes_of("x", 1);
    sotto_server_task task;
    sotto_peer_call call;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    task = *sotto_tasks_find(s.leader->tasks, s.task.id);
    task.dap.helper_url = sotto_bytes_of(strangers, strlen(strangers));
    for (unsigned i = 0; i < 3; i++) {
        CHECK(t, i == 0   ? sotto_peer_create(&call, &task, SOTTO_DAP_AGGREGATION_JOBS,
                                              SOTTO_DAP_AGGREGATION_JOB_INIT_REQ, body)
                 : i == 1 ? sotto_peer_repair(&call, &task, body)
                          : sotto_peer_delete(&call, &task, sotto_bytes_of("/jobs/1", 7)));
        CHECK(t, strstr(call.token, s.pairing.leader_token) != NULL);
        CHECK(t, strncmp(call.url, s.pairing.helper_url, strlen(s.pairing.helper_url)) == 0);
        sotto_peer_call_clear(&call);
    }
    CHECK(t, !sotto_peer_delete(&call, &task, sotto_bytes_of("http://127.0.0.1:9/jobs/1", 25)));
    sotto_test_service_close(&s);
}

/* Whoever has the leader's token can have the helper of the pairing add up reports that the leader never saw, in any task. The two
 * servers then differ about an honest batch. To get it, he gives the leader a parties file in which he is the helper, and sends
 * reports, so that the leader has something to tell its helper. */
static void a_strangers_url_gets_neither_the_token_nor_a_batch_held(sotto_test *t)
{
    enum { HONEST = 20, MADE_UP = 30 };
    stranger x = stranger_open(t);
    uint64_t reports = 0, counts[8] = {0};
    sotto_http_response answer, upload;
    sotto_status added;
    sotto_task honest;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_delay_ms = 50});
    added = add(t, s.leader, parties_at(t, s.pairing.helper_url, x.url));
    CHECK_OK(t, sotto_tasks_refresh(s.leader->tasks, &t->err));
    honest = s.task;
    s.task = task_of(t, parties_at(t, s.pairing.helper_url, x.url));
    upload =
        sotto_test_upload(t, &s, sotto_test_sealed_reports(t, &s, MADE_UP, 1, SOTTO_TEST_SOUND));
    s.task = honest;
    answer =
        sotto_test_upload(t, &s, sotto_test_sealed_reports(t, &s, HONEST, 2, SOTTO_TEST_SOUND));
    CHECK_EQUAL(t, 200, answer.status);
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &s, 1, &reports, counts));
    CHECK_EQUAL(t, HONEST, reports);
    CHECK_EQUAL(t, HONEST, counts[2]);
    stranger_saw_nobody(t, &x); /* by now the leader has called its helper for what came later */
    CHECK_EQUAL(t, SOTTO_DENIED, added);
    CHECK_EQUAL(t, 404, upload.status);
    sotto_test_service_close(&s);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_leader_refuses_a_helper_at_another_url),
        CASE(a_helper_refuses_a_leader_at_another_url),
        CASE(urls_are_compared_byte_for_byte),
        CASE(a_task_that_waits_is_compared_when_its_pairing_comes),
        CASE(a_task_with_a_wrong_url_can_be_deleted_before_its_pairing),
        CASE(a_task_that_may_be_served_is_not_deleted),
        CASE(a_task_with_reports_is_not_deleted),
        CASE(a_bare_task_is_compared_too),
        CASE(a_stored_task_with_another_url_is_not_served),
        CASE(a_pairing_of_an_earlier_version_serves_nothing),
        CASE(the_token_goes_to_the_paired_url_whatever_a_task_says),
        CASE(a_strangers_url_gets_neither_the_token_nor_a_batch_held),
    };

    return RUN_TESTS(argc, argv, cases);
}
