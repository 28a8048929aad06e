#define _POSIX_C_SOURCE 200809L
#include "ballot.h"

#include "aggregate/excerpt.h"
#include "base/arena.h"

#include <string.h>

static const sotto_bytes nothing = {NULL, 0};
const sotto_aero_account ballot_trial = {.is_trial = true};
static const sotto_round_noise silent = {.den = 1, .shares = 2};

unsigned ballot_leaves[BALLOT_MOST], ballot_arrives[BALLOT_MOST];

static sotto_status hear(void *context, const sotto_round *round, sotto_duties_news news,
                         sotto_err *err)
{
    const sotto_fleet_device *d = context;
    const size_t device = (size_t)(d - d->of->devices);

    (void)round;
    (void)err;
    ballot_leaves[device] += news == SOTTO_DUTIES_LEAVES;
    ballot_arrives[device] += news == SOTTO_DUTIES_TAKEN;
    return SOTTO_OK;
}

/* ---- a round ------------------------------------------------------------------------------------------------------- */

void ballot_open(sotto_test *t, ballot *b, const char *more)
{
    ballot_open_many(t, b, more, DEVICES);
}

void ballot_open_many(sotto_test *t, ballot *b, const char *more, uint32_t devices)
{
    memset(b, 0, sizeof *b);
    CHECK(t, devices <= BALLOT_MOST);
    b->devices = devices;
    aggregation_open(t, &b->a, devices, 0, more);
    b->a.fleet.own = &ballot_trial;
    b->a.fleet.news = hear;
    memset(ballot_leaves, 0, sizeof ballot_leaves);
    memset(ballot_arrives, 0, sizeof ballot_arrives);
    b->a.fleet.terms =
        (sotto_duties_terms){.methods = 1u << SOTTO_METHOD_AERO, .least = 2, .noise = silent};
    for (uint32_t i = 0; i < b->devices; i++) {
        sotto_fleet_kill(&b->a.fleet, i);
        CHECK_OK(t, sotto_fleet_revive(&b->a.fleet, i, &t->err));
    }
}

static uint32_t members_of(const ballot *b)
{
    return b->committees ? b->devices / b->committees : b->members ? b->members : COMMITTEE;
}

static size_t length_of(const ballot *b)
{
    return b->length ? b->length : LENGTH;
}

/* How often the round's key was handed over: where the last one has served its rounds, there is a new one. */
static uint8_t next_of(const ballot *b)
{
    return b->last.number && b->last.handed + 1 < b->rekey ? (uint8_t)(b->last.handed + 1) : 0;
}

/* What the next round says of this one. */
static void note_round(sotto_test *t, ballot *b, uint8_t handed)
{
    const sotto_epoch *e = &b->a.fleet.epoch;

    CHECK(t, e->part_count <= sizeof b->last.parts / sizeof b->last.parts[0]);
    b->last.handed = handed;
    b->last.number = b->round.number;
    memcpy(b->last.origin.round, b->a.id, sizeof b->last.origin.round);
    memcpy(b->last.origin.beacon, b->round.beacon, sizeof b->last.origin.beacon);
    b->last.part_count = e->part_count;
    memcpy(b->last.parts, e->parts, e->part_count * sizeof *e->parts);
}

static void write_terms(sotto_test *t, ballot *b)
{
    const sotto_aero_terms terms = {.set = b->set,
                                    .profile = SOTTO_AERO_STANDARD,
                                    .bits = 12,
                                    .checks = b->committees ? 2 : 40,
                                    .committee = members_of(b),
                                    .committees = b->committees ? b->committees : 1,
                                    .threshold = b->rekey             ? 2
                                                 : b->opening_members ? b->opening_members
                                                                      : OPENING,
                                    .noise_members = NOISE,
                                    .noise_corrupt = 1,
                                    .noise_missing = 1,
                                    .liars = 1,
                                    .clears = b->clears,
                                    .opening = b->opening,
                                    .rate = UINT64_MAX,
                                    .delta_bits = 30,
                                    .rekey = b->rekey,
                                    .handed = next_of(b),
                                    .origin = b->last.origin};
    sotto_buf out = sotto_buf_over(b->parameters, sizeof b->parameters);

    CHECK_OK(t, sotto_aero_terms_encode(&out, &terms, &t->err));
    b->round.parameters = sotto_buf_bytes(&out);
}

void ballot_write(sotto_test *t, ballot *b)
{
    sotto_epoch *e = &b->a.fleet.epoch;
    const uint64_t now = aggregation_now(&b->a);
    const unsigned slow = b->slow ? b->slow : 1;
    uint8_t bytes[SOTTO_ROUND_MOST_BYTES];
    sotto_buf round = sotto_buf_over(bytes, sizeof bytes), wire;

    e->number = ++b->a.number;
    CHECK_OK(t, sotto_epoch_beacon(e, &t->arena, &t->err));
    sotto_fleet_expect(&b->a.fleet, members_of(b));
    b->round = (sotto_round){.epoch = e->number,
                             .number = e->number,
                             .method = SOTTO_METHOD_AERO,
                             .version = SOTTO_ROUND_VERSION,
                             .ring = SOTTO_RING_Z64,
                             .length = length_of(b),
                             .most = MOST,
                             .least = 2,
                             .largest = b->devices,
                             .noise = silent,
                             .registered = b->devices,
                             .opens = now,
                             .commit_by = now + slow * COMMIT_BY,
                             .closes = now + slow * CLOSES,
                             .verify_by = now + slow * VERIFY_BY,
                             .release_by = now + slow * RELEASE_BY,
                             .keys = &e->registry};
    memcpy(b->round.session, e->session, sizeof b->round.session);
    memcpy(b->round.beacon, e->beacon, sizeof b->round.beacon);
    sotto_registry_root(&e->registry, b->round.registry);
    write_terms(t, b);
    CHECK_OK(t, sotto_round_encode(&round, &b->round, &t->err));
    CHECK_OK(t, sotto_round_id(&b->round, b->a.id, &t->err));
    const uint8_t handed = next_of(b);
    const sotto_posting posting = {.registry = e->registry,
                                   .part_count = e->part_count,
                                   .parts = e->parts,
                                   .round = sotto_buf_bytes(&round),
                                   .old_part_count = handed ? b->last.part_count : 0,
                                   .old_parts = b->last.parts};
    CHECK_OK(t, sotto_buf_take(&wire, &t->arena, 1 << 16, &t->err));
    CHECK_OK(t, sotto_posting_encode(&wire, &posting, &t->err));
    b->a.posting = sotto_buf_bytes(&wire);
    note_round(t, b, handed);
    b->plan = sotto_arena_take(&t->arena, sizeof *b->plan);
    CHECK(t, b->plan != NULL);
    CHECK_OK(t, sotto_aero_plan_init(b->plan, &b->round, &t->arena, &t->err));
}

void ballot_post(sotto_test *t, ballot *b)
{
    ballot_write(t, b);
    CHECK_EQUAL(t, 201,
                aggregation_ask(t, &b->a, SOTTO_HTTP_POST, "rounds", OPERATOR, SOTTO_POSTING_TYPE,
                                b->a.posting)
                    .status);
}

void ballot_join(sotto_test *t, ballot *b, unsigned contributors)
{
    for (uint32_t i = 0; i < b->devices; i++) {
        sotto_duties *d = b->a.fleet.devices[i].duties;
        const size_t length = length_of(b);
        uint64_t *values = sotto_arena_take_array(&t->arena, length, sizeof *values);

        CHECK(t, values != NULL);
        for (size_t k = 0; k < length; k++)
            values[k] = aggregation_value(i, k);
        CHECK_OK(t, sotto_duties_take(d, b->a.posting, i, SOTTO_DUTY_CLIENT,
                                      contributors >> i & 1 ? values : NULL, length, &t->err));
        if (sotto_aero_committee_place(b->plan, i) >= 0 || sotto_aero_old_place(b->plan, i) >= 0)
            CHECK_OK(t,
                     sotto_duties_take(d, b->a.posting, i, SOTTO_DUTY_DECRYPTOR, NULL, 0, &t->err));
        b->a.fleet.devices[i].next_ms = 0;
    }
}

bool ballot_sum_is(sotto_test *t, const ballot *b, unsigned contributors)
{
    const sotto_http_response r =
        aggregation_ask(t, &b->a, SOTTO_HTTP_GET, aggregation_place(t, &b->a, "/sum"), OPERATOR,
                        "text/plain", nothing);

    if (r.status != 200 || r.body.len != 8 * length_of(b))
        return false;
    for (size_t k = 0; k < length_of(b); k++) {
        uint64_t got = 0, sum = 0;

        for (unsigned i = 0; i < 8; i++)
            got |= (uint64_t)r.body.data[8 * k + i] << 8 * i;
        for (uint32_t i = 0; i < b->devices; i++)
            sum += contributors >> i & 1 ? aggregation_value(i, k) : 0;
        if (got != sum)
            return false;
    }
    return true;
}

sotto_http_response ballot_read(sotto_test *t, const ballot *b, uint64_t since, uint32_t reader)
{
    uint8_t ask[SOTTO_ENTRIES_ASK] = {0};

    ask[7] = (uint8_t)since;
    for (unsigned i = 0; i < 4; i++)
        ask[8 + i] = (uint8_t)(reader >> (24 - 8 * i));
    return aggregation_ask(t, &b->a, SOTTO_HTTP_POST, aggregation_place(t, &b->a, "/board"), "",
                           SOTTO_ENTRIES_ASK_TYPE, sotto_bytes_of(ask, sizeof ask));
}

ballot_seen ballot_look(sotto_test *t, const ballot *b, uint32_t reader)
{
    ballot_seen out = {0};

    for (;;) {
        const sotto_http_response r = ballot_read(t, b, out.entries, reader);
        sotto_inbox page = {.left = r.body, .since = out.entries};
        const unsigned before = out.entries;
        sotto_bytes wire, record;
        uint64_t n, index;

        CHECK_EQUAL(t, 200, r.status);
        while (sotto_inbox_next(&page, &n, &wire)) {
            sotto_message entry, m;
            sotto_excerpt e;

            CHECK_OK(t, sotto_message_decode(&entry, wire, &t->err));
            CHECK_OK(t, sotto_entry_decode(&index, &record, entry.body, &t->err));
            CHECK_EQUAL(t, n, index);
            if (sotto_excerpt_is(record)) {
                CHECK_OK(t, sotto_excerpt_decode(&e, record, &t->err));
                m = e.message;
                out.excerpts++;
                out.shown += e.message.body.len;
            } else {
                CHECK_OK(t, sotto_message_decode(&m, record, &t->err));
            }
            CHECK(t, m.kind < sizeof out.of / sizeof out.of[0]);
            out.of[m.kind]++;
            out.entries++;
        }
        if (out.entries == before)
            return out;
    }
}
