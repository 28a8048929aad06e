/* The methods with two servers of libsotto-device. All others have those of methods_full.c: a new one is a folder and a row
 * there. */
#include "aggregate/methods.h"

#include "aggregate/prio/prio.h"

#define ROWS(row) row(prio)

SOTTO_METHOD_TABLE(ROWS);
