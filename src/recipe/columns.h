/* recipe/columns.h - the names of a query's columns, as far as its text alone tells them.
 *
 * Callers:  the linter, which has no database. What a query really answers with, SQLite tells the device.
 * Memory:   names are borrowed from the query.
 */
#ifndef SOTTO_RECIPE_COLUMNS_H
#define SOTTO_RECIPE_COLUMNS_H

#include "sotto/base.h"

typedef struct sotto_columns {
    const char *at;
    bool more;
} sotto_columns;

/* At the columns of a query that starts with SELECT; there are none for any other. */
sotto_columns sotto_columns_of(const char *query);
/* The next one: empty where the text does not tell its name, as of `*` or of an expression without AS. A column
 * that is read without an AS may have its name in other cases of letters. False behind the last. */
bool sotto_columns_next(sotto_columns *columns, sotto_bytes *name);

#endif
