/* dap/report.h - a DAP report: its messages, and how a client makes one (DAP draft 18).
 *
 * Callers:  device/, the programs, benchmarks and tests make reports; serve/ and collect/ open what is sealed.
 * Memory:   what a decoder hands out borrows from the wire bytes, whatever lengths they claim; encoders append to the
 *           caller's buffer and leave it as it was when they fail. Only making a report takes memory, from an arena.
 * Threads:  calls on different outputs never interfere.
 * Secrets:  a sotto_report_draft, a sotto_plaintext_input_share and its encoding, and all randomness. Making a report
 *           takes a time that depends on lengths alone.
 *
 * Statuses common to all decoders: SOTTO_MALFORMED: too short, trailing bytes, or an empty string where DAP
 * demands one. Encoders: SOTTO_TOO_LARGE: out would pass its limit, or a length its field; out is unchanged.
 */
#ifndef SOTTO_DAP_REPORT_H
#define SOTTO_DAP_REPORT_H

#include "aggregate/shard.h"
#include "sotto/seal.h"

enum {
    SOTTO_DAP_CONTEXT_SIZE = sizeof SOTTO_DAP_TAG - 1 + SOTTO_TASK_ID_SIZE,
    SOTTO_DAP_INFO_MAX = 32,
};

/* DAP, "Basic Type Definitions". */
typedef enum sotto_dap_role {
    SOTTO_DAP_COLLECTOR = 0,
    SOTTO_DAP_CLIENT = 1,
    SOTTO_DAP_LEADER = 2,
    SOTTO_DAP_HELPER = 3,
} sotto_dap_role;

/* ---- parts of messages --------------------------------------------------------------------------- */

typedef struct sotto_hpke_ciphertext {
    uint8_t config_id;
    sotto_bytes enc;     /* borrowed; never empty */
    sotto_bytes payload; /* borrowed; never empty */
} sotto_hpke_ciphertext;

typedef struct sotto_report_metadata {
    uint8_t report_id[SOTTO_REPORT_ID_SIZE];
    uint64_t time;                 /* in units of the task's precision                    */
    sotto_bytes public_extensions; /* the list without its length; borrowed and unchecked */
} sotto_report_metadata;

/* For decoders and encoders of what these are part of. A read that is short, or an empty enc or payload, makes
 * the reader fail at its end. */
void sotto_hpke_ciphertext_read(sotto_reader *in, sotto_hpke_ciphertext *out);
void sotto_hpke_ciphertext_write(sotto_writer *w, const sotto_hpke_ciphertext *ciphertext);
void sotto_report_metadata_read(sotto_reader *in, sotto_report_metadata *out);
void sotto_report_metadata_write(sotto_writer *w, const sotto_report_metadata *metadata);
/* A string of at least one byte, behind its length. */
sotto_bytes sotto_read_filled16(sotto_reader *in);
sotto_bytes sotto_read_filled32(sotto_reader *in);

SOTTO_MUST_USE sotto_status sotto_hpke_ciphertext_decode(sotto_hpke_ciphertext *out,
                                                         sotto_bytes wire, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_hpke_ciphertext_encode(sotto_buf *out,
                                                         const sotto_hpke_ciphertext *ciphertext,
                                                         sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_report_metadata_decode(sotto_report_metadata *out,
                                                         sotto_bytes wire, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_report_metadata_encode(sotto_buf *out,
                                                         const sotto_report_metadata *metadata,
                                                         sotto_err *err);

/* ---- extensions ---------------------------------------------------------------------------------- */

/* Lists of reports, tasks and jobs all look alike: a type of two bytes, then data behind a 16-bit length. */
typedef struct sotto_extension {
    uint16_t type;
    sotto_bytes data; /* borrowed */
} sotto_extension;

/* The next one, or false at the end or at malformed bytes (which sotto_extensions_check finds first). */
bool sotto_extensions_next(sotto_reader *in, sotto_extension *out);
void sotto_extension_write(sotto_writer *w, const sotto_extension *extension);
/* A list, without its length: SOTTO_MALFORMED unless it parses and its types strictly increase. */
SOTTO_MUST_USE sotto_status sotto_extensions_check(sotto_bytes list, const char *what,
                                                   sotto_err *err);
/* The lists that one aggregator sees of a report. Whoever is given SOTTO_MALFORMED rejects that report as
 * invalid_message, and SOTTO_MISSING too.
 *   SOTTO_MALFORMED  a list is malformed or out of order, or one type is in both
 *   SOTTO_MISSING    a type is not among `known`, a list of `count` */
SOTTO_MUST_USE sotto_status sotto_report_extensions_check(sotto_bytes public_extensions,
                                                          sotto_bytes private_extensions,
                                                          const uint16_t *known, size_t count,
                                                          sotto_err *err);

/* ---- Report -------------------------------------------------------------------------------------- */

typedef struct sotto_dap_report {
    sotto_report_metadata metadata;
    sotto_bytes public_share; /* borrowed; may be empty */
    sotto_hpke_ciphertext leader;
    sotto_hpke_ciphertext helper;
} sotto_dap_report;

/* The next report of several that stand one after the other; short_read tells what went wrong, at the end. */
void sotto_dap_report_read(sotto_reader *in, sotto_dap_report *out);
SOTTO_MUST_USE sotto_status sotto_dap_report_decode(sotto_dap_report *out, sotto_bytes wire,
                                                    sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_dap_report_encode(sotto_buf *out, const sotto_dap_report *report,
                                                    sotto_err *err);
/* Bytes of its encoding. */
size_t sotto_dap_report_size(const sotto_dap_report *report);

/* ---- PlaintextInputShare: what is sealed to each server ------------------------------------------ */

typedef struct sotto_plaintext_input_share {
    sotto_bytes private_extensions; /* the list without its length; borrowed */
    sotto_bytes payload;            /* the VDAF's input share; borrowed      */
} sotto_plaintext_input_share;

/* SOTTO_MALFORMED also for extensions out of order. An empty payload is left to the VDAF to refuse, as other
 * decoders do: it is never a share, so the report is invalid_message either way. */
SOTTO_MUST_USE sotto_status sotto_plaintext_input_share_decode(sotto_plaintext_input_share *out,
                                                               sotto_bytes wire, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_plaintext_input_share_encode(
    sotto_buf *out, const sotto_plaintext_input_share *share, sotto_err *err);

/* ---- what binds a sealed share to its task and purpose ------------------------------------------- */

/* InputShareAad.
 *   configuration  the encoded TaskConfiguration, its exact bytes */
SOTTO_MUST_USE sotto_status sotto_input_share_aad_encode(sotto_buf *out,
                                                         const uint8_t task_id[SOTTO_TASK_ID_SIZE],
                                                         sotto_bytes configuration,
                                                         const sotto_report_metadata *metadata,
                                                         sotto_bytes public_share, sotto_err *err);
/* HPKE info of an input share: the tag, " input share", client, recipient. Returns the bytes used of out. */
sotto_bytes sotto_input_share_info(uint8_t out[SOTTO_DAP_INFO_MAX], sotto_dap_role recipient);
/* ... and of an aggregate share: the tag, " aggregate share", sender, collector. */
sotto_bytes sotto_aggregate_share_info(uint8_t out[SOTTO_DAP_INFO_MAX], sotto_dap_role sender);
/* The VDAF's context: the tag, then the task id. */
void sotto_dap_context(uint8_t out[SOTTO_DAP_CONTEXT_SIZE],
                       const uint8_t task_id[SOTTO_TASK_ID_SIZE]);

/* ---- making a report ----------------------------------------------------------------------------- */

enum { SOTTO_REPORT_LEADER, SOTTO_REPORT_HELPER, SOTTO_REPORT_SHARES };

/* A report before it is sealed. Whoever keeps it can seal it again, to other keys. */
typedef struct sotto_report_draft {
    uint8_t task_id[SOTTO_TASK_ID_SIZE];
    sotto_bytes configuration; /* the encoded TaskConfiguration, its exact bytes */
    sotto_report_metadata metadata;
    sotto_bytes public_share;
    sotto_plaintext_input_share shares[SOTTO_REPORT_SHARES];
} sotto_report_draft;

/* Shards a measurement into public_share and the payloads of shares, which live in the arena.
 *   draft  has its task_id and report id
 *   rand   vdaf->sizes.rand bytes that no other report had */
SOTTO_MUST_USE sotto_status sotto_report_shard(sotto_report_draft *draft, const sotto_vdaf *vdaf,
                                               sotto_measurement measurement, sotto_bytes rand,
                                               sotto_arena *arena, sotto_err *err);

/* The InputShareAad of both shares. Only callers that use HPKE directly need it: test vectors prescribe ephemeral
 * keys, and benchmarks reuse theirs. */
SOTTO_MUST_USE sotto_status sotto_report_aad_encode(sotto_buf *out, const sotto_report_draft *draft,
                                                    sotto_err *err);

/* Bytes of that. */
size_t sotto_report_aad_size(const sotto_report_draft *draft);

/* Seals one share: out lives in the arena; scratch memory is given back.
 *   who  SOTTO_REPORT_LEADER or _HELPER
 *   ikm  SOTTO_HPKE_MAX_PRIVATE_KEY random bytes that are used once */
SOTTO_MUST_USE sotto_status sotto_report_seal_share(sotto_hpke_ciphertext *out,
                                                    const sotto_report_draft *draft, unsigned who,
                                                    const sotto_hpke_config *to, sotto_bytes ikm,
                                                    sotto_arena *arena, sotto_err *err);
/* Seals both; out borrows from the draft too. ikm: one after the other. */
SOTTO_MUST_USE sotto_status sotto_report_seal_both(sotto_dap_report *out,
                                                   const sotto_report_draft *draft,
                                                   const sotto_hpke_config to[SOTTO_REPORT_SHARES],
                                                   sotto_bytes ikm, sotto_arena *arena,
                                                   sotto_err *err);

/* Random bytes that sotto_report_make uses: the report's id, what sharding takes, and two ikm. */
size_t sotto_report_random_size(const sotto_vdaf *vdaf);
/* Shards and seals.
 *   draft   has its task_id, configuration and time; the rest is filled in, for whoever wants to seal it again
 *   random  sotto_report_random_size bytes that are used once */
SOTTO_MUST_USE sotto_status sotto_report_make(sotto_dap_report *out, sotto_report_draft *draft,
                                              const sotto_vdaf *vdaf, sotto_measurement measurement,
                                              const sotto_hpke_config to[SOTTO_REPORT_SHARES],
                                              sotto_bytes random, sotto_arena *arena,
                                              sotto_err *err);

#endif
