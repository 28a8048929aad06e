/* From a recipe's bytes, or a bare configuration's, to a task that can be worked on. */
#include "serve/tasks/tasks_internal.h"

#include "account/trust.h"
#include "base/alloc.h"
#include "base/rule.h"
#include "dap/task_configuration.h"
#include "noise/blt_noise.h"
#include "recipe/claim.h"
#include "recipe/learning_correlated.h"

#include <string.h>

enum { EXTENSION_ROOM = 512 };

typedef sotto_task_entry entry;

entry *sotto_task_entry_new(void)
{
    entry *e = sotto_alloc(sizeof *e);

    if (e)
        sotto_arena_init(&e->arena, SOTTO_RECIPE_ARENA);
    return e;
}

void sotto_task_entry_free(entry *e)
{
    if (!e)
        return;
    sotto_arena_clear(&e->arena);
    sotto_release(e, sizeof *e);
}

/* ---- compiling --------------------------------------------------------------------------------------- */

/* The one that the recipe names, or the only one there is. */
static const sotto_party_entry *find_collector(const sotto_recipe *recipe,
                                               const sotto_parties *parties)
{
    const sotto_party_entry *found = NULL;

    if (recipe->collector)
        return sotto_parties_find(parties, recipe->collector);
    for (size_t i = 0; i < parties->count; i++) {
        if (parties->entries[i].role != SOTTO_PARTY_COLLECTOR)
            continue;
        if (found)
            return NULL;
        found = &parties->entries[i];
    }
    return found;
}

static sotto_status compile_collector(sotto_server_task *out, const sotto_parties *parties,
                                      sotto_err *err)
{
    const sotto_party_entry *collector = find_collector(out->recipe, parties);
    const sotto_party_key *key;

    if (!collector || collector->role != SOTTO_PARTY_COLLECTOR)
        return sotto_fail(err, SOTTO_MISSING, "the parties name no collector for this recipe");
    key = sotto_party_key_at(collector, out->recipe->closes);
    if (!key)
        return sotto_fail(err, SOTTO_DENIED, "the collector has no key when the recipe closes");
    return sotto_hpke_config_decode(&out->collector, key->config, err);
}

/* The one place where a server learns which method a task has. */
static sotto_status open_method(entry *e, const sotto_vdaf_config *config, sotto_err *err)
{
    SOTTO_TRY(sotto_vdaf_open(&e->task.vdaf, config, &e->arena, err));
    e->task.method = sotto_method_of(config->type);
    return SOTTO_OK;
}

/* By buffers: fresh noise of a round, finer than the sum. */
static sotto_status compile_buffered(entry *e, sotto_noise *noise, sotto_err *err)
{
    const sotto_learning *l = e->task.learning;
    double reach;

    SOTTO_TRY(sotto_blt_fresh(noise, &reach, &l->blt, l->rounds, sotto_learning_sigma(l), &e->arena,
                              err));
    if (!(reach < (double)e->task.method->two_server->most_added))
        return sotto_fail(err, SOTTO_DENIED, "noise of so large a sigma can't be added");
    e->task.noise = noise;
    return SOTTO_OK;
}

static sotto_status compile_noise(entry *e, sotto_err *err)
{
    const sotto_recipe *recipe = e->task.recipe;
    const uint64_t milli = recipe->sigma_milli;
    const bool whole = milli % 1000 == 0;
    sotto_noise *noise;

    if (recipe->by != SOTTO_BY_SERVERS)
        return SOTTO_OK;
    noise = sotto_arena_take(&e->arena, sizeof *noise);
    if (!noise)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a task's noise");
    if (sotto_learning_buffered(e->task.learning))
        return compile_buffered(e, noise, err);
    /* The full variance, though the other server adds as much: the other one may be dishonest. */
    SOTTO_TRY(sotto_noise_gaussian(noise, whole ? milli / 1000 * (milli / 1000) : milli * milli,
                                   whole ? 1 : 1000000, &e->arena, err));
    /* Recipes bound sigma and trees far below (docs/decisions/0260), so nothing reaches this. It is what tally->add relies on. */
    const uint64_t nodes = e->task.learning ? sotto_learning_most_nodes(e->task.learning) : 1;
    if (sotto_noise_limit(noise) > e->task.method->two_server->most_added / nodes)
        return sotto_fail(err, SOTTO_DENIED, "noise of so large a sigma can't be added");
    e->task.noise = noise;
    return SOTTO_OK;
}

static sotto_status find_us(entry *e, sotto_role role, const sotto_parties *parties, sotto_err *err)
{
    const sotto_recipe *recipe = e->task.recipe;
    const char *name = role == SOTTO_LEADER ? recipe->leader : recipe->helper;

    if (!sotto_trust_model_of(recipe->trust)->two_servers)
        return SOTTO_OK; /* it has no such names, and no task: the compiler says so */
    e->us = sotto_parties_find(parties, name);
    if (!e->us)
        return sotto_fail(err, SOTTO_MISSING,
                          "the parties file has no %.60s, which is this server (%s) in the recipe",
                          name, role == SOTTO_LEADER ? "leader" : "helper");
    return SOTTO_OK;
}

/* The bytes of a recipe, or the record of a round with a learning recipe behind it. */
static sotto_status read_recipe(sotto_server_task *out, sotto_round_record *record,
                                sotto_bytes recipe, sotto_arena *arena, sotto_mistakes *mistakes,
                                sotto_err *err)
{
    if (!sotto_round_record_is(recipe))
        return sotto_recipe_read(&out->recipe, recipe, arena, mistakes, err);
    SOTTO_TRY(sotto_round_record_decode(record, recipe, err));
    SOTTO_TRY(sotto_learning_read(&out->learning, record->recipe, arena, mistakes, err));
    out->recipe = &out->learning->head;
    out->round = record->round;
    memcpy(out->model, record->model, sizeof out->model);
    return SOTTO_OK;
}

static sotto_status compile_dap(sotto_server_task *out, const sotto_round_record *record,
                                const sotto_parties *parties, size_t cohort, sotto_arena *arena,
                                sotto_err *err)
{
    if (!out->learning)
        return sotto_task_compile(&out->dap, out->recipe, parties, cohort, arena, err);
    return sotto_round_task_compile(&out->dap, out->learning, record, parties, arena, err);
}

static sotto_status compile_recipe(entry *e, sotto_role role, sotto_bytes recipe,
                                   sotto_bytes parties_json, size_t cohort,
                                   sotto_mistakes *mistakes, sotto_err *err)
{
    sotto_server_task *out = &e->task;
    const sotto_parties *parties;
    sotto_round_record record;

    SOTTO_TRY(read_recipe(out, &record, recipe, &e->arena, mistakes, err));
    SOTTO_TRY(sotto_parties_read(&parties, parties_json, &e->arena, mistakes, err));
    SOTTO_TRY(find_us(e, role, parties, err));
    SOTTO_TRY(compile_dap(out, &record, parties, cohort, &e->arena, err));
    SOTTO_TRY(open_method(e, &out->dap.vdaf, err));
    SOTTO_TRY(compile_collector(out, parties, err));
    SOTTO_TRY(compile_noise(e, err));
    out->token_keys.arc = out->recipe->anonymity.tokens == SOTTO_TOKENS_ARC;
    if (out->recipe->anonymity.tokens)
        out->token_keys.issuer = out->token_keys.arc ? "" : out->recipe->anonymity.issuer;
    out->leader = out->recipe->leader;
    out->helper = out->recipe->helper;
    if (out->recipe->participation.type == SOTTO_DONATION) {
        out->collection_start = out->recipe->participation.start;
        out->collection_seconds = out->recipe->participation.length;
    }
    return SOTTO_OK;
}

/* ---- bare configurations ------------------------------------------------------------------------------- */

sotto_status sotto_task_bare_encode(sotto_buf *out, const sotto_bare_task *task, sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_write_opaque32(&w, task->configuration);
    sotto_write_opaque8(&w, sotto_bytes_of(task->leader, strlen(task->leader) + 1));
    sotto_write_opaque8(&w, sotto_bytes_of(task->helper, strlen(task->helper) + 1));
    sotto_write_opaque16(&w, task->collector_config);
    sotto_write_opaque8(&w, task->verify_key);
    sotto_write_opaque8(&w, task->id);
    sotto_write_uint(&w, (uint64_t)task->profile, 1);
    return sotto_writer_finish(&w, "bare task", err);
}

static bool is_name(sotto_bytes name)
{
    return name.len > 1 && memchr(name.data, 0, name.len) == name.data + name.len - 1;
}

static sotto_status bare_decode(sotto_bare_task *out, sotto_bytes stored, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(stored);
    sotto_bytes leader, helper;
    uint64_t profile;

    out->configuration = sotto_read_opaque32(&in);
    leader = sotto_read_opaque8(&in);
    helper = sotto_read_opaque8(&in);
    out->collector_config = sotto_read_opaque16(&in);
    out->verify_key = sotto_read_opaque8(&in);
    out->id = sotto_read_opaque8(&in);
    profile = sotto_read_uint(&in, 1);
    SOTTO_TRY(sotto_reader_finish(&in, "bare task", err));
    if (!is_name(leader) || !is_name(helper) ||
        (out->verify_key.len != 0 && out->verify_key.len != SOTTO_DAP_VERIFY_KEY_SIZE) ||
        (out->id.len != 0 && out->id.len != SOTTO_TASK_ID_SIZE) || profile > SOTTO_DAP_JANUS)
        return sotto_fail(err, SOTTO_MALFORMED,
                          "a bare task's names, key, id or profile are invalid");
    out->profile = (sotto_dap_profile)profile;
    out->leader = (const char *)leader.data;
    out->helper = (const char *)helper.data;
    return SOTTO_OK;
}

/* The task's window: the whole of time unless its configuration names one. */
static sotto_status bare_window(sotto_task *dap, const sotto_task_configuration *c, sotto_err *err)
{
    sotto_dap_interval interval = {c->interval_start, c->interval_duration};
    uint64_t end = c->interval_start + c->interval_duration;

    if (c->has_interval &&
        (!sotto_dap_interval_valid(interval) || c->interval_start > INT64_MAX / c->time_precision))
        return sotto_fail(err, SOTTO_MALFORMED, "a task interval that is empty or past all time");
    dap->opens = c->has_interval ? c->interval_start * c->time_precision : 0;
    dap->closes = c->has_interval && end <= INT64_MAX / c->time_precision ? end * c->time_precision
                                                                          : INT64_MAX;
    return SOTTO_OK;
}

bool sotto_task_ends(const sotto_server_task *task)
{
    return task->dap.closes < INT64_MAX;
}

static sotto_token_kind token_kind_of(const sotto_task_configuration *c)
{
    return !(c->anonymity & SOTTO_TASK_TOKENS) ? SOTTO_TOKENS_NONE
           : c->token_type == SOTTO_TOKEN_ARC  ? SOTTO_TOKENS_ARC
                                               : SOTTO_TOKENS_TYPE_2;
}

static sotto_status compile_bare(entry *e, sotto_bytes stored, sotto_err *err)
{
    sotto_server_task *out = &e->task;
    uint8_t *copy = sotto_arena_take(&e->arena, stored.len);
    sotto_task_configuration c;
    sotto_bare_task bare;

    if (!copy)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a task");
    memcpy(copy, stored.data, stored.len);
    SOTTO_TRY(bare_decode(&bare, sotto_bytes_of(copy, stored.len), err));
    SOTTO_TRY(sotto_task_configuration_decode(&c, bare.configuration, err));
    SOTTO_TRY(sotto_task_configuration_check(&c, SOTTO_TASK_TOKENS, err));
    if (c.anonymity & SOTTO_TASK_TOKENS)
        out->token_keys.issuer = ""; /* stands with the keys */
    out->token_keys.arc = c.token_type == SOTTO_TOKEN_ARC;
    SOTTO_TRY(sotto_hpke_config_decode(&out->collector, bare.collector_config, err));
    SOTTO_TRY(open_method(e, &c.vdaf, err));
    sotto_task_id_derive(out->dap.id, bare.configuration);
    if (bare.id.len > 0)
        memcpy(out->dap.id, bare.id.data, sizeof out->dap.id);
    out->profile = bare.profile;
    out->dap.configuration = bare.configuration;
    out->dap.leader_url = c.leader_url;
    out->dap.helper_url = c.helper_url;
    out->dap.precision = c.time_precision;
    out->dap.min_batch_size = c.min_batch_size;
    out->dap.batch_mode = c.batch_mode;
    out->dap.vdaf = c.vdaf;
    out->dap.sizes = out->vdaf.sizes;
    out->dap.report_bytes = sotto_recipe_report_bytes(&out->vdaf.sizes, token_kind_of(&c));
    SOTTO_TRY(bare_window(&out->dap, &c, err));
    out->leader = bare.leader;
    out->helper = bare.helper;
    if (bare.verify_key.len > 0) {
        memcpy(out->verifier.verify_key, bare.verify_key.data, bare.verify_key.len);
        e->has_verify_key = true;
    }
    return SOTTO_OK;
}

/* An empty recipe: a bare task. */
sotto_status sotto_task_entry_compile(entry *e, sotto_role role, sotto_bytes recipe,
                                      sotto_bytes parties, size_t cohort, sotto_mistakes *mistakes,
                                      sotto_err *err)
{
    sotto_server_task *out = &e->task;

    if (recipe.len == 0)
        SOTTO_TRY(compile_bare(e, parties, err));
    else
        SOTTO_TRY(compile_recipe(e, role, recipe, parties, cohort, mistakes, err));
    sotto_dap_context(e->context, out->dap.id);
    out->verifier.context = sotto_bytes_of(e->context, sizeof e->context);
    out->verifier.aggregator = role == SOTTO_LEADER ? 0 : 1;
    out->max_report = out->dap.report_bytes + EXTENSION_ROOM;
    return SOTTO_OK;
}

size_t sotto_task_job_entry(const sotto_server_task *task)
{
    enum { LENGTHS = 64 }; /* of the parts, and the message's type */

    return task->max_report - task->dap.sizes.leader_share + task->dap.sizes.verifier_share +
           LENGTHS;
}

sotto_status sotto_task_entry_check(const entry *e, sotto_bytes id, sotto_err *err)
{
    if (SOTTO_RULE(altered_task_not_served) &&
        !sotto_bytes_equal_vartime(id, sotto_bytes_of(e->task.dap.id, sizeof e->task.dap.id)))
        return sotto_fail(err, SOTTO_REJECTED,
                          "its row was altered: it makes another task than it names");
    return SOTTO_OK;
}
