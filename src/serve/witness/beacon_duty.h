/* serve/witness/beacon_duty.h - a witness's part of an epoch's public randomness (aggregate/shared/beacon.h).
 *
 * Callers:  witness_service.c.
 * Threads:  the share is read by compute threads, and never changes.
 * Secrets:  the share of the witnesses' key, and the token of whoever asks.
 *
 * A witness gives parts for one session and one registry in an epoch, over restarts. Else a server could have beacons of many
 * sessions, and post the one whose committee and graph suit it.
 */
#ifndef SOTTO_SERVE_WITNESS_BEACON_DUTY_H
#define SOTTO_SERVE_WITNESS_BEACON_DUTY_H

#include "aggregate/shared/beacon.h"
#include "serve/host/bearer.h"
#include "serve/host/host.h"
#include "serve/host/router.h"

#include <stdatomic.h>

#define SOTTO_BEACON_DUTY_SCHEMA                                                                   \
    "CREATE TABLE beacon (epoch {int} PRIMARY KEY, session {bytes} NOT NULL, registry {bytes} NOT" \
    " NULL);"

typedef struct sotto_beacon_duty {
    sotto_host *host;
    bool is_on; /* false: it has no share, and gives no parts */
    uint32_t place;
    sotto_scalar share;
    sotto_bearer asker;
    atomic_uint_fast64_t given, refused;
} sotto_beacon_duty;

/* share: a file with the witness's place and its share in hexadecimal digits, one line; NULL: the duty is off.
 * token: the file with the token of whoever may ask, since the first question of an epoch settles it. */
SOTTO_MUST_USE sotto_status sotto_beacon_duty_open(sotto_beacon_duty *duty, sotto_host *host,
                                                   const char *share, const char *token,
                                                   sotto_err *err);
void sotto_beacon_duty_clear(sotto_beacon_duty *duty);

/* Answers a request whose body is an input. 409: another input of this epoch was answered before. */
void sotto_beacon_duty_answer(sotto_beacon_duty *duty, sotto_http_request *request);

#endif
