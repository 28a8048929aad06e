/* A host runs a service that the product does not have: a folder, and a row of this program's own table. */
#define _POSIX_C_SOURCE 200809L
#include "db/migrate.h"
#include "serve/host/operations.h"
#include "serve/host/options.h"
#include "serve/host/steps.h"
#include "support/database.h"
#include "support/http.h"
#include "third_service/third_service.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Over the same tables and one more, as another service's that was written later. */
static const sotto_migration longer[] = {{1, "CREATE TABLE x (n {int});"},
                                         {2, "CREATE TABLE later (n {int});"}};
static const sotto_service fourth = {.name = "fourth",
                                     .listen = "127.0.0.1:0",
                                     .operations = "127.0.0.1:0",
                                     .owner = 98,
                                     .migrations = longer,
                                     .migration_count = 2};

const sotto_service *const sotto_services[] = {&sotto_third_service, &fourth};
const size_t sotto_service_count = 2;

static sotto_serve_config config;

/* From a file, as an operator has it. */
static void configure(sotto_test *t, const char *directory, const char *address, const char *more)
{
    char path[300];
    FILE *file;

    (void)snprintf(path, sizeof path, "%s/third.ini", directory);
    file = fopen(path, "w");
    CHECK(t, file != NULL);
    CHECK(t,
          fprintf(file, "[third]\nlisten = 127.0.0.1:0\noperations = 127.0.0.1:0\n%s", more) > 0);
    CHECK_EQUAL(t, 0, fclose(file));
    sotto_serve_config_clear(&config);
    CHECK_OK(t, sotto_serve_config_read(&config, &(sotto_config_sources){.file = path}, &t->err));
    CHECK(t, config.service == &sotto_third_service);
    config.host.database = address;
}

static sotto_host *open_third(sotto_test *t, const char *directory, const char *address,
                              const char *more)
{
    sotto_host *host = NULL;

    configure(t, directory, address, more);
    CHECK_OK(t, sotto_host_open(&host, config.service, &config.host, config.own, &t->err));
    return host;
}

static sotto_test_answer ask(sotto_test *t, unsigned port, const char *line, const char *body)
{
    char text[600];

    (void)snprintf(text, sizeof text,
                   "%s HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n%s",
                   line, strlen(body), body);
    return sotto_test_ask(t, (uint16_t)port, text);
}

static bool soon_says(sotto_test *t, const sotto_host *host, const char *page, const char *wanted)
{
    uint64_t until = 0;
    char line[60];

    (void)snprintf(line, sizeof line, "GET /%s", page);
    do {
        sotto_test_answer answer = ask(t, sotto_operations_port(host->operations), line, "");

        if (strstr(answer.body, wanted))
            return true;
    } while (sotto_test_waits(&until, 50));
    return false;
}

static void a_third_service_runs_on_the_host(sotto_test *t)
{
    sotto_host *host = open_third(t, sotto_test_directory(t), sotto_test_address(t), "");
    char reason[SOTTO_STEP_REASON];
    int64_t n;

    CHECK_EQUAL(t, 201, ask(t, sotto_host_port(host), "POST /notes", "hello").status);
    CHECK_EQUAL(t, 201, ask(t, sotto_host_port(host), "POST /notes", "again").status);
    /* Each fails twice and succeeds at its third claim: the option's default. */
    sotto_test_await(t, host->db, "SELECT count(*) FROM note WHERE done = 3", 2);
    sotto_test_await(t, host->db, "SELECT count(*) FROM sotto_lease", 0);
    CHECK(t, sotto_steps_last_retry(host->steps, sotto_third_queue, &n, reason));
    CHECK(t, (n == 1 || n == 2) && strcmp(reason, "not yet") == 0);
    CHECK(t, soon_says(t, host, "readyz", "ready\nnotes: 2 done\n"));
    CHECK(t, soon_says(t, host, "metrics", "third_notes_done 2\n"));
    CHECK(t, soon_says(t, host, "metrics", "sotto_database_reachable 1\n"));
    CHECK_OK(t, sotto_host_drain(host, 5000, &t->err));
    sotto_host_close(host);
}

/* So that an operator is not told about another server on the same machine. */
static void ready_says_which_server_it_is(sotto_test *t)
{
    char identity[SOTTO_SERVER_IDENTITY], other[SOTTO_SERVER_IDENTITY], field[64];
    char token[SOTTO_DRAIN_TOKEN];
    sotto_host *host = open_third(t, sotto_test_directory(t), sotto_test_address(t), "");
    sotto_column_keys keys = host->columns;

    sotto_operations_identity(identity, &host->columns, "third");
    (void)snprintf(field, sizeof field, "Sotto-Server: %s\r\n", identity);
    const sotto_test_answer answer =
        ask(t, sotto_operations_port(host->operations), "GET /readyz", "");
    CHECK(t, strstr(answer.head, field) != NULL);
    sotto_operations_identity(other, &host->columns, "fourth");
    CHECK(t, strcmp(identity, other) != 0);
    keys.key[0][0] ^= 1;
    sotto_operations_identity(other, &keys, "third");
    CHECK(t, strcmp(identity, other) != 0);
    sotto_wipe(&keys, sizeof keys);
    sotto_operations_token(token, &host->columns); /* which stays secret */
    CHECK(t, strncmp(token, identity, 8) != 0);
    sotto_host_close(host);
}

static void its_option_is_read_and_printed(sotto_test *t)
{
    static uint8_t memory[1 << 16];
    sotto_buf out = sotto_buf_over(memory, sizeof memory - 1);
    sotto_host *host =
        open_third(t, sotto_test_directory(t), sotto_test_address(t), "failures = 1\n");

    CHECK_EQUAL(t, 201, ask(t, sotto_host_port(host), "POST /notes", "hello").status);
    sotto_test_await(t, host->db, "SELECT count(*) FROM note WHERE done = 2", 1);
    sotto_host_close(host);
    CHECK_OK(t, sotto_serve_options_help(&out, &sotto_third_service, &t->err));
    CHECK(t, strstr((const char *)memory, "--failures") != NULL);
    CHECK(t, strstr((const char *)memory, "--lease") != NULL);   /* it has a queue ...   */
    CHECK(t, strstr((const char *)memory, "--ca-file") == NULL); /* ... and calls nobody */
    CHECK(t, strstr((const char *)memory, "sqlite:third.db") != NULL);
}

static void the_host_refuses_what_no_route_takes(sotto_test *t)
{
    sotto_host *host =
        open_third(t, sotto_test_directory(t), sotto_test_address(t), "path = /deep/\n");
    unsigned port = sotto_host_port(host);
    sotto_test_answer answer;
    char long_note[100];

    memset(long_note, 'x', sizeof long_note - 1);
    long_note[sizeof long_note - 1] = 0;
    CHECK_EQUAL(t, 201, ask(t, port, "POST /deep/notes", "hello").status);
    CHECK_EQUAL(t, 404, ask(t, port, "POST /notes", "hello").status);
    CHECK_EQUAL(t, 404, ask(t, port, "POST /deep/notes/1", "hello").status);
    CHECK_EQUAL(t, 404, ask(t, port, "POST /deep", "hello").status);
    CHECK_EQUAL(t, 413, ask(t, port, "POST /deep/notes", long_note).status);
    answer = ask(t, port, "DELETE /deep/notes", "");
    CHECK_EQUAL(t, 405, answer.status);
    CHECK(t, strstr(answer.head, "Allow: POST\r\n") != NULL);
    sotto_host_close(host);
}

static void a_route_may_take_its_bodies_in_pieces(sotto_test *t)
{
    enum { PIECE = 64 << 10, COUNT = 1024 };
    static const char head[] =
        "POST /uploads HTTP/1.1\r\nHost: h\r\nContent-Length: 67108864\r\n\r\n";
    static char piece[PIECE];
    sotto_host *host = open_third(t, sotto_test_directory(t), sotto_test_address(t),
                                  "bytes_in_flight = 8M\n"); /* an eighth of the body */
    int fd = sotto_test_dial(t, (uint16_t)sotto_host_port(host));

    sotto_test_send_text(t, fd, head);
    for (int i = 0; i < COUNT; i++)
        sotto_test_send(t, fd, piece, sizeof piece);
    CHECK(t, strcmp(sotto_test_hear(t, fd).body, "67108864") == 0);
    sotto_test_send_text(t, fd, head);
    sotto_test_send(t, fd, piece, sizeof piece);
    (void)close(fd);
    CHECK(t, soon_says(t, host, "metrics", "third_uploads_lost 1\n"));
    fd = sotto_test_dial(t, (uint16_t)sotto_host_port(host));
    sotto_test_send_text(t, fd,
                         "POST /uploads HTTP/1.1\r\nHost: h\r\nContent-Length: 536870913\r\n\r\n");
    CHECK_EQUAL(t, 413, sotto_test_hear(t, fd).status);
    (void)close(fd);
    sotto_host_close(host);
}

static void a_drain_ends_an_answer_that_stays_open(sotto_test *t)
{
    static const char wanted[] = "d\r\ndata: hello\n\n\r\n0\r\n\r\n";
    sotto_host *host = open_third(t, sotto_test_directory(t), sotto_test_address(t), "");
    const int fd = sotto_test_dial(t, (uint16_t)sotto_host_port(host));
    char text[sizeof wanted] = "";

    sotto_test_send_text(t, fd, "GET /events HTTP/1.1\r\nHost: h\r\n\r\n");
    CHECK(t, strstr(sotto_test_hear_head(t, fd).head, "text/event-stream") != NULL);
    CHECK_EQUAL(t, 18, recv(fd, text, 18, MSG_WAITALL));
    CHECK_OK(t, sotto_host_drain(host, 5000, &t->err));
    CHECK_EQUAL(t, 5, recv(fd, text + 18, 5, MSG_WAITALL));
    CHECK(t, strcmp(text, wanted) == 0);
    (void)close(fd);
    sotto_host_close(host);
}

/* What was under way when a process ended is gone on with by the next, and what waits outlives both. */
static void a_note_outlives_its_process(sotto_test *t)
{
    const char *directory = sotto_test_directory(t);
    const char *address = sotto_test_address(t);
    sotto_host *host = open_third(t, directory, address, "failures = 100\nlease = 5s\n");

    CHECK_EQUAL(t, 201, ask(t, sotto_host_port(host), "POST /notes", "hello").status);
    sotto_test_await(t, host->db, "SELECT count(*) FROM sotto_lease WHERE attempts > 1", 1);
    sotto_host_close(host);
    host = open_third(t, directory, address, "failures = 1\nlease = 5s\n");
    sotto_test_await(t, host->db, "SELECT count(*) FROM note WHERE done > 2", 1);
    sotto_host_close(host);
}

/* Its tables would be changed before anybody looked whose they are. */
static void another_services_database_is_left_alone(sotto_test *t)
{
    const char *directory = sotto_test_directory(t);
    const char *address = sotto_test_address(t);
    sotto_host *host = open_third(t, directory, address, "");
    sotto_err err = {0};
    int64_t version;
    sotto_db *db;

    sotto_host_close(host);
    CHECK_STATUS(t, SOTTO_DENIED, sotto_host_open(&host, &fourth, &config.host, NULL, &err));
    CHECK(t, strstr(err.reason, "this database is a third's, and this is a fourth") != NULL);
    db = sotto_test_db_at(t, address);
    CHECK_OK(t, sotto_db_version(db, &version, &t->err));
    CHECK_EQUAL(t, 1, version);
    sotto_db_close(db);
}

static void steps_back_off_by_one_rule(sotto_test *t)
{
    static const sotto_queue queue = {.first_wait_ms = 500, .longest_wait_ms = 60000};

    CHECK_EQUAL(t, 500, sotto_step_backoff_ms(&queue, 1, 0));
    CHECK_EQUAL(t, 1000, sotto_step_backoff_ms(&queue, 2, 0));
    CHECK_EQUAL(t, 32000, sotto_step_backoff_ms(&queue, 7, 0));
    CHECK_EQUAL(t, 60000, sotto_step_backoff_ms(&queue, 8, 0));
    CHECK_EQUAL(t, 60000, sotto_step_backoff_ms(&queue, INT64_MAX, 0));
    CHECK_EQUAL(t, 7000, sotto_step_backoff_ms(&queue, 1, 7000)); /* what the peer asked for */
    CHECK_EQUAL(t, 1000, sotto_step_backoff_ms(&queue, 2, 700));
}

static void forget(void)
{
    sotto_serve_config_clear(&config);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_third_service_runs_on_the_host),
        CASE(ready_says_which_server_it_is),
        CASE(its_option_is_read_and_printed),
        CASE(the_host_refuses_what_no_route_takes),
        CASE(a_route_may_take_its_bodies_in_pieces),
        CASE(a_drain_ends_an_answer_that_stays_open),
        CASE(a_note_outlives_its_process),
        CASE(another_services_database_is_left_alone),
        CASE(steps_back_off_by_one_rule),
    };

    if (!sotto_test_at_end(forget))
        return 1;
    return RUN_TESTS(argc, argv, cases);
}
