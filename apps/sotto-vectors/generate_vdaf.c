/* VDAF vectors: files of several reports, in some of which the second one is hostile. */
#include "generate_vdaf.h"
#include "base/arena.h"
#include "replay.h"

#include <stdio.h>
#include <string.h>

typedef struct maker {
    sotto_gen *gen;
    const sotto_gen_plan *plan;
    sotto_prio3 vdaf;
    sotto_bytes context;
    sotto_prio3_verifier verifier;
    json_t *root;
    json_t *operations;
    sotto_gen_report *reports;
} maker;

/* ---- measurements ---------------------------------------------------------------------------- */

static bool is_kind(const sotto_gen_plan *p, const char *kind)
{
    return strcmp(p->kind, kind) == 0;
}

/* Extremes first, then anything. */
static uint64_t pick(sotto_gen *gen, unsigned nth, uint64_t max)
{
    return nth == 0 ? max : nth == 1 ? 0 : sotto_gen_number(gen, max);
}

static void fill_vector(maker *m, sotto_gen_report *r, unsigned nth)
{
    const sotto_gen_plan *p = m->plan;
    uint64_t left = p->max; /* what a bounded norm or weight leaves */

    for (size_t i = 0; i < r->count; i++) {
        if (is_kind(p, "Prio3MultihotCountVec")) {
            r->values[i] = left > 0 ? pick(m->gen, nth, 1) : 0;
            left -= r->values[i];
        } else if (is_kind(p, "Prio3L1BoundSum")) {
            r->values[i] = pick(m->gen, nth, left);
            left -= r->values[i];
        } else {
            r->values[i] = pick(m->gen, nth + (unsigned)i, p->max);
        }
    }
}

static sotto_status make_measurement(maker *m, sotto_gen_report *r, unsigned nth, sotto_err *err)
{
    const sotto_gen_plan *p = m->plan;
    bool is_vector = p->length > 0 && !is_kind(p, "Prio3Histogram");

    r->count = is_vector ? (size_t)p->length : 1;
    r->values = sotto_arena_take_array(m->gen->arena, r->count, sizeof *r->values);
    if (r->values == NULL)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for a measurement");
    if (is_vector)
        fill_vector(m, r, nth);
    else if (is_kind(p, "Prio3Histogram"))
        r->values[0] = pick(m->gen, nth, p->length - 1);
    else if (is_kind(p, "Prio3Sum"))
        r->values[0] = pick(m->gen, nth, p->max);
    else
        r->values[0] = pick(m->gen, nth, is_kind(p, "Prio3HigherDegree") ? 2 : 1);
    return SOTTO_OK;
}

static json_t *measurement_json(maker *m, const sotto_gen_report *r)
{
    bool is_vector = m->plan->length > 0 && !is_kind(m->plan, "Prio3Histogram");
    bool is_bits = is_kind(m->plan, "Prio3MultihotCountVec");
    json_t *array;

    if (!is_vector)
        return sotto_gen_integer((sotto_uint128){.low = r->values[0]});
    array = json_array();
    for (size_t i = 0; i < r->count; i++)
        sotto_gen_add(m->gen, array,
                      is_bits ? json_boolean(r->values[i] == 1)
                              : sotto_gen_integer((sotto_uint128){.low = r->values[i]}));
    return array;
}

/* ---- operations ------------------------------------------------------------------------------ */

/* Whether this step of this report is to be refused. */
static bool is_refused(const maker *m, unsigned nth, const char *operation, unsigned aggregator)
{
    const sotto_gen_damage *d = m->plan->damage;

    return d != NULL && nth == 1 && strcmp(d->noticed_by, operation) == 0 &&
           (d->aggregator < 0 || (unsigned)d->aggregator == aggregator);
}

static bool is_hostile(const maker *m, unsigned nth)
{
    return m->plan->damage != NULL && nth == 1;
}

/* Negative numbers are left out. */
static void log_operation(maker *m, const char *operation, int nth, int aggregator, int round,
                          bool success)
{
    json_t *entry = json_object();

    sotto_gen_put(m->gen, entry, "operation", json_string(operation));
    sotto_gen_put(m->gen, entry, "success", json_boolean(success));
    if (nth >= 0)
        sotto_gen_put(m->gen, entry, "report_index", json_integer(nth));
    if (aggregator >= 0)
        sotto_gen_put(m->gen, entry, "aggregator_id", json_integer(aggregator));
    if (round >= 0)
        sotto_gen_put(m->gen, entry, "round", json_integer(round));
    sotto_gen_add(m->gen, m->operations, entry);
}

/* The implementation must agree with the plan, or there is no point in writing it down. */
static sotto_status expect(const char *operation, bool success, bool refused, sotto_err *err)
{
    if (success != refused)
        return SOTTO_OK;
    return sotto_fail(err, SOTTO_BUG, "%s should have been %s", operation,
                      refused ? "refused" : "accepted");
}

static sotto_status take_report(maker *m, sotto_gen_report *r, sotto_err *err)
{
    unsigned shares = m->plan->shares;

    r->input_shares = sotto_arena_take_array(m->gen->arena, shares, sizeof *r->input_shares);
    r->verifier_shares = sotto_arena_take_array(m->gen->arena, shares, sizeof *r->verifier_shares);
    r->states = sotto_arena_take_array(m->gen->arena, shares, sizeof *r->states);
    if (r->input_shares == NULL || r->verifier_shares == NULL || r->states == NULL)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for a report");
    SOTTO_TRY(sotto_buf_take(&r->public_share, m->gen->arena, m->vdaf.sizes.public_share, err));
    for (unsigned i = 0; i < shares; i++)
        SOTTO_TRY(sotto_buf_take(&r->input_shares[i], m->gen->arena,
                                 i == 0 ? m->vdaf.sizes.leader_share : m->vdaf.sizes.helper_share,
                                 err));
    return SOTTO_OK;
}

static sotto_status make_shares(maker *m, sotto_gen_report *r, unsigned nth, sotto_err *err)
{
    const sotto_gen_damage *d = m->plan->damage;
    sotto_bytes rand;

    SOTTO_TRY(make_measurement(m, r, nth, err));
    SOTTO_TRY(sotto_gen_bytes(m->gen, &r->nonce, SOTTO_PRIO3_NONCE_SIZE, err));
    SOTTO_TRY(sotto_gen_bytes(m->gen, &rand, m->vdaf.sizes.rand, err));
    SOTTO_TRY(take_report(m, r, err));
    SOTTO_TRY(sotto_prio3_shard(&m->vdaf, &r->public_share, r->input_shares, m->context,
                                (sotto_measurement){r->values, r->count}, r->nonce.data, rand,
                                m->gen->arena, err));
    if (is_hostile(m, nth) && d->to_report != NULL)
        d->to_report(&m->vdaf, r);
    else if (!is_hostile(m, nth))
        log_operation(m, "shard", (int)nth, -1, -1, true);

    json_t *input_shares = json_array();
    for (unsigned i = 0; i < m->plan->shares; i++)
        sotto_gen_add(m->gen, input_shares,
                      sotto_gen_hex(m->gen, sotto_buf_bytes(&r->input_shares[i])));
    sotto_gen_put(m->gen, r->json, "measurement",
                  is_hostile(m, nth) ? json_null() : measurement_json(m, r));
    sotto_gen_put_hex(m->gen, r->json, "nonce", r->nonce);
    sotto_gen_put_hex(m->gen, r->json, "rand", rand);
    sotto_gen_put_hex(m->gen, r->json, "public_share", sotto_buf_bytes(&r->public_share));
    sotto_gen_put(m->gen, r->json, "input_shares", input_shares);
    return SOTTO_OK;
}

/* What the last aggregator sends is changed on its way, where the plan says so. */
static sotto_status send_verifier_share(maker *m, sotto_gen_report *r, unsigned nth,
                                        unsigned aggregator, sotto_err *err)
{
    const sotto_gen_damage *d = m->plan->damage;
    sotto_bytes share = r->states[aggregator].verifier_share;
    sotto_buf copy;

    SOTTO_TRY(sotto_buf_take(&copy, m->gen->arena, share.len, err));
    memcpy(copy.data, share.data, share.len);
    copy.len = share.len;
    if (is_hostile(m, nth) && d->to_verifier_share != NULL && aggregator + 1 == m->plan->shares)
        d->to_verifier_share(&m->vdaf, &copy);
    r->verifier_shares[aggregator] = sotto_buf_bytes(&copy);
    return SOTTO_OK;
}

static sotto_status start_verification(maker *m, sotto_gen_report *r, unsigned nth, bool *goes_on,
                                       sotto_err *err)
{
    const sotto_gen_damage *d = m->plan->damage;
    bool is_logged = !(is_hostile(m, nth) && d->to_verifier_share != NULL);
    sotto_prio3_report received = {.public_share = sotto_buf_bytes(&r->public_share)};
    json_t *round = json_array();
    json_t *rounds = json_array();

    memcpy(received.nonce, r->nonce.data, sizeof received.nonce);
    sotto_gen_add(m->gen, rounds, round);
    sotto_gen_put(m->gen, r->json, "verifier_shares", rounds);
    for (unsigned i = 0; i < m->plan->shares; i++) {
        bool refused = is_refused(m, nth, SOTTO_GEN_INIT, i);
        received.input_share = sotto_buf_bytes(&r->input_shares[i]);
        m->verifier.aggregator = i;
        SOTTO_TRY(sotto_prio3_verify_init(&m->vdaf, &r->states[i], &m->verifier, &received, 1,
                                          m->gen->arena, err));
        SOTTO_TRY(expect(SOTTO_GEN_INIT, r->states[i].status == SOTTO_AGAIN, refused, err));
        if (is_logged)
            log_operation(m, SOTTO_GEN_INIT, (int)nth, (int)i, -1, !refused);
        *goes_on = *goes_on && !refused;
        if (refused)
            continue;
        SOTTO_TRY(send_verifier_share(m, r, nth, i, err));
        sotto_gen_add(m->gen, round, sotto_gen_hex(m->gen, r->verifier_shares[i]));
    }
    return SOTTO_OK;
}

static sotto_status decide(maker *m, sotto_gen_report *r, unsigned nth, sotto_buf *message,
                           bool *goes_on, sotto_err *err)
{
    const sotto_gen_damage *d = m->plan->damage;
    bool refused = is_refused(m, nth, SOTTO_GEN_DECIDE, 0);
    bool is_changed = is_hostile(m, nth) && d->to_message != NULL;
    sotto_prio3_verdict verdict;
    json_t *messages = json_array();

    sotto_gen_put(m->gen, r->json, "verifier_messages", messages);
    if (!*goes_on)
        return SOTTO_OK;
    SOTTO_TRY(sotto_prio3_verifier_shares_to_message(&m->vdaf, &verdict, m->context,
                                                     r->verifier_shares, 1, m->gen->arena, err));
    SOTTO_TRY(expect(SOTTO_GEN_DECIDE, verdict.status == SOTTO_OK, refused, err));
    *goes_on = !refused;
    if (!is_changed)
        log_operation(m, SOTTO_GEN_DECIDE, (int)nth, -1, 0, !refused);
    if (refused)
        return SOTTO_OK;
    SOTTO_TRY(sotto_buf_take(message, m->gen->arena, m->vdaf.sizes.verifier_message, err));
    message->len = m->vdaf.sizes.verifier_message;
    memcpy(message->data, verdict.message, message->len);
    if (is_changed)
        d->to_message(message);
    sotto_gen_add(m->gen, messages, sotto_gen_hex(m->gen, sotto_buf_bytes(message)));
    return SOTTO_OK;
}

static sotto_status end_verification(maker *m, sotto_gen_report *r, unsigned nth,
                                     const sotto_buf *message, bool goes_on, sotto_err *err)
{
    sotto_bytes bytes = sotto_buf_bytes(message);
    json_t *out_shares = json_array();
    sotto_buf share;

    sotto_gen_put(m->gen, r->json, "out_shares", out_shares);
    for (unsigned i = 0; goes_on && i < m->plan->shares; i++) {
        bool refused = is_refused(m, nth, SOTTO_GEN_NEXT, i);
        SOTTO_TRY(sotto_prio3_verify_next(&m->vdaf, &r->states[i], &bytes, 1, err));
        SOTTO_TRY(expect(SOTTO_GEN_NEXT, r->states[i].status == SOTTO_OK, refused, err));
        log_operation(m, SOTTO_GEN_NEXT, (int)nth, (int)i, 1, !refused);
        if (refused)
            continue;
        SOTTO_TRY(sotto_buf_take(&share, m->gen->arena, m->vdaf.sizes.out_share, err));
        SOTTO_TRY(sotto_prio3_out_share(&m->vdaf, &share, &r->states[i], err));
        sotto_gen_add(m->gen, out_shares, sotto_gen_hex(m->gen, sotto_buf_bytes(&share)));
    }
    return SOTTO_OK;
}

static sotto_status make_report(maker *m, sotto_gen_report *r, unsigned nth, sotto_err *err)
{
    sotto_buf message = {0};
    bool goes_on = true;

    SOTTO_TRY(make_shares(m, r, nth, err));
    SOTTO_TRY(start_verification(m, r, nth, &goes_on, err));
    SOTTO_TRY(decide(m, r, nth, &message, &goes_on, err));
    return end_verification(m, r, nth, &message, goes_on, err);
}

/* ---- sums ------------------------------------------------------------------------------------ */

static sotto_status add_up(maker *m, sotto_bytes *encoded, unsigned aggregator, uint64_t *reports,
                           sotto_err *err)
{
    sotto_prio3_agg sum;
    sotto_buf share;

    SOTTO_TRY(sotto_prio3_agg_init(&m->vdaf, &sum, m->gen->arena, err));
    for (unsigned i = 0; i < m->plan->reports; i++)
        if (m->reports[i].states[aggregator].status == SOTTO_OK)
            SOTTO_TRY(
                sotto_prio3_accumulate(&m->vdaf, &sum, &m->reports[i].states[aggregator], 1, err));
    SOTTO_TRY(sotto_buf_take(&share, m->gen->arena, m->vdaf.sizes.out_share, err));
    SOTTO_TRY(sotto_prio3_agg_encode(&m->vdaf, &share, &sum, err));
    *encoded = sotto_buf_bytes(&share);
    *reports = sum.reports;
    log_operation(m, "aggregate", -1, (int)aggregator, -1, true);
    return SOTTO_OK;
}

static sotto_status make_result(maker *m, const sotto_bytes *agg_shares, uint64_t reports,
                                sotto_err *err)
{
    size_t outputs = m->vdaf.sizes.outputs;
    sotto_uint128 *result = sotto_arena_take_array(m->gen->arena, outputs, sizeof *result);

    if (result == NULL)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for a result");
    SOTTO_TRY(sotto_prio3_unshard(&m->vdaf, result, agg_shares, reports, err));
    log_operation(m, "unshard", -1, -1, -1, true);
    if (m->plan->length == 0) {
        sotto_gen_put(m->gen, m->root, "agg_result", sotto_gen_integer(result[0]));
        return SOTTO_OK;
    }
    json_t *array = json_array();
    for (size_t i = 0; i < outputs; i++)
        sotto_gen_add(m->gen, array, sotto_gen_integer(result[i]));
    sotto_gen_put(m->gen, m->root, "agg_result", array);
    return SOTTO_OK;
}

static sotto_status make_sums(maker *m, sotto_err *err)
{
    sotto_bytes agg_shares[255];
    uint64_t reports = 0;
    json_t *array = json_array();

    sotto_gen_put(m->gen, m->root, "agg_shares", array);
    for (unsigned i = 0; i < m->plan->shares; i++) {
        SOTTO_TRY(add_up(m, &agg_shares[i], i, &reports, err));
        sotto_gen_add(m->gen, array, sotto_gen_hex(m->gen, agg_shares[i]));
    }
    return make_result(m, agg_shares, reports, err);
}

/* ---- files ----------------------------------------------------------------------------------- */

static void put_parameters(maker *m)
{
    const sotto_gen_plan *p = m->plan;
    const char *max = is_kind(p, "Prio3MultihotCountVec") ? "max_weight"
                      : is_kind(p, "Prio3L1BoundSum")     ? "max_value"
                                                          : "max_measurement";

    sotto_gen_put_number(m->gen, m->root, "shares", p->shares);
    if (p->length > 0) {
        sotto_gen_put_number(m->gen, m->root, "length", p->length);
        sotto_gen_put_number(m->gen, m->root, "chunk_length", p->chunk_length);
    }
    if (p->max > 0)
        sotto_gen_put_number(m->gen, m->root, max, p->max);
    if (p->proofs > 0)
        sotto_gen_put_number(m->gen, m->root, "proofs", p->proofs);
}

static sotto_status make_task(maker *m, sotto_err *err)
{
    sotto_bytes key;

    put_parameters(m);
    SOTTO_TRY(sotto_replay_instance(&m->vdaf, m->plan->kind, m->root, m->gen->arena, err));
    SOTTO_TRY(sotto_gen_bytes(m->gen, &key, sizeof m->verifier.verify_key, err));
    SOTTO_TRY(sotto_gen_bytes(m->gen, &m->context, (size_t)sotto_gen_number(m->gen, 48), err));
    memcpy(m->verifier.verify_key, key.data, key.len);
    m->verifier.context = m->context;
    sotto_gen_put_hex(m->gen, m->root, "verify_key", key);
    sotto_gen_put_hex(m->gen, m->root, "ctx", m->context);
    sotto_gen_put_hex(m->gen, m->root, "agg_param", sotto_bytes_of(NULL, 0));
    return SOTTO_OK;
}

static sotto_status make_reports(maker *m, sotto_err *err)
{
    json_t *array = json_array();

    m->reports = sotto_arena_take_array(m->gen->arena, m->plan->reports, sizeof *m->reports);
    if (m->reports == NULL)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for reports");
    sotto_gen_put(m->gen, m->root, "reports", array);
    sotto_gen_put(m->gen, m->root, "operations", m->operations);
    for (unsigned i = 0; i < m->plan->reports; i++) {
        m->reports[i].json = json_object();
        sotto_gen_add(m->gen, array, m->reports[i].json);
        SOTTO_TRY(make_report(m, &m->reports[i], i, err));
    }
    return make_sums(m, err);
}

static sotto_status make_file(sotto_gen *gen, const sotto_gen_plan *p, sotto_err *err)
{
    maker m = {.gen = gen, .plan = p, .root = json_object(), .operations = json_array()};
    char name[96];

    snprintf(name, sizeof name, "%s_%s", p->kind, p->damage != NULL ? p->damage->name : p->suffix);
    sotto_gen_start(gen, name);
    sotto_err why = {0};
    sotto_status status = make_task(&m, &why);
    if (status == SOTTO_OK)
        status = make_reports(&m, &why);
    if (status == SOTTO_OK)
        return sotto_gen_write(gen, name, m.root, err);
    json_decref(m.root);
    return sotto_fail(err, status, "%s: %s", name, why.reason);
}

sotto_status sotto_generate_vdaf(sotto_gen *gen, sotto_err *err)
{
    for (const sotto_gen_plan *p = sotto_gen_plans; p->kind != NULL; p++) {
        SOTTO_TRY(make_file(gen, p, err));
        sotto_arena_reset(gen->arena);
    }
    return SOTTO_OK;
}
