#define _POSIX_C_SOURCE 200809L

#include "generate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { CEILING = 1 << 28, LARGEST_PATH = 1024 };

/* ---- what looks random ----------------------------------------------------------------------- */

void sotto_gen_start(sotto_gen *gen, const char *name)
{
    const uint8_t *head = (const uint8_t *)name;

    gen->out_of_memory = false;
    sotto_turboshake_absorb(&gen->source, SOTTO_TURBOSHAKE128_RATE, 0x1f, 1, &head, strlen(name),
                            NULL, 0);
}

sotto_status sotto_gen_bytes(sotto_gen *gen, sotto_bytes *out, size_t len, sotto_err *err)
{
    uint8_t *data = sotto_arena_take(gen->arena, len);

    if (data == NULL)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for %zu bytes", len);
    sotto_turboshake_squeeze(&gen->source, &data, len);
    *out = sotto_bytes_of(data, len);
    return SOTTO_OK;
}

uint64_t sotto_gen_number(sotto_gen *gen, uint64_t max)
{
    uint8_t bytes[8];
    uint8_t *to = bytes;
    uint64_t value = 0;

    sotto_turboshake_squeeze(&gen->source, &to, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        value = value << 8 | bytes[i];
    return max == UINT64_MAX ? value : value % (max + 1);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

void sotto_gen_put(sotto_gen *gen, json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) != 0)
        gen->out_of_memory = true;
}

void sotto_gen_add(sotto_gen *gen, json_t *array, json_t *value)
{
    if (json_array_append_new(array, value) != 0)
        gen->out_of_memory = true;
}

json_t *sotto_gen_hex(sotto_gen *gen, sotto_bytes bytes)
{
    static const char digits[] = "0123456789abcdef";
    char *text = sotto_arena_take(gen->arena, 2 * bytes.len + 1);

    if (text == NULL)
        return NULL;
    for (size_t i = 0; i < bytes.len; i++) {
        text[2 * i] = digits[bytes.data[i] >> 4];
        text[2 * i + 1] = digits[bytes.data[i] & 15];
    }
    text[2 * bytes.len] = 0;
    return json_string(text);
}

void sotto_gen_put_hex(sotto_gen *gen, json_t *object, const char *key, sotto_bytes bytes)
{
    sotto_gen_put(gen, object, key, sotto_gen_hex(gen, bytes));
}

void sotto_gen_put_number(sotto_gen *gen, json_t *object, const char *key, uint64_t value)
{
    sotto_gen_put(gen, object, key, sotto_gen_integer((sotto_uint128){.low = value}));
}

/* Divides by ten, in 32-bit pieces from the low one; the remainder is the last digit. */
static unsigned pop_digit(uint32_t piece[4])
{
    uint64_t rest = 0;

    for (size_t i = 4; i-- > 0;) {
        rest = rest << 32 | piece[i];
        piece[i] = (uint32_t)(rest / 10);
        rest %= 10;
    }
    return (unsigned)rest;
}

json_t *sotto_gen_integer(sotto_uint128 value)
{
    uint32_t piece[4] = {(uint32_t)value.low, (uint32_t)(value.low >> 32), (uint32_t)value.high,
                         (uint32_t)(value.high >> 32)};
    char text[48] = {0};
    size_t at = sizeof text - 1;

    if (value.high == 0 && value.low <= INT64_MAX)
        return json_integer((json_int_t)value.low);
    while ((piece[0] | piece[1] | piece[2] | piece[3]) != 0)
        text[--at] = (char)('0' + pop_digit(piece));
    text[--at] = SOTTO_JSON_LONG_INTEGER_MARK;
    return json_string(text + at);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Takes mark and quotes off the long integers. No other string of these files holds the mark. */
static void write_text(FILE *out, const char *text)
{
    for (const char *at = text; *at != 0; at++) {
        if (at[0] == '"' && at[1] == SOTTO_JSON_LONG_INTEGER_MARK) {
            for (at += 2; *at != '"'; at++)
                fputc(*at, out);
        } else {
            fputc(*at, out);
        }
    }
    fputc('\n', out);
}

static sotto_status write_file(const char *path, const char *text, sotto_err *err)
{
    FILE *out = fopen(path, "wb");

    if (out == NULL)
        return sotto_fail(err, SOTTO_IO, "%.100s: %s", path, strerror(errno));
    write_text(out, text);
    bool failed = ferror(out) != 0;
    if (fclose(out) != 0 || failed)
        return sotto_fail(err, SOTTO_IO, "%.100s: cannot write", path);
    return SOTTO_OK;
}

sotto_status sotto_gen_write(sotto_gen *gen, const char *name, json_t *root, sotto_err *err)
{
    char path[LARGEST_PATH];
    int len = snprintf(path, sizeof path, "%s/%s.json", gen->folder, name);
    char *text = gen->out_of_memory ? NULL : json_dumps(root, JSON_INDENT(1) | JSON_SORT_KEYS);
    sotto_status status;

    json_decref(root);
    if (text == NULL)
        status = sotto_fail(err, SOTTO_NO_MEMORY, "%s: no memory", name);
    else if (len < 0 || (size_t)len >= sizeof path)
        status = sotto_fail(err, SOTTO_TOO_LARGE, "%s: its path is too long", name);
    else
        status = write_file(path, text, err);
    free(text);
    return status;
}

/* ---- all of them ----------------------------------------------------------------------------- */

typedef struct family {
    const char *folder;
    sotto_status (*generate)(sotto_gen *gen, sotto_err *err);
} family;

static sotto_status generate_family(const family *f, const char *folder, sotto_arena *arena,
                                    sotto_err *err)
{
    char path[LARGEST_PATH];
    sotto_gen gen = {.folder = path, .arena = arena};
    int len = snprintf(path, sizeof path, "%s/%s", folder, f->folder);

    if (len < 0 || (size_t)len >= sizeof path)
        return sotto_fail(err, SOTTO_TOO_LARGE, "%.80s: too long", folder);
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return sotto_fail(err, SOTTO_IO, "%.100s: %s", path, strerror(errno));
    return f->generate(&gen, err);
}

sotto_status sotto_vectors_generate(const char *folder, sotto_err *err)
{
    static const family families[] = {
        {"vdaf-20", sotto_generate_vdaf},
        {"pine-20", sotto_generate_pine},
        {"pine-01", sotto_generate_pine_draft},
        {"xof-20", sotto_generate_xof},
        {"turboshake-rfc9861", sotto_generate_turboshake},
        {"hpke-rfc9180", sotto_generate_hpke},
        {"ohttp-rfc9458", sotto_generate_ohttp},
        {"dap-18", sotto_generate_dap},
        {"tokens", sotto_generate_token},
    };
    sotto_arena arena;
    sotto_status status = SOTTO_OK;

    sotto_arena_init(&arena, CEILING);
    for (size_t i = 0; i < sizeof families / sizeof families[0] && status == SOTTO_OK; i++)
        status = generate_family(&families[i], folder, &arena, err);
    sotto_arena_clear(&arena);
    return status;
}
