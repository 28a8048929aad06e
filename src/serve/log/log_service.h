/* serve/log/log_service.h - a transparency log (C2SP tlog-tiles): takes entries from its operator, signs the tree, has it cosigned, and
 * serves it as files.
 *
 * Callers:  the table of services.
 * Secrets:  the log's key and the token of whoever may append.
 */
#ifndef SOTTO_SERVE_LOG_LOG_SERVICE_H
#define SOTTO_SERVE_LOG_LOG_SERVICE_H

#include "serve/host/service.h"

typedef struct sotto_log_config {
    const char *key;       /* file with the key that signs              */
    const char *token;     /* file with the token of whoever appends    */
    const char *directory; /* of the log's files                        */
    const char *witnesses; /* file with keys and URLs; NULL: none       */
    uint64_t peer_check;   /* seconds: host/peers.h                     */
} sotto_log_config;

extern const sotto_service sotto_log_service;

#endif
