/* The methods with two servers of everything but libsotto-device, which has room for the one of methods.c alone. */
#include "aggregate/methods.h"

#include "aggregate/pine/pine.h"
#include "aggregate/prio/prio.h"

#define ROWS(row) row(prio) row(pine)

SOTTO_METHOD_TABLE(ROWS);
