/* What became of a round, for its operator. */
#include "serve/aggregator/aggregator.h"

#include "base/arena.h"
#include "base/hex.h"
#include "base/writer.h"
#include "serve/host/request_work.h"
#include "serve/host/router.h"

static void write_indices(sotto_writer *w, sotto_bytes bits)
{
    const char *comma = "";

    for (size_t i = 0; i < 8 * bits.len; i++)
        if (bits.data[i / 8] >> (i % 8) & 1) {
            sotto_write_format(w, "%s%zu", comma, i);
            comma = ", ";
        }
}

static void write_view(sotto_writer *w, const sotto_round_view *v)
{
    static const char *const outcomes[] = {"runs", "released", "burnt"};

    sotto_write_format(w, "{\"outcome\": \"%s\", \"contributions\": %llu, \"reported\": [",
                       outcomes[v->outcome], (unsigned long long)v->contributions);
    write_indices(w, v->reported);
    sotto_write_format(w, "], \"blamed\": [");
    for (size_t i = 0; i + 4 <= v->blamed.len; i += 4) {
        const uint8_t *b = v->blamed.data + i;

        sotto_write_format(w, "%s%u", i ? ", " : "",
                           (unsigned)b[0] << 24 | (unsigned)b[1] << 16 | (unsigned)b[2] << 8 |
                               (unsigned)b[3]);
    }
    /* Reasons are sentences of the machines: letters, digits and spaces. */
    sotto_write_format(w, "], \"reason\": \"%.*s\"}\n", (int)v->reason.len,
                       (const char *)v->reason.data);
}

static sotto_status view_of(sotto_aggregator *a, sotto_round_view *view,
                            const sotto_http_request *request, sotto_arena *arena)
{
    uint8_t id[SOTTO_ROUND_ID];

    if (!sotto_hex_decode(id, SOTTO_ROUND_ID, sotto_route_segment(a->host, request, 1)))
        return SOTTO_MISSING;
    return sotto_round_store_view(a->host->db, &a->host->columns, id, view, arena, NULL);
}

void sotto_aggregator_get_result(void *state, sotto_http_request *request, sotto_arena *arena)
{
    sotto_aggregator *a = state;
    sotto_round_view view;
    sotto_buf out;
    sotto_status status = view_of(a, &view, request, arena);

    if (status == SOTTO_OK)
        status = sotto_buf_take(
            &out, arena, 512 + 80 * view.reported.len + 4 * view.blamed.len + view.reason.len,
            NULL);
    if (status == SOTTO_OK) {
        sotto_writer w = sotto_writer_on(&out);

        write_view(&w, &view);
        status = sotto_writer_finish(&w, "result", NULL);
    }
    if (status != SOTTO_OK)
        sotto_aggregator_refuse(a, request, status);
    else
        sotto_request_answer(request, 200, "application/json", sotto_buf_bytes(&out));
}

void sotto_aggregator_get_sum(void *state, sotto_http_request *request, sotto_arena *arena)
{
    sotto_aggregator *a = state;
    sotto_round_view view;
    sotto_status status = view_of(a, &view, request, arena);

    if (status == SOTTO_OK && view.outcome == SOTTO_ROUND_RUNS)
        status = SOTTO_AGAIN;
    if (status == SOTTO_OK && view.outcome == SOTTO_ROUND_BURNT)
        status = SOTTO_STALE;
    if (status != SOTTO_OK)
        sotto_aggregator_refuse(a, request, status);
    else
        sotto_request_answer(request, 200, "application/octet-stream", view.sum);
}
