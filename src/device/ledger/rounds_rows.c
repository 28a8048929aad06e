#include "device/ledger/rounds_rows.h"

#include "base/hex.h"

#include <stdio.h>

sotto_status sotto_rho_row_read(sotto_ledger *ledger, sotto_rho_row *out, const char *name,
                                sotto_err *err)
{
    sqlite3_stmt *statement;
    bool row;
    sotto_status status = sotto_ledger_find(ledger, &statement, &row, err,
                                            "SELECT * FROM accounts WHERE name=?", "t", name);

    *out = (sotto_rho_row){.last = INT64_MIN};
    if (status == SOTTO_OK && row) {
        out->id = sqlite3_column_int64(statement, 0);
        out->rho = (uint64_t)sqlite3_column_int64(statement, 2);
        out->allowed = (uint64_t)sqlite3_column_int64(statement, 3);
        out->squares = sqlite3_column_double(statement, 4);
        out->updates = (uint64_t)sqlite3_column_int64(statement, 5);
        out->last = sqlite3_column_int64(statement, 6);
        sotto_ledger_row_digest(out->digest, "accounts", statement);
    }
    sotto_ledger_release(ledger, statement);
    return status;
}

sotto_status sotto_rho_row_write(sotto_ledger *ledger, const sotto_rho_row *s, const char *name,
                                 sotto_err *err)
{
    int64_t id = s->id;

    if (id)
        sotto_ledger_fold_digest(ledger, s->digest);
    return sotto_ledger_insert(ledger, "accounts", &id, err,
                               "INSERT OR REPLACE INTO accounts VALUES(?,?,?,?,?,?,?)", "tuudui",
                               name, s->rho, s->allowed, s->squares, s->updates, s->last);
}

sotto_spent sotto_rho_row_spent(const sotto_ledger *ledger, const sotto_rho_row *row, int64_t now)
{
    sotto_spent spent = {0};

    if (row->id && !sotto_ledger_is_over(ledger, row->last, now))
        spent = (sotto_spent){.epsilon = {row->rho},
                              .delta = {row->allowed},
                              .squares = row->squares,
                              .reports = row->updates};
    spent.unknown = ledger->meta.lost && !sotto_ledger_is_over(ledger, ledger->meta.lost_at, now);
    return spent;
}

void sotto_rho_name(char out[SOTTO_RHO_NAME], const char *kind, const uint8_t *hash,
                    const char *what)
{
    char hex[2 * SOTTO_RHO_HASH + 1];

    sotto_hex_encode(hex, sotto_bytes_of(hash, SOTTO_RHO_HASH));
    (void)snprintf(out, SOTTO_RHO_NAME, "rho %s %s %s", kind, hex, what);
}

void sotto_rho_account_name(char out[SOTTO_RHO_NAME], const sotto_charge *charge, size_t field)
{
    if (field == charge->field_count)
        (void)snprintf(out, SOTTO_RHO_NAME, "analysis %s", charge->analysis);
    else
        (void)snprintf(out, SOTTO_RHO_NAME, "field %s.%s", charge->fields[field].stream,
                       charge->fields[field].field);
}
