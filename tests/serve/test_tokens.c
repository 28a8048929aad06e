/* A task that asks for tokens: whose reports leader and helper take, each by itself. */
#include "support/admitted.h"
#include "support/database.h"
#include "support/steps.h"
#include "support/uploaders.h"

#include "base/arena.h"
#include "dap/task_configuration.h"
#include "serve/tasks/batches.h"

#include <string.h>

enum { SPLIT = 48 }; /* the first collection is the one that is open */

static sotto_bytes report_of(sotto_test *t, sotto_test_admitted *a)
{
    return sotto_test_sealed_report(t, &a->s, 1, SOTTO_TEST_SOUND);
}

static const sotto_test_service_options now = {.job_delay_ms = 5},
                                        later = {.job_delay_ms = 3600000, .job_reports = 1000};

static void reports_with_tokens_are_taken_and_collected(sotto_test *t)
{
    sotto_test_admitted a;

    sotto_test_admitted_open(t, &a, SPLIT, &now);
    sotto_test_upload_some(t, &a.s, 25, 1, SOTTO_TEST_SOUND);
    sotto_test_check_sum(t, &a.s, 25);
    CHECK_EQUAL(t, 25, sotto_test_ask_number(t, a.s.leader->db, "SELECT count(*) FROM spent"));
    CHECK_EQUAL(t, 25, sotto_test_ask_number(t, a.s.helper->db, "SELECT count(*) FROM spent"));
    sotto_test_admitted_close(&a);
}

static void a_report_without_a_token_is_rejected_by_either_server(sotto_test *t)
{
    sotto_test_admitted a;
    sotto_bytes report;
    bool ready;

    sotto_test_admitted_open(t, &a, SPLIT, &now);
    a.s.admit = NULL;
    report = report_of(t, &a);
    for (int again = 0; again < 2; again++)
        CHECK_EQUAL(t, SOTTO_REPORT_TOKEN_INVALID, sotto_test_upload_error(t, &a.s, report));
    CHECK_EQUAL(t, SOTTO_REPORT_TOKEN_INVALID, sotto_test_job_error(t, &a.s, report));
    CHECK_EQUAL(t, 1, sotto_test_refused(t, &a.s, SOTTO_REPORT_TOKEN_INVALID)); /* once */
    CHECK(t, strstr(sotto_test_pages(t, a.s.leader, &ready),
                    "sotto_reports_rejected_total{cause=\"token_invalid\",found_by=\"self\"} 2"));
    sotto_test_admitted_close(&a);
}

static void check_refused(sotto_test *t, sotto_test_admitted *a)
{
    sotto_bytes report = report_of(t, a);

    CHECK_EQUAL(t, SOTTO_REPORT_TOKEN_INVALID, sotto_test_upload_error(t, &a->s, report));
    CHECK_EQUAL(t, SOTTO_REPORT_TOKEN_INVALID, sotto_test_job_error(t, &a->s, report));
}

static void a_token_for_another_key_window_or_issuer_is_rejected(sotto_test *t)
{
    sotto_test_admitted a;

    sotto_test_admitted_open(t, &a, SPLIT, &now);
    a.other_key = 1;
    check_refused(t, &a);
    a.other_key = 0;
    a.issuer = "key:another issuer";
    check_refused(t, &a);
    a.issuer = "key:issuer";
    a.signer = 1; /* the other collection's key, for this one's window */
    check_refused(t, &a);
    a.window = 1; /* ... and for its own */
    check_refused(t, &a);
    a.window = a.signer = 0;
    CHECK_EQUAL(t, 0, sotto_test_upload_error(t, &a.s, report_of(t, &a)));
    sotto_test_admitted_close(&a);
}

static void a_token_admits_one_report(sotto_test *t)
{
    sotto_test_admitted a;
    sotto_bytes first, second;

    sotto_test_admitted_open(t, &a, SPLIT, &later);
    sotto_test_keep_token(t, &a);
    first = report_of(t, &a);
    second = report_of(t, &a);
    CHECK_EQUAL(t, 0, sotto_test_upload_error(t, &a.s, first));
    for (int again = 0; again < 2; again++) /* told the same each time, and counted once */
        CHECK_EQUAL(t, SOTTO_REPORT_TOKEN_SPENT, sotto_test_upload_error(t, &a.s, second));
    CHECK_EQUAL(t, 1, sotto_test_refused(t, &a.s, SOTTO_REPORT_TOKEN_SPENT));
    CHECK_EQUAL(t, SOTTO_REPORT_REPLAYED, sotto_test_upload_error(t, &a.s, first));
    CHECK_EQUAL(t, 1, sotto_test_ask_number(t, a.s.leader->db, "SELECT count(*) FROM spent"));
    CHECK_EQUAL(t, 1, sotto_test_ask_number(t, a.s.leader->db, "SELECT count(*) FROM mark"));
    sotto_test_admitted_close(&a);
}

static void of_reports_that_come_together_one_has_the_token(sotto_test *t)
{
    sotto_test_admitted a;
    sotto_http_response response;

    sotto_test_admitted_open(t, &a, SPLIT, &later);
    sotto_test_keep_token(t, &a);
    response =
        sotto_test_upload(t, &a.s, sotto_test_sealed_reports(t, &a.s, 5, 1, SOTTO_TEST_SOUND));
    CHECK_EQUAL(t, 200, response.status);
    CHECK_EQUAL(t, 4 * (SOTTO_REPORT_ID_SIZE + 1), response.body.len);
    CHECK_EQUAL(t, 4, sotto_test_refused(t, &a.s, SOTTO_REPORT_TOKEN_SPENT));
    CHECK_EQUAL(t, 1, sotto_test_ask_number(t, a.s.leader->db, "SELECT count(*) FROM mark"));
    sotto_test_admitted_close(&a);
}

/* Another task with the same keys, as another cohort or the next version of a recipe has. */
static void tasks_of_one_collection_share_what_was_spent(sotto_test *t)
{
    sotto_test_admitted a;
    sotto_task_configuration c;
    sotto_buf wire = sotto_test_buf(t, 1024);
    sotto_bare_task bare;
    sotto_sim_random same_id;

    sotto_test_admitted_open(t, &a, SPLIT, &later);
    sotto_test_keep_token(t, &a);
    same_id = a.s.random;
    CHECK_EQUAL(t, 0, sotto_test_upload_error(t, &a.s, report_of(t, &a)));
    bare = sotto_test_admitted_task(t, &a, SPLIT);
    CHECK_OK(t, sotto_task_configuration_decode(&c, bare.configuration, &t->err));
    c.min_batch_size++;
    CHECK_OK(t, sotto_task_configuration_encode(&wire, &c, &t->err));
    bare.configuration = a.s.task.configuration = sotto_buf_bytes(&wire);
    CHECK_OK(t, sotto_tasks_add_bare(a.s.leader->db, a.s.leader->columns, SOTTO_LEADER, &bare, 0,
                                     a.s.task.id, &t->err));
    CHECK_OK(t, sotto_tasks_refresh(a.s.leader->tasks, &t->err));
    CHECK_EQUAL(t, SOTTO_REPORT_TOKEN_SPENT, sotto_test_upload_error(t, &a.s, report_of(t, &a)));
    a.s.random = same_id; /* a report of the first task had it */
    CHECK_EQUAL(t, SOTTO_REPORT_TOKEN_SPENT, sotto_test_upload_error(t, &a.s, report_of(t, &a)));
    a.token.len = 0;
    CHECK_EQUAL(t, 0, sotto_test_upload_error(t, &a.s, report_of(t, &a)));
    sotto_test_admitted_close(&a);
}

/* The leader's share of a report, sealed anew; everything else as it was. */
static sotto_bytes sealed_again(sotto_test *t, sotto_test_admitted *a, sotto_bytes wire)
{
    sotto_buf aad = sotto_test_buf(t, 4096), plain = sotto_test_buf(t, wire.len),
              sealed = sotto_test_buf(t, wire.len), out = sotto_test_buf(t, wire.len);
    uint8_t info[SOTTO_DAP_INFO_MAX];
    sotto_receivers *keys = NULL;
    sotto_dap_report r;

    CHECK_OK(t, sotto_dap_report_decode(&r, wire, &t->err));
    CHECK_OK(t, sotto_input_share_aad_encode(&aad, a->s.task.id, a->s.task.configuration,
                                             &r.metadata, r.public_share, &t->err));
    CHECK_OK(t, sotto_receivers_new(&keys, a->s.leader->keys, &t->err));
    CHECK_OK(t, sotto_receivers_unseal(keys, &plain, r.leader.config_id,
                                       &(sotto_agreement){.peer = r.leader.enc},
                                       sotto_buf_bytes(&aad), r.leader.payload, &t->err));
    sotto_receivers_free(keys);
    CHECK_OK(t, sotto_hpke_seal(&sealed, &a->s.leader_hpke,
                                sotto_bytes_of("32 bytes that no other seal used", 32),
                                sotto_input_share_info(info, SOTTO_DAP_LEADER),
                                sotto_buf_bytes(&aad), sotto_buf_bytes(&plain), &t->err));
    r.leader.enc = sotto_bytes_of(sealed.data, 32);
    r.leader.payload = sotto_bytes_of(sealed.data + 32, sealed.len - 32);
    CHECK_OK(t, sotto_dap_report_encode(&out, &r, &t->err));
    return sotto_buf_bytes(&out);
}

static void a_retry_and_a_share_sealed_again_are_no_double_spend(sotto_test *t)
{
    sotto_test_admitted a;
    sotto_bytes report, again;

    sotto_test_admitted_open(t, &a, SPLIT, &later);
    report = report_of(t, &a);
    again = sealed_again(t, &a, report);
    CHECK_EQUAL(t, 0, sotto_test_upload_error(t, &a.s, report));
    CHECK_EQUAL(t, SOTTO_REPORT_REPLAYED, sotto_test_upload_error(t, &a.s, report));
    CHECK_EQUAL(t, SOTTO_REPORT_REPLAYED, sotto_test_upload_error(t, &a.s, again));
    /* Even where its id is free: as for a device whose first upload was rejected for another reason. */
    sotto_test_do(t, a.s.leader->db, "DELETE FROM mark");
    CHECK_EQUAL(t, 0, sotto_test_upload_error(t, &a.s, again));
    CHECK_EQUAL(t, 1, sotto_test_ask_number(t, a.s.leader->db, "SELECT count(*) FROM spent"));
    sotto_test_admitted_close(&a);
}

/* ---- a leader that cheats ---------------------------------------------------------------------------------------- */

/* What a leader knows of somebody's report: its public extensions, and what it opened of its own share. */
typedef struct moved {
    sotto_test_admitted *a;
    sotto_report_draft from;
    bool own_key; /* puts a one-time key of its own beside the token */
} moved;

/* Binds a report of its own to the token, with a seed of its own. */
static void steal(sotto_test *t, void *context, sotto_report_draft *draft, sotto_arena *arena)
{
    static const uint8_t seed[SOTTO_ONCE_SEED] = "the leader's own";
    moved *m = context;
    const sotto_hpke_config to[] = {m->a->s.leader_hpke, m->a->s.helper_hpke};
    uint8_t *list = sotto_arena_take(arena, SOTTO_ADMISSION_PUBLIC);
    sotto_dh once;

    memcpy(list, m->from.metadata.public_extensions.data, SOTTO_ADMISSION_PUBLIC);
    draft->metadata.public_extensions = sotto_bytes_of(list, SOTTO_ADMISSION_PUBLIC);
    CHECK_OK(t, sotto_dh_init(&once, sotto_kem_find(SOTTO_KEM_X25519),
                              sotto_bytes_of(seed, sizeof seed), &t->err));
    if (m->own_key)
        memcpy(list + SOTTO_ADMISSION_PUBLIC - SOTTO_ONCE_KEY, once.public_key, SOTTO_ONCE_KEY);
    sotto_dh_clear(&once);
    for (unsigned who = 0; who < SOTTO_REPORT_SHARES; who++)
        CHECK_OK(t, sotto_admission_bind(draft, who, sotto_bytes_of(seed, sizeof seed), &to[who],
                                         arena, &t->err));
}

static void a_leader_moves_a_token_to_no_report_of_its_own(sotto_test *t)
{
    sotto_test_admitted a;
    sotto_dap_report r;
    moved m = {.a = &a};
    sotto_bytes honest;

    sotto_test_admitted_open(t, &a, SPLIT, &later);
    honest = report_of(t, &a);
    CHECK_OK(t, sotto_dap_report_decode(&r, honest, &t->err));
    m.from.metadata = r.metadata;
    a.s.admit = steal;
    a.s.admit_context = &m;
    for (int own = 0; own < 2; own++) {
        m.own_key = own;
        CHECK_EQUAL(t, SOTTO_REPORT_TOKEN_INVALID, sotto_test_job_error(t, &a.s, report_of(t, &a)));
        CHECK_EQUAL(t, SOTTO_REPORT_TOKEN_INVALID,
                    sotto_test_upload_error(t, &a.s, report_of(t, &a))); /* nor a gateway */
    }
    /* The token was not lost by that. */
    CHECK_EQUAL(t, 0, sotto_test_job_error(t, &a.s, honest));
    sotto_test_admitted_close(&a);
}

static void the_helper_finds_tokens_spent_by_itself(sotto_test *t)
{
    sotto_test_admitted a;
    sotto_bytes reports[4];
    sotto_http_response response;
    uint8_t errors[4];
    unsigned accepted = 0, spent = 0;

    sotto_test_admitted_open(t, &a, SPLIT, &later);
    sotto_test_keep_token(t, &a);
    for (size_t i = 0; i < 4; i++)
        reports[i] = report_of(t, &a);
    response = sotto_test_send_job(t, &a.s, sotto_test_job_of(t, &a.s, reports, 3, NULL).request);
    CHECK_EQUAL(t, 201, response.status);
    sotto_test_job_errors(t, response.body, errors, 3);
    for (size_t i = 0; i < 3; i++) {
        accepted += errors[i] == 0;
        spent += errors[i] == SOTTO_REPORT_TOKEN_SPENT;
    }
    CHECK_EQUAL(t, 1, accepted);
    CHECK_EQUAL(t, 2, spent);
    CHECK_EQUAL(t, SOTTO_REPORT_TOKEN_SPENT, sotto_test_job_error(t, &a.s, reports[3]));
    CHECK_EQUAL(t, 1, sotto_test_ask_number(t, a.s.helper->db, "SELECT count(*) FROM mark"));
    sotto_test_admitted_close(&a);
}

/* One report is at the leader and another at the helper, with one token: the second to reach the helper is not added. */
static void leader_and_helper_add_one_report_for_a_token(sotto_test *t)
{
    sotto_test_admitted a;
    sotto_bytes at_leader, at_helper;

    sotto_test_admitted_open(t, &a, SPLIT,
                             &(sotto_test_service_options){.job_delay_ms = 5, .min_cohort = 20});
    sotto_test_keep_token(t, &a);
    at_leader = report_of(t, &a);
    at_helper = report_of(t, &a);
    sotto_test_second_is_rejected(t, &a.s, at_helper, at_leader);
    sotto_test_admitted_close(&a);
}

/* ---- replicas ---------------------------------------------------------------------------------------------------- */

static sotto_bytes reports_of_all(sotto_test *t, sotto_test_admitted *a, size_t count, bool back)
{
    sotto_buf out = sotto_test_buf(t, count * (a->s.task.report_bytes + 256));
    sotto_writer w = sotto_writer_on(&out);

    for (size_t i = 0; i < count; i++) {
        a->seeds = (uint8_t)(back ? count - 1 - i : i);
        sotto_write_bytes(&w, report_of(t, a)); /* another report with the same one-time key */
    }
    CHECK_OK(t, sotto_writer_finish(&w, "reports", &t->err));
    return sotto_buf_bytes(&out);
}

static uint64_t helper_refused(sotto_test *t, sotto_test_admitted *a)
{
    return (uint64_t)sotto_test_refused(t, &a->s, SOTTO_CAUSE_HELPER + SOTTO_REPORT_TOKEN_SPENT);
}

/* Reports with the same tokens at leader and helper at once: the helper adds one of each two, whichever comes first. */
static void what_races_at_leader_and_helper_is_added_once(sotto_test *t)
{
    enum { COUNT = 24, JOB = 4 };
    static sotto_test_admitted a;
    static sotto_test_uploader u;
    sotto_bytes at_helper[COUNT];
    uint8_t errors[COUNT];
    uint64_t spent = 0;

    /* A cohort that never fills: a collection that ends early would close the batch to later jobs. */
    sotto_test_admitted_open(t, &a, SPLIT,
                             &(sotto_test_service_options){
                                 .job_delay_ms = 1, .job_reports = JOB, .min_cohort = 2 * COUNT});
    const sotto_bytes at_leader = reports_of_all(t, &a, COUNT, false);
    for (size_t i = 0; i < COUNT; i++) {
        a.seeds = (uint8_t)(COUNT - 1 - i);
        at_helper[i] = report_of(t, &a);
    }
    sotto_test_want(t, &a.s);
    sotto_test_uploader_start(t, &u, &a.s, a.s.leader, at_leader);
    for (size_t i = 0; i < COUNT; i += JOB) { /* the last tokens first: both meet in the middle */
        const sotto_test_job job = sotto_test_job_of(t, &a.s, at_helper + i, JOB, NULL);
        const sotto_http_response response = sotto_test_send_job(t, &a.s, job.request);

        CHECK_EQUAL(t, 201, response.status);
        sotto_test_job_errors(t, response.body, errors + i, JOB);
    }
    sotto_test_uploader_end(t, &u);
    CHECK_EQUAL(t, 0, u.failed);
    for (size_t i = 0; i < COUNT; i++) {
        if (errors[i] != 0)
            CHECK_EQUAL(t, SOTTO_REPORT_TOKEN_SPENT, errors[i]);
        spent += errors[i] != 0;
    }
    for (uint64_t until = 0; helper_refused(t, &a) < COUNT - spent && sotto_test_waits(&until, 20);)
        ;
    CHECK_EQUAL(t, COUNT - spent, helper_refused(t, &a));
    CHECK_EQUAL(t, COUNT, sotto_test_ask_number(t, a.s.helper->db, "SELECT count(*) FROM spent"));
    sotto_test_admitted_close(&a);
}

/* The same tokens, which are as many nonces, on different reports at two leaders at once. */
static void replicas_take_one_report_for_a_token(sotto_test *t)
{
    enum { COUNT = 60 };
    static sotto_test_admitted a;
    sotto_bytes reports[2];

    if (!sotto_test_on_postgres())
        NOT_FOR_THIS_DATABASE(t, "SQLite has one leader");
    sotto_test_admitted_open(t, &a, SPLIT, &later);
    for (unsigned i = 0; i < 2; i++)
        reports[i] = reports_of_all(t, &a, COUNT, i == 1);
    CHECK_EQUAL(t, COUNT, sotto_test_upload_at_two(t, &a.s, reports));
    CHECK_EQUAL(t, COUNT, sotto_test_ask_number(t, a.s.leader->db, "SELECT count(*) FROM spent"));
    CHECK_EQUAL(t, COUNT, sotto_test_ask_number(t, a.s.leader->db, "SELECT count(*) FROM mark"));
    CHECK_EQUAL(t, COUNT, sotto_test_refused(t, &a.s, SOTTO_REPORT_TOKEN_SPENT));
    sotto_test_admitted_close(&a);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(reports_with_tokens_are_taken_and_collected),
        CASE(a_report_without_a_token_is_rejected_by_either_server),
        CASE(a_token_for_another_key_window_or_issuer_is_rejected),
        CASE(a_token_admits_one_report),
        CASE(of_reports_that_come_together_one_has_the_token),
        CASE(tasks_of_one_collection_share_what_was_spent),
        CASE(a_retry_and_a_share_sealed_again_are_no_double_spend),
        CASE(a_leader_moves_a_token_to_no_report_of_its_own),
        CASE(the_helper_finds_tokens_spent_by_itself),
        CASE(leader_and_helper_add_one_report_for_a_token),
        CASE(what_races_at_leader_and_helper_is_added_once),
        CASE(replicas_take_one_report_for_a_token),
    };

    return RUN_TESTS(argc, argv, cases);
}
