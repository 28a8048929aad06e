/* Whoever adds a kind of message gives the fuzzers one to begin with. Each kind of a method's table, and each step of a key generation, is
 * among the seeds of its target in fuzz/. Seeds with a mistake are refused. */
#define _POSIX_C_SOURCE 200809L
#include "support/test.h"

#include "aggregate/bbglr/bbglr.h"
#include "aggregate/flamingo/flamingo.h"
#include "aggregate/keygen/meeting.h"
#include "aggregate/methods.h"
#include "aggregate/posting.h"

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

/* ---- what else comes from strangers ---------------------------------------------------------------------------- */

static bool decodes_record(sotto_test *t, sotto_bytes seed)
{
    sotto_decryptors_record record;

    return sotto_decryptors_decode(&record, seed, &t->arena, NULL) == SOTTO_OK;
}

static bool decodes_posting(sotto_test *t, sotto_bytes seed)
{
    sotto_posting posting;

    return sotto_posting_decode(&posting, seed, &t->arena, NULL) == SOTTO_OK;
}

static bool decodes_round(sotto_test *t, sotto_bytes seed)
{
    sotto_round round;

    (void)t;
    return sotto_round_decode(&round, seed, NULL) == SOTTO_OK;
}

static bool decodes_message(sotto_test *t, sotto_bytes seed)
{
    sotto_message message;

    (void)t;
    return sotto_message_decode(&message, seed, NULL) == SOTTO_OK;
}

/* A call, a post, a meeting or a seat, as the first byte says. */
static bool decodes_keygen(sotto_test *t, sotto_bytes seed)
{
    sotto_meeting_seat seat;
    sotto_keygen_post post;
    sotto_meeting meeting;
    sotto_keygen call;

    if (seed.len == 0)
        return false;
    const sotto_bytes wire = sotto_bytes_of(seed.data + 1, seed.len - 1);
    switch (seed.data[0]) {
    case 0:
        return sotto_keygen_open(&call, wire, &t->arena, NULL) == SOTTO_OK;
    case 2:
        return sotto_meeting_decode(&meeting, wire, NULL) == SOTTO_OK;
    case 3:
        return sotto_meeting_seat_decode(&seat, wire, NULL) == SOTTO_OK;
    default:
        return sotto_keygen_post_decode(&post, wire, NULL) == SOTTO_OK;
    }
}

enum { REFUSED = 12 };

typedef struct decoder {
    const char *target;
    bool (*decodes)(sotto_test *t, sotto_bytes seed);
    const char *refused[REFUSED]; /* seeds; all others decode */
} decoder;

static const decoder DECODERS[] = {
    {"flamingo_decryptors",
     decodes_record,
     {"members_descend", "signature_cut", "too_few", "too_many", "trailing"}},
    {"aggregate_posting",
     decodes_posting,
     {"empty", "key_kind_unknown", "no_parts_of_an_old_beacon", "nobody_registered", "other_label",
      "parts_of_an_old_beacon_cut", "too_many_registered", "trailing_byte", "truncated"}},
    {"aggregate_round",
     decodes_round,
     {"empty", "other-label", "other-version", "too-many-parameters", "trailing-byte", "truncated",
      "unknown-ring"}},
    {"aggregate_message",
     decodes_message,
     {"length-lies", "short-signature", "trailing-byte", "truncated"}},
    {"aggregate_keygen",
     decodes_keygen,
     {"call_truncated", "call_with_a_trailing_byte", "call_with_parts_in_the_posting", "empty",
      "meeting_of_no_step", "meeting_of_too_many", "seat_that_is_cut",
      "meeting_with_a_trailing_byte", "post_of_a_step_beyond", "post_of_no_step",
      "post_signature_cut", "post_trailing_byte"}},
};

static bool is_refused(const decoder *d, const char *name)
{
    for (size_t i = 0; i < REFUSED && d->refused[i]; i++)
        if (strcmp(d->refused[i], name) == 0)
            return true;
    return false;
}

static void seeds_with_mistakes_are_refused(sotto_test *t)
{
    for (size_t i = 0; i < sizeof DECODERS / sizeof DECODERS[0]; i++) {
        const decoder *d = &DECODERS[i];
        DIR *folder = open_seeds(t, d->target);

        for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
            if (entry->d_name[0] != '.')
                CHECK(t, d->decodes(t, read_seed(d->target, entry->d_name)) ==
                             !is_refused(d, entry->d_name));
        (void)closedir(folder);
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
        CASE(seeds_with_mistakes_are_refused),
        CASE(every_step_of_a_key_generation_is_fuzzed),
    };
    return RUN_TESTS(argc, argv, cases);
}
