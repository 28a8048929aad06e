/* Recipes come from strangers. Whatever is read must be linted, explained, compiled and labelled without a fault.
 * Every value that the JSON library sees must be where the walk over the same bytes finds it. The first byte
 * chooses a recipe, a policy or parties. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "recipe/place.h"
#include "sotto/lint.h"
#include "target.h"

enum { LARGEST = 1 << 16, DEEPEST = 30 };

static void same_place(sotto_bytes text, const sotto_place *place, json_t *node)
{
    sotto_span span;
    const char *key;
    json_t *value;
    size_t index;

    if (!sotto_place_find(place, text, &span) || span.end < span.value || span.end > text.len)
        abort();
    value = json_loadb((const char *)text.data + span.value, span.end - span.value, JSON_DECODE_ANY,
                       NULL);
    if (!value || !json_equal(value, node))
        abort();
    json_decref(value);
    json_object_foreach(node, key, value)
    {
        sotto_place at = {place, key, 0};

        same_place(text, &at, value);
    }
    json_array_foreach(node, index, value)
    {
        sotto_place at = {place, NULL, index};

        same_place(text, &at, value);
    }
}

/* Each value costs a walk over the text: only for texts where that stays cheap. */
static void compare_places(sotto_bytes text)
{
    size_t at;
    json_t *root;

    if (text.len > 4096 || sotto_json_depth(text, DEEPEST, &at) > DEEPEST)
        return;
    root = json_loadb((const char *)text.data, text.len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY,
                      NULL);
    if (root)
        same_place(text, NULL, root);
    json_decref(root);
}

static void check_labels(const sotto_recipe *recipe)
{
    static uint8_t memory[1 << 17];
    uint64_t bins = sotto_recipe_bins(recipe), step = bins / 64 + 1, back;

    for (uint64_t bin = 0; bin < bins; bin += step) {
        sotto_buf label = sotto_buf_over(memory, sizeof memory);

        if (sotto_recipe_label(recipe, &label, bin, NULL) != SOTTO_OK)
            abort();
        label.len = 0;
        if (sotto_recipe_label_exact(recipe, &label, bin, NULL) != SOTTO_OK)
            abort();
        if (sotto_recipe_bin(recipe, &back, sotto_buf_bytes(&label), NULL) != SOTTO_OK ||
            back != bin)
            abort();
    }
}

static void use(const sotto_recipe *recipe, const sotto_parties *parties, sotto_mistakes *mistakes,
                sotto_arena *arena)
{
    static uint8_t memory[1 << 17];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    sotto_recipe_claim claim;
    sotto_task task;

    check_labels(recipe);
    if (sotto_recipe_lint(&claim, recipe, NULL, mistakes, NULL) != SOTTO_OK)
        return;
    if (sotto_recipe_explain(&out, recipe, &claim, NULL) != SOTTO_OK)
        abort();
    if (sotto_task_compile(&task, recipe, parties, 0, arena, NULL) == SOTTO_OK &&
        task.configuration.len == 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static sotto_mistakes mistakes, none;
    const char *example = sotto_parties_example();
    const sotto_recipe *recipe;
    const sotto_policy *policy;
    const sotto_parties *parties;
    sotto_status status;
    sotto_arena arena;

    if (size == 0 || size > LARGEST)
        return 0;
    sotto_bytes text = sotto_bytes_of(data + 1, size - 1);

    memset(&mistakes, 0, sizeof mistakes);
    sotto_arena_init(&arena, (size_t)64 << 20);
    compare_places(text);
    if (data[0] == 'p') {
        status = sotto_policy_read(&policy, text, &arena, &mistakes, NULL);
    } else if (data[0] == 'k') {
        status = sotto_parties_read(&parties, text, &arena, &mistakes, NULL);
    } else {
        status = sotto_recipe_read(&recipe, text, &arena, &mistakes, NULL);
        if (sotto_parties_read(&parties, sotto_bytes_of(example, strlen(example)), &arena, &none,
                               NULL) != SOTTO_OK)
            abort();
        if (status == SOTTO_OK)
            use(recipe, parties, &mistakes, &arena);
    }
    if (status == SOTTO_MALFORMED && mistakes.errors == 0)
        abort();
    sotto_arena_clear(&arena);
    return 0;
}
