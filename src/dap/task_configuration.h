/* dap/task_configuration.h - the DAP TaskConfiguration: bytes that all parties of a task agree on.
 *
 * Callers:  recipe/task compiles recipes to it; serve/, collect/ and the interop programs read and make others'.
 * Memory:   nothing is allocated; a decoded configuration borrows from the wire bytes.
 * Threads:  calls on different outputs never interfere.
 * Secrets:  none.
 *
 * One different byte between a client, an aggregator and the collector makes every decryption fail: store and
 * ship the encoded bytes, and decode them only to look inside.
 */
#ifndef SOTTO_DAP_TASK_CONFIGURATION_H
#define SOTTO_DAP_TASK_CONFIGURATION_H

#include "aggregate/shard.h"
#include "sotto/seal.h"

/* What hides who takes part in a task: every sealed share is bound to it. */
enum { SOTTO_TASK_RELAY = 1, SOTTO_TASK_TOKENS = 2, SOTTO_TASK_LOG = 4 };

/* What a TaskConfiguration says, in its order (DAP draft 18, "Task Configuration"). */
typedef struct sotto_task_configuration {
    sotto_bytes task_info; /* 1 to 255 bytes */
    sotto_bytes leader_url, helper_url;
    uint64_t time_precision; /* seconds */
    uint64_t min_batch_size;
    unsigned batch_mode;
    sotto_bytes batch_config;
    sotto_vdaf_config vdaf;
    bool has_interval; /* as extension 1, in units of time_precision */
    uint64_t interval_start, interval_duration;
    unsigned
        anonymity; /* SOTTO_TASK_*; as a private-use extension, which is left out where it is 0 */
    unsigned
        token_type; /* of SOTTO_TASK_TOKENS, as Privacy Pass numbers it (RFC 9578); otherwise 0  */
    sotto_bytes
        extensions; /* the encoded list; where there is one it is what is written, interval included */
} sotto_task_configuration;

/* SOTTO_MISSING: DAP knows no configuration for this type. */
SOTTO_MUST_USE sotto_status sotto_task_configuration_encode(sotto_buf *out,
                                                            const sotto_task_configuration *task,
                                                            sotto_err *err);
/* What it encodes to is the wire again, byte for byte. Extensions and batch modes that we don't know are no error
 * here, but see sotto_task_configuration_check.
 *   SOTTO_MALFORMED  too short, trailing bytes, no time precision; an empty task_info or URL, a URL that is not
 *                    ASCII; extensions out of order or malformed; wrong parameters for the VDAF
 *   SOTTO_MISSING    a VDAF that is not ours */
SOTTO_MUST_USE sotto_status sotto_task_configuration_decode(sotto_task_configuration *out,
                                                            sotto_bytes wire, sotto_err *err);
/* Its bytes within a larger message, undecoded. */
sotto_bytes sotto_task_configuration_read(sotto_reader *in);
/* For configurations that others made.
 *   SOTTO_MISSING  an extension or a batch mode that we don't know, or a batch_config that its mode doesn't have: DAP forbids to
 *                  take part in such a task. Also one that asks for other anonymity than `anonymity`, of SOTTO_TASK_*, has, or for tokens that
 *                  are neither of type 2 nor ARC */
SOTTO_MUST_USE sotto_status sotto_task_configuration_check(const sotto_task_configuration *task,
                                                           unsigned anonymity, sotto_err *err);

/* vdaf_type and vdaf_configuration, alone. */
SOTTO_MUST_USE sotto_status sotto_task_vdaf_encode(sotto_buf *out, const sotto_vdaf_config *vdaf,
                                                   sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_task_vdaf_decode(sotto_vdaf_config *out, sotto_bytes wire,
                                                   sotto_err *err);
/* A Url, without its length: SOTTO_MALFORMED unless it is one or more ASCII characters. */
SOTTO_MUST_USE sotto_status sotto_task_url_check(sotto_bytes url, sotto_err *err);

/* SHA-256(SHA-256("dap-taskprov task id") || configuration) */
void sotto_task_id_derive(uint8_t out[SOTTO_TASK_ID_SIZE], sotto_bytes configuration);

#endif
