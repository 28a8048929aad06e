#include "device/ledger/ledger_internal.h"

#include "base/alloc.h"
#include "base/rule.h"
#include "device/events/memory_image.h"

#include <stdio.h>
#include <string.h>

enum { ARENA = 2 * SOTTO_REPORT_MAX + (1 << 20) };

static const char damaged[] = "the ledger is damaged";

/* ---- closing --------------------------------------------------------------------------------------------- */

sotto_status sotto_ledger_shut(sotto_ledger *ledger, const char *why, sotto_err *err)
{
    (void)snprintf(ledger->closed, sizeof ledger->closed, "%s: no report leaves until it is reset",
                   why);
    sotto_statements_drop(&ledger->statements);
    sotto_sqlite_close(ledger->db);
    ledger->db = NULL;
    return sotto_fail(err, SOTTO_DENIED, "%s", ledger->closed);
}

sotto_status sotto_ledger_usable(const sotto_ledger *ledger, sotto_err *err)
{
    if (ledger->db)
        return SOTTO_OK;
    return sotto_fail(err, SOTTO_DENIED, "%s", ledger->closed);
}

const char *sotto_ledger_closed(const sotto_ledger *ledger)
{
    return ledger->db ? NULL : ledger->closed;
}

/* ---- transactions ---------------------------------------------------------------------------------------- */

/* A spend that is written to a deleted file would be gone at the next start. */
static bool in_place(const sotto_ledger *ledger)
{
    return ledger->memory || sotto_sqlite_in_place(ledger->db);
}

sotto_status sotto_ledger_resetting(const sotto_ledger *ledger, bool *resetting, sotto_err *err)
{
    char marker[SOTTO_VFS_PATH + 8];

    *resetting = false;
    if (ledger->memory || !ledger->path[0]) /* a file that a reset is making has no name yet */
        return SOTTO_OK;
    (void)snprintf(marker, sizeof marker, "%s.reset", ledger->path);
    return sotto_vfs_exists(&ledger->storage, marker, resetting, err);
}

/* Whether what is written here will be found again. Checked after BEGIN, since a reset with its marker in place
 * waits for transactions. The marker is checked first: it goes only when the new file is in place. */
static sotto_status check_place(sotto_ledger *ledger, sotto_err *err)
{
    bool resetting;
    sotto_status status = sotto_ledger_resetting(ledger, &resetting, err);
    const char *why = NULL;

    if (SOTTO_RULE(reset_stops_others) && status == SOTTO_OK && resetting)
        why = "another process is resetting the ledger";
    if (status == SOTTO_OK && !why && !in_place(ledger))
        why = "the ledger's file was moved or replaced";
    if (status != SOTTO_OK || why)
        sotto_sqlite_rollback(ledger->db);
    return why ? sotto_ledger_shut(ledger, why, err) : status;
}

/* Passes a failure on; one that means damage closes the ledger. */
static sotto_status judge_failure(sotto_ledger *ledger, sotto_status status, const sotto_err *why,
                                  sotto_err *err)
{
    if (status == SOTTO_OK)
        return SOTTO_OK;
    sotto_sqlite_rollback(ledger->db);
    if (status == SOTTO_MALFORMED)
        return sotto_ledger_shut(ledger, damaged, err);
    return sotto_fail(err, status, "%s", why->reason);
}

/* Tells the connection whether commits are synced, at the next transaction after `hurried` changed. */
static sotto_status set_pace(sotto_ledger *ledger, sotto_err *err)
{
    if (ledger->memory || ledger->pace == ledger->hurried)
        return SOTTO_OK;
    SOTTO_TRY(sotto_sqlite_wait(ledger->db, !ledger->hurried, err));
    ledger->pace = ledger->hurried;
    return SOTTO_OK;
}

static sotto_status begin_or_read(sotto_ledger *ledger, bool begin, sotto_err *err)
{
    sotto_err why = {0};
    sotto_status status = SOTTO_OK;

    SOTTO_TRY(sotto_ledger_usable(ledger, err));
    if (begin)
        status = set_pace(ledger, &why);
    if (begin && status == SOTTO_OK)
        status = sotto_ledger_run(ledger, &why, "BEGIN IMMEDIATE", "");
    SOTTO_TRY(check_place(ledger, err));
    if (status == SOTTO_OK)
        status = sotto_ledger_read_meta(ledger, &why);
    return judge_failure(ledger, status, &why, err);
}

sotto_status sotto_ledger_refresh(sotto_ledger *ledger, sotto_err *err)
{
    return begin_or_read(ledger, false, err);
}

sotto_status sotto_ledger_begin(sotto_ledger *ledger, sotto_err *err)
{
    return begin_or_read(ledger, true, err);
}

sotto_status sotto_ledger_end(sotto_ledger *ledger, sotto_status status, sotto_err *err)
{
    uint64_t before = ledger->meta.generation;
    bool unsaid = ledger->said_at == before; /* nor was anything said by this */

    if (status == SOTTO_OK) {
        ledger->meta.generation++;
        status = sotto_ledger_write_meta(ledger, err);
    }
    if (status == SOTTO_OK)
        status = sotto_ledger_run(ledger, err, "COMMIT", "");
    int code = sqlite3_errcode(ledger->db) & 0xff;
    if (status == SOTTO_OK) {
        ledger->said_at = unsaid ? ledger->meta.generation : 0;
        /* A witness that knows of what a power loss undid would close the ledger for good. */
        if (!ledger->hurried)
            sotto_ledger_tell(ledger);
        return SOTTO_OK;
    }
    sotto_sqlite_rollback(ledger->db);
    ledger->meta.generation = before; /* no witness may hear of a failed commit */
    if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB)
        return sotto_ledger_shut(ledger, damaged, err);
    return status;
}

/* ---- opening ---------------------------------------------------------------------------------------------- */

sotto_sqlite_options sotto_ledger_file(const sotto_ledger *ledger, const char *path)
{
    return (sotto_sqlite_options){.storage = &ledger->storage,
                                  .path = path,
                                  .memory = ledger->memory,
                                  .application = SOTTO_SQLITE_LEDGER,
                                  .version = SOTTO_LEDGER_VERSION,
                                  .max_value = SOTTO_LEDGER_MAX_VALUE};
}

static sotto_status open_file(sotto_ledger *ledger, bool *fresh, sotto_err *err)
{
    sotto_sqlite_options options = sotto_ledger_file(ledger, ledger->path);
    int64_t count;

    options.unclaimed = true; /* in memory a copy has it all */
    *fresh = true;
    if (ledger->blank)
        return SOTTO_OK;
    SOTTO_TRY(sotto_sqlite_open(&ledger->db, &options, err));
    if (ledger->memory)
        return SOTTO_OK;
    SOTTO_TRY(sotto_sqlite_check(ledger->db, err));
    SOTTO_TRY(sotto_sqlite_number(ledger->db, &count, "SELECT count(*) FROM sqlite_schema",
                                  "ledger", err));
    *fresh = count == 0;
    return *fresh ? SOTTO_OK : sotto_ledger_upgrade(ledger->db, err);
}

static sotto_status read_all(sotto_ledger *ledger, sotto_err *err)
{
    SOTTO_TRY(sotto_ledger_read_meta(ledger, err));
    return sotto_ledger_verify(ledger, err);
}

/* All rows as of one moment, whatever another process writes meanwhile. */
static sotto_status read_snapshot(sotto_ledger *ledger, sotto_err *err)
{
    SOTTO_TRY(sotto_sqlite_run(ledger->db, "BEGIN", "ledger", err));
    sotto_status status = read_all(ledger, err);
    sotto_sqlite_rollback(ledger->db);
    /* Tables that are not ours are damage as well. */
    return status == SOTTO_BUG ? SOTTO_MALFORMED : status;
}

static const uint8_t layout[SOTTO_MEMORY_LAYOUT] = "ledger";

static sotto_status lay_out(sotto_ledger *ledger, const sotto_ledger_meta *first, sotto_err *err)
{
    const sotto_sqlite_options options = sotto_ledger_file(ledger, ledger->path);
    bool copied;

    if (!ledger->memory)
        return sotto_ledger_lay_out(ledger->db, first, err);
    if (ledger->blank) {
        ledger->blank = false;
        return SOTTO_OK;
    }
    SOTTO_TRY(sotto_memory_image_copy(ledger->db, &copied, layout, err));
    if (copied)
        return SOTTO_OK;
    SOTTO_TRY(sotto_sqlite_claim(ledger->db, &options, err));
    SOTTO_TRY(sotto_ledger_lay_out(ledger->db, first, err));
    sotto_memory_image_keep(ledger->db, layout);
    return SOTTO_OK;
}

/* What was read may be what another process, or one that was killed, did not wait for; see outbox.c. */
static bool is_on_disk(const sotto_ledger *ledger)
{
    return ledger->memory || sotto_sqlite_sync(ledger->db, NULL) == SOTTO_OK;
}

static sotto_status judge(sotto_ledger *ledger, bool fresh, uint64_t remembered, sotto_err *err)
{
    const sotto_ledger_meta first = {.generation = 1};

    if (SOTTO_RULE(missing_closes) && fresh && remembered > 0) {
        (void)sotto_ledger_shut(ledger, "the ledger is missing, and there was one", NULL);
        return SOTTO_OK;
    }
    ledger->meta = first;
    sotto_err raced = {0};
    sotto_status status = fresh ? lay_out(ledger, &first, &raced) : read_snapshot(ledger, err);
    if (fresh && status == SOTTO_STALE) /* two processes made the ledger at the same time */
        status = read_snapshot(ledger, err);
    if (status != SOTTO_OK)
        return sotto_fail(err, status, "%s", raced.reason);
    if (SOTTO_RULE(rollback_closes) && ledger->meta.generation < remembered) {
        (void)sotto_ledger_shut(ledger, "the ledger is older than it once was", NULL);
        return SOTTO_OK;
    }
    if (is_on_disk(ledger)) /* else they are told before anything leaves */
        sotto_ledger_tell(ledger);
    return SOTTO_OK;
}

/* A WAL that the last process left behind may hold what was erased. A process that closes the ledger normally
 * leaves none. */
static sotto_status look_for_wal(sotto_ledger *ledger, sotto_err *err)
{
    char name[SOTTO_VFS_PATH + 8];
    bool left;

    (void)snprintf(name, sizeof name, "%s-wal", ledger->path);
    SOTTO_TRY(sotto_vfs_exists(&ledger->storage, name, &left, err));
    ledger->lingering = ledger->lingering || left;
    return SOTTO_OK;
}

/* Whether there is something to open that may be opened. */
static sotto_status look(sotto_ledger *ledger, uint64_t remembered, bool *there, sotto_err *err)
{
    bool resetting;

    SOTTO_TRY(sotto_ledger_resetting(ledger, &resetting, err));
    if (SOTTO_RULE(reset_whole) && resetting) {
        *there = false;
        (void)sotto_ledger_shut(ledger, "resetting the ledger was interrupted", NULL);
        return SOTTO_OK;
    }
    SOTTO_TRY(look_for_wal(ledger, err));
    SOTTO_TRY(sotto_vfs_exists(&ledger->storage, ledger->path, there, err));
    *there = *there || remembered == 0;
    if (!*there)
        (void)sotto_ledger_shut(ledger, "the ledger is missing, and there was one", NULL);
    return SOTTO_OK;
}

sotto_status sotto_ledger_load(sotto_ledger *ledger, sotto_err *err)
{
    sotto_err first = {0};
    uint64_t remembered;
    bool fresh = false, there = true;

    ledger->closed[0] = '\0';
    ledger->raised = 0;
    ledger->pace = false; /* as files are opened */
    ledger->said_at = 0;
    SOTTO_TRY(sotto_ledger_remembered(ledger, &remembered, err));
    if (!ledger->memory)
        SOTTO_TRY(look(ledger, remembered, &there, err));
    if (!there)
        return SOTTO_OK;
    sotto_status status = open_file(ledger, &fresh, &first);
    if (status == SOTTO_OK)
        status = judge(ledger, fresh, remembered, &first);
    if (status == SOTTO_OK)
        return SOTTO_OK;
    if (SOTTO_RULE(damage_closes) && status == SOTTO_MALFORMED) {
        (void)sotto_ledger_shut(ledger, damaged, NULL);
        return SOTTO_OK;
    }
    if (status == SOTTO_STALE) {
        (void)sotto_ledger_shut(ledger, "the ledger was written by a newer version", NULL);
        return SOTTO_OK;
    }
    (void)sotto_ledger_shut(ledger, "the ledger can't be read", NULL);
    return sotto_fail(err, status, "%s", first.reason);
}

static sotto_status fill(sotto_ledger *ledger, const sotto_ledger_options *options, sotto_err *err)
{
    if (options->witness_count > SOTTO_LEDGER_WITNESSES)
        return sotto_fail(err, SOTTO_TOO_LARGE, "%zu witnesses", options->witness_count);
    for (size_t i = 0; i < options->witness_count; i++)
        ledger->witnesses[i] = options->witnesses[i];
    ledger->witness_count = options->witness_count;
    if (options->storage)
        ledger->storage = *options->storage;
    ledger->memory = !options->path;
    if (ledger->blank)
        return SOTTO_OK;
    if (ledger->memory)
        sotto_sqlite_memory_name(ledger->path, sizeof ledger->path);
    else if (strlen(options->path) > sizeof ledger->path - 24)
        return sotto_fail(err, SOTTO_TOO_LARGE, "a path of %zu bytes", strlen(options->path));
    else
        (void)snprintf(ledger->path, sizeof ledger->path, "%s", options->path);
    return SOTTO_OK;
}

/* Resets everything but the connection and its statements. */
bool sotto_ledger_blank(sotto_ledger *ledger)
{
    if (!ledger->memory || !ledger->db || !sotto_memory_image_restore(ledger->db, layout))
        return false;
    sotto_arena_clear(&ledger->scratch);
    sotto_ledger fresh = {
        .db = ledger->db, .statements = ledger->statements, .memory = true, .blank = true};
    memcpy(fresh.path, ledger->path, sizeof fresh.path);
    *ledger = fresh;
    return true;
}

static sotto_ledger *take(sotto_ledger *spare, const sotto_ledger_options *options)
{
    if (spare && !options->path)
        return spare;
    sotto_ledger_close(spare);
    return sotto_alloc(sizeof(sotto_ledger));
}

sotto_status sotto_ledger_open(sotto_ledger **out, const sotto_ledger_options *options,
                               sotto_err *err)
{
    sotto_ledger *ledger = take(options->spare, options);

    *out = NULL;
    if (!ledger)
        return sotto_fail(err, SOTTO_NO_MEMORY, "ledger");
    sotto_arena_init(&ledger->scratch, ARENA);
    sotto_status status = fill(ledger, options, err);
    if (status == SOTTO_OK)
        status = sotto_ledger_load(ledger, err);
    if (status == SOTTO_OK)
        *out = ledger;
    else
        sotto_ledger_close(ledger);
    return status;
}

void sotto_ledger_close(sotto_ledger *ledger)
{
    if (!ledger)
        return;
    sotto_statements_drop(&ledger->statements);
    sotto_sqlite_close(ledger->db);
    sotto_arena_clear(&ledger->scratch);
    sotto_release(ledger, sizeof *ledger);
}
