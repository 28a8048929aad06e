/* serve/aggregator/heads.h - heads of boards: the tree over a round's entries so far, signed by this server and cosigned by witnesses.
 *
 * Callers:  the clock, which has each board with new entries cosigned; a route hands out the last head.
 * Memory:   a head belongs to its round in the list.
 * Threads:  one piece of work at a time grows a head. What is published is read with the list's lock.
 *
 * A witness cosigns a head only if it continues the last one (serve/witness/). So two boards of one round never both have the
 * cosignatures of a quorum, unless as many witnesses lie as two quorums have in common.
 */
#ifndef SOTTO_SERVE_AGGREGATOR_HEADS_H
#define SOTTO_SERVE_AGGREGATOR_HEADS_H

#include "sotto/base.h"

struct sotto_aggregator;
struct sotto_listed_round;
typedef struct sotto_head sotto_head;

/* Reads the file of witnesses. SOTTO_DENIED: a key in it is not for cosignatures, or has no URL. */
SOTTO_MUST_USE sotto_status sotto_heads_read_witnesses(struct sotto_aggregator *a, sotto_err *err);

/* With the list's lock: begins to have the round's new entries cosigned, if that is due. Milliseconds until it should be asked again. */
uint64_t sotto_head_begin(struct sotto_aggregator *a, struct sotto_listed_round *one, uint64_t now);
/* NULL is fine. */
void sotto_head_free(sotto_head *head);

#endif
