/* device/duties/inside.h - duties as their files share them: rounds in duties.c, key generations in keygen_duty.c.
 */
#ifndef SOTTO_DEVICE_DUTIES_INSIDE_H
#define SOTTO_DEVICE_DUTIES_INSIDE_H

#include "device/duties/duties.h"
#include "device/duties/journal.h"
#include "device/exchange.h"

enum { SOTTO_DUTIES_URL = 1024, SOTTO_DUTIES_POLL_MS = 250, SOTTO_DUTIES_RETRY_MS = 1000 };

struct sotto_duties {
    sotto_duties_options options;
    char server[SOTTO_DUTIES_URL];
    uint8_t (*witnesses)[SOTTO_P256_WIDE];
    sotto_journal journal;
    sotto_signer signer;
    sotto_self_secrets secrets;
    sotto_arena memory;
    size_t inbox; /* room for the next answer */
};

/* SOTTO_DENIED: policy or consent do not cover this part. */
SOTTO_MUST_USE sotto_status sotto_duties_permitted(sotto_duties *d, unsigned part, sotto_err *err);
/* One request to "KIND/ID/PLACE" of the aggregator, after the host's counter was raised. */
SOTTO_MUST_USE sotto_status sotto_duties_carry(sotto_duties *d, const char *kind, const uint8_t *id,
                                               const char *place, const char *type,
                                               sotto_bytes body, sotto_exchange_answer *answer);
/* Whether the aggregator will never take it. Everything else, a 401 or 404 of a proxy among it, may be about the moment. */
bool sotto_duties_is_final(unsigned status);
/* What a duty will fail with again, however often it is tried. */
bool sotto_duties_is_for_good(sotto_status status);

/* Does what is due in key generations; *next_ms is only ever lowered. */
SOTTO_MUST_USE sotto_status sotto_duties_tick_keygens(sotto_duties *d, uint64_t now_ms,
                                                      uint64_t *next_ms, sotto_err *err);

#endif
