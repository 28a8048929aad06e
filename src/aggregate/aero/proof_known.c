#include "aggregate/aero/proof_known.h"

#include "aggregate/aero/proof_rows.h"
#include <string.h>

sotto_status sotto_aero_known_init(sotto_aero_known *known, size_t most, sotto_arena *arena,
                                   sotto_err *err)
{
    *known = (sotto_aero_known){.room = 2 * most + 1};
    known->digests = sotto_arena_take_array(arena, known->room, sizeof *known->digests);
    if (!known->digests)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a list of proofs");
    memset(known->digests, 0, known->room * sizeof *known->digests);
    return SOTTO_OK;
}

static uint8_t *place_of(sotto_aero_known *known, const uint8_t digest[32])
{
    static const uint8_t none[32];
    size_t at = (size_t)(sotto_load64(digest) % known->room);

    while (memcmp(known->digests[at], none, 32) != 0 && memcmp(known->digests[at], digest, 32) != 0)
        at = (at + 1) % known->room;
    return known->digests[at];
}

static sotto_status digest_of(uint8_t out[32], const sotto_aero_statement *statement,
                              sotto_bytes proof, sotto_arena *scratch, sotto_err *err)
{
    uint8_t state[HASH];
    sotto_hash hash;

    SOTTO_TRY(sotto_aero_statement_check(statement, err));
    SOTTO_TRY(sotto_aero_bind(state, statement, scratch, err));
    sotto_hash_init(&hash, SOTTO_SHA256);
    sotto_hash_update(&hash, sotto_bytes_of(state, sizeof state));
    sotto_hash_update(&hash, proof);
    sotto_hash_final(&hash, out);
    return SOTTO_OK;
}

sotto_status sotto_aero_verify_known(sotto_aero_known *known, const sotto_aero_statement *statement,
                                     sotto_bytes proof, sotto_arena *scratch, sotto_err *err)
{
    uint8_t digest[32];

    if (!known)
        return sotto_aero_verify_vartime(statement, proof, scratch, err);
    SOTTO_TRY(digest_of(digest, statement, proof, scratch, err));
    uint8_t *place = place_of(known, digest);
    if (memcmp(place, digest, sizeof digest) == 0) {
        known->looked_up++;
        return SOTTO_OK;
    }
    SOTTO_TRY(sotto_aero_verify_vartime(statement, proof, scratch, err));
    known->verified++;
    if (2 * (known->count + 1) < known->room) {
        memcpy(place, digest, sizeof digest);
        known->count++;
    }
    return SOTTO_OK;
}
