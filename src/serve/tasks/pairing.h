/* serve/tasks/pairing.h - what a leader, a helper and a collector share in secret, as one file.
 *
 * Callers:  `sotto admin pair` makes a file and takes one in; tasks find their pairing by the parties' names.
 * Memory:   plain values.
 * Threads:  nothing is shared.
 * Secrets:  all but the names, the URLs, the collector's key and the fingerprint; wipe it.
 *
 * The verification key of a task is derived from the seed and the task's id. So it is fixed before the first report of any
 * task exists, and neither server can choose it afterwards. A task's id does not say whom the sums
 * are sealed to; so the collector's key stands here, under the fingerprint, and a task with another one is refused.
 * The leader sends its token, which is good for every task of the pairing, to the helper's URL. So both servers' URLs stand
 * here too, under the fingerprint, and a task with other URLs is refused.
 */
#ifndef SOTTO_SERVE_TASKS_PAIRING_H
#define SOTTO_SERVE_TASKS_PAIRING_H

#include "sotto/seal.h"

enum {
    SOTTO_TOKEN_TEXT = 44, /* of those that we make */
    SOTTO_TOKEN_MAX = 256, /* of any                */
    SOTTO_PARTY_NAME = 128,
    SOTTO_PARTY_URL = 1024 + 1, /* as long as a parties file may have it */
    SOTTO_FINGERPRINT_TEXT = 64,
    SOTTO_COLLECTOR_CONFIG = 9 + SOTTO_HPKE_MAX_PUBLIC_KEY, /* bytes of an HpkeConfig */
    SOTTO_COLLECTOR_KEY_TEXT = 2 * SOTTO_COLLECTOR_CONFIG + 1
};

typedef struct sotto_pairing {
    char leader[SOTTO_PARTY_NAME], helper[SOTTO_PARTY_NAME], collector[SOTTO_PARTY_NAME];
    char leader_url[SOTTO_PARTY_URL], helper_url[SOTTO_PARTY_URL];
    uint8_t verify_seed[32];
    char leader_token[SOTTO_TOKEN_MAX];           /* leader to helper, as a bearer token    */
    char collector_token[SOTTO_TOKEN_MAX];        /* collector to leader                    */
    char rejection_token[SOTTO_TOKEN_MAX];        /* collector to helper, counts only       */
    char collector_key[SOTTO_COLLECTOR_KEY_TEXT]; /* to which both servers seal: its HpkeConfig in
                                                     hexadecimal; of foreign ones empty */
    char fingerprint[SOTTO_FINGERPRINT_TEXT];     /* words or groups to read aloud        */
    bool foreign; /* its tokens came from others, in whatever length they have  */
} sotto_pairing;

/* Whom a pairing is for. */
typedef struct sotto_paired {
    const char *leader, *helper, *collector; /* names, as the parties file has them        */
    sotto_bytes leader_url, helper_url;      /* byte for byte as every task must have them */
} sotto_paired;

/* Fresh secrets. SOTTO_MALFORMED: a name, two that are the same, a URL, or the collector's encoded HpkeConfig, is none or not of our
 * algorithms. A URL is absolute, http or https, of at most 1024 visible ASCII characters, with neither user, query nor
 * fragment. Whether plain http may be used off loopback is for the server to say that sends (`plain_http`). */
SOTTO_MUST_USE sotto_status sotto_pairing_new(sotto_pairing *out, const sotto_paired *parties,
                                              sotto_bytes collector_config, sotto_err *err);
/* Tokens that somebody else chose, 1 to 255 characters of "token68" (RFC 9110, 11.2), for tasks with other
 * implementations; SOTTO_MALFORMED: an invalid token, name or URL. The collector's token for counts is a fresh one,
 * as is its other where it is NULL; its key is what each task says. */
SOTTO_MUST_USE sotto_status sotto_pairing_foreign(sotto_pairing *out, const sotto_paired *parties,
                                                  const char *leader_token,
                                                  const char *collector_token, sotto_err *err);
/* The file: JSON, version 1; with foreign tokens, version 2. */
SOTTO_MUST_USE sotto_status sotto_pairing_encode(sotto_buf *out, const sotto_pairing *pairing,
                                                 sotto_err *err);
/* What of it a collector needs: its own two tokens, and where they may be sent. With the seed, it could have false proofs accepted. */
SOTTO_MUST_USE sotto_status sotto_pairing_encode_for_collector(sotto_buf *out,
                                                               const sotto_pairing *pairing,
                                                               sotto_err *err);
/* Either file. Of a collector's, leader_token is empty, and no server takes it in. SOTTO_MALFORMED also for files of earlier
 * versions, which name no URLs. */
SOTTO_MUST_USE sotto_status sotto_pairing_decode(sotto_pairing *out, sotto_bytes json,
                                                 sotto_err *err);

/* Whether sums may be sealed to this key: the one that was paired; if none was (foreign), any. */
bool sotto_pairing_is_for(const sotto_pairing *pairing, const sotto_hpke_config *collector);

/* Whether a URL of a task is this one of its pairing, byte for byte: DAP normalises none. */
bool sotto_pairing_url_is(const char *paired, sotto_bytes url);

#endif
