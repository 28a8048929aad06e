#include "support/arguments.h"
#include "support/test.h"

#include <string.h>

typedef struct typed {
    const char *file, *out, *more[2];
    size_t more_count;
    uint64_t whole;
    double real;
    bool json, next;
} typed;

static int read_line(typed *t, const char *line)
{
    const sotto_argument rows[] = {
        {.name = "next", .flag = &t->next},
        {.name = "FILE", .text = &t->file, .needed = true},
        {.name = "--out", .text = &t->out},
        {.name = "--with", .text = t->more, .count = &t->more_count, .most = 2},
        {.name = "--whole", .whole = &t->whole, .least = 2, .most = 9},
        {.name = "--real", .real = &t->real, .least = 0.5, .most = 2},
        {.name = "--json", .flag = &t->json}};
    static char copy[200];
    char *words[20] = {"verb"};
    int count = 1;

    *t = (typed){0};
    (void)strncpy(copy, line, sizeof copy - 1);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
        words[count++] = word;
    return sotto_arguments_read("verb", rows, sizeof rows / sizeof rows[0], count, words);
}

static void each_word_goes_to_its_row(sotto_test *t)
{
    typed got;

    CHECK_EQUAL(t, EXIT_DONE,
                read_line(&got, "--json a --out b --with c --whole 9 --with d --real 5e-1 next"));
    CHECK(t, got.json && got.next);
    CHECK_EQUAL(t, 0, strcmp(got.file, "a") | strcmp(got.out, "b") | strcmp(got.more[1], "d"));
    CHECK_EQUAL(t, 2, got.more_count);
    CHECK_EQUAL(t, 9, got.whole);
    CHECK(t, got.real == 0.5);
    CHECK_EQUAL(t, EXIT_DONE, read_line(&got, "-")); /* standard input is a file */
    CHECK_EQUAL(t, EXIT_DONE, read_line(&got, "a --out -"));
}

static void what_no_row_takes_is_refused(sotto_test *t)
{
    static const char *const lines[] = {
        "",
        "--out b",
        "a b",
        "a --no",
        "a --out",
        "a --whole 1",
        "a --whole 10",
        "a --whole -3",
        "a --whole 3x",
        "a --whole 0x3",
        "a --real 3",
        "a --real nan",
        "a --real 0x1",
        "a --json=yes",
        "a --with b --with c --with d",
        "a --FILE b",
        "a --whole 99999999999999999999",
    };
    typed got;

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        CHECK_EQUAL(t, EXIT_USAGE, read_line(&got, lines[i]));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {CASE(each_word_goes_to_its_row),
                                            CASE(what_no_row_takes_is_refused)};
    return RUN_TESTS(argc, argv, cases);
}
