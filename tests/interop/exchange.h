/* interop/exchange.h - one batch of reports through leader and helper, each role ours or the
 * peer's.
 *
 * Callers:  the interoperability tests.
 * Memory:   everything lives in the test's arena, which the test resets between batches.
 * Threads:  one at a time: there is one peer.
 */
#ifndef SOTTO_TESTS_INTEROP_EXCHANGE_H
#define SOTTO_TESTS_INTEROP_EXCHANGE_H

#include "interop/peer.h"
#include "sotto/vdaf.h"

enum { SOTTO_LEADER = 0, SOTTO_HELPER = 1 };

/* Who plays a role, as a set: a bit says that the peer does. */
enum {
    SOTTO_THEIR_LEADER = 1 << SOTTO_LEADER,
    SOTTO_THEIR_HELPER = 1 << SOTTO_HELPER,
    SOTTO_THEIR_CLIENT = 1 << 2,
    SOTTO_MIXES = 1 << 3
};

/* A measurement type as the peer knows it, and what the tests must know of it. */
typedef struct sotto_kind {
    sotto_prio3_type type;
    const char *name;
    size_t element_size; /* 8: Field64, 16: Field128          */
    bool joint_rand;     /* the report is bound to its nonce  */
    bool length, max, proofs;
} sotto_kind;

/* One choice of parameters and keys. */
typedef struct sotto_instance {
    const sotto_kind *kind;
    sotto_prio3_config config;
    sotto_prio3 vdaf;
    uint8_t verify_key[SOTTO_PRIO3_VERIFY_KEY_SIZE];
    sotto_bytes context;
} sotto_instance;

/* A report as its client made it and, tampered with or not, as each aggregator received it. */
typedef struct sotto_interop_report {
    sotto_measurement measurement;
    uint8_t nonce[SOTTO_PRIO3_NONCE_SIZE];
    sotto_bytes public_share;
    sotto_bytes shares[2];
    sotto_prio3_report received[2];
} sotto_interop_report;

/* What became of one report: by aggregator, the message it sent (empty where it refused at once),
 * its verdict, and its out share if it accepted. */
typedef struct sotto_outcome {
    sotto_bytes messages[2];
    bool accepted[2];
    sotto_bytes out_shares[2];
} sotto_outcome;

/* Changes a message on its way from an aggregator to the other; NULL leaves all as they are. */
typedef struct sotto_courier {
    sotto_bytes (*carry)(void *self, size_t report, int sender, sotto_bytes message);
    void *self;
} sotto_courier;

typedef struct sotto_interop_exchange {
    const sotto_instance *instance;
    sotto_peer *peer;
    unsigned mix;
    sotto_bytes contexts[2]; /* what each aggregator takes for the context */
    const sotto_courier *courier;

    sotto_prio3_verification *states[2]; /* NULL where the peer verifies */
    sotto_outcome *outcomes;
} sotto_interop_exchange;

/* Makes public_share and shares, and an honest copy of them in `received`. */
void sotto_interop_shard(sotto_test *t, const sotto_instance *instance, sotto_peer *peer,
                         sotto_interop_report *report, sotto_bytes rand, bool theirs);

/* Fills states and outcomes. */
void sotto_interop_exchange_run(sotto_test *t, sotto_interop_exchange *x,
                                const sotto_interop_report *reports, size_t count);

/* The peer answers for this instance from here on. */
void sotto_peer_choose(sotto_test *t, sotto_peer *peer, const sotto_instance *instance,
                       sotto_bytes context);

/* Memory from the test's arena; the test fails where there is none. */
void *sotto_test_take(sotto_test *t, size_t count, size_t size);

#endif
