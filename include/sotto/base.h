/* sotto/base.h - bytes, errors and memory: what every other room speaks in.
 *
 * Callers:  everyone.
 * Memory:   bytes are borrowed; a buffer writes into memory its owner brought; an arena owns what it
 *           hands out until it is reset or cleared.
 * Threads:  nothing here is shared; an object belongs to one thread at a time.
 * Secrets:  sotto_arena_reset and sotto_arena_clear wipe everything they handed out.
 */
#ifndef SOTTO_BASE_H
#define SOTTO_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define SOTTO_API               __attribute__((visibility("default")))
#define SOTTO_MUST_USE          __attribute__((warn_unused_result))
#define SOTTO_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define SOTTO_API
#define SOTTO_MUST_USE
#define SOTTO_PRINTF(fmt, args)
#endif

/* ---- errors: a status to act on, a sentence to read ------------------------------------------ */

typedef enum sotto_status {
    SOTTO_OK = 0,
    SOTTO_AGAIN,     /* nothing is wrong; more input or time is needed     */
    SOTTO_MALFORMED, /* the bytes do not parse                             */
    SOTTO_REJECTED,  /* they parse, but a proof, tag or signature is wrong */
    SOTTO_DENIED,    /* policy says no: budget spent, query not allowed    */
    SOTTO_STALE,     /* right once, not now: replay, closed batch, old key */
    SOTTO_MISSING,
    SOTTO_TOO_LARGE,
    SOTTO_NO_MEMORY,
    SOTTO_IO, /* disk, network, database; trying again may help     */
    SOTTO_BUG /* one of our own preconditions was broken            */
} sotto_status;

/* The caller's. Functions of device.h, recipe.h, lint.h, collect.h, analyse.h, privacy.h and view.h clear it when they are called, so
 * that it speaks of the last call alone. Those of base.h, seal.h, vdaf.h, log.h and random.h, which others are built of, keep the
 * first failure: zero it before use (sotto_err err = {0}) and before it is used again. Every function that takes one also takes
 * NULL. The reason is for an operator and never holds a key, share, measurement or token. */
typedef struct sotto_err {
    sotto_status status;
    char reason[160];
} sotto_err;

/* Ready to be used, or to be used again. NULL is fine. */
static inline void sotto_err_clear(sotto_err *err)
{
    if (err) {
        err->status = SOTTO_OK;
        err->reason[0] = 0;
    }
}

/* Writes the reason, unless err already holds one (the first failure is the cause), and returns status. */
SOTTO_API sotto_status sotto_fail(sotto_err *err, sotto_status status, const char *format, ...)
    SOTTO_PRINTF(3, 4);
/* Tells compilers and analysers, which can't see into the call, that what comes back is the status given.
 * It is evaluated twice. */
#define sotto_fail(err, status, ...) (sotto_fail(err, status, __VA_ARGS__), (status))

/* "malformed", "rejected", ...: stable words for logs and exit messages. */
SOTTO_API const char *sotto_status_name(sotto_status status);

/* Returns early where nothing needs release. */
#define SOTTO_TRY(call)                                                                            \
    do {                                                                                           \
        sotto_status sotto_try_ = (call);                                                          \
        if (sotto_try_ != SOTTO_OK)                                                                \
            return sotto_try_;                                                                     \
    } while (0)

/* ---- bytes ------------------------------------------------------------------------------------ */

/* Somebody else's bytes. */
typedef struct sotto_bytes {
    const uint8_t *data;
    size_t len;
} sotto_bytes;

static inline sotto_bytes sotto_bytes_of(const void *data, size_t len)
{
    sotto_bytes b = {(const uint8_t *)data, len};
    return b;
}

/* Not for secrets: leaves at the first difference. */
SOTTO_API bool sotto_bytes_equal_vartime(sotto_bytes a, sotto_bytes b);

/* Takes the same time wherever the bytes differ. Lengths are public. */
SOTTO_API bool sotto_bytes_equal(sotto_bytes a, sotto_bytes b);

/* Overwrites memory that held a secret; the compiler may not drop it. */
SOTTO_API void sotto_wipe(void *data, size_t len);

/* Memory to write into: len of cap bytes are used. A failed append leaves it unchanged. */
typedef struct sotto_buf {
    uint8_t *data;
    size_t len;
    size_t cap;
} sotto_buf;

static inline sotto_buf sotto_buf_over(void *data, size_t cap)
{
    sotto_buf b = {(uint8_t *)data, 0, cap};
    return b;
}

static inline sotto_bytes sotto_buf_bytes(const sotto_buf *buf)
{
    return sotto_bytes_of(buf->data, buf->len);
}

/* ---- reading and writing wire formats ----------------------------------------------------------- */

/* Remembers its first short read and yields zeros and empty bytes after it, so a decoder is checked
 * once, at the end. Integers are big endian, as DAP and HPKE write them. */
typedef struct sotto_reader {
    const uint8_t *at;
    const uint8_t *end;
    bool short_read;
} sotto_reader;

SOTTO_API sotto_reader sotto_reader_over(sotto_bytes wire);
SOTTO_API uint64_t sotto_read_uint(sotto_reader *in, unsigned width); /* 1 to 8 bytes */
SOTTO_API void sotto_read_fixed(sotto_reader *in, void *out, size_t len);
/* Borrowed: these live as long as the wire bytes. */
SOTTO_API sotto_bytes sotto_read_bytes(sotto_reader *in, size_t len);
SOTTO_API sotto_bytes sotto_read_opaque8(sotto_reader *in);
SOTTO_API sotto_bytes sotto_read_opaque16(sotto_reader *in);
SOTTO_API sotto_bytes sotto_read_opaque32(sotto_reader *in);
SOTTO_API size_t sotto_reader_left(const sotto_reader *in);
/* SOTTO_MALFORMED, naming what was read, if anything was missing or is left over. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_reader_finish(const sotto_reader *in, const char *what,
                                                          sotto_err *err);

/* Remembers that it ran out of room; finish then takes back all it wrote. */
typedef struct sotto_writer {
    sotto_buf *out;
    size_t start;
    bool overflow;
} sotto_writer;

SOTTO_API sotto_writer sotto_writer_on(sotto_buf *out);
SOTTO_API void sotto_write_uint(sotto_writer *w, uint64_t value, unsigned width);
SOTTO_API void sotto_write_bytes(sotto_writer *w, sotto_bytes bytes);
SOTTO_API void sotto_write_opaque8(sotto_writer *w, sotto_bytes bytes);
SOTTO_API void sotto_write_opaque16(sotto_writer *w, sotto_bytes bytes);
SOTTO_API void sotto_write_opaque32(sotto_writer *w, sotto_bytes bytes);
/* SOTTO_TOO_LARGE, naming what was written, if it did not fit; the buffer is then as it was. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_writer_finish(sotto_writer *w, const char *what,
                                                          sotto_err *err);

/* ---- memory ------------------------------------------------------------------------------------- */

/* Lifetimes instead of individual frees: one per request on a server, one per answer on a device.
 * A large request takes its size, rounded up to 64 bytes, and 64 more; small ones share blocks. */
typedef struct sotto_arena {
    struct sotto_arena_block *used;  /* handed out since the last reset, newest first */
    struct sotto_arena_block *open;  /* the one of them that small requests share     */
    struct sotto_arena_block *spare; /* wiped, waiting to be handed out again         */
    size_t ceiling;                  /* bytes it may ever hold at once                */
    size_t held;                     /* bytes taken from the allocator                */
    size_t peak;                     /* largest `held` so far                         */
} sotto_arena;

SOTTO_API void sotto_arena_init(sotto_arena *arena, size_t ceiling);
/* Zeroed memory aligned to 64 bytes; NULL if the ceiling or the machine's memory is reached. */
SOTTO_API SOTTO_MUST_USE void *sotto_arena_take(sotto_arena *arena, size_t size);
/* As above for count items; NULL also where the product overflows. */
SOTTO_API SOTTO_MUST_USE void *sotto_arena_take_array(sotto_arena *arena, size_t count,
                                                      size_t size);
/* A place to come back to: what is handed out after it can be taken back alone. */
typedef struct sotto_arena_mark {
    struct sotto_arena_block *used;
    struct sotto_arena_block *open;
    size_t open_used;
} sotto_arena_mark;

SOTTO_API sotto_arena_mark sotto_arena_here(const sotto_arena *arena);
/* Wipes everything handed out since the mark. Later marks are void then, and after a reset all are. */
SOTTO_API void sotto_arena_rollback(sotto_arena *arena, sotto_arena_mark mark);
/* Wipes everything handed out and keeps the memory for the next round; what that round leaves unused is
 * given back at the reset after it. */
SOTTO_API void sotto_arena_reset(sotto_arena *arena);
/* Wipes everything handed out and gives the memory back. */
SOTTO_API void sotto_arena_clear(sotto_arena *arena);

#ifdef __cplusplus
}
#endif

#endif
