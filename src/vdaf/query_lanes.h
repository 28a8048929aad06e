/* vdaf/query_lanes.h - queries of up to eight reports side by side, for machines with AVX-512 IFMA.
 *
 * Callers:  flp_query_template.h, where many reports wait and the circuit fits.
 * Memory:   scratch is the caller's, sotto_query_lanes_scratch bytes of it at any address.
 * Secrets:  shares. Time depends on the circuit and the number of reports only.
 *
 * It writes what sotto_flp_checks.queries writes, byte by byte. A lane is a report, so that no lane is empty where a chunk has ten
 * elements, and products that a report needs once are shared by eight reports.
 */
#ifndef SOTTO_VDAF_QUERY_LANES_H
#define SOTTO_VDAF_QUERY_LANES_H

#include "math/field128.h"
#include "vdaf/flp.h"

enum { SOTTO_QUERY_LANES = 8 };

/* What the proof system has computed for the circuit; names as in flp_template.h. */
typedef struct sotto_query_tables {
    const sotto_f128 *gadget_roots;
    sotto_f128 wire_inv, gadget_inv, shares_inv;
} sotto_query_tables;

/* Whether the machine and the circuit allow it: chunks of a few thousand elements at most, without a claim. */
bool sotto_query_lanes_fit(const sotto_circuit *c);
size_t sotto_query_lanes_scratch(const sotto_circuit *c);

/* 1 to SOTTO_QUERY_LANES queries. */
void sotto_query_lanes_ifma(const sotto_circuit *c, const sotto_query_tables *tables,
                            sotto_flp_query *queries, size_t count, void *scratch);

#endif
