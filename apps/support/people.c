#define _POSIX_C_SOURCE 200809L
#include "support/people.h"

#include "support/people_internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- columns ------------------------------------------------------------------------------------------------ */

/* What the file has in its place, as much of it as fits. */
static sotto_status lacks(const sotto_people *people, const char *name, sotto_err *err)
{
    char all[72] = "", shown[SOTTO_CSV_SHOWN];

    for (size_t i = 0; i < sotto_csv_stream_columns(people->csv); i++) {
        const char *column = sotto_csv_stream_column(people->csv, i);
        const size_t used = strlen(all);

        (void)snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "",
                       sotto_csv_shown(shown, sotto_bytes_of(column, strlen(column))));
    }
    return sotto_fail(err, SOTTO_MISSING, "no column '%.40s'; the first line has: %s", name, all);
}

static sotto_status find_columns(sotto_people *people, sotto_err *err)
{
    const sotto_people_options *o = &people->options;

    people->device = people->time = SIZE_MAX;
    if (o->field_count > SOTTO_PEOPLE_FIELDS || o->described_count > SOTTO_PEOPLE_DESCRIBED)
        return sotto_fail(err, SOTTO_TOO_LARGE, "more than 64 fields, or 16 descriptions");
    for (size_t i = 0; i < o->field_count; i++) {
        people->fields[i] = o->fields[i];
        if (!sotto_csv_stream_find(people->csv, o->fields[i].name, &people->columns[i]))
            return lacks(people, o->fields[i].name, err);
    }
    for (size_t i = 0; i < o->described_count; i++)
        if (!sotto_csv_stream_find(people->csv, o->described[i], &people->described[i]))
            return lacks(people, o->described[i], err);
    if (o->device_column && !sotto_csv_stream_find(people->csv, o->device_column, &people->device))
        return lacks(people, o->device_column, err);
    if (!sotto_csv_stream_find(people->csv, SOTTO_STORE_TIME, &people->time))
        people->time = SIZE_MAX;
    return SOTTO_OK;
}

/* ---- rows ----------------------------------------------------------------------------------------------------- */

sotto_status sotto_people_read(sotto_people *people, sotto_packed *out, sotto_err *err)
{
    const sotto_csv_field *fields;
    sotto_status status;

    do {
        sotto_err first = {0};

        status = sotto_csv_stream_next(people->csv, &fields, &first);
        if (status == SOTTO_OK)
            status = sotto_people_pack(people, out, fields, &first);
        if (status == SOTTO_MISSING)
            return status;
        if (status != SOTTO_OK && !(status == SOTTO_MALFORMED && people->options.skip_bad))
            return sotto_fail(err, status, "%s", first.reason);
        people->skipped += status != SOTTO_OK;
    } while (status != SOTTO_OK);
    return SOTTO_OK;
}

/* The rows of the next device of the file. */
static sotto_status next_of_file(sotto_people *people, sotto_err *err)
{
    people->row.len = 0;
    return people->grouped ? sotto_groups_next(&people->groups, &people->row, err)
                           : sotto_people_read(people, &people->row, err);
}

sotto_status sotto_people_count(sotto_people *people, sotto_err *err)
{
    sotto_status status = SOTTO_OK;

    people->in_file = 0;
    while (status == SOTTO_OK) {
        status = next_of_file(people, err);
        people->in_file += status == SOTTO_OK;
    }
    if (status != SOTTO_MISSING)
        return status;
    if (people->in_file == 0)
        return sotto_fail(err, SOTTO_MALFORMED, "%.100s: it has no row behind its first line",
                          people->options.path);
    return sotto_people_rewind(people, err);
}

/* ---- devices -------------------------------------------------------------------------------------------------- */

/* Takes the next one that stands for any. */
static sotto_status advance(sotto_people *people, sotto_err *err)
{
    const uint64_t n = people->options.devices, m = people->in_file;

    do {
        SOTTO_TRY(next_of_file(people, err));
        const uint64_t i = people->taken++;

        people->copies = n ? (i + 1) * n / m - i * n / m : 1;
    } while (people->copies == 0);
    return SOTTO_OK;
}

sotto_status sotto_people_next(sotto_people *people, sotto_people_block *block, sotto_err *err)
{
    const size_t most = block->most ? block->most : SOTTO_PEOPLE_BLOCK;

    sotto_arena_reset(&block->arena);
    block->first = people->number;
    for (block->count = 0; block->count < most;) {
        sotto_person person;

        if (people->copies == 0) {
            const sotto_status status = advance(people, err);

            if (status == SOTTO_MISSING)
                break;
            SOTTO_TRY(status);
        }
        SOTTO_TRY(sotto_people_unpack(people, &person,
                                      sotto_bytes_of(people->row.data, people->row.len),
                                      &block->arena, err));
        for (; people->copies > 0 && block->count < most; people->copies--)
            block->people[block->count++] = person;
    }
    people->number += block->count;
    return SOTTO_OK;
}

sotto_status sotto_people_rewind(sotto_people *people, sotto_err *err)
{
    people->taken = people->number = people->copies = 0;
    people->skipped = people->skipped_in_groups;
    if (people->grouped) {
        sotto_groups_rewind(&people->groups);
        return SOTTO_OK;
    }
    return sotto_csv_stream_rewind(people->csv, err);
}

sotto_status sotto_people_open(sotto_people **out, const sotto_people_options *options,
                               sotto_err *err)
{
    sotto_people *people = calloc(1, sizeof *people);
    sotto_status status;

    *out = NULL;
    if (!people)
        return sotto_fail(err, SOTTO_NO_MEMORY, "the rows of a file");
    people->options = *options;
    status = sotto_csv_stream_open(&people->csv, options->path, err);
    if (status == SOTTO_OK)
        status = find_columns(people, err);
    if (status == SOTTO_OK)
        status = sotto_people_tell_types(people, err);
    if (status == SOTTO_OK && !options->device_column)
        status = sotto_people_look_for_devices(people, err);
    if (status == SOTTO_OK && options->device_column) {
        people->grouped = true;
        status = sotto_groups_fill(people, err);
        people->skipped_in_groups = people->skipped;
    }
    if (status == SOTTO_OK && options->devices > 0)
        status = sotto_people_count(people, err);
    if (status == SOTTO_OK)
        *out = people;
    else
        sotto_people_close(people);
    return status;
}

void sotto_people_close(sotto_people *people)
{
    if (!people)
        return;
    sotto_groups_clear(&people->groups);
    sotto_packed_clear(&people->row);
    sotto_csv_stream_close(people->csv);
    free(people);
}

const sotto_field *sotto_people_fields(const sotto_people *people)
{
    return people->fields;
}

uint64_t sotto_people_skipped(const sotto_people *people)
{
    return people->skipped;
}

uint64_t sotto_people_all(const sotto_people *people)
{
    return people->options.devices ? people->options.devices : people->in_file;
}

uint64_t sotto_people_done(const sotto_people *people, uint64_t *total)
{
    if (people->grouped) {
        *total = people->groups.parts;
        return people->groups.part < *total ? people->groups.part : *total;
    }
    *total = sotto_csv_stream_size(people->csv);
    return sotto_csv_stream_at(people->csv);
}
