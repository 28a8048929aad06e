/* query/stream.h - what makes a valid stream, and the table that holds one.
 *
 * Callers:  the event store, which keeps such tables; query/check.c, which compiles queries against empty ones.
 * Memory:   everything is borrowed.
 */
#ifndef SOTTO_QUERY_STREAM_H
#define SOTTO_QUERY_STREAM_H

#include "sotto/events.h"

enum { SOTTO_STREAM_SQL = 12 * 1024 }; /* bytes of the longest sotto_stream_create */

/* Lower case only, so that SQLite's own case folding can't make two names one, and nothing to quote. */
bool sotto_stream_name_valid(const char *name);

/* Names, types, limits on age and rows; nothing twice.
 *   SOTTO_MALFORMED  the reason names the stream and the field */
SOTTO_MUST_USE sotto_status sotto_streams_check(const sotto_stream *streams, size_t count,
                                                sotto_err *err);

/* "integer", "real", "text" or "boolean". */
const char *sotto_type_name(sotto_type type);

/* Writes the CREATE TABLE of a valid stream. */
void sotto_stream_create(char out[SOTTO_STREAM_SQL], const sotto_stream *stream);

#endif
