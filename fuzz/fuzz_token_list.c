/* The issuer's list of keys: nothing is taken of an invalid list, and every key that is taken has a time that a collection can
 * have. */
#include "target.h"

#include <stdlib.h>

#include "serve/attester/token_list.h"

static sotto_status take(void *context, const sotto_attester_key *key, sotto_err *err)
{
    size_t *taken = context;

    (void)err;
    if (key->closes < 0 || key->closes > INT64_C(999999999999))
        abort();
    (*taken)++;
    return SOTTO_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t taken = 0;

    if (sotto_token_list_each(sotto_bytes_of(data, size), take, &taken, NULL) != SOTTO_OK &&
        taken > 0)
        abort();
    return 0;
}
