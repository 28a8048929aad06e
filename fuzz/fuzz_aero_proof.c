/* A proof on the wire, for a statement of one ciphertext of zeros. Input: bytes that are repeated up to a proof's size, or, after an odd
 * first byte, taken as they are. Nothing of it is accepted. */
#include "target.h"

#include "aggregate/aero/proof.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const sotto_aero_profile quick = {"quick", 1, 0, 1, 1};
    static const sotto_aero_cipher cipher;
    static uint8_t wire[1 << 20];
    static sotto_aero aero;
    static sotto_arena arena, scratch;

    if (size < 2 || size > sizeof wire)
        return 0;
    if (!aero.log_t) {
        sotto_arena_init(&arena, SOTTO_AERO_MEMORY);
        sotto_arena_init(&scratch, SOTTO_AERO_PROOF_VERIFIER);
        if (sotto_aero_init(&aero, &sotto_aero_sets[0], 20, &arena, NULL) != SOTTO_OK)
            abort();
    }
    sotto_aero_statement s = {.aero = &aero,
                              .profile = &quick,
                              .a = &cipher.c1,
                              .b = &cipher.c2,
                              .ciphers = &cipher,
                              .count = 1,
                              .bits = 8,
                              .round = 1};
    size_t len = 0;
    if (sotto_aero_proof_size(&len, &s, NULL) != SOTTO_OK || len > sizeof wire)
        abort();
    if (data[0] % 2)
        len = size - 1;
    for (size_t i = 0; i < len; i++)
        wire[i] = data[1 + i % (size - 1)];
    if (sotto_aero_verify_vartime(&s, sotto_bytes_of(wire, len), &scratch, NULL) == SOTTO_OK)
        abort();
    sotto_arena_reset(&scratch);
    return 0;
}
