/* Whoever adds a kind of message gives the fuzzers one to begin with: each kind of a method's table, and each step of a key generation,
 * is among the seeds of its target in fuzz/. */
#define _POSIX_C_SOURCE 200809L
#include "support/test.h"

#include "aggregate/bbglr/bbglr.h"
#include "aggregate/flamingo/flamingo.h"
#include "aggregate/keygen/keygen.h"
#include "aggregate/methods.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 1 << 16, KINDS = 32 };

typedef void on_seed(bool seen[KINDS], sotto_bytes seed);

static void each_seed(sotto_test *t, const char *target, bool seen[KINDS], on_seed *look)
{
    static uint8_t memory[MOST];
    char path[512];

    (void)snprintf(path, sizeof path, SOTTO_SOURCE "/fuzz/fuzz_%s.c", target);
    FILE *source = fopen(path, "r");
    CHECK(t, source != NULL);
    (void)fclose(source);
    (void)snprintf(path, sizeof path, SOTTO_SOURCE "/fuzz/corpus/%s", target);
    DIR *folder = opendir(path);
    CHECK(t, folder != NULL);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        (void)snprintf(path, sizeof path, SOTTO_SOURCE "/fuzz/corpus/%s/%s", target, entry->d_name);
        FILE *file = entry->d_name[0] == '.' ? NULL : fopen(path, "rb");
        if (!file)
            continue;
        look(seen, sotto_bytes_of(memory, fread(memory, 1, sizeof memory, file)));
        (void)fclose(file);
    }
    (void)closedir(folder);
}

/* Kind, number of clients, body. */
static void look_at_flamingo(bool seen[KINDS], sotto_bytes seed)
{
    sotto_flamingo_body body;

    if (seed.len >= 2 && seed.data[0] < KINDS &&
        sotto_flamingo_body_decode(&body, seed.data[0], seed.data[1],
                                   sotto_bytes_of(seed.data + 2, seed.len - 2), NULL) == SOTTO_OK)
        seen[seed.data[0]] = true;
}

static void look_at_bbglr(bool seen[KINDS], sotto_bytes seed)
{
    sotto_bbglr_body body;

    if (seed.len >= 2 && seed.data[0] < KINDS &&
        sotto_bbglr_body_decode(&body, seed.data[0], seed.data[1],
                                sotto_bytes_of(seed.data + 2, seed.len - 2), NULL) == SOTTO_OK)
        seen[seed.data[0]] = true;
}

static void every_kind_of_a_method_is_fuzzed(sotto_test *t)
{
    static const struct {
        const sotto_method *method;
        const char *target;
        on_seed *look;
    } rows[] = {{&sotto_method_bbglr, "bbglr_body", look_at_bbglr},
                {&sotto_method_flamingo, "flamingo_body", look_at_flamingo}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bool seen[KINDS] = {false};

        each_seed(t, rows[i].target, seen, rows[i].look);
        for (size_t k = 0; k < rows[i].method->kind_count; k++)
            CHECK(t, seen[rows[i].method->kinds[k].kind]);
    }
}

/* A call and posts, each behind its length. */
static void look_at_board(bool seen[KINDS], sotto_bytes seed)
{
    sotto_reader in = sotto_reader_over(seed);

    (void)sotto_read_opaque32(&in);
    while (sotto_reader_left(&in) > 0 && !in.short_read) {
        sotto_keygen_post post;

        if (sotto_keygen_post_decode(&post, sotto_read_opaque32(&in), NULL) == SOTTO_OK)
            seen[post.step] = true;
    }
}

static void every_step_of_a_key_generation_is_fuzzed(sotto_test *t)
{
    bool seen[KINDS] = {false};

    each_seed(t, "aggregate_keygen_board", seen, look_at_board);
    for (unsigned step = SOTTO_KEYGEN_DEAL; step < SOTTO_KEYGEN_OVER; step++)
        CHECK(t, seen[step]);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(every_kind_of_a_method_is_fuzzed),
        CASE(every_step_of_a_key_generation_is_fuzzed),
    };
    return RUN_TESTS(argc, argv, cases);
}
