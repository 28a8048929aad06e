/* device/ledger/parties_taken.h - signed parties files that this device took, in its record.
 *
 * Callers:  device_parties.c, which judges them.
 * Memory:   what is found is copied into the caller's arena.
 *
 * Entries are only ever added to the record, and a reset carries over every entry whose serial is still that of its
 * file. So the highest serial never goes back, and damage does not raise it.
 */
#ifndef SOTTO_DEVICE_PARTIES_TAKEN_H
#define SOTTO_DEVICE_PARTIES_TAKEN_H

#include "device/ledger/ledger.h"

/* The highest serial in the record; 0: none was taken. */
SOTTO_MUST_USE sotto_status sotto_parties_taken_serial(sotto_ledger *ledger, uint64_t *serial,
                                                       sotto_err *err);
/* The file with this serial. SOTTO_MISSING: there is none. */
SOTTO_MUST_USE sotto_status sotto_parties_taken_file(sotto_ledger *ledger, sotto_bytes *file,
                                                     uint64_t serial, sotto_arena *arena,
                                                     sotto_err *err);
/* Durable when it returns. SOTTO_STALE: one with this serial, or a higher one, was taken meanwhile. */
SOTTO_MUST_USE sotto_status sotto_parties_taken_put(sotto_ledger *ledger, uint64_t serial,
                                                    sotto_bytes file, int64_t now, sotto_err *err);

#endif
