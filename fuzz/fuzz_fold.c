/* The field by which a leader names a fold: a number that is written the same way again, or none. */
#include <stdlib.h>
#include <string.h>

#include "serve/tasks/folds.h"
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int64_t fold = sotto_fold_decode(sotto_bytes_of(data, size));
    char text[SOTTO_FOLD_TEXT];

    if (fold < 0)
        abort();
    sotto_fold_encode(text, fold);
    if (fold > 0 && sotto_fold_decode(sotto_bytes_of(text, strlen(text))) != fold)
        abort();
    return 0;
}
