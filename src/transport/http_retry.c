#include "transport/http_retry.h"

bool sotto_http_may_retry(sotto_http_outcome outcome, unsigned status, bool repeatable)
{
    if (outcome == SOTTO_HTTP_UNSENT)
        return true;
    if (outcome == SOTTO_HTTP_LOST)
        return repeatable;
    switch (status) {
    case 429: /* RFC 6585, 4: the request was not looked at */
        return true;
    case 408:
    case 500:
    case 502:
    case 503:
    case 504:
        return repeatable;
    default:
        return false;
    }
}

unsigned sotto_http_backoff(unsigned attempt, unsigned first_ms, unsigned max_ms, uint32_t random)
{
    uint64_t wait = first_ms;

    for (unsigned i = 1; i < attempt && wait < max_ms; i++)
        wait *= 2;
    wait = wait < max_ms ? wait : max_ms;
    return (unsigned)(wait - wait / 2 + ((wait / 2 * random) >> 32));
}
