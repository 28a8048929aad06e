/* Long bytes as rows: whole, in order, and in their transaction. */
#include "db/pieces.h"
#include "support/database.h"

static sotto_status add_one(sotto_tx *tx, sotto_err *err)
{
    return sotto_test_say(tx,
                          "INSERT INTO things (id, number) VALUES (1, 1) ON CONFLICT (id)"
                          " DO UPDATE SET number = things.number + 1",
                          err);
}

static int64_t number(sotto_test *t, sotto_db *db)
{
    return sotto_test_ask_number(t, db, "SELECT number FROM things WHERE id = 1");
}

typedef struct long_bytes {
    sotto_bytes bytes;
    bool twice; /* a second time, which the index forbids */
    unsigned runs, fatal;
    size_t pieces;
    sotto_buf read;
} long_bytes;

static sotto_status put_long(sotto_tx *tx, void *context, sotto_err *err)
{
    long_bytes *l = context;

    SOTTO_TRY(add_one(tx, err));
    if (++l->runs <= l->fatal)
        (void)(sotto_test_say(tx, "SELECT pg_terminate_backend(pg_backend_pid())", err) ==
               SOTTO_OK);
    SOTTO_TRY(sotto_pieces_put(tx, "long_piece", 7, l->bytes, err));
    if (l->twice)
        SOTTO_TRY(sotto_pieces_put(tx, "long_piece", 7, l->bytes, err));
    /* The connection takes statements again. */
    return add_one(tx, err);
}

static sotto_status read_long(sotto_tx *tx, void *context, sotto_err *err)
{
    long_bytes *l = context;
    sotto_sql q;
    bool row;

    l->read.len = l->pieces = 0;
    SOTTO_TRY(
        sotto_sql_prepare(tx, &q, "SELECT piece, i FROM long_piece WHERE n = 7 ORDER BY i", err));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    while (row) {
        sotto_writer w = sotto_writer_on(&l->read);

        if (sotto_sql_column_int(&q, 1) != (int64_t)l->pieces++)
            return sotto_fail(err, SOTTO_BUG, "a piece is missing");
        sotto_write_bytes(&w, sotto_sql_column_bytes(&q, 0));
        SOTTO_TRY(sotto_writer_finish(&w, "pieces", err));
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
    }
    return SOTTO_OK;
}

static void make_long_table(sotto_test *t, sotto_db *db)
{
    sotto_test_do(t, db,
                  "CREATE TABLE long_piece (n BIGINT NOT NULL, i BIGINT NOT NULL,"
                  " piece BYTEA NOT NULL, PRIMARY KEY (n, i))");
}

/* Whole, in order, also where the connection was lost on the way; and the transaction goes on behind them. */
static void long_bytes_come_back_piece_by_piece(sotto_test *t)
{
    static const size_t lengths[] = {0,
                                     1,
                                     SOTTO_PIECE_SIZE - 1,
                                     SOTTO_PIECE_SIZE,
                                     SOTTO_PIECE_SIZE + 1,
                                     8 * SOTTO_PIECE_SIZE,
                                     8 * SOTTO_PIECE_SIZE + 1,
                                     1700000};
    const size_t most = lengths[sizeof lengths / sizeof lengths[0] - 1];
    uint8_t *bytes = sotto_arena_take(&t->arena, most);
    sotto_db *db = sotto_test_db(t);

    if (!sotto_test_on_postgres()) {
        sotto_db_close(db);
        return;
    }
    make_long_table(t, db);
    for (size_t i = 0; i < most; i++)
        bytes[i] = (uint8_t)(i * i >> 7);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        long_bytes l = {.bytes = {bytes, lengths[i]},
                        .fatal = i % 2,
                        .read = sotto_buf_over(sotto_arena_take(&t->arena, most + 1), most + 1)};

        CHECK_OK(t, sotto_db_run(db, put_long, &l, &t->err));
        CHECK_EQUAL(t, 1 + i % 2, l.runs);
        CHECK_EQUAL(t, 2 * (i + 1), number(t, db));
        CHECK_OK(t, sotto_db_read(db, read_long, &l, &t->err));
        CHECK_EQUAL(t, lengths[i], l.read.len);
        CHECK_BYTES(t, bytes, l.read.data, lengths[i]);
        CHECK_EQUAL(t, (lengths[i] + SOTTO_PIECE_SIZE - 1) / SOTTO_PIECE_SIZE, l.pieces);
        sotto_test_do(t, db, "DELETE FROM long_piece");
    }
    sotto_db_close(db);
}

/* Nothing of the transaction is left, and the next one finds a connection that works. */
static void long_bytes_that_are_refused_fail_their_transaction(sotto_test *t)
{
    uint8_t *bytes = sotto_arena_take(&t->arena, 300000);
    sotto_db *db = sotto_test_db(t);
    long_bytes l = {.bytes = {bytes, 300000}};

    if (!sotto_test_on_postgres()) {
        sotto_db_close(db);
        return;
    }
    CHECK_STATUS(t, SOTTO_BUG, sotto_db_run(db, put_long, &l, &t->err)); /* there is no table */
    make_long_table(t, db);
    l.twice = true;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_db_run(db, put_long, &l, &t->err));
    CHECK_EQUAL(t, 0, sotto_test_ask_number(t, db, "SELECT count(*) FROM long_piece"));
    CHECK_EQUAL(t, 0, sotto_test_ask_number(t, db, "SELECT count(*) FROM things"));
    l.twice = false;
    CHECK_OK(t, sotto_db_run(db, put_long, &l, &t->err));
    CHECK_EQUAL(t, 2, number(t, db));
    sotto_db_close(db);
}

static sotto_status want_pieces(sotto_tx *tx, void *context, sotto_err *err)
{
    (void)err;
    *(bool *)context = sotto_pieces_wanted(tx);
    return SOTTO_OK;
}

/* SQLite has its file for them. */
static void only_postgresql_wants_pieces(sotto_test *t)
{
    static const uint8_t bytes[10];
    sotto_db *db = sotto_test_db(t);
    long_bytes l = {.bytes = {bytes, sizeof bytes}};
    bool wanted;

    CHECK_OK(t, sotto_db_run(db, want_pieces, &wanted, &t->err));
    CHECK_EQUAL(t, sotto_test_on_postgres(), wanted);
    CHECK_STATUS(t, SOTTO_BUG, sotto_db_run(db, put_long, &l, &t->err)); /* or there is no table */
    sotto_db_close(db);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(long_bytes_come_back_piece_by_piece),
        CASE(long_bytes_that_are_refused_fail_their_transaction),
        CASE(only_postgresql_wants_pieces),
    };

    return RUN_TESTS(argc, argv, cases);
}
