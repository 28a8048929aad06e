/* bench/tokens.h - tokens of type 2 for reports that are made by the thousand: issued beforehand, by an issuer in this process.
 *
 * Memory:   tokens live until they are cleared.
 * Threads:  issuing takes all cores; the rest is one thread's.
 */
#ifndef SOTTO_BENCH_TOKENS_H
#define SOTTO_BENCH_TOKENS_H

#include "dap/admission.h"
#include "serve/tasks/admitting_keys.h"

#define SOTTO_LOAD_ISSUER "key:issuer"

/* For report number i, token i. */
typedef struct sotto_load_tokens {
    sotto_rsa_private secret;
    sotto_admitting_key key; /* of one collection: all of the task's time */
    uint64_t seed;
    size_t count;
    uint8_t (*tokens)[SOTTO_TYPE2_TOKEN];
} sotto_load_tokens;

/* Makes the issuer's key, for this time. Clear it after a failure too. */
SOTTO_MUST_USE sotto_status sotto_load_tokens_init(sotto_load_tokens *t, uint64_t opens,
                                                   uint64_t closes, uint64_t seed, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_load_tokens_issue(sotto_load_tokens *t, size_t count,
                                                    sotto_err *err);
void sotto_load_tokens_clear(sotto_load_tokens *t);

/* As sotto_maker_task.admit wants it. */
SOTTO_MUST_USE sotto_status sotto_load_tokens_attach(
    void *context, uint64_t number, sotto_report_draft *draft,
    const sotto_hpke_config to[SOTTO_REPORT_SHARES], sotto_arena *arena, sotto_err *err);

#endif
