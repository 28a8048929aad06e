/* Duties of a device: what allows them, what they store, and what is never said twice. */
#define _POSIX_C_SOURCE 200809L
#include "aggregate/bbglr/bbglr.h"
#include "aggregate/flamingo/flamingo.h"
#include "base/arena.h"
#include "device/duties/journal.h"
#include "support/directory.h"
#include "support/fleet.h"
#include "support/test.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { DEVICES = 4, LENGTH = 3, OPENS = 1000 };

typedef struct scene {
    sotto_fleet fleet;
    const char *directory;
    sotto_bytes posting;
    uint8_t id[SOTTO_ROUND_ID];
} scene;

static const uint64_t VALUES[LENGTH] = {0x11, 0x22, 0x33};
static uint64_t later; /* than OPENS a round opens */

/* Nobody listens: whatever is sent is lost. */
static void open_scene_with(sotto_test *t, scene *s, uint64_t edge)
{
    static const uint8_t server[SOTTO_SIGN_PUBLIC] = {5};
    const sotto_epoch_round round = {.number = 1,
                                     .ring = SOTTO_RING_Z32,
                                     .length = LENGTH,
                                     .most = 1000,
                                     .least = 3,
                                     .neighbours = 1,
                                     .edge = edge,
                                     .opens = later + OPENS,
                                     .closes = later + 2 * OPENS,
                                     .verify_by = later + 3 * OPENS,
                                     .release_by = later + 4 * OPENS};

    memset(s, 0, sizeof *s);
    s->directory = sotto_test_directory(t);
    const sotto_fleet_options options = {.devices = DEVICES,
                                         .members = 3,
                                         .witnesses = 4,
                                         .folder = s->directory,
                                         .server_key = server,
                                         .port = 1};
    CHECK_OK(t, sotto_fleet_open(&s->fleet, &options, &t->err));
    s->fleet.exchanges_left = 0;
    CHECK_OK(t, sotto_epoch_post(&s->fleet.epoch, &round, &s->posting, s->id, &t->arena, &t->err));
}

static void open_scene(sotto_test *t, scene *s)
{
    open_scene_with(t, s, UINT64_MAX);
}

static sotto_status take(sotto_test *t, scene *s, uint32_t device, unsigned part)
{
    const bool client = part == SOTTO_DUTY_CLIENT;

    return sotto_duties_take(s->fleet.devices[device].duties, s->posting, device, part,
                             client ? VALUES : NULL, client ? LENGTH : 0, &t->err);
}

static sotto_status tick(sotto_test *t, scene *s, uint32_t device, uint64_t now)
{
    uint64_t next;

    return sotto_duties_tick(s->fleet.devices[device].duties, now, &next, &t->err);
}

static int64_t number(sotto_test *t, const scene *s, uint32_t device, const char *sql)
{
    int64_t out = -1;
    sqlite3 *db;

    CHECK_EQUAL(t, SQLITE_OK, sqlite3_open(s->fleet.devices[device].journal, &db));
    CHECK_OK(t, sotto_sqlite_number(db, &out, sql, "test", &t->err));
    CHECK_EQUAL(t, SQLITE_OK, sqlite3_close(db));
    return out;
}

static void change(sotto_test *t, const scene *s, uint32_t device, const char *sql)
{
    sqlite3 *db;

    CHECK_EQUAL(t, SQLITE_OK, sqlite3_open(s->fleet.devices[device].journal, &db));
    CHECK_OK(t, sotto_sqlite_run(db, sql, "test", &t->err));
    CHECK_EQUAL(t, SQLITE_OK, sqlite3_close(db));
}

static bool file_has(sotto_test *t, const char *path, sotto_bytes wanted)
{
    static uint8_t all[1 << 22];
    FILE *file = fopen(path, "rb");
    const size_t len = file ? fread(all, 1, sizeof all, file) : 0;

    CHECK(t, len < sizeof all);
    if (file)
        CHECK_EQUAL(t, 0, fclose(file));
    return sotto_test_holds(sotto_bytes_of(all, len), wanted);
}

/* The journal, and what SQLite has beside it. */
static bool journal_has(sotto_test *t, const scene *s, uint32_t device, sotto_bytes wanted)
{
    char path[SOTTO_FLEET_PATH + 8];

    (void)snprintf(path, sizeof path, "%s-wal", s->fleet.devices[device].journal);
    return file_has(t, s->fleet.devices[device].journal, wanted) || file_has(t, path, wanted);
}

static sotto_duties *open_with(sotto_test *t, const scene *s, unsigned allowed)
{
    static const uint8_t secret[SOTTO_DUTIES_SECRET] = {3};
    const sotto_duties_options options = {
        .journal = sotto_test_temp(t, "duties.db"),
        .secret = secret,
        .allowed = allowed,
        .witnesses = (const uint8_t(*)[SOTTO_P256_WIDE])s->fleet.epoch.witnesses.verify,
        .witness_count = s->fleet.epoch.witnesses.count,
        .server = "http://127.0.0.1:1/"};
    sotto_duties *d;

    CHECK_OK(t, sotto_duties_open(&d, &options, &t->err));
    return d;
}

/* ---- what allows a duty ---------------------------------------------------------------------------------------------- */

static void a_policy_must_name_a_duty(sotto_test *t)
{
    static const uint8_t share[32] = {1};
    scene s;

    open_scene(t, &s);
    sotto_duties *d = open_with(t, &s, SOTTO_DUTY_CLIENT);
    CHECK_OK(t, sotto_duties_consent(d, true, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_duties_put_share(d, s.fleet.epoch.session, 1, share, &t->err));
    sotto_duties_close(d);
    sotto_fleet_close(&s.fleet);
}

static void nothing_is_taken_without_consent(sotto_test *t)
{
    static const uint8_t share[32] = {1};
    scene s;

    open_scene(t, &s);
    sotto_duties *d = open_with(t, &s, SOTTO_DUTY_CLIENT | SOTTO_DUTY_DECRYPTOR);
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_duties_put_share(d, s.fleet.epoch.session, 1, share, &t->err));
    CHECK_OK(t, sotto_duties_consent(d, true, &t->err));
    CHECK_OK(t, sotto_duties_put_share(d, s.fleet.epoch.session, 1, share, &t->err));
    sotto_duties_close(d);
    sotto_fleet_close(&s.fleet);
}

static void a_no_erases_everything_but_vows(sotto_test *t)
{
    scene s;

    open_scene(t, &s);
    const uint32_t member = s.fleet.epoch.record.members[0];
    CHECK_OK(t, take(t, &s, member, SOTTO_DUTY_CLIENT));
    CHECK_OK(t, take(t, &s, member, SOTTO_DUTY_DECRYPTOR));
    CHECK_OK(t, tick(t, &s, member, OPENS));
    CHECK_EQUAL(t, 2, number(t, &s, member, "SELECT count(*) FROM vow")); /* committee, report */
    CHECK_EQUAL(t, 1, number(t, &s, member, "SELECT count(*) FROM waiting"));
    CHECK_OK(t, sotto_duties_consent(s.fleet.devices[member].duties, false, &t->err));
    CHECK_EQUAL(t, 2, number(t, &s, member, "SELECT count(*) FROM vow"));
    CHECK_EQUAL(t, 0, number(t, &s, member, "SELECT count(*) FROM waiting"));
    CHECK_EQUAL(t, 0, number(t, &s, member, "SELECT count(*) FROM share WHERE share IS NOT NULL"));
    CHECK_EQUAL(t, 0, number(t, &s, member, "SELECT count(*) FROM duty WHERE ended = 0"));
    CHECK_STATUS(t, SOTTO_DENIED, take(t, &s, member, SOTTO_DUTY_CLIENT));
    sotto_fleet_close(&s.fleet);
}

static void the_beacon_must_be_the_witnesses(sotto_test *t)
{
    scene s;

    open_scene(t, &s);
    /* Another key in the place of a witness's: the proof is not its. */
    memcpy(s.fleet.epoch.witnesses.verify[0], s.fleet.epoch.witnesses.verify[1], SOTTO_P256_WIDE);
    sotto_fleet_kill(&s.fleet, 0);
    CHECK_OK(t, sotto_fleet_revive(&s.fleet, 0, &t->err));
    CHECK_STATUS(t, SOTTO_REJECTED, take(t, &s, 0, SOTTO_DUTY_CLIENT));
    sotto_fleet_close(&s.fleet);
}

/* Neighbours are drawn from the beacon by every method: one without a committee needs it as much. */
static void a_round_without_a_committee_needs_its_beacon(sotto_test *t)
{
    const sotto_bbglr_parameters few = {
        .degree = 2, .threshold = 2, .quorum = 3, .keys_by = OPENS + 10};
    sotto_buf parameters, round_wire, out;
    sotto_posting p;
    sotto_round round;
    scene s;

    open_scene(t, &s);
    CHECK_OK(t, sotto_posting_decode(&p, s.posting, &t->arena, &t->err));
    CHECK_OK(t, sotto_round_decode(&round, p.round, &t->err));
    CHECK_OK(t, sotto_buf_take(&parameters, &t->arena, SOTTO_BBGLR_PARAMETERS, &t->err));
    CHECK_OK(t, sotto_bbglr_parameters_encode(&parameters, &few, &t->err));
    round.method = SOTTO_METHOD_BBGLR;
    round.parameters = sotto_buf_bytes(&parameters);
    round.beacon[0] ^= 1; /* the server's choice */
    CHECK_OK(t, sotto_buf_take(&round_wire, &t->arena, SOTTO_ROUND_MOST_BYTES, &t->err));
    CHECK_OK(t, sotto_round_encode(&round_wire, &round, &t->err));
    p.round = sotto_buf_bytes(&round_wire);
    p.decryptors = (sotto_bytes){NULL, 0};
    CHECK_OK(t, sotto_buf_take(&out, &t->arena, s.posting.len, &t->err));
    CHECK_OK(t, sotto_posting_encode(&out, &p, &t->err));
    s.posting = sotto_buf_bytes(&out);
    s.fleet.terms.methods = 1u << SOTTO_METHOD_BBGLR;
    sotto_duties_expect(s.fleet.devices[0].duties, &s.fleet.terms);
    CHECK_STATUS(t, SOTTO_REJECTED, take(t, &s, 0, SOTTO_DUTY_CLIENT));
    sotto_fleet_close(&s.fleet);
}

static void refused_by(sotto_test *t, scene *s, const sotto_duties_terms *terms)
{
    sotto_duties_expect(s->fleet.devices[0].duties, terms);
    CHECK_STATUS(t, SOTTO_DENIED, take(t, s, 0, SOTTO_DUTY_CLIENT));
}

/* The posting is the server's: what protects a device must not be. */
static void a_round_keeps_to_what_the_application_knows(sotto_test *t)
{
    sotto_duties_terms terms;
    scene s;

    open_scene(t, &s);
#define WITH(field, value)                                                                         \
    terms = s.fleet.terms;                                                                         \
    terms.field = (value);                                                                         \
    refused_by(t, &s, &terms)
    WITH(methods, 1u << SOTTO_METHOD_BBGLR);
    WITH(recipe[31], 1);
    WITH(registry[0], (uint8_t)(s.fleet.terms.registry[0] ^ 1));
    WITH(least, 4);
    WITH(cohort, DEVICES - 1);
    WITH(committee, 4);
    WITH(neighbours, 2);
    WITH(noise.shares, 1);
    WITH(numbers, 1); /* this is the second */
#undef WITH
    sotto_duties_expect(s.fleet.devices[0].duties, &s.fleet.terms);
    CHECK_OK(t, take(t, &s, 0, SOTTO_DUTY_CLIENT));
    sotto_fleet_close(&s.fleet);
}

static void too_few_edges_are_refused(sotto_test *t)
{
    scene s;

    open_scene_with(t, &s, UINT64_MAX / 2);
    s.fleet.terms.edge = UINT64_MAX / 2 + 1;
    refused_by(t, &s, &s.fleet.terms);
    sotto_err_clear(&t->err);
    s.fleet.terms.edge = 0;
    s.fleet.terms.densest = UINT64_MAX / 2 - 1; /* and so are too many */
    refused_by(t, &s, &s.fleet.terms);
    sotto_fleet_close(&s.fleet);
}

static void a_device_without_terms_joins_nothing(sotto_test *t)
{
    static const sotto_duties_terms none;
    scene s;

    open_scene(t, &s);
    refused_by(t, &s, &none);
    sotto_fleet_close(&s.fleet);
}

static void a_round_of_others_is_not_joined(sotto_test *t)
{
    uint32_t other = 0;
    scene s;

    open_scene(t, &s);
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_duties_take(s.fleet.devices[0].duties, s.posting, 1, SOTTO_DUTY_CLIENT,
                                   VALUES, LENGTH, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_duties_take(s.fleet.devices[0].duties, s.posting, 0, SOTTO_DUTY_CLIENT,
                                   VALUES, LENGTH - 1, &t->err));
    for (uint32_t i = 0; i < DEVICES; i++) { /* one of four was not drawn */
        bool drawn = false;

        for (uint32_t m = 0; m < 3; m++)
            drawn = drawn || s.fleet.epoch.record.members[m] == i;
        other = drawn ? other : i;
    }
    CHECK_STATUS(t, SOTTO_DENIED, take(t, &s, other, SOTTO_DUTY_DECRYPTOR));
    CHECK_OK(t, take(t, &s, other, SOTTO_DUTY_CLIENT));
    CHECK_STATUS(t, SOTTO_STALE, take(t, &s, other, SOTTO_DUTY_CLIENT));
    sotto_fleet_close(&s.fleet);
}

/* ---- what is stored ---------------------------------------------------------------------------------------------------- */

static void a_share_is_taken_once_and_erased(sotto_test *t)
{
    uint8_t share[32];
    scene s;

    open_scene(t, &s);
    sotto_duties *d = open_with(t, &s, SOTTO_DUTY_DECRYPTOR);
    memset(share, 0xa7, sizeof share);
    CHECK_OK(t, sotto_duties_consent(d, true, &t->err));
    CHECK_OK(t, sotto_duties_put_share(d, s.fleet.epoch.session, 7, share, &t->err));
    CHECK_OK(t, sotto_duties_erase_share(d, s.fleet.epoch.session, 7, &t->err));
    share[0] = 1;
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_duties_put_share(d, s.fleet.epoch.session, 7, share, &t->err));
    sotto_duties_close(d);
    sotto_fleet_close(&s.fleet);
}

static void a_share_that_was_handed_over_leaves_no_byte(sotto_test *t)
{
    uint8_t share[32];
    scene s;

    open_scene(t, &s);
    memset(share, 0xa7, sizeof share);
    CHECK_OK(t, sotto_duties_put_share(s.fleet.devices[0].duties, s.fleet.epoch.session, 7, share,
                                       &t->err));
    CHECK(t, journal_has(t, &s, 0, sotto_bytes_of(share, sizeof share)));
    CHECK_OK(
        t, sotto_duties_erase_share(s.fleet.devices[0].duties, s.fleet.epoch.session, 7, &t->err));
    CHECK(t, !journal_has(t, &s, 0, sotto_bytes_of(share, sizeof share)));
    sotto_fleet_close(&s.fleet);
}

static void a_member_signs_one_record_with_its_own_share(sotto_test *t)
{
    uint8_t signature[SOTTO_SIGNATURE];
    scene s;

    open_scene(t, &s);
    sotto_decryptors_record *r = &s.fleet.epoch.record;
    sotto_duties *d = s.fleet.devices[r->members[0]].duties;
    CHECK_OK(t, sotto_duties_sign_committee(d, r, 0, signature, &t->err)); /* again, the same */
    CHECK_STATUS(t, SOTTO_DENIED, sotto_duties_sign_committee(d, r, 3, signature, &t->err));
    /* Another member's value in its place, in an epoch of which it signed nothing yet. */
    r->epoch = 2;
    CHECK_STATUS(t, SOTTO_MISSING, sotto_duties_sign_committee(d, r, 0, signature, &t->err));
    r->epoch = 1;
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_duties_sign_committee(d, r, 1, signature, &t->err));
    /* Its own share, and another key: two records of an epoch are two committees. */
    memcpy(r->key, r->verify[1], sizeof r->key);
    CHECK_STATUS(t, SOTTO_DENIED, sotto_duties_sign_committee(d, r, 0, signature, &t->err));
    CHECK_OK(t, sotto_duties_consent(d, false, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED, sotto_duties_sign_committee(d, r, 0, signature, &t->err));
    sotto_fleet_close(&s.fleet);
}

static void a_vector_goes_once_a_message_carries_it(sotto_test *t)
{
    scene s;

    open_scene(t, &s);
    CHECK_OK(t, take(t, &s, 0, SOTTO_DUTY_CLIENT));
    CHECK_EQUAL(t, 1, number(t, &s, 0, "SELECT length(vector) > 0 FROM duty"));
    CHECK_OK(t, tick(t, &s, 0, OPENS - 1));
    CHECK_EQUAL(t, 1, number(t, &s, 0, "SELECT length(vector) > 0 FROM duty"));
    CHECK_OK(t, tick(t, &s, 0, OPENS));
    CHECK_EQUAL(t, 0, number(t, &s, 0, "SELECT count(*) FROM duty WHERE vector IS NOT NULL"));
    CHECK_EQUAL(t, 1, number(t, &s, 0, "SELECT count(*) FROM waiting"));
    /* Too late to be of use to anybody: it goes, too. */
    CHECK_OK(t, tick(t, &s, 0, 4 * OPENS));
    CHECK_EQUAL(t, 0, number(t, &s, 0, "SELECT count(*) FROM waiting"));
    sotto_fleet_close(&s.fleet);
}

/* Two vectors under the same masks would give away their difference. */
static void a_second_vector_in_a_round_never_leaves(sotto_test *t)
{
    scene s;

    open_scene(t, &s);
    CHECK_OK(t, take(t, &s, 0, SOTTO_DUTY_CLIENT));
    CHECK_OK(t, tick(t, &s, 0, OPENS));
    /* As a bug would have it: the duty begins anew, with another vector. */
    change(t, &s, 0,
           "UPDATE duty SET state = NULL, done = 0, vector = x'010000000200000003000000';"
           "DELETE FROM waiting");
    CHECK_STATUS(t, SOTTO_DENIED, tick(t, &s, 0, OPENS));
    CHECK_EQUAL(t, 0, number(t, &s, 0, "SELECT count(*) FROM waiting"));
    sotto_fleet_close(&s.fleet);
}

static void copy_file(sotto_test *t, const char *from, const char *to)
{
    static uint8_t all[1 << 22];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");

    CHECK(t, in && out);
    const size_t len = fread(all, 1, sizeof all, in);
    CHECK_EQUAL(t, len, fwrite(all, 1, len, out));
    CHECK(t, fclose(in) == 0 && fclose(out) == 0);
}

static void a_journal_that_was_put_back_stays_shut(sotto_test *t)
{
    const char *copy = sotto_test_temp(t, "copy.db");
    scene s;

    open_scene(t, &s);
    sotto_fleet_kill(&s.fleet, 0); /* closes the file, and the WAL is in it */
    copy_file(t, s.fleet.devices[0].journal, copy);
    CHECK_OK(t, sotto_fleet_revive(&s.fleet, 0, &t->err));
    CHECK_OK(t, take(t, &s, 0, SOTTO_DUTY_CLIENT));
    CHECK_OK(t, tick(t, &s, 0, OPENS));
    sotto_fleet_kill(&s.fleet, 0);
    copy_file(t, copy, s.fleet.devices[0].journal);
    CHECK_STATUS(t, SOTTO_STALE, sotto_fleet_revive(&s.fleet, 0, &t->err));
    sotto_fleet_close(&s.fleet);
}

/* The step is on disk, but the host could not raise its counter: nothing leaves until it can. */
static void nothing_leaves_before_the_counter_is_raised(sotto_test *t)
{
    scene s;

    open_scene(t, &s);
    sotto_fleet_device *d = &s.fleet.devices[0];
    CHECK_OK(t, take(t, &s, 0, SOTTO_DUTY_CLIENT));
    d->counter_fails = true;
    s.fleet.exchanges_left = 5;
    CHECK_STATUS(t, SOTTO_IO, tick(t, &s, 0, OPENS));
    CHECK_EQUAL(t, 1, number(t, &s, 0, "SELECT count(*) FROM waiting"));
    CHECK_OK(t, tick(t, &s, 0, OPENS + 250));
    CHECK_EQUAL(t, 5, s.fleet.exchanges_left);
    sotto_fleet_kill(&s.fleet, 0);
    CHECK_STATUS(t, SOTTO_IO, sotto_fleet_revive(&s.fleet, 0, &t->err));
    d->counter_fails = false;
    CHECK_OK(t, sotto_fleet_revive(&s.fleet, 0, &t->err));
    CHECK_EQUAL(t, number(t, &s, 0, "SELECT generation FROM meta"), d->counter);
    CHECK_OK(t, tick(t, &s, 0, OPENS + 500));
    CHECK(t, s.fleet.exchanges_left < 5);
    sotto_fleet_close(&s.fleet);
}

static int64_t open_duties(sotto_test *t, const scene *s, uint32_t device)
{
    return number(t, s, device, "SELECT count(*) FROM duty WHERE ended = 0");
}

/* Its share was handed over meanwhile: no retry brings it back. */
static void a_duty_that_cannot_be_done_ends(sotto_test *t)
{
    uint64_t next;
    scene s;

    open_scene(t, &s);
    const uint32_t member = s.fleet.epoch.record.members[0];
    sotto_duties *d = s.fleet.devices[member].duties;
    CHECK_OK(t, take(t, &s, member, SOTTO_DUTY_DECRYPTOR));
    CHECK_OK(t, sotto_duties_erase_share(d, s.fleet.epoch.session, 1, &t->err));
    CHECK_STATUS(t, SOTTO_MISSING, sotto_duties_tick(d, OPENS, &next, &t->err));
    CHECK_EQUAL(t, UINT64_MAX, next);
    CHECK_EQUAL(t, 0, open_duties(t, &s, member));
    sotto_fleet_close(&s.fleet);
}

static void a_round_of_another_century_is_let_go(sotto_test *t)
{
    uint64_t next;
    scene s;

    later = SOTTO_ROUND_MOST_MS + 1;
    open_scene(t, &s);
    later = 0;
    CHECK_OK(t, take(t, &s, 0, SOTTO_DUTY_CLIENT));
    CHECK_STATUS(t, SOTTO_DENIED, sotto_duties_tick(s.fleet.devices[0].duties, OPENS, &next, NULL));
    CHECK_EQUAL(t, 0, open_duties(t, &s, 0));
    sotto_fleet_close(&s.fleet);
}

/* A device may have started before it asked for the time. */
static void a_wrong_clock_ends_nothing_that_was_begun(sotto_test *t)
{
    uint64_t next;
    scene s;

    later = SOTTO_ROUND_MOST_MS + 1;
    open_scene(t, &s);
    const uint64_t opens = OPENS + later;
    later = 0;
    const uint32_t member = s.fleet.epoch.record.members[0];
    sotto_duties *d = s.fleet.devices[member].duties;
    CHECK_OK(t, take(t, &s, member, SOTTO_DUTY_DECRYPTOR));
    CHECK_OK(t, sotto_duties_tick(d, opens, &next, &t->err));
    CHECK_EQUAL(t, 1, number(t, &s, member, "SELECT count(*) FROM duty WHERE state IS NOT NULL"));
    CHECK_OK(t, sotto_duties_tick(d, OPENS, &next, &t->err));
    CHECK_EQUAL(t, 1, open_duties(t, &s, member));
    sotto_fleet_close(&s.fleet);
}

/* Whatever happened: here each step of the decryptor fails, in a way that might pass. */
static void every_duty_ends_with_its_round(sotto_test *t)
{
    uint64_t next;
    scene s;

    open_scene(t, &s);
    const uint32_t member = s.fleet.epoch.record.members[0];
    sotto_duties *d = s.fleet.devices[member].duties;
    CHECK_OK(t, take(t, &s, member, SOTTO_DUTY_DECRYPTOR));
    CHECK_OK(t, take(t, &s, member, SOTTO_DUTY_CLIENT));
    change(t, &s, member, "ALTER TABLE share RENAME TO lost");
    CHECK(t, sotto_duties_tick(d, OPENS, &next, NULL) != SOTTO_OK);
    CHECK_EQUAL(t, 2, open_duties(t, &s, member)); /* both are tried again */
    CHECK_OK(t, sotto_duties_tick(d, 4 * OPENS, &next, &t->err));
    CHECK_EQUAL(t, UINT64_MAX, next);
    CHECK_EQUAL(t, 0, open_duties(t, &s, member));
    CHECK_EQUAL(t, 0, number(t, &s, member, "SELECT count(*) FROM duty WHERE vector IS NOT NULL"));
    sotto_fleet_close(&s.fleet);
}

static void a_vector_in_the_clear_leaves_no_byte(sotto_test *t)
{
    const uint32_t entries[LENGTH] = {0x11, 0x22, 0x33};
    scene s;

    open_scene(t, &s);
    CHECK_OK(t, take(t, &s, 0, SOTTO_DUTY_CLIENT));
    CHECK(t, journal_has(t, &s, 0, sotto_bytes_of(entries, sizeof entries)));
    CHECK_OK(t, tick(t, &s, 0, OPENS));
    CHECK(t, !journal_has(t, &s, 0, sotto_bytes_of(entries, sizeof entries)));
    sotto_fleet_close(&s.fleet);
}

/* Somebody reads the file while a share is erased: the next tick cuts the WAL. */
static void what_a_reader_delayed_is_erased_later(sotto_test *t)
{
    sqlite3 *reader;
    uint8_t share[32];
    uint64_t next;
    scene s;

    open_scene(t, &s);
    sotto_duties *d = s.fleet.devices[0].duties;
    memset(share, 0xa7, sizeof share);
    CHECK_OK(t, sotto_duties_put_share(d, s.fleet.epoch.session, 7, share, &t->err));
    CHECK_EQUAL(t, SQLITE_OK, sqlite3_open(s.fleet.devices[0].journal, &reader));
    CHECK_OK(t, sotto_sqlite_run(reader, "BEGIN; SELECT count(*) FROM share", "test", &t->err));
    CHECK_OK(t, sotto_duties_erase_share(d, s.fleet.epoch.session, 7, &t->err));
    CHECK(t, journal_has(t, &s, 0, sotto_bytes_of(share, sizeof share)));
    CHECK_OK(t, sotto_sqlite_run(reader, "COMMIT", "test", &t->err));
    CHECK_EQUAL(t, SQLITE_OK, sqlite3_close(reader));
    CHECK_OK(t, sotto_duties_tick(d, OPENS, &next, &t->err));
    CHECK(t, !journal_has(t, &s, 0, sotto_bytes_of(share, sizeof share)));
    sotto_fleet_close(&s.fleet);
}

/* A proxy that knows no such page, or wants a password, says nothing about the message. */
static void a_message_goes_only_when_the_aggregator_refused_it(sotto_test *t)
{
    static const unsigned again[] = {401, 404, 405, 408, 410, 415, 429, 500, 503};
    static const unsigned final[] = {400, 403, 409, 413, 422};
    scene s;

    for (size_t i = 0; i < sizeof final / sizeof final[0]; i++) {
        open_scene(t, &s);
        CHECK_OK(t, take(t, &s, 0, SOTTO_DUTY_CLIENT));
        CHECK_OK(t, tick(t, &s, 0, OPENS));
        s.fleet.exchanges_left = UINT_MAX;
        for (size_t n = 0; i == 0 && n < sizeof again / sizeof again[0]; n++) {
            s.fleet.answers_with = again[n];
            CHECK_OK(t, tick(t, &s, 0, OPENS + 1 + n));
            CHECK_EQUAL(t, 1, number(t, &s, 0, "SELECT count(*) FROM waiting"));
        }
        s.fleet.answers_with = final[i];
        CHECK_OK(t, tick(t, &s, 0, OPENS + 100));
        CHECK_EQUAL(t, 0, number(t, &s, 0, "SELECT count(*) FROM waiting"));
        sotto_fleet_close(&s.fleet);
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_policy_must_name_a_duty),
        CASE(nothing_is_taken_without_consent),
        CASE(a_no_erases_everything_but_vows),
        CASE(the_beacon_must_be_the_witnesses),
        CASE(a_round_without_a_committee_needs_its_beacon),
        CASE(a_round_keeps_to_what_the_application_knows),
        CASE(too_few_edges_are_refused),
        CASE(a_device_without_terms_joins_nothing),
        CASE(a_round_of_others_is_not_joined),
        CASE(a_share_is_taken_once_and_erased),
        CASE(a_share_that_was_handed_over_leaves_no_byte),
        CASE(a_member_signs_one_record_with_its_own_share),
        CASE(a_vector_goes_once_a_message_carries_it),
        CASE(a_second_vector_in_a_round_never_leaves),
        CASE(a_journal_that_was_put_back_stays_shut),
        CASE(nothing_leaves_before_the_counter_is_raised),
        CASE(a_duty_that_cannot_be_done_ends),
        CASE(a_round_of_another_century_is_let_go),
        CASE(a_wrong_clock_ends_nothing_that_was_begun),
        CASE(every_duty_ends_with_its_round),
        CASE(a_vector_in_the_clear_leaves_no_byte),
        CASE(what_a_reader_delayed_is_erased_later),
        CASE(a_message_goes_only_when_the_aggregator_refused_it),
    };
    return RUN_TESTS(argc, argv, cases);
}
