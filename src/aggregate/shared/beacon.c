#include "aggregate/shared/beacon.h"

#include "aggregate/shared/decryptors.h"
#include "base/rule.h"
#include "crypto/hash.h"

#include <string.h>

static const char LABEL[] = "sotto-beacon-1";

sotto_status sotto_beacon_input_encode(sotto_buf *out, const sotto_beacon_input *input,
                                       sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_write_bytes(&w, sotto_bytes_of(input->session, 32));
    sotto_write_bytes(&w, sotto_bytes_of(input->registry, 32));
    sotto_write_uint(&w, input->epoch, 8);
    return sotto_writer_finish(&w, "beacon input", err);
}

sotto_status sotto_beacon_input_decode(sotto_beacon_input *input, sotto_bytes wire, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);

    sotto_read_fixed(&in, input->session, 32);
    sotto_read_fixed(&in, input->registry, 32);
    input->epoch = sotto_read_uint(&in, 8);
    return sotto_reader_finish(&in, "beacon input", err);
}

sotto_status sotto_beacon_part_encode(sotto_buf *out, const sotto_beacon_part *part, sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_write_uint(&w, part->place, 4);
    sotto_write_bytes(&w, sotto_bytes_of(part->bytes, sizeof part->bytes));
    return sotto_writer_finish(&w, "beacon part", err);
}

sotto_status sotto_beacon_part_decode(sotto_beacon_part *part, sotto_bytes wire, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);

    part->place = (uint32_t)sotto_read_uint(&in, 4);
    sotto_read_fixed(&in, part->bytes, sizeof part->bytes);
    return sotto_reader_finish(&in, "beacon part", err);
}

/* The point of an input, in long form. */
static sotto_status point_of(sotto_tdh2 *t, uint8_t out[SOTTO_P256_WIDE],
                             const sotto_beacon_input *input, sotto_err *err)
{
    uint8_t text[SOTTO_BEACON_INPUT];
    sotto_buf written = sotto_buf_over(text, sizeof text);
    const sotto_bytes message = {text, sizeof text};

    SOTTO_TRY(sotto_beacon_input_encode(&written, input, err));
    sotto_point_hash_vartime(&t->group, t->at[0], sotto_bytes_of(LABEL, sizeof LABEL - 1), &message,
                             1);
    bool whole = sotto_point_encode_wide(&t->group, out, t->at[0]);
    SOTTO_TRY(sotto_group_finish(&t->group, err));
    return whole ? SOTTO_OK : sotto_fail(err, SOTTO_BUG, "beacon: an input without a point");
}

static sotto_dleq_claim claim_of(const uint8_t base[SOTTO_P256_WIDE], const uint8_t *part,
                                 const sotto_point *public_key)
{
    return (sotto_dleq_claim){.context = {(const uint8_t *)LABEL, sizeof LABEL},
                              .public_key = public_key,
                              .bases = base,
                              .parts = part,
                              .count = 1};
}

/* What the proof's nonce is drawn from depends on share and input too. A nonce that a caller gave twice, for two inputs, would
 * give the share away otherwise. */
static void seed_of(uint8_t out[32], const uint8_t nonce[32], const sotto_scalar *share,
                    const uint8_t base[SOTTO_P256_WIDE])
{
    static const char text[] = "sotto-beacon-nonce-1";
    sotto_hash hash;

    sotto_hash_init(&hash, SOTTO_SHA256);
    sotto_hash_update(&hash, sotto_bytes_of(text, sizeof text));
    sotto_hash_update(&hash, sotto_bytes_of(nonce, 32));
    sotto_hash_update(&hash, sotto_bytes_of(share->be, SOTTO_P256_SCALAR));
    sotto_hash_update(&hash, sotto_bytes_of(base, SOTTO_P256_WIDE));
    sotto_hash_final(&hash, out);
    sotto_wipe(&hash, sizeof hash);
}

sotto_status sotto_beacon_give(sotto_tdh2 *t, uint8_t out[SOTTO_BEACON_PART],
                               const sotto_beacon_input *input, const sotto_scalar *share,
                               const uint8_t nonce[32], sotto_err *err)
{
    uint8_t base[SOTTO_P256_WIDE], seed[32];
    sotto_keystream stream;

    SOTTO_TRY(point_of(t, base, input, err));
    if (!sotto_point_decode_wide(&t->group, t->at[0], base))
        return sotto_fail(err, SOTTO_BUG, "beacon: not a point");
    sotto_point_multiply(&t->group, t->at[1], share, t->at[0]);
    if (!sotto_point_encode_wide(&t->group, out, t->at[1]))
        return sotto_fail(err, SOTTO_BUG, "beacon: a share of zero");
    sotto_point_multiply(&t->group, t->at[5], share, NULL);
    sotto_dleq_claim claim = claim_of(base, out, t->at[5]);
    seed_of(seed, nonce, share, base);
    sotto_status status = sotto_keystream_init(&stream, err);
    if (status == SOTTO_OK)
        status = sotto_keystream_seed(&stream, seed, err);
    if (status == SOTTO_OK)
        status = sotto_dleq_prove(t, out + SOTTO_P256_WIDE, &claim, share, &stream, err);
    sotto_keystream_clear(&stream);
    sotto_wipe(seed, sizeof seed);
    return status;
}

static bool is_right(sotto_tdh2 *t, const uint8_t base[SOTTO_P256_WIDE],
                     const uint8_t (*verify)[SOTTO_P256_WIDE], uint32_t witnesses,
                     const sotto_beacon_part *part)
{
    if (part->place >= witnesses ||
        !sotto_point_decode_wide(&t->group, t->at[5], verify[part->place]))
        return false;
    sotto_dleq_claim claim = claim_of(base, part->bytes, t->at[5]);
    return sotto_dleq_holds_vartime(t, &claim, part->bytes + SOTTO_P256_WIDE);
}

sotto_status sotto_beacon_value_vartime(sotto_tdh2 *t, uint8_t out[32],
                                        const sotto_beacon_input *input,
                                        const uint8_t (*verify)[SOTTO_P256_WIDE],
                                        uint32_t witnesses, const sotto_beacon_part *parts,
                                        uint32_t count, uint32_t *wrong, sotto_err *err)
{
    uint8_t base[SOTTO_P256_WIDE], value[SOTTO_P256_WIDE];
    sotto_scalar weights[SOTTO_DECRYPTORS_MOST];
    uint32_t xs[SOTTO_DECRYPTORS_MOST];
    sotto_group *g = &t->group;

    *wrong = UINT32_MAX;
    if (witnesses > SOTTO_DECRYPTORS_MOST || count == 0 || count > witnesses)
        return sotto_fail(err, SOTTO_REJECTED, "beacon: %u parts", count);
    /* Any fewer give a value as well, and each choice of them another one. */
    if (SOTTO_RULE(beacon_parts_enough) && count != sotto_decryptors_threshold(witnesses))
        return sotto_fail(err, SOTTO_REJECTED, "beacon: %u parts, not %u", count,
                          sotto_decryptors_threshold(witnesses));
    SOTTO_TRY(point_of(t, base, input, err));
    for (uint32_t i = 0; i < count; i++) {
        bool again = i > 0 && parts[i].place <= parts[i - 1].place;

        if (SOTTO_RULE(beacon_parts_proved) &&
            (again || !is_right(t, base, verify, witnesses, &parts[i]))) {
            *wrong = i;
            return sotto_fail(err, SOTTO_REJECTED, "beacon: a part is not its witness's");
        }
        xs[i] = parts[i].place + 1;
    }
    sotto_scalar_weights_vartime(g, weights, xs, count);
    sotto_point_set_identity(g, t->at[0]);
    for (uint32_t i = 0; i < count; i++)
        if (sotto_point_decode_wide(g, t->at[1], parts[i].bytes))
            sotto_point_multiply_add(g, t->at[0], &weights[i], t->at[1]);
    bool whole = sotto_point_encode_wide(g, value, t->at[0]);
    SOTTO_TRY(sotto_group_finish(g, err));
    if (!whole)
        return sotto_fail(err, SOTTO_REJECTED, "beacon: no value");
    sotto_hash_once(out, SOTTO_SHA256, sotto_bytes_of(value, sizeof value));
    return SOTTO_OK;
}
