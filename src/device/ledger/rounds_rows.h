/* device/ledger/rounds_rows.h - rows of the table of accounts as rounds and sessions of learning keep them.
 *
 * Callers:  rounds.c and session.c alone.
 *
 * A row of zCDP is named "rho ...": rounds.c and session.c say what its columns mean. An account of epsilon has other names, and means
 * what ledger_spend.c says.
 */
#ifndef SOTTO_DEVICE_ROUNDS_ROWS_H
#define SOTTO_DEVICE_ROUNDS_ROWS_H

#include "device/ledger/ledger_internal.h"

enum { SOTTO_RHO_HASH = 16, SOTTO_RHO_NAME = 256 }; /* bytes of a recipe's hash; of a row's name */

typedef struct sotto_rho_row {
    int64_t id; /* 0: no row yet */
    uint8_t digest[SOTTO_LEDGER_DIGEST];
    uint64_t rho, allowed; /* columns epsilon and delta  */
    double squares;
    uint64_t updates; /* column reports */
    int64_t last;     /* INT64_MIN: there is no row */
} sotto_rho_row;

SOTTO_MUST_USE sotto_status sotto_rho_row_read(sotto_ledger *ledger, sotto_rho_row *out,
                                               const char *name, sotto_err *err);
/* Inside a transaction. */
SOTTO_MUST_USE sotto_status sotto_rho_row_write(sotto_ledger *ledger, const sotto_rho_row *row,
                                                const char *name, sotto_err *err);

/* What an account of epsilon has spent in this period. */
sotto_spent sotto_rho_row_spent(const sotto_ledger *ledger, const sotto_rho_row *row, int64_t now);
/* "rho KIND HASH WHAT": a row about a recipe. */
void sotto_rho_name(char out[SOTTO_RHO_NAME], const char *kind, const uint8_t *hash,
                    const char *what);
/* The account of epsilon of a field of the charge, or of its analysis: field == field_count. */
void sotto_rho_account_name(char out[SOTTO_RHO_NAME], const sotto_charge *charge, size_t field);

#endif
