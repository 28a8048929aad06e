#include "aggregate/machine.h"

#include <string.h>

sotto_message sotto_machine_envelope(const sotto_round *round, unsigned kind, uint32_t from,
                                     uint32_t to, sotto_bytes body)
{
    sotto_message m = {.epoch = round->epoch,
                       .round = round->number,
                       .kind = (uint16_t)kind,
                       .from = from,
                       .to = to,
                       .body = body};

    memcpy(m.session, round->session, sizeof m.session);
    return m;
}

sotto_status sotto_machine_send(sotto_effects *effects, const sotto_round *round,
                                const sotto_self *self, uint32_t to, unsigned kind,
                                sotto_bytes body, const sotto_vector *bulk, sotto_err *err)
{
    sotto_message m = sotto_machine_envelope(round, kind, self->index, to, body);
    uint8_t signature[SOTTO_SIGNATURE];

    if (bulk)
        m.bulk_len = sotto_vector_bytes(bulk).len;
    SOTTO_TRY(sotto_message_sign(&m, signature, self->keys, err));
    return sotto_effects_send(effects, &m, bulk, err);
}

void sotto_machine_save_head(sotto_writer *w, unsigned version, const uint8_t id[SOTTO_ROUND_ID])
{
    sotto_write_uint(w, version, 1);
    sotto_write_bytes(w, sotto_bytes_of(id, SOTTO_ROUND_ID));
}

bool sotto_machine_read_head(sotto_reader *in, unsigned version, const uint8_t id[SOTTO_ROUND_ID])
{
    const uint64_t found = sotto_read_uint(in, 1);
    uint8_t of[SOTTO_ROUND_ID];

    sotto_read_fixed(in, of, sizeof of);
    return found == version && memcmp(of, id, sizeof of) == 0;
}

sotto_status sotto_machine_restored(sotto_reader *in, bool ours, const char *what, sotto_err *err)
{
    if (!ours)
        return sotto_fail(err, SOTTO_MALFORMED, "%s: saved in another round or version", what);
    return sotto_reader_finish(in, what, err);
}

sotto_status sotto_machine_save_part(const sotto_machine *machine, const sotto_machine_saved *how,
                                     sotto_buf *out, sotto_err *err)
{
    const sotto_machine_part *part = (const sotto_machine_part *)machine;
    sotto_writer w = sotto_writer_on(out);

    sotto_machine_save_head(&w, how->version, part->id);
    sotto_write_uint(&w, part->phase, 1);
    sotto_write_bytes(&w, sotto_bytes_of(part->self.seed, sizeof part->self.seed));
    if (how->write)
        how->write(machine, &w);
    return sotto_writer_finish(&w, how->what, err);
}

sotto_status sotto_machine_restore_part(sotto_machine **out, const sotto_machine_saved *how,
                                        const sotto_round *round, const sotto_self *self,
                                        sotto_bytes saved, const sotto_message *kept, size_t count,
                                        sotto_arena *arena, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(saved);
    sotto_machine *machine;

    (void)kept;
    (void)count;
    SOTTO_TRY(how->join(&machine, round, self, arena, err));
    *out = NULL;
    sotto_machine_part *part = (sotto_machine_part *)machine;
    const bool ours = sotto_machine_read_head(&in, how->version, part->id);
    const uint64_t phase = sotto_read_uint(&in, 1);
    sotto_read_fixed(&in, part->self.seed, sizeof part->self.seed);
    if (how->read)
        how->read(machine, &in);
    SOTTO_TRY(sotto_machine_restored(&in, ours && phase <= how->last, how->what, err));
    part->phase = (unsigned)phase;
    *out = machine;
    return SOTTO_OK;
}

sotto_status sotto_machine_offers_nothing(sotto_machine *machine, sotto_vector *mine,
                                          sotto_effects *effects, sotto_err *err)
{
    (void)machine;
    (void)mine;
    (void)effects;
    return sotto_fail(err, SOTTO_STALE, "round: this part has no vector");
}

sotto_status sotto_machine_has_no_result(const sotto_machine *machine, sotto_round_result *out,
                                         sotto_err *err)
{
    (void)machine;
    memset(out, 0, sizeof *out);
    return sotto_fail(err, SOTTO_MISSING, "round: this part has no result");
}

sotto_status sotto_machine_outcome(sotto_round_result *out, const uint32_t *blamed, size_t count,
                                   bool burnt, bool released, sotto_err *err)
{
    memset(out, 0, sizeof *out);
    out->blamed = blamed;
    out->blamed_count = count;
    if (burnt)
        return sotto_fail(err, SOTTO_DENIED, "round: it ended without a sum");
    return released ? SOTTO_OK : sotto_fail(err, SOTTO_AGAIN, "round: it is not over");
}
