/* One row: from text to typed values, packed and unpacked. */
#define _POSIX_C_SOURCE 200809L
#include "support/people_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { NUMBER = 64 };

sotto_status sotto_packed_put(sotto_packed *out, const void *bytes, size_t len, sotto_err *err)
{
    if (len > out->cap - out->len) {
        size_t cap = out->cap ? 2 * out->cap : 4096;

        while (cap < out->len + len)
            cap *= 2;
        uint8_t *grown = realloc(out->data, cap);
        if (!grown)
            return sotto_fail(err, SOTTO_NO_MEMORY, "the rows of a file");
        out->data = grown;
        out->cap = cap;
    }
    if (len > 0)
        memcpy(out->data + out->len, bytes, len);
    out->len += len;
    return SOTTO_OK;
}

void sotto_packed_clear(sotto_packed *out)
{
    free(out->data);
    *out = (sotto_packed){0};
}

/* ---- from text to a value ----------------------------------------------------------------------------------- */

static bool read_integer(int64_t *out, sotto_bytes text)
{
    char copy[NUMBER], *end;

    if (text.len == 0 || text.len >= sizeof copy ||
        (text.data[0] != '-' && (text.data[0] < '0' || text.data[0] > '9')))
        return false;
    memcpy(copy, text.data, text.len);
    copy[text.len] = 0;
    errno = 0;
    *out = strtoll(copy, &end, 10);
    return *end == 0 && errno == 0;
}

static bool read_real(double *out, sotto_bytes text)
{
    char copy[NUMBER], *end;

    if (text.len == 0 || text.len >= sizeof copy)
        return false;
    memcpy(copy, text.data, text.len);
    copy[text.len] = 0;
    if (strspn(copy, "+-0123456789.eE") != text.len)
        return false;
    *out = strtod(copy, &end);
    return *end == 0 && isfinite(*out);
}

static bool read_boolean(int64_t *out, sotto_bytes text)
{
    static const char *const words[] = {"0", "1", "false", "true", "no", "yes"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strlen(words[i]) == text.len &&
            strncasecmp(words[i], (const char *)text.data, text.len) == 0) {
            *out = (int64_t)(i % 2);
            return true;
        }
    return false;
}

/* An empty field is no value, unless it stands in quotes. */
static bool read_value(sotto_value *out, const sotto_csv_field *field, sotto_type type)
{
    *out = (sotto_value){.type = type};
    if (field->text.len == 0 && !(field->quoted && type == SOTTO_TYPE_TEXT)) {
        out->type = SOTTO_TYPE_NULL;
        return true;
    }
    switch (type) {
    case SOTTO_TYPE_INTEGER:
        return read_integer(&out->as.integer, field->text);
    case SOTTO_TYPE_REAL:
        return read_real(&out->as.real, field->text);
    case SOTTO_TYPE_BOOLEAN:
        return read_boolean(&out->as.integer, field->text);
    case SOTTO_TYPE_TEXT:
        out->as.text = field->text;
        return field->text.len <= SOTTO_STORE_MAX_TEXT;
    case SOTTO_TYPE_NULL:
        break;
    }
    return false;
}

/* ---- packing ------------------------------------------------------------------------------------------------ */

static sotto_status wrong(const sotto_people *people, size_t column, const sotto_csv_field *field,
                          const char *what, sotto_err *err)
{
    char shown[SOTTO_CSV_SHOWN], name[SOTTO_CSV_SHOWN];
    const char *title = sotto_csv_stream_column(people->csv, column);

    return sotto_fail(err, SOTTO_MALFORMED, "line %llu: column %s: '%s' is %s",
                      (unsigned long long)sotto_csv_stream_line(people->csv),
                      sotto_csv_shown(name, sotto_bytes_of(title, strlen(title))),
                      sotto_csv_shown(shown, field->text), what);
}

static const char *type_missed(sotto_type type)
{
    return type == SOTTO_TYPE_INTEGER   ? "no integer"
           : type == SOTTO_TYPE_REAL    ? "no number"
           : type == SOTTO_TYPE_BOOLEAN ? "neither true nor false"
                                        : "longer than 4,096 bytes";
}

static sotto_status put_text(sotto_packed *out, sotto_bytes text, sotto_err *err)
{
    const uint32_t len = (uint32_t)text.len;

    SOTTO_TRY(sotto_packed_put(out, &len, sizeof len, err));
    return sotto_packed_put(out, text.data, text.len, err);
}

static sotto_status put_value(sotto_packed *out, const sotto_value *value, sotto_err *err)
{
    const uint8_t type = (uint8_t)value->type;

    SOTTO_TRY(sotto_packed_put(out, &type, 1, err));
    if (value->type == SOTTO_TYPE_TEXT)
        return put_text(out, value->as.text, err);
    if (value->type == SOTTO_TYPE_REAL)
        return sotto_packed_put(out, &value->as.real, sizeof value->as.real, err);
    return value->type == SOTTO_TYPE_NULL
               ? SOTTO_OK
               : sotto_packed_put(out, &value->as.integer, sizeof value->as.integer, err);
}

static sotto_status put_head(const sotto_people *people, sotto_packed *out,
                             const sotto_csv_field *fields, sotto_err *err)
{
    const sotto_bytes name =
        people->device == SIZE_MAX ? sotto_bytes_of("", 0) : fields[people->device].text;
    int64_t time = INT64_MIN;

    if (people->device != SIZE_MAX && (name.len == 0 || name.len > 4096))
        return wrong(people, people->device, &fields[people->device], "no name of a device", err);
    if (people->time != SIZE_MAX && !read_integer(&time, fields[people->time].text))
        return wrong(people, people->time, &fields[people->time], "no time in seconds since 1970",
                     err);
    SOTTO_TRY(put_text(out, name, err));
    return sotto_packed_put(out, &time, sizeof time, err);
}

static sotto_status pack(const sotto_people *people, sotto_packed *out,
                         const sotto_csv_field *fields, sotto_err *err)
{
    SOTTO_TRY(put_head(people, out, fields, err));
    for (size_t i = 0; i < people->options.field_count; i++) {
        const sotto_csv_field *field = &fields[people->columns[i]];
        sotto_value value;

        if (!read_value(&value, field, people->fields[i].type))
            return wrong(people, people->columns[i], field, type_missed(people->fields[i].type),
                         err);
        SOTTO_TRY(put_value(out, &value, err));
    }
    for (size_t i = 0; i < people->options.described_count; i++)
        SOTTO_TRY(put_text(out, fields[people->described[i]].text, err));
    return SOTTO_OK;
}

sotto_status sotto_people_pack(const sotto_people *people, sotto_packed *out,
                               const sotto_csv_field *fields, sotto_err *err)
{
    const size_t start = out->len;
    uint32_t size = 0;
    sotto_status status = sotto_packed_put(out, &size, sizeof size, err);

    if (status == SOTTO_OK)
        status = pack(people, out, fields, err);
    if (status != SOTTO_OK) {
        out->len = start;
        return status;
    }
    size = (uint32_t)(out->len - start);
    memcpy(out->data + start, &size, sizeof size);
    return SOTTO_OK;
}

/* ---- unpacking ---------------------------------------------------------------------------------------------- */

size_t sotto_people_row_size(const uint8_t *row)
{
    uint32_t size;

    memcpy(&size, row, sizeof size);
    return size;
}

static sotto_bytes take_text(const uint8_t **at)
{
    uint32_t len;

    memcpy(&len, *at, sizeof len);
    *at += sizeof len + len;
    return sotto_bytes_of(*at - len, len);
}

sotto_bytes sotto_people_name(const uint8_t *row)
{
    const uint8_t *at = row + sizeof(uint32_t);

    return take_text(&at);
}

static void take_value(const uint8_t **at, sotto_value *out)
{
    out->type = (sotto_type) * *at;
    ++*at;
    if (out->type == SOTTO_TYPE_TEXT) {
        out->as.text = take_text(at);
    } else if (out->type != SOTTO_TYPE_NULL) {
        if (out->type == SOTTO_TYPE_REAL)
            memcpy(&out->as.real, *at, sizeof out->as.real);
        else
            memcpy(&out->as.integer, *at, sizeof out->as.integer);
        *at += 8;
    }
}

static sotto_status take_described(const sotto_people *people, sotto_person *out, const uint8_t *at,
                                   sotto_arena *arena, sotto_err *err)
{
    const size_t count = people->options.described_count;
    char **texts = sotto_arena_take_array(arena, count + 1, sizeof *texts);

    if (!texts)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a device's descriptions");
    for (size_t i = 0; i < count; i++) {
        const sotto_bytes text = take_text(&at);

        if (text.len == 0)
            continue;
        texts[i] = sotto_arena_take(arena, text.len + 1);
        if (!texts[i])
            return sotto_fail(err, SOTTO_NO_MEMORY, "a device's descriptions");
        memcpy(texts[i], text.data, text.len);
    }
    out->described = (const char *const *)texts;
    return SOTTO_OK;
}

sotto_status sotto_people_unpack(const sotto_people *people, sotto_person *out, sotto_bytes rows,
                                 sotto_arena *arena, sotto_err *err)
{
    const size_t fields = people->options.field_count;
    uint8_t *copy = sotto_arena_take(arena, rows.len);
    size_t count = 0;

    for (size_t at = 0; at < rows.len; at += sotto_people_row_size(rows.data + at))
        count++;
    sotto_value *values = sotto_arena_take_array(arena, count * fields + 1, sizeof *values);
    int64_t *times = sotto_arena_take_array(arena, count, sizeof *times);
    if (!copy || !values || !times)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a device of %zu rows", count);
    memcpy(copy, rows.data, rows.len);
    *out = (sotto_person){.rows = count, .values = values, .times = times};
    const uint8_t *row = copy;
    for (size_t i = 0; i < count; i++, row += sotto_people_row_size(row)) {
        const uint8_t *at = row + sizeof(uint32_t);

        (void)take_text(&at);
        memcpy(&times[i], at, sizeof times[i]);
        at += sizeof times[i];
        for (size_t j = 0; j < fields; j++)
            take_value(&at, &values[i * fields + j]);
        if (i == 0)
            SOTTO_TRY(take_described(people, out, at, arena, err));
    }
    return SOTTO_OK;
}

/* ---- types ---------------------------------------------------------------------------------------------------- */

/* A number that begins with 0 is a name, such as a postcode. */
static bool is_named(sotto_bytes text)
{
    return text.len > 1 && text.data[0] == '0' && text.data[1] != '.';
}

/* What the first rows hold of a column. */
typedef struct column_look {
    size_t filled, wholes, numbers;
    uint64_t line; /* of the first value that is no number; 0: there is none */
    char shown[SOTTO_CSV_SHOWN];
} column_look;

static void look_at(column_look *look, sotto_bytes text, uint64_t line)
{
    int64_t whole;
    double x;

    if (text.len == 0)
        return;
    look->filled++;
    if (is_named(text))
        return;
    look->wholes += read_integer(&whole, text);
    if (read_real(&x, text)) {
        look->numbers++;
    } else if (look->line == 0) {
        look->line = line;
        (void)sotto_csv_shown(look->shown, text);
    }
}

/* Where nine of ten values are numbers, the others are mistakes, and their rows are reported as such. */
static bool are_numbers(const column_look *look)
{
    return look->numbers >= look->filled - look->filled / 10;
}

/* Neither numbers nor texts: a mean would count its texts as 0, and nobody would know. Where the query needs numbers, rows without one
 * may be left out. */
static sotto_status tell_type(sotto_people *people, size_t i, const column_look *look,
                              sotto_err *err)
{
    const bool needed = people->options.numbers && people->options.numbers[i];
    const bool mixed = look->line > 0 && (needed || look->numbers >= look->filled - look->numbers);
    char name[SOTTO_CSV_SHOWN];

    people->fields[i].type = look->wholes == look->numbers ? SOTTO_TYPE_INTEGER : SOTTO_TYPE_REAL;
    if (are_numbers(look) || (mixed && needed && people->options.skip_bad))
        return SOTTO_OK;
    people->fields[i].type = SOTTO_TYPE_TEXT;
    if (!mixed)
        return SOTTO_OK;
    return sotto_fail(err, SOTTO_MALFORMED,
                      "line %llu: column %s: '%s' is no number, as %zu of the first %zu values "
                      "are: %s",
                      (unsigned long long)look->line,
                      sotto_csv_shown(name, sotto_bytes_of(people->fields[i].name,
                                                           strlen(people->fields[i].name))),
                      look->shown, look->numbers, look->filled,
                      needed ? "a text would count as 0" : "state its type");
}

sotto_status sotto_people_tell_types(sotto_people *people, sotto_err *err)
{
    column_look looks[SOTTO_PEOPLE_FIELDS] = {{0}};
    const sotto_csv_field *fields;
    sotto_status status = SOTTO_OK;
    bool any = false;

    for (size_t i = 0; i < people->options.field_count; i++)
        any = any || people->fields[i].type == SOTTO_TYPE_NULL;
    if (!any)
        return SOTTO_OK;
    for (size_t n = 0; n < SOTTO_PEOPLE_LOOK && status != SOTTO_MISSING; n++) {
        status = sotto_csv_stream_next(people->csv, &fields, NULL);
        for (size_t i = 0; status == SOTTO_OK && i < people->options.field_count; i++)
            look_at(&looks[i], fields[people->columns[i]].text, sotto_csv_stream_line(people->csv));
    }
    for (size_t i = 0; i < people->options.field_count; i++)
        if (people->fields[i].type == SOTTO_TYPE_NULL)
            SOTTO_TRY(tell_type(people, i, &looks[i], err));
    return sotto_csv_stream_rewind(people->csv, err);
}
