/* An aggregator whose boards a witness cosigns, and what a board shows of a round of encrypted sums. */
#define _POSIX_C_SOURCE 200809L
#include "demo_board.h"

#include "aggregate/inbox.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/hex.h"
#include "log_publish.h"
#include "transport/http_client.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The witness knows the aggregator by its key, and the aggregator the witness by its URL. */
sotto_status demo_witness_start(demo *d, demo_aggregator *a, demo_witness *w, sotto_err *err)
{
    char line[DEMO_NOTE_KEY + 64], path[DEMO_FILE];
    sotto_buf text = sotto_buf_over(line, sizeof line - 2),
              public = sotto_buf_over(w->text, sizeof w->text - 1);
    sotto_note_key key;

    SOTTO_TRY(demo_aggregator_key(d, a, err));
    SOTTO_TRY(sotto_note_key_init(&key, sotto_bytes_of("aggregator", 10), SOTTO_NOTE_ED25519,
                                  a->key, err));
    SOTTO_TRY(sotto_note_key_encode(&text, &key, err));
    line[text.len] = '\n';
    line[text.len + 1] = 0;
    SOTTO_TRY(demo_write_file(d, "witness.logs", line, err));
    (void)snprintf(path, sizeof path, "%s/witness-signing.key", d->folder);
    (void)unlink(path); /* of a run before this one, whose boards are over */
    SOTTO_TRY(
        sotto_log_key_make(path, "witness.example/demo", SOTTO_NOTE_COSIGNATURE, &public, err));
    SOTTO_TRY(sotto_note_key_decode(&w->key, sotto_buf_bytes(&public), err));
    SOTTO_TRY(demo_process_start(d, &w->process, "witness",
                                 "key = witness-signing.key\nlogs = witness.logs\n", err));
    (void)snprintf(line, sizeof line, "%.*s http://127.0.0.1:%u/\n", (int)public.len, w->text,
                   w->process.port);
    SOTTO_TRY(demo_write_file(d, "board.witnesses", line, err));
    (void)snprintf(w->url, sizeof w->url, "http://127.0.0.1:%u/", w->process.port);
    w->urls[0] = w->url;
    w->log = (sotto_policy_log){.name = "board",
                                .urls = w->urls,
                                .trust = {.witnesses = &w->key, .witness_count = 1, .quorum = 1}};
    return demo_aggregator_start_with(d, a, "witnesses = board.witnesses\n", err);
}

/* ---- the board, as anybody may read it ----------------------------------------------------------------------------------- */

static void read_entry(demo_board *b, const sotto_round *round, sotto_bytes wire)
{
    sotto_aero_record r;
    sotto_message entry;
    sotto_bytes record;
    uint64_t index;

    if (sotto_message_decode(&entry, wire, NULL) != SOTTO_OK ||
        sotto_entry_decode(&index, &record, entry.body, NULL) != SOTTO_OK ||
        sotto_aero_record_open(&r, round, SOTTO_TO_EVERYBODY, record, true, NULL) != SOTTO_OK ||
        r.message.kind >= DEMO_BOARD_KINDS)
        return;
    b->last[r.message.kind] = index + 1;
    if (r.message.kind == SOTTO_AERO_COMPLAINT && b->complaints++ == 0)
        b->first = r.message.from;
}

void demo_board_read(demo_board *b, const demo_aggregator *a, struct sotto_http_client *client,
                     const sotto_round *round, const uint8_t id[SOTTO_ROUND_ID],
                     sotto_arena *scratch)
{
    static const sotto_http_field type = {"Content-Type", SOTTO_ENTRIES_ASK_TYPE};
    char url[200], hex[2 * SOTTO_ROUND_ID + 1];
    uint8_t ask[SOTTO_ENTRIES_ASK] = {0};
    sotto_http_response response;
    sotto_bytes wire;
    uint64_t n;

    sotto_hex_encode(hex, sotto_bytes_of(id, SOTTO_ROUND_ID));
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u/rounds/%s/board", a->process.port, hex);
    for (unsigned i = 0; i < 8; i++)
        ask[i] = (uint8_t)(b->next >> (56 - 8 * i));
    for (unsigned i = 0; i < 4; i++)
        ask[8 + i] = (uint8_t)(SOTTO_TO_EVERYBODY >> (24 - 8 * i));
    const sotto_http_call call = {.method = SOTTO_HTTP_POST,
                                  .url = url,
                                  .fields = &type,
                                  .field_count = 1,
                                  .body = sotto_bytes_of(ask, sizeof ask),
                                  .attempts = 1,
                                  .max_response = (size_t)33 << 20};
    sotto_arena_reset(scratch);
    if (sotto_http_call_wait(client, &response, &call, scratch, NULL) != SOTTO_OK ||
        response.status != 200)
        return;
    sotto_inbox page = {.left = response.body, .since = b->next};
    while (sotto_inbox_next(&page, &n, &wire)) {
        read_entry(b, round, wire);
        b->next = n + 1;
    }
}

void demo_board_entries(sotto_stated_encryption *e, const demo_board *w)
{
    static const struct {
        unsigned kind;
        const char *what;
    } named[] = {{SOTTO_AERO_TAKEN, "hand-over"},     {SOTTO_AERO_KEYED, "key"},
                 {SOTTO_AERO_CERTIFY, "certificate"}, {SOTTO_AERO_COMMITTED, "promises"},
                 {SOTTO_AERO_ADDED, "leaves"},        {SOTTO_AERO_SUMMED, "sums"},
                 {SOTTO_AERO_VERDICT, "verdict"}};

    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        if (w->last[named[i].kind] == 0)
            continue;
        e->entries[e->entry_count].what = named[i].what;
        e->entries[e->entry_count++].index = w->last[named[i].kind] - 1;
    }
}

/* ---- time --------------------------------------------------------------------------------------------------------------- */

unsigned demo_business(void)
{
    const uint64_t from = sotto_clock_wall(&sotto_clock_system);
    const clock_t used = clock(), wanted = CLOCKS_PER_SEC / 5;
    clock_t now = used;

    while (now - used < wanted)
        now = clock();
    const uint64_t wall = (sotto_clock_wall(&sotto_clock_system) - from) / 200000000;
    return wall < 1 ? 1 : wall > 8 ? 8 : (unsigned)wall;
}
