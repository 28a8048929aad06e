/* bench/maker.h - sealed reports by the thousand, with or without a flaw, for benchmarks and fault runs.
 *
 * Memory:   a maker has an arena of its own; reports are appended to the caller's buffer.
 * Threads:  one maker, one thread.
 *
 * A report's id, measurement and randomness follow from the seed and its number, so that whoever knows both knows what
 * a correct sum is. A maker seals with a few ephemeral keys in turn: to the receiver each costs a Diffie-Hellman as
 * any other, while making a report costs hardly more than its proof. Never for real data.
 */
#ifndef SOTTO_BENCH_MAKER_H
#define SOTTO_BENCH_MAKER_H

#include "sotto/seal.h"
#include "sotto/vdaf.h"

typedef enum sotto_flaw {
    SOTTO_SOUND,
    SOTTO_FLAW_LEADER_SEAL, /* the leader finds it, at upload: hpke_decrypt_error        */
    SOTTO_FLAW_LENGTH,      /* the leader finds it, at upload: invalid_message           */
    SOTTO_FLAW_HELPER_SEAL, /* accepted, then found by the helper: hpke_decrypt_error    */
    SOTTO_FLAW_PROOF,       /* accepted, then found by the helper: vdaf_verify_error     */
    SOTTO_FLAWS
} sotto_flaw;

struct sotto_report_draft;

/* For whom reports are made; borrowed by the maker. */
typedef struct sotto_maker_task {
    uint8_t id[SOTTO_TASK_ID_SIZE];
    sotto_bytes configuration;
    sotto_prio3_config vdaf;
    sotto_hpke_config leader, helper;
    /* Puts a token on a report (dap/admission.h). NULL: none is wanted. */
    sotto_status (*admit)(void *context, uint64_t number, struct sotto_report_draft *draft,
                          const sotto_hpke_config to[2], sotto_arena *arena, sotto_err *err);
    void *admit_context;
} sotto_maker_task;

typedef struct sotto_maker sotto_maker;

SOTTO_MUST_USE sotto_status sotto_maker_new(sotto_maker **out, const sotto_maker_task *task,
                                            uint64_t seed, sotto_err *err);
/* NULL is fine. */
void sotto_maker_free(sotto_maker *maker);
const sotto_prio3 *sotto_maker_vdaf(const sotto_maker *maker);

/* The id of report number `number`. */
void sotto_maker_id(uint8_t out[SOTTO_REPORT_ID_SIZE], uint64_t seed, uint64_t number);
/* Adds what report `number` measures to sums[sizes.outputs]. */
void sotto_maker_measure(const sotto_maker *maker, uint64_t *sums, uint64_t number);
/* Bytes that no report is longer than. */
size_t sotto_maker_report_size(const sotto_maker *maker);
/* Appends an encoded Report. time: in units of the task's precision. */
SOTTO_MUST_USE sotto_status sotto_maker_make(sotto_maker *maker, sotto_buf *out, uint64_t number,
                                             uint64_t time, sotto_flaw flaw, sotto_err *err);

#endif
