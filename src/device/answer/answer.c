#include "device/answer/answer.h"

#include "base/arena.h"
#include "base/declassify.h"
#include "dap/admission.h"
#include "dap/report_many.h"
#include "device/answer/measure.h"
#include "device/arc.h"
#include "device/oblivious.h"
#include "math/ct.h"
#include "noise/coin.h"
#include "recipe/encoding.h"

#include <string.h>

/* ---- from rows to a bin ----------------------------------------------------------------------------------- */

sotto_status sotto_answer_columns(size_t columns[SOTTO_MAX_ENCODERS], const sotto_recipe *recipe,
                                  const sotto_query *query, sotto_err *err)
{
    for (size_t i = 0; i < recipe->encoding.count; i++)
        SOTTO_TRY(sotto_query_column(query, &columns[i], recipe->encoding.encoders[i].column, err));
    return SOTTO_OK;
}

typedef struct picking {
    const sotto_recipe *recipe;
    size_t columns[SOTTO_MAX_ENCODERS];
    sotto_entropy *entropy;
    uint64_t bin;               /* of the row that is picked */
    uint64_t rows[2], drawn[2]; /* without and with a match: how many, and the bin of one of them */
} picking;

static sotto_datum datum_of(const sotto_value *value)
{
    switch (value->type) {
    case SOTTO_TYPE_INTEGER:
    case SOTTO_TYPE_BOOLEAN:
        return (sotto_datum){.type = SOTTO_DATUM_INTEGER, .integer = value->as.integer};
    case SOTTO_TYPE_REAL:
        return (sotto_datum){.type = SOTTO_DATUM_REAL, .real = value->as.real};
    case SOTTO_TYPE_TEXT:
        return (sotto_datum){.type = SOTTO_DATUM_TEXT, .text = value->as.text};
    case SOTTO_TYPE_NULL:
        break;
    }
    return (sotto_datum){.type = SOTTO_DATUM_NULL};
}

/* Rows that are passed over are never looked at. */
static sotto_status choose_row(void *context, uint64_t *number, uint64_t count, sotto_err *err)
{
    const picking *p = context;

    return sotto_uniform_below(number, count, p->entropy, err);
}

static sotto_status take_row(void *context, const sotto_value *values, size_t count, sotto_err *err)
{
    picking *p = context;
    sotto_datum cells[SOTTO_MAX_ENCODERS];

    for (size_t i = 0; i < p->recipe->encoding.count; i++) {
        if (p->columns[i] >= count)
            return sotto_fail(err, SOTTO_DENIED, "query: its answer lost a column");
        cells[i] = datum_of(&values[p->columns[i]]);
    }
    p->bin = sotto_encoding_bin_vartime(&p->recipe->encoding, cells);
    return SOTTO_OK;
}

/* Reservoir sampling: the n-th row replaces the one kept so far with chance 1/n, so each of n rows
 * is equally likely. */
static sotto_status weigh_row(void *context, const sotto_value *values, size_t count,
                              sotto_err *err)
{
    picking *p = context;
    uint64_t draw;

    SOTTO_TRY(take_row(p, values, count, err));
    const bool matches = sotto_encoding_matches_vartime(&p->recipe->encoding, p->bin);
    SOTTO_TRY(sotto_uniform_below(&draw, ++p->rows[matches], p->entropy, err));
    if (draw == 0)
        p->drawn[matches] = p->bin;
    return SOTTO_OK;
}

/* If none matches, another row is taken: staying silent would reveal that none matched. */
static sotto_status pick_matching(picking *p, sotto_query *query, sotto_err *err)
{
    sotto_status status = sotto_query_run(query, weigh_row, p, err);

    p->bin = p->rows[1] ? p->drawn[1] : p->rows[0] ? p->drawn[0] : SOTTO_NO_VALUE;
    return status;
}

static sotto_status pick(picking *p, sotto_query *query, sotto_err *err)
{
    switch (p->recipe->pick) {
    case SOTTO_PICK_FIRST:
        return sotto_query_first(query, take_row, p, err);
    case SOTTO_PICK_MATCHING_AT_RANDOM:
        return pick_matching(p, query, err);
    case SOTTO_PICK_ONE_AT_RANDOM:
        break;
    }
    return sotto_query_one(query, choose_row, take_row, p, err);
}

sotto_status sotto_answer_otherwise(uint64_t *bin, const sotto_recipe *recipe,
                                    sotto_entropy *entropy, sotto_err *err)
{
    *bin = SOTTO_NO_VALUE;
    if (recipe->on_no_match == SOTTO_NO_MATCH_OOV)
        *bin = sotto_encoding_oov(&recipe->encoding);
    else if (recipe->on_no_match == SOTTO_NO_MATCH_RANDOM_BIN)
        SOTTO_TRY(sotto_uniform_below(bin, recipe->encoding.bins, entropy, err));
    return SOTTO_OK;
}

sotto_status sotto_answer_bin(uint64_t *bin, bool *silent, const sotto_recipe *recipe,
                              sotto_query *query, sotto_entropy *entropy, sotto_err *err)
{
    picking p = {.recipe = recipe, .entropy = entropy, .bin = SOTTO_NO_VALUE};
    sotto_err stumbled = {0};
    uint64_t otherwise;

    *bin = SOTTO_NO_VALUE;
    *silent = false;
    SOTTO_TRY(sotto_answer_columns(p.columns, recipe, query, err));
    SOTTO_TRY(sotto_answer_otherwise(&otherwise, recipe, entropy, err));
    sotto_status status = pick(&p, query, &stumbled);
    /* Whether a query fails as it runs can depend on events: a number that overflows, a limit that is passed. Silence
     * without a charge would then reveal something. So the failure is charged, and answered like no match. */
    if (status != SOTTO_OK && status != SOTTO_IO && status != SOTTO_AGAIN) {
        p.bin = SOTTO_NO_VALUE;
        status = SOTTO_OK;
    }
    if (status != SOTTO_OK) {
        sotto_wipe(&p, sizeof p);
        return sotto_fail(err, status, "%s", stumbled.reason);
    }
    uint64_t none = sotto_ct_equal(p.bin, SOTTO_NO_VALUE);
    *bin = sotto_ct_select(none, otherwise, p.bin);
    /* Silence is visible to the servers, and its price is part of the claim. */
    if (recipe->on_no_match == SOTTO_NO_MATCH_SILENCE) {
        *silent = (none & 1) != 0;
        SOTTO_DECLASSIFY(silent, sizeof *silent);
    }
    sotto_wipe(&p, sizeof p);
    return SOTTO_OK;
}

/* ---- from a bin to a report -------------------------------------------------------------------------------- */

/* What a report is made from and bound to. */
static sotto_report_draft draft_of(const sotto_answer_plan *plan)
{
    sotto_report_draft draft = {.configuration = plan->task->configuration,
                                .metadata.time = (uint64_t)plan->now / plan->task->precision};

    memcpy(draft.task_id, plan->task->id, sizeof draft.task_id);
    return draft;
}

static sotto_status admit(sotto_report_draft *draft, const sotto_answer_plan *plan,
                          const uint8_t seed[SOTTO_ONCE_SEED],
                          const sotto_hpke_config to[SOTTO_REPORT_SHARES], sotto_arena *arena,
                          sotto_err *err)
{
    const sotto_wallet_row *token = plan->token;
    const sotto_wallet_row *const both[SOTTO_REPORT_SHARES] = {token, plan->helper_token};

    if (plan->helper_token)
        return sotto_linked_arc->attach(draft, both, plan->recipe, seed, to, arena, err);
    if (token->len != SOTTO_WALLET_HELD)
        return sotto_fail(err, SOTTO_BUG, "a report without its token");
    return sotto_admission_attach(
        draft, sotto_bytes_of(token->secret + SOTTO_ONCE_SEED, SOTTO_TYPE2_TOKEN), seed, to, arena,
        err);
}

/* With the token that admits it, which is put on before anything is sealed. */
static sotto_status
make_admitted(sotto_dap_report *out, sotto_report_draft *draft, const sotto_answer_plan *plan,
              const uint8_t seed[SOTTO_ONCE_SEED], const sotto_vdaf *vdaf,
              sotto_measurement measurement, const sotto_hpke_config to[SOTTO_REPORT_SHARES],
              const sotto_ephemeral *with, sotto_bytes random, sotto_arena *arena, sotto_err *err)
{
    sotto_bytes ikm;

    SOTTO_TRY(sotto_report_shard_from(draft, &ikm, vdaf, measurement, random, arena, err));
    SOTTO_TRY(admit(draft, plan, seed, to, arena, err));
    return sotto_report_seal_both_with(out, draft, to, with, ikm, arena, err);
}

/* Shards and seals what was measured. */
static sotto_status make(sotto_dap_report *out, sotto_report_draft *draft,
                         const sotto_answer_plan *plan, sotto_bytes seed,
                         sotto_measurement measurement, sotto_entropy *entropy, sotto_arena *arena,
                         sotto_err *err)
{
    sotto_hpke_config to[SOTTO_REPORT_SHARES];
    sotto_vdaf vdaf;
    sotto_buf random;

    for (unsigned who = 0; who < SOTTO_REPORT_SHARES; who++)
        SOTTO_TRY(sotto_hpke_config_decode(&to[who], plan->keys[who]->config, err));
    SOTTO_TRY(sotto_vdaf_open(&vdaf, &plan->task->vdaf, arena, err));
    SOTTO_TRY(sotto_buf_take(&random, arena, sotto_report_random_size(&vdaf), err));
    SOTTO_TRY(sotto_entropy_take(entropy, random.data, random.cap, err));
    sotto_ephemeral with[SOTTO_REPORT_SHARES];
    const sotto_ephemeral_source *from = plan->ephemerals;
    sotto_status status = SOTTO_OK;
    for (unsigned who = 0; from && who < SOTTO_REPORT_SHARES && status == SOTTO_OK; who++)
        status = from->take(from->context, &with[who], &to[who], err);
    if (status == SOTTO_OK && plan->token)
        status =
            make_admitted(out, draft, plan, seed.data, &vdaf, measurement, to, from ? with : NULL,
                          sotto_bytes_of(random.data, random.cap), arena, err);
    else if (status == SOTTO_OK)
        status = sotto_report_make_with(out, draft, &vdaf, measurement, to, from ? with : NULL,
                                        sotto_bytes_of(random.data, random.cap), arena, err);
    sotto_wipe(with, sizeof with);
    return status;
}

/* ---- what the outbox keeps of it -------------------------------------------------------------------------- */

static sotto_status write_report(sotto_bytes *out, const sotto_dap_report *report,
                                 sotto_arena *arena, sotto_err *err)
{
    sotto_buf wire;

    SOTTO_TRY(sotto_buf_take(&wire, arena, sotto_dap_report_size(report), err));
    SOTTO_TRY(sotto_dap_report_encode(&wire, report, err));
    *out = sotto_buf_bytes(&wire);
    return SOTTO_OK;
}

static sotto_status write_inputs(sotto_bytes *out, const sotto_answer_plan *plan, sotto_bytes seed,
                                 const sotto_report_draft *draft, sotto_arena *arena,
                                 sotto_err *err)
{
    const char *leader = plan->parties[SOTTO_REPORT_LEADER]->name;
    const sotto_kept_half kept =
        sotto_kept_half_of(draft, SOTTO_REPORT_LEADER, sotto_bytes_of(leader, strlen(leader)),
                           plan->keys[SOTTO_REPORT_LEADER]->config, seed);
    sotto_buf bytes;

    SOTTO_TRY(sotto_buf_take(&bytes, arena, sotto_kept_half_size(&kept), err));
    SOTTO_TRY(sotto_kept_half_encode(&bytes, &kept, err));
    *out = sotto_buf_bytes(&bytes);
    return SOTTO_OK;
}

/* The task's id, the way that it asks for, if any, and the leader's URL. */
static sotto_status write_destination(sotto_bytes *out, const sotto_answer_plan *plan,
                                      sotto_arena *arena, sotto_err *err)
{
    const sotto_task *task = plan->task;
    const sotto_anonymity *asked = &plan->recipe->anonymity;
    uint8_t way[SOTTO_OBLIVIOUS_WAY];
    sotto_buf bytes;

    SOTTO_TRY(sotto_buf_take(&bytes, arena, sizeof task->id + 1 + sizeof way + task->leader_url.len,
                             err));
    sotto_writer w = sotto_writer_on(&bytes);
    sotto_write_bytes(&w, sotto_bytes_of(task->id, sizeof task->id));
    if (asked->relay) {
        sotto_oblivious_way(way, asked->relay, asked->gateway);
        sotto_write_uint(&w, SOTTO_DESTINATION_RELAY, 1);
        sotto_write_bytes(&w, sotto_bytes_of(way, sizeof way));
    }
    sotto_write_bytes(&w, task->leader_url);
    SOTTO_TRY(sotto_writer_finish(&w, "destination", err));
    *out = sotto_buf_bytes(&bytes);
    return SOTTO_OK;
}

/* Eight bits a byte, the first one lowest. */
static sotto_status pack_bits(sotto_bytes *out, sotto_bytes bits, sotto_arena *arena,
                              sotto_err *err)
{
    sotto_buf bytes;

    if (bits.len == 0)
        return SOTTO_OK;
    SOTTO_TRY(sotto_buf_take(&bytes, arena, (bits.len + 7) / 8, err));
    for (size_t i = 0; i < bits.len; i++)
        bytes.data[i / 8] = (uint8_t)(bytes.data[i / 8] | bits.data[i] << i % 8);
    *out = sotto_bytes_of(bytes.data, bytes.cap);
    return SOTTO_OK;
}

/* Of the one-time key that binds a token to its report: drawn with a token of type 2, or for this report; empty without a token. */
static sotto_status take_seed(sotto_bytes *out, const sotto_answer_plan *plan,
                              sotto_entropy *entropy, sotto_arena *arena, sotto_err *err)
{
    sotto_buf drawn;

    *out = plan->token ? sotto_bytes_of(plan->token->secret, SOTTO_ONCE_SEED)
                       : sotto_bytes_of(NULL, 0);
    if (!plan->helper_token)
        return SOTTO_OK;
    SOTTO_TRY(sotto_buf_take(&drawn, arena, SOTTO_ONCE_SEED, err));
    *out = sotto_bytes_of(drawn.data, SOTTO_ONCE_SEED);
    return sotto_entropy_take(entropy, drawn.data, SOTTO_ONCE_SEED, err);
}

sotto_status sotto_answer_seal(sotto_report *out, const sotto_answer_plan *plan, uint64_t bin,
                               sotto_entropy *entropy, sotto_arena *arena, sotto_err *err)
{
    sotto_report_draft draft = draft_of(plan);
    sotto_measurement measurement;
    sotto_dap_report report;
    sotto_bytes bits = {0}, seed;

    *out = (sotto_report){0};
    SOTTO_TRY(take_seed(&seed, plan, entropy, arena, err));
    if (plan->measured)
        measurement = *plan->measured;
    else
        SOTTO_TRY(sotto_measure(&measurement, &bits, plan->content, bin, entropy, arena, err));
    SOTTO_TRY(make(&report, &draft, plan, seed, measurement, entropy, arena, err));
    memcpy(out->id, draft.metadata.report_id, sizeof out->id);
    out->token = plan->token && !plan->helper_token ? plan->token->key.id : NULL;
    out->shown = plan->shown;
    SOTTO_TRY(write_destination(&out->destination, plan, arena, err));
    SOTTO_TRY(pack_bits(&out->randomised, bits, arena, err));
    SOTTO_TRY(write_inputs(&out->inputs, plan, seed, &draft, arena, err));
    return write_report(&out->bytes, &report, arena, err);
}
