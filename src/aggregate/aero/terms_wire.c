#include "aggregate/aero/terms.h"

#include "base/writer.h"

sotto_status sotto_aero_terms_encode(sotto_buf *out, const sotto_aero_terms *t, sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_write_uint(&w, t->set, 1);
    sotto_write_uint(&w, t->profile, 1);
    sotto_write_uint(&w, t->bits, 1);
    sotto_write_uint(&w, t->checks, 1);
    sotto_write_uint(&w, t->committee, 4);
    sotto_write_uint(&w, t->threshold, 4);
    sotto_write_uint(&w, t->noise_members, 4);
    sotto_write_uint(&w, t->noise_corrupt, 4);
    sotto_write_uint(&w, t->noise_missing, 4);
    sotto_write_uint(&w, t->liars, 4);
    sotto_write_uint(&w, t->clears, 4);
    sotto_write_uint(&w, t->rate, 8);
    sotto_write_uint(&w, t->epsilon, 8);
    sotto_write_uint(&w, t->delta_bits, 4);
    sotto_write_uint(&w, t->opening, 1);
    sotto_write_uint(&w, t->committees, 1);
    sotto_write_uint(&w, t->rekey, 1);
    sotto_write_uint(&w, t->handed, 1);
    sotto_write_uint(&w, t->participations, 4);
    if (t->handed) {
        sotto_write_bytes(&w, sotto_bytes_of(t->origin.round, sizeof t->origin.round));
        sotto_write_bytes(&w, sotto_bytes_of(t->origin.beacon, sizeof t->origin.beacon));
    }
    return sotto_writer_finish(&w, "aero terms", err);
}

sotto_status sotto_aero_terms_decode(sotto_aero_terms *t, sotto_bytes wire, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);

    t->set = (uint8_t)sotto_read_uint(&in, 1);
    t->profile = (uint8_t)sotto_read_uint(&in, 1);
    t->bits = (uint8_t)sotto_read_uint(&in, 1);
    t->checks = (uint8_t)sotto_read_uint(&in, 1);
    t->committee = (uint32_t)sotto_read_uint(&in, 4);
    t->threshold = (uint32_t)sotto_read_uint(&in, 4);
    t->noise_members = (uint32_t)sotto_read_uint(&in, 4);
    t->noise_corrupt = (uint32_t)sotto_read_uint(&in, 4);
    t->noise_missing = (uint32_t)sotto_read_uint(&in, 4);
    t->liars = (uint32_t)sotto_read_uint(&in, 4);
    t->clears = (uint32_t)sotto_read_uint(&in, 4);
    t->rate = sotto_read_uint(&in, 8);
    t->epsilon = sotto_read_uint(&in, 8);
    t->delta_bits = (uint32_t)sotto_read_uint(&in, 4);
    t->opening = (uint8_t)sotto_read_uint(&in, 1);
    t->committees = (uint8_t)sotto_read_uint(&in, 1);
    t->rekey = (uint8_t)sotto_read_uint(&in, 1);
    t->handed = (uint8_t)sotto_read_uint(&in, 1);
    t->participations = (uint32_t)sotto_read_uint(&in, 4);
    t->origin = (sotto_aero_origin){.round = {0}};
    if (t->handed) {
        sotto_read_fixed(&in, t->origin.round, sizeof t->origin.round);
        sotto_read_fixed(&in, t->origin.beacon, sizeof t->origin.beacon);
    }
    return sotto_reader_finish(&in, "aero terms", err);
}
