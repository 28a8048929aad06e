#include "aggregate/shared/decryptors.h"

#include "aggregate/shared/draw.h"
#include "base/rule.h"
#include "crypto/hash.h"

#include <string.h>

static const char LABEL[] = "sotto-decryptors-1";

sotto_status sotto_decryptors_draw(uint32_t *out, uint32_t count, uint32_t registered,
                                   const uint8_t beacon[32], const uint8_t session[32],
                                   uint64_t epoch, sotto_arena *scratch, sotto_err *err)
{
    uint8_t seed[32];

    sotto_draw_seed(seed, "sotto-draw-decryptors-1", beacon, session, epoch, 0);
    return sotto_draw_set(out, count, registered, seed, scratch, err);
}

void sotto_decryptors_digest(const sotto_decryptors_record *r, uint8_t out[32])
{
    uint8_t numbers[12];
    sotto_buf written = sotto_buf_over(numbers, sizeof numbers);
    sotto_writer w = sotto_writer_on(&written);
    sotto_hash hash;

    sotto_write_uint(&w, r->epoch, 8);
    sotto_write_uint(&w, r->count, 4);
    sotto_hash_init(&hash, SOTTO_SHA256);
    sotto_hash_update(&hash, sotto_bytes_of(LABEL, sizeof LABEL));
    sotto_hash_update(&hash, sotto_bytes_of(r->session, sizeof r->session));
    sotto_hash_update(&hash, sotto_bytes_of(numbers, sizeof numbers));
    for (uint32_t i = 0; i < r->count; i++) {
        uint8_t index[4];
        sotto_buf place = sotto_buf_over(index, sizeof index);
        sotto_writer at = sotto_writer_on(&place);

        sotto_write_uint(&at, r->members[i], 4);
        sotto_hash_update(&hash, sotto_bytes_of(index, sizeof index));
        sotto_hash_update(&hash, sotto_bytes_of(r->verify[i], SOTTO_P256_WIDE));
    }
    sotto_hash_update(&hash, sotto_bytes_of(r->key, sizeof r->key));
    sotto_hash_final(&hash, out);
}

static void signed_text(uint8_t out[sizeof LABEL + 32], const uint8_t digest[32])
{
    memcpy(out, LABEL, sizeof LABEL);
    memcpy(out + sizeof LABEL, digest, 32);
}

sotto_status sotto_decryptors_sign(const uint8_t digest[32], uint8_t out[SOTTO_SIGNATURE],
                                   const sotto_signer *signer, sotto_err *err)
{
    uint8_t text[sizeof LABEL + 32];

    signed_text(text, digest);
    return sotto_sign(signer, out, sotto_bytes_of(text, sizeof text), err);
}

bool sotto_decryptors_is_signed(const uint8_t digest[32], const uint8_t key[SOTTO_SIGN_PUBLIC],
                                const uint8_t signature[SOTTO_SIGNATURE])
{
    uint8_t text[sizeof LABEL + 32];

    signed_text(text, digest);
    return sotto_signature_check(key, signature, sotto_bytes_of(text, sizeof text), NULL) ==
           SOTTO_OK;
}

/* ---- wire ------------------------------------------------------------------------------------------------ */

sotto_status sotto_decryptors_encode(sotto_buf *out, const sotto_decryptors_record *r,
                                     sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_write_bytes(&w, sotto_bytes_of(r->session, sizeof r->session));
    sotto_write_uint(&w, r->epoch, 8);
    sotto_write_uint(&w, r->count, 2);
    sotto_write_bytes(&w, sotto_bytes_of(r->key, sizeof r->key));
    for (uint32_t i = 0; i < r->count; i++) {
        sotto_write_uint(&w, r->members[i], 4);
        sotto_write_bytes(&w, sotto_bytes_of(r->verify[i], SOTTO_P256_WIDE));
        sotto_write_opaque8(
            &w, sotto_bytes_of(r->signatures[i], r->is_signed[i] ? SOTTO_SIGNATURE : 0));
    }
    return sotto_writer_finish(&w, "decryptors", err);
}

static sotto_status take_lists(sotto_decryptors_record *r, sotto_arena *arena, sotto_err *err)
{
    r->members = sotto_arena_take_array(arena, r->count, sizeof *r->members);
    r->verify = sotto_arena_take_array(arena, r->count, sizeof *r->verify);
    r->signatures = sotto_arena_take_array(arena, r->count, sizeof *r->signatures);
    r->is_signed = sotto_arena_take_array(arena, r->count, sizeof *r->is_signed);
    if (!r->members || !r->verify || !r->signatures || !r->is_signed)
        return sotto_fail(err, SOTTO_NO_MEMORY, "decryptors: no memory");
    return SOTTO_OK;
}

sotto_status sotto_decryptors_decode(sotto_decryptors_record *r, sotto_bytes wire,
                                     sotto_arena *arena, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);
    bool wrong = false;

    memset(r, 0, sizeof *r);
    sotto_read_fixed(&in, r->session, sizeof r->session);
    r->epoch = sotto_read_uint(&in, 8);
    r->count = (uint32_t)sotto_read_uint(&in, 2);
    sotto_read_fixed(&in, r->key, sizeof r->key);
    if (r->count < SOTTO_DECRYPTORS_LEAST || r->count > SOTTO_DECRYPTORS_MOST)
        return sotto_fail(err, SOTTO_MALFORMED, "decryptors: %u members", r->count);
    SOTTO_TRY(take_lists(r, arena, err));
    for (uint32_t i = 0; i < r->count; i++) {
        r->members[i] = (uint32_t)sotto_read_uint(&in, 4);
        sotto_read_fixed(&in, r->verify[i], SOTTO_P256_WIDE);
        sotto_bytes signature = sotto_read_opaque8(&in);
        wrong |= (signature.len != 0 && signature.len != SOTTO_SIGNATURE) ||
                 (i > 0 && r->members[i] <= r->members[i - 1]);
        r->is_signed[i] = signature.len == SOTTO_SIGNATURE;
        if (r->is_signed[i])
            memcpy(r->signatures[i], signature.data, SOTTO_SIGNATURE);
    }
    SOTTO_TRY(sotto_reader_finish(&in, "decryptors", err));
    if (wrong)
        return sotto_fail(err, SOTTO_MALFORMED,
                          "decryptors: members do not ascend, or a signature is cut");
    return SOTTO_OK;
}

/* ---- checks ---------------------------------------------------------------------------------------------- */

/* A server that chose the committee would own it. */
static sotto_status check_members(const sotto_decryptors_record *r, const sotto_registry *registry,
                                  const uint8_t beacon[32], sotto_arena *arena, sotto_err *err)
{
    uint32_t drawn[SOTTO_DECRYPTORS_MOST];

    if (r->count < SOTTO_DECRYPTORS_LEAST || r->count > SOTTO_DECRYPTORS_MOST ||
        r->count > registry->count || registry->count >= SOTTO_MOST_INDEX)
        return sotto_fail(err, SOTTO_REJECTED, "decryptors: %u members", r->count);
    SOTTO_TRY(sotto_decryptors_draw(drawn, r->count, (uint32_t)registry->count, beacon, r->session,
                                    r->epoch, arena, err));
    if (SOTTO_RULE(decryptors_drawn) && memcmp(drawn, r->members, r->count * sizeof drawn[0]) != 0)
        return sotto_fail(err, SOTTO_REJECTED, "decryptors: not those that the beacon draws");
    return SOTTO_OK;
}

/* A key that the server made, or one for this client alone, has no quorum behind it. */
static sotto_status check_signatures(const sotto_decryptors *d, const sotto_registry *registry,
                                     sotto_err *err)
{
    const sotto_decryptors_record *r = &d->record;
    sotto_signature_claim claims[SOTTO_DECRYPTORS_MOST];
    uint8_t text[sizeof LABEL + 32];
    uint32_t valid = 0;

    signed_text(text, d->digest);
    for (uint32_t i = 0; i < r->count; i++)
        claims[i] = (sotto_signature_claim){
            .public_key = r->is_signed[i] ? sotto_registry_key(registry, r->members[i]) : NULL,
            .signature = r->signatures[i],
            .text = sotto_bytes_of(text, sizeof text)};
    sotto_signatures_check(claims, r->count);
    for (uint32_t i = 0; i < r->count; i++)
        valid += claims[i].holds ||
                 (claims[i].public_key &&
                  sotto_decryptors_is_signed(d->digest, claims[i].public_key, r->signatures[i]));
    if (SOTTO_RULE(decryptors_signed) && valid < sotto_decryptors_quorum(r->count))
        return sotto_fail(err, SOTTO_REJECTED, "decryptors: %u of %u signed, wanted %u", valid,
                          r->count, sotto_decryptors_quorum(r->count));
    return SOTTO_OK;
}

static sotto_status read_points(sotto_decryptors *d, sotto_err *err)
{
    sotto_group *g = &d->tdh2.group;

    d->key = sotto_point_new(g);
    if (!sotto_point_decode_wide(g, d->key, d->record.key))
        return sotto_fail(err, SOTTO_REJECTED, "decryptors: a key that is no point");
    for (uint32_t i = 0; i < d->record.count; i++)
        if (!sotto_point_decode_wide(g, d->tdh2.at[0], d->record.verify[i]))
            return sotto_fail(err, SOTTO_REJECTED, "decryptors: a share that is no point");
    return sotto_group_finish(g, err);
}

sotto_status sotto_decryptors_open(sotto_decryptors *d, const sotto_decryptors_record *record,
                                   const sotto_registry *registry, const uint8_t beacon[32],
                                   sotto_arena *arena, sotto_err *err)
{
    memset(d, 0, sizeof *d);
    d->record = *record;
    SOTTO_TRY(check_members(record, registry, beacon, arena, err));
    sotto_decryptors_digest(record, d->digest);
    SOTTO_TRY(check_signatures(d, registry, err));
    SOTTO_TRY(sotto_tdh2_init(&d->tdh2, err));
    return read_points(d, err);
}

void sotto_decryptors_close(sotto_decryptors *d)
{
    sotto_point_free(d->key);
    sotto_tdh2_clear(&d->tdh2);
    memset(d, 0, sizeof *d);
}

int sotto_decryptors_place(const sotto_decryptors *d, uint32_t index)
{
    for (uint32_t i = 0; i < d->record.count; i++)
        if (d->record.members[i] == index)
            return (int)i;
    return -1;
}
