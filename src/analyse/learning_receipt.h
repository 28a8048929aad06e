/* analyse/learning_receipt.h - what may be claimed of a round of learning, and of a whole session: epsilon, its theorem, who must be
 * honest, and how far a liar reaches.
 *
 * Callers:  `sotto learn run`, `sotto learn watch`.
 * Memory:   plain values; names are borrowed from the recipe and the claim.
 * Secrets:  none: all of it is public.
 *
 * Every number is the claim's (recipe/learning.h), which is for all participations of a device together. A round's receipt says
 * the same and not less: whoever has the sum of one round may have those of others.
 */
#ifndef SOTTO_ANALYSE_LEARNING_RECEIPT_H
#define SOTTO_ANALYSE_LEARNING_RECEIPT_H

#include "recipe/learning_encrypted.h"
#include "recipe/learning_slots.h"
#include "recipe/one_server.h"
#include "sotto/analyse.h"

typedef struct sotto_learning_receipt {
    const char *recipe, *analysis;
    const char *leader, *helper;        /* of two servers; else NULL      */
    char server[SOTTO_ONE_SERVER_NAME]; /* of one; else empty             */
    const char *sees;                   /* what each party sees           */
    sotto_stated_committee stated;      /* of one server that unmasks: its committee */
    sotto_stated_encryption
        encryption; /* of one server that adds up encrypted sums; what a round said is for whoever read its board */
    uint8_t hash[32];
    uint8_t
        model[SOTTO_MODEL_HASH]; /* that the round began with; of a session: that it ended with */
    bool session;
    uint64_t round;         /* of a round */
    uint64_t rounds, burnt; /* of a session: closed or burnt, and burnt alone */
    uint64_t
        reports; /* in the sum; of a session: in all of them. Not told where there is a policy */
    uint64_t min_cohort, participations;
    double rho, epsilon, delta; /* of one participation; of all of them       */
    const char *theorem, *sampling, *by, *honest, *inputs;
    const char
        *correlated;  /* what correlated noise asks of servers; NULL: it is fresh in each round */
    uint64_t restart; /* rounds of a tree of it, else 0                                         */
    size_t buffers;   /* that correlate it, else 0                                              */
    double sigma;     /* of the noise that is counted on, in clips                  */
    double bound_factor; /* a liar's update, in clips, at most; 0: nothing bounds it   */
    double lift;    /* of a sum to parameters: a liar's update gets up to so many times longer */
    double divisor; /* the public number that a sum is divided by                 */
    double liar;    /* how far one liar moves the mean of a round, at most; infinity: anywhere */
    bool tokens;    /* a device can send one report; without, several         */
    uint64_t honest_devices; /* that noise by shares counts on, of min_cohort; else 0  */
    /* Of all rounds, if nobody sees who takes part: then neither relay and gateway nor relay and leader work together. Infinity: nothing
     * is claimed for it, and the names are NULL. */
    double sampled_epsilon, sampled_share;
    const char *relay, *gateway;
    const char
        *policy; /* of slots; NULL: devices are drawn anew in each round, and reports are counted */
    const char *policy_words; /* the same for people; NULL with it */
    sotto_slots_claim slots;  /* of all rounds until then, where devices draw one */
} sotto_learning_receipt;

/* reports: of the sum; burnt: rounds before it that were. SOTTO_DENIED: fewer than min_cohort, so that there is nothing to give a receipt for. */
SOTTO_MUST_USE sotto_status sotto_round_receipt_of(sotto_learning_receipt *out,
                                                   const sotto_learning *learning,
                                                   const sotto_learning_claim *claim,
                                                   const sotto_round_record *record, uint64_t burnt,
                                                   uint64_t reports, sotto_err *err);
/* model: that the session ended with. */
void sotto_session_receipt_of(sotto_learning_receipt *out, const sotto_learning *learning,
                              const sotto_learning_claim *claim,
                              const uint8_t model[SOTTO_MODEL_HASH], uint64_t rounds,
                              uint64_t burnt, uint64_t reports);
/* Appends it in plain words. */
SOTTO_MUST_USE sotto_status sotto_learning_receipt_explain(sotto_buf *out,
                                                           const sotto_learning_receipt *receipt,
                                                           sotto_err *err);

#endif
