/* sotto-vectors/generate.h - vectors of our own in the published formats, hostile ones among them.
 *
 * The published vectors share one nonce and one randomness among all reports and have few
 * parameters; these fill the gaps. They are written by the implementation they test, so they prove
 * nothing about the standard: they hold on to what agreed with the published ones. Everything random
 * in a file comes from its name, so that writing it again changes no byte.
 */
#ifndef SOTTO_VECTORS_GENERATE_H
#define SOTTO_VECTORS_GENERATE_H

#include "crypto/turboshake.h"
#include "json.h"

/* Writes all files below `folder`, which must exist. */
SOTTO_MUST_USE sotto_status sotto_vectors_generate(const char *folder, sotto_err *err);

/* ---- for the families ------------------------------------------------------------------------ */

/* A file in the making. */
typedef struct sotto_gen {
    const char *folder;
    sotto_arena *arena;
    sotto_turboshake source; /* of all that looks random        */
    bool out_of_memory;      /* a JSON value could not be made  */
} sotto_gen;

/* Starts the file of this name. */
void sotto_gen_start(sotto_gen *gen, const char *name);
/* Takes root over and writes it to <folder>/<name>.json. */
SOTTO_MUST_USE sotto_status sotto_gen_write(sotto_gen *gen, const char *name, json_t *root,
                                            sotto_err *err);

SOTTO_MUST_USE sotto_status sotto_gen_bytes(sotto_gen *gen, sotto_bytes *out, size_t len,
                                            sotto_err *err);
/* 0 to max. */
uint64_t sotto_gen_number(sotto_gen *gen, uint64_t max);

/* These take the value over. */
void sotto_gen_put(sotto_gen *gen, json_t *object, const char *key, json_t *value);
void sotto_gen_add(sotto_gen *gen, json_t *array, json_t *value);
void sotto_gen_put_hex(sotto_gen *gen, json_t *object, const char *key, sotto_bytes bytes);
void sotto_gen_put_number(sotto_gen *gen, json_t *object, const char *key, uint64_t value);
json_t *sotto_gen_hex(sotto_gen *gen, sotto_bytes bytes);
/* Any integer: one too long for jansson is a marked string until it is written. */
json_t *sotto_gen_integer(sotto_uint128 value);

SOTTO_MUST_USE sotto_status sotto_generate_vdaf(sotto_gen *gen, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_generate_xof(sotto_gen *gen, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_generate_turboshake(sotto_gen *gen, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_generate_hpke(sotto_gen *gen, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_generate_ohttp(sotto_gen *gen, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_generate_dap(sotto_gen *gen, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_generate_pine(sotto_gen *gen, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_generate_pine_draft(sotto_gen *gen, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_generate_token(sotto_gen *gen, sotto_err *err);

#endif
