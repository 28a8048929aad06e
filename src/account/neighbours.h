/* account/neighbours.h - how likely a server that works with liars can cut honest clients off, where clients mask with neighbours that are drawn
 * at random.
 *
 * Callers:  sotto budget committee; lint of recipes that one server adds up; their receipts.
 *
 * A client's vector is hidden among all honest online clients that it is connected to by honest online ones (Ma et al. 2023). The server
 * says who is offline, and knows the graph by then. It cuts a set S off if it has every honest neighbour of S offline, at most
 * `dropped` of them. Decryptors open nothing unless each online client has `least` online neighbours. In a set that is cut off, those
 * are liars or in S. So for a set of s clients
 *
 *     P(S is cut off) <= P(Bin(corrupt, p) >= least - s + 1)^s * P(Bin(honest - s, 1 - (1 - p)^s) <= dropped)
 *
 * since edges are drawn independently, each with chance p. The first factor is 1 for sets of more than `least`. There the edges within S are
 * counted, too: 2 Bin(s (s - 1) / 2, p) + Bin(s corrupt, p) >= s least, by Chernoff's bound. What is printed is the sum over all sets of at
 * most half of the honest clients, by exact binomial tails but for that, rounded up. Who lies was fixed before the beacon. This is our
 * derivation.
 */
#ifndef SOTTO_ACCOUNT_NEIGHBOURS_H
#define SOTTO_ACCOUNT_NEIGHBOURS_H

#include "account/numeric/bound.h"

enum { SOTTO_NEIGHBOURS_MAX = 65536 }; /* clients of a round */

typedef struct sotto_neighbours {
    uint64_t clients; /* drawn for a round                                        */
    uint64_t corrupt; /* of them that lie, at most                                */
    uint64_t dropped; /* that a server may leave out: clients less the smallest sum */
    uint64_t degree;  /* neighbours that are expected                             */
    uint64_t least;   /* online neighbours that each online client must have      */
    double rounds;    /* each has a graph of its own                              */
} sotto_neighbours;

typedef struct sotto_neighbours_odds {
    double one;  /* P(somebody honest can be cut off in a round), at most            */
    double any;  /* the same for any of all rounds                                   */
    double bits; /* -log2 of `any`, rounded down; INFINITY: it can't be              */
    double
        burns; /* P(an online client lacks its neighbours), at most, if `dropped` are lost at random: then the round is burnt */
} sotto_neighbours_odds;

/* SOTTO_DENIED: not such numbers. */
SOTTO_MUST_USE sotto_status sotto_neighbours_odds_of(sotto_neighbours_odds *out,
                                                     const sotto_neighbours *g, sotto_err *err);

/* The smallest degree whose odds over all rounds have `bits` bits or more. As many neighbours must stay as burn a round with a chance of
 * `burns` at most. degree 0: none does, not even everybody. */
SOTTO_MUST_USE sotto_status sotto_neighbours_smallest(sotto_neighbours *g, double bits,
                                                      double burns, sotto_err *err);

#endif
