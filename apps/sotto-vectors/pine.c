/* PINE vectors (draft-chen-cfrg-vdaf-pine-01, and ours in the framing of VDAF draft 20): a file is one count.
 *
 * Every step takes its input from the file, so that one wrong value is reported once, where it arises. A file may say with
 * `rejected` that a report's proofs must not hold.
 */
#include "families.h"

#include <math.h>
#include <string.h>

#include "vdaf/pine/ops.h"
#include "vdaf/pine/pine.h"

typedef struct pine_file {
    const json_t *root;
    sotto_arena *arena;
    sotto_pine pine;
    uint64_t frac_bits;
    sotto_bytes verify_key;
    sotto_bytes context;
} pine_file;

static const struct {
    const char *kind;
    const sotto_pine_ops *field;
    sotto_pine_xof xof;
    uint32_t algorithm;
} kinds[] = {
    {"Pine64", &sotto_pine_ops64, SOTTO_PINE_TURBOSHAKE, 0xffffffff},
    {"Pine128", &sotto_pine_ops128, SOTTO_PINE_TURBOSHAKE, 0xffffffff},
    {"Pine64HmacSha256Aes128", &sotto_pine_ops64, SOTTO_PINE_HMAC_AES, 0xffff1004},
    {"Pine32HmacSha256Aes128", &sotto_pine_ops32, SOTTO_PINE_HMAC_AES, 0xffff1005},
    {"Pine40HmacSha256Aes128", &sotto_pine_ops40, SOTTO_PINE_HMAC_AES, 0xffff1006},
};

bool sotto_vectors_pine_knows(const char *kind)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].kind, kind) == 0)
            return true;
    return false;
}

/* ---- the instance -------------------------------------------------------------------------------- */

static sotto_status read_small(unsigned *out, const json_t *root, const char *key, sotto_err *err)
{
    uint64_t value;

    SOTTO_TRY(sotto_json_get_uint(&value, root, key, err));
    if (value > 1000000)
        return sotto_fail(err, SOTTO_MALFORMED, "%s: too large", key);
    *out = (unsigned)value;
    return SOTTO_OK;
}

static sotto_status read_config(sotto_pine_config *c, const pine_file *f, const char *kind,
                                sotto_err *err)
{
    const json_t *alpha = json_object_get(f->root, "alpha");

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].kind, kind) == 0) {
            c->field = kinds[i].field;
            c->xof = kinds[i].xof;
            c->algorithm = kinds[i].algorithm;
        }
    c->wire = json_object_get(f->root, "ctx") ? SOTTO_PINE_DRAFT20 : SOTTO_PINE_DRAFT11;
    if (!json_is_number(alpha))
        return sotto_fail(err, SOTTO_MALFORMED, "alpha: not a number");
    c->alpha_tenths = (unsigned)lround(json_number_value(alpha) * 10);
    SOTTO_TRY(sotto_json_get_uint(&c->dimension, f->root, "dimension", err));
    SOTTO_TRY(sotto_json_get_uint(&c->norm_bound, f->root, "l2_norm_bound", err));
    SOTTO_TRY(sotto_json_get_uint(&c->chunk, f->root, "chunk_length", err));
    SOTTO_TRY(sotto_json_get_uint(&c->norm_chunk, f->root, "chunk_length_norm_equality", err));
    SOTTO_TRY(read_small(&c->checks, f->root, "num_wr_checks", err));
    SOTTO_TRY(read_small(&c->successes, f->root, "num_wr_successes", err));
    SOTTO_TRY(read_small(&c->proofs, f->root, "proofs", err));
    return read_small(&c->norm_proofs, f->root, "proofs_norm_equality", err);
}

static sotto_status open_file(pine_file *f, const char *kind, sotto_err *err)
{
    sotto_pine_config config = {0};

    SOTTO_TRY(read_config(&config, f, kind, err));
    SOTTO_TRY(sotto_json_get_uint(&f->frac_bits, f->root, "num_frac_bits", err));
    SOTTO_TRY(sotto_json_get_hex(&f->verify_key, f->root, "verify_key", f->arena, err));
    if (config.wire == SOTTO_PINE_DRAFT20)
        SOTTO_TRY(sotto_json_get_hex(&f->context, f->root, "ctx", f->arena, err));
    SOTTO_TRY(sotto_pine_init(&f->pine, f->arena, &config, err));
    if (f->verify_key.len != f->pine.sizes.seed)
        return sotto_fail(err, SOTTO_MALFORMED, "verify_key: wrong length");
    return SOTTO_OK;
}

/* ---- steps ------------------------------------------------------------------------------------- */

/* Real numbers in units of the last place, rounded to the nearest, ties to even. */
static sotto_status read_vector(int64_t *out, const pine_file *f, const json_t *values,
                                sotto_err *err)
{
    if (json_array_size(values) != f->pine.config.dimension)
        return sotto_fail(err, SOTTO_MALFORMED, "measurement: not `dimension` numbers");
    for (size_t i = 0; i < f->pine.config.dimension; i++)
        out[i] =
            (int64_t)llrint(ldexp(json_number_value(json_array_get(values, i)), (int)f->frac_bits));
    return SOTTO_OK;
}

static sotto_status hex_at(sotto_bytes *out, const pine_file *f, const json_t *report,
                           const char *key, size_t index, size_t len, sotto_err *err)
{
    const json_t *list = json_object_get(report, key);

    SOTTO_TRY(sotto_json_hex(out, json_array_get(list, index), key, f->arena, err));
    return out->len == len ? SOTTO_OK : sotto_fail(err, SOTTO_MALFORMED, "%s: wrong length", key);
}

static sotto_status check_shard(pine_file *f, const json_t *report, sotto_bytes nonce,
                                sotto_err *err)
{
    const sotto_pine_sizes *sizes = &f->pine.sizes;
    sotto_bytes rand, public_share, leader, helper;
    sotto_pine_report made = {sotto_arena_take(f->arena, sizes->public_share),
                              sotto_arena_take(f->arena, sizes->leader_share),
                              sotto_arena_take(f->arena, sizes->helper_share)};
    int64_t *vector = sotto_arena_take_array(f->arena, f->pine.config.dimension, sizeof *vector);

    if (!made.public_share || !made.leader_share || !made.helper_share || !vector)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory");
    SOTTO_TRY(read_vector(vector, f, json_object_get(report, "measurement"), err));
    SOTTO_TRY(sotto_json_get_hex(&rand, report, "rand", f->arena, err));
    SOTTO_TRY(sotto_json_get_hex(&public_share, report, "public_share", f->arena, err));
    SOTTO_TRY(hex_at(&leader, f, report, "input_shares", 0, sizes->leader_share, err));
    SOTTO_TRY(hex_at(&helper, f, report, "input_shares", 1, sizes->helper_share, err));
    if (rand.len != sizes->rand)
        return sotto_fail(err, SOTTO_MALFORMED, "rand: wrong length");
    SOTTO_TRY(sotto_pine_shard(&f->pine, &made, f->context, vector, nonce.data, rand.data, f->arena,
                               err));
    SOTTO_TRY(sotto_vectors_compare(
        public_share, sotto_bytes_of(made.public_share, sizes->public_share), "public_share", err));
    SOTTO_TRY(sotto_vectors_compare(leader, sotto_bytes_of(made.leader_share, sizes->leader_share),
                                    "leader's share", err));
    return sotto_vectors_compare(helper, sotto_bytes_of(made.helper_share, sizes->helper_share),
                                 "helper's share", err);
}

static sotto_status compare_out_share(const pine_file *f, const json_t *wanted, const uint8_t *got,
                                      sotto_err *err)
{
    size_t size = f->pine.config.field->element_size;

    for (size_t i = 0; i < f->pine.config.dimension; i++) {
        sotto_bytes element;

        SOTTO_TRY(sotto_json_hex(&element, json_array_get(wanted, i), "out_shares", f->arena, err));
        SOTTO_TRY(sotto_vectors_compare(element, sotto_bytes_of(got + i * size, size), "out_shares",
                                        err));
    }
    return SOTTO_OK;
}

/* One aggregator's first step, from the file's shares. */
static sotto_status check_verify(pine_file *f, const json_t *report, sotto_bytes nonce,
                                 unsigned aggregator, sotto_pine_state *state,
                                 sotto_bytes *verifier, sotto_err *err)
{
    const sotto_pine_sizes *sizes = &f->pine.sizes;
    size_t share = aggregator ? sizes->helper_share : sizes->leader_share;
    sotto_pine_input input = {.aggregator = aggregator, .nonce = nonce.data};
    uint8_t *out_share = sotto_arena_take(f->arena, sizes->out_share);
    uint8_t *made = sotto_arena_take(f->arena, sizes->verifier_share);

    if (!out_share || !made)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory");
    SOTTO_TRY(sotto_json_get_hex(&input.public_share, report, "public_share", f->arena, err));
    SOTTO_TRY(hex_at(&input.input_share, f, report, "input_shares", aggregator, share, err));
    SOTTO_TRY(sotto_pine_verify_init(&f->pine, state, out_share, made, f->verify_key.data,
                                     f->context, &input, f->arena, err));
    SOTTO_TRY(sotto_json_hex(
        verifier,
        json_array_get(json_array_get(json_object_get(report, "prep_shares"), 0), aggregator),
        "prep_shares", f->arena, err));
    SOTTO_TRY(sotto_vectors_compare(*verifier, sotto_bytes_of(made, sizes->verifier_share),
                                    "prep_shares", err));
    return compare_out_share(f, json_array_get(json_object_get(report, "out_shares"), aggregator),
                             out_share, err);
}

static sotto_status check_report(pine_file *f, const json_t *report, sotto_err *err)
{
    sotto_bytes nonce, verifiers[2], message;
    sotto_pine_state states[2];
    uint8_t made[2 * SOTTO_PINE_MAX_SEED];
    sotto_err why = {0};
    bool rejected = json_is_true(json_object_get(report, "rejected"));

    SOTTO_TRY(sotto_json_get_hex(&nonce, report, "nonce", f->arena, err));
    if (nonce.len != SOTTO_PINE_NONCE)
        return sotto_fail(err, SOTTO_MALFORMED, "nonce: wrong length");
    if (!rejected)
        SOTTO_TRY(check_shard(f, report, nonce, err));
    for (unsigned a = 0; a < 2; a++)
        SOTTO_TRY(check_verify(f, report, nonce, a, &states[a], &verifiers[a], err));
    sotto_status verdict = sotto_pine_verifier_shares_to_message(&f->pine, made, f->context,
                                                                 verifiers[0], verifiers[1], &why);
    if (rejected)
        return verdict == SOTTO_REJECTED
                   ? SOTTO_OK
                   : sotto_fail(err, SOTTO_REJECTED, "a report that must be rejected was not");
    if (verdict != SOTTO_OK)
        return sotto_fail(err, verdict, "%s", why.reason);
    SOTTO_TRY(hex_at(&message, f, report, "prep_messages", 0, f->pine.sizes.verifier_message, err));
    SOTTO_TRY(
        sotto_vectors_compare(message, sotto_bytes_of(made, message.len), "prep_messages", err));
    for (unsigned a = 0; a < 2; a++)
        SOTTO_TRY(sotto_pine_verify_next(&f->pine, &states[a], message, err));
    return SOTTO_OK;
}

/* ---- the sum ------------------------------------------------------------------------------------- */

/* Adds up one aggregator's output shares, as the file has them. */
static sotto_status add_up(pine_file *f, const json_t *reports, unsigned aggregator, uint8_t *agg,
                           sotto_err *err)
{
    size_t size = f->pine.config.field->element_size;
    uint8_t *share = sotto_arena_take(f->arena, f->pine.sizes.out_share);
    size_t i;
    json_t *report;

    if (!share)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory");
    memset(agg, 0, f->pine.sizes.out_share);
    json_array_foreach(reports, i, report)
    {
        const json_t *elements = json_array_get(json_object_get(report, "out_shares"), aggregator);

        if (json_is_true(json_object_get(report, "rejected")))
            continue;
        for (size_t e = 0; e < f->pine.config.dimension; e++) {
            sotto_bytes element;

            SOTTO_TRY(
                sotto_json_hex(&element, json_array_get(elements, e), "out_shares", f->arena, err));
            if (element.len != size)
                return sotto_fail(err, SOTTO_MALFORMED, "out_shares: wrong length");
            memcpy(share + e * size, element.data, size);
        }
        sotto_pine_accumulate(&f->pine, agg, share);
    }
    return SOTTO_OK;
}

static sotto_status check_sum(pine_file *f, const json_t *reports, sotto_err *err)
{
    size_t size = f->pine.sizes.out_share;
    uint8_t *agg[2] = {sotto_arena_take(f->arena, size), sotto_arena_take(f->arena, size)};
    int64_t *sum = sotto_arena_take_array(f->arena, f->pine.config.dimension, sizeof *sum);
    const json_t *result = json_object_get(f->root, "agg_result");

    if (!agg[0] || !agg[1] || !sum)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory");
    for (unsigned a = 0; a < 2; a++) {
        sotto_bytes wanted;

        SOTTO_TRY(add_up(f, reports, a, agg[a], err));
        SOTTO_TRY(hex_at(&wanted, f, f->root, "agg_shares", a, size, err));
        SOTTO_TRY(sotto_vectors_compare(wanted, sotto_bytes_of(agg[a], size), "agg_shares", err));
    }
    SOTTO_TRY(sotto_pine_unshard(&f->pine, sum, agg[0], agg[1], err));
    for (size_t i = 0; i < f->pine.config.dimension; i++)
        if (ldexp((double)sum[i], -(int)f->frac_bits) !=
            json_number_value(json_array_get(result, i)))
            return sotto_fail(err, SOTTO_REJECTED, "agg_result: entry %zu differs", i);
    return SOTTO_OK;
}

static sotto_status check_file(pine_file *f, const char *kind, sotto_err *err)
{
    json_t *reports;
    size_t i;
    json_t *report;

    SOTTO_TRY(open_file(f, kind, err));
    SOTTO_TRY(sotto_json_get_array(&reports, f->root, "prep", err));
    if (json_array_size(reports) == 0)
        return sotto_fail(err, SOTTO_MALFORMED, "prep: no report to compare");
    json_array_foreach(reports, i, report) SOTTO_TRY(check_report(f, report, err));
    return check_sum(f, reports, err);
}

void sotto_vectors_pine(const sotto_vector_file *file)
{
    pine_file f = {.root = file->root, .arena = file->arena};
    sotto_err err = {0};
    sotto_status status = check_file(&f, file->kind, &err);

    sotto_vectors_tell(file, "", status, &err);
}
