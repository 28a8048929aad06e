/* sotto/seal.h - seal a byte string to the holder of a key (HPKE, RFC 9180, base mode).
 *
 * Callers:  device/ seals report shares; serve/ and collect/ unseal them; OHTTP uses contexts.
 * Memory:   configs and keys are plain values; a config borrows its public key. Contexts and receivers
 *           are ours: every new has a free. Outputs are appended to the caller's buffers.
 * Threads:  calls on different objects never interfere. A context or receiver belongs to one thread at
 *           a time: it reuses its cipher and key objects from call to call. A server gives each
 *           worker its own receiver.
 * Secrets:  sotto_hpke_key (clear it with sotto_wipe), ikm, plaintexts, exported values. Time does
 *           not depend on their contents.
 *
 * Randomness comes in from the caller, as `ikm`: fresh secret random bytes, at least as many as a private
 * key has (sotto_hpke_sizes), never used twice.
 *
 * Statuses common to all calls that take a suite, key, config or peer's bytes:
 *   SOTTO_MISSING    an algorithm of the suite is not one of ours, or the suite only exports
 *   SOTTO_MALFORMED  wrong length, or not a point of the curve
 *   SOTTO_REJECTED   a point of small order, or a ciphertext that does not open
 *   SOTTO_TOO_LARGE  the output would not fit; it is unchanged
 *   SOTTO_NO_MEMORY  the crypto library failed
 */
#ifndef SOTTO_SEAL_H
#define SOTTO_SEAL_H

#include "sotto/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- suites -------------------------------------------------------------------------------------- */

/* RFC 9180, 7. */
enum {
    SOTTO_HPKE_KEM_P256 = 0x0010,
    SOTTO_HPKE_KEM_P384 = 0x0011,
    SOTTO_HPKE_KEM_P521 = 0x0012,
    SOTTO_HPKE_KEM_X25519 = 0x0020,
    SOTTO_HPKE_KEM_X448 = 0x0021,

    SOTTO_HPKE_KDF_SHA256 = 0x0001,
    SOTTO_HPKE_KDF_SHA384 = 0x0002,
    SOTTO_HPKE_KDF_SHA512 = 0x0003,

    SOTTO_HPKE_AEAD_AES128_GCM = 0x0001,
    SOTTO_HPKE_AEAD_AES256_GCM = 0x0002,
    SOTTO_HPKE_AEAD_CHACHA20_POLY1305 = 0x0003,
    SOTTO_HPKE_AEAD_EXPORT_ONLY = 0xffff,
};

enum {
    SOTTO_HPKE_MAX_PUBLIC_KEY = 133,
    SOTTO_HPKE_MAX_PRIVATE_KEY = 66,
    SOTTO_HPKE_TAG_SIZE = 16, /* a ciphertext is this much longer than its plaintext */
};

typedef struct sotto_hpke_suite {
    uint16_t kem;
    uint16_t kdf;
    uint16_t aead;
} sotto_hpke_suite;

/* All in bytes, by the RFC's names. The last three are 0 for a suite that only exports. */
typedef struct sotto_hpke_sizes {
    size_t public_key;  /* Npk, which is also Nenc */
    size_t private_key; /* Nsk                     */
    size_t hash;        /* Nh: Export gives at most 255 times this */
    size_t aead_key;    /* Nk                      */
    size_t nonce;       /* Nn                      */
    size_t tag;         /* Nt                      */
} sotto_hpke_sizes;

/* SOTTO_MISSING: the reason names the unknown algorithm. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_hpke_suite_sizes(sotto_hpke_sizes *sizes,
                                                             sotto_hpke_suite suite,
                                                             sotto_err *err);

/* ---- keys ---------------------------------------------------------------------------------------- */

/* A key pair of one KEM. Secret: wipe it. */
typedef struct sotto_hpke_key {
    uint16_t kem;
    size_t public_key_len;
    size_t private_key_len;
    uint8_t public_key[SOTTO_HPKE_MAX_PUBLIC_KEY];
    uint8_t private_key[SOTTO_HPKE_MAX_PRIVATE_KEY];
} sotto_hpke_key;

/* DeriveKeyPair; with random ikm, GenerateKeyPair. SOTTO_MALFORMED also if ikm is shorter than a private
 * key. A failure leaves key wiped. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_hpke_key_derive(sotto_hpke_key *key, uint16_t kem,
                                                            sotto_bytes ikm, sotto_err *err);
/* DeserializePrivateKey: the public key is computed from it. A failure leaves key wiped. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_hpke_key_decode(sotto_hpke_key *key, uint16_t kem,
                                                            sotto_bytes private_key,
                                                            sotto_err *err);

/* ---- what DAP seals ------------------------------------------------------------------------------- */

/* Begins every label that DAP seals under. In one place, since it loses its number when DAP becomes an RFC. */
#define SOTTO_DAP_TAG "dap-18"

enum { SOTTO_TASK_ID_SIZE = 32, SOTTO_REPORT_ID_SIZE = 16 };

/* ---- key configurations (DAP, "HPKE configuration request") -------------------------------------- */

typedef struct sotto_hpke_config {
    uint8_t id;
    bool supported; /* all three algorithms are ours: false is no error, only not for us */
    sotto_hpke_suite suite;
    sotto_bytes public_key; /* borrowed: lives as long as the wire bytes or the key */
} sotto_hpke_config;

/* The configuration under which `key` is published; borrows the key's public half. */
SOTTO_API sotto_hpke_config sotto_hpke_config_of(const sotto_hpke_key *key, uint8_t id,
                                                 uint16_t kdf, uint16_t aead);

/* A known KEM's public key is checked, whatever the other two algorithms are.
 *   SOTTO_MALFORMED  too short, trailing bytes, or a public_key that is empty or not one of its KEM
 */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_hpke_config_decode(sotto_hpke_config *config,
                                                               sotto_bytes wire, sotto_err *err);
SOTTO_API SOTTO_MUST_USE sotto_status sotto_hpke_config_encode(sotto_buf *out,
                                                               const sotto_hpke_config *config,
                                                               sotto_err *err);

/* A list behind its 16-bit length. One malformed configuration spoils the list; unsupported ones don't.
 *   SOTTO_MALFORMED  also for an empty list, which DAP tells clients to refuse
 *   SOTTO_TOO_LARGE  more than cap configurations
 */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_hpke_config_list_decode(sotto_hpke_config *configs,
                                                                    size_t cap, size_t *count,
                                                                    sotto_bytes wire,
                                                                    sotto_err *err);
SOTTO_API SOTTO_MUST_USE sotto_status sotto_hpke_config_list_encode(
    sotto_buf *out, const sotto_hpke_config *configs, size_t count, sotto_err *err);

/* The first one we can seal to, since lists stand in their owner's order of preference.
 * SOTTO_MISSING: there is none. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_hpke_config_pick(const sotto_hpke_config **picked,
                                                             const sotto_hpke_config *configs,
                                                             size_t count, sotto_err *err);

/* ---- one message --------------------------------------------------------------------------------- */

/* Appends enc || ciphertext to out; enc has the size of a public key. `plain` must not overlap out.
 *   info   binds the text to its purpose; the same bytes are needed to unseal
 *   aad    travels beside the text and is authenticated with it
 */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_hpke_seal(sotto_buf *out, const sotto_hpke_config *to,
                                                      sotto_bytes ikm, sotto_bytes info,
                                                      sotto_bytes aad, sotto_bytes plain,
                                                      sotto_err *err);

/* Appends the plaintext to out. For more than one message prefer a receiver. `ciphertext` must not
 * overlap out.
 *   SOTTO_REJECTED  out is unchanged, and whatever was written behind it is wiped
 */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_hpke_unseal(sotto_buf *out, const sotto_hpke_key *key,
                                                        sotto_hpke_suite suite, sotto_bytes info,
                                                        sotto_bytes enc, sotto_bytes aad,
                                                        sotto_bytes ciphertext, sotto_err *err);

/* ---- a receiver: many messages from many senders, one key and one purpose ------------------------ */

/* Holds the private key and everything of the key schedule that does not depend on the sender, so that
 * unsealing costs little more than its one Diffie-Hellman. */
typedef struct sotto_hpke_receiver sotto_hpke_receiver;

SOTTO_API SOTTO_MUST_USE sotto_status sotto_hpke_receiver_new(sotto_hpke_receiver **receiver,
                                                              const sotto_hpke_key *key,
                                                              sotto_hpke_suite suite,
                                                              sotto_bytes info, sotto_err *err);
/* Wipes; NULL is fine. */
SOTTO_API void sotto_hpke_receiver_free(sotto_hpke_receiver *receiver);

/* As sotto_hpke_unseal. A refused message leaves the receiver fit for the next. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_hpke_receiver_unseal(sotto_hpke_receiver *receiver,
                                                                 sotto_buf *out, sotto_bytes enc,
                                                                 sotto_bytes aad,
                                                                 sotto_bytes ciphertext,
                                                                 sotto_err *err);

/* ---- contexts: many messages from one sender, in order ------------------------------------------- */

typedef struct sotto_hpke_context sotto_hpke_context;

/* SetupBaseS: appends enc, which the receiver needs before the first message. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_hpke_context_send(sotto_hpke_context **context,
                                                              sotto_buf *enc,
                                                              const sotto_hpke_config *to,
                                                              sotto_bytes ikm, sotto_bytes info,
                                                              sotto_err *err);
/* SetupBaseR. The context outlives the receiver it came from. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_hpke_context_receive(sotto_hpke_context **context,
                                                                 sotto_hpke_receiver *receiver,
                                                                 sotto_bytes enc, sotto_err *err);
/* Wipes; NULL is fine. */
SOTTO_API void sotto_hpke_context_free(sotto_hpke_context *context);

/* The next message. Only a sender seals and only a receiver unseals: SOTTO_BUG. A message that fails to
 * unseal does not count; the next attempt is at the same place in the order.
 *   SOTTO_STALE  2^64 - 1 messages have gone through this context; it takes no more
 */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_hpke_context_seal(sotto_hpke_context *context,
                                                              sotto_buf *out, sotto_bytes aad,
                                                              sotto_bytes plain, sotto_err *err);
SOTTO_API SOTTO_MUST_USE sotto_status sotto_hpke_context_unseal(sotto_hpke_context *context,
                                                                sotto_buf *out, sotto_bytes aad,
                                                                sotto_bytes ciphertext,
                                                                sotto_err *err);

/* Appends len secret bytes that both ends can compute.
 *   SOTTO_TOO_LARGE  also if len is more than 255 times the hash's size
 */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_hpke_context_export(const sotto_hpke_context *context,
                                                                sotto_buf *out,
                                                                sotto_bytes exporter_context,
                                                                size_t len, sotto_err *err);

#ifdef __cplusplus
}
#endif

#endif
