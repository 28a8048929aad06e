#include "serve/tasks/spent_tokens.h"

#include "base/rule.h"

#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 4, POINTER = sizeof(void *) };

static int by_token(const sotto_token_spend *a, const sotto_token_spend *b)
{
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return memcmp(a->nonce, b->nonce, sizeof a->nonce);
}

static int by_report(const sotto_token_spend *a, const sotto_token_spend *b)
{
    if (a->task != b->task)
        return a->task < b->task ? -1 : 1;
    return memcmp(a->report, b->report, sizeof a->report);
}

/* Of the same token the report with the lower task and id comes first, so that every attempt of a transaction decides alike. */
static int in_order(const void *a, const void *b)
{
    const sotto_token_spend *one = *(sotto_token_spend *const *)a;
    const sotto_token_spend *other = *(sotto_token_spend *const *)b;
    int order = by_token(one, other);

    return order ? order : by_report(one, other);
}

static void mark_fresh(sotto_token_spend **spends, size_t count, int64_t key, sotto_bytes nonce)
{
    size_t low = 0, high = count;
    sotto_token_spend wanted = {.key = key};

    if (nonce.len != sizeof wanted.nonce)
        return;
    memcpy(wanted.nonce, nonce.data, nonce.len);
    while (low < high) { /* the first of those alike: it is the one that was inserted */
        size_t middle = low + (high - low) / 2;

        if (by_token(spends[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < count && by_token(spends[low], &wanted) == 0)
        spends[low]->fresh = true;
}

static sotto_status insert_some(sotto_tx *tx, sotto_token_spend **spends, unsigned rows,
                                sotto_err *err)
{
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare_rows(tx, &q, "INSERT INTO spent (token_key, nonce, task, report) ",
                                     COLUMNS, rows,
                                     " ON CONFLICT DO NOTHING RETURNING token_key, nonce", err));
    for (unsigned i = 0; i < rows; i++) {
        const sotto_token_spend *s = spends[i];

        sotto_sql_int(&q, COLUMNS * i + 1, s->key);
        sotto_sql_bytes(&q, COLUMNS * i + 2, sotto_bytes_of(s->nonce, sizeof s->nonce));
        sotto_sql_int(&q, COLUMNS * i + 3, s->task);
        sotto_sql_bytes(&q, COLUMNS * i + 4, sotto_bytes_of(s->report, sizeof s->report));
    }
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    while (row) {
        mark_fresh(spends, rows, sotto_sql_column_int(&q, 0), sotto_sql_column_bytes(&q, 1));
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
    }
    return SOTTO_OK;
}

/* Rare: a retry whose mark is gone, or a token that is spent a second time. */
static sotto_status compare(sotto_tx *tx, sotto_token_spend *s, sotto_err *err)
{
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "SELECT report, task FROM spent WHERE token_key = ?1 AND nonce = ?2", err));
    sotto_sql_int(&q, 1, s->key);
    sotto_sql_bytes(&q, 2, sotto_bytes_of(s->nonce, sizeof s->nonce));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    if (SOTTO_RULE(token_spent_once) && row &&
        !sotto_bytes_equal_vartime(sotto_sql_column_bytes(&q, 0),
                                   sotto_bytes_of(s->report, sizeof s->report)))
        s->spent = true;
    /* Its sender chooses a report's id: in another task the same id is another report. */
    if (SOTTO_RULE(token_spent_in_one_task) && row && sotto_sql_column_int(&q, 1) != s->task)
        s->spent = true;
    return row ? sotto_sql_run(&q, NULL, err) : SOTTO_OK;
}

/* What a thread knows of a key may be older than this transaction: gc may have closed it since, by a `late` that was lowered. */
static sotto_status is_closed(sotto_tx *tx, int64_t key, bool *closed, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(
        sotto_sql_prepare(tx, &q, "SELECT 1 FROM spent WHERE token_key = ?1 AND nonce = ?2", err));
    sotto_sql_int(&q, 1, key);
    sotto_sql_bytes(&q, 2, SOTTO_NO_NONCE);
    SOTTO_TRY(sotto_sql_step(&q, closed, err));
    return *closed ? sotto_sql_run(&q, NULL, err) : SOTTO_OK;
}

/* Behind the inserts, whose rows a gc that runs at the same time waits for, or which wait for it. */
static sotto_status refuse_closed(sotto_tx *tx, sotto_token_spend **spends, size_t count,
                                  sotto_err *err)
{
    bool closed = false;

    for (size_t i = 0; i < count; i++) {
        if (i == 0 || spends[i]->key != spends[i - 1]->key)
            SOTTO_TRY(is_closed(tx, spends[i]->key, &closed, err));
        if (SOTTO_RULE(closed_keys_spend_nothing) && closed)
            spends[i]->spent = true;
    }
    return SOTTO_OK;
}

sotto_status sotto_tokens_spend(sotto_tx *tx, sotto_token_spend **spends, size_t count,
                                sotto_err *err)
{
    qsort(spends, count, POINTER, in_order);
    for (size_t i = 0; i < count; i++)
        spends[i]->spent = spends[i]->fresh = false;
    for (size_t done = 0; done < count;) {
        unsigned rows = sotto_sql_rows_at_once(tx, COLUMNS, count - done);

        SOTTO_TRY(insert_some(tx, spends + done, rows, err));
        done += rows;
    }
    for (size_t i = 0; i < count; i++)
        if (!spends[i]->fresh)
            SOTTO_TRY(compare(tx, spends[i], err));
    return refuse_closed(tx, spends, count, err);
}

#define CLOSED_KEYS "SELECT n FROM token_key GROUP BY n HAVING max(closes) < ?1"

/* In the transaction that deletes the first of its rows. SQLite wants a WHERE before ON CONFLICT; numbers are never negative. */
static sotto_status close_keys(sotto_tx *tx, int64_t before, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "INSERT INTO spent (token_key, nonce, task, report) SELECT c.n, "
                                "?2, 0, ?2 FROM (" CLOSED_KEYS
                                ") AS c WHERE c.n >= 0 ON CONFLICT DO NOTHING",
                                err));
    sotto_sql_int(&q, 1, before);
    sotto_sql_bytes(&q, 2, SOTTO_NO_NONCE);
    return sotto_sql_run(&q, NULL, err);
}

sotto_status sotto_tokens_forget(sotto_tx *tx, int64_t before, uint64_t rows, uint64_t *gone,
                                 sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(close_keys(tx, before, err));

    /* Keys in an inner SELECT, since not every SQLite has DELETE ... LIMIT. */
    SOTTO_TRY(
        sotto_sql_prepare(tx, &q,
                          "DELETE FROM spent WHERE token_key IN (" CLOSED_KEYS ")"
                          " AND nonce IN (SELECT nonce FROM spent WHERE token_key IN (" CLOSED_KEYS
                          ") AND nonce <> ?3 LIMIT ?2)",
                          err));
    sotto_sql_int(&q, 1, before);
    sotto_sql_int(&q, 2, (int64_t)rows);
    sotto_sql_bytes(&q, 3, SOTTO_NO_NONCE);
    return sotto_sql_run(&q, gone, err);
}
