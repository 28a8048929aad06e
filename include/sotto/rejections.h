/* sotto/rejections.h - reports that a server refused, by cause: what is told of a batch once it was released.
 *
 * Callers:  collect/ reads them, analyse/ puts them into receipts.
 * Memory:   plain values.
 * Secrets:  none.
 */
#ifndef SOTTO_REJECTIONS_H
#define SOTTO_REJECTIONS_H

#include "sotto/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SOTTO_REJECTION_CAUSES = 32, SOTTO_REJECTION_NAME = 48 };

typedef struct sotto_rejection {
    char cause[SOTTO_REJECTION_NAME]; /* "report_replayed", ... */
    uint64_t reports;
} sotto_rejection;

typedef struct sotto_rejections {
    bool known;      /* false: `why` says why there are none to show */
    const char *why; /* a constant sentence                          */
    size_t count;
    sotto_rejection items[SOTTO_REJECTION_CAUSES];
} sotto_rejections;

#ifdef __cplusplus
}
#endif

#endif
