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
        body[i] = (uint8_t)(i * 7);
    memcpy(m.session, h->round.session, sizeof m.session);
    CHECK_OK(t, sotto_message_sign(&m, signature, &h->cast.clients[from], &t->err));
    return m;
}

static sotto_buf excerpt_of(sotto_test *t, const sotto_message *m, size_t needed)
{
    sotto_buf out;

    CHECK_OK(t, sotto_buf_take(&out, &t->arena, sotto_excerpt_size(m, needed), &t->err));
    CHECK_OK(t, sotto_excerpt_encode(&out, m, needed, &t->err));
    CHECK_EQUAL(t, out.cap, out.len);
    return out;
}

static size_t key_size(const hall *h)
{
    const size_t each = sotto_aero_poly_size(&h->derived->aero);

    return 32 + each + h->derived->terms.committee * (each + 16);
}

static void an_excerpt_is_read_as_it_was_written(sotto_test *t)
{
    sotto_excerpt e;
    hall h;

    hall_open(t, &h, HALL_SMALL);
    const sotto_message m = record_of(t, &h, SOTTO_AERO_KEY, 1000);
    const sotto_buf wire = excerpt_of(t, &m, 100);
    CHECK(t, sotto_excerpt_is(sotto_buf_bytes(&wire)));
    CHECK_OK(t, sotto_excerpt_decode(&e, sotto_buf_bytes(&wire), &t->err));
    CHECK_EQUAL(t, 1000, e.length);
    CHECK_EQUAL(t, 100, e.message.body.len);
    CHECK_OK(t, sotto_excerpt_judge(&e, &h.round, &sotto_method_aero, &t->err));
    e.digest[0] ^= 1;
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_excerpt_judge(&e, &h.round, &sotto_method_aero, &t->err));
    for (size_t len = 0; len < wire.len; len++)
        CHECK_STATUS(t, SOTTO_MALFORMED,
                     sotto_excerpt_decode(&e, sotto_bytes_of(wire.data, len), NULL));
    hall_close(&h);
}

/* The part of the key was committed to; the beginning of any other record is just what somebody shows. */
static void only_keys_are_read_in_excerpts(sotto_test *t)
{
    sotto_message known;
    hall h;

    hall_open(t, &h, HALL_SMALL);
    const sotto_message value = record_of(t, &h, SOTTO_AERO_VALUE, 64);
    const sotto_buf wrong = excerpt_of(t, &value, 32);
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_aero_record_open(&known, &h.round, sotto_buf_bytes(&wrong), false, &t->err));
    const sotto_message key = record_of(t, &h, SOTTO_AERO_KEY, key_size(&h));
    const size_t needed = sotto_aero_needed(&h.round, &key);
    const sotto_message other = record_of(t, &h, SOTTO_AERO_VALUE, key_size(&h));
    const sotto_buf as_long = excerpt_of(t, &other, needed);
    CHECK_STATUS(
        t, SOTTO_REJECTED,
        sotto_aero_record_open(&known, &h.round, sotto_buf_bytes(&as_long), false, &t->err));
    CHECK_EQUAL(t, 32 + sotto_aero_poly_size(&h.derived->aero), needed);
    const sotto_buf right = excerpt_of(t, &key, needed);
    CHECK_OK(t, sotto_aero_record_open(&known, &h.round, sotto_buf_bytes(&right), false, &t->err));
    CHECK_EQUAL(t, needed, known.body.len);
    hall_close(&h);
}

static void a_key_has_one_size(sotto_test *t)
{
    sotto_message known;
    hall h;

    hall_open(t, &h, HALL_SMALL);
    const sotto_message cut = record_of(t, &h, SOTTO_AERO_KEY, key_size(&h) - 1);
    sotto_buf wire;
    CHECK_OK(t, sotto_buf_take(&wire, &t->arena, sotto_message_size(&cut), &t->err));
    CHECK_OK(t, sotto_message_encode(&wire, &cut, &t->err));
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_aero_record_open(&known, &h.round, sotto_buf_bytes(&wire), false, &t->err));
    hall_close(&h);
}

/* One byte more is where the shares begin, and they are not there. */
static void an_excerpt_has_one_size(sotto_test *t)
{
    sotto_message known;
    hall h;

    hall_open(t, &h, HALL_SMALL);
    const sotto_message key = record_of(t, &h, SOTTO_AERO_KEY, key_size(&h));
    const size_t head = sotto_aero_needed(&h.round, &key);
    const size_t wrong[] = {0, head - 1, head + 1, key_size(&h)};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        for (unsigned is_checked = 0; is_checked < 2; is_checked++) {
            const sotto_buf wire = excerpt_of(t, &key, wrong[i]);

            CHECK_STATUS(t, SOTTO_REJECTED,
                         sotto_aero_record_open(&known, &h.round, sotto_buf_bytes(&wire),
                                                is_checked != 0, NULL));
        }
    hall_close(&h);
}

/* The server hands a member such an excerpt: it is read as a forgery, and the member takes no share from it. */
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
    const sotto_buf wire = excerpt_of(t, &key, sotto_aero_needed(&h.round, &key) + 1);
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
    sotto_message key = record_of(t, &h, SOTTO_AERO_KEY, key_size(&h));
    uint8_t *pages = mmap(NULL, 2 * room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(t, pages != MAP_FAILED && key_size(&h) < room);
    CHECK(t, mprotect(pages, room, PROT_READ | PROT_WRITE) == 0);
    const size_t len = sotto_aero_needed(&h.round, &key) + 1;
    memcpy(pages + room - len, key.body.data, len);
    key.body = sotto_bytes_of(pages + room - len, len);
    CHECK_OK(t, sotto_aero_member_take(m, &key, &t->err));
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
    CHECK_STATUS(t, SOTTO_DENIED, sotto_aero_count(&account, &h.round, &t->err));
    h.round.epoch = h.round.number;
    CHECK_OK(t, sotto_aero_count(&account, &h.round, &t->err));
    /* Three rounds came before the fourth. */
    CHECK(t, account.rho >= 3 * h.derived->rho && account.rho < 3.01 * h.derived->rho);
    h.round.number = h.round.epoch = 1;
    CHECK_OK(t, sotto_aero_count(&account, &h.round, &t->err));
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
        CASE(only_keys_are_read_in_excerpts),
        CASE(a_key_has_one_size),
        CASE(an_excerpt_has_one_size),
        CASE(a_cut_share_that_is_delivered_counts_for_nothing),
        CASE(a_member_reads_no_share_beyond_a_record),
        CASE(a_number_has_a_beacon_of_its_own),
        CASE(who_declines_gives_no_noise),
    };
    return RUN_TESTS(argc, argv, cases);
}
