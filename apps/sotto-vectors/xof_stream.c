#include "xof_stream.h"

#include <string.h>

enum { STEP = 64 /* bytes squeezed at a time: the other lanes' go nowhere */ };

/* What differs from XOF to XOF. */
typedef struct sotto_xof_stream_kind {
    const char *name;
    unsigned lanes;
    size_t seed_size;
    sotto_status (*init)(sotto_xof_stream *stream, unsigned lanes, sotto_bytes seed,
                         sotto_bytes dst, sotto_bytes binder, sotto_err *err);
    void (*next)(sotto_xof_stream *stream, uint8_t *out, size_t len);
} sotto_xof_stream_kind;

/* ---- XofTurboShake128 ------------------------------------------------------------------------ */

static sotto_status turboshake_init(sotto_xof_stream *stream, unsigned lanes, sotto_bytes seed,
                                    sotto_bytes dst, sotto_bytes binder, sotto_err *err)
{
    uint8_t strangers[SOTTO_LANES][SOTTO_XOF_SEED_SIZE];
    const uint8_t *seeds[SOTTO_LANES];
    const uint8_t *head[SOTTO_LANES];
    const uint8_t *body[SOTTO_LANES];
    size_t head_len = binder.len / 2;

    if (dst.len > UINT16_MAX)
        return sotto_fail(err, SOTTO_TOO_LARGE, "dst: %zu bytes", dst.len);
    for (unsigned i = 0; i < lanes; i++) {
        memset(strangers[i], (int)i, sizeof strangers[i]);
        seeds[i] = i + 1 == lanes ? seed.data : strangers[i];
        head[i] = binder.data;
        body[i] = binder.data + head_len;
    }
    sotto_xof_turboshake128_init(&stream->lanes, lanes, dst, seeds, head, head_len, body,
                                 binder.len - head_len);
    return SOTTO_OK;
}

static void turboshake_next(sotto_xof_stream *stream, uint8_t *out, size_t len)
{
    uint8_t nowhere[SOTTO_LANES][STEP];
    uint8_t *to[SOTTO_LANES];
    unsigned last = stream->lanes.lanes - 1;

    for (unsigned i = 0; i < last; i++)
        to[i] = nowhere[i];
    while (len > 0) {
        size_t step = len < STEP ? len : STEP;
        to[last] = out;
        sotto_xof_turboshake128_next(&stream->lanes, to, step);
        out += step;
        len -= step;
    }
}

/* ---- the two over AES ------------------------------------------------------------------------ */

static sotto_status fixed_key_init(sotto_xof_stream *stream, unsigned lanes, sotto_bytes seed,
                                   sotto_bytes dst, sotto_bytes binder, sotto_err *err)
{
    (void)lanes;
    return sotto_xof_fixed_key_aes128_init(&stream->aes, dst, seed.data, binder, err);
}

static sotto_status hmac_init(sotto_xof_stream *stream, unsigned lanes, sotto_bytes seed,
                              sotto_bytes dst, sotto_bytes binder, sotto_err *err)
{
    (void)lanes;
    return sotto_xof_hmac_sha256_aes128_init(&stream->aes, dst, seed.data, binder,
                                             sotto_bytes_of(NULL, 0), err);
}

static void aes_next(sotto_xof_stream *stream, uint8_t *out, size_t len)
{
    if (stream->status == SOTTO_OK)
        stream->status = sotto_xof_aes_next(&stream->aes, out, len, NULL);
    if (stream->status != SOTTO_OK)
        memset(out, 0, len);
}

/* ---- by name --------------------------------------------------------------------------------- */

static const sotto_xof_stream_kind kinds[] = {
    {"XofTurboShake128", SOTTO_LANES, SOTTO_XOF_SEED_SIZE, turboshake_init, turboshake_next},
    {"XofFixedKeyAes128", 1, SOTTO_XOF_FIXED_KEY_SEED_SIZE, fixed_key_init, aes_next},
    {"XofHmacSha256Aes128", 1, SOTTO_XOF_SEED_SIZE, hmac_init, aes_next},
};

static const sotto_xof_stream_kind *find_kind(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(name, kinds[i].name) == 0)
            return &kinds[i];
    return NULL;
}

unsigned sotto_xof_stream_lanes(const char *kind)
{
    const sotto_xof_stream_kind *found = find_kind(kind);

    return found != NULL ? found->lanes : 0;
}

static void release(sotto_xof_stream *stream)
{
    if (stream->kind->next == aes_next)
        sotto_xof_aes_clear(&stream->aes);
}

sotto_status sotto_xof_stream_init(sotto_xof_stream *stream, const char *kind, unsigned lanes,
                                   sotto_bytes seed, sotto_bytes dst, sotto_bytes binder,
                                   sotto_err *err)
{
    *stream = (sotto_xof_stream){.kind = find_kind(kind)};
    if (stream->kind == NULL || lanes == 0 || lanes > stream->kind->lanes)
        return sotto_fail(err, SOTTO_BUG, "no such XOF");
    if (seed.len != stream->kind->seed_size)
        return sotto_fail(err, SOTTO_MALFORMED, "seed: %zu bytes", seed.len);
    sotto_status status = stream->kind->init(stream, lanes, seed, dst, binder, err);
    if (status != SOTTO_OK)
        release(stream);
    return status;
}

void sotto_xof_stream_next(sotto_xof_stream *stream, uint8_t *out, size_t len)
{
    stream->kind->next(stream, out, len);
}

sotto_status sotto_xof_stream_finish(sotto_xof_stream *stream, sotto_err *err)
{
    sotto_status status = stream->status;

    release(stream);
    if (status != SOTTO_OK)
        return sotto_fail(err, status, "the stream failed");
    return SOTTO_OK;
}
