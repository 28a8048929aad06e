/* What is published of a round, and what devices check in it. */
#include "aggregate/posting.h"
#include "base/arena.h"
#include "support/epoch.h"
#include "support/test.h"

#include <string.h>

enum { CLIENTS = 5 };

static sotto_signer signers[CLIENTS];

/* An epoch of five clients and three decryptors. */
static void make_epoch(sotto_test *t, sotto_epoch *e)
{
    uint8_t(*keys)[32] = sotto_arena_take_array(&t->arena, CLIENTS, sizeof *keys);
    uint8_t(*pair)[32] = sotto_arena_take_array(&t->arena, CLIENTS, sizeof *pair);
    uint8_t(*channel)[32] = sotto_arena_take_array(&t->arena, CLIENTS, sizeof *channel);

    CHECK(t, keys && pair && channel);
    memset(e, 0, sizeof *e);
    e->number = 3;
    e->session[0] = 1;
    for (uint8_t i = 0; i < CLIENTS; i++) {
        const uint8_t seed[SOTTO_SIGN_SEED] = {1, i};

        CHECK_OK(t, sotto_signer_init(&signers[i], seed, &t->err));
        memcpy(keys[i], signers[i].public_key, 32);
        pair[i][0] = (uint8_t)(9 + i);
        channel[i][0] = (uint8_t)(40 + i);
    }
    e->registry = (sotto_registry){.keys = (const uint8_t(*)[32])keys,
                                   .pair = (const uint8_t(*)[32])pair,
                                   .channel = (const uint8_t(*)[32])channel,
                                   .count = CLIENTS};
    CHECK_OK(t, sotto_epoch_witnesses(e, 4, &t->arena, &t->err));
    CHECK_OK(t, sotto_epoch_draw(e, 3, &t->arena, &t->err));
    for (uint32_t i = 0; i < 3; i++) {
        e->record.is_signed[i] = true;
        CHECK_OK(t, sotto_decryptors_sign(e->digest, e->record.signatures[i],
                                          &signers[e->record.members[i]], &t->err));
    }
}

static void forget_signers(void)
{
    for (size_t i = 0; i < CLIENTS; i++)
        sotto_signer_clear(&signers[i]);
}

static sotto_bytes posting_of(sotto_test *t, const sotto_epoch *e)
{
    const sotto_epoch_round round = {.number = 1,
                                     .ring = SOTTO_RING_Z32,
                                     .length = 4,
                                     .most = 10,
                                     .least = 3,
                                     .neighbours = 1,
                                     .edge = UINT64_MAX,
                                     .opens = 1,
                                     .closes = 10,
                                     .verify_by = 20,
                                     .release_by = 30};
    uint8_t id[SOTTO_ROUND_ID];
    sotto_bytes out;

    CHECK_OK(t, sotto_epoch_post(e, &round, &out, id, &t->arena, &t->err));
    return out;
}

static sotto_status open_and_check(sotto_test *t, const sotto_epoch *e, sotto_bytes wire)
{
    sotto_posted_round p;
    sotto_status status = sotto_posted_round_open(&p, wire, &t->arena, &t->err);

    if (status == SOTTO_OK)
        status = sotto_posted_round_check_beacon(
            &p, (const uint8_t(*)[SOTTO_P256_WIDE])e->witnesses.verify, e->witnesses.count,
            &t->err);
    sotto_posted_round_close(&p);
    return status;
}

static void a_posting_is_read_as_it_was_written(sotto_test *t)
{
    sotto_posting p;
    sotto_epoch e;
    sotto_buf again;

    make_epoch(t, &e);
    const sotto_bytes wire = posting_of(t, &e);
    CHECK_OK(t, sotto_posting_decode(&p, wire, &t->arena, &t->err));
    CHECK_OK(t, sotto_buf_take(&again, &t->arena, wire.len, &t->err));
    CHECK_OK(t, sotto_posting_encode(&again, &p, &t->err));
    CHECK_EQUAL(t, wire.len, again.len);
    CHECK_BYTES(t, wire.data, again.data, wire.len);
    CHECK_OK(t, open_and_check(t, &e, wire));
    forget_signers();
}

static void a_posting_that_was_cut_is_malformed(sotto_test *t)
{
    sotto_posted_round p;
    sotto_epoch e;

    make_epoch(t, &e);
    const sotto_bytes wire = posting_of(t, &e);
    for (size_t len = 0; len < wire.len; len += len < 200 ? 1 : 37) {
        CHECK_STATUS(
            t, SOTTO_MALFORMED,
            sotto_posted_round_open(&p, sotto_bytes_of(wire.data, len), &t->arena, &t->err));
        sotto_posted_round_close(&p);
    }
    forget_signers();
}

/* Its committee fits this value. */
static void sign_anew(sotto_test *t, sotto_epoch *e)
{
    CHECK_OK(t, sotto_decryptors_draw(e->record.members, 3, CLIENTS, e->beacon, e->session,
                                      e->number, &t->arena, &t->err));
    sotto_decryptors_digest(&e->record, e->digest);
    for (uint32_t i = 0; i < 3; i++)
        CHECK_OK(t, sotto_decryptors_sign(e->digest, e->record.signatures[i],
                                          &signers[e->record.members[i]], &t->err));
}

/* Whoever could choose the beacon's value would choose committee, cohort and neighbours. */
static void a_beacon_that_a_server_chose_is_refused(sotto_test *t)
{
    sotto_epoch e;

    make_epoch(t, &e);
    /* Everything fits this value, but the witnesses did not draw it. */
    e.beacon[5] ^= 1;
    sign_anew(t, &e);
    CHECK_STATUS(t, SOTTO_REJECTED, open_and_check(t, &e, posting_of(t, &e)));
    forget_signers();
}

/* Parts that make no value, and the value of nothing: zeros. */
static void parts_that_are_wrong_make_no_beacon(sotto_test *t)
{
    sotto_epoch e;

    make_epoch(t, &e);
    e.parts[0].bytes[70] ^= 1;
    memset(e.beacon, 0, sizeof e.beacon);
    sign_anew(t, &e);
    CHECK_STATUS(t, SOTTO_REJECTED, open_and_check(t, &e, posting_of(t, &e)));
    forget_signers();
}

/* A round that begins with the key of the one before: the committee that hands it over was drawn by that one's beacon. */
static void an_old_beacon_that_a_server_chose_is_refused(sotto_test *t)
{
    uint8_t parameters[SOTTO_AERO_TERMS_HANDED];
    sotto_aero_terms terms = {.rekey = 2, .handed = 1};
    sotto_posted_round p = {.round = {.method = SOTTO_METHOD_AERO, .epoch = 3}};
    sotto_epoch e;

    make_epoch(t, &e);
    memcpy(p.round.session, e.session, sizeof p.round.session);
    sotto_registry_root(&e.registry, p.round.registry);
    e.number = 2;
    CHECK_OK(t, sotto_epoch_beacon(&e, &t->arena, &t->err));
    memcpy(terms.origin.beacon, e.beacon, sizeof e.beacon);
    p.posting.old_parts = e.parts;
    p.posting.old_part_count = e.part_count;
    e.number = 3;
    CHECK_OK(t, sotto_epoch_beacon(&e, &t->arena, &t->err));
    memcpy(p.round.beacon, e.beacon, sizeof p.round.beacon);
    p.posting.parts = e.parts;
    p.posting.part_count = e.part_count;
    for (unsigned i = 0; i < 4; i++) {
        sotto_buf out = sotto_buf_over(parameters, sizeof parameters);
        sotto_posted_round other = p;

        terms.origin.beacon[5] ^= i == 1;
        CHECK_OK(t, sotto_aero_terms_encode(&out, &terms, &t->err));
        terms.origin.beacon[5] ^= i == 1;
        other.round.parameters = sotto_buf_bytes(&out);
        other.posting.old_part_count = i == 2 ? 0 : p.posting.old_part_count;
        other.posting.old_parts =
            i == 3 ? p.posting.parts : p.posting.old_parts; /* of this round */
        t->err = (sotto_err){0};
        CHECK_STATUS(t, i == 0 ? SOTTO_OK : SOTTO_REJECTED,
                     sotto_posted_round_check_beacon(
                         &other, (const uint8_t(*)[SOTTO_P256_WIDE])e.witnesses.verify,
                         e.witnesses.count, &t->err));
    }
    t->err = (sotto_err){0};
    forget_signers();
}

/* They stand behind everything else, and only where there are some. */
static void parts_of_an_old_beacon_are_read_as_they_were_written(sotto_test *t)
{
    sotto_posting p, again;
    sotto_buf wire;
    sotto_epoch e;

    make_epoch(t, &e);
    CHECK_OK(t, sotto_posting_decode(&p, posting_of(t, &e), &t->arena, &t->err));
    CHECK_EQUAL(t, 0, p.old_part_count);
    p.old_part_count = p.part_count;
    p.old_parts = p.parts;
    CHECK_OK(t, sotto_buf_take(&wire, &t->arena, 1 << 14, &t->err));
    CHECK_OK(t, sotto_posting_encode(&wire, &p, &t->err));
    CHECK_OK(t, sotto_posting_decode(&again, sotto_buf_bytes(&wire), &t->arena, &t->err));
    CHECK_EQUAL(t, p.old_part_count, again.old_part_count);
    CHECK(t, memcmp(p.old_parts, again.old_parts, p.old_part_count * sizeof *p.old_parts) == 0);
    p.old_part_count = 0;
    wire.len = 0;
    CHECK_OK(t, sotto_posting_encode(&wire, &p, &t->err));
    wire.data[wire.len++] = 0;
    wire.data[wire.len++] = 0;
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_posting_decode(&again, sotto_buf_bytes(&wire), &t->arena, &t->err));
    t->err = (sotto_err){0};
    forget_signers();
}

static void too_few_parts_make_no_beacon(sotto_test *t)
{
    sotto_epoch e;

    make_epoch(t, &e);
    e.part_count--;
    CHECK_STATUS(t, SOTTO_REJECTED, open_and_check(t, &e, posting_of(t, &e)));
    forget_signers();
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_posting_is_read_as_it_was_written),
        CASE(a_posting_that_was_cut_is_malformed),
        CASE(a_beacon_that_a_server_chose_is_refused),
        CASE(parts_that_are_wrong_make_no_beacon),
        CASE(an_old_beacon_that_a_server_chose_is_refused),
        CASE(parts_of_an_old_beacon_are_read_as_they_were_written),
        CASE(too_few_parts_make_no_beacon),
    };
    return RUN_TESTS(argc, argv, cases);
}
