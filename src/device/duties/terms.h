/* device/duties/terms.h - what an application knows of rounds from elsewhere than the server that posts them.
 *
 * Callers:  duties.c, before a round is joined.
 */
#ifndef SOTTO_DEVICE_DUTIES_TERMS_H
#define SOTTO_DEVICE_DUTIES_TERMS_H

#include "aggregate/posting.h"

/* A server that chose these would choose how few reports, neighbours and members protect one. */
typedef struct sotto_duties_terms {
    unsigned methods;     /* 1 << SOTTO_METHOD_*, added up; 0: no round is joined */
    uint8_t recipe[32];   /* hash of the recipe that a vector answers */
    uint8_t registry[32]; /* root of the registry of this epoch */
    uint64_t least;       /* contributions, at least: the recipe's min_cohort */
    uint64_t cohort;      /* clients drawn, at most: the recipe's cohort */
    uint32_t committee;   /* members, at least; of methods without a committee: equal votes */
    uint32_t neighbours;  /* online neighbours, at least */
    uint64_t edge;        /* chance of an edge, at least, as sotto_flamingo_parameters */
    uint64_t densest;     /* the same, at most */
    uint64_t numbers;     /* of rounds in an epoch, from 0 on: the recipe's epoch_rounds */
    sotto_round_noise noise;
} sotto_duties_terms;

/* SOTTO_DENIED: the round asks for less protection, or is about something else. */
SOTTO_MUST_USE sotto_status sotto_duties_terms_check(const sotto_duties_terms *terms,
                                                     const sotto_posted_round *posted,
                                                     sotto_err *err);

#endif
