/* interop/tamper.h - every place where bytes of a report can be changed, and who must notice. */
#ifndef SOTTO_TESTS_INTEROP_TAMPER_H
#define SOTTO_TESTS_INTEROP_TAMPER_H

#include "interop/draw.h"

typedef enum sotto_tampering {
    SOTTO_HONEST = 0,
    SOTTO_PUBLIC_SHARE_BIT,    /* the same change for both aggregators */
    SOTTO_PUBLIC_SHARE_LEADER, /* only in the leader's copy */
    SOTTO_PUBLIC_SHARE_HELPER,
    SOTTO_LEADER_SHARE_BIT,
    SOTTO_LEADER_SHARE_PLUS_ONE,  /* an element of the field */
    SOTTO_LEADER_SHARE_NOT_FIELD, /* what should be one, but is p or more */
    SOTTO_LEADER_SHARE_SHORT,
    SOTTO_HELPER_SHARE_BIT,
    SOTTO_HELPER_SHARE_LONG,
    SOTTO_NONCE_LEADER,
    SOTTO_NONCE_HELPER,
    SOTTO_NONCE_BOTH, /* seen only with joint randomness */
    SOTTO_LEADER_MESSAGE_BIT,
    SOTTO_LEADER_MESSAGE_PLUS_ONE,
    SOTTO_LEADER_MESSAGE_NOT_FIELD,
    SOTTO_LEADER_MESSAGE_LONG,
    SOTTO_LEADER_MESSAGE_EMPTY,
    SOTTO_HELPER_MESSAGE_BIT,
    SOTTO_HELPER_MESSAGE_SHORT,
    SOTTO_HELPER_MESSAGE_LONG,
    SOTTO_TAMPERINGS
} sotto_tampering;

/* The tampering of each report of a batch; also a courier that tampers with messages. */
typedef struct sotto_tamperer {
    sotto_test *t;
    sotto_draw *draw;
    const sotto_instance *instance;
    sotto_tampering *how;
} sotto_tamperer;

typedef struct sotto_tampering_fact {
    const char *name;
    int seen_by;         /* the aggregator that refuses first, wherever that is certain */
    sotto_status status; /* as which it refuses; SOTTO_OK where that depends            */
} sotto_tampering_fact;

extern const sotto_tampering_fact sotto_tampering_facts[SOTTO_TAMPERINGS];

/* Whether the change is one that this type can notice. */
bool sotto_tampering_applies(sotto_tampering how, const sotto_kind *kind);
/* Only a helper's answer is changed too late for the helper to see it. */
bool sotto_tampering_passes_helper(sotto_tampering how);

/* Changes what the aggregators received of report i. */
void sotto_tamper_report(const sotto_tamperer *tamperer, sotto_interop_report *report, size_t i);
/* A sotto_courier's carry. */
sotto_bytes sotto_tamper_carry(void *tamperer, size_t i, int sender, sotto_bytes message);

/* A copy with one bit flipped; of empty bytes, one byte. */
sotto_bytes sotto_tamper_bit(sotto_test *t, sotto_draw *draw, sotto_bytes bytes);

#endif
