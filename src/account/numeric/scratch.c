#include "account/numeric/scratch.h"

#include "base/alloc.h"

double *sotto_scratch_take(sotto_scratch *s, size_t count)
{
    if (count <= s->count)
        return s->memory;
    sotto_scratch_clear(s);
    s->memory = sotto_alloc(count * sizeof(double));
    if (s->memory)
        s->count = count;
    return s->memory;
}

void sotto_scratch_clear(sotto_scratch *s)
{
    sotto_release(s->memory, s->count * sizeof(double));
    *s = (sotto_scratch){0};
}
