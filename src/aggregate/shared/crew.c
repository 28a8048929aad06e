#define _POSIX_C_SOURCE 200809L
#include "aggregate/shared/crew.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_uint size = 1;

void sotto_crew_use(unsigned threads)
{
    if (threads == 0) {
        const long cores = sysconf(_SC_NPROCESSORS_ONLN);

        threads = cores > 0 ? (unsigned)cores : 1;
    }
    atomic_store(&size, threads > SOTTO_CREW_MOST ? SOTTO_CREW_MOST : threads);
}

unsigned sotto_crew_size(void)
{
    return atomic_load(&size);
}

typedef struct member {
    sotto_crew_work work;
    void *context;
    size_t first, end;
    pthread_t thread;
    bool started;
    sotto_status status;
    sotto_err err;
} member;

static void *run(void *context)
{
    member *m = context;

    m->status = m->first < m->end ? m->work(m->context, m->first, m->end, &m->err) : SOTTO_OK;
    return NULL;
}

sotto_status sotto_crew_run(sotto_crew_work work, void *context, size_t count, sotto_err *err)
{
    member members[SOTTO_CREW_MOST] = {0};
    size_t threads = sotto_crew_size();
    sotto_status status = SOTTO_OK;

    threads = threads > count ? count : threads;
    for (size_t i = 0; i < threads; i++)
        members[i] = (member){.work = work,
                              .context = context,
                              .first = count * i / threads,
                              .end = count * (i + 1) / threads};
    for (size_t i = 1; i < threads; i++)
        members[i].started = pthread_create(&members[i].thread, NULL, run, &members[i]) == 0;
    for (size_t i = 0; i < threads; i++)
        if (!members[i].started)
            (void)run(&members[i]);
    for (size_t i = 0; i < threads; i++) {
        if (members[i].started)
            (void)pthread_join(members[i].thread, NULL);
        if (status == SOTTO_OK && members[i].status != SOTTO_OK)
            status = sotto_fail(err, members[i].status, "%s", members[i].err.reason);
    }
    return status;
}
