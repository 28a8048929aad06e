/* Reports that a datastore key is missing for, which may come back; and a job's segments, which go together. */
#include "db/sealed.h"
#include "serve/host/health.h"
#include "serve/leader/leader.h"
#include "serve/leader/unreadable.h"
#include "support/database.h"
#include "support/steps.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { LONG_MS = 3600000, MANY = 30, OTHERS = 25 }; /* nothing leaves before a collection asks */

static const char noted[] = "SELECT count(*) FROM segment WHERE unreadable IS NOT NULL";
/* A job, not the collection that wants it. */
static const char let_go[] = "SELECT count(*) FROM sotto_lease WHERE queue = 1 AND held = 0 AND"
                             " attempts > 0 AND ready_at > 0";

/* How often the log says that a key is gone. */
static void hear(void *context, const sotto_log_event *event)
{
    atomic_uint *lines = context;

    if (strcmp(event->name, "segment.unreadable") != 0)
        return;
    for (size_t i = 0; i < event->count; i++)
        if (strcmp(event->fields[i].key, "reason") == 0 &&
            strstr(event->fields[i].value.text, SOTTO_COLUMN_KEY_GONE))
            atomic_fetch_add(lines, 1);
}

/* Two segments, which are read back from the disk. */
static void open_two(sotto_test *t, sotto_test_service *s, atomic_uint *lines)
{
    sotto_test_service_open(
        t, s, &(sotto_test_service_options){.job_delay_ms = LONG_MS, .job_reports = 1000});
    if (lines) {
        s->leader_options.host.log = (sotto_log_sink){hear, lines, SOTTO_LOG_INFO};
        sotto_test_leader_restart(t, s);
    }
    atomic_fetch_add(&sotto_leader_of(s->leader)->cached_bytes, (size_t)1 << 40);
    sotto_test_upload_some(t, s, MANY, 1, SOTTO_TEST_SOUND);
    sotto_test_upload_some(t, s, OTHERS, 1, SOTTO_TEST_SOUND);
}

/* ---- a key goes, and comes back ------------------------------------------------------------------------------- */

/* Sealed values, the first bytes of which are the name of their datastore key. */
static const sotto_test_damage requests = {"SELECT n, request FROM job",
                                           "UPDATE job SET request = ?2 WHERE n = ?1", false};
static const sotto_test_damage keys = {"SELECT segment, secret FROM segment_key WHERE segment ="
                                       " (SELECT n FROM segment WHERE reports = 30)",
                                       "UPDATE segment_key SET secret = ?2 WHERE segment = ?1",
                                       false};
static const sotto_test_damage bodies = {"SELECT segment, body FROM segment_body WHERE segment ="
                                         " (SELECT n FROM segment WHERE reports = 30)",
                                         "UPDATE segment_body SET body = ?2 WHERE segment = ?1",
                                         false};

/* Both segments in one job, the helper's answer to which can't be stored, and whose request lacks its key. */
static void open_torn(sotto_test *t, sotto_test_service *s, atomic_uint *lines)
{
    open_two(t, s, lines);
    sotto_test_do(t, s->leader->db, "ALTER TABLE sub_aggregate RENAME COLUMN checksum TO away");
    sotto_test_want(t, s);
    CHECK(t, sotto_test_comes(t, s->leader->db, let_go));
    CHECK_EQUAL(t, 1, sotto_test_ask_number(t, s->leader->db, "SELECT count(*) FROM job"));
    sotto_test_flip(t, s->leader->db, &requests);
    sotto_test_do(t, s->leader->db, "UPDATE sotto_lease SET ready_at = 0 WHERE held = 0");
    /* Whoever notes it has the lease: no attempt that read it before goes on. */
    CHECK(t, sotto_test_comes(t, s->leader->db, noted));
    sotto_test_do(t, s->leader->db, "ALTER TABLE sub_aggregate RENAME COLUMN away TO checksum");
}

/* What the list says: in all of those that wait, and of those that were given up. */
typedef struct listed {
    uint64_t waiting, waiting_reports, given_up, given_up_reports, together;
    unsigned beside; /* of those given up, in the job of another */
    char key[SOTTO_COLUMN_KEY_NAME];
} listed;

static sotto_status add_line(void *context, const sotto_unreadable *line, sotto_err *err)
{
    listed *l = context;
    const char *gone = strstr(line->why, SOTTO_COLUMN_KEY_GONE);

    (void)err;
    if (gone)
        (void)snprintf(l->key, sizeof l->key, "%.8s", gone + sizeof SOTTO_COLUMN_KEY_GONE - 1);
    if (line->reason[0]) {
        l->given_up++;
        l->given_up_reports += line->reports;
        l->beside += strstr(line->why, "in the job of segment") ? 1 : 0;
    } else {
        l->waiting++;
        l->waiting_reports += line->reports;
        l->together = line->together;
    }
    return SOTTO_OK;
}

static sotto_status list_all(sotto_tx *tx, void *context, sotto_err *err)
{
    return sotto_unreadable_list(tx, add_line, context, err);
}

static sotto_status count_all(sotto_tx *tx, void *context, sotto_err *err)
{
    return sotto_unreadable_count(tx, context, err);
}

static listed look(sotto_test *t, const sotto_test_service *s)
{
    listed l = {0};
    uint64_t counted = 0;

    CHECK_OK(t, sotto_db_read(s->leader->db, list_all, &l, &t->err));
    CHECK_OK(t, sotto_db_read(s->leader->db, count_all, &counted, &t->err));
    CHECK_EQUAL(t, counted, l.waiting); /* which health and the metric show */
    return l;
}

static sotto_giving_up doomed(sotto_test *t, sotto_test_service *s)
{
    return (sotto_giving_up){.segment = sotto_test_ask_number(
                                 t, s->leader->db, "SELECT n FROM segment WHERE reports = 30"),
                             .reason = "a test"};
}

static sotto_status give_up(sotto_test *t, sotto_test_service *s, sotto_giving_up *g)
{
    return sotto_db_run(s->leader->db, sotto_unreadable_give_up, g, &t->err);
}

/* Not given up, nor by the name of another key; and once the key is back nothing was lost. */
static void is_kept(sotto_test *t, sotto_test_service *s)
{
    sotto_giving_up g = doomed(t, s);
    listed l = look(t, s);

    CHECK_EQUAL(t, 8, strlen(l.key));
    CHECK_STATUS(t, SOTTO_DENIED, give_up(t, s, &g));
    CHECK(t, g.key_is_missing && strstr(t->err.reason, l.key));
    CHECK(t, strstr(t->err.reason, "--key-is-lost"));
    g.lost_key = "0123456";
    CHECK_STATUS(t, SOTTO_DENIED, give_up(t, s, &g));
    CHECK_EQUAL(t, 0, look(t, s).given_up);
}

static void a_job_without_its_key_is_not_given_up(sotto_test *t)
{
    atomic_uint lines = 0;
    sotto_test_service s;

    open_torn(t, &s, &lines);
    CHECK_EQUAL(t, 2, look(t, &s).waiting);
    CHECK(t, atomic_load(&lines) >= 2 && atomic_load(&lines) % 2 == 0); /* each of its segments */
    is_kept(t, &s);
    sotto_test_flip(t, s.leader->db, &requests);
    sotto_test_do(t, s.leader->db,
                  "UPDATE sotto_lease SET attempts = 1, ready_at = 0 WHERE held = 0");
    sotto_test_check_sum(t, &s, MANY + OTHERS);
    CHECK_EQUAL(t, 0, look(t, &s).waiting);
    sotto_test_service_close(&s);
}

static void a_segment_without_its_key_is_not_given_up(sotto_test *t)
{
    sotto_test_service s;

    open_two(t, &s, NULL);
    sotto_test_flip(t, s.leader->db, &keys);
    sotto_test_want(t, &s);
    CHECK(t, sotto_test_comes(t, s.leader->db, noted));
    is_kept(t, &s);
    sotto_test_flip(t, s.leader->db, &keys);
    sotto_test_check_sum(t, &s, MANY + OTHERS);
    sotto_test_service_close(&s);
}

/* Of a key that its operator says is lost; each segment of the job is recorded, and no report twice. */
static void what_goes_with_a_job_is_recorded(sotto_test *t)
{
    sotto_test_service s;
    sotto_giving_up g;
    listed l;

    open_torn(t, &s, NULL);
    l = look(t, &s);
    CHECK_EQUAL(t, 2, l.waiting);
    CHECK_EQUAL(t, MANY + OTHERS, l.waiting_reports);
    CHECK_EQUAL(t, MANY + OTHERS, l.together);
    g = doomed(t, &s);
    g.lost_key = l.key;
    CHECK_OK(t, give_up(t, &s, &g));
    CHECK_EQUAL(t, MANY + OTHERS, g.reports);
    l = look(t, &s);
    CHECK_EQUAL(t, 0, l.waiting);
    CHECK_EQUAL(t, 2, l.given_up);
    CHECK_EQUAL(t, 1, l.beside);
    CHECK_EQUAL(t, MANY + OTHERS, l.given_up_reports);
    sotto_test_service_close(&s);
}

/* A body is sealed with its segment's own key: damage to its first bytes is no missing datastore key. */
static void a_body_damaged_at_its_head_is_noted(sotto_test *t)
{
    sotto_test_service s;
    sotto_giving_up g;

    open_two(t, &s, NULL);
    g = doomed(t, &s);
    sotto_test_flip(t, s.leader->db, &bodies);
    sotto_test_want(t, &s);
    CHECK(t, sotto_test_comes(t, s.leader->db, noted));
    CHECK_OK(t, give_up(t, &s, &g));
    CHECK_EQUAL(t, MANY, g.reports);
    sotto_test_check_sum(t, &s, OTHERS);
    sotto_test_service_close(&s);
}

/* As many as health counts, and as many as were given up. */
static void however_many_can_not_be_read_all_are_listed(sotto_test *t)
{
    static char waiting[] =
        "INSERT INTO segment (n, task, bucket, reports, skip, owner, added, unreadable)"
        " WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE"
        " i < 1500) SELECT i, n, 1, 2, substr(id, 1, 1), 1, 0, 'x' FROM task, numbers";
    static char given_up[] =
        "INSERT INTO abandoned (segment, task, bucket, reports, sent, why, reason, since)"
        " SELECT n + 1500, task, bucket, 2, 0, 'x', 'y', 0 FROM segment WHERE n < 1001";
    sotto_test_service s;
    listed l;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_delay_ms = LONG_MS});
    CHECK_OK(t, sotto_db_run(s.leader->db, sotto_test_say, waiting, &t->err));
    CHECK_OK(t, sotto_db_run(s.leader->db, sotto_test_say, given_up, &t->err));
    l = look(t, &s);
    CHECK_EQUAL(t, 1500, l.waiting);
    CHECK_EQUAL(t, 1000, l.given_up);
    sotto_test_service_close(&s);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_job_without_its_key_is_not_given_up),
        CASE(a_segment_without_its_key_is_not_given_up),
        CASE(what_goes_with_a_job_is_recorded),
        CASE(a_body_damaged_at_its_head_is_noted),
        CASE(however_many_can_not_be_read_all_are_listed),
    };

    return RUN_TESTS(argc, argv, cases);
}
