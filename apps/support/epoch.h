/* apps/support/epoch.h - the set-up of an epoch: registry, beacon, committee, posted rounds.
 *
 * Callers:  the demo and `sotto learn run`; tests, for keys of witnesses and committees as well.
 * Memory:   lists are in the arena given.
 *
 * Where this process makes a key, members deal, check, reveal and publish as aggregate/shared/dkg.h says, and it runs all of them.
 * So whoever runs it is trusted: no message is sent, signed or disputed. What devices do check is the beacon's proof and the
 * committee's record with a quorum of signatures.
 */
#ifndef SOTTO_APPS_SUPPORT_EPOCH_H
#define SOTTO_APPS_SUPPORT_EPOCH_H

#include "aggregate/bbglr/bbglr.h"
#include "aggregate/posting.h"

/* A key that `count` members share. */
typedef struct sotto_shared_key {
    uint32_t count;
    uint8_t key[SOTTO_P256_WIDE];
    uint8_t (*verify)[SOTTO_P256_WIDE];
    uint8_t (*shares)[32];
} sotto_shared_key;

typedef struct sotto_epoch {
    uint8_t session[32];
    uint64_t number;
    sotto_registry registry;
    sotto_shared_key witnesses, committee;
    /* Gives `parts` and the value; NULL: this process has the witnesses' shares. */
    sotto_status (*ask)(void *context, uint8_t value[32], sotto_beacon_part *parts,
                        const sotto_beacon_input *input, sotto_err *err);
    void *asked;
    sotto_beacon_part *parts;
    uint32_t part_count;
    uint8_t beacon[32];
    sotto_decryptors_record record; /* signatures are the caller's to put in */
    uint8_t digest[32];             /* what members sign */
} sotto_epoch;

/* First the witnesses: devices know their public values before anything else happens. This process makes their key; or they made it
 * themselves (support/witnesses.h), and `witnesses`, `ask` and `asked` are filled in. */
SOTTO_MUST_USE sotto_status sotto_epoch_witnesses(sotto_epoch *e, uint32_t count,
                                                  sotto_arena *arena, sotto_err *err);
/* Then, with session, number and registry filled in: the beacon's value and its parts. */
SOTTO_MUST_USE sotto_status sotto_epoch_beacon(sotto_epoch *e, sotto_arena *arena, sotto_err *err);
/* The same, and a committee of this size with its key, which this process makes. */
SOTTO_MUST_USE sotto_status sotto_epoch_draw(sotto_epoch *e, uint32_t members, sotto_arena *arena,
                                             sotto_err *err);

typedef struct sotto_epoch_round {
    uint64_t number;
    sotto_ring ring;
    uint64_t length, most, least;
    uint32_t neighbours;
    uint64_t edge; /* as sotto_flamingo_parameters */
    uint8_t recipe[32];
    sotto_round_noise noise;
    uint64_t opens, closes, verify_by, release_by; /* milliseconds since 1970 */
    /* A single round, without a committee (Bell et al. 2020), in which neighbours and edge are not looked at; NULL: Flamingo. */
    const sotto_bbglr_parameters *single;
} sotto_epoch_round;

/* A round of everybody who is registered, as a posting; id: its name. */
SOTTO_MUST_USE sotto_status sotto_epoch_post(const sotto_epoch *e, const sotto_epoch_round *wanted,
                                             sotto_bytes *posting, uint8_t id[SOTTO_ROUND_ID],
                                             sotto_arena *arena, sotto_err *err);

#endif
