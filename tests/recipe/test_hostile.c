/* Every file of hostile/ is refused, for the reason that expected.txt gives, and nothing breaks. */
#include "support/recipes.h"

#include <stdio.h>
#include <string.h>

static sotto_mistakes mistakes;

static sotto_bytes read_file(sotto_test *t, const char *name)
{
    char path[512];
    uint8_t *data = sotto_arena_take(&t->arena, 1 << 16);
    FILE *file;

    (void)snprintf(path, sizeof path, SOTTO_TESTS "/hostile/%s", name);
    file = fopen(path, "rb");
    CHECK(t, file != NULL && data != NULL);
    size_t len = fread(data, 1, 1 << 16, file);
    (void)fclose(file);
    return sotto_bytes_of(data, len);
}

/* Reads, then lints against a policy that lists the example's query. */
static sotto_status judge(sotto_test *t, sotto_bytes text, sotto_err *err)
{
    static sotto_recipe_claim claim;
    const sotto_policy *policy =
        sotto_test_policy(t, "\"reports\": 1,\n      \"fields\"",
                          "\"reports\": 1, \"queries\": [\"SELECT age, ngram FROM "
                          "keyboard_ngrams\"], \"fields\"");
    const sotto_recipe *recipe;

    memset(&mistakes, 0, sizeof mistakes);
    SOTTO_TRY(sotto_recipe_read(&recipe, text, &t->arena, &mistakes, err));
    return sotto_recipe_lint(&claim, recipe, policy, &mistakes, err);
}

static bool expected_mistake(const char *path, const char *what)
{
    for (size_t i = 0; i < mistakes.count; i++)
        if (mistakes.items[i].severity == SOTTO_MISTAKE &&
            (!*path || strcmp(mistakes.items[i].path, path) == 0) &&
            strstr(mistakes.items[i].what, what) && mistakes.items[i].line > 0)
            return true;
    return false;
}

/* "name | path | what" */
static void check_line(sotto_test *t, char *line)
{
    char name[128] = "", *path = strstr(line, " | "), *what;
    sotto_err err = {0};

    if (path) {
        *path = 0;
        path += 3;
    }
    what = path ? strstr(path, " | ") : NULL;
    if (what) {
        *what = 0;
        what += 3;
    }
    (void)snprintf(name, sizeof name, "%.100s.json", line);
    sotto_status status = judge(t, read_file(t, name), &err);
    bool said = status == SOTTO_TOO_LARGE ? what && strstr(err.reason, what)
                                          : expected_mistake(path ? path : "", what ? what : "");
    if (status == SOTTO_OK || !said)
        (void)fprintf(stderr, "%s: %s: %s\n", name, sotto_status_name(status), err.reason);
    CHECK(t, status != SOTTO_OK);
    CHECK(t, said);
    CHECK(t, *err.reason);
}

static void every_hostile_recipe_is_refused_with_its_reason(sotto_test *t)
{
    sotto_bytes expected = read_file(t, "expected.txt");
    char *text = sotto_arena_take(&t->arena, expected.len + 1);
    size_t lines = 0;

    memcpy(text, expected.data, expected.len);
    for (char *line = text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = 0;
        size_t len = strlen(line);
        while (len > 0 && strchr(" |", line[len - 1])) /* empty columns at the end */
            line[--len] = 0;
        if (*line == '#')
            continue;
        check_line(t, line);
        lines++;
    }
    CHECK(t, lines >= 60);
}

static void every_part_of_a_recipe_is_refused(sotto_test *t)
{
    const char *text = sotto_recipe_example();
    sotto_err err = {0};

    /* Without the newline at its end it is still whole. */
    for (size_t len = 0; len + 1 < strlen(text); len++)
        CHECK(t, judge(t, sotto_bytes_of(text, len), &err) == SOTTO_MALFORMED);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(every_hostile_recipe_is_refused_with_its_reason),
        CASE(every_part_of_a_recipe_is_refused),
    };

    return RUN_TESTS(argc, argv, cases);
}
