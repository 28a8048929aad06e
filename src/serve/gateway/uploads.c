/* Reports that were opened together and are for one leader go to it in one call: DAP's upload takes many. Each sender hears of its own report alone.
 *
 * Whatever else the leader says than that it took the call, each report then goes alone, as if there had been no others. So nobody can spoil a neighbour's report. */
#include "serve/gateway/gateway.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/rule.h"
#include "dap/report.h"
#include "dap/upload.h"

#include <string.h>

/* As long as the transport sends at once, with room for the fields. */
enum { MOST_TOGETHER = 60 << 10, AT_ONCE = SOTTO_GATEWAY_AT_ONCE };

/* Reports that go together. URL and reports stand behind it. */
typedef struct together {
    sotto_gateway *gateway;
    size_t size, count;
    sotto_gateway_ask *asks[AT_ONCE];
    uint8_t ids[AT_ONCE][SOTTO_REPORT_ID_SIZE];
    sotto_bytes reports[AT_ONCE];
    sotto_bytes all;
    const char *url;
} together;

/* ---- which ----------------------------------------------------------------------------------------------------------- */

static bool is_upload(const sotto_gateway_way *way, const sotto_bhttp *m)
{
    const char *type = sotto_dap_media_type(SOTTO_DAP_UPLOAD_REQ);
    sotto_bytes value;

    return way->method == SOTTO_HTTP_POST && sotto_bhttp_field(m->fields, "content-type", &value) &&
           value.len == strlen(type) && memcmp(value.data, type, value.len) == 0;
}

bool sotto_gateway_uploads_put(sotto_gateway_uploads *uploads, sotto_arena *arena,
                               sotto_gateway_ask *ask, const sotto_gateway_way *way,
                               const sotto_bhttp *m)
{
    const size_t len = strlen(way->url) + 1;
    sotto_gateway_upload *u = &uploads->list[uploads->count];
    sotto_reader in = sotto_reader_over(m->content);
    sotto_dap_report report;
    char *url;

    if (uploads->count == AT_ONCE || !is_upload(way, m))
        return false;
    /* Half a report would swallow the beginning of its neighbour. */
    const bool one = sotto_dap_upload_req_next(&in, &report) && sotto_reader_left(&in) == 0;
    if (SOTTO_RULE(gateway_whole_reports) && !one)
        return false;
    url = sotto_arena_take(arena, len);
    if (!url)
        return false;
    *u =
        (sotto_gateway_upload){.ask = ask, .url = memcpy(url, way->url, len), .report = m->content};
    memcpy(u->id, report.metadata.report_id, sizeof u->id);
    uploads->count++;
    return true;
}

/* ---- the answer ------------------------------------------------------------------------------------------------------ */

static void release(together *t)
{
    sotto_release(t, t->size);
}

static void send_alone(sotto_gateway_ask *ask, const char *url, sotto_bytes report)
{
    sotto_gateway_call(ask, SOTTO_HTTP_POST, url, sotto_dap_media_type(SOTTO_DAP_UPLOAD_REQ),
                       report);
}

/* What the leader says of one report; empty: it was taken. */
static sotto_bytes error_of(const sotto_dap_upload_errors *errors, const uint8_t *id)
{
    sotto_reader in = sotto_reader_over(errors->statuses);
    sotto_dap_upload_status status;
    const uint8_t *at = in.at;

    for (; sotto_dap_upload_errors_next(&in, &status); at = in.at)
        if (memcmp(status.report_id, id, sizeof status.report_id) == 0)
            return sotto_bytes_of(at, (size_t)(in.at - at));
    return sotto_bytes_of(NULL, 0);
}

/* Whether the leader judged the reports one by one: it took the call, and speaks of these reports and no others. */
static bool is_judged(const together *t, const sotto_http_response *response,
                      sotto_dap_upload_errors *errors)
{
    sotto_dap_upload_status status;
    size_t known = 0;

    if (SOTTO_RULE(gateway_alone_after_refusal) && response->status / 100 != 2)
        return false;
    if (sotto_dap_upload_errors_decode(errors, response->body, NULL) != SOTTO_OK)
        return false;
    sotto_reader in = sotto_reader_over(errors->statuses);
    while (sotto_dap_upload_errors_next(&in, &status))
        for (size_t i = 0; i < t->count; i++)
            known += memcmp(status.report_id, t->ids[i], sizeof status.report_id) == 0;
    return known == errors->count;
}

static void answer_one(sotto_gateway_ask *ask, unsigned status, sotto_bytes error)
{
    const char *type = sotto_dap_media_type(SOTTO_DAP_UPLOAD_ERRORS);
    uint8_t line[128];
    sotto_buf field = sotto_buf_over(line, sizeof line);
    sotto_writer w = sotto_writer_on(&field);

    if (error.len > 0)
        sotto_bhttp_field_write(&w, "content-type", sotto_bytes_of(type, strlen(type)));
    if (sotto_writer_finish(&w, "field", NULL) != SOTTO_OK)
        field.len = 0;
    sotto_gateway_answer(ask, &(sotto_bhttp){.response = true,
                                             .status = status,
                                             .fields = sotto_buf_bytes(&field),
                                             .content = error});
}

static void on_answer(void *context, sotto_status status, const sotto_http_response *response,
                      const sotto_err *err)
{
    together *t = context;
    sotto_dap_upload_errors errors;
    const bool judged = status == SOTTO_OK && is_judged(t, response, &errors);

    (void)err;
    for (size_t i = 0; i < t->count; i++) {
        if (judged)
            answer_one(t->asks[i], response->status, error_of(&errors, t->ids[i]));
        else if (status == SOTTO_OK)
            send_alone(t->asks[i], t->url, t->reports[i]);
        else
            sotto_gateway_refuse_sealed(t->asks[i], 502, NULL, "the target does not answer");
    }
    release(t);
}

/* ---- the call -------------------------------------------------------------------------------------------------------- */

/* Whether a report may join. The leader's answer tells reports apart by their ids alone. */
static bool may_join(const together *t, size_t bytes, const sotto_gateway_upload *first,
                     const sotto_gateway_upload *u)
{
    if (!u->ask || strcmp(u->url, first->url) != 0 || bytes + u->report.len > MOST_TOGETHER)
        return false;
    for (size_t i = 0; i < t->count; i++)
        if (SOTTO_RULE(gateway_twins_apart) && memcmp(t->ids[i], u->id, sizeof u->id) == 0)
            return false;
    return true;
}

static void join(together *t, sotto_gateway_upload *u)
{
    t->asks[t->count] = u->ask;
    t->reports[t->count] = u->report;
    memcpy(t->ids[t->count++], u->id, sizeof u->id);
    u->ask = NULL;
}

/* With memory of its own: what it is made of goes with the worker's arena. NULL: none. */
static together *copy_of(const together *from, size_t bytes)
{
    const size_t url = strlen(from->url) + 1, size = sizeof *from + url + bytes;
    together *t = sotto_alloc(size);
    uint8_t *at;

    if (!t)
        return NULL;
    *t = *from;
    t->size = size;
    t->url = memcpy(t + 1, from->url, url);
    at = (uint8_t *)(t + 1) + url;
    t->all = sotto_bytes_of(at, bytes);
    for (size_t i = 0; i < t->count; i++) {
        const sotto_bytes report = from->reports[i];

        if (report.data) /* a report is never empty */
            t->reports[i].data = memcpy(at, report.data, report.len);
        at += report.len;
    }
    return t;
}

static void send_together(const together *from, size_t bytes)
{
    const sotto_http_field field = {"Content-Type", sotto_dap_media_type(SOTTO_DAP_UPLOAD_REQ)};
    together *t = from->count > 1 ? copy_of(from, bytes) : NULL;
    sotto_http_call call = {.method = SOTTO_HTTP_POST,
                            .url = from->url,
                            .fields = &field,
                            .field_count = 1,
                            .repeatable = true,
                            .attempts = SOTTO_GATEWAY_ATTEMPTS,
                            .timeout_ms = SOTTO_GATEWAY_TIMEOUT_MS,
                            .max_response = MOST_TOGETHER};

    if (t)
        call.body = t->all;
    if (t && sotto_host_call(t->gateway->host, &call, on_answer, t, NULL) == SOTTO_OK)
        return;
    if (t)
        release(t);
    for (size_t i = 0; i < from->count; i++)
        send_alone(from->asks[i], from->url, from->reports[i]);
}

void sotto_gateway_uploads_send(sotto_gateway_uploads *uploads)
{
    for (size_t i = 0; i < uploads->count; i++) {
        sotto_gateway_upload *first = &uploads->list[i];
        together t = {.url = first->url};
        size_t bytes = 0;

        if (!first->ask)
            continue;
        t.gateway = first->ask->gateway;
        for (size_t j = i; j < uploads->count; j++) {
            sotto_gateway_upload *u = &uploads->list[j];

            if (j > i && !may_join(&t, bytes, first, u))
                continue;
            bytes += u->report.len;
            join(&t, u);
        }
        send_together(&t, bytes);
    }
    uploads->count = 0;
}
