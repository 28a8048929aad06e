/* apps/sotto/learn/learn_data.h - what `sotto learn data` makes files of examples from. */
#ifndef SOTTO_APPS_LEARN_DATA_H
#define SOTTO_APPS_LEARN_DATA_H

#include "learn/dataset.h"

typedef struct learn_data_options {
    const char *name, *from, *writers, *out;
    uint64_t users, seed;
    double alpha; /* of the Dirichlet split: the smaller, the fewer classes a user has */
    bool json;
    struct learn_csv_options *csv; /* NULL: not of a table */
} learn_data_options;

/* All rows of one source, and whose each training row is. */
typedef struct learn_rows {
    size_t classes, height, width, training, test, users;
    uint8_t *labels; /* of training rows, then of test rows; NULL of symbols */
    uint8_t *values;
    uint32_t *owner; /* of each training row, below users */
} learn_rows;

/* ---- learn_data.c: reading --------------------------------------------------------------------------------------- */

SOTTO_MUST_USE sotto_status learn_data_images(learn_rows *out, const char *folder,
                                              sotto_arena *arena, sotto_err *err);
SOTTO_MUST_USE sotto_status learn_data_writers(learn_rows *rows, const char *folder,
                                               sotto_arena *arena, sotto_err *err);
SOTTO_MUST_USE sotto_status learn_data_chapters(learn_rows *out, const char *file,
                                                sotto_arena *arena, sotto_err *err);

/* ---- learn_csv.c: a table of the user's own --------------------------------------------------------------------- */

typedef struct learn_csv_options {
    const char *file, *label, *user,
        *features;    /* columns; features: with commas, or NULL: all others */
    double low, high; /* of every feature: what is beyond is moved to there  */
    double test;      /* percent of users                                    */
} learn_csv_options;

/* SOTTO_MALFORMED: rows that are wrong were told on standard error, each with its line. *moved: numbers that were out of range. */
SOTTO_MUST_USE sotto_status learn_data_csv(learn_rows *out, const learn_csv_options *options,
                                           uint64_t *moved, sotto_arena *arena, sotto_err *err);

/* ---- learn_split.c: who has which row, and the file -------------------------------------------------------------- */

/* Each user draws a part of every class by Dirichlet's law. */
SOTTO_MUST_USE sotto_status learn_split_dirichlet(learn_rows *rows, uint64_t users, double alpha,
                                                  uint64_t seed, sotto_arena *arena,
                                                  sotto_err *err);
SOTTO_MUST_USE sotto_status learn_split_write(const learn_rows *rows, const char *path,
                                              sotto_arena *arena, sotto_err *err);

#endif
