/* account/numeric/wide.h - loops that a compiler widens for machines that are not all alike.
 *
 * Callers:  the files of this room whose loops take their time.
 *
 * One build of a SOTTO_WIDE function runs on any machine of its kind; which of its widths is chosen when a program starts, before
 * sanitizers are ready for that. With clang there is one width, and where size is what counts: choosing brings a table of all
 * processors into a library, though none of these loops is in it.
 */
#ifndef SOTTO_ACCOUNT_NUMERIC_WIDE_H
#define SOTTO_ACCOUNT_NUMERIC_WIDE_H

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&                             \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__OPTIMIZE_SIZE__)
#define SOTTO_WIDE __attribute__((target_clones("avx512f", "avx2,fma", "default")))
#else
#define SOTTO_WIDE
#endif

#endif
