#include "db/pieces.h"

#include "db/driver.h"

bool sotto_pieces_wanted(const sotto_tx *tx)
{
    return ((const sotto_conn *)(const void *)tx)->driver->put_pieces != NULL;
}

sotto_status sotto_pieces_put(sotto_tx *tx, const char *table, int64_t n, sotto_bytes bytes,
                              sotto_err *err)
{
    sotto_conn *conn = sotto_tx_conn(tx);

    if (sotto_tx_has_failed(tx))
        return sotto_fail(err, conn->status, "%s", conn->reason);
    if (!sotto_pieces_wanted(tx))
        return sotto_conn_fail(conn, err, SOTTO_TROUBLE_FAILED, SOTTO_BUG,
                               "this database takes no pieces: %.80s", table);
    return conn->driver->put_pieces(conn, table, n, bytes, err);
}
