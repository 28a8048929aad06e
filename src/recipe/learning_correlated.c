/* Correlated noise in learning recipes: which of them may have it, and what it costs. */
#include "recipe/learning_correlated.h"
#include "recipe/learning_slots.h"

#include "account/numeric/bound.h"
#include "base/rule.h"
#include "noise/tree.h"

#include <inttypes.h>
#include <stdio.h>

bool sotto_learning_buffered(const sotto_learning *l)
{
    return l && l->buffers > 0;
}

bool sotto_learning_correlated(const sotto_learning *l)
{
    return l && (l->restart > 0 || l->buffers > 0);
}

/* The inverse of a matrix of buffers has in a row 1, and numbers that add up to -1 or more. So neither their sizes nor their squares pass
 * 2 together. */
uint64_t sotto_learning_most_nodes(const sotto_learning *l)
{
    if (l->buffers > 0)
        return 2;
    return l->restart > 0 ? sotto_tree_most_nodes(l->restart) : 1;
}

static uint64_t tree_price(const sotto_learning *l)
{
    return l->restart > 0 ? sotto_tree_price(l->restart, l->separation, l->participations) : 1;
}

/* Noise by buffers shows what a device did in all rounds after its first, by draws of each of them. */
uint64_t sotto_learning_paid_draws(const sotto_learning *l)
{
    return l->buffers > 0 ? l->rounds : l->participations * tree_price(l);
}

sotto_learning_price sotto_learning_price_of(const sotto_learning *l, double sensitivity)
{
    const sotto_blt_pattern pattern = {l->rounds, l->separation, l->participations};
    const size_t numbers = (size_t)sotto_learning_length(l);
    sotto_learning_price out;

    if (l->buffers == 0) {
        out.each = (double)tree_price(l);
        out.all = out.each * (double)l->participations;
        return out;
    }
    const double priced = sotto_blt_priced(&l->blt, &pattern, sensitivity, numbers);
    out.each = sotto_blt_each(&l->blt, &pattern, sensitivity, numbers);
    out.all = sotto_round_up(priced * priced, 2);
    return out;
}

/* The table has checked that there are one to three, and how large their numbers are. */
void sotto_learning_read_correlation(sotto_learning *out, const json_t *correlation)
{
    const json_t *list = json_object_get(correlation, "buffers");

    out->restart = (uint64_t)json_integer_value(json_object_get(correlation, "restart"));
    out->buffers = json_array_size(list);
    for (size_t i = 0; i < out->buffers && i < SOTTO_BLT_BUFFERS; i++) {
        const json_t *buffer = json_array_get(list, i);

        out->blt.decay[i] = json_integer_value(json_object_get(buffer, "decay"));
        out->blt.weight[i] = json_integer_value(json_object_get(buffer, "weight"));
    }
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

/* What the theorem is about, and how much work it is to claim and to release. */
static void check_buffers(sotto_reading *r, const sotto_learning *l)
{
    static const sotto_place correlation = {&privacy, "correlation", 0},
                             buffers = {&correlation, "buffers", 0}, rounds = {NULL, "rounds", 0},
                             count = {&rounds, "count", 0},
                             participations = {&rounds, "participations", 0};
    const uint64_t most = SOTTO_BUFFERED_DRAWS / sotto_learning_length(l);
    char accepted[48];
    sotto_err why;

    sotto_err_clear(&why);
    if (SOTTO_RULE(correlated_matrix_falls) && sotto_blt_check(&l->blt, &why) != SOTTO_OK)
        sotto_reading_mistake(r, &buffers, "what `sotto learn buffers` proposes", "%s", why.reason);
    (void)snprintf(accepted, sizeof accepted, "%d or less", (int)SOTTO_BLT_ROUNDS);
    if (SOTTO_RULE(correlated_rounds_priced) && l->rounds > SOTTO_BLT_ROUNDS)
        sotto_reading_mistake(r, &count, accepted, "more rounds than buffers are priced for");
    (void)snprintf(accepted, sizeof accepted, "%d or less", (int)SOTTO_BUFFERED_PARTICIPATIONS);
    if (SOTTO_RULE(correlated_participations_few) &&
        l->participations > SOTTO_BUFFERED_PARTICIPATIONS)
        sotto_reading_mistake(r, &participations, accepted,
                              "more participations than buffers are priced for");
    (void)snprintf(accepted, sizeof accepted, "%" PRIu64 " or less", most);
    if (SOTTO_RULE(correlated_work_bounded) && l->rounds > most)
        sotto_reading_mistake(r, &count, accepted,
                              "a release draws the noise of all rounds before it again: rounds "
                              "times numbers of a sum are above 2^25");
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
    if (sotto_learning_buffered(l))
        check_buffers(r, l);
    check_cancels(r, l);
}
