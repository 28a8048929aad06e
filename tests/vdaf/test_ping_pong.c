/* The two-aggregator state machine: who says what when, and what else is refused. */
#include "support/prio3.h"

#include "vdaf/circuit.h"
#include "vdaf/ping_pong.h"

#include <string.h>

enum { MOST = 6, HEAD = 5 };

/* Both sides of one job. */
typedef struct job {
    size_t count;
    sotto_prio3_report to_leader[MOST], to_helper[MOST];
    sotto_prio3_verification leader[MOST], helper[MOST];
    sotto_bytes there[MOST], back[MOST];
} job;

static job job_of(sotto_test *t, sotto_test_prio3 *p, size_t count)
{
    job j = {.count = count};

    for (size_t i = 0; i < count; i++) {
        sotto_test_report report = sotto_test_report_random(t, p);

        j.to_leader[i] = sotto_test_view(&report, 0);
        j.to_helper[i] = sotto_test_view(&report, 1);
    }
    return j;
}

static void leader_init(sotto_test *t, const sotto_test_prio3 *p, job *j)
{
    sotto_prio3_verifier verifier = sotto_test_verifier(p, 0);

    CHECK_OK(t, sotto_ping_pong_leader_init(&p->vdaf, j->leader, j->there, &verifier, j->to_leader,
                                            j->count, &t->arena, &t->err));
}

static void helper_init(sotto_test *t, const sotto_test_prio3 *p, job *j)
{
    sotto_prio3_verifier verifier = sotto_test_verifier(p, 1);

    CHECK_OK(t, sotto_ping_pong_helper_init(&p->vdaf, j->helper, j->back, &verifier, j->to_helper,
                                            j->there, j->count, &t->arena, &t->err));
}

static void leader_continued(sotto_test *t, const sotto_test_prio3 *p, job *j)
{
    CHECK_OK(t, sotto_ping_pong_leader_continued(&p->vdaf, j->leader, j->back, j->count, &t->err));
}

static sotto_bytes message_of(sotto_test *t, uint8_t type, sotto_bytes first,
                              const sotto_bytes *second)
{
    size_t cap = 16 + first.len + (second ? second->len : 0);
    sotto_buf out = sotto_test_buf(t, cap);
    sotto_writer w = sotto_writer_on(&out);

    sotto_write_uint(&w, type, 1);
    sotto_write_opaque32(&w, first);
    if (second)
        sotto_write_opaque32(&w, *second);
    CHECK_OK(t, sotto_writer_finish(&w, "message", &t->err));
    return sotto_buf_bytes(&out);
}

static void for_every_type(sotto_test *t, void (*check)(sotto_test *t, sotto_test_prio3 *p))
{
    for (size_t c = 0; c < sotto_test_config_count; c++) {
        sotto_test_prio3 p = sotto_test_prio3_of(t, &sotto_test_configs[c], c);

        check(t, &p);
        sotto_arena_reset(&t->arena);
    }
}

/* ---- the way it should go -------------------------------------------------------------------------- */

static void check_whole_job(sotto_test *t, sotto_test_prio3 *p)
{
    for (size_t count = 0; count <= MOST; count++) {
        job j = job_of(t, p, count);

        leader_init(t, p, &j);
        for (size_t i = 0; i < count; i++) {
            CHECK_STATUS(t, SOTTO_AGAIN, j.leader[i].status);
            CHECK_EQUAL(t, HEAD + p->vdaf.sizes.verifier_share, j.there[i].len);
            CHECK_EQUAL(t, SOTTO_PING_PONG_INITIALIZE, j.there[i].data[0]);
            CHECK_BYTES(t, j.leader[i].verifier_share.data, j.there[i].data + HEAD,
                        p->vdaf.sizes.verifier_share);
        }
        helper_init(t, p, &j);
        for (size_t i = 0; i < count; i++) {
            CHECK_STATUS(t, SOTTO_OK, j.helper[i].status);
            CHECK_EQUAL(t, HEAD + p->vdaf.sizes.verifier_message, j.back[i].len);
            CHECK_EQUAL(t, SOTTO_PING_PONG_FINISH, j.back[i].data[0]);
        }
        leader_continued(t, p, &j);
        for (size_t i = 0; i < count; i++)
            CHECK_STATUS(t, SOTTO_OK, j.leader[i].status);
    }
}

static void leader_initializes_helper_finishes_leader_continues(sotto_test *t)
{
    for_every_type(t, check_whole_job);
}

/* ---- a report that one side refuses ---------------------------------------------------------------- */

static void check_refusals(sotto_test *t, sotto_test_prio3 *p)
{
    for (size_t at = 0; at < MOST; at++) {
        job j = job_of(t, p, MOST);

        j.to_leader[at].input_share.len--;
        leader_init(t, p, &j);
        CHECK_STATUS(t, SOTTO_MALFORMED, j.leader[at].status);
        CHECK_EQUAL(t, 0, j.there[at].len);
        helper_init(t, p, &j); /* nothing came for this report */
        CHECK_STATUS(t, SOTTO_MALFORMED, j.helper[at].status);
        CHECK_EQUAL(t, 0, j.back[at].len);
        leader_continued(t, p, &j);
        for (size_t i = 0; i < MOST; i++) {
            CHECK_STATUS(t, i == at ? SOTTO_MALFORMED : SOTTO_OK, j.leader[i].status);
            CHECK_STATUS(t, i == at ? SOTTO_MALFORMED : SOTTO_OK, j.helper[i].status);
        }

        j = job_of(t, p, MOST);
        j.to_helper[at].input_share.len = 0;
        leader_init(t, p, &j);
        helper_init(t, p, &j);
        CHECK_STATUS(t, SOTTO_MALFORMED, j.helper[at].status);
        CHECK_EQUAL(t, 0, j.back[at].len);
        leader_continued(t, p, &j); /* no answer is no consent */
        for (size_t i = 0; i < MOST; i++)
            CHECK_STATUS(t, i == at ? SOTTO_REJECTED : SOTTO_OK, j.leader[i].status);
    }
}

static void a_report_refused_on_one_side_is_refused_on_both_and_alone(sotto_test *t)
{
    for_every_type(t, check_refusals);
}

static void check_bad_proof(sotto_test *t, sotto_test_prio3 *p)
{
    for (size_t at = 0; at < MOST; at++) {
        job j = job_of(t, p, MOST);

        sotto_test_bump_element(p, (uint8_t *)(uintptr_t)j.to_leader[at].input_share.data, 0);
        leader_init(t, p, &j);
        helper_init(t, p, &j);
        for (size_t i = 0; i < MOST; i++) {
            CHECK_STATUS(t, i == at ? SOTTO_REJECTED : SOTTO_OK, j.helper[i].status);
            CHECK_EQUAL(t, i == at, j.back[i].len == 0);
        }
    }
}

static void a_bad_proof_is_rejected_by_the_helper_without_an_answer(sotto_test *t)
{
    for_every_type(t, check_bad_proof);
}

/* ---- messages that do not parse or do not belong --------------------------------------------------- */

static void check_helper_refuses(sotto_test *t, const sotto_test_prio3 *p, const job *good,
                                 sotto_bytes inbound, const char *reason)
{
    job j = *good;

    j.there[1] = inbound;
    helper_init(t, p, &j);
    CHECK_STATUS(t, SOTTO_OK, j.helper[0].status);
    CHECK_STATUS(t, SOTTO_MALFORMED, j.helper[1].status);
    CHECK(t, strstr(j.helper[1].reason, reason));
    CHECK_EQUAL(t, 0, j.back[1].len);
    CHECK_STATUS(t, SOTTO_OK, j.helper[2].status);
}

static void check_leader_refuses(sotto_test *t, const sotto_test_prio3 *p, const job *good,
                                 sotto_bytes inbound, const char *reason)
{
    job j = *good;

    j.back[1] = inbound;
    leader_continued(t, p, &j);
    CHECK_STATUS(t, SOTTO_OK, j.leader[0].status);
    bool said_nothing = inbound.len == 0; /* then the helper refused it */
    CHECK_STATUS(t, said_nothing ? SOTTO_REJECTED : SOTTO_MALFORMED, j.leader[1].status);
    CHECK(t, strstr(j.leader[1].reason, said_nothing ? "refused by the other" : reason));
    CHECK_STATUS(t, SOTTO_OK, j.leader[2].status);
}

static sotto_bytes resized(sotto_test *t, sotto_bytes in, size_t len)
{
    uint8_t *copy = sotto_test_take(t, len);

    memcpy(copy, in.data, len < in.len ? len : in.len);
    return sotto_bytes_of(copy, len);
}

static void check_messages(sotto_test *t, sotto_test_prio3 *p)
{
    job j = job_of(t, p, 3);
    sotto_bytes share, message, longer;

    leader_init(t, p, &j);
    helper_init(t, p, &j);
    share = j.leader[1].verifier_share;
    message = sotto_bytes_of(j.back[1].data + HEAD, j.back[1].len - HEAD);

    /* Cut anywhere, and with bytes after the end. */
    for (size_t len = 0; len < j.there[1].len; len++)
        check_helper_refuses(t, p, &j, resized(t, j.there[1], len), "does not parse");
    check_helper_refuses(t, p, &j, resized(t, j.there[1], j.there[1].len + 1), "does not parse");
    for (size_t len = 0; len < j.back[1].len; len++)
        check_leader_refuses(t, p, &j, resized(t, j.back[1], len), "does not parse");
    check_leader_refuses(t, p, &j, resized(t, j.back[1], j.back[1].len + 1), "does not parse");

    /* Well formed, but of another type. */
    check_helper_refuses(t, p, &j, message_of(t, SOTTO_PING_PONG_FINISH, share, NULL),
                         "wanted initialize");
    check_helper_refuses(t, p, &j, message_of(t, SOTTO_PING_PONG_CONTINUE, message, &share),
                         "wanted initialize");
    check_leader_refuses(t, p, &j, message_of(t, SOTTO_PING_PONG_INITIALIZE, message, NULL),
                         "wanted finish");
    check_leader_refuses(t, p, &j, message_of(t, SOTTO_PING_PONG_CONTINUE, message, &message),
                         "wanted finish");
    for (unsigned type = 3; type < 256; type++) {
        check_helper_refuses(t, p, &j, message_of(t, (uint8_t)type, share, NULL), "does not parse");
        check_leader_refuses(t, p, &j, message_of(t, (uint8_t)type, message, NULL),
                             "does not parse");
    }

    /* A whole message around an item of the wrong length. */
    for (size_t len = 0; len < share.len + 2; len++)
        if (len != share.len)
            check_helper_refuses(
                t, p, &j, message_of(t, SOTTO_PING_PONG_INITIALIZE, resized(t, share, len), NULL),
                "verifier share: wrong length");
    longer = resized(t, message, message.len + 1);
    check_leader_refuses(t, p, &j, message_of(t, SOTTO_PING_PONG_FINISH, longer, NULL),
                         "verifier message: wrong length");
    if (message.len) {
        longer.len = message.len - 1;
        check_leader_refuses(t, p, &j, message_of(t, SOTTO_PING_PONG_FINISH, longer, NULL),
                             "verifier message: wrong length");
    }

    /* A length that promises more than there is, up to the most that it can promise. */
    sotto_bytes lying = resized(t, j.there[1], j.there[1].len);
    memset((uint8_t *)(uintptr_t)lying.data + 1, 0xff, 4);
    check_helper_refuses(t, p, &j, lying, "does not parse");
    check_leader_refuses(t, p, &j, lying, "does not parse");
}

static void messages_that_do_not_parse_or_belong_are_malformed_alone(sotto_test *t)
{
    for_every_type(t, check_messages);
}

static void check_tampered_answer(sotto_test *t, sotto_test_prio3 *p)
{
    job j = job_of(t, p, 3);

    leader_init(t, p, &j);
    helper_init(t, p, &j);
    if (!p->vdaf.sizes.verifier_message)
        return;
    ((uint8_t *)(uintptr_t)j.back[1].data)[HEAD] ^= 1;
    leader_continued(t, p, &j);
    CHECK_STATUS(t, SOTTO_OK, j.leader[0].status);
    CHECK_STATUS(t, SOTTO_REJECTED, j.leader[1].status);
    CHECK_STATUS(t, SOTTO_OK, j.leader[2].status);
}

static void a_tampered_answer_is_rejected_by_the_leader(sotto_test *t)
{
    for_every_type(t, check_tampered_answer);
}

static void a_report_that_is_over_takes_no_further_message(sotto_test *t)
{
    sotto_test_prio3 p = sotto_test_prio3_of(t, &sotto_test_configs[3], 1);
    job j = job_of(t, &p, 1);

    leader_init(t, &p, &j);
    helper_init(t, &p, &j);
    leader_continued(t, &p, &j);
    j.back[0] = sotto_bytes_of("nonsense", 8);
    leader_continued(t, &p, &j);
    CHECK_STATUS(t, SOTTO_OK, j.leader[0].status);
    j.leader[0].status = SOTTO_REJECTED;
    leader_continued(t, &p, &j);
    CHECK_STATUS(t, SOTTO_REJECTED, j.leader[0].status);
}

/* ---- decoding -------------------------------------------------------------------------------------- */

static void each_type_carries_its_items(sotto_test *t)
{
    sotto_bytes a = sotto_bytes_of("abc", 3), b = sotto_bytes_of("defgh", 5);
    sotto_ping_pong_message m;

    CHECK_OK(t, sotto_ping_pong_decode(&m, message_of(t, 0, a, NULL), &t->err));
    CHECK(t, m.type == SOTTO_PING_PONG_INITIALIZE && m.verifier_share.len == 3 &&
                 !m.verifier_message.len);
    CHECK_OK(t, sotto_ping_pong_decode(&m, message_of(t, 1, a, &b), &t->err));
    CHECK(t, m.type == SOTTO_PING_PONG_CONTINUE && m.verifier_message.len == 3 &&
                 m.verifier_share.len == 5);
    CHECK_BYTES(t, "defgh", m.verifier_share.data, 5);
    CHECK_OK(t, sotto_ping_pong_decode(&m, message_of(t, 2, a, NULL), &t->err));
    CHECK(t,
          m.type == SOTTO_PING_PONG_FINISH && m.verifier_message.len == 3 && !m.verifier_share.len);
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_ping_pong_decode(&m, message_of(t, 3, a, NULL), &t->err));
    CHECK_REASON(t, "ping-pong message: no type 3");
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_ping_pong_decode(&m, message_of(t, 1, a, NULL), &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_ping_pong_decode(&m, message_of(t, 2, a, &b), &t->err));
    CHECK_REASON(t, "ping-pong message");
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_ping_pong_decode(&m, sotto_bytes_of(NULL, 0), &t->err));
}

/* ---- preconditions and memory ---------------------------------------------------------------------- */

static void the_topology_is_for_two_and_each_has_its_number(sotto_test *t)
{
    sotto_prio3_config three = sotto_test_configs[3];
    sotto_test_prio3 p = sotto_test_prio3_of(t, &three, 1);
    job j = job_of(t, &p, 1);
    sotto_prio3_verifier leader = sotto_test_verifier(&p, 0), helper = sotto_test_verifier(&p, 1);

    CHECK_STATUS(t, SOTTO_BUG,
                 sotto_ping_pong_leader_init(&p.vdaf, j.leader, j.there, &helper, j.to_leader, 1,
                                             &t->arena, &t->err));
    CHECK_STATUS(t, SOTTO_BUG,
                 sotto_ping_pong_helper_init(&p.vdaf, j.helper, j.back, &leader, j.to_helper,
                                             j.there, 1, &t->arena, &t->err));
    three.shares = 3;
    p = sotto_test_prio3_of(t, &three, 1);
    CHECK_STATUS(t, SOTTO_BUG,
                 sotto_ping_pong_leader_init(&p.vdaf, j.leader, j.there, &leader, j.to_leader, 1,
                                             &t->arena, &t->err));
    CHECK_REASON(t, "two aggregators");
    CHECK_STATUS(t, SOTTO_BUG,
                 sotto_ping_pong_helper_init(&p.vdaf, j.helper, j.back, &helper, j.to_helper,
                                             j.there, 1, &t->arena, &t->err));
    CHECK_STATUS(t, SOTTO_BUG,
                 sotto_ping_pong_leader_continued(&p.vdaf, j.leader, j.back, 1, &t->err));
}

/* Whatever a step could not get memory for, it leaves nothing behind and no state that could go on. */
static void check_low_ceilings(sotto_test *t, sotto_test_prio3 *p)
{
    job good = job_of(t, p, MOST);

    leader_init(t, p, &good);
    for (unsigned a = 0; a < 2; a++) {
        sotto_status status = SOTTO_NO_MEMORY;
        unsigned refused = 0;

        for (size_t ceiling = 0; status != SOTTO_OK; ceiling += 64) {
            sotto_prio3_verifier verifier = sotto_test_verifier(p, a);
            sotto_arena arena;
            job j = good;

            sotto_arena_init(&arena, ceiling);
            status = a ? sotto_ping_pong_helper_init(&p->vdaf, j.helper, j.back, &verifier,
                                                     j.to_helper, j.there, MOST, &arena, NULL)
                       : sotto_ping_pong_leader_init(&p->vdaf, j.leader, j.there, &verifier,
                                                     j.to_leader, MOST, &arena, NULL);
            if (status != SOTTO_OK) {
                CHECK_STATUS(t, SOTTO_NO_MEMORY, status);
                CHECK(t, !arena.used);
                for (size_t i = 0; i < MOST; i++) {
                    CHECK_STATUS(t, SOTTO_NO_MEMORY, (a ? j.helper : j.leader)[i].status);
                    CHECK_EQUAL(t, 0, (a ? j.back : j.there)[i].len);
                }
                refused++;
            }
            sotto_arena_clear(&arena);
        }
        CHECK(t, refused > 0);
    }
}

static void a_step_without_memory_wipes_its_arena_and_refuses_every_report(sotto_test *t)
{
    for_every_type(t, check_low_ceilings);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(leader_initializes_helper_finishes_leader_continues),
        CASE(a_report_refused_on_one_side_is_refused_on_both_and_alone),
        CASE(a_bad_proof_is_rejected_by_the_helper_without_an_answer),
        CASE(messages_that_do_not_parse_or_belong_are_malformed_alone),
        CASE(a_tampered_answer_is_rejected_by_the_leader),
        CASE(a_report_that_is_over_takes_no_further_message),
        CASE(each_type_carries_its_items),
        CASE(the_topology_is_for_two_and_each_has_its_number),
        CASE(a_step_without_memory_wipes_its_arena_and_refuses_every_report),
    };
    return RUN_TESTS(argc, argv, cases);
}
