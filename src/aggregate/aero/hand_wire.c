/* What is sent and kept of a key that is handed over. */
#include "aggregate/aero/hand_over.h"

#include "base/rule.h"
#include "crypto/hash.h"

#include <string.h>

enum { VERSION = 1, HEAD = 1 + 32 + 32 + 32 + 8 + 4 };

static unsigned second_bytes(const sotto_aero *aero)
{
    return (aero->ring.set->second_bits + 7) / 8;
}

size_t sotto_aero_holding_size(const sotto_aero *aero)
{
    return sotto_aero_poly_size(aero) + SOTTO_AERO_PADS * (8 + (size_t)second_bytes(aero));
}

sotto_status sotto_aero_holding_encode(const sotto_aero *aero, sotto_buf *out,
                                       const sotto_aero_holding *holding, sotto_err *err)
{
    SOTTO_TRY(sotto_aero_poly_encode(aero, out, &holding->share.s, err));
    sotto_writer w = sotto_writer_on(out);
    for (size_t i = 0; i < SOTTO_AERO_PADS; i++) {
        sotto_write_uint(&w, holding->pads.first[i].v, 8);
        if (second_bytes(aero))
            sotto_write_uint(&w, holding->pads.second[i], second_bytes(aero));
    }
    return sotto_writer_finish(&w, "holding", err);
}

sotto_status sotto_aero_holding_decode(const sotto_aero *aero, sotto_aero_holding *out,
                                       sotto_bytes wire, sotto_err *err)
{
    const size_t size = sotto_aero_poly_size(aero);
    bool canonical = true;

    if (wire.len != sotto_aero_holding_size(aero))
        return sotto_fail(err, SOTTO_MALFORMED, "holding: %zu bytes", wire.len);
    SOTTO_TRY(sotto_aero_poly_decode(aero, &out->share.s, sotto_bytes_of(wire.data, size), err));
    sotto_reader in = sotto_reader_over(sotto_bytes_of(wire.data + size, wire.len - size));
    for (size_t i = 0; i < SOTTO_AERO_PADS; i++) {
        out->pads.first[i].v = sotto_read_uint(&in, 8);
        out->pads.second[i] = second_bytes(aero) ? sotto_read_uint(&in, second_bytes(aero)) : 0;
        canonical &= out->pads.first[i].v < SOTTO_F64_P;
        canonical &= !second_bytes(aero) || out->pads.second[i] < aero->ring.set->second;
    }
    SOTTO_TRY(sotto_reader_finish(&in, "holding", err));
    return canonical ? SOTTO_OK
                     : sotto_fail(err, SOTTO_MALFORMED, "holding: a pad is not below its prime");
}

void sotto_aero_probe_write(const sotto_aero *aero, sotto_writer *w, const sotto_aero_probe *probe)
{
    for (unsigned r = 0; r < SOTTO_AERO_PROBES; r++) {
        sotto_write_uint(w, probe->first[r].v, 8);
        if (second_bytes(aero))
            sotto_write_uint(w, probe->second[r], second_bytes(aero));
    }
}

void sotto_aero_probe_read(const sotto_aero *aero, sotto_reader *in, sotto_aero_probe *probe,
                           bool *malformed)
{
    for (unsigned r = 0; r < SOTTO_AERO_PROBES; r++) {
        probe->first[r].v = sotto_read_uint(in, 8);
        probe->second[r] = second_bytes(aero) ? sotto_read_uint(in, second_bytes(aero)) : 0;
        *malformed |= probe->first[r].v >= SOTTO_F64_P ||
                      (second_bytes(aero) && probe->second[r] >= aero->ring.set->second);
    }
}

/* ---- what is kept ------------------------------------------------------------------------------------------ */

size_t sotto_aero_carried_size(const sotto_aero *aero)
{
    return HEAD + sotto_aero_holding_size(aero);
}

sotto_status sotto_aero_carried_encode(const sotto_aero *aero, sotto_buf *out,
                                       const sotto_aero_carried *c, sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_write_uint(&w, VERSION, 1);
    sotto_write_bytes(&w, sotto_bytes_of(c->round, sizeof c->round));
    sotto_write_bytes(&w, sotto_bytes_of(c->terms, sizeof c->terms));
    sotto_write_bytes(&w, sotto_bytes_of(c->key, sizeof c->key));
    sotto_write_uint(&w, c->number, 8);
    sotto_write_uint(&w, c->handed, 4);
    SOTTO_TRY(sotto_writer_finish(&w, "carried key", err));
    return sotto_aero_holding_encode(aero, out, &c->holding, err);
}

sotto_status sotto_aero_carried_decode(const sotto_aero *aero, sotto_aero_carried *c,
                                       sotto_bytes wire, sotto_err *err)
{
    if (wire.len != sotto_aero_carried_size(aero))
        return sotto_fail(err, SOTTO_MALFORMED, "carried key: %zu bytes", wire.len);
    sotto_reader in = sotto_reader_over(sotto_bytes_of(wire.data, HEAD));
    const bool ours = sotto_read_uint(&in, 1) == VERSION;
    sotto_read_fixed(&in, c->round, sizeof c->round);
    sotto_read_fixed(&in, c->terms, sizeof c->terms);
    sotto_read_fixed(&in, c->key, sizeof c->key);
    c->number = sotto_read_uint(&in, 8);
    c->handed = (uint32_t)sotto_read_uint(&in, 4);
    SOTTO_TRY(sotto_reader_finish(&in, "carried key", err));
    if (!ours)
        return sotto_fail(err, SOTTO_MALFORMED, "carried key: another version");
    return sotto_aero_holding_decode(aero, &c->holding,
                                     sotto_bytes_of(wire.data + HEAD, wire.len - HEAD), err);
}

void sotto_aero_key_digest(uint8_t out[32], sotto_bytes key)
{
    static const char purpose[] = "sotto-aero-handed-key-1";
    sotto_hash hash;

    sotto_hash_init(&hash, SOTTO_SHA256);
    sotto_hash_update(&hash, sotto_bytes_of(purpose, sizeof purpose));
    sotto_hash_update(&hash, key);
    sotto_hash_final(&hash, out);
}
