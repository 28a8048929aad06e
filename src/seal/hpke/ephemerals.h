/* seal/hpke/ephemerals.h - ephemeral keys in stock, agreed with their receivers in batches.
 *
 * Callers:  simulations and loads, whose senders seal one message at a time.
 * Memory:   a stock of its own, freed with it.
 * Threads:  a stock belongs to one thread at a time.
 * Secrets:  the keys: random ones, handed out once and wiped.
 */
#ifndef SOTTO_SEAL_EPHEMERALS_H
#define SOTTO_SEAL_EPHEMERALS_H

#include "seal/hpke/sender.h"

typedef struct sotto_ephemerals sotto_ephemerals;

/* NULL: no memory. */
SOTTO_MUST_USE sotto_ephemerals *sotto_ephemerals_new(void);
/* NULL is fine. */
void sotto_ephemerals_free(sotto_ephemerals *stock);
/* A key for one message to this receiver. A few receivers have a stock at a time. */
SOTTO_MUST_USE sotto_status sotto_ephemerals_take(sotto_ephemerals *stock, sotto_ephemeral *out,
                                                  const sotto_hpke_config *to, sotto_err *err);

#endif
