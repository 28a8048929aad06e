/* support/exit.h - exit codes, the same for every verb, and the one map from a status to them. */
#ifndef SOTTO_APPS_EXIT_H
#define SOTTO_APPS_EXIT_H

#include "sotto/base.h"

enum {
    EXIT_DONE = 0,
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_LINT = 3,    /* a file has mistakes */
    EXIT_REFUSED = 4, /* a theorem does not apply, a budget is spent, or a policy says no */
    EXIT_SMALL = 5,   /* not yet: a cohort that is too small, a tree that is not cosigned */
    EXIT_PROOF =
        6, /* a signature or proof is wrong, or what a server released does not hold together */
    EXIT_PEER = 7,  /* a server can't be reached */
    EXIT_CLAIM = 8, /* a claim that was to be judged does not hold, or can't be shown to */
};

/* What was at work when it failed: the same status tells a person different things about each. */
typedef enum sotto_at {
    SOTTO_AT_WORDS, /* what was typed                                               */
    SOTTO_AT_FILE,  /* a text that people write: recipe, policy, parties, key       */
    SOTTO_AT_DATA,  /* rows, models, folders and databases                          */
    SOTTO_AT_PEER,  /* a server that was asked                                      */
    SOTTO_AT_BATCH, /* a server that was asked for a batch                          */
    SOTTO_AT_LOG,   /* a public log that was asked, or what it signed               */
    SOTTO_AT_COUNT
} sotto_at;

int sotto_exit_code(sotto_status status, sotto_at at);

#endif
