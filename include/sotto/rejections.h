/* sotto/rejections.h - reports that a server rejected, by cause: what a server tells about a batch once it
 * was released.
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

/* Whether a server compared the number of reports with the devices that its operator knows of, and what came of it. */
typedef enum sotto_rate_checking {
    SOTTO_RATE_UNTOLD =
        0,              /* one of another make, or older                                         */
    SOTTO_RATE_CHECKED, /* compared, by an older server that does not tell the outcome           */
    SOTTO_RATE_OFF,     /* its operator gave no figure                                           */
    SOTTO_RATE_PASSED,  /* no more than the population explains                                  */
    SOTTO_RATE_RELEASED /* too many; its operator released the batch, with a reason */
} sotto_rate_checking;

typedef struct sotto_rejections {
    bool known;      /* false: `why` says why there are none to show */
    const char *why; /* a constant sentence                          */
    sotto_rate_checking rate;
    uint64_t population; /* devices that might answer, as the operator states it; 0: not told */
    size_t count;
    sotto_rejection items[SOTTO_REJECTION_CAUSES];
} sotto_rejections;

#ifdef __cplusplus
}
#endif

#endif
