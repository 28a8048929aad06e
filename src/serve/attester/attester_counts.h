/* serve/attester/attester_counts.h - which devices are enrolled, and for which key each has asked.
 *
 * A device has one token for each key. It may send the same request again, whose answer it lost: the issuer gives the same
 * signature. So the count is the digest of the first request.
 *
 * Counts are kept for as long as a second token could be asked for, and some time longer. Then they are deleted, and their key is
 * refused for good, also if the clock is set back.
 */
#ifndef SOTTO_SERVE_ATTESTER_ATTESTER_COUNTS_H
#define SOTTO_SERVE_ATTESTER_ATTESTER_COUNTS_H

#include "db/store.h"
#include "seal/token/type2.h"

enum { SOTTO_ATTESTER_ID = 32 };

typedef struct sotto_attester_key {
    uint8_t id[SOTTO_ATTESTER_ID];
    int64_t closes; /* seconds since 1970 */
} sotto_attester_key;

/* A request of a device that was attested, under a listed key. */
typedef struct sotto_attester_request {
    struct sotto_attester_request *next; /* the caller's */
    uint8_t device[SOTTO_ATTESTER_ID];
    sotto_attester_key key;
    uint8_t request[SOTTO_TYPE2_REQUEST];
    sotto_status status; /* of its count */
} sotto_attester_request;

#define SOTTO_ATTESTER_SCHEMA                                                                      \
    "CREATE TABLE device (id {bytes} PRIMARY KEY);"                                                \
    "CREATE TABLE issuance (device {bytes} NOT NULL, key_id {bytes} NOT NULL,"                     \
    " request {bytes} NOT NULL, PRIMARY KEY (device, key_id));"

/* listed.state: 0 counted, 1 being dropped, 2 dropped. */
#define SOTTO_ATTESTER_CLOSING_SCHEMA                                                              \
    "CREATE TABLE listed (id {bytes} PRIMARY KEY, closes {int} NOT NULL, state {int} NOT NULL);"   \
    "CREATE INDEX issuance_key ON issuance (key_id);"

/* Enrolling twice is harmless. A device that leaves keeps its counts, so that enrolling again gives no
 * second token. */
SOTTO_MUST_USE sotto_status sotto_attester_enrol(sotto_db *db, const uint8_t id[SOTTO_ATTESTER_ID],
                                                 bool enrolled, sotto_err *err);
/* Enrols `count` devices, SOTTO_ATTESTER_ID bytes each, in one transaction: all of them or none. */
SOTTO_MUST_USE sotto_status sotto_attester_enrol_many(sotto_db *db, const uint8_t *ids,
                                                      size_t count, sotto_err *err);
/* SOTTO_MISSING: it is not. */
SOTTO_MUST_USE sotto_status sotto_attester_is_enrolled(sotto_db *db,
                                                       const uint8_t id[SOTTO_ATTESTER_ID],
                                                       sotto_err *err);
/* Counts one token for each request, all of one listed key, in one transaction that is on disk before it returns. Puts them into the
 * order of their devices: two attesters with one database that count the same devices wait for each other in that order alone.
 * A failure: nothing was counted. Else each has its status:
 *   SOTTO_DENIED  the device has asked under this key with another request
 *   SOTTO_STALE   the key's counts were dropped */
SOTTO_MUST_USE sotto_status sotto_attester_count(sotto_db *db, sotto_attester_request **all,
                                                 size_t count, sotto_err *err);
/* Drops some counts of one key that closed before that time, and adds their number to *dropped. *more: there may be others. */
SOTTO_MUST_USE sotto_status sotto_attester_drop(sotto_db *db, int64_t before, uint64_t *dropped,
                                                bool *more, sotto_err *err);

#endif
