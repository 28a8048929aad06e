/* recipe/one_server.h - what is read and judged of a recipe whose masked vectors one server adds up. It has no DAP task: devices answer it in that
 * server's rounds (sotto/rounds.h).
 */
#ifndef SOTTO_RECIPE_ONE_SERVER_H
#define SOTTO_RECIPE_ONE_SERVER_H

#include "recipe/model.h"
#include "recipe/schema.h"

enum { SOTTO_ONE_SERVER_NAME = 129 };

typedef struct sotto_one_server {
    char name[SOTTO_ONE_SERVER_NAME];
    double corrupt, dropout; /* parts of a cohort that may lie, and may drop out */
    uint64_t cohort;         /* drawn for a round, at most: what a round's `largest` is held to */
    uint64_t decryptors;     /* members of a committee */
    double decryptors_dropout;
    uint64_t epoch_rounds; /* that a committee serves */
} sotto_one_server;

/* From the recipe's text; false, with an empty name: its trust model has no one server, or has it add up encrypted sums
 * (recipe/encrypted.h). */
bool sotto_recipe_one_server(sotto_one_server *out, const sotto_recipe *recipe);

/* Who masks with whom, from the recipe's text. */
typedef struct sotto_one_server_graph {
    uint64_t degree, neighbours; /* expected; that must stay */
    bool wide;                   /* sums are modulo 2^64, else 2^32 */
} sotto_one_server_graph;
/* False: as above. */
bool sotto_recipe_one_server_graph(sotto_one_server_graph *out, const sotto_recipe *recipe);
/* The chance of an edge, of 2^64, that gives each of so many clients the degree. */
uint64_t sotto_one_server_edge(uint64_t degree, uint64_t clients);

/* What a server that works with liars may hope for, by exact tails (account/committee.h, account/neighbours.h). 1: nothing is known. */
typedef struct sotto_one_server_odds {
    int64_t tolerated; /* corrupt decryptors; -1: not even none                 */
    double committee;  /* a committee has more of them in any of the rounds, at most */
    double cut_off;    /* it can cut an honest client off in any of them, at most    */
} sotto_one_server_odds;
/* rounds: of one device, that one delta covers. Each may have a committee of its own.
 * picked: the server picks each one's number, of those of an epoch (device/duties/terms.h), and with it the graph. */
void sotto_one_server_odds_of(sotto_one_server_odds *out, const sotto_recipe *recipe,
                              const sotto_one_server *server, double rounds, bool picked);

/* Bytes of a report with so many entries, at most: its vector, a share for each decryptor, and the edges of twice the degree and 100. */
size_t sotto_one_server_report_bytes(const sotto_recipe *recipe, uint64_t entries);

/* Devices of a cohort that may lie, rounded up: the server may have all of them in the sum that it releases. */
uint64_t sotto_one_server_liars(const sotto_one_server *server);
/* Warns where such a chance is above delta, over so many rounds. */
void sotto_recipe_warn_one_server(sotto_reading *at, const sotto_recipe *recipe, double rounds,
                                  bool picked);
/* Warns where a round would have to last longer than devices join one (aggregate/round.h), if the recipe has rounds over one server. */
void sotto_recipe_warn_long(sotto_reading *at, const sotto_place *place, const sotto_recipe *head,
                            uint64_t seconds);
void sotto_recipe_check_one_server(sotto_reading *at, const sotto_recipe *recipe);

#endif
