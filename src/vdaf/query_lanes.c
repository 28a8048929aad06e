#include "vdaf/query_lanes.h"

#include "math/kernels128.h"

enum {
    /* 127 products of a sum stay below what sotto_f128x8_reduce_sum takes. */
    MOST_GADGET_LOG = 7,
    /* Eight reports of this length stay in the second cache. Longer ones are faster one by one. */
    MOST_ELEMENTS = 2048,
};

bool sotto_query_lanes_fit(const sotto_circuit *c)
{
    return sotto_f128_best()->ifma && c->shape == SOTTO_SHAPE_CHUNKS && c->degree == 2 &&
           c->linear != SOTTO_LINEAR_CLAIM && (c->linear == SOTTO_LINEAR_NONE || c->bits == 1) &&
           c->gadget_log <= MOST_GADGET_LOG && c->meas_len <= MOST_ELEMENTS;
}

/* In vectors of 64 bytes: two for an element as the wire has it, three for one in limbs. */
size_t sotto_query_lanes_scratch(const sotto_circuit *c)
{
    size_t words = c->meas_len + c->proof_len + c->joint_rand_len + c->query_rand_len;
    size_t limbs = ((size_t)1 << c->gadget_log) + 3 * c->calls;

    return 64 * (1 + 2 * words + 3 * limbs);
}
