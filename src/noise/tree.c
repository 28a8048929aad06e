#include "noise/tree.h"

enum { AT_ONCE = 256 };

unsigned sotto_tree_levels(uint64_t restart)
{
    unsigned levels = 0;

    for (; restart > 0; restart /= 2)
        levels++;
    return levels;
}

/* Nodes that don't cover each other, of rounds below one that covers them all: every other round, at most. */
uint64_t sotto_tree_most_nodes(uint64_t restart)
{
    const unsigned levels = sotto_tree_levels(restart);

    return levels < 2 ? levels : ((uint64_t)1 << (levels - 2)) + 1;
}

/* A node of c participations costs c^2, which is c for each of them. One participation is in at most one node of each level, and a
 * node of 2^l rounds has at most 2^l / separation of a device, rounded up. */
uint64_t sotto_tree_price(uint64_t restart, uint64_t separation, uint64_t participations)
{
    uint64_t price = 0;

    for (unsigned level = 0; level < sotto_tree_levels(restart); level++) {
        const uint64_t rounds = (uint64_t)1 << level,
                       within = rounds / separation + (rounds % separation != 0);

        price += within < participations ? within : participations;
    }
    return price;
}

/* Rounds that the node covers which a round ends: the largest power of two that divides its number, from 1, in its tree. */
static uint64_t length_of(uint64_t restart, uint64_t round)
{
    const uint64_t t = round % restart + 1;

    return t & (~t + 1);
}

bool sotto_tree_covers(uint64_t restart, uint64_t round, uint64_t earlier)
{
    return round / restart == earlier / restart && earlier <= round &&
           round - earlier < length_of(restart, round);
}

void sotto_tree_release(sotto_tree_nodes *nodes, uint64_t restart, uint64_t round)
{
    while (nodes->count > 0 && (nodes->rounds[nodes->count - 1] / restart != round / restart ||
                                sotto_tree_covers(restart, round, nodes->rounds[nodes->count - 1])))
        nodes->count--;
    nodes->rounds[nodes->count++] = round;
}

static sotto_status add_node(const sotto_noise *noise, size_t numbers, uint64_t round, int64_t sign,
                             const sotto_tree_source *source, const sotto_tree_sink *sink,
                             sotto_err *err)
{
    int64_t drawn[AT_ONCE];
    sotto_entropy entropy;

    SOTTO_TRY(source->start(source->context, &entropy, round, err));
    sotto_status status = SOTTO_OK;
    for (size_t at = 0; at < numbers && status == SOTTO_OK; at += AT_ONCE) {
        const size_t some = numbers - at < AT_ONCE ? numbers - at : (size_t)AT_ONCE;

        status = sotto_noise_draw(noise, drawn, some, &entropy, err);
        for (size_t i = 0; i < some; i++)
            drawn[i] *= sign;
        if (status == SOTTO_OK)
            status = sink->add(sink->context, at, drawn, some, err);
    }
    sotto_wipe(drawn, sizeof drawn);
    sotto_entropy_clear(&entropy);
    return status;
}

sotto_status sotto_tree_add_noise(const sotto_noise *noise, size_t numbers,
                                  const sotto_tree_nodes *nodes, uint64_t restart, uint64_t round,
                                  const sotto_tree_source *source, const sotto_tree_sink *sink,
                                  sotto_err *err)
{
    SOTTO_TRY(add_node(noise, numbers, round, 1, source, sink, err));
    for (size_t i = 0; i < nodes->count; i++)
        if (sotto_tree_covers(restart, round, nodes->rounds[i]))
            SOTTO_TRY(add_node(noise, numbers, nodes->rounds[i], -1, source, sink, err));
    return SOTTO_OK;
}
