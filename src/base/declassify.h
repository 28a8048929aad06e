/* base/declassify.h - marks a value that was computed from secrets and may now be known.
 *
 * The constant-time tests mark secrets as undefined memory and let valgrind complain of every branch on
 * them. Where a decision is meant to be seen (a report is refused), its outcome is declared public here.
 * SOTTO_CLASSIFY marks a secret again that came back from a library which these tests can't follow. Costs nothing outside those
 * tests.
 */
#ifndef SOTTO_BASE_DECLASSIFY_H
#define SOTTO_BASE_DECLASSIFY_H

#ifdef SOTTO_CTIME
#include <valgrind/memcheck.h>
#define SOTTO_DECLASSIFY(address, len) ((void)VALGRIND_MAKE_MEM_DEFINED(address, len))
#define SOTTO_CLASSIFY(address, len)   ((void)VALGRIND_MAKE_MEM_UNDEFINED(address, len))
#else
#define SOTTO_DECLASSIFY(address, len) ((void)(address), (void)(len))
#define SOTTO_CLASSIFY(address, len)   ((void)(address), (void)(len))
#endif

#endif
