#include "dap/rejections.h"

#include "base/writer.h"
#include "crypto/hash.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

static const char KEY[] = "rejections", RATE[] = "rate_checked", RELEASED[] = "rate_released",
                  POPULATION[] = "population", OTHER[] = "other";

void sotto_dap_rejections_id(uint8_t out[SOTTO_RESOURCE_ID_SIZE], sotto_bytes share)
{
    static const char label[] = "sotto rejections";
    uint8_t digest[32];
    sotto_hash hash;

    sotto_hash_init(&hash, SOTTO_SHA256);
    sotto_hash_update(&hash, sotto_bytes_of(label, sizeof label));
    sotto_hash_update(&hash, share);
    sotto_hash_final(&hash, digest);
    memcpy(out, digest, SOTTO_RESOURCE_ID_SIZE);
}

/* A word, so that it can be printed and logged as it is. */
static bool is_cause(const char *name, size_t len)
{
    return len > 0 && len < SOTTO_REJECTION_NAME &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == len;
}

static void write_bool(sotto_writer *w, const char *key, bool value)
{
    sotto_write_text(w, ",\"");
    sotto_write_text(w, key);
    sotto_write_text(w, value ? "\":true" : "\":false");
}

/* Two members, since the first is what older collectors read. */
static void write_rate(sotto_writer *w, sotto_rate_checking rate)
{
    if (rate != SOTTO_RATE_UNTOLD)
        write_bool(w, RATE, rate != SOTTO_RATE_OFF);
    if (rate == SOTTO_RATE_PASSED || rate == SOTTO_RATE_RELEASED)
        write_bool(w, RELEASED, rate == SOTTO_RATE_RELEASED);
}

sotto_status sotto_dap_rejections_encode(sotto_buf *out, const sotto_rejections *rejections,
                                         sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);
    char number[24];

    sotto_write_text(&w, "{\"rejections\":{");
    for (size_t i = 0; i < rejections->count; i++) {
        const sotto_rejection *r = &rejections->items[i];

        if (!is_cause(r->cause, strlen(r->cause)) || r->reports > INT64_MAX)
            w.overflow = true;
        sotto_write_text(&w, i ? ",\"" : "\"");
        sotto_write_text(&w, r->cause);
        (void)snprintf(number, sizeof number, "\":%" PRIu64, r->reports);
        sotto_write_text(&w, number);
    }
    sotto_write_text(&w, "}");
    write_rate(&w, rejections->rate);
    if (rejections->population > 0 && rejections->population <= INT64_MAX) {
        (void)snprintf(number, sizeof number, "%" PRIu64, rejections->population);
        sotto_write_text(&w, ",\"");
        sotto_write_text(&w, POPULATION);
        sotto_write_text(&w, "\":");
        sotto_write_text(&w, number);
    }
    sotto_write_text(&w, "}");
    return sotto_writer_finish(&w, "rejections", err);
}

/* More causes than we keep: the last ones are added up. */
static sotto_rejection *place_for(sotto_rejections *out, const char *cause)
{
    sotto_rejection *r;

    if (out->count < SOTTO_REJECTION_CAUSES) {
        r = &out->items[out->count++];
        memcpy(r->cause, cause, strlen(cause) + 1);
        return r;
    }
    for (size_t i = 0; i < out->count; i++)
        if (strcmp(out->items[i].cause, OTHER) == 0)
            return &out->items[i];
    r = &out->items[out->count - 1];
    memcpy(r->cause, OTHER, sizeof OTHER);
    return r;
}

static sotto_status read_counts(sotto_rejections *out, json_t *counts, sotto_err *err)
{
    const char *cause;
    json_t *value;

    if (!json_is_object(counts))
        return sotto_fail(err, SOTTO_MALFORMED, "rejections: not counts by cause");
    json_object_foreach(counts, cause, value)
    {
        sotto_rejection *r;
        uint64_t reports;

        if (!is_cause(cause, strlen(cause)))
            return sotto_fail(err, SOTTO_MALFORMED, "rejections: a cause that is no word");
        if (!json_is_integer(value) || json_integer_value(value) < 0)
            return sotto_fail(err, SOTTO_MALFORMED, "rejections: invalid count");
        r = place_for(out, cause);
        reports = r->reports + (uint64_t)json_integer_value(value);
        r->reports = reports < INT64_MAX ? reports : INT64_MAX;
    }
    return SOTTO_OK;
}

/* A newer server may send other members beside the counts; they are ignored. */
static sotto_status read_rate(sotto_rejections *out, const json_t *json, sotto_err *err)
{
    const json_t *rate = json_object_get(json, RATE), *released = json_object_get(json, RELEASED);

    if (rate && !json_is_boolean(rate))
        return sotto_fail(err, SOTTO_MALFORMED, "rejections: %s is neither true nor false", RATE);
    if (released && !json_is_boolean(released))
        return sotto_fail(err, SOTTO_MALFORMED, "rejections: %s is neither true nor false",
                          RELEASED);
    if (json_is_true(released) && !json_is_true(rate))
        return sotto_fail(err, SOTTO_MALFORMED, "rejections: %s without a check", RELEASED);
    if (json_is_true(rate))
        out->rate = !released                ? SOTTO_RATE_CHECKED
                    : json_is_true(released) ? SOTTO_RATE_RELEASED
                                             : SOTTO_RATE_PASSED;
    else if (rate)
        out->rate = SOTTO_RATE_OFF;
    return SOTTO_OK;
}

static sotto_status read_population(sotto_rejections *out, const json_t *json, sotto_err *err)
{
    const json_t *population = json_object_get(json, POPULATION);

    if (population && (!json_is_integer(population) || json_integer_value(population) < 1))
        return sotto_fail(err, SOTTO_MALFORMED, "rejections: invalid %s", POPULATION);
    out->population = population ? (uint64_t)json_integer_value(population) : 0;
    return SOTTO_OK;
}

sotto_status sotto_dap_rejections_decode(sotto_rejections *out, sotto_bytes text, sotto_err *err)
{
    json_t *json;
    sotto_status status;

    memset(out, 0, sizeof *out);
    if (text.len > SOTTO_DAP_REJECTIONS_MAX)
        return sotto_fail(err, SOTTO_TOO_LARGE, "rejections: more than %d bytes",
                          SOTTO_DAP_REJECTIONS_MAX);
    json = json_loadb((const char *)text.data, text.len, JSON_REJECT_DUPLICATES, NULL);
    if (!json_is_object(json))
        status = sotto_fail(err, SOTTO_MALFORMED, "rejections: not one object");
    else
        status = read_counts(out, json_object_get(json, KEY), err);
    if (status == SOTTO_OK)
        status = read_rate(out, json, err);
    if (status == SOTTO_OK)
        status = read_population(out, json, err);
    json_decref(json);
    if (status == SOTTO_OK)
        out->known = true;
    else
        memset(out, 0, sizeof *out);
    return status;
}
