/* support/ctime.h - secrets that valgrind follows.
 *
 * A constant-time test marks its secrets, runs the code, and declares public what may be known of the
 * result. memcheck then reports every branch and every address that depends on a secret. Outside
 * valgrind the marks do nothing, so the same program also runs as a plain test.
 */
#ifndef SOTTO_TESTS_SUPPORT_CTIME_H
#define SOTTO_TESTS_SUPPORT_CTIME_H

#include <stddef.h>

#ifdef SOTTO_HAS_VALGRIND
#include <valgrind/memcheck.h>
#endif

static inline void sotto_ctime_secret(const void *data, size_t len)
{
#ifdef SOTTO_HAS_VALGRIND
    (void)VALGRIND_MAKE_MEM_UNDEFINED(data, len);
#else
    (void)data;
    (void)len;
#endif
}

static inline void sotto_ctime_public(const void *data, size_t len)
{
#ifdef SOTTO_HAS_VALGRIND
    (void)VALGRIND_MAKE_MEM_DEFINED(data, len);
#else
    (void)data;
    (void)len;
#endif
}

#endif
