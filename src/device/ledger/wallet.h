/* device/ledger/wallet.h - the tokens that admit this device's reports: one for each collection, in the ledger's file.
 *
 * Callers:  device_tokens.c takes keys and asks for tokens; the outbox spends one with the report that carries it.
 * Memory:   rows are copied; a row is a plain value, to be wiped after use.
 * Secrets:  sotto_wallet_row.secret: what links a token to its request, then the token itself. Erased when it is spent.
 *
 * A row goes from planned to asked to held to spent, and never back. When a token is asked for is drawn as its key is taken,
 * before anything else is known of its collection. What was asked with is durable before the request leaves, so a lost answer
 * is asked for again with the same bytes.
 *
 * A credential of ARC stays held for its epoch, and is shown once for each recipe. That is a row of its own: spent, never asked for,
 * with the context of the presentations in the place of a key. A reset begins a wallet without rows: what an older ledger held is never used again.
 */
#ifndef SOTTO_DEVICE_WALLET_H
#define SOTTO_DEVICE_WALLET_H

#include "dap/admission.h"
#include "device/ledger/ledger.h"
#include "recipe/listed_keys.h"

enum {
    SOTTO_WALLET_KEYS = 256, /* rows at most                                                     */
    SOTTO_WALLET_AHEAD =
        90 * 86400, /* seconds: a collection that opens later is passed over for now    */
    SOTTO_WALLET_SHOWN =
        SOTTO_ARC_SHOWS, /* collections that ARC admits this device to in an epoch, at most  */
    SOTTO_WALLET_NEVER_ASKED = -1, /* in the place of a time: of what ARC was shown for         */
    SOTTO_WALLET_PARTY = 128, /* bytes of an issuer's name                                        */
    SOTTO_WALLET_REST =
        86400, /* seconds that a token waits at most before it is used             */
    SOTTO_WALLET_ASKED = SOTTO_ONCE_SEED + SOTTO_BLIND_RSA_SALT + SOTTO_TYPE2_NUMBER,
    SOTTO_WALLET_HELD = SOTTO_ONCE_SEED + SOTTO_TYPE2_TOKEN
};

typedef struct sotto_wallet_row {
    int64_t id;
    char issuer[SOTTO_WALLET_PARTY + 1];
    sotto_listed_key key;
    sotto_token_state state;
    int64_t ask;     /* when it is asked for, at the earliest */
    int64_t rest;    /* seconds that it waits when it came    */
    int64_t ready;   /* held: when it may be used; asked: how long it waited last, in seconds */
    bool logged;     /* a log that the policy had showed its key */
    uint64_t serial; /* of the last list that had its key */
    size_t len;      /* of secret */
    /* asked: seed of the one-time key, salt, blind; held: seed, token; else empty */
    uint8_t secret[SOTTO_WALLET_HELD];
} sotto_wallet_row;

/* Fills ask and rest of a new row. It may depend on the row's collection, but on nothing of this
 * device. */
typedef sotto_status sotto_wallet_plan_fn(void *context, sotto_wallet_row *row, sotto_err *err);

/* Adds a row for each key of a list that is not known yet, and has neither closed nor opens too late. All or none.
 *   SOTTO_STALE      a list of this issuer with a higher serial was taken: this one may have a key that was withdrawn since
 *   SOTTO_REJECTED   a collection is known with another key, or another end; or a key is another collection's
 *   SOTTO_TOO_LARGE  more than SOTTO_WALLET_KEYS */
SOTTO_MUST_USE sotto_status sotto_wallet_take(sotto_ledger *ledger, const char *issuer,
                                              uint64_t serial, bool logged,
                                              const sotto_listed_key *keys, size_t count,
                                              sotto_wallet_plan_fn *plan, void *context,
                                              int64_t now, sotto_err *err);

/* The first row with an id above `after`. */
SOTTO_MUST_USE sotto_status sotto_wallet_next(sotto_ledger *ledger, sotto_wallet_row *out,
                                              bool *found, int64_t after, sotto_err *err);

/* Collections of one analysis, from one time to another: those of a recipe. */
typedef struct sotto_wallet_window {
    const char *issuer, *analysis;
    int64_t opens, closes;
} sotto_wallet_window;
/* The one of them that a report of this time belongs to. */
SOTTO_MUST_USE sotto_status sotto_wallet_find(sotto_ledger *ledger, sotto_wallet_row *out,
                                              bool *found, const sotto_wallet_window *window,
                                              int64_t time, sotto_err *err);

/* Replaces a row that is still in the state `from`, and writes the note into the record; durable when it returns.
 *   SOTTO_STALE  another process was faster: read it again */
SOTTO_MUST_USE sotto_status sotto_wallet_change(sotto_ledger *ledger, const sotto_wallet_row *row,
                                                sotto_token_state from, const char *note,
                                                int64_t now, sotto_err *err);
/* Removes rows of collections that closed a while ago. */
SOTTO_MUST_USE sotto_status sotto_wallet_tidy(sotto_ledger *ledger, int64_t now, sotto_err *err);

/* What the wallet is to keep once both credentials are shown for this recipe: a spent row, under the context of the presentations, until
 * the epochs of both closed.
 *   none  why they can't be shown: a report has them already, or too many collections had, or an epoch ends within the recipe's
 *         schedule; NULL: they can */
SOTTO_MUST_USE sotto_status sotto_wallet_plan_shown(sotto_ledger *ledger, sotto_wallet_row *out,
                                                    const char **none, const sotto_recipe *recipe,
                                                    sotto_wallet_row *const held[2],
                                                    sotto_err *err);

/* ---- inside a transaction ---- */

/* Credentials are shown by a report: its context is kept.
 *   SOTTO_STALE  another report showed them in this context, by whichever process */
SOTTO_MUST_USE sotto_status sotto_wallet_show(sotto_ledger *ledger, const sotto_wallet_row *shown,
                                              sotto_err *err);

/* The token under this key is used by a report: its row keeps nothing of it.
 *   SOTTO_STALE  it is not held: another report has it, by whichever process */
SOTTO_MUST_USE sotto_status sotto_wallet_spend(sotto_ledger *ledger,
                                               const uint8_t key[SOTTO_TOKEN_KEY_ID],
                                               sotto_err *err);

#endif
