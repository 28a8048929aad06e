/* A ping-pong message. Input: type, role, message: to the helper as the leader's first, or to the leader as
 * the helper's answer. What decodes has one encoding. */
#include "prio3_round.h"

#include "vdaf/ping_pong.h"

static void require_one_encoding(sotto_bytes wire)
{
    static uint8_t memory[1 << 16];
    sotto_buf again = sotto_buf_over(memory, sizeof memory);
    sotto_writer w = sotto_writer_on(&again);
    sotto_ping_pong_message m;

    if (sotto_ping_pong_decode(&m, wire, NULL) != SOTTO_OK || wire.len > sizeof memory)
        return;
    sotto_write_uint(&w, m.type, 1);
    if (m.type != SOTTO_PING_PONG_INITIALIZE)
        sotto_write_opaque32(&w, m.verifier_message);
    if (m.type != SOTTO_PING_PONG_FINISH)
        sotto_write_opaque32(&w, m.verifier_share);
    fuzz_require(sotto_writer_finish(&w, "message", NULL) == SOTTO_OK);
    fuzz_require(sotto_bytes_equal_vartime(sotto_buf_bytes(&again), wire));
}

static void to_helper(fuzz_round *r, sotto_bytes inbound)
{
    sotto_prio3_verifier verifier = fuzz_verifier(1);
    sotto_bytes outbound;

    fuzz_require(sotto_ping_pong_helper_init(&r->vdaf, &r->state[1], &outbound, &verifier,
                                             &r->view[1], &inbound, 1, &r->arena,
                                             NULL) == SOTTO_OK);
    sotto_status status = r->state[1].status;
    fuzz_require(status == SOTTO_OK || status == SOTTO_MALFORMED || status == SOTTO_REJECTED);
    fuzz_require((status == SOTTO_OK) == (outbound.len > 0));
}

static void to_leader(fuzz_round *r, sotto_bytes inbound)
{
    sotto_prio3_verifier verifier = fuzz_verifier(0);
    sotto_bytes outbound;

    fuzz_require(sotto_ping_pong_leader_init(&r->vdaf, &r->state[0], &outbound, &verifier,
                                             &r->view[0], 1, &r->arena, NULL) == SOTTO_OK);
    fuzz_require(sotto_ping_pong_leader_continued(&r->vdaf, &r->state[0], &inbound, 1, NULL) ==
                 SOTTO_OK);
    if (r->state[0].status == SOTTO_OK) { /* only the right message ends it well */
        fuzz_require(inbound.len == 5 + r->vdaf.sizes.verifier_message && inbound.data[0] == 2);
        fuzz_require(memcmp(inbound.data + 5, r->state[0].joint_rand_seed,
                            r->vdaf.sizes.verifier_message) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_round r;

    if (size < 2)
        return 0;
    sotto_bytes inbound = sotto_bytes_of(data + 2, size - 2);
    require_one_encoding(inbound);
    fuzz_open(&r, data[0]);
    if (data[1] & 1)
        to_leader(&r, inbound);
    else
        to_helper(&r, inbound);
    fuzz_close(&r);
    return 0;
}
