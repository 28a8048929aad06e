/* Building an instance: parameters are checked before any work is done. */
#include "math/poly.h"
#include "vdaf/circuit.h"
#include "vdaf/flp.h"

#include <string.h>

/* Limits of ours, not of the draft: beyond them a report would be larger than any server takes. */
enum { MAX_ELEMENTS_LOG = 26, MAX_CHUNK_LOG = 22 };

#define MAX_ELEMENTS ((uint64_t)1 << MAX_ELEMENTS_LOG)
#define MAX_CHUNK    ((uint64_t)1 << MAX_CHUNK_LOG)
#define MAX_MESSAGE  (((size_t)1 << 31) - 1)

static unsigned bit_length(uint64_t x)
{
    unsigned bits = 0;

    for (; x; x >>= 1)
        bits++;
    return bits;
}

uint64_t sotto_circuit_weight(unsigned bit, unsigned bits, uint64_t max)
{
    uint64_t rest = ((uint64_t)1 << (bits - 1)) - 1;

    return bit + 1 < bits ? (uint64_t)1 << bit : max - rest;
}

/* ---- from the public types to circuits ---------------------------------------------------------- */

static sotto_circuit describe(const sotto_prio3_config *config)
{
    sotto_circuit c = {
        .algorithm = (uint32_t)config->type,
        .field = 128,
        .shares = config->shares,
        .proofs = config->proofs ? config->proofs : 1,
        .shape = SOTTO_SHAPE_CHUNKS,
        .degree = 2,
        .entries = config->length,
        .bits = 1,
        .max = 1,
        .chunk_length = config->chunk_length,
    };

    switch (config->type) {
    case SOTTO_PRIO3_COUNT:
        c.field = 64;
        c.shape = SOTTO_SHAPE_PRODUCT;
        c.entries = 1;
        break;
    case SOTTO_PRIO3_SUM:
        c.field = 64;
        c.shape = SOTTO_SHAPE_EACH;
        c.polynomial[1] = -1;
        c.polynomial[2] = 1;
        c.entries = 1;
        c.max = config->max;
        c.bits = bit_length(config->max);
        break;
    case SOTTO_PRIO3_SUM_VEC_WITH_MULTIPROOF:
        c.field = 64;
        /* fall through */
    case SOTTO_PRIO3_SUM_VEC:
        c.max = config->max;
        c.bits = bit_length(config->max);
        break;
    case SOTTO_PRIO3_HISTOGRAM:
        c.one_hot = true;
        c.linear = SOTTO_LINEAR_ONE;
        break;
    case SOTTO_PRIO3_MULTIHOT_COUNT_VEC:
        c.linear = SOTTO_LINEAR_CLAIM;
        c.claim_max = config->max;
        c.claim_bits = bit_length(config->max);
        break;
    case SOTTO_PRIO3_L1_BOUND_SUM:
        c.linear = SOTTO_LINEAR_CLAIM;
        c.max = c.claim_max = config->max;
        c.bits = c.claim_bits = bit_length(config->max);
        break;
    }
    return c;
}

static bool is_known(sotto_prio3_type type)
{
    return (type >= SOTTO_PRIO3_COUNT && type <= SOTTO_PRIO3_MULTIHOT_COUNT_VEC) ||
           type == SOTTO_PRIO3_L1_BOUND_SUM || type == SOTTO_PRIO3_SUM_VEC_WITH_MULTIPROOF;
}

/* Each parameter is present exactly where the type has it. */
static sotto_status check_config(const sotto_prio3_config *config, sotto_err *err)
{
    if (!is_known(config->type))
        return sotto_fail(err, SOTTO_MALFORMED, "type: no Prio3 has the identifier %d",
                          (int)config->type);
    bool vector = config->type != SOTTO_PRIO3_COUNT && config->type != SOTTO_PRIO3_SUM;
    bool bounded = config->type != SOTTO_PRIO3_COUNT && config->type != SOTTO_PRIO3_HISTOGRAM;
    bool multiproof = config->type == SOTTO_PRIO3_SUM_VEC_WITH_MULTIPROOF;

    if (!multiproof && config->proofs > 1)
        return sotto_fail(err, SOTTO_MALFORMED, "proofs: this type has one proof, not %u",
                          config->proofs);
    if (vector ? config->length == 0 || config->length > MAX_ELEMENTS : config->length != 0)
        return sotto_fail(err, SOTTO_MALFORMED, "length: wanted %s, got %llu",
                          vector ? "1 to 2^26" : "none", (unsigned long long)config->length);
    if (vector ? config->chunk_length == 0 || config->chunk_length > MAX_CHUNK
               : config->chunk_length != 0)
        return sotto_fail(err, SOTTO_MALFORMED, "chunk_length: wanted %s, got %llu",
                          vector ? "1 to 2^22" : "none", (unsigned long long)config->chunk_length);
    if (bounded ? config->max == 0 : config->max != 0)
        return sotto_fail(err, SOTTO_MALFORMED, "max: wanted %s, got %llu",
                          bounded ? "1 or more" : "none", (unsigned long long)config->max);
    if (config->type == SOTTO_PRIO3_MULTIHOT_COUNT_VEC && config->max > config->length)
        return sotto_fail(err, SOTTO_MALFORMED, "max: a weight of %llu is more than %llu entries",
                          (unsigned long long)config->max, (unsigned long long)config->length);
    return SOTTO_OK;
}

/* ---- what follows from the description ------------------------------------------------------------ */

static sotto_status check_circuit(const sotto_circuit *c, sotto_err *err)
{
    bool joint_rand = c->shape == SOTTO_SHAPE_CHUNKS;

    if (c->shares < 2 || c->shares > 255)
        return sotto_fail(err, SOTTO_MALFORMED, "shares: wanted 2 to 255, got %u", c->shares);
    if (c->proofs < 1 || c->proofs > 255)
        return sotto_fail(err, SOTTO_MALFORMED, "proofs: wanted 1 to 255, got %u", c->proofs);
    /* A client may grind joint randomness offline; 64 bits a proof are too few for one or two of them. */
    if (c->field == 64 && joint_rand && c->proofs < 3)
        return sotto_fail(err, SOTTO_MALFORMED,
                          "proofs: Field64 with joint randomness needs at least 3, got %u",
                          c->proofs);
    /* 2^bits must stay below the modulus (2^64 - 2^32 + 1, or 2^128 - ...). */
    if (c->field == 64 && c->bits > 63)
        return sotto_fail(err, SOTTO_MALFORMED, "max: %u bits do not fit Field64", c->bits);
    if (c->entries > MAX_ELEMENTS || c->entries * c->bits + c->claim_bits > MAX_ELEMENTS)
        return sotto_fail(err, SOTTO_MALFORMED,
                          "length: %llu entries of %u bits are more than 2^26 elements",
                          (unsigned long long)c->entries, c->bits);
    return SOTTO_OK;
}

static void derive(sotto_circuit *c)
{
    bool chunks = c->shape == SOTTO_SHAPE_CHUNKS;

    c->element_size = c->field / 8;
    c->meas_len = (size_t)c->entries * c->bits + c->claim_bits;
    c->calls = chunks ? (c->meas_len + c->chunk_length - 1) / c->chunk_length : c->meas_len;
    c->arity = chunks ? 2 * c->chunk_length : c->shape == SOTTO_SHAPE_PRODUCT ? 2 : 1;
    c->wire_log = sotto_log_of_next_power(1 + c->calls);
    c->gadget_poly_len = c->degree * (((size_t)1 << c->wire_log) - 1) + 1;
    c->gadget_log = sotto_log_of_next_power(c->gadget_poly_len);
    c->eval_output_len = chunks ? (c->linear == SOTTO_LINEAR_NONE ? 1 : 2) : c->calls;
    c->joint_rand_len = chunks ? c->calls : 0;
    c->prove_rand_len = c->arity;
    c->query_rand_len = 1 + (c->eval_output_len > 1 ? c->eval_output_len : 0);
    c->proof_len = c->arity + c->gadget_poly_len;
    c->verifier_len = c->arity + 2;
    c->flp = c->field == 64 ? &sotto_flp64 : &sotto_flp128;
}

static sotto_prio3_sizes sizes_of(const sotto_circuit *c)
{
    size_t seed = SOTTO_PRIO3_SEED_SIZE;
    size_t blind = c->joint_rand_len ? seed : 0;

    return (sotto_prio3_sizes){
        .rand = c->shares * (seed + blind),
        .public_share = c->shares * blind,
        .leader_share = sotto_circuit_bytes(c, c->meas_len + c->proof_len * c->proofs) + blind,
        .helper_share = seed + blind,
        .verifier_share = sotto_circuit_bytes(c, c->verifier_len * c->proofs) + blind,
        .verifier_message = blind,
        .out_share = sotto_circuit_bytes(c, (size_t)c->entries),
        .outputs = (size_t)c->entries,
    };
}

sotto_status sotto_prio3_init_circuit(sotto_prio3 *vdaf, sotto_arena *arena,
                                      const sotto_circuit *description, sotto_err *err)
{
    SOTTO_TRY(check_circuit(description, err));
    sotto_circuit here = {0}, *c = arena ? sotto_arena_take(arena, sizeof *c) : &here;
    if (!c)
        return sotto_fail(err, SOTTO_NO_MEMORY, "Prio3 instance: no memory");
    *c = *description;
    derive(c);
    vdaf->sizes = sizes_of(c);
    /* What no message of 32-bit length, and no sealed share, could carry. */
    if (vdaf->sizes.leader_share > MAX_MESSAGE || vdaf->sizes.verifier_share > MAX_MESSAGE)
        return sotto_fail(err, SOTTO_MALFORMED,
                          "length, chunk_length, proofs: a share would be longer than 2 GiB");
    if (!arena)
        return SOTTO_OK;
    void *tables = sotto_arena_take(arena, c->flp->tables_size(c));
    if (!tables)
        return sotto_fail(err, SOTTO_NO_MEMORY, "Prio3 tables: no memory");
    c->flp->tables_init(c, tables);
    c->tables = tables;
    vdaf->circuit = c;
    return SOTTO_OK;
}

sotto_status sotto_prio3_init(sotto_prio3 *vdaf, sotto_arena *arena,
                              const sotto_prio3_config *config, sotto_err *err)
{
    SOTTO_TRY(check_config(config, err));
    sotto_circuit description = describe(config);

    memset(vdaf, 0, sizeof *vdaf);
    vdaf->config = *config;
    return sotto_prio3_init_circuit(vdaf, arena, &description, err);
}

/* Proof elements: 2 * chunk seeds and 2 * 2^k - 1 values, 2^k the power of two above the calls. For each
 * size of the values, the best chunk is the smallest that needs no more calls than 2^k - 1. */
uint64_t sotto_prio3_best_chunk_length(uint64_t length, unsigned bits)
{
    uint64_t elements = length * bits, best = elements, best_cost = UINT64_MAX;

    if (elements == 0 || length > MAX_ELEMENTS || bits > 64 || elements > MAX_ELEMENTS)
        return 1;
    for (unsigned k = 1; k <= MAX_ELEMENTS_LOG + 1; k++) {
        uint64_t calls = ((uint64_t)1 << k) - 1;
        uint64_t chunk = (elements + calls - 1) / calls;
        uint64_t cost = 2 * chunk + 2 * (calls + 1);

        if (cost < best_cost && chunk <= MAX_CHUNK) {
            best_cost = cost;
            best = chunk;
        }
    }
    return best;
}
