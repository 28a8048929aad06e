/* seal/ohttp/ohttp.h - HTTP messages sealed to a gateway, through a relay that can't read them (Oblivious HTTP, RFC 9458).
 *
 * Callers:  device/ seals requests and opens answers; serve/gateway the other way round.
 * Memory:   an exchange is a plain value; outputs are appended to the caller's buffers.
 * Secrets:  sotto_ohttp_exchange: it opens the answer. Wipe it. Time does not depend on its contents, nor on plaintexts.
 *
 *     client    sotto_ohttp_request_seal(&exchange, &out, config, ikm, message, err);
 *     gateway   sotto_ohttp_request_read(&request, body, err);                          whose key?
 *               sotto_ohttp_request_unseal(&exchange, &out, receiver, &request, &with, err);
 *               sotto_ohttp_response_seal(&exchange, &out, NULL, random, answer, err);
 *     client    sotto_ohttp_response_unseal(&exchange, &out, body, err);
 */
#ifndef SOTTO_SEAL_OHTTP_OHTTP_H
#define SOTTO_SEAL_OHTTP_OHTTP_H

#include "crypto/aead.h"
#include "crypto/agree_many.h"
#include "sotto/seal.h"

#define SOTTO_OHTTP_REQUEST_TYPE  "message/ohttp-req"
#define SOTTO_OHTTP_RESPONSE_TYPE "message/ohttp-res"
#define SOTTO_OHTTP_KEYS_TYPE     "application/ohttp-keys"
/* Problems that have names of their own (RFC 9458, 8.2). */
#define SOTTO_OHTTP_KEY_PROBLEM  "https://iana.org/assignments/http-problem-types#ohttp-key"
#define SOTTO_OHTTP_DATE_PROBLEM "https://iana.org/assignments/http-problem-types#date"
/* A field of sealed errors that the gateway made by itself (RFC 9209): those of targets lack it. */
#define SOTTO_OHTTP_GATEWAY_FIELD "proxy-status"

enum {
    SOTTO_OHTTP_HEADER = 7, /* key id, KEM, KDF, AEAD                           */
    SOTTO_OHTTP_INFO =
        22 + SOTTO_OHTTP_HEADER,            /* "message/bhttp request", 0, header                */
    SOTTO_OHTTP_NONCE = SOTTO_AEAD_MAX_KEY, /* the longest, and that of the exported secret       */
    SOTTO_OHTTP_OVERHEAD =
        SOTTO_OHTTP_NONCE + SOTTO_AEAD_TAG_SIZE, /* of a response, at most         */
};

/* What both ends of a request keep until its answer. */
typedef struct sotto_ohttp_exchange {
    sotto_hpke_suite suite;
    size_t enc_len, secret_len;
    uint8_t enc[SOTTO_HPKE_MAX_PUBLIC_KEY];
    uint8_t secret[SOTTO_OHTTP_NONCE];
} sotto_ohttp_exchange;

/* HPKE's info of the requests to one key. */
void sotto_ohttp_info(uint8_t out[SOTTO_OHTTP_INFO], uint8_t key_id, sotto_hpke_suite suite);

/* ---- the client ------------------------------------------------------------------------------------------------- */

/* Appends the encapsulated request: SOTTO_OHTTP_HEADER, a public key and a tag longer than `plain`.
 *   ikm  as sotto_hpke_seal's
 */
SOTTO_MUST_USE sotto_status sotto_ohttp_request_seal(sotto_ohttp_exchange *exchange, sotto_buf *out,
                                                     const sotto_hpke_config *to, sotto_bytes ikm,
                                                     sotto_bytes plain, sotto_err *err);
/* The same with this ephemeral key, as sotto_hpke_sender_seal takes it; NULL: it comes of ikm. */
SOTTO_MUST_USE sotto_status sotto_ohttp_request_seal_with(
    sotto_ohttp_exchange *exchange, sotto_buf *out, const sotto_hpke_config *to,
    const sotto_ephemeral *with, sotto_bytes ikm, sotto_bytes plain, sotto_err *err);
/* Appends the answer's plaintext.
 *   SOTTO_MALFORMED  too short
 *   SOTTO_REJECTED   not this gateway's answer to this request
 */
SOTTO_MUST_USE sotto_status sotto_ohttp_response_unseal(const sotto_ohttp_exchange *exchange,
                                                        sotto_buf *out, sotto_bytes sealed,
                                                        sotto_err *err);

/* ---- the gateway ------------------------------------------------------------------------------------------------ */

/* An encapsulated request in its parts; borrowed. */
typedef struct sotto_ohttp_request {
    uint8_t key_id;
    sotto_hpke_suite suite;
    sotto_bytes enc, ciphertext;
} sotto_ohttp_request;

/*   SOTTO_MISSING    an algorithm that is not ours
 *   SOTTO_MALFORMED  too short */
SOTTO_MUST_USE sotto_status sotto_ohttp_request_read(sotto_ohttp_request *out, sotto_bytes wire,
                                                     sotto_err *err);
/* Appends the plaintext. `receiver` is of this key and suite, with sotto_ohttp_info; `with` as in seal/hpke/agreed.h. */
SOTTO_MUST_USE sotto_status sotto_ohttp_request_unseal(sotto_ohttp_exchange *exchange,
                                                       sotto_buf *out,
                                                       sotto_hpke_receiver *receiver,
                                                       const sotto_ohttp_request *request,
                                                       const sotto_agreement *with, sotto_err *err);
/* Appends the encapsulated response.
 *   aead    of the exchange's suite, to seal; keyed anew here. NULL: one is made
 *   random  fresh bytes, which go in front of the response: as many as exchange->secret_len are taken
 */
SOTTO_MUST_USE sotto_status sotto_ohttp_response_seal(const sotto_ohttp_exchange *exchange,
                                                      sotto_buf *out, sotto_aead *aead,
                                                      const uint8_t random[SOTTO_OHTTP_NONCE],
                                                      sotto_bytes plain, sotto_err *err);

/* ---- application/ohttp-keys (RFC 9458, 3) -------------------------------------------------------------------------- */

/* Each configuration behind its length. Of a configuration's symmetric algorithms the first pair that is ours is taken; one
 * whose KEM or pairs are not is not supported, and has no public key.
 *   SOTTO_MALFORMED  one of them is malformed, or there is none
 *   SOTTO_TOO_LARGE  more than cap
 */
SOTTO_MUST_USE sotto_status sotto_ohttp_keys_decode(sotto_hpke_config *configs, size_t cap,
                                                    size_t *count, sotto_bytes wire,
                                                    sotto_err *err);
/* Each with its one pair. */
SOTTO_MUST_USE sotto_status sotto_ohttp_keys_encode(sotto_buf *out,
                                                    const sotto_hpke_config *configs, size_t count,
                                                    sotto_err *err);
/* One configuration, without the length before it. */
SOTTO_MUST_USE sotto_status sotto_ohttp_key_decode(sotto_hpke_config *config, sotto_bytes wire,
                                                   sotto_err *err);

/* ---- for vectors ----------------------------------------------------------------------------------------------------- */

typedef struct sotto_ohttp_answer_keys {
    uint8_t salt[SOTTO_HPKE_MAX_PUBLIC_KEY + SOTTO_OHTTP_NONCE];
    size_t salt_len, prk_len;
    uint8_t prk[64]; /* as long as the longest hash */
    uint8_t key[SOTTO_AEAD_MAX_KEY];
    uint8_t nonce[SOTTO_AEAD_NONCE_SIZE];
} sotto_ohttp_answer_keys;

/* Of the response that has this nonce before it. Wipe them. */
SOTTO_MUST_USE sotto_status sotto_ohttp_answer_keys_of(sotto_ohttp_answer_keys *keys,
                                                       const sotto_ohttp_exchange *exchange,
                                                       const uint8_t *response_nonce,
                                                       sotto_err *err);

#endif
