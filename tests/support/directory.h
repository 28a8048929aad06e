/* support/directory.h - places for a test's files, removed when the program ends, also after a failure. */
#ifndef SOTTO_TESTS_SUPPORT_DIRECTORY_H
#define SOTTO_TESTS_SUPPORT_DIRECTORY_H

#include "support/test.h"

/* A new directory. */
const char *sotto_test_directory(sotto_test *t);
/* A name in a new directory; it lives in the test's arena. */
const char *sotto_test_temp(sotto_test *t, const char *name);

#endif
