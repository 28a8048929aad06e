/* base/random.h - what tests may do to the generator: make it fail, and count its seeds.
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

/* How often generators of this process were seeded. */
uint64_t sotto_random_seedings(void);

#endif
