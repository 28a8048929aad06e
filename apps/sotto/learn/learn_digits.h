/* apps/sotto/learn/learn_digits.h - made-up digits, for whoever has no data. */
#ifndef SOTTO_APPS_LEARN_DIGITS_H
#define SOTTO_APPS_LEARN_DIGITS_H

#include "learn/dataset.h"

/* So many users with so many rows each, drawn from a seed. */
SOTTO_MUST_USE sotto_status learn_digits_make(sotto_dataset *out, size_t users, size_t rows,
                                              size_t test, uint64_t seed, sotto_arena *arena,
                                              sotto_err *err);

#endif
