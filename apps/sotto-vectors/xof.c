/* XOF vectors of VDAF: a file is one count. */
#include "families.h"

#include <string.h>

#include "xof_stream.h"

/* ---- sampling field elements ----------------------------------------------------------------- */

typedef struct field {
    const char *name;
    size_t size;
    sotto_uint128 modulus;
} field;

static const field field64 = {"Field64", 8, {0xffffffff00000001, 0}};
static const field field128 = {"Field128", 16, {1, 0xffffffffffffffe4}};

static sotto_uint128 read_little_endian(const uint8_t *data, size_t size)
{
    sotto_uint128 value = {0};

    for (size_t i = 0; i < size; i++) {
        if (i < 8)
            value.low |= (uint64_t)data[i] << (8 * i);
        else
            value.high |= (uint64_t)data[i] << (8 * (i - 8));
    }
    return value;
}

static bool is_less(sotto_uint128 a, sotto_uint128 b)
{
    return a.high != b.high ? a.high < b.high : a.low < b.low;
}

/* Draws until a value below the modulus comes; both moduli fill their bytes, so none is masked. */
static void next_element(sotto_xof_stream *stream, const field *f, uint8_t *out, uint64_t *rejected)
{
    for (;; (*rejected)++) {
        sotto_xof_stream_next(stream, out, f->size);
        if (is_less(read_little_endian(out, f->size), f->modulus))
            return;
    }
}

/* ---- the two formats ------------------------------------------------------------------------- */

enum { MOST_ELEMENTS = 1 << 24 /* drawn in a few seconds: a mistyped length must not hang */ };

typedef struct input {
    const char *kind;
    sotto_bytes seed;
    sotto_bytes dst;
    sotto_bytes binder;
    uint64_t length;
} input;

static sotto_status read_input(input *in, const sotto_vector_file *file, sotto_err *err)
{
    in->kind = file->kind;
    SOTTO_TRY(sotto_json_get_hex(&in->seed, file->root, "seed", file->arena, err));
    SOTTO_TRY(sotto_json_get_hex(&in->dst, file->root, "dst", file->arena, err));
    SOTTO_TRY(sotto_json_get_hex(&in->binder, file->root, "binder", file->arena, err));
    SOTTO_TRY(sotto_json_get_uint(&in->length, file->root, "length", err));
    if (in->length == 0 || in->length > MOST_ELEMENTS)
        return sotto_fail(err, SOTTO_MALFORMED, "length: not 1 to %d", MOST_ELEMENTS);
    return SOTTO_OK;
}

static sotto_status open_stream(sotto_xof_stream *stream, const input *in, unsigned lanes,
                                sotto_err *err)
{
    return sotto_xof_stream_init(stream, in->kind, lanes, in->seed, in->dst, in->binder, err);
}

static sotto_status check_derived_seed(const input *in, unsigned lanes,
                                       const sotto_vector_file *file, sotto_err *err)
{
    sotto_xof_stream stream;
    sotto_bytes wanted;

    SOTTO_TRY(sotto_json_get_hex(&wanted, file->root, "derived_seed", file->arena, err));
    if (wanted.len == 0)
        return sotto_fail(err, SOTTO_MALFORMED, "derived_seed: empty");
    uint8_t *got = sotto_arena_take(file->arena, wanted.len);
    if (got == NULL)
        return sotto_fail(err, SOTTO_NO_MEMORY, "derived_seed: too long");
    SOTTO_TRY(open_stream(&stream, in, lanes, err));
    sotto_xof_stream_next(&stream, got, wanted.len);
    SOTTO_TRY(sotto_xof_stream_finish(&stream, err));
    return sotto_vectors_compare(wanted, sotto_bytes_of(got, wanted.len), "derived_seed", err);
}

static sotto_status check_expanded(const input *in, unsigned lanes, const sotto_vector_file *file,
                                   sotto_err *err)
{
    sotto_xof_stream stream;
    sotto_bytes wanted;
    uint64_t rejected = 0;

    SOTTO_TRY(sotto_json_get_hex(&wanted, file->root, "expanded_vec_field128", file->arena, err));
    if (wanted.len % field128.size != 0 || wanted.len / field128.size != in->length)
        return sotto_fail(err, SOTTO_MALFORMED, "expanded_vec_field128: not `length` elements");
    uint8_t *got = sotto_arena_take(file->arena, wanted.len);
    if (got == NULL)
        return sotto_fail(err, SOTTO_NO_MEMORY, "expanded_vec_field128: too long");
    SOTTO_TRY(open_stream(&stream, in, lanes, err));
    for (size_t at = 0; at < wanted.len; at += field128.size)
        next_element(&stream, &field128, got + at, &rejected);
    SOTTO_TRY(sotto_xof_stream_finish(&stream, err));
    return sotto_vectors_compare(wanted, sotto_bytes_of(got, wanted.len), "expanded_vec_field128",
                                 err);
}

/* NULL: no such field. */
static const field *find_field(const char *name)
{
    if (strcmp(name, field64.name) == 0)
        return &field64;
    return strcmp(name, field128.name) == 0 ? &field128 : NULL;
}

/* A seed that was searched for: its stream holds draws that are no element. */
static sotto_status check_rejection(const input *in, unsigned lanes, const sotto_vector_file *file,
                                    sotto_err *err)
{
    const char *name = "";
    json_t *last;
    sotto_uint128 wanted;
    uint64_t wanted_rejected;
    uint64_t rejected = 0;
    uint8_t element[16];
    sotto_xof_stream stream;

    SOTTO_TRY(sotto_json_get_text(&name, file->root, "field", err));
    const field *f = find_field(name);
    if (f == NULL)
        return sotto_fail(err, SOTTO_MALFORMED, "field: unknown");
    SOTTO_TRY(sotto_json_get(&last, file->root, "last_element", err));
    SOTTO_TRY(sotto_json_decimal(&wanted, last, "last_element", err));
    SOTTO_TRY(sotto_json_get_uint(&wanted_rejected, file->root, "rejected_draws", err));
    SOTTO_TRY(open_stream(&stream, in, lanes, err));
    for (uint64_t i = 0; i < in->length; i++)
        next_element(&stream, f, element, &rejected);
    SOTTO_TRY(sotto_xof_stream_finish(&stream, err));
    sotto_uint128 got = read_little_endian(element, f->size);
    if (got.low != wanted.low || got.high != wanted.high)
        return sotto_fail(err, SOTTO_REJECTED, "last_element: differs from the file");
    if (rejected != wanted_rejected)
        return sotto_fail(err, SOTTO_REJECTED, "rejected_draws: differs from the file");
    return SOTTO_OK;
}

static sotto_status check_file(const sotto_vector_file *file, sotto_err *err)
{
    input in;
    bool is_rejection = json_object_get(file->root, "rejected_draws") != NULL;

    SOTTO_TRY(read_input(&in, file, err));
    for (unsigned lanes = 1; lanes <= sotto_xof_stream_lanes(file->kind); lanes++) {
        if (is_rejection) {
            SOTTO_TRY(check_rejection(&in, lanes, file, err));
        } else {
            SOTTO_TRY(check_derived_seed(&in, lanes, file, err));
            SOTTO_TRY(check_expanded(&in, lanes, file, err));
        }
    }
    return SOTTO_OK;
}

bool sotto_vectors_xof_knows(const char *kind)
{
    return sotto_xof_stream_lanes(kind) > 0;
}

void sotto_vectors_xof(const sotto_vector_file *file)
{
    sotto_err err = {0};

    if (check_file(file, &err) == SOTTO_OK)
        sotto_tally_pass(file->tally, file->path, "");
    else
        sotto_tally_fail(file->tally, file->path, "", err.reason);
}
