/* A parties file may name, in a server's place, that server's keys and nobody else's: at the start of a task, and later. */
#define _POSIX_C_SOURCE 200809L
#include "recipe/calendar.h"
#include "recipe/model.h"
#include "serve/host/keys.h"
#include "serve/tasks/listing.h"
#include "serve/tasks/schema.h"
#include "serve/tasks/server.h"
#include "support/database.h"
#include "support/devices.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { TEXT = 8192, DAY = 86400, HEX = 256 };

/* ---- two operators and a stranger ------------------------------------------------------------------------- */

static const sotto_column_keys columns = {.count = 1, .key = {{7}}};
static sotto_test_phone phone;

typedef struct operators {
    sotto_db *db[2];     /* leader's, helper's                     */
    char config[2][HEX]; /* of the key in use, as text             */
    int64_t now, opens, closes;
    sotto_bytes recipe;
} operators;

static const sotto_role roles[] = {SOTTO_LEADER, SOTTO_HELPER};

static const char *hex_of(char out[HEX], sotto_bytes bytes)
{
    out[0] = 0;
    for (size_t i = 0; i < bytes.len && 2 * i + 2 < HEX; i++)
        (void)snprintf(out + 2 * i, 3, "%02x", bytes.data[i]);
    return out;
}

static sotto_status take_config(void *context, const sotto_key_line *line, sotto_err *err)
{
    uint8_t memory[SOTTO_KEY_CONFIG];
    sotto_buf wire = sotto_buf_over(memory, sizeof memory);

    SOTTO_TRY(sotto_hpke_config_encode(&wire, &line->config, err));
    if (line->state == SOTTO_KEY_ACTIVE)
        (void)hex_of(context, sotto_buf_bytes(&wire));
    return SOTTO_OK;
}

static sotto_keys *ring_of(sotto_test *t, const operators *o, unsigned side)
{
    uint8_t info[SOTTO_DAP_INFO_MAX];
    sotto_keys *keys = NULL;

    CHECK_OK(t, sotto_keys_open(&keys, o->db[side], &columns, sotto_role_info(info, roles[side]),
                                &(sotto_key_times){0}, o->now, NULL, &t->err));
    return keys;
}

static const char *at(sotto_test *t, int64_t time)
{
    char *out = sotto_test_take(t, SOTTO_CALENDAR_TEXT);

    sotto_calendar_format_time(out, time);
    return out;
}

static void begin(sotto_test *t, operators *o)
{
    sotto_bytes text = sotto_test_sure_recipe(t, "50001", NULL, NULL);

    *o = (operators){.now = time(NULL)};
    o->opens = (o->now / DAY - 1) * DAY;
    o->closes = o->opens + 7 * DAY;
    text = sotto_test_replace(t, (const char *)text.data, "2026-11-20T00:00:00Z", at(t, o->opens));
    o->recipe =
        sotto_test_replace(t, (const char *)text.data, "2026-11-27T00:00:00Z", at(t, o->closes));
    for (unsigned side = 0; side < 2; side++) {
        sotto_keys *keys;

        o->db[side] = sotto_test_db_at(t, sotto_test_address(t));
        CHECK_OK(t, sotto_db_migrate(o->db[side], sotto_serve_migrations, SOTTO_SERVE_MIGRATIONS,
                                     &t->err));
        keys = ring_of(t, o, side);
        CHECK_OK(t, sotto_keys_list(keys, take_config, o->config[side], &t->err));
        sotto_keys_close(keys);
    }
}

static void end(operators *o)
{
    for (unsigned side = 0; side < 2; side++)
        sotto_db_close(o->db[side]);
}

static sotto_hpke_key stranger(sotto_test *t)
{
    uint8_t ikm[32] = {'?'};
    sotto_hpke_key key;

    CHECK_OK(t, sotto_hpke_key_derive(&key, SOTTO_HPKE_KEM_X25519, sotto_bytes_of(ikm, sizeof ikm),
                                      &t->err));
    return key;
}

/* A key beside the own one of a side, listed before or behind it. */
typedef struct intruder {
    unsigned side;
    bool before;
    int64_t from, until;
} intruder;

enum { STRANGE_ID = 77 };

static void write_entry(sotto_test *t, char *out, const char *config, int64_t from, int64_t until,
                        const char *comma)
{
    size_t used = strlen(out);

    (void)snprintf(out + used, TEXT - used,
                   "%s{\"config\": \"%s\", \"from\": \"%s\", \"until\": \"%s\"}", comma, config,
                   at(t, from), at(t, until));
}

static sotto_bytes parties_of(sotto_test *t, const operators *o, const intruder *in)
{
    static const char *const names[] = {"leader", "helper"};
    const sotto_hpke_key key = stranger(t);
    const sotto_hpke_config config =
        sotto_hpke_config_of(&key, STRANGE_ID, SOTTO_HPKE_KDF_SHA256, SOTTO_HPKE_AEAD_AES128_GCM);
    uint8_t memory[SOTTO_KEY_CONFIG];
    sotto_buf wire = sotto_buf_over(memory, sizeof memory);
    char *out = sotto_test_take(t, TEXT), strange[HEX];
    const int64_t from = o->opens - 30 * DAY, until = o->closes + 60 * DAY;

    CHECK_OK(t, sotto_hpke_config_encode(&wire, &config, &t->err));
    (void)hex_of(strange, sotto_buf_bytes(&wire));
    (void)snprintf(out, TEXT, "{");
    for (unsigned side = 0; side < 2; side++) {
        bool with = in && in->side == side;

        (void)snprintf(out + strlen(out), TEXT - strlen(out),
                       "\"key:%s-2026a\": {\"role\": \"%s\", \"url\": \"https://%s.example/\","
                       " \"hpke\": [",
                       names[side], names[side], names[side]);
        if (with && in->before)
            write_entry(t, out, strange, in->from, in->until, "");
        write_entry(t, out, o->config[side], from, until, with && in->before ? ", " : "");
        if (with && !in->before)
            write_entry(t, out, strange, in->from, in->until, ", ");
        (void)snprintf(out + strlen(out), TEXT - strlen(out), "]}, ");
    }
    (void)snprintf(out + strlen(out), TEXT - strlen(out),
                   "\"key:collector-2026a\": {\"role\": \"collector\", \"hpke\": [");
    write_entry(t, out, strange, from, until, "");
    (void)snprintf(out + strlen(out), TEXT - strlen(out), "]}}");
    return sotto_bytes_of(out, strlen(out));
}

static sotto_status add(sotto_test *t, const operators *o, unsigned side, sotto_bytes parties,
                        uint8_t id[2 * SOTTO_TASK_ID_SIZE])
{
    sotto_mistakes *mistakes = sotto_arena_take(&t->arena, sizeof *mistakes);
    sotto_buf ids = sotto_buf_over(id, 2 * SOTTO_TASK_ID_SIZE);

    CHECK(t, mistakes != NULL);
    return sotto_tasks_add(o->db[side], &columns, roles[side], o->recipe, parties, 0,
                           sotto_bytes_of(NULL, 0), &ids, mistakes, &t->err);
}

/* ---- adding ------------------------------------------------------------------------------------------------ */

/* Whatever its place in the list, and however short its time, from now until devices seal no more. */
static void a_stranger_s_key_in_this_server_s_place_is_refused(sotto_test *t)
{
    uint8_t id[2 * SOTTO_TASK_ID_SIZE];
    operators o;

    begin(t, &o);
    for (unsigned side = 0; side < 2; side++)
        for (unsigned before = 0; before < 2; before++) {
            const int64_t last = o.closes + SOTTO_SEAL_GRACE;
            const struct {
                int64_t from, until;
                bool refused;
            } cases[] = {{o.opens - DAY, last + DAY, true},
                         {o.opens - 60 * DAY, last + DAY, true}, /* an earlier from than the own */
                         {o.now + DAY, o.now + DAY + 1, true},
                         {o.closes, last + DAY, true},
                         {last - 1, last + DAY, true},
                         {last, last + DAY, true},
                         {last + 1, last + DAY, false},
                         {o.opens - DAY, o.now - 1, false}};

            for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
                const intruder in = {side, before != 0, cases[i].from, cases[i].until};
                const sotto_bytes parties = parties_of(t, &o, &in);
                char wanted[128];

                t->err = (sotto_err){0};
                CHECK_STATUS(t, cases[i].refused ? SOTTO_DENIED : SOTTO_OK,
                             add(t, &o, side, parties, id));
                (void)snprintf(wanted, sizeof wanted, "config %u (%s to %s)", STRANGE_ID,
                               at(t, in.from), at(t, in.until));
                CHECK(t, !cases[i].refused || strstr(t->err.reason, wanted));
                CHECK(t, !cases[i].refused || strstr(t->err.reason, "keys export`"));
                /* The other side answers for its own name, and the ids are compared. */
                CHECK_OK(t, add(t, &o, 1 - side, parties, id));
            }
        }
    end(&o);
}

/* That is how a server knows which of its keys devices have (serve/host/keys.h, sotto_keys_known_until). */
static void a_task_that_is_added_names_keys(sotto_test *t)
{
    uint8_t id[2 * SOTTO_TASK_ID_SIZE];
    const intruder in = {1, true, 0, 1};
    operators o;

    begin(t, &o);
    CHECK_EQUAL(t, 3, sotto_test_ask_number(t, o.db[1], "SELECT count(*) FROM hpke_key"));
    CHECK_OK(t, add(t, &o, 1, parties_of(t, &o, &in), id));
    CHECK_EQUAL(t, 1,
                sotto_test_ask_number(t, o.db[1], "SELECT count(*) FROM hpke_key WHERE named = 1"));
    CHECK_EQUAL(t, 1,
                sotto_test_ask_number(
                    t, o.db[1], "SELECT count(*) FROM hpke_key WHERE named = 1 AND state = 2"));
    end(&o);
}

/* ---- the attack --------------------------------------------------------------------------------------------- */

static sotto_bytes half_of(const sotto_test_upload *upload, unsigned half, uint8_t *config_id,
                           sotto_bytes *enc)
{
    sotto_reader in = sotto_reader_over(upload->body);
    sotto_bytes payload = {NULL, 0};

    (void)sotto_read_bytes(&in, SOTTO_REPORT_ID_SIZE + 8 + 2);
    (void)sotto_read_opaque32(&in);
    for (unsigned i = 0; i <= half; i++) {
        *config_id = (uint8_t)sotto_read_uint(&in, 1);
        *enc = sotto_read_opaque16(&in);
        payload = sotto_read_opaque32(&in);
    }
    return payload;
}

/* A device that has this file answers now, and its leader calls its key outdated on each day after. */
static void run_device(sotto_test *t, const operators *o, sotto_bytes parties)
{
    sotto_test_phone_init(t, &phone, NULL);
    phone.options.parties = parties;
    phone.now = o->now;
    phone.answer = SOTTO_DELIVERY_OUTDATED;
    sotto_test_phone_open(&phone);
    CHECK_OK(t, sotto_device_consent(phone.device, true, &t->err));
    CHECK_OK(t, sotto_device_offer(phone.device, o->recipe, &t->err));
    for (; phone.now < o->closes + SOTTO_SEAL_GRACE; phone.now += DAY)
        (void)sotto_test_tick(&phone);
    sotto_test_phone_close(&phone);
    CHECK(t, phone.uploads > 7);
}

/* The helper's true key, and behind it one of the leader's own making with a later `from`. The helper does not add the task.
 * A device that has the file all the same seals to the helper and never again. And it is not the task that the helper has
 * from an honest file. */
static void a_leader_alone_opens_no_report(sotto_test *t)
{
    uint8_t right[2 * SOTTO_TASK_ID_SIZE], id[2 * SOTTO_TASK_ID_SIZE], helper_id;
    intruder in = {.side = 1};
    sotto_bytes parties, enc;
    operators o;
    char own[3];

    begin(t, &o);
    in.from = o.now + DAY;
    in.until = o.closes + 30 * DAY;
    parties = parties_of(t, &o, &in);
    CHECK_STATUS(t, SOTTO_DENIED, add(t, &o, 1, parties, id));
    CHECK_OK(t, add(t, &o, 0, parties, id)); /* the leader does as it likes */
    run_device(t, &o, parties);
    for (size_t i = 0; i < phone.uploads; i++) {
        (void)half_of(&phone.uploaded[i], 1, &helper_id, &enc);
        (void)snprintf(own, sizeof own, "%02x", helper_id);
        CHECK(t, strncmp(own, o.config[1], 2) == 0);
        CHECK(t, sotto_bytes_equal_vartime(phone.uploaded[0].body, phone.uploaded[i].body));
    }
    t->err = (sotto_err){0};
    CHECK_OK(t, add(t, &o, 1, parties_of(t, &o, NULL), right));
    CHECK(t, memcmp(right, phone.uploaded[0].task, SOTTO_TASK_ID_SIZE) != 0);
    run_device(t, &o, parties_of(t, &o, NULL));
    CHECK_BYTES(t, right, phone.uploaded[0].task, SOTTO_TASK_ID_SIZE);
    end(&o);
}

/* ---- what is stored ------------------------------------------------------------------------------------------ */

static sotto_status count_broken(void *context, const sotto_task_line *line, sotto_err *err)
{
    (void)err;
    *(uint64_t *)context += line->broken != NULL;
    return SOTTO_OK;
}

/* How many of this server's tasks it passes over, and `sotto admin task list` calls broken. */
static uint64_t broken(sotto_test *t, const operators *o, unsigned side)
{
    sotto_tasks *tasks = NULL;
    uint64_t listed = 0, count;

    CHECK_OK(t, sotto_tasks_open(&tasks, o->db[side], &columns, roles[side], NULL, &t->err));
    count = sotto_tasks_broken(tasks);
    sotto_tasks_close(tasks);
    CHECK_OK(t,
             sotto_list_tasks(o->db[side], &columns, roles[side], count_broken, &listed, &t->err));
    CHECK_EQUAL(t, count, listed);
    return count;
}

/* As after a database was put together from two, or by an earlier version that did not look. */
static void a_stored_task_with_a_stranger_s_key_is_not_served(sotto_test *t)
{
    uint8_t id[2 * SOTTO_TASK_ID_SIZE];
    operators o;

    begin(t, &o);
    for (unsigned side = 0; side < 2; side++) {
        CHECK_OK(t, add(t, &o, side, parties_of(t, &o, NULL), id));
        CHECK_EQUAL(t, 0, broken(t, &o, side));
        sotto_test_do(t, o.db[side], "DELETE FROM hpke_key");
        sotto_keys_close(ring_of(t, &o, side)); /* which makes another */
        CHECK_EQUAL(t, 2, broken(t, &o, side)); /* one for each cohort */
    }
    end(&o);
}

/* It was this server's. What came before is still collected; but nobody starts a task with it. */
static void a_task_whose_key_was_deleted_is_still_served(sotto_test *t)
{
    uint8_t id[2 * SOTTO_TASK_ID_SIZE];
    unsigned config_id;
    sotto_keys *keys;
    operators o;

    begin(t, &o);
    CHECK_OK(t, add(t, &o, 1, parties_of(t, &o, NULL), id));
    CHECK_EQUAL(t, 1, sscanf(o.config[1], "%2x", &config_id));
    keys = ring_of(t, &o, 1);
    CHECK_STATUS(t, SOTTO_AGAIN, sotto_keys_delete(keys, (uint8_t)config_id, o.now, NULL));
    CHECK_OK(t, sotto_keys_delete(keys, (uint8_t)config_id, o.now + 3600, &t->err));
    sotto_keys_close(keys);
    CHECK_EQUAL(t, 0, broken(t, &o, 1));
    CHECK_STATUS(t, SOTTO_DENIED, add(t, &o, 1, parties_of(t, &o, NULL), id));
    end(&o);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_stranger_s_key_in_this_server_s_place_is_refused),
        CASE(a_task_that_is_added_names_keys),
        CASE(a_leader_alone_opens_no_report),
        CASE(a_stored_task_with_a_stranger_s_key_is_not_served),
        CASE(a_task_whose_key_was_deleted_is_still_served),
    };
    return RUN_TESTS(argc, argv, cases);
}
