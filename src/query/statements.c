#include "query/statements.h"

#include <string.h>

enum { POINTER = sizeof(void *) };

/* One that is in use is not among them, and is compiled a second time if need be. */
static sqlite3_stmt *take_kept(sotto_statements *s, const char *sql)
{
    for (size_t i = 0; i < s->count; i++) {
        sqlite3_stmt *found = s->kept[i];

        if (strcmp(sqlite3_sql(found), sql) != 0)
            continue;
        s->count--;
        memmove(&s->kept[i], &s->kept[i + 1], (s->count - i) * POINTER);
        return found;
    }
    return NULL;
}

sotto_status sotto_statements_lend(sotto_statements *statements, sqlite3 *db, sqlite3_stmt **out,
                                   const char *sql, const char *what, sotto_err *err)
{
    *out = take_kept(statements, sql);
    return *out ? SOTTO_OK : sotto_sqlite_prepare_once(db, out, sql, what, err);
}

void sotto_statements_release(sotto_statements *s, sqlite3 *db, sqlite3_stmt *statement,
                              size_t most)
{
    if (!statement || most == 0 || sqlite3_db_handle(statement) != db) {
        (void)sqlite3_finalize(statement); /* the file may have been closed meanwhile */
        return;
    }
    if (s->count == most)
        (void)sqlite3_finalize(s->kept[--s->count]);
    /* Not reset, it would hold on to old pages; its bindings point into the caller's memory. */
    (void)sqlite3_reset(statement);
    (void)sqlite3_clear_bindings(statement);
    memmove(&s->kept[1], &s->kept[0], s->count * POINTER);
    s->kept[0] = statement;
    s->count++;
}

void sotto_statements_drop(sotto_statements *s)
{
    while (s->count > 0)
        (void)sqlite3_finalize(s->kept[--s->count]);
}
