#include "device/answer.h"

#include "base/declassify.h"
#include "base/rule.h"
#include "math/ct.h"
#include "noise/coin.h"
#include "recipe/encoding.h"
#include "sotto/vdaf.h"

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
    uint64_t bin; /* of the row that is picked */
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

/* What stands in for a bin where there is none. */
static sotto_status no_match(uint64_t *bin, const sotto_recipe *recipe, sotto_entropy *entropy,
                             sotto_err *err)
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
    SOTTO_TRY(no_match(&otherwise, recipe, entropy, err));
    sotto_status status = recipe->pick == SOTTO_PICK_ONE_AT_RANDOM
                              ? sotto_query_one(query, choose_row, take_row, &p, &stumbled)
                              : sotto_query_first(query, take_row, &p, &stumbled);
    /* That a query fails as it runs can be an event's doing, as its answer is: a number that overflows, a limit that is
     * passed. To stay silent then, unpaid, would tell. It is paid for and answered like no match. */
    if (SOTTO_RULE(failure_is_no_match) && status != SOTTO_OK && status != SOTTO_IO &&
        status != SOTTO_AGAIN) {
        p.bin = SOTTO_NO_VALUE;
        status = SOTTO_OK;
    }
    if (status != SOTTO_OK) {
        sotto_wipe(&p, sizeof p);
        return sotto_fail(err, status, "%s", stumbled.reason);
    }
    uint64_t none = sotto_ct_equal(p.bin, SOTTO_NO_VALUE);
    *bin = sotto_ct_select(none, otherwise, p.bin);
    /* Saying nothing is seen, and was priced. */
    if (recipe->on_no_match == SOTTO_NO_MATCH_SILENCE) {
        *silent = (none & 1) != 0;
        SOTTO_DECLASSIFY(silent, sizeof *silent);
    }
    sotto_wipe(&p, sizeof p);
    return SOTTO_OK;
}

/* ---- from a bin to shares --------------------------------------------------------------------------------- */

typedef struct making {
    const sotto_answer_plan *plan;
    sotto_prio3 vdaf;
    uint8_t *bits; /* as the randomizer drew them */
    sotto_report_parts parts;
    sotto_buf public_share, shares[SOTTO_REPORT_SHARES];
} making;

static sotto_status take_buf(sotto_buf *out, size_t size, sotto_arena *arena, sotto_err *err)
{
    uint8_t *memory = sotto_arena_take(arena, size ? size : 1);

    *out = sotto_buf_over(memory, memory ? size : 0);
    return memory ? SOTTO_OK : sotto_fail(err, SOTTO_NO_MEMORY, "a report of %zu bytes", size);
}

/* A histogram's measurement is the place of its one bit, a vector's are its bits. */
static sotto_measurement measure(uint64_t *values, const uint8_t *bits, size_t count, bool one)
{
    for (size_t i = 0; i < count; i++) {
        if (one)
            values[0] |= i & sotto_ct_mask(bits[i]);
        else
            values[i] = bits[i];
    }
    return (sotto_measurement){values, one ? 1 : count};
}

static sotto_status shard(making *m, sotto_entropy *entropy, sotto_arena *arena, sotto_err *err)
{
    const sotto_task *task = m->plan->task;
    const bool one = task->vdaf.type == SOTTO_PRIO3_HISTOGRAM;
    size_t count = m->plan->randomizer->bytes;
    uint64_t *values = sotto_arena_take_array(arena, one ? 1 : count, sizeof *values);
    uint8_t context[sizeof SOTTO_DAP_TAG - 1 + SOTTO_TASK_ID_SIZE];
    sotto_buf rand;

    if (!values)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a report of %zu bins", count);
    memcpy(context, SOTTO_DAP_TAG, sizeof SOTTO_DAP_TAG - 1);
    memcpy(context + sizeof SOTTO_DAP_TAG - 1, task->id, sizeof task->id);
    SOTTO_TRY(take_buf(&rand, m->vdaf.sizes.rand, arena, err));
    SOTTO_TRY(sotto_entropy_take(entropy, rand.data, rand.cap, err));
    return sotto_prio3_shard(&m->vdaf, &m->public_share, m->shares,
                             sotto_bytes_of(context, sizeof context),
                             measure(values, m->bits, count, one), m->parts.id,
                             sotto_bytes_of(rand.data, rand.cap), arena, err);
}

/* Randomises and shards; of what it took from the arena only the shares stay. */
static sotto_status make_shares(making *m, uint64_t bin, sotto_entropy *entropy, sotto_arena *arena,
                                sotto_err *err)
{
    const sotto_prio3_sizes *sizes = &m->plan->task->sizes;

    SOTTO_TRY(take_buf(&m->public_share, sizes->public_share, arena, err));
    SOTTO_TRY(take_buf(&m->shares[SOTTO_REPORT_LEADER], sizes->leader_share, arena, err));
    SOTTO_TRY(take_buf(&m->shares[SOTTO_REPORT_HELPER], sizes->helper_share, arena, err));
    m->bits = sotto_arena_take(arena, m->plan->randomizer->bytes);
    if (!m->bits)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a report's bits");
    if (SOTTO_RULE(no_value_randomised) || bin != SOTTO_NO_VALUE)
        SOTTO_TRY(sotto_randomizer_run(m->plan->randomizer, m->bits, bin, entropy, err));
    SOTTO_TRY(sotto_entropy_take(entropy, m->parts.id, sizeof m->parts.id, err));
    sotto_arena_mark mark = sotto_arena_here(arena);
    sotto_status status = sotto_prio3_init(&m->vdaf, arena, &m->plan->task->vdaf, err);
    if (status == SOTTO_OK)
        status = shard(m, entropy, arena, err);
    sotto_arena_rollback(arena, mark);
    return status;
}

/* ---- the report ------------------------------------------------------------------------------------------- */

static void fill_parts(making *m)
{
    const sotto_answer_plan *plan = m->plan;
    sotto_report_parts *parts = &m->parts;

    parts->time = (uint64_t)plan->now / (SOTTO_RULE(time_coarse) ? plan->task->precision : 1);
    memcpy(parts->task, plan->task->id, sizeof parts->task);
    parts->configuration = plan->task->configuration;
    parts->public_share = sotto_buf_bytes(&m->public_share);
    for (unsigned who = 0; who < SOTTO_REPORT_SHARES; who++) {
        const char *name = plan->parties[who]->name;

        parts->parties[who] = sotto_bytes_of(name, strlen(name));
        parts->keys[who] = plan->keys[who]->config;
        parts->shares[who] = sotto_buf_bytes(&m->shares[who]);
    }
}

/* The task's id, and the leader's URL behind it. */
static sotto_status write_destination(sotto_buf *out, const sotto_task *task, sotto_arena *arena,
                                      sotto_err *err)
{
    SOTTO_TRY(take_buf(out, sizeof task->id + task->leader_url.len, arena, err));
    sotto_writer w = sotto_writer_on(out);
    sotto_write_bytes(&w, sotto_bytes_of(task->id, sizeof task->id));
    sotto_write_bytes(&w, task->leader_url);
    return sotto_writer_finish(&w, "destination", err);
}

/* Eight bits a byte, the first one lowest. */
static sotto_status pack_bits(sotto_buf *out, const making *m, sotto_arena *arena, sotto_err *err)
{
    size_t count = m->plan->randomizer->bytes;

    SOTTO_TRY(take_buf(out, (count + 7) / 8, arena, err));
    for (size_t i = 0; i < count; i++)
        out->data[i / 8] = (uint8_t)(out->data[i / 8] | m->bits[i] << i % 8);
    out->len = (count + 7) / 8;
    return SOTTO_OK;
}

sotto_status sotto_answer_seal(sotto_report *out, const sotto_answer_plan *plan, uint64_t bin,
                               sotto_entropy *entropy, sotto_arena *arena, sotto_err *err)
{
    making m = {.plan = plan};
    sotto_report_kept kept;
    sotto_buf destination, randomised, inputs, sealed;

    *out = (sotto_report){0};
    SOTTO_TRY(make_shares(&m, bin, entropy, arena, err));
    fill_parts(&m);
    SOTTO_TRY(write_destination(&destination, plan->task, arena, err));
    SOTTO_TRY(pack_bits(&randomised, &m, arena, err));
    kept = sotto_report_keep(&m.parts, SOTTO_REPORT_LEADER);
    SOTTO_TRY(take_buf(&inputs, sotto_report_kept_size(&kept), arena, err));
    SOTTO_TRY(sotto_report_kept_encode(&inputs, &kept, err));
    SOTTO_TRY(take_buf(&sealed, sotto_report_size(&m.parts), arena, err));
    SOTTO_TRY(sotto_report_seal(&sealed, &m.parts, entropy, arena, err));
    memcpy(out->id, m.parts.id, sizeof out->id);
    out->destination = sotto_buf_bytes(&destination);
    out->bytes = sotto_buf_bytes(&sealed);
    out->inputs = sotto_buf_bytes(&inputs);
    out->randomised = sotto_buf_bytes(&randomised);
    return SOTTO_OK;
}
