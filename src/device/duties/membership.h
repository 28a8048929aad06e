/* device/duties/membership.h - whether a record of a committee says the truth about one of its members.
 *
 * Callers:  duties.c, before a member signs.
 * Secrets:  the share; multiplied in constant time.
 */
#ifndef SOTTO_DEVICE_DUTIES_MEMBERSHIP_H
#define SOTTO_DEVICE_DUTIES_MEMBERSHIP_H

#include "aggregate/shared/decryptors.h"

/* SOTTO_REJECTED: the public value at this place is not this share's. SOTTO_DENIED: there is no such place. */
SOTTO_MUST_USE sotto_status sotto_membership_check(const sotto_decryptors_record *record,
                                                   uint32_t place, const uint8_t share[32],
                                                   sotto_err *err);

#endif
