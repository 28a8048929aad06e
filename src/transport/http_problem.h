/* transport/http_problem.h - problem documents (RFC 9457): what a peer is told when something is wrong.
 *
 * Callers:  handlers of requests write them; clients read the type.
 * Memory:   borrowed strings in, bytes out.
 * Secrets:  none may be put in: the text goes to strangers.
 */
#ifndef SOTTO_TRANSPORT_HTTP_PROBLEM_H
#define SOTTO_TRANSPORT_HTTP_PROBLEM_H

#include "transport/http.h"

#define SOTTO_HTTP_PROBLEM_TYPE "application/problem+json"

typedef struct sotto_http_problem {
    unsigned status;
    const char *type;       /* a URN such as DAP's; NULL: "about:blank"        */
    const char *title;      /* NULL: the phrase of the status                  */
    const char *detail;     /* may be NULL                                     */
    const char *taskid;     /* DAP's member for the task, base64url; may be NULL */
    unsigned retry_after_s; /* sent as a field; 0: none                    */
    const char *allow;      /* the field that belongs to 405; may be NULL  */
    const char *challenge;  /* WWW-Authenticate, which belongs to 401; may be NULL */
} sotto_http_problem;

/* Appends the document. Whatever JSON can't hold as it is, is escaped.
 *   SOTTO_TOO_LARGE  out would pass its limit; out is unchanged
 */
SOTTO_MUST_USE sotto_status sotto_http_problem_encode(sotto_buf *out,
                                                      const sotto_http_problem *problem,
                                                      sotto_err *err);

/* Copies the member "type" of a peer's document. Nothing else of it is believed.
 *   SOTTO_MALFORMED  it is no such document
 *   SOTTO_TOO_LARGE  the type does not fit with its end
 */
SOTTO_MUST_USE sotto_status sotto_http_problem_type(char *type, size_t size, sotto_bytes document,
                                                    sotto_err *err);

#endif
