/* apps/sotto/interop/interop.h - one party of DAP behind the interop test API (draft-dcook-ppm-dap-interop-test-design, with the
 * fields that Janus renamed).
 *
 *     interop.c             the verb: options, and waiting for the end
 *     interop_api.c         HTTP and JSON: from a request to one of a role's commands and back
 *     interop_task.c        a task and its VDAF, as JSON says them
 *     interop_client.c      upload
 *     interop_aggregator.c  a leader or helper beside its commands, over a database that ends with it
 *     interop_collector.c   collections that are started and asked for later
 *
 * A test's tool: whoever reaches its port may add tasks. It listens on loopback unless told otherwise.
 */
#ifndef SOTTO_APPS_INTEROP_H
#define SOTTO_APPS_INTEROP_H

#include "dap/dap.h"
#include "serve/host/pool.h"
#include "sotto/recipe.h"
#include "transport/http_server.h"

#include <jansson.h>

/* Answers a command. `out` becomes the answer, with "status": "success" unless it has a status; what fails is told as
 * "status": "error" and the reason. The arena ends with the command. */
typedef sotto_status interop_fn(const json_t *in, json_t *out, sotto_arena *arena, sotto_err *err);

typedef struct interop_command {
    const char *name; /* behind /internal/test/ */
    interop_fn *run;
} interop_command;

typedef struct interop_options {
    const char *listen;
    sotto_dap_profile profile;
} interop_options;

/* ---- interop_api.c: one role in one process, so there is one set of commands --------------------------------- */

extern const sotto_http_handler interop_handler;
/* Commands, ended by one without a name. "ready" is everybody's. Before anybody listens: the loops read them. */
void interop_commands(const interop_command *commands);
/* Commands run on the pool from now on, and are put off until then. */
void interop_begin(sotto_pool *pool);
/* A server with the handler above until a signal ends it; for roles that serve nothing else. */
SOTTO_MUST_USE sotto_status interop_serve(const interop_command *commands, sotto_pool *pool,
                                          const char *listen, sotto_err *err);

/* ---- interop_task.c ------------------------------------------------------------------------------------------ */

/* NULL and SOTTO_MALFORMED where the key is missing or no string. */
SOTTO_MUST_USE sotto_status interop_text(const char **out, const json_t *in, const char *key,
                                         sotto_err *err);
SOTTO_MUST_USE sotto_status interop_number(uint64_t *out, const json_t *in, const char *key,
                                           sotto_err *err);
/* Decimal, in a string. */
SOTTO_MUST_USE sotto_status interop_decimal(uint64_t *out, const json_t *value, const char *what,
                                            sotto_err *err);
/* Unpadded base64url of exactly `size` bytes; 0: of however many it has. Into the arena. */
SOTTO_MUST_USE sotto_status interop_bytes(sotto_bytes *out, const json_t *in, const char *key,
                                          size_t size, sotto_arena *arena, sotto_err *err);
/* From task_id, leader, helper, vdaf, time_precision, min_batch_size, batch_mode, task_start and task_end. */
SOTTO_MUST_USE sotto_status interop_task(sotto_task *out, const json_t *in, sotto_arena *arena,
                                         sotto_err *err);

/* ---- roles: run until SIGTERM or SIGINT ------------------------------------------------------------------------ */

SOTTO_MUST_USE sotto_status interop_client(const interop_options *options, sotto_err *err);
SOTTO_MUST_USE sotto_status interop_leader(const interop_options *options, sotto_err *err);
SOTTO_MUST_USE sotto_status interop_helper(const interop_options *options, sotto_err *err);
SOTTO_MUST_USE sotto_status interop_collector(const interop_options *options, sotto_err *err);

/* interop.c: prints where it listens, then waits for a signal. */
void interop_wait(unsigned port);

#endif
