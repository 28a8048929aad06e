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

/* A call as posts are judged by: whoever speaks is its own registry. False: it is not known here, or there is no memory. */
static bool recall(sotto_aggregator *a, sotto_keygen *k, const uint8_t id[SOTTO_KEYGEN_ID],
                   sotto_arena *arena)
{
    sotto_board_call *known = sotto_arena_take(arena, sizeof *known);
    uint32_t *indices = sotto_arena_take_array(arena, 2 * SOTTO_DECRYPTORS_MOST, sizeof *indices);
    bool found = false;

    if (!known || !indices)
        return false;
    pthread_mutex_lock(&a->lock);
    for (size_t i = 0; i < SOTTO_AGGREGATOR_BOARDS && !found; i++) {
        const sotto_board_call *b = &a->boards[i];

        found = b->ends && memcmp(b->id, id, SOTTO_KEYGEN_ID) == 0;
        if (found)
            *known = *b;
    }
    pthread_mutex_unlock(&a->lock);
    for (uint32_t i = 0; i < 2 * SOTTO_DECRYPTORS_MOST; i++)
        indices[i] = i;
    *k = (sotto_keygen){.ends = known->ends,
                        .step_ms = known->step_ms,
                        .hands_on = known->hands_on,
                        .count = known->count,
                        .dealers = known->dealers,
                        .threshold = known->threshold,
                        .members = indices,
                        .dealer = indices + (known->hands_on ? known->count : 0)};
    k->posting.registry.keys = (const uint8_t(*)[SOTTO_SIGN_PUBLIC])known->keys;
    k->posting.registry.count = 2 * SOTTO_DECRYPTORS_MOST;
    memcpy(k->id, id, sizeof k->id);
    return found;
}

/* False: somebody who speaks is not registered. */
static bool copy_keys(uint8_t (*out)[SOTTO_SIGN_PUBLIC], const sotto_registry *registry,
                      const uint32_t *indices, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *key = sotto_registry_key(registry, indices[i]);

        if (!key)
            return false;
        memcpy(out[i], key, SOTTO_SIGN_PUBLIC);
    }
    return true;
}

static void remember(sotto_aggregator *a, const sotto_keygen *k)
{
    const sotto_registry *registry = &k->posting.registry;

    pthread_mutex_lock(&a->lock);
    sotto_board_call *b = &a->boards[a->next_board++ % SOTTO_AGGREGATOR_BOARDS];
    *b = (sotto_board_call){.step_ms = k->step_ms,
                            .count = k->count,
                            .dealers = k->dealers,
                            .threshold = k->threshold,
                            .hands_on = k->hands_on};
    memcpy(b->id, k->id, sizeof b->id);
    if (copy_keys(b->keys, registry, k->members, k->count) &&
        (!k->hands_on || copy_keys(b->keys + k->count, registry, k->dealer, k->dealers)))
        b->ends = k->ends;
    pthread_mutex_unlock(&a->lock);
}

/* What is needed of the call; it is decoded once. */
static sotto_status know(sotto_aggregator *a, const sotto_http_request *request, sotto_keygen *k,
                         sotto_arena *arena)
{
    uint8_t id[SOTTO_KEYGEN_ID];
    sotto_bytes call;

    if (!id_of(a, request, id))
        return SOTTO_MISSING;
    if (recall(a, k, id, arena))
        return SOTTO_OK;
    SOTTO_TRY(load(a, request, &call, arena, NULL));
    SOTTO_TRY(sotto_keygen_open(k, call, arena, NULL));
    remember(a, k);
    return SOTTO_OK;
}

void sotto_aggregator_put_post(void *state, sotto_http_request *request, sotto_arena *arena)
{
    sotto_aggregator *a = state;
    const sotto_bytes wire = sotto_http_request_body(request);
    sotto_keygen_post post;
    sotto_keygen k;
    sotto_status status = sotto_keygen_post_decode(&post, wire, NULL);

    if (status == SOTTO_OK)
        status = know(a, request, &k, arena);
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

void sotto_aggregator_get_board(void *state, sotto_http_request *request, sotto_arena *arena)
{
    sotto_aggregator *a = state;
    sotto_reader in = sotto_reader_over(sotto_http_request_body(request));
    const uint64_t since = sotto_read_uint(&in, 8);
    sotto_keygen k;
    sotto_bytes out;
    sotto_status status = sotto_reader_finish(&in, "board", NULL);

    if (status == SOTTO_OK)
        status = know(a, request, &k, arena);
    if (status == SOTTO_OK)
        status = sotto_keygen_store_board(a->host->db, &k, since, BOARD, sotto_aggregator_now_ms(a),
                                          &out, arena, NULL);
    if (status != SOTTO_OK)
        sotto_aggregator_refuse(a, request, status);
    else
        sotto_request_answer(request, 200, SOTTO_BOARD_TYPE, out);
}
