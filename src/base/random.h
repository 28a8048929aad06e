/* base/random.h - what tests may do to the generator: make it fail, age it, and watch it forget.
 *
 * Nothing here can make its bytes predictable; a source of that kind lives in sim/ and is not linked
 * into programs.
 */
#ifndef SOTTO_BASE_RANDOM_H
#define SOTTO_BASE_RANDOM_H

#include "sotto/random.h"

/* While true, every attempt to seed fails as if the kernel had refused. */
void sotto_random_fail_seeding(bool fail);

/* This thread's generator seeds itself afresh before its next byte. */
void sotto_random_forget(void);

/* As if this thread's seed were that much older. */
void sotto_random_age(uint64_t nanoseconds);

/* Whether this thread's generator still holds these bytes, which it gave before. */
bool sotto_random_remembers(const void *bytes, size_t len);

/* How often generators of this process were seeded. */
uint64_t sotto_random_seedings(void);

#endif
