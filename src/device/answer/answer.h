/* device/answer/answer.h - from a query's rows to a sealed report: pick, encode, randomise, shard, seal.
 *
 * Callers:  the device's tick.
 * Memory:   everything lives in the arena, which the caller resets after the report is kept.
 * Secrets:  rows, bins, bits and shares. From the bin on, time depends on none of them; finding the bin takes a time
 *           that depends on the rows, but only on the device that owns them.
 */
#ifndef SOTTO_DEVICE_ANSWER_H
#define SOTTO_DEVICE_ANSWER_H

#include "device/answer/kept_half.h"
#include "device/events/query.h"
#include "device/ledger/wallet.h"
#include "recipe/content.h"
#include "seal/hpke/sender.h"

/* In a report's destination, before the leader's URL, and with the name of its way (device/oblivious.h) behind it. The report leaves
 * through that relay to that gateway or not at all, whatever the parties say by then. No URL begins so. */
enum { SOTTO_DESTINATION_RELAY = 1 };

/* Where a report goes, and how it is made. */
typedef struct sotto_answer_plan {
    const sotto_recipe *recipe;
    const sotto_report_content *content;
    const sotto_task *task;
    const sotto_party_entry *parties[SOTTO_REPORT_SHARES];
    const sotto_party_key *keys[SOTTO_REPORT_SHARES];
    int64_t now;
    const sotto_wallet_row *token;            /* held; NULL: the recipe asks for none */
    const sotto_wallet_row *helper_token;     /* ... of ARC; NULL: of type 2 */
    const sotto_wallet_row *shown;            /* ... of ARC: for the wallet */
    const sotto_ephemeral_source *ephemerals; /* of a simulation; NULL: the device makes its own */
    const sotto_measurement
        *measured; /* of learning: what is sealed in place of a bin; else NULL */
} sotto_answer_plan;

/* That each encoder has its column in the query's answer. SOTTO_MISSING: one hasn't. */
SOTTO_MUST_USE sotto_status sotto_answer_columns(size_t columns[SOTTO_MAX_ENCODERS],
                                                 const sotto_recipe *recipe,
                                                 const sotto_query *query, sotto_err *err);

/* The bin where there is no row or no bin, as on_no_match says; SOTTO_NO_VALUE also for silence. */
SOTTO_MUST_USE sotto_status sotto_answer_otherwise(uint64_t *bin, const sotto_recipe *recipe,
                                                   sotto_entropy *entropy, sotto_err *err);

/* Runs the query, picks a row and finds its bin. Without a row or a bin, or if the query fails on what it reads, the
 * recipe says what the answer is. *silent is whether it says to send nothing. */
SOTTO_MUST_USE sotto_status sotto_answer_bin(uint64_t *bin, bool *silent,
                                             const sotto_recipe *recipe, sotto_query *query,
                                             sotto_entropy *entropy, sotto_err *err);

/* A report on the bin, or on SOTTO_NO_VALUE, ready for the outbox. */
SOTTO_MUST_USE sotto_status sotto_answer_seal(sotto_report *out, const sotto_answer_plan *plan,
                                              uint64_t bin, sotto_entropy *entropy,
                                              sotto_arena *arena, sotto_err *err);

#endif
