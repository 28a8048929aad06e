/* serve/host/descriptors.h - how many connections the process's file limit allows.
 *
 * Callers:  the server, before it opens anything.
 * Threads:  raising the limit is for the whole process; planning touches nothing.
 * Secrets:  none.
 */
#ifndef SOTTO_SERVE_HOST_DESCRIPTORS_H
#define SOTTO_SERVE_HOST_DESCRIPTORS_H

#include "serve/host/host.h"

enum {
    SOTTO_OPERATIONS_CONNECTIONS = 64, /* the operations port's own cap               */
};

/* Raises the soft file limit to the hard one, as far as the system allows, and returns what it is then. */
uint64_t sotto_descriptors_raise(void);

/* What is left for clients' connections, of `limit` descriptors.
 *   SOTTO_DENIED  fewer are left than a server needs, or than options->connections asks for
 */
SOTTO_MUST_USE sotto_status sotto_descriptors_plan(sotto_descriptors *plan,
                                                   const sotto_service *service,
                                                   const sotto_host_options *options,
                                                   uint64_t limit, sotto_err *err);

#endif
