#define _POSIX_C_SOURCE 200809L

#include "db/spool.h"

#include "base/alloc.h"
#include "base/directory.h"
#include "base/rule.h"
#include "db/spool_blocks.h"
#include "db/spool_direct.h"
#include "db/spool_shared.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Through SQLite's VFS, so that whatever stands in for a disk there stands in for it here. It moves no more at once than
 * SQLite's largest page. */
enum { PATH_BYTES = SOTTO_SPOOL_PATH, AT_ONCE = 64 << 10, LOCK_TRIES = 40, LOCK_MS = 50 };
/* One writes while the other syncs: the disk has work all the time. */
enum { WRITERS = 2 };

typedef struct writer {
    struct sotto_spool *spool;
    sotto_spool_direct direct;
    uint8_t block[AT_ONCE]; /* for bytes that come in pieces; sealed ones */
    bool started;
    pthread_t thread;
} writer;

struct sotto_spool {
    char path[PATH_BYTES];
    char directory[PATH_BYTES]; /* of several processes' files ... */
    uint64_t number;            /* ... of which this is ours; 0: it stands beside SQLite */
    int own;                    /* keeps others from sweeping it; -1: none */
    const char *name;           /* what SQLite takes for a path, made of it */
    sqlite3_file *file;
    size_t file_size;
    pthread_mutex_t io;      /* the file's object, but for syncs */
    pthread_mutex_t syncing; /* for those */
    pthread_mutex_t lock;    /* over all that follows, but for the writers: each has its own */
    pthread_cond_t some, settled;
    sotto_spool_blocks blocks;
    sotto_spool_job *first, **last;
    uint64_t syncs, failures; /* of those, how many failed */
    unsigned writing;         /* of the writers, how many write what was posted */
    bool closing;
    writer writers[WRITERS];
};

/* ---- places -------------------------------------------------------------------------------------------------- */

size_t sotto_spool_place_write(uint8_t out[SOTTO_SPOOL_SHARED_PLACE_SIZE],
                               const sotto_spool_place *place)
{
    sotto_buf buf = sotto_buf_over(out, SOTTO_SPOOL_SHARED_PLACE_SIZE);
    sotto_writer w = sotto_writer_on(&buf);

    sotto_write_uint(&w, place->block, 8);
    sotto_write_uint(&w, place->len, 8);
    if (place->file != 0)
        sotto_write_uint(&w, place->file, 8);
    return buf.len;
}

static uint64_t blocks_of(uint64_t len)
{
    return (len + SOTTO_SPOOL_BLOCK - 1) / SOTTO_SPOOL_BLOCK;
}

sotto_status sotto_spool_place_read(sotto_spool_place *out, sotto_bytes wire, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);

    out->block = sotto_read_uint(&in, 8);
    out->len = sotto_read_uint(&in, 8);
    out->file = wire.len == SOTTO_SPOOL_SHARED_PLACE_SIZE ? sotto_read_uint(&in, 8) : 0;
    SOTTO_TRY(sotto_reader_finish(&in, "place in a spool", err));
    if (out->len > INT32_MAX || out->block > SOTTO_SPOOL_MOST_BLOCKS ||
        out->block + blocks_of(out->len) > SOTTO_SPOOL_MOST_BLOCKS)
        return sotto_fail(err, SOTTO_MALFORMED, "a place that no spool has");
    return SOTTO_OK;
}

sotto_status sotto_spool_claim(sotto_spool *spool, const sotto_spool_place *place, sotto_err *err)
{
    sotto_status status;

    (void)pthread_mutex_lock(&spool->lock);
    status = sotto_spool_blocks_claim(&spool->blocks, place->block, blocks_of(place->len), err);
    (void)pthread_mutex_unlock(&spool->lock);
    return status;
}

void sotto_spool_give_back(sotto_spool *spool, const sotto_spool_place *place)
{
    if (SOTTO_RULE(places_of_others_stay) && place->file != spool->number)
        return;
    (void)pthread_mutex_lock(&spool->lock);
    sotto_spool_blocks_give_back(&spool->blocks, place->block, blocks_of(place->len));
    (void)pthread_mutex_unlock(&spool->lock);
}

/* ---- writing ------------------------------------------------------------------------------------------------- */

static sotto_status write_at(sotto_spool *spool, const uint8_t *data, size_t len, uint64_t at,
                             sotto_err *err)
{
    int code;

    (void)pthread_mutex_lock(&spool->io);
    code = spool->file->pMethods->xWrite(spool->file, data, (int)len, (sqlite3_int64)at);
    (void)pthread_mutex_unlock(&spool->io);
    return code == SQLITE_OK ? SOTTO_OK
                             : sotto_fail(err, SOTTO_IO, "spool: %s", sqlite3_errstr(code));
}

/* Out of the direct block, or through the VFS where that can't be done. */
static sotto_status write_direct(writer *w, size_t len, uint64_t at, sotto_err *err)
{
    sotto_err why = {0};
    sotto_status status = sotto_spool_direct_write(&w->direct, len, at, &why);

    if (status != SOTTO_MISSING)
        return status == SOTTO_OK ? status : sotto_fail(err, status, "%s", why.reason);
    for (size_t done = 0; done < len; done += AT_ONCE)
        SOTTO_TRY(write_at(w->spool, w->direct.block + done,
                           len - done < AT_ONCE ? len - done : AT_ONCE, at + done, err));
    return SOTTO_OK;
}

/* Writes what is given to it from a block's beginning on, in whole blocks: writing part of a page would read it first. What
 * does not fill a block waits here for what follows. */
typedef struct joiner {
    writer *writer;
    uint64_t at;
    uint8_t *block;
    size_t size; /* of the block */
    size_t len;  /* in the block; less than its size between two calls */
    bool direct; /* out of the block alone: the disk takes no other memory */
} joiner;

static sotto_status write_block(joiner *j, const uint8_t *from, size_t len, sotto_err *err)
{
    SOTTO_TRY(j->direct ? write_direct(j->writer, len, j->at, err)
                        : write_at(j->writer->spool, from, len, j->at, err));
    j->at += len;
    j->len = 0;
    return SOTTO_OK;
}

static sotto_status join(joiner *j, sotto_bytes bytes, sotto_err *err)
{
    while (bytes.len > 0) {
        size_t len = j->size - j->len < bytes.len ? j->size - j->len : bytes.len;
        const uint8_t *from = bytes.data;

        if (j->direct || j->len > 0 || len < j->size) {
            memcpy(j->block + j->len, bytes.data, len);
            from = j->block;
        }
        j->len += len;
        bytes = sotto_bytes_of(bytes.data + len, bytes.len - len);
        if (j->len == j->size)
            SOTTO_TRY(write_block(j, from, j->size, err));
    }
    return SOTTO_OK;
}

/* The last block is filled up, for the same reason. */
static sotto_status finish(joiner *j, sotto_err *err)
{
    size_t filled = (j->len + SOTTO_SPOOL_BLOCK - 1) / SOTTO_SPOOL_BLOCK * SOTTO_SPOOL_BLOCK;

    if (j->len == 0)
        return SOTTO_OK;
    memset(j->block + j->len, 0, filled - j->len);
    return write_block(j, j->block, filled, err);
}

static size_t length_of(const sotto_spool_piece *piece)
{
    size_t len = piece->bytes.len;

    for (size_t i = 0; i < piece->more_count; i++)
        len += piece->more[i].len;
    return len;
}

/* A short one waits for the disk longer than the page cache would have taken. */
static bool goes_directly(const writer *w, const sotto_spool_piece *piece)
{
    enum { LONG = 512 << 10 };

    return w->direct.on && length_of(piece) >= LONG;
}

static sotto_status write_piece(writer *w, const sotto_spool_piece *piece, sotto_err *err)
{
    joiner j = {w, piece->place.block * SOTTO_SPOOL_BLOCK, w->block, AT_ONCE, 0, false};

    if (goes_directly(w, piece)) {
        j.direct = true;
        j.block = w->direct.block;
        j.size = SOTTO_SPOOL_DIRECT_BLOCK;
    }
    SOTTO_TRY(join(&j, piece->bytes, err));
    for (size_t i = 0; i < piece->more_count; i++)
        SOTTO_TRY(join(&j, piece->more[i], err));
    return finish(&j, err);
}

static sotto_status place_pieces(sotto_spool *spool, sotto_spool_job *job, sotto_err *err)
{
    bool good = true;

    (void)pthread_mutex_lock(&spool->lock);
    for (size_t i = 0; i < job->count; i++) {
        sotto_spool_piece *p = &job->pieces[i];

        p->place = (sotto_spool_place){0};
        size_t len = length_of(p);

        if (len == 0 || !good)
            continue;
        good = sotto_spool_blocks_take(&spool->blocks, &p->place.block, blocks_of(len));
        p->place.len = good ? len : 0;
        p->place.file = good ? spool->number : 0;
    }
    (void)pthread_mutex_unlock(&spool->lock);
    return good ? SOTTO_OK : sotto_fail(err, SOTTO_NO_MEMORY, "a spool");
}

/* No row names what failed: its places are free at once. */
static void fail_job(sotto_spool *spool, sotto_spool_job *job)
{
    for (size_t i = 0; i < job->count; i++) {
        sotto_spool_give_back(spool, &job->pieces[i].place);
        job->pieces[i].place = (sotto_spool_place){0};
    }
}

static uint64_t failures_of(sotto_spool *spool)
{
    uint64_t failures;

    (void)pthread_mutex_lock(&spool->lock);
    failures = spool->failures;
    (void)pthread_mutex_unlock(&spool->lock);
    return failures;
}

/* For what this thread wrote since there were so many failures. The system tells once that pages were lost, whoever's they
 * were: a sync of the other thread that failed meanwhile may have been about ours. */
static int sync_since(sotto_spool *spool, uint64_t failures)
{
    int code;

    (void)pthread_mutex_lock(&spool->syncing);
    code = spool->file->pMethods->xSync(spool->file, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY);
    (void)pthread_mutex_lock(&spool->lock);
    spool->syncs++;
    spool->failures += code != SQLITE_OK;
    if (code == SQLITE_OK && spool->failures != failures)
        code = SQLITE_IOERR_FSYNC;
    (void)pthread_mutex_unlock(&spool->lock);
    (void)pthread_mutex_unlock(&spool->syncing);
    return code;
}

static void write_all(writer *w, sotto_spool_job *jobs)
{
    sotto_spool *spool = w->spool;
    const uint64_t failures = failures_of(spool);
    sotto_spool_job *next;

    for (sotto_spool_job *job = jobs; job; job = job->next) {
        job->status = place_pieces(spool, job, &job->err);
        for (size_t i = 0; job->status == SOTTO_OK && i < job->count; i++)
            job->status = write_piece(w, &job->pieces[i], &job->err);
    }
    int code = sync_since(spool, failures);

    for (sotto_spool_job *job = jobs; job; job = next) {
        next = job->next; /* the job is gone once its owner hears of it */
        if (job->status == SOTTO_OK && code != SQLITE_OK)
            job->status = sotto_fail(&job->err, SOTTO_IO, "spool: %s", sqlite3_errstr(code));
        if (job->status != SOTTO_OK)
            fail_job(spool, job);
        job->done(job->context, job->status, &job->err);
    }
}

static void *run(void *context)
{
    writer *w = context;
    sotto_spool *spool = w->spool;
    sotto_spool_job *jobs;

    for (;;) {
        (void)pthread_mutex_lock(&spool->lock);
        while (!spool->first && !spool->closing)
            (void)pthread_cond_wait(&spool->some, &spool->lock);
        jobs = spool->first;
        spool->first = NULL;
        spool->last = &spool->first;
        spool->writing += jobs != NULL;
        (void)pthread_mutex_unlock(&spool->lock);
        if (!jobs)
            return NULL;
        write_all(w, jobs);
        (void)pthread_mutex_lock(&spool->lock);
        spool->writing--;
        (void)pthread_cond_broadcast(&spool->settled);
        (void)pthread_mutex_unlock(&spool->lock);
    }
}

void sotto_spool_post(sotto_spool *spool, sotto_spool_job *job)
{
    job->next = NULL;
    job->status = SOTTO_OK;
    job->err = (sotto_err){0};
    (void)pthread_mutex_lock(&spool->lock);
    *spool->last = job;
    spool->last = &job->next;
    (void)pthread_cond_signal(&spool->some);
    (void)pthread_mutex_unlock(&spool->lock);
}

void sotto_spool_settle(sotto_spool *spool)
{
    if (!spool)
        return;
    (void)pthread_mutex_lock(&spool->lock);
    while (spool->first || spool->writing > 0)
        (void)pthread_cond_wait(&spool->settled, &spool->lock);
    (void)pthread_mutex_unlock(&spool->lock);
}

uint64_t sotto_spool_syncs(sotto_spool *spool)
{
    uint64_t syncs;

    (void)pthread_mutex_lock(&spool->lock);
    syncs = spool->syncs;
    (void)pthread_mutex_unlock(&spool->lock);
    return syncs;
}

/* ---- reading ------------------------------------------------------------------------------------------------- */

sotto_status sotto_spool_get(sotto_spool *spool, sotto_buf *out, const sotto_spool_place *place,
                             sotto_err *err)
{
    int code = SQLITE_OK;

    if (place->file != spool->number && spool->number != 0)
        return sotto_spool_shared_read(out, spool->directory, place, err);
    if (place->file != spool->number)
        return sotto_fail(err, SOTTO_MALFORMED, "a place in a file of several processes");
    if (out->cap - out->len < place->len)
        return sotto_fail(err, SOTTO_TOO_LARGE, "no room for what is in the spool");
    for (size_t done = 0, len; code == SQLITE_OK && done < place->len; done += len) {
        uint64_t at = place->block * SOTTO_SPOOL_BLOCK + done;

        len = place->len - done < AT_ONCE ? (size_t)place->len - done : AT_ONCE;
        (void)pthread_mutex_lock(&spool->io);
        code = spool->file->pMethods->xRead(spool->file, out->data + out->len + done, (int)len,
                                            (sqlite3_int64)at);
        (void)pthread_mutex_unlock(&spool->io);
    }
    if (code == SQLITE_IOERR_SHORT_READ)
        return sotto_fail(err, SOTTO_MALFORMED, "the spool ends before what it should hold");
    if (code != SQLITE_OK)
        return sotto_fail(err, SOTTO_IO, "spool: %s", sqlite3_errstr(code));
    out->len += place->len;
    return SOTTO_OK;
}

/* ---- opening and closing ------------------------------------------------------------------------------------- */

/* Readable by its owner alone, and synced into the directory before a row names a place in it. That is done for an existing
 * file too, since whoever made it may have been killed before it could sync. */
static sotto_status make_private(const char *path, sotto_err *err)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0 && errno != EEXIST)
        return sotto_fail(err, SOTTO_IO, "%.80s: %s", path, strerror(errno));
    if (fd >= 0)
        (void)close(fd);
    return sotto_directory_sync(path)
               ? SOTTO_OK
               : sotto_fail(err, SOTTO_IO, "%.80s: its directory is not synced", path);
}

/* One that ends may still hold it for a moment. */
static sotto_status lock_file(sotto_spool *spool, sotto_err *err)
{
    static const int levels[] = {SQLITE_LOCK_SHARED, SQLITE_LOCK_RESERVED, SQLITE_LOCK_EXCLUSIVE};
    const struct timespec pause = {0, LOCK_MS * 1000000L};
    const sqlite3_io_methods *m = spool->file->pMethods;
    int code = SQLITE_BUSY;

    for (unsigned i = 0; i < LOCK_TRIES; i++) {
        code = SQLITE_OK;
        for (size_t k = 0; code == SQLITE_OK && k < sizeof levels / sizeof levels[0]; k++)
            code = m->xLock(spool->file, levels[k]);
        if (code != SQLITE_BUSY)
            break;
        (void)m->xUnlock(spool->file, SQLITE_LOCK_NONE);
        (void)nanosleep(&pause, NULL);
    }
    if (code == SQLITE_BUSY)
        return sotto_fail(err, SOTTO_STALE, "another process has %.80s", spool->path);
    return code == SQLITE_OK ? SOTTO_OK
                             : sotto_fail(err, SOTTO_IO, "spool: %s", sqlite3_errstr(code));
}

static sotto_status open_file(sotto_spool *spool, const char *vfs_name, sotto_err *err)
{
    enum { FLAGS = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MAIN_DB };
    sqlite3_vfs *vfs = sqlite3_vfs_find(vfs_name);
    int code, given = 0;

    if (!vfs)
        return sotto_fail(err, SOTTO_MISSING, "spool: no such VFS");
    if (spool->number != 0)
        SOTTO_TRY(sotto_spool_shared_make(&spool->own, spool->path, err));
    else if (!vfs_name) /* a VFS of somebody's own looks after its files itself */
        SOTTO_TRY(make_private(spool->path, err));
    spool->name = sqlite3_create_filename(spool->path, "", "", 0, NULL);
    spool->file_size = (size_t)vfs->szOsFile;
    spool->file = sotto_alloc(spool->file_size);
    if (!spool->name || !spool->file)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a spool");
    code = vfs->xOpen(vfs, spool->name, spool->file, FLAGS, &given);
    if (code != SQLITE_OK)
        return sotto_fail(err, SOTTO_IO, "%.80s: %s", spool->path, sqlite3_errstr(code));
    if (spool->number == 0)
        SOTTO_TRY(lock_file(spool, err));
    if (!vfs_name)
        sotto_spool_direct_open(&spool->writers[0].direct, spool->path);
    return SOTTO_OK;
}

/* A VFS of somebody's own may have been made for one thread. A second writer is a matter of speed. */
static sotto_status start_writers(sotto_spool *spool, bool own_vfs, sotto_err *err)
{
    for (size_t i = 0; i < (own_vfs ? 1 : WRITERS); i++) {
        writer *w = &spool->writers[i];

        if (i > 0)
            sotto_spool_direct_share(&w->direct, &spool->writers[0].direct);
        w->started = pthread_create(&w->thread, NULL, run, w) == 0;
    }
    return spool->writers[0].started ? SOTTO_OK
                                     : sotto_fail(err, SOTTO_NO_MEMORY, "no thread for a spool");
}

static sotto_spool *new_spool(void)
{
    sotto_spool *spool = sotto_alloc(sizeof *spool);

    if (!spool)
        return NULL;
    (void)pthread_mutex_init(&spool->io, NULL);
    (void)pthread_mutex_init(&spool->syncing, NULL);
    (void)pthread_mutex_init(&spool->lock, NULL);
    (void)pthread_cond_init(&spool->some, NULL);
    (void)pthread_cond_init(&spool->settled, NULL);
    spool->last = &spool->first;
    spool->own = -1;
    for (size_t i = 0; i < WRITERS; i++) {
        spool->writers[i].spool = spool;
        spool->writers[i].direct.fd = -1;
    }
    return spool;
}

/* What is not opened is closed. */
static sotto_status start(sotto_spool **out, sotto_spool *spool, const char *vfs, sotto_err *err)
{
    sotto_status status = open_file(spool, vfs, err);

    if (status == SOTTO_OK)
        status = start_writers(spool, vfs != NULL, err);
    if (status == SOTTO_OK)
        *out = spool;
    else
        sotto_spool_close(spool);
    return status;
}

sotto_status sotto_spool_open(sotto_spool **out, const char *address, const char *vfs,
                              sotto_err *err)
{
    static const char scheme[] = "sqlite:";
    sotto_spool *spool;
    int len;

    *out = NULL;
    if (strncmp(address, scheme, sizeof scheme - 1) != 0)
        return SOTTO_OK;
    spool = new_spool();
    if (!spool)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a spool");
    len = snprintf(spool->path, sizeof spool->path, "%s-bodies", address + sizeof scheme - 1);
    if (len > 0 && (size_t)len < sizeof spool->path)
        return start(out, spool, vfs, err);
    sotto_spool_close(spool);
    return sotto_fail(err, SOTTO_MALFORMED, "the database's path is too long");
}

sotto_status sotto_spool_open_in(sotto_spool **out, const char *directory, uint64_t file,
                                 sotto_err *err)
{
    sotto_spool *spool = new_spool();
    sotto_status status;

    *out = NULL;
    if (!spool)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a spool");
    (void)snprintf(spool->directory, sizeof spool->directory, "%s", directory);
    status = sotto_spool_shared_path(spool->path, directory, file, err);
    if (status != SOTTO_OK) {
        sotto_spool_close(spool);
        return status;
    }
    spool->number = file;
    return start(out, spool, NULL, err);
}

/* Others may read it, but nobody gets a place of it any more. A file that failed to open is not ours to remove. */
static void close_shared(sotto_spool *spool)
{
    if (spool->own < 0)
        return;
    if (spool->writers[0].started && spool->blocks.used == 0)
        (void)unlink(spool->path);
    (void)close(spool->own);
}

void sotto_spool_close(sotto_spool *spool)
{
    if (!spool)
        return;
    (void)pthread_mutex_lock(&spool->lock);
    spool->closing = true;
    (void)pthread_cond_broadcast(&spool->some);
    (void)pthread_mutex_unlock(&spool->lock);
    for (size_t i = 0; i < WRITERS; i++)
        if (spool->writers[i].started)
            (void)pthread_join(spool->writers[i].thread, NULL);
    for (size_t i = WRITERS; i-- > 0;)
        sotto_spool_direct_close(&spool->writers[i].direct);
    if (spool->file && spool->file->pMethods) {
        (void)spool->file->pMethods->xUnlock(spool->file, SQLITE_LOCK_NONE);
        (void)spool->file->pMethods->xClose(spool->file);
    }
    close_shared(spool);
    sotto_release(spool->file, spool->file_size);
    if (spool->name)
        sqlite3_free_filename(spool->name);
    sotto_spool_blocks_clear(&spool->blocks);
    (void)pthread_cond_destroy(&spool->some);
    (void)pthread_cond_destroy(&spool->settled);
    (void)pthread_mutex_destroy(&spool->lock);
    (void)pthread_mutex_destroy(&spool->syncing);
    (void)pthread_mutex_destroy(&spool->io);
    sotto_release(spool, sizeof *spool);
}
