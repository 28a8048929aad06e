#include "device/ledger/ledger_internal.h"

#include "device/events/store_internal.h"

/* ---- a mark in the event file ------------------------------------------------------------------------ */

static sotto_status read_mark(void *context, uint64_t *generation, sotto_err *err)
{
    sotto_store *store = context;
    int64_t mark;

    SOTTO_TRY(sotto_store_follow(store, err));
    SOTTO_TRY(sotto_sqlite_number(
        store->db, &mark, "SELECT value FROM sotto_notes WHERE name='ledger'", "notes", err));
    *generation = mark ? 1 : 0;
    return SOTTO_OK;
}

/* It only remembers that there was a ledger: to keep the generation would cost a sync for every
 * report. */
static sotto_status leave_mark(void *context, uint64_t generation, sotto_err *err)
{
    sotto_store *store = context;
    uint64_t known = 1;

    (void)generation;
    if (!store->marked)
        SOTTO_TRY(read_mark(store, &known, err));
    if (!known)
        SOTTO_TRY(sotto_store_note(store, "ledger", 1, err));
    store->marked = true; /* nothing takes it away while the file is open */
    return SOTTO_OK;
}

sotto_witness sotto_store_witness(sotto_store *store)
{
    return (sotto_witness){.read = read_mark, .raise = leave_mark, .context = store};
}

/* ---- all of them --------------------------------------------------------------------------------------- */

sotto_status sotto_ledger_remembered(const sotto_ledger *ledger, uint64_t *generation,
                                     sotto_err *err)
{
    *generation = 0;
    for (size_t i = 0; i < ledger->witness_count; i++) {
        uint64_t seen = 0;

        SOTTO_TRY(ledger->witnesses[i].read(ledger->witnesses[i].context, &seen, err));
        *generation = seen > *generation ? seen : *generation;
    }
    return SOTTO_OK;
}

static sotto_status raise_all(const sotto_ledger *ledger, sotto_err *err)
{
    for (size_t i = 0; i < ledger->witness_count; i++)
        SOTTO_TRY(
            ledger->witnesses[i].raise(ledger->witnesses[i].context, ledger->meta.generation, err));
    return SOTTO_OK;
}

void sotto_ledger_tell(sotto_ledger *ledger)
{
    if (ledger->raised < ledger->meta.generation && raise_all(ledger, NULL) == SOTTO_OK)
        ledger->raised = ledger->meta.generation;
}

sotto_status sotto_ledger_testify(sotto_ledger *ledger, sotto_err *err)
{
    if (ledger->raised >= ledger->meta.generation)
        return SOTTO_OK;
    SOTTO_TRY(raise_all(ledger, err));
    ledger->raised = ledger->meta.generation;
    return SOTTO_OK;
}
