/* learn/session.h - a model on its way through rounds: sums in, a step each, and a checkpoint that loses nothing.
 *
 * Callers:  sotto-sim; `sotto learn run`, which steps the model between rounds.
 * Memory:   arrays live in the arena given at set-up.
 * Threads:  one owner at a time.
 * Secrets:  none: a session sees released sums alone.
 *
 * A round closes with a sum, or burns: then the model stays as it is, and the round is counted. The transcript is a hash over all
 * that went in, so that two runs that did the same have the same one.
 */
#ifndef SOTTO_LEARN_SESSION_H
#define SOTTO_LEARN_SESSION_H

#include "base/file.h"
#include "learn/model.h"
#include "learn/step.h"

enum { SOTTO_SESSION_HASH = 32 };

/* A point of the curves of loss and accuracy, after so many rounds. */
typedef struct sotto_session_point {
    uint64_t round;
    double loss, accuracy;
} sotto_session_point;

typedef struct sotto_session {
    const sotto_model *model;
    sotto_step_config step;
    uint8_t purpose
        [SOTTO_SESSION_HASH]; /* of all else that the run was asked for: a checkpoint of another is refused */
    uint64_t round;           /* closed or burnt so far */
    uint64_t burnt;
    uint64_t reports; /* in all closed rounds */
    uint8_t transcript[SOTTO_SESSION_HASH];
    float *weights, *first, *second; /* first, second: NULL where the optimizer has none */
    sotto_session_point *points;
    size_t point_count, most_points;
} sotto_session;

/* purpose: bytes that name everything about the run, such as its options. Weights are first ones, from the seed. */
SOTTO_MUST_USE sotto_status sotto_session_init(sotto_session *out, const sotto_model *model,
                                               const sotto_step_config *step, sotto_bytes purpose,
                                               uint64_t seed, size_t most_points,
                                               sotto_arena *arena, sotto_err *err);
/* One step: the mean is sum * unit. */
void sotto_session_close_round(sotto_session *session, const int64_t *sum, double unit,
                               uint64_t reports);
void sotto_session_burn_round(sotto_session *session);
/* SOTTO_TOO_LARGE: there are most_points already. */
SOTTO_MUST_USE sotto_status sotto_session_note(sotto_session *session, double loss, double accuracy,
                                               sotto_err *err);

/* ---- checkpoints --------------------------------------------------------------------------------------------- */

size_t sotto_session_size(const sotto_session *session); /* of an encoding, at most */
SOTTO_MUST_USE sotto_status sotto_session_encode(const sotto_session *session, sotto_buf *out,
                                                 sotto_err *err);
/* Into a session that was set up for the same model and purpose. On failure it is as it was.
 *   SOTTO_MALFORMED  not a checkpoint, or damaged: its hash does not match
 *   SOTTO_DENIED     a checkpoint of another run */
SOTTO_MUST_USE sotto_status sotto_session_decode(sotto_session *session, sotto_bytes file,
                                                 sotto_err *err);

/* Writes beside the file, syncs, renames, syncs the directory: whenever the process ends, the file is the old one or the new one.
 * A failure leaves the old one. at (NULL is fine) is called before each step: tests end the process there. */
SOTTO_MUST_USE sotto_status sotto_session_save(const sotto_session *session, const char *path,
                                               sotto_arena *scratch, sotto_file_moment *at,
                                               void *context, sotto_err *err);
/* SOTTO_MISSING: there is no such file. */
SOTTO_MUST_USE sotto_status sotto_session_load(sotto_session *session, const char *path,
                                               sotto_arena *scratch, sotto_err *err);

#endif
