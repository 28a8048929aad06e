/* A key that nobody has: made, used, handed on; and a beacon from such a key. */
#include "support/test.h"

#include "aggregate/shared/beacon.h"
#include "aggregate/shared/dkg.h"
#include "sim/random.h"

#include <string.h>

enum { MEMBERS = 5, THRESHOLD = 2 };

typedef struct meeting {
    sotto_tdh2 t;
    sotto_keystream stream;
    sotto_dkg_dealer dealers[MEMBERS];
    sotto_dkg_commitments hidden[MEMBERS], shown[MEMBERS];
    sotto_dkg_values values[MEMBERS][MEMBERS]; /* by member and dealer */
    bool qualified[MEMBERS];
    sotto_scalar shares[MEMBERS];
    uint8_t key[SOTTO_P256_WIDE], verify[MEMBERS][SOTTO_P256_WIDE];
} meeting;

static void open_meeting(sotto_test *t, meeting *m, uint8_t seed)
{
    uint8_t bytes[32] = {seed};

    memset(m, 0, sizeof *m);
    CHECK_OK(t, sotto_tdh2_init(&m->t, &t->err));
    CHECK_OK(t, sotto_keystream_init(&m->stream, &t->err));
    CHECK_OK(t, sotto_keystream_seed(&m->stream, bytes, &t->err));
}

static void close_meeting(meeting *m)
{
    sotto_keystream_clear(&m->stream);
    sotto_tdh2_clear(&m->t);
}

/* secrets: NULL, or what each dealer deals. */
static void deal_all(sotto_test *t, meeting *m, const sotto_scalar *secrets)
{
    for (uint32_t d = 0; d < MEMBERS; d++) {
        CHECK_OK(t, sotto_dkg_deal(&m->dealers[d], &m->t, THRESHOLD, secrets ? &secrets[d] : NULL,
                                   &m->stream, &t->arena, &t->err));
        CHECK_OK(t, sotto_dkg_commit(&m->dealers[d], &m->t, &m->hidden[d], &t->arena, &t->err));
        CHECK_OK(t, sotto_dkg_reveal(&m->dealers[d], &m->t, &m->shown[d], &t->arena, &t->err));
        for (uint32_t i = 0; i < MEMBERS; i++)
            sotto_dkg_values_for(&m->dealers[d], &m->t, i, &m->values[i][d]);
        m->qualified[d] = true;
    }
}

static void make_key(sotto_test *t, meeting *m)
{
    for (uint32_t i = 0; i < MEMBERS; i++)
        sotto_dkg_share(&m->t, &m->shares[i], m->values[i], m->qualified, MEMBERS);
    CHECK_OK(t, sotto_dkg_publish_vartime(&m->t, m->key, m->verify, m->shown, m->qualified, MEMBERS,
                                          THRESHOLD, &t->err));
}

static bool is_public_of(meeting *m, const uint8_t public_value[SOTTO_P256_WIDE],
                         const sotto_scalar *secret)
{
    uint8_t own[SOTTO_P256_WIDE];

    sotto_point_multiply(&m->t.group, m->t.at[0], secret, NULL);
    return sotto_point_encode_wide(&m->t.group, own, m->t.at[0]) &&
           memcmp(own, public_value, sizeof own) == 0;
}

/* Whether these shares at these places are shares of this key. */
static bool rebuild(meeting *m, const sotto_scalar *const *shares, const uint32_t *places,
                    const uint8_t key[SOTTO_P256_WIDE])
{
    sotto_scalar weights[THRESHOLD], product, sum;
    uint32_t xs[THRESHOLD];

    for (uint32_t i = 0; i < THRESHOLD; i++)
        xs[i] = places[i] + 1;
    sotto_scalar_weights_vartime(&m->t.group, weights, xs, THRESHOLD);
    sotto_scalar_set(&m->t.group, &sum, 0);
    for (uint32_t i = 0; i < THRESHOLD; i++) {
        sotto_scalar_multiply(&m->t.group, &product, &weights[i], shares[i]);
        sotto_scalar_add(&m->t.group, &sum, &sum, &product);
    }
    return is_public_of(m, key, &sum);
}

static void a_committee_makes_a_key_that_its_threshold_has(sotto_test *t)
{
    uint8_t plain[32] = {5, 6, 7}, opened[32], label[SOTTO_TDH2_LABEL] = {1};
    uint8_t sealed[SOTTO_TDH2_SEALED], part[THRESHOLD][SOTTO_TDH2_PART];
    const uint8_t *parts[THRESHOLD] = {part[0], part[1]};
    const uint32_t places[THRESHOLD] = {1, 3}, xs[THRESHOLD] = {2, 4};
    sotto_scalar weights[THRESHOLD], weighted;
    static meeting m;

    open_meeting(t, &m, 1);
    deal_all(t, &m, NULL);
    for (uint32_t d = 0; d < MEMBERS; d++)
        for (uint32_t i = 0; i < MEMBERS; i++) {
            CHECK(t, sotto_dkg_is_committed_vartime(&m.t, &m.hidden[d], i, &m.values[i][d]));
            CHECK(t,
                  sotto_dkg_is_revealed_vartime(&m.t, &m.shown[d], THRESHOLD, i, &m.values[i][d]));
        }
    make_key(t, &m);
    for (uint32_t i = 0; i < MEMBERS; i++)
        CHECK(t, is_public_of(&m, m.verify[i], &m.shares[i]));
    const sotto_scalar *two[THRESHOLD] = {&m.shares[1], &m.shares[3]};
    CHECK(t, rebuild(&m, two, places, m.key));
    /* And what is sealed to it is opened by two of them. */
    sotto_point *key = sotto_point_new(&m.t.group);
    CHECK(t, sotto_point_decode_wide(&m.t.group, key, m.key));
    CHECK_OK(t, sotto_tdh2_seal(&m.t, sealed, key, label, plain, &m.stream, &t->err));
    CHECK(t, sotto_tdh2_is_valid_vartime(&m.t, sealed, label));
    sotto_scalar_weights_vartime(&m.t.group, weights, xs, THRESHOLD);
    for (uint32_t i = 0; i < THRESHOLD; i++) {
        sotto_scalar_multiply(&m.t.group, &weighted, &weights[i], &m.shares[places[i]]);
        CHECK_OK(t, sotto_tdh2_part(&m.t, part[i], sealed, &weighted, &t->err));
    }
    CHECK_OK(t, sotto_tdh2_open_vartime(&m.t, opened, sealed, label, parts, 2, &t->err));
    CHECK_BYTES(t, plain, opened, 32);
    /* One is not enough; every bit of a ciphertext counts. */
    CHECK(t, sotto_tdh2_open_vartime(&m.t, opened, sealed, label, parts, 1, NULL) != SOTTO_OK);
    for (size_t i = 0; i < sizeof sealed; i += 7) {
        sealed[i] ^= 4;
        CHECK(t, !sotto_tdh2_is_valid_vartime(&m.t, sealed, label));
        sealed[i] ^= 4;
    }
    sotto_point_free(key);
    close_meeting(&m);
}

/* Tables make seals cheaper, and no different. */
static void a_prepared_key_seals_the_same(sotto_test *t)
{
    uint8_t plain[32] = {5, 6, 7}, label[SOTTO_TDH2_LABEL] = {1}, seed[32] = {9};
    uint8_t sealed[2][SOTTO_TDH2_SEALED];
    static meeting m;

    open_meeting(t, &m, 1);
    deal_all(t, &m, NULL);
    make_key(t, &m);
    sotto_point *key = sotto_point_new(&m.t.group), *copy = sotto_point_new(&m.t.group);
    CHECK(t, sotto_point_decode_wide(&m.t.group, key, m.key));
    sotto_point_copy(&m.t.group, copy, key);
    for (unsigned i = 0; i < 3; i++) { /* without tables, with them, and to another point */
        CHECK_OK(t, sotto_keystream_seed(&m.stream, seed, &t->err));
        CHECK_OK(t, sotto_tdh2_seal(&m.t, sealed[i > 0], i < 2 ? key : copy, label, plain,
                                    &m.stream, &t->err));
        CHECK_BYTES(t, sealed[0], sealed[i > 0], sizeof sealed[0]);
        CHECK(t, sotto_tdh2_is_valid_vartime(&m.t, sealed[i > 0], label));
        CHECK_OK(t, sotto_tdh2_prepare(&m.t, key, &t->err));
    }
    sotto_point_free(key);
    sotto_point_free(copy);
    close_meeting(&m);
}

/* A dealer's value for member 2 is wrong. It answers the complaint wrongly, not at all, or rightly. */
static void bad_dealers_do_not_count(sotto_test *t)
{
    static bool complaints[MEMBERS * MEMBERS], answered[MEMBERS * MEMBERS];
    static sotto_dkg_values answers[MEMBERS * MEMBERS];
    static meeting m;

    open_meeting(t, &m, 2);
    deal_all(t, &m, NULL);
    m.values[2][1].a.be[31] ^= 1;
    CHECK(t, !sotto_dkg_is_committed_vartime(&m.t, &m.hidden[1], 2, &m.values[2][1]));
    complaints[1 * MEMBERS + 2] = answered[1 * MEMBERS + 2] = true;
    answers[1 * MEMBERS + 2] = m.values[2][1];
    complaints[3 * MEMBERS + 0] = true; /* dealer 3 says nothing */
    complaints[4 * MEMBERS + 0] = answered[4 * MEMBERS + 0] = true;
    answers[4 * MEMBERS + 0] = m.values[0][4]; /* dealer 4 was accused wrongly */
    sotto_dkg_qualify(&m.t, m.qualified, m.hidden, MEMBERS, THRESHOLD, complaints, answers,
                      answered);
    CHECK(t,
          m.qualified[0] && !m.qualified[1] && m.qualified[2] && !m.qualified[3] && m.qualified[4]);
    close_meeting(&m);
}

/* Answers to a threshold of complaints are a polynomial in the open. */
static void a_dealer_that_had_to_show_too_much_does_not_count(sotto_test *t)
{
    static bool complaints[MEMBERS * MEMBERS], answered[MEMBERS * MEMBERS];
    static sotto_dkg_values answers[MEMBERS * MEMBERS];
    static meeting m;

    open_meeting(t, &m, 3);
    deal_all(t, &m, NULL);
    for (uint32_t i = 0; i < THRESHOLD; i++) {
        complaints[i] = answered[i] = true;
        answers[i] = m.values[i][0];
    }
    sotto_dkg_qualify(&m.t, m.qualified, m.hidden, MEMBERS, THRESHOLD, complaints, answers,
                      answered);
    CHECK(t, !m.qualified[0] && m.qualified[1]);
    close_meeting(&m);
}

static void a_quorum_signs_who_counts(sotto_test *t)
{
    const uint8_t session[32] = {4};
    static meeting m;
    uint8_t keys[MEMBERS][SOTTO_SIGN_PUBLIC], signatures[MEMBERS][SOTTO_SIGNATURE];
    bool set[MEMBERS] = {true, true, false, true, true}, is_signed[MEMBERS] = {0};

    open_meeting(t, &m, 4);
    deal_all(t, &m, NULL);
    for (uint32_t i = 0; i < MEMBERS; i++) {
        uint8_t seed[32] = {(uint8_t)(i + 1)};
        sotto_signer signer;

        CHECK_OK(t, sotto_signer_init(&signer, seed, &t->err));
        memcpy(keys[i], signer.public_key, sizeof keys[i]);
        CHECK_OK(t, sotto_dkg_agree_sign(signatures[i], set, m.hidden, MEMBERS, session, 7, &signer,
                                         &t->err));
        sotto_signer_clear(&signer);
        is_signed[i] = i < 3;
    }
    const uint8_t(*k)[SOTTO_SIGN_PUBLIC] = (const uint8_t(*)[SOTTO_SIGN_PUBLIC])keys;
    const uint8_t(*s)[SOTTO_SIGNATURE] = (const uint8_t(*)[SOTTO_SIGNATURE])signatures;
    CHECK(t, !sotto_dkg_is_agreed(set, m.hidden, MEMBERS, session, 7, k, s, is_signed));
    is_signed[3] = true;
    CHECK(t, sotto_dkg_is_agreed(set, m.hidden, MEMBERS, session, 7, k, s, is_signed));
    CHECK(t, !sotto_dkg_is_agreed(set, m.hidden, MEMBERS, session, 8, k, s, is_signed));
    set[2] = true;
    CHECK(t, !sotto_dkg_is_agreed(set, m.hidden, MEMBERS, session, 7, k, s, is_signed));
    set[2] = false;
    /* A dealer showed other commitments to this member: later it would reveal whichever it likes. */
    memcpy(m.hidden[1].at[0], m.hidden[2].at[0], SOTTO_P256_WIDE);
    CHECK(t, !sotto_dkg_is_agreed(set, m.hidden, MEMBERS, session, 7, k, s, is_signed));
    close_meeting(&m);
}

/* ---- revealing --------------------------------------------------------------------------------------- */

/* Dealer 1 sees what all others reveal, and then reveals another polynomial, or nothing. One member shows a wrong value too. */
static void whoever_reveals_something_else_changes_nothing(sotto_test *t)
{
    sotto_dkg_values shown[MEMBERS];
    bool is_there[MEMBERS] = {true, true, false, true, true};
    uint8_t key[SOTTO_P256_WIDE];
    static meeting m, other;

    open_meeting(t, &m, 10);
    deal_all(t, &m, NULL);
    make_key(t, &m);
    memcpy(key, m.key, sizeof key);
    open_meeting(t, &other, 11);
    deal_all(t, &other, NULL);
    m.shown[1] = other.shown[1];
    for (uint32_t i = 0; i < MEMBERS; i++) {
        CHECK(t, !sotto_dkg_is_revealed_vartime(&m.t, &m.shown[1], THRESHOLD, i, &m.values[i][1]));
        shown[i] = m.values[i][1];
    }
    shown[0].a.be[31] ^= 1;
    CHECK_OK(t, sotto_dkg_rebuild_vartime(&m.t, &m.shown[1], &m.hidden[1], shown, is_there, MEMBERS,
                                          &t->arena, &t->err));
    make_key(t, &m);
    CHECK_BYTES(t, key, m.key, sizeof key);
    for (uint32_t i = 0; i < MEMBERS; i++)
        CHECK(t, is_public_of(&m, m.verify[i], &m.shares[i]));
    is_there[1] = is_there[3] = false; /* member 0 lies: one value is left */
    CHECK_STATUS(t, SOTTO_AGAIN,
                 sotto_dkg_rebuild_vartime(&m.t, &m.shown[1], &m.hidden[1], shown, is_there,
                                           MEMBERS, &t->arena, &t->err));
    close_meeting(&m);
    close_meeting(&other);
}

/* A polynomial of a higher degree that has everybody's values, and another constant term. */
static void nobody_reveals_a_longer_polynomial(sotto_test *t)
{
    sotto_scalar c[MEMBERS + 1], f[MEMBERS + 1] = {0}, x;
    sotto_dkg_dealer longer = {.threshold = MEMBERS + 1, .a = c};
    static meeting m;

    open_meeting(t, &m, 12);
    deal_all(t, &m, NULL);
    /* f + (X - 1)(X - 2)...(X - MEMBERS) */
    sotto_scalar_set(&m.t.group, &c[0], 1);
    for (uint32_t i = 1; i <= MEMBERS; i++) {
        sotto_scalar_set(&m.t.group, &x, i);
        c[i] = c[i - 1];
        for (uint32_t k = i; k-- > 0;) {
            sotto_scalar product;

            sotto_scalar_multiply(&m.t.group, &product, &c[k], &x);
            if (k > 0)
                sotto_scalar_subtract(&m.t.group, &c[k], &c[k - 1], &product);
            else
                sotto_scalar_negate(&m.t.group, &c[k], &product);
        }
    }
    memcpy(f, m.dealers[1].a, THRESHOLD * sizeof f[0]);
    for (uint32_t k = 0; k <= MEMBERS; k++)
        sotto_scalar_add(&m.t.group, &c[k], &c[k], &f[k]);
    CHECK_OK(t, sotto_dkg_reveal(&longer, &m.t, &m.shown[1], &t->arena, &t->err));
    for (uint32_t i = 0; i < MEMBERS; i++)
        CHECK(t, !sotto_dkg_is_revealed_vartime(&m.t, &m.shown[1], THRESHOLD, i, &m.values[i][1]));
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_dkg_publish_vartime(&m.t, m.key, m.verify, m.shown, m.qualified, MEMBERS,
                                           THRESHOLD, &t->err));
    close_meeting(&m);
}

/* A dealer whose second coefficient is zero counts like any other. */
static void a_coefficient_of_zero_stops_nobody(sotto_test *t)
{
    static meeting m;

    open_meeting(t, &m, 13);
    deal_all(t, &m, NULL);
    sotto_scalar_set(&m.t.group, &m.dealers[1].a[1], 0);
    CHECK_OK(t, sotto_dkg_commit(&m.dealers[1], &m.t, &m.hidden[1], &t->arena, &t->err));
    CHECK_OK(t, sotto_dkg_reveal(&m.dealers[1], &m.t, &m.shown[1], &t->arena, &t->err));
    for (uint32_t i = 0; i < MEMBERS; i++) {
        sotto_dkg_values_for(&m.dealers[1], &m.t, i, &m.values[i][1]);
        CHECK(t, sotto_dkg_is_committed_vartime(&m.t, &m.hidden[1], i, &m.values[i][1]));
        CHECK(t, sotto_dkg_is_revealed_vartime(&m.t, &m.shown[1], THRESHOLD, i, &m.values[i][1]));
    }
    make_key(t, &m);
    for (uint32_t i = 0; i < MEMBERS; i++)
        CHECK(t, is_public_of(&m, m.verify[i], &m.shares[i]));
    close_meeting(&m);
}

/* The last dealer would like the key's last bit to be 0. It may count or not count, and sees what all have committed to: with
 * Feldman's commitments that is the key itself, with Pedersen's it is nothing. */
static unsigned biased(sotto_test *t, bool feldman)
{
    enum { RUNS = 128 };
    static meeting m;
    unsigned hits = 0;

    open_meeting(t, &m, 9);
    for (unsigned run = 0; run < RUNS; run++) {
        uint8_t sum[2][SOTTO_P256_WIDE], key[SOTTO_P256_WIDE];
        sotto_arena_mark mark = sotto_arena_here(&t->arena);
        unsigned count;

        for (uint32_t d = 0; d < 3; d++) {
            CHECK_OK(t,
                     sotto_dkg_deal(&m.dealers[d], &m.t, 1, NULL, &m.stream, &t->arena, &t->err));
            CHECK_OK(t, sotto_dkg_commit(&m.dealers[d], &m.t, &m.hidden[d], &t->arena, &t->err));
            CHECK_OK(t, sotto_dkg_reveal(&m.dealers[d], &m.t, &m.shown[d], &t->arena, &t->err));
        }
        for (unsigned with = 0; with < 2; with++) {
            bool set[3] = {true, true, with == 1};
            uint8_t unused[3][SOTTO_P256_WIDE];

            CHECK_OK(t,
                     sotto_dkg_publish_vartime(&m.t, sum[with], unused,
                                               feldman ? m.shown : m.hidden, set, 3, 1, &t->err));
        }
        count = sum[1][SOTTO_P256_WIDE - 1] & 1 ? 0 : 1; /* it counts only if that looks good */
        bool set[3] = {true, true, count == 1};
        uint8_t unused[3][SOTTO_P256_WIDE];
        CHECK_OK(t, sotto_dkg_publish_vartime(&m.t, key, unused, m.shown, set, 3, 1, &t->err));
        hits += !(key[SOTTO_P256_WIDE - 1] & 1);
        sotto_arena_rollback(&t->arena, mark);
    }
    close_meeting(&m);
    return hits;
}

/* Of 128 keys, 96 are expected where it sees the key (standard deviation 4.9), 64 where it does not (5.7). */
static void the_last_dealer_does_not_choose_the_key(sotto_test *t)
{
    CHECK(t, biased(t, true) > 80);
    CHECK(t, biased(t, false) < 80);
}

/* ---- handing on -------------------------------------------------------------------------------------- */

static void a_key_is_handed_on_and_shares_do_not_mix(sotto_test *t)
{
    static meeting old, new;
    const uint32_t from[THRESHOLD] = {0, 2}, places[THRESHOLD] = {1, 4};
    sotto_scalar shares[MEMBERS];

    open_meeting(t, &old, 5);
    deal_all(t, &old, NULL);
    make_key(t, &old);
    open_meeting(t, &new, 6);
    deal_all(t, &new, old.shares); /* old members deal their shares */
    for (uint32_t d = 0; d < MEMBERS; d++)
        CHECK(t, sotto_dkg_hands_on_vartime(&new.t, &new.shown[d], old.verify[d]));
    for (uint32_t i = 0; i < MEMBERS; i++) {
        sotto_dkg_values given[THRESHOLD] = {new.values[i][from[0]], new.values[i][from[1]]};

        CHECK(t, sotto_dkg_is_revealed_vartime(&new.t, &new.shown[0], THRESHOLD, i, &given[0]));
        sotto_dkg_take_over(&new.t, &shares[i], given, from, THRESHOLD);
    }
    const sotto_scalar *two[THRESHOLD] = {&shares[1], &shares[4]};
    CHECK(t, rebuild(&new, two, places, old.key));
    for (uint32_t i = 0; i < MEMBERS; i++) /* no new member has it by itself */
        CHECK(t, !is_public_of(&new, old.key, &shares[i]));
    /* A corrupt member of the old committee and one of the new have a threshold of shares, but of two polynomials. Had members
     * passed their shares on as they are, they would have the key. */
    two[1] = &old.shares[4];
    CHECK(t, !rebuild(&new, two, places, old.key));
    two[0] = &old.shares[1];
    CHECK(t, rebuild(&new, two, places, old.key));
    sotto_dkg_forget(&new.dealers[0]);
    static const sotto_scalar none;
    CHECK(t, memcmp(&new.dealers[0].a[0], &none, sizeof none) == 0);
    close_meeting(&old);
    close_meeting(&new);
}

/* An old member that deals something else would change the key. */
static void nothing_but_the_share_is_handed_on(sotto_test *t)
{
    static meeting old, new;

    open_meeting(t, &old, 5);
    deal_all(t, &old, NULL);
    make_key(t, &old);
    open_meeting(t, &new, 6);
    deal_all(t, &new, NULL);
    CHECK(t, !sotto_dkg_hands_on_vartime(&new.t, &new.shown[0], old.verify[0]));
    close_meeting(&old);
    close_meeting(&new);
}

static void deals_that_were_shown_do_not_count(sotto_test *t)
{
    enum { HOLDERS = 7 };
    static const uint8_t seed[SOTTO_KEYSTREAM_SEED] = {3};
    sotto_dkg_dealer dealer;
    sotto_dkg_commitments feldman;
    sotto_dkg_values values[HOLDERS];
    sotto_keystream stream;
    sotto_tdh2 tdh2;
    uint8_t verify[1][SOTTO_P256_WIDE];
    bool complaints[HOLDERS] = {true, true}, answered[HOLDERS] = {true, true}, counts;

    CHECK_OK(t, sotto_tdh2_init(&tdh2, &t->err));
    CHECK_OK(t, sotto_keystream_init(&stream, &t->err));
    CHECK_OK(t, sotto_keystream_seed(&stream, seed, &t->err));
    CHECK_OK(t, sotto_dkg_deal(&dealer, &tdh2, 3, NULL, &stream, &t->arena, &t->err));
    CHECK_OK(t, sotto_dkg_reveal(&dealer, &tdh2, &feldman, &t->arena, &t->err));
    memcpy(verify[0], feldman.at[0], sizeof verify[0]);
    for (uint32_t i = 0; i < HOLDERS; i++)
        sotto_dkg_values_for(&dealer, &tdh2, i, &values[i]);
    const sotto_dkg_handed handed = {&feldman, verify, 1, HOLDERS, 3};
    sotto_dkg_qualify_handed(&tdh2, &counts, &handed, complaints, values, answered);
    CHECK(t, counts);
    values[1] = values[2];
    sotto_dkg_qualify_handed(&tdh2, &counts, &handed, complaints, values, answered);
    CHECK(t, !counts);
    /* As many answers as the threshold, all right: the share is in the open. */
    sotto_dkg_values_for(&dealer, &tdh2, 1, &values[1]);
    complaints[2] = answered[2] = true;
    sotto_dkg_qualify_handed(&tdh2, &counts, &handed, complaints, values, answered);
    CHECK(t, !counts);
    sotto_keystream_clear(&stream);
    sotto_tdh2_clear(&tdh2);
}

/* ---- the beacon -------------------------------------------------------------------------------------- */

static void any_threshold_of_witnesses_gives_one_value(sotto_test *t)
{
    sotto_beacon_input input = {.session = {1}, .registry = {2}, .epoch = 3};
    uint8_t first[32], value[32], nonce[32] = {7};
    sotto_beacon_part parts[MEMBERS];
    uint32_t wrong;
    static meeting m;

    open_meeting(t, &m, 8);
    deal_all(t, &m, NULL);
    make_key(t, &m);
    const uint8_t(*verify)[SOTTO_P256_WIDE] = (const uint8_t(*)[SOTTO_P256_WIDE])m.verify;
    for (uint32_t i = 0; i < MEMBERS; i++) {
        parts[i].place = i;
        CHECK_OK(t, sotto_beacon_give(&m.t, parts[i].bytes, &input, &m.shares[i], nonce, &t->err));
    }
    CHECK_OK(t, sotto_beacon_value_vartime(&m.t, first, &input, verify, MEMBERS, parts, 2, &wrong,
                                           &t->err));
    for (uint32_t i = 1; i + 1 < MEMBERS; i++) {
        CHECK_OK(t, sotto_beacon_value_vartime(&m.t, value, &input, verify, MEMBERS, parts + i, 2,
                                               &wrong, &t->err));
        CHECK_BYTES(t, first, value, 32);
    }
    /* Another registry, another value. */
    input.registry[0]++;
    for (uint32_t i = 0; i < 2; i++)
        CHECK_OK(t, sotto_beacon_give(&m.t, parts[i].bytes, &input, &m.shares[i], nonce, &t->err));
    CHECK_OK(t, sotto_beacon_value_vartime(&m.t, value, &input, verify, MEMBERS, parts, 2, &wrong,
                                           &t->err));
    CHECK(t, memcmp(first, value, 32) != 0);
    close_meeting(&m);
}

static void a_witness_can_not_choose_its_part(sotto_test *t)
{
    sotto_beacon_input input = {.session = {1}, .registry = {2}, .epoch = 3};
    uint8_t value[32], nonce[32] = {7};
    sotto_beacon_part parts[2] = {{.place = 0}, {.place = 1}};
    uint32_t wrong;
    static meeting m;

    open_meeting(t, &m, 8);
    deal_all(t, &m, NULL);
    make_key(t, &m);
    for (uint32_t i = 0; i < 2; i++) /* the second with another's share, or one of its choice */
        CHECK_OK(t, sotto_beacon_give(&m.t, parts[i].bytes, &input, &m.shares[i ? 3 : 0], nonce,
                                      &t->err));
    CHECK(t, sotto_beacon_value_vartime(&m.t, value, &input,
                                        (const uint8_t(*)[SOTTO_P256_WIDE])m.verify, MEMBERS, parts,
                                        2, &wrong, NULL) == SOTTO_REJECTED);
    CHECK_EQUAL(t, 1, wrong);
    close_meeting(&m);
}

/* Of five witnesses, two make the value. A server that could do with one would choose among five. */
static void too_few_witnesses_make_no_value(sotto_test *t)
{
    const sotto_beacon_input input = {.session = {1}, .registry = {2}, .epoch = 3};
    uint8_t value[32], nonce[32] = {7};
    sotto_beacon_part parts[3];
    uint32_t wrong;
    static meeting m;

    open_meeting(t, &m, 8);
    deal_all(t, &m, NULL);
    make_key(t, &m);
    const uint8_t(*verify)[SOTTO_P256_WIDE] = (const uint8_t(*)[SOTTO_P256_WIDE])m.verify;
    for (uint32_t i = 0; i < 3; i++) {
        parts[i].place = i;
        CHECK_OK(t, sotto_beacon_give(&m.t, parts[i].bytes, &input, &m.shares[i], nonce, &t->err));
    }
    for (uint32_t count = 0; count <= 3; count++)
        CHECK(t, (sotto_beacon_value_vartime(&m.t, value, &input, verify, MEMBERS, parts, count,
                                             &wrong, NULL) == SOTTO_OK) == (count == THRESHOLD));
    close_meeting(&m);
}

/* Two proofs with the same randomness, for two inputs: (f - f') / (e - e') would be the share. */
static void a_nonce_given_twice_gives_no_share_away(sotto_test *t)
{
    sotto_beacon_input input = {.session = {1}, .registry = {2}, .epoch = 3};
    uint8_t part[2][SOTTO_BEACON_PART], nonce[32] = {7};
    sotto_scalar e[2], f[2];
    static meeting m;

    open_meeting(t, &m, 8);
    deal_all(t, &m, NULL);
    make_key(t, &m);
    for (size_t i = 0; i < 2; i++) {
        input.epoch += i;
        CHECK_OK(t, sotto_beacon_give(&m.t, part[i], &input, &m.shares[0], nonce, &t->err));
        CHECK(t, sotto_scalar_decode(&m.t.group, &e[i], part[i] + SOTTO_P256_WIDE));
        CHECK(t, sotto_scalar_decode(&m.t.group, &f[i],
                                     part[i] + SOTTO_P256_WIDE + SOTTO_P256_SCALAR));
    }
    sotto_scalar_subtract(&m.t.group, &e[0], &e[0], &e[1]);
    sotto_scalar_subtract(&m.t.group, &f[0], &f[0], &f[1]);
    sotto_scalar_invert(&m.t.group, &e[0], &e[0]);
    sotto_scalar_multiply(&m.t.group, &f[0], &f[0], &e[0]);
    CHECK(t, memcmp(&f[0], &m.shares[0], sizeof f[0]) != 0);
    close_meeting(&m);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_committee_makes_a_key_that_its_threshold_has),
        CASE(a_prepared_key_seals_the_same),
        CASE(bad_dealers_do_not_count),
        CASE(a_dealer_that_had_to_show_too_much_does_not_count),
        CASE(a_quorum_signs_who_counts),
        CASE(whoever_reveals_something_else_changes_nothing),
        CASE(nobody_reveals_a_longer_polynomial),
        CASE(a_coefficient_of_zero_stops_nobody),
        CASE(the_last_dealer_does_not_choose_the_key),
        CASE(a_key_is_handed_on_and_shares_do_not_mix),
        CASE(nothing_but_the_share_is_handed_on),
        CASE(deals_that_were_shown_do_not_count),
        CASE(any_threshold_of_witnesses_gives_one_value),
        CASE(a_witness_can_not_choose_its_part),
        CASE(too_few_witnesses_make_no_value),
        CASE(a_nonce_given_twice_gives_no_share_away),
    };
    return RUN_TESTS(argc, argv, cases);
}
