/* aggregate/message.h - the envelope of everything that machines say to each other: one codec, one signature rule.
 *
 * Memory:   a decoded message borrows body and signature from the wire bytes.
 * Wire:     canonical. The signature is Ed25519 over "sotto-msg-2" and all fields before it, as encoded, with the body's digest (body.h)
 *           in its place.
 */
#ifndef SOTTO_AGGREGATE_MESSAGE_H
#define SOTTO_AGGREGATE_MESSAGE_H

#include "crypto/signature.h"

typedef struct sotto_message {
    uint8_t session[32];
    uint64_t epoch, round;
    uint16_t kind;     /* a row of the method's kinds */
    uint32_t from, to; /* registry index, or SOTTO_TO_... of aggregate/registry.h */
    uint8_t bulk[32];  /* digest of what comes by itself, where the method wants one; else zeros */
    uint64_t bulk_len; /* 0: nothing comes by itself */
    sotto_bytes body;
    sotto_bytes signature; /* 64 bytes, or none */
    /* Not encoded: the key, in the round's registry, whose signature was found right; NULL: nobody looked. */
    const uint8_t *holds_for;
    uint8_t digest[32]; /* not encoded: the body's digest (body.h), where holds_for is set */
} sotto_message;

enum { SOTTO_MESSAGE_HEAD = 32 + 8 + 8 + 2 + 4 + 4 + 32 + 8 + 4 }; /* with the body's length */
#define SOTTO_MESSAGE_MOST_BODY ((size_t)1 << 24)

/* Bytes of its encoding. */
size_t sotto_message_size(const sotto_message *message);
SOTTO_MUST_USE sotto_status sotto_message_encode(sotto_buf *out, const sotto_message *message,
                                                 sotto_err *err);
/* The same with another body, which is in parts. */
SOTTO_MUST_USE sotto_status sotto_message_encode_parts(sotto_buf *out, const sotto_message *message,
                                                       const sotto_bytes *parts, size_t count,
                                                       sotto_err *err);
/* SOTTO_MALFORMED for everything that sotto_message_encode would not have written. */
SOTTO_MUST_USE sotto_status sotto_message_decode(sotto_message *message, sotto_bytes wire,
                                                 sotto_err *err);

/* Signs it: message->signature then borrows `out`. */
SOTTO_MUST_USE sotto_status sotto_message_sign(sotto_message *message, uint8_t out[SOTTO_SIGNATURE],
                                               const sotto_signer *signer, sotto_err *err);
/* The same where the body's digest is known: many messages with one body are digested once. */
SOTTO_MUST_USE sotto_status sotto_message_sign_digest(sotto_message *message,
                                                      uint8_t out[SOTTO_SIGNATURE],
                                                      const uint8_t digest[32],
                                                      const sotto_signer *signer, sotto_err *err);
/* The body's digest (body.h): not computed again where it is known. */
void sotto_message_digest(const sotto_message *message, uint8_t out[32]);
/* SOTTO_REJECTED: not signed, or not by this key. */
SOTTO_MUST_USE sotto_status sotto_message_check(const sotto_message *message,
                                                const uint8_t key[SOTTO_SIGN_PUBLIC],
                                                sotto_err *err);
/* The same for a message whose body is elsewhere: only its length and digest are known. message->body is not looked at. */
SOTTO_MUST_USE sotto_status sotto_message_check_digest(const sotto_message *message,
                                                       uint32_t body_len, const uint8_t digest[32],
                                                       const uint8_t key[SOTTO_SIGN_PUBLIC],
                                                       sotto_err *err);

/* Many signatures at a time, in lanes where the machine has them. */
typedef struct sotto_message_claim {
    const sotto_message *message;
    const uint8_t *key;
    const uint8_t *digest; /* of a body that is elsewhere; NULL: it is in the message */
    uint32_t body_len;     /* of that body */
    bool holds;            /* lanes found it right: for message.c */
} sotto_message_claim;

/* The first that sotto_message_check, or sotto_message_check_digest, refuses. */
SOTTO_MUST_USE sotto_status sotto_messages_check(sotto_message_claim *all, size_t count,
                                                 sotto_err *err);

/* An entry of the board, as the body of the message that brings it: index of the log, and record. A record is an encoded message.
 * The record is borrowed. */
SOTTO_MUST_USE sotto_status sotto_entry_encode(sotto_buf *out, uint64_t index, sotto_bytes record,
                                               sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_entry_decode(uint64_t *index, sotto_bytes *record,
                                               sotto_bytes body, sotto_err *err);

#endif
