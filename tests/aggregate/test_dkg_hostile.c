/* What strangers can put in the place of points, numbers and lists where a key is made and used. All of it is refused, and nobody
 * looks at what is not there. */
#include "support/test.h"

#include "aggregate/shared/beacon.h"
#include "aggregate/shared/dkg.h"
#include "aggregate/shared/draw.h"
#include "base/arena.h"

#include <string.h>

enum { MEMBERS = 5, THRESHOLD = 2 };

typedef struct table {
    sotto_tdh2 t;
    sotto_keystream stream;
    sotto_dkg_dealer dealers[MEMBERS];
    sotto_dkg_commitments hidden[MEMBERS], shown[MEMBERS];
    bool qualified[MEMBERS];
    uint8_t key[SOTTO_P256_WIDE], verify[MEMBERS][SOTTO_P256_WIDE];
} table;

static table *open_table(sotto_test *t)
{
    static const uint8_t seed[SOTTO_KEYSTREAM_SEED] = {21};
    static table at;

    memset(&at, 0, sizeof at);
    CHECK_OK(t, sotto_tdh2_init(&at.t, &t->err));
    CHECK_OK(t, sotto_keystream_init(&at.stream, &t->err));
    CHECK_OK(t, sotto_keystream_seed(&at.stream, seed, &t->err));
    for (uint32_t d = 0; d < MEMBERS; d++) {
        CHECK_OK(t, sotto_dkg_deal(&at.dealers[d], &at.t, THRESHOLD, NULL, &at.stream, &t->arena,
                                   &t->err));
        CHECK_OK(t, sotto_dkg_commit(&at.dealers[d], &at.t, &at.hidden[d], &t->arena, &t->err));
        CHECK_OK(t, sotto_dkg_reveal(&at.dealers[d], &at.t, &at.shown[d], &t->arena, &t->err));
        at.qualified[d] = true;
    }
    return &at;
}

static void close_table(table *at)
{
    sotto_keystream_clear(&at->stream);
    sotto_tdh2_clear(&at->t);
}

static void spoil(uint8_t point[SOTTO_P256_WIDE])
{
    memset(point, 0xff, SOTTO_P256_WIDE);
}

/* ---- commitments that are no points ---------------------------------------------------------------------------------- */

/* Scratch keeps the point that was decoded before. A dealer with two equal coefficients knows it, and with one alone it knows what
 * its sum is after the first step. */
static void what_is_no_point_fits_no_values(sotto_test *t)
{
    table *at = open_table(t);
    sotto_dkg_dealer *d = &at->dealers[0];
    sotto_dkg_values same, first = {0};

    d->a[0] = d->a[1];
    d->b[0] = d->b[1];
    CHECK_OK(t, sotto_dkg_commit(d, &at->t, &at->hidden[0], &t->arena, &t->err));
    CHECK_OK(t, sotto_dkg_reveal(d, &at->t, &at->shown[0], &t->arena, &t->err));
    sotto_dkg_values_for(d, &at->t, 2, &same);
    sotto_scalar three;
    sotto_scalar_set(&at->t.group, &three, 3);
    sotto_scalar_multiply(&at->t.group, &first.a, &d->a[1], &three);
    sotto_scalar_multiply(&at->t.group, &first.b, &d->b[1], &three);
    CHECK(t, sotto_dkg_is_committed_vartime(&at->t, &at->hidden[0], 2, &same));
    CHECK(t, sotto_dkg_is_revealed_vartime(&at->t, &at->shown[0], THRESHOLD, 2, &same));
    spoil(at->hidden[0].at[0]);
    spoil(at->shown[0].at[0]);
    CHECK(t, !sotto_dkg_is_committed_vartime(&at->t, &at->hidden[0], 2, &same));
    CHECK(t, !sotto_dkg_is_committed_vartime(&at->t, &at->hidden[0], 2, &first));
    CHECK(t, !sotto_dkg_is_revealed_vartime(&at->t, &at->shown[0], THRESHOLD, 2, &same));
    CHECK(t, !sotto_dkg_is_revealed_vartime(&at->t, &at->shown[0], THRESHOLD, 2, &first));
    close_table(at);
}

static sotto_status publish(table *at, uint32_t threshold)
{
    return sotto_dkg_publish_vartime(&at->t, at->key, at->verify, at->shown, at->qualified, MEMBERS,
                                     threshold, NULL);
}

static void a_key_is_made_of_points(sotto_test *t)
{
    table *at = open_table(t);

    CHECK_OK(t, publish(at, THRESHOLD));
    for (uint32_t k = 0; k < THRESHOLD; k++)
        for (uint32_t d = 0; d < MEMBERS; d += MEMBERS - 1) {
            uint8_t kept[SOTTO_P256_WIDE];

            memcpy(kept, at->shown[d].at[k], sizeof kept);
            spoil(at->shown[d].at[k]);
            CHECK_STATUS(t, SOTTO_REJECTED, publish(at, THRESHOLD));
            memcpy(at->shown[d].at[k], kept, sizeof kept);
        }
    close_table(at);
}

static void a_key_has_dealers_and_a_threshold(sotto_test *t)
{
    table *at = open_table(t);

    CHECK_STATUS(t, SOTTO_REJECTED, publish(at, SOTTO_DECRYPTORS_MOST + 1));
    memset(at->qualified, 0, sizeof at->qualified);
    CHECK_STATUS(t, SOTTO_REJECTED, publish(at, THRESHOLD));
    CHECK_STATUS(t, SOTTO_REJECTED, publish(at, 0));
    close_table(at);
}

static void nothing_is_rebuilt_from_no_commitments(sotto_test *t)
{
    static const sotto_dkg_values values[MEMBERS];
    static const bool is_there[MEMBERS];
    static const uint32_t counts[] = {0, SOTTO_DECRYPTORS_MOST + 1};
    table *at = open_table(t);

    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        const sotto_dkg_commitments of = {.count = counts[i], .at = at->hidden[0].at};
        sotto_dkg_commitments out;

        CHECK_STATUS(t, SOTTO_REJECTED,
                     sotto_dkg_rebuild_vartime(&at->t, &out, &of, values, is_there, MEMBERS,
                                               &t->arena, NULL));
    }
    close_table(at);
}

/* It shows each member other commitments, and does not count: that must not keep those who count from agreeing. */
static void agreement_is_about_those_who_count(sotto_test *t)
{
    table *at = open_table(t);
    uint8_t digest[2][32];

    at->qualified[1] = false;
    sotto_dkg_agreed(digest[0], at->qualified, at->hidden, MEMBERS);
    at->hidden[1] = at->hidden[2];
    sotto_dkg_agreed(digest[1], at->qualified, at->hidden, MEMBERS);
    CHECK_BYTES(t, digest[0], digest[1], 32);
    at->hidden[0] = at->hidden[2];
    sotto_dkg_agreed(digest[1], at->qualified, at->hidden, MEMBERS);
    CHECK(t, memcmp(digest[0], digest[1], 32) != 0);
    close_table(at);
}

/* ---- handing on --------------------------------------------------------------------------------------------------------- */

static void a_share_is_handed_on_by_points_of_the_right_degree(sotto_test *t)
{
    static const bool none[MEMBERS * MEMBERS];
    static const sotto_dkg_values answers[MEMBERS * MEMBERS];
    static const uint32_t places[THRESHOLD] = {0, 3};
    uint8_t shares[MEMBERS][SOTTO_P256_WIDE];
    table *at = open_table(t);
    bool counts[MEMBERS];

    for (uint32_t d = 0; d < MEMBERS; d++)
        memcpy(shares[d], at->shown[d].at[0], SOTTO_P256_WIDE);
    const sotto_dkg_handed h = {at->shown, shares, MEMBERS, MEMBERS, THRESHOLD};
    at->shown[1].count--; /* fewer than the threshold would have the key */
    at->shown[2].count = 0;
    sotto_dkg_qualify_handed(&at->t, counts, &h, none, answers, none);
    CHECK(t, counts[0] && !counts[1] && !counts[2] && counts[3] && counts[4]);
    CHECK(t, !sotto_dkg_hands_on_vartime(&at->t, &at->shown[2], shares[2]));
    CHECK_OK(t, sotto_dkg_publish_handed_vartime(&at->t, at->key, at->verify, &h, places, THRESHOLD,
                                                 &t->arena, &t->err));
    for (uint32_t i = 0; i < THRESHOLD; i++) {
        uint8_t kept[SOTTO_P256_WIDE];

        memcpy(kept, at->shown[places[i]].at[i], sizeof kept);
        spoil(at->shown[places[i]].at[i]);
        CHECK_STATUS(t, SOTTO_REJECTED,
                     sotto_dkg_publish_handed_vartime(&at->t, at->key, at->verify, &h, places,
                                                      THRESHOLD, &t->arena, NULL));
        memcpy(at->shown[places[i]].at[i], kept, sizeof kept);
    }
    close_table(at);
}

/* ---- ciphertexts and proofs ----------------------------------------------------------------------------------------------- */

/* Numbers of zero make both commitments the identity, which has no encoding. */
static void a_ciphertext_is_of_points_and_numbers(sotto_test *t)
{
    static const uint8_t plain[SOTTO_TDH2_PLAIN] = {5}, label[SOTTO_TDH2_LABEL] = {1};
    enum { NUMBERS = SOTTO_TDH2_SEALED - 2 * SOTTO_P256_SCALAR };
    uint8_t sealed[SOTTO_TDH2_SEALED], bad[SOTTO_TDH2_SEALED];
    table *at = open_table(t);

    CHECK_OK(t, publish(at, THRESHOLD));
    sotto_point *key = sotto_point_new(&at->t.group);
    CHECK(t, sotto_point_decode_wide(&at->t.group, key, at->key));
    CHECK_OK(t, sotto_tdh2_seal(&at->t, sealed, key, label, plain, &at->stream, &t->err));
    CHECK(t, sotto_tdh2_is_valid_vartime(&at->t, sealed, label));
    for (unsigned i = 0; i < 5; i++) {
        memcpy(bad, sealed, sizeof bad);
        if (i < 2)
            spoil(bad + i * SOTTO_P256_WIDE);
        else if (i < 4)
            memset(bad + NUMBERS + (i - 2) * SOTTO_P256_SCALAR, 0xff, SOTTO_P256_SCALAR);
        else
            memset(bad + NUMBERS, 0, 2 * SOTTO_P256_SCALAR);
        CHECK(t, !sotto_tdh2_is_valid_vartime(&at->t, bad, label));
    }
    sotto_point_free(key);
    close_table(at);
}

/* A liar's part is what the other's takes away. */
static void parts_that_add_up_to_nothing_open_nothing(sotto_test *t)
{
    static const uint8_t plain[SOTTO_TDH2_PLAIN] = {5}, label[SOTTO_TDH2_LABEL] = {1};
    uint8_t sealed[SOTTO_TDH2_SEALED], part[2][SOTTO_TDH2_PART], opened[SOTTO_TDH2_PLAIN];
    const uint8_t *const parts[2] = {part[0], part[1]};
    table *at = open_table(t);
    sotto_scalar share;

    CHECK_OK(t, publish(at, THRESHOLD));
    sotto_point *key = sotto_point_new(&at->t.group);
    CHECK(t, sotto_point_decode_wide(&at->t.group, key, at->key));
    CHECK_OK(t, sotto_tdh2_seal(&at->t, sealed, key, label, plain, &at->stream, &t->err));
    sotto_scalar_set(&at->t.group, &share, 77);
    CHECK_OK(t, sotto_tdh2_part(&at->t, part[0], sealed, &share, &t->err));
    sotto_scalar_negate(&at->t.group, &share, &share);
    CHECK_OK(t, sotto_tdh2_part(&at->t, part[1], sealed, &share, &t->err));
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_tdh2_open_vartime(&at->t, opened, sealed, label, parts, 2, NULL));
    spoil(part[1]);
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_tdh2_open_vartime(&at->t, opened, sealed, label, parts, 2, NULL));
    sotto_point_free(key);
    close_table(at);
}

typedef struct witnessed {
    sotto_beacon_input input;
    sotto_beacon_part parts[MEMBERS];
} witnessed;

static void give_parts(sotto_test *t, table *at, witnessed *w)
{
    static const uint8_t nonce[32] = {7};

    *w = (witnessed){.input = {.session = {1}, .registry = {2}, .epoch = 3}};
    CHECK_OK(t, publish(at, THRESHOLD));
    for (uint32_t m = 0; m < MEMBERS; m++) {
        sotto_dkg_values values[MEMBERS];
        sotto_scalar share;

        for (uint32_t d = 0; d < MEMBERS; d++)
            sotto_dkg_values_for(&at->dealers[d], &at->t, m, &values[d]);
        sotto_dkg_share(&at->t, &share, values, at->qualified, MEMBERS);
        w->parts[m].place = m;
        CHECK_OK(t,
                 sotto_beacon_give(&at->t, w->parts[m].bytes, &w->input, &share, nonce, &t->err));
    }
}

static sotto_status value_of(table *at, const witnessed *w, const sotto_beacon_part *parts,
                             uint32_t witnesses, uint32_t count)
{
    uint8_t value[32];
    uint32_t wrong;

    return sotto_beacon_value_vartime(&at->t, value, &w->input,
                                      (const uint8_t(*)[SOTTO_P256_WIDE])at->verify, witnesses,
                                      parts, count, &wrong, NULL);
}

static void a_witness_has_one_part_and_a_place(sotto_test *t)
{
    table *at = open_table(t);
    sotto_beacon_part two[THRESHOLD];
    witnessed w;

    give_parts(t, at, &w);
    CHECK_OK(t, value_of(at, &w, w.parts + 1, MEMBERS, THRESHOLD));
    two[0] = two[1] = w.parts[1];
    CHECK_STATUS(t, SOTTO_REJECTED, value_of(at, &w, two, MEMBERS, THRESHOLD));
    two[0] = w.parts[2]; /* the same two in another order would be a second proof of one value */
    CHECK_STATUS(t, SOTTO_REJECTED, value_of(at, &w, two, MEMBERS, THRESHOLD));
    two[0] = w.parts[1];
    two[1] = w.parts[4];
    two[1].place = MEMBERS;
    CHECK_STATUS(t, SOTTO_REJECTED, value_of(at, &w, two, MEMBERS, THRESHOLD));
    CHECK_STATUS(t, SOTTO_REJECTED, value_of(at, &w, w.parts, 0, 1));
    CHECK_STATUS(t, SOTTO_REJECTED,
                 value_of(at, &w, w.parts, SOTTO_DECRYPTORS_MOST + 1, THRESHOLD));
    spoil(at->verify[1]);
    CHECK_STATUS(t, SOTTO_REJECTED, value_of(at, &w, w.parts, MEMBERS, THRESHOLD));
    close_table(at);
}

/* A part is a point and a proof of two numbers. */
static void a_part_is_of_points_and_numbers(sotto_test *t)
{
    table *at = open_table(t);
    witnessed w;

    give_parts(t, at, &w);
    for (unsigned i = 0; i < 3; i++) {
        sotto_beacon_part two[THRESHOLD] = {w.parts[0], w.parts[1]};

        if (i == 0)
            spoil(two[1].bytes);
        else
            memset(two[1].bytes + SOTTO_P256_WIDE + (i - 1) * SOTTO_P256_SCALAR, 0xff,
                   SOTTO_P256_SCALAR);
        CHECK_STATUS(t, SOTTO_REJECTED, value_of(at, &w, two, MEMBERS, THRESHOLD));
    }
    close_table(at);
}

static void a_part_is_read_whole(sotto_test *t)
{
    uint8_t wire[4 + SOTTO_BEACON_PART + 1] = {0};
    sotto_beacon_part part;

    CHECK_OK(t, sotto_beacon_part_decode(&part, sotto_bytes_of(wire, sizeof wire - 1), &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_beacon_part_decode(&part, sotto_bytes_of(wire, sizeof wire), NULL));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_beacon_part_decode(&part, sotto_bytes_of(wire, sizeof wire - 2), NULL));
}

/* ---- records -------------------------------------------------------------------------------------------------------------- */

enum { MANY = SOTTO_DECRYPTORS_MOST + 1 };

typedef struct signed_record {
    sotto_decryptors_record r;
    sotto_registry registry;
    sotto_signer signers[MEMBERS];
    uint8_t beacon[32];
} signed_record;

static void make_record(sotto_test *t, const table *at, signed_record *s)
{
    uint8_t(*keys)[SOTTO_SIGN_PUBLIC] = sotto_arena_take_array(&t->arena, MANY, sizeof *keys);

    memset(s, 0, sizeof *s);
    s->r = (sotto_decryptors_record){
        .epoch = 2,
        .count = MEMBERS,
        .members = sotto_arena_take_array(&t->arena, MANY, sizeof *s->r.members),
        .verify = sotto_arena_take_array(&t->arena, MANY, sizeof *s->r.verify),
        .signatures = sotto_arena_take_array(&t->arena, MANY, sizeof *s->r.signatures),
        .is_signed = sotto_arena_take_array(&t->arena, MANY, sizeof *s->r.is_signed)};
    CHECK(t, keys && s->r.members && s->r.verify && s->r.signatures && s->r.is_signed);
    for (uint32_t i = 0; i < MANY; i++)
        s->r.members[i] = i;
    for (uint8_t i = 0; i < MEMBERS; i++) {
        const uint8_t seed[SOTTO_SIGN_SEED] = {1, i};

        CHECK_OK(t, sotto_signer_init(&s->signers[i], seed, &t->err));
        memcpy(keys[i], s->signers[i].public_key, sizeof keys[i]);
        memcpy(s->r.verify[i], at->verify[i], SOTTO_P256_WIDE);
    }
    memcpy(s->r.key, at->key, sizeof s->r.key);
    s->registry =
        (sotto_registry){.keys = (const uint8_t(*)[SOTTO_SIGN_PUBLIC])keys, .count = MEMBERS};
}

/* As its members see it after they signed. */
static sotto_status signed_and_opened(sotto_test *t, signed_record *s)
{
    sotto_decryptors d;
    uint8_t digest[32];

    sotto_decryptors_digest(&s->r, digest);
    for (uint32_t i = 0; i < MEMBERS; i++) {
        CHECK_OK(t, sotto_decryptors_sign(digest, s->r.signatures[i], &s->signers[i], &t->err));
        s->r.is_signed[i] = true;
    }
    const sotto_status status =
        sotto_decryptors_open(&d, &s->r, &s->registry, s->beacon, &t->arena, NULL);
    sotto_decryptors_close(&d);
    return status;
}

static void a_record_has_points_though_a_quorum_signed(sotto_test *t)
{
    table *at = open_table(t);
    signed_record s;

    CHECK_OK(t, publish(at, THRESHOLD));
    make_record(t, at, &s);
    CHECK_OK(t, signed_and_opened(t, &s));
    spoil(s.r.key);
    CHECK_STATUS(t, SOTTO_REJECTED, signed_and_opened(t, &s));
    memcpy(s.r.key, at->key, sizeof s.r.key);
    spoil(s.r.verify[MEMBERS - 1]);
    CHECK_STATUS(t, SOTTO_REJECTED, signed_and_opened(t, &s));
    for (uint32_t i = 0; i < MEMBERS; i++)
        sotto_signer_clear(&s.signers[i]);
    close_table(at);
}

static sotto_status read_back(sotto_test *t, const sotto_decryptors_record *r)
{
    sotto_decryptors_record read;
    sotto_buf wire;

    CHECK_OK(t, sotto_buf_take(&wire, &t->arena, 2 * SOTTO_DECRYPTORS_MOST_BYTES, &t->err));
    CHECK_OK(t, sotto_decryptors_encode(&wire, r, &t->err));
    return sotto_decryptors_decode(&read, sotto_buf_bytes(&wire), &t->arena, NULL);
}

/* Lists of members are as long as the largest committee. */
static void a_committee_is_neither_too_small_nor_too_large(sotto_test *t)
{
    table *at = open_table(t);
    signed_record s;
    sotto_decryptors d;
    uint32_t counts[] = {SOTTO_DECRYPTORS_LEAST - 1, MANY};

    CHECK_OK(t, publish(at, THRESHOLD));
    make_record(t, at, &s);
    s.r.count = MANY - 1;
    CHECK_OK(t, read_back(t, &s.r));
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        s.r.count = counts[i];
        CHECK_STATUS(t, SOTTO_MALFORMED, read_back(t, &s.r));
        s.registry.count = MANY;
        CHECK_STATUS(t, SOTTO_REJECTED,
                     sotto_decryptors_open(&d, &s.r, &s.registry, s.beacon, &t->arena, NULL));
        CHECK(t, d.tdh2.ready == false);
        sotto_decryptors_close(&d);
    }
    s.r.count = MEMBERS;
    s.registry.count = MEMBERS - 1;
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_decryptors_open(&d, &s.r, &s.registry, s.beacon, &t->arena, NULL));
    sotto_decryptors_close(&d);
    s.registry.count = SOTTO_MOST_INDEX;
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_decryptors_open(&d, &s.r, &s.registry, s.beacon, &t->arena, NULL));
    sotto_decryptors_close(&d);
    for (uint32_t i = 0; i < MEMBERS; i++)
        sotto_signer_clear(&s.signers[i]);
    close_table(at);
}

static void no_more_are_drawn_than_there_are(sotto_test *t)
{
    static const uint8_t seed[32] = {1};
    uint32_t drawn[4] = {9, 9, 9, 9};

    CHECK_STATUS(t, SOTTO_DENIED, sotto_draw_set(drawn, 4, 3, seed, &t->arena, NULL));
    CHECK_EQUAL(t, 9, drawn[0]);
    CHECK_OK(t, sotto_draw_set(drawn, 3, 3, seed, &t->arena, &t->err));
    CHECK(t, drawn[0] == 0 && drawn[2] == 2 && drawn[3] == 9);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(what_is_no_point_fits_no_values),
        CASE(a_key_is_made_of_points),
        CASE(a_key_has_dealers_and_a_threshold),
        CASE(nothing_is_rebuilt_from_no_commitments),
        CASE(agreement_is_about_those_who_count),
        CASE(a_share_is_handed_on_by_points_of_the_right_degree),
        CASE(a_ciphertext_is_of_points_and_numbers),
        CASE(parts_that_add_up_to_nothing_open_nothing),
        CASE(a_witness_has_one_part_and_a_place),
        CASE(a_part_is_of_points_and_numbers),
        CASE(a_part_is_read_whole),
        CASE(a_record_has_points_though_a_quorum_signed),
        CASE(a_committee_is_neither_too_small_nor_too_large),
        CASE(no_more_are_drawn_than_there_are),
    };

    return RUN_TESTS(argc, argv, cases);
}
