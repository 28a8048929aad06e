/* What one commit of many uploads does with them. */
#include "serve/leader/flush.h"

#include "serve/leader/leader.h"
#include "support/database.h"
#include "support/steps.h"

#include <stdatomic.h>
#include <string.h>

enum { BUCKETS = 40 };

/* What waits for whom must not depend on who came first. */
static void groups_are_stored_in_one_order(sotto_test *t)
{
    sotto_test_service s;
    sotto_uploaded reports[BUCKETS];
    sotto_upload_request upload = {.reports = reports, .count = BUCKETS};
    static sotto_flush f; /* large */
    uint64_t last = 0;
    size_t count = 0;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    memset(&f, 0, sizeof f);
    f.server = s.leader;
    f.uploads = &upload;
    sotto_arena_init(&f.arena, 1 << 20);
    upload.task = sotto_tasks_find(s.leader->tasks, s.task.id);
    for (size_t i = 0; i < BUCKETS; i++)
        reports[i] = (sotto_uploaded){.upload = &upload,
                                      .bucket = s.bucket - (i * 7) % BUCKETS,
                                      .error = SOTTO_REPORT_HPKE_DECRYPT_ERROR};
    CHECK_OK(t, sotto_flush_prepare(&f, NULL, &t->err));
    CHECK_EQUAL(t, BUCKETS, f.count);
    for (const sotto_flush_group *g = f.first; g; g = g->next, count++) {
        CHECK(t, g->bucket > last);
        last = g->bucket;
    }
    CHECK_EQUAL(t, BUCKETS, count);
    sotto_arena_clear(&f.arena);
    sotto_test_service_close(&s);
}

static void hear(void *context, const sotto_log_event *event)
{
    if (strcmp(event->name, "upload.refusals_not_noted") == 0)
        atomic_fetch_add((atomic_uint *)context, 1);
}

static void upload_wrong(sotto_test *t, sotto_test_service *s, size_t count, unsigned times)
{
    sotto_bytes body = sotto_test_sealed_reports(t, s, count, 1, SOTTO_TEST_BAD_LEADER_SEAL);

    for (unsigned i = 0; i < times; i++)
        CHECK_EQUAL(t, 200, sotto_test_upload(t, s, body).status);
}

static int64_t notes(sotto_test *t, const sotto_test_service *s)
{
    return sotto_test_ask_number(t, s->leader->db, "SELECT count(*) FROM refused");
}

static void made_up_reports_leave_so_many_notes_and_no_more(sotto_test *t)
{
    sotto_test_service s;
    sotto_bytes sound;
    atomic_uint told = 0;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    s.leader_options.tasks.most_rejected_ids = 5;
    s.leader_options.host.log = (sotto_log_sink){hear, &told, SOTTO_LOG_INFO};
    sotto_test_leader_restart(t, &s);
    upload_wrong(t, &s, 4, 2);
    CHECK_EQUAL(t, 4, notes(t, &s));
    CHECK_EQUAL(t, 0, atomic_load(&told));
    upload_wrong(t, &s, 3, 2); /* the last that is noted whole; then each telling counts */
    CHECK_EQUAL(t, 7, notes(t, &s));
    CHECK_EQUAL(t, 10, sotto_test_refused(t, &s, SOTTO_REPORT_HPKE_DECRYPT_ERROR));
    CHECK_EQUAL(t, 1, atomic_load(&told));
    sotto_test_leader_restart(t, &s); /* which remembers how many there are */
    upload_wrong(t, &s, 2, 2);
    CHECK_EQUAL(t, 7, notes(t, &s));
    CHECK_EQUAL(t, 14, sotto_test_refused(t, &s, SOTTO_REPORT_HPKE_DECRYPT_ERROR));
    /* Nobody can make up a replay. */
    sound = sotto_test_sealed_reports(t, &s, 9, 1, SOTTO_TEST_SOUND);
    for (unsigned i = 0; i < 4; i++)
        CHECK_EQUAL(t, 200, sotto_test_upload(t, &s, sound).status);
    CHECK_EQUAL(t, 16, notes(t, &s));
    CHECK_EQUAL(t, 9, sotto_test_refused(t, &s, SOTTO_REPORT_REPLAYED));
    CHECK_EQUAL(t, 1, atomic_load(&told));
    sotto_test_service_close(&s);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(groups_are_stored_in_one_order),
        CASE(made_up_reports_leave_so_many_notes_and_no_more),
    };

    return RUN_TESTS(argc, argv, cases);
}
