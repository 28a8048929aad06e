/* sotto/rounds.h - a device that takes part in rounds of one server (Flamingo, Aero). libsotto-device-full has it; libsotto-device has not.
 *
 *     sotto_rounds_open      beside an open device: its journal, its secret, whose beacon draws, and where the server is
 *     sotto_rounds_consent   work for others happens only after a yes of its own
 *     sotto_rounds_keys      what the registry is to have of this device
 *     sotto_rounds_expect    the registry of this epoch, and this device's place in it
 *     sotto_rounds_join      a committee's call, as it was published: the device helps to make its key, or hands its share on
 *     sotto_rounds_take      a round of a recipe that the device knows: judged, paid for, and kept
 *     sotto_rounds_tick      whatever is due; it says when it wants to be called again
 *
 * Callers:  the host application.
 * Memory:   what is given is copied.
 * Threads:  belongs to its device's thread. Close it before the device.
 * Secrets:  the secret, vectors, and the share of a committee's key. They are in the journal until they were used, and are then
 *           erased to the last byte.
 *
 * The recipe comes first, by sotto_device_offer, like any other. Each of its rounds costs the recipe's whole epsilon and delta: the
 * server sees who takes part, so nothing is gained by sampling. A round that is burnt is paid for like any other. The ledger has the
 * spend before the journal has the vector, and a byte leaves only when both are on the disk. A crash in between costs the spend,
 * and the device is silent in that round.
 *
 * A round is named by its recipe, a # and its number: sotto_device_why and sotto_device_record know it by "launches#3".
 *
 * Rounds of learning: sotto_device_learn says who trains (sotto/learn.h). The record of a round is offered in the place of a recipe, and
 * the posting names the record. Then sotto_rounds_take fetches the model, trains, clips, rounds, adds this device's part of the noise
 * unless a committee adds it, and pays as sotto/learn.h says: once for all participations. The round's number is the record's, or one more
 * where sums are encrypted. A trainer runs within sotto_rounds_take.
 */
#ifndef SOTTO_ROUNDS_H
#define SOTTO_ROUNDS_H

#include "sotto/device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sotto_rounds sotto_rounds;

enum {
    SOTTO_ROUNDS_SECRET = 32,
    SOTTO_ROUNDS_KEY = 32,
    SOTTO_ROUNDS_WITNESS = 65 /* a point of P-256, uncompressed */
};

typedef struct sotto_rounds_options {
    size_t size;           /* sizeof(sotto_rounds_options), as the host was compiled              */
    const char *journal;   /* path of a file of its own, kept out of backups; NULL: in memory     */
    const uint8_t *secret; /* 32 random bytes, drawn once, kept apart from the journal and out of
                              backups: the keys that are registered come from it                  */
    sotto_bytes policy;    /* the bytes that the device was opened with: its `duties` say what may
                              be done                                                             */
    const uint8_t
        *witnesses; /* public values of those whose beacon draws, 65 bytes each, by place */
    uint32_t witness_count;
    const char *server; /* the aggregator's URL, with its last slash                              */
    /* Of the journal alone, another than the ledger's: both NULL: there is none. Only with it is a journal detected that was put
     * back from a copy, which could sign a second time. */
    sotto_device_counter counter;
    void *counter_context;
} sotto_rounds_options;

/* Requests go through the exchange of the device's host.
 *   SOTTO_MALFORMED  an option is missing or out of range
 *   SOTTO_DENIED     the policy is another one than the device's, or does not name `duties`
 *   SOTTO_STALE      the journal is older than its counter: it was put back from a copy, and stays shut
 */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_rounds_open(sotto_rounds **out, sotto_device *device,
                                                        const sotto_rounds_options *options,
                                                        sotto_err *err);
/* NULL is fine. */
SOTTO_API void sotto_rounds_close(sotto_rounds *rounds);

/* What the person says of rounds with one server, kept until they say otherwise. At first it is no. A no abandons every duty, and
 * erases vectors and shares. What was signed stays known. sotto_device_consent(no) does the same at the next tick. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_rounds_consent(sotto_rounds *rounds, bool given,
                                                           sotto_err *err);

typedef struct sotto_rounds_public {
    uint8_t sign[SOTTO_ROUNDS_KEY];                            /* Ed25519 */
    uint8_t pair[SOTTO_ROUNDS_KEY], channel[SOTTO_ROUNDS_KEY]; /* X25519  */
} sotto_rounds_public;
SOTTO_API void sotto_rounds_keys(const sotto_rounds *rounds, sotto_rounds_public *out);

/* From elsewhere than the server: whoever chooses the registry chooses everybody's neighbours. */
SOTTO_API void sotto_rounds_expect(sotto_rounds *rounds, const uint8_t registry[32],
                                   uint32_t index);

/* Joins the committee that a call names, for rounds of this recipe; ticks do the rest. Of a learning recipe, it is the name of a round
 * whose record the device has: "digits#0".
 *   SOTTO_MISSING    the device does not know the recipe
 *   SOTTO_DENIED     policy or consent do not cover a decryptor; it is a smaller committee than the recipe's, or of another
 *                    registry; or this device joined another call of this epoch
 *   SOTTO_REJECTED   beacon or the committee before are not what they should be
 *   SOTTO_STALE      it was joined before
 */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_rounds_join(sotto_rounds *rounds, sotto_bytes call,
                                                        const char *recipe, uint64_t now_ms,
                                                        sotto_err *err);

typedef enum sotto_rounds_part {
    SOTTO_ROUNDS_CLIENT = 1,    /* an answer was paid for, and waits to be sent */
    SOTTO_ROUNDS_DECRYPTOR = 2, /* masks or sums will be opened with others    */
    SOTTO_ROUNDS_VERIFIER = 4   /* what the server adds up will be checked     */
} sotto_rounds_part;

/* Takes part in a posted round, in each part that was drawn for this device and that the policy names. The round is held to its recipe:
 * cohort, smallest sum, committee, neighbours, ring. Its beacon and its committee's record are checked.
 *   parts  SOTTO_ROUNDS_*, added up; may be NULL
 *   why    as sotto_device_why: why there is no answer, or SOTTO_WHY_TRANSPORT. SOTTO_WHY_SLOT_MISSED: an earlier call joined
 *          the round without an answer, which is not paid for afterwards
 *   SOTTO_MISSING    the device does not know the round's recipe
 *   SOTTO_DENIED     consent does not cover it; the round asks for less protection than the recipe promises; or recipe or policy count
 *                    on more honest devices than are sure
 *   SOTTO_REJECTED   beacon or committee are not what they should be
 *   SOTTO_STALE      it has closed, or it was taken before
 */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_rounds_take(sotto_rounds *rounds, unsigned *parts,
                                                        sotto_explanation *why, sotto_bytes posting,
                                                        sotto_err *err);

/* Does what is due. Its own work can't wait until the device is idle and charging: others wait for it.
 *   now_ms   milliseconds since 1970
 *   next_ms  when to call again; UINT64_MAX: there is nothing left to do
 */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_rounds_tick(sotto_rounds *rounds, uint64_t now_ms,
                                                        uint64_t *next_ms, sotto_err *err);

#ifdef __cplusplus
}
#endif

#endif
