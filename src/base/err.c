#include "sotto/base.h"

#include <stdio.h>

#undef sotto_fail

sotto_status sotto_fail(sotto_err *err, sotto_status status, const char *format, ...)
{
    if (err && err->status == SOTTO_OK) {
        va_list args;

        err->status = status;
        va_start(args, format);
        (void)vsnprintf(err->reason, sizeof err->reason, format, args);
        va_end(args);
    }
    return status;
}

const char *sotto_status_name(sotto_status status)
{
    static const char *const names[] = {
        "ok",      "again",     "malformed", "rejected", "denied", "stale",
        "missing", "too large", "no memory", "io",       "bug",
    };
    size_t index = (size_t)status;

    return index < sizeof names / sizeof names[0] ? names[index] : "unknown status";
}
