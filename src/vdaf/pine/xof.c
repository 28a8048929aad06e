#include "vdaf/pine/xof.h"

#include "base/declassify.h"
#include "base/writer.h"
#include "vdaf/circuit.h"
#include "vdaf/pine/ops.h"

enum {
    DRAFT_VERSION = 1,
    ALGORITHM_CLASS_VDAF = 0,
    DOMAIN_XOF = 1,
    MAX_DST = 8 + SOTTO_PINE_MAX_CONTEXT
};

static void write_purpose(sotto_buf *dst, const sotto_pine_purpose *p)
{
    sotto_writer w = sotto_writer_on(dst);
    bool ours = p->pine->config.wire == SOTTO_PINE_DRAFT20;

    sotto_write_uint(&w, ours ? SOTTO_VDAF_VERSION : DRAFT_VERSION, 1);
    if (ours)
        sotto_write_uint(&w, ALGORITHM_CLASS_VDAF, 1);
    sotto_write_uint(&w, p->pine->config.algorithm, 4);
    sotto_write_uint(&w, p->usage, 2);
    if (ours)
        sotto_write_bytes(&w, p->context); /* fits: its length was checked on the way in */
}

/* XofTurboShake128 of draft-irtf-cfrg-vdaf-11: one byte of length before the purpose, none before the seed. */
static void start_draft11(sotto_turboshake *x, sotto_bytes dst, const uint8_t *seed,
                          size_t seed_len, const sotto_pine_purpose *p)
{
    const uint8_t len = (uint8_t)dst.len;

    sotto_turboshake_start(x, SOTTO_TURBOSHAKE128_RATE, 1);
    sotto_turboshake_add_common(x, &len, 1);
    sotto_turboshake_add_common(x, dst.data, dst.len);
    sotto_turboshake_add_common(x, seed, seed_len);
    sotto_turboshake_add_common(x, p->binder, p->binder_len);
    sotto_turboshake_add_common(x, p->body.data, p->body.len);
    sotto_turboshake_finish(x, DOMAIN_XOF);
}

sotto_status sotto_pine_stream_start(sotto_pine_stream *stream, const sotto_pine_purpose *p,
                                     const uint8_t *seed, sotto_err *err)
{
    uint8_t room[MAX_DST];
    sotto_buf buf = sotto_buf_over(room, sizeof room);
    const uint8_t *binder = p->binder, *body = p->body.data;

    stream->kind = p->pine->config.xof;
    write_purpose(&buf, p);
    if (stream->kind == SOTTO_PINE_HMAC_AES)
        return sotto_xof_hmac_sha256_aes128_init(&stream->aes, sotto_buf_bytes(&buf), seed,
                                                 sotto_bytes_of(p->binder, p->binder_len), p->body,
                                                 err);
    if (p->pine->config.wire == SOTTO_PINE_DRAFT11)
        start_draft11(&stream->sponge, sotto_buf_bytes(&buf), seed, p->pine->sizes.seed, p);
    else
        sotto_xof_turboshake128_init(&stream->sponge, 1, sotto_buf_bytes(&buf), &seed, &binder,
                                     p->binder_len, p->body.len ? &body : NULL, p->body.len);
    return SOTTO_OK;
}

sotto_status sotto_pine_stream_next(sotto_pine_stream *stream, uint8_t *out, size_t len,
                                    sotto_err *err)
{
    if (stream->kind == SOTTO_PINE_HMAC_AES)
        return sotto_xof_aes_next(&stream->aes, out, len, err);
    sotto_turboshake_squeeze(&stream->sponge, &out, len);
    return SOTTO_OK;
}

void sotto_pine_stream_clear(sotto_pine_stream *stream)
{
    if (stream->kind == SOTTO_PINE_HMAC_AES)
        sotto_xof_aes_clear(&stream->aes);
    sotto_wipe(stream, sizeof *stream);
}

sotto_status sotto_pine_derive(uint8_t *out, const sotto_pine_purpose *purpose, const uint8_t *seed,
                               sotto_err *err)
{
    sotto_pine_stream stream;
    sotto_status status = sotto_pine_stream_start(&stream, purpose, seed, err);

    if (status == SOTTO_OK)
        status = sotto_pine_stream_next(&stream, out, purpose->pine->sizes.seed, err);
    sotto_pine_stream_clear(&stream);
    return status;
}

/* A draw above the modulus is rejected. That one was says nothing of those that were kept. */
sotto_status sotto_pine_expand(uint8_t *out, size_t count, const sotto_pine_purpose *purpose,
                               const uint8_t *seed, sotto_err *err)
{
    const sotto_pine_ops *f = purpose->pine->config.field;
    sotto_pine_stream stream;
    sotto_status status = sotto_pine_stream_start(&stream, purpose, seed, err);

    for (size_t have = 0; status == SOTTO_OK && have < count;) {
        uint8_t *at = out + have * f->element_size;
        size_t wanted = count - have;

        status = sotto_pine_stream_next(&stream, at, wanted * f->element_size, err);
        uint64_t all = f->canonical(at, wanted);
        SOTTO_DECLASSIFY(&all, sizeof all);
        have += all ? wanted : f->sieve_vartime(at, wanted);
    }
    sotto_pine_stream_clear(&stream);
    return status;
}
