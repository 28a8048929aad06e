/* A crew of one, for libraries that make no threads. */
#include "aggregate/shared/crew.h"

void sotto_crew_use(unsigned threads)
{
    (void)threads;
}

unsigned sotto_crew_size(void)
{
    return 1;
}

sotto_status sotto_crew_run(sotto_crew_work work, void *context, size_t count, sotto_err *err)
{
    return count > 0 ? work(context, 0, count, err) : SOTTO_OK;
}
