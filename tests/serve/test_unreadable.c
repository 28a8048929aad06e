/* Which segments are noted as unreadable, by whom, and for how long: only those can be given up. */
#define _POSIX_C_SOURCE 200809L
#include "serve/leader/leader.h"
#include "serve/leader/unreadable.h"
#include "support/database.h"
#include "support/steps.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LONG_MS = 3600000, MANY = 200, OTHERS = 150 }; /* nothing leaves before a collection asks */

static const char noted[] = "SELECT count(*) FROM segment WHERE unreadable IS NOT NULL";
static const char not_noted[] = "SELECT count(*) FROM segment WHERE unreadable IS NULL";
static const char added_up[] = "SELECT CAST(coalesce(sum(reports), 0) AS BIGINT)"
                               " FROM sub_aggregate";

/* A segment of many reports and one of fewer, which are read back from the disk. */
static void open_two(sotto_test *t, sotto_test_service *s)
{
    sotto_test_service_open(
        t, s, &(sotto_test_service_options){.job_delay_ms = LONG_MS, .job_reports = 1000});
    atomic_fetch_add(&sotto_leader_of(s->leader)->cached_bytes, (size_t)1 << 40);
    sotto_test_upload_some(t, s, MANY, 1, SOTTO_TEST_SOUND);
    sotto_test_upload_some(t, s, OTHERS, 1, SOTTO_TEST_SOUND);
}

static sotto_status give_up(sotto_test *t, sotto_test_service *s, const char *which)
{
    sotto_giving_up g = {.segment = sotto_test_ask_number(t, s->leader->db, which),
                         .reason = "the disk is gone"};

    return sotto_db_run(s->leader->db, sotto_unreadable_give_up, &g, &t->err);
}

/* ---- what can't be read --------------------------------------------------------------------------------------- */

/* Its bytes open, and are not what its row says: the others go on without it, and it can be given up. */
static void a_damaged_row_holds_up_no_other(sotto_test *t)
{
    sotto_test_service s;

    open_two(t, &s);
    sotto_test_do(t, s.leader->db, "UPDATE segment SET reports = 199 WHERE reports = 200");
    sotto_test_want(t, &s);
    CHECK(t, sotto_test_comes(t, s.leader->db, added_up));
    CHECK_EQUAL(t, OTHERS, sotto_test_ask_number(t, s.leader->db, added_up));
    CHECK(t, sotto_test_comes(t, s.leader->db, noted));
    CHECK_OK(t, give_up(t, &s, "SELECT n FROM segment"));
    sotto_test_check_sum(t, &s, OTHERS);
    sotto_test_service_close(&s);
}

/* As when a damaged file was mended by a tool that saved what it could. */
static void a_segment_without_its_body_is_noted(sotto_test *t)
{
    static const char *const lost[] = {
        "DELETE FROM segment_body WHERE segment = (SELECT n FROM segment WHERE reports = 200)",
        "DELETE FROM segment_key WHERE segment = (SELECT n FROM segment WHERE reports = 200)",
    };

    for (size_t i = 0; i < 2; i++) {
        sotto_test_service s;

        open_two(t, &s);
        sotto_test_do(t, s.leader->db, lost[i]);
        sotto_test_want(t, &s);
        CHECK(t, sotto_test_comes(t, s.leader->db, noted));
        CHECK_OK(t, give_up(t, &s, "SELECT n FROM segment WHERE reports = 200"));
        sotto_test_check_sum(t, &s, OTHERS);
        sotto_test_service_close(&s);
    }
}

static sotto_status skip_too_many(sotto_tx *tx, void *context, sotto_err *err)
{
    uint8_t all[(OTHERS + 7) / 8];
    sotto_sql q;

    (void)context;
    memset(all, 0xff, sizeof all);
    SOTTO_TRY(sotto_sql_prepare(tx, &q, "UPDATE segment SET skip = ?1 WHERE reports = 150", err));
    sotto_sql_bytes(&q, 1, sotto_bytes_of(all, sizeof all));
    return sotto_sql_run(&q, NULL, err);
}

/* Its row leaves out more reports than there are. */
static void a_damaged_list_of_skips_is_noted(sotto_test *t)
{
    sotto_test_service s;

    open_two(t, &s);
    CHECK_OK(t, sotto_db_run(s.leader->db, skip_too_many, NULL, &t->err));
    sotto_test_leader_restart(t, &s);
    sotto_test_want(t, &s);
    CHECK(t, sotto_test_comes(t, s.leader->db, noted));
    CHECK_OK(t, give_up(t, &s, "SELECT n FROM segment WHERE reports = 150"));
    sotto_test_check_sum(t, &s, MANY);
    sotto_test_service_close(&s);
}

static sotto_status lengthen_name(sotto_tx *tx, void *context, sotto_err *err)
{
    static const uint8_t name[64];
    sotto_sql q;

    (void)context;
    SOTTO_TRY(sotto_sql_prepare(tx, &q, "UPDATE job SET batch = ?1", err));
    sotto_sql_bytes(&q, 1, sotto_bytes_of(name, sizeof name));
    return sotto_sql_run(&q, NULL, err);
}

/* Nothing says any more which batch a job is of, but its segments' bucket: there its reports are counted. */
static void a_job_whose_batch_is_damaged_is_counted_in_its_bucket(sotto_test *t)
{
    sotto_test_service s;

    open_two(t, &s);
    sotto_test_helper_stop(t, &s);
    sotto_test_want(t, &s);
    CHECK(t, sotto_test_comes(t, s.leader->db, "SELECT count(*) FROM job"));
    CHECK_OK(t, sotto_db_run(s.leader->db, lengthen_name, NULL, &t->err));
    CHECK(t, sotto_test_comes(t, s.leader->db, noted));
    CHECK_OK(t, give_up(t, &s, "SELECT max(n) FROM segment"));
    CHECK_EQUAL(t, MANY + OTHERS,
                sotto_test_ask_number(t, s.leader->db,
                                      "SELECT CAST(coalesce(sum(reports), 0) AS BIGINT)"
                                      " FROM rejection WHERE length(batch) = 8"));
    sotto_test_service_close(&s);
}

static atomic_bool bad_sectors;
static ino_t bodies;

static bool is_bad(int fd)
{
    struct stat info;

    if (!atomic_load(&bad_sectors) || fstat(fd, &info) != 0 || info.st_ino != bodies)
        return false;
    errno = EIO;
    return true;
}

static ssize_t read_at(int fd, void *out, size_t len, off_t at)
{
    return is_bad(fd) ? -1 : pread(fd, out, len, at);
}

static ssize_t read_on(int fd, void *out, size_t len)
{
    return is_bad(fd) ? -1 : read(fd, out, len);
}

/* SQLite offers its system calls for exactly this. */
static void spoil_bodies(sotto_test *t, const sotto_test_service *s)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    char path[256];
    struct stat info;

    (void)snprintf(path, sizeof path, "%s-bodies",
                   strchr(s->leader_options.host.database, ':') + 1);
    CHECK(t, stat(path, &info) == 0);
    bodies = info.st_ino;
    (void)vfs->xSetSystemCall(vfs, "pread", (sqlite3_syscall_ptr)read_at);
    (void)vfs->xSetSystemCall(vfs, "pread64", (sqlite3_syscall_ptr)read_at);
    (void)vfs->xSetSystemCall(vfs, "read", (sqlite3_syscall_ptr)read_on);
    atomic_store(&bad_sectors, true);
}

static const char in_the_file[] = "SELECT count(*) FROM segment_body WHERE length(body) = 16";

/* A disk that refuses to read where the bodies lie: they are noted, and read once it does so again, or given up. */
static void a_bad_sector_is_noted(sotto_test *t)
{
    sotto_test_service s;

    if (sotto_test_on_postgres())
        NOT_FOR_THIS_DATABASE(t, "PostgreSQL keeps bodies in rows, not in a file");
    for (unsigned gone = 0; gone < 2; gone++) {
        open_two(t, &s);
        CHECK_EQUAL(t, 2, sotto_test_ask_number(t, s.leader->db, in_the_file));
        spoil_bodies(t, &s);
        sotto_test_want(t, &s);
        CHECK(t, sotto_test_comes(t, s.leader->db, noted));
        if (gone) {
            CHECK_OK(t, give_up(t, &s, "SELECT n FROM segment WHERE reports = 200"));
            CHECK_EQUAL(t, 1, sotto_test_ask_number(t, s.leader->db, noted));
        }
        atomic_store(&bad_sectors, false);
        sotto_test_check_sum(t, &s, gone ? OTHERS : MANY + OTHERS);
        sotto_test_service_close(&s);
    }
}

static sotto_status misplace(sotto_tx *tx, void *context, sotto_err *err)
{
    static const char where[] = "UPDATE segment_body SET body = ?1 WHERE segment ="
                                " (SELECT n FROM segment WHERE reports = 200)";
    const sotto_spool_place *place = context;
    uint8_t wire[SOTTO_SPOOL_SHARED_PLACE_SIZE];
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, where, err));
    sotto_sql_bytes(&q, 1, sotto_bytes_of(wire, sotto_spool_place_write(wire, place)));
    return sotto_sql_run(&q, NULL, err);
}

/* A row that names a place that is another's, or far behind the end, or none: the leader starts all the same. */
static void a_damaged_place_keeps_no_leader_from_starting(sotto_test *t)
{
    static sotto_spool_place places[] = {
        {0, 1 << 20, 0},
        {0, 1 << 30, 0},
        {0, 5000, 0},
        {0, 5000, 7}, /* no file of a directory stands beside SQLite */
        {UINT64_C(1) << 40, 5000, 0},
        {UINT64_MAX, UINT64_MAX, 0}};

    if (sotto_test_on_postgres())
        NOT_FOR_THIS_DATABASE(t, "PostgreSQL keeps bodies in rows, which have no place in a file");
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        sotto_test_service s;

        open_two(t, &s);
        CHECK_OK(t, sotto_db_run(s.leader->db, misplace, &places[i], &t->err));
        sotto_test_leader_restart(t, &s);
        sotto_test_upload_some(t, &s, MANY, 1, SOTTO_TEST_SOUND); /* over nothing that is in use */
        sotto_test_want(t, &s);
        CHECK(t, sotto_test_comes(t, s.leader->db, noted));
        CHECK_OK(t, give_up(t, &s, "SELECT n FROM segment WHERE unreadable IS NOT NULL"));
        sotto_test_check_sum(t, &s, OTHERS + MANY);
        sotto_test_service_close(&s);
    }
}

/* ---- whose note it is ----------------------------------------------------------------------------------------- */

static sotto_status note(sotto_tx *tx, void *finding, sotto_err *err)
{
    return sotto_unreadable_note(tx, finding, err);
}

/* One that was too slow, or lacks a key, says nothing of what another has by now. */
static void a_note_is_its_holders(sotto_test *t)
{
    sotto_test_service s;
    sotto_unreadable_finding f = {.why = "does not open", .job = -1};

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_delay_ms = LONG_MS});
    sotto_test_upload_some(t, &s, MANY, 1, SOTTO_TEST_SOUND);
    f.segment = sotto_test_ask_number(t, s.leader->db, "SELECT n FROM segment");
    f.owner = s.leader->instance ^ 1; /* another replica's, before */
    CHECK_OK(t, sotto_db_run(s.leader->db, note, &f, &t->err));
    f.job = 7; /* a job's, which is over */
    CHECK_OK(t, sotto_db_run(s.leader->db, note, &f, &t->err));
    CHECK_EQUAL(t, 0, sotto_test_ask_number(t, s.leader->db, noted));
    f.job = -1;
    f.owner = s.leader->instance;
    CHECK_OK(t, sotto_db_run(s.leader->db, note, &f, &t->err));
    CHECK_EQUAL(t, 1, sotto_test_ask_number(t, s.leader->db, noted));
    sotto_test_check_sum(t, &s, MANY);
    sotto_test_service_close(&s);
}

/* It is in a job that another replica sent meanwhile. */
static void what_has_a_job_by_now_is_not_noted(sotto_test *t)
{
    sotto_test_service s;
    sotto_unreadable_finding f = {.why = "does not open", .job = -1};

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_delay_ms = 50});
    sotto_server_close(s.helper);
    s.helper = NULL;
    sotto_test_upload_some(t, &s, MANY, 1, SOTTO_TEST_SOUND);
    CHECK(t,
          sotto_test_comes(t, s.leader->db, "SELECT count(*) FROM segment WHERE job IS NOT NULL"));
    f.segment = sotto_test_ask_number(t, s.leader->db, "SELECT n FROM segment");
    f.owner = s.leader->instance;
    CHECK_OK(t, sotto_db_run(s.leader->db, note, &f, &t->err));
    CHECK_EQUAL(t, 0, sotto_test_ask_number(t, s.leader->db, noted));
    CHECK_STATUS(t, SOTTO_DENIED, give_up(t, &s, "SELECT n FROM segment"));
    sotto_test_service_close(&s);
}

/* Reading it takes the note away, whether or not a job can be made of it then. */
static void what_can_be_read_again_is_none_to_give_up(sotto_test *t)
{
    sotto_test_service s;

    open_two(t, &s);
    sotto_test_do(t, s.leader->db, "UPDATE segment SET reports = 199 WHERE reports = 200");
    sotto_test_want(t, &s);
    CHECK(t, sotto_test_comes(t, s.leader->db, noted));
    CHECK(t, sotto_test_comes(t, s.leader->db, added_up));
    sotto_test_do(t, s.leader->db,
                  "ALTER TABLE job RENAME COLUMN added TO away"); /* no job is stored */
    sotto_test_do(t, s.leader->db, "UPDATE segment SET reports = 200 WHERE reports = 199");
    CHECK(t, sotto_test_comes(t, s.leader->db, not_noted));
    CHECK_STATUS(t, SOTTO_DENIED, give_up(t, &s, "SELECT n FROM segment"));
    sotto_test_do(t, s.leader->db, "ALTER TABLE job RENAME COLUMN away TO added");
    sotto_test_check_sum(t, &s, MANY + OTHERS);
    sotto_test_service_close(&s);
}

/* ---- databases from before ------------------------------------------------------------------------------------ */

/* A leader of the version before left reports that wait, and a job that was sent. */
static void a_database_from_before_notes_is_taken_along(sotto_test *t)
{
    static const char *const back[] = {
        "DROP INDEX segment_unreadable",
        "ALTER TABLE segment DROP COLUMN unreadable",
        "DROP TABLE abandoned",
        "DROP TABLE owner",
        "DROP TABLE hpke_former",
        "ALTER TABLE hpke_key DROP COLUMN use_from",
        "ALTER TABLE hpke_key DROP COLUMN use_until",
        "ALTER TABLE hpke_key DROP COLUMN use_next",
        "ALTER TABLE hpke_key DROP COLUMN named",
        "DROP TABLE refused",
        "DROP TABLE token_key",
        "DROP TABLE arc_key",
        "DROP TABLE spent",
        "DROP TABLE round_noise",
        "DROP TABLE fold",
        "ALTER TABLE sub_aggregate DROP COLUMN fold",
        "ALTER TABLE job DROP COLUMN fold",
        "DROP INDEX release_unerased",
        "ALTER TABLE release DROP COLUMN erased",
        "DELETE FROM sotto_schema WHERE number >= 7",
    };
    sotto_test_service s;

    open_two(t, &s);
    sotto_test_do(t, s.leader->db, "ALTER TABLE sub_aggregate RENAME COLUMN checksum TO away");
    sotto_test_want(t, &s);
    CHECK(t, sotto_test_comes(t, s.leader->db, "SELECT count(*) FROM job"));
    sotto_test_upload_some(t, &s, MANY, 1, SOTTO_TEST_SOUND);
    for (size_t i = 0; i < sizeof back / sizeof back[0]; i++)
        sotto_test_do(t, s.leader->db, back[i]);
    sotto_test_do(t, s.leader->db, "ALTER TABLE sub_aggregate RENAME COLUMN away TO checksum");
    sotto_test_leader_restart(t, &s);
    sotto_test_check_sum(t, &s, MANY + OTHERS + MANY);
    sotto_test_service_close(&s);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_damaged_row_holds_up_no_other),
        CASE(a_segment_without_its_body_is_noted),
        CASE(a_job_whose_batch_is_damaged_is_counted_in_its_bucket),
        CASE(a_damaged_list_of_skips_is_noted),
        CASE(a_bad_sector_is_noted),
        CASE(a_damaged_place_keeps_no_leader_from_starting),
        CASE(a_note_is_its_holders),
        CASE(what_has_a_job_by_now_is_not_noted),
        CASE(what_can_be_read_again_is_none_to_give_up),
        CASE(a_database_from_before_notes_is_taken_along),
    };

    return RUN_TESTS(argc, argv, cases);
}
