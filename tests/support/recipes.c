#include "support/recipes.h"

#include <stdio.h>
#include <string.h>

sotto_bytes sotto_test_replace(sotto_test *t, const char *text, const char *old, const char *new)
{
    const char *found = old ? strstr(text, old) : text;
    size_t cut = old ? strlen(old) : 0, add = new ? strlen(new) : 0, before;
    char *out;

    CHECK(t, found != NULL);
    before = (size_t)(found - text);
    out = sotto_arena_take(&t->arena, strlen(text) + add + 1);
    CHECK(t, out != NULL);
    memcpy(out, text, before);
    if (new)
        memcpy(out + before, new, add);
    memcpy(out + before + add, found + cut, strlen(found + cut) + 1);
    return sotto_bytes_of(out, strlen(out));
}

sotto_bytes sotto_test_recipe_text(sotto_test *t, const char *old, const char *new)
{
    return sotto_test_replace(t, sotto_recipe_example(), old, new);
}

sotto_bytes sotto_test_policy_text(sotto_test *t, const char *old, const char *new)
{
    return sotto_test_replace(t, sotto_policy_example(), old, new);
}

sotto_bytes sotto_test_parties_text(sotto_test *t, const char *old, const char *new)
{
    return sotto_test_replace(t, sotto_parties_example(), old, new);
}

const sotto_recipe *sotto_test_recipe(sotto_test *t, const char *old, const char *new)
{
    static sotto_mistakes mistakes;
    const sotto_recipe *recipe;

    memset(&mistakes, 0, sizeof mistakes);
    CHECK_OK(t, sotto_recipe_read(&recipe, sotto_test_recipe_text(t, old, new), &t->arena,
                                  &mistakes, &t->err));
    return recipe;
}

const sotto_policy *sotto_test_policy(sotto_test *t, const char *old, const char *new)
{
    static sotto_mistakes mistakes;
    const sotto_policy *policy;

    memset(&mistakes, 0, sizeof mistakes);
    CHECK_OK(t, sotto_policy_read(&policy, sotto_test_policy_text(t, old, new), &t->arena,
                                  &mistakes, &t->err));
    return policy;
}

const sotto_parties *sotto_test_parties(sotto_test *t, const char *old, const char *new)
{
    static sotto_mistakes mistakes;
    const sotto_parties *parties;

    memset(&mistakes, 0, sizeof mistakes);
    CHECK_OK(t, sotto_parties_read(&parties, sotto_test_parties_text(t, old, new), &t->arena,
                                   &mistakes, &t->err));
    return parties;
}

#define ONE_HOT                                                                                    \
    "  \"randomizer\": {\"type\": \"one-hot\", \"form\": \"asymmetric\", \"epsilon_local\": "      \
    "2.0},\n"

sotto_bytes sotto_test_recipe_text_by(sotto_test *t, const char *by)
{
    const char *bare = (const char *)sotto_test_recipe_text(t, ONE_HOT, "").data;
    char privacy[256];

    (void)snprintf(privacy, sizeof privacy, "\"min_cohort\": 40000, \"by\": %s}", by);
    return sotto_test_replace(t, bare, "\"min_cohort\": 40000}", privacy);
}

sotto_bytes sotto_test_recipe_text_of(sotto_test *t, const char *statistic, const char *by)
{
    const char *text = (const char *)sotto_test_recipe_text_by(t, by).data;
    const char *encode = strstr(text, "  \"encode\""),
               *behind = strstr(text, "  \"participation\"");
    char *old = sotto_arena_take(&t->arena, (size_t)(behind - encode) + 1), key[160];

    CHECK(t, encode && behind && old);
    memcpy(old, encode, (size_t)(behind - encode));
    (void)snprintf(
        key, sizeof key, "\"statistic\": \"%s\",%s", statistic,
        strcmp(statistic, "count") == 0
            ? ""
            : " \"encode\": {\"age\": {\"type\": \"integer\", \"min\": 0, \"max\": 100}},");
    text = (const char *)sotto_test_replace(t, text, "\"epsilon\": 0.30", "\"epsilon\": 3").data;
    return sotto_test_replace(t, text, old, key);
}

const sotto_recipe *sotto_test_recipe_of(sotto_test *t, const char *statistic, const char *by)
{
    static sotto_mistakes mistakes;
    const sotto_recipe *recipe;

    memset(&mistakes, 0, sizeof mistakes);
    CHECK_OK(t, sotto_recipe_read(&recipe, sotto_test_recipe_text_of(t, statistic, by), &t->arena,
                                  &mistakes, &t->err));
    return recipe;
}

sotto_bytes sotto_test_recipe_text_trusting(sotto_test *t, sotto_trust trust)
{
    static const char split[] = "\"trust\": \"split\", \"leader\": \"key:leader-2026a\", "
                                "\"helper\": \"key:helper-2026a\"";
    static const char *const others[] = {
        [SOTTO_TRUST_SPLIT] = split,
        [SOTTO_TRUST_FLAMINGO] =
            "\"trust\": \"flamingo\", \"server\": \"key:agg-2026a\", \"log\": \"log-2026\", "
            "\"beacon\": \"witnesses-2026\", \"ring\": \"z32\", \"corrupt\": 0.05, "
            "\"cohort\": 42000, \"dropout\": "
            "0.10, "
            "\"decryptors\": {\"count\": 126, \"dropout\": 0.05, \"epoch_rounds\": 50}, "
            "\"graph\": {\"degree\": 68, \"neighbours\": 27}, \"prg\": \"aes-128-ctr\"",
        [SOTTO_TRUST_AERO] =
            "\"trust\": \"aero\", \"server\": \"key:agg-2026a\", \"log\": \"log-2026\", "
            "\"beacon\": \"witnesses-2026\", \"devices\": {\"least\": 900000000, \"most\": "
            "1000000000}, "
            "\"corrupt\": 0.03, \"offline\": 0.2, \"parameters\": \"b87\", \"bits\": 16, "
            "\"committee\": {\"size\": 45, \"corrupt\": 18, \"count\": 4}, "
            "\"noise\": {\"size\": 280, \"corrupt\": 36, \"missing\": 28}, \"checks\": 40, "
            "\"proof\": {\"queries\": 118, \"grind\": 20, \"group\": 37}, \"rekey\": \"round\"",
    };

    return sotto_test_recipe_text(t, split, others[trust]);
}

const sotto_recipe *sotto_test_recipe_trusting(sotto_test *t, sotto_trust trust)
{
    static sotto_mistakes mistakes;
    const sotto_recipe *recipe;

    memset(&mistakes, 0, sizeof mistakes);
    CHECK_OK(t, sotto_recipe_read(&recipe, sotto_test_recipe_text_trusting(t, trust), &t->arena,
                                  &mistakes, &t->err));
    return recipe;
}

sotto_bytes sotto_test_big_tree(sotto_test *t, size_t nodes)
{
    enum { FIRST = 100, ROOM = 64 };
    static const char tree[] = "\"tree\": {\"root\": [\"hello\", \"i\"], \"hello\": [\"world\"], "
                               "\"i\": [\"went\", \"got\"]}";
    size_t cap = ROOM * (nodes + FIRST), len, each = (nodes - FIRST) / FIRST;
    char *text = sotto_arena_take(&t->arena, cap);

    CHECK(t, text != NULL);
    len = (size_t)snprintf(text, cap, "\"tree\": {\"root\": [");
    for (size_t i = 0; i < FIRST; i++)
        len += (size_t)snprintf(text + len, cap - len, "%s\"first%zu\"", i ? ", " : "", i);
    len += (size_t)snprintf(text + len, cap - len, "]");
    for (size_t i = 0; i < FIRST; i++) {
        len += (size_t)snprintf(text + len, cap - len, ",\n\"first%zu\": [", i);
        for (size_t j = 0; j < each; j++)
            len += (size_t)snprintf(text + len, cap - len, "%s\"next%zu\"", j ? ", " : "", j);
        len += (size_t)snprintf(text + len, cap - len, "]");
    }
    (void)snprintf(text + len, cap - len, "}");
    return sotto_test_recipe_text(t, tree, text);
}

bool sotto_test_has_mistake(const sotto_mistakes *list, const char *path, const char *what)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].path, path) == 0 && strstr(list->items[i].what, what))
            return true;
    return false;
}
