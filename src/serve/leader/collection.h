/* serve/leader/collection.h - collection jobs at the leader.
 *
 *     waiting   reports of the batch are still being worked on, or too few
 *     closed    the batch takes no more; the helper's share is being asked for, always with the same bytes
 *     done      both shares are stored, and are what any repetition gets
 *     failed    after it was closed: helper and leader disagree, and it could not be repaired; why is told
 */
#ifndef SOTTO_SERVE_LEADER_COLLECTION_H
#define SOTTO_SERVE_LEADER_COLLECTION_H

#include "serve/leader/leader.h"

typedef struct sotto_collections sotto_collections;

SOTTO_MUST_USE sotto_status sotto_collections_open(sotto_collections **out, sotto_leader *leader,
                                                   sotto_err *err);
/* Waits for steps under way. NULL is fine. */
void sotto_collections_close(sotto_collections *collections);

/* Why this one has no share of the helper's yet, as its last answer to this process shows. False: nothing is known. */
bool sotto_collections_last_retry(sotto_collections *collections, int64_t collection,
                                  char reason[SOTTO_LEADER_REASON]);

/* Something was finished: those that wait are looked at again, now. Cheap where none waits. */
void sotto_collections_recheck(sotto_leader *leader);
/* Does the next step of a collection that was claimed. False: it can't be started now. */
bool sotto_collection_step(sotto_leader *leader, const sotto_lease *lease);

/* collections.c: /tasks/{id}/collection_jobs; GET, DELETE .../{job} */
sotto_handler sotto_collection_create, sotto_collection_get, sotto_collection_delete;

#endif
