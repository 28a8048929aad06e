/* seal/ohttp/date.h - the Date field of a request (RFC 9110, 5.6.7): what a gateway's memory of replays is bounded by.
 *
 * Callers:  device/ writes it; serve/gateway reads it.
 */
#ifndef SOTTO_SEAL_OHTTP_DATE_H
#define SOTTO_SEAL_OHTTP_DATE_H

#include "sotto/base.h"

enum { SOTTO_HTTP_DATE = 29 }; /* "Sun, 06 Nov 1994 08:49:37 GMT" */

/* Writes all of it, without an end. Times before 1970 or after the year 9999 are written as the nearest that there is. */
void sotto_http_date_write(char out[SOTTO_HTTP_DATE], int64_t seconds);
/* IMF-fixdate alone, which is all that a sender may write.
 *   SOTTO_MALFORMED  not a date, or the weekday is wrong
 */
SOTTO_MUST_USE sotto_status sotto_http_date_read(int64_t *seconds, sotto_bytes text,
                                                 sotto_err *err);

#endif
