/* serve/tasks/spent_tokens.h - which tokens were spent, so that none admits two reports.
 *
 * Callers:  the leader when it takes uploads in, the helper when it commits a job; inside sotto_db_run. `sotto admin gc`.
 * Memory:   the caller's.
 * Secrets:  none once a token is spent: a nonce names nobody.
 *
 * A row is (token key, nonce) and the report that had it: its task and its id. Both are needed since tasks of one collection share a
 * key, and a sender may choose one id in two of them. The same report may be sent again: a retry, or its share sealed anew. Rows go
 * with their key: servers refuse tokens of a collection that closed longer ago than reports may be late, and only then are its rows
 * deleted.
 * One row without a nonce stays, which no token has. It closes the key for good: an operator may raise `late` afterwards.
 */
#ifndef SOTTO_SERVE_TASKS_SPENT_TOKENS_H
#define SOTTO_SERVE_TASKS_SPENT_TOKENS_H

#include "dap/admission.h"
#include "db/sql.h"
#include "db/store.h"

/* In the place of a nonce, of a key that is closed for good. */
#define SOTTO_NO_NONCE sotto_bytes_of("", 0)

typedef struct sotto_token_spend {
    int64_t key; /* the number of its key (serve/tasks/admitting_keys.h) */
    uint8_t nonce[SOTTO_TOKEN_NONCE];
    int64_t task; /* the number of its row */
    uint8_t report[SOTTO_REPORT_ID_SIZE];
    bool spent; /* out: another report had the token */
    bool fresh; /* our own: it is spent now          */
} sotto_token_spend;

/* Spends all of them; sorts the list. A token that another report spent before stays that report's. If two reports of one call
 * have the same token, one of them gets it. Tokens of a key that was closed for good count as spent. Rows are locked in one order for everybody: by key, then nonce. Call it once in a
 * transaction, behind sotto_report_ids_take. */
SOTTO_MUST_USE sotto_status sotto_tokens_spend(sotto_tx *tx, sotto_token_spend **spends,
                                               size_t count, sotto_err *err);
/* Deletes what was spent of keys that closed before this time (seconds since 1970), up to `rows` of them, and closes these keys. */
SOTTO_MUST_USE sotto_status sotto_tokens_forget(sotto_tx *tx, int64_t before, uint64_t rows,
                                                uint64_t *gone, sotto_err *err);

#endif
