/* Names of a query's columns, told from its text: as SQLite has them, or not at all. */
#include "recipe/columns.h"
#include "support/test.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

typedef struct example {
    const char *query;
    const char *names; /* each followed by |; "?" is one that the text does not tell */
} example;

/* clang-format off */
static const example examples[] = {
    {"SELECT age, ngram FROM keyboard_ngrams", "age|ngram|"},
    {"select Age from keyboard_ngrams;", "Age|"},
    {" \n\tSELECT DISTINCT age,ngram FROM keyboard_ngrams", "age|ngram|"},
    {"SELECT ALL age FROM keyboard_ngrams", "age|"},
    {"SELECT k.age, main.k.ngram FROM keyboard_ngrams k", "age|ngram|"},
    {"SELECT \"age\", [ngram], `perplexity` FROM keyboard_ngrams", "age|ngram|perplexity|"},
    {"SELECT age AS a, max(ngram, 'x, y FROM') AS \"b c\" FROM keyboard_ngrams", "a|b c|"},
    {"SELECT CAST(age AS integer) AS n, (SELECT 1, 2 FROM x) AS m FROM keyboard_ngrams", "n|m|"},
    {"SELECT age -- and, so AS on\n, /* FROM */ ngram FROM keyboard_ngrams", "age|ngram|"},
    {"SELECT age FROM keyboard_ngrams UNION SELECT ngram FROM keyboard_ngrams", "age|"},
    {"SELECT CASE WHEN age > 30 THEN 1 ELSE 0 END AS old FROM keyboard_ngrams", "old|"},
    {"SELECT * FROM keyboard_ngrams", "?|"},
    {"SELECT k.*, age FROM keyboard_ngrams k", "?|age|"},
    {"SELECT count(*), age FROM keyboard_ngrams", "?|age|"},
    {"SELECT age a, +ngram, (age) FROM keyboard_ngrams", "?|?|?|"},
    {"SELECT CASE WHEN age > 30 THEN 1 ELSE 0 END FROM keyboard_ngrams", "?|"},
    {"SELECT age ISNULL, 'age', 12, x'00' FROM keyboard_ngrams", "?|?|?|?|"},
    {"SELECT \"a\"\"b\" FROM (SELECT 1 AS \"a\"\"b\")", "?|"},
    {"SELECT age IS DISTINCT FROM 3 AS other FROM keyboard_ngrams", "?|"},
    {"WITH k AS (SELECT age FROM keyboard_ngrams) SELECT age FROM k", ""},
    {"VALUES (1)", ""},
    {"EXPLAIN SELECT age FROM keyboard_ngrams", ""},
    {"", ""},
    {"SELECT", "?|"},
    {"SELECT age, 'never closed", "age|?|"},
    {"SELECT age, /* never closed", "age|?|"},
    {"SELECT ((((age FROM keyboard_ngrams", "?|"},
    {"SELECT )age FROM keyboard_ngrams", "?|"},
    {"SELECTED age FROM keyboard_ngrams", ""},
};
/* clang-format on */

static void the_text_tells_names_or_that_it_does_not(sotto_test *t)
{
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        sotto_columns columns = sotto_columns_of(examples[i].query);
        char found[200] = "";
        sotto_bytes name;

        while (sotto_columns_next(&columns, &name)) {
            size_t len = strlen(found);

            (void)snprintf(found + len, sizeof found - len, "%.*s|", name.len ? (int)name.len : 1,
                           name.len ? (const char *)name.data : "?");
        }
        if (strcmp(examples[i].names, found) != 0)
            (void)printf("%s\n  %s\n", examples[i].query, found);
        CHECK(t, strcmp(examples[i].names, found) == 0);
    }
}

/* What is told must be so: a query that SQLite takes has these names, in this order, but for letters' cases. */
static void a_name_that_is_told_is_sqlite_s(sotto_test *t)
{
    sqlite3 *db;
    int compared = 0;

    CHECK(t, sqlite3_open(":memory:", &db) == SQLITE_OK);
    CHECK(t, sqlite3_exec(db, "CREATE TABLE keyboard_ngrams(age, ngram, perplexity)", NULL, NULL,
                          NULL) == SQLITE_OK);
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        sotto_columns columns = sotto_columns_of(examples[i].query);
        bool told = strcmp(examples[i].names, "") != 0 && !strchr(examples[i].names, '?');
        sqlite3_stmt *statement = NULL;
        sotto_bytes name;
        int column = 0;

        if (!told || sqlite3_prepare_v2(db, examples[i].query, -1, &statement, NULL) != SQLITE_OK)
            continue;
        for (; sotto_columns_next(&columns, &name); column++) {
            const char *real = sqlite3_column_name(statement, column);

            CHECK(t, real && strlen(real) == name.len &&
                         strncasecmp(real, (const char *)name.data, name.len) == 0);
        }
        CHECK_EQUAL(t, sqlite3_column_count(statement), column);
        CHECK(t, sqlite3_finalize(statement) == SQLITE_OK);
        compared++;
    }
    CHECK(t, compared >= 9);
    CHECK(t, sqlite3_close(db) == SQLITE_OK);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(the_text_tells_names_or_that_it_does_not),
        CASE(a_name_that_is_told_is_sqlite_s),
    };

    return RUN_TESTS(argc, argv, cases);
}
