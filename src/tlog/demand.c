#include "tlog/demand.h"

#include "base/rule.h"

#include <string.h>

sotto_status sotto_demands_decode(const sotto_merkle_hash **out, size_t *count, sotto_bytes wire,
                                  sotto_err *err)
{
    *count = wire.len / SOTTO_MERKLE_HASH;
    *out = (const sotto_merkle_hash *)(const void *)wire.data; /* bytes, without alignment */
    if (wire.len % SOTTO_MERKLE_HASH || *count == 0 || *count > SOTTO_DEMANDS)
        return sotto_fail(err, SOTTO_MALFORMED, "demands: %zu bytes", wire.len);
    return SOTTO_OK;
}

sotto_status sotto_shown_encode(sotto_buf *out, const sotto_shown *s, sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_write_bytes(&w, sotto_bytes_of(s->leaf.bytes, SOTTO_MERKLE_HASH));
    sotto_write_uint(&w, s->index, 8);
    sotto_write_uint(&w, s->proof.count, 1);
    sotto_write_bytes(&w, sotto_bytes_of(s->proof.hashes, s->proof.count * SOTTO_MERKLE_HASH));
    return sotto_writer_finish(&w, "showing", err);
}

static bool read_one(sotto_reader *in, sotto_shown *out)
{
    sotto_read_fixed(in, out->leaf.bytes, SOTTO_MERKLE_HASH);
    out->index = sotto_read_uint(in, 8);
    out->proof.count = (size_t)sotto_read_uint(in, 1);
    if (out->proof.count > SOTTO_MERKLE_PROOF)
        return false;
    const sotto_bytes hashes = sotto_read_bytes(in, out->proof.count * SOTTO_MERKLE_HASH);
    if (hashes.len)
        memcpy(out->proof.hashes, hashes.data, hashes.len);
    return hashes.len == out->proof.count * SOTTO_MERKLE_HASH;
}

sotto_status sotto_showing_decode(sotto_showing *out, sotto_bytes *rest, sotto_bytes wire,
                                  sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);
    sotto_shown one = {0};
    size_t len = 2;

    out->count = (size_t)sotto_read_uint(&in, 2);
    if (out->count > SOTTO_DEMANDS || wire.len < 2)
        return sotto_fail(err, SOTTO_MALFORMED, "showing: %zu leaves", out->count);
    for (size_t i = 0; i < out->count; i++) {
        if (!read_one(&in, &one))
            return sotto_fail(err, SOTTO_MALFORMED, "showing: leaf %zu", i + 1);
        len += SOTTO_MERKLE_HASH + 8 + 1 + one.proof.count * SOTTO_MERKLE_HASH;
    }
    if (len > wire.len)
        return sotto_fail(err, SOTTO_MALFORMED, "showing: it ends early");
    out->wire = sotto_bytes_of(wire.data + 2, len - 2);
    *rest = sotto_bytes_of(wire.data + len, wire.len - len);
    return SOTTO_OK;
}

size_t sotto_showing_leaves(const sotto_showing *showing, sotto_merkle_hash out[SOTTO_DEMANDS])
{
    sotto_reader in = sotto_reader_over(showing->wire);
    sotto_shown one = {0};
    size_t n = 0;

    while (n < showing->count && n < SOTTO_DEMANDS && read_one(&in, &one))
        out[n++] = one.leaf;
    return n;
}

bool sotto_showing_has(const sotto_showing *showing, const sotto_merkle_hash *leaf, uint64_t size,
                       const sotto_merkle_hash *root)
{
    sotto_reader in = sotto_reader_over(showing->wire);
    sotto_shown one = {0};

    for (size_t i = 0; i < showing->count && read_one(&in, &one); i++) {
        if (!sotto_merkle_equal(&one.leaf, leaf))
            continue;
        const bool included =
            sotto_merkle_check_inclusion(&one.proof, leaf, one.index, size, root, NULL) == SOTTO_OK;
        if (SOTTO_RULE(witness_records_proved) && !included)
            continue;
        return true;
    }
    return false;
}
