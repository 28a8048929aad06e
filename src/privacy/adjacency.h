/* privacy/adjacency.h - what a privacy claim compares, and whom it trusts: never left out, so never 0. */
#ifndef SOTTO_PRIVACY_ADJACENCY_H
#define SOTTO_PRIVACY_ADJACENCY_H

/* Two datasets are neighbours if ... */
typedef enum sotto_adjacency {
    SOTTO_ADJACENCY_REPLACEMENT = 1, /* one person's value is another value                   */
    SOTTO_ADJACENCY_DELETION,        /* one person's value is "no value": a reference report   */
    SOTTO_ADJACENCY_ADD_REMOVE       /* one person is not there at all                         */
} sotto_adjacency;

/* How reports are added up: only `split` may claim sampling, check-ins or aggregation. */
typedef enum sotto_trust {
    SOTTO_TRUST_SPLIT = 1,
    SOTTO_TRUST_FLAMINGO,
    SOTTO_TRUST_AERO
} sotto_trust;

#endif
