/* Correlated noise in learning recipes: which of them may have it, and what it costs. */
#include "recipe/learning_correlated.h"
#include "recipe/learning_slots.h"

#include "base/rule.h"
#include "noise/tree.h"

#include <inttypes.h>
#include <stdio.h>

bool sotto_learning_correlated(const sotto_learning *l)
{
    return l && l->restart > 0;
}

uint64_t sotto_learning_most_nodes(const sotto_learning *l)
{
    return l->restart > 0 ? sotto_tree_most_nodes(l->restart) : 1;
}

uint64_t sotto_learning_tree_price(const sotto_learning *l)
{
    return l->restart > 0 ? sotto_tree_price(l->restart, l->separation, l->participations) : 1;
}

static const sotto_place privacy = {NULL, "privacy", 0}, learn = {NULL, "learn", 0};

/* Noise of one round has to be the noise of others, with a sign, in what moves the model. */
static void check_cancels(sotto_reading *r, const sotto_learning *l)
{
    static const sotto_place update = {&learn, "update", 0},
                             projection = {&update, "projection", 0},
                             server = {&learn, "server", 0}, optimizer = {&server, "optimizer", 0};
    enum { LINEAR = 2 }; /* sgd and momentum are the first words */

    if (SOTTO_RULE(correlated_steps_linear) && l->optimizer >= LINEAR)
        sotto_reading_mistake(r, &optimizer, "sgd or momentum",
                              "a step that divides by what came before does not let noise cancel "
                              "over rounds");
    if (SOTTO_RULE(correlated_unprojected) && l->projected > 0)
        sotto_reading_mistake(r, &projection, "updates as they are",
                              "each round is projected by another matrix, so noise would not "
                              "cancel over rounds");
}

void sotto_learning_check_correlation(sotto_reading *r, const sotto_learning *l)
{
    static const sotto_place by = {&privacy, "by", 0}, correlation = {&privacy, "correlation", 0},
                             restart = {&correlation, "restart", 0},
                             taking = {NULL, "participation", 0}, type = {&taking, "type", 0},
                             rounds = {NULL, "rounds", 0}, on_no_turn = {&rounds, "on_no_turn", 0};
    char accepted[48];

    if (!sotto_learning_correlated(l))
        return;
    if (SOTTO_RULE(correlated_by_servers) && l->head.by != SOTTO_BY_SERVERS)
        sotto_reading_mistake(r, &by, "servers",
                              "devices of a round are others than those of the next, so noise of "
                              "theirs can't cancel over rounds");
    if (SOTTO_RULE(correlated_drawn_anew) && sotto_learning_once(l))
        sotto_reading_mistake(r, &type, "poisson",
                              "what drawing one round in secret gains is not known for noise that "
                              "is correlated over rounds");
    if (SOTTO_RULE(correlated_without_zeros) && l->zeros)
        sotto_reading_mistake(r, &on_no_turn, "silence",
                              "zeros hide who has a turn, which gains nothing with noise that is "
                              "correlated over rounds");
    (void)snprintf(accepted, sizeof accepted, "%" PRIu64 " or less", l->rounds);
    if (SOTTO_RULE(correlated_within_rounds) && l->restart > l->rounds)
        sotto_reading_mistake(r, &restart, accepted, "a tree has more rounds than the session");
    check_cancels(r, l);
}
