#include "budget_neighbours.h"

#include "account/numeric/shown.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* A round that is burnt costs time. So it may happen once in a million rounds with as many losses as the recipe allows. */
static const double may_burn = 1e-6;

sotto_status budget_neighbours_answer(budget_neighbours *out, double clients, double least,
                                      double corrupt, double degree, double neighbours,
                                      double rounds, double kappa, sotto_err *err)
{
    sotto_neighbours *g = &out->graph;

    if (least > clients)
        return sotto_fail(err, SOTTO_DENIED, "--least: a sum of more than --clients");
    *g = (sotto_neighbours){.clients = (uint64_t)clients,
                            .corrupt = (uint64_t)ceil(sotto_round_up(corrupt * clients, 2)),
                            .dropped = (uint64_t)(clients - least),
                            .rounds = rounds};
    out->found = isnan(degree);
    if (out->found) {
        SOTTO_TRY(sotto_neighbours_smallest(g, kappa, may_burn, err));
        if (g->degree == 0)
            return sotto_fail(err, SOTTO_DENIED,
                              "no graph of %.0f clients fits: a larger --least, more --clients or "
                              "fewer liars would help",
                              clients);
    } else {
        g->degree = (uint64_t)degree;
        g->least = (uint64_t)neighbours;
    }
    SOTTO_TRY(sotto_neighbours_odds_of(&out->odds, g, err));
    out->fits = out->odds.bits >= kappa;
    return SOTTO_OK;
}

void budget_neighbours_print(const budget_neighbours *n, double kappa)
{
    const sotto_neighbours *g = &n->graph;

    printf("a graph of %" PRIu64 " clients, %" PRIu64 " of them liars: degree %" PRIu64 ", %" PRIu64
           " neighbours must stay%s\n",
           g->clients, g->corrupt, g->degree, g->least, n->found ? "; the smallest that fits" : "");
    printf("  %-58s %.3g\n", "a server can cut somebody off in one round",
           sotto_bound_shown(n->odds.one, 3));
    if (g->rounds > 1)
        printf("  %-58s %.3g\n", "  in any of all rounds", sotto_bound_shown(n->odds.any, 3));
    if (isfinite(n->odds.bits))
        printf("  %-58s 2^-%.1f, promised 2^-%g\n", "in bits", floor(n->odds.bits * 10) / 10,
               kappa);
    printf("  %-58s %.3g\n", "a round burns, if so many are lost as may be",
           sotto_bound_shown(n->odds.burns, 3));
}

void budget_neighbours_members(sotto_json *j, const budget_neighbours *n)
{
    const sotto_neighbours *g = &n->graph;

    sotto_json_object(j, "graph");
    sotto_json_uint(j, "clients", g->clients);
    sotto_json_uint(j, "corrupt", g->corrupt);
    sotto_json_uint(j, "dropped", g->dropped);
    sotto_json_uint(j, "degree", g->degree);
    sotto_json_uint(j, "neighbours", g->least);
    sotto_json_real(j, "one_cut_off", n->odds.one);
    sotto_json_real(j, "any_cut_off", n->odds.any);
    if (isfinite(n->odds.bits))
        sotto_json_real(j, "bits", n->odds.bits);
    sotto_json_real(j, "burns", n->odds.burns);
    sotto_json_bool(j, "fits", n->fits);
    sotto_json_end(j);
}
