/* serve/leader/replicas.h - several leaders over one PostgreSQL: what each tells the others, by the database alone. Over SQLite, where
 * there is one, nothing here does anything.
 *
 * Callers:  leader.c, and the transaction that ends a job.
 * Threads:  one of its own, that waits for the others' word.
 */
#ifndef SOTTO_SERVE_LEADER_REPLICAS_H
#define SOTTO_SERVE_LEADER_REPLICAS_H

#include "serve/leader/leader.h"

typedef struct sotto_leader_others sotto_leader_others;

/* From here on, collections that wait in this process are looked at when a job ends in another. */
SOTTO_MUST_USE sotto_status sotto_leader_others_open(sotto_leader *leader, sotto_err *err);
/* Call before the collections are closed. May be called twice, or without an open. */
void sotto_leader_others_close(sotto_leader *leader);

/* A job ends with this transaction: wakes the other replicas once. A lost wake-up only costs
 * time. */
SOTTO_MUST_USE sotto_status sotto_leader_tell_others(sotto_tx *tx, const sotto_leader *leader,
                                                     sotto_err *err);

/* Reports in our lanes that a collection of any replica asks for need not wait until their job is full. By the leader's own
 * thread, about once a second. */
void sotto_leader_flush_for_others(sotto_leader *leader);

#endif
