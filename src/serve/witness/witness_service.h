/* serve/witness/witness_service.h - a witness: cosigns each log's checkpoints as long as each continues the last (C2SP tlog-witness).
 *
 * Callers:  the table of services.
 * Secrets:  the witness' key, in its state alone.
 */
#ifndef SOTTO_SERVE_WITNESS_WITNESS_SERVICE_H
#define SOTTO_SERVE_WITNESS_WITNESS_SERVICE_H

#include "serve/host/service.h"

typedef struct sotto_witness_config {
    const char *key;  /* file with the key that cosigns   */
    const char *logs; /* file with the keys of the logs   */
} sotto_witness_config;

extern const sotto_service sotto_witness_service;

#endif
