#define _DEFAULT_SOURCE /* flock */
#include "study/folder.h"

#include "base/directory.h"
#include "base/file.h"
#include "base/rule.h"
#include "crypto/hash.h"
#include "recipe/calendar.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

/* What a step's answer consists of; answer.json, which makes it one, is the last. */
static const char *const parts[] = {"answer.txt", "answer.csv", "answer.html", "answer.json"};
enum { PARTS = sizeof parts / sizeof parts[0] };
#define MOST_FILE (UINT64_C(1) << 29)

static sotto_status fail(sotto_err *err, const char *path, const char *what)
{
    return sotto_fail(err, SOTTO_IO, "%s %.90s: %s", what, path, strerror(errno));
}

void sotto_folder_file(char out[SOTTO_FOLDER_FILE], const sotto_folder *f, unsigned step,
                       const char *name)
{
    if (step > 0)
        (void)snprintf(out, SOTTO_FOLDER_FILE, "%s/%02u/%.40s", f->path, step, name);
    else
        (void)snprintf(out, SOTTO_FOLDER_FILE, "%s/%.40s", f->path, name);
}

bool sotto_folder_has(const sotto_folder *f, unsigned step, const char *name)
{
    char path[SOTTO_FOLDER_FILE];

    sotto_folder_file(path, f, step, name);
    return access(path, F_OK) == 0;
}

/* ---- opening ------------------------------------------------------------------------------------------------------ */

/* What stands in a folder before analysis.json, which makes it an analysis. */
static const char *const early[] = {"lock", "policy.json", "streams.json", "frame.json", "01"};
static const char *const early_step[] = {"recipe.json"};

static bool ends_in(const char *name, const char *ending)
{
    const size_t len = strlen(name), end = strlen(ending);

    return len > end && strcmp(name + len - end, ending) == 0;
}

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || ends_in(name, ".part") ||
        ends_in(name, SOTTO_FILE_UNFINISHED))
        return true;
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static bool has_only(const char *path, const char *const *names, size_t count)
{
    DIR *dir = opendir(path);
    bool only = dir != NULL;

    for (const struct dirent *e; dir && (e = readdir(dir)) != NULL;)
        only = only && is_one_of(e->d_name, names, count);
    if (dir)
        (void)closedir(dir);
    return only;
}

/* Empty, or with what a command left that ended before it had begun an analysis: nothing of that was given to anybody. */
static bool is_free(const sotto_folder *f)
{
    char step[SOTTO_FOLDER_FILE];

    sotto_folder_file(step, f, 1, "");
    return has_only(f->path, early, sizeof early / sizeof early[0]) &&
           (access(step, F_OK) != 0 ||
            has_only(step, early_step, sizeof early_step / sizeof early_step[0]));
}

static sotto_status set_path(sotto_folder *f, const char *path, sotto_err *err)
{
    *f = (sotto_folder){.lock = -1};
    if ((size_t)snprintf(f->path, sizeof f->path, "%s", path) >= sizeof f->path || !path[0])
        return sotto_fail(err, SOTTO_MALFORMED, "the path of the folder has 1 to %d bytes",
                          SOTTO_FOLDER_PATH - 1);
    return SOTTO_OK;
}

static sotto_status lock(sotto_folder *f, sotto_err *err)
{
    char path[SOTTO_FOLDER_FILE];

    sotto_folder_file(path, f, 0, "lock");
    f->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (f->lock < 0)
        return fail(err, path, "can't open");
    if (SOTTO_RULE(folder_one_at_a_time) && flock(f->lock, LOCK_EX | LOCK_NB) != 0) {
        sotto_folder_close(f);
        return sotto_fail(err, SOTTO_AGAIN, "another command is at work in %.90s", f->path);
    }
    return SOTTO_OK;
}

static sotto_status taken(sotto_folder *f, sotto_err *err)
{
    sotto_folder_close(f);
    return sotto_fail(err, SOTTO_STALE, "%.90s is there, and not empty: name another folder",
                      f->path);
}

sotto_status sotto_folder_new(sotto_folder *f, const char *path, sotto_err *err)
{
    SOTTO_TRY(set_path(f, path, err));
    if (!sotto_directory_make(path, 0755))
        return fail(err, path, "can't make");
    if (SOTTO_RULE(folder_of_its_own) && !is_free(f))
        return taken(f, err);
    SOTTO_TRY(lock(f, err));
    /* Another command may have begun before the lock was there. */
    if (SOTTO_RULE(folder_of_its_own) && !is_free(f))
        return taken(f, err);
    return SOTTO_OK;
}

sotto_status sotto_folder_open(sotto_folder *f, const char *path, sotto_err *err)
{
    SOTTO_TRY(set_path(f, path, err));
    if (!sotto_folder_has(f, 0, "analysis.json"))
        return sotto_fail(err, SOTTO_MISSING,
                          "%.90s has no analysis in it: `sotto analysis start` begins one", path);
    SOTTO_TRY(lock(f, err));
    while (f->steps < SOTTO_FOLDER_STEPS && sotto_folder_has(f, f->steps + 1, "recipe.json"))
        f->steps++;
    return SOTTO_OK;
}

void sotto_folder_close(sotto_folder *f)
{
    if (f->lock >= 0)
        (void)close(f->lock);
    f->lock = -1;
}

/* ---- files -------------------------------------------------------------------------------------------------------- */

sotto_status sotto_folder_read(sotto_bytes *out, const sotto_folder *f, unsigned step,
                               const char *name, sotto_arena *arena, sotto_err *err)
{
    char path[SOTTO_FOLDER_FILE];

    sotto_folder_file(path, f, step, name);
    return sotto_file_read(out, path, MOST_FILE, arena, err);
}

sotto_status sotto_folder_write(const sotto_folder *f, unsigned step, const char *name,
                                sotto_bytes text, sotto_err *err)
{
    char path[SOTTO_FOLDER_FILE];

    sotto_folder_file(path, f, step, name);
    return sotto_file_write(path, text, NULL, NULL, err);
}

sotto_status sotto_folder_note(const sotto_folder *f, const char *line, sotto_err *err)
{
    char path[SOTTO_FOLDER_FILE], time_text[SOTTO_CALENDAR_TEXT];

    sotto_folder_file(path, f, 0, "journal.txt");
    sotto_calendar_format_time(time_text, (int64_t)time(NULL));
    FILE *file = fopen(path, "abe"); /* e: no other program that we start gets it */
    bool done = file && fprintf(file, "%s %s\n", time_text, line) > 0 && fflush(file) == 0 &&
                fsync(fileno(file)) == 0;
    if (file)
        done = fclose(file) == 0 && done && sotto_directory_sync(path);
    return done ? SOTTO_OK : fail(err, path, "can't write");
}

/* ---- steps -------------------------------------------------------------------------------------------------------- */

sotto_step_state sotto_folder_state(const sotto_folder *f, unsigned step)
{
    if (!sotto_folder_has(f, step, "recipe.json"))
        return SOTTO_STEP_NONE;
    return sotto_folder_has(f, step, "answer.json") ? SOTTO_STEP_ANSWERED : SOTTO_STEP_ASKED;
}

static void part_of(char out[SOTTO_FOLDER_FILE], const sotto_folder *f, unsigned step, size_t i)
{
    char name[64];

    (void)snprintf(name, sizeof name, "%s.part", parts[i]);
    sotto_folder_file(out, f, step, name);
}

bool sotto_folder_broken(const sotto_folder *f, unsigned step)
{
    char path[SOTTO_FOLDER_FILE];

    for (size_t i = 0; i < PARTS; i++) {
        part_of(path, f, step, i);
        if (access(path, F_OK) == 0)
            return true;
    }
    return false;
}

void sotto_folder_sweep(const sotto_folder *f, unsigned step)
{
    char path[SOTTO_FOLDER_FILE];

    for (size_t i = 0; i < PARTS; i++) {
        part_of(path, f, step, i);
        (void)unlink(path);
    }
}

static sotto_status put_again(const sotto_folder *f, unsigned step, sotto_bytes recipe,
                              sotto_err *err)
{
    sotto_bytes there;
    sotto_arena arena;

    sotto_arena_init(&arena, (size_t)16 << 20);
    sotto_status status = sotto_folder_read(&there, f, step, "recipe.json", &arena, err);
    if (SOTTO_RULE(folder_recipes_stay) && status == SOTTO_OK && !sotto_bytes_equal(there, recipe))
        status = sotto_fail(err, SOTTO_STALE,
                            "step %u has another recipe: %.90s was written by another plan, or "
                            "changed",
                            step, f->path);
    sotto_arena_clear(&arena);
    return status;
}

sotto_status sotto_folder_put(sotto_folder *f, unsigned step, sotto_bytes recipe, sotto_err *err)
{
    char path[SOTTO_FOLDER_FILE];

    if (step <= f->steps)
        return put_again(f, step, recipe, err);
    if (step > SOTTO_FOLDER_STEPS)
        return sotto_fail(err, SOTTO_DENIED, "an analysis has up to %d steps", SOTTO_FOLDER_STEPS);
    sotto_folder_file(path, f, step, "");
    if (!sotto_directory_make(path, 0755))
        return fail(err, path, "can't make");
    SOTTO_TRY(sotto_folder_write(f, step, "recipe.json", recipe, err));
    f->steps = step;
    return SOTTO_OK;
}

/* An answer to another question would be taken for one to this. */
static sotto_status check_hash(const sotto_folder *f, unsigned step, sotto_arena *arena,
                               sotto_err *err)
{
    sotto_study_answer answer;
    sotto_bytes text, recipe;
    uint8_t hash[32];

    SOTTO_TRY(sotto_folder_read(&text, f, step, "answer.json.part", arena, err));
    SOTTO_TRY(sotto_study_answer_read(&answer, text, arena, err));
    SOTTO_TRY(sotto_folder_read(&recipe, f, step, "recipe.json", arena, err));
    sotto_hash_once(hash, SOTTO_SHA256, recipe);
    if (SOTTO_RULE(folder_answers_fit) && memcmp(hash, answer.recipe_hash, sizeof hash) != 0)
        return sotto_fail(err, SOTTO_REJECTED, "the answer is not of step %u's recipe", step);
    return SOTTO_OK;
}

sotto_status sotto_folder_commit(const sotto_folder *f, unsigned step, sotto_arena *arena,
                                 sotto_err *err)
{
    const sotto_arena_mark here = sotto_arena_here(arena);

    if (SOTTO_RULE(folder_answers_stay) && sotto_folder_state(f, step) == SOTTO_STEP_ANSWERED)
        return sotto_fail(err, SOTTO_STALE, "step %u has an answer already", step);
    sotto_status status = check_hash(f, step, arena, err);
    sotto_arena_rollback(arena, here);
    for (size_t i = 0; status == SOTTO_OK && i < PARTS; i++) {
        char part[SOTTO_FOLDER_FILE], path[SOTTO_FOLDER_FILE];

        part_of(part, f, step, i);
        sotto_folder_file(path, f, step, parts[i]);
        if (access(part, F_OK) == 0)
            status = sotto_file_settle(part, path, err);
    }
    return status;
}
