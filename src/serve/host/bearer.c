#include "serve/host/bearer.h"

#include "base/secret_file.h"

#include <strings.h>

sotto_status sotto_bearer_read(sotto_bearer *b, const char *path, sotto_err *err)
{
    sotto_buf out = sotto_buf_over(b->text, SOTTO_BEARER);
    sotto_err why = {0};
    const sotto_status status = sotto_secret_file_read(&out, path, SOTTO_SECRET_GIVEN, &why);

    if (status != SOTTO_OK)
        return sotto_fail(err, status, "%.80s %s", path, why.reason);
    while (out.len > 0 && out.data[out.len - 1] == '\n')
        out.len--;
    b->len = out.len;
    b->text[b->len] = 0;
    if (b->len < SOTTO_BEARER_LEAST)
        return sotto_fail(err, SOTTO_MALFORMED, "%.100s: a token has at least %d characters", path,
                          SOTTO_BEARER_LEAST);
    return SOTTO_OK;
}

sotto_bytes sotto_bearer_of(const sotto_http_request *request)
{
    static const char scheme[] = "Bearer "; /* whose case does not matter: RFC 9110, 11.1 */
    const size_t skip = sizeof scheme - 1;
    sotto_bytes value;

    if (!sotto_http_request_field(request, "authorization", &value) || value.len <= skip ||
        strncasecmp((const char *)value.data, scheme, skip) != 0)
        return sotto_bytes_of(NULL, 0);
    return sotto_bytes_of(value.data + skip, value.len - skip);
}

bool sotto_bearer_is(const sotto_bearer *b, const sotto_http_request *request)
{
    return sotto_bytes_equal(sotto_bearer_of(request), sotto_bytes_of(b->text, b->len));
}
