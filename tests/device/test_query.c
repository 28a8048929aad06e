/* Whole queries over a store: what a stranger may try, and what every query is limited to. */
#define _XOPEN_SOURCE 700

#include "support/queries.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

static void ask(sotto_test *t, sotto_store *store, sotto_status wanted, const char *sql,
                const char *reason)
{
    sotto_answer answer = sotto_test_ask_text(store, &sotto_test_policy, sql, &t->err);

    sotto_test_status(t, wanted, answer.status, sql, __FILE__, __LINE__);
    CHECK_REASON(t, reason);
}

/* The first line of a file is "-- <status>: <part of the reason>"; "refused" stands for any status. */
static bool as_expected(const sotto_answer *answer, const sotto_err *err, const char *line)
{
    char status[32] = {0}, reason[100] = {0};

    if (sscanf(line, "-- %31[^:\n]: %99[^\n]", status, reason) < 1 || answer->status == SOTTO_OK)
        return false;
    bool same =
        strcmp(status, "refused") == 0 || strcmp(status, sotto_status_name(answer->status)) == 0;
    return same && strstr(err->reason, reason);
}

static void every_hostile_query_is_refused_for_its_reason(sotto_test *t)
{
    sotto_store *store = sotto_test_store(t, NULL);
    DIR *directory = opendir(SOTTO_TESTS "/hostile");
    int files = 0, wrong = 0;

    CHECK(t, directory != NULL);
    sotto_test_fill(t, store, "s");
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        char path[1024];

        if (!strstr(entry->d_name, ".sql"))
            continue;
        (void)snprintf(path, sizeof path, SOTTO_TESTS "/hostile/%s", entry->d_name);
        sotto_bytes file = sotto_test_read_file(t, path);
        const uint8_t *line = memchr(file.data, '\n', file.len);
        CHECK(t, line != NULL);
        sotto_bytes sql = sotto_bytes_of(line + 1, (size_t)(file.data + file.len - line - 2));
        sotto_answer answer = sotto_test_ask(store, &sotto_test_policy, sql, &t->err);
        if (!as_expected(&answer, &t->err, (const char *)file.data)) {
            (void)printf("%s: %s: %s\n", entry->d_name, sotto_status_name(answer.status),
                         t->err.reason);
            wrong++;
        }
        files++;
    }
    (void)closedir(directory);
    (void)printf("%d hostile queries, %d not refused as they should be\n", files, wrong);
    CHECK(t, files >= 100);
    CHECK_EQUAL(t, 0, wrong);
    sotto_store_close(store);
}

static void allowed_queries_give_typed_rows(sotto_test *t)
{
    static const struct {
        const char *sql, *text, *read;
    } cases[] = {
        {"SELECT age, ngram FROM keyboard_ngrams ORDER BY age LIMIT 2",
         "18|hello world|27|i went home|", "keyboard_ngrams.age keyboard_ngrams.ngram"},
        {"SELECT avg(age) FROM keyboard_ngrams WHERE ngram LIKE 'i %';", "42|",
         "keyboard_ngrams.age keyboard_ngrams.ngram"},
        {"SELECT max(pulse) FROM health WHERE pulse < 0", "null|", "health.pulse"},
        {"SELECT sum(k.age) FROM keyboard_ngrams k JOIN health h ON h.pulse = k.age + 42 ", "18|",
         "keyboard_ngrams.age health.pulse"},
        {"WITH s AS (SELECT age AS a FROM keyboard_ngrams) SELECT max(a) FROM s", "63|",
         "keyboard_ngrams.age"},
        {"WITH s AS (SELECT secret FROM health) SELECT max(age) FROM keyboard_ngrams", "63|",
         "keyboard_ngrams.age"}, /* what is never compiled is never read */
        {"SELECT 1 + 1", "2|", ""},
    };
    const char *path = sotto_test_temp(t, "events.db");
    sotto_store *stores[] = {sotto_test_store(t, NULL), sotto_test_store(t, path)};

    for (size_t s = 0; s < 2; s++) {
        sotto_test_fill(t, stores[s], "s");
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            sotto_answer answer =
                sotto_test_ask_text(stores[s], &sotto_test_policy, cases[i].sql, &t->err);

            sotto_test_status(t, SOTTO_OK, answer.status, cases[i].sql, __FILE__, __LINE__);
            if (strcmp(cases[i].text, answer.text) || strcmp(cases[i].read, answer.read))
                (void)printf("%s: '%s' reading '%s'\n", cases[i].sql, answer.text, answer.read);
            CHECK(t, strcmp(cases[i].text, answer.text) == 0);
            CHECK(t, strcmp(cases[i].read, answer.read) == 0);
        }
        sotto_store_close(stores[s]);
    }
}

static void a_query_reads_what_was_donated_since(sotto_test *t)
{
    sotto_store *store = sotto_test_store(t, sotto_test_temp(t, "events.db"));
    const char *sql = "SELECT sum(pulse) FROM health";

    CHECK_OK(t, sotto_test_beat(store, 1, 60, "s", &t->err));
    CHECK(t, strcmp(sotto_test_ask_text(store, &sotto_test_policy, sql, NULL).text, "60|") == 0);
    CHECK_OK(t, sotto_test_beat(store, 2, 61, "s", &t->err));
    CHECK(t, strcmp(sotto_test_ask_text(store, &sotto_test_policy, sql, NULL).text, "121|") == 0);
    sotto_store_close(store);
}

#define CROSS "keyboard_ngrams a, keyboard_ngrams b, keyboard_ngrams c, keyboard_ngrams d"
#define ALL   "b.age + c.age + d.age > 0"

static sotto_answer ask_limited(sotto_test *t, sotto_query_limits limits, const char *sql)
{
    sotto_store *store = sotto_test_store(t, NULL);
    sotto_query_policy policy = sotto_test_policy;

    policy.limits = limits;
    sotto_test_fill(t, store, "s");
    sotto_answer answer = sotto_test_ask_text(store, &policy, sql, &t->err);
    sotto_store_close(store);
    return answer;
}

static void steps_are_limited(sotto_test *t)
{
    const char *sql = "SELECT max(a.age) FROM " CROSS " WHERE " ALL;

    CHECK_EQUAL(t, SOTTO_OK, ask_limited(t, (sotto_query_limits){.steps = 1000000}, sql).status);
    CHECK_EQUAL(t, SOTTO_TOO_LARGE,
                ask_limited(t, (sotto_query_limits){.steps = 1000}, sql).status);
    CHECK_REASON(t, "more steps");
}

static uint64_t ticking(void *context)
{
    uint64_t *now = context;

    return *now += 1000000;
}

static sotto_status ignore_row(void *context, const sotto_value *values, size_t count,
                               sotto_err *err)
{
    (void)context, (void)values, (void)count, (void)err;
    return SOTTO_OK;
}

static void time_is_limited(sotto_test *t)
{
    sotto_store *store = sotto_test_store(t, NULL);
    uint64_t now = 0;
    const sotto_clock clock = {ticking, ticking, &now}; /* a millisecond passes at every look */
    const char *sql = "SELECT max(a.age) FROM " CROSS " WHERE " ALL;
    sotto_query_policy policy = sotto_test_policy;
    sotto_query *query;

    sotto_test_fill(t, store, "s");
    policy.limits.nanoseconds = 20000000;
    CHECK_OK(t, sotto_query_open(&query, store, &policy, sotto_bytes_of(sql, strlen(sql)), &clock,
                                 &t->err));
    CHECK_STATUS(t, SOTTO_TOO_LARGE, sotto_query_run(query, ignore_row, NULL, &t->err));
    CHECK_REASON(t, "more time");
    sotto_query_close(query);
    sotto_store_close(store);
}

static void rows_are_limited(sotto_test *t)
{
    const char *sql = "SELECT age FROM keyboard_ngrams";

    CHECK_EQUAL(t, 6, ask_limited(t, (sotto_query_limits){.rows = 6}, sql).rows);
    sotto_answer answer = ask_limited(t, (sotto_query_limits){.rows = 5}, sql);
    CHECK_EQUAL(t, SOTTO_TOO_LARGE, answer.status);
    CHECK_REASON(t, "more than 5 rows");
    CHECK_EQUAL(t, 5, answer.rows);
}

typedef struct picks {
    uint64_t number, count, rows;
    int64_t age;
} picks;

static sotto_status choose_number(void *context, uint64_t *number, uint64_t count, sotto_err *err)
{
    picks *p = context;

    (void)err;
    p->count = count;
    *number = p->number;
    return SOTTO_OK;
}

static sotto_status take_age(void *context, const sotto_value *values, size_t count, sotto_err *err)
{
    picks *p = context;

    (void)err;
    p->rows++;
    p->age = count == 1 && values[0].type == SOTTO_TYPE_INTEGER ? values[0].as.integer : -1;
    return SOTTO_OK;
}

static sotto_status pick(sotto_test *t, sotto_store *store, const char *sql, uint64_t rows,
                         picks *p)
{
    sotto_query_policy policy = sotto_test_policy;
    sotto_query *query;

    policy.limits.rows = (uint32_t)rows;
    CHECK_OK(t, sotto_query_open(&query, store, &policy, sotto_bytes_of(sql, strlen(sql)), NULL,
                                 &t->err));
    t->err = (sotto_err){0};
    sotto_status status = sotto_query_one(query, choose_number, take_age, p, &t->err);
    sotto_query_close(query);
    return status;
}

/* However the text ends: in brackets it must mean the same, or not be put there. */
static void any_row_can_be_the_one(sotto_test *t)
{
    static const char *const texts[] = {
        "SELECT age FROM keyboard_ngrams ORDER BY age",
        "SELECT age FROM keyboard_ngrams ORDER BY age ; ",
        "SELECT age FROM keyboard_ngrams ORDER BY age -- to the end",
        "SELECT age FROM keyboard_ngrams ORDER BY age /* and beyond",
        "WITH x AS (SELECT age AS a FROM keyboard_ngrams) SELECT a FROM x ORDER BY a",
        "SELECT age FROM keyboard_ngrams UNION ALL SELECT 1 WHERE 0 ORDER BY 1",
    };
    sotto_store *store = sotto_test_store(t, NULL);
    sotto_answer all;

    sotto_test_fill(t, store, "s");
    all = sotto_test_ask_text(store, &sotto_test_policy, texts[0], &t->err);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char seen[256] = "";
        int64_t ages[6], least;

        for (uint64_t n = 0; n < 6; n++) {
            picks p = {.number = n};

            CHECK_OK(t, pick(t, store, texts[i], 6, &p));
            CHECK_EQUAL(t, 6, p.count);
            CHECK_EQUAL(t, 1, p.rows);
            ages[n] = p.age;
        }
        for (size_t n = 0; n < 6; n++) { /* in order, whatever order they came in */
            size_t at = 0;

            for (size_t j = 1; j < 6; j++)
                at = ages[j] < ages[at] ? j : at;
            least = ages[at];
            ages[at] = INT64_MAX;
            (void)snprintf(seen + strlen(seen), sizeof seen - strlen(seen), "%d|", (int)least);
        }
        CHECK(t, strcmp(seen, all.text) == 0);
        CHECK_STATUS(t, SOTTO_TOO_LARGE, pick(t, store, texts[i], 5, &(picks){0}));
        CHECK_REASON(t, "more than 5 rows");
    }
    picks none = {.number = 0};
    CHECK_OK(t, pick(t, store, "SELECT age FROM keyboard_ngrams WHERE age > 999", 6, &none));
    CHECK_EQUAL(t, 0, none.rows);
    sotto_store_close(store);
}

static void columns_are_limited(sotto_test *t)
{
    CHECK_EQUAL(t, SOTTO_TOO_LARGE,
                ask_limited(t, (sotto_query_limits){.columns = 2},
                            "SELECT age, age, age FROM keyboard_ngrams")
                    .status);
    CHECK_REASON(t, "3 columns, 2 allowed");
}

static void values_are_limited_in_length(sotto_test *t)
{
    const char *sql = "SELECT x||x||x||x FROM (SELECT ngram||ngram||ngram||ngram AS x"
                      " FROM keyboard_ngrams)";

    CHECK_EQUAL(t, SOTTO_OK, ask_limited(t, (sotto_query_limits){.value_bytes = 500}, sql).status);
    CHECK_EQUAL(t, SOTTO_TOO_LARGE,
                ask_limited(t, (sotto_query_limits){.value_bytes = 100}, sql).status);
}

static void texts_are_limited_in_length(sotto_test *t)
{
    sotto_answer answer =
        ask_limited(t, (sotto_query_limits){.sql_bytes = 30}, "SELECT age FROM keyboard_ngrams");

    CHECK_EQUAL(t, SOTTO_TOO_LARGE, answer.status);
    CHECK_REASON(t, "31 bytes, 30 allowed");
}

static void nesting_is_limited_before_it_can_double(sotto_test *t)
{
    const char *sql =
        "SELECT x+x FROM (SELECT x+x AS x FROM (SELECT age AS x FROM keyboard_ngrams))";

    CHECK_EQUAL(t, SOTTO_OK, ask_limited(t, (sotto_query_limits){.selects = 3}, sql).status);
    CHECK_EQUAL(t, SOTTO_TOO_LARGE, ask_limited(t, (sotto_query_limits){.selects = 2}, sql).status);
    CHECK_REASON(t, "3 SELECTs");
    CHECK_EQUAL(t, SOTTO_TOO_LARGE, ask_limited(t, (sotto_query_limits){.words = 10}, sql).status);
}

static void depth_is_limited(sotto_test *t)
{
    sotto_store *store = sotto_test_store(t, NULL);
    char sql[600] = "SELECT 1";

    for (int i = 0; i < 100; i++)
        (void)strcat(sql, "+1");
    ask(t, store, SOTTO_MALFORMED, sql, "Expression tree is too large");
    sotto_store_close(store);
}

static void patterns_are_limited(sotto_test *t)
{
    sotto_store *store = sotto_test_store(t, NULL);
    char sql[600] = "SELECT age FROM keyboard_ngrams WHERE ngram LIKE '";

    sotto_test_fill(t, store, "s");
    for (int i = 0; i < 100; i++)
        (void)strcat(sql, "%_");
    (void)strcat(sql, "'");
    ask(t, store, SOTTO_MALFORMED, sql, "pattern too complex");
    sotto_store_close(store);
}

static void raw_bytes_are_no_answer(sotto_test *t)
{
    sotto_store *store = sotto_test_store(t, NULL);

    ask(t, store, SOTTO_DENIED, "SELECT x'00'", "raw bytes");
    sotto_store_close(store);
}

/* Sees the store's file and nothing else, and could not write if it wanted to. */
static void the_connection_reads_only(sotto_test *t)
{
    sotto_store *store = sotto_test_store(t, sotto_test_temp(t, "events.db"));
    const char *sql = "SELECT age FROM keyboard_ngrams";
    sotto_query *query;

    CHECK_OK(t, sotto_query_open(&query, store, &sotto_test_policy,
                                 sotto_bytes_of(sql, strlen(sql)), NULL, &t->err));
    sqlite3 *db = sotto_query_connection(query);
    CHECK_EQUAL(t, 1, sqlite3_db_readonly(db, "main"));
    CHECK(t, sqlite3_db_filename(db, "main") && !sqlite3_db_filename(db, "ledger"));
    CHECK_EQUAL(t, 0, sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, -1));
    (void)sqlite3_set_authorizer(db, NULL, NULL);
    CHECK(t, sqlite3_exec(db, "DELETE FROM health", NULL, NULL, NULL) != SQLITE_OK);
    sotto_query_close(query);
    sotto_store_close(store);
}

static sotto_status stop_after_two(void *context, const sotto_value *values, size_t count,
                                   sotto_err *err)
{
    int *rows = context;

    (void)values, (void)count;
    return ++*rows == 2 ? sotto_fail(err, SOTTO_STALE, "enough") : SOTTO_OK;
}

static void a_callback_can_stop_the_query_and_it_can_run_again(sotto_test *t)
{
    sotto_store *store = sotto_test_store(t, NULL);
    const char *sql = "SELECT age FROM keyboard_ngrams";
    sotto_query *query;
    int rows = 0;

    sotto_test_fill(t, store, "s");
    CHECK_OK(t, sotto_query_open(&query, store, &sotto_test_policy,
                                 sotto_bytes_of(sql, strlen(sql)), NULL, &t->err));
    CHECK_STATUS(t, SOTTO_STALE, sotto_query_run(query, stop_after_two, &rows, &t->err));
    CHECK_EQUAL(t, 2, rows);
    CHECK_OK(t, sotto_query_run(query, ignore_row, NULL, &t->err));
    sotto_query_close(query);
    sotto_store_close(store);
}

/* ---- the connection that is kept for the next query --------------------------------------------------------- */

static void a_query_leaves_no_limit_to_the_next(sotto_test *t)
{
    sotto_store *store = sotto_test_store(t, NULL);
    sotto_query_policy narrow = sotto_test_policy;
    const char *sql = "SELECT ngram FROM keyboard_ngrams ORDER BY ngram LIMIT 1";

    narrow.limits.value_bytes = 3;
    sotto_test_fill(t, store, "s");
    CHECK_OK(t, sotto_test_ask_text(store, &sotto_test_policy, sql, &t->err).status);
    CHECK(t, sotto_test_ask_text(store, &narrow, sql, &t->err).status != SOTTO_OK);
    CHECK_OK(t, sotto_test_ask_text(store, &sotto_test_policy, sql, &t->err).status);
    sotto_store_close(store);
}

static void two_queries_at_once_have_a_connection_each(sotto_test *t)
{
    sotto_store *store = sotto_test_store(t, NULL);
    const char *sql = "SELECT age FROM keyboard_ngrams";
    sotto_query *one, *two;

    sotto_test_fill(t, store, "s");
    CHECK_OK(t, sotto_test_ask_text(store, &sotto_test_policy, sql, &t->err).status);
    CHECK_OK(t, sotto_query_open(&one, store, &sotto_test_policy, sotto_bytes_of(sql, strlen(sql)),
                                 NULL, &t->err));
    CHECK_OK(t, sotto_query_open(&two, store, &sotto_test_policy, sotto_bytes_of(sql, strlen(sql)),
                                 NULL, &t->err));
    CHECK(t, sotto_query_connection(one) != sotto_query_connection(two));
    sotto_query_close(one);
    CHECK_OK(t, sotto_query_run(two, ignore_row, NULL, &t->err));
    sotto_query_close(two);
    sotto_store_close(store);
}

/* It holds on to no page that is to be erased, neither of a file nor of a store in memory. */
static void what_was_asked_for_can_be_forgotten(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "events.db"), *wal = sotto_test_beside(t, path, "-wal");
    const char *sql = "SELECT ngram FROM keyboard_ngrams";

    for (int memory = 0; memory < 2; memory++) {
        sotto_store *store = sotto_test_store(t, memory ? NULL : path);

        sotto_test_fill(t, store, "xyzzy");
        CHECK_EQUAL(t, 6, sotto_test_ask_text(store, &sotto_test_policy, sql, &t->err).rows);
        CHECK_OK(t, sotto_store_forget(store, NULL, &t->err));
        CHECK(t, !sotto_test_file_holds(t, path, "xyzzy"));
        CHECK(t, !sotto_test_file_holds(t, wal, "xyzzy"));
        CHECK_EQUAL(t, 0, sotto_test_ask_text(store, &sotto_test_policy, sql, &t->err).rows);
        sotto_store_close(store);
        CHECK(t, sotto_test_read_file(t, wal).data == NULL);
    }
}

/* A VFS of a host's that can't tell whether a file was moved: the default one, which does not answer that. */
static sqlite3_vfs *usual;
static sqlite3_io_methods mute;
static int (*usual_control)(sqlite3_file *, int, void *);

static int do_not_tell(sqlite3_file *file, int what, void *argument)
{
    return what == SQLITE_FCNTL_HAS_MOVED ? SQLITE_NOTFOUND : usual_control(file, what, argument);
}

static int open_mute(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *out)
{
    int code = usual->xOpen(vfs, path, file, flags, out);

    if (code != SQLITE_OK || !(flags & SQLITE_OPEN_MAIN_DB))
        return code;
    if (!usual_control) {
        mute = *file->pMethods;
        usual_control = mute.xFileControl;
        mute.xFileControl = do_not_tell;
    }
    file->pMethods = &mute;
    return code;
}

static const sotto_storage *mute_storage(sotto_test *t)
{
    static const sotto_storage storage = {.vfs = "mute"};
    static sqlite3_vfs vfs;

    if (!usual) {
        usual = sqlite3_vfs_find(NULL);
        vfs = *usual;
        vfs.zName = "mute";
        vfs.xOpen = open_mute;
        CHECK(t, sqlite3_vfs_register(&vfs, 0) == SQLITE_OK);
    }
    return &storage;
}

static sotto_store *open_with(sotto_test *t, const sotto_storage *storage, const char *path)
{
    const sotto_store_options options = {.storage = storage,
                                         .path = path,
                                         .streams = sotto_test_streams,
                                         .stream_count = SOTTO_TEST_STREAMS,
                                         .now = SOTTO_TEST_NOW};
    sotto_store *store;

    CHECK_OK(t, sotto_store_open(&store, &options, &t->err));
    return store;
}

static void check_replaced(sotto_test *t, const sotto_storage *storage)
{
    const char *path = sotto_test_temp(t, "events.db"), *other = sotto_test_temp(t, "other.db");
    const char *sql = "SELECT ngram FROM keyboard_ngrams";
    sotto_store *store = sotto_test_store(t, other);

    CHECK_OK(t, sotto_test_type(store, 1, SOTTO_TEST_NOW, 30, "another", "s", &t->err));
    sotto_store_close(store);
    store = open_with(t, storage, path);
    CHECK_OK(t, sotto_store_retain(store, SOTTO_TEST_NOW, &t->err));
    CHECK_EQUAL(t, 0, sotto_test_ask_text(store, &sotto_test_policy, sql, &t->err).rows);
    CHECK(t, remove(sotto_test_beside(t, path, "-wal")) == 0);
    CHECK(t, remove(sotto_test_beside(t, path, "-shm")) == 0);
    CHECK(t, rename(other, path) == 0);
    CHECK_EQUAL(t, 1, sotto_test_ask_text(store, &sotto_test_policy, sql, &t->err).rows);
    sotto_store_close(store);
}

static void a_query_reads_the_file_that_has_the_name_now(sotto_test *t)
{
    check_replaced(t, NULL);
    check_replaced(t, mute_storage(t));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(every_hostile_query_is_refused_for_its_reason),
        CASE(allowed_queries_give_typed_rows),
        CASE(a_query_reads_what_was_donated_since),
        CASE(steps_are_limited),
        CASE(time_is_limited),
        CASE(rows_are_limited),
        CASE(any_row_can_be_the_one),
        CASE(columns_are_limited),
        CASE(values_are_limited_in_length),
        CASE(texts_are_limited_in_length),
        CASE(nesting_is_limited_before_it_can_double),
        CASE(depth_is_limited),
        CASE(patterns_are_limited),
        CASE(raw_bytes_are_no_answer),
        CASE(the_connection_reads_only),
        CASE(a_callback_can_stop_the_query_and_it_can_run_again),
        CASE(a_query_leaves_no_limit_to_the_next),
        CASE(two_queries_at_once_have_a_connection_each),
        CASE(what_was_asked_for_can_be_forgotten),
        CASE(a_query_reads_the_file_that_has_the_name_now),
    };
    return RUN_TESTS(argc, argv, cases);
}
