/* transport/http.h - words that server and client share.
 *
 * Callers:  transport/, serve/, collect/.
 * Memory:   values; nothing is kept.
 */
#ifndef SOTTO_TRANSPORT_HTTP_H
#define SOTTO_TRANSPORT_HTTP_H

#include "sotto/base.h"

typedef enum sotto_http_method {
    SOTTO_HTTP_GET, /* a server sees HEAD as GET and withholds the body of the answer */
    SOTTO_HTTP_PUT,
    SOTTO_HTTP_POST,
    SOTTO_HTTP_DELETE,
    SOTTO_HTTP_OPTIONS
} sotto_http_method;

/* TLS 1.2 is spoken with forward secrecy and an AEAD, or not at all; every suite of TLS 1.3 has both. OpenSSL's notation, for
 * either side. */
#define SOTTO_HTTP_TLS12_SUITES "ECDHE+AESGCM:ECDHE+CHACHA20"

/* "GET", ... */
const char *sotto_http_method_name(sotto_http_method method);

/* "Not Found", ...; "Unknown" for what is not in RFC 9110. */
const char *sotto_http_status_phrase(unsigned status);

/* A header field to send. */
typedef struct sotto_http_field {
    const char *name;
    const char *value;
} sotto_http_field;

/* Can these be sent as they are? False where a name is not a token, or a value could start a new line. */
bool sotto_http_fields_are_clean(const sotto_http_field *fields, size_t count);

/* Is this media type the one named, parameters aside? ASCII case is ignored. */
bool sotto_http_is_media_type(sotto_bytes value, const char *type);

/* Is this "localhost", 127.0.0.0/8 or ::1 (brackets allowed)? Only these may be spoken to in the clear. */
bool sotto_http_host_is_loopback(sotto_bytes host);

/* Where a Location points to (RFC 9110, 10.2.2): a path, or a whole URL, at the origin of `base` and nowhere else. So a token
 * never goes to another server, whatever a peer says.
 *   SOTTO_MALFORMED  it points elsewhere, or does not fit with its end
 */
SOTTO_MUST_USE sotto_status sotto_http_locate(char *out, size_t size, sotto_bytes base,
                                              sotto_bytes location, sotto_err *err);

#endif
