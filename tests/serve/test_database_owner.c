/* Whose database it is: one role's, and on SQLite one process's. */
#define _XOPEN_SOURCE 700

#include "support/database.h"

#include "serve/host/database_owner.h"
#include "serve/tasks/schema.h"
#include "serve/tasks/server.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static sotto_server_options options_for(sotto_test *t, sotto_role role, const char *address)
{
    return (sotto_server_options){.role = role,
                                  .host.listen = "127.0.0.1:0",
                                  .host.database = address,
                                  .host.datastore_key = sotto_test_temp(t, "owner.key")};
}

/* ---- roles ----------------------------------------------------------------------------------------------------------- */

static void is_refused(sotto_test *t, const sotto_server_options *first, sotto_role other)
{
    sotto_server_options wrong = *first;
    sotto_server *server = NULL;

    wrong.role = other;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_server_open(&server, &wrong, &t->err));
    CHECK(t, strstr(t->err.reason, other == SOTTO_LEADER ? "is a helper's" : "is a leader's"));
    CHECK(t, strstr(t->err.reason, "`database` of its own"));
    CHECK(t, server == NULL);
}

static void a_database_is_one_roles_for_good(sotto_test *t)
{
    static const sotto_role roles[] = {SOTTO_LEADER, SOTTO_HELPER};

    for (size_t i = 0; i < 2; i++) {
        sotto_server_options options = options_for(t, roles[i], sotto_test_address(t));
        sotto_server *server = NULL;

        CHECK_OK(t, sotto_server_open(&server, &options, &t->err));
        sotto_server_close(server);
        is_refused(t, &options, roles[1 - i]);
        CHECK_OK(t, sotto_server_open(&server, &options, &t->err)); /* and still its own */
        CHECK_OK(t, sotto_database_owner_check(server->db, sotto_role_service(roles[i]), &t->err));
        CHECK_STATUS(
            t, SOTTO_DENIED,
            sotto_database_owner_check(server->db, sotto_role_service(roles[1 - i]), &t->err));
        sotto_server_close(server);
    }
}

/* As one that was made before there were owners: looking claims nothing, the first server does. */
static void a_database_without_an_owner_is_the_first_servers(sotto_test *t)
{
    sotto_db *db = sotto_test_db_at(t, sotto_test_address(t));

    CHECK_OK(t, sotto_db_migrate(db, sotto_serve_migrations, SOTTO_SERVE_MIGRATIONS, &t->err));
    CHECK_OK(t, sotto_database_owner_check(db, sotto_role_service(SOTTO_LEADER), &t->err));
    CHECK_OK(t, sotto_database_owner_check(db, sotto_role_service(SOTTO_HELPER), &t->err));
    CHECK_OK(t, sotto_database_owner_claim(db, sotto_role_service(SOTTO_HELPER), &t->err));
    CHECK_OK(t, sotto_database_owner_claim(db, sotto_role_service(SOTTO_HELPER),
                                           &t->err)); /* a replica */
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_database_owner_claim(db, sotto_role_service(SOTTO_LEADER), &t->err));
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_database_owner_check(db, sotto_role_service(SOTTO_LEADER), &t->err));
    sotto_db_close(db);
}

/* One from before owners were written down: its tasks tell. */
static void an_older_database_is_that_of_its_tasks(sotto_test *t)
{
    enum { BEFORE = 7 };
    sotto_db *db = sotto_test_db_at(t, sotto_test_address(t));
    char add[200];

    CHECK_OK(t, sotto_db_migrate(db, sotto_serve_migrations, BEFORE, &t->err));
    (void)snprintf(
        add, sizeof add,
        "INSERT INTO task (n, id, role, recipe, parties, cohort, added) VALUES"
        " (1, CAST('a' AS {bytes}), %d, CAST('r' AS {bytes}), CAST('p' AS {bytes}), 0, 1)",
        (int)SOTTO_LEADER);
    sotto_test_do(t, db, add);
    CHECK_OK(t, sotto_db_migrate(db, sotto_serve_migrations, SOTTO_SERVE_MIGRATIONS, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_database_owner_claim(db, sotto_role_service(SOTTO_HELPER), &t->err));
    CHECK_OK(t, sotto_database_owner_claim(db, sotto_role_service(SOTTO_LEADER), &t->err));
    sotto_db_close(db);
}

/* ---- processes ------------------------------------------------------------------------------------------------------- */

/* On PostgreSQL the second is a replica. */
static void beside(sotto_test *t, const sotto_server_options *options)
{
    sotto_server *second = NULL;

    if (sotto_test_on_postgres()) {
        CHECK_OK(t, sotto_server_open(&second, options, &t->err));
        sotto_server_close(second);
        return;
    }
    CHECK_STATUS(t, SOTTO_STALE, sotto_server_open(&second, options, &t->err));
    CHECK(t, strstr(t->err.reason, "store.db is in use by another sotto server"));
}

static void an_sqlite_file_is_one_servers_at_a_time(sotto_test *t)
{
    static const sotto_role roles[] = {SOTTO_HELPER, SOTTO_LEADER};

    for (size_t i = 0; i < 2; i++) {
        sotto_server_options options = options_for(t, roles[i], sotto_test_address(t));
        sotto_server *server = NULL;
        sotto_db *db;

        CHECK_OK(t, sotto_server_open(&server, &options, &t->err));
        beside(t, &options);
        db = sotto_test_db_at(t, options.host.database); /* as an admin verb does */
        CHECK_OK(t, sotto_database_owner_check(db, sotto_role_service(roles[i]), &t->err));
        sotto_db_close(db);
        beside(t, &options); /* that took no lock away */
        sotto_server_close(server);
        CHECK_OK(t, sotto_server_open(&server, &options, &t->err));
        sotto_server_close(server);
    }
}

static void two_names_of_a_file_are_one_database(sotto_test *t)
{
    sotto_server_options options;
    const char *link;
    char other[1024];
    sotto_server *server = NULL, *second = NULL;

    if (sotto_test_on_postgres())
        NOT_FOR_THIS_DATABASE(t, "a PostgreSQL database has no file name of its own");
    options = options_for(t, SOTTO_HELPER, sotto_test_address(t));
    link = sotto_test_temp(t, "other.db");
    CHECK_OK(t, sotto_server_open(&server, &options, &t->err));
    CHECK_EQUAL(t, 0, symlink(options.host.database + strlen("sqlite:"), link));
    (void)snprintf(other, sizeof other, "sqlite:%s", link);
    options.host.database = other;
    CHECK_STATUS(t, SOTTO_STALE, sotto_server_open(&second, &options, &t->err));
    CHECK(t, second == NULL);
    sotto_server_close(server);
}

/* As kill -9 leaves it. */
static void a_server_that_was_killed_holds_nothing(sotto_test *t)
{
    sotto_server_options options = options_for(t, SOTTO_HELPER, sotto_test_address(t));
    sotto_server *server = NULL;
    pid_t child = fork();
    int status;

    CHECK(t, child >= 0);
    if (child == 0) {
        bool good = sotto_server_open(&server, &options, NULL) == SOTTO_OK;

        (void)raise(good ? SIGKILL : SIGTERM);
        _exit(1);
    }
    CHECK_EQUAL(t, child, waitpid(child, &status, 0));
    CHECK(t, WIFSIGNALED(status));
    CHECK_EQUAL(t, SIGKILL, WTERMSIG(status));
    CHECK_OK(t, sotto_server_open(&server, &options, &t->err));
    sotto_server_close(server);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_database_is_one_roles_for_good),
        CASE(a_database_without_an_owner_is_the_first_servers),
        CASE(an_older_database_is_that_of_its_tasks),
        CASE(an_sqlite_file_is_one_servers_at_a_time),
        CASE(two_names_of_a_file_are_one_database),
        CASE(a_server_that_was_killed_holds_nothing),
    };

    return RUN_TESTS(argc, argv, cases);
}
