/* device/answer/delivery.h - what a leader's answer to an upload means for the report (DAP draft 18, "Upload Response"; HTTP,
 * RFC 9110).
 *
 * Callers:  device_send.c; the outbox acts on it.
 */
#ifndef SOTTO_DEVICE_DELIVERY_H
#define SOTTO_DEVICE_DELIVERY_H

#include "device/exchange.h"
#include "device/ledger/outbox.h"

/* What an answer, for which sotto_exchange_carry returned SOTTO_OK, says of the report with this id. Where the answer
 * leaves a doubt, it is SOTTO_DELIVERY_LATER, so a captive portal's page in the leader's place loses no report. The leader
 * knows the report's id, and counts it once however often it comes. */
sotto_delivery sotto_delivery_of(sotto_bytes id, const sotto_exchange_answer *answer);

#endif
