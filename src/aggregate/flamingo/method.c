#include "aggregate/flamingo/flamingo.h"
#include "aggregate/shared/ring_sum.h"

#define CLIENT    SOTTO_PART_CLIENT
#define SERVER    SOTTO_PART_SERVER
#define DECRYPTOR SOTTO_PART_DECRYPTOR

/* Lists of clients and edges, just below what an envelope may hold: 60,000 edges. */
#define MOST_LIST ((size_t)15 << 20)

static const sotto_kind KINDS[] = {
    {SOTTO_FLAMINGO_REPORT, "report", CLIENT, SERVER, true, true,
     32 + 4 + SOTTO_DECRYPTORS_MOST *SOTTO_FLAMINGO_SEALED_SHARE + 4 +
         SOTTO_FLAMINGO_MOST_DEGREE *SOTTO_FLAMINGO_EDGE_ROW},
    {SOTTO_FLAMINGO_LABELS, "labels", SERVER, DECRYPTOR, true, false, MOST_LIST},
    {SOTTO_FLAMINGO_VOTE, "vote", DECRYPTOR, SERVER, true, false, 32},
    {SOTTO_FLAMINGO_OPEN, "open", SERVER, DECRYPTOR, true, false, MOST_LIST},
    {SOTTO_FLAMINGO_ANSWER, "answer", DECRYPTOR, SERVER, true, false, MOST_LIST},
};

static bool takes_part(const sotto_round *round, sotto_part part, uint32_t index)
{
    if (part != DECRYPTOR)
        return true;
    return round->decryptors && sotto_decryptors_place(round->decryptors, index) >= 0;
}

const sotto_method sotto_method_flamingo = {
    .name = "flamingo",
    .id = SOTTO_METHOD_FLAMINGO,
    .kinds = KINDS,
    .kind_count = sizeof KINDS / sizeof KINDS[0],
    .parts = {[CLIENT] = &sotto_flamingo_client,
              [SERVER] = SOTTO_SERVER_OPS(&sotto_flamingo_server),
              [DECRYPTOR] = &sotto_flamingo_decryptor},
    .bulk = &sotto_ring_bulk,
    .tally = &sotto_masked_tally,
    .takes_part = takes_part,
    .check = sotto_flamingo_check_round,
};
