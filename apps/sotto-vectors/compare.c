#include "families.h"

sotto_status sotto_vectors_compare(sotto_bytes wanted, sotto_bytes got, const char *what,
                                   sotto_err *err)
{
    if (wanted.len != got.len)
        return sotto_fail(err, SOTTO_REJECTED, "%s: %zu bytes where the file has %zu", what,
                          got.len, wanted.len);
    for (size_t i = 0; i < wanted.len; i++)
        if (wanted.data[i] != got.data[i])
            return sotto_fail(err, SOTTO_REJECTED, "%s: differs from the file at byte %zu of %zu",
                              what, i, wanted.len);
    return SOTTO_OK;
}
