/* device/oblivious.h - an exchange through a relay and a gateway (RFC 9458). The host, the relay and their networks see that
 * something was asked, but neither what nor of whom. The gateway sees what was asked, but not by whom.
 *
 * Callers:  device_send.c, for uploads; whatever fetches.
 * Memory:   the caller's, and its arena.
 * Secrets:  what opens the answer, wiped before this returns.
 *
 * The host gets bytes, the relay's URL and a media type, as in every exchange, and hands back what came, sealed.
 */
#ifndef SOTTO_DEVICE_OBLIVIOUS_H
#define SOTTO_DEVICE_OBLIVIOUS_H

#include "device/exchange.h"
#include "noise/entropy.h"
#include "recipe/model.h"
#include "seal/hpke/sender.h"

/* Requests are padded to a multiple of this, so that all of one recipe, and all fetches, have one length. */
enum { SOTTO_OBLIVIOUS_PAD = 1024 };

typedef struct sotto_oblivious {
    const char *relay; /* where every request is posted */
    sotto_hpke_config gateway;
    const sotto_ephemeral_source *ephemerals; /* of a simulation; NULL: the device makes its own */
} sotto_oblivious;

/* The way that these parties name: their first relay, and the key of their first gateway.
 *   SOTTO_MISSING  they name neither: exchanges go directly
 *   SOTTO_STALE    they name one without the other, or the gateway has no key at this time: nothing may leave
 */
SOTTO_MUST_USE sotto_status sotto_oblivious_find(sotto_oblivious *out, const sotto_parties *parties,
                                                 int64_t now, sotto_err *err);

/* Whether that way is the one which a recipe asks for, whole and in use; SOTTO_OK also where it asks for none.
 *   SOTTO_DENIED  it is not
 */
SOTTO_MUST_USE sotto_status sotto_oblivious_serves(const sotto_parties *parties,
                                                   const sotto_anonymity *asked, int64_t now,
                                                   sotto_err *err);

/* A name for a relay with its gateway, kept with reports that ask for them. */
enum { SOTTO_OBLIVIOUS_WAY = 32 };
void sotto_oblivious_way(uint8_t out[SOTTO_OBLIVIOUS_WAY], const char *relay, const char *gateway);
/* Whether the way that these parties name is that one. */
bool sotto_oblivious_is(const sotto_parties *parties, const uint8_t way[SOTTO_OBLIVIOUS_WAY]);

/* As sotto_exchange_carry, through the relay: the answer is the one that the gateway sealed.
 *   now        seconds since 1970, which the request is dated by, to the minute
 *   SOTTO_IO   there was no sealed answer, and of the relay's own only answer->retry_after is kept; or the gateway sealed an
 *              error of its own
 */
SOTTO_MUST_USE sotto_status sotto_oblivious_carry(const sotto_device_host *host,
                                                  const sotto_oblivious *way,
                                                  const sotto_exchange *request, sotto_bytes body,
                                                  int64_t now, sotto_entropy *entropy,
                                                  sotto_arena *arena,
                                                  sotto_exchange_answer *answer);

#endif
