#include "transport/http.h"

#include "transport/http_parse.h"

#include <string.h>

const char *sotto_http_method_name(sotto_http_method method)
{
    switch (method) {
    case SOTTO_HTTP_GET:
        return "GET";
    case SOTTO_HTTP_PUT:
        return "PUT";
    case SOTTO_HTTP_POST:
        return "POST";
    case SOTTO_HTTP_DELETE:
        return "DELETE";
    case SOTTO_HTTP_OPTIONS:
        return "OPTIONS";
    }
    return "?";
}

const char *sotto_http_status_phrase(unsigned status)
{
    static const struct {
        unsigned status;
        const char *phrase;
    } phrases[] = {
        {100, "Continue"},
        {200, "OK"},
        {201, "Created"},
        {202, "Accepted"},
        {204, "No Content"},
        {301, "Moved Permanently"},
        {302, "Found"},
        {303, "See Other"},
        {304, "Not Modified"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {406, "Not Acceptable"},
        {408, "Request Timeout"},
        {409, "Conflict"},
        {410, "Gone"},
        {411, "Length Required"},
        {412, "Precondition Failed"},
        {413, "Content Too Large"},
        {414, "URI Too Long"},
        {415, "Unsupported Media Type"},
        {417, "Expectation Failed"},
        {421, "Misdirected Request"},
        {422, "Unprocessable Content"},
        {429, "Too Many Requests"},
        {431, "Request Header Fields Too Large"},
        {500, "Internal Server Error"},
        {501, "Not Implemented"},
        {502, "Bad Gateway"},
        {503, "Service Unavailable"},
        {504, "Gateway Timeout"},
        {505, "HTTP Version Not Supported"},
    };

    for (size_t i = 0; i < sizeof phrases / sizeof phrases[0]; i++)
        if (phrases[i].status == status)
            return phrases[i].phrase;
    return "Unknown";
}

bool sotto_http_fields_are_clean(const sotto_http_field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const sotto_bytes name = sotto_bytes_of(fields[i].name, strlen(fields[i].name));
        const sotto_bytes value = sotto_bytes_of(fields[i].value, strlen(fields[i].value));

        if (!sotto_http_is_token(name) || !sotto_http_is_field_value(value))
            return false;
    }
    return true;
}

bool sotto_http_is_media_type(sotto_bytes value, const char *type)
{
    size_t len = strlen(type);

    if (value.len < len || !sotto_http_equal_caseless(sotto_bytes_of(value.data, len), type))
        return false;
    while (len < value.len && (value.data[len] == ' ' || value.data[len] == '\t'))
        len++;
    return len == value.len || value.data[len] == ';';
}

/* Does the text consist of four decimal numbers below 256? Resolvers also take "127.1" and octal forms, which are not
 * meant here. */
static bool is_ipv4(sotto_bytes host)
{
    unsigned dots = 0, digits = 0, value = 0;

    for (size_t i = 0; i < host.len; i++) {
        const uint8_t c = host.data[i];

        if (c == '.') {
            if (digits == 0 || ++dots > 3)
                return false;
            digits = value = 0;
            continue;
        }
        if (c < '0' || c > '9' || ++digits > 3)
            return false;
        value = value * 10 + (unsigned)(c - '0');
        if (value > 255)
            return false;
    }
    return dots == 3 && digits > 0;
}

bool sotto_http_host_is_loopback(sotto_bytes host)
{
    static const char net[] = "127.";

    if (host.len > 2 && host.data[0] == '[' && host.data[host.len - 1] == ']')
        return sotto_bytes_equal_vartime(sotto_bytes_of(host.data + 1, host.len - 2),
                                         sotto_bytes_of("::1", 3));
    if (sotto_http_equal_caseless(host, "localhost") || sotto_http_equal_caseless(host, "::1"))
        return true;
    return is_ipv4(host) && host.len > 4 && memcmp(host.data, net, 4) == 0;
}

/* ---- places -------------------------------------------------------------------------------------- */

/* How long "scheme://authority" is; 0: that is not how it begins. */
static size_t origin_of(sotto_bytes url)
{
    static const char mark[] = "://";
    size_t len = 0;

    while (len + sizeof mark - 1 <= url.len && memcmp(url.data + len, mark, sizeof mark - 1) != 0)
        len++;
    len += sizeof mark - 1;
    if (len >= url.len)
        return 0;
    while (len < url.len && !strchr("/?#", url.data[len]))
        len++;
    return len;
}

sotto_status sotto_http_locate(char *out, size_t size, sotto_bytes base, sotto_bytes location,
                               sotto_err *err)
{
    const size_t origin = origin_of(base);
    const uint8_t *text = location.data;
    const bool is_path =
        location.len > 0 && text[0] == '/' && !(location.len > 1 && text[1] == '/');
    const bool is_there =
        location.len > origin && memcmp(text, base.data, origin) == 0 && text[origin] == '/';
    const size_t before = is_path ? origin : 0;

    if (origin == 0 || (!is_path && !is_there))
        return sotto_fail(err, SOTTO_MALFORMED, "points to a place that is not its own");
    if (before + location.len >= size || memchr(text, 0, location.len))
        return sotto_fail(err, SOTTO_MALFORMED, "points to a place of %zu bytes", location.len);
    memcpy(out, base.data, before);
    memcpy(out + before, text, location.len);
    out[before + location.len] = 0;
    return SOTTO_OK;
}
