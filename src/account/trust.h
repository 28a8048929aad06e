/* account/trust.h - one table of trust models: what each way to add up is, and what may be claimed for it.
 *
 * Readers:  the accountant, lint, claim, explain, task, receipt and the views. None of them compares names of trust
 *           models: each asks for the property that it needs, so that a new model is a row here.
 *
 * A device reads the facts; the words are for programs, and a device links none of them.
 */
#ifndef SOTTO_ACCOUNT_TRUST_H
#define SOTTO_ACCOUNT_TRUST_H

#include "sotto/privacy.h"

/* Amplification that may be claimed. */
enum {
    SOTTO_GAIN_SHUFFLE = 1, /* only sums are seen: amplification by aggregation                   */
    SOTTO_GAIN_SAMPLING =
        2, /* a secret sample; only where nobody sees who takes part             */
    SOTTO_GAIN_CHECK_IN =
        4 /* a secret moment, donations too; only where nobody sees who takes part */
};

/* Who may add noise to a sum, beside each device to its own report. */
enum {
    SOTTO_NOISE_BY_SERVERS = 1,  /* each adds all of it, since the other may leave its noise out */
    SOTTO_NOISE_BY_SHARES = 2,   /* each device a part                                      */
    SOTTO_NOISE_BY_COMMITTEE = 4 /* devices that were drawn for it                          */
};

typedef struct sotto_trust_model {
    char name[12];
    char keys
        [12]; /* aggregation has the keys of recipe/schema's aggregation.<keys>; empty: no recipe has it */
    char method[12];  /* of two servers (aggregate/shard.h) that adds up; empty: none   */
    uint8_t gains;    /* SOTTO_GAIN_*     */
    uint8_t noise;    /* SOTTO_NOISE_BY_* */
    bool can_hide;    /* a relay and tokens can hide who takes part */
    bool hides;       /* nobody but a trusted server sees who takes part */
    bool two_servers; /* a leader and a helper, of whom one must be honest; these have DAP tasks */
    bool one_server;  /* one server runs rounds with a committee of devices (aggregate/method.h) */
    bool encrypted; /* its sums are encrypted, and committees of devices add noise and open them */
    bool proved;    /* contributions are proved to be valid */
} sotto_trust_model;

/* By participation that is seen, then by participation that is hidden; the second is NULL where it can't be. */
typedef struct sotto_trust_words {
    const char
        *assumes[2];    /* who must be honest, and whether it is seen who takes part, in a line */
    const char *honest; /* who must be honest: a sentence     */
    const char *sees;   /* what each party sees: a sentence   */
    const char *noise;  /* who adds noise: a sentence         */
    const char *inputs; /* whether inputs are proved: a sentence */
} sotto_trust_words;

/* Of a value that is no trust model: a row named "none" that may claim nothing. */
const sotto_trust_model *sotto_trust_model_of(sotto_trust trust);
const sotto_trust_words *sotto_trust_words_of(sotto_trust trust);

/* 0: no trust model of recipes has this name; central is not one of them. */
sotto_trust sotto_trust_named(const char *name);

bool sotto_trust_is_known(sotto_trust trust);

/* trust_table.c: the rows by sotto_trust, that of no trust model first. A program that links a table of its own, as tests do,
 * has those instead. */
extern const sotto_trust_model sotto_trust_models[];
extern const sotto_trust_words sotto_trust_sentences[];
extern const size_t sotto_trust_count;

#endif
