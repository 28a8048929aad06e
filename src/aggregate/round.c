#include "aggregate/round.h"

#include "base/rule.h"
#include "crypto/hash.h"
#include "math/field64.h"
#include "math/wide.h"

#include <string.h>

static const char LABEL[13] = "sotto-round-1";

/* ---- codec --------------------------------------------------------------------------------------- */

static void write_noise(sotto_writer *w, const sotto_round_noise *noise)
{
    sotto_write_uint(w, noise->by, 1);
    sotto_write_uint(w, noise->law, 1);
    sotto_write_uint(w, noise->num, 8);
    sotto_write_uint(w, noise->den, 8);
    sotto_write_uint(w, noise->shares, 8);
    sotto_write_uint(w, noise->tail, 8);
}

static void read_noise(sotto_reader *in, sotto_round_noise *noise)
{
    noise->by = (uint8_t)sotto_read_uint(in, 1);
    noise->law = (uint8_t)sotto_read_uint(in, 1);
    noise->num = sotto_read_uint(in, 8);
    noise->den = sotto_read_uint(in, 8);
    noise->shares = sotto_read_uint(in, 8);
    noise->tail = sotto_read_uint(in, 8);
}

sotto_status sotto_round_encode(sotto_buf *out, const sotto_round *round, sotto_err *err)
{
    const uint64_t numbers[] = {round->length, round->most, round->norm2, round->least,
                                round->largest};
    const uint64_t times[] = {round->opens, round->commit_by, round->closes, round->verify_by,
                              round->release_by};
    sotto_writer w = sotto_writer_on(out);

    if (round->parameters.len > SOTTO_ROUND_MOST_PARAMETERS)
        return sotto_fail(err, SOTTO_TOO_LARGE, "round: %zu bytes of parameters, at most %d",
                          round->parameters.len, SOTTO_ROUND_MOST_PARAMETERS);
    sotto_write_bytes(&w, sotto_bytes_of(LABEL, sizeof LABEL));
    sotto_write_bytes(&w, sotto_bytes_of(round->session, sizeof round->session));
    sotto_write_bytes(&w, sotto_bytes_of(round->recipe, sizeof round->recipe));
    sotto_write_uint(&w, round->epoch, 8);
    sotto_write_uint(&w, round->number, 8);
    sotto_write_uint(&w, round->method, 2);
    sotto_write_uint(&w, round->version, 2);
    sotto_write_uint(&w, round->ring, 1);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        sotto_write_uint(&w, numbers[i], 8);
    write_noise(&w, &round->noise);
    sotto_write_bytes(&w, sotto_bytes_of(round->beacon, sizeof round->beacon));
    sotto_write_bytes(&w, sotto_bytes_of(round->registry, sizeof round->registry));
    sotto_write_uint(&w, round->registered, 8);
    sotto_write_bytes(&w, sotto_bytes_of(round->model, sizeof round->model));
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
        sotto_write_uint(&w, times[i], 8);
    sotto_write_opaque16(&w, round->parameters);
    return sotto_writer_finish(&w, "round", err);
}

static sotto_status check_words(const sotto_round *round, const char *label, sotto_err *err)
{
    if (memcmp(label, LABEL, sizeof LABEL) != 0 || round->version != SOTTO_ROUND_VERSION)
        return sotto_fail(err, SOTTO_MALFORMED, "round: not of version %d", SOTTO_ROUND_VERSION);
    if (round->ring < SOTTO_RING_Z32 || round->ring > SOTTO_RING_RLWE)
        return sotto_fail(err, SOTTO_MALFORMED, "round: unknown ring %d", (int)round->ring);
    if (round->noise.by > SOTTO_ROUND_NOISE_SERVERS)
        return sotto_fail(err, SOTTO_MALFORMED, "round: unknown source of noise %u",
                          round->noise.by);
    if (round->parameters.len > SOTTO_ROUND_MOST_PARAMETERS)
        return sotto_fail(err, SOTTO_MALFORMED, "round: %zu bytes of parameters, at most %d",
                          round->parameters.len, SOTTO_ROUND_MOST_PARAMETERS);
    return SOTTO_OK;
}

sotto_status sotto_round_decode(sotto_round *round, sotto_bytes wire, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);
    char label[sizeof LABEL];

    memset(round, 0, sizeof *round);
    sotto_read_fixed(&in, label, sizeof label);
    sotto_read_fixed(&in, round->session, sizeof round->session);
    sotto_read_fixed(&in, round->recipe, sizeof round->recipe);
    round->epoch = sotto_read_uint(&in, 8);
    round->number = sotto_read_uint(&in, 8);
    round->method = (uint16_t)sotto_read_uint(&in, 2);
    round->version = (uint16_t)sotto_read_uint(&in, 2);
    round->ring = (sotto_ring)sotto_read_uint(&in, 1);
    round->length = sotto_read_uint(&in, 8);
    round->most = sotto_read_uint(&in, 8);
    round->norm2 = sotto_read_uint(&in, 8);
    round->least = sotto_read_uint(&in, 8);
    round->largest = sotto_read_uint(&in, 8);
    read_noise(&in, &round->noise);
    sotto_read_fixed(&in, round->beacon, sizeof round->beacon);
    sotto_read_fixed(&in, round->registry, sizeof round->registry);
    round->registered = sotto_read_uint(&in, 8);
    sotto_read_fixed(&in, round->model, sizeof round->model);
    round->opens = sotto_read_uint(&in, 8);
    round->commit_by = sotto_read_uint(&in, 8);
    round->closes = sotto_read_uint(&in, 8);
    round->verify_by = sotto_read_uint(&in, 8);
    round->release_by = sotto_read_uint(&in, 8);
    round->parameters = sotto_read_opaque16(&in);
    SOTTO_TRY(sotto_reader_finish(&in, "round", err));
    return check_words(round, label, err);
}

sotto_status sotto_round_id(const sotto_round *round, uint8_t id[SOTTO_ROUND_ID], sotto_err *err)
{
    uint8_t wire[SOTTO_ROUND_MOST_BYTES];
    sotto_buf out = sotto_buf_over(wire, sizeof wire);

    SOTTO_TRY(sotto_round_encode(&out, round, err));
    sotto_hash_once(id, SOTTO_SHA256, sotto_buf_bytes(&out));
    return SOTTO_OK;
}

/* ---- bit budget ------------------------------------------------------------------------------------ */

enum { DIGITS = 40 };

static const char *decimal(char out[DIGITS], sotto_u128 x)
{
    char *at = out + DIGITS - 1;

    *at = 0;
    do {
        *--at = (char)('0' + (int)(x % 10));
        x /= 10;
    } while (x);
    return at;
}

/* Bits of the smallest two's complement that holds it with either sign. */
static unsigned bits_for(sotto_u128 magnitude)
{
    unsigned bits = 1;

    for (; magnitude; magnitude >>= 1)
        bits++;
    return bits;
}

static sotto_u128 half_of(sotto_ring ring)
{
    switch (ring) {
    case SOTTO_RING_Z32:
        return (sotto_u128)1 << 31;
    case SOTTO_RING_Z64:
        return (sotto_u128)1 << 63;
    case SOTTO_RING_F64:
        return SOTTO_F64_P / 2;
    default:
        return sotto_u128_of(UINT64_C(0xffffffffffffffe4), 1) >> 1;
    }
}

static sotto_status check_budget(const sotto_round *round, sotto_err *err)
{
    static const char *const names[] = {"", "z32", "z64", "f64", "f128"};
    char left[DIGITS], right[DIGITS];
    sotto_u128 most = sotto_mul_wide(round->largest, round->most);
    sotto_u128 half = half_of(round->ring), total = most + round->noise.tail;

    if (total < most)
        total = ~(sotto_u128)0;
    if (SOTTO_RULE(round_bit_budget) && total >= half)
        return sotto_fail(
            err, SOTTO_DENIED, "%s: largest * most + tail = %s is not below %s; %u bits would do",
            names[round->ring], decimal(left, total), decimal(right, half), bits_for(total));
    /* PINE proves a squared norm in Field64: three times its bound must not wrap (draft-chen-cfrg-vdaf-pine). */
    if (SOTTO_RULE(round_norm_budget) && round->ring == SOTTO_RING_F64 &&
        sotto_mul_wide(3, round->norm2) + 2 >= SOTTO_F64_P)
        return sotto_fail(err, SOTTO_DENIED, "f64: 3 * norm2 + 2 = %s is not below %s",
                          decimal(left, sotto_mul_wide(3, round->norm2) + 2),
                          decimal(right, SOTTO_F64_P));
    return SOTTO_OK;
}

static sotto_status check_numbers(const sotto_round *round, sotto_err *err)
{
    unsigned long long least = round->least, largest = round->largest;

    if (round->length == 0 || round->length > SOTTO_ROUND_MOST_LENGTH)
        return sotto_fail(err, SOTTO_DENIED, "round: a vector of %llu entries",
                          (unsigned long long)round->length);
    if (round->most == 0)
        return sotto_fail(err, SOTTO_DENIED, "round: contributions without a bound");
    /* A sum of one is that one's contribution. */
    if (SOTTO_RULE(round_least) && least < 2)
        return sotto_fail(err, SOTTO_DENIED, "round: least = %llu is not at least 2", least);
    if (least > largest)
        return sotto_fail(err, SOTTO_DENIED, "round: least = %llu is above largest = %llu", least,
                          largest);
    if (round->registered && largest > round->registered)
        return sotto_fail(err, SOTTO_DENIED, "round: largest = %llu is above registered = %llu",
                          largest, (unsigned long long)round->registered);
    if (round->noise.by != SOTTO_ROUND_NOISE_NONE && round->noise.den == 0)
        return sotto_fail(err, SOTTO_DENIED, "round: noise of no variance");
    return SOTTO_OK;
}

/* ---- times ------------------------------------------------------------------------------------------ */

static sotto_status check_times(const sotto_round *round, sotto_err *err)
{
    if (round->opens >= round->commit_by || round->commit_by >= round->closes ||
        round->closes >= round->verify_by || round->verify_by >= round->release_by)
        return sotto_fail(err, SOTTO_DENIED,
                          "round: opens < commit_by < closes < verify_by < release_by fails");
    if (!sotto_round_may_last(round->opens, round->release_by))
        return sotto_fail(err, SOTTO_DENIED, "round: more than %d days from opens to release_by",
                          SOTTO_ROUND_MOST_DAYS);
    /* Members keep their shares until then. To open a sum takes no more steps than all that comes before. */
    if (SOTTO_RULE(round_release_soon) &&
        round->release_by - round->verify_by >
            SOTTO_ROUND_RELEASE * (round->verify_by - round->opens))
        return sotto_fail(err, SOTTO_DENIED,
                          "round: release_by - verify_by is above %d (verify_by - opens)",
                          SOTTO_ROUND_RELEASE);
    return SOTTO_OK;
}

sotto_status sotto_round_check_begins(const sotto_round *round, uint64_t now_ms, sotto_err *err)
{
    return sotto_round_may_last(now_ms, round->opens)
               ? SOTTO_OK
               : sotto_fail(err, SOTTO_DENIED, "round: it opens in more than %d days",
                            SOTTO_ROUND_MOST_DAYS);
}

sotto_status sotto_round_check(const sotto_round *round, sotto_err *err)
{
    if (round->ring == SOTTO_RING_RLWE)
        return sotto_fail(err, SOTTO_DENIED, "round: this build has no method for ring rlwe");
    SOTTO_TRY(check_numbers(round, err));
    SOTTO_TRY(check_times(round, err));
    return check_budget(round, err);
}
