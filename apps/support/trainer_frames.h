/* support/trainer_frames.h - what a host and a trainer in a process of its own say to each other.
 *
 * Callers:  support/trainer_child.c; its fuzz target.
 * Memory:   decoders borrow from the bytes that they read.
 * Secrets:  rows and updates, which stay on the machine.
 *
 * A frame is its length in 4 bytes, big endian, a byte for its kind, and a body; the length counts kind and body.
 *
 *     HELLO    trainer, first   version in 2 bytes, 1; then names of the models it trains, each behind a byte with its length
 *     TRAIN    host             a JSON object behind its length in 4 bytes, then the model: a safetensors file
 *     UPDATE   trainer          a safetensors file: new weights less old ones, tensors by the names of the model's
 *     FAILED   trainer          why, in UTF-8
 *     BYE      host, last       empty
 *
 * The JSON object of TRAIN has recipe, round, model, algorithm, epochs, batch, rate, clip, seed, columns and rows. The seed is a
 * text of digits. Each row is an array of numbers, texts and null, as the columns name them.
 */
#ifndef SOTTO_APPS_TRAINER_FRAMES_H
#define SOTTO_APPS_TRAINER_FRAMES_H

#include "sotto/learn.h"

enum {
    SOTTO_FRAME_HEAD = 5,
    SOTTO_TRAINER_VERSION = 1,
    SOTTO_TRAINER_HELLO = 4096, /* longest bodies */
    SOTTO_TRAINER_REASON = 1024,
    SOTTO_TRAINER_TENSORS = 1024
};

typedef enum sotto_frame_kind {
    SOTTO_FRAME_HELLO = 1,
    SOTTO_FRAME_TRAIN,
    SOTTO_FRAME_UPDATE,
    SOTTO_FRAME_FAILED,
    SOTTO_FRAME_BYE
} sotto_frame_kind;

/* How a frame begins: its kind, and the length of its body.
 *   SOTTO_MALFORMED  no kind that a trainer sends, or longer than such a frame may be; an update has at most most_update bytes */
SOTTO_MUST_USE sotto_status sotto_frame_head_decode(sotto_frame_kind *kind, size_t *body,
                                                    const uint8_t head[SOTTO_FRAME_HEAD],
                                                    size_t most_update, sotto_err *err);
void sotto_frame_head_encode(uint8_t head[SOTTO_FRAME_HEAD], sotto_frame_kind kind, size_t body);

/* SOTTO_DENIED: another version, or it does not train such a model. */
SOTTO_MUST_USE sotto_status sotto_trainer_hello_check(sotto_bytes body, const char *model,
                                                      sotto_err *err);

/* The body of TRAIN but for the model, which follows it. The arena's. */
SOTTO_MUST_USE sotto_status sotto_trainer_job_encode(sotto_bytes *out,
                                                     const sotto_trainer_input *input,
                                                     sotto_arena *arena, sotto_err *err);

/* Longest update for a model of so many parameters. */
size_t sotto_trainer_update_most(size_t parameters);
/* Puts each tensor of an update where the model's file has the one of its name, as count numbers in all.
 *   SOTTO_MALFORMED  not a safetensors file, a tensor that is missing, of another type or shape, or shared bytes
 *   SOTTO_REJECTED   a number is not finite */
SOTTO_MUST_USE sotto_status sotto_trainer_update_decode(float *update, size_t count,
                                                        sotto_bytes file, sotto_bytes model,
                                                        sotto_err *err);

#endif
