/* serve/attester/attester_service.h - the attester: knows devices, and has one token a key issued for each.
 *
 *     PUT, DELETE devices/{device}   the operator: enrols a device by its Ed25519 key, or no longer
 *     POST tokens/{key id}           a device: evidence <2> | token request; the issuer's response comes back
 *
 * A request of ARC goes to the leader or helper whose list has the key; one of type 2 goes to the issuer.
 *
 * It sees a device, a key's id from a public list that is the same for everybody, and a blinded request; never a token, nor whether it is used.
 */
#ifndef SOTTO_SERVE_ATTESTER_ATTESTER_SERVICE_H
#define SOTTO_SERVE_ATTESTER_ATTESTER_SERVICE_H

#include "serve/attester/attested_request.h"
#include "serve/attester/attester_counts.h"
#include "serve/host/service.h"

extern const sotto_service sotto_attester_service;

/* How a platform attests its devices. `check` says whether the evidence proves the text, and names the device: the same 32
 * bytes for the same device, always. It runs on compute threads, several at once.
 *   SOTTO_REJECTED  it does not; others: it can't be checked now */
typedef struct sotto_attestation {
    sotto_status (*check)(void *context, uint8_t device[SOTTO_ATTESTER_ID], sotto_bytes evidence,
                          sotto_bytes text, sotto_err *err);
    void *context;
} sotto_attestation;

typedef struct sotto_attester_config {
    /* URLs, with a slash at their end; leader and helper may be NULL */
    const char *issuer, *leader, *helper;
    const char *issuer_token, *leader_token, *helper_token, *operator_token; /* files */
    const sotto_attestation
        *attestation;    /* NULL: enrolment keys; evidence is a public key and its signature */
    uint64_t peer_check; /* seconds: host/peers.h */
} sotto_attester_config;

#endif
