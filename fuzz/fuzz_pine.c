/* A part of a PINE report in place of an honest one. Input: which part, then its bytes. What is accepted is the honest one. */
#include "target.h"

#include "vdaf/pine/pine.h"

#include <stdlib.h>
#include <string.h>

enum { D = 6 };

typedef struct pine_parts {
    uint8_t public_share[128], leader[1 << 15], helper[128], verifier[2][1 << 13];
    uint8_t message[64];
} pine_parts;

static void require(bool holds)
{
    if (!holds)
        abort();
}

static sotto_status verify(const sotto_pine *pine, pine_parts *p, sotto_bytes given, unsigned which,
                           sotto_pine_state *states, sotto_arena *arena)
{
    const sotto_pine_sizes *sizes = &pine->sizes;
    static const uint8_t nonce[SOTTO_PINE_NONCE], key[SOTTO_PINE_MAX_SEED];
    uint8_t out[D * 8];

    for (unsigned a = 0; a < 2; a++) {
        sotto_pine_input input = {
            .aggregator = a,
            .nonce = nonce,
            .public_share =
                which == 0 ? given : sotto_bytes_of(p->public_share, sizes->public_share),
            .input_share = which == 1 + a ? given
                           : a            ? sotto_bytes_of(p->helper, sizes->helper_share)
                                          : sotto_bytes_of(p->leader, sizes->leader_share)};

        SOTTO_TRY(sotto_pine_verify_init(pine, &states[a], out, p->verifier[a], key,
                                         sotto_bytes_of("fuzz", 4), &input, arena, NULL));
    }
    SOTTO_TRY(sotto_pine_verifier_shares_to_message(
        pine, p->message, sotto_bytes_of("fuzz", 4),
        which == 3 ? given : sotto_bytes_of(p->verifier[0], sizes->verifier_share),
        sotto_bytes_of(p->verifier[1], sizes->verifier_share), NULL));
    for (unsigned a = 0; a < 2; a++)
        SOTTO_TRY(sotto_pine_verify_next(
            pine, &states[a],
            which == 4 ? given : sotto_bytes_of(p->message, sizes->verifier_message), NULL));
    return SOTTO_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int64_t vector[D] = {3, -4, 0, 1};
    static const uint8_t nonce[SOTTO_PINE_NONCE];
    static pine_parts p;
    uint8_t rand[7 * SOTTO_PINE_MAX_SEED] = {1};
    sotto_pine_config config = {.field = &sotto_pine_ops64,
                                .wire = SOTTO_PINE_DRAFT11,
                                .dimension = D,
                                .norm_bound = 10,
                                .alpha_tenths = 87,
                                .checks = 8,
                                .successes = 8,
                                .proofs = 3,
                                .norm_proofs = 1,
                                .chunk = 16,
                                .norm_chunk = 3};
    sotto_pine pine;
    sotto_pine_state states[2];
    sotto_arena arena;

    if (size < 1)
        return 0;
    sotto_arena_init(&arena, 1 << 24);
    require(sotto_pine_init(&pine, &arena, &config, NULL) == SOTTO_OK);
    require(pine.sizes.leader_share <= sizeof p.leader &&
            pine.sizes.verifier_share <= sizeof p.verifier[0]);
    sotto_pine_report report = {p.public_share, p.leader, p.helper};
    require(sotto_pine_shard(&pine, &report, sotto_bytes_of("fuzz", 4), vector, nonce, rand, &arena,
                             NULL) == SOTTO_OK);
    require(verify(&pine, &p, sotto_bytes_of(NULL, 0), 5, states, &arena) == SOTTO_OK);

    unsigned which = data[0] % 5;
    const uint8_t *honest[] = {p.public_share, p.leader, p.helper, p.verifier[0], p.message};
    const size_t lens[] = {pine.sizes.public_share, pine.sizes.leader_share,
                           pine.sizes.helper_share, pine.sizes.verifier_share,
                           pine.sizes.verifier_message};
    bool same = size - 1 == lens[which] && memcmp(data + 1, honest[which], lens[which]) == 0;
    sotto_status status =
        verify(&pine, &p, sotto_bytes_of(data + 1, size - 1), which, states, &arena);
    require(same ? status == SOTTO_OK : status == SOTTO_REJECTED || status == SOTTO_MALFORMED);
    sotto_arena_clear(&arena);
    return 0;
}
