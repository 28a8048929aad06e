/* sotto-vectors/generate_vdaf.h - which VDAF files are written, and what is wrong in some. */
#ifndef SOTTO_VECTORS_GENERATE_VDAF_H
#define SOTTO_VECTORS_GENERATE_VDAF_H

#include "generate.h"

/* A report in the making. */
typedef struct sotto_gen_report {
    uint64_t *values;
    size_t count;
    sotto_bytes nonce;
    sotto_buf public_share;
    sotto_buf *input_shares;
    sotto_bytes *verifier_shares;
    sotto_prio3_verification *states;
    json_t *json;
} sotto_gen_report;

#define SOTTO_GEN_INIT   "verify_init"
#define SOTTO_GEN_DECIDE "verifier_shares_to_message"
#define SOTTO_GEN_NEXT   "verify_next"

/* Something a hostile client or aggregator does, and the step that must notice. */
typedef struct sotto_gen_damage {
    const char *name;
    const char *noticed_by;
    int aggregator; /* the only one whose step fails; -1: every one's */
    void (*to_report)(const sotto_prio3 *vdaf, sotto_gen_report *r);
    void (*to_verifier_share)(const sotto_prio3 *vdaf,
                              sotto_buf *share); /* the last aggregator's */
    void (*to_message)(sotto_buf *message);
} sotto_gen_damage;

/* One file. */
typedef struct sotto_gen_plan {
    const char *kind;
    const char *suffix;
    unsigned shares;
    unsigned reports;
    unsigned proofs;
    uint64_t length;
    uint64_t chunk_length;
    uint64_t max;
    const sotto_gen_damage *damage; /* done to the second report; NULL: none */
} sotto_gen_plan;

/* Ends with one that has no kind. */
extern const sotto_gen_plan sotto_gen_plans[];

#endif
