/* support/oblivious.h - a gateway before a test's own server, and clients that seal requests to it. */
#ifndef SOTTO_TESTS_SUPPORT_OBLIVIOUS_H
#define SOTTO_TESTS_SUPPORT_OBLIVIOUS_H

#include "seal/ohttp/bhttp.h"
#include "seal/ohttp/ohttp.h"
#include "serve/host/host.h"
#include "sim/clock.h"
#include "support/http.h"

typedef struct sotto_test_gateway {
    sotto_host *host;
    const char *directory;
    sotto_sim_clock time; /* stands still */
    sotto_clock clock;
} sotto_test_gateway;

/* A host of the service that `section` names, by a file with these lines; `table` is its table of URLs. One of each
 * service at a time. SOTTO_OK, or why not. */
sotto_status sotto_test_host_open(sotto_test *t, sotto_host **out, const char *directory,
                                  const char *section, const char *table, const char *more,
                                  const sotto_clock *clock, sotto_log_sink log);
/* For sotto_test_at_end: gives their configurations back. */
void sotto_test_oblivious_forget(void);
/* https://target.example/ is the server at this port of loopback. */
void sotto_test_gateway_open(sotto_test *t, sotto_test_gateway *g, unsigned target,
                             const char *more);
/* Closes it and opens another over the same files. */
void sotto_test_gateway_again(sotto_test *t, sotto_test_gateway *g, unsigned target,
                              const char *more);

/* A request in the making, and what opens its answer. */
typedef struct sotto_test_sealed {
    sotto_bytes wire;
    sotto_ohttp_exchange exchange;
} sotto_test_sealed;

/* The first key that a gateway publishes. */
sotto_hpke_config sotto_test_gateway_key(sotto_test *t, unsigned port);
/* POST https://target.example/PATH, dated; 0: not dated. `seed`: another for each request. */
sotto_test_sealed sotto_test_seal(sotto_test *t, const sotto_hpke_config *to, const char *path,
                                  const char *content, int64_t date, uint32_t seed);
sotto_test_sealed sotto_test_seal_message(sotto_test *t, const sotto_hpke_config *to,
                                          const sotto_bhttp *message, uint32_t seed);
int64_t sotto_test_gateway_now(const sotto_test_gateway *g);

/* POSTs bytes; NULL path: the gateway's. */
sotto_test_answer sotto_test_post(sotto_test *t, unsigned port, const char *path, const char *type,
                                  sotto_bytes body);
/* Writes the POST alone. */
int sotto_test_post_begin(sotto_test *t, unsigned port, const char *path, const char *type,
                          const char *more_fields, sotto_bytes body);
/* What is inside a sealed answer, which it must be. */
sotto_bhttp sotto_test_unseal(sotto_test *t, const sotto_test_sealed *sealed,
                              const sotto_test_answer *answer);

#endif
