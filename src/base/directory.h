/* base/directory.h - names of files that outlive a power loss.
 *
 * Callers:  whoever makes, renames or links a file that must still be there afterwards.
 */
#ifndef SOTTO_BASE_DIRECTORY_H
#define SOTTO_BASE_DIRECTORY_H

#include <stdbool.h>
#include <sys/types.h>

/* Syncs the directory that holds the file of that path. False: it could not, or the path has 4,096 bytes or more. */
bool sotto_directory_sync(const char *path);

/* Makes a directory, and syncs a new one into its parent. False: errno says why. One that is there already is fine, and so is
 * a parent that we may search but not read: it has no sync. */
bool sotto_directory_make(const char *path, mode_t mode);

#endif
