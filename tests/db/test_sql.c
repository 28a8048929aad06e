/* Statements: the same text, the same answers, on both databases. */
#include "db/sql.h"
#include "support/database.h"

#include <stdio.h>
#include <string.h>

static sotto_status put_all_types(sotto_tx *tx, void *context, sotto_err *err)
{
    static const int64_t numbers[] = {0, -1, INT64_MAX, -9000000000000000000};
    sotto_sql q;
    uint64_t changed;

    (void)context;
    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "INSERT INTO things (id, number, body, name) VALUES (?1, ?2, ?3, ?4)", err));
    for (int64_t i = 0; i < 4; i++) { /* bound and run anew, without preparing again */
        sotto_sql_int(&q, 1, i);
        sotto_sql_int(&q, 2, numbers[i]);
        sotto_sql_bytes(&q, 3, sotto_bytes_of("a\0b\xff", (size_t)i));
        sotto_sql_text(&q, 4, i % 2 ? "na\xc3\xafve '?1' {x}" : "");
        SOTTO_TRY(sotto_sql_run(&q, &changed, err));
        if (changed != 1)
            return sotto_fail(err, SOTTO_BUG, "changed %llu", (unsigned long long)changed);
    }
    sotto_sql_int(&q, 1, 4); /* what is not bound is NULL */
    return sotto_sql_run(&q, NULL, err);
}

static sotto_status check_all_types(sotto_tx *tx, void *context, sotto_err *err)
{
    static const int64_t numbers[] = {0, -1, INT64_MAX, -9000000000000000000};
    sotto_test *t = context;
    sotto_sql q;
    bool row;
    uint8_t three[3];

    SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT number, body, name FROM things ORDER BY id", err));
    for (size_t i = 0; i < 4; i++) {
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
        CHECK(t, row);
        CHECK(t, sotto_sql_column_int(&q, 0) == numbers[i]);
        CHECK_EQUAL(t, i, sotto_sql_column_bytes(&q, 1).len);
        CHECK_BYTES(t, "a\0b\xff", sotto_sql_column_bytes(&q, 1).data, i);
        CHECK(t, strcmp(sotto_sql_column_text(&q, 2), i % 2 ? "na\xc3\xafve '?1' {x}" : "") == 0);
        CHECK(t, !sotto_sql_column_null(&q, 1));
    }
    CHECK_STATUS(t, SOTTO_OK, sotto_sql_column_fixed(&q, 1, three, 3, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_sql_column_fixed(&q, 1, three, 2, &t->err));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    for (unsigned i = 0; i < 3; i++)
        CHECK(t, row && sotto_sql_column_null(&q, i));
    CHECK_EQUAL(t, 0, sotto_sql_column_int(&q, 0));
    CHECK_EQUAL(t, 0, sotto_sql_column_bytes(&q, 1).len);
    CHECK_EQUAL(t, 0, strlen(sotto_sql_column_text(&q, 2)));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    CHECK(t, !row);
    return SOTTO_OK;
}

static void values_come_back_as_they_were_put(sotto_test *t)
{
    sotto_db *db = sotto_test_db(t);

    CHECK_OK(t, sotto_db_run(db, put_all_types, NULL, &t->err));
    CHECK_OK(t, sotto_db_read(db, check_all_types, t, &t->err));
    sotto_db_close(db);
}

/* In PostgreSQL the first run decides the type of a parameter that is NULL then. */
static sotto_status null_first(sotto_tx *tx, void *context, sotto_err *err)
{
    static const char text[] = "UPDATE things SET number = coalesce(?1, number) + 0 WHERE id = 1";
    sotto_sql q;

    (void)context;
    SOTTO_TRY(sotto_sql_prepare(tx, &q, text, err));
    SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    sotto_sql_int(&q, 1, INT64_C(1) << 40);
    SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    sotto_sql_null(&q, 1);
    return sotto_sql_run(&q, NULL, err);
}

static void a_parameter_may_be_null_first(sotto_test *t)
{
    sotto_db *db = sotto_test_db(t);
    sotto_test_thing one = {1, 1};

    CHECK_OK(t, sotto_db_run(db, sotto_test_put, &one, &t->err));
    CHECK_OK(t, sotto_db_run(db, null_first, NULL, &t->err));
    CHECK_EQUAL(t, INT64_C(1) << 40, sotto_test_ask_number(t, db, "SELECT number FROM things"));
    sotto_db_close(db);
}

static void mistakes_in_the_text_are_bugs(sotto_test *t)
{
    static const char *const texts[] = {
        "SELECT {nonsense}",
        "SELECT {now",
        "SELECT ?0",
        "SELECT ?99999",
        "SELEC 1",
        "SELECT nothing FROM things",
        "SELECT 1; SELECT 2",
        "SELECT 1 FROM absent",
        "SELECT ?",
    };
    sotto_db *db = sotto_test_db(t);

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        CHECK_STATUS(t, SOTTO_BUG,
                     sotto_db_run(db, sotto_test_say, (void *)(uintptr_t)texts[i], &t->err));
    sotto_db_close(db);
}

typedef enum misuse { BIND_TOO_HIGH, BIND_ZERO, OLD_HANDLE, WRONG_TYPE, NO_COLUMN, NO_ROW } misuse;

static sotto_status misuse_it(sotto_tx *tx, void *context, sotto_err *err)
{
    sotto_sql q, again;
    bool row;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT id, ?1 FROM things", err));
    sotto_sql_text(&q, 1, "x");
    switch (*(misuse *)context) {
    case BIND_TOO_HIGH:
        sotto_sql_int(&q, 2, 1);
        return sotto_sql_step(&q, &row, err);
    case BIND_ZERO:
        sotto_sql_int(&q, 0, 1);
        return sotto_sql_step(&q, &row, err);
    case OLD_HANDLE:
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
        SOTTO_TRY(sotto_sql_prepare(tx, &again, "SELECT id, ?1 FROM things", err));
        sotto_sql_text(&again, 1, "x");
        SOTTO_TRY(sotto_sql_step(&again, &row, err));
        return sotto_sql_step(&q, &row, err);
    case WRONG_TYPE:
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
        return sotto_sql_column_int(&q, 1) == 0 ? SOTTO_OK : SOTTO_IO;
    case NO_COLUMN:
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
        return sotto_sql_column_int(&q, 2) == 0 ? SOTTO_OK : SOTTO_IO;
    default:
        return sotto_sql_column_int(&q, 0) == 0 ? SOTTO_OK : SOTTO_IO;
    }
}

static void misuse_of_a_statement_is_a_bug(sotto_test *t)
{
    sotto_db *db = sotto_test_db(t);
    sotto_test_thing one = {1, 1};

    CHECK_OK(t, sotto_db_run(db, sotto_test_put, &one, &t->err));
    for (misuse m = BIND_TOO_HIGH; m <= NO_ROW; m++) {
        CHECK_STATUS(t, SOTTO_BUG, sotto_db_run(db, misuse_it, &m, &t->err));
        CHECK_STATUS(t, SOTTO_BUG, sotto_db_read(db, misuse_it, &m, &t->err));
    }
    sotto_db_close(db);
}

static void values_never_appear_in_reasons(sotto_test *t)
{
    sotto_db *db = sotto_test_db(t);
    sotto_test_thing secret = {7, INT64_MIN};

    CHECK_STATUS(t, SOTTO_DENIED, sotto_db_run(db, sotto_test_put, &secret, &t->err));
    CHECK_REASON(t, "INSERT INTO things");
    CHECK(t, !strstr(t->err.reason, "9223372036854775808"));
    sotto_db_close(db);
}

enum { ROWS = 500 };

static sotto_status insert_rows(sotto_tx *tx, void *context, sotto_err *err)
{
    unsigned *fresh = context;
    sotto_sql q;
    bool row;

    *fresh = 0;
    SOTTO_TRY(sotto_sql_prepare_rows(tx, &q, "INSERT INTO things (id, body) ", 2, ROWS,
                                     " ON CONFLICT DO NOTHING RETURNING id", err));
    for (unsigned i = 0; i < ROWS; i++) {
        sotto_sql_int(&q, 2 * i + 1, i);
        sotto_sql_bytes(&q, 2 * i + 2, sotto_bytes_of("body", 4));
    }
    for (;;) {
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
        if (!row)
            return SOTTO_OK;
        ++*fresh;
    }
}

static sotto_status find_rows(sotto_tx *tx, void *context, sotto_err *err)
{
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare_rows(tx, &q, "SELECT count(*) FROM things WHERE id IN (", 1, 3, ")",
                                     err));
    sotto_sql_int(&q, 1, 3);
    sotto_sql_int(&q, 2, 499);
    sotto_sql_int(&q, 3, 500);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    *(unsigned *)context = (unsigned)sotto_sql_column_int(&q, 0);
    return SOTTO_OK;
}

static sotto_status too_many_rows(sotto_tx *tx, void *context, sotto_err *err)
{
    sotto_sql q;

    (void)context;
    return sotto_sql_prepare_rows(tx, &q, "", 2, SOTTO_SQL_PARAMETERS / 2 + 1, "", err);
}

static void many_rows_go_in_one_statement(sotto_test *t)
{
    sotto_db *db = sotto_test_db(t);
    sotto_test_thing one = {17, 1};
    unsigned count;

    CHECK_OK(t, sotto_db_run(db, sotto_test_put, &one, &t->err));
    CHECK_OK(t, sotto_db_run(db, insert_rows, &count, &t->err));
    CHECK_EQUAL(t, ROWS - 1, count); /* one was there */
    CHECK_OK(t, sotto_db_read(db, find_rows, &count, &t->err));
    CHECK_EQUAL(t, 2, count);
    CHECK_STATUS(t, SOTTO_BUG, sotto_db_run(db, too_many_rows, NULL, &t->err));
    sotto_db_close(db);
}

static sotto_status look_for_rows(sotto_tx *tx, void *context, sotto_err *err)
{
    bool *found = context;
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT 1 FROM things WHERE id >= ?1", err));
    sotto_sql_int(&q, 1, 1);
    SOTTO_TRY(sotto_sql_any(&q, &found[0], err));
    sotto_sql_int(&q, 1, 3);
    SOTTO_TRY(sotto_sql_any(&q, &found[1], err));
    SOTTO_TRY(sotto_sql_prepare(tx, &q, "UPDATE things SET number = number + 1", err));
    return sotto_sql_any(&q, &found[2], err);
}

static void a_statement_that_yields_nothing_ran_once(sotto_test *t)
{
    sotto_db *db = sotto_test_db(t);
    sotto_test_thing things[] = {{1, 0}, {2, 0}};
    bool found[3] = {false, true, true};

    for (unsigned i = 0; i < 2; i++)
        CHECK_OK(t, sotto_db_run(db, sotto_test_put, &things[i], &t->err));
    CHECK_OK(t, sotto_db_run(db, look_for_rows, found, &t->err));
    CHECK(t, found[0] && !found[1] && !found[2]);
    CHECK_EQUAL(t, 1, sotto_test_ask_number(t, db, "SELECT max(number) FROM things"));
    sotto_db_close(db);
}

enum { IN_ORDER, OUT_OF_ORDER, ONE_MISSING, ONE_NULL, ONE_TOO_MANY, ONE_OF_ANOTHER_TYPE };

/* Two rows of three columns, then two more by the same handle. */
static sotto_status bind_rows(sotto_tx *tx, void *context, sotto_err *err)
{
    int mistake = *(int *)context;
    uint64_t changed = 0;
    sotto_sql q;

    SOTTO_TRY(
        sotto_sql_prepare_rows(tx, &q, "INSERT INTO things (id, body, name) ", 3, 2, "", err));
    for (int64_t pair = 0; pair < 2; pair++) {
        sotto_sql_int(&q, 1, 2 * pair);
        sotto_sql_bytes(&q, 2, sotto_bytes_of(NULL, 0));
        sotto_sql_text(&q, mistake == OUT_OF_ORDER ? 6 : 3, "na\xc3\xafve");
        if (mistake == ONE_OF_ANOTHER_TYPE)
            sotto_sql_text(&q, 4, "three");
        else
            sotto_sql_int(&q, 4, 2 * pair + 1);
        sotto_sql_bytes(&q, 5, sotto_bytes_of("a\0b\xff", 4));
        if (mistake != ONE_MISSING)
            sotto_sql_text(&q, mistake == OUT_OF_ORDER ? 3 : 6, mistake == ONE_NULL ? NULL : "");
        if (mistake == ONE_TOO_MANY)
            sotto_sql_int(&q, 7, 2);
        SOTTO_TRY(sotto_sql_run(&q, &changed, err));
        if (changed != 2)
            return sotto_fail(err, SOTTO_REJECTED, "%llu rows", (unsigned long long)changed);
    }
    return SOTTO_OK;
}

static void values_of_many_rows_are_bound_in_order_and_all(sotto_test *t)
{
    sotto_db *db = sotto_test_db(t);
    int how = IN_ORDER;

    CHECK_OK(t, sotto_db_run(db, bind_rows, &how, &t->err));
    CHECK_EQUAL(
        t, 4,
        sotto_test_ask_number(t, db,
                              "SELECT count(*) FROM things WHERE length(body) = 4 * (id % 2)"
                              " AND length(name) = 5 - 5 * (id % 2)"));
    for (how = OUT_OF_ORDER; how <= ONE_TOO_MANY; how++) {
        CHECK_STATUS(t, SOTTO_BUG, sotto_db_run(db, bind_rows, &how, &t->err));
        t->err = (sotto_err){0};
    }
    how = ONE_OF_ANOTHER_TYPE; /* which SQLite finds in its schema */
    CHECK_STATUS(t, sotto_test_on_postgres() ? SOTTO_BUG : SOTTO_DENIED,
                 sotto_db_run(db, bind_rows, &how, &t->err));
    sotto_db_close(db);
}

static sotto_status ask_how_many_at_once(sotto_tx *tx, void *context, sotto_err *err)
{
    sotto_test *t = context;
    bool any = sotto_test_on_postgres();

    (void)err;
    CHECK_EQUAL(t, 1, sotto_sql_rows_at_once(tx, 3, 1));
    CHECK_EQUAL(t, any ? 7 : 1, sotto_sql_rows_at_once(tx, 3, 7));
    CHECK_EQUAL(t, any ? 63 : 8, sotto_sql_rows_at_once(tx, 3, 63));
    CHECK_EQUAL(t, any ? SOTTO_SQL_PARAMETERS / 3 : 64,
                sotto_sql_rows_at_once(tx, 3, SOTTO_SQL_PARAMETERS));
    return SOTTO_OK;
}

static void texts_of_statements_are_few_however_many_rows(sotto_test *t)
{
    sotto_db *db = sotto_test_db(t);

    CHECK_OK(t, sotto_db_run(db, ask_how_many_at_once, t, &t->err));
    sotto_db_close(db);
}

static sotto_status say_many(sotto_tx *tx, void *context, sotto_err *err)
{
    sotto_sql outer, q;
    bool row, inner;
    char text[64];

    (void)context;
    SOTTO_TRY(sotto_sql_prepare(tx, &outer, "SELECT id FROM things ORDER BY id", err));
    for (int64_t i = 0; i < 700; i++) { /* more than are kept; the one being read must survive */
        SOTTO_TRY(sotto_sql_step(&outer, &row, err));
        if (!row || sotto_sql_column_int(&outer, 0) != i % 3)
            return sotto_fail(err, SOTTO_BUG, "row %lld", (long long)i);
        if (i % 3 == 2) {
            SOTTO_TRY(sotto_sql_step(&outer, &row, err));
            SOTTO_TRY(row ? SOTTO_BUG : SOTTO_OK);
        }
        (void)snprintf(text, sizeof text, "SELECT %lld", (long long)i);
        SOTTO_TRY(sotto_sql_prepare(tx, &q, text, err));
        SOTTO_TRY(sotto_sql_run(&q, NULL, err));
        SOTTO_TRY(sotto_sql_step(&q, &inner, err));
    }
    return SOTTO_OK;
}

static void more_statements_than_are_kept_do_no_harm(sotto_test *t)
{
    sotto_db *db = sotto_test_db(t);

    for (int64_t i = 0; i < 3; i++) {
        sotto_test_thing thing = {i, i};
        CHECK_OK(t, sotto_db_run(db, sotto_test_put, &thing, &t->err));
    }
    for (int i = 0; i < 2; i++)
        CHECK_OK(t, sotto_db_run(db, say_many, NULL, &t->err));
    sotto_db_close(db);
}

static void the_clock_is_the_databases(sotto_test *t)
{
    sotto_db *db = sotto_test_db(t);
    int64_t here = (int64_t)(sotto_clock_wall(&sotto_clock_system) / 1000000U);
    int64_t there = sotto_test_ask_number(t, db, "SELECT {now}");

    CHECK(t, there > here - 60000 && there < here + 60000);
    sotto_db_close(db);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(values_come_back_as_they_were_put),
        CASE(a_parameter_may_be_null_first),
        CASE(mistakes_in_the_text_are_bugs),
        CASE(misuse_of_a_statement_is_a_bug),
        CASE(values_never_appear_in_reasons),
        CASE(a_statement_that_yields_nothing_ran_once),
        CASE(many_rows_go_in_one_statement),
        CASE(values_of_many_rows_are_bound_in_order_and_all),
        CASE(texts_of_statements_are_few_however_many_rows),
        CASE(more_statements_than_are_kept_do_no_harm),
        CASE(the_clock_is_the_databases),
    };
    return RUN_TESTS(argc, argv, cases);
}
