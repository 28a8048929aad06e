/* Excerpts of records, who counts what was spent, and who gives noise. */
#define _DEFAULT_SOURCE

#include "hall.h"

#include "aggregate/excerpt.h"
#include "base/arena.h"
#include "sim/net_internal.h"

#include <math.h>
#include <string.h>
#include <sys/mman.h>

/* A record of the first member, with a body of this length. */
static sotto_message record_of(sotto_test *t, const hall *h, unsigned kind, size_t len)
{
    uint8_t *body = sotto_arena_take(&t->arena, len + 1),
            *signature = sotto_arena_take(&t->arena, SOTTO_SIGNATURE);
    const uint32_t from = h->derived->committee[0];
    sotto_message m = {.epoch = h->round.epoch,
                       .round = h->round.number,
                       .kind = (uint16_t)kind,
                       .from = from,
                       .to = SOTTO_TO_BOARD,
                       .body = {body, len}};

    CHECK(t, body && signature);
    for (size_t i = 0; i < len; i++)
        body[i] = (uint8_t)(i * 7 + i / SOTTO_BODY_PIECE);
    memcpy(m.session, h->round.session, sizeof m.session);
    CHECK_OK(t, sotto_message_sign(&m, signature, &h->cast.clients[from], &t->err));
    return m;
}

static sotto_buf excerpt_of(sotto_test *t, const sotto_message *m, const sotto_pieces *pieces)
{
    sotto_buf out;

    CHECK_OK(t, sotto_buf_take(&out, &t->arena, sotto_excerpt_size(m, pieces), &t->err));
    CHECK_OK(t, sotto_excerpt_encode(&out, m, pieces, &t->err));
    return out;
}

/* As the board shows it to this reader. */
static sotto_buf shown_to(sotto_test *t, const hall *h, const sotto_message *m, uint32_t reader)
{
    sotto_pieces pieces;

    CHECK(t, sotto_excerpt_for(&pieces, &sotto_method_aero, &h->round, m, reader));
    return excerpt_of(t, m, &pieces);
}

static size_t key_size(const hall *h)
{
    return sotto_aero_key_size(h->derived);
}

/* What a dealer sealed to a place, of a key of this round alone. */
static sotto_body_span share_at(const hall *h, uint32_t dealer, uint32_t place)
{
    const size_t each = sotto_aero_poly_size(&h->derived->aero);
    sotto_body_span span = {32 + each, 0};

    for (uint32_t i = 0; i <= place; i++) {
        span.at += span.len;
        span.len = sotto_aero_is_seeded(&h->derived->terms, dealer, i)
                       ? (size_t)SOTTO_AERO_SEALED_SEED
                       : each + 16;
    }
    return span;
}

static const sotto_pieces some = {.count = 2, .at = {{3, 10}, {40, 1}}};

static void an_excerpt_is_read_as_it_was_written(sotto_test *t)
{
    sotto_excerpt e;
    uint8_t digest[32];
    hall h;

    hall_open(t, &h, HALL_SMALL);
    const sotto_message m = record_of(t, &h, SOTTO_AERO_KEY, 100 * SOTTO_BODY_PIECE + 7);
    const sotto_buf wire = excerpt_of(t, &m, &some);
    CHECK(t, sotto_excerpt_is(sotto_buf_bytes(&wire)));
    CHECK_OK(t, sotto_excerpt_decode(&e, sotto_buf_bytes(&wire), &t->err));
    CHECK_EQUAL(t, m.body.len, e.length);
    CHECK_EQUAL(t, 11 * SOTTO_BODY_PIECE, e.message.body.len);
    sotto_body_digest(digest, m.body);
    CHECK_BYTES(t, digest, e.digest, sizeof digest);
    CHECK_OK(t, sotto_excerpt_judge(&e, &h.round, &sotto_method_aero, &t->err));
    const sotto_bytes last =
        sotto_excerpt_bytes(&e, (sotto_body_span){40 * SOTTO_BODY_PIECE + 5, 1000});
    CHECK_EQUAL(t, 1000, last.len);
    CHECK_BYTES(t, m.body.data + 40 * SOTTO_BODY_PIECE + 5, last.data, last.len);
    CHECK(t, !sotto_excerpt_bytes(&e, (sotto_body_span){40 * SOTTO_BODY_PIECE + 5, 1020}).data);
    CHECK(t, !sotto_excerpt_bytes(&e, (sotto_body_span){0, 10}).data);
    e.digest[0] ^= 1;
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_excerpt_judge(&e, &h.round, &sotto_method_aero, &t->err));
    for (size_t len = 0; len < wire.len; len += len < 700 ? 1 : 97)
        CHECK_STATUS(t, SOTTO_MALFORMED,
                     sotto_excerpt_decode(&e, sotto_bytes_of(wire.data, len), NULL));
    hall_close(&h);
}

/* Whatever is changed in what is shown, where it is, or in the hashes beside it: it is another body than was signed, or none. */
static void a_piece_is_of_the_body_that_was_signed(sotto_test *t)
{
    sotto_excerpt e;
    hall h;

    hall_open(t, &h, HALL_SMALL);
    const sotto_message m = record_of(t, &h, SOTTO_AERO_KEY, 100 * SOTTO_BODY_PIECE + 7);
    sotto_buf wire = excerpt_of(t, &m, &some);
    unsigned judged = 0;
    for (size_t i = 15; i < wire.len; i += i < 1000 ? 1 : 61) {
        wire.data[i] ^= 1;
        if (sotto_excerpt_decode(&e, sotto_buf_bytes(&wire), NULL) == SOTTO_OK) {
            CHECK(t, sotto_excerpt_judge(&e, &h.round, &sotto_method_aero, NULL) != SOTTO_OK);
            judged++;
        }
        wire.data[i] ^= 1;
    }
    CHECK(t, judged > 500);
    hall_close(&h);
}

/* Bodies of all lengths around a piece, and of pieces around a power of two. */
static void pieces_of_every_body_give_its_digest(sotto_test *t)
{
    static uint8_t body[131 * SOTTO_BODY_PIECE];
    static const size_t lengths[] = {65 * 1024 - 1, 65 * 1024,  65 * 1024 + 1,  66 * 1024,
                                     127 * 1024,    128 * 1024, 128 * 1024 + 1, 131 * 1024};

    for (size_t i = 0; i < sizeof body; i++)
        body[i] = (uint8_t)(i >> 8 ^ i);
    for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; l++)
        for (uint32_t first = 0; first < 60; first += 7)
            for (uint32_t count = 1; count < 5; count++) {
                const sotto_pieces p = {.count = 2,
                                        .at = {{first, count}, {first + count + 1, count}}};
                uint8_t hashes[32 * SOTTO_BODY_MOST_HASHES], wanted[32], got[32];
                static uint8_t shown[10 * SOTTO_BODY_PIECE];
                sotto_buf beside = sotto_buf_over(hashes, sizeof hashes);
                const sotto_bytes whole = sotto_bytes_of(body, lengths[l]);
                const size_t size = sotto_pieces_size(&p, whole.len);
                size_t at = 0;

                CHECK(t, sotto_pieces_fit(&p, whole.len));
                for (uint32_t k = 0; k < 2; k++) {
                    const size_t from = (size_t)p.at[k].first * SOTTO_BODY_PIECE;
                    size_t len = (size_t)count * SOTTO_BODY_PIECE;

                    len = len < whole.len - from ? len : whole.len - from;
                    memcpy(shown + at, body + from, len);
                    at += len;
                }
                CHECK_EQUAL(t, size, at);
                CHECK_OK(t, sotto_pieces_hashes(&beside, &p, whole, &t->err));
                CHECK_OK(t, sotto_pieces_digest(got, &p, whole.len, sotto_bytes_of(shown, size),
                                                sotto_buf_bytes(&beside), &t->err));
                sotto_body_digest(wanted, whole);
                CHECK_BYTES(t, wanted, got, sizeof wanted);
                CHECK_STATUS(t, SOTTO_MALFORMED,
                             sotto_pieces_digest(got, &p, whole.len, sotto_bytes_of(shown, size),
                                                 sotto_bytes_of(hashes, beside.len - 32), NULL));
            }
}

static void spans_that_touch_are_one(sotto_test *t)
{
    const size_t length = 100 * SOTTO_BODY_PIECE;
    sotto_pieces p;

    sotto_pieces_of(&p, length, (const sotto_body_span[]){{0, 1500}, {2000, 1000}});
    CHECK(t, p.count == 1 && p.at[0].first == 0 && p.at[0].count == 3);
    sotto_pieces_of(&p, length, (const sotto_body_span[]){{0, 1024}, {1024, 1}});
    CHECK(t, p.count == 1 && p.at[0].count == 2);
    sotto_pieces_of(&p, length, (const sotto_body_span[]){{0, 1024}, {2048, 1}});
    CHECK(t, p.count == 2 && p.at[1].first == 2 && p.at[1].count == 1);
    sotto_pieces_of(&p, length, (const sotto_body_span[]){{5, 0}, {length - 1, 1}});
    CHECK(t, p.count == 1 && p.at[0].first == 99 && p.at[0].count == 1);
    /* Short bodies have no pieces. */
    sotto_pieces_of(&p, SOTTO_BODY_PLAIN, (const sotto_body_span[]){{0, 10}, {0, 0}});
    CHECK_EQUAL(t, 0, p.count);
    const sotto_pieces wrong[] = {
        {.count = 1, .at = {{0, 0}}},         {.count = 1, .at = {{100, 1}}},
        {.count = 1, .at = {{99, 2}}},        {.count = 2, .at = {{0, 1}, {1, 1}}},
        {.count = 2, .at = {{4, 2}, {1, 1}}}, {.count = 1, .at = {{1, UINT32_MAX}}},
        {.count = 3, .at = {{0, 1}, {2, 1}}}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        CHECK(t, !sotto_pieces_fit(&wrong[i], length));
}

/* Half of a complaint is none. */
static void only_keys_are_read_in_excerpts(sotto_test *t)
{
    static const sotto_pieces none;
    sotto_aero_record known;
    sotto_pieces pieces;
    hall h;

    hall_open(t, &h, HALL_SMALL);
    const uint32_t reader = h.derived->committee[1];
    const sotto_message other = record_of(t, &h, SOTTO_AERO_ANSWER, key_size(&h));
    const sotto_buf wrong = excerpt_of(t, &other, &none);
    CHECK(t, !sotto_excerpt_for(&pieces, &sotto_method_aero, &h.round, &other, reader));
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_aero_record_open(&known, &h.round, SOTTO_TO_EVERYBODY,
                                        sotto_buf_bytes(&wrong), true, &t->err));
    const sotto_message key = record_of(t, &h, SOTTO_AERO_KEY, key_size(&h));
    const sotto_buf right = shown_to(t, &h, &key, SOTTO_TO_EVERYBODY);
    CHECK_OK(t, sotto_aero_record_open(&known, &h.round, SOTTO_TO_EVERYBODY,
                                       sotto_buf_bytes(&right), false, &t->err));
    CHECK(t, known.message.body.len == 0 && known.own.len == 0);
    hall_close(&h);
}

/* What all members read, and what is for this one. */
static void a_member_is_shown_its_share(sotto_test *t)
{
    sotto_aero_record known, whole;
    unsigned seeds = 0;
    sotto_buf wire;
    hall h;

    hall_open(t, &h, HALL_SMALL);
    const size_t each = sotto_aero_poly_size(&h.derived->aero) + 16;
    const sotto_message key = record_of(t, &h, SOTTO_AERO_KEY, key_size(&h));
    CHECK_OK(t, sotto_buf_take(&wire, &t->arena, sotto_message_size(&key), &t->err));
    CHECK_OK(t, sotto_message_encode(&wire, &key, &t->err));
    for (uint32_t i = 0; i < h.plan.committee; i++) {
        const uint32_t reader = h.derived->committee[i];
        const sotto_buf shown = shown_to(t, &h, &key, reader);

        CHECK(t, shown.len < 2 * each + 6000);
        CHECK_OK(t, sotto_aero_record_open(&known, &h.round, reader, sotto_buf_bytes(&shown), false,
                                           &t->err));
        CHECK_EQUAL(t, 16 + each, known.message.body.len);
        const sotto_body_span own = share_at(&h, 0, i);
        seeds += own.len == SOTTO_AERO_SEALED_SEED;
        CHECK_EQUAL(t, own.len, known.own.len);
        CHECK_BYTES(t, key.body.data, known.message.body.data, known.message.body.len);
        CHECK_BYTES(t, key.body.data + own.at, known.own.data, own.len);
        CHECK_OK(t, sotto_aero_record_open(&whole, &h.round, reader, sotto_buf_bytes(&wire), false,
                                           &t->err));
        CHECK_EQUAL(t, known.message.body.len, whole.message.body.len);
        CHECK_BYTES(t, known.own.data, whole.own.data, own.len);
    }
    CHECK_EQUAL(t, h.plan.threshold - 1, seeds);
    hall_close(&h);
}

static void a_key_has_one_size(sotto_test *t)
{
    sotto_aero_record known;
    sotto_pieces pieces;
    hall h;

    hall_open(t, &h, HALL_SMALL);
    const uint32_t reader = h.derived->committee[1];
    const sotto_message cut = record_of(t, &h, SOTTO_AERO_KEY, key_size(&h) - 1);
    sotto_buf wire;
    CHECK_OK(t, sotto_buf_take(&wire, &t->arena, sotto_message_size(&cut), &t->err));
    CHECK_OK(t, sotto_message_encode(&wire, &cut, &t->err));
    CHECK_STATUS(
        t, SOTTO_REJECTED,
        sotto_aero_record_open(&known, &h.round, reader, sotto_buf_bytes(&wire), false, &t->err));
    /* Nobody reads megabytes that do not count. */
    CHECK(t, sotto_excerpt_for(&pieces, &sotto_method_aero, &h.round, &cut, reader));
    CHECK_EQUAL(t, 0, pieces.count);
    const sotto_buf nothing = excerpt_of(t, &cut, &pieces);
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_aero_record_open(&known, &h.round, reader, sotto_buf_bytes(&nothing), false,
                                        &t->err));
    hall_close(&h);
}

/* A member is shown another one's share in the place of its own, or none, or others are shown one. */
static void an_excerpt_has_one_size(sotto_test *t)
{
    static const sotto_pieces none;
    sotto_aero_record known;
    hall h;

    hall_open(t, &h, HALL_SMALL);
    const sotto_message key = record_of(t, &h, SOTTO_AERO_KEY, key_size(&h));
    const uint32_t own = h.derived->committee[1], other = h.derived->committee[3];
    const sotto_buf of_other = shown_to(t, &h, &key, other), empty = excerpt_of(t, &key, &none);
    const sotto_buf more = excerpt_of(t, &key, &some);
    const struct {
        uint32_t reader;
        const sotto_buf *wire;
    } wrong[] = {{own, &of_other},
                 {own, &empty},
                 {own, &more},
                 {SOTTO_TO_EVERYBODY, &of_other},
                 {SOTTO_TO_EVERYBODY, &more}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        for (unsigned is_checked = 0; is_checked < 2; is_checked++)
            CHECK_STATUS(t, SOTTO_REJECTED,
                         sotto_aero_record_open(&known, &h.round, wrong[i].reader,
                                                sotto_buf_bytes(wrong[i].wire), is_checked != 0,
                                                NULL));
    hall_close(&h);
}

/* The server hands a member the excerpt of another one: it is read as a forgery, and the member takes no share from it. */
static void a_cut_share_that_is_delivered_counts_for_nothing(sotto_test *t)
{
    sotto_effects effects;
    sotto_status verdict;
    sotto_buf body;
    hall h;

    hall_open(t, &h, HALL_SMALL);
    sotto_sim_net *net = hall_net(t, &h, 1);
    hall_until(t, net, h.round.opens);
    sotto_aero_committee_member *m = hall_member(&h, net, 1);
    const sotto_message key = record_of(t, &h, SOTTO_AERO_KEY, key_size(&h));
    const sotto_buf wire = shown_to(t, &h, &key, h.derived->committee[3]);
    /* Its dealer has committed to it. */
    m->base.view->is_sealed = m->base.view->members[0].has_sealed = true;
    sotto_aero_seal_key(m->base.view->members[0].key_seal, h.derived, key.from, key.body.data,
                        sotto_bytes_of(key.body.data + 32, sotto_aero_poly_size(&h.derived->aero)));
    CHECK_OK(t, sotto_buf_take(&body, &t->arena, 12 + wire.len, &t->err));
    CHECK_OK(t, sotto_entry_encode(&body, m->base.view->next, sotto_buf_bytes(&wire), &t->err));
    const sotto_message entry = {.epoch = h.round.epoch,
                                 .round = h.round.number,
                                 .kind = SOTTO_AERO_ENTRY,
                                 .from = SOTTO_TO_BOARD,
                                 .to = SOTTO_TO_EVERYBODY,
                                 .body = sotto_buf_bytes(&body)};
    sotto_effects_init(&effects, &t->arena);
    const uint64_t next = m->base.view->next;
    CHECK_OK(
        t, m->base.machine.ops->deliver(&m->base.machine, &entry, 1, &verdict, &effects, &t->err));
    CHECK_EQUAL(t, SOTTO_OK, verdict);
    CHECK_EQUAL(t, next + 1, m->base.view->next);
    CHECK_EQUAL(t, 0, m->base.view->dealers);
    CHECK(t, !m->lacks);
    sotto_sim_net_free(net);
    hall_close(&h);
}

/* Nothing can be read behind the record, which ends where its first share begins. */
static void a_member_reads_no_share_beyond_a_record(sotto_test *t)
{
    const size_t room = (size_t)1 << 20;
    hall h;

    hall_open(t, &h, HALL_SMALL);
    sotto_sim_net *net = hall_net(t, &h, 1);
    hall_until(t, net, h.round.opens);
    sotto_aero_committee_member *m = hall_member(&h, net, 1);
    uint8_t *pages = mmap(NULL, 2 * room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(t, pages != MAP_FAILED);
    CHECK(t, mprotect(pages, room, PROT_READ | PROT_WRITE) == 0);
    CHECK_OK(t, sotto_aero_member_take(m, h.derived->committee[0],
                                       sotto_bytes_of(pages + room - 1, 1), &t->err));
    CHECK(t, m->lacks);
    CHECK(t, munmap(pages, 2 * room) == 0);
    sotto_sim_net_free(net);
    hall_close(&h);
}

static void a_number_has_a_beacon_of_its_own(sotto_test *t)
{
    sotto_aero_account account;
    hall_plan plan = HALL_SMALL;
    hall h;

    plan.variance = 9;
    plan.norm2 = 4;
    hall_open(t, &h, plan);
    CHECK_STATUS(t, SOTTO_DENIED, sotto_aero_count(&account, &h.round, &t->arena, &t->err));
    h.round.epoch = h.round.number;
    CHECK_OK(t, sotto_aero_count(&account, &h.round, &t->arena, &t->err));
    /* Three rounds came before the fourth. */
    CHECK(t, account.rho >= 3 * h.derived->rho && account.rho < 3.01 * h.derived->rho);
    h.round.number = h.round.epoch = 1;
    CHECK_OK(t, sotto_aero_count(&account, &h.round, &t->arena, &t->err));
    CHECK(t, !(account.rho > 0));
    hall_close(&h);
}

static void who_declines_gives_no_noise(sotto_test *t)
{
    hall h;

    hall_open(t, &h, HALL_SMALL);
    sotto_sim_net *net = hall_net(t, &h, 1);
    for (uint32_t i = 0; i < h.plan.clients; i++)
        net->all[i].self.no_noise = true;
    const sotto_sim_report report = hall_run(t, &h, net);
    CHECK(t, !report.released);
    CHECK(t, strcmp(report.reason, "too few shares of noise") == 0);
    sotto_sim_net_free(net);
    hall_close(&h);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(an_excerpt_is_read_as_it_was_written),
        CASE(a_piece_is_of_the_body_that_was_signed),
        CASE(pieces_of_every_body_give_its_digest),
        CASE(spans_that_touch_are_one),
        CASE(only_keys_are_read_in_excerpts),
        CASE(a_member_is_shown_its_share),
        CASE(a_key_has_one_size),
        CASE(an_excerpt_has_one_size),
        CASE(a_cut_share_that_is_delivered_counts_for_nothing),
        CASE(a_member_reads_no_share_beyond_a_record),
        CASE(a_number_has_a_beacon_of_its_own),
        CASE(who_declines_gives_no_noise),
    };
    return RUN_TESTS(argc, argv, cases);
}
