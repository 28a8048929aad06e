/* fuzz/target.h - what every fuzz_<name>.c defines. It returns 0 and aborts where a promise is broken. */
#ifndef SOTTO_FUZZ_TARGET_H
#define SOTTO_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
