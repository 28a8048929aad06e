#include "interop/draw.h"

#include <string.h>

uint64_t sotto_draw_next(sotto_draw *draw)
{
    uint64_t z = draw->state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

uint64_t sotto_draw_below(sotto_draw *draw, uint64_t bound)
{
    return sotto_draw_next(draw) % bound;
}

/* 1 to `most`, each order of magnitude about as likely as another. */
static uint64_t draw_magnitude(sotto_draw *draw, uint64_t most)
{
    unsigned halvings = 0;

    while (most >> halvings > 1)
        halvings++;
    return 1 + sotto_draw_below(draw, most >> sotto_draw_below(draw, halvings + 1));
}

sotto_bytes sotto_draw_bytes(sotto_test *t, sotto_draw *draw, size_t len)
{
    uint8_t *out = sotto_test_take(t, len, 1);

    for (size_t i = 0; i < len; i++)
        out[i] = (uint8_t)sotto_draw_next(draw);
    return sotto_bytes_of(out, len);
}

/* ---- parameters ------------------------------------------------------------------------------ */

enum {
    MOST_ENTRIES = 1024,
    MOST_ELEMENTS = 4096, /* of an encoded measurement, times the number of proofs       */
    MOST_CALLS = 256,     /* the peer's verification takes time quadratic in gadget calls */
    MOST_BITS_FIELD64 = 56,
    MOST_BITS_FIELD128 = 63
};

static unsigned bit_length(uint64_t value)
{
    unsigned bits = 0;

    for (; value; value >>= 1)
        bits++;
    return bits;
}

/* A number of exactly `bits` bits; all ones, which needs no special weight, one time in four. */
static uint64_t draw_max(sotto_draw *draw, unsigned bits)
{
    uint64_t top = UINT64_C(1) << (bits - 1);

    return sotto_draw_below(draw, 4) == 0 ? top | (top - 1) : top | sotto_draw_below(draw, top);
}

static uint64_t elements_of(const sotto_prio3_config *config)
{
    switch (config->type) {
    case SOTTO_PRIO3_HISTOGRAM:
        return config->length;
    case SOTTO_PRIO3_MULTIHOT_COUNT_VEC:
        return config->length + bit_length(config->max);
    case SOTTO_PRIO3_L1_BOUND_SUM:
        return (config->length + 1) * bit_length(config->max);
    default:
        return config->length * bit_length(config->max);
    }
}

/* By the number of gadget calls; one time in eight the only chunk is longer than what it holds. */
static uint64_t draw_chunk(sotto_draw *draw, uint64_t elements)
{
    uint64_t calls = draw_magnitude(draw, elements < MOST_CALLS ? elements : MOST_CALLS);

    if (sotto_draw_below(draw, 8) == 0)
        return elements + sotto_draw_below(draw, 9);
    return (elements + calls - 1) / calls;
}

static void draw_config(sotto_draw *draw, sotto_prio3_config *config, const sotto_kind *kind)
{
    uint64_t bits = kind->element_size == 8 ? MOST_BITS_FIELD64 : MOST_BITS_FIELD128;
    uint64_t room;

    *config = (sotto_prio3_config){.type = kind->type, .shares = 2};
    if (kind->proofs)
        config->proofs = (unsigned)(2 + draw_magnitude(draw, 14));
    if (kind->length)
        config->length = draw_magnitude(draw, MOST_ENTRIES / (config->proofs ? config->proofs : 1));
    if (kind->type == SOTTO_PRIO3_MULTIHOT_COUNT_VEC) {
        config->max = 1 + sotto_draw_below(draw, config->length);
    } else if (kind->max) {
        room = MOST_ELEMENTS / ((config->length + 1) * (config->proofs ? config->proofs : 1));
        if (room < bits)
            bits = room;
        config->max = draw_max(draw, (unsigned)(1 + sotto_draw_below(draw, bits)));
    }
    if (kind->length)
        config->chunk_length = draw_chunk(draw, elements_of(config));
}

void sotto_draw_instance(sotto_test *t, sotto_draw *draw, sotto_instance *instance,
                         const sotto_kind *kind)
{
    /* Empty, DAP's length and beyond one block of the XOF. */
    static const size_t context_lengths[] = {0, 1, 38, 40, 167, 168, 169, 400};
    size_t len = context_lengths[sotto_draw_below(draw, 8)];
    sotto_bytes key = sotto_draw_bytes(t, draw, sizeof instance->verify_key);

    *instance = (sotto_instance){.kind = kind, .context = sotto_draw_bytes(t, draw, len)};
    memcpy(instance->verify_key, key.data, key.len);
    draw_config(draw, &instance->config, kind);
    CHECK_OK(t, sotto_prio3_init(&instance->vdaf, &t->arena, &instance->config, &t->err));
}

/* ---- measurements ---------------------------------------------------------------------------- */

/* The ends of a range are where encodings go wrong. */
static uint64_t draw_up_to(sotto_draw *draw, uint64_t max)
{
    switch (sotto_draw_below(draw, 8)) {
    case 0:
        return 0;
    case 1:
        return max;
    default:
        return sotto_draw_below(draw, max + 1);
    }
}

/* Ones at `weight` different places. */
static void draw_multihot(sotto_draw *draw, uint64_t *values, uint64_t length, uint64_t weight)
{
    for (uint64_t i = 0; i < length; i++) {
        values[i] = sotto_draw_below(draw, length - i) < weight;
        weight -= values[i];
    }
}

/* Splits `total` over random places. */
static void draw_norm(sotto_draw *draw, uint64_t *values, uint64_t length, uint64_t total)
{
    while (total > 0) {
        uint64_t part = 1 + sotto_draw_below(draw, total);

        values[sotto_draw_below(draw, length)] += part;
        total -= part;
    }
}

static sotto_measurement draw_measurement(sotto_test *t, sotto_draw *draw,
                                          const sotto_prio3_config *config)
{
    bool single = config->length == 0 || config->type == SOTTO_PRIO3_HISTOGRAM;
    size_t count = single ? 1 : (size_t)config->length;
    uint64_t *values = sotto_test_take(t, count, sizeof *values);

    switch (config->type) {
    case SOTTO_PRIO3_COUNT:
        values[0] = sotto_draw_below(draw, 2);
        break;
    case SOTTO_PRIO3_HISTOGRAM:
        values[0] = draw_up_to(draw, config->length - 1);
        break;
    case SOTTO_PRIO3_MULTIHOT_COUNT_VEC:
        draw_multihot(draw, values, config->length, draw_up_to(draw, config->max));
        break;
    case SOTTO_PRIO3_L1_BOUND_SUM:
        draw_norm(draw, values, config->length, draw_up_to(draw, config->max));
        break;
    default:
        for (size_t i = 0; i < count; i++)
            values[i] = draw_up_to(draw, config->max);
    }
    return (sotto_measurement){values, count};
}

void sotto_draw_report(sotto_test *t, sotto_draw *draw, const sotto_instance *instance,
                       sotto_peer *peer, sotto_interop_report *report, bool theirs)
{
    sotto_bytes nonce = sotto_draw_bytes(t, draw, sizeof report->nonce);
    sotto_bytes rand = sotto_draw_bytes(t, draw, instance->vdaf.sizes.rand);

    memcpy(report->nonce, nonce.data, nonce.len);
    report->measurement = draw_measurement(t, draw, &instance->config);
    sotto_interop_shard(t, instance, peer, report, rand, theirs);
}
