/* Resources below an aggregator's URL (DAP, "HTTP Resources Reference"). */
#include "dap/dap.h"

#include "base/writer.h"

#include <stdio.h>
#include <string.h>

static const char *const words[SOTTO_DAP_RESOURCES] = {
    [SOTTO_DAP_HPKE_CONFIG] = "hpke_config",
    [SOTTO_DAP_REPORTS] = "reports",
    [SOTTO_DAP_AGGREGATION_JOBS] = "aggregation_jobs",
    [SOTTO_DAP_COLLECTION_JOBS] = "collection_jobs",
    [SOTTO_DAP_AGGREGATE_SHARES] = "aggregate_shares",
};

static void write_id(sotto_writer *w, const uint8_t *id, size_t size)
{
    char text[SOTTO_DAP_ID_TEXT_MAX];

    sotto_dap_id_encode(text, sotto_bytes_of(id, size));
    sotto_write_text(w, "/");
    sotto_write_text(w, text);
}

sotto_status sotto_dap_path_encode(sotto_buf *out, sotto_bytes base, const sotto_dap_path *path,
                                   sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    if (base.len > 0 && base.data[base.len - 1] == '/')
        base.len--;
    sotto_write_bytes(&w, base);
    if (path->resource != SOTTO_DAP_HPKE_CONFIG) {
        sotto_write_text(&w, "/tasks");
        write_id(&w, path->task_id, sizeof path->task_id);
    }
    sotto_write_text(&w, "/");
    sotto_write_text(&w, words[path->resource]);
    if (path->has_id)
        write_id(&w, path->id, sizeof path->id);
    if (path->has_step) {
        char text[sizeof "?step=65535"];

        (void)snprintf(text, sizeof text, "?step=%u", (unsigned)path->step);
        sotto_write_text(&w, text);
    }
    return sotto_writer_finish(&w, "URL", err);
}

/* ---- reading ------------------------------------------------------------------------------------- */

static bool is(sotto_bytes text, const char *word)
{
    return sotto_bytes_equal_vartime(text, sotto_bytes_of(word, strlen(word)));
}

/* Takes "/segment" off the front; empty at the end and where there is no slash. */
static sotto_bytes take_segment(sotto_bytes *rest)
{
    size_t len = 1;

    if (rest->len == 0 || rest->data[0] != '/')
        return sotto_bytes_of(NULL, 0);
    while (len < rest->len && rest->data[len] != '/')
        len++;
    sotto_bytes segment = sotto_bytes_of(rest->data + 1, len - 1);
    *rest = sotto_bytes_of(rest->data + len, rest->len - len);
    return segment;
}

/* Decimal, without leading zeros. */
static sotto_status read_step(sotto_dap_path *out, sotto_bytes query, sotto_err *err)
{
    static const char name[] = "step=";
    unsigned long step = 0;

    if (query.len <= sizeof name - 1 || memcmp(query.data, name, sizeof name - 1) != 0)
        return sotto_fail(err, SOTTO_MALFORMED, "request: a query that is no step");
    for (size_t i = sizeof name - 1; i < query.len; i++) {
        if (query.data[i] < '0' || query.data[i] > '9' || (i > sizeof name - 1 && step == 0))
            return sotto_fail(err, SOTTO_MALFORMED, "request: a step that is no number");
        step = 10 * step + (unsigned long)(query.data[i] - '0');
        if (step > UINT16_MAX)
            return sotto_fail(err, SOTTO_MALFORMED, "request: a step above %u",
                              (unsigned)UINT16_MAX);
    }
    out->has_step = true;
    out->step = (uint16_t)step;
    return SOTTO_OK;
}

static sotto_bytes split_query(sotto_bytes *target, bool *has_query)
{
    const uint8_t *mark = target->len ? memchr(target->data, '?', target->len) : NULL;
    sotto_bytes query = sotto_bytes_of(NULL, 0);

    *has_query = mark != NULL;
    if (mark) {
        const size_t len = (size_t)(mark - target->data);

        query = sotto_bytes_of(mark + 1, target->len - len - 1);
        target->len = len;
    }
    return query;
}

static sotto_status find_resource(sotto_dap_path *out, sotto_bytes word, sotto_err *err)
{
    unsigned found = SOTTO_DAP_REPORTS;

    while (found < SOTTO_DAP_RESOURCES && !is(word, words[found]))
        found++;
    if (found == SOTTO_DAP_RESOURCES)
        return sotto_fail(err, SOTTO_MISSING, "request: no such resource");
    out->resource = (sotto_dap_resource)found;
    return SOTTO_OK;
}

/* "/{task}/{resource}", and "/{id}" where there are more than one. */
static sotto_status read_task_path(sotto_dap_path *out, sotto_bytes rest, sotto_err *err)
{
    const sotto_bytes task = take_segment(&rest), word = take_segment(&rest);
    sotto_bytes id;

    SOTTO_TRY(find_resource(out, word, err));
    out->has_id = rest.len > 0;
    id = take_segment(&rest);
    if (rest.len > 0 || (out->has_id && out->resource == SOTTO_DAP_REPORTS))
        return sotto_fail(err, SOTTO_MISSING, "request: no such resource");
    SOTTO_TRY(sotto_dap_id_decode(out->task_id, sizeof out->task_id, task, err));
    return out->has_id ? sotto_dap_id_decode(out->id, sizeof out->id, id, err) : SOTTO_OK;
}

sotto_status sotto_dap_path_decode(sotto_dap_path *out, sotto_bytes target, sotto_err *err)
{
    bool has_query;
    const sotto_bytes query = split_query(&target, &has_query);
    const sotto_bytes first = take_segment(&target);

    *out = (sotto_dap_path){.resource = SOTTO_DAP_HPKE_CONFIG};
    if (is(first, words[SOTTO_DAP_HPKE_CONFIG]) && target.len == 0)
        return SOTTO_OK; /* whatever the query: older clients name their task there */
    if (!is(first, "tasks"))
        return sotto_fail(err, SOTTO_MISSING, "request: no such resource");
    SOTTO_TRY(read_task_path(out, target, err));
    return has_query ? read_step(out, query, err) : SOTTO_OK;
}
