#include "query/statements.h"

#include <string.h>

enum { POINTER = sizeof(void *), MARK = sizeof(uint32_t), SAMPLES = 8 };

/* Made of the length and a few characters, so that nearly every other text is passed over without comparing it. */
static uint32_t mark_of(const char *sql)
{
    const size_t len = strlen(sql);
    uint32_t mark = (uint32_t)len;

    for (size_t i = 0; i < SAMPLES; i++)
        mark = mark * 31 + (uint8_t)sql[len * i / SAMPLES];
    return mark;
}

/* One that is in use is not among them, and is compiled a second time if need be. */
static sqlite3_stmt *take_kept(sotto_statements *s, const char *sql)
{
    const uint32_t mark = mark_of(sql);

    for (size_t i = 0; i < s->count; i++) {
        sqlite3_stmt *found = s->kept[i];

        if (s->marks[i] != mark || strcmp(sqlite3_sql(found), sql) != 0)
            continue;
        s->count--;
        memmove(&s->kept[i], &s->kept[i + 1], (s->count - i) * POINTER);
        memmove(&s->marks[i], &s->marks[i + 1], (s->count - i) * MARK);
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
    memmove(&s->marks[1], &s->marks[0], s->count * MARK);
    s->kept[0] = statement;
    s->marks[0] = mark_of(sqlite3_sql(statement));
    s->count++;
}

void sotto_statements_drop(sotto_statements *s)
{
    while (s->count > 0)
        (void)sqlite3_finalize(s->kept[--s->count]);
}
