/* serve/aggregator/aggregator_service.h - the one server of methods whose participants exchange messages (aggregate/method.h).
 *
 *     POST rounds                    the operator: posts a round (aggregate/posting.h)
 *     GET  rounds/{round}            everybody: the posting
 *     POST rounds/{round}/messages   a participant: one message, its length before it and its vector behind it
 *     POST rounds/{round}/inbox      a participant: messages to it; the request is signed by its registered key
 *     POST rounds/{round}/board      everybody: entries of its board from a number on (8 bytes), for a reader (4 bytes; board.h)
 *     POST rounds/{round}/head       everybody: the board's last head that witnesses cosigned, a signed note (board_origin.h)
 *     GET  rounds/{round}/result     the operator: outcome, who reported, who was found to lie
 *     GET  rounds/{round}/sum        the operator: the sum, entries in the round's ring, little endian
 *     POST keygens                   the operator: calls a committee to make its key (aggregate/keygen/keygen.h)
 *     GET  keygens/{keygen}          everybody: the call
 *     POST keygens/{keygen}/posts    a member: one signed post
 *     POST keygens/{keygen}/board    everybody: the open step, and posts from a number on (8 bytes)
 *
 * It learns the sum of those who stayed, and who they are (docs/protocols/flamingo.md). A message is acknowledged with 204
 * once its contribution is inside a masked sum that is on disk. A question is answered with 200 and messages of an inbox.
 */
#ifndef SOTTO_SERVE_AGGREGATOR_AGGREGATOR_SERVICE_H
#define SOTTO_SERVE_AGGREGATOR_AGGREGATOR_SERVICE_H

#include "aggregate/inbox.h"
#include "aggregate/round.h"
#include "serve/host/service.h"

extern const sotto_service sotto_aggregator_service;

typedef struct sotto_aggregator_config {
    const char *key, *operator_token; /* files */
    const char *witnesses;            /* the same; NULL: nobody cosigns boards */
    uint64_t max_participants, max_rounds, max_uploads;
    size_t max_vector;
} sotto_aggregator_config;

#endif
