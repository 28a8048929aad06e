/* Records of rounds, and the DAP task that each of them makes. */
#include "recipe/learning_correlated.h"

#include "base/hex.h"
#include "base/rule.h"
#include "base/writer.h"
#include "crypto/hash.h"
#include "recipe/claim.h"
#include "recipe/task.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the record ---------------------------------------------------------------------------------------- */

#define FIRST_LINE SOTTO_ROUND_INFO_TAG "\n"

bool sotto_round_record_is(sotto_bytes wire)
{
    return wire.len >= sizeof FIRST_LINE - 1 &&
           memcmp(wire.data, FIRST_LINE, sizeof FIRST_LINE - 1) == 0;
}

/* Takes the line off that begins with `word`, and returns what follows the word. Empty: there is no such line. */
static sotto_bytes take_line(sotto_bytes *rest, const char *word)
{
    const size_t len = strlen(word);
    const uint8_t *end = rest->len ? memchr(rest->data, '\n', rest->len) : NULL;

    if (!end || (size_t)(end - rest->data) < len || memcmp(rest->data, word, len) != 0)
        return sotto_bytes_of(NULL, 0);
    const sotto_bytes value = sotto_bytes_of(rest->data + len, (size_t)(end - rest->data) - len);
    *rest = sotto_bytes_of(end + 1, rest->len - (size_t)(end + 1 - rest->data));
    return value;
}

/* Up to six digits, the first of them 0 only if it is the only one. */
static bool read_round(uint64_t *out, sotto_bytes digits)
{
    enum { MOST_DIGITS = 6 };

    *out = 0;
    if (digits.len == 0 || digits.len > MOST_DIGITS || (digits.len > 1 && digits.data[0] == '0'))
        return false;
    for (size_t i = 0; i < digits.len; i++) {
        if (digits.data[i] < '0' || digits.data[i] > '9')
            return false;
        *out = *out * 10 + (uint64_t)(digits.data[i] - '0');
    }
    return true;
}

sotto_status sotto_round_record_decode(sotto_round_record *out, sotto_bytes wire, sotto_err *err)
{
    sotto_bytes rest = wire;

    if (!sotto_round_record_is(wire))
        return sotto_fail(err, SOTTO_MALFORMED, "round record: wanted " SOTTO_ROUND_INFO_TAG);
    (void)take_line(&rest, "");
    if (!read_round(&out->round, take_line(&rest, "round ")))
        return sotto_fail(err, SOTTO_MALFORMED, "round record: wanted a line with the round");
    if (!sotto_hex_decode(out->model, sizeof out->model, take_line(&rest, "model ")))
        return sotto_fail(err, SOTTO_MALFORMED,
                          "round record: wanted a line with the model's digest");
    out->is_signed = rest.len > 0 && rest.data[0] != '\n';
    if (out->is_signed &&
        !sotto_hex_decode(out->signature, sizeof out->signature, take_line(&rest, "signature ")))
        return sotto_fail(err, SOTTO_MALFORMED,
                          "round record: wanted a signature, or an empty line and the recipe");
    if (rest.len < 2 || rest.data[0] != '\n')
        return sotto_fail(err, SOTTO_MALFORMED,
                          "round record: wanted an empty line and the recipe");
    out->recipe = sotto_bytes_of(rest.data + 1, rest.len - 1);
    return SOTTO_OK;
}

sotto_status sotto_round_record_encode(sotto_buf *out, const sotto_round_record *record,
                                       sotto_err *err)
{
    char digits[2 * SOTTO_MODEL_HASH + 1], signature[2 * SOTTO_SIGNATURE + 1];
    sotto_writer w = sotto_writer_on(out);

    sotto_hex_encode(digits, sotto_bytes_of(record->model, sizeof record->model));
    sotto_write_format(&w, FIRST_LINE "round %" PRIu64 "\nmodel %s\n", record->round, digits);
    if (record->is_signed) {
        sotto_hex_encode(signature, sotto_bytes_of(record->signature, sizeof record->signature));
        sotto_write_format(&w, "signature %s\n", signature);
    }
    sotto_write_format(&w, "\n");
    sotto_write_bytes(&w, record->recipe);
    return sotto_writer_finish(&w, "round record", err);
}

/* ---- its owner's signature -------------------------------------------------------------------------------- */

enum { SIGNED_TEXT = 256 };

/* What is signed: the record's own lines, with the recipe's hash in the place of the recipe. */
static sotto_bytes signed_text(char out[SIGNED_TEXT], const sotto_round_record *record,
                               const uint8_t hash[SOTTO_RECIPE_HASH_SIZE])
{
    char model[2 * SOTTO_MODEL_HASH + 1], recipe[2 * SOTTO_RECIPE_HASH_SIZE + 1];

    sotto_hex_encode(recipe, sotto_bytes_of(hash, SOTTO_RECIPE_HASH_SIZE));
    sotto_hex_encode(model, sotto_bytes_of(record->model, sizeof record->model));
    (void)snprintf(out, SIGNED_TEXT, FIRST_LINE "round %" PRIu64 "\nmodel %s\nrecipe %s\n",
                   record->round, model, recipe);
    return sotto_bytes_of(out, strlen(out));
}

sotto_status sotto_round_record_sign(sotto_round_record *record, const sotto_signer *owner,
                                     sotto_err *err)
{
    uint8_t hash[SOTTO_RECIPE_HASH_SIZE];
    char text[SIGNED_TEXT];

    sotto_hash_once(hash, SOTTO_SHA256, record->recipe);
    record->is_signed = true;
    return sotto_sign(owner, record->signature, signed_text(text, record, hash), err);
}

sotto_status sotto_round_record_verify(const sotto_learning *l, const sotto_round_record *record,
                                       sotto_err *err)
{
    char text[SIGNED_TEXT];

    if (record->is_signed != l->owned)
        return sotto_fail(err, SOTTO_REJECTED, "round %" PRIu64 ": %s", record->round,
                          l->owned ? "the recipe's owner has not signed its record"
                                   : "its record is signed, and the recipe has no rounds.key");
    if (!l->owned)
        return SOTTO_OK;
    if (sotto_signature_check(l->owner, record->signature, signed_text(text, record, l->head.hash),
                              NULL) != SOTTO_OK)
        return sotto_fail(err, SOTTO_REJECTED,
                          "round %" PRIu64 ": its record is not signed by the recipe's rounds.key",
                          record->round);
    return SOTTO_OK;
}

/* ---- its name in a log ---------------------------------------------------------------------------------- */

#define NAME_BEGINS "urn:sotto:round:"

/* Takes what stands before the next colon off, or all of it. */
static sotto_bytes take_part(sotto_bytes *rest)
{
    const uint8_t *end = rest->len ? memchr(rest->data, ':', rest->len) : NULL;
    const size_t len = end ? (size_t)(end - rest->data) : rest->len;
    const sotto_bytes part = sotto_bytes_of(rest->data, len);

    *rest = end ? sotto_bytes_of(end + 1, rest->len - len - 1) : sotto_bytes_of(NULL, 0);
    return part;
}

/* The last part of a name, or the last but one: then a signature follows. */
static sotto_bytes take_model(sotto_bytes *rest, bool *is_signed)
{
    *is_signed = rest->len > 0 && memchr(rest->data, ':', rest->len) != NULL;
    return take_part(rest);
}

sotto_status sotto_round_name_decode(sotto_round_name *out, sotto_bytes url, sotto_err *err)
{
    const size_t begins = sizeof NAME_BEGINS - 1;

    if (url.len < begins || memcmp(url.data, NAME_BEGINS, begins) != 0)
        return sotto_fail(err, SOTTO_MALFORMED, "round name: wanted " NAME_BEGINS);
    sotto_bytes rest = sotto_bytes_of(url.data + begins, url.len - begins);
    if (!sotto_hex_decode(out->recipe, sizeof out->recipe, take_part(&rest)) ||
        !read_round(&out->round, take_part(&rest)) ||
        !sotto_hex_decode(out->model, sizeof out->model, take_model(&rest, &out->is_signed)) ||
        (out->is_signed && !sotto_hex_decode(out->signature, sizeof out->signature, rest)))
        return sotto_fail(err, SOTTO_MALFORMED,
                          "round name: wanted a recipe's hash, a round and a model's digest");
    return SOTTO_OK;
}

sotto_status sotto_round_name_encode(sotto_buf *out, const sotto_round_name *name, sotto_err *err)
{
    char recipe[2 * SOTTO_MODEL_HASH + 1], model[2 * SOTTO_MODEL_HASH + 1],
        signature[2 * SOTTO_SIGNATURE + 1];
    sotto_writer w = sotto_writer_on(out);

    sotto_hex_encode(recipe, sotto_bytes_of(name->recipe, sizeof name->recipe));
    sotto_hex_encode(model, sotto_bytes_of(name->model, sizeof name->model));
    sotto_write_format(&w, NAME_BEGINS "%s:%" PRIu64 ":%s", recipe, name->round, model);
    if (name->is_signed) {
        sotto_hex_encode(signature, sotto_bytes_of(name->signature, sizeof name->signature));
        sotto_write_format(&w, ":%s", signature);
    }
    return sotto_writer_finish(&w, "round name", err);
}

/* ---- the task ------------------------------------------------------------------------------------------- */

sotto_status sotto_round_record_check(const sotto_learning *l, const sotto_round_record *record,
                                      sotto_err *err)
{
    if (SOTTO_RULE(round_of_the_recipe) && record->round >= l->rounds)
        return sotto_fail(err, SOTTO_DENIED, "round %" PRIu64 ": the recipe has %" PRIu64,
                          record->round, l->rounds);
    if (SOTTO_RULE(round_begins_with_init) && record->round == 0 &&
        memcmp(record->model, l->init, sizeof l->init) != 0)
        return sotto_fail(err, SOTTO_DENIED,
                          "round 0: its model is not the one that the recipe begins with");
    if (SOTTO_RULE(round_signed_by_its_owner) &&
        sotto_round_record_verify(l, record, err) != SOTTO_OK)
        return SOTTO_REJECTED;
    return SOTTO_OK;
}

static sotto_status plan_reports(sotto_task *out, const sotto_learning *l, sotto_err *err)
{
    const sotto_vdaf_client_ops *ops = sotto_vdaf_client_named("pine");
    const sotto_vdaf_shape shape = {.length = sotto_learning_length(l),
                                    .most = sotto_learning_bound(l)};
    sotto_vdaf vdaf;

    if (!ops)
        return sotto_fail(err, SOTTO_MISSING, "this build has no PINE");
    ops->plan(&out->vdaf, &shape);
    SOTTO_TRY(sotto_vdaf_open(&vdaf, &out->vdaf, NULL, err));
    out->sizes = vdaf.sizes;
    return SOTTO_OK;
}

/* Servers take no task whose sums could wrap, whoever gave it to them. */
static sotto_status check_fits(const sotto_learning *l, sotto_err *err)
{
    sotto_learning_claim claim;

    SOTTO_TRY(sotto_learning_claim_compute(&claim, l, SOTTO_HONEST_UNSAID, err));
    for (size_t i = 0; i < claim.fit_count; i++)
        if (SOTTO_RULE(round_numbers_fit) && !claim.fits[i].holds)
            return sotto_fail(err, SOTTO_DENIED, "learn.update.scale: %s: %.6g is above %.6g",
                              claim.fits[i].what, claim.fits[i].left, claim.fits[i].right);
    return SOTTO_OK;
}

sotto_status sotto_round_task_compile(sotto_task *out, const sotto_learning *l,
                                      const sotto_round_record *record,
                                      const sotto_parties *parties, sotto_arena *arena,
                                      sotto_err *err)
{
    sotto_err_clear(err);

    const uint64_t opens = (uint64_t)l->head.opens + record->round * l->every;
    uint8_t memory[96];
    sotto_buf head = sotto_buf_over(memory, sizeof memory);
    sotto_writer w = sotto_writer_on(&head);

    if (SOTTO_RULE(round_task_of_two) && sotto_learning_one_server(l))
        return sotto_fail(err, SOTTO_DENIED, "aggregation.trust: only split has DAP tasks");
    SOTTO_TRY(sotto_round_record_check(l, record, err));
    SOTTO_TRY(check_fits(l, err));
    *out = (sotto_task){.opens = opens,
                        .closes = opens + l->every,
                        .by = l->head.by,
                        .randomizer = "none",
                        .epsilon_local = INFINITY,
                        .p = 1,
                        .bins = sotto_learning_length(l),
                        .weight = sotto_learning_length(l),
                        .noise_sigma = l->head.by == SOTTO_BY_SERVERS
                                           ? sotto_learning_sigma(l) *
                                                 sqrt((double)sotto_learning_most_nodes(l))
                                           : 0};
    SOTTO_TRY(plan_reports(out, l, err));
    sotto_write_bytes(&w, sotto_bytes_of(SOTTO_ROUND_INFO_TAG, sizeof SOTTO_ROUND_INFO_TAG - 1));
    sotto_write_bytes(&w, sotto_bytes_of(l->head.hash, sizeof l->head.hash));
    sotto_write_uint(&w, record->round, 4);
    sotto_write_bytes(&w, sotto_bytes_of(record->model, sizeof record->model));
    return sotto_task_finish(out, &l->head, parties, sotto_buf_bytes(&head), arena, err);
}
