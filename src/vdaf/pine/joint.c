#include "vdaf/pine/joint.h"

#include "vdaf/pine/wrap.h"

#include <string.h>

enum { HELPER = 1 };

sotto_pine_purpose sotto_pine_purpose_of(const sotto_pine_scene *scene, sotto_pine_usage usage)
{
    return (sotto_pine_purpose){.pine = scene->pine, .usage = usage, .context = scene->context};
}

sotto_status sotto_pine_part(uint8_t *part, const sotto_pine_scene *scene, sotto_pine_usage usage,
                             unsigned aggregator, const uint8_t *blind, const uint8_t *share,
                             size_t count, sotto_err *err)
{
    sotto_pine_purpose p = sotto_pine_purpose_of(scene, usage);

    p.binder[p.binder_len++] = (uint8_t)aggregator;
    memcpy(p.binder + p.binder_len, scene->nonce, SOTTO_PINE_NONCE);
    p.binder_len += SOTTO_PINE_NONCE;
    p.body = sotto_bytes_of(share, count * scene->pine->config.field->element_size);
    return sotto_pine_derive(part, &p, blind, err);
}

sotto_status sotto_pine_joint_seed(uint8_t *seed, const sotto_pine_scene *scene,
                                   sotto_pine_usage usage, const uint8_t *parts, sotto_err *err)
{
    static const uint8_t zeros[SOTTO_PINE_MAX_SEED];
    sotto_pine_purpose p = sotto_pine_purpose_of(scene, usage);

    p.body = sotto_bytes_of(parts, 2 * scene->pine->sizes.seed);
    return sotto_pine_derive(seed, &p, zeros, err);
}

/* SOTTO_WRAP_LANES dot products at a time; the last batch may have unused lanes, whose entries are never read from. */
static sotto_status take_dots(uint8_t *dots, const sotto_pine *pine, sotto_pine_stream *stream,
                              const uint8_t *planes, uint8_t *entries, sotto_err *err)
{
    const sotto_pine_ops *f = pine->config.field;
    size_t d = (size_t)pine->config.dimension, stride = sotto_wrap_stride(d);
    int64_t sums[SOTTO_WRAP_LANES * SOTTO_WRAP_MAX_BYTES];
    const uint8_t *lane[SOTTO_WRAP_LANES];

    for (unsigned i = 0; i < pine->config.checks; i += SOTTO_WRAP_LANES) {
        unsigned lanes =
            pine->config.checks - i < SOTTO_WRAP_LANES ? pine->config.checks - i : SOTTO_WRAP_LANES;

        for (unsigned l = 0; l < SOTTO_WRAP_LANES; l++)
            lane[l] = entries + l * (stride / 4);
        for (unsigned l = 0; l < lanes; l++)
            SOTTO_TRY(sotto_pine_stream_next(stream, entries + l * (stride / 4), (d + 3) / 4, err));
        sotto_wrap_dots(sums, planes, f->element_size, stride, lane);
        for (unsigned l = 0; l < lanes; l++)
            f->from_planes(dots + (i + l) * f->element_size, sums + l * f->element_size);
    }
    sotto_wipe(sums, sizeof sums);
    return SOTTO_OK;
}

sotto_status sotto_pine_dots(uint8_t *dots, const sotto_pine_scene *scene, const uint8_t *seed,
                             const uint8_t *elements, sotto_arena *scratch, sotto_err *err)
{
    const sotto_pine *pine = scene->pine;
    size_t d = (size_t)pine->config.dimension, stride = sotto_wrap_stride(d);
    size_t size = pine->config.field->element_size;
    sotto_arena_mark mark = sotto_arena_here(scratch);
    uint8_t *planes = sotto_arena_take(scratch, stride * size);
    uint8_t *entries = sotto_arena_take(scratch, stride * SOTTO_WRAP_LANES / 4);
    sotto_pine_purpose purpose = sotto_pine_purpose_of(scene, SOTTO_PINE_WRAP_RANDOMNESS);
    sotto_pine_stream stream;
    sotto_status status;

    if (!planes || !entries) {
        sotto_arena_rollback(scratch, mark);
        return sotto_fail(err, SOTTO_NO_MEMORY, "PINE dot products: no memory");
    }
    memset(entries, 0, stride * SOTTO_WRAP_LANES / 4);
    sotto_wrap_planes(planes, elements, size, d);
    status = sotto_pine_stream_start(&stream, &purpose, seed, err);
    if (status == SOTTO_OK)
        status = take_dots(dots, pine, &stream, planes, entries, err);
    sotto_pine_stream_clear(&stream);
    sotto_arena_rollback(scratch, mark);
    return status;
}

sotto_status sotto_pine_proof_share(uint8_t *out, const sotto_pine_scene *scene,
                                    const uint8_t *seed, sotto_err *err)
{
    sotto_pine_purpose p = sotto_pine_purpose_of(scene, SOTTO_PINE_PROOF_SHARE);

    p.binder[0] = (uint8_t)scene->pine->config.norm_proofs;
    p.binder[1] = (uint8_t)scene->pine->config.proofs;
    p.binder[2] = HELPER;
    p.binder_len = 3;
    return sotto_pine_expand(out, sotto_pine_proof_elements(scene->pine), &p, seed, err);
}

sotto_status sotto_pine_meas_share(uint8_t *out, const sotto_pine_scene *scene, const uint8_t *seed,
                                   sotto_err *err)
{
    sotto_pine_purpose p = sotto_pine_purpose_of(scene, SOTTO_PINE_MEAS_SHARE);

    p.binder[0] = HELPER;
    p.binder_len = 1;
    return sotto_pine_expand(out, scene->pine->meas_len, &p, seed, err);
}

sotto_status sotto_pine_joint_rands(uint8_t *out, const sotto_pine_scene *scene,
                                    const uint8_t *seed, sotto_err *err)
{
    sotto_pine_purpose p = sotto_pine_purpose_of(scene, SOTTO_PINE_JOINT_RANDOMNESS);

    p.binder[0] = (uint8_t)scene->pine->config.proofs;
    p.binder_len = 1;
    return sotto_pine_expand(out, (size_t)SOTTO_PINE_JOINT_RAND * scene->pine->config.proofs, &p,
                             seed, err);
}
