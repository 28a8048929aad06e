/* Key generations: the operator calls, members post, and everybody reads the board. */
#include "serve/aggregator/aggregator.h"
#include "serve/aggregator/keygen_store.h"

#include "base/arena.h"
#include "base/hex.h"
#include "base/rule.h"
#include "serve/host/request_work.h"
#include "serve/host/router.h"

#include <string.h>

#define BOARD ((size_t)4 << 20)

static bool id_of(const sotto_aggregator *a, const sotto_http_request *request,
                  uint8_t id[SOTTO_KEYGEN_ID])
{
    return sotto_hex_decode(id, SOTTO_KEYGEN_ID, sotto_route_segment(a->host, request, 1));
}

static sotto_status check_call(const sotto_aggregator *a, const sotto_keygen *k, sotto_err *err)
{
    if (SOTTO_RULE(aggregator_keygen_own) &&
        memcmp(k->posting.registry.server, a->key.signer.signer.public_key, SOTTO_SIGN_PUBLIC) != 0)
        return sotto_fail(err, SOTTO_DENIED, "the registry names another server");
    if (SOTTO_RULE(aggregator_keygen_participants) &&
        k->posting.registry.count > a->config.max_participants)
        return sotto_fail(err, SOTTO_TOO_LARGE, "more participants than max_participants");
    if (SOTTO_RULE(aggregator_keygen_ahead) && k->ends <= sotto_aggregator_now_ms(a))
        return sotto_fail(err, SOTTO_STALE, "the key generation ended before it began");
    return SOTTO_OK;
}

void sotto_aggregator_call_keygen(void *state, sotto_http_request *request, sotto_arena *arena)
{
    sotto_aggregator *a = state;
    const sotto_bytes wire = sotto_http_request_body(request);
    char text[2 * SOTTO_KEYGEN_ID + 2];
    sotto_keygen k;
    sotto_status status = sotto_keygen_open(&k, wire, arena, NULL);

    if (status == SOTTO_OK)
        status = check_call(a, &k, NULL);
    if (status == SOTTO_OK)
        status = sotto_keygen_store_add(a->host->db, &k, wire, sotto_aggregator_now_ms(a), NULL);
    if (status != SOTTO_OK) {
        sotto_aggregator_refuse(a, request, status);
        return;
    }
    sotto_hex_encode(text, sotto_bytes_of(k.id, sizeof k.id));
    text[2 * SOTTO_KEYGEN_ID] = '\n';
    sotto_request_answer(request, 201, "text/plain; charset=utf-8",
                         sotto_bytes_of(text, 2 * SOTTO_KEYGEN_ID + 1));
}

/* The call that a request names. */
static sotto_status load(const sotto_aggregator *a, const sotto_http_request *request,
                         sotto_bytes *wire, sotto_arena *arena, sotto_err *err)
{
    uint8_t id[SOTTO_KEYGEN_ID];

    if (!id_of(a, request, id))
        return SOTTO_MISSING;
    return sotto_keygen_store_call(a->host->db, id, wire, arena, err);
}

void sotto_aggregator_get_keygen(void *state, sotto_http_request *request, sotto_arena *arena)
{
    sotto_aggregator *a = state;
    sotto_bytes wire;
    const sotto_status status = load(a, request, &wire, arena, NULL);

    if (status != SOTTO_OK)
        sotto_aggregator_refuse(a, request, status);
    else
        sotto_request_answer(request, 200, SOTTO_KEYGEN_TYPE, wire);
}

void sotto_aggregator_put_post(void *state, sotto_http_request *request, sotto_arena *arena)
{
    sotto_aggregator *a = state;
    const sotto_bytes wire = sotto_http_request_body(request);
    sotto_keygen_post post;
    sotto_keygen k;
    sotto_bytes call;
    sotto_status status = sotto_keygen_post_decode(&post, wire, NULL);

    if (status == SOTTO_OK)
        status = load(a, request, &call, arena, NULL);
    if (status == SOTTO_OK)
        status = sotto_keygen_open(&k, call, arena, NULL);
    if (status == SOTTO_OK)
        status = sotto_keygen_post_check(&k, &post, NULL);
    if (status == SOTTO_OK)
        status =
            sotto_keygen_store_put(a->host->db, &k, &post, wire, sotto_aggregator_now_ms(a), NULL);
    if (status != SOTTO_OK) {
        sotto_aggregator_refuse(a, request, status);
        return;
    }
    atomic_fetch_add(&a->accepted, 1);
    sotto_http_answer(request, &(sotto_http_reply){.status = 204});
}

static bool recall(sotto_aggregator *a, sotto_keygen *k, const uint8_t id[SOTTO_KEYGEN_ID])
{
    bool found = false;

    pthread_mutex_lock(&a->lock);
    for (size_t i = 0; i < SOTTO_AGGREGATOR_BOARDS && !found; i++) {
        const sotto_board_times *b = &a->boards[i];

        found = b->ends && memcmp(b->id, id, SOTTO_KEYGEN_ID) == 0;
        if (found)
            *k = (sotto_keygen){.ends = b->ends, .step_ms = b->step_ms, .hands_on = b->hands_on};
    }
    pthread_mutex_unlock(&a->lock);
    memcpy(k->id, id, sizeof k->id);
    return found;
}

static void remember(sotto_aggregator *a, const sotto_keygen *k)
{
    sotto_board_times times = {.ends = k->ends, .step_ms = k->step_ms, .hands_on = k->hands_on};

    memcpy(times.id, k->id, sizeof times.id);
    pthread_mutex_lock(&a->lock);
    a->boards[a->next_board++ % SOTTO_AGGREGATOR_BOARDS] = times;
    pthread_mutex_unlock(&a->lock);
}

/* Of the call: its id, its times, and whether a key is handed on. */
static sotto_status load_times(sotto_aggregator *a, const sotto_http_request *request,
                               sotto_keygen *k, sotto_arena *arena)
{
    uint8_t id[SOTTO_KEYGEN_ID];
    sotto_bytes call;

    if (!id_of(a, request, id))
        return SOTTO_MISSING;
    *k = (sotto_keygen){0};
    if (recall(a, k, id))
        return SOTTO_OK;
    SOTTO_TRY(load(a, request, &call, arena, NULL));
    SOTTO_TRY(sotto_keygen_open(k, call, arena, NULL));
    remember(a, k);
    return SOTTO_OK;
}

void sotto_aggregator_get_board(void *state, sotto_http_request *request, sotto_arena *arena)
{
    sotto_aggregator *a = state;
    sotto_reader in = sotto_reader_over(sotto_http_request_body(request));
    const uint64_t since = sotto_read_uint(&in, 8);
    sotto_keygen k;
    sotto_bytes out;
    sotto_status status = sotto_reader_finish(&in, "board", NULL);

    if (status == SOTTO_OK)
        status = load_times(a, request, &k, arena);
    if (status == SOTTO_OK)
        status = sotto_keygen_store_board(a->host->db, &k, since, BOARD, sotto_aggregator_now_ms(a),
                                          &out, arena, NULL);
    if (status != SOTTO_OK)
        sotto_aggregator_refuse(a, request, status);
    else
        sotto_request_answer(request, 200, SOTTO_BOARD_TYPE, out);
}
