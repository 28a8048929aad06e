/* device/shared.h - what many devices of one process would each work out for themselves, worked out once.
 *
 * Callers:  device.c and device_judge.c.
 * Memory:   what is handed out belongs to the sotto_device_shared, which outlives its devices.
 * Secrets:  none: policies, parties and recipes are public, and nothing of a device comes in.
 *
 * Everything is found by its exact bytes, and by the judge that judged it; what is not found, or does not fit, is
 * worked out as without sharing. So every rule holds alike with and without sharing.
 */
#ifndef SOTTO_DEVICE_SHARED_H
#define SOTTO_DEVICE_SHARED_H

#include "device/ledger/ledger.h"
#include "device/ledger/wallet.h"
#include "recipe/policy_tables.h"
#include "seal/hpke/sender.h"
#include "sotto/device.h"
#include "tlog/bundle.h"

/* What a device is opened with. */
typedef struct sotto_terms {
    const sotto_policy *policy;
    const sotto_parties *parties;
    uint64_t serial;         /* of the parties file; 0: it is not signed */
    uint8_t signed_hash[32]; /* SHA-256 of the whole signed file         */
    sotto_budget_table budgets;
    uint8_t judge[SOTTO_RECIPE_HASH_SIZE]; /* sotto_shelf_judge of the policy */
} sotto_terms;

/* One that keeps no more than this many bytes; sotto_device_shared_new is the one for everybody. */
SOTTO_MUST_USE sotto_device_shared *sotto_shared_within(size_t bytes);

/* Reads both files into the arena, or finds that they were read. shared may be NULL. */
SOTTO_MUST_USE sotto_status sotto_terms_read(sotto_terms *out, sotto_device_shared *shared,
                                             sotto_bytes policy, sotto_bytes parties,
                                             sotto_arena *arena, sotto_err *err);
/* The same for a recipe. */
SOTTO_MUST_USE sotto_status sotto_shared_recipe(const sotto_recipe **out,
                                                sotto_device_shared *shared, sotto_bytes text,
                                                sotto_arena *arena, sotto_err *err);

/* Takes over what somebody read this recipe's text as, and who keeps it as long. Simulations that leave out relay, tokens and log do,
 * for what a recipe asks of them (sotto_anonymity.assumed); devices judge and draw by it as by any other. */
void sotto_shared_keep_recipe(sotto_device_shared *shared, const sotto_recipe *recipe);

/* A signed list of token keys that was judged and read. */
typedef struct sotto_issuer_keys {
    const char *issuer; /* its name in the policy */
    uint64_t serial;
    const sotto_listed_key *keys;
    size_t count;
} sotto_issuer_keys;

/* Who remembers what was proved (device/simulated.h). It gets the text of the policy, whose keys all proofs are made with. */
typedef struct sotto_prover {
    /* As sotto_bundle_verify; facts has checkpoint and note as the bytes have them. */
    sotto_status (*bundle)(void *context, sotto_bundle_facts *facts, sotto_bytes policy_text,
                           sotto_bytes bytes, const sotto_log_trust *trust, sotto_err *err);
    /* As sotto_issuer_keys_read. */
    sotto_status (*keys)(void *context, sotto_issuer_keys *out, sotto_bytes policy_text,
                         const sotto_policy *policy, sotto_bytes file, sotto_arena *arena,
                         sotto_err *err);
    void *context; /* outlives the devices */
} sotto_prover;

/* Devices with the policy that is shared ask this one. */
void sotto_shared_prove_with(sotto_device_shared *shared, const sotto_prover *prover);
/* Either asks it, or finds out by itself. shared may be NULL. */
SOTTO_MUST_USE sotto_status sotto_shared_bundle(sotto_device_shared *shared,
                                                sotto_bundle_facts *facts, sotto_bytes bytes,
                                                const sotto_policy *policy,
                                                const sotto_log_trust *trust, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_shared_keys(sotto_issuer_keys *out, sotto_device_shared *shared,
                                              const sotto_policy *policy, sotto_bytes file,
                                              sotto_arena *arena, sotto_err *err);
/* sotto_listed_keys_judge and sotto_listed_keys_read. */
SOTTO_MUST_USE sotto_status sotto_issuer_keys_read(sotto_issuer_keys *out,
                                                   const sotto_policy *policy, sotto_bytes file,
                                                   sotto_arena *arena, sotto_err *err);

/* Stores in memory that a device is done with wait for the next: to open one takes longer than to use it. Either takes
 * over what it is given, and may be NULL. */
sotto_store *sotto_shared_take_store(sotto_device_shared *shared);
sotto_ledger *sotto_shared_take_ledger(sotto_device_shared *shared);
void sotto_shared_leave(sotto_device_shared *shared, sotto_store *store, sotto_ledger *ledger);

/* Lets devices in memory that draw real randomness seal with keys from here. No device in files does: whoever made the
 * keys can open the reports. */
void sotto_shared_seal_with(sotto_device_shared *shared, sotto_ephemeral_source source);
/* NULL: there is none. */
const sotto_ephemeral_source *sotto_shared_ephemerals(const sotto_device_shared *shared);
/* Where a device gets a request for a token from that was made beforehand: fills the row's secret, and the request that follows from
 * it. After a failure the device makes its own. */
typedef struct sotto_token_source {
    sotto_status (*take)(void *context, sotto_wallet_row *row, sotto_type2_key *key,
                         sotto_type2_pending *pending, uint8_t request[SOTTO_TYPE2_REQUEST]);
    void *context;
} sotto_token_source;
/* Lets the same devices ask for tokens with requests from here. */
void sotto_shared_ask_with(sotto_device_shared *shared, sotto_token_source source);
const sotto_token_source *sotto_shared_tokens(const sotto_device_shared *shared);

/* Whether this judge let the recipe pass, and what it found. Refusals are not kept. */
bool sotto_shared_passed(const sotto_device_shared *shared, sotto_known_epsilon *known,
                         const sotto_recipe *recipe, const uint8_t judge[SOTTO_RECIPE_HASH_SIZE]);
void sotto_shared_pass(sotto_device_shared *shared, sotto_known_epsilon known,
                       const sotto_recipe *recipe, const uint8_t judge[SOTTO_RECIPE_HASH_SIZE]);

#endif
