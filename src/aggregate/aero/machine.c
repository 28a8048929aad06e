#include "aggregate/aero/machine.h"

#include "aggregate/machine.h"
#include "aggregate/shared/mask.h"
#include "base/rule.h"
#include "crypto/hash.h"

#include <string.h>

sotto_status sotto_aero_no_memory(sotto_err *err)
{
    return sotto_fail(err, SOTTO_NO_MEMORY, "aero: no memory");
}

sotto_buf sotto_aero_buffer(sotto_arena *arena, size_t size)
{
    return sotto_buf_over(sotto_arena_take(arena, size + 1), size);
}

sotto_status sotto_aero_taken_encode(const sotto_aero_view *view, sotto_buf *out,
                                     sotto_arena *arena, sotto_err *err)
{
    const sotto_aero_plan *plan = view->plan;

    *out = sotto_aero_buffer(arena, sotto_aero_taken_size(plan));
    if (!out->data)
        return sotto_aero_no_memory(err);
    memcpy(out->data, plan->a_seed, SOTTO_AERO_A_SEED);
    out->len = SOTTO_AERO_A_SEED;
    return sotto_aero_poly_encode(&plan->aero, out, &view->b[0], err);
}

sotto_status sotto_aero_copied(sotto_bytes *out, sotto_bytes from, sotto_arena *arena,
                               sotto_err *err)
{
    sotto_buf copy = sotto_aero_buffer(arena, from.len);

    if (!copy.data)
        return sotto_aero_no_memory(err);
    if (from.len)
        memcpy(copy.data, from.data, from.len);
    *out = sotto_bytes_of(copy.data, from.len);
    return SOTTO_OK;
}

sotto_status sotto_aero_join(sotto_aero_base *base, const sotto_machine_ops *ops,
                             const sotto_round *round, const sotto_self *self, sotto_arena *arena,
                             sotto_err *err)
{
    SOTTO_TRY(sotto_method_admit(&sotto_method_aero, round, err));
    base->machine.ops = ops;
    base->round = round;
    base->self = *self;
    base->arena = arena;
    base->plan = sotto_arena_take(arena, sizeof *base->plan);
    base->view = sotto_arena_take(arena, sizeof *base->view);
    if (!base->plan || !base->view)
        return sotto_aero_no_memory(err);
    SOTTO_TRY(sotto_aero_plan_init(base->plan, round, arena, err));
    SOTTO_TRY(sotto_aero_admit(base->plan, err));
    return sotto_aero_view_init(base->view, base->plan, arena, err);
}

/* ---- randomness ---------------------------------------------------------------------------------------- */

sotto_status sotto_aero_secret_of(const sotto_aero_base *base, uint8_t out[32], uint32_t purpose,
                                  uint32_t number, sotto_err *err)
{
    return sotto_round_kdf(out, "sotto-aero-machine-1",
                           sotto_bytes_of(base->self.seed, sizeof base->self.seed), base->plan->id,
                           purpose, number, err);
}

static sotto_status next_bytes(void *context, void *out, size_t len, sotto_err *err)
{
    return sotto_keystream_next(context, out, len, err);
}

sotto_status sotto_aero_stream_open(sotto_aero_stream *stream, const sotto_aero_base *base,
                                    uint32_t purpose, uint32_t number, sotto_err *err)
{
    uint8_t seed[32];

    memset(stream, 0, sizeof *stream);
    sotto_status status = sotto_aero_secret_of(base, seed, purpose, number, err);
    if (status == SOTTO_OK)
        status = sotto_keystream_init(&stream->keys, err);
    if (status == SOTTO_OK)
        status = sotto_keystream_seed(&stream->keys, seed, err);
    sotto_entropy_init(&stream->entropy, next_bytes, &stream->keys);
    sotto_wipe(seed, sizeof seed);
    return status;
}

void sotto_aero_stream_close(sotto_aero_stream *stream)
{
    sotto_entropy_clear(&stream->entropy);
    sotto_keystream_clear(&stream->keys);
}

/* ---- the board ------------------------------------------------------------------------------------------ */

static sotto_status read_entry(sotto_aero_base *base, sotto_message *known,
                               const sotto_message *entry, bool is_checked, sotto_err *err)
{
    sotto_arena scratch;
    sotto_bytes record;
    uint64_t index;

    SOTTO_TRY(sotto_entry_decode(&index, &record, entry->body, err));
    sotto_arena_init(&scratch, SOTTO_AERO_SCRATCH);
    sotto_status status =
        sotto_aero_view_read(base->view, known, index, record, is_checked, &scratch, err);
    sotto_arena_clear(&scratch);
    return status;
}

/* Of an entry that does not count, only that there was one. What is kept is not judged again after a restart: a forged record would count
 * then. Nor does anybody who posts junk fill others' stores. */
static sotto_status keep_index(const sotto_aero_base *base, const sotto_message *entry,
                               sotto_effects *effects, sotto_err *err)
{
    sotto_message mark = *entry;
    uint8_t body[8 + 4];
    sotto_buf out = sotto_buf_over(body, sizeof body);

    SOTTO_TRY(sotto_entry_encode(&out, base->view->next - 1, (sotto_bytes){NULL, 0}, err));
    mark.body = sotto_buf_bytes(&out);
    return sotto_effects_keep(effects, &mark, err);
}

sotto_status sotto_aero_take_entry(sotto_aero_base *base, sotto_message *known,
                                   const sotto_message *entry, sotto_status *verdict,
                                   sotto_effects *effects, sotto_err *err)
{
    *verdict = read_entry(base, known, entry, false, err);
    if (*verdict == SOTTO_AGAIN || *verdict == SOTTO_STALE)
        return SOTTO_OK;
    SOTTO_TRY(*verdict);
    if (SOTTO_RULE(aero_forgeries_forgotten) && known->kind == 0)
        return keep_index(base, entry, effects, err);
    return sotto_effects_keep(effects, entry, err);
}

sotto_status sotto_aero_read_again(sotto_aero_base *base, sotto_message *known,
                                   const sotto_message *entry, sotto_err *err)
{
    sotto_status status = read_entry(base, known, entry, true, err);

    return status == SOTTO_STALE ? SOTTO_OK : status;
}

sotto_status sotto_aero_post(sotto_aero_base *base, sotto_effects *effects, unsigned kind,
                             sotto_bytes body, sotto_err *err)
{
    return sotto_aero_send(effects, base->round, &base->self, SOTTO_TO_BOARD, kind, body, err);
}

sotto_status sotto_aero_vow(sotto_aero_base *base, sotto_effects *effects, unsigned kind,
                            uint32_t subject, sotto_bytes what, sotto_err *err)
{
    sotto_vow vow = {.kind = (uint16_t)kind,
                     .epoch = base->round->epoch,
                     .round = base->round->number,
                     .subject = subject};

    sotto_hash_once(vow.digest, SOTTO_SHA256, what);
    return sotto_effects_vow(effects, &vow, err);
}

/* ---- saved ---------------------------------------------------------------------------------------------- */

sotto_status sotto_aero_save(const sotto_aero_base *base, sotto_buf *out, sotto_bytes own,
                             sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_machine_save_head(&w, SOTTO_AERO_SAVED_VERSION, base->plan->id);
    sotto_write_bytes(&w, sotto_bytes_of(base->self.seed, sizeof base->self.seed));
    sotto_write_bytes(&w, own);
    return sotto_writer_finish(&w, "aero machine", err);
}

sotto_status sotto_aero_saved(sotto_aero_base *base, sotto_bytes saved, uint8_t *own, size_t len,
                              sotto_err *err)
{
    sotto_reader in = sotto_reader_over(saved);
    bool ours = sotto_machine_read_head(&in, SOTTO_AERO_SAVED_VERSION, base->plan->id);

    sotto_read_fixed(&in, base->self.seed, sizeof base->self.seed);
    sotto_read_fixed(&in, own, len);
    return sotto_machine_restored(&in, ours, "aero machine", err);
}

/* ---- totals --------------------------------------------------------------------------------------------- */

size_t sotto_aero_total_size(const sotto_aero_plan *plan, uint32_t group, uint32_t leaves)
{
    return sotto_aero_group_size(plan, group) * sotto_aero_sum_size(&plan->aero, leaves);
}

sotto_status sotto_aero_total_encode(sotto_buf *out, const sotto_aero_plan *plan, uint32_t group,
                                     uint32_t leaves, const sotto_aero_cipher *totals,
                                     bool is_second, sotto_err *err)
{
    for (size_t i = 0; i < sotto_aero_group_size(plan, group); i++)
        SOTTO_TRY(sotto_aero_sum_encode(&plan->aero, out, is_second ? &totals[i].c2 : &totals[i].c1,
                                        leaves, err));
    return SOTTO_OK;
}

sotto_status sotto_aero_total_decode(sotto_aero_poly *half, const sotto_aero_plan *plan,
                                     uint32_t group, uint32_t leaves, sotto_bytes wire,
                                     sotto_err *err)
{
    const size_t each = sotto_aero_sum_size(&plan->aero, leaves);

    if (wire.len != sotto_aero_total_size(plan, group, leaves))
        return sotto_fail(err, SOTTO_MALFORMED, "aero: a total of %zu bytes", wire.len);
    for (size_t i = 0; i < sotto_aero_group_size(plan, group); i++)
        SOTTO_TRY(sotto_aero_sum_decode(&plan->aero, &half[i], leaves,
                                        sotto_bytes_of(wire.data + i * each, each), err));
    return SOTTO_OK;
}

sotto_status sotto_aero_total_digests(uint8_t out[32], uint8_t second[32],
                                      const sotto_aero_plan *plan, uint32_t group, uint32_t leaves,
                                      const sotto_aero_cipher *totals, sotto_arena *scratch,
                                      sotto_err *err)
{
    sotto_buf wire = sotto_aero_buffer(scratch, sotto_aero_total_size(plan, group, leaves));

    if (!wire.data)
        return sotto_aero_no_memory(err);
    SOTTO_TRY(sotto_aero_total_encode(&wire, plan, group, leaves, totals, true, err));
    sotto_hash_once(second, SOTTO_SHA256, sotto_buf_bytes(&wire));
    wire.len = 0;
    SOTTO_TRY(sotto_aero_total_encode(&wire, plan, group, leaves, totals, false, err));
    sotto_aero_total_digest(out, sotto_buf_bytes(&wire), second);
    return SOTTO_OK;
}
