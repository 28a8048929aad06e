/* Two stores that have the same values in all fields that are allowed, and differ in everything else: times, ids, other
 * fields, the order of donation. No query may tell them apart. SOTTO_CHAOS_QUERIES says how many are tried. */
#include "query/copy.h"
#include "query/sqlite.h"
#include "sim/clock.h"
#include "support/queries.h"
#include "support/query_maker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    QUERIES = SOTTO_TEST_DRAWS(2400),
    PAIRS = 4,
    ROWS = 10,
    BEATS = 6,
    MOST = 210,
    STEPS = 20000
};

static const sotto_field k_fields[] = {
    {"age", SOTTO_TYPE_INTEGER},   {"ngram", SOTTO_TYPE_TEXT},    {"score", SOTTO_TYPE_REAL},
    {"secret_1", SOTTO_TYPE_TEXT}, {"secret_2", SOTTO_TYPE_TEXT}, {"secret_3", SOTTO_TYPE_TEXT},
    {"secret_4", SOTTO_TYPE_TEXT}, {"secret_5", SOTTO_TYPE_TEXT}, {"mark", SOTTO_TYPE_INTEGER}};
static const sotto_field health_fields[] = {{"pulse", SOTTO_TYPE_INTEGER},
                                            {"secret_1", SOTTO_TYPE_TEXT}};
static const sotto_stream streams[] = {{"k", k_fields, 9, 1000000, 1000000},
                                       {"health", health_fields, 2, 1000000, 1000000}};
static const sotto_field_name allowed[] = {{"k", "age"},        {"k", "ngram"},
                                           {"k", "score"},      {"k", "mark"},
                                           {"health", "pulse"}, {"health", SOTTO_FIELD_ROWS}};
static const sotto_query_policy policy = {
    .fields = allowed, .field_count = 6, .limits = {.rows = 500, .steps = STEPS}};

/* ---- two stores ------------------------------------------------------------------------------------------- */

typedef struct row {
    int64_t age;
    const char *ngram;
    double score;
    bool known; /* otherwise all values are null */
} row;

/* Few different values, so that many are equal; some that overflow, or vanish beside others, in a sum. */
static row make_row(sotto_sim_random *random)
{
    static const int64_t ages[] = {18, 30, 30, 35, -4, INT64_MAX, INT64_MIN, 0};
    static const char *const ngrams[] = {"hello", "Hello", "hello ", "i went home", "", "35", "I%"};
    static const double scores[] = {0.1, 1e300, -1e300, 1e-9, 0.0, -0.0, 3, 1e308};

    return (row){ages[sotto_sim_random_below(random, 8)], ngrams[sotto_sim_random_below(random, 7)],
                 scores[sotto_sim_random_below(random, 8)], sotto_sim_random_below(random, 9) > 0};
}

static sotto_value secret_of(sotto_sim_random *random, bool is_long)
{
    static uint8_t letters[SOTTO_STORE_MAX_TEXT];
    uint64_t less = sotto_sim_random_below(random, 8);
    uint64_t len = is_long ? sizeof letters - less : less;

    memset(letters, 'a' + (int)sotto_sim_random_below(random, 26), sizeof letters);
    if (!is_long && less == 0)
        return (sotto_value){.type = SOTTO_TYPE_NULL};
    return (sotto_value){.type = SOTTO_TYPE_TEXT, .as.text = sotto_bytes_of(letters, len)};
}

static void donate(sotto_test *t, sotto_store *store, const row *r, bool typed,
                   sotto_sim_random *hidden, bool is_long)
{
    sotto_value values[9];
    sotto_event event = {.stream = typed ? "k" : "health",
                         .time = (int64_t)sotto_sim_random_below(hidden, 1000),
                         .values = values,
                         .value_count = typed ? 9 : 2};

    sotto_sim_random_bytes(hidden, event.id, sizeof event.id);
    values[0] = (sotto_value){.type = SOTTO_TYPE_INTEGER, .as.integer = r->age};
    values[1] = (sotto_value){.type = SOTTO_TYPE_TEXT,
                              .as.text = sotto_bytes_of(r->ngram, strlen(r->ngram))};
    values[2] = (sotto_value){.type = SOTTO_TYPE_REAL, .as.real = r->score};
    for (size_t i = 0; i < 3 && !r->known; i++)
        values[i] = (sotto_value){.type = SOTTO_TYPE_NULL};
    if (!typed)
        values[0].as.integer = r->age % 100;
    for (size_t i = typed ? 3 : 1; i < event.value_count; i++)
        values[i] = secret_of(hidden, is_long);
    if (typed) /* behind what is hidden */
        values[8] = (sotto_value){.type = SOTTO_TYPE_INTEGER, .as.integer = r->age % 7};
    CHECK_OK(t, sotto_store_donate(store, &event, 1, NULL, &t->err));
}

static void shuffle(size_t *order, size_t count, sotto_sim_random *random)
{
    for (size_t i = 0; i < count; i++)
        order[i] = i;
    for (size_t i = count; i > 1; i--) {
        size_t j = (size_t)sotto_sim_random_below(random, i), kept = order[i - 1];

        order[i - 1] = order[j];
        order[j] = kept;
    }
}

/* `seed` decides what may be read; `version` all the rest. */
static sotto_store *make_store(sotto_test *t, uint64_t seed, uint64_t version)
{
    const sotto_store_options options = {
        .path = sotto_test_temp(t, "events.db"), .streams = streams, .stream_count = 2};
    sotto_sim_random shown, hidden;
    size_t order[ROWS + BEATS];
    row rows[ROWS + BEATS];
    sotto_store *store;

    sotto_sim_random_init(&shown, seed);
    sotto_sim_random_init(&hidden, 1000 * seed + version);
    for (size_t i = 0; i < ROWS + BEATS; i++)
        rows[i] = make_row(&shown);
    CHECK_OK(t, sotto_store_open(&store, &options, &t->err));
    shuffle(order, ROWS + BEATS, &hidden);
    for (size_t i = 0; i < ROWS + BEATS; i++)
        donate(t, store, &rows[order[i]], order[i] < ROWS, &hidden, version == 1);
    return store;
}

/* ---- what a store says to a query ------------------------------------------------------------------------- */

typedef struct reply {
    sotto_answer all, first;
    sotto_answer ones[MOST]; /* for each number that could be chosen */
    uint64_t count;
} reply;

typedef struct choosing {
    sotto_answer *out;
    uint64_t number, count;
} choosing;

static sotto_status choose(void *context, uint64_t *number, uint64_t count, sotto_err *err)
{
    choosing *c = context;

    (void)err;
    c->count = count;
    *number = c->number;
    return SOTTO_OK;
}

static sotto_status take_one(void *context, const sotto_value *values, size_t count, sotto_err *err)
{
    choosing *c = context;

    return sotto_test_take_row(c->out, values, count, err);
}

static void ask_for_one(sotto_query *query, sotto_answer *out, uint64_t number, uint64_t *count)
{
    choosing c = {.out = out, .number = number};
    sotto_err err = {0};

    out->status = sotto_query_one(query, choose, take_one, &c, &err);
    *count = c.count < MOST ? c.count : MOST;
}

/* Whether it was accepted. */
static bool ask(sotto_store *store, const char *sql, reply *out, sotto_err *err)
{
    sotto_sim_clock still = {0};
    const sotto_clock clock = sotto_sim_clock_of(&still);
    sotto_query *query;

    memset(out, 0, sizeof *out);
    out->all = sotto_test_ask_text(store, &policy, sql, err);
    if (!out->all.opened ||
        sotto_query_open(&query, store, &policy, sotto_bytes_of(sql, strlen(sql)), &clock, NULL) !=
            SOTTO_OK)
        return false;
    out->first.status = sotto_query_first(query, sotto_test_take_row, &out->first, NULL);
    ask_for_one(query, &out->ones[0], 0, &out->count);
    for (uint64_t i = 1; i < out->count; i++)
        ask_for_one(query, &out->ones[i], i, &out->count);
    sotto_query_close(query);
    return true;
}

static int by_text(const void *a, const void *b)
{
    const sotto_answer *x = a, *y = b;
    int text = strcmp(x->text, y->text);

    return text ? text : (int)x->status - (int)y->status;
}

static bool same(const sotto_answer *a, const sotto_answer *b)
{
    return a->status == b->status && a->rows == b->rows && strcmp(a->text, b->text) == 0 &&
           strcmp(a->read, b->read) == 0;
}

/* One row is as likely as another, so only what they are counts, not how they are numbered. */
static bool tell_apart(reply *a, reply *b)
{
    if (!same(&a->all, &b->all) || !same(&a->first, &b->first) || a->count != b->count)
        return true;
    qsort(a->ones, a->count, sizeof a->ones[0], by_text);
    qsort(b->ones, b->count, sizeof b->ones[0], by_text);
    for (uint64_t i = 0; i < a->count; i++) {
        if (!same(&a->ones[i], &b->ones[i]))
            return true;
    }
    return false;
}

/* ---- tests ------------------------------------------------------------------------------------------------ */

typedef struct pair {
    sotto_store *stores[2];
} pair;

static pair make_pair(sotto_test *t, uint64_t seed)
{
    return (pair){{make_store(t, seed, 0), make_store(t, seed, 1)}};
}

static void close_pair(pair *p)
{
    sotto_store_close(p->stores[0]);
    sotto_store_close(p->stores[1]);
}

static bool told_apart(const pair *p, const char *sql, bool *accepted)
{
    static reply a, b;
    sotto_err one = {0}, two = {0};
    bool first = ask(p->stores[0], sql, &a, &one), second = ask(p->stores[1], sql, &b, &two);

    *accepted = first && second;
    if (first == second && strcmp(one.reason, two.reason) == 0 && !tell_apart(&a, &b))
        return false;
    (void)printf("%s\n  %s: %s (%s)\n  %s: %s (%s)\n", sql, sotto_status_name(a.all.status),
                 a.all.text, one.reason, sotto_status_name(b.all.status), b.all.text, two.reason);
    return true;
}

static uint64_t queries_to_try(void)
{
    const char *text = getenv("SOTTO_CHAOS_QUERIES");

    return text ? strtoull(text, NULL, 10) : QUERIES;
}

static void no_random_query_tells_what_it_may_not_read(sotto_test *t)
{
    uint64_t wanted = queries_to_try(), accepted = 0, apart = 0;
    char sql[SOTTO_TEST_QUERY];

    for (uint64_t i = 0; i < PAIRS; i++) {
        pair p = make_pair(t, i + 1);
        sotto_sim_random random;

        sotto_sim_random_init(&random, 77 + i);
        for (uint64_t q = 0; q < wanted / PAIRS; q++) {
            bool taken;

            sotto_test_make_query(sql, &random);
            apart += told_apart(&p, sql, &taken);
            accepted += taken;
        }
        close_pair(&p);
    }
    (void)printf("%llu queries, %llu accepted, %llu tell the stores apart\n",
                 (unsigned long long)wanted, (unsigned long long)accepted,
                 (unsigned long long)apart);
    CHECK_EQUAL(t, 0, apart);
    CHECK(t, accepted * 10 >= wanted * 3);
}

static void check_alike(sotto_test *t, const char *const *texts, size_t count)
{
    for (uint64_t seed = 1; seed <= PAIRS; seed++) {
        pair p = make_pair(t, seed);

        for (size_t i = 0; i < count; i++) {
            bool accepted, apart = told_apart(&p, texts[i], &accepted);

            if (!accepted)
                (void)printf("refused: %s\n", texts[i]);
            CHECK(t, accepted && !apart);
        }
        close_pair(&p);
    }
}
#define CHECK_ALIKE(t, texts) check_alike(t, texts, sizeof(texts) / sizeof(texts)[0])

/* The first rows by donation are others in the two stores. */
static void the_first_row_is_the_first_by_its_values(sotto_test *t)
{
    static const char *const texts[] = {
        "SELECT age, ngram FROM k",
        "SELECT ngram, age FROM k WHERE score > 0",
        "SELECT age FROM k ORDER BY ngram COLLATE NOCASE",
        "SELECT k.ngram FROM k, health h WHERE h.pulse > 0",
        "SELECT k.ngram FROM k LEFT JOIN health h ON h.pulse = k.age",
    };

    CHECK_ALIKE(t, texts);
}

static void words_that_take_some_rows_take_them_by_their_values(sotto_test *t)
{
    static const char *const texts[] = {
        "SELECT age FROM k LIMIT 1",
        "SELECT ngram FROM k LIMIT 3 OFFSET 2",
        "SELECT age FROM k ORDER BY ngram COLLATE NOCASE LIMIT 1",
        "SELECT age FROM k GROUP BY lower(ngram)",
        "SELECT DISTINCT ngram COLLATE NOCASE FROM k",
        "SELECT age FROM k WHERE ngram = (SELECT ngram FROM k)",
        "SELECT ngram COLLATE NOCASE FROM k UNION SELECT 'HELLO'",
        "SELECT a FROM (SELECT age AS a FROM k LIMIT 2)",
        "WITH c AS MATERIALIZED (SELECT ngram FROM k LIMIT 2) SELECT ngram FROM c",
        "SELECT (SELECT pulse FROM health), age FROM k",
    };

    CHECK_ALIKE(t, texts);
}

static void aggregates_see_rows_by_their_values(sotto_test *t)
{
    static const char *const texts[] = {
        "SELECT sum(age) FROM k",                             /* overflows halfway, or not  */
        "SELECT sum(score), avg(score), total(score) FROM k", /* rounds in another place */
        "SELECT max(lower(ngram)), age FROM k",               /* the row of one of several  */
        "SELECT ngram, count(age) FROM k",                    /* the last row               */
        "SELECT max(ngram COLLATE NOCASE) FROM k",            /* one of two that are equal  */
        "SELECT min(CASE WHEN age > 20 THEN 1 ELSE 1.0 END) FROM k",
        "SELECT sum(score) OVER (ROWS 1 PRECEDING) FROM k",
        "SELECT \"sum\"(score) FROM k",
    };

    CHECK_ALIKE(t, texts);
}

static void indexes_can_not_be_named(sotto_test *t)
{
    static const char *const texts[] = {
        "SELECT age FROM k INDEXED BY sotto_time_of_k",
        "SELECT age FROM k INDEXED BY sqlite_autoindex_k_1 LIMIT 1",
        "SELECT age FROM k\tindexed/* */by--\n\"sotto_time_of_k\"",
        "SELECT age FROM main.k AS x NOT INDEXED",
        "SELECT (SELECT age FROM k INDEXED BY sotto_time_of_k) FROM k",
        "WITH c AS (SELECT age FROM k NOT\nINDEXED) SELECT age FROM c",
        "SELECT h.pulse FROM k JOIN health h INDEXED BY sotto_time_of_health ON k.age = h.pulse",
    };
    sotto_store *store = make_store(t, 1, 0);

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        sotto_answer answer = sotto_test_ask_text(store, &policy, texts[i], &t->err);

        sotto_test_status(t, SOTTO_DENIED, answer.status, texts[i], __FILE__, __LINE__);
        CHECK_REASON(t, "INDEXED BY and NOT INDEXED are not allowed");
    }
    /* The word itself is harmless as a name. */
    CHECK_OK(
        t, sotto_test_ask_text(store, &policy, "SELECT age AS \"indexed\" FROM k", &t->err).status);
    sotto_store_close(store);
}

/* ---- limits ----------------------------------------------------------------------------------------------- */

static sotto_answer ask_one(sotto_test *t, sotto_store *store, sotto_query_limits limits,
                            const char *sql, uint64_t number, uint64_t *count)
{
    sotto_sim_clock still = {0};
    const sotto_clock clock = sotto_sim_clock_of(&still);
    sotto_query_policy limited = policy;
    sotto_answer answer = {0};
    sotto_query *query;

    limited.limits = limits;
    CHECK_OK(t, sotto_query_open(&query, store, &limited, sotto_bytes_of(sql, strlen(sql)), &clock,
                                 &t->err));
    ask_for_one(query, &answer, number, count);
    sotto_query_close(query);
    return answer;
}

static void no_choice_of_a_row_passes_a_limit_that_another_keeps(sotto_test *t)
{
    static const char *const texts[] = {
        "SELECT age FROM k WHERE ngram LIKE '%' OR abs(score) > 1",
        "SELECT a.age FROM k a, k b WHERE b.ngram LIKE '%e%' OR a.age > 0 OR b.score > 1",
        "SELECT age FROM k -- to the end",
        "SELECT age FROM k /* and beyond",
    };
    sotto_store *store = make_store(t, 1, 0);

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        sotto_query_limits limits = {.steps = 20};
        uint64_t count, ignored;

        while (ask_one(t, store, limits, texts[i], 0, &count).status != SOTTO_OK)
            limits.steps += 20;
        CHECK(t, count >= 5);
        for (uint64_t n = 1; n < count; n++)
            CHECK_EQUAL(t, SOTTO_OK, ask_one(t, store, limits, texts[i], n, &ignored).status);
    }
    sotto_store_close(store);
}

/* Pages hold the long texts of one store beside what the query reads. */
static void long_texts_that_are_not_read_pass_no_limit(sotto_test *t)
{
    const sotto_query_limits limits = {.memory = 60000, .value_bytes = 200};
    const char *sql = "SELECT a.mark FROM k a, k b WHERE b.mark <> 100";
    uint64_t count;

    for (uint64_t version = 0; version < 2; version++) {
        sotto_store *store = make_store(t, 1, version);
        sotto_answer answer = ask_one(t, store, limits, sql, 3, &count);

        CHECK_EQUAL(t, SOTTO_OK, answer.status);
        sotto_store_close(store);
    }
}

/* ---- the copy --------------------------------------------------------------------------------------------- */

static sotto_verifier reading(const sotto_access *accessed, size_t count)
{
    sotto_verifier verifier;

    sotto_verifier_init(&verifier, &policy, streams, 2);
    memcpy(verifier.accessed, accessed, count * sizeof accessed[0]);
    verifier.accessed_count = count;
    return verifier;
}

static bool runs(sqlite3 *db, const char *sql)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

static void what_is_not_read_is_not_in_the_copy(sotto_test *t)
{
    static const sotto_access read[] = {{"k", "age", true}, {"k", "score", true}};
    static const char *const missing[] = {"SELECT ngram FROM k",
                                          "SELECT secret_1 FROM k",
                                          "SELECT event_time FROM k",
                                          "SELECT event_id FROM k",
                                          "SELECT 1 FROM health",
                                          "SELECT 1 FROM sotto_streams",
                                          "SELECT age FROM k INDEXED BY sotto_time_of_k",
                                          "SELECT age FROM k INDEXED BY sqlite_autoindex_k_1"};
    sotto_verifier verifier = reading(read, 2);
    sqlite3 *copy;

    CHECK_OK(t, sotto_query_copy_open(&copy, &verifier, &t->err));
    CHECK(t, runs(copy, "SELECT age, score FROM k"));
    for (size_t i = 0; i < sizeof missing / sizeof missing[0]; i++)
        CHECK(t, !runs(copy, missing[i]));
    sotto_sqlite_close(copy);
}

/* Another process donates while the second stream is about to be read. */
typedef struct intruder {
    sotto_test *t;
    sotto_store *store;
    sotto_sim_random hidden;
    int donated;
} intruder;

static int intrude(unsigned event, void *context, void *statement, void *text)
{
    intruder *i = context;
    const row late = {.age = 99, .ngram = "late", .known = true};

    (void)event, (void)text;
    if (i->donated || !strstr(sqlite3_sql(statement), "ORDER BY"))
        return 0;
    i->donated = 1;
    donate(i->t, i->store, &late, true, &i->hidden, false);
    donate(i->t, i->store, &late, false, &i->hidden, false);
    return 0;
}

static void all_streams_are_copied_at_one_moment(sotto_test *t)
{
    const sotto_store_options options = {
        .path = sotto_test_temp(t, "events.db"), .streams = streams, .stream_count = 2};
    const char *sql = "SELECT (SELECT max(pulse) FROM health), (SELECT count(age) FROM k)";
    intruder other = {.t = t};
    sotto_answer answer = {0};
    sotto_store *store;
    sotto_query *query;

    CHECK_OK(t, sotto_store_open(&store, &options, &t->err));
    CHECK_OK(t, sotto_store_open(&other.store, &options, &t->err));
    CHECK_OK(t, sotto_query_open(&query, store, &policy, sotto_bytes_of(sql, strlen(sql)), NULL,
                                 &t->err));
    CHECK(t, sqlite3_trace_v2(sotto_query_connection(query), SQLITE_TRACE_PROFILE, intrude,
                              &other) == SQLITE_OK);
    CHECK_OK(t, sotto_query_run(query, sotto_test_take_row, &answer, &t->err));
    CHECK_EQUAL(t, 1, other.donated);
    CHECK(t, strcmp(answer.text, "null|0|") == 0);
    sotto_query_close(query);
    sotto_store_close(other.store);
    sotto_store_close(store);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(no_random_query_tells_what_it_may_not_read),
        CASE(the_first_row_is_the_first_by_its_values),
        CASE(words_that_take_some_rows_take_them_by_their_values),
        CASE(aggregates_see_rows_by_their_values),
        CASE(indexes_can_not_be_named),
        CASE(no_choice_of_a_row_passes_a_limit_that_another_keeps),
        CASE(long_texts_that_are_not_read_pass_no_limit),
        CASE(what_is_not_read_is_not_in_the_copy),
        CASE(all_streams_are_copied_at_one_moment),
    };
    return RUN_TESTS(argc, argv, cases);
}
