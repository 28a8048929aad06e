/* serve/leader/collection.h - collection jobs at the leader.
 *
 *     waiting   reports of the batch are still being worked on, or too few
 *     closed    the batch takes no more; the helper's share is being asked for, always with the same bytes
 *     done      both shares are stored, and are sent to whoever asks again
 *     failed    after it was closed: helper and leader disagree, and it could not be repaired; the
 *               collector is told why
 */
#ifndef SOTTO_SERVE_LEADER_COLLECTION_H
#define SOTTO_SERVE_LEADER_COLLECTION_H

#include "serve/leader/leader.h"

/* Does the next step of a collection that was claimed. */
void sotto_collection_step(sotto_leader *leader, sotto_step *step);

/* collections.c: /tasks/{id}/collection_jobs; GET, DELETE .../{job} */
sotto_handler sotto_collection_create, sotto_collection_get, sotto_collection_delete;

#endif
