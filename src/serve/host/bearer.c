#include "serve/host/bearer.h"

#include "base/secret_file.h"

#include <strings.h>

sotto_status sotto_bearer_read(sotto_bearer *b, const char *path, sotto_err *err)
{
    sotto_buf out = sotto_buf_over(b->text, SOTTO_BEARER);

    SOTTO_TRY(sotto_secret_file_read(&out, path, SOTTO_SECRET_GIVEN, err));
    while (out.len > 0 && out.data[out.len - 1] == '\n')
        out.len--;
    b->len = out.len;
    b->text[b->len] = 0;
    if (b->len < SOTTO_BEARER_LEAST)
        return sotto_fail(err, SOTTO_MALFORMED, "a token file holds fewer than 16 characters");
    return SOTTO_OK;
}

bool sotto_bearer_is(const sotto_bearer *b, const sotto_http_request *request)
{
    sotto_bytes value;

    return sotto_http_request_field(request, "authorization", &value) && value.len > 7 &&
           strncasecmp((const char *)value.data, "Bearer ", 7) == 0 &&
           sotto_bytes_equal(sotto_bytes_of(value.data + 7, value.len - 7),
                             sotto_bytes_of(b->text, b->len));
}
