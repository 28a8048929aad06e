/* learn/model_file.h - weights in files that other programs read: safetensors, and NumPy's npz.
 *
 * Callers:  the simulator, `sotto learn`, the trainer's frames.
 * Memory:   the caller's buffer; a decoder borrows nothing.
 * Secrets:  none: a model is released.
 *
 * safetensors: 8 bytes of length, little endian; a JSON object that says type, shape and place of each tensor; the numbers.
 * npz: a ZIP archive without compression, one .npy file a tensor. It is only written.
 */
#ifndef SOTTO_LEARN_MODEL_FILE_H
#define SOTTO_LEARN_MODEL_FILE_H

#include "learn/model.h"

enum { SOTTO_SAFETENSORS_HEADER = 65536 }; /* longest that is read */

/* Bytes that suffice for either format. */
size_t sotto_model_file_size(const sotto_model *model);

SOTTO_MUST_USE sotto_status sotto_safetensors_encode(const sotto_model *model, const float *weights,
                                                     sotto_buf *out, sotto_err *err);
/* Every tensor of the model, float32, in its shape, each byte of the file used once, all numbers finite.
 *   SOTTO_MALFORMED  not such a file; the reason names the tensor. weights may be half written */
SOTTO_MUST_USE sotto_status sotto_safetensors_decode(const sotto_model *model, float *weights,
                                                     sotto_bytes file, sotto_err *err);

/* A model that nobody here computes, from a file whose tensors were checked (device/round.h). The file's head is borrowed: every later
 * file of the model begins with it. Such a model has sessions and files alone: no tensors, no gradient, no npz.
 *   SOTTO_MALFORMED  the file has no head, or too many numbers */
SOTTO_MUST_USE sotto_status sotto_model_own(sotto_model *out, sotto_bytes file, sotto_err *err);

SOTTO_MUST_USE sotto_status sotto_npz_encode(const sotto_model *model, const float *weights,
                                             sotto_buf *out, sotto_err *err);

#endif
