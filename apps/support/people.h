/* support/people.h - rows of a CSV file as the events of devices: one row a device, or all rows that name the same one.
 *
 * Memory:   flat. Rows of a device may stand anywhere in the file. Where it is large they are sorted apart into files that have no name,
 *           in TMPDIR, and one of these is in memory at a time.
 * Threads:  one caller at a time; each block is its caller's own.
 *
 * The order of devices depends on the file and the options alone.
 */
#ifndef SOTTO_APPS_PEOPLE_H
#define SOTTO_APPS_PEOPLE_H

#include "sotto/events.h"

enum {
    SOTTO_PEOPLE_BLOCK = 256,
    SOTTO_PEOPLE_ROWS = 100000, /* of one device, at most                                     */
    SOTTO_PEOPLE_LOOK = 10000   /* rows by which a column's type is told that nobody states  */
};

/* One device and its events. Borrowed from its block. */
typedef struct sotto_person {
    size_t rows;
    const sotto_value *values;    /* of the fields, row by row             */
    const int64_t *times;         /* of each row; INT64_MIN: not known      */
    const char *const *described; /* as the options list them; NULL: empty  */
} sotto_person;

typedef struct sotto_people_options {
    const char *path;
    const sotto_field *fields; /* columns by name; SOTTO_TYPE_NULL: the first rows tell the type */
    const bool *numbers;       /* of each field: texts would count as 0; NULL: of none */
    size_t field_count;
    const char *const *described; /* columns that describe the device, as its first row has them */
    size_t described_count;
    const char *device_column; /* NULL: each row is a device                                 */
    bool skip_bad;             /* leaves bad rows out, and counts them                        */
    /* Each device of the file stands for as many as make this number, as evenly as it goes; 0: for one. */
    uint64_t devices;
} sotto_people_options;

typedef struct sotto_people sotto_people;

/* Everything in options is borrowed until it is closed.
 *   SOTTO_MISSING    the file can't be opened, or lacks a column
 *   SOTTO_MALFORMED  no CSV, or a row is bad: the reason has its line */
SOTTO_MUST_USE sotto_status sotto_people_open(sotto_people **out,
                                              const sotto_people_options *options, sotto_err *err);
/* NULL is fine. */
void sotto_people_close(sotto_people *people);

/* The fields with their types. */
const sotto_field *sotto_people_fields(const sotto_people *people);

typedef struct sotto_people_block {
    uint64_t first; /* number of the first one */
    size_t count;
    size_t most; /* the caller's: fewer than SOTTO_PEOPLE_BLOCK; 0: as many */
    sotto_person people[SOTTO_PEOPLE_BLOCK];
    sotto_arena arena; /* the caller's: init and clear */
} sotto_people_block;

/* The next devices, up to what the block may have; none at the end. Numbers count from 0. Every block but the last is full. */
SOTTO_MUST_USE sotto_status sotto_people_next(sotto_people *people, sotto_people_block *block,
                                              sotto_err *err);
/* From the first device again. */
SOTTO_MUST_USE sotto_status sotto_people_rewind(sotto_people *people, sotto_err *err);

/* The column that looks as if it named devices, where no device_column was given: by its name, and since values repeat among the first rows.
 * NULL: there is none, or the file is a pipe. Without control codes. */
const char *sotto_people_likely(const sotto_people *people);

/* Rows that were left out in the current pass. */
uint64_t sotto_people_skipped(const sotto_people *people);
/* Devices of a pass, where options.devices was set or sotto_people_count was called; else 0. */
uint64_t sotto_people_all(const sotto_people *people);
/* Counts them, and begins a new pass. */
SOTTO_MUST_USE sotto_status sotto_people_count(sotto_people *people, sotto_err *err);
/* How far the pass has come, of `total`; both in bytes. */
uint64_t sotto_people_done(const sotto_people *people, uint64_t *total);

#endif
