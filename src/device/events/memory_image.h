/* device/events/memory_image.h - blank stores for simulations, laid out once in a process and copied from then on.
 *
 * Callers:  the ledger and the event store, in memory. Creating their tables takes most of the time that opening one
 *           takes.
 * Threads:  any; the first image of a layout that is complete is everybody's.
 */
#ifndef SOTTO_DEVICE_MEMORY_IMAGE_H
#define SOTTO_DEVICE_MEMORY_IMAGE_H

#include "sotto/base.h"

#include <sqlite3.h>

enum { SOTTO_MEMORY_LAYOUT = 32 };

/* Remembers what this database holds as the blank one of its layout, a digest, unless there is one or there are many. It
 * is no failure if it can't. */
void sotto_memory_image_keep(sqlite3 *db, const uint8_t layout[SOTTO_MEMORY_LAYOUT]);
/* Makes a database in memory that nothing was done with a copy of the blank one; false: there is none yet, and db is as
 * it was. */
SOTTO_MUST_USE sotto_status sotto_memory_image_copy(sqlite3 *db, bool *copied,
                                                    const uint8_t layout[SOTTO_MEMORY_LAYOUT],
                                                    sotto_err *err);
/* Makes a database in memory a copy of the blank one again. Its connections keep their statements, and see the change at
 * their next look. None may be inside a transaction; false: this one is, or there is no blank one. */
SOTTO_MUST_USE bool sotto_memory_image_restore(sqlite3 *db,
                                               const uint8_t layout[SOTTO_MEMORY_LAYOUT]);

#endif
