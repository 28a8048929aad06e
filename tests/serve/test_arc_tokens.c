/* A task that asks for ARC: each server takes what is shown to it, by itself. */
#include "support/arc_admitted.h"
#include "support/database.h"
#include "support/steps.h"
#include "support/uploaders.h"

#include "base/arena.h"
#include "serve/tasks/arc_issue.h"
#include "serve/tasks/batches.h"
#include "serve/tasks/gc.h"

#include <string.h>
#include <unistd.h>

static const sotto_test_service_options now = {.job_delay_ms = 5},
                                        later = {.job_delay_ms = 3600000, .job_reports = 1000};

static sotto_bytes report_of(sotto_test *t, sotto_test_arc *a)
{
    return sotto_test_sealed_report(t, &a->s, 1, SOTTO_TEST_SOUND);
}

static void check_refused(sotto_test *t, sotto_test_arc *a)
{
    const sotto_bytes report = report_of(t, a);

    CHECK_EQUAL(t, SOTTO_REPORT_TOKEN_INVALID, sotto_test_upload_error(t, &a->s, report));
    CHECK_EQUAL(t, SOTTO_REPORT_TOKEN_INVALID, sotto_test_job_error(t, &a->s, report));
}

static int64_t spent(sotto_test *t, const sotto_server *server)
{
    return sotto_test_ask_number(t, server->db, "SELECT count(*) FROM spent");
}

static void reports_with_presentations_are_taken_and_collected(sotto_test *t)
{
    sotto_test_arc a;

    sotto_test_arc_open(t, &a, &now);
    sotto_test_upload_some(t, &a.s, 25, 1, SOTTO_TEST_SOUND);
    sotto_test_check_sum(t, &a.s, 25);
    CHECK_EQUAL(t, 25, spent(t, a.s.leader));
    CHECK_EQUAL(t, 25, spent(t, a.s.helper));
    sotto_test_arc_close(&a);
}

static void a_report_without_a_presentation_is_rejected_by_either_server(sotto_test *t)
{
    sotto_test_arc a;

    sotto_test_arc_open(t, &a, &now);
    a.s.admit = NULL;
    check_refused(t, &a);
    sotto_test_arc_close(&a);
}

static void another_recipe_window_or_round_is_rejected(sotto_test *t)
{
    sotto_test_arc a;

    sotto_test_arc_open(t, &a, &now);
    a.collection.subject[7] ^= 1;
    check_refused(t, &a);
    a.collection.subject[7] ^= 1;
    a.collection.opens -= 3600;
    check_refused(t, &a);
    a.collection.opens += 3600;
    a.collection.closes += 3600;
    check_refused(t, &a);
    a.collection.closes -= 3600;
    a.collection.round = 1;
    check_refused(t, &a);
    a.collection.round = 0;
    CHECK_EQUAL(t, 0, sotto_test_upload_error(t, &a.s, report_of(t, &a)));
    sotto_test_arc_close(&a);
}

/* A request hides which epoch it is for: only what the verifier puts in its place tells. */
static void another_issuer_or_epoch_is_rejected(sotto_test *t)
{
    sotto_test_arc a;

    sotto_test_arc_open(t, &a, &now);
    a.epoch = 86400;
    check_refused(t, &a);
    a.epoch = 0;
    a.other = sotto_test_arc_key(t, a.keys[0].epoch.opens, a.keys[0].epoch.closes);
    a.request = 1;
    check_refused(t, &a);
    for (unsigned i = 0; i < 2; i++) { /* forged: that key under each server's id */
        a.held[i] = sotto_test_arc_credential(t, &a.other, 0);
        memcpy(a.held[i].key_id, a.keys[i].epoch.key_id, SOTTO_TOKEN_KEY_ID);
    }
    a.keep = true;
    check_refused(t, &a);
    /* The leader's and the helper's in each other's place. */
    a.held[1] = sotto_test_arc_credential(t, &a.keys[0], 0);
    a.held[0] = sotto_test_arc_credential(t, &a.keys[1], 0);
    check_refused(t, &a);
    sotto_test_arc_close(&a);
}

/* The leader can't see whether the helper's part holds: the helper finds out. And the other way round. */
static void each_server_checks_its_own_part(sotto_test *t)
{
    sotto_test_arc a;
    sotto_bytes report;

    sotto_test_arc_open(t, &a, &later);
    sotto_test_arc_keep(t, &a);
    a.other = sotto_test_arc_key(t, 1, 2);
    a.held[1] = sotto_test_arc_credential(t, &a.other, 0);
    report = report_of(t, &a);
    CHECK_EQUAL(t, 0, sotto_test_upload_error(t, &a.s, report));
    CHECK_EQUAL(t, SOTTO_REPORT_TOKEN_INVALID, sotto_test_job_error(t, &a.s, report));
    a.held[1] = sotto_test_arc_credential(t, &a.keys[1], 0);
    a.held[0] = sotto_test_arc_credential(t, &a.other, 0);
    report = report_of(t, &a);
    CHECK_EQUAL(t, SOTTO_REPORT_TOKEN_INVALID, sotto_test_upload_error(t, &a.s, report));
    CHECK_EQUAL(t, 0, sotto_test_job_error(t, &a.s, report));
    sotto_test_arc_close(&a);
}

static void a_device_adds_one_report_to_a_collection(sotto_test *t)
{
    sotto_test_arc a;
    sotto_bytes first, second;

    sotto_test_arc_open(t, &a, &later);
    sotto_test_arc_keep(t, &a);
    first = report_of(t, &a);
    second = report_of(t, &a);
    CHECK_EQUAL(t, 0, sotto_test_upload_error(t, &a.s, first));
    for (int again = 0; again < 2; again++)
        CHECK_EQUAL(t, SOTTO_REPORT_TOKEN_SPENT, sotto_test_upload_error(t, &a.s, second));
    CHECK_EQUAL(t, 1, sotto_test_refused(t, &a.s, SOTTO_REPORT_TOKEN_SPENT));
    CHECK_EQUAL(t, SOTTO_REPORT_REPLAYED, sotto_test_upload_error(t, &a.s, first));
    /* The same report, whose id is free again: it has the same tag, and is no double spend. */
    sotto_test_do(t, a.s.leader->db, "DELETE FROM mark");
    CHECK_EQUAL(t, 0, sotto_test_upload_error(t, &a.s, first));
    CHECK_EQUAL(t, 1, spent(t, a.s.leader));
    CHECK_EQUAL(t, 0, sotto_test_job_error(t, &a.s, first));
    CHECK_EQUAL(t, SOTTO_REPORT_TOKEN_SPENT, sotto_test_job_error(t, &a.s, second));
    sotto_test_arc_close(&a);
}

/* A device whose credential was lost may get another for the same request: it has the same tag. */
static void a_request_that_is_answered_twice_gives_one_report(sotto_test *t)
{
    uint8_t request[SOTTO_ARC_REQUEST], response[SOTTO_ARC_RESPONSE], context[SOTTO_ARC_CONTEXT];
    sotto_scalar random[SOTTO_ARC_RESPONSE_RANDOM];
    sotto_arc_pending pending;
    sotto_test_arc a;
    sotto_group g;

    sotto_test_arc_open(t, &a, &later);
    sotto_test_arc_keep(t, &a);
    CHECK_OK(t, sotto_group_init(&g, &sotto_p256, &t->err));
    sotto_arc_request_context(context, &a.keys[0].epoch);
    CHECK_OK(t, sotto_scalar_random(&g, random, SOTTO_ARC_REQUEST_RANDOM, &t->err));
    CHECK_OK(t, sotto_arc_request(&g, &pending, request, sotto_bytes_of(context, sizeof context),
                                  random, &t->err));
    for (unsigned i = 0; i < 2; i++) {
        CHECK_OK(t, sotto_scalar_random(&g, random, SOTTO_ARC_RESPONSE_RANDOM, &t->err));
        CHECK_OK(t, sotto_arc_issue(&g, response, &a.keys[0].secret, a.keys[0].public_key, request,
                                    random, &t->err));
        CHECK_OK(t, sotto_arc_finish(&g, &a.held[0].credential, &pending, a.keys[0].public_key,
                                     response, &t->err));
        CHECK_EQUAL(t, i == 0 ? 0 : SOTTO_REPORT_TOKEN_SPENT,
                    sotto_test_upload_error(t, &a.s, report_of(t, &a)));
    }
    sotto_group_clear(&g);
    sotto_test_arc_close(&a);
}

/* ---- bytes that were changed or moved ---------------------------------------------------------------------------- */

static void change_a_bit(sotto_test *t, void *context, sotto_report_draft *draft,
                         sotto_arena *arena)
{
    const size_t *at = context;
    uint8_t *list = sotto_arena_take(arena, draft->metadata.public_extensions.len);

    CHECK(t, list != NULL);
    memcpy(list, draft->metadata.public_extensions.data, draft->metadata.public_extensions.len);
    list[*at] ^= 0x10;
    draft->metadata.public_extensions.data = list;
}

typedef struct changed {
    sotto_test_arc *a;
    void (*admit)(sotto_test *t, void *context, sotto_report_draft *draft, sotto_arena *arena);
    size_t at;
} changed;

/* Admitted as usual, then a bit of it is changed, and both MACs are made for the changed bytes: the proof alone is left to see it. */
static void admit_changed(sotto_test *t, void *context, sotto_report_draft *draft,
                          sotto_arena *arena)
{
    changed *c = context;
    const sotto_hpke_config to[] = {c->a->s.leader_hpke, c->a->s.helper_hpke};
    uint8_t seed[SOTTO_ONCE_SEED] = "a one-time key";

    c->admit(t, c->a, draft, arena);
    seed[SOTTO_ONCE_SEED - 1] = c->a->seeds;
    change_a_bit(t, &c->at, draft, arena);
    for (unsigned who = 0; who < SOTTO_REPORT_SHARES; who++)
        CHECK_OK(t, sotto_admission_bind(draft, who, sotto_bytes_of(seed, sizeof seed), &to[who],
                                         arena, &t->err));
}

static void a_changed_bit_is_rejected(sotto_test *t)
{
    enum { LEADERS = 4 + 2 + SOTTO_ONCE_KEY, HELPERS = LEADERS + SOTTO_ARC_SHOWN };
    sotto_test_arc a;
    changed c = {.a = &a};

    sotto_test_arc_open(t, &a, &later);
    sotto_test_arc_keep(t, &a);
    c.admit = a.s.admit;
    a.s.admit = admit_changed;
    a.s.admit_context = &c;
    for (c.at = LEADERS; c.at < HELPERS; c.at += 37)
        CHECK_EQUAL(t, SOTTO_REPORT_TOKEN_INVALID,
                    sotto_test_upload_error(t, &a.s, report_of(t, &a)));
    for (c.at = HELPERS + 1; c.at < HELPERS + SOTTO_ARC_SHOWN; c.at += 37)
        CHECK_EQUAL(t, SOTTO_REPORT_TOKEN_INVALID, sotto_test_job_error(t, &a.s, report_of(t, &a)));
    CHECK_EQUAL(t, 0, spent(t, a.s.leader));
    CHECK_EQUAL(t, 0, spent(t, a.s.helper));
    sotto_test_arc_close(&a);
}

typedef struct moved {
    sotto_test_arc *a;
    sotto_bytes from;
    bool own_key;
} moved;

/* Somebody's presentations on a report of the leader's own, with a one-time key of its own beside them or not. */
static void steal(sotto_test *t, void *context, sotto_report_draft *draft, sotto_arena *arena)
{
    static const uint8_t seed[SOTTO_ONCE_SEED] = "the leader's own";
    moved *m = context;
    const sotto_hpke_config to[] = {m->a->s.leader_hpke, m->a->s.helper_hpke};
    uint8_t *list = sotto_arena_take(arena, m->from.len);

    memcpy(list, m->from.data, m->from.len);
    draft->metadata.public_extensions = sotto_bytes_of(list, m->from.len);
    if (m->own_key)
        CHECK_OK(
            t, sotto_admission_once_key(list + 4 + 2, sotto_bytes_of(seed, sizeof seed), &t->err));
    for (unsigned who = 0; who < SOTTO_REPORT_SHARES; who++)
        CHECK_OK(t, sotto_admission_bind(draft, who, sotto_bytes_of(seed, sizeof seed), &to[who],
                                         arena, &t->err));
}

static void presentations_move_to_no_other_report(sotto_test *t)
{
    sotto_test_arc a;
    moved m = {.a = &a};
    sotto_dap_report r;
    sotto_bytes honest;

    sotto_test_arc_open(t, &a, &later);
    honest = report_of(t, &a);
    CHECK_OK(t, sotto_dap_report_decode(&r, honest, &t->err));
    m.from = r.metadata.public_extensions;
    a.s.admit = steal;
    a.s.admit_context = &m;
    for (int own = 0; own < 2; own++) {
        m.own_key = own;
        CHECK_EQUAL(t, SOTTO_REPORT_TOKEN_INVALID, sotto_test_job_error(t, &a.s, report_of(t, &a)));
        CHECK_EQUAL(t, SOTTO_REPORT_TOKEN_INVALID,
                    sotto_test_upload_error(t, &a.s, report_of(t, &a)));
    }
    CHECK_EQUAL(t, 0, sotto_test_job_error(t, &a.s, honest));
    sotto_test_arc_close(&a);
}

/* ---- races ------------------------------------------------------------------------------------------------------- */

/* One report is at the leader and another of the same device at the helper: the second to reach the helper is not added. */
static void leader_and_helper_add_one_report_of_a_device(sotto_test *t)
{
    sotto_test_arc a;
    sotto_bytes at_leader, at_helper;

    sotto_test_arc_open(t, &a, &(sotto_test_service_options){.job_delay_ms = 5, .min_cohort = 20});
    sotto_test_arc_keep(t, &a);
    at_leader = report_of(t, &a);
    at_helper = report_of(t, &a);
    sotto_test_second_is_rejected(t, &a.s, at_helper, at_leader);
    sotto_test_arc_close(&a);
}

enum { RACED = 20 };

static void make_raced(sotto_test *t, sotto_test_arc *a, sotto_bytes reports[2])
{
    sotto_buf out[2];
    sotto_bytes of[2][RACED];

    a->keep = true;
    for (size_t i = 0; i < RACED; i++) {
        sotto_test_arc_keep(t, a);
        of[0][i] = report_of(t, a);
        of[1][RACED - 1 - i] = report_of(t, a); /* the other way round, another report */
    }
    for (unsigned k = 0; k < 2; k++) {
        out[k] = sotto_test_buf(t, RACED * (a->s.task.report_bytes + 256));
        sotto_writer w = sotto_writer_on(&out[k]);
        for (size_t i = 0; i < RACED; i++)
            sotto_write_bytes(&w, of[k][i]);
        CHECK_OK(t, sotto_writer_finish(&w, "reports", &t->err));
        reports[k] = sotto_buf_bytes(&out[k]);
    }
}

/* The same devices, with different reports, at two leaders at once. */
static void replicas_take_one_report_of_a_device(sotto_test *t)
{
    static sotto_test_arc a;
    sotto_bytes reports[2];

    if (!sotto_test_on_postgres())
        NOT_FOR_THIS_DATABASE(t, "SQLite has one leader");
    sotto_test_arc_open(t, &a, &later);
    make_raced(t, &a, reports);
    CHECK_EQUAL(t, RACED, sotto_test_upload_at_two(t, &a.s, reports));
    CHECK_EQUAL(t, RACED, spent(t, a.s.leader));
    CHECK_EQUAL(t, RACED, sotto_test_ask_number(t, a.s.leader->db, "SELECT count(*) FROM mark"));
    sotto_test_arc_close(&a);
}

/* Tags go with their epoch, and the private key goes too. Nothing is taken of it again. */
static void tags_go_with_their_epoch(sotto_test *t)
{
    static sotto_test_arc a;
    sotto_arc_key got;
    sotto_gc gc = {.role = SOTTO_LEADER, .late_seconds = 1, .keep_seconds = 2 * 86400};

    sotto_test_arc_open(t, &a, &later);
    CHECK_EQUAL(t, 0, sotto_test_upload_error(t, &a.s, report_of(t, &a)));
    gc.now = (int64_t)a.keys[0].epoch.closes + 86400;
    CHECK_OK(t, sotto_gc_run(a.s.leader->db, &gc, &t->err));
    CHECK_EQUAL(t, 0, gc.tokens);
    gc.now += 2 * 86400;
    CHECK_OK(t, sotto_gc_run(a.s.leader->db, &gc, &t->err));
    CHECK_EQUAL(t, 1, gc.tokens);
    CHECK_STATUS(t, SOTTO_STALE,
                 sotto_arc_key_get(a.s.leader->db, &got, a.keys[0].epoch.key_id, a.keys[0].attester,
                                   a.s.leader->columns, &t->err));
    CHECK_EQUAL(t, 1, spent(t, a.s.leader)); /* the mark that it is closed */
    sotto_test_arc_close(&a);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(reports_with_presentations_are_taken_and_collected),
        CASE(a_report_without_a_presentation_is_rejected_by_either_server),
        CASE(another_recipe_window_or_round_is_rejected),
        CASE(another_issuer_or_epoch_is_rejected),
        CASE(each_server_checks_its_own_part),
        CASE(a_device_adds_one_report_to_a_collection),
        CASE(a_request_that_is_answered_twice_gives_one_report),
        CASE(a_changed_bit_is_rejected),
        CASE(presentations_move_to_no_other_report),
        CASE(leader_and_helper_add_one_report_of_a_device),
        CASE(replicas_take_one_report_of_a_device),
        CASE(tags_go_with_their_epoch),
    };

    return RUN_TESTS(argc, argv, cases);
}
