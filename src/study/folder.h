/* study/folder.h - an analysis on disk: its settings, and for each step the recipe, the answer and what was spent.
 *
 *     analysis.json    settings, written once           01/recipe.json   as it was published; never changed
 *     policy.json      of the devices; streams.json     01/answer.json   as `sotto collect --json` prints it; its receipt is in it
 *     journal.txt      a line for each thing done       01/answer.txt .csv .html   the same for people
 *     stopped          where it was ended               01/last.txt      why there is no answer yet
 *
 * Callers:  `sotto analysis`.
 * Memory:   texts live in the caller's arena.
 * Threads:  one process has a folder at a time: it is locked.
 * Secrets:  none. Keys and tokens stay where they are; the folder has their paths.
 *
 * A file appears under its name once it is complete and on disk. What a crash leaves ends in .part or .new, and counts for nothing. A step whose
 * answer is there is never asked again, and a recipe that is there is never written anew: so nothing is spent twice.
 */
#ifndef SOTTO_STUDY_FOLDER_H
#define SOTTO_STUDY_FOLDER_H

#include "sotto/base.h"

enum {
    SOTTO_FOLDER_PATH = 1024,
    SOTTO_FOLDER_FILE = SOTTO_FOLDER_PATH + 64,
    SOTTO_FOLDER_STEPS = 99
};

typedef struct sotto_folder {
    char path[SOTTO_FOLDER_PATH];
    int lock;
    unsigned steps; /* that have a recipe */
} sotto_folder;

typedef enum sotto_step_state {
    SOTTO_STEP_NONE, /* there is no such step */
    SOTTO_STEP_ASKED,
    SOTTO_STEP_ANSWERED
} sotto_step_state;

/* Makes the folder, which must not be there or be empty, and opens it.
 *   SOTTO_STALE  there is an analysis in it, or other files */
SOTTO_MUST_USE sotto_status sotto_folder_new(sotto_folder *out, const char *path, sotto_err *err);
/* SOTTO_MISSING  there is no analysis in it; SOTTO_AGAIN  another process has it */
SOTTO_MUST_USE sotto_status sotto_folder_open(sotto_folder *out, const char *path, sotto_err *err);
void sotto_folder_close(sotto_folder *folder);

/* The path of a file of the folder, or with a step of 1 or more, of a step. */
void sotto_folder_file(char out[SOTTO_FOLDER_FILE], const sotto_folder *folder, unsigned step,
                       const char *name);
/* The whole file. SOTTO_MISSING: there is none. */
SOTTO_MUST_USE sotto_status sotto_folder_read(sotto_bytes *out, const sotto_folder *folder,
                                              unsigned step, const char *name, sotto_arena *arena,
                                              sotto_err *err);
/* All of it or nothing, in the place of what was there. */
SOTTO_MUST_USE sotto_status sotto_folder_write(const sotto_folder *folder, unsigned step,
                                               const char *name, sotto_bytes text, sotto_err *err);
bool sotto_folder_has(const sotto_folder *folder, unsigned step, const char *name);
/* One line with the time before it. */
SOTTO_MUST_USE sotto_status sotto_folder_note(const sotto_folder *folder, const char *line,
                                              sotto_err *err);

sotto_step_state sotto_folder_state(const sotto_folder *folder, unsigned step);
/* Whether a run ended in the middle of asking this step. */
bool sotto_folder_broken(const sotto_folder *folder, unsigned step);
/* The recipe of the next step, or once more that of a step which is there.
 *   SOTTO_STALE  that step has another recipe */
SOTTO_MUST_USE sotto_status sotto_folder_put(sotto_folder *folder, unsigned step,
                                             sotto_bytes recipe, sotto_err *err);
/* Takes over NAME.part of each name that is there, answer.json last.
 *   SOTTO_STALE     the step has an answer already, which stays
 *   SOTTO_REJECTED  the answer is of another recipe: its receipt has another hash */
SOTTO_MUST_USE sotto_status sotto_folder_commit(const sotto_folder *folder, unsigned step,
                                                sotto_arena *arena, sotto_err *err);
/* Removes what a run left that was ended. */
void sotto_folder_sweep(const sotto_folder *folder, unsigned step);

/* ---- answers -------------------------------------------------------------------------------------------------- */

typedef struct sotto_study_bin {
    double count, low, high, deviation;
} sotto_study_bin;

typedef struct sotto_study_figure {
    const char *name;
    double value, low, high;
} sotto_study_figure;

typedef struct sotto_study_answer {
    uint64_t reports;
    sotto_study_bin *bins; /* in the order of the recipe's */
    size_t count;
    sotto_study_figure figures[8];
    size_t figure_count;
    uint8_t recipe_hash[32];
} sotto_study_answer;

/* SOTTO_MALFORMED  no answer as sotto prints it, or one without all bins */
SOTTO_MUST_USE sotto_status sotto_study_answer_read(sotto_study_answer *out, sotto_bytes text,
                                                    sotto_arena *arena, sotto_err *err);

#endif
