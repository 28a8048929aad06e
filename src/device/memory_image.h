/* device/memory_image.h - a blank ledger for simulations, laid out once in a process and copied from then on.
 *
 * Callers:  the ledger, for stores in memory. Creating its tables takes most of the time that opening one takes.
 * Threads:  any; the first image that is complete is everybody's.
 */
#ifndef SOTTO_DEVICE_MEMORY_IMAGE_H
#define SOTTO_DEVICE_MEMORY_IMAGE_H

#include "sotto/base.h"

#include <sqlite3.h>

/* Remembers what this database holds as the blank one, unless there is one. It is no failure if it can't. */
void sotto_memory_image_keep(sqlite3 *db);
/* Makes the database a copy of the blank one; false: there is none yet, and db is as it was. */
SOTTO_MUST_USE sotto_status sotto_memory_image_copy(sqlite3 *db, bool *copied, sotto_err *err);

#endif
