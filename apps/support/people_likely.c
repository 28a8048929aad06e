/* A file whose rows belong to fewer devices than it has rows looks like any other. The name of a column, and values that repeat, give a hint. */
#include "support/people_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool equals(const char *name, const char *word)
{
    for (; *name && tolower((unsigned char)*name) == *word; name++)
        word++;
    return *name == 0 && *word == 0;
}

/* user, user_id, userId, ID; and not grid or paid. */
static bool sounds_like_devices(const char *name)
{
    static const char *const words[] = {"user",   "device",   "person", "client", "customer",
                                        "member", "username", "userid", "uid",    "deviceid",
                                        "uuid",   "guid",     "id"};
    const size_t len = strlen(name);

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (equals(name, words[i]))
            return true;
    if (len < 3 || !equals(name + len - 2, "id"))
        return false;
    return !isalnum((unsigned char)name[len - 3]) ||
           (islower((unsigned char)name[len - 3]) && name[len - 2] == 'I');
}

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* FNV-1a: a hint needs no better one. */
static uint64_t hash_of(sotto_bytes text)
{
    uint64_t hash = UINT64_C(14695981039346656037);

    for (size_t i = 0; i < text.len; i++)
        hash = (hash ^ text.data[i]) * UINT64_C(1099511628211);
    return hash;
}

/* Whether two of the first rows have the same value in a column, other than none. */
static sotto_status repeats(sotto_people *people, size_t column, bool *out, sotto_err *err)
{
    /* A file in the order of time has many users before one comes again. */
    enum { LOOK = 10 * SOTTO_PEOPLE_LOOK };
    uint64_t *seen = malloc(LOOK * sizeof *seen);
    const sotto_csv_field *fields;
    sotto_status status = SOTTO_OK;
    size_t count = 0;

    *out = false;
    if (!seen)
        return sotto_fail(err, SOTTO_NO_MEMORY, "the rows of a file");
    for (size_t n = 0; n < LOOK && status != SOTTO_MISSING && status != SOTTO_IO; n++) {
        status = sotto_csv_stream_next(people->csv, &fields, NULL);
        if (status == SOTTO_OK && fields[column].text.len > 0)
            seen[count++] = hash_of(fields[column].text);
    }
    qsort(seen, count, sizeof *seen, by_number);
    for (size_t i = 1; i < count; i++)
        *out = *out || seen[i] == seen[i - 1];
    free(seen);
    return sotto_csv_stream_rewind(people->csv, err);
}

sotto_status sotto_people_look_for_devices(sotto_people *people, sotto_err *err)
{
    for (size_t i = 0; i < sotto_csv_stream_columns(people->csv) && !people->likely[0]; i++) {
        const char *name = sotto_csv_stream_column(people->csv, i);
        bool is = false;

        if (sotto_csv_stream_size(people->csv) == 0 || !sounds_like_devices(name))
            continue;
        SOTTO_TRY(repeats(people, i, &is, err));
        if (is)
            (void)sotto_csv_shown(people->likely, sotto_bytes_of(name, strlen(name)));
    }
    return SOTTO_OK;
}

const char *sotto_people_likely(const sotto_people *people)
{
    return people->likely[0] ? people->likely : NULL;
}
