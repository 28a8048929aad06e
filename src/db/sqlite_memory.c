#include "db/sqlite_memory.h"

#include "base/alloc.h"

#include <pthread.h>
#include <sqlite3.h>
#include <string.h>

/* ROOM: before a large block's bytes, so that they are aligned as the block is. */
enum { LARGE = 256 << 10, ROOM = 64 };

/* Before the bytes of every block. */
typedef struct head {
    size_t bytes;
    size_t large; /* 1: it is one of ours; 0: one of SQLite's allocator */
} head;

_Static_assert(sizeof(head) == 16, "SQLite wants what follows to be aligned to 8 bytes");

/* What SQLite allocated with before. Written once, while nothing uses SQLite. */
static sqlite3_mem_methods inner;
static bool configured;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static head *head_of(void *block)
{
    return (head *)block - 1;
}

static void *take_large(size_t bytes)
{
    uint8_t *room = sotto_alloc_kept(bytes + ROOM);
    void *block;

    room = room ? room : sotto_alloc(bytes + ROOM);
    if (!room)
        return NULL;
    block = room + ROOM;
    *head_of(block) = (head){bytes, 1};
    return block;
}

static void *take(int bytes)
{
    head *h;

    if (bytes >= LARGE)
        return take_large((size_t)bytes);
    h = inner.xMalloc(bytes + (int)sizeof *h);
    if (!h)
        return NULL;
    *h = (head){(size_t)bytes, 0};
    return h + 1;
}

static void give_back(void *block)
{
    if (!block)
        return;
    if (head_of(block)->large)
        sotto_release_sealed((uint8_t *)block - ROOM, head_of(block)->bytes + ROOM);
    else
        inner.xFree(head_of(block));
}

static void *resize(void *block, int bytes)
{
    head *h = head_of(block);
    void *moved;

    if (!h->large && bytes < LARGE) {
        h = inner.xRealloc(h, bytes + (int)sizeof *h);
        if (!h)
            return NULL;
        h->bytes = (size_t)bytes;
        return h + 1;
    }
    moved = take(bytes);
    if (!moved)
        return NULL;
    memcpy(moved, block, h->bytes < (size_t)bytes ? h->bytes : (size_t)bytes);
    give_back(block);
    return moved;
}

static int size_of(void *block)
{
    return block ? (int)head_of(block)->bytes : 0;
}

static void configure(void)
{
    sqlite3_mem_methods methods;

    if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &methods) != SQLITE_OK)
        return;
    inner = methods;
    methods.xMalloc = take;
    methods.xFree = give_back;
    methods.xRealloc = resize;
    methods.xSize = size_of;
    configured = sqlite3_config(SQLITE_CONFIG_MALLOC, &methods) == SQLITE_OK;
}

bool sotto_sqlite_memory_keep(void)
{
    (void)pthread_once(&once, configure);
    return configured;
}
