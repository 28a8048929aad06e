#include "tlog/entry.h"

#include "base/rule.h"

#include <string.h>

enum { VERSION = 1 };

typedef enum field_bit {
    FIELD_URL = 1,
    FIELD_SERIAL = 2,
    FIELD_WINDOW = 4,
    FIELD_KEY = 8, /* and its kind */
    FIELD_NAME = 16,
    FIELD_RELEASE = 32
} field_bit;

/* Fields stand in the order of their bits, but for the name, which comes before the URL. */
static const struct {
    const char *name;
    unsigned fields;
    bool object;
} types[SOTTO_ENTRY_TYPES] = {
    [SOTTO_ENTRY_RECIPE] = {"recipe", FIELD_URL, true},
    [SOTTO_ENTRY_PARTIES] = {"parties", FIELD_URL | FIELD_SERIAL, true},
    [SOTTO_ENTRY_ISSUER_KEY] = {"issuer key", FIELD_WINDOW | FIELD_KEY, false},
    [SOTTO_ENTRY_POLICY] = {"policy", FIELD_NAME, true},
    [SOTTO_ENTRY_LIBRARY] = {"library", FIELD_NAME | FIELD_URL, false},
    [SOTTO_ENTRY_RELEASE] = {"release", FIELD_WINDOW | FIELD_RELEASE, false},
    [SOTTO_ENTRY_ISSUER_KEYS] = {"issuer keys", FIELD_URL | FIELD_SERIAL, true},
};

const char *sotto_entry_type_name(sotto_entry_type type)
{
    return type < SOTTO_ENTRY_TYPES ? types[type].name : NULL;
}

bool sotto_entry_has_object(sotto_entry_type type)
{
    return type < SOTTO_ENTRY_TYPES && types[type].object;
}

bool sotto_entry_cohort_next(sotto_bytes *field, sotto_bytes *value, sotto_bytes *cohort)
{
    sotto_reader in = sotto_reader_over(*cohort);

    *field = sotto_read_opaque8(&in);
    *value = sotto_read_opaque16(&in);
    if (in.short_read || field->len == 0)
        return false;
    *cohort = sotto_bytes_of(in.at, sotto_reader_left(&in));
    return true;
}

/* A list of fields and values to its last byte. */
static bool is_cohort(sotto_bytes cohort)
{
    sotto_bytes field, value;

    if (cohort.len > SOTTO_ENTRY_COHORT_MAX)
        return false;
    while (sotto_entry_cohort_next(&field, &value, &cohort))
        continue;
    return cohort.len == 0;
}

static bool is_sane(const sotto_tlog_entry *e)
{
    return e->url.len <= SOTTO_ENTRY_URL_MAX && e->key.len <= SOTTO_ENTRY_KEY_MAX &&
           e->start <= e->end && is_cohort(e->cohort);
}

sotto_status sotto_tlog_entry_decode(sotto_tlog_entry *out, sotto_bytes wire, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);
    const uint64_t version = sotto_read_uint(&in, 1), type = sotto_read_uint(&in, 1);
    unsigned fields;

    memset(out, 0, sizeof *out);
    if (version != VERSION || type == 0 || type >= SOTTO_ENTRY_TYPES)
        return sotto_fail(err, SOTTO_MALFORMED, "log entry: of no type that is known");
    out->type = (sotto_entry_type)type;
    fields = types[type].fields;
    sotto_read_fixed(&in, out->digest, sizeof out->digest);
    if (fields & FIELD_NAME)
        out->name = sotto_read_opaque8(&in);
    if (fields & FIELD_URL)
        out->url = sotto_read_opaque16(&in);
    if (fields & FIELD_SERIAL)
        out->serial = sotto_read_uint(&in, 8);
    if (fields & FIELD_WINDOW) {
        out->start = sotto_read_uint(&in, 8);
        out->end = sotto_read_uint(&in, 8);
    }
    if (fields & FIELD_KEY) {
        out->kind = (uint16_t)sotto_read_uint(&in, 2);
        out->key = sotto_read_opaque16(&in);
    }
    if (fields & FIELD_RELEASE) {
        out->count = sotto_read_uint(&in, 8);
        sotto_read_fixed(&in, out->receipt, sizeof out->receipt);
        out->cohort = sotto_read_opaque16(&in);
    }
    SOTTO_TRY(sotto_reader_finish(&in, "log entry", err));
    if (SOTTO_RULE(log_entry_in_bounds) && !is_sane(out))
        return sotto_fail(err, SOTTO_MALFORMED, "log entry: too long, or a window without a start");
    return SOTTO_OK;
}

sotto_status sotto_tlog_entry_encode(sotto_buf *out, const sotto_tlog_entry *e, sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);
    unsigned fields;

    if (e->type == 0 || e->type >= SOTTO_ENTRY_TYPES || !is_sane(e))
        return sotto_fail(err, SOTTO_BUG, "log entry: out of bounds");
    fields = types[e->type].fields;
    sotto_write_uint(&w, VERSION, 1);
    sotto_write_uint(&w, e->type, 1);
    sotto_write_bytes(&w, sotto_bytes_of(e->digest, sizeof e->digest));
    if (fields & FIELD_NAME)
        sotto_write_opaque8(&w, e->name);
    if (fields & FIELD_URL)
        sotto_write_opaque16(&w, e->url);
    if (fields & FIELD_SERIAL)
        sotto_write_uint(&w, e->serial, 8);
    if (fields & FIELD_WINDOW) {
        sotto_write_uint(&w, e->start, 8);
        sotto_write_uint(&w, e->end, 8);
    }
    if (fields & FIELD_KEY) {
        sotto_write_uint(&w, e->kind, 2);
        sotto_write_opaque16(&w, e->key);
    }
    if (fields & FIELD_RELEASE) {
        sotto_write_uint(&w, e->count, 8);
        sotto_write_bytes(&w, sotto_bytes_of(e->receipt, sizeof e->receipt));
        sotto_write_opaque16(&w, e->cohort);
    }
    return sotto_writer_finish(&w, "log entry", err);
}
