/* How likely the draws of a recipe that one server adds up are bad ones. */
#include "recipe/one_server.h"

#include "account/committee.h"
#include "account/neighbours.h"
#include "account/numeric/shown.h"
#include "aggregate/round.h"
#include "base/rule.h"

#include <stdio.h>

void sotto_one_server_odds_of(sotto_one_server_odds *out, const sotto_recipe *recipe,
                              const sotto_one_server *s, double rounds, bool picked)
{
    sotto_committee drawn = {.size = s->decryptors, .corrupt = s->corrupt, .draws = rounds};
    sotto_neighbours cut = {
        .clients = s->cohort, .corrupt = sotto_one_server_liars(s), .rounds = rounds};
    sotto_neighbours_odds cut_odds;
    sotto_committee_odds odds;
    sotto_one_server_graph graph;

    /* The beacon fixes the graphs of all numbers, and the server takes the one that it likes. */
    if (SOTTO_RULE(one_server_numbers_counted) && picked)
        cut.rounds *= (double)s->epoch_rounds;

    *out = (sotto_one_server_odds){
        .tolerated = sotto_committee_decryptors_tolerate(s->decryptors, s->decryptors_dropout),
        .committee = 1,
        .cut_off = 1};
    drawn.tolerated = out->tolerated < 0 ? 0 : (uint64_t)out->tolerated;
    if (out->tolerated >= 0 && sotto_committee_odds_of(&odds, &drawn, NULL) == SOTTO_OK)
        out->committee = odds.any;
    if (!sotto_recipe_one_server_graph(&graph, recipe) || s->cohort < recipe->min_cohort)
        return;
    cut.dropped = s->cohort - recipe->min_cohort;
    cut.degree = graph.degree;
    cut.least = graph.neighbours;
    if (sotto_neighbours_odds_of(&cut_odds, &cut, NULL) == SOTTO_OK)
        out->cut_off = cut_odds.any;
}

/* Both draws against delta. A committee with too many liars opens single vectors, and a client that was cut off is a sum of its own. They
 * are told, not refused: a small fleet has no such committee, and its receipts say so. */
void sotto_recipe_warn_one_server(sotto_reading *at, const sotto_recipe *recipe, double rounds,
                                  bool picked)
{
    static const sotto_place aggregation = {NULL, "aggregation", 0},
                             decryptors = {&aggregation, "decryptors", 0},
                             graph = {&aggregation, "graph", 0};
    const double delta = sotto_decimal_down(recipe->delta);
    sotto_one_server_odds odds;
    sotto_one_server server;
    char what[200];

    if (!sotto_recipe_one_server(&server, recipe))
        return;
    sotto_one_server_odds_of(&odds, recipe, &server, rounds, picked);
    (void)snprintf(
        what, sizeof what,
        "a committee has more liars than it withstands with a chance of %.3g in a device's "
        "rounds, above delta: `sotto budget committee` finds one that fits",
        sotto_bound_shown(odds.committee, 3));
    if (SOTTO_RULE(one_server_committee_told) && odds.committee > delta)
        sotto_reading_warn(at, &decryptors, what);
    (void)snprintf(what, sizeof what,
                   "a server with liars can cut a client off in its rounds with a chance of %.3g, "
                   "above delta: `sotto budget committee --clients` finds a degree that fits",
                   sotto_bound_shown(odds.cut_off, 3));
    if (SOTTO_RULE(one_server_graph_told) && odds.cut_off > delta)
        sotto_reading_warn(at, &graph, what);
}

void sotto_recipe_warn_long(sotto_reading *at, const sotto_place *place, const sotto_recipe *head,
                            uint64_t seconds)
{
    const uint64_t ms = seconds < UINT64_MAX / 1000 ? seconds * 1000 : UINT64_MAX;
    char what[160];

    if ((head->trust != SOTTO_TRUST_FLAMINGO && head->trust != SOTTO_TRUST_AERO) ||
        sotto_round_may_last(0, ms))
        return;
    (void)snprintf(what, sizeof what,
                   "devices join no round of more than %d days, from its opening to its sum: it "
                   "has to be a part of this",
                   SOTTO_ROUND_MOST_DAYS);
    sotto_reading_warn(at, place, what);
}
