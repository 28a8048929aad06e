/* serve/witness/forks.h - evidence of forks: two trees of one size that a log signed. It stays in the database, and health tells of it until
 * somebody deletes the row.
 *
 * Callers:  witness_service.c.
 * Threads:  look by the host's health thread; others may describe meanwhile.
 */
#ifndef SOTTO_SERVE_WITNESS_FORKS_H
#define SOTTO_SERVE_WITNESS_FORKS_H

#include "db/store.h"
#include "serve/host/last_seen.h"

/* What a log signed, beside what it had signed before. One for each log and size is kept. */
SOTTO_MUST_USE sotto_status sotto_forks_keep(sotto_tx *tx, sotto_bytes origin, uint64_t size,
                                             sotto_bytes note, sotto_bytes before, sotto_err *err);

SOTTO_MUST_USE sotto_status sotto_forks_new(sotto_last_seen **seen, sotto_err *err);
/* Reads the table. */
SOTTO_MUST_USE sotto_status sotto_forks_look(sotto_tx *tx, sotto_last_seen *seen, sotto_err *err);
/* A line of health for each, the first eight; and how many there are. */
void sotto_forks_describe(sotto_last_seen *seen, sotto_buf *out);
uint64_t sotto_forks_count(sotto_last_seen *seen);

#endif
