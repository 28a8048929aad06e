/* serve/witness/witness_service.h - a witness: cosigns each log's checkpoints as long as each continues the last (C2SP tlog-witness).
 * With other witnesses it makes the key of a beacon, and gives its part of the beacon of each epoch.
 *
 * Callers:  the table of services.
 * Secrets:  the witness' key and its share of the beacon's, in its state alone.
 */
#ifndef SOTTO_SERVE_WITNESS_WITNESS_SERVICE_H
#define SOTTO_SERVE_WITNESS_WITNESS_SERVICE_H

#include "serve/host/service.h"

typedef struct sotto_witness_config {
    const char *key;                             /* file with the key that cosigns   */
    const char *logs;                            /* file with the keys of the logs   */
    const char *beacon_witnesses, *beacon_token; /* files; NULL: it gives no parts of a beacon */
} sotto_witness_config;

extern const sotto_service sotto_witness_service;

#endif
