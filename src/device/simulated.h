/* device/simulated.h - what simulated devices get from outside, so that the device library need not carry it.
 *
 * Callers:  sotto demo and simulations, which give both to a sotto_device_shared.
 * Memory:   sotto_proved is its own, and outlives the devices that ask it.
 * Threads:  one at a time.
 * Secrets:  none here; a stock of requests has some (dap/token_stock.h).
 */
#ifndef SOTTO_DEVICE_SIMULATED_H
#define SOTTO_DEVICE_SIMULATED_H

#include "dap/token_stock.h"
#include "device/shared.h"

/* Remembers bundles that held and lists that were read, by the SHA-256 of the policy's text and of their own bytes. Refusals are
 * not kept. */
typedef struct sotto_proved sotto_proved;

/* NULL: no memory. */
SOTTO_MUST_USE sotto_proved *sotto_proved_new(void);
/* One that keeps lists within this many bytes. */
SOTTO_MUST_USE sotto_proved *sotto_proved_within(size_t bytes);
/* NULL is fine. */
void sotto_proved_free(sotto_proved *proved);
/* For sotto_shared_prove_with. */
const sotto_prover *sotto_proved_prover(const sotto_proved *proved);

/* For sotto_shared_ask_with. */
sotto_token_source sotto_token_source_of(sotto_token_stock *stock);

#endif
