/* Examples of a table of the user's own: a column says whose a row is, one its class, and the others are numbers.
 *
 * The file is read twice, a record at a time: first every record is checked and counted, then it is kept, a byte a number. */
#define _POSIX_C_SOURCE 200809L
#include "learn_data.h"

#include "base/arena.h"
#include "support/csv_stream.h"
#include "support/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN = 10, NUMBER = 64, MOST_USERS = 10000000, MOST_ROWS = 1 << 30, STEPS = 255 };

typedef struct user {
    sotto_bytes name;
    bool tests;      /* its rows are tested with */
    uint32_t number; /* among those that train */
} user;

typedef struct table {
    const learn_csv_options *o;
    sotto_csv_stream *csv;
    size_t label, owner, *features, width; /* columns */
    user *users;
    size_t user_count, user_room;
    uint32_t *slots; /* of a hash table: a user's number and 1, or 0 */
    size_t slot_count;
    uint64_t rows, wrong, moved; /* moved: numbers beyond the range */
    size_t classes, training, test, trainers;
    sotto_arena *arena;
} table;

/* ---- columns ------------------------------------------------------------------------------------------------ */

static sotto_status column_named(const table *t, const char *name, const char *option, size_t *out,
                                 sotto_err *err)
{
    if (sotto_csv_stream_find(t->csv, name, out))
        return SOTTO_OK;
    return sotto_fail(err, SOTTO_MALFORMED, "%s: %.60s has no column '%.40s'", option, t->o->file,
                      name);
}

/* All columns but those two, or the ones that were named, with commas between them. */
static sotto_status find_features(table *t, sotto_err *err)
{
    const size_t columns = sotto_csv_stream_columns(t->csv);
    char name[256];

    t->features = sotto_arena_take_array(t->arena, columns, sizeof *t->features);
    if (!t->features)
        return sotto_fail(err, SOTTO_NO_MEMORY, "columns");
    for (size_t i = 0; i < columns && !t->o->features; i++)
        if (i != t->label && i != t->owner)
            t->features[t->width++] = i;
    for (const char *at = t->o->features; at && *at; at += *at == ',') {
        const size_t len = strcspn(at, ",");
        size_t column = 0;

        (void)snprintf(name, sizeof name, "%.*s", (int)(len < sizeof name ? len : 255), at);
        SOTTO_TRY(column_named(t, name, "--features", &column, err));
        if (column == t->label || column == t->owner || t->width == columns)
            return sotto_fail(err, SOTTO_MALFORMED,
                              "--features: '%.40s' is the label or the user, or is listed twice",
                              name);
        t->features[t->width++] = column;
        at += len;
    }
    return t->width > 0
               ? SOTTO_OK
               : sotto_fail(err, SOTTO_MALFORMED, "%.60s has no column of numbers", t->o->file);
}

/* ---- users ---------------------------------------------------------------------------------------------------- */

static size_t slot_of(const table *t, sotto_bytes name)
{
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */
    size_t at;

    for (size_t i = 0; i < name.len; i++)
        hash = (hash ^ name.data[i]) * UINT64_C(1099511628211);
    for (at = (size_t)hash % t->slot_count; t->slots[at] > 0; at = (at + 1) % t->slot_count)
        if (sotto_bytes_equal_vartime(t->users[t->slots[at] - 1].name, name))
            break;
    return at;
}

static bool grow(table *t)
{
    const size_t room = t->user_room ? 2 * t->user_room : 1024;
    user *more = sotto_arena_take_array(t->arena, room, sizeof *more);

    t->slot_count = 2 * room + 1;
    t->slots = sotto_arena_take_array(t->arena, t->slot_count, sizeof *t->slots);
    if (!more || !t->slots)
        return false;
    if (t->user_count > 0)
        memcpy(more, t->users, t->user_count * sizeof *more);
    t->users = more;
    t->user_room = room;
    for (size_t i = 0; i < t->user_count; i++)
        t->slots[slot_of(t, more[i].name)] = (uint32_t)(i + 1);
    return true;
}

/* Users get numbers as they appear. Every so manieth of them is tested with: whole users, so that nobody's rows are on both sides. */
static sotto_status user_of(table *t, sotto_bytes name, user **out, sotto_err *err)
{
    size_t slot;

    if (t->user_count == t->user_room && !grow(t))
        return sotto_fail(err, SOTTO_NO_MEMORY, "users");
    slot = slot_of(t, name);
    if (t->slots[slot] == 0) {
        uint8_t *copy = sotto_arena_take(t->arena, name.len);
        const size_t number = t->user_count;

        if (!copy || number == MOST_USERS)
            return sotto_fail(err, SOTTO_NO_MEMORY, "more than %zu users", number);
        memcpy(copy, name.data, name.len);
        t->users[number] = (user){.name = sotto_bytes_of(copy, name.len),
                                  .tests = floor((double)(number + 1) * t->o->test / 100) >
                                           floor((double)number * t->o->test / 100),
                                  .number = (uint32_t)t->trainers};
        t->trainers += !t->users[number].tests;
        t->slots[slot] = (uint32_t)++t->user_count;
    }
    *out = &t->users[t->slots[slot] - 1];
    return SOTTO_OK;
}

/* ---- one record ------------------------------------------------------------------------------------------------- */

static sotto_status read_number(const table *t, const sotto_csv_field *field, size_t column,
                                double *out, sotto_err *err)
{
    char text[NUMBER], shown[SOTTO_CSV_SHOWN];

    (void)snprintf(text, sizeof text, "%.*s", (int)(field->text.len < NUMBER ? field->text.len : 0),
                   (const char *)field->text.data);
    if (sotto_number_read(out, text, SOTTO_ROUND_NEAREST, "a number", NULL) == SOTTO_OK)
        return SOTTO_OK;
    return sotto_fail(err, SOTTO_MALFORMED, "line %" PRIu64 ": %.40s: '%s' is no number",
                      sotto_csv_stream_line(t->csv), sotto_csv_stream_column(t->csv, column),
                      sotto_csv_shown(shown, field->text));
}

static sotto_status read_label(const table *t, const sotto_csv_field *field, uint8_t *out,
                               sotto_err *err)
{
    double value;

    SOTTO_TRY(read_number(t, field, t->label, &value, err));
    if (!(value >= 0 && value < SOTTO_MODEL_CLASSES && value == floor(value)))
        return sotto_fail(err, SOTTO_MALFORMED,
                          "line %" PRIu64 ": %.40s: %g is no class: whole numbers from 0 to %d are",
                          sotto_csv_stream_line(t->csv), t->o->label, value,
                          SOTTO_MODEL_CLASSES - 1);
    *out = (uint8_t)value;
    return SOTTO_OK;
}

/* A 255th of the range for each step: as devices send no more than that, either. */
static uint8_t step_of(table *t, double value)
{
    const double part = (value - t->o->low) / (t->o->high - t->o->low);

    t->moved += part < 0 || part > 1;
    return (uint8_t)(STEPS * (part < 0 ? 0 : part > 1 ? 1 : part) + 0.5);
}

/* to: NULL: it is only checked. */
static sotto_status read_record(table *t, const sotto_csv_field *fields, uint8_t *label,
                                uint8_t *to, user **who, sotto_err *err)
{
    if (fields[t->owner].text.len == 0)
        return sotto_fail(err, SOTTO_MALFORMED, "line %" PRIu64 ": %.40s: nobody is named",
                          sotto_csv_stream_line(t->csv), t->o->user);
    SOTTO_TRY(read_label(t, &fields[t->label], label, err));
    for (size_t i = 0; i < t->width; i++) {
        double value;

        SOTTO_TRY(read_number(t, &fields[t->features[i]], t->features[i], &value, err));
        if (to)
            to[i] = step_of(t, value);
    }
    return user_of(t, fields[t->owner].text, who, err);
}

/* ---- all of them -------------------------------------------------------------------------------------------------- */

/* The reader of records names the file by itself. */
static void show(table *t, const sotto_err *why)
{
    const bool named = strncmp(why->reason, "line ", 5) != 0;

    if (t->wrong++ < SHOWN)
        (void)fprintf(stderr, "%s%s%s\n", named ? "" : t->o->file, named ? "" : ": ", why->reason);
}

/* What is wrong is said with its line, the first ten times; nothing is left out in silence. */
static sotto_status check_all(table *t, sotto_err *err)
{
    const sotto_csv_field *fields;
    sotto_status status;
    sotto_err why = {0};

    while ((status = sotto_csv_stream_next(t->csv, &fields, &why)) != SOTTO_MISSING) {
        uint8_t label = 0;
        user *who = NULL;

        if (status == SOTTO_OK)
            status = read_record(t, fields, &label, NULL, &who, &why);
        if (status == SOTTO_MALFORMED)
            show(t, &why);
        else if (status != SOTTO_OK)
            return sotto_fail(err, status, "%s", why.reason);
        sotto_err_clear(&why);
        if (status != SOTTO_OK)
            continue;
        if (++t->rows > MOST_ROWS)
            return sotto_fail(err, SOTTO_TOO_LARGE, "more than %d rows", MOST_ROWS);
        t->classes = label >= t->classes ? (size_t)label + 1 : t->classes;
        t->training += !who->tests;
        t->test += who->tests;
    }
    if (t->wrong > 0)
        return sotto_fail(err, SOTTO_MALFORMED,
                          "%.60s: %" PRIu64 " row%s wrong: nothing is written", t->o->file,
                          t->wrong, t->wrong == 1 ? " is" : "s are");
    if (t->classes < 2 || t->training == 0 || t->test == 0)
        return sotto_fail(err, SOTTO_MALFORMED,
                          "%.60s: %zu classes, %zu rows to train with and %zu to test with: two, "
                          "one and one are the least; --test says how many users are tested with",
                          t->o->file, t->classes, t->training, t->test);
    return SOTTO_OK;
}

static sotto_status keep_all(table *t, learn_rows *out, sotto_err *err)
{
    const sotto_csv_field *fields;
    size_t training = 0, test = t->training;
    uint8_t *row = sotto_arena_take(t->arena, t->width);
    sotto_status status;

    if (!row)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a row");

    while ((status = sotto_csv_stream_next(t->csv, &fields, err)) == SOTTO_OK) {
        uint8_t label = 0;
        user *who = NULL;

        SOTTO_TRY(read_record(t, fields, &label, row, &who, err));
        const bool fits =
            who->tests ? test < t->rows : training < t->training && who->number < out->users;
        if (!fits || label >= t->classes)
            return sotto_fail(err, SOTTO_STALE, "%.100s changed while it was read", t->o->file);
        const size_t at = who->tests ? test++ : training++;
        out->labels[at] = label;
        memcpy(out->values + at * t->width, row, t->width);
        if (!who->tests)
            out->owner[at] = who->number;
    }
    if (status == SOTTO_MISSING && training == t->training && test == t->rows)
        return SOTTO_OK;
    return sotto_fail(err, status == SOTTO_MISSING ? SOTTO_STALE : status,
                      "%.100s changed while it was read", t->o->file);
}

static sotto_status read_table(table *t, learn_rows *out, sotto_err *err)
{
    SOTTO_TRY(column_named(t, t->o->label, "--label", &t->label, err));
    SOTTO_TRY(column_named(t, t->o->user, "--user", &t->owner, err));
    if (t->label == t->owner)
        return sotto_fail(err, SOTTO_MALFORMED, "--label and --user name one column");
    SOTTO_TRY(find_features(t, err));
    SOTTO_TRY(check_all(t, err));
    *out = (learn_rows){.classes = t->classes,
                        .height = 1,
                        .width = t->width,
                        .training = t->training,
                        .test = t->test,
                        .users = t->trainers};
    out->labels = sotto_arena_take(t->arena, t->rows);
    out->values = sotto_arena_take_array(t->arena, t->rows, t->width);
    out->owner = sotto_arena_take_array(t->arena, t->training, sizeof *out->owner);
    if (!out->labels || !out->values || !out->owner)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for %" PRIu64 " rows", t->rows);
    SOTTO_TRY(sotto_csv_stream_rewind(t->csv, err));
    return keep_all(t, out, err);
}

sotto_status learn_data_csv(learn_rows *out, const learn_csv_options *o, uint64_t *moved,
                            sotto_arena *arena, sotto_err *err)
{
    table t = {.o = o, .arena = arena};
    sotto_status status = sotto_csv_stream_open(&t.csv, o->file, err);

    if (status == SOTTO_OK)
        status = read_table(&t, out, err);
    sotto_csv_stream_close(t.csv);
    *moved = t.moved;
    return status;
}
