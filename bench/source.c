#include "source.h"

#include "base/alloc.h"

static sotto_status make_body(sotto_source *s, sotto_buf *out, uint64_t first, sotto_err *err)
{
    for (size_t i = 0; i < s->a_request; i++)
        SOTTO_TRY(sotto_maker_make(s->maker, out, first + i, s->bucket, SOTTO_SOUND, err));
    return SOTTO_OK;
}

/* reports: room for those of one request */
static sotto_status premake_one(sotto_source *s, uint64_t first, sotto_buf *reports, sotto_err *err)
{
    reports->len = 0;
    SOTTO_TRY(make_body(s, s->between ? reports : &s->memory, first, err));
    return s->between ? sotto_between_seal(s->between, &s->memory, sotto_buf_bytes(reports), err)
                      : SOTTO_OK;
}

sotto_status sotto_source_premake(sotto_source *s, sotto_err *err)
{
    const size_t requests = (size_t)(s->total / s->a_request);
    const size_t room = s->a_request * sotto_maker_report_size(s->maker);
    const size_t size = s->between ? sotto_between_size(room) : room;
    sotto_buf reports = sotto_buf_over(sotto_alloc(room), room);
    sotto_status status = SOTTO_OK;

    s->memory = sotto_buf_over(sotto_alloc(requests * size), requests * size);
    s->bodies = sotto_alloc(requests * sizeof *s->bodies);
    if (!reports.data || !s->memory.data || !s->bodies)
        status = sotto_fail(err, SOTTO_NO_MEMORY, "no memory for reports");
    for (size_t i = 0; status == SOTTO_OK && i < requests; i++) {
        const size_t start = s->memory.len;

        status = premake_one(s, i * s->a_request, &reports, err);
        s->bodies[i] = sotto_bytes_of(s->memory.data + start, s->memory.len - start);
    }
    sotto_release(reports.data, reports.data ? room : 0);
    return status;
}

void sotto_source_clear(sotto_source *s)
{
    if (s->bodies)
        sotto_release(s->bodies, (size_t)(s->total / s->a_request) * sizeof *s->bodies);
    sotto_release(s->memory.data, s->memory.data ? s->memory.cap : 0);
    sotto_maker_free(s->maker);
}

bool sotto_source_next(void *source, sotto_traffic_body *out)
{
    sotto_source *s = source;

    if (s->made + s->a_request > s->total)
        return false;
    out->first = s->made;
    out->count = s->a_request;
    if (s->bodies) {
        out->reports = s->bodies[s->made / s->a_request];
    } else {
        if (make_body(s, &out->room, s->made, NULL) != SOTTO_OK)
            return false;
        out->reports = sotto_buf_bytes(&out->room);
    }
    s->made += s->a_request;
    return true;
}
