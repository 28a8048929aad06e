#include "support/query_maker.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct maker {
    char *out;
    size_t len;
    sotto_sim_random *random;
    unsigned selects; /* how many more there may be */
    unsigned tables;  /* named so far: t1, t2, ...  */
} maker;

/* What a select offers to its expressions: its tables are t<from> to t<from + count - 1>. */
typedef struct scope {
    const struct scope *outer;
    unsigned from, count;
    char kinds[4]; /* of each: k, h (health) or s (a select of columns a and b) */
} scope;

static void say(maker *m, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int wrote = vsnprintf(m->out + m->len, SOTTO_TEST_QUERY - m->len, format, args);
    va_end(args);
    m->len += (size_t)wrote;
    if (m->len >= SOTTO_TEST_QUERY)
        m->len = SOTTO_TEST_QUERY - 1;
}

static unsigned below(maker *m, unsigned bound)
{
    return (unsigned)sotto_sim_random_below(m->random, bound);
}

static bool one_in(maker *m, unsigned n)
{
    return below(m, n) == 0;
}

static const char *any_of(maker *m, const char *const *list, size_t count)
{
    return list[below(m, (unsigned)count)];
}
#define ANY_OF(m, list) any_of(m, list, sizeof(list) / sizeof(list)[0])

static void make_select(maker *m, const scope *outer, unsigned columns, unsigned depth);
static void make_value(maker *m, const scope *in, unsigned depth);

/* ---- expressions ------------------------------------------------------------------------------------------ */

static void make_column(maker *m, const scope *in)
{
    static const char *const k[] = {"age", "ngram", "score", "mark", "ngram"};
    static const char *const hidden[] = {"secret_1", "event_time", "rowid", "oid", "event_id"};
    static const char *const s[] = {"a", "b"};

    while (in->outer && one_in(m, 3))
        in = in->outer;
    if (in->count == 0) {
        say(m, "1");
        return;
    }
    unsigned at = below(m, in->count);
    say(m, "t%u.", in->from + at);
    if (in->kinds[at] == 's')
        say(m, "%s", ANY_OF(m, s));
    else if (one_in(m, 80))
        say(m, "%s", ANY_OF(m, hidden));
    else
        say(m, "%s", in->kinds[at] == 'k' ? ANY_OF(m, k) : "pulse");
}

static void make_literal(maker *m)
{
    static const char *const literals[] = {
        "0",      "1",     "30",      "-1",   "9223372036854775807",
        "0.1",    "1e300", "'hello'", "'I%'", "'i went home'",
        "'35'",   "NULL",  "1.0",     "''",   "-9223372036854775808",
        "'Hello'"};

    say(m, "%s", ANY_OF(m, literals));
}

static void make_pair(maker *m, const scope *in, const char *between, unsigned depth)
{
    say(m, "(");
    make_value(m, in, depth - 1);
    say(m, " %s ", between);
    make_value(m, in, depth - 1);
    say(m, ")");
}

static void make_call(maker *m, const scope *in, unsigned depth)
{
    static const char *const one[] = {"abs", "length", "lower", "upper", "round", "+", "-", "NOT "};
    static const char *const two[] = {"coalesce", "ifnull", "nullif", "max",
                                      "min",      "substr", "glob",   "like"};

    if (one_in(m, 2)) {
        say(m, "%s(", ANY_OF(m, one));
    } else {
        say(m, "%s(", ANY_OF(m, two));
        make_value(m, in, depth - 1);
        say(m, ", ");
    }
    make_value(m, in, depth - 1);
    say(m, ")");
}

static void make_case(maker *m, const scope *in, unsigned depth)
{
    say(m, "CASE WHEN ");
    make_value(m, in, depth - 1);
    say(m, " THEN ");
    make_value(m, in, depth - 1);
    say(m, " ELSE ");
    make_value(m, in, depth - 1);
    say(m, " END");
}

static void make_inner(maker *m, const scope *in, unsigned depth)
{
    switch (below(m, 4)) {
    case 0:
        say(m, "EXISTS (");
        make_select(m, in, 1, depth - 1);
        break;
    case 1:
        make_column(m, in);
        say(m, one_in(m, 2) ? " IN (" : " NOT IN (");
        make_select(m, in, 1, depth - 1);
        break;
    default:
        say(m, "(");
        make_select(m, in, 1, depth - 1);
    }
    say(m, ")");
}

static void make_value(maker *m, const scope *in, unsigned depth)
{
    static const char *const operators[] = {"+",  "-",      "*",    "/",    "%",   "||",
                                            "=",  "<",      ">=",   "<>",   "AND", "OR",
                                            "IS", "IS NOT", "LIKE", "GLOB", "&"};
    static const char *const endings[] = {" IS NULL",           " COLLATE NOCASE",
                                          " COLLATE RTRIM",     " IN (30, 'hello', 1)",
                                          " BETWEEN 20 AND 40", " COLLATE BINARY"};
    static const char *const types[] = {"INTEGER", "TEXT", "REAL", "NUMERIC"};

    unsigned what = depth == 0 ? below(m, 3) : below(m, 14);
    if (what < 2 || what == 12)
        make_column(m, in);
    else if (what == 2)
        make_literal(m);
    else if (what < 7)
        make_pair(m, in, ANY_OF(m, operators), depth);
    else if (what == 7)
        make_call(m, in, depth);
    else if (what == 8)
        make_case(m, in, depth);
    else if (what == 9 && m->selects)
        make_inner(m, in, depth);
    else if (what == 10) {
        say(m, "CAST(");
        make_value(m, in, depth - 1);
        say(m, " AS %s)", ANY_OF(m, types));
    } else if (what == 11) {
        make_pair(m, in, ",", depth);
        say(m, one_in(m, 2) ? " < " : " = ");
        make_pair(m, in, ",", depth);
    } else {
        make_column(m, in);
        say(m, "%s", ANY_OF(m, endings));
    }
}

static void make_aggregate(maker *m, const scope *in)
{
    static const char *const names[] = {"sum", "sum", "avg",   "total",
                                        "max", "min", "count", "group_concat"};
    static const char *const frames[] = {"", " ROWS 1 PRECEDING", " RANGE UNBOUNDED PRECEDING",
                                         " GROUPS CURRENT ROW"};
    unsigned which = below(m, one_in(m, 8) ? 8 : 7);

    if (which == 6 && one_in(m, 2)) {
        say(m, "count(*)");
    } else {
        say(m, "%s(%s", names[which], one_in(m, 6) ? "DISTINCT " : "");
        make_value(m, in, 1);
        say(m, ")");
    }
    if (one_in(m, 6)) {
        say(m, " FILTER (WHERE ");
        make_value(m, in, 1);
        say(m, ")");
    }
    if (!one_in(m, 5))
        return;
    say(m, " OVER (");
    if (one_in(m, 3)) {
        say(m, "PARTITION BY ");
        make_column(m, in);
    }
    if (one_in(m, 2)) {
        say(m, " ORDER BY ");
        make_column(m, in);
        say(m, "%s", ANY_OF(m, frames));
    }
    say(m, ")");
}

/* ---- a select --------------------------------------------------------------------------------------------- */

static void make_table(maker *m, scope *in, unsigned depth)
{
    static const char *const hints[] = {" INDEXED BY sotto_time_of_k", " NOT INDEXED",
                                        " INDEXED/**/BY \"sqlite_autoindex_k_1\""};
    unsigned what = below(m, 6);

    if (what == 0 && m->selects && depth) {
        in->kinds[in->count] = 's';
        say(m, "(");
        unsigned number = m->tables + 1;
        m->tables += 1;
        make_select(m, NULL, 2, depth - 1);
        say(m, ") AS t%u", number);
    } else {
        in->kinds[in->count] = what < 4 ? 'k' : 'h';
        say(m, "%s%s AS t%u%s", one_in(m, 10) ? "main." : "", what < 4 ? "k" : "health",
            ++m->tables, one_in(m, 60) ? ANY_OF(m, hints) : "");
    }
}

/* All tables of a select have numbers in a row, so a select in FROM is the only one there, or the first. */
static void make_from(maker *m, scope *in, unsigned depth)
{
    static const char *const joins[] = {", ", " JOIN ", " LEFT JOIN ", " CROSS JOIN ",
                                        " NATURAL JOIN "};

    say(m, " FROM ");
    in->from = m->tables + 1;
    make_table(m, in, depth);
    in->count = 1;
    if (in->kinds[0] == 's' || !one_in(m, 4))
        return;
    unsigned join = below(m, one_in(m, 12) ? 5 : 4);
    say(m, "%s", joins[join]);
    make_table(m, in, 0);
    in->count = 2;
    if (join == 1 || join == 2) {
        say(m, " ON ");
        make_value(m, in, 1);
    }
}

static void make_limit(maker *m)
{
    say(m, " LIMIT %u", below(m, 4));
    if (one_in(m, 2))
        say(m, " OFFSET %u", below(m, 4));
}

static void make_order(maker *m, unsigned columns)
{
    static const char *const ways[] = {"", " DESC", " NULLS LAST", " COLLATE NOCASE",
                                       " DESC NULLS FIRST"};

    say(m, " ORDER BY %u%s", 1 + below(m, columns), ANY_OF(m, ways));
}

/* The text up to FROM needs the tables behind it: it is made second, and moved to the front. */
static void make_result(maker *m, const scope *in, size_t start, unsigned columns, unsigned depth,
                        bool grouped)
{
    static const char *const names[] = {"a", "b"};
    char behind[SOTTO_TEST_QUERY];
    bool aggregates = grouped || one_in(m, 4);

    (void)snprintf(behind, sizeof behind, "%s", m->out + start);
    m->len = start;
    say(m, "SELECT %s", one_in(m, 8) ? "DISTINCT " : "");
    for (unsigned i = 0; i < columns; i++) {
        say(m, "%s", i ? ", " : "");
        if (aggregates && !one_in(m, 3))
            make_aggregate(m, in);
        else
            make_value(m, in, depth);
        say(m, " AS %s", names[i]);
    }
    say(m, "%s", behind);
}

static void make_core(maker *m, const scope *outer, unsigned columns, unsigned depth)
{
    scope in = {.outer = outer};
    size_t start = m->len;
    bool grouped = one_in(m, 6);

    m->selects--;
    make_from(m, &in, depth);
    if (one_in(m, 2)) {
        say(m, " WHERE ");
        make_value(m, &in, depth ? 2 : 1);
    }
    if (grouped) {
        say(m, " GROUP BY ");
        make_value(m, &in, one_in(m, 2));
        if (one_in(m, 3)) {
            say(m, " HAVING ");
            make_aggregate(m, &in);
        }
    }
    make_result(m, &in, start, columns, depth, grouped);
}

static void make_select(maker *m, const scope *outer, unsigned columns, unsigned depth)
{
    static const char *const compounds[] = {" UNION ", " UNION ALL ", " INTERSECT ", " EXCEPT "};

    make_core(m, outer, columns, depth);
    if (m->selects && one_in(m, 10)) {
        say(m, "%s", ANY_OF(m, compounds));
        make_core(m, outer, columns, depth);
    }
    if (one_in(m, 3))
        make_order(m, columns);
    if (one_in(m, 4))
        make_limit(m);
}

void sotto_test_make_query(char out[SOTTO_TEST_QUERY], sotto_sim_random *random)
{
    maker m = {.out = out, .random = random, .selects = 4};
    unsigned columns = 1 + below(&m, 2);

    out[0] = 0;
    if (one_in(&m, 10)) { /* of the same shape as a select in FROM, under a name */
        say(&m, "WITH c AS %s(", one_in(&m, 3) ? "MATERIALIZED " : "");
        make_core(&m, NULL, 2, 1);
        say(&m, "%s) SELECT %s FROM c", one_in(&m, 2) ? " LIMIT 2" : "",
            columns == 1 ? "a" : "b, a");
    } else {
        make_select(&m, NULL, columns, 2);
    }
}
