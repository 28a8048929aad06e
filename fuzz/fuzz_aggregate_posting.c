/* A posting comes from a server: what decodes encodes to the same bytes, and opening it ends in a status. */
#include "target.h"

#include "aggregate/posting.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t memory[1 << 20];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    sotto_posted_round posted;
    sotto_posting posting;
    uint8_t server[SOTTO_SIGN_PUBLIC];
    sotto_arena arena;
    sotto_bytes round;

    if (size > sizeof memory)
        return 0;
    sotto_arena_init(&arena, (size_t)64 << 20);
    (void)!sotto_posting_round(&round, sotto_bytes_of(data, size));
    if (sotto_posting_decode(&posting, sotto_bytes_of(data, size), &arena, NULL) == SOTTO_OK) {
        if (sotto_posting_encode(&out, &posting, NULL) != SOTTO_OK ||
            !sotto_bytes_equal_vartime(sotto_buf_bytes(&out), sotto_bytes_of(data, size)))
            abort();
        if (!sotto_posting_server(server, sotto_bytes_of(data, size)) ||
            memcmp(server, posting.registry.server, sizeof server) != 0)
            abort();
        if (posting.round.len &&
            (!sotto_posting_round(&round, sotto_bytes_of(data, size)) ||
             round.data != posting.round.data || round.len != posting.round.len))
            abort();
        const sotto_status status =
            sotto_posted_round_open(&posted, sotto_bytes_of(data, size), &arena, NULL);
        if (status != SOTTO_OK && status != SOTTO_MALFORMED && status != SOTTO_DENIED &&
            status != SOTTO_REJECTED)
            abort();
        sotto_posted_round_close(&posted);
    }
    sotto_arena_clear(&arena);
    return 0;
}
