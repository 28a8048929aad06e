#define _POSIX_C_SOURCE 200809L
#include "support/fleet.h"

#include "aggregate/inbox.h"
#include "base/arena.h"
#include "base/hex.h"

#include <stdio.h>
#include <string.h>

enum { HEAD = 1 + 4 }; /* of a board: the open step, and how many posts there are */

static sotto_status ask(sotto_fleet *f, const char *place, const char *token, const char *type,
                        sotto_bytes body, sotto_http_response *response, sotto_err *err)
{
    const sotto_http_field fields[] = {{"Content-Type", type}, {"Authorization", token}};
    char url[300];

    (void)snprintf(url, sizeof url, "%s%s", f->server, place);
    const sotto_http_call call = {.method = SOTTO_HTTP_POST,
                                  .url = url,
                                  .fields = fields,
                                  .field_count = token ? 2 : 1,
                                  .body = body,
                                  .attempts = 3};
    sotto_arena_reset(&f->scratch);
    return sotto_http_call_wait(f->client, response, &call, &f->scratch, err);
}

/* ---- calling -------------------------------------------------------------------------------------------------------- */

sotto_status sotto_fleet_write_call(sotto_fleet *f, const sotto_fleet_call *wanted,
                                    sotto_bytes *call, sotto_err *err)
{
    sotto_keygen called = {0}, *k = &called;
    sotto_epoch *e = &f->epoch;
    sotto_buf record = {0}, wire;

    k->count = wanted->members;
    k->step_ms = wanted->step_ms;
    k->ends = wanted->ends;
    if (wanted->hands_on) {
        SOTTO_TRY(sotto_buf_take(&record, &f->arena, SOTTO_DECRYPTORS_MOST_BYTES, err));
        SOTTO_TRY(sotto_decryptors_encode(&record, &e->record, err));
        k->old_parts = e->parts;
        k->old_part_count = e->part_count;
        memcpy(k->old_beacon, e->beacon, sizeof k->old_beacon);
    }
    k->epoch = ++e->number;
    SOTTO_TRY(sotto_epoch_beacon(e, &f->arena, err));
    memcpy(k->session, e->session, sizeof k->session);
    memcpy(k->beacon, e->beacon, sizeof k->beacon);
    k->posting = (sotto_posting){.registry = e->registry,
                                 .part_count = e->part_count,
                                 .parts = e->parts,
                                 .decryptors = sotto_buf_bytes(&record)};
    SOTTO_TRY(
        sotto_buf_take(&wire, &f->arena,
                       1024 + 96 * (size_t)e->registry.count + record.len +
                           (size_t)(k->old_part_count + e->part_count) * (4 + SOTTO_BEACON_PART),
                       err));
    SOTTO_TRY(sotto_keygen_encode(&wire, k, &f->arena, err));
    *call = sotto_buf_bytes(&wire);
    sotto_fleet_expect(f, wanted->members);
    return SOTTO_OK;
}

sotto_status sotto_fleet_call_keygen(sotto_fleet *f, const sotto_fleet_call *wanted,
                                     sotto_bytes *call, sotto_err *err)
{
    sotto_http_response response;
    sotto_keygen k;

    SOTTO_TRY(sotto_fleet_write_call(f, wanted, call, err));
    SOTTO_TRY(ask(f, "keygens", wanted->token, SOTTO_KEYGEN_TYPE, *call, &response, err));
    if (response.status != 201)
        return sotto_fail(err, SOTTO_DENIED, "the aggregator refuses the call: %u",
                          response.status);
    SOTTO_TRY(sotto_keygen_open(&k, *call, &f->arena, err));
    for (uint32_t i = 0; i < f->count; i++) {
        if (!f->devices[i].duties || (sotto_keygen_place(&k, SOTTO_KEYGEN_DEAL, i) < 0 &&
                                      sotto_keygen_place(&k, SOTTO_KEYGEN_AGREE, i) < 0))
            continue;
        SOTTO_TRY(sotto_duties_join_keygen(f->devices[i].duties, *call, i, wanted->now, err));
        f->devices[i].next_ms = 0;
    }
    return SOTTO_OK;
}

/* ---- the record ------------------------------------------------------------------------------------------------------- */

static sotto_status put_posts(const sotto_keygen *k, sotto_keygen_board *board, sotto_bytes answer,
                              uint64_t *since, uint64_t *posts, sotto_arena *arena, sotto_err *err)
{
    sotto_reader head = sotto_reader_over(answer);
    sotto_bytes wire;
    uint64_t n;

    if (answer.len < HEAD)
        return sotto_fail(err, SOTTO_MALFORMED, "a board");
    (void)sotto_read_uint(&head, 1);
    *posts = sotto_read_uint(&head, 4);
    sotto_inbox inbox = {.left = sotto_bytes_of(answer.data + HEAD, answer.len - HEAD),
                         .since = *since};
    while (sotto_inbox_next(&inbox, &n, &wire)) {
        uint8_t *copy = sotto_arena_take(arena, wire.len + 1);
        sotto_keygen_post post;

        if (!copy)
            return sotto_fail(err, SOTTO_NO_MEMORY, "a board");
        if (wire.len)
            memcpy(copy, wire.data, wire.len);
        SOTTO_TRY(sotto_keygen_post_decode(&post, sotto_bytes_of(copy, wire.len), err));
        SOTTO_TRY(sotto_keygen_post_check(k, &post, err));
        sotto_keygen_board_put(board, &post);
    }
    *since = inbox.since;
    return SOTTO_OK;
}

static sotto_status read_board(sotto_fleet *f, const sotto_keygen *k, sotto_keygen_board *board,
                               sotto_arena *arena, sotto_err *err)
{
    char place[2 * SOTTO_KEYGEN_ID + 32], id[2 * SOTTO_KEYGEN_ID + 1];
    uint64_t since = 0, posts = 1;

    sotto_hex_encode(id, sotto_bytes_of(k->id, sizeof k->id));
    (void)snprintf(place, sizeof place, "keygens/%s/board", id);
    while (since < posts) {
        const uint64_t before = since;
        sotto_http_response response;
        uint8_t number[8];
        sotto_buf body = sotto_buf_over(number, sizeof number);
        sotto_writer w = sotto_writer_on(&body);

        sotto_write_uint(&w, since, 8);
        SOTTO_TRY(
            ask(f, place, NULL, SOTTO_KEYGEN_SINCE_TYPE, sotto_buf_bytes(&body), &response, err));
        if (response.status != 200)
            return sotto_fail(err, SOTTO_AGAIN, "the board: %u", response.status);
        SOTTO_TRY(put_posts(k, board, response.body, &since, &posts, arena, err));
        if (since == before)
            break;
    }
    return SOTTO_OK;
}

static sotto_status read_key(sotto_fleet *f, sotto_bytes call, sotto_arena *arena, sotto_err *err)
{
    sotto_keygen_board *board = sotto_arena_take(arena, sizeof *board);
    sotto_decryptors_record record;
    sotto_keygen k;
    sotto_buf wire;

    if (!board)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a board");
    SOTTO_TRY(sotto_keygen_open(&k, call, arena, err));
    SOTTO_TRY(read_board(f, &k, board, arena, err));
    /* A board that makes no record yet may do so later. */
    const sotto_status status = sotto_keygen_record(&k, board, &record, arena, err);
    if (status == SOTTO_DENIED || status == SOTTO_REJECTED)
        return SOTTO_AGAIN;
    SOTTO_TRY(status);
    /* A copy that lasts as long as the fleet. */
    SOTTO_TRY(sotto_buf_take(&wire, &f->arena, SOTTO_DECRYPTORS_MOST_BYTES, err));
    SOTTO_TRY(sotto_decryptors_encode(&wire, &record, err));
    SOTTO_TRY(sotto_decryptors_decode(&f->epoch.record, sotto_buf_bytes(&wire), &f->arena, err));
    sotto_decryptors_digest(&f->epoch.record, f->epoch.digest);
    return SOTTO_OK;
}

sotto_status sotto_fleet_read_key(sotto_fleet *f, sotto_bytes call, sotto_err *err)
{
    sotto_arena arena;

    sotto_arena_init(&arena, (size_t)64 << 20);
    const sotto_status status = read_key(f, call, &arena, err);
    sotto_arena_clear(&arena);
    return status;
}
