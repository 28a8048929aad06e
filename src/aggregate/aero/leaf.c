#include "aggregate/aero/leaf.h"

#include "aggregate/aero/aero.h"
#include "base/rule.h"
#include "crypto/hash.h"

#include <string.h>

/* ---- commitments ---------------------------------------------------------------------------------------- */

static void put32(uint8_t *at, uint32_t x)
{
    for (unsigned i = 0; i < 4; i++)
        at[i] = (uint8_t)(x >> (24 - 8 * i));
}

void sotto_aero_seal_group(uint8_t out[32], const sotto_aero_plan *plan, uint8_t role,
                           uint32_t index, uint32_t group, const uint8_t nonce[32],
                           sotto_bytes ciphers)
{
    static const char purpose[] = "sotto-aero-group-1";
    uint8_t who[9];
    sotto_hash hash;

    who[0] = role;
    put32(who + 1, index);
    put32(who + 5, group);
    sotto_hash_init(&hash, SOTTO_SHA256);
    sotto_hash_update(&hash, sotto_bytes_of(purpose, sizeof purpose));
    sotto_hash_update(&hash, sotto_bytes_of(plan->id, sizeof plan->id));
    sotto_hash_update(&hash, sotto_bytes_of(who, sizeof who));
    sotto_hash_update(&hash, sotto_bytes_of(nonce, 32));
    sotto_hash_update(&hash, ciphers);
    sotto_hash_final(&hash, out);
}

void sotto_aero_commitment_of(uint8_t out[32], const sotto_aero_plan *plan,
                              const sotto_aero_sealed *of)
{
    static const char purpose[] = "sotto-aero-commitment-1";
    sotto_hash hash;

    sotto_hash_init(&hash, SOTTO_SHA256);
    sotto_hash_update(&hash, sotto_bytes_of(purpose, sizeof purpose));
    sotto_hash_update(&hash, sotto_bytes_of(of->sealed, (size_t)32 * plan->groups));
    sotto_hash_final(&hash, out);
}

void sotto_aero_promise_of(uint8_t out[32], const sotto_aero_plan *plan,
                           const sotto_aero_sealed *of)
{
    static const char purpose[] = "sotto-aero-promise-1";
    uint8_t commitment[32];
    sotto_hash hash;

    sotto_aero_commitment_of(commitment, plan, of);
    sotto_hash_init(&hash, SOTTO_SHA256);
    sotto_hash_update(&hash, sotto_bytes_of(purpose, sizeof purpose));
    sotto_hash_update(&hash, sotto_bytes_of(commitment, sizeof commitment));
    sotto_hash_update(&hash, sotto_bytes_of(of->proofs, (size_t)32 * plan->groups));
    sotto_hash_final(&hash, out);
}

size_t sotto_aero_group_bytes(const sotto_aero_plan *plan, uint32_t group)
{
    return 2 * sotto_aero_group_size(plan, group) * sotto_aero_poly_size(&plan->aero);
}

sotto_status sotto_aero_group_encode(sotto_buf *out, const sotto_aero_plan *plan,
                                     const sotto_aero_cipher *ciphers, size_t count, sotto_err *err)
{
    for (size_t i = 0; i < count; i++) {
        SOTTO_TRY(sotto_aero_poly_encode(&plan->aero, out, &ciphers[i].c1, err));
        SOTTO_TRY(sotto_aero_poly_encode(&plan->aero, out, &ciphers[i].c2, err));
    }
    return SOTTO_OK;
}

sotto_status sotto_aero_group_decode(sotto_aero_cipher **out, const sotto_aero_plan *plan,
                                     uint32_t group, sotto_bytes wire, sotto_arena *arena,
                                     sotto_err *err)
{
    size_t count = sotto_aero_group_size(plan, group), each = sotto_aero_poly_size(&plan->aero);
    sotto_aero_cipher *c = sotto_arena_take_array(arena, count, sizeof *c);

    *out = c;
    if (!c)
        return sotto_fail(err, SOTTO_NO_MEMORY, "aero: no memory");
    if (wire.len != 2 * count * each)
        return sotto_fail(err, SOTTO_MALFORMED, "aero: a group of %zu bytes", wire.len);
    for (size_t i = 0; i < 2 * count; i++)
        SOTTO_TRY(sotto_aero_poly_decode(&plan->aero, i % 2 ? &c[i / 2].c2 : &c[i / 2].c1,
                                         sotto_bytes_of(wire.data + i * each, each), err));
    return SOTTO_OK;
}

sotto_aero_statement sotto_aero_statement_of(const sotto_aero_plan *plan, const sotto_aero_poly *b,
                                             uint8_t role, uint32_t index, uint32_t group,
                                             const uint8_t commitment[32],
                                             const sotto_aero_cipher *ciphers)
{
    const sotto_round *r = plan->round;
    sotto_aero_statement s = {
        .aero = &plan->aero,
        .profile = plan->profile,
        .a = &plan->a,
        .b = b,
        .ciphers = ciphers,
        .count = sotto_aero_group_size(plan, group),
        .bits = plan->terms.bits,
        .norm2 = sotto_aero_norm2(plan, role, group),
        .epoch = r->epoch,
        .round = r->number,
        .role = role,
        .group = group,
    };
    const uint8_t *key = sotto_registry_key(r->keys, index);

    memcpy(s.session, r->session, sizeof s.session);
    if (key)
        memcpy(s.device, key, sizeof s.device);
    memcpy(s.commitment, commitment, sizeof s.commitment);
    return s;
}

sotto_message sotto_aero_commit_message(const sotto_round *round, uint8_t body[33], uint8_t role,
                                        uint32_t index, const uint8_t promise[32])
{
    sotto_message m = {.epoch = round->epoch,
                       .round = round->number,
                       .kind = SOTTO_AERO_COMMIT,
                       .from = index,
                       .to = SOTTO_TO_SERVER,
                       .body = {body, 33}};

    memcpy(m.session, round->session, sizeof m.session);
    body[0] = role;
    memcpy(body + 1, promise, 32);
    return m;
}

/* ---- leaves ---------------------------------------------------------------------------------------------- */

static void leaf_bytes(uint8_t out[SOTTO_AERO_LEAF], const sotto_aero_leaf *leaf)
{
    memset(out, 0, SOTTO_AERO_LEAF);
    out[0] = leaf->role;
    put32(out + 1, leaf->index);
    out[5] = leaf->is_there;
    if (!leaf->is_there)
        return;
    memcpy(out + 6, leaf->sealed, 32);
    memcpy(out + 38, leaf->proof, 32);
}

void sotto_aero_leaf_digest(uint8_t out[32], const sotto_aero_leaf *leaf)
{
    uint8_t bytes[SOTTO_AERO_LEAF];

    leaf_bytes(bytes, leaf);
    sotto_aero_leaf_hash(out, sotto_bytes_of(bytes, sizeof bytes));
}

void sotto_aero_promise_digest(uint8_t out[32], const sotto_aero_promise *promise)
{
    uint8_t bytes[SOTTO_AERO_PROMISE] = {0};

    bytes[0] = promise->role;
    put32(bytes + 1, promise->index);
    bytes[5] = promise->is_there;
    if (promise->is_there) {
        memcpy(bytes + 6, promise->promise, 32);
        memcpy(bytes + 38, promise->signature, SOTTO_SIGNATURE);
    }
    sotto_aero_leaf_hash(out, sotto_bytes_of(bytes, sizeof bytes));
}

/* ---- samples: codec --------------------------------------------------------------------------------------- */

void sotto_aero_leaf_write(sotto_writer *w, const sotto_aero_leaf *leaf)
{
    uint8_t bytes[SOTTO_AERO_LEAF];

    leaf_bytes(bytes, leaf);
    sotto_write_bytes(w, sotto_bytes_of(bytes, leaf->is_there ? sizeof bytes : 6));
}

void sotto_aero_leaf_read(sotto_reader *in, sotto_aero_leaf *leaf, bool *malformed)
{
    memset(leaf, 0, sizeof *leaf);
    leaf->role = (uint8_t)sotto_read_uint(in, 1);
    leaf->index = (uint32_t)sotto_read_uint(in, 4);
    uint64_t is_there = sotto_read_uint(in, 1);
    leaf->is_there = is_there == 1;
    *malformed |= is_there > 1;
    if (!leaf->is_there)
        return;
    sotto_read_fixed(in, leaf->sealed, 32);
    sotto_read_fixed(in, leaf->proof, 32);
}

size_t sotto_aero_sample_size(const sotto_aero_plan *plan, const sotto_aero_sample *s)
{
    size_t path = 1 + SOTTO_AERO_DEPTH * (32 + 8 * SOTTO_AERO_VALUES);

    return 9 + 2 * SOTTO_AERO_LEAF + 4 * path + SOTTO_AERO_PROMISE + (size_t)64 * plan->groups +
           32 + 8 + s->ciphers.len + s->proof.len;
}

sotto_status sotto_aero_sample_encode(sotto_buf *out, const sotto_aero_plan *plan,
                                      const sotto_aero_sample *s, sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_write_uint(&w, s->group, 1);
    sotto_write_uint(&w, s->position, 4);
    sotto_aero_leaf_write(&w, &s->leaf);
    sotto_aero_sum_path_write(&w, &s->leaf_path, false);
    sotto_aero_sum_path_write(&w, &s->sum_path, true);
    sotto_write_uint(&w, s->has_next, 1);
    if (s->has_next) {
        sotto_aero_leaf_write(&w, &s->next);
        sotto_aero_sum_path_write(&w, &s->next_path, false);
    }
    if (s->leaf.is_there) {
        sotto_write_bytes(&w, sotto_bytes_of(s->promise.promise, 32));
        sotto_write_bytes(&w, sotto_bytes_of(s->promise.signature, SOTTO_SIGNATURE));
        sotto_aero_sum_path_write(&w, &s->promise_path, false);
        sotto_write_bytes(&w, sotto_bytes_of(s->of.sealed, (size_t)32 * plan->groups));
        sotto_write_bytes(&w, sotto_bytes_of(s->of.proofs, (size_t)32 * plan->groups));
        sotto_write_bytes(&w, sotto_bytes_of(s->nonce, sizeof s->nonce));
        sotto_write_opaque32(&w, s->ciphers);
        sotto_write_opaque32(&w, s->proof);
    }
    return sotto_writer_finish(&w, "sample", err);
}

static void read_opening(sotto_reader *in, sotto_aero_sample *s, uint32_t groups, bool *malformed)
{
    s->promise =
        (sotto_aero_promise){.role = s->leaf.role, .index = s->leaf.index, .is_there = true};
    sotto_read_fixed(in, s->promise.promise, 32);
    sotto_read_fixed(in, s->promise.signature, SOTTO_SIGNATURE);
    sotto_aero_sum_path_read(in, &s->promise_path, false, malformed);
    sotto_read_fixed(in, s->of.sealed, (size_t)32 * groups);
    sotto_read_fixed(in, s->of.proofs, (size_t)32 * groups);
    sotto_read_fixed(in, s->nonce, sizeof s->nonce);
    s->ciphers = sotto_read_opaque32(in);
    s->proof = sotto_read_opaque32(in);
}

sotto_status sotto_aero_sample_decode(sotto_aero_sample *s, uint32_t groups, sotto_bytes wire,
                                      sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);
    bool malformed = false;

    memset(s, 0, sizeof *s);
    s->group = (uint32_t)sotto_read_uint(&in, 1);
    s->position = (uint32_t)sotto_read_uint(&in, 4);
    sotto_aero_leaf_read(&in, &s->leaf, &malformed);
    sotto_aero_sum_path_read(&in, &s->leaf_path, false, &malformed);
    sotto_aero_sum_path_read(&in, &s->sum_path, true, &malformed);
    uint64_t has_next = sotto_read_uint(&in, 1);
    s->has_next = has_next == 1;
    if (s->has_next) {
        sotto_aero_leaf_read(&in, &s->next, &malformed);
        sotto_aero_sum_path_read(&in, &s->next_path, false, &malformed);
    }
    if (s->leaf.is_there)
        read_opening(&in, s, groups, &malformed);
    SOTTO_TRY(sotto_reader_finish(&in, "sample", err));
    if (malformed || has_next > 1 || s->group >= groups || groups > SOTTO_AERO_MOST_GROUPS)
        return sotto_fail(err, SOTTO_MALFORMED, "sample: not in its one encoding");
    return SOTTO_OK;
}
