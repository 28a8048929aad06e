/* serve/host/peers.h - servers that a service calls: each is asked now and then whether it answers, so that health says who does not.
 *
 * Callers:  relay/ (gateways), gateway/ (targets), attester/ (issuer, leader, helper), log/ (witnesses).
 * Memory:   roles, names and URLs are borrowed, and outlive the peers. The peers outlive the host's calls.
 * Threads:  tick by the host's health thread; others may look meanwhile.
 */
#ifndef SOTTO_SERVE_HOST_PEERS_H
#define SOTTO_SERVE_HOST_PEERS_H

#include "serve/host/host.h"
#include "serve/host/option.h"

typedef struct sotto_peers sotto_peers;

/* A row of options. AT(field): offset and size in the service's own struct, which has a uint64_t named peer_check. */
/* clang-format off */
#define SOTTO_PEERS_OPTION_ROW(AT) \
    {"peer_check", SOTTO_OPTION_NUMBER, AT(peer_check), "10", 0, 86400, NULL, \
     "seconds after which each server behind this one is asked again whether it answers, for `sotto admin health`; 0: never", \
     SOTTO_OPTION_ALWAYS}
/* clang-format on */

/* check_s: 0: nobody is asked, and nothing is said. */
SOTTO_MUST_USE sotto_status sotto_peers_new(sotto_peers **out, sotto_host *host, uint64_t check_s,
                                            sotto_err *err);
/* NULL is fine. No call of the host may be under way. */
void sotto_peers_free(sotto_peers *peers);

/* Adds a peer, SOTTO_URL_ROWS at most, and asks it when its turn comes, eight at once. name: of several with one role; or NULL. */
void sotto_peers_add(sotto_peers *peers, const char *role, const char *name, const char *url);
/* Each second: asks those whose turn it is. One that did not answer is asked after 1 s, 2 s, 4 s, up to check_s. */
void sotto_peers_tick(sotto_peers *peers);
/* A line of health for each that does not answer, or was not heard yet. */
void sotto_peers_describe(sotto_peers *peers, sotto_buf *out);
/* How many do not answer: a metric. */
void sotto_peers_metric(sotto_peers *peers, sotto_writer *w);

#endif
