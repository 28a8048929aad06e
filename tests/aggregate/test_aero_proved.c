/* A round with real proofs: what test_aero_rounds.c and test_aero_attacks.c play with a double. */
#include "hall.h"

#include "aggregate/aero/proof_known.h"

static const hall_plan THREE = {.clients = 3,
                                .committee = 3,
                                .threshold = 2,
                                .noise = 1,
                                .liars = 1,
                                .length = 3,
                                .number = 4,
                                .checks = 2};

static void a_round_with_proofs_opens_the_sum(sotto_test *t)
{
    hall h;

    hall_open(t, &h, THREE);
    sotto_sim_net *net = hall_net(t, &h, 1);
    hall_until(t, net, HALL_SUMS);
    /* Proofs are as long as proofs are. */
    CHECK(t, hall_server(net)->entrants[0].groups[0].proof.len > 100000);
    sotto_sim_report report = hall_run(t, &h, net);
    CHECK(t, report.released);
    CHECK_EQUAL(t, 3, report.contributions);
    CHECK_EQUAL(t, 0, report.verdicts[SOTTO_REJECTED]);
    /* And they are of this round alone. */
    sotto_aero_aggregator *s = hall_server(net);
    sotto_aero_entrant *e = &s->entrants[1];
    sotto_aero_cipher *c;
    uint8_t commitment[32];
    CHECK_OK(t,
             sotto_aero_group_decode(&c, h.derived, 0, e->groups[0].ciphers, &t->arena, &t->err));
    sotto_aero_commitment_of(commitment, h.derived, &e->of);
    sotto_aero_statement of = sotto_aero_statement_of(h.derived, s->base.view->b, e->promise.role,
                                                      e->promise.index, 0, commitment, c);
    CHECK_OK(t, sotto_aero_verify_vartime(&of, e->groups[0].proof, &t->arena, &t->err));
    of.round++;
    t->err = (sotto_err){0};
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_aero_verify_vartime(&of, e->groups[0].proof, &t->arena, &t->err));
    /* Whoever plays many devices verifies a proof once; of another statement nothing is known. */
    sotto_aero_known known;
    CHECK_OK(t, sotto_aero_known_init(&known, 4, &t->arena, &t->err));
    t->err = (sotto_err){0};
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_aero_verify_known(&known, &of, e->groups[0].proof, &t->arena, &t->err));
    of.round--;
    for (unsigned i = 0; i < 3; i++)
        CHECK_OK(t, sotto_aero_verify_known(&known, &of, e->groups[0].proof, &t->arena, &t->err));
    CHECK_EQUAL(t, 1, known.verified);
    CHECK_EQUAL(t, 2, known.looked_up);
    of.round++;
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_aero_verify_known(&known, &of, e->groups[0].proof, &t->arena, &t->err));
    sotto_sim_net_free(net);
    hall_close(&h);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_round_with_proofs_opens_the_sum),
    };
    return RUN_TESTS(argc, argv, cases);
}
