#include "base/alloc.h"
#include "query/copy.h"
#include "query/sqlite.h"
#include "query/stream.h"
#include "recipe/encoding.h"
#include "recipe/policy_tables.h"
#include "sim/worker.h"

#include <string.h>

/* Answers that were worked out are kept by the rows that they follow from: most devices of a file have the rows of another. */
enum {
    KEPT = 8192,
    KEPT_KEY = 152,
    KEPT_BINS = 10,
    MOST_BINS = 100000,
    FIELDS = SOTTO_STORE_MAX_FIELDS
};

typedef struct kept {
    uint32_t length; /* of the key; 0: nothing is kept */
    uint32_t count;
    uint8_t key[KEPT_KEY];
    uint64_t bins[KEPT_BINS];
} kept;

struct sotto_scratch {
    const sotto_trial *trial;
    sotto_arena arena;
    sotto_query_policy class;
    sotto_verifier verifier;
    sqlite3 *db; /* as query/copy.h makes it: what the query reads, and nothing else */
    sqlite3_stmt *insert, *erase, *query;
    size_t columns[SOTTO_MAX_ENCODERS];
    size_t read[FIELDS]; /* the columns of the table: fields of the trial; SIZE_MAX: the time */
    size_t read_count;
    uint64_t bins[MOST_BINS];
    size_t count;
    kept *kept;
};

/* ---- opening -------------------------------------------------------------------------------------------------- */

static sotto_status find_read(sotto_scratch *s, sotto_err *err)
{
    const sotto_trial *t = s->trial;

    for (size_t i = 0; i < s->verifier.accessed_count; i++) {
        const sotto_access *a = &s->verifier.accessed[i];
        size_t field = 0;

        if (strcmp(a->field, SOTTO_FIELD_ROWS) == 0)
            continue;
        if (strcmp(a->field, SOTTO_STORE_TIME) == 0) {
            s->read[s->read_count++] = SIZE_MAX;
            continue;
        }
        while (field < t->table.stream.field_count &&
               strcmp(t->table.fields[field].name, a->field) != 0)
            field++;
        if (field == t->table.stream.field_count || s->read_count == FIELDS)
            return sotto_fail(err, SOTTO_BUG, "field %s is read, and no device has it", a->field);
        s->read[s->read_count++] = field;
    }
    return SOTTO_OK;
}

/* Compiled over an empty store, to learn what it reads. */
static sotto_status learn(sotto_scratch *s, sotto_bytes sql, sotto_err *err)
{
    const sotto_sqlite_options options = {.path = ":memory:", .memory = true, .unclaimed = true};
    char create[SOTTO_STREAM_SQL];
    sqlite3_stmt *statement = NULL;
    sqlite3 *db;

    sotto_stream_create(create, &s->trial->table.stream);
    SOTTO_TRY(sotto_sqlite_open(&db, &options, err));
    sotto_status status = sotto_sqlite_run(db, create, "query", err);
    if (status == SOTTO_OK)
        status = sotto_compile(db, &statement, &s->verifier, sql, err);
    (void)sqlite3_finalize(statement);
    sotto_sqlite_close(db);
    return status == SOTTO_OK ? find_read(s, err) : status;
}

static sotto_status prepare_tables(sotto_scratch *s, sotto_err *err)
{
    sqlite3_str *text = sqlite3_str_new(s->db);

    sqlite3_str_appendf(text, "INSERT INTO \"%w\" VALUES(", s->trial->table.stream.name);
    for (size_t i = 0; i < s->read_count; i++)
        sqlite3_str_appendall(text, i ? ",?" : "?");
    sqlite3_str_appendall(text, s->read_count ? ")" : "NULL)");
    char *sql = sqlite3_str_finish(text);
    if (!sql)
        return sotto_fail(err, SOTTO_NO_MEMORY, "query");
    sotto_status status = sotto_sqlite_prepare(s->db, &s->insert, sql, "query", err);
    sqlite3_free(sql);
    sql = sqlite3_mprintf("DELETE FROM \"%w\"", s->trial->table.stream.name);
    if (status == SOTTO_OK)
        status = sql ? sotto_sqlite_prepare(s->db, &s->erase, sql, "query", err)
                     : (sotto_status)sotto_fail(err, SOTTO_NO_MEMORY, "query");
    sqlite3_free(sql);
    /* One transaction for all: nothing of it is ever kept. */
    return status == SOTTO_OK ? sotto_sqlite_run(s->db, "BEGIN", "query", err) : status;
}

static sotto_status compile(sotto_scratch *s, sotto_err *err)
{
    const sotto_recipe *recipe = s->trial->recipe;
    const sotto_bytes sql = sotto_bytes_of(recipe->query, strlen(recipe->query));

    SOTTO_TRY(
        sotto_policy_query_class(&s->class, s->trial->policy, recipe->analysis, &s->arena, err));
    s->class.by_time = recipe->interval != SOTTO_INTERVAL_SINCE_BEGINNING;
    s->class.since = -INT64_MAX;
    sotto_verifier_init(&s->verifier, &s->class, &s->trial->table.stream, 1);
    SOTTO_TRY(learn(s, sql, err));
    SOTTO_TRY(sotto_query_copy_open(&s->db, &s->verifier, err));
    if (s->verifier.accessed_count > 0)
        SOTTO_TRY(prepare_tables(s, err));
    const int code = sotto_compile_prepare(s->db, &s->query, &s->verifier, sql, NULL);
    if (code != SQLITE_OK || s->verifier.why.status != SOTTO_OK)
        return sotto_compile_refused(&s->verifier, s->db, code, err);
    /* It was allowed; rows could not be put into the table under its authorizer. */
    (void)sqlite3_set_authorizer(s->db, NULL, NULL);
    sotto_compile_limit(s->db, SQLITE_LIMIT_VARIABLE_NUMBER, FIELDS);
    for (size_t i = 0; i < recipe->encoding.count; i++)
        SOTTO_TRY(sotto_compiled_column(s->query, &s->columns[i],
                                        recipe->encoding.encoders[i].column, err));
    return SOTTO_OK;
}

sotto_status sotto_scratch_open(sotto_scratch **out, const sotto_trial *trial, sotto_err *err)
{
    sotto_scratch *s = sotto_alloc(sizeof *s);

    *out = s;
    if (!s)
        return sotto_fail(err, SOTTO_NO_MEMORY, "query");
    s->trial = trial;
    sotto_arena_init(&s->arena, (size_t)64 << 20);
    s->kept = sotto_arena_take_array(&s->arena, KEPT, sizeof *s->kept);
    if (!s->kept)
        return sotto_fail(err, SOTTO_NO_MEMORY, "query");
    return compile(s, err);
}

void sotto_scratch_close(sotto_scratch *s)
{
    if (!s)
        return;
    (void)sqlite3_finalize(s->insert);
    (void)sqlite3_finalize(s->erase);
    (void)sqlite3_finalize(s->query);
    sotto_sqlite_close(s->db);
    sotto_arena_clear(&s->arena);
    sotto_release(s, sizeof *s);
}

/* ---- the rows of a device ------------------------------------------------------------------------------------- */

static sotto_value cell(const sotto_scratch *s, const sotto_sim_device *d, size_t row,
                        size_t column)
{
    const size_t field = s->read[column];

    if (field == SIZE_MAX)
        return (sotto_value){SOTTO_TYPE_INTEGER,
                             {.integer = sotto_sim_time(s->trial, d->times[row])}};
    sotto_value value = d->values[row * s->trial->table.stream.field_count + field];
    if (value.type == SOTTO_TYPE_REAL)
        value.as.real += 0.0; /* -0.0 equals 0.0 */
    return value;
}

/* As SQLite orders values of one column: nothing, then numbers, then texts by their bytes. */
static int compare(const sotto_value *a, const sotto_value *b)
{
    if (a->type == SOTTO_TYPE_NULL || b->type == SOTTO_TYPE_NULL)
        return (a->type != SOTTO_TYPE_NULL) - (b->type != SOTTO_TYPE_NULL);
    if (a->type == SOTTO_TYPE_TEXT) {
        const size_t len = a->as.text.len < b->as.text.len ? a->as.text.len : b->as.text.len;
        const int order = len ? memcmp(a->as.text.data, b->as.text.data, len) : 0;

        return order ? order
                     : (a->as.text.len > b->as.text.len) - (a->as.text.len < b->as.text.len);
    }
    if (a->type == SOTTO_TYPE_REAL)
        return (a->as.real > b->as.real) - (a->as.real < b->as.real);
    return (a->as.integer > b->as.integer) - (a->as.integer < b->as.integer);
}

/* Rows that the query sees, as the table has them. */
typedef struct table {
    const sotto_value *cells; /* row by row */
    size_t rows;
} table;

static int compare_rows(const sotto_scratch *s, const sotto_value *a, const sotto_value *b)
{
    for (size_t i = 0; i < s->read_count; i++) {
        const int order = compare(&a[i], &b[i]);

        if (order)
            return order;
    }
    return 0;
}

/* Merges two sorted halves: qsort has no context. */
static void sort(const sotto_scratch *s, sotto_value *cells, sotto_value *spare, size_t rows)
{
    const size_t n = s->read_count, left = rows / 2, size = n * sizeof *cells;
    size_t a = 0, b = left;

    if (rows < 2)
        return;
    sort(s, cells, spare, left);
    sort(s, cells + left * n, spare, rows - left);
    for (size_t i = 0; i < rows; i++) {
        const bool first =
            b == rows || (a < left && compare_rows(s, cells + a * n, cells + b * n) <= 0);

        memcpy(spare + i * n, cells + (first ? a++ : b++) * n, size);
    }
    memcpy(cells, spare, rows * size);
}

static sotto_status gather(const sotto_scratch *s, table *out, const sotto_sim_device *d,
                           int64_t now, sotto_arena *arena, sotto_err *err)
{
    const sotto_recipe *recipe = s->trial->recipe;
    const size_t n = s->read_count;
    const int64_t since =
        recipe->interval == SOTTO_INTERVAL_LAST ? now - (int64_t)recipe->last : INT64_MIN;
    sotto_value *cells = sotto_arena_take_array(arena, d->rows * n + 1, sizeof *cells);
    sotto_value *spare = sotto_arena_take_array(arena, d->rows * n + 1, sizeof *spare);

    if (!cells || !spare)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a device of %zu rows", d->rows);
    *out = (table){.cells = cells};
    for (size_t row = 0; row < d->rows; row++) {
        if (sotto_sim_time(s->trial, d->times[row]) < since)
            continue;
        for (size_t i = 0; i < n; i++)
            cells[out->rows * n + i] = cell(s, d, row, i);
        out->rows++;
    }
    if (n > 0)
        sort(s, cells, spare, out->rows);
    return SOTTO_OK;
}

/* ---- answers that are kept ------------------------------------------------------------------------------------ */

static bool put_key(uint8_t key[KEPT_KEY], uint32_t *length, const void *bytes, size_t len)
{
    if (len > KEPT_KEY - *length)
        return false;
    if (len > 0)
        memcpy(key + *length, bytes, len);
    *length += (uint32_t)len;
    return true;
}

/* False: too long to be kept. */
static bool write_key(const sotto_scratch *s, uint8_t key[KEPT_KEY], uint32_t *length,
                      const table *t)
{
    const uint32_t rows = (uint32_t)t->rows;
    bool fits;

    *length = 0;
    fits = put_key(key, length, &rows, sizeof rows);
    for (size_t i = 0; fits && i < t->rows * s->read_count; i++) {
        const sotto_value *v = &t->cells[i];
        const uint8_t type = (uint8_t)v->type;
        const uint16_t len = v->type == SOTTO_TYPE_TEXT ? (uint16_t)v->as.text.len : 0;

        fits = put_key(key, length, &type, 1);
        if (v->type == SOTTO_TYPE_TEXT)
            fits = fits && put_key(key, length, &len, sizeof len) &&
                   put_key(key, length, v->as.text.data, len);
        else if (v->type != SOTTO_TYPE_NULL)
            fits = fits && put_key(key, length, &v->as, 8);
    }
    return fits;
}

static kept *place_of(const sotto_scratch *s, const uint8_t *key, uint32_t length)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (uint32_t i = 0; i < length; i++)
        hash = (hash ^ key[i]) * UINT64_C(0x100000001b3);
    return &s->kept[(hash ^ hash >> 29) % KEPT];
}

/* ---- running -------------------------------------------------------------------------------------------------- */

static int bind(sqlite3_stmt *insert, int at, const sotto_value *v)
{
    switch (v->type) {
    case SOTTO_TYPE_INTEGER:
    case SOTTO_TYPE_BOOLEAN:
        return sqlite3_bind_int64(insert, at, v->as.integer);
    case SOTTO_TYPE_REAL:
        return sqlite3_bind_double(insert, at, v->as.real);
    case SOTTO_TYPE_TEXT:
        return sqlite3_bind_text(insert, at, v->as.text.len ? (const char *)v->as.text.data : "",
                                 (int)v->as.text.len, SQLITE_STATIC);
    case SOTTO_TYPE_NULL:
        break;
    }
    return sqlite3_bind_null(insert, at);
}

static int fill(const sotto_scratch *s, const table *t)
{
    int code = SQLITE_OK;

    if (!s->insert)
        return SQLITE_OK;
    (void)sqlite3_step(s->erase);
    code = sqlite3_reset(s->erase);
    for (size_t row = 0; row < t->rows && code == SQLITE_OK; row++) {
        for (size_t i = 0; i < s->read_count && code == SQLITE_OK; i++)
            code = bind(s->insert, (int)i + 1, &t->cells[row * s->read_count + i]);
        if (code == SQLITE_OK)
            (void)sqlite3_step(s->insert);
        code = code == SQLITE_OK ? sqlite3_reset(s->insert) : code;
    }
    return code;
}

static sotto_datum datum_of(sqlite3_stmt *statement, size_t column)
{
    const int at = (int)column;

    switch (sqlite3_column_type(statement, at)) {
    case SQLITE_INTEGER:
        return (sotto_datum){.type = SOTTO_DATUM_INTEGER,
                             .integer = sqlite3_column_int64(statement, at)};
    case SQLITE_FLOAT:
        return (sotto_datum){.type = SOTTO_DATUM_REAL,
                             .real = sqlite3_column_double(statement, at)};
    case SQLITE_TEXT: {
        const void *text = sqlite3_column_text(statement, at);

        return (sotto_datum){.type = SOTTO_DATUM_TEXT,
                             .text =
                                 sotto_bytes_of(text, (size_t)sqlite3_column_bytes(statement, at))};
    }
    default:
        return (sotto_datum){.type = SOTTO_DATUM_NULL};
    }
}

/* A query that fails on what it reads answers nothing, as on a device. */
static void step(sotto_scratch *s)
{
    const sotto_encoding *e = &s->trial->recipe->encoding;
    int code;

    s->count = 0;
    while ((code = sqlite3_step(s->query)) == SQLITE_ROW && s->count < MOST_BINS) {
        sotto_datum cells[SOTTO_MAX_ENCODERS];

        for (size_t i = 0; i < e->count; i++)
            cells[i] = datum_of(s->query, s->columns[i]);
        s->bins[s->count++] = sotto_encoding_bin_vartime(e, cells);
    }
    if (code != SQLITE_DONE)
        s->count = 0;
    (void)sqlite3_reset(s->query);
}

static sotto_status run(sotto_scratch *s, const sotto_sim_device *device, int64_t now,
                        sotto_arena *arena, sotto_err *err)
{
    uint8_t key[KEPT_KEY];
    uint32_t length;
    table t;

    SOTTO_TRY(gather(s, &t, device, now, arena, err));
    const bool keeps = write_key(s, key, &length, &t);
    kept *place = keeps ? place_of(s, key, length) : NULL;
    if (place && place->length == length && memcmp(place->key, key, length) == 0) {
        s->count = place->count;
        memcpy(s->bins, place->bins, s->count * sizeof *s->bins);
        return SOTTO_OK;
    }
    const int code = fill(s, &t);
    if (code != SQLITE_OK)
        return sotto_sqlite_fail(err, code, "the rows of a device");
    step(s);
    if (place && s->count <= KEPT_BINS) {
        place->length = length;
        place->count = (uint32_t)s->count;
        memcpy(place->key, key, length);
        memcpy(place->bins, s->bins, s->count * sizeof *s->bins);
    }
    return SOTTO_OK;
}

sotto_status sotto_scratch_run(sotto_scratch *s, const uint64_t **bins, size_t *count,
                               const sotto_sim_device *device, int64_t now, sotto_err *err)
{
    const sotto_arena_mark here = sotto_arena_here(&s->arena);
    const sotto_status status = run(s, device, now, &s->arena, err);

    sotto_arena_rollback(&s->arena, here);
    *bins = s->bins;
    *count = s->count;
    return status;
}
