/* One aggregator on loopback, as its operator starts it and asks it. */
#define _POSIX_C_SOURCE 200809L
#include "demo.h"

#include "base/hex.h"
#include "serve/aggregator/aggregator_service.h"
#include "sotto/random.h"
#include "tlog/key_file.h"
#include "transport/http_client.h"

#include <stdio.h>
#include <string.h>

/* ---- starting -------------------------------------------------------------------------------------------------------- */

sotto_status demo_aggregator_key(const demo *d, demo_aggregator *a, sotto_err *err)
{
    uint8_t seed[SOTTO_SIGN_SEED];
    char text[SOTTO_NOTE_KEY_TEXT + 2];
    sotto_buf out = sotto_buf_over(text, sizeof text - 1);
    sotto_note_key key;
    sotto_signer signer = {0};

    SOTTO_TRY(sotto_random_bytes(seed, sizeof seed, err));
    sotto_status status = sotto_signer_init(&signer, seed, err);
    memcpy(a->key, signer.public_key, sizeof a->key);
    if (status == SOTTO_OK)
        status = sotto_note_key_init(&key, sotto_bytes_of("aggregator", 10), SOTTO_NOTE_ED25519,
                                     a->key, err);
    if (status == SOTTO_OK)
        status = sotto_note_signer_encode(&out, &key, seed, err);
    text[out.len] = 0;
    if (status == SOTTO_OK)
        status = demo_write_file(d, "aggregator-signing.key", text, err);
    sotto_signer_clear(&signer);
    sotto_wipe(seed, sizeof seed);
    sotto_wipe(text, sizeof text);
    return status;
}

sotto_status demo_aggregator_start_with(demo *d, demo_aggregator *a, const char *more,
                                        sotto_err *err)
{
    char token[DEMO_SECRET];

    SOTTO_TRY(demo_secret(d, "operator.token", token, err));
    (void)snprintf(a->token, sizeof a->token, "Bearer %s", token);
    (void)snprintf(a->lines, sizeof a->lines,
                   "workers = 2\nsigning_key = aggregator-signing.key\n"
                   "operator_token = operator.token\n%s",
                   more);
    return demo_aggregator_again(d, a, err);
}

sotto_status demo_aggregator_start(demo *d, demo_aggregator *a, sotto_err *err)
{
    SOTTO_TRY(demo_aggregator_key(d, a, err));
    return demo_aggregator_start_with(d, a, "", err);
}

sotto_status demo_aggregator_again(const demo *d, demo_aggregator *a, sotto_err *err)
{
    return demo_process_start(d, &a->process, "aggregator", a->lines, err);
}

/* ---- asking ---------------------------------------------------------------------------------------------------------- */

static sotto_status ask(const demo_aggregator *a, struct sotto_http_client *client,
                        sotto_http_method method, const char *place, sotto_bytes body,
                        sotto_http_response *out, sotto_arena *arena, sotto_err *err)
{
    const sotto_http_field fields[] = {{"Authorization", a->token},
                                       {"Content-Type", SOTTO_POSTING_TYPE}};
    char url[200];

    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u/rounds%s", a->process.port, place);
    const sotto_http_call call = {.method = method,
                                  .url = url,
                                  .fields = fields,
                                  .field_count = 2,
                                  .body = body,
                                  .attempts = 3};
    return sotto_http_call_wait(client, out, &call, arena, err);
}

sotto_status demo_aggregator_post(const demo_aggregator *a, struct sotto_http_client *client,
                                  sotto_bytes posting, sotto_arena *arena, sotto_err *err)
{
    sotto_http_response response;

    SOTTO_TRY(ask(a, client, SOTTO_HTTP_POST, "", posting, &response, arena, err));
    return response.status == 201
               ? SOTTO_OK
               : sotto_fail(err, SOTTO_DENIED, "the aggregator refuses the round: %u",
                            response.status);
}

static sotto_status get(const demo_aggregator *a, struct sotto_http_client *client,
                        const uint8_t id[SOTTO_ROUND_ID], const char *what,
                        sotto_http_response *out, sotto_arena *arena, sotto_err *err)
{
    char place[2 * SOTTO_ROUND_ID + 16], hex[2 * SOTTO_ROUND_ID + 1];

    sotto_hex_encode(hex, sotto_bytes_of(id, SOTTO_ROUND_ID));
    (void)snprintf(place, sizeof place, "/%s/%s", hex, what);
    return ask(a, client, SOTTO_HTTP_GET, place, (sotto_bytes){NULL, 0}, out, arena, err);
}

static bool holds(sotto_bytes all, const char *text)
{
    const size_t len = strlen(text);

    for (size_t i = 0; i + len <= all.len; i++)
        if (memcmp(all.data + i, text, len) == 0)
            return true;
    return false;
}

/* Of `"reported": [0, 1, 5]`. */
static void read_reported(uint8_t *reported, uint64_t count, sotto_bytes json)
{
    static const char key[] = "\"reported\": [";
    const char *at = (const char *)json.data, *end = at + json.len;
    uint64_t n = 0;
    bool digits = false;

    memset(reported, 0, (size_t)count);
    while (at + sizeof key < end && memcmp(at, key, sizeof key - 1) != 0)
        at++;
    for (at += sizeof key - 1; at < end; at++) {
        if (*at >= '0' && *at <= '9') {
            n = n * 10 + (uint64_t)(*at - '0');
            digits = true;
            continue;
        }
        if (digits && n < count)
            reported[n] = 1;
        n = 0;
        digits = false;
        if (*at == ']')
            return;
    }
}

sotto_status demo_aggregator_result(const demo_aggregator *a, struct sotto_http_client *client,
                                    const uint8_t id[SOTTO_ROUND_ID], bool *released,
                                    uint8_t *reported, uint64_t count, sotto_arena *arena,
                                    sotto_err *err)
{
    sotto_http_response response;

    SOTTO_TRY(get(a, client, id, "result", &response, arena, err));
    if (response.status != 200 || holds(response.body, "\"runs\""))
        return SOTTO_AGAIN;
    *released = holds(response.body, "\"released\"");
    read_reported(reported, count, response.body);
    return SOTTO_OK;
}

sotto_status demo_aggregator_sum(const demo_aggregator *a, struct sotto_http_client *client,
                                 const uint8_t id[SOTTO_ROUND_ID], size_t bytes, sotto_bytes *out,
                                 sotto_arena *arena, sotto_err *err)
{
    sotto_http_response response;

    SOTTO_TRY(get(a, client, id, "sum", &response, arena, err));
    if (response.status != 200 || response.body.len != bytes)
        return sotto_fail(err, SOTTO_MALFORMED, "the aggregator's sum: %u", response.status);
    *out = response.body;
    return SOTTO_OK;
}

sotto_status demo_aggregator_collect(demo *d, const demo_aggregator *a,
                                     struct sotto_http_client *client,
                                     const demo_aggregator_round *round, sotto_arena *scratch,
                                     sotto_err *err)
{
    sotto_collection *c = &d->collection;
    sotto_bytes sum;

    sotto_arena_reset(scratch);
    SOTTO_TRY(demo_aggregator_sum(a, client, round->id, round->width * round->entries, &sum,
                                  scratch, err));
    c->sums = sotto_arena_take_array(&d->arena, round->entries, sizeof *c->sums);
    if (!c->sums)
        return sotto_fail(err, SOTTO_NO_MEMORY, "the sum");
    c->sum_count = round->entries;
    for (size_t i = 0; i < c->sum_count; i++) {
        uint64_t value = 0;

        for (unsigned b = 0; b < round->width; b++)
            value |= (uint64_t)sum.data[round->width * i + b] << 8 * b;
        c->sums[i] = (sotto_uint128){.low = value, .high = value >> 63 ? UINT64_MAX : 0};
    }
    for (uint32_t i = 0; i < round->count; i++) {
        c->reports += round->reported[i];
        d->truth.bins[round->bins[i]] += round->reported[i];
    }
    c->from = (uint64_t)d->recipe->opens;
    c->until = (uint64_t)d->recipe->closes;
    memcpy(d->task.id, round->id, sizeof d->task.id);
    return sotto_result_estimate(&d->result, d->recipe, c->sums, c->sum_count, c->reports, NULL,
                                 &d->arena, err);
}
