/* sotto-vectors/families.h - one entry point for each family of vector files.
 *
 * Each takes a parsed file, compares every value in it, and tells the tally: one count for each item.
 * A file that belongs to a family but holds nothing to compare has failed.
 */
#ifndef SOTTO_VECTORS_FAMILIES_H
#define SOTTO_VECTORS_FAMILIES_H

#include "json.h"
#include "tally.h"

typedef struct sotto_vector_file {
    const char *path; /* as the user will know it                         */
    const char *kind; /* what the name says: "Prio3Count", "XofHmac..."  */
    json_t *root;
    sotto_arena *arena; /* cleared after the file */
    sotto_tally *tally;
} sotto_vector_file;

bool sotto_vectors_vdaf_knows(const char *kind);
void sotto_vectors_vdaf(const sotto_vector_file *file);

bool sotto_vectors_pine_knows(const char *kind);
void sotto_vectors_pine(const sotto_vector_file *file);

bool sotto_vectors_xof_knows(const char *kind);
void sotto_vectors_xof(const sotto_vector_file *file);

/* These are known by their keys: an object, or an array of such objects. */
bool sotto_vectors_turboshake_knows(const json_t *item);
void sotto_vectors_turboshake(const sotto_vector_file *file);

bool sotto_vectors_hpke_knows(const json_t *item);
void sotto_vectors_hpke(const sotto_vector_file *file);

bool sotto_vectors_bhttp_knows(const json_t *item);
void sotto_vectors_bhttp(const sotto_vector_file *file);

bool sotto_vectors_ohttp_knows(const json_t *item);
void sotto_vectors_ohttp(const sotto_vector_file *file);

/* Messages and derived values; whole transcripts. */
bool sotto_vectors_dap_knows(const json_t *item);
void sotto_vectors_dap(const sotto_vector_file *file);

bool sotto_vectors_dap_task_knows(const json_t *item);
void sotto_vectors_dap_task(const sotto_vector_file *file);

/* Calls run for the file's object, with name "", or for each object of its array, with its number. */
void sotto_vectors_each(const sotto_vector_file *file,
                        void (*run)(const sotto_vector_file *file, const json_t *item,
                                    const char *name));

/* Counts an item: it passed with SOTTO_OK, else it failed for err's reason. */
void sotto_vectors_tell(const sotto_vector_file *file, const char *name, sotto_status status,
                        const sotto_err *err);
/* Transparency logs: proofs, trees, notes, keys, tiles, whole logs. */
bool sotto_vectors_tlog_knows(const json_t *item);
void sotto_vectors_tlog(const sotto_vector_file *file);
/* Tokens: blind RSA, VOPRF, Privacy Pass and its challenges, ARC. */
bool sotto_vectors_blind_rsa_knows(const json_t *item);
void sotto_vectors_blind_rsa(const sotto_vector_file *file);

bool sotto_vectors_voprf_knows(const json_t *item);
void sotto_vectors_voprf(const sotto_vector_file *file);

bool sotto_vectors_tokens_knows(const json_t *item);
void sotto_vectors_tokens(const sotto_vector_file *file);

bool sotto_vectors_batched_knows(const json_t *item);
void sotto_vectors_batched(const sotto_vector_file *file);

bool sotto_vectors_challenges_knows(const json_t *item);
void sotto_vectors_challenges(const sotto_vector_file *file);

bool sotto_vectors_arc_knows(const json_t *item);
void sotto_vectors_arc(const sotto_vector_file *file);

/* SOTTO_REJECTED, naming the value and the first difference, unless the bytes are equal. */
SOTTO_MUST_USE sotto_status sotto_vectors_compare(sotto_bytes wanted, sotto_bytes got,
                                                  const char *what, sotto_err *err);

#endif
