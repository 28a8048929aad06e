#include "serve/attester/attester_line.h"

#include "base/alloc.h"
#include "base/hex.h"
#include "base/rule.h"
#include "seal/token/token_batch.h"
#include "serve/host/bearer.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* Calls under way at once: enough that one is signed while others travel. */
enum { CALLS = 4, MOST = SOTTO_TOKEN_BATCH };

struct sotto_attester_line {
    sotto_host *host;
    const char *issuer, *bearer;
    sotto_attester_told *told;
    void *context;
    pthread_mutex_t lock; /* of what follows */
    sotto_attester_request *first, **end;
    unsigned under_way; /* batches */
    atomic_bool unknown;
};

/* Requests under one key. */
typedef struct batch {
    sotto_attester_line *line;
    size_t count;
    sotto_attester_request *all[MOST];
    uint8_t body[MOST * SOTTO_TYPE2_REQUEST];
} batch;

sotto_status sotto_attester_line_open(sotto_attester_line **line, sotto_host *host,
                                      const char *issuer, const char *bearer,
                                      sotto_attester_told *told, void *context, sotto_err *err)
{
    sotto_attester_line *l = sotto_alloc(sizeof *l);

    if (!l)
        return sotto_fail(err, SOTTO_NO_MEMORY, "the attester");
    *l = (sotto_attester_line){
        .host = host, .issuer = issuer, .bearer = bearer, .told = told, .context = context};
    l->end = &l->first;
    pthread_mutex_init(&l->lock, NULL);
    *line = l;
    return SOTTO_OK;
}

void sotto_attester_line_close(sotto_attester_line *line)
{
    if (!line)
        return;
    pthread_mutex_destroy(&line->lock);
    sotto_release(line, sizeof *line);
}

bool sotto_attester_line_is_unknown(sotto_attester_line *line)
{
    return atomic_load(&line->unknown);
}

/* ---- who goes together ------------------------------------------------------------------------------------------- */

/* Under the lock: those in front that have the key of the first. The rest keeps its order. */
static void take_some(sotto_attester_line *l, batch *b)
{
    sotto_attester_request **at = &l->first;

    while (*at && b->count < MOST) {
        sotto_attester_request *asked = *at;

        if (b->count > 0 && memcmp(asked->key.id, b->all[0]->key.id, sizeof asked->key.id) != 0) {
            at = &asked->next;
            continue;
        }
        *at = asked->next;
        if (l->end == &asked->next)
            l->end = at;
        b->all[b->count++] = asked;
    }
}

static void tell_all(batch *b, sotto_status status)
{
    for (size_t i = 0; i < b->count; i++)
        b->line->told(b->line->context, b->all[i], status, sotto_bytes_of(NULL, 0));
    b->count = 0;
}

static void run_batch(void *context, sotto_worker *worker);

/* A batch was told everything. Its place is for those who came meanwhile. Where no worker takes them, they can't be served. */
static void finish(batch *b)
{
    sotto_attester_line *l = b->line;
    bool posted = false;

    while (!posted) {
        pthread_mutex_lock(&l->lock);
        take_some(l, b);
        if (b->count == 0)
            l->under_way--;
        pthread_mutex_unlock(&l->lock);
        if (b->count == 0) {
            sotto_release(b, sizeof *b);
            return;
        }
        posted = sotto_pool_post(l->host->pool, run_batch, b, NULL) == SOTTO_OK;
        if (!posted)
            tell_all(b, SOTTO_IO);
    }
}

/* ---- the issuer -------------------------------------------------------------------------------------------------- */

static sotto_status status_of(sotto_status status, unsigned code)
{
    if (status != SOTTO_OK)
        return SOTTO_IO;
    return code == 200   ? SOTTO_OK
           : code == 400 ? SOTTO_MALFORMED
           : code == 404 ? SOTTO_MISSING
           : code == 410 ? SOTTO_STALE
                         : SOTTO_IO;
}

/* An answer for each request, in their order. */
static void on_response(void *context, sotto_status status, const sotto_http_response *response,
                        const sotto_err *err)
{
    batch *b = context;
    sotto_attester_line *l = b->line;
    sotto_status answered = status_of(status, status == SOTTO_OK ? response->status : 0);

    (void)err;
    if (status == SOTTO_OK)
        atomic_store(&l->unknown, response->status == SOTTO_ATTESTER_UNKNOWN);
    if (answered == SOTTO_OK && response->body.len != b->count * SOTTO_TOKEN_BATCH_ANSWER)
        answered = SOTTO_IO;
    for (size_t i = 0; answered == SOTTO_OK && i < b->count; i++) {
        const uint8_t *at = response->body.data + i * SOTTO_TOKEN_BATCH_ANSWER;
        const bool signed_now = at[0] == SOTTO_TOKEN_BATCH_SIGNED;

        l->told(l->context, b->all[i], signed_now ? SOTTO_OK : SOTTO_MALFORMED,
                sotto_bytes_of(at + 1, SOTTO_TYPE2_RESPONSE));
    }
    if (answered == SOTTO_OK)
        b->count = 0;
    else
        tell_all(b, answered);
    finish(b);
}

/* Nothing of the devices goes along: neither a name nor a field of a request. */
static sotto_status forward(batch *b)
{
    const sotto_attester_line *l = b->line;
    char url[600], token[SOTTO_BEARER + 8], hex[2 * SOTTO_ATTESTER_ID + 1];
    const sotto_http_field fields[] = {{"Content-Type", SOTTO_TOKEN_BATCH_TYPE},
                                       {"Authorization", token}};

    for (size_t i = 0; i < b->count; i++)
        memcpy(b->body + i * SOTTO_TYPE2_REQUEST, b->all[i]->request, SOTTO_TYPE2_REQUEST);
    sotto_hex_encode(hex, sotto_bytes_of(b->all[0]->key.id, SOTTO_ATTESTER_ID));
    const int len = snprintf(url, sizeof url, "%skeys/%s/token-requests", l->issuer, hex);
    (void)snprintf(token, sizeof token, "Bearer %s", l->bearer);
    const sotto_http_call call = {.method = SOTTO_HTTP_POST,
                                  .url = url,
                                  .fields = fields,
                                  .field_count = 2,
                                  .body = sotto_bytes_of(b->body, b->count * SOTTO_TYPE2_REQUEST),
                                  .repeatable = true,
                                  .attempts = 3,
                                  .max_response = MOST * SOTTO_TOKEN_BATCH_ANSWER};
    sotto_status status = len > 0 && (size_t)len < sizeof url
                              ? sotto_host_call(l->host, &call, on_response, b, NULL)
                              : SOTTO_BUG;
    sotto_wipe(token, sizeof token);
    return status;
}

/* ---- a batch ----------------------------------------------------------------------------------------------------- */

/* Whatever was not counted hears so now, and goes no further. */
static void leave_out_uncounted(batch *b)
{
    size_t kept = 0;

    for (size_t i = 0; i < b->count; i++) {
        sotto_attester_request *asked = b->all[i];

        if (SOTTO_RULE(counted_before_forwarded) && asked->status != SOTTO_OK) {
            b->line->told(b->line->context, asked, asked->status, sotto_bytes_of(NULL, 0));
            continue;
        }
        b->all[kept++] = asked;
    }
    b->count = kept;
}

static void run_batch(void *context, sotto_worker *worker)
{
    batch *b = context;
    const sotto_status status = sotto_attester_count(b->line->host->db, b->all, b->count, NULL);

    (void)worker;
    if (status != SOTTO_OK)
        tell_all(b, status);
    leave_out_uncounted(b);
    if (b->count > 0 && forward(b) == SOTTO_OK)
        return;
    tell_all(b, SOTTO_IO);
    finish(b);
}

void sotto_attester_line_join(sotto_attester_line *line, sotto_attester_request *asked)
{
    batch *b = NULL;

    asked->next = NULL;
    pthread_mutex_lock(&line->lock);
    *line->end = asked;
    line->end = &asked->next;
    if (line->under_way < CALLS)
        b = sotto_alloc(sizeof *b);
    if (b) {
        line->under_way++;
        b->line = line;
        take_some(line, b);
    }
    const bool stuck = !b && line->under_way == 0;
    if (stuck) { /* no memory, and nobody else comes back for it */
        line->first = NULL;
        line->end = &line->first;
    }
    pthread_mutex_unlock(&line->lock);
    if (b)
        run_batch(b, NULL);
    else if (stuck)
        line->told(line->context, asked, SOTTO_NO_MEMORY, sotto_bytes_of(NULL, 0));
}
