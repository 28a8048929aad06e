/* How long a round may be: lint says so before there is a round, and links no machine. */
#include "aggregate/round.h"

#include "base/rule.h"

bool sotto_round_may_last(uint64_t from_ms, uint64_t until_ms)
{
    if (SOTTO_RULE(round_lasts) && until_ms > from_ms && until_ms - from_ms > SOTTO_ROUND_MOST_MS)
        return false;
    return true;
}
