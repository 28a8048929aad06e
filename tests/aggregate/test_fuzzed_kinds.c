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

typedef bool decodes_fn(sotto_bytes seed);

static sotto_bytes read_seed(const char *target, const char *name)
{
    static uint8_t memory[MOST];
    char path[512];

    (void)snprintf(path, sizeof path, SOTTO_SOURCE "/fuzz/corpus/%s/%s", target, name);
    FILE *file = fopen(path, "rb");
    const size_t len = file ? fread(memory, 1, sizeof memory, file) : 0;
    if (file)
        (void)fclose(file);
    return sotto_bytes_of(memory, len);
}

static DIR *open_seeds(sotto_test *t, const char *target)
{
    char path[512];

    (void)snprintf(path, sizeof path, SOTTO_SOURCE "/fuzz/fuzz_%s.c", target);
    FILE *source = fopen(path, "r");
    CHECK(t, source != NULL);
    (void)fclose(source);
    (void)snprintf(path, sizeof path, SOTTO_SOURCE "/fuzz/corpus/%s", target);
    DIR *folder = opendir(path);
    CHECK(t, folder != NULL);
    return folder;
}

/* Kind, number of clients, body. */
static bool decodes_flamingo(sotto_bytes seed)
{
    sotto_flamingo_body body;

    return seed.len >= 2 && sotto_flamingo_body_decode(&body, seed.data[0], seed.data[1],
                                                       sotto_bytes_of(seed.data + 2, seed.len - 2),
                                                       NULL) == SOTTO_OK;
}

static bool decodes_bbglr(sotto_bytes seed)
{
    sotto_bbglr_body body;

    return seed.len >= 2 &&
           sotto_bbglr_body_decode(&body, seed.data[0], seed.data[1],
                                   sotto_bytes_of(seed.data + 2, seed.len - 2), NULL) == SOTTO_OK;
}

static bool is_kind(const sotto_method *method, const char *name, unsigned *kind)
{
    for (size_t k = 0; k < method->kind_count; k++)
        if (strcmp(method->kinds[k].name, name) == 0) {
            *kind = method->kinds[k].kind;
            return true;
        }
    return false;
}

/* A seed that is named after a kind is a message of that kind. Every other one has a mistake, and is refused. */
static void every_kind_of_a_method_is_fuzzed(sotto_test *t)
{
    static const struct {
        const sotto_method *method;
        const char *target;
        decodes_fn *decodes;
    } rows[] = {{&sotto_method_bbglr, "bbglr_body", decodes_bbglr},
                {&sotto_method_flamingo, "flamingo_body", decodes_flamingo}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        DIR *folder = open_seeds(t, rows[i].target);
        size_t found = 0;

        for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
            const sotto_bytes seed = read_seed(rows[i].target, entry->d_name);
            unsigned kind = 0;

            if (entry->d_name[0] == '.')
                continue;
            const bool right = is_kind(rows[i].method, entry->d_name, &kind);
            CHECK(t, rows[i].decodes(seed) == right);
            CHECK(t, !right || seed.data[0] == kind);
            found += right;
        }
        (void)closedir(folder);
        CHECK_EQUAL(t, rows[i].method->kind_count, found);
    }
}

static void records_with_mistakes_are_refused(sotto_test *t)
{
    static const char target[] = "flamingo_decryptors";
    DIR *folder = open_seeds(t, target);
    size_t right = 0;

    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        const sotto_bytes seed = read_seed(target, entry->d_name);
        sotto_decryptors_record record;

        if (entry->d_name[0] == '.')
            continue;
        const bool decodes = sotto_decryptors_decode(&record, seed, &t->arena, NULL) == SOTTO_OK;
        CHECK(t, decodes == (strcmp(entry->d_name, "right") == 0));
        right += decodes;
    }
    (void)closedir(folder);
    CHECK_EQUAL(t, 1, right);
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
    static const char target[] = "aggregate_keygen_board";
    DIR *folder = open_seeds(t, target);
    bool seen[KINDS] = {false};

    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
        if (entry->d_name[0] != '.')
            look_at_board(seen, read_seed(target, entry->d_name));
    (void)closedir(folder);
    for (unsigned step = SOTTO_KEYGEN_DEAL; step < SOTTO_KEYGEN_OVER; step++)
        CHECK(t, seen[step]);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(every_kind_of_a_method_is_fuzzed),
        CASE(records_with_mistakes_are_refused),
        CASE(every_step_of_a_key_generation_is_fuzzed),
    };
    return RUN_TESTS(argc, argv, cases);
}
