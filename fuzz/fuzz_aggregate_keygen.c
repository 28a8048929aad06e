/* Calls, posts and meetings of a key generation come from a server: what decodes encodes to the same bytes, and bodies end in a status. */
#include "target.h"

#include "aggregate/keygen/meeting.h"

#include <stdlib.h>

static uint8_t memory[1 << 20];

static void same(const sotto_buf *out, sotto_bytes wire)
{
    if (!sotto_bytes_equal_vartime(sotto_buf_bytes(out), wire))
        abort();
}

static void try_call(sotto_bytes wire)
{
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    sotto_keygen call;
    sotto_arena arena;

    sotto_arena_init(&arena, (size_t)64 << 20);
    if (sotto_keygen_open(&call, wire, &arena, NULL) == SOTTO_OK) {
        if (sotto_keygen_encode(&out, &call, &arena, NULL) != SOTTO_OK)
            abort();
        same(&out, wire);
    }
    sotto_arena_clear(&arena);
}

static void try_post(sotto_bytes wire)
{
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    uint32_t members[4] = {0, 1, 2, 3};
    const sotto_keygen call = {
        .count = 4, .dealers = 4, .members = members, .dealer = members, .threshold = 2};
    sotto_keygen_places places;
    sotto_keygen_shown shown;
    sotto_keygen_post post;

    if (sotto_keygen_post_decode(&post, wire, NULL) != SOTTO_OK)
        return;
    if (sotto_keygen_post_encode(&out, &post, NULL) != SOTTO_OK)
        abort();
    same(&out, wire);
    /* Nobody is registered, so nothing is signed by anybody. */
    if (sotto_keygen_post_check(&call, &post, NULL) == SOTTO_OK)
        abort();
    (void)!sotto_keygen_places_decode(&places, post.body, 4, NULL);
    (void)!sotto_keygen_shown_decode(&shown, post.body, 4, NULL);
}

/* Nobody is listed, so nobody is met. */
static void try_meeting(sotto_bytes wire)
{
    static const uint8_t nobody[4][SOTTO_SIGN_PUBLIC] = {{2}, {2}, {2}, {2}};
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    sotto_keygen call;
    sotto_meeting m;
    sotto_arena arena;
    sotto_bytes post;

    if (sotto_meeting_decode(&m, wire, NULL) != SOTTO_OK)
        return;
    if (sotto_meeting_encode(&out, &m, NULL) != SOTTO_OK)
        abort();
    same(&out, wire);
    sotto_arena_init(&arena, (size_t)64 << 20);
    if (sotto_meeting_open(&call, &m, nobody, 4, &arena, NULL) == SOTTO_OK)
        abort();
    sotto_arena_clear(&arena);
    while (sotto_meeting_next(&m.posts, &post))
        try_post(post);
}

static void try_seat(sotto_bytes wire)
{
    static const uint8_t nobody[SOTTO_SIGN_PUBLIC] = {2};
    sotto_meeting_seat seat;

    if (sotto_meeting_seat_decode(&seat, wire, NULL) == SOTTO_OK &&
        sotto_meeting_seat_check(&seat, nobody, 1, nobody, NULL) == SOTTO_OK)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > sizeof memory)
        return 0;
    if (data[0] == 0)
        try_call(sotto_bytes_of(data + 1, size - 1));
    else if (data[0] == 2)
        try_meeting(sotto_bytes_of(data + 1, size - 1));
    else if (data[0] == 3)
        try_seat(sotto_bytes_of(data + 1, size - 1));
    else
        try_post(sotto_bytes_of(data + 1, size - 1));
    return 0;
}
