/* Building an instance: parameters are checked before any work is done. */
#include "vdaf/pine/ops.h"

#include "math/poly.h"
#include "math/wide.h"

#include <string.h>

/* Limits of ours: beyond them a report would be larger than any server takes. */
#define MAX_DIMENSION   ((uint64_t)1 << 26)
#define MAX_CHUNK       ((uint64_t)1 << 20)
#define MAX_NORM_BOUND  ((uint64_t)1 << 48)
#define MAX_CHECKS      1000u
#define MAX_PROOFS      255u
#define MAX_ALPHA       1000u
#define SHARE_PROOFS_64 3u /* see check_config */
#define LEAST_CHECKS    90u

static unsigned bit_length(sotto_u128 x)
{
    unsigned bits = 0;

    for (; x; x >>= 1)
        bits++;
    return bits;
}

static sotto_u128 modulus_of(const sotto_pine_ops *f)
{
    return (sotto_u128)f->modulus_high << 64 | f->modulus_low;
}

static sotto_status check_range(const char *name, uint64_t value, uint64_t least, uint64_t most,
                                sotto_err *err)
{
    if (value >= least && value <= most)
        return SOTTO_OK;
    return sotto_fail(err, SOTTO_MALFORMED, "%s: wanted %llu to %llu, got %llu", name,
                      (unsigned long long)least, (unsigned long long)most,
                      (unsigned long long)value);
}

static sotto_status check_config(const sotto_pine_config *c, sotto_err *err)
{
    SOTTO_TRY(check_range("dimension", c->dimension, 1, MAX_DIMENSION, err));
    SOTTO_TRY(check_range("norm_bound", c->norm_bound, 1, MAX_NORM_BOUND, err));
    SOTTO_TRY(check_range("chunk", c->chunk, 1, MAX_CHUNK, err));
    SOTTO_TRY(check_range("norm_chunk", c->norm_chunk, 1, MAX_CHUNK, err));
    SOTTO_TRY(check_range("alpha_tenths", c->alpha_tenths, 10, MAX_ALPHA, err));
    SOTTO_TRY(check_range("checks", c->checks, 1, MAX_CHECKS, err));
    SOTTO_TRY(check_range("successes", c->successes, 1, c->checks, err));
    /* A client may grind these, too. A vector that wraps around passes each with a chance of about one half at most. */
    if (c->wire == SOTTO_PINE_DRAFT20 && (c->checks < LEAST_CHECKS || c->successes != c->checks))
        return sotto_fail(err, SOTTO_MALFORMED, "checks: wanted %u or more, and all successful",
                          LEAST_CHECKS);
    SOTTO_TRY(check_range("norm_proofs", c->norm_proofs, 1, MAX_PROOFS, err));
    /* A client may grind joint randomness offline; 64 bits a proof are too few for one or two of them, as with Prio3. */
    return check_range("proofs", c->proofs,
                       c->wire == SOTTO_PINE_DRAFT20 && c->field->bits < 128 ? SHARE_PROOFS_64 : 1,
                       MAX_PROOFS, err);
}

/* What the soundness of range and dot product checks needs of the field. A vector whose squares wrap around has a norm of
 * sqrt(p) or more. Its dot products must be too large to pass often, so wrap_bound has to be well below sqrt(p). The draft
 * allows it to be 63 times above, where vectors of 16 times the bound pass every check. Our framing keeps a tenth of
 * sqrt(p); for the draft's, half of it is refused. */
static sotto_status check_field(const sotto_pine *pine, sotto_err *err)
{
    sotto_u128 p = modulus_of(pine->config.field), bound = pine->config.norm_bound;
    sotto_u128 wrap = pine->wrap_bound;
    unsigned below = pine->config.wire == SOTTO_PINE_DRAFT20 ? 100 : 5;

    if ((p - 2) / (bound * bound) <= 3)
        return sotto_fail(err, SOTTO_MALFORMED,
                          "norm_bound: three times its square is above the field's modulus");
    if (p / wrap < 2600 || wrap * wrap > p / below)
        return sotto_fail(err, SOTTO_MALFORMED,
                          "norm_bound: too large to tell whether a sum of squares wrapped around");
    return SOTTO_OK;
}

static sotto_pine_circuit circuit_of(size_t chunk, unsigned wires, size_t calls)
{
    sotto_pine_circuit c = {.chunk = chunk, .arity = wires * chunk, .calls = calls};

    c.wire_log = sotto_log_of_next_power(1 + calls);
    c.proof_len = c.arity + 2 * ((size_t)1 << c.wire_log) - 1;
    c.verifier_len = c.arity + 2;
    return c;
}

static size_t chunks_of(size_t length, size_t chunk)
{
    return (length + chunk - 1) / chunk;
}

static void derive(sotto_pine *pine)
{
    const sotto_pine_config *c = &pine->config;
    size_t d = (size_t)c->dimension;
    uint64_t reach = (c->norm_bound * c->alpha_tenths + 9) / 10 + 1;

    pine->norm_bits = bit_length((sotto_u128)c->norm_bound * c->norm_bound);
    pine->wrap_bound = (uint64_t)1 << sotto_log_of_next_power((size_t)reach);
    pine->wrap_bits = bit_length(2 * (sotto_u128)pine->wrap_bound - 1);
    pine->bits = 2 * pine->norm_bits + (size_t)(pine->wrap_bits + 1) * c->checks;
    pine->head_len = d + 2 * pine->norm_bits;
    pine->meas_len = d + pine->bits;
    pine->norm = circuit_of((size_t)c->norm_chunk, 1, chunks_of(d, (size_t)c->norm_chunk));
    pine->main = circuit_of((size_t)c->chunk, 2,
                            chunks_of(pine->bits, (size_t)c->chunk) +
                                chunks_of(c->checks, (size_t)c->chunk));
}

static sotto_pine_sizes sizes_of(const sotto_pine *pine)
{
    const sotto_pine_config *c = &pine->config;
    size_t size = c->field->element_size;
    size_t seed = c->wire == SOTTO_PINE_DRAFT11 && c->xof == SOTTO_PINE_TURBOSHAKE ? 16 : 32;
    size_t proofs = c->norm_proofs * pine->norm.proof_len + c->proofs * pine->main.proof_len;
    size_t verifiers =
        c->norm_proofs * pine->norm.verifier_len + c->proofs * pine->main.verifier_len;

    return (sotto_pine_sizes){
        .seed = seed,
        .rand = 7 * seed,
        .public_share = 4 * seed,
        .leader_share = (pine->meas_len + proofs) * size + 2 * seed,
        .helper_share = 4 * seed,
        .verifier_share = verifiers * size + 2 * seed,
        .verifier_message = 2 * seed,
        .out_share = (size_t)c->dimension * size,
    };
}

static sotto_status make_tables(sotto_pine *pine, sotto_pine_circuit *c, sotto_arena *arena,
                                sotto_err *err)
{
    const sotto_pine_ops *f = pine->config.field;

    if (c->wire_log + 1 > f->root_log)
        return sotto_fail(err, SOTTO_MALFORMED, "chunk: too short for this field's roots of unity");
    void *tables = sotto_arena_take(arena, f->tables_size(c));
    if (!tables)
        return sotto_fail(err, SOTTO_NO_MEMORY, "PINE tables: no memory");
    f->tables_init(c, tables);
    c->tables = tables;
    return SOTTO_OK;
}

sotto_status sotto_pine_init(sotto_pine *pine, sotto_arena *arena, const sotto_pine_config *config,
                             sotto_err *err)
{
    SOTTO_TRY(check_config(config, err));
    memset(pine, 0, sizeof *pine);
    pine->config = *config;
    derive(pine);
    SOTTO_TRY(check_field(pine, err));
    pine->sizes = sizes_of(pine);
    SOTTO_TRY(make_tables(pine, &pine->norm, arena, err));
    return make_tables(pine, &pine->main, arena, err);
}
