/* A small round of encrypted sums for fuzz targets: everybody who is registered is in the committee. */
#ifndef SOTTO_FUZZ_AERO_STAGE_H
#define SOTTO_FUZZ_AERO_STAGE_H

#include "aggregate/aero/aero.h"

/* handed: the round begins with the key of the one before. terms and registry outlive the round. */
static inline sotto_status fuzz_aero_round(sotto_round *out, uint8_t terms[SOTTO_AERO_TERMS_HANDED],
                                           const sotto_registry *registry, uint8_t opening,
                                           uint8_t handed)
{
    static const sotto_aero_account trial = {.is_trial = true};
    const sotto_aero_terms wanted = {.profile = SOTTO_AERO_STANDARD,
                                     .bits = 12,
                                     .checks = 3,
                                     .committee = (uint32_t)registry->count,
                                     .committees = 1,
                                     .threshold = 2,
                                     .noise_members = 2,
                                     .rate = UINT64_MAX,
                                     .opening = opening,
                                     .rekey = handed ? 3 : 0,
                                     .handed = handed};
    sotto_buf bytes = sotto_buf_over(terms, SOTTO_AERO_TERMS_HANDED);

    SOTTO_TRY(sotto_aero_terms_encode(&bytes, &wanted, NULL));
    *out = (sotto_round){.epoch = handed,
                         .number = 1u + handed,
                         .method = SOTTO_METHOD_AERO,
                         .version = SOTTO_ROUND_VERSION,
                         .ring = SOTTO_RING_Z64,
                         .length = 3,
                         .most = 10,
                         .least = 2,
                         .largest = registry->count,
                         .noise = {.den = 1, .shares = 2},
                         .registered = registry->count,
                         .opens = 1,
                         .commit_by = 100,
                         .closes = 200,
                         .verify_by = 300,
                         .release_by = 400,
                         .parameters = sotto_buf_bytes(&bytes),
                         .keys = registry,
                         .account = &trial};
    sotto_registry_root(registry, out->registry);
    return SOTTO_OK;
}

#endif
