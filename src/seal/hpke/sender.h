/* seal/hpke/sender.h - sealing many messages to one receiver, with keys that were agreed on beforehand.
 *
 * Callers:  seal/oneshot and dap/report_make for one message; loads and simulations, which seal many.
 * Memory:   a sender lives in its caller's memory and borrows its configuration.
 * Threads:  a sender belongs to one thread at a time.
 * Secrets:  ephemeral keys; wipe them. Time does not depend on their contents. Each seals one message.
 *
 *     sotto_hpke_sender_derive(&sender, &with[i], ikm, err);               one for each message
 *     sotto_hpke_sender_agree(&sender, with, count);                       where the machine has lanes; may be left out
 *     sotto_hpke_sender_seal(&sender, &out, &with[i], aad, plain, err);    then one by one
 */
#ifndef SOTTO_SEAL_SENDER_H
#define SOTTO_SEAL_SENDER_H

#include "crypto/aead.h"
#include "crypto/agree_many.h"
#include "seal/hpke/schedule.h"

/* What is the same for every message to one receiver with one info string. */
typedef struct sotto_hpke_sender {
    const sotto_hpke_config *to;
    sotto_hpke_purpose purpose;
    sotto_aead aead;
} sotto_hpke_sender;

/* Clear after a failure is allowed.
 *   SOTTO_MISSING  the suite is unknown, or only exports
 */
SOTTO_MUST_USE sotto_status sotto_hpke_sender_init(sotto_hpke_sender *sender,
                                                   const sotto_hpke_config *to, sotto_bytes info,
                                                   sotto_err *err);
void sotto_hpke_sender_clear(sotto_hpke_sender *sender);

/* The private key that sotto_hpke_seal derives from ikm, agreed with nobody yet. */
SOTTO_MUST_USE sotto_status sotto_hpke_sender_derive(const sotto_hpke_sender *sender,
                                                     sotto_ephemeral *with, sotto_bytes ikm,
                                                     sotto_err *err);
/* Agrees with the receiver, for all at once. In a file of its own: a device has no use for lanes. */
void sotto_hpke_sender_agree(const sotto_hpke_sender *sender, sotto_ephemeral *all, size_t count);
/* As sotto_hpke_seal: the same bytes and refusals, whether `with` was agreed beforehand, with somebody else, or not. */
SOTTO_MUST_USE sotto_status sotto_hpke_sender_seal(sotto_hpke_sender *sender, sotto_buf *out,
                                                   const sotto_ephemeral *with, sotto_bytes aad,
                                                   sotto_bytes plain, sotto_err *err);

/* A source of ephemeral keys that were agreed with the receiver beforehand. */
typedef struct sotto_ephemeral_source {
    sotto_status (*take)(void *context, sotto_ephemeral *out, const sotto_hpke_config *to,
                         sotto_err *err);
    void *context;
} sotto_ephemeral_source;

#endif
