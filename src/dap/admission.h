/* dap/admission.h - one-time admission of a report: its token, and what binds the token to this report alone.
 *
 *     public report extension 0xff02    token (RFC 9578, type 2, 354 bytes) | one-time key 32 (X25519)
 *     private report extension 0xff03   MAC 32, one in each share
 *
 * The token's nonce is the SHA-256 of the one-time key, so whoever has its private half is who asked for the token. A MAC is
 *
 *     secret = DHKEM(X25519, HKDF-SHA256) of the one-time key, as enc, and the server's HPKE key (RFC 9180, 4.1)
 *     HMAC-SHA256(secret, "sotto admitted share 2" | role 1 (2 leader, 3 helper) | SHA-256(InputShareAad) | SHA-256(payload))
 *
 * The AAD has the task, the report's id and time, the token and the public share; the payload is the VDAF's input share. So each
 * server sees by itself that the token's holder made exactly the share that it opened. Only the device and this server have the
 * secret: a server can make a MAC for itself, and for nobody else. A MAC lies inside the sealed share. It is for the key that the
 * share is sealed to, so a share that is sealed again, to another key, gets another MAC.
 *
 * The token is for one collection, which has a key of its own. Its challenge (RFC 9577) has the issuer's name, no origin, and the
 * context
 *
 *     SHA-256("sotto collection 1" | key id 32 | opens 8 | closes 8)
 *
 * No task is in it, for two reasons. Devices ask under every listed key, before they may know a recipe. A later version of the
 * recipe, or other keys of the servers, make another task. Which task a token was used for is in the AAD, which the MAC
 * covers.
 *
 * Callers:  the device makes; leader and helper check.
 * Memory:   what is decoded borrows from the wire; what is made lies in the arena.
 * Threads:  calls on different outputs never interfere; a sotto_type2_key serves one thread at a time.
 * Secrets:  the seed of the one-time key, and what it agrees on with a server. Seed and token identify nobody, but whoever has
 *           both can spend the token.
 */
#ifndef SOTTO_DAP_ADMISSION_H
#define SOTTO_DAP_ADMISSION_H

#include "dap/report.h"
#include "seal/hpke/agreed.h"
#include "seal/token/arc.h"
#include "seal/token/type2.h"

/* Private use. */
enum { SOTTO_EXTENSION_TOKEN = 0xff02, SOTTO_EXTENSION_TOKEN_BINDING = 0xff03 };

enum {
    SOTTO_ONCE_SEED = 32, /* the private half of a one-time key */
    SOTTO_ONCE_KEY = 32,
    SOTTO_ADMISSION_MAC = 32,
    SOTTO_ADMISSION_DATA = SOTTO_TYPE2_TOKEN + SOTTO_ONCE_KEY,
    SOTTO_ADMISSION_PUBLIC = 4 + SOTTO_ADMISSION_DATA, /* the list of public extensions */
    SOTTO_ADMISSION_PRIVATE = 4 + SOTTO_ADMISSION_MAC, /* ... and of private ones       */
    /* By how much a report with a token is longer. */
    SOTTO_ADMISSION_REPORT = SOTTO_ADMISSION_PUBLIC + 2 * SOTTO_ADMISSION_PRIVATE,
    /* The same by ARC (dap/arc_admission.h). */
    SOTTO_ARC_SHOWN = SOTTO_TOKEN_KEY_ID + SOTTO_ARC_ONCE,
    SOTTO_ARC_ADMISSION_DATA = 2 + SOTTO_ONCE_KEY + 2 * SOTTO_ARC_SHOWN,
    SOTTO_ARC_ADMISSION_REPORT = 4 + SOTTO_ARC_ADMISSION_DATA + 2 * SOTTO_ADMISSION_PRIVATE
};

/* The two extension types above, for sotto_report_extensions_check of a task with tokens. */
enum { SOTTO_ADMISSION_TYPES = 2 };
extern const uint16_t sotto_admission_types[SOTTO_ADMISSION_TYPES];

/* ---- what a token is for ------------------------------------------------------------------------------------- */

typedef struct sotto_admission_collection {
    uint8_t key_id[SOTTO_TOKEN_KEY_ID];
    uint64_t opens, closes; /* of the issuer's key, seconds since 1970 */
    sotto_bytes issuer;     /* its name in the recipe, 1 to 255 bytes  */
} sotto_admission_collection;

/* The digest of the challenge, as tokens carry it. SOTTO_MALFORMED: no issuer's name, or one that is too long. */
SOTTO_MUST_USE sotto_status sotto_admission_challenge(uint8_t out[SOTTO_TOKEN_DIGEST],
                                                      const sotto_admission_collection *collection,
                                                      sotto_err *err);

/* ---- the device ---------------------------------------------------------------------------------------------- */

/* The nonce of the token to ask for: sotto_type2_random.nonce, which sotto_type2_draw filled with another.
 *   seed  random bytes; keep them with the token, they are used by one report */
SOTTO_MUST_USE sotto_status sotto_admission_nonce(uint8_t nonce[SOTTO_TOKEN_NONCE],
                                                  const uint8_t seed[SOTTO_ONCE_SEED],
                                                  sotto_err *err);
/* Puts the token on a draft: its public extensions, and the private ones of both shares. After sharding and before sealing; the
 * draft has its id, time, configuration and shares, which must stay as they are, and no extensions.
 *   to               the keys that the shares will be sealed to
 *   SOTTO_MALFORMED  not a token of type 2
 *   SOTTO_REJECTED   the token was asked for with another seed
 *   SOTTO_DENIED     a server's key is of another group than X25519
 *   SOTTO_BUG        the draft has extensions already */
SOTTO_MUST_USE sotto_status sotto_admission_attach(sotto_report_draft *draft, sotto_bytes token,
                                                   const uint8_t seed[SOTTO_ONCE_SEED],
                                                   const sotto_hpke_config to[SOTTO_REPORT_SHARES],
                                                   sotto_arena *arena, sotto_err *err);
/* The private extensions of one share alone, which replace those that it has: for a share that is sealed again.
 *   draft            has its public extensions
 *   seed             of the token's request
 *   SOTTO_MALFORMED  a seed of another length
 *   SOTTO_DENIED     as above */
SOTTO_MUST_USE sotto_status sotto_admission_bind(sotto_report_draft *draft, unsigned who,
                                                 sotto_bytes seed, const sotto_hpke_config *to,
                                                 sotto_arena *arena, sotto_err *err);

/* ---- servers ------------------------------------------------------------------------------------------------- */

/* What the public extension holds. */
typedef struct sotto_admission {
    uint16_t type;           /* SOTTO_TOKEN_BLIND_RSA or _ARC */
    sotto_token token;       /* of type 2; borrowed */
    const uint8_t *once_key; /* of SOTTO_ONCE_KEY bytes; borrowed */
    const uint8_t *shown[2]; /* ARC: SOTTO_ARC_SHOWN bytes for leader and helper each; borrowed */
} sotto_admission;

/* SOTTO_MISSING: a token of neither type. SOTTO_MALFORMED: too short, or trailing bytes. */
SOTTO_MUST_USE sotto_status sotto_admission_decode(sotto_admission *out, sotto_bytes data,
                                                   sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_admission_encode(sotto_buf *out, sotto_bytes token,
                                                   const uint8_t once_key[SOTTO_ONCE_KEY],
                                                   sotto_err *err);
/* In a list of public extensions. Also SOTTO_MISSING: it has no token. */
SOTTO_MUST_USE sotto_status sotto_admission_find(sotto_admission *out,
                                                 sotto_bytes public_extensions, sotto_err *err);

/* That the issuer's key signed a token for this challenge, whose holder has the one-time key. Whether it was spent is for the caller:
 * token.key_id and token.nonce name it.
 *   SOTTO_REJECTED  it did not; the reason says what is wrong */
SOTTO_MUST_USE sotto_status sotto_admission_check(const sotto_admission *admission,
                                                  sotto_type2_key *key,
                                                  const uint8_t challenge[SOTTO_TOKEN_DIGEST],
                                                  sotto_err *err);
/* That the holder of the one-time key made this share, for the key that opened it.
 *   who       SOTTO_REPORT_LEADER or _HELPER
 *   receiver  opened the share
 *   with      the one-time key as its peer, agreed beforehand (sotto_agree_many) or not
 *   aad       the encoded InputShareAad with which it opened
 *   SOTTO_MISSING    the share has no MAC
 *   SOTTO_MALFORMED  it has one of another length
 *   SOTTO_REJECTED   the MAC is not of this share, or for another key
 *   SOTTO_NO_MEMORY  nothing was found out */
SOTTO_MUST_USE sotto_status sotto_admission_check_share(unsigned who, sotto_hpke_receiver *receiver,
                                                        const sotto_agreement *with,
                                                        sotto_bytes aad,
                                                        const sotto_plaintext_input_share *plain,
                                                        sotto_err *err);

/* ---- our own: for dap/arc_admission_make.c --------------------------------------------------------------------- */

/* The public half of a one-time key. */
SOTTO_MUST_USE sotto_status sotto_admission_once_key(uint8_t key[SOTTO_ONCE_KEY], sotto_bytes seed,
                                                     sotto_err *err);
/* SOTTO_BUG: the draft has extensions already. */
SOTTO_MUST_USE sotto_status sotto_admission_bare(const sotto_report_draft *draft, sotto_err *err);

/* ---- our own: both sides make the same MAC --------------------------------------------------------------------- */

void sotto_admission_mac(uint8_t out[SOTTO_ADMISSION_MAC], sotto_bytes secret, unsigned who,
                         sotto_bytes aad, sotto_bytes payload);

#endif
