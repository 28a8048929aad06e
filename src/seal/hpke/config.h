/* seal/hpke/config.h - the layout of an HpkeConfig, whether or not its key is valid.
 *
 * Callers:  seal/config, and the vector runner: published configurations have placeholders for keys.
 */
#ifndef SOTTO_SEAL_CONFIG_H
#define SOTTO_SEAL_CONFIG_H

#include "sotto/seal.h"

/* The public key is not checked. */
void sotto_hpke_config_read(sotto_reader *in, sotto_hpke_config *config);
void sotto_hpke_config_write(sotto_writer *w, const sotto_hpke_config *config);

#endif
