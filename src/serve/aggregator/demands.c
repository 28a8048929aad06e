#include "serve/aggregator/demands.h"

#include "aggregate/excerpt.h"
#include "base/alloc.h"
#include "base/hex.h"
#include "base/rule.h"
#include "serve/aggregator/aggregator.h"
#include "tlog/merkle_list.h"

#include <stdio.h>
#include <string.h>

enum { URL = 2048, ANSWER_MS = 30000 };
#define MOST_ANSWER ((size_t)17 << 20) /* SOTTO_HELD_BODY and a little */

bool sotto_demands_take(sotto_demands *d, sotto_bytes answer)
{
    const sotto_merkle_hash *leaves;
    size_t count;

    if (sotto_demands_decode(&leaves, &count, answer, NULL) != SOTTO_OK)
        return false;
    memcpy(d->leaves, leaves, answer.len);
    d->count = count;
    return true;
}

size_t sotto_demands_place(const sotto_merkle_hash *leaves, size_t count,
                           const sotto_merkle_hash *leaf)
{
    size_t i = 0;

    while (i < count && !sotto_merkle_equal(&leaves[i], leaf))
        i++;
    return i;
}

sotto_status sotto_demands_show(const sotto_demands *d, sotto_buf *out,
                                const sotto_merkle_hash *leaves, size_t count, sotto_err *err)
{
    uint8_t *number = out->data + out->len;
    sotto_writer w = sotto_writer_on(out);
    size_t shown = 0;

    sotto_write_uint(&w, 0, 2);
    SOTTO_TRY(sotto_writer_finish(&w, "showing", err));
    for (size_t i = 0; i < d->count; i++) {
        const size_t place = sotto_demands_place(leaves, count, &d->leaves[i]);
        sotto_shown one = {.leaf = d->leaves[i], .index = place};

        if (place == count)
            continue;
        sotto_merkle_list_inclusion(&one.proof, leaves, place, count);
        SOTTO_TRY(sotto_shown_encode(out, &one, err));
        shown++;
    }
    number[1] = (uint8_t)shown;
    return SOTTO_OK;
}

/* ---- records that are not on the board ------------------------------------------------------------------------- */

typedef struct fetching {
    sotto_aggregator *a;
    sotto_listed_round *one;
    sotto_demands_done *done;
    void *context;
    sotto_demands missing;
    uint8_t *body;
    size_t len;
    atomic_size_t pending; /* records that are being put */
    atomic_bool put;
} fetching;

typedef struct arrival {
    sotto_put put;
    fetching *of;
} arrival;

static void one_less(fetching *f)
{
    if (atomic_fetch_sub(&f->pending, 1) > 1)
        return;
    f->done(f->context, atomic_load(&f->put));
    sotto_release(f->body, f->len);
    sotto_release(f, sizeof *f);
}

static void on_put(sotto_put *put)
{
    arrival *one = (arrival *)put;
    fetching *f = one->of;

    /* The board does not grow by what it has: nothing is to be said at once. */
    if (put->status == SOTTO_OK && !put->is_known)
        atomic_store(&f->put, true);
    sotto_put_clear(put);
    sotto_release(one, sizeof *one);
    one_less(f);
}

static bool is_missing(const sotto_demands *missing, sotto_bytes record)
{
    uint8_t bytes[SOTTO_EXCERPT_LEAF];
    sotto_buf leaf = sotto_buf_over(bytes, sizeof bytes);
    sotto_merkle_hash hash;

    if (sotto_excerpt_leaf(&leaf, record, NULL) != SOTTO_OK)
        return false;
    sotto_merkle_leaf(&hash, sotto_buf_bytes(&leaf));
    return sotto_demands_place(missing->leaves, missing->count, &hash) < missing->count;
}

static void put_all(void *context, sotto_worker *worker)
{
    fetching *f = context;
    sotto_reader in = sotto_reader_over(sotto_bytes_of(f->body, f->len));

    (void)worker;
    while (sotto_reader_left(&in) > 0) {
        const sotto_bytes record = sotto_read_opaque32(&in);

        /* Whoever asks for one thing, and brings another, has no place on the board. */
        if (SOTTO_RULE(aggregator_demanded_only) && !is_missing(&f->missing, record))
            break;
        arrival *one = sotto_alloc(sizeof *one);
        if (!one)
            break;
        /* It is judged like any other: a witness may make up what it likes. */
        *one = (arrival){.put = {.message = record,
                                 .done = on_put,
                                 .witnesses = (unsigned)f->a->witnesses.count},
                         .of = f};
        atomic_fetch_add(&f->pending, 1);
        sotto_running_put(f->one->running, &one->put);
    }
    one_less(f);
}

static void on_records(void *context, sotto_status status, const sotto_http_response *response,
                       const sotto_err *err)
{
    fetching *f = context;

    (void)err;
    if (status == SOTTO_OK && response->status == 200 && response->body.len > 0 &&
        (f->body = sotto_alloc(response->body.len)) != NULL) {
        f->len = response->body.len;
        memcpy(f->body, response->body.data, f->len);
        if (sotto_pool_post(f->a->host->pool, put_all, f, NULL) == SOTTO_OK)
            return;
    }
    one_less(f);
}

sotto_status sotto_demands_fetch(const sotto_demands *d, sotto_aggregator *a,
                                 sotto_listed_round *one, const char *witness,
                                 const sotto_merkle_hash *leaves, size_t count,
                                 sotto_demands_done *done, void *context, sotto_err *err)
{
    sotto_demands missing = {.count = 0};
    char url[URL], id[2 * SOTTO_ROUND_ID + 1];

    for (size_t i = 0; i < d->count; i++)
        if (sotto_demands_place(leaves, count, &d->leaves[i]) == count)
            missing.leaves[missing.count++] = d->leaves[i];
    if (missing.count == 0)
        return SOTTO_MISSING;
    fetching *f = sotto_alloc(sizeof *f);
    if (!f)
        return sotto_fail(err, SOTTO_NO_MEMORY, "records");
    *f = (fetching){.a = a, .one = one, .done = done, .context = context, .missing = missing};
    atomic_store(&f->pending, 1);
    sotto_hex_encode(id, sotto_bytes_of(sotto_running_posted(one->running)->id, SOTTO_ROUND_ID));
    (void)snprintf(url, sizeof url, "%s%srounds/%s/records", witness,
                   witness[strlen(witness) - 1] == '/' ? "" : "/", id);
    const sotto_status status = sotto_host_call(
        a->host,
        &(sotto_http_call){
            .method = SOTTO_HTTP_POST,
            .url = url,
            .body = sotto_bytes_of(f->missing.leaves, f->missing.count * SOTTO_MERKLE_HASH),
            .repeatable = true,
            .attempts = 1,
            .timeout_ms = ANSWER_MS,
            .max_response = MOST_ANSWER},
        on_records, f, err);
    if (status != SOTTO_OK)
        sotto_release(f, sizeof *f);
    return status;
}
