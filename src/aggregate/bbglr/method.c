#include "aggregate/bbglr/bbglr.h"
#include "aggregate/shared/ring_sum.h"

#define CLIENT SOTTO_PART_CLIENT
#define SERVER SOTTO_PART_SERVER

static const sotto_kind KINDS[] = {
    {SOTTO_BBGLR_KEYS, "keys", CLIENT, SERVER, true, false, 2 * SOTTO_BBGLR_KEY},
    {SOTTO_BBGLR_ROSTER, "roster", SERVER, CLIENT, true, false,
     2 + SOTTO_BBGLR_MOST_DEGREE *SOTTO_BBGLR_ROSTER_ROW},
    {SOTTO_BBGLR_DEAL, "deal", CLIENT, SERVER, true, false,
     32 + 2 + SOTTO_BBGLR_MOST_DEGREE *SOTTO_BBGLR_SEALED_ROW},
    {SOTTO_BBGLR_SHARES, "shares", SERVER, CLIENT, true, false,
     2 + SOTTO_BBGLR_MOST_DEGREE *SOTTO_BBGLR_SEALED_ROW},
    {SOTTO_BBGLR_MASKED, "masked", CLIENT, SERVER, true, true, 0},
    {SOTTO_BBGLR_VIEW, "view", SERVER, CLIENT, true, false, SOTTO_BBGLR_MOST_CLIENTS / 8},
    {SOTTO_BBGLR_VOTE, "vote", CLIENT, SERVER, true, false, 32},
    {SOTTO_BBGLR_OPEN, "open", SERVER, CLIENT, true, false,
     32 + 2 + SOTTO_BBGLR_MOST_CLIENTS *SOTTO_BBGLR_VOTE_ROW + 2 +
         2 * SOTTO_BBGLR_MOST_DEGREE *SOTTO_BBGLR_WANT_ROW},
    {SOTTO_BBGLR_ANSWER, "answer", CLIENT, SERVER, true, false,
     2 + 2 * SOTTO_BBGLR_MOST_DEGREE *SOTTO_BBGLR_ANSWER_ROW},
};

const sotto_method sotto_method_bbglr = {
    .name = "bbglr",
    .id = SOTTO_METHOD_BBGLR,
    .kinds = KINDS,
    .kind_count = sizeof KINDS / sizeof KINDS[0],
    .parts = {[SOTTO_PART_CLIENT] = &sotto_bbglr_client,
              [SOTTO_PART_SERVER] = SOTTO_SERVER_OPS(&sotto_bbglr_server)},
    .bulk = &sotto_ring_bulk,
    .tally = &sotto_masked_tally,
    .check = sotto_bbglr_check_round,
};
