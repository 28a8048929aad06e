/* support/people_internal.h - what the files of people share: packed rows, and rows sorted by device. */
#ifndef SOTTO_APPS_PEOPLE_INTERNAL_H
#define SOTTO_APPS_PEOPLE_INTERNAL_H

#include "support/csv_stream.h"
#include "support/people.h"

#include <stdio.h>

enum { SOTTO_PEOPLE_FIELDS = SOTTO_STORE_MAX_FIELDS, SOTTO_PEOPLE_DESCRIBED = 16 };

/* Bytes that grow. */
typedef struct sotto_packed {
    uint8_t *data;
    size_t len, cap;
} sotto_packed;

SOTTO_MUST_USE sotto_status sotto_packed_put(sotto_packed *out, const void *bytes, size_t len,
                                             sotto_err *err);
void sotto_packed_clear(sotto_packed *out);

/* The rows of some devices. */
typedef struct sotto_group_part {
    FILE *file;
} sotto_group_part;

/* Rows by device, in parts that fit into memory. */
typedef struct sotto_groups {
    sotto_group_part *files; /* of each part; NULL: there is one, in memory */
    size_t parts, part;
    sotto_packed rows;
    struct sotto_group_row *index; /* of the part in memory, sorted */
    size_t count, at;
} sotto_groups;

struct sotto_people {
    sotto_people_options options;
    sotto_csv_stream *csv;
    sotto_field fields[SOTTO_PEOPLE_FIELDS];
    size_t columns[SOTTO_PEOPLE_FIELDS]; /* of the file */
    size_t described[SOTTO_PEOPLE_DESCRIBED];
    size_t device, time; /* SIZE_MAX: no such column */
    uint64_t in_file;    /* devices; known where options.devices is set */
    uint64_t taken;      /* devices of the file in this pass            */
    uint64_t number;     /* of the next device                          */
    uint64_t copies;     /* of the device at hand that are still to come */
    uint64_t skipped, skipped_in_groups;
    char likely[SOTTO_CSV_SHOWN]; /* empty: none */
    sotto_packed row;             /* the device at hand: its rows, one behind the other */
    bool grouped;
    sotto_groups groups;
};

/* people_row.c: appends a row: its length in four bytes, then device, time, values, descriptions.
 *   SOTTO_MALFORMED  a value is of another type; the reason has line and column */
SOTTO_MUST_USE sotto_status sotto_people_pack(const sotto_people *people, sotto_packed *out,
                                              const sotto_csv_field *fields, sotto_err *err);
/* The device's name in a packed row that begins here. */
sotto_bytes sotto_people_name(const uint8_t *row);
size_t sotto_people_row_size(const uint8_t *row);
/* Rows that stand one behind the other, as a device's. */
SOTTO_MUST_USE sotto_status sotto_people_unpack(const sotto_people *people, sotto_person *out,
                                                sotto_bytes rows, sotto_arena *arena,
                                                sotto_err *err);
/* Tells the types that nobody stated. */
SOTTO_MUST_USE sotto_status sotto_people_tell_types(sotto_people *people, sotto_err *err);

/* people_likely.c: looks for a column that may name devices. */
SOTTO_MUST_USE sotto_status sotto_people_look_for_devices(sotto_people *people, sotto_err *err);

/* The next row that is good, packed behind `out`. SOTTO_MISSING: there is none. */
SOTTO_MUST_USE sotto_status sotto_people_read(sotto_people *people, sotto_packed *out,
                                              sotto_err *err);

/* people_groups.c: sorts all rows of the file by device. */
SOTTO_MUST_USE sotto_status sotto_groups_fill(sotto_people *people, sotto_err *err);
/* The rows of the next device, in place of `out`. SOTTO_MISSING: there is none. */
SOTTO_MUST_USE sotto_status sotto_groups_next(sotto_groups *groups, sotto_packed *out,
                                              sotto_err *err);
void sotto_groups_rewind(sotto_groups *groups);
void sotto_groups_clear(sotto_groups *groups);

#endif
