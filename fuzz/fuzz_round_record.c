/* Records of rounds come from a log that anybody may append to. What is read is spelt in one way; a learning recipe behind it is
 * judged and explained without a fault. */
#include <stdlib.h>
#include <string.h>

#include "recipe/learning.h"
#include "target.h"

enum { LARGEST = 1 << 14 };

static void judge(sotto_bytes recipe, sotto_arena *arena)
{
    static uint8_t text[1 << 16];
    static sotto_mistakes mistakes;
    sotto_buf out = sotto_buf_over(text, sizeof text);
    sotto_recipe_verdict verdict;
    sotto_learning_claim claim;
    const sotto_learning *learning;

    memset(&mistakes, 0, sizeof mistakes);
    if (sotto_learning_read(&learning, recipe, arena, &mistakes, NULL) != SOTTO_OK)
        return;
    const sotto_status status =
        sotto_learning_judge(&verdict, &claim, learning, NULL, NULL, &mistakes, NULL);
    if (status == SOTTO_OK && sotto_learning_explain(&out, learning, &claim, NULL) != SOTTO_OK)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t again[LARGEST];
    sotto_buf out = sotto_buf_over(again, sizeof again);
    sotto_round_record record;
    sotto_arena arena;

    if (size > LARGEST ||
        sotto_round_record_decode(&record, sotto_bytes_of(data, size), NULL) != SOTTO_OK)
        return 0;
    if (sotto_round_record_encode(&out, &record, NULL) != SOTTO_OK || out.len != size ||
        memcmp(again, data, size) != 0)
        abort();
    sotto_arena_init(&arena, SOTTO_RECIPE_ARENA);
    judge(record.recipe, &arena);
    sotto_arena_clear(&arena);
    return 0;
}
