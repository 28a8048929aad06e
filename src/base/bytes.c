#include "sotto/base.h"

#include <string.h>

bool sotto_bytes_equal_vartime(sotto_bytes a, sotto_bytes b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

bool sotto_bytes_equal(sotto_bytes a, sotto_bytes b)
{
    uint8_t differs = 0;

    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++)
        differs = (uint8_t)(differs | (a.data[i] ^ b.data[i]));
    return differs == 0;
}

void sotto_wipe(void *data, size_t len)
{
    if (len == 0)
        return;
    memset(data, 0, len);
    /* The barrier makes the zeros observable, so the store cannot be dropped as dead. */
    __asm__ __volatile__("" : : "r"(data) : "memory");
}
