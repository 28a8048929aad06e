/* device/duties/duties.h - what a device does in rounds of one server. It sends a masked or encrypted vector, opens masks or sums
 * with others, gives noise, and checks what a server added up.
 *
 * Callers:  rounds.c, which is public (sotto/rounds.h); programs that play devices.
 * Memory:   what is given is copied.
 * Threads:  duties belong to one thread at a time and start none.
 * Secrets:  the device's secret, its vectors, its share of a committee's key. They are in the journal until they were used, and are
 *           then erased.
 *
 * The journal is a file of its own. A step of a machine stores its state, its vows and its outgoing messages in one transaction.
 * After that the host's counter is raised, and only then does a byte leave. Vows outlive everything: a second vector, or a second
 * set of labels in a round, fails its transaction. A journal that is older than the host's counter was put back from a copy and stays shut.
 */
#ifndef SOTTO_DEVICE_DUTIES_DUTIES_H
#define SOTTO_DEVICE_DUTIES_DUTIES_H

#include "device/duties/terms.h"
#include "sotto/device.h"

typedef struct sotto_duties sotto_duties;

/* Parts that a duty may have, and what a policy names: the parts themselves for masked sums, and four roles for encrypted ones. There a
 * client is who checks, and may contribute and give noise besides; a decryptor is a member of the committee. */
enum {
    SOTTO_DUTY_CLIENT = 1,
    SOTTO_DUTY_DECRYPTOR = 2,
    SOTTO_DUTY_CONTRIBUTOR = 4,
    SOTTO_DUTY_VERIFIER = 8,
    SOTTO_DUTY_COMMITTEE = 16,
    SOTTO_DUTY_NOISE = 32
};

enum { SOTTO_DUTIES_SECRET = 32 };

/* What becomes of a client's vector. */
typedef enum sotto_duties_news {
    SOTTO_DUTIES_LEAVES = 1, /* now, unless the answer is not SOTTO_OK */
    SOTTO_DUTIES_TAKEN,      /* the aggregator has it                  */
    SOTTO_DUTIES_OVER,       /* it was refused, or its round is over   */
    SOTTO_DUTIES_NO_BOARD    /* its round is over, and this device was shown nothing of its board */
} sotto_duties_news;
typedef sotto_status sotto_duties_news_fn(void *context, const sotto_round *round,
                                          sotto_duties_news news, sotto_err *err);

struct sotto_rounds; /* sotto/rounds.h */

typedef struct sotto_duties_options {
    const char *journal;          /* path; "/name" with memory set */
    bool memory;                  /* in this process only: simulations */
    const sotto_storage *storage; /* NULL: the file system */
    const uint8_t *secret; /* 32 random bytes, drawn once: all keys of the device come from it */
    unsigned allowed;      /* SOTTO_DUTY_*: what the application's policy names; 0: nothing */
    /* Whose beacon draws cohorts and committees. */
    const uint8_t (*witnesses)[SOTTO_P256_WIDE];
    uint32_t witness_count;
    sotto_duties_terms terms; /* all zeros: no round is joined until sotto_duties_expect */
    const sotto_aero_account
        *own; /* what it knows of itself (aggregate/posting.h); NULL: nothing */
    /* Whose witnesses cosign boards: a quorum of each log that has one. Borrowed; none: the server is believed. */
    const struct sotto_policy_log *logs;
    size_t log_count;
    const char *server;     /* the aggregator's URL, with its last slash */
    sotto_device_host host; /* exchange and counter; others are not used */
    /* Told of each client's vector, with host.context. It may be told again after a crash. SOTTO_DENIED ends the duty; NULL:
     * nobody is told. */
    sotto_duties_news_fn *news;
} sotto_duties_options;

/*   SOTTO_STALE   the journal is older than the host's counter
 *   others        as query/sqlite.h */
SOTTO_MUST_USE sotto_status sotto_duties_open(sotto_duties **out,
                                              const sotto_duties_options *options, sotto_err *err);
/* NULL is fine. */
void sotto_duties_close(sotto_duties *d);

/* What it knows of itself, from then on; borrowed. NULL: nothing. */
void sotto_duties_own(sotto_duties *d, const sotto_aero_account *own);
/* Whose witnesses cosign boards from then on; borrowed. */
void sotto_duties_watch(sotto_duties *d, const struct sotto_policy_log *logs, size_t count);
/* Of rounds that an application opened: for programs that play many devices. */
sotto_duties *sotto_rounds_duties(struct sotto_rounds *rounds);

/* What the person says: nothing happens before a yes. A no abandons every duty and erases shares and vectors; vows stay. */
SOTTO_MUST_USE sotto_status sotto_duties_consent(sotto_duties *d, bool given, sotto_err *err);

/* What is registered: the keys that sign, mask with others, and open shares. */
typedef struct sotto_duty_keys {
    uint8_t sign[SOTTO_SIGN_PUBLIC], pair[32], channel[32];
} sotto_duty_keys;
void sotto_duties_keys(const sotto_duties *d, sotto_duty_keys *out);
/* For the members of a committee that is being made: the member at `place` signs the record, after its share was put. It vows
 * first: one record for an epoch of a session, ever.
 *   SOTTO_DENIED    policy or consent do not cover it; or it signed another record
 *   SOTTO_MISSING   it has no share of this epoch
 *   SOTTO_REJECTED  the record's value at this place is not that of its share */
SOTTO_MUST_USE sotto_status sotto_duties_sign_committee(sotto_duties *d,
                                                        const sotto_decryptors_record *record,
                                                        uint32_t place,
                                                        uint8_t out[SOTTO_SIGNATURE],
                                                        sotto_err *err);

/* A share of a committee's key, for an epoch of a session: one, ever.
 *   SOTTO_DENIED  policy or consent do not cover it; or there is another one */
SOTTO_MUST_USE sotto_status sotto_duties_put_share(sotto_duties *d, const uint8_t session[32],
                                                   uint64_t epoch, const uint8_t share[32],
                                                   sotto_err *err);
/* After it was handed over, or its epoch ended: it is erased to the last byte. */
SOTTO_MUST_USE sotto_status sotto_duties_erase_share(sotto_duties *d, const uint8_t session[32],
                                                     uint64_t epoch, sotto_err *err);

/* Joins the committee that a call names: as a member that is to have the key, or as one that hands its share on (aggregate/keygen/keygen.h).
 * Ticks do the rest; its share is then in the journal, and one that was handed on is erased from it.
 *   SOTTO_DENIED     policy, consent or terms do not cover it; this device joined another call of this epoch;
 *                    or it ends in more than 7 days
 *   SOTTO_REJECTED   beacon or the committee before are not what they should be
 *   SOTTO_STALE      it was joined before */
SOTTO_MUST_USE sotto_status sotto_duties_join_keygen(sotto_duties *d, sotto_bytes call,
                                                     uint32_t index, uint64_t now_ms,
                                                     sotto_err *err);

/* Other terms from now on, as with the registry of the next epoch. Duties that were taken stay as they are. */
void sotto_duties_expect(sotto_duties *d, const sotto_duties_terms *terms);

/* Whether the policy lets this device answer in rounds of this method. */
bool sotto_duties_may_answer(const sotto_duties *d, const sotto_method *method);
/* Whether a round may be taken part in, before anything is paid for. Statuses of sotto_duties_take. */
SOTTO_MUST_USE sotto_status sotto_duties_check(sotto_duties *d, const sotto_posted_round *posted,
                                               uint32_t index, unsigned part, sotto_err *err);

/* Whether this part was taken in this round before: it is taken once, with a vector or without. */
SOTTO_MUST_USE sotto_status sotto_duties_holds(sotto_duties *d, const sotto_posted_round *posted,
                                               unsigned part, bool *held, sotto_err *err);

/* Takes part in a posted round. values: NULL for a decryptor, and for who only checks; else the client's entries, its part of the noise
 * among them.
 *   SOTTO_DENIED     policy, consent or terms do not cover it; the round contradicts itself; or this device is not registered
 *                    there
 *   SOTTO_REJECTED   beacon or committee are not what they should be
 *   SOTTO_STALE      it was taken before */
SOTTO_MUST_USE sotto_status sotto_duties_take(sotto_duties *d, sotto_bytes posting, uint32_t index,
                                              unsigned part, const uint64_t *values, size_t count,
                                              sotto_err *err);

/* Does what is due: time passes, messages are fetched, judged and sent.
 *   next_ms  when to call again; UINT64_MAX: there is nothing left to do */
SOTTO_MUST_USE sotto_status sotto_duties_tick(sotto_duties *d, uint64_t now_ms, uint64_t *next_ms,
                                              sotto_err *err);

#endif
