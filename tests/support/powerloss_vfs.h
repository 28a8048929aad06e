/* support/powerloss_vfs.h - a disk that loses power, fills up, or fails, when a test says so.
 *
 * A VFS over the default one. Files really exist, and readers see every write; what would survive a power
 * loss is remembered beside them: the bytes at the last sync, and each write since. When the power goes,
 * every later call fails; sotto_powerloss_restore then makes the files what a machine finds at its next
 * start. Name it in sotto_storage through sotto_powerloss_storage.
 *
 * One disk a process, one thread. What is counted: writes, truncations, syncs, deletions, and the creation of
 * files; not reads, locks, or shared memory, none of which outlives a machine.
 */
#ifndef SOTTO_TESTS_SUPPORT_POWERLOSS_VFS_H
#define SOTTO_TESTS_SUPPORT_POWERLOSS_VFS_H

#include "query/vfs.h"

/* Registers the VFS, at the first call, and forgets every file. */
void sotto_powerloss_start(void);
extern const sotto_storage sotto_powerloss_storage;

/* Steps taken since sotto_powerloss_start or the last restore. */
uint64_t sotto_powerloss_steps(void);
/* How many of them were syncs. */
uint64_t sotto_powerloss_syncs(void);
/* Writes that no sync has followed yet, in files whose name ends in this; "" for all. */
uint64_t sotto_powerloss_unsynced(const char *ending);

/* The power goes at the step with this number, which does not happen any more. Negative: never. */
void sotto_powerloss_at(int64_t step);
/* The step with this number fails with SQLITE_FULL (`full`) or SQLITE_IOERR; if `stays`, so do all writes,
 * truncations and creations after it. The machine runs on. Negative: never. */
void sotto_powerloss_fail_at(int64_t step, bool full, bool stays);

/* Close every connection first. Files become what the disk holds: with seed 0 nothing that was not synced;
 * otherwise each write since the last sync was kept or lost as the seed decides. Switches all failures off
 * and counts from 0 again. */
void sotto_powerloss_restore(uint64_t seed);

#endif
