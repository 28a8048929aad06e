/* The product's methods with two servers. A new one is a folder and a row here. */
#include "aggregate/methods.h"

#include "aggregate/prio/prio.h"

#define ROWS(row) row(prio)

SOTTO_METHOD_TABLE(ROWS);
