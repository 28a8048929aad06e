/* Each rule of the verifier alone. Where the query runner has a second line of defence (it can't write, it
 * sees no views), the verifier is attached to a plain connection that has none. */
#include "support/queries.h"

#include <stdio.h>
#include <string.h>

typedef struct bench {
    sqlite3 *db;
    sotto_verifier verifier;
} bench;

/* A connection without any protection but the verifier. */
static bench plain(sotto_test *t, const sotto_query_policy *policy)
{
    static const char schema[] =
        "CREATE TABLE keyboard_ngrams(event_id, event_time, age, ngram, perplexity, liked, secret);"
        "CREATE TABLE health(event_id, event_time, pulse, secret);"
        "CREATE VIEW v AS SELECT age AS a, secret AS s FROM keyboard_ngrams;"
        "INSERT INTO keyboard_ngrams VALUES(x'00',1,20,'hello',1.5,1,'s');";
    bench b;

    CHECK(t, sqlite3_open(":memory:", &b.db) == SQLITE_OK);
    CHECK(t, sqlite3_exec(b.db, schema, NULL, NULL, NULL) == SQLITE_OK);
    sotto_verifier_init(&b.verifier, policy, sotto_test_streams, SOTTO_TEST_STREAMS);
    return b;
}

static int compile(bench *b, const char *sql)
{
    sqlite3_stmt *statement;

    b->verifier.why = (sotto_err){0};
    (void)sqlite3_set_authorizer(b->db, sotto_verifier_decide, &b->verifier);
    int code = sqlite3_prepare_v2(b->db, sql, -1, &statement, NULL);
    (void)sqlite3_finalize(statement);
    return code;
}

static void expect_denied(sotto_test *t, const char *sql, const char *reason)
{
    bench b = plain(t, &sotto_test_policy);

    CHECK(t, compile(&b, sql) != SQLITE_OK);
    t->err = b.verifier.why;
    CHECK_REASON(t, reason);
    CHECK(t, sqlite3_close(b.db) == SQLITE_OK);
}

static void ask(sotto_test *t, const sotto_query_policy *policy, sotto_status wanted,
                const char *sql, const char *reason)
{
    sotto_store *store = sotto_test_store(t, NULL);

    sotto_test_fill(t, store, "s");
    sotto_answer answer = sotto_test_ask_text(store, policy, sql, &t->err);
    sotto_test_status(t, wanted, answer.status, sql, __FILE__, __LINE__);
    CHECK_REASON(t, reason);
    sotto_store_close(store);
}

static void expect_reads(sotto_test *t, const char *sql, const char *read)
{
    sotto_store *store = sotto_test_store(t, NULL);

    sotto_test_fill(t, store, "s");
    sotto_answer answer = sotto_test_ask_text(store, &sotto_test_policy, sql, &t->err);
    sotto_test_status(t, SOTTO_OK, answer.status, sql, __FILE__, __LINE__);
    if (strcmp(read, answer.read) != 0)
        (void)printf("%s: read '%s'\n", sql, answer.read);
    CHECK(t, strcmp(read, answer.read) == 0);
    sotto_store_close(store);
}

static void a_field_that_is_not_allowed_is_denied(sotto_test *t)
{
    ask(t, &sotto_test_policy, SOTTO_DENIED, "SELECT perplexity FROM keyboard_ngrams",
        "keyboard_ngrams.perplexity: the policy does not allow");
}

static void a_denied_column_is_an_error_and_never_null(sotto_test *t)
{
    expect_denied(t, "SELECT age, secret FROM keyboard_ngrams", "keyboard_ngrams.secret");
}

static void every_place_that_reads_a_field_counts(sotto_test *t)
{
    const char *both = "keyboard_ngrams.age keyboard_ngrams.ngram";

    expect_reads(t, "SELECT age FROM keyboard_ngrams WHERE ngram > 'a'", both);
    expect_reads(t, "SELECT age FROM keyboard_ngrams ORDER BY ngram", both);
    expect_reads(t, "SELECT max(age) FROM keyboard_ngrams GROUP BY ngram", both);
    expect_reads(t, "SELECT age FROM keyboard_ngrams WHERE age IN (SELECT pulse FROM health)",
                 "keyboard_ngrams.age health.pulse");
    expect_reads(t, "SELECT a FROM (SELECT age AS a, ngram FROM keyboard_ngrams)", both);
    expect_reads(t, "SELECT sum(age) FILTER (WHERE ngram > 'a') FROM keyboard_ngrams", both);
}

static void a_view_reads_the_fields_below_it(sotto_test *t)
{
    static const sotto_field_name fields[] = {{"v", "a"}, {"v", "s"}, {"keyboard_ngrams", "age"}};
    static const sotto_field columns[] = {{"a", SOTTO_TYPE_INTEGER}, {"s", SOTTO_TYPE_TEXT}};
    static const sotto_stream streams[] = {{"v", columns, 2, 1, 1}};
    const sotto_query_policy policy = {.fields = fields, .field_count = 3};
    bench b = plain(t, &policy);
    sotto_stream both[2] = {streams[0], sotto_test_streams[0]};

    b.verifier.streams = both; /* even where a policy names the view, what it hides counts */
    CHECK_EQUAL(t, SQLITE_AUTH, compile(&b, "SELECT a FROM v"));
    CHECK(t, strstr(b.verifier.why.reason, "keyboard_ngrams.secret") != NULL);
    CHECK(t, b.verifier.accessed_count >= 1);
    CHECK(t, strcmp(b.verifier.accessed[0].field, "age") == 0);
    CHECK(t, sqlite3_close(b.db) == SQLITE_OK);
}

static void a_field_is_sensitive_unless_the_policy_says_otherwise(sotto_test *t)
{
    bench b = plain(t, &sotto_test_policy);

    CHECK_EQUAL(t, SQLITE_OK, compile(&b, "SELECT age, ngram FROM keyboard_ngrams"));
    CHECK_EQUAL(t, 2, b.verifier.accessed_count);
    CHECK(t, !b.verifier.accessed[0].sensitive && b.verifier.accessed[1].sensitive);
    CHECK(t, sqlite3_close(b.db) == SQLITE_OK);
}

static void counting_rows_is_a_field_of_its_own(sotto_test *t)
{
    static const sotto_field_name fields[] = {{"health", SOTTO_FIELD_ROWS}};
    const sotto_query_policy policy = {.fields = fields, .field_count = 1};
    sotto_store *store = sotto_test_store(t, NULL);

    ask(t, &sotto_test_policy, SOTTO_DENIED, "SELECT count(*) FROM health", "health.*");
    ask(t, &policy, SOTTO_DENIED, "SELECT count(*) FROM keyboard_ngrams", "keyboard_ngrams.*");
    sotto_test_fill(t, store, "s");
    sotto_answer answer =
        sotto_test_ask_text(store, &policy, "SELECT count(*) FROM health", &t->err);
    CHECK_EQUAL(t, SOTTO_OK, answer.status);
    CHECK(t, strcmp(answer.text, "6|") == 0 && strcmp(answer.read, "health.*") == 0);
    sotto_store_close(store);
}

static void what_identifies_an_event_is_never_read(sotto_test *t)
{
    static const sotto_field_name fields[] = {{"health", "ROWID"}, {"health", "event_id"}};
    static const char *const texts[] = {"SELECT rowid FROM health", "SELECT event_id FROM health"};

    for (size_t i = 0; i < 2; i++) {
        const sotto_bytes listed = sotto_bytes_of(texts[i], strlen(texts[i]));
        const sotto_query_policy policy = {
            .fields = fields, .field_count = 2, .queries = &listed, .query_count = 1};

        ask(t, &policy, SOTTO_DENIED, texts[i], "identifies an event");
    }
}

static void time_of_events_is_read_only_if_allowed(sotto_test *t)
{
    static const sotto_field_name fields[] = {{"health", SOTTO_STORE_TIME}};
    const sotto_query_policy policy = {.fields = fields, .field_count = 1};
    const char *sql = "SELECT max(event_time) FROM health";

    ask(t, &sotto_test_policy, SOTTO_DENIED, sql, "health.event_time");
    ask(t, &policy, SOTTO_OK, sql, "");
}

static void a_listed_query_is_allowed_byte_for_byte(sotto_test *t)
{
    const char *text = "SELECT max(secret) FROM health";
    const sotto_bytes listed = sotto_bytes_of(text, strlen(text));
    const sotto_query_policy policy = {.queries = &listed, .query_count = 1};

    ask(t, &policy, SOTTO_OK, text, "");
    ask(t, &policy, SOTTO_DENIED, "SELECT max(secret) FROM health ", "not one of the 1");
    ask(t, &policy, SOTTO_DENIED, "select max(secret) FROM health", "not one of the 1");
}

static void without_fields_only_listed_queries_run(sotto_test *t)
{
    const sotto_query_policy policy = {0};

    ask(t, &policy, SOTTO_DENIED, "SELECT 1", "not one of the 0");
}

static void a_listed_query_still_sees_declared_streams_only(sotto_test *t)
{
    static const char *const texts[] = {"SELECT name FROM sqlite_schema",
                                        "SELECT fields FROM sotto_streams"};

    for (size_t i = 0; i < 2; i++) {
        const sotto_bytes listed = sotto_bytes_of(texts[i], strlen(texts[i]));
        const sotto_query_policy policy = {.queries = &listed, .query_count = 1};

        ask(t, &policy, SOTTO_DENIED, texts[i], "not a field of a declared stream");
    }
}

static void other_databases_are_not_the_store(sotto_test *t)
{
    bench b = plain(t, &sotto_test_policy);

    CHECK(t, sqlite3_exec(b.db, "CREATE TEMP TABLE health(pulse)", NULL, NULL, NULL) == SQLITE_OK);
    CHECK_EQUAL(t, SQLITE_AUTH, compile(&b, "SELECT pulse FROM temp.health"));
    CHECK(t, strstr(b.verifier.why.reason, "not in the event store") != NULL);
    CHECK(t, sqlite3_close(b.db) == SQLITE_OK);
}

static void functions_are_allowed_by_name(sotto_test *t)
{
    expect_denied(t, "SELECT zeroblob(1)", "zeroblob: not an allowed function");
    expect_denied(t, "SELECT age FROM keyboard_ngrams WHERE random() > 0", "random");
    ask(t, &sotto_test_policy, SOTTO_OK,
        "SELECT coalesce(max(abs(age)), 0), lower(min(substr(ngram, 1, 2))) FROM keyboard_ngrams",
        "");
}

static void recursion_is_denied(sotto_test *t)
{
    expect_denied(t, "WITH c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c",
                  "WITH RECURSIVE");
}

static void pragmas_are_denied(sotto_test *t)
{
    expect_denied(t, "PRAGMA user_version", "PRAGMA");
    expect_denied(t, "PRAGMA query_only=OFF", "PRAGMA");
}

/* With a function that SQLite has of its own; others are no tables at all. */
static void table_valued_functions_are_denied(sotto_test *t)
{
    static const char *const texts[] = {"SELECT value FROM json_each('[1,2]')",
                                        "SELECT count(*) FROM json_tree('[1,2]')",
                                        "SELECT age FROM keyboard_ngrams, json_each(ngram)",
                                        "SELECT name FROM pragma_table_info('health')"};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const sotto_bytes listed = sotto_bytes_of(texts[i], strlen(texts[i]));
        const sotto_query_policy policy = {.queries = &listed, .query_count = 1};

        ask(t, &policy, SOTTO_MALFORMED, texts[i], "no such table");
    }
}

static void attaching_is_denied(sotto_test *t)
{
    expect_denied(t, "ATTACH ':memory:' AS other", "ATTACH");
    expect_denied(t, "DETACH other", "ATTACH");
}

static void transactions_are_denied(sotto_test *t)
{
    expect_denied(t, "BEGIN", "a transaction");
    expect_denied(t, "SAVEPOINT x", "a transaction");
}

static void writing_is_denied(sotto_test *t)
{
    expect_denied(t, "DELETE FROM health", "a change");
    expect_denied(t, "INSERT INTO health(pulse) VALUES(1)", "a change");
    expect_denied(t, "UPDATE health SET pulse = 1", "a change");
}

static void unknown_actions_are_denied(sotto_test *t)
{
    sotto_verifier verifier;

    sotto_verifier_init(&verifier, &sotto_test_policy, sotto_test_streams, SOTTO_TEST_STREAMS);
    for (int action = 0; action < 1000; action++) {
        if (action == SQLITE_SELECT)
            continue;
        CHECK_EQUAL(t, SQLITE_DENY,
                    sotto_verifier_decide(&verifier, action, NULL, NULL, NULL, NULL));
    }
}

static void joins_by_name_are_denied(sotto_test *t)
{
    ask(t, &sotto_test_policy, SOTTO_DENIED,
        "SELECT k.age FROM keyboard_ngrams k JOIN health h USING (secret)", "use ON");
    ask(t, &sotto_test_policy, SOTTO_DENIED,
        "SELECT k.age FROM keyboard_ngrams k nAtUrAl LEFT JOIN health h", "use ON");
    /* The words themselves are harmless in quotes. */
    ask(t, &sotto_test_policy, SOTTO_OK,
        "SELECT age AS \"using\", 'natural' FROM keyboard_ngrams -- using", "");
}

static void explain_is_denied(sotto_test *t)
{
    ask(t, &sotto_test_policy, SOTTO_DENIED, "EXPLAIN SELECT age FROM keyboard_ngrams", "EXPLAIN");
}

static void several_statements_are_denied(sotto_test *t)
{
    ask(t, &sotto_test_policy, SOTTO_DENIED, "SELECT 1; SELECT 2", "more than one statement");
    ask(t, &sotto_test_policy, SOTTO_OK, "SELECT 1 ; \n", "");
}

static void a_statement_that_writes_is_denied(sotto_test *t)
{
    bench b = plain(t, &sotto_test_policy);
    sqlite3_stmt *statement;

    CHECK(t, sqlite3_prepare_v2(b.db, "DELETE FROM health", -1, &statement, NULL) == SQLITE_OK);
    CHECK_STATUS(
        t, SOTTO_DENIED,
        sotto_verifier_check_statement(&b.verifier, statement, sotto_bytes_of(NULL, 0), &t->err));
    CHECK_REASON(t, "writes");
    (void)sqlite3_finalize(statement);
    CHECK(t, sqlite3_close(b.db) == SQLITE_OK);
}

static void parameters_are_denied(sotto_test *t)
{
    ask(t, &sotto_test_policy, SOTTO_DENIED, "SELECT age FROM keyboard_ngrams WHERE age > ?1",
        "parameters have no value");
    ask(t, &sotto_test_policy, SOTTO_OK, "SELECT '?', \"age\" FROM keyboard_ngrams", "");
}

static void a_nul_does_not_hide_the_rest(sotto_test *t)
{
    static const char sql[] = "SELECT age FROM keyboard_ngrams\0 and a tail";
    sotto_store *store = sotto_test_store(t, NULL);
    sotto_answer answer =
        sotto_test_ask(store, &sotto_test_policy, sotto_bytes_of(sql, sizeof sql - 1), &t->err);

    CHECK_EQUAL(t, SOTTO_MALFORMED, answer.status);
    CHECK_REASON(t, "a NUL");
    sotto_store_close(store);
}

static void text_outside_quotes_is_plain_ascii(sotto_test *t)
{
    ask(t, &sotto_test_policy, SOTTO_MALFORMED,
        "SELECT k.age FROM keyboard_ngrams k JOIN health h \xef\xbb\xbfUSING(secret)",
        "not plain ASCII");
    ask(t, &sotto_test_policy, SOTTO_OK,
        "SELECT age FROM keyboard_ngrams WHERE ngram = 'na\xc3\xafve'", "");
}

static void quotes_make_names_and_not_texts(sotto_test *t)
{
    ask(t, &sotto_test_policy, SOTTO_MALFORMED, "SELECT \"nothing\" FROM keyboard_ngrams",
        "no such column");
}

/* ---- compiled again inside a step: the schema changed after the query was opened ---------------------- */

static sqlite3 *second_connection(sotto_test *t, const char *path)
{
    sqlite3 *db;

    CHECK(t, sqlite3_open(path, &db) == SQLITE_OK);
    return db;
}

static sotto_status ignore_row(void *context, const sotto_value *values, size_t count,
                               sotto_err *err)
{
    (void)context, (void)values, (void)count, (void)err;
    return SOTTO_OK;
}

static sotto_status choose_first(void *context, uint64_t *number, uint64_t count, sotto_err *err)
{
    (void)context, (void)count, (void)err;
    *number = 0;
    return SOTTO_OK;
}

/* Replaces health, as the query knew it, by a table with these columns; then runs the query, on the store itself. */
static sotto_status run_after_change(sotto_test *t, const sotto_query_policy *policy,
                                     const char *before, const char *after)
{
    const char *path = sotto_test_temp(t, "events.db");
    const char *sql = "SELECT * FROM health";
    sotto_store *store = sotto_test_store(t, path);
    sqlite3 *db = second_connection(t, path);
    sotto_query *query;

    CHECK(t, sqlite3_exec(db, before, NULL, NULL, NULL) == SQLITE_OK);
    CHECK_OK(t, sotto_query_open(&query, store, policy, sotto_bytes_of(sql, strlen(sql)), NULL,
                                 &t->err));
    CHECK(t, sqlite3_exec(db, after, NULL, NULL, NULL) == SQLITE_OK);
    t->err = (sotto_err){0};
    sotto_status status = sotto_query_one(query, choose_first, ignore_row, NULL, &t->err);
    sotto_query_close(query);
    CHECK(t, sqlite3_close(db) == SQLITE_OK);
    sotto_store_close(store);
    return status;
}

#define REPLACE "DROP TABLE health; CREATE TABLE health"

static void a_query_compiled_again_is_judged_again(sotto_test *t)
{
    sotto_status status =
        run_after_change(t, &sotto_test_policy, REPLACE "(pulse)", REPLACE "(pulse, secret)");

    CHECK_EQUAL(t, SOTTO_DENIED, status);
    CHECK_REASON(t, "health.secret: the policy does not allow");
}

static void a_query_compiled_again_reads_no_more_than_the_ledger_saw(sotto_test *t)
{
    static const sotto_field_name fields[] = {{"health", "pulse"}, {"health", "secret"}};
    const sotto_query_policy policy = {.fields = fields, .field_count = 2};
    sotto_status status =
        run_after_change(t, &policy, REPLACE "(pulse)", REPLACE "(pulse, secret)");

    CHECK_EQUAL(t, SOTTO_DENIED, status);
    CHECK_REASON(t, "was not read when the budget was checked");
    CHECK_EQUAL(t, SOTTO_OK,
                run_after_change(t, &policy, REPLACE "(pulse, secret)", REPLACE "(secret, pulse)"));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_field_that_is_not_allowed_is_denied),
        CASE(a_denied_column_is_an_error_and_never_null),
        CASE(every_place_that_reads_a_field_counts),
        CASE(a_view_reads_the_fields_below_it),
        CASE(a_field_is_sensitive_unless_the_policy_says_otherwise),
        CASE(counting_rows_is_a_field_of_its_own),
        CASE(what_identifies_an_event_is_never_read),
        CASE(time_of_events_is_read_only_if_allowed),
        CASE(a_listed_query_is_allowed_byte_for_byte),
        CASE(without_fields_only_listed_queries_run),
        CASE(a_listed_query_still_sees_declared_streams_only),
        CASE(other_databases_are_not_the_store),
        CASE(functions_are_allowed_by_name),
        CASE(recursion_is_denied),
        CASE(pragmas_are_denied),
        CASE(table_valued_functions_are_denied),
        CASE(attaching_is_denied),
        CASE(transactions_are_denied),
        CASE(writing_is_denied),
        CASE(unknown_actions_are_denied),
        CASE(joins_by_name_are_denied),
        CASE(explain_is_denied),
        CASE(several_statements_are_denied),
        CASE(a_statement_that_writes_is_denied),
        CASE(parameters_are_denied),
        CASE(a_nul_does_not_hide_the_rest),
        CASE(text_outside_quotes_is_plain_ascii),
        CASE(quotes_make_names_and_not_texts),
        CASE(a_query_compiled_again_is_judged_again),
        CASE(a_query_compiled_again_reads_no_more_than_the_ledger_saw),
    };
    return RUN_TESTS(argc, argv, cases);
}
