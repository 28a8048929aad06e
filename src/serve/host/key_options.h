/* serve/host/key_options.h - rows of options for the times of HPKE keys (host/keys.h), of every service that has keys. */
#ifndef SOTTO_SERVE_HOST_KEY_OPTIONS_H
#define SOTTO_SERVE_HOST_KEY_OPTIONS_H

#include "serve/host/keys.h"
#include "serve/host/option.h"

/* AT(field): offset and size in the service's own struct, which has a sotto_key_times named key_times. */
/* clang-format off */
#define SOTTO_KEY_OPTION_ROWS(AT) \
    {"key_pending", SOTTO_OPTION_DURATION, AT(key_times.pending), "1h", 60, \
     (uint64_t)30 * 86400, NULL, \
     "how long an HPKE key that `rotate` makes is known to all replicas before it is used", \
     SOTTO_OPTION_ALWAYS}, \
    {"key_active", SOTTO_OPTION_DURATION, AT(key_times.active), "84d", 3600, \
     (uint64_t)3650 * 86400, NULL, \
     "how long an HPKE key is used; its successor comes into use after half of that", \
     SOTTO_OPTION_ALWAYS}, \
    {"key_lead", SOTTO_OPTION_DURATION, AT(key_times.lead), NULL, 3600, \
     (uint64_t)3650 * 86400, NULL, \
     "how long before its use an HPKE key is made and exported; else as long as key_active", \
     SOTTO_OPTION_ALWAYS}, \
    {"key_expired", SOTTO_OPTION_DURATION, AT(key_times.expired), "7d", 60, \
     (uint64_t)3650 * 86400, NULL, \
     "how long an HPKE key still opens what was sealed to it after that; then it is deleted", \
     SOTTO_OPTION_ALWAYS}
/* clang-format on */

#endif
