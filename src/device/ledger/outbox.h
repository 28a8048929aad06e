/* device/ledger/outbox.h - sealed reports that are paid for and wait to leave, in the ledger's own file.
 *
 * Callers:  the report path fills it through sotto_ledger_spend; the host's tick empties it.
 * Memory:   everything handed to a callback lives until it returns. A callback may not use the ledger.
 * Secrets:  the leader's input share. It is kept until the report is acknowledged, so that the same one can be sealed
 *           again to a new key, and then erased.
 */
#ifndef SOTTO_DEVICE_OUTBOX_H
#define SOTTO_DEVICE_OUTBOX_H

#include "query/budget.h"
#include "sotto/device.h"
#include "sotto/seal.h"

enum { SOTTO_REPORT_MAX = 48 << 20 };

typedef struct sotto_ledger sotto_ledger;

/* A report as it is put into the outbox, and as the transport gets it from there. */
typedef struct sotto_report {
    uint8_t id[SOTTO_REPORT_ID_SIZE];
    const char *recipe; /* whose answer it is; to be put in, it needs none: its spend names it */
    sotto_bytes destination; /* whatever tells the transport where: the task's id  */
    sotto_bytes bytes;       /* sealed, as they will leave                         */
    sotto_bytes inputs;      /* what can be sealed again: the leader's share       */
    const uint8_t *token;    /* id of the key whose token it carries; NULL: none       */
    const struct sotto_wallet_row *shown; /* what the wallet keeps of ARC; NULL: nothing */
    sotto_bytes randomised; /* for the person's record; may be empty; the transport sees none */
} sotto_report;

/* What became of an offer. */
typedef enum sotto_delivery {
    SOTTO_DELIVERY_ACCEPTED = 1, /* acknowledged: it is forgotten here                      */
    SOTTO_DELIVERY_LATER,        /* unknown outcome: the same bytes are sent again          */
    SOTTO_DELIVERY_OUTDATED,     /* outdated_config: sealed to a key that is no longer used */
    SOTTO_DELIVERY_REFUSED       /* never going to be accepted                              */
} sotto_delivery;

typedef struct sotto_transport {
    /* Whether the report may be offered at all now. One that may not is not recorded as having left. NULL: all may. */
    bool (*ready)(void *context, const sotto_report *report);
    /* Called only when the spend is durable, in the database itself and with every witness. */
    sotto_delivery (*send)(void *context, const sotto_report *report);
    /* Seals its inputs to the current key under the same report id, appending the report to `sealed`. Asked once a
     * report; a second OUTDATED gives the report up. NULL: such reports wait. */
    sotto_status (*reseal)(void *context, const sotto_report *report, sotto_buf *sealed,
                           sotto_err *err);
    void *context;
} sotto_transport;

/* Offers every waiting report that is ready once, oldest first, and none any more once another process withdrew or erased it. Two
 * processes may offer the same bytes at once, as a retry does; what one of them finishes the other leaves alone.
 * *waiting (may be NULL) counts those that still wait.
 *   SOTTO_DENIED  the ledger is closed, or was found damaged on the way
 *   SOTTO_IO, SOTTO_AGAIN  something could not be made durable; what was not offered waits
 */
SOTTO_MUST_USE sotto_status sotto_outbox_send(sotto_ledger *ledger,
                                              const sotto_transport *transport, int64_t now,
                                              uint64_t *waiting, sotto_err *err);

/* Whom a dummy stands in for. */
typedef struct sotto_dummy {
    const char *recipe;
    const char *analysis;
    uint64_t round;
    sotto_decision_scope scope; /* of the decision that it follows */
    const sotto_asked *asked;   /* for the record; NULL: none      */
} sotto_dummy;

/* A report on no value: reads no event, spends nothing, and leaves like any other.
 *   SOTTO_STALE   this report id is known, or the decision was acted on already, by whichever process
 *   SOTTO_DENIED  there is no consent, or not the one that it was begun with
 */
SOTTO_MUST_USE sotto_status sotto_outbox_put_dummy(sotto_ledger *ledger, const sotto_dummy *dummy,
                                                   const sotto_report *report, int64_t now,
                                                   sotto_err *err);

SOTTO_MUST_USE sotto_status sotto_outbox_count(sotto_ledger *ledger, uint64_t *waiting,
                                               sotto_err *err);

/* Erases what waits, of one recipe or with NULL of all: withdrawal, `forget`, a recipe that closed. What was
 * spent stays spent, since nobody can prove that a report did not leave. `why` goes into the record.
 *   SOTTO_IO, SOTTO_AGAIN  bytes may linger on the disk: call again, until sotto_outbox_lingers says otherwise
 */
SOTTO_MUST_USE sotto_status sotto_outbox_empty(sotto_ledger *ledger, const char *recipe,
                                               const char *why, int64_t now, sotto_err *err);

/* Whether bytes of reports that are gone may still be on the disk: erasing them could not finish, in this process or
 * in one that ended before this one began. */
bool sotto_outbox_lingers(const sotto_ledger *ledger);

#endif
