/* aggregate/round.h - one round of adding up: what is added, by how many, until when, by which method.
 *
 * Callers:  whoever plans, joins or opens a round; devices check it before they join.
 * Memory:   a decoded round borrows its parameters from the wire bytes.
 * Wire:     one canonical encoding; its SHA-256 is the round's id, which every key derivation and signature names.
 * Secrets:  none.
 */
#ifndef SOTTO_AGGREGATE_ROUND_H
#define SOTTO_AGGREGATE_ROUND_H

#include "aggregate/registry.h"
#include "aggregate/vector.h"

enum {
    SOTTO_ROUND_ID = 32,
    SOTTO_ROUND_VERSION = 2,
    SOTTO_ROUND_MOST_PARAMETERS = 1024,
    SOTTO_ROUND_MOST_BYTES = 512 + SOTTO_ROUND_MOST_PARAMETERS,
};
#define SOTTO_ROUND_MOST_LENGTH ((uint64_t)1 << 28)

/* Who adds noise: the numbers are on the wire. */
enum {
    SOTTO_ROUND_NOISE_NONE = 0,
    SOTTO_ROUND_NOISE_CROWD,
    SOTTO_ROUND_NOISE_SHARES,
    SOTTO_ROUND_NOISE_SERVERS
};

typedef struct sotto_round_noise {
    uint8_t by, law;
    uint64_t num, den; /* variance of one share of noise */
    uint64_t shares;   /* how many shares a claim counts on */
    uint64_t tail;     /* how far from 0 the noise may be that is not part of a contribution */
} sotto_round_noise;

typedef struct sotto_round {
    uint8_t session[32]; /* split: the task id; else SHA-256 of the session record */
    uint8_t recipe[32];
    uint64_t epoch, number;
    uint16_t method, version;
    sotto_ring ring;
    uint64_t length;
    uint64_t
        most; /* largest magnitude of an entry of one contribution, its share of noise included */
    uint64_t norm2;          /* largest squared Euclidean norm; 0: not bounded */
    uint64_t least, largest; /* contributions */
    sotto_round_noise noise;
    uint8_t beacon[32], registry[32];
    uint64_t registered;
    uint8_t model[32]; /* zeros for statistics */
    uint64_t opens, commit_by, closes, verify_by,
        release_by;         /* milliseconds of the clock that ticks machines */
    sotto_bytes parameters; /* the method's own, canonical */
    const sotto_registry
        *keys; /* not encoded: whom `registry` is the root of; NULL where no message is checked */
    struct sotto_decryptors *
        decryptors; /* not encoded: the committee that the parameters name; NULL where a method has none */
    const struct sotto_aero_account *
        account; /* not encoded: what was spent before, by the board; NULL: nobody joins a round of aero */
} sotto_round;

SOTTO_MUST_USE sotto_status sotto_round_encode(sotto_buf *out, const sotto_round *round,
                                               sotto_err *err);
/* SOTTO_MALFORMED for everything that sotto_round_encode would not have written. */
SOTTO_MUST_USE sotto_status sotto_round_decode(sotto_round *round, sotto_bytes wire,
                                               sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_round_id(const sotto_round *round, uint8_t id[SOTTO_ROUND_ID],
                                           sotto_err *err);

/* A round lasts at most so many days, and its time for opening is at most so many times as long as all before it. Whoever has a part in a round
 * keeps its secrets until the end. A server that named no end would have devices keep them for good, and witnesses what they hold. */
enum { SOTTO_ROUND_MOST_DAYS = 31, SOTTO_ROUND_RELEASE = 4 };
#define SOTTO_ROUND_MOST_MS ((uint64_t)SOTTO_ROUND_MOST_DAYS * 86400 * 1000)

/* Whether a round may be so long; devices, witnesses, servers and lint ask this. */
bool sotto_round_may_last(uint64_t from_ms, uint64_t until_ms);
/* Whoever has a clock asks this as well. SOTTO_DENIED: it opens more than SOTTO_ROUND_MOST_DAYS from now. */
SOTTO_MUST_USE sotto_status sotto_round_check_begins(const sotto_round *round, uint64_t now_ms,
                                                     sotto_err *err);

/* Whether a round can keep its own promises, whatever its method: deadlines and their order, numbers of contributions, and the bit
 * budget, by which no sum can wrap. SOTTO_DENIED names the inequality that fails, with both sides. */
SOTTO_MUST_USE sotto_status sotto_round_check(const sotto_round *round, sotto_err *err);

#endif
