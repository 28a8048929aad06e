#include "base/stack.h"

#include "sotto/base.h"

/* Never inlined, so that its array lies where the frames of finished calls lay. */
__attribute__((noinline)) void sotto_wipe_stack(void)
{
    uint8_t below[SOTTO_STACK_WIPED];

    sotto_wipe(below, sizeof below);
}
