/* aggregate/posting.h - everything about one round that its participants have in common: who is registered, the beacon's proof, the
 * committee's record, and the round itself.
 *
 * Callers:  the aggregator publishes one for each round; devices check it before they join.
 * Memory:   lists are in the arena given to decode; the rest is borrowed from the wire bytes. An open posting has points and
 *           scratch of the crypto library until close.
 * Threads:  an open posting belongs to one thread at a time.
 * Wire:     canonical. All of it is public.
 */
#ifndef SOTTO_AGGREGATE_POSTING_H
#define SOTTO_AGGREGATE_POSTING_H

#include "aggregate/aero/terms.h"
#include "aggregate/method.h"
#include "aggregate/shared/beacon.h"
#include "aggregate/shared/decryptors.h"

enum { SOTTO_POSTING_MOST_REGISTERED = 1 << 16 };
#define SOTTO_POSTING_MOST_BYTES ((size_t)8 << 20)

typedef struct sotto_posting {
    sotto_registry registry;
    uint32_t part_count; /* parts of the beacon's value; 0: the round comes without one */
    sotto_beacon_part *parts;
    sotto_bytes decryptors; /* the committee's record; empty: none */
    sotto_bytes round;
    uint32_t
        old_part_count; /* the same of the round before, which hands over its key; 0: none does */
    sotto_beacon_part *old_parts;
} sotto_posting;

/* SOTTO_TOO_LARGE: more registered clients than one posting holds. */
SOTTO_MUST_USE sotto_status sotto_posting_encode(sotto_buf *out, const sotto_posting *posting,
                                                 sotto_err *err);
/* SOTTO_MALFORMED for everything that encode would not have written. */
SOTTO_MUST_USE sotto_status sotto_posting_decode(sotto_posting *posting, sotto_bytes wire,
                                                 sotto_arena *arena, sotto_err *err);

/* The server that its registry names, before anything else is decoded. False: not a posting. */
SOTTO_MUST_USE bool sotto_posting_server(uint8_t server[SOTTO_SIGN_PUBLIC], sotto_bytes wire);

/* The round that it is of, borrowed, before any list is decoded. False: not a posting. */
SOTTO_MUST_USE bool sotto_posting_round(sotto_bytes *round, sotto_bytes wire);

/* A round that can be joined. */
typedef struct sotto_posted_round {
    sotto_posting posting;
    sotto_round round; /* with its registry and committee */
    sotto_decryptors decryptors;
    bool has_decryptors;
    const sotto_method *method;
    uint8_t id[SOTTO_ROUND_ID];
    sotto_aero_account account; /* of methods that count what was spent; the round points to it */
} sotto_posted_round;

/* Decodes and checks everything but the beacon. The wire bytes and the arena outlive it. Close after a failure is allowed.
 *   SOTTO_MALFORMED  not a posting
 *   SOTTO_DENIED     the round contradicts itself, or this program has no such method
 *   SOTTO_REJECTED   the committee's record is not valid */
SOTTO_MUST_USE sotto_status sotto_posted_round_open(sotto_posted_round *out, sotto_bytes wire,
                                                    sotto_arena *arena, sotto_err *err);
void sotto_posted_round_close(sotto_posted_round *posted);
/* What this participant knows of itself, and no server tells it: everything of `own` but what was spent and drawn. NULL: nothing. */
void sotto_posted_round_own(sotto_posted_round *posted, const sotto_aero_account *own);

/* Whether the beacon's value is that of these witnesses, over this registry: a server that chose it would choose committee,
 * cohort and neighbours.
 *   verify          public values of the witnesses, by place
 *   SOTTO_REJECTED  it is not */
SOTTO_MUST_USE sotto_status sotto_posted_round_check_beacon(
    const sotto_posted_round *posted, const uint8_t (*verify)[SOTTO_P256_WIDE], uint32_t witnesses,
    sotto_err *err);

/* How much of others must be there before anything of one client is opened. */
typedef struct sotto_round_strength {
    uint32_t committee;  /* members; of a method without one: equal votes that a client demands */
    uint32_t neighbours; /* that must be online */
    uint64_t edge; /* as sotto_flamingo_parameters; UINT64_MAX: a fixed number of neighbours */
} sotto_round_strength;
SOTTO_MUST_USE sotto_status sotto_posted_round_strength(const sotto_posted_round *posted,
                                                        sotto_round_strength *out, sotto_err *err);

/* The method of machines with this number; NULL: there is none. */
const sotto_method *sotto_machine_method(uint16_t id);

#endif
