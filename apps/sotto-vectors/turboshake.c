/* TurboSHAKE vectors (RFC 9861): each element is one count. */
#include "families.h"

#include <stdio.h>
#include <string.h>

#include "crypto/turboshake.h"

enum { PATTERN_PERIOD = 251 };

typedef struct vector {
    unsigned rate;
    uint8_t domain;
    size_t length;
    sotto_bytes message;
    sotto_bytes wanted; /* the last bytes of the output, often all of it */
} vector;

bool sotto_vectors_turboshake_knows(const json_t *item)
{
    const char *alg = json_string_value(json_object_get(item, "alg"));

    return alg != NULL && strncmp(alg, "TurboSHAKE", 10) == 0;
}

/* RFC 9861's test messages: 00 01 .. fa, over and over. */
static sotto_status make_pattern(sotto_bytes *out, uint64_t len, sotto_arena *arena, sotto_err *err)
{
    uint8_t *data = len < SIZE_MAX ? sotto_arena_take(arena, (size_t)len + 1) : NULL;

    if (data == NULL)
        return sotto_fail(err, SOTTO_NO_MEMORY, "msg_ptn_len: too large");
    for (size_t i = 0; i < len; i++)
        data[i] = (uint8_t)(i % PATTERN_PERIOD);
    *out = sotto_bytes_of(data, (size_t)len);
    return SOTTO_OK;
}

static sotto_status read_message(sotto_bytes *out, const json_t *item, sotto_arena *arena,
                                 sotto_err *err)
{
    uint64_t len;

    if (json_object_get(item, "msg_ptn_len") == NULL)
        return sotto_json_get_hex(out, item, "msg", arena, err);
    SOTTO_TRY(sotto_json_get_uint(&len, item, "msg_ptn_len", err));
    return make_pattern(out, len, arena, err);
}

static sotto_status read_wanted(vector *v, const json_t *item, sotto_arena *arena, sotto_err *err)
{
    uint64_t length;
    uint64_t last;

    SOTTO_TRY(sotto_json_get_uint(&length, item, "L", err));
    SOTTO_TRY(sotto_json_get_hex(&v->wanted, item, "out", arena, err));
    last = length;
    if (json_object_get(item, "out_is_last") != NULL)
        SOTTO_TRY(sotto_json_get_uint(&last, item, "out_is_last", err));
    if (v->wanted.len == 0 || v->wanted.len != last || last > length)
        return sotto_fail(err, SOTTO_MALFORMED, "out: its length does not fit L");
    v->length = (size_t)length;
    return SOTTO_OK;
}

static sotto_status read_vector(vector *v, const json_t *item, sotto_arena *arena, sotto_err *err)
{
    const char *alg;
    sotto_bytes domain;

    SOTTO_TRY(sotto_json_get_text(&alg, item, "alg", err));
    v->rate =
        strcmp(alg, "TurboSHAKE128") == 0 ? SOTTO_TURBOSHAKE128_RATE : SOTTO_TURBOSHAKE256_RATE;
    SOTTO_TRY(sotto_json_get_hex(&domain, item, "D", arena, err));
    if (domain.len != 1 || domain.data[0] == 0 || domain.data[0] > 0x7f)
        return sotto_fail(err, SOTTO_MALFORMED, "D: not one byte of 01 to 7f");
    v->domain = domain.data[0];
    SOTTO_TRY(read_message(&v->message, item, arena, err));
    return read_wanted(v, item, arena, err);
}

static sotto_status check_lane(const vector *v, const uint8_t *output, const char *what,
                               sotto_err *err)
{
    sotto_bytes end = sotto_bytes_of(output + v->length - v->wanted.len, v->wanted.len);

    return sotto_vectors_compare(v->wanted, end, what, err);
}

/* Cuts message and output in two, which must change nothing, for as many equal lanes as asked. */
static sotto_status check_lanes(const vector *v, unsigned lanes, sotto_arena *arena, sotto_err *err)
{
    sotto_turboshake state;
    size_t head_len = v->message.len / 2;
    size_t first = v->length / 3;
    const uint8_t *head[SOTTO_LANES];
    const uint8_t *body[SOTTO_LANES];
    uint8_t *out[SOTTO_LANES];
    uint8_t *rest[SOTTO_LANES];
    char what[40];

    for (unsigned i = 0; i < lanes; i++) {
        head[i] = v->message.data;
        body[i] = v->message.data + head_len;
        out[i] = sotto_arena_take(arena, v->length);
        if (out[i] == NULL)
            return sotto_fail(err, SOTTO_NO_MEMORY, "L: too large");
        rest[i] = out[i] + first;
    }
    sotto_turboshake_absorb(&state, v->rate, v->domain, lanes, head, head_len, body,
                            v->message.len - head_len);
    sotto_turboshake_squeeze(&state, out, first);
    sotto_turboshake_squeeze(&state, rest, v->length - first);
    for (unsigned i = 0; i < lanes; i++) {
        snprintf(what, sizeof what, "out, lane %u of %u", i, lanes);
        SOTTO_TRY(check_lane(v, out[i], what, err));
    }
    return SOTTO_OK;
}

static sotto_status check_vector(const json_t *item, sotto_arena *arena, sotto_err *err)
{
    vector v = {0};

    SOTTO_TRY(read_vector(&v, item, arena, err));
    for (unsigned lanes = 1; lanes <= SOTTO_LANES; lanes++)
        SOTTO_TRY(check_lanes(&v, lanes, arena, err));
    return SOTTO_OK;
}

static bool is_implemented(const json_t *item)
{
    const char *alg = json_string_value(json_object_get(item, "alg"));

    return alg == NULL || strcmp(alg, "TurboSHAKE128") == 0 || strcmp(alg, "TurboSHAKE256") == 0;
}

static void run_item(const sotto_vector_file *file, const json_t *item, const char *name)
{
    sotto_err err = {0};

    if (!is_implemented(item))
        sotto_tally_skip(file->tally, file->path, name, "this algorithm is not implemented");
    else
        sotto_vectors_tell(file, name, check_vector(item, file->arena, &err), &err);
}

void sotto_vectors_turboshake(const sotto_vector_file *file)
{
    sotto_vectors_each(file, run_item);
}
