/* base/directory.h - names of files that outlive a power loss.
 *
 * Callers:  whoever makes, renames or links a file that must still be there afterwards.
 */
#ifndef SOTTO_BASE_DIRECTORY_H
#define SOTTO_BASE_DIRECTORY_H

#include <stdbool.h>

/* Syncs the directory that holds the file of that path. False: it could not, or the path has 4,096 bytes or more. */
bool sotto_directory_sync(const char *path);

#endif
