#include "aggregate/keygen/keygen.h"

#include "base/arena.h"
#include "base/rule.h"
#include "crypto/hash.h"

#include <string.h>

static const char LABEL[14] = "sotto-keygen-1";

enum { HEAD = 32 + 8 + 2 + 4 + 8 + 32 + 32 };

/* ---- wire --------------------------------------------------------------------------------------------------- */

static sotto_status write_head(sotto_buf *out, const sotto_keygen *k, sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_write_bytes(&w, sotto_bytes_of(k->session, sizeof k->session));
    sotto_write_uint(&w, k->epoch, 8);
    sotto_write_uint(&w, k->count, 2);
    sotto_write_uint(&w, k->step_ms, 4);
    sotto_write_uint(&w, k->ends, 8);
    sotto_write_bytes(&w, sotto_bytes_of(k->beacon, sizeof k->beacon));
    sotto_write_bytes(&w, sotto_bytes_of(k->old_beacon, sizeof k->old_beacon));
    return sotto_writer_finish(&w, "key generation", err);
}

static sotto_status read_head(sotto_keygen *k, sotto_bytes wire, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);

    sotto_read_fixed(&in, k->session, sizeof k->session);
    k->epoch = sotto_read_uint(&in, 8);
    k->count = (uint32_t)sotto_read_uint(&in, 2);
    k->step_ms = (uint32_t)sotto_read_uint(&in, 4);
    k->ends = sotto_read_uint(&in, 8);
    sotto_read_fixed(&in, k->beacon, sizeof k->beacon);
    sotto_read_fixed(&in, k->old_beacon, sizeof k->old_beacon);
    return sotto_reader_finish(&in, "key generation", err);
}

sotto_status sotto_keygen_encode(sotto_buf *out, const sotto_keygen *k, sotto_arena *scratch,
                                 sotto_err *err)
{
    sotto_posting posting = k->posting;
    uint8_t head[HEAD];
    sotto_buf written = sotto_buf_over(head, sizeof head), inner;

    SOTTO_TRY(write_head(&written, k, err));
    posting.round = sotto_buf_bytes(&written);
    SOTTO_TRY(sotto_buf_take(&inner, scratch,
                             512 + 96 * (size_t)posting.registry.count +
                                 (size_t)posting.part_count * (4 + SOTTO_BEACON_PART) +
                                 posting.decryptors.len,
                             err));
    SOTTO_TRY(sotto_posting_encode(&inner, &posting, err));
    sotto_writer w = sotto_writer_on(out);
    sotto_write_bytes(&w, sotto_bytes_of(LABEL, sizeof LABEL));
    sotto_write_opaque32(&w, sotto_buf_bytes(&inner));
    sotto_write_uint(&w, k->old_part_count, 2);
    for (uint32_t i = 0; i < k->old_part_count; i++) {
        sotto_write_uint(&w, k->old_parts[i].place, 4);
        sotto_write_bytes(&w, sotto_bytes_of(k->old_parts[i].bytes, SOTTO_BEACON_PART));
    }
    return sotto_writer_finish(&w, "key generation", err);
}

static sotto_status decode(sotto_keygen *k, sotto_bytes wire, sotto_arena *arena, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);
    char label[sizeof LABEL] = {0};

    sotto_read_fixed(&in, label, sizeof label);
    if (memcmp(label, LABEL, sizeof LABEL) != 0)
        return sotto_fail(err, SOTTO_MALFORMED, "key generation: not one of version 1");
    const sotto_bytes inner = sotto_read_opaque32(&in);
    k->old_part_count = (uint32_t)sotto_read_uint(&in, 2);
    if (k->old_part_count > SOTTO_DECRYPTORS_MOST)
        return sotto_fail(err, SOTTO_MALFORMED, "key generation: %u parts of a beacon",
                          k->old_part_count);
    k->old_parts = sotto_arena_take_array(arena, k->old_part_count + 1, sizeof *k->old_parts);
    if (!k->old_parts)
        return sotto_fail(err, SOTTO_NO_MEMORY, "key generation");
    for (uint32_t i = 0; i < k->old_part_count; i++) {
        k->old_parts[i].place = (uint32_t)sotto_read_uint(&in, 4);
        sotto_read_fixed(&in, k->old_parts[i].bytes, SOTTO_BEACON_PART);
    }
    SOTTO_TRY(sotto_reader_finish(&in, "key generation", err));
    SOTTO_TRY(sotto_posting_decode(&k->posting, inner, arena, err));
    /* They have their place in the call: what is in a second one nobody checks. */
    if (k->posting.old_part_count)
        return sotto_fail(err, SOTTO_MALFORMED, "key generation: parts of a beacon twice");
    return read_head(k, k->posting.round, err);
}

/* ---- open ---------------------------------------------------------------------------------------------------- */

static sotto_status open_old(sotto_keygen *k, sotto_arena *arena, sotto_err *err)
{
    SOTTO_TRY(sotto_decryptors_decode(&k->old, k->posting.decryptors, arena, err));
    k->hands_on = true;
    k->dealers = k->old.count;
    k->dealer = k->old.members;
    if (SOTTO_RULE(keygen_before) &&
        (memcmp(k->old.session, k->session, sizeof k->session) != 0 || k->old.epoch >= k->epoch))
        return sotto_fail(err, SOTTO_DENIED, "key generation: not the committee before this one");
    /* Members ascend. */
    if (k->old.members[k->old.count - 1] >= k->posting.registry.count)
        return sotto_fail(err, SOTTO_DENIED, "key generation: dealers that are not registered");
    return SOTTO_OK;
}

sotto_status sotto_keygen_open(sotto_keygen *k, sotto_bytes wire, sotto_arena *arena,
                               sotto_err *err)
{
    memset(k, 0, sizeof *k);
    SOTTO_TRY(decode(k, wire, arena, err));
    const sotto_registry *r = &k->posting.registry;
    if (k->count < SOTTO_DECRYPTORS_LEAST || k->count > SOTTO_DECRYPTORS_MOST ||
        k->count > r->count || !r->channel)
        return sotto_fail(err, SOTTO_DENIED, "key generation: %u members of %llu with keys",
                          k->count, (unsigned long long)(r->channel ? r->count : 0));
    k->threshold = sotto_decryptors_threshold(k->count);
    k->members = sotto_arena_take_array(arena, k->count, sizeof *k->members);
    if (!k->members)
        return sotto_fail(err, SOTTO_NO_MEMORY, "key generation");
    SOTTO_TRY(sotto_decryptors_draw(k->members, k->count, (uint32_t)r->count, k->beacon, k->session,
                                    k->epoch, arena, err));
    k->dealers = k->count;
    k->dealer = k->members;
    sotto_hash_once(k->id, SOTTO_SHA256, wire);
    return k->posting.decryptors.len ? open_old(k, arena, err) : SOTTO_OK;
}

/* As with a round: parts over session, epoch and registry. */
static sotto_status check_beacon(const sotto_keygen *k, bool old,
                                 const uint8_t (*verify)[SOTTO_P256_WIDE], uint32_t witnesses,
                                 sotto_err *err)
{
    sotto_posted_round p = {
        .round.epoch = old ? k->old.epoch : k->epoch,
        .posting = {.part_count = old ? k->old_part_count : k->posting.part_count,
                    .parts = old ? k->old_parts : k->posting.parts}};

    memcpy(p.round.session, k->session, sizeof p.round.session);
    memcpy(p.round.beacon, old ? k->old_beacon : k->beacon, sizeof p.round.beacon);
    sotto_registry_root(&k->posting.registry, p.round.registry);
    return sotto_posted_round_check_beacon(&p, verify, witnesses, err);
}

sotto_status sotto_keygen_verify(const sotto_keygen *k, const uint8_t (*verify)[SOTTO_P256_WIDE],
                                 uint32_t witnesses, sotto_arena *arena, sotto_err *err)
{
    sotto_decryptors old;

    /* A server that picks the beacon picks the committee. */
    sotto_status status = check_beacon(k, false, verify, witnesses, err);
    if (SOTTO_RULE(keygen_beacon) && status != SOTTO_OK)
        return status;
    if (!k->hands_on)
        return SOTTO_OK;
    /* A committee before that the server invented hands on a key that the server has. */
    status = check_beacon(k, true, verify, witnesses, err);
    if (SOTTO_RULE(keygen_old_beacon) && status != SOTTO_OK)
        return status;
    status = sotto_decryptors_open(&old, &k->old, &k->posting.registry, k->old_beacon, arena, err);
    sotto_decryptors_close(&old);
    return status;
}

/* ---- who speaks ---------------------------------------------------------------------------------------------- */

unsigned sotto_keygen_next(const sotto_keygen *k, unsigned step)
{
    return k->hands_on && step == SOTTO_KEYGEN_AGREE ? SOTTO_KEYGEN_RECORD : step + 1;
}

static bool is_dealers(unsigned step)
{
    return step == SOTTO_KEYGEN_DEAL || step == SOTTO_KEYGEN_ANSWER || step == SOTTO_KEYGEN_REVEAL;
}

uint32_t sotto_keygen_senders(const sotto_keygen *k, unsigned step, const uint32_t **indices)
{
    *indices = is_dealers(step) ? k->dealer : k->members;
    return is_dealers(step) ? k->dealers : k->count;
}

int sotto_keygen_place(const sotto_keygen *k, unsigned step, uint32_t index)
{
    const uint32_t *indices;
    const uint32_t count = sotto_keygen_senders(k, step, &indices);

    for (uint32_t i = 0; i < count; i++)
        if (indices[i] == index)
            return (int)i;
    return -1;
}
