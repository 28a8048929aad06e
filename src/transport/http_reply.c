#include "transport/http_reply.h"

#include "base/rule.h"
#include "transport/http_parse.h"

#include <string.h>

/* HTTP/1.1 200 OK */
static bool read_status(sotto_http_reply_head *out, sotto_bytes line)
{
    static const char version[] = "HTTP/1.";
    const uint8_t *at = line.data;

    if (line.len < 12 || memcmp(at, version, 7) != 0 || (at[7] != '0' && at[7] != '1') ||
        at[8] != ' ' || (line.len > 12 && at[12] != ' '))
        return false;
    for (size_t i = 9; i < 12; i++) {
        if (at[i] < '0' || at[i] > '9')
            return false;
        out->status = 10 * out->status + (unsigned)(at[i] - '0');
    }
    out->keep_alive = at[7] == '1';
    return out->status >= 100 && out->status != 101; /* nobody asked for another protocol */
}

static bool read_length(sotto_http_reply_head *out, sotto_bytes text)
{
    if (SOTTO_RULE(reply_one_length) && out->sized)
        return false;
    out->sized = true;
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
        out->length = 10 * out->length + (uint64_t)(text.data[i] - '0');
    }
    return text.len > 0 && text.len <= 18;
}

static bool read_field(sotto_http_reply_head *out, sotto_bytes name, sotto_bytes value)
{
    if (sotto_http_equal_caseless(name, "content-length"))
        return read_length(out, value);
    if (sotto_http_equal_caseless(name, "transfer-encoding")) {
        if (out->chunked || !sotto_http_equal_caseless(value, "chunked"))
            return false;
        out->chunked = true;
    } else if (sotto_http_equal_caseless(name, "connection")) {
        out->keep_alive = out->keep_alive && sotto_http_equal_caseless(value, "keep-alive");
    } else if (sotto_http_equal_caseless(name, "retry-after")) {
        out->retry_after = value;
    }
    return true;
}

static bool read_line(sotto_http_reply_head *out, sotto_bytes line)
{
    const uint8_t *colon = memchr(line.data, ':', line.len);
    const size_t name = colon ? (size_t)(colon - line.data) : 0;
    size_t from = name + 1, to = line.len;

    if (!colon || !sotto_http_is_token(sotto_bytes_of(line.data, name)))
        return false;
    while (from < to && (line.data[from] == ' ' || line.data[from] == '\t'))
        from++;
    while (to > from && (line.data[to - 1] == ' ' || line.data[to - 1] == '\t'))
        to--;
    const sotto_bytes value = sotto_bytes_of(line.data + from, to - from);
    return sotto_http_is_field_value(value) &&
           read_field(out, sotto_bytes_of(line.data, name), value);
}

/* The bytes before the next CRLF, which is taken too. */
static bool next_line(sotto_bytes *line, sotto_bytes *rest)
{
    const uint8_t *lf = memchr(rest->data, '\n', rest->len);
    const size_t len = lf ? (size_t)(lf - rest->data) : 0;

    if (len == 0 || lf[-1] != '\r')
        return false;
    *line = sotto_bytes_of(rest->data, len - 1);
    *rest = sotto_bytes_of(lf + 1, rest->len - len - 1);
    return true;
}

bool sotto_http_reply_parse(sotto_http_reply_head *out, sotto_bytes text)
{
    sotto_bytes line;

    *out = (sotto_http_reply_head){0};
    if (!next_line(&line, &text) || !sotto_http_is_field_value(line) || !read_status(out, line))
        return false;
    while (next_line(&line, &text) && line.len > 0)
        if (!read_line(out, line))
            return false;
    if (line.len > 0 || text.len > 0)
        return false;
    if (SOTTO_RULE(reply_one_framing) && out->sized && out->chunked)
        return false;
    if (out->status < 200 || out->status == 204 || out->status == 304) { /* RFC 9112, 6.3 */
        out->chunked = false;
        out->sized = true;
        out->length = 0;
    }
    return true;
}
