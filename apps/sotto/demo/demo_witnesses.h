/* apps/sotto/demo/demo_witnesses.h - the witnesses of a beacon as processes, which make their key themselves: for rounds of one server.
 *
 * Callers:  demo_flamingo.c, learn/learn_one_server.c.
 */
#ifndef SOTTO_APPS_DEMO_WITNESSES_H
#define SOTTO_APPS_DEMO_WITNESSES_H

#include "demo.h"

#include "support/witnesses.h"

enum { DEMO_WITNESSES = 4 }; /* one may lie or be away */

typedef struct demo_witnesses {
    demo_server processes[DEMO_WITNESSES];
    sotto_http_client *client;
    sotto_witnesses asked; /* with their key, once they met */
} demo_witnesses;

/* New ones, with new keys. Before anything has threads: see demo_process_start. */
SOTTO_MUST_USE sotto_status demo_witnesses_start(const demo *d, demo_witnesses *w, sotto_err *err);
SOTTO_MUST_USE sotto_status demo_witnesses_meet(const demo *d, demo_witnesses *w, sotto_err *err);
/* One ends; the others are enough. */
void demo_witnesses_lose(demo_witnesses *w, unsigned i);
/* Ends them all. Nothing for those that were not started. */
void demo_witnesses_stop(demo_witnesses *w);

#endif
