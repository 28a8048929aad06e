/* The board of a round, as everybody reads it: also when the round is over, since a complaint is evidence. */
#include "serve/aggregator/aggregator.h"

#include "base/arena.h"
#include "base/hex.h"
#include "serve/host/request_work.h"
#include "serve/host/router.h"

#define PAGE ((size_t)4 << 20)

static sotto_status read_board(sotto_aggregator *a, const sotto_http_request *request,
                               sotto_bytes *out, sotto_arena *arena)
{
    sotto_reader in = sotto_reader_over(sotto_http_request_body(request));
    const uint64_t since = sotto_read_uint(&in, 8);
    const uint32_t reader = (uint32_t)sotto_read_uint(&in, 4);
    sotto_listed_round *one = NULL;
    sotto_round_outcome outcome;
    uint8_t id[SOTTO_ROUND_ID];

    SOTTO_TRY(sotto_reader_finish(&in, "board", NULL));
    if (!sotto_hex_decode(id, sizeof id, sotto_route_segment(a->host, request, 1)))
        return SOTTO_MISSING;
    SOTTO_TRY(sotto_round_store_outcome(a->host->db, id, &outcome, NULL));
    /* Where the round is over, nobody is shown more than others. */
    if (reader != SOTTO_TO_EVERYBODY && reader != SOTTO_TO_BOARD && outcome == SOTTO_ROUND_RUNS)
        SOTTO_TRY(sotto_aggregator_hold(a, &one, id, arena, NULL));
    const sotto_status status = sotto_board_store_read(
        a->host->db, id, since, reader, one ? sotto_running_posted(one->running) : NULL, PAGE, out,
        arena, NULL);
    if (one)
        sotto_aggregator_let_go(a, one);
    return status;
}

void sotto_aggregator_get_entries(void *state, sotto_http_request *request, sotto_arena *arena)
{
    sotto_aggregator *a = state;
    sotto_bytes out;
    const sotto_status status = read_board(a, request, &out, arena);

    if (status != SOTTO_OK)
        sotto_aggregator_refuse(a, request, status);
    else
        sotto_request_answer(request, 200, SOTTO_INBOX_TYPE, out);
}
