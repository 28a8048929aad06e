/* apps/support/witnesses.h - the witnesses of a beacon, asked over HTTP: to make their key, and for the value of an epoch.
 *
 * Callers:  `sotto admin beacon`, the demo, `sotto learn run`, tests.
 * Memory:   the client is borrowed; all else is the object's until close.
 * Threads:  one at a time.
 * Secrets:  tokens. Whoever runs this gets no share and no more of the key than everybody has.
 *
 * Nobody trusts whoever asks: it carries posts that are signed and sealed (aggregate/keygen/meeting.h), and can only stop the meeting.
 */
#ifndef SOTTO_APPS_SUPPORT_WITNESSES_H
#define SOTTO_APPS_SUPPORT_WITNESSES_H

#include "aggregate/keygen/meeting.h"
#include "aggregate/shared/beacon.h"
#include "base/arena.h"
#include "serve/host/bearer.h"
#include "support/epoch.h"
#include "tlog/key_file.h"
#include "transport/http_client.h"

typedef struct sotto_witnesses {
    sotto_http_client *client;
    sotto_key_file file;
    uint32_t count;
    uint8_t keys[SOTTO_KEY_FILE_KEYS][SOTTO_SIGN_PUBLIC];
    char tokens[SOTTO_KEY_FILE_KEYS][SOTTO_BEARER + 16]; /* "Bearer ..." */
    sotto_decryptors_record record;      /* of their key, once it is known; a count of 0 before */
    bool is_silent[SOTTO_KEY_FILE_KEYS]; /* of those asked to a meeting, in the beginning */
    sotto_arena arena;                   /* the record's */
    sotto_arena scratch;                 /* of one meeting, or one question */
    /* Called before a witness is asked to speak in a step. NULL: nothing. */
    void (*before)(void *context, uint32_t place, unsigned step);
    /* Whether what a witness said is told to others; may change what is told. NULL: it is. */
    bool (*bend)(void *context, const sotto_keygen *call, uint32_t place, unsigned step,
                 sotto_bytes *post);
    void *context;
} sotto_witnesses;

/* witnesses: a file with a line for each: its public key, and its URL.
 * tokens: a file with the token of all of them, or a line for each. */
SOTTO_MUST_USE sotto_status sotto_witnesses_open(sotto_witnesses *w, sotto_http_client *client,
                                                 const char *witnesses, const char *tokens,
                                                 sotto_err *err);
void sotto_witnesses_close(sotto_witnesses *w);

/* They make their key, or end the meeting that they were in. All must answer in the beginning, a quorum to the end.
 *   SOTTO_DENIED  too few went on to the end, or one refuses: it has a key already
 *   SOTTO_IO      some do not answer: is_silent has all of them */
SOTTO_MUST_USE sotto_status sotto_witnesses_meet(sotto_witnesses *w, uint64_t now_ms,
                                                 sotto_err *err);
/* Their key, as somebody wrote it down. SOTTO_REJECTED: no quorum of them signed it. */
SOTTO_MUST_USE sotto_status sotto_witnesses_know(sotto_witnesses *w, sotto_bytes record,
                                                 sotto_err *err);

/* The value of an epoch, with as many parts as prove it, in a list of that many. A witness that lies or is away is passed over.
 *   SOTTO_DENIED  too few gave their part */
SOTTO_MUST_USE sotto_status sotto_witnesses_ask(sotto_witnesses *w, uint8_t value[32],
                                                sotto_beacon_part *parts,
                                                const sotto_beacon_input *input, sotto_err *err);

/* An epoch that asks these witnesses, whose key is known. They outlive it. */
void sotto_witnesses_serve(sotto_witnesses *w, sotto_epoch *epoch);

#endif
