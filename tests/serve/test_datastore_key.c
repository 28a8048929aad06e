/* The keys that a server makes for itself: that of its datastore, and those that reports are sealed to. */
#define _POSIX_C_SOURCE 200809L
#include "sim/clock.h"
#include "support/database.h"
#include "support/steps.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void a_datastore_key_is_made_for_an_empty_database_alone(sotto_test *t)
{
    sotto_server_options options = {.role = SOTTO_HELPER, .host.listen = "127.0.0.1:0"};
    sotto_server *server = NULL;
    struct stat info;

    options.host.database = sotto_test_address(t);
    options.host.datastore_key = sotto_test_temp(t, "fresh.key");
    CHECK_OK(t, sotto_server_open(&server, &options, &t->err));
    sotto_server_close(server);
    CHECK_EQUAL(t, 0, stat(options.host.datastore_key, &info));
    CHECK_EQUAL(t, 0600, info.st_mode & 0777);
    CHECK_EQUAL(t, 32, info.st_size);
    CHECK_OK(t, sotto_server_open(&server, &options, &t->err)); /* the same key opens it again */
    sotto_server_close(server);
    CHECK_EQUAL(t, 0, unlink(options.host.datastore_key));
    CHECK_STATUS(t, SOTTO_MISSING, sotto_server_open(&server, &options, &t->err));
    CHECK(t, stat(options.host.datastore_key, &info) != 0);
}

/* Neither made nor missed: another name was meant. */
static void a_directory_is_not_called_a_missing_datastore_key(sotto_test *t)
{
    sotto_server_options options = {.role = SOTTO_HELPER, .host.listen = "127.0.0.1:0"};
    const char *place = sotto_test_temp(t, "place.key"), *fresh = sotto_test_temp(t, "fresh.key");
    sotto_server *server = NULL;

    options.host.database = sotto_test_address(t);
    CHECK_EQUAL(t, 0, mkdir(place, 0700));
    for (unsigned round = 0; round < 2; round++) {
        sotto_err err = {0};

        options.host.datastore_key = place;
        CHECK_STATUS(t, SOTTO_IO, sotto_server_open(&server, &options, &err));
        CHECK(t, strstr(err.reason, "place.key is a directory") != NULL);
        options.host.datastore_key = fresh; /* the next time, the database has something in it */
        CHECK_OK(t, sotto_server_open(&server, &options, &t->err));
        sotto_server_close(server);
    }
    CHECK_EQUAL(t, 0, rmdir(place));
}

/* The same file opens it once it is private again. */
static void a_datastore_key_that_others_may_read_opens_nothing(sotto_test *t)
{
    sotto_server_options options = {.role = SOTTO_HELPER, .host.listen = "127.0.0.1:0"};
    sotto_server *server = NULL;

    options.host.database = sotto_test_address(t);
    options.host.datastore_key = sotto_test_temp(t, "shown.key");
    CHECK_OK(t, sotto_server_open(&server, &options, &t->err));
    sotto_server_close(server);
    CHECK_EQUAL(t, 0, chmod(options.host.datastore_key, 0644));
    CHECK_STATUS(t, SOTTO_DENIED, sotto_server_open(&server, &options, &t->err));
    CHECK(t,
          strstr(t->err.reason, "shown.key holds secrets, and others may read it: chmod") != NULL);
    CHECK_EQUAL(t, 0, chmod(options.host.datastore_key, 0600));
    CHECK_OK(t, sotto_server_open(&server, &options, &t->err));
    sotto_server_close(server);
}

typedef struct ring {
    size_t pending, active, expired;
    uint8_t newest;
} ring;

static sotto_status count_key(void *context, const sotto_key_line *line, sotto_err *err)
{
    ring *r = context;

    (void)err;
    r->pending += line->state == SOTTO_KEY_PENDING;
    r->active += line->state == SOTTO_KEY_ACTIVE;
    r->expired += line->state == SOTTO_KEY_EXPIRED;
    return SOTTO_OK;
}

/* Waits until the server's own timer has brought the ring there. */
static bool soon_has(sotto_test *t, sotto_server *server, size_t pending, size_t active,
                     size_t expired)
{
    uint64_t until = 0;

    do {
        ring r = {0};

        CHECK_OK(t, sotto_keys_list(server->keys, count_key, &r, &t->err));
        if (r.pending == pending && r.active == active && r.expired == expired)
            return true;
    } while (sotto_test_waits(&until, 20));
    return false;
}

static void keys_move_on_by_the_servers_own_timer(sotto_test *t)
{
    static const uint64_t SECOND = 1000000000, HOUR = 3600 * SECOND, DAY = 24 * HOUR;
    sotto_sim_clock state = {.wall = 1800000000 * SECOND};
    sotto_clock clock = sotto_sim_clock_of(&state);
    sotto_server_options options = {.role = SOTTO_HELPER,
                                    .host.listen = "127.0.0.1:0",
                                    .host.clock = &clock,
                                    .tasks.key_times = {3600, 10 * 86400, 86400, 3600}};
    sotto_server *server = NULL;

    options.host.database = sotto_test_address(t);
    options.host.datastore_key = sotto_test_temp(t, "clocked.key");
    CHECK_OK(t, sotto_server_open(&server, &options, &t->err));
    CHECK(t, soon_has(t, server, 0, 1, 0));
    sotto_sim_clock_advance(&state, 10 * DAY - 2 * HOUR);
    CHECK(t, soon_has(t, server, 1, 1, 0)); /* a successor, not yet published */
    sotto_sim_clock_advance(&state, HOUR);
    CHECK(t, soon_has(t, server, 0, 2, 0));
    sotto_sim_clock_advance(&state, HOUR);
    CHECK(t, soon_has(t, server, 0, 1, 1)); /* the old one still opens */
    sotto_sim_clock_advance(&state, DAY);
    CHECK(t, soon_has(t, server, 0, 1, 0));
    CHECK_OK(t, sotto_keys_renew(server->keys, sotto_host_seconds(server->host), &t->err));
    CHECK(t, soon_has(t, server, 1, 1, 0));
    CHECK_OK(t, sotto_keys_renew(server->keys, sotto_host_seconds(server->host), &t->err));
    CHECK(t, soon_has(t, server, 1, 1, 0)); /* one pending is enough */
    sotto_server_close(server);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_datastore_key_is_made_for_an_empty_database_alone),
        CASE(a_directory_is_not_called_a_missing_datastore_key),
        CASE(a_datastore_key_that_others_may_read_opens_nothing),
        CASE(keys_move_on_by_the_servers_own_timer),
    };

    return RUN_TESTS(argc, argv, cases);
}
