/* A board of a key generation whose members may all be hostile: what each member, and everybody, makes of it ends in a status. Input: a
 * call and posts, each behind its length. Signatures are not asked for: whoever is drawn can sign what it likes. */
#include "target.h"

#include "aggregate/keygen/view.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 8 }; /* members and dealers: more take long, and show no more */

static void fill(sotto_keygen_board *board, const sotto_keygen *call, sotto_reader *in)
{
    const uint32_t *indices;

    while (sotto_reader_left(in) > 0 && !in->short_read) {
        const sotto_bytes wire = sotto_read_opaque32(in);
        sotto_keygen_post post;

        if (sotto_keygen_post_decode(&post, wire, NULL) == SOTTO_OK &&
            post.place < sotto_keygen_senders(call, post.step, &indices) &&
            sotto_keygen_post_check(call, &post, NULL) != SOTTO_MALFORMED)
            sotto_keygen_board_put(board, &post);
    }
}

/* Every step, also where a quorum is wanting: a changed deal would hide what comes after. */
static void look(const sotto_keygen *call, const sotto_keygen_board *board, sotto_arena *arena)
{
    sotto_decryptors_record record;
    sotto_keygen_view view;

    if (sotto_keygen_view_open(&view, call, board, arena, NULL) == SOTTO_OK) {
        sotto_keygen_view_complaints(&view);
        if (sotto_keygen_view_qualify(&view, NULL) == SOTTO_OK) {
            (void)!sotto_keygen_view_agree(&view, NULL);
            if (!call->hands_on && sotto_keygen_view_reveals(&view, NULL) == SOTTO_OK) {
                sotto_keygen_view_accusations(&view);
                (void)!sotto_keygen_view_vote(&view, NULL);
                (void)!sotto_keygen_view_rebuild(&view, NULL);
            }
            (void)!sotto_keygen_view_record(&view, &record, NULL);
        }
    }
    sotto_keygen_view_close(&view);
    (void)!sotto_keygen_record(call, board, &record, arena, NULL);
}

/* The first of those who speak, with the keys that it has in the corpus. */
static void speak(const sotto_keygen *call, const sotto_keygen_board *board, sotto_arena *arena)
{
    static uint8_t memory[SOTTO_KEYGEN_MOST_BODY];
    const uint32_t index = call->members[0];
    const uint8_t private_key[32] = {64, (uint8_t)index, 2};
    uint8_t seed[SOTTO_KEYGEN_SEED], share[32] = {0, 1};
    sotto_decryptors_record record;
    sotto_dh dh;

    memset(seed, (int)(7 + index), sizeof seed);
    if (sotto_dh_init(&dh, sotto_kem_find(SOTTO_KEM_X25519),
                      sotto_bytes_of(private_key, sizeof private_key), NULL) != SOTTO_OK)
        return;
    const sotto_keygen_self self = {
        .index = index, .seed = seed, .share = call->hands_on ? share : NULL, .channel = &dh};
    for (unsigned step = SOTTO_KEYGEN_DEAL; step < SOTTO_KEYGEN_RECORD; step++) {
        sotto_buf out = sotto_buf_over(memory, sizeof memory);

        (void)!sotto_keygen_write(call, &self, step, board, &out, arena, NULL);
    }
    (void)!sotto_keygen_finish(call, &self, board, &record, share, arena, NULL);
    sotto_dh_clear(&dh);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static sotto_keygen_board board;
    sotto_reader in = sotto_reader_over(sotto_bytes_of(data, size));
    const sotto_bytes wire = sotto_read_opaque32(&in);
    sotto_keygen call;
    sotto_arena arena;

    sotto_arena_init(&arena, (size_t)64 << 20);
    memset(&board, 0, sizeof board);
    if (sotto_keygen_open(&call, wire, &arena, NULL) == SOTTO_OK && call.count <= MOST &&
        call.dealers <= MOST) {
        fill(&board, &call, &in);
        look(&call, &board, &arena);
        speak(&call, &board, &arena);
    }
    sotto_arena_clear(&arena);
    return 0;
}
