/* tests/serve/third_service/third_service.h - a service that the product does not have, to see what one takes. It has a
 * route, an option, a table, a queue whose steps fail at first, and a line of health.
 *
 *     POST /notes   keeps a note; it is done after as many failures as the option says
 */
#ifndef SOTTO_TESTS_THIRD_SERVICE_H
#define SOTTO_TESTS_THIRD_SERVICE_H

#include "serve/host/service.h"

extern const sotto_service sotto_third_service;
/* The only queue of it. */
extern const sotto_queue sotto_third_queue[1];

typedef struct sotto_third_config {
    uint64_t failures;
} sotto_third_config;

#endif
