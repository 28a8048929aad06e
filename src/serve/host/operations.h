/* serve/host/operations.h - the operator's own port: /healthz, /readyz, /metrics, and /drain for whoever holds the datastore key.
 *
 * Callers:  the server; `sotto admin health` and `sotto admin drain` ask it.
 * Threads:  a loop of its own: it answers while proofs run and uploads wait.
 * Secrets:  the token of /drain, which follows from the datastore key.
 */
#ifndef SOTTO_SERVE_HOST_OPERATIONS_H
#define SOTTO_SERVE_HOST_OPERATIONS_H

#include "serve/host/host.h"

typedef struct sotto_operations sotto_operations;

/* Where host->options.operations says. */
SOTTO_MUST_USE sotto_status sotto_operations_open(sotto_operations **operations, sotto_host *host,
                                                  sotto_err *err);
/* NULL is fine. */
void sotto_operations_close(sotto_operations *operations);
unsigned sotto_operations_port(const sotto_operations *operations);

enum { SOTTO_DRAIN_TOKEN = 65 };
/* Hex, with its end. Wipe it. */
void sotto_operations_token(char out[SOTTO_DRAIN_TOKEN], const sotto_column_keys *columns);

/* Identifies a server that runs this service with this datastore key: /readyz has it in the field Sotto-Server. It is
 * derived from the key and reveals nothing about it. Hex, with its end. */
#define SOTTO_SERVER_FIELD "Sotto-Server"
enum { SOTTO_SERVER_IDENTITY = 33 };
void sotto_operations_identity(char out[SOTTO_SERVER_IDENTITY], const sotto_column_keys *columns,
                               const char *service);

#endif
