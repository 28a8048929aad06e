#define _DEFAULT_SOURCE

#include "support/residue.h"

#include <pthread.h>
#include <string.h>

enum { STACK = 512 * 1024, UNTOUCHED = 0xc3 };

static _Alignas(4096) uint8_t stack[STACK];

typedef struct call {
    void (*run)(void *arg);
    void *arg;
} call;

static void *begin(void *arg)
{
    const call *c = arg;

    c->run(c->arg);
    return NULL;
}

void sotto_test_on_own_stack(sotto_test *t, void (*run)(void *arg), void *arg)
{
    call c = {run, arg};
    pthread_attr_t attributes;
    pthread_t thread;

    memset(stack, UNTOUCHED, sizeof stack);
    CHECK(t, pthread_attr_init(&attributes) == 0);
    CHECK(t, pthread_attr_setstack(&attributes, stack, sizeof stack) == 0);
    CHECK(t, pthread_create(&thread, &attributes, begin, &c) == 0);
    CHECK(t, pthread_join(thread, NULL) == 0);
    (void)pthread_attr_destroy(&attributes);
}

bool sotto_test_stack_holds(const void *bytes, size_t len)
{
    const uint8_t *wanted = bytes;

    for (size_t at = 0; at + len <= sizeof stack; at++)
        if (stack[at] == wanted[0] && memcmp(stack + at, wanted, len) == 0)
            return true;
    return false;
}

size_t sotto_test_stack_below(const void *address)
{
    uintptr_t at = (uintptr_t)address, bottom = (uintptr_t)stack;
    size_t lowest = 0;

    if (at < bottom || at - bottom > sizeof stack)
        return 0;
    while (lowest < sizeof stack && stack[lowest] == UNTOUCHED)
        lowest++;
    return (size_t)(at - bottom) - lowest;
}
