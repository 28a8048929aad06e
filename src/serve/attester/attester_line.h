/* serve/attester/attester_line.h - attested requests wait in line for the issuer, and go there together.
 *
 * A call to the issuer takes as long as its signatures. What comes meanwhile waits, is counted in one transaction and goes in one call:
 * the busier an attester is, the fewer transactions and calls a request costs. A request that comes alone does not wait.
 *
 * Threads:  join on a compute thread; `told` is called on that thread, on another compute thread, or on the client's.
 */
#ifndef SOTTO_SERVE_ATTESTER_ATTESTER_LINE_H
#define SOTTO_SERVE_ATTESTER_ATTESTER_LINE_H

#include "serve/attester/attester_counts.h"
#include "serve/host/host.h"

enum {
    SOTTO_ATTESTER_UNKNOWN = 401
}; /* the answer to a bearer token that an issuer does not know */

typedef struct sotto_attester_line sotto_attester_line;

/* Called once for each request that joined: with the issuer's response, which is borrowed, or a failure. */
typedef void sotto_attester_told(void *context, sotto_attester_request *asked, sotto_status status,
                                 sotto_bytes response);

/* issuer: its URL; bearer: the token by which it knows the attester. Both must outlive the line. */
SOTTO_MUST_USE sotto_status sotto_attester_line_open(sotto_attester_line **line, sotto_host *host,
                                                     const char *issuer, const char *bearer,
                                                     sotto_attester_told *told, void *context,
                                                     sotto_err *err);
/* Nobody may wait in it. NULL is fine. */
void sotto_attester_line_close(sotto_attester_line *line);

void sotto_attester_line_join(sotto_attester_line *line, sotto_attester_request *asked);

/* Whether the issuer did not know the attester's token when it answered last. */
bool sotto_attester_line_is_unknown(sotto_attester_line *line);

#endif
