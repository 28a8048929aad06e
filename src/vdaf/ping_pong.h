/* vdaf/ping_pong.h - the messages two aggregators exchange (draft-irtf-cfrg-vdaf-20, section 5.7.1). */
#ifndef SOTTO_VDAF_PING_PONG_H
#define SOTTO_VDAF_PING_PONG_H

#include "sotto/vdaf.h"

typedef enum sotto_ping_pong_type {
    SOTTO_PING_PONG_INITIALIZE = 0,
    SOTTO_PING_PONG_CONTINUE = 1,
    SOTTO_PING_PONG_FINISH = 2,
} sotto_ping_pong_type;

/* What a message of its type does not carry is empty. Borrowed from the wire. */
typedef struct sotto_ping_pong_message {
    sotto_ping_pong_type type;
    sotto_bytes verifier_message;
    sotto_bytes verifier_share;
} sotto_ping_pong_message;

/* `initialize` carries a verifier share, `finish` a verifier message: one item each. out is in the arena. */
sotto_status sotto_ping_pong_encode(sotto_bytes *out, sotto_ping_pong_type type, sotto_bytes item,
                                    sotto_arena *arena, sotto_err *err);
sotto_status sotto_ping_pong_decode(sotto_ping_pong_message *out, sotto_bytes wire, sotto_err *err);

#endif
