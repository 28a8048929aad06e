/* From an opened request to its target and back: targets are a table, and nothing of a request but its content, content type
 * and path gets there. */
#include "serve/gateway/gateway.h"

#include "base/rule.h"

#include <stdio.h>
#include <string.h>

enum {
    MOST_TYPE = 128,
    MOST_ANSWER = 4 << 20,
};

/* ---- where to ------------------------------------------------------------------------------------------------------- */

/* Whether the rest of a path stays below its target, however a server interprets dots and
 * slashes. */
static bool stays(sotto_bytes rest)
{
    for (size_t i = 0; i < rest.len; i++) {
        const uint8_t *at = rest.data + i;
        const size_t left = rest.len - i;

        if (at[0] == '\\' || at[0] == '#' || (left > 1 && memcmp(at, "..", 2) == 0) ||
            (left > 1 && memcmp(at, "//", 2) == 0) ||
            (left > 2 && at[0] == '%' && (at[1] == '2' || at[1] == '5')))
            return false;
    }
    return rest.len == 0 || rest.data[0] != '/';
}

/* What the client wants, as one URL; the authority may stand in a Host field (RFC 9292, 3.4). */
static sotto_status write_wanted(sotto_buf *out, const sotto_bhttp *m, sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);
    sotto_bytes authority = m->authority;

    if (authority.len == 0)
        (void)!sotto_bhttp_field(m->fields, "host", &authority);
    sotto_write_bytes(&w, m->scheme);
    sotto_write_bytes(&w, sotto_bytes_of("://", 3));
    sotto_write_bytes(&w, authority);
    sotto_write_bytes(&w, m->path);
    return sotto_writer_finish(&w, "URL", err);
}

/* Where a request goes: appends the URL, with an end.
 *   SOTTO_DENIED  no target of ours; or a path that could leave its target
 */
static sotto_status write_url(const sotto_gateway *g, sotto_buf *url, const sotto_bhttp *m,
                              sotto_err *err)
{
    uint8_t memory[SOTTO_GATEWAY_URL];
    sotto_buf wanted = sotto_buf_over(memory, sizeof memory);
    const sotto_url_row *best = NULL;
    sotto_writer w = sotto_writer_on(url);

    if (write_wanted(&wanted, m, NULL) != SOTTO_OK)
        return sotto_fail(err, SOTTO_DENIED, "no target of this gateway");
    for (size_t i = 0; i < sotto_url_table_count(g->targets); i++) {
        const sotto_url_row *row = sotto_url_table_row(g->targets, i);
        const size_t len = strlen(row->name);

        if (len <= wanted.len && memcmp(row->name, wanted.data, len) == 0 &&
            (!best || len > strlen(best->name)))
            best = row;
    }
    if (!best)
        return sotto_fail(err, SOTTO_DENIED, "no target of this gateway");
    const size_t len = strlen(best->name);
    const sotto_bytes rest = sotto_bytes_of(wanted.data + len, wanted.len - len);
    if (SOTTO_RULE(gateway_path_stays) && !stays(rest))
        return sotto_fail(err, SOTTO_DENIED, "a path that could leave its target");
    sotto_write_bytes(&w, sotto_bytes_of(best->url, strlen(best->url)));
    sotto_write_bytes(&w, rest);
    sotto_write_uint(&w, 0, 1);
    return sotto_writer_finish(&w, "URL", err);
}

/* ---- the call --------------------------------------------------------------------------------------------------------- */

/* The part of a target's answer that the client gets. */
static sotto_status copy_fields(sotto_writer *w, const sotto_http_response *response,
                                sotto_err *err)
{
    static const char *const kept[] = {"content-type", "retry-after", "location"};
    sotto_bytes value;

    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        if (sotto_http_response_field(response, kept[i], &value) &&
            sotto_bhttp_value_is_clean(value))
            sotto_bhttp_field_write(w, kept[i], value);
    return sotto_writer_finish(w, "fields", err);
}

static void on_answer(void *context, sotto_status status, const sotto_http_response *response,
                      const sotto_err *err)
{
    sotto_gateway_ask *ask = context;
    uint8_t lines[2048];
    sotto_buf fields = sotto_buf_over(lines, sizeof lines);
    sotto_writer w = sotto_writer_on(&fields);

    (void)err;
    if (status != SOTTO_OK || response->status < 200 ||
        copy_fields(&w, response, NULL) != SOTTO_OK) {
        sotto_gateway_refuse_sealed(ask, 502, NULL, "the target does not answer");
        return;
    }
    sotto_gateway_answer(ask, &(sotto_bhttp){.response = true,
                                             .status = response->status,
                                             .fields = sotto_buf_bytes(&fields),
                                             .content = response->body});
}

static bool method_of(sotto_http_method *out, sotto_bytes name)
{
    static const sotto_http_method known[] = {SOTTO_HTTP_GET, SOTTO_HTTP_POST, SOTTO_HTTP_PUT};

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const char *text = sotto_http_method_name(known[i]);

        *out = known[i];
        if (strlen(text) == name.len && memcmp(text, name.data, name.len) == 0)
            return true;
    }
    return false;
}

bool sotto_gateway_find(sotto_gateway_ask *ask, sotto_gateway_way *way, const sotto_bhttp *m)
{
    sotto_buf to = sotto_buf_over(way->url, sizeof way->url);
    sotto_err why = {0};

    if (SOTTO_RULE(gateway_methods) && !method_of(&way->method, m->method)) {
        sotto_gateway_refuse_sealed(ask, 405, NULL, "this gateway forwards GET, POST and PUT");
        return false;
    }
    if (write_url(ask->gateway, &to, m, &why) != SOTTO_OK) {
        sotto_gateway_refuse_sealed(ask, 403, NULL, why.reason);
        return false;
    }
    return true;
}

void sotto_gateway_call(sotto_gateway_ask *ask, sotto_http_method method, const char *url,
                        const char *type, sotto_bytes content)
{
    const sotto_http_field field = {"Content-Type", type};
    const sotto_http_call call = {.method = method,
                                  .url = url,
                                  .fields = &field,
                                  .field_count = type ? 1 : 0,
                                  .body = content,
                                  .repeatable = true,
                                  .attempts = SOTTO_GATEWAY_ATTEMPTS,
                                  .timeout_ms = SOTTO_GATEWAY_TIMEOUT_MS,
                                  .max_response = MOST_ANSWER};

    if (sotto_host_call(ask->gateway->host, &call, on_answer, ask, NULL) != SOTTO_OK)
        sotto_gateway_refuse_sealed(ask, 503, NULL, "too many requests are under way");
}

void sotto_gateway_forward(sotto_gateway_ask *ask, const sotto_gateway_way *way,
                           const sotto_bhttp *m)
{
    char type[MOST_TYPE] = "";
    sotto_bytes value;
    const bool typed =
        sotto_bhttp_field(m->fields, "content-type", &value) && value.len < sizeof type;

    if (typed)
        memcpy(type, value.data, value.len);
    sotto_gateway_call(ask, way->method, way->url, typed ? type : NULL, m->content);
}
