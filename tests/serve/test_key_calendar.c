/* Keys and parties files: what was exported stays true, so that a change of keys makes no other task, and operators are told
 * before files that were published stop working. */
#define _POSIX_C_SOURCE 200809L
#include "recipe/calendar.h"
#include "recipe/model.h"
#include "recipe/task.h"
#include "serve/host/host.h"
#include "serve/host/keys.h"
#include "serve/tasks/schema.h"
#include "serve/tasks/server.h"
#include "serve/tasks/task_health.h"
#include "sim/clock.h"
#include "support/database.h"
#include "support/prio3.h"
#include "support/recipes.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { DAY = 86400, HOUR = 3600, LIFE = 84 * DAY, LEAD = LIFE, YEARS = 3 * 365, TEXT = 1 << 14 };

#define START INT64_C(1790000000) /* in September 2026 */

static const sotto_column_keys columns = {.count = 1, .key = {{7}}};

static sotto_keys *ring_at(sotto_test *t, sotto_db *db, const sotto_key_times *times, int64_t now)
{
    uint8_t info[SOTTO_DAP_INFO_MAX];
    sotto_keys *keys = NULL;

    CHECK_OK(t, sotto_keys_open(&keys, db, &columns, sotto_role_info(info, SOTTO_HELPER), times,
                                now, NULL, &t->err));
    return keys;
}

static sotto_db *migrated(sotto_test *t)
{
    sotto_db *db = sotto_test_db_at(t, sotto_test_address(t));

    CHECK_OK(t, sotto_db_migrate(db, sotto_serve_migrations, SOTTO_SERVE_MIGRATIONS, &t->err));
    return db;
}

/* ---- what a file has ------------------------------------------------------------------------------------- */

typedef struct file_key {
    uint8_t id;
    sotto_key_state state;
    sotto_key_use use;
    char hex[2 * SOTTO_KEY_CONFIG + 1];
} file_key;

typedef struct file {
    size_t count;
    file_key keys[SOTTO_KEYS_EXPORTED];
} file;

static sotto_status take(void *context, const sotto_key_line *line, sotto_err *err)
{
    file *f = context;
    file_key *key = &f->keys[f->count++];
    uint8_t memory[SOTTO_KEY_CONFIG];
    sotto_buf wire = sotto_buf_over(memory, sizeof memory);

    SOTTO_TRY(sotto_hpke_config_encode(&wire, &line->config, err));
    *key = (file_key){line->config.id, line->state, line->use, {0}};
    for (size_t i = 0; i < wire.len; i++)
        (void)snprintf(key->hex + 2 * i, 3, "%02x", memory[i]);
    return SOTTO_OK;
}

static file export_at(sotto_test *t, sotto_keys *keys, int64_t now)
{
    file f = {0};

    CHECK_OK(t, sotto_keys_rotate(keys, now, &t->err));
    CHECK_OK(t, sotto_keys_export(keys, now, take, &f, &t->err));
    return f;
}

static const file_key *find(const file *f, const char *hex)
{
    for (size_t i = 0; i < f->count; i++)
        if (strcmp(f->keys[i].hex, hex) == 0)
            return &f->keys[i];
    return NULL;
}

static int64_t known_until(const file *f)
{
    int64_t known = 0;

    for (size_t i = 0; i < f->count; i++)
        known = f->keys[i].use.next > known ? f->keys[i].use.next : known;
    return known;
}

static bool has_key_at(const file *f, int64_t time)
{
    for (size_t i = 0; i < f->count; i++)
        if (f->keys[i].use.from <= time && f->keys[i].use.until > time)
            return true;
    return false;
}

/* That both files name the same keys for all that a recipe needs which they know enough for. */
static void check_agree(sotto_test *t, const file *old, const file *new, int64_t made)
{
    const int64_t known = known_until(old);

    CHECK(t, known >= made + LEAD);
    for (size_t i = 0; i < new->count; i++) {
        const file_key *key = find(old, new->keys[i].hex);

        CHECK(t, key || new->keys[i].use.from >= known);
        CHECK(t, !key || memcmp(&key->use, &new->keys[i].use, sizeof key->use) == 0);
    }
    for (size_t i = 0; i < old->count; i++) /* a recipe may have opened that long ago */
        CHECK(t, find(new, old->keys[i].hex) || old->keys[i].use.until <= made + 30 * DAY - LIFE);
}

/* An application that ships a file has LEAD until it must ship another, on whatever day it was made. */
static void a_file_names_every_key_that_is_used_within_the_lead(sotto_test *t)
{
    static file files[YEARS];
    sotto_db *db = migrated(t);
    sotto_keys *keys = ring_at(t, db, &(sotto_key_times){0}, START);

    for (int i = 0; i < YEARS; i++) {
        const int64_t now = START + i * (int64_t)DAY;

        files[i] = export_at(t, keys, now);
        CHECK(t, files[i].count <= 8);
        for (int64_t time = now; time < now + LEAD + LIFE / 2; time += DAY)
            CHECK(t, has_key_at(&files[i], time));
        for (int back = 1; back <= 30 && back <= i; back++)
            check_agree(t, &files[i - back], &files[i], now - back * (int64_t)DAY);
    }
    sotto_keys_close(keys);
    sotto_db_close(db);
}

/* Two are in use side by side for half of their lives. */
static void a_successor_comes_into_use_at_half_of_a_life(sotto_test *t)
{
    sotto_db *db = migrated(t);
    sotto_keys *keys = ring_at(t, db, &(sotto_key_times){0}, START);

    for (int i = 0; i < YEARS; i++) {
        const file f = export_at(t, keys, START + i * (int64_t)DAY);

        for (size_t k = 0; k + 1 < f.count; k++) {
            CHECK_EQUAL(t, LIFE, f.keys[k].use.until - f.keys[k].use.from);
            CHECK_EQUAL(t, LIFE / 2, f.keys[k + 1].use.from - f.keys[k].use.from);
            CHECK_EQUAL(t, f.keys[k].use.next, f.keys[k + 1].use.from);
        }
    }
    sotto_keys_close(keys);
    sotto_db_close(db);
}

/* ---- tasks ------------------------------------------------------------------------------------------------ */

static const char *at(sotto_test *t, int64_t time)
{
    char *out = sotto_test_take(t, SOTTO_CALENDAR_TEXT);

    sotto_calendar_format_time(out, time);
    return out;
}

/* One ring for both servers: what is asked is the same of each. */
static const sotto_parties *parties_of(sotto_test *t, const file *f)
{
    char *out = sotto_test_take(t, TEXT), *list = sotto_test_take(t, TEXT);
    sotto_mistakes *mistakes = sotto_test_take(t, sizeof *mistakes);
    const sotto_parties *parties = NULL;

    list[0] = 0;
    for (size_t i = 0; i < f->count; i++)
        (void)snprintf(list + strlen(list), TEXT - strlen(list),
                       "%s{\"config\": \"%s\", \"from\": \"%s\", \"until\": \"%s\","
                       " \"next\": \"%s\"}",
                       i > 0 ? ", " : "", f->keys[i].hex, at(t, f->keys[i].use.from),
                       at(t, f->keys[i].use.until), at(t, f->keys[i].use.next));
    (void)snprintf(out, TEXT,
                   "{\"key:leader-2026a\": {\"role\": \"leader\", \"url\": \"https://l.example/\","
                   " \"hpke\": [%s]}, \"key:helper-2026a\": {\"role\": \"helper\","
                   " \"url\": \"https://h.example/\", \"hpke\": [%s]}}",
                   list, list);
    CHECK_OK(t, sotto_parties_read(&parties, sotto_bytes_of(out, strlen(out)), &t->arena, mistakes,
                                   &t->err));
    return parties;
}

static sotto_status compile(sotto_test *t, sotto_task *task, const file *f, int64_t opens,
                            int64_t closes)
{
    sotto_mistakes *mistakes = sotto_test_take(t, sizeof *mistakes);
    const sotto_recipe *recipe = NULL;
    sotto_bytes text = sotto_test_replace(t, sotto_recipe_example(), "2026-11-20T00:00:00Z",
                                          at(t, opens / HOUR * HOUR));

    text = sotto_test_replace(t, (const char *)text.data, "2026-11-27T00:00:00Z",
                              at(t, closes / HOUR * HOUR));
    CHECK_OK(t, sotto_recipe_read(&recipe, text, &t->arena, mistakes, &t->err));
    return sotto_task_compile(task, recipe, parties_of(t, f), 0, &t->arena, &t->err);
}

/* A recipe of a week, open while one key comes into use and another ends. Files of two months before, of its start, and of
 * its end make one task; one that is too old to know a key that it needs makes none. */
static void a_change_of_keys_makes_no_other_task(sotto_test *t)
{
    enum { OPENS = 80, CLOSES = 87 };
    static const int days[] = {10, 30, 60, 79, 80, 83, 85, 87, 94, 120};
    sotto_db *db = migrated(t);
    sotto_keys *keys = ring_at(t, db, &(sotto_key_times){0}, START);
    const int64_t opens = START + OPENS * (int64_t)DAY, closes = START + CLOSES * (int64_t)DAY;
    sotto_task first, other;
    file f;

    for (size_t i = 0; i < sizeof days / sizeof days[0]; i++) {
        f = export_at(t, keys, START + days[i] * (int64_t)DAY);
        CHECK_OK(t, compile(t, i == 0 ? &first : &other, &f, opens, closes));
        CHECK(t, i == 0 || memcmp(first.id, other.id, sizeof first.id) == 0);
    }
    sotto_keys_close(keys);
    sotto_db_close(db);
}

static void a_file_that_is_too_old_makes_no_task(sotto_test *t)
{
    sotto_db *db = migrated(t);
    sotto_keys *keys = ring_at(t, db, &(sotto_key_times){0}, START);
    const file f = export_at(t, keys, START);
    const int64_t last = known_until(&f) - SOTTO_SEAL_GRACE;
    sotto_task task;

    CHECK_OK(t, compile(t, &task, &f, last - 7 * DAY, last));
    CHECK_STATUS(t, SOTTO_DENIED, compile(t, &task, &f, last - 7 * DAY, last + HOUR));
    CHECK_REASON(t, "a newer parties file is needed");
    sotto_keys_close(keys);
    sotto_db_close(db);
}

/* ---- keys out of turn ------------------------------------------------------------------------------------- */

/* As it was before keys had times. The key in use keeps the times that it was exported with. The next comes as late as it
 * can, since files that are out there do not name it. */
static void a_key_of_an_earlier_version_keeps_its_times(sotto_test *t)
{
    const int64_t now = START + 60 * (int64_t)DAY;
    sotto_db *db = migrated(t);
    sotto_keys *keys = ring_at(t, db, &(sotto_key_times){0}, START);
    file f;

    sotto_test_do(t, db, "DELETE FROM hpke_key WHERE state = 1");
    sotto_test_do(t, db, "UPDATE hpke_key SET use_from = 0, use_until = 0, use_next = 0");
    f = export_at(t, keys, now);
    CHECK(t, f.count >= 2);
    CHECK(t, f.keys[0].use.from == START && f.keys[0].use.until == START + LIFE);
    CHECK_EQUAL(t, START + LIFE - 2 * HOUR, f.keys[1].use.from);
    CHECK(t, known_until(&f) >= now + LEAD);
    sotto_keys_close(keys);
    sotto_db_close(db);
}

/* A server that was away when a key had to be made: files of before name none that is used later, so it waits. */
static void a_key_that_is_made_late_is_used_late(sotto_test *t)
{
    const sotto_key_times times = {HOUR, LIFE, 7 * DAY, 20 * DAY};
    const int64_t now =
        START + 50 * (int64_t)DAY; /* it should have been made at 22, and used at 42 */
    sotto_db *db = migrated(t);
    sotto_keys *keys = ring_at(t, db, &times, START);
    file f = export_at(t, keys, now);

    CHECK_EQUAL(t, 2, f.count);
    CHECK_EQUAL(t, now + 20 * DAY, f.keys[1].use.from);
    sotto_keys_close(keys);
    sotto_db_close(db);
}

static void a_key_that_is_wanted_at_once_comes_between(sotto_test *t)
{
    const int64_t now = START + DAY;
    sotto_db *db = migrated(t);
    sotto_keys *keys = ring_at(t, db, &(sotto_key_times){0}, START);
    file before = export_at(t, keys, now), after;

    CHECK_OK(t, sotto_keys_renew(keys, now, &t->err));
    CHECK_OK(t, sotto_keys_renew(keys, now, &t->err)); /* one is enough */
    after = export_at(t, keys, now);
    CHECK_EQUAL(t, before.count + 1, after.count);
    CHECK(t, !find(&before, after.keys[1].hex));
    CHECK_EQUAL(t, now + HOUR, after.keys[1].use.from);
    CHECK_EQUAL(t, after.keys[2].use.from, after.keys[1].use.next);
    CHECK_EQUAL(t, known_until(&before), known_until(&after));
    sotto_keys_close(keys);
    sotto_db_close(db);
}

/* What was deleted early is in the file until then, and a key that was never used is not. */
static void a_deleted_key_ends_in_the_file(sotto_test *t)
{
    const int64_t now = START + 50 * (int64_t)DAY;
    sotto_db *db = migrated(t);
    sotto_keys *keys = ring_at(t, db, &(sotto_key_times){0}, START);
    const file before = export_at(t, keys, now);
    const file_key used = before.keys[0], unused = before.keys[before.count - 1];
    file after;

    CHECK(t, used.state == SOTTO_KEY_ACTIVE && unused.state == SOTTO_KEY_PENDING);
    CHECK_OK(t, sotto_keys_delete(keys, used.id, now, &t->err));
    CHECK_OK(t, sotto_keys_delete(keys, unused.id, now, &t->err));
    after = export_at(t, keys, now);
    CHECK(t, find(&after, used.hex) && !find(&after, unused.hex));
    CHECK_EQUAL(t, used.use.from, find(&after, used.hex)->use.from);
    CHECK_EQUAL(t, now, find(&after, used.hex)->use.until);
    CHECK_EQUAL(t, 0, (int)find(&after, used.hex)->state);
    sotto_keys_close(keys);
    sotto_db_close(db);
}

/* ---- operators are told ----------------------------------------------------------------------------------- */

static sotto_status name_all(sotto_tx *tx, void *context, sotto_err *err)
{
    const file *f = context;

    for (size_t i = 0; i < f->count; i++)
        SOTTO_TRY(sotto_keys_name(tx, f->keys[i].id, err));
    return SOTTO_OK;
}

static void publish(sotto_test *t, sotto_db *db, sotto_keys *keys, int64_t now)
{
    file f = export_at(t, keys, now);

    CHECK_OK(t, sotto_db_run(db, name_all, &f, &t->err));
    CHECK_OK(t, sotto_keys_rotate(keys, now, &t->err));
}

/* Half of the lead before a key comes into use that no file names. */
static void files_are_called_outdated_in_time(sotto_test *t)
{
    sotto_db *db = migrated(t);
    sotto_keys *keys = ring_at(t, db, &(sotto_key_times){0}, START);
    sotto_keys_known known = sotto_keys_known_until(keys, START + 1000 * (int64_t)DAY);
    const int64_t until = START + 3 * (int64_t)LIFE / 2; /* three keys are there from the start */
    int64_t now = START;

    CHECK(t, !known.named && !known.soon); /* nobody has a file */
    publish(t, db, keys, now);
    known = sotto_keys_known_until(keys, now);
    CHECK(t, known.named && !known.soon);
    CHECK_EQUAL(t, until, known.until);
    for (now = START + DAY; now < until - LEAD / 2; now += DAY) {
        CHECK_OK(t, sotto_keys_rotate(keys, now, &t->err));
        known = sotto_keys_known_until(keys, now);
        CHECK(t, !known.soon && known.until == until);
    }
    CHECK_OK(t, sotto_keys_rotate(keys, now, &t->err));
    known = sotto_keys_known_until(keys, now);
    CHECK(t, known.soon && known.until == until);
    publish(t, db, keys, now);
    known = sotto_keys_known_until(keys, now);
    CHECK(t, !known.soon && known.until > until);
    sotto_keys_close(keys);
    sotto_db_close(db);
}

typedef struct heard {
    atomic_uint times; /* by the server's own thread */
    char until[SOTTO_CALENDAR_TEXT];
} heard;

static void hear(void *context, const sotto_log_event *event)
{
    heard *h = context;

    if (strcmp(event->name, "parties.outdated_soon") != 0)
        return;
    for (size_t i = 0; i < event->count; i++)
        if (strcmp(event->fields[i].key, "good_until") == 0)
            (void)snprintf(h->until, sizeof h->until, "%s", event->fields[i].value.text);
    atomic_fetch_add(&h->times, 1);
}

static bool describes(sotto_server *server, const char *text)
{
    char memory[4096] = "";
    sotto_buf out = sotto_buf_over((uint8_t *)memory, sizeof memory - 1);
    sotto_task_health_view view = {
        .tasks = 1, .keys = sotto_keys_known_until(server->keys, sotto_host_seconds(server->host))};

    sotto_task_health_describe(&view, &out);
    return strstr(memory, text) != NULL;
}

static void nap(long ms)
{
    (void)nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

/* Health says it for as long as it is so, and the log once a day. */
static void operators_are_told_before_files_stop_working(sotto_test *t)
{
    static const uint64_t SECOND = 1000000000;
    sotto_sim_clock state = {.wall = (uint64_t)START * SECOND};
    sotto_clock clock = sotto_sim_clock_of(&state);
    heard h = {0};
    sotto_server_options options = {
        .role = SOTTO_HELPER,
        .host.listen = "127.0.0.1:0",
        .host.clock = &clock,
        .host.log = {.write = hear, .context = &h, .lowest = SOTTO_LOG_DEBUG}};
    sotto_server *server = NULL;

    options.host.database = sotto_test_address(t);
    options.host.datastore_key = sotto_test_temp(t, "told.key");
    CHECK_OK(t, sotto_server_open(&server, &options, &t->err));
    publish(t, server->db, server->keys, START);
    for (unsigned day = 0; day < (3 * LIFE / 2 - LEAD / 2) / DAY; day++) {
        CHECK(t, !describes(server, "parties files"));
        sotto_sim_clock_advance(&state, DAY * SECOND);
        CHECK_OK(t, sotto_keys_rotate(server->keys, sotto_host_seconds(server->host), &t->err));
    }
    CHECK(t, describes(server, "parties files: good until 20"));
    for (uint64_t until = 0; atomic_load(&h.times) == 0 && sotto_test_waits(&until, 20);)
        ;
    nap(2500); /* two more of its looks */
    CHECK_EQUAL(t, 1, atomic_load(&h.times));
    CHECK(t, strcmp(h.until, at(t, START + 3 * (int64_t)LIFE / 2)) == 0);
    sotto_sim_clock_advance(&state, DAY * SECOND);
    for (uint64_t until = 0; atomic_load(&h.times) == 1 && sotto_test_waits(&until, 20);)
        ;
    CHECK_EQUAL(t, 2, atomic_load(&h.times));
    sotto_server_close(server);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_file_names_every_key_that_is_used_within_the_lead),
        CASE(a_successor_comes_into_use_at_half_of_a_life),
        CASE(a_change_of_keys_makes_no_other_task),
        CASE(a_file_that_is_too_old_makes_no_task),
        CASE(a_key_of_an_earlier_version_keeps_its_times),
        CASE(a_key_that_is_made_late_is_used_late),
        CASE(a_key_that_is_wanted_at_once_comes_between),
        CASE(a_deleted_key_ends_in_the_file),
        CASE(files_are_called_outdated_in_time),
        CASE(operators_are_told_before_files_stop_working),
    };

    return RUN_TESTS(argc, argv, cases);
}
