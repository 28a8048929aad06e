/* learn/dataset.h - examples of many simulated users in one file: what `sotto learn data` writes and the simulator reads.
 *
 * Callers:  `sotto learn data`, `sotto sim learn`.
 * Memory:   a dataset borrows the file's bytes.
 *
 * All integers are big endian. 16 bytes of magic; then 8 bytes each: kind, classes, height, width, users, training rows, test rows.
 * Then for each user the number of its training rows, 4 bytes; labels of all rows, a byte each (none of symbols); and
 * height x width bytes a row. Rows of a user stand together, in the users' order; test rows are last.
 */
#ifndef SOTTO_LEARN_DATASET_H
#define SOTTO_LEARN_DATASET_H

#include "learn/model.h"

typedef enum sotto_dataset_kind {
    SOTTO_DATASET_BYTES = 1, /* numbers: 255ths, with a label */
    SOTTO_DATASET_SYMBOLS    /* text: height is 1, width a row's symbols */
} sotto_dataset_kind;

typedef struct sotto_dataset {
    sotto_dataset_kind kind;
    size_t classes, height, width, users, training, test;
    sotto_bytes counts, labels, rows; /* borrowed */
    size_t largest;                   /* rows of the user who has most */
} sotto_dataset;

/* SOTTO_MALFORMED says what is wrong. */
SOTTO_MUST_USE sotto_status sotto_dataset_decode(sotto_dataset *out, sotto_bytes file,
                                                 sotto_err *err);
/* What stands before the rows: counts has a number for each user, labels one for each row or is empty. */
SOTTO_MUST_USE sotto_status sotto_dataset_encode(const sotto_dataset *dataset,
                                                 const uint32_t *counts, sotto_buf *out,
                                                 sotto_err *err);
size_t sotto_dataset_head_size(const sotto_dataset *dataset);

/* As sotto_model_named, for rows like these. SOTTO_DENIED: text needs gru, and gru needs text. */
SOTTO_MUST_USE sotto_status sotto_dataset_model(sotto_model *out, const sotto_dataset *dataset,
                                                const char *name, sotto_err *err);

/* firsts[u] is the first row of user u, firsts[users] the first test row: users + 1 numbers. */
void sotto_dataset_firsts(const sotto_dataset *dataset, uint64_t *firsts);
/* count rows from `first` on. */
sotto_examples sotto_dataset_rows(const sotto_dataset *dataset, size_t first, size_t count);

#endif
