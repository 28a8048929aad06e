/* aggregate/shared/draw.h - public draws from a beacon, which everybody repeats: seeds, sets.
 *
 * Callers:  methods with one server. The beacon is drawn over the registry's root. Neither deadlines nor parameters enter a
 *           draw, which a server could vary until it likes the outcome.
 * Secrets:  none; times depend on what is drawn.
 */
#ifndef SOTTO_AGGREGATE_SHARED_DRAW_H
#define SOTTO_AGGREGATE_SHARED_DRAW_H

#include "aggregate/round.h"

/* A seed of this purpose for a whole epoch (number 0) or for one round. */
void sotto_draw_seed(uint8_t out[32], const char *purpose, const uint8_t beacon[32],
                     const uint8_t session[32], uint64_t epoch, uint64_t number);

/* A number below `of` and what was drawn for it: whoever has the smaller ticket comes first. */
typedef struct sotto_ticket {
    uint64_t key;
    uint32_t number;
} sotto_ticket;
void sotto_tickets_sort(sotto_ticket *tickets, size_t count);

/* ChooseSet: `count` different numbers below `of`, in ascending order. Each number has a ticket, a hash of it and the
 * seed, and the smallest tickets win. So whether a number is drawn depends on no other number's choice. */
SOTTO_MUST_USE sotto_status sotto_draw_set(uint32_t *out, uint32_t count, uint32_t of,
                                           const uint8_t seed[32], sotto_arena *scratch,
                                           sotto_err *err);

#endif
