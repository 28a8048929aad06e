/* aggregate/keygen/keygen.h - a committee makes its key, or takes over the key of the committee before it, on a board that one
 * server keeps.
 *
 * Callers:  device/duties for a member; serve/aggregator keeps the board; whoever posts rounds reads the record from it.
 * Memory:   lists are in the arena given; bodies are borrowed from the wire bytes.
 * Threads:  an open call belongs to one thread at a time.
 * Secrets:  a member's seed, its share, the values that dealers gave it. Dealing and sealing are constant-time.
 * Wire:     canonical. Everything on the board is public: values are sealed between members.
 *
 * Gennaro et al. 2007 (aggregate/shared/dkg.h), one step after the other. The server says which step is open. It can withhold
 * posts, and show different ones to different members, but it can't make or change any: each is signed.
 *
 *     DEAL      dealers       commitments, and two values for each member, sealed
 *     COMPLAIN  members       whose values do not fit
 *     ANSWER    dealers       the values that somebody complained about, in the open
 *     AGREE     members       digest of who counts and what they committed to: a quorum must say the same
 *     REVEAL    dealers       g^coefficient; only after the agreement
 *     ACCUSE    members       values that do not fit what was revealed
 *     VOTE      members       whose polynomial is to be rebuilt: a quorum must say the same, and it is fewer than a third
 *     SHOW      members       values to rebuild it from
 *     RECORD    members       signature on the committee's record
 *
 * A hand-over has DEAL, COMPLAIN, ANSWER, AGREE and RECORD. Its dealers are the members of the committee before, and DEAL reveals.
 *
 * The vote is ours, not of the paper, which has a broadcast channel. Here the server could hide honest dealers' REVEAL from some,
 * and have members show the values of all of them, which gives the key away. Two quorums share somebody honest, who votes once: so
 * there is one set, and it leaves an honest dealer out.
 */
#ifndef SOTTO_AGGREGATE_KEYGEN_KEYGEN_H
#define SOTTO_AGGREGATE_KEYGEN_KEYGEN_H

#include "aggregate/posting.h"
#include "aggregate/shared/dkg.h"
#include "crypto/kem.h"

enum {
    SOTTO_KEYGEN_DEAL = 1,
    SOTTO_KEYGEN_COMPLAIN,
    SOTTO_KEYGEN_ANSWER,
    SOTTO_KEYGEN_AGREE,
    SOTTO_KEYGEN_REVEAL,
    SOTTO_KEYGEN_ACCUSE,
    SOTTO_KEYGEN_VOTE,
    SOTTO_KEYGEN_SHOW,
    SOTTO_KEYGEN_RECORD,
    SOTTO_KEYGEN_OVER
};

enum {
    SOTTO_KEYGEN_ID = 32,
    SOTTO_KEYGEN_SEED = 32,
    SOTTO_KEYGEN_SEALED = 2 * SOTTO_P256_SCALAR + SOTTO_AEAD_TAG_SIZE,
    SOTTO_KEYGEN_MOST_BODY = 2 + (SOTTO_DECRYPTORS_MOST / 3 + 1) * SOTTO_P256_WIDE +
                             SOTTO_DECRYPTORS_MOST * SOTTO_KEYGEN_SEALED,
    SOTTO_KEYGEN_MOST_POST = 1 + 2 + 4 + SOTTO_KEYGEN_MOST_BODY + SOTTO_SIGNATURE,
};

/* ---- the call ----------------------------------------------------------------------------------------------- */

/* Who makes which key, until when. */
typedef struct sotto_keygen {
    uint8_t session[32];
    uint64_t epoch;
    uint32_t count;   /* members of the committee that is to have the key */
    uint32_t step_ms; /* how long the server waits for the last post of a step */
    uint64_t ends;    /* milliseconds since 1970: members give up and forget */
    uint8_t beacon[32];
    uint8_t old_beacon[32];  /* hand-over: that drew the committee before; else zeros */
    sotto_posting posting;   /* registry, the beacon's parts, the record of the committee before */
    uint32_t old_part_count; /* hand-over: parts of the beacon before */
    sotto_beacon_part *old_parts;
    /* Filled in by open. */
    uint8_t id[SOTTO_KEYGEN_ID];
    bool hands_on;
    sotto_decryptors_record old;
    uint32_t *members;      /* registry indices; a member's place is its index here */
    uint32_t dealers;       /* how many; those of `old` in a hand-over, the members otherwise */
    const uint32_t *dealer; /* their registry indices */
    uint32_t threshold;     /* of the committee that is to have the key */
} sotto_keygen;

SOTTO_MUST_USE sotto_status sotto_keygen_encode(sotto_buf *out, const sotto_keygen *call,
                                                sotto_arena *scratch, sotto_err *err);
/* Decodes, and draws the members. The wire bytes outlive it.
 *   SOTTO_MALFORMED  not a call
 *   SOTTO_DENIED     it contradicts itself */
SOTTO_MUST_USE sotto_status sotto_keygen_open(sotto_keygen *call, sotto_bytes wire,
                                              sotto_arena *arena, sotto_err *err);
/* What a member checks besides: the beacon's proofs, and who signed for the committee before.
 *   verify          public values of the witnesses
 *   SOTTO_REJECTED  one of these is wrong */
SOTTO_MUST_USE sotto_status sotto_keygen_verify(const sotto_keygen *call,
                                                const uint8_t (*verify)[SOTTO_P256_WIDE],
                                                uint32_t witnesses, sotto_arena *arena,
                                                sotto_err *err);

/* The step after this one. */
unsigned sotto_keygen_next(const sotto_keygen *call, unsigned step);
/* Who speaks in a step: registry indices by place. */
uint32_t sotto_keygen_senders(const sotto_keygen *call, unsigned step, const uint32_t **indices);
/* The place of a registry index in a step; -1: it does not speak. */
int sotto_keygen_place(const sotto_keygen *call, unsigned step, uint32_t index);

/* ---- posts -------------------------------------------------------------------------------------------------- */

typedef struct sotto_keygen_post {
    unsigned step;
    uint32_t place;
    sotto_bytes body;
    uint8_t signature[SOTTO_SIGNATURE];
} sotto_keygen_post;

SOTTO_MUST_USE sotto_status sotto_keygen_post_encode(sotto_buf *out, const sotto_keygen_post *post,
                                                     sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_keygen_post_decode(sotto_keygen_post *post, sotto_bytes wire,
                                                     sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_keygen_post_sign(const sotto_keygen *call,
                                                   sotto_keygen_post *post,
                                                   const sotto_signer *signer, sotto_err *err);
/* SOTTO_MALFORMED: not the step's form. SOTTO_REJECTED: nobody speaks there, or it is not signed by who does. */
SOTTO_MUST_USE sotto_status sotto_keygen_post_check(const sotto_keygen *call,
                                                    const sotto_keygen_post *post, sotto_err *err);

/* Bodies: a list of places, ascending; and places with two values each. Borrowed from the body. */
typedef struct sotto_keygen_places {
    uint32_t count;
    uint16_t at[SOTTO_DECRYPTORS_MOST];
} sotto_keygen_places;
typedef struct sotto_keygen_shown {
    uint32_t count;
    uint16_t at[SOTTO_DECRYPTORS_MOST];
    const uint8_t *values[SOTTO_DECRYPTORS_MOST]; /* 64 bytes */
} sotto_keygen_shown;

SOTTO_MUST_USE sotto_status sotto_keygen_places_decode(sotto_keygen_places *out, sotto_bytes body,
                                                       uint32_t limit, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_keygen_places_encode(sotto_buf *out, const bool *set,
                                                       uint32_t count, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_keygen_shown_decode(sotto_keygen_shown *out, sotto_bytes body,
                                                      uint32_t limit, sotto_err *err);
/* The values where set says so. */
SOTTO_MUST_USE sotto_status sotto_keygen_shown_encode(sotto_buf *out, const bool *set,
                                                      const sotto_dkg_values *values,
                                                      uint32_t count, sotto_err *err);

/* What one member has seen: by step and place, the first post of each. */
typedef struct sotto_keygen_board {
    sotto_bytes body[SOTTO_KEYGEN_OVER][SOTTO_DECRYPTORS_MOST];
    bool is_there[SOTTO_KEYGEN_OVER][SOTTO_DECRYPTORS_MOST];
} sotto_keygen_board;

/* Of a post that was checked. */
void sotto_keygen_board_put(sotto_keygen_board *board, const sotto_keygen_post *post);

/* ---- a member ----------------------------------------------------------------------------------------------- */

typedef struct sotto_keygen_self {
    uint32_t index;       /* in the registry */
    const uint8_t *seed;  /* 32 random bytes, drawn for this call: what is dealt comes from them */
    const uint8_t *share; /* hand-over: the share of the committee before; NULL: none */
    sotto_dh *channel;
} sotto_keygen_self;

/* The body of this member's post in a step, but for RECORD.
 *   SOTTO_MISSING  this one does not speak in this step
 *   SOTTO_DENIED   this member stops here: there is no agreement, or its values do not fit; nothing was written */
SOTTO_MUST_USE sotto_status sotto_keygen_write(const sotto_keygen *call,
                                               const sotto_keygen_self *self, unsigned step,
                                               const sotto_keygen_board *board, sotto_buf *out,
                                               sotto_arena *arena, sotto_err *err);
/* In RECORD: what is to be signed, and the member's share of the key. Statuses as above. */
SOTTO_MUST_USE sotto_status sotto_keygen_finish(const sotto_keygen *call,
                                                const sotto_keygen_self *self,
                                                const sotto_keygen_board *board,
                                                sotto_decryptors_record *record, uint8_t share[32],
                                                sotto_arena *arena, sotto_err *err);

/* For everybody: the record, with the signatures that are on the board and valid.
 *   SOTTO_AGAIN     fewer than a quorum have signed
 *   SOTTO_REJECTED  what is on the board makes no record */
SOTTO_MUST_USE sotto_status sotto_keygen_record(const sotto_keygen *call,
                                                const sotto_keygen_board *board,
                                                sotto_decryptors_record *record, sotto_arena *arena,
                                                sotto_err *err);

#endif
