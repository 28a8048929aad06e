/* serve/witness/beacon_duty.h - a witness's part of a beacon (aggregate/shared/beacon.h): how it gets its share of the key, and what it
 * answers with it.
 *
 *   beacon_duty.c  parts: one input in an epoch
 *   beacon_key.c   the key: its part of a meeting of all witnesses (aggregate/keygen/meeting.h)
 *
 * Callers:  witness_service.c.
 * Secrets:  its share of the key, sealed in the database. Parts take the same time for every share.
 *
 * What a witness answers in an epoch is settled by the first input that it is asked for. Whoever asked for the values of many sessions
 * could take the one that it likes. The input is on disk before the part leaves. A witness signs for one key in its life.
 */
#ifndef SOTTO_SERVE_WITNESS_BEACON_DUTY_H
#define SOTTO_SERVE_WITNESS_BEACON_DUTY_H

#include "aggregate/shared/beacon.h"
#include "serve/host/bearer.h"
#include "serve/host/host.h"
#include "serve/host/router.h"
#include "tlog/key_file.h"

#include <stdatomic.h>

#define SOTTO_BEACON_DUTY_SCHEMA                                                                   \
    "CREATE TABLE beacon (epoch {int} PRIMARY KEY, session {bytes} NOT NULL, registry {bytes} NOT" \
    " NULL);"
/* One meeting: what it answers with while it lasts, and the share afterwards, are sealed; wire: the call. */
#define SOTTO_BEACON_KEY_SCHEMA                                                                    \
    "CREATE TABLE beacon_key (id {int} PRIMARY KEY, session {bytes} NOT NULL, epoch {int} NOT"     \
    " NULL, secret {bytes} NOT NULL, wire {bytes} NOT NULL, step {int} NOT NULL, share {bytes}"    \
    " NOT NULL);"                                                                                  \
    "CREATE TABLE beacon_post (step {int} NOT NULL, place {int} NOT NULL, wire {bytes} NOT NULL,"  \
    " PRIMARY KEY (step, place));"

typedef struct sotto_beacon_duty {
    sotto_host *host;
    bool is_on; /* false: no witnesses are listed, and it gives no parts */
    uint32_t place, count;
    uint8_t keys[SOTTO_KEY_FILE_KEYS][SOTTO_SIGN_PUBLIC]; /* of all witnesses */
    const sotto_signer *signer;
    sotto_bearer asker;
    atomic_uint_fast64_t given, refused;
} sotto_beacon_duty;

/* witnesses: a file with the public keys of all witnesses of the beacon; NULL: the duty is off.
 * token: the file with the token of whoever may ask, since the first question of an epoch settles it.
 * key: the witness's own; outlives the duty. */
SOTTO_MUST_USE sotto_status sotto_beacon_duty_open(sotto_beacon_duty *duty, sotto_host *host,
                                                   const char *witnesses, const char *token,
                                                   const sotto_note_signer *key, sotto_err *err);
void sotto_beacon_duty_clear(sotto_beacon_duty *duty);

/* By the head, before a body is read: refuses whoever may not ask; false then. All that follows is asked by who may. */
bool sotto_beacon_duty_admits(const sotto_beacon_duty *duty, sotto_http_request *request);

/* Answers a request whose body is an input. 404: it has no share yet. 409: another input of this epoch was answered before. */
void sotto_beacon_duty_answer(sotto_beacon_duty *duty, sotto_http_request *request);

/* ---- the key ---------------------------------------------------------------------------------------------------------- */

/* SOTTO_MISSING: there is no key yet. */
SOTTO_MUST_USE sotto_status sotto_beacon_key_share(sotto_tx *tx, const sotto_beacon_duty *duty,
                                                   uint8_t share[SOTTO_P256_SCALAR],
                                                   sotto_err *err);

/* A meeting begins: the body is its session and epoch, the answer a seat. 403: its epoch is more than a day ahead. 409: a key was
 * signed, or a later meeting began. */
void sotto_beacon_key_seat(sotto_beacon_duty *duty, sotto_http_request *request);
/* The body is a meeting; the answer is what this witness says in the step. 403: it stops here. 409: another meeting, or the step is over. */
void sotto_beacon_key_speak(sotto_beacon_duty *duty, sotto_http_request *request);
/* The meeting with everything that this witness saw of it. 404: none has begun. */
void sotto_beacon_key_show(sotto_beacon_duty *duty, sotto_http_request *request);

#endif
