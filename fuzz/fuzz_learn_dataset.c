/* A file of examples is refused, or every row of every user lies within it and fits a model. */
#include <stdlib.h>

#include "learn/dataset.h"
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint64_t firsts[65537];
    sotto_dataset d;

    if (sotto_dataset_decode(&d, sotto_bytes_of(data, size), NULL) != SOTTO_OK)
        return 0;
    if (d.users > 65536)
        return 0;
    sotto_dataset_firsts(&d, firsts);
    if (firsts[d.users] != d.training || d.rows.len != (d.training + d.test) * d.height * d.width)
        abort();
    for (size_t u = 0; u < d.users; u++) {
        const size_t count = (size_t)(firsts[u + 1] - firsts[u]);
        const sotto_examples e = sotto_dataset_rows(&d, (size_t)firsts[u], count);

        if (count > d.largest || (count && e.bytes + count * d.height * d.width > data + size))
            abort();
    }
    return 0;
}
