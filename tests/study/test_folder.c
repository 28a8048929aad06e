/* A folder keeps what was asked and answered, whole, once. */
#include "study/folder.h"

#include "base/hex.h"
#include "crypto/hash.h"
#include "support/directory.h"
#include "support/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char recipe[] = "{\"recipe\": \"r\"}";

static sotto_bytes bytes(const char *text)
{
    return sotto_bytes_of(text, strlen(text));
}

static const char *path_in(sotto_test *t, const char *name)
{
    char *path = sotto_arena_take(&t->arena, SOTTO_FOLDER_PATH);

    (void)snprintf(path, SOTTO_FOLDER_PATH, "%s/%s", sotto_test_directory(t), name);
    return path;
}

static sotto_folder begin(sotto_test *t, const char *path)
{
    sotto_folder f;

    CHECK_OK(t, sotto_folder_new(&f, path, &t->err));
    CHECK_OK(t, sotto_folder_write(&f, 0, "analysis.json", bytes("{}"), &t->err));
    CHECK_OK(t, sotto_folder_put(&f, 1, bytes(recipe), &t->err));
    return f;
}

/* An answer of two bins to a recipe. */
static sotto_bytes answer_to(sotto_test *t, const char *text, double count)
{
    char *out = sotto_arena_take(&t->arena, 1024), hex[65];
    uint8_t hash[32];

    sotto_hash_once(hash, SOTTO_SHA256, bytes(text));
    sotto_hex_encode(hex, sotto_bytes_of(hash, sizeof hash));
    (void)snprintf(out, 1024,
                   "{\"reports\": 10, \"figures\": [{\"name\": \"quantile 0.5\", \"value\": 3, "
                   "\"low\": 2, \"high\": 4}], \"bins\": [{\"bin\": 0, \"count\": %g, \"low\": 1, "
                   "\"high\": 9, \"deviation\": 2}, {\"bin\": 1, \"count\": 2}], \"receipt\": "
                   "{\"recipe_hash\": \"%s\"}}",
                   count, hex);
    return bytes(out);
}

static void write_part(sotto_test *t, const sotto_folder *f, const char *name, sotto_bytes text)
{
    char path[SOTTO_FOLDER_FILE];

    sotto_folder_file(path, f, 1, name);
    FILE *out = fopen(path, "wb");
    CHECK(t, out && fwrite(text.data, 1, text.len, out) == text.len && fclose(out) == 0);
}

static void steps_are_kept_and_found_again(sotto_test *t)
{
    const char *path = path_in(t, "steps");
    sotto_folder f = begin(t, path);
    sotto_study_answer answer;
    sotto_bytes text;

    CHECK(t, sotto_folder_state(&f, 1) == SOTTO_STEP_ASKED);
    write_part(t, &f, "answer.json.part", answer_to(t, recipe, 5));
    write_part(t, &f, "answer.txt.part", bytes("five\n"));
    CHECK_OK(t, sotto_folder_commit(&f, 1, &t->arena, &t->err));
    CHECK_OK(t, sotto_folder_note(&f, "step 1 answered", &t->err));
    sotto_folder_close(&f);
    CHECK_OK(t, sotto_folder_open(&f, path, &t->err));
    CHECK(t, f.steps == 1 && sotto_folder_state(&f, 1) == SOTTO_STEP_ANSWERED);
    CHECK(t, sotto_folder_state(&f, 2) == SOTTO_STEP_NONE && !sotto_folder_broken(&f, 1));
    CHECK_OK(t, sotto_folder_read(&text, &f, 1, "answer.json", &t->arena, &t->err));
    CHECK_OK(t, sotto_study_answer_read(&answer, text, &t->arena, &t->err));
    CHECK(t, answer.reports == 10 && answer.count == 2 && answer.bins[0].count == 5);
    CHECK(t, answer.figure_count == 1 && answer.figures[0].high == 4);
    sotto_folder_close(&f);
}

static void a_folder_is_new_or_empty(sotto_test *t)
{
    const char *path = path_in(t, "taken");
    sotto_folder f = begin(t, path), other;

    sotto_folder_close(&f);
    CHECK_STATUS(t, SOTTO_STALE, sotto_folder_new(&other, path, &t->err));
    CHECK_STATUS(t, SOTTO_MISSING, sotto_folder_open(&other, path_in(t, "not there"), &t->err));
}

/* It ended before analysis.json: nobody has seen anything of it. */
static void what_a_crash_leaves_of_a_beginning_is_taken_over(sotto_test *t)
{
    const char *path = path_in(t, "begun");
    sotto_folder f;

    CHECK_OK(t, sotto_folder_new(&f, path, &t->err));
    CHECK_OK(t, sotto_folder_write(&f, 0, "policy.json", bytes("{}"), &t->err));
    CHECK_OK(t, sotto_folder_write(&f, 0, "analysis.json.part", bytes("{"), &t->err));
    CHECK_OK(t, sotto_folder_put(&f, 1, bytes("{\"recipe\": \"x\"}"), &t->err));
    sotto_folder_close(&f);
    f = begin(t, path);
    CHECK(t, f.steps == 1);
    sotto_folder_close(&f);
}

static void what_others_left_is_not_taken_over(sotto_test *t)
{
    sotto_folder f;
    const char *path = path_in(t, "theirs");

    CHECK_OK(t, sotto_folder_new(&f, path, &t->err));
    CHECK_OK(t, sotto_folder_write(&f, 0, "notes.txt", bytes("mine"), &t->err));
    sotto_folder_close(&f);
    CHECK_STATUS(t, SOTTO_STALE, sotto_folder_new(&f, path, &t->err));
    path = path_in(t, "answers");
    CHECK_OK(t, sotto_folder_new(&f, path, &t->err));
    CHECK_OK(t, sotto_folder_put(&f, 1, bytes(recipe), &t->err));
    CHECK_OK(t, sotto_folder_write(&f, 1, "answer.json", bytes("{}"), &t->err));
    sotto_folder_close(&f);
    CHECK_STATUS(t, SOTTO_STALE, sotto_folder_new(&f, path, &t->err));
}

static void one_command_at_a_time(sotto_test *t)
{
    const char *path = path_in(t, "locked");
    sotto_folder f = begin(t, path), other;

    CHECK_STATUS(t, SOTTO_AGAIN, sotto_folder_open(&other, path, &t->err));
    CHECK(t, (fcntl(f.lock, F_GETFD) & FD_CLOEXEC) != 0); /* no program that is started keeps it */
    sotto_folder_close(&f);
    CHECK_OK(t, sotto_folder_open(&other, path, &t->err));
    sotto_folder_close(&other);
}

static void a_recipe_that_was_asked_never_changes(sotto_test *t)
{
    sotto_folder f = begin(t, path_in(t, "asked"));
    sotto_bytes text;

    CHECK_OK(t, sotto_folder_put(&f, 1, bytes(recipe), &t->err));
    CHECK_STATUS(t, SOTTO_STALE, sotto_folder_put(&f, 1, bytes("{\"recipe\": \"x\"}"), &t->err));
    CHECK_OK(t, sotto_folder_read(&text, &f, 1, "recipe.json", &t->arena, &t->err));
    CHECK(t, sotto_bytes_equal(text, bytes(recipe)));
    sotto_folder_close(&f);
}

static void an_answer_that_is_there_stays(sotto_test *t)
{
    sotto_folder f = begin(t, path_in(t, "answered"));
    sotto_study_answer answer;
    sotto_bytes text;

    write_part(t, &f, "answer.json.part", answer_to(t, recipe, 5));
    CHECK_OK(t, sotto_folder_commit(&f, 1, &t->arena, &t->err));
    write_part(t, &f, "answer.json.part", answer_to(t, recipe, 6));
    CHECK_STATUS(t, SOTTO_STALE, sotto_folder_commit(&f, 1, &t->arena, &t->err));
    CHECK_OK(t, sotto_folder_read(&text, &f, 1, "answer.json", &t->arena, &t->err));
    CHECK_OK(t, sotto_study_answer_read(&answer, text, &t->arena, &t->err));
    CHECK(t, answer.bins[0].count == 5);
    sotto_folder_close(&f);
}

static void an_answer_to_another_recipe_is_rejected(sotto_test *t)
{
    sotto_folder f = begin(t, path_in(t, "other"));

    write_part(t, &f, "answer.json.part", answer_to(t, "{\"recipe\": \"x\"}", 5));
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_folder_commit(&f, 1, &t->arena, &t->err));
    CHECK(t, sotto_folder_state(&f, 1) == SOTTO_STEP_ASKED);
    sotto_folder_close(&f);
}

static void what_a_crash_leaves_counts_for_nothing(sotto_test *t)
{
    const char *path = path_in(t, "crashed");
    sotto_folder f = begin(t, path);

    write_part(t, &f, "answer.json.part", bytes("{\"reports\": 1"));
    sotto_folder_close(&f);
    CHECK_OK(t, sotto_folder_open(&f, path, &t->err));
    CHECK(t, sotto_folder_state(&f, 1) == SOTTO_STEP_ASKED && sotto_folder_broken(&f, 1));
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_folder_commit(&f, 1, &t->arena, &t->err));
    sotto_folder_sweep(&f, 1);
    CHECK(t, !sotto_folder_broken(&f, 1) && sotto_folder_state(&f, 1) == SOTTO_STEP_ASKED);
    sotto_folder_close(&f);
}

static void an_answer_that_lacks_a_bin_is_malformed(sotto_test *t)
{
    sotto_study_answer answer;

    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_study_answer_read(&answer, bytes("{}"), &t->arena, &t->err));
    CHECK_STATUS(
        t, SOTTO_MALFORMED,
        sotto_study_answer_read(&answer,
                                bytes("{\"reports\": 1, \"bins\": [{\"bin\": 1, \"count\": 2}], "
                                      "\"receipt\": {\"recipe_hash\": "
                                      "\"00000000000000000000000000000000000000000000000000000000"
                                      "00000000\"}}"),
                                &t->arena, &t->err));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(steps_are_kept_and_found_again),
        CASE(a_folder_is_new_or_empty),
        CASE(what_a_crash_leaves_of_a_beginning_is_taken_over),
        CASE(what_others_left_is_not_taken_over),
        CASE(one_command_at_a_time),
        CASE(a_recipe_that_was_asked_never_changes),
        CASE(an_answer_that_is_there_stays),
        CASE(an_answer_to_another_recipe_is_rejected),
        CASE(what_a_crash_leaves_counts_for_nothing),
        CASE(an_answer_that_lacks_a_bin_is_malformed),
    };

    return RUN_TESTS(argc, argv, cases);
}
