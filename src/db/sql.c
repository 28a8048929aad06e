#include "db/sql.h"

#include "base/alloc.h"
#include "db/driver.h"

#include <stdio.h>
#include <string.h>

/* ---- trouble ---------------------------------------------------------------------------------------- */

sotto_status sotto_conn_fail(sotto_conn *conn, sotto_err *err, sotto_trouble trouble,
                             sotto_status status, const char *format, ...)
{
    va_list args;

    if (conn->trouble == SOTTO_TROUBLE_NONE) {
        conn->trouble = trouble;
        conn->status = status;
        va_start(args, format);
        (void)vsnprintf(conn->reason, sizeof conn->reason, format, args);
        va_end(args);
    }
    return sotto_fail(err, conn->status, "%s", conn->reason);
}

static sotto_status is_sound(sotto_conn *conn, sotto_err *err)
{
    if (conn->trouble == SOTTO_TROUBLE_NONE)
        return SOTTO_OK;
    return sotto_fail(err, conn->status, "%s", conn->reason);
}

bool sotto_tx_has_failed(sotto_tx *tx)
{
    return sotto_tx_conn(tx)->trouble != SOTTO_TROUBLE_NONE;
}

bool sotto_tx_may_clash(sotto_tx *tx)
{
    return sotto_tx_conn(tx)->driver->asks_twice;
}

bool sotto_tx_retry_clash(sotto_tx *tx)
{
    sotto_conn *conn = sotto_tx_conn(tx);

    if (!conn->clashed)
        return false;
    conn->trouble = SOTTO_TROUBLE_CONFLICT;
    conn->status = SOTTO_IO;
    return true;
}

void sotto_conn_refresh(sotto_conn *conn)
{
    conn->trouble = SOTTO_TROUBLE_NONE;
    conn->clashed = false;
    conn->status = SOTTO_OK;
    conn->reason[0] = 0;
    conn->wake_count = 0;
    for (size_t i = 0; i < SOTTO_STATEMENT_BUCKETS; i++) {
        for (sotto_statement *s = conn->buckets[i]; s; s = s->next) {
            if (!s->in_use)
                continue;
            conn->driver->reset(s);
            s->in_use = s->on_row = false;
            s->use++;
        }
    }
}

static void drop(sotto_conn *conn, sotto_statement *statement)
{
    sotto_release(statement->text, statement->text_size);
    conn->driver->finalize(statement);
    conn->statements--;
}

void sotto_conn_forget(sotto_conn *conn)
{
    for (size_t i = 0; i < SOTTO_STATEMENT_BUCKETS; i++) {
        while (conn->buckets[i]) {
            sotto_statement *next = conn->buckets[i]->next;
            drop(conn, conn->buckets[i]);
            conn->buckets[i] = next;
        }
    }
}

/* Makes room: what is not being read right now can be prepared again. */
static void forget_idle(sotto_conn *conn)
{
    for (size_t i = 0; i < SOTTO_STATEMENT_BUCKETS; i++) {
        for (sotto_statement **at = &conn->buckets[i]; *at;) {
            sotto_statement *statement = *at;
            if (statement->in_use) {
                at = &statement->next;
                continue;
            }
            *at = statement->next;
            drop(conn, statement);
        }
    }
}

/* ---- translation ------------------------------------------------------------------------------------ */

typedef struct translation {
    sotto_buf out;
    unsigned parameters; /* the highest number */
    bool overflow;
    bool nonsense;
} translation;

static void put(translation *t, const char *text, size_t len)
{
    if (t->out.cap - t->out.len < len) {
        t->overflow = true;
        return;
    }
    memcpy(t->out.data + t->out.len, text, len);
    t->out.len += len;
}

static size_t quoted(const char *at)
{
    size_t len = 1;

    while (at[len] && at[len] != at[0])
        len++;
    return at[len] ? len + 1 : len;
}

static size_t word(translation *t, const sotto_driver *driver, const char *at)
{
    const char *end = strchr(at, '}');
    size_t len = end ? (size_t)(end - at) - 1 : 0;

    for (const sotto_dialect *d = driver->dialect; d->word && end; d++) {
        if (strlen(d->word) == len && memcmp(d->word, at + 1, len) == 0) {
            put(t, d->meaning, strlen(d->meaning));
            return len + 2;
        }
    }
    t->nonsense = true;
    return strlen(at);
}

static size_t parameter(translation *t, const sotto_driver *driver, const char *at)
{
    unsigned number = 0;
    size_t len = 1;

    for (; at[len] >= '0' && at[len] <= '9' && number <= SOTTO_SQL_PARAMETERS; len++)
        number = number * 10 + (unsigned)(at[len] - '0');
    if (number == 0 || number > SOTTO_SQL_PARAMETERS)
        t->nonsense = true;
    else if (number > t->parameters)
        t->parameters = number;
    put(t, &driver->placeholder, 1);
    put(t, at + 1, len - 1);
    return len;
}

static void translate_into(translation *t, const sotto_driver *driver, const char *text)
{
    for (const char *at = text; *at;) {
        size_t len = 1;

        if (*at == '{') {
            at += word(t, driver, at);
            continue;
        }
        if (*at == '?') {
            at += parameter(t, driver, at);
            continue;
        }
        if (*at == '\'' || *at == '"')
            len = quoted(at);
        put(t, at, len);
        at += len;
    }
    put(t, "", 1);
}

/* Every word in braces grows by less than this. */
enum { WORD_GROWTH = 96 };

static size_t most_after_translation(const char *text)
{
    size_t size = 1;

    for (const char *at = text; *at; at++)
        size += *at == '{' ? WORD_GROWTH : 1;
    return size;
}

/* Release with sotto_release(t->out.data, t->out.cap). */
static sotto_status translate(sotto_conn *conn, translation *t, const char *text, sotto_err *err)
{
    size_t size = most_after_translation(text);

    *t = (translation){.out = sotto_buf_over(sotto_alloc(size), size)};
    if (!t->out.data)
        return sotto_conn_fail(conn, err, SOTTO_TROUBLE_FAILED, SOTTO_NO_MEMORY,
                               "no memory for SQL");
    translate_into(t, conn->driver, text);
    if (!t->overflow && !t->nonsense)
        return SOTTO_OK;
    sotto_release(t->out.data, t->out.cap);
    return sotto_conn_fail(conn, err, SOTTO_TROUBLE_FAILED, SOTTO_BUG,
                           "a parameter or a word in braces is unknown in: %.80s", text);
}

sotto_status sotto_conn_script(sotto_conn *conn, const char *sql, sotto_err *err)
{
    translation t;

    SOTTO_TRY(is_sound(conn, err));
    SOTTO_TRY(translate(conn, &t, sql, err));
    sotto_status status = conn->driver->script(conn, (const char *)t.out.data, err);
    sotto_release(t.out.data, t.out.cap);
    return status;
}

/* ---- statements by text ------------------------------------------------------------------------------ */

/* FNV-1a: texts are our own, so nobody can aim at one bucket. */
static uint64_t hash_of(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325U;

    for (; *text; text++)
        hash = (hash ^ (uint8_t)*text) * 0x100000001b3U;
    return hash;
}

static sotto_statement *find(const sotto_conn *conn, const char *text, uint64_t hash)
{
    for (sotto_statement *s = conn->buckets[hash % SOTTO_STATEMENT_BUCKETS]; s; s = s->next) {
        if (s->hash == hash && strcmp(s->text, text) == 0)
            return s;
    }
    return NULL;
}

/* NULL: the connection says why. */
static sotto_statement *add(sotto_conn *conn, const char *text, uint64_t hash, sotto_err *err)
{
    sotto_statement *s = NULL;
    translation t;
    size_t size = strlen(text) + 1;

    if (conn->statements >= SOTTO_STATEMENTS)
        forget_idle(conn);
    char *copy = sotto_alloc(size);
    if (!copy) {
        (void)sotto_conn_fail(conn, err, SOTTO_TROUBLE_FAILED, SOTTO_NO_MEMORY,
                              "no memory for SQL");
        return NULL;
    }
    memcpy(copy, text, size);
    sotto_status status = translate(conn, &t, text, err);
    if (status == SOTTO_OK) {
        status = conn->driver->prepare(conn, &s, (const char *)t.out.data, t.parameters, err);
        sotto_release(t.out.data, t.out.cap);
    }
    if (status != SOTTO_OK || !s) {
        sotto_release(copy, size);
        return NULL;
    }
    s->conn = conn;
    s->text = copy;
    s->text_size = size;
    s->hash = hash;
    s->parameters = t.parameters;
    s->next = conn->buckets[hash % SOTTO_STATEMENT_BUCKETS];
    conn->buckets[hash % SOTTO_STATEMENT_BUCKETS] = s;
    conn->statements++;
    return s;
}

sotto_status sotto_sql_prepare(sotto_tx *tx, sotto_sql *out, const char *text, sotto_err *err)
{
    sotto_conn *conn = sotto_tx_conn(tx);
    uint64_t hash = hash_of(text);

    *out = (sotto_sql){0};
    SOTTO_TRY(is_sound(conn, err));
    sotto_statement *s = find(conn, text, hash);
    if (!s)
        s = add(conn, text, hash, err);
    if (!s)
        return conn->status;
    if (s->in_use)
        conn->driver->reset(s);
    s->in_use = true;
    s->on_row = s->misused = false;
    s->columns = s->rows = 0;
    *out = (sotto_sql){s, ++s->use};
    return SOTTO_OK;
}

/* ---- many rows ---------------------------------------------------------------------------------------- */

enum { PARAMETER_TEXT = 20 }; /* "SELECT unnest(?8192)" */

static void write_text(sotto_buf *out, const char *text)
{
    size_t len = strlen(text);

    memcpy(out->data + out->len, text, len);
    out->len += len;
}

/* Written out anew for each use of the statement: by hand, which takes a tenth of snprintf's time. */
static void write_parameter(sotto_buf *out, unsigned number)
{
    char digits[12] = {0};
    size_t at = sizeof digits - 1;

    do
        digits[--at] = (char)('0' + number % 10);
    while (number /= 10);
    write_text(out, "?");
    write_text(out, digits + at);
}

static void write_values(sotto_buf *out, unsigned columns, unsigned rows)
{
    for (unsigned i = 0; i < columns * rows; i++) {
        bool first = i % columns == 0, last = i % columns == columns - 1;

        write_text(out, first ? (i ? ",(" : "VALUES (") : ",");
        write_parameter(out, i + 1);
        if (last)
            write_text(out, ")");
    }
}

static void write_arrays(sotto_buf *out, unsigned columns)
{
    for (unsigned i = 0; i < columns; i++) {
        int len = snprintf((char *)out->data + out->len, out->cap - out->len, "%sunnest(?%u)",
                           i ? "," : "SELECT ", i + 1);
        out->len += (size_t)len;
    }
}

unsigned sotto_sql_rows_at_once(const sotto_tx *tx, unsigned columns, size_t rows)
{
    enum { MANY = 64, SEVERAL = 8 };
    size_t most = SOTTO_SQL_PARAMETERS / columns;

    if (((const sotto_conn *)tx)->driver->arrays)
        return (unsigned)(rows < most ? rows : most);
    return rows >= MANY ? MANY : rows >= SEVERAL ? SEVERAL : 1;
}

sotto_status sotto_sql_prepare_rows(sotto_tx *tx, sotto_sql *out, const char *head,
                                    unsigned columns, unsigned rows, const char *tail,
                                    sotto_err *err)
{
    sotto_conn *conn = sotto_tx_conn(tx);
    bool arrays = conn->driver->arrays;
    size_t before = strlen(head), after = strlen(tail);

    *out = (sotto_sql){0};
    if (columns == 0 || rows == 0 || columns > SOTTO_SQL_PARAMETERS / rows)
        return sotto_conn_fail(conn, err, SOTTO_TROUBLE_FAILED, SOTTO_BUG, "%u rows of %u columns",
                               rows, columns);
    size_t size = before + after + (size_t)columns * (arrays ? 1 : rows) * PARAMETER_TEXT + 1;
    sotto_buf text = sotto_buf_over(sotto_alloc(size), size);
    if (!text.data)
        return sotto_conn_fail(conn, err, SOTTO_TROUBLE_FAILED, SOTTO_NO_MEMORY,
                               "no memory for SQL");
    memcpy(text.data, head, before);
    text.len = before;
    if (arrays)
        write_arrays(&text, columns);
    else
        write_values(&text, columns, rows);
    memcpy(text.data + text.len, tail, after + 1);
    sotto_status status = sotto_sql_prepare(tx, out, (const char *)text.data, err);
    sotto_release(text.data, size);
    if (status == SOTTO_OK) {
        out->statement->columns = columns;
        out->statement->rows = rows;
        out->statement->upcoming = 1;
    }
    return status;
}

/* ---- one execution ----------------------------------------------------------------------------------- */

static bool is_current(const sotto_sql *q)
{
    return q->statement && q->statement->use == q->use && q->statement->in_use;
}

/* Of many rows every value is bound, in order: what gathers them in arrays needs no place for those that are missing. */
static bool may_bind(sotto_statement *s, unsigned at, const sotto_cell *value)
{
    if (s->on_row)
        return false;
    if (s->columns == 0)
        return at > 0 && at <= s->parameters;
    return at == s->upcoming++ && at <= s->columns * s->rows && value->type != SOTTO_COLUMN_NULL;
}

static void bind(sotto_sql *q, unsigned at, const sotto_cell *value)
{
    sotto_statement *s = q->statement;

    if (!is_current(q))
        return; /* the next step says so */
    if (may_bind(s, at, value))
        s->conn->driver->bind(s, at, value);
    else
        s->misused = true;
}

static bool is_misused(const sotto_statement *s)
{
    return s->misused || (s->columns > 0 && s->upcoming != s->columns * s->rows + 1);
}

void sotto_sql_int(sotto_sql *q, unsigned at, int64_t value)
{
    bind(q, at, &(sotto_cell){.type = SOTTO_COLUMN_INT, .number = value});
}

void sotto_sql_bytes(sotto_sql *q, unsigned at, sotto_bytes value)
{
    if (!value.data)
        value.data = (const uint8_t *)""; /* empty, which is not NULL */
    bind(q, at, &(sotto_cell){.type = SOTTO_COLUMN_BYTES, .bytes = value});
}

void sotto_sql_text(sotto_sql *q, unsigned at, const char *value)
{
    if (!value) {
        sotto_sql_null(q, at);
        return;
    }
    bind(q, at,
         &(sotto_cell){.type = SOTTO_COLUMN_TEXT, .bytes = sotto_bytes_of(value, strlen(value))});
}

void sotto_sql_null(sotto_sql *q, unsigned at)
{
    bind(q, at, &(sotto_cell){.type = SOTTO_COLUMN_NULL});
}

sotto_status sotto_sql_step(sotto_sql *q, bool *row, sotto_err *err)
{
    sotto_statement *s = q->statement;

    *row = false;
    if (!s)
        return sotto_fail(err, SOTTO_BUG, "a statement that was not prepared");
    sotto_conn *conn = s->conn;
    SOTTO_TRY(is_sound(conn, err));
    if (!is_current(q) || is_misused(s))
        return sotto_conn_fail(
            conn, err, SOTTO_TROUBLE_FAILED, SOTTO_BUG, "%s: %.80s",
            is_current(q) ? "a parameter out of range" : "restarted by another use", s->text);
    sotto_status status = conn->driver->step(s, row, err);
    s->on_row = *row;
    if (!*row) {
        conn->driver->reset(s);
        s->upcoming = 1;
    }
    return status;
}

sotto_status sotto_sql_any(sotto_sql *q, bool *found, sotto_err *err)
{
    SOTTO_TRY(sotto_sql_step(q, found, err));
    return *found ? sotto_sql_run(q, NULL, err) : SOTTO_OK;
}

sotto_status sotto_sql_run(sotto_sql *q, uint64_t *changed, sotto_err *err)
{
    bool row = true;

    while (row)
        SOTTO_TRY(sotto_sql_step(q, &row, err));
    if (changed)
        *changed = q->statement->conn->driver->changed(q->statement);
    return SOTTO_OK;
}

sotto_status sotto_sql_erase(sotto_sql *q, uint64_t *changed, sotto_err *err)
{
    sotto_conn *conn = q->statement->conn;
    sotto_status status;

    if (!conn->driver->erasing)
        return sotto_sql_run(q, changed, err);
    SOTTO_TRY(conn->driver->erasing(conn, true, err));
    status = sotto_sql_run(q, changed, err);
    if (conn->driver->erasing(conn, false, err) != SOTTO_OK && status == SOTTO_OK)
        status = conn->status;
    return status;
}

static sotto_cell read_cell(const sotto_sql *q, unsigned column, sotto_column_type wanted)
{
    static const sotto_cell nothing = {.bytes = {(const uint8_t *)"", 0}};
    sotto_statement *s = q->statement;
    sotto_cell cell = nothing;

    if (!s)
        return nothing;
    if (is_current(q) && s->on_row && s->conn->driver->column(s, column, &cell) &&
        (cell.type == SOTTO_COLUMN_NULL || wanted == SOTTO_COLUMN_NULL || cell.type == wanted))
        return cell.type == SOTTO_COLUMN_NULL ? nothing : cell;
    (void)sotto_conn_fail(s->conn, NULL, SOTTO_TROUBLE_FAILED, SOTTO_BUG,
                          "column %u is absent or of another type: %.80s", column, s->text);
    return nothing;
}

int64_t sotto_sql_column_int(const sotto_sql *q, unsigned column)
{
    return read_cell(q, column, SOTTO_COLUMN_INT).number;
}

sotto_bytes sotto_sql_column_bytes(const sotto_sql *q, unsigned column)
{
    return read_cell(q, column, SOTTO_COLUMN_BYTES).bytes;
}

const char *sotto_sql_column_text(const sotto_sql *q, unsigned column)
{
    return (const char *)read_cell(q, column, SOTTO_COLUMN_TEXT).bytes.data;
}

bool sotto_sql_column_null(const sotto_sql *q, unsigned column)
{
    return read_cell(q, column, SOTTO_COLUMN_NULL).type == SOTTO_COLUMN_NULL;
}

sotto_status sotto_sql_column_fixed(const sotto_sql *q, unsigned column, void *out, size_t len,
                                    sotto_err *err)
{
    sotto_bytes bytes = sotto_sql_column_bytes(q, column);

    if (bytes.len != len)
        return sotto_fail(err, SOTTO_MALFORMED, "column %u has %zu bytes, not %zu: %.60s", column,
                          bytes.len, len, q->statement ? q->statement->text : "");
    memcpy(out, bytes.data, len);
    return SOTTO_OK;
}

/* ---- guards -------------------------------------------------------------------------------------------- */

/* PostgreSQL has room for some thousands of such locks over all connections, and a transaction may be about as many things:
 * a few locks serve for all. */
sotto_status sotto_tx_guard(sotto_tx *tx, int64_t what, bool exclusive, sotto_err *err)
{
    enum { GUARDS = 64 };
    static const int64_t ours = (int64_t)0x736f7474 << 32; /* apart from what others lock there */
    const char *text = sotto_tx_conn(tx)->driver->guards[exclusive ? 1 : 0];
    sotto_sql q;

    if (!text)
        return SOTTO_OK;
    SOTTO_TRY(sotto_sql_prepare(tx, &q, text, err));
    sotto_sql_int(&q, 1, ours + (int64_t)((uint64_t)what % GUARDS));
    return sotto_sql_run(&q, NULL, err);
}
