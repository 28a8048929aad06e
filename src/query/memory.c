#include "query/memory.h"

#include <sqlite3.h>

enum { TRIES = 8 };

/* What SQLite allocated with before. Written once, while nothing else uses SQLite. */
static sqlite3_mem_methods inner;
static bool metered;

/* Blocks that one thread takes and another frees make both wrong; a connection stays with a thread while a query runs. */
static _Thread_local int64_t held;

static int64_t size_of(void *block)
{
    return block ? inner.xSize(block) : 0;
}

static void *take(int bytes)
{
    void *block = inner.xMalloc(bytes);

    held += size_of(block);
    return block;
}

static void give_back(void *block)
{
    held -= size_of(block);
    inner.xFree(block);
}

static void *resize(void *block, int bytes)
{
    int64_t before = size_of(block);
    void *resized = inner.xRealloc(block, bytes);

    if (resized)
        held += size_of(resized) - before;
    return resized;
}

sotto_status sotto_memory_meter(sotto_err *err)
{
    sqlite3_mem_methods methods;

    if (metered)
        return SOTTO_OK;
    if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &methods) != SQLITE_OK)
        return sotto_fail(err, SOTTO_STALE, "SQLite is used already in this process");
    inner = methods;
    methods.xMalloc = take;
    methods.xFree = give_back;
    methods.xRealloc = resize;
    if (sqlite3_config(SQLITE_CONFIG_MALLOC, &methods) != SQLITE_OK)
        return sotto_fail(err, SOTTO_STALE, "SQLite is used already in this process");
    metered = true;
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    return SOTTO_OK;
}

int64_t sotto_memory_held(void)
{
    return metered ? held : sqlite3_memory_used();
}

bool sotto_memory_counted(void)
{
    bool counted = false;

    /* Checked by trying: a process that shut SQLite down and configured it anew may have stopped either counter.
     * Another thread can hide one of these blocks from SQLite's count, but hardly all. */
    for (int i = 0; i < TRIES && !counted; i++) {
        int64_t before = sotto_memory_held();
        void *block = sqlite3_malloc(1 << (i + 3));

        counted = sotto_memory_held() != before;
        sqlite3_free(block);
    }
    return counted;
}
