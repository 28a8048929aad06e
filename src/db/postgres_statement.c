/* Statements of PostgreSQL: prepared under a number when they first run, since only then the types of their
 * parameters are known, and sent with binary values. With many rows, each column is one parameter, an array. The
 * server parses a list of VALUES at every run: a mark took it 6.5 us instead of 4.6. */
#include "base/alloc.h"
#include "db/postgres.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Object identifiers of the server's own types: fixed for ever, but libpq's headers do not name them. */
enum {
    OID_BOOL = 16,
    OID_BYTEA = 17,
    OID_NAME = 19,
    OID_INT8 = 20,
    OID_INT2 = 21,
    OID_INT4 = 23,
    OID_TEXT = 25,
    OID_BYTEA_ARRAY = 1001,
    OID_TEXT_ARRAY = 1009,
    OID_INT8_ARRAY = 1016,
    OID_VARCHAR = 1043,
    OID_VOID = 2278,
};

typedef struct parameter {
    uint8_t number[8]; /* an integer as it is sent */
} parameter;

typedef struct pg_statement {
    sotto_statement common;
    char *sql;
    size_t sql_size;
    char name[24]; /* "" until it is prepared */
    unsigned count;
    Oid *types; /* what it was prepared with; 0: left to the server */
    Oid *bound;
    const char **values;
    int *lengths;
    int *formats;
    parameter *numbers;
    sotto_buf *arrays; /* of many rows; NULL: it has none */
    PGresult *result;
    int row, rows;
    uint64_t changed;
} pg_statement;

static pg_statement *of(sotto_statement *statement)
{
    return (pg_statement *)statement;
}

static void release(pg_statement *s)
{
    sotto_release(s->sql, s->sql_size);
    sotto_release(s->types, s->count * sizeof *s->types);
    sotto_release(s->bound, s->count * sizeof *s->bound);
    sotto_release(s->values, s->count * sizeof *s->values);
    sotto_release(s->lengths, s->count * sizeof *s->lengths);
    sotto_release(s->formats, s->count * sizeof *s->formats);
    sotto_release(s->numbers, s->count * sizeof *s->numbers);
    for (unsigned i = 0; s->arrays && i < s->count; i++)
        sotto_release(s->arrays[i].data, s->arrays[i].cap);
    sotto_release(s->arrays, s->arrays ? s->count * sizeof *s->arrays : 0);
    sotto_release(s, sizeof *s);
}

static bool take_arrays(pg_statement *s)
{
    size_t count = s->count;

    if (count == 0)
        return true;
    s->types = sotto_alloc(count * sizeof *s->types);
    s->bound = sotto_alloc(count * sizeof *s->bound);
    s->values = sotto_alloc(count * sizeof *s->values);
    s->lengths = sotto_alloc(count * sizeof *s->lengths);
    s->formats = sotto_alloc(count * sizeof *s->formats);
    s->numbers = sotto_alloc(count * sizeof *s->numbers);
    if (!s->types || !s->bound || !s->values || !s->lengths || !s->formats || !s->numbers)
        return false;
    for (size_t i = 0; i < count; i++)
        s->formats[i] = 1;
    return true;
}

sotto_status sotto_pg_prepare(sotto_conn *conn, sotto_statement **out, const char *sql,
                              unsigned parameters, sotto_err *err)
{
    pg_statement *s = sotto_alloc(sizeof *s);

    if (s) {
        s->count = parameters;
        s->sql_size = strlen(sql) + 1;
        s->sql = sotto_alloc(s->sql_size);
    }
    if (!s || !s->sql || !take_arrays(s)) {
        if (s)
            release(s);
        return sotto_conn_fail(conn, err, SOTTO_TROUBLE_FAILED, SOTTO_NO_MEMORY,
                               "no memory for SQL");
    }
    memcpy(s->sql, sql, s->sql_size);
    *out = &s->common;
    return SOTTO_OK;
}

static void forget_on_server(pg_statement *s)
{
    PGconn *server = sotto_pg_of(s->common.conn)->server;
    char sql[48];

    /* A failed transaction takes no commands: then the server keeps the statement until the connection ends. */
    if (!s->name[0] || !server || PQtransactionStatus(server) > PQTRANS_INTRANS)
        return;
    (void)snprintf(sql, sizeof sql, "DEALLOCATE %s", s->name);
    PQclear(PQexec(server, sql));
}

void sotto_pg_finalize(sotto_statement *statement)
{
    pg_statement *s = of(statement);

    PQclear(s->result);
    forget_on_server(s);
    release(s);
}

void sotto_pg_reset(sotto_statement *statement)
{
    pg_statement *s = of(statement);

    PQclear(s->result);
    s->result = NULL;
    for (unsigned i = 0; i < s->count; i++) {
        s->values[i] = NULL;
        s->bound[i] = 0;
        if (s->arrays)
            s->arrays[i].len = 0;
    }
}

static void put_number(uint8_t *out, uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        out[i] = (uint8_t)(value >> 8 * (size - 1 - i));
}

/* ---- arrays ------------------------------------------------------------------------------------------ */

/* As the server reads them: dimensions, whether any is NULL, type; length and lower bound; then each with its length. */
enum { ARRAY_HEAD = 20, ELEMENT_HEAD = 4 };

/* NULL: there is no memory for it, or PostgreSQL would not take so much. */
static uint8_t *extend(sotto_buf *array, size_t by)
{
    size_t cap = array->cap > 0 ? array->cap : 4096;

    if (by > INT32_MAX - array->len)
        return NULL;
    while (cap - array->len < by)
        cap *= 2;
    if (cap > array->cap) {
        sotto_buf wider = sotto_buf_over(sotto_alloc(cap), cap);

        if (!wider.data)
            return NULL;
        if (array->len > 0)
            memcpy(wider.data, array->data, array->len);
        wider.len = array->len;
        sotto_release(array->data, array->cap);
        *array = wider;
    }
    array->len += by;
    return array->data + array->len - by;
}

static bool begin_array(pg_statement *s, unsigned column, Oid type, Oid element)
{
    uint8_t *head = extend(&s->arrays[column], ARRAY_HEAD);

    if (!head)
        return false;
    s->bound[column] = type;
    put_number(head, 1, 4);
    put_number(head + 4, 0, 4);
    put_number(head + 8, element, 4);
    put_number(head + 12, s->common.rows, 4);
    put_number(head + 16, 1, 4);
    return true;
}

static bool add_element(pg_statement *s, unsigned column, const sotto_cell *value)
{
    size_t len = value->type == SOTTO_COLUMN_INT ? 8 : value->bytes.len;
    uint8_t *out;

    if (len > INT32_MAX - ELEMENT_HEAD)
        return false;
    out = extend(&s->arrays[column], ELEMENT_HEAD + len);
    if (!out)
        return false;
    put_number(out, len, ELEMENT_HEAD);
    if (value->type == SOTTO_COLUMN_INT)
        put_number(out + ELEMENT_HEAD, (uint64_t)value->number, 8);
    else if (len > 0)
        memcpy(out + ELEMENT_HEAD, value->bytes.data, len);
    s->values[column] = (const char *)s->arrays[column].data;
    s->lengths[column] = (int)s->arrays[column].len;
    return true;
}

/* sql.c sees to it that the values come in order and none is missing. */
static void bind_row(pg_statement *s, unsigned at, const sotto_cell *value)
{
    static const Oid oids[][2] = {[SOTTO_COLUMN_INT] = {OID_INT8_ARRAY, OID_INT8},
                                  [SOTTO_COLUMN_BYTES] = {OID_BYTEA_ARRAY, OID_BYTEA},
                                  [SOTTO_COLUMN_TEXT] = {OID_TEXT_ARRAY, OID_TEXT}};
    const Oid *types = oids[value->type];
    unsigned column = (at - 1) % s->common.columns;
    bool good;

    if (!s->arrays)
        s->arrays = sotto_alloc(s->count * sizeof *s->arrays);
    if (s->arrays && s->arrays[column].len > 0 && s->bound[column] != types[0]) {
        s->common.misused = true;
        return;
    }
    good = s->arrays && (s->arrays[column].len > 0 || begin_array(s, column, types[0], types[1])) &&
           add_element(s, column, value);
    if (!good)
        (void)sotto_conn_fail(s->common.conn, NULL, SOTTO_TROUBLE_FAILED, SOTTO_NO_MEMORY,
                              "no memory for rows");
}

/* ---- single values ------------------------------------------------------------------------------------- */

void sotto_pg_bind(sotto_statement *statement, unsigned at, const sotto_cell *value)
{
    static const Oid oids[] = {[SOTTO_COLUMN_NULL] = 0,
                               [SOTTO_COLUMN_INT] = OID_INT8,
                               [SOTTO_COLUMN_BYTES] = OID_BYTEA,
                               [SOTTO_COLUMN_TEXT] = OID_TEXT};
    pg_statement *s = of(statement);
    unsigned i = at - 1;

    if (statement->columns > 0) {
        bind_row(s, at, value);
        return;
    }
    s->bound[i] = oids[value->type];
    s->values[i] = NULL;
    if (value->type == SOTTO_COLUMN_INT) {
        put_number(s->numbers[i].number, (uint64_t)value->number, 8);
        s->values[i] = (const char *)s->numbers[i].number;
        s->lengths[i] = 8;
    } else if (value->type != SOTTO_COLUMN_NULL) {
        if (value->bytes.len > INT32_MAX) {
            statement->misused = true;
            return;
        }
        s->values[i] = (const char *)value->bytes.data;
        s->lengths[i] = (int)value->bytes.len;
    }
}

/* A parameter that was NULL when the statement was prepared got a type from the server, perhaps another than
 * the value has that comes now. */
static bool fits_types(const pg_statement *s)
{
    for (unsigned i = 0; i < s->count; i++) {
        if (s->bound[i] != 0 && s->bound[i] != s->types[i])
            return false;
    }
    return true;
}

static sotto_status prepare_on_server(pg_statement *s, sotto_err *err)
{
    sotto_pg *pg = sotto_pg_of(s->common.conn);

    forget_on_server(s);
    for (unsigned i = 0; i < s->count; i++) {
        if (s->bound[i] != 0)
            s->types[i] = s->bound[i];
    }
    (void)snprintf(s->name, sizeof s->name, "s%llu", (unsigned long long)++pg->names);
    PGresult *result = PQprepare(pg->server, s->name, s->sql, (int)s->count, s->types);
    sotto_status status = SOTTO_OK;
    if (PQresultStatus(result) != PGRES_COMMAND_OK) {
        s->name[0] = 0;
        status = sotto_pg_fail(&pg->common, result, s->common.text, err);
    }
    PQclear(result);
    return status;
}

static sotto_status execute(pg_statement *s, sotto_err *err)
{
    sotto_pg *pg = sotto_pg_of(s->common.conn);

    if (!s->name[0] || !fits_types(s))
        SOTTO_TRY(prepare_on_server(s, err));
    s->result =
        PQexecPrepared(pg->server, s->name, (int)s->count, s->values, s->lengths, s->formats, 1);
    ExecStatusType status = PQresultStatus(s->result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        return sotto_pg_fail(&pg->common, s->result, s->common.text, err);
    s->row = -1;
    s->rows = PQntuples(s->result);
    bool reads = strncmp(PQcmdStatus(s->result), "SELECT", 6) == 0;
    s->changed = reads ? 0 : strtoull(PQcmdTuples(s->result), NULL, 10);
    return SOTTO_OK;
}

sotto_status sotto_pg_step(sotto_statement *statement, bool *row, sotto_err *err)
{
    pg_statement *s = of(statement);

    if (!s->result)
        SOTTO_TRY(execute(s, err));
    *row = ++s->row < s->rows;
    return SOTTO_OK;
}

uint64_t sotto_pg_changed(const sotto_statement *statement)
{
    return ((const pg_statement *)statement)->changed;
}

/* Two's complement of the value's own width, sign extended. */
static int64_t big_endian(const uint8_t *bytes, unsigned len)
{
    uint64_t value = bytes[0] & 0x80 ? UINT64_MAX : 0;

    for (unsigned i = 0; i < len; i++)
        value = value << 8 | bytes[i];
    return (int64_t)value;
}

bool sotto_pg_column(const sotto_statement *statement, unsigned column, sotto_cell *out)
{
    const pg_statement *s = (const pg_statement *)statement;
    int at = (int)column;

    if (column >= (unsigned)PQnfields(s->result))
        return false;
    *out = (sotto_cell){.type = SOTTO_COLUMN_NULL};
    if (PQgetisnull(s->result, s->row, at))
        return true;
    const uint8_t *value = (const uint8_t *)PQgetvalue(s->result, s->row, at);
    int len = PQgetlength(s->result, s->row, at);
    switch (PQftype(s->result, at)) {
    case OID_INT2:
    case OID_INT4:
    case OID_INT8:
        *out = (sotto_cell){.type = SOTTO_COLUMN_INT, .number = big_endian(value, (unsigned)len)};
        return true;
    case OID_BOOL:
        *out = (sotto_cell){.type = SOTTO_COLUMN_INT, .number = value[0]};
        return true;
    case OID_BYTEA:
        out->type = SOTTO_COLUMN_BYTES;
        break;
    case OID_TEXT:
    case OID_VARCHAR:
    case OID_NAME:
        out->type = SOTTO_COLUMN_TEXT;
        break;
    case OID_VOID:
        return true;
    default:
        return false;
    }
    out->bytes = sotto_bytes_of(value, (size_t)len);
    return true;
}
