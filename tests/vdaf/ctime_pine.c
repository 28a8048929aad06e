/* PINE with its secrets marked: nothing but lengths may steer it, and what was declared public. */
#include "support/ctime.h"
#include "support/pine.h"

#include "vdaf/pine/ops.h"
#include "vdaf/pine/wrap.h"

enum { D = 40 };

static void check_instance(sotto_test *t, const sotto_pine_ops *field, sotto_pine_wire wire,
                           sotto_pine_xof xof)
{
    sotto_test_pine p = sotto_test_pine_of(
        t,
        (sotto_pine_config){
            .field = field, .wire = wire, .xof = xof, .dimension = D, .norm_bound = 500},
        field->bits);
    sotto_test_pine_report r = sotto_test_pine_report_of(t, &p);
    int64_t vector[D];

    for (size_t i = 0; i < D; i++)
        vector[i] = (int64_t)sotto_sim_random_below(&p.random, 101) - 50;
    sotto_ctime_secret(vector, sizeof vector);
    sotto_ctime_secret(r.rand, p.pine.sizes.rand);
    sotto_ctime_secret(p.verify_key, sizeof p.verify_key);
    CHECK_OK(t, sotto_test_pine_shard(t, &p, &r, vector));
    for (unsigned a = 0; a < 2; a++) {
        sotto_pine_input input = {
            .aggregator = a,
            .nonce = r.nonce,
            .public_share = sotto_bytes_of(r.shares.public_share, p.pine.sizes.public_share),
            .input_share = a ? sotto_bytes_of(r.shares.helper_share, p.pine.sizes.helper_share)
                             : sotto_bytes_of(r.shares.leader_share, p.pine.sizes.leader_share)};

        CHECK_OK(t, sotto_pine_verify_init(&p.pine, &r.state[a], r.out[a], r.verifier[a],
                                           p.verify_key, p.context, &input, &t->arena, &t->err));
    }
}

static void vectors_and_shares_steer_nothing(sotto_test *t)
{
    check_instance(t, &sotto_pine_ops64, SOTTO_PINE_DRAFT20, SOTTO_PINE_TURBOSHAKE);
    check_instance(t, &sotto_pine_ops128, SOTTO_PINE_DRAFT20, SOTTO_PINE_TURBOSHAKE);
    check_instance(t, &sotto_pine_ops64, SOTTO_PINE_DRAFT11, SOTTO_PINE_TURBOSHAKE);
    if (sotto_wrap_use("portable"))
        check_instance(t, &sotto_pine_ops64, SOTTO_PINE_DRAFT20, SOTTO_PINE_TURBOSHAKE);
    CHECK(t, sotto_wrap_use(NULL));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(vectors_and_shares_steer_nothing),
    };
    return RUN_TESTS(argc, argv, cases);
}
