#include "query/verifier.h"

#include "base/rule.h"

#include <stdio.h>
#include <string.h>

void sotto_verifier_init(sotto_verifier *verifier, const sotto_query_policy *policy,
                         const sotto_stream *streams, size_t stream_count)
{
    *verifier =
        (sotto_verifier){.policy = policy, .streams = streams, .stream_count = stream_count};
}

sotto_query_limits sotto_query_limits_of(const sotto_query_policy *policy)
{
    sotto_query_limits limits = policy->limits;

    limits.sql_bytes = limits.sql_bytes ? limits.sql_bytes : 16384;
    limits.selects = limits.selects ? limits.selects : 4;
    limits.words = limits.words ? limits.words : 128;
    limits.columns = limits.columns ? limits.columns : 32;
    limits.rows = limits.rows ? limits.rows : 100000;
    limits.value_bytes = limits.value_bytes ? limits.value_bytes : 16384;
    limits.steps = limits.steps ? limits.steps : 5000000;
    limits.nanoseconds = limits.nanoseconds ? limits.nanoseconds : 1000000000;
    limits.memory = limits.memory ? limits.memory : 8 << 20;
    return limits;
}

static int deny(sotto_verifier *verifier, const char *what, const char *why)
{
    (void)sotto_fail(&verifier->why, SOTTO_DENIED, "%.80s: %s", what, why);
    return SQLITE_DENY;
}

static bool names(const sotto_field_name *list, size_t count, const char *stream, const char *field)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i].stream, stream) == 0 && strcmp(list[i].field, field) == 0)
            return true;
    }
    return false;
}

/* Whether the host declared this: not a table of SQLite's, not one of ours, not a function in disguise. */
static bool is_declared(const sotto_verifier *verifier, const char *stream, const char *field)
{
    for (size_t i = 0; i < verifier->stream_count; i++) {
        const sotto_stream *s = &verifier->streams[i];

        if (strcmp(s->name, stream) != 0)
            continue;
        if (strcmp(field, SOTTO_FIELD_ROWS) == 0 || strcmp(field, SOTTO_STORE_TIME) == 0)
            return true;
        for (size_t j = 0; j < s->field_count; j++) {
            if (strcmp(s->fields[j].name, field) == 0)
                return true;
        }
    }
    return false;
}

static bool was_accessed(const sotto_verifier *verifier, const char *stream, const char *field)
{
    for (size_t i = 0; i < verifier->accessed_count; i++) {
        if (strcmp(verifier->accessed[i].stream, stream) == 0 &&
            strcmp(verifier->accessed[i].field, field) == 0)
            return true;
    }
    return false;
}

static bool reads_stream(const sotto_verifier *verifier, const char *stream)
{
    for (size_t i = 0; i < verifier->accessed_count; i++) {
        if (strcmp(verifier->accessed[i].stream, stream) == 0)
            return true;
    }
    return false;
}

static bool record(sotto_verifier *verifier, const char *stream, const char *field)
{
    const sotto_query_policy *policy = verifier->policy;

    if (was_accessed(verifier, stream, field))
        return true;
    if (verifier->accessed_count == SOTTO_QUERY_MAX_ACCESSED)
        return false;
    sotto_access *access = &verifier->accessed[verifier->accessed_count++];
    (void)snprintf(access->stream, sizeof access->stream, "%s", stream);
    (void)snprintf(access->field, sizeof access->field, "%s", field);
    access->sensitive = !names(policy->non_sensitive, policy->non_sensitive_count, stream, field);
    return true;
}

/* A row's number and its id link answers to each other, whatever a policy says. */
static bool identifies(const char *column)
{
    return sqlite3_stricmp(column, "ROWID") == 0 || sqlite3_stricmp(column, SOTTO_STORE_ID) == 0;
}

static int decide_read(sotto_verifier *verifier, const char *stream, const char *column,
                       const char *database)
{
    const sotto_query_policy *policy = verifier->policy;
    const char *field = column[0] ? column : SOTTO_FIELD_ROWS;
    char what[2 * SOTTO_STORE_MAX_NAME + 2];

    if (verifier->counting && !column[0] && reads_stream(verifier, stream))
        return SQLITE_OK;
    (void)snprintf(what, sizeof what, "%.63s.%.63s", stream, field);
    if (SOTTO_RULE(events_only) && database && strcmp(database, "main") != 0)
        return deny(verifier, what, "not in the event store");
    if (SOTTO_RULE(no_row_identity) && identifies(column))
        return deny(verifier, what, "identifies an event");
    if (SOTTO_RULE(declared_streams) && !is_declared(verifier, stream, field))
        return deny(verifier, what, "not a field of a declared stream");
    if (SOTTO_RULE(fields_allowed) && !verifier->listed &&
        !names(policy->fields, policy->field_count, stream, field))
        return deny(verifier, what, "the policy does not allow this field");
    if (SOTTO_RULE(access_sealed) && verifier->sealed && !was_accessed(verifier, stream, field))
        return deny(verifier, what, "was not read when the budget was checked");
    if (!record(verifier, stream, field))
        return deny(verifier, what, "one field too many for one query");
    return SQLITE_OK;
}

/* The events are chosen as they are copied (query/copy.h), so the query must be one that runs on a copy. */
sotto_status sotto_verifier_read_times(sotto_verifier *verifier, sotto_err *err)
{
    const size_t count = verifier->accessed_count;

    if (!verifier->policy->by_time)
        return SOTTO_OK;
    verifier->order_matters = true;
    for (size_t i = 0; i < count; i++)
        if (decide_read(verifier, verifier->accessed[i].stream, SOTTO_STORE_TIME, NULL) !=
            SQLITE_OK)
            return sotto_fail(err, SOTTO_DENIED, "%s", verifier->why.reason);
    return SOTTO_OK;
}

/* A sum may overflow or round differently, and a column beside max() come from another row, when rows come in another
 * order. max and min of several arguments are taken for aggregates too, which costs time alone. */
static bool is_aggregate(const char *function)
{
    static const char *const aggregates[] = {"avg", "count", "max", "min", "sum", "total"};

    for (size_t i = 0; i < sizeof aggregates / sizeof aggregates[0]; i++) {
        if (strcmp(aggregates[i], function) == 0)
            return true;
    }
    return false;
}

/* Each is pure, quick in the length of its arguments, and makes nothing longer than they are. */
static int decide_function(sotto_verifier *verifier, const char *name)
{
    static const char *const allowed[] = {
        "abs", "avg", "coalesce", "count", "glob",   "ifnull", "length", "like",  "lower",
        "max", "min", "nullif",   "round", "substr", "sum",    "total",  "upper",
    };

    if (SOTTO_RULE(order_seen_in_functions) && !verifier->sealed && is_aggregate(name))
        verifier->order_matters = true;
    for (size_t i = 0; i < sizeof allowed / sizeof allowed[0]; i++) {
        if (strcmp(allowed[i], name) == 0)
            return SQLITE_OK;
    }
    return deny(verifier, name, "not an allowed function");
}

int sotto_verifier_decide(void *context, int action, const char *first, const char *second,
                          const char *database, const char *inner)
{
    sotto_verifier *verifier = context;

    (void)inner; /* a view or trigger: its columns are judged as if the query had named them */
    switch (action) {
    case SQLITE_SELECT:
        return SQLITE_OK;
    case SQLITE_READ:
        return decide_read(verifier, first ? first : "", second ? second : "", database);
    case SQLITE_FUNCTION:
        return decide_function(verifier, second ? second : "");
    case SQLITE_RECURSIVE:
        return deny(verifier, "WITH RECURSIVE", "not allowed");
    case SQLITE_PRAGMA:
        return deny(verifier, "PRAGMA", "not a query");
    case SQLITE_ATTACH:
    case SQLITE_DETACH:
        return deny(verifier, "ATTACH", "not a query");
    case SQLITE_TRANSACTION:
    case SQLITE_SAVEPOINT:
        return deny(verifier, "a transaction", "not a query");
    case SQLITE_INSERT:
    case SQLITE_UPDATE:
    case SQLITE_DELETE:
        return deny(verifier, "a change", "not a query");
    default: /* schema changes, and whatever a later SQLite may invent */
        return deny(verifier, "an action", "not a query");
    }
}

sotto_status sotto_verifier_check_tail(sotto_bytes tail, sotto_err *err)
{
    static const char blank[] = {' ', '\t', '\r', '\n', ';'};

    for (size_t i = 0; i < tail.len; i++) {
        if (SOTTO_RULE(one_statement) && !memchr(blank, tail.data[i], sizeof blank))
            return sotto_fail(err, SOTTO_DENIED, "query: more than one statement");
    }
    return SOTTO_OK;
}

sotto_status sotto_verifier_check_statement(const sotto_verifier *verifier, sqlite3_stmt *statement,
                                            sotto_bytes tail, sotto_err *err)
{
    (void)verifier;
    if (!statement)
        return sotto_fail(err, SOTTO_MALFORMED, "query: no statement in it");
    SOTTO_TRY(sotto_verifier_check_tail(tail, err));
    if (SOTTO_RULE(no_explain) && sqlite3_stmt_isexplain(statement))
        return sotto_fail(err, SOTTO_DENIED, "query: EXPLAIN shows the store, not an answer");
    if (SOTTO_RULE(statement_reads_only) && !sqlite3_stmt_readonly(statement))
        return sotto_fail(err, SOTTO_DENIED, "query: writes");
    return SOTTO_OK;
}
