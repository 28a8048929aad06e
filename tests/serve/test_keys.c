/* HPKE keys through their states, and several replicas that move them on at the same moment. */
#define _POSIX_C_SOURCE 200809L
#include "serve/host/datastore.h"
#include "serve/host/keys.h"
#include "serve/tasks/schema.h"
#include "support/database.h"
#include "support/steps.h"

#include <pthread.h>
#include <string.h>

enum { START = 1800000000, PENDING = 10, ACTIVE = 100, EXPIRED = 50, REPLICAS = 4, ROUNDS = 8 };

static const sotto_key_times times = {PENDING, ACTIVE, EXPIRED, PENDING};
static const sotto_column_keys columns = {.count = 1, .key = {{7}}};

static sotto_db *migrated(sotto_test *t, const char *address)
{
    sotto_db *db = sotto_test_db_at(t, address);

    CHECK_OK(t, sotto_db_migrate(db, sotto_serve_migrations, SOTTO_SERVE_MIGRATIONS, &t->err));
    return db;
}

static sotto_bytes info_of_helper(void)
{
    static _Thread_local uint8_t text[SOTTO_DAP_INFO_MAX];

    return sotto_role_info(text, SOTTO_HELPER);
}

static sotto_keys *ring_at(sotto_test *t, sotto_db *db, int64_t now)
{
    sotto_keys *keys = NULL;

    CHECK_OK(t, sotto_keys_open(&keys, db, &columns, info_of_helper(), &times, now, NULL, &t->err));
    return keys;
}

typedef struct seen {
    unsigned pending, active, expired;
    uint8_t newest; /* the pending one's, or the active one's */
} seen;

static sotto_status see(void *context, const sotto_key_line *line, sotto_err *err)
{
    seen *s = context;

    (void)err;
    s->pending += line->state == SOTTO_KEY_PENDING;
    s->active += line->state == SOTTO_KEY_ACTIVE;
    s->expired += line->state == SOTTO_KEY_EXPIRED;
    if (line->state == SOTTO_KEY_PENDING || s->pending == 0)
        s->newest = line->config.id;
    return SOTTO_OK;
}

static seen look(sotto_test *t, sotto_keys *keys)
{
    seen s = {0};

    CHECK_OK(t, sotto_keys_list(keys, see, &s, &t->err));
    return s;
}

/* How many are published, and whether this is one of them. */
static size_t published(sotto_test *t, sotto_keys *keys, uint8_t id, bool *listed)
{
    uint8_t memory[4096];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    sotto_hpke_config configs[8];
    size_t count;

    CHECK_OK(t, sotto_keys_publish(keys, &out, &t->err));
    CHECK_OK(t, sotto_hpke_config_list_decode(configs, 8, &count, sotto_buf_bytes(&out), &t->err));
    *listed = false;
    for (size_t i = 0; i < count; i++)
        *listed = *listed || configs[i].id == id;
    return count;
}

/* pending opens and is not published; active is; expired opens only; deleted does nothing. */
static void a_key_goes_through_its_states(sotto_test *t)
{
    sotto_db *db = migrated(t, sotto_test_address(t));
    sotto_keys *keys = ring_at(t, db, START);
    sotto_receivers *receivers = NULL;
    int64_t now = START + ACTIVE - 2 * PENDING;
    uint8_t first = look(t, keys).newest, second;
    bool listed;

    CHECK_OK(t, sotto_receivers_new(&receivers, keys, &t->err));
    CHECK_OK(t, sotto_keys_rotate(keys, now, &t->err));
    second = look(t, keys).newest;
    CHECK(t, first != second && look(t, keys).pending == 1);
    CHECK_OK(t, sotto_receivers_know(receivers, second, &t->err));
    CHECK_EQUAL(t, 1, published(t, keys, second, &listed));
    CHECK(t, !listed);
    CHECK_OK(t, sotto_keys_rotate(keys, now += PENDING, &t->err));
    CHECK_EQUAL(t, 2, published(t, keys, second, &listed));
    CHECK(t, listed);
    CHECK_OK(t, sotto_keys_rotate(keys, now += PENDING, &t->err));
    CHECK_EQUAL(t, 1, look(t, keys).expired);
    CHECK_EQUAL(t, 1, published(t, keys, first, &listed));
    CHECK(t, !listed);
    CHECK_OK(t, sotto_receivers_know(receivers, first, &t->err));
    CHECK_OK(t, sotto_keys_rotate(keys, now += EXPIRED, &t->err));
    CHECK_STATUS(t, SOTTO_MISSING, sotto_receivers_know(receivers, first, &t->err));
    CHECK_EQUAL(t, 0,
                sotto_test_ask_number(t, db, "SELECT count(*) FROM hpke_key WHERE state = 3"));
    sotto_receivers_free(receivers);
    sotto_keys_close(keys);
    sotto_db_close(db);
}

/* ---- keys that go before their time -------------------------------------------------------------------------- */

enum { LONG_PENDING = 40, KNOWN = 2 * SOTTO_KEYS_EVERY_S, MOST_KEYS = 32 };

static const sotto_key_times long_times = {LONG_PENDING, 1000, 50, LONG_PENDING};

static sotto_keys *long_ring(sotto_test *t, sotto_db *db, const sotto_log_sink *log)
{
    sotto_keys *keys = NULL;

    CHECK_OK(t, sotto_keys_open(&keys, db, &columns, info_of_helper(), &long_times, START, log,
                                &t->err));
    return keys;
}

/* Published is a key at any time, and first of all one that every replica knows. */
static void the_last_key_goes_once_its_successor_is_known(sotto_test *t)
{
    sotto_db *db = migrated(t, sotto_test_address(t));
    sotto_keys *keys = long_ring(t, db, NULL);
    sotto_receivers *receivers = NULL;
    uint8_t first = look(t, keys).newest, second;
    bool listed;

    CHECK_OK(t, sotto_receivers_new(&receivers, keys, &t->err));
    CHECK_STATUS(t, SOTTO_AGAIN, sotto_keys_delete(keys, first, START + 1, NULL));
    CHECK_STATUS(t, SOTTO_AGAIN, sotto_keys_delete(keys, first, START + KNOWN, NULL));
    CHECK_EQUAL(t, 1, look(t, keys).pending);
    second = look(t, keys).newest;
    CHECK_OK(t, sotto_receivers_know(receivers, first, &t->err));
    CHECK_EQUAL(t, 1, published(t, keys, first, &listed));
    CHECK(t, listed);
    CHECK_OK(t, sotto_keys_delete(keys, first, START + 1 + KNOWN, &t->err));
    CHECK_EQUAL(t, 1, published(t, keys, second, &listed));
    CHECK(t, listed);
    CHECK_STATUS(t, SOTTO_MISSING, sotto_receivers_know(receivers, first, NULL));
    CHECK_OK(t, sotto_receivers_know(receivers, second, &t->err));
    CHECK_EQUAL(t, 1, sotto_test_ask_number(t, db, "SELECT count(*) FROM hpke_key"));
    CHECK_STATUS(t, SOTTO_MISSING, sotto_keys_delete(keys, first, START + 1 + KNOWN, NULL));
    sotto_receivers_free(receivers);
    sotto_keys_close(keys);
    sotto_db_close(db);
}

/* Of a pending one, of one that is expired, and of one beside which another is active, nobody needs a successor. */
static void any_other_key_goes_at_once(sotto_test *t)
{
    sotto_db *db = migrated(t, sotto_test_address(t));
    sotto_keys *keys = long_ring(t, db, NULL);
    uint8_t first = look(t, keys).newest, second;

    CHECK_OK(t, sotto_keys_renew(keys, START, &t->err));
    CHECK_OK(t, sotto_keys_delete(keys, look(t, keys).newest, START, &t->err));
    CHECK(t, look(t, keys).pending == 0 && look(t, keys).active == 1);
    CHECK_OK(t, sotto_keys_renew(keys, START, &t->err));
    second = look(t, keys).newest;
    CHECK_OK(t, sotto_keys_rotate(keys, START + LONG_PENDING, &t->err));
    CHECK_EQUAL(t, 2, look(t, keys).active);
    CHECK_OK(t, sotto_keys_delete(keys, second, START + LONG_PENDING, &t->err));
    CHECK(t, look(t, keys).active == 1 && look(t, keys).newest == first);
    CHECK_OK(t, sotto_keys_renew(keys, START, &t->err));
    CHECK_OK(t, sotto_keys_rotate(keys, START + LONG_PENDING, &t->err));
    CHECK_OK(t, sotto_keys_rotate(keys, START + 1000, &t->err));
    CHECK_EQUAL(t, 1, look(t, keys).expired);
    CHECK_OK(t, sotto_keys_delete(keys, first, START + 1000, &t->err));
    CHECK(t, look(t, keys).active == 1 && look(t, keys).expired == 0);
    sotto_keys_close(keys);
    sotto_db_close(db);
}

static void a_full_ring_says_why_its_last_key_stays(sotto_test *t)
{
    sotto_db *db = migrated(t, sotto_test_address(t));
    sotto_keys *keys = long_ring(t, db, NULL);
    uint8_t first = look(t, keys).newest;

    for (unsigned i = 1; i < MOST_KEYS; i++) {
        CHECK_OK(t, sotto_keys_renew(keys, START, &t->err));
        sotto_test_do(t, db, "UPDATE hpke_key SET state = 3 WHERE state = 1");
    }
    CHECK_STATUS(t, SOTTO_DENIED, sotto_keys_delete(keys, first, START, NULL));
    CHECK_OK(t, sotto_keys_rotate(keys, START, &t->err));
    CHECK(t, look(t, keys).expired == MOST_KEYS - 1 && look(t, keys).active == 1);
    sotto_keys_close(keys);
    sotto_db_close(db);
}

static void count_deleted(void *context, const sotto_log_event *event)
{
    for (size_t i = 0; i < event->count; i++)
        if (strcmp(event->fields[i].key, "state") == 0 &&
            strcmp(event->fields[i].value.text, "deleted") == 0)
            ++*(unsigned *)context;
}

/* By looking at the ring, as it sees a rotation; and it says so. */
static void a_replica_sees_that_a_key_has_gone(sotto_test *t)
{
    unsigned deleted = 0;
    sotto_log_sink log = {.write = count_deleted, .context = &deleted, .lowest = SOTTO_LOG_DEBUG};
    const char *address = sotto_test_address(t);
    sotto_db *db = migrated(t, address), *other_db = sotto_test_db_at(t, address);
    sotto_keys *keys = long_ring(t, db, NULL), *other = long_ring(t, other_db, &log);
    sotto_receivers *receivers = NULL;
    uint8_t first = look(t, keys).newest;

    CHECK_OK(t, sotto_receivers_new(&receivers, other, &t->err));
    CHECK_STATUS(t, SOTTO_AGAIN, sotto_keys_delete(keys, first, START, NULL));
    CHECK_OK(t, sotto_keys_rotate(other, START + SOTTO_KEYS_EVERY_S, &t->err));
    CHECK_OK(t, sotto_receivers_know(receivers, look(t, keys).newest, &t->err));
    CHECK_OK(t, sotto_keys_delete(keys, first, START + KNOWN, &t->err));
    CHECK_OK(t, sotto_receivers_know(receivers, first, &t->err));
    CHECK_EQUAL(t, 0, deleted);
    CHECK_OK(t, sotto_keys_rotate(other, START + KNOWN, &t->err));
    CHECK_STATUS(t, SOTTO_MISSING, sotto_receivers_know(receivers, first, NULL));
    CHECK_EQUAL(t, 1, deleted);
    sotto_receivers_free(receivers);
    sotto_keys_close(keys);
    sotto_keys_close(other);
    sotto_db_close(db);
    sotto_db_close(other_db);
}

/* ---- reports that were sealed to such a key ------------------------------------------------------------------ */

typedef struct active_key {
    sotto_test *t;
    sotto_hpke_config config;
} active_key;

static sotto_status keep_active(void *context, const sotto_key_line *line, sotto_err *err)
{
    active_key *a = context;
    sotto_buf wire = sotto_test_buf(a->t, 512);

    if (line->state != SOTTO_KEY_ACTIVE)
        return SOTTO_OK;
    SOTTO_TRY(sotto_hpke_config_encode(&wire, &line->config, err));
    return sotto_hpke_config_decode(&a->config, sotto_buf_bytes(&wire), err);
}

/* Jobs wait until somebody asks for a collection. */
static void open_service(sotto_test *t, sotto_test_service *s)
{
    sotto_test_service_open(
        t, s, &(sotto_test_service_options){.job_delay_ms = 3600000, .job_reports = 1000});
}

/* Yields the key that is active then. */
static sotto_hpke_config delete_key_of(sotto_test *t, sotto_server *server, uint8_t id)
{
    int64_t now = sotto_host_seconds(server->host);
    active_key a = {.t = t};

    CHECK_STATUS(t, SOTTO_AGAIN, sotto_keys_delete(server->keys, id, now, NULL));
    CHECK_OK(t, sotto_keys_delete(server->keys, id, now + KNOWN, &t->err));
    CHECK_OK(t, sotto_keys_list(server->keys, keep_active, &a, &t->err));
    CHECK(t, a.config.id != id);
    return a.config;
}

static uint64_t refused_for(sotto_test *t, const sotto_server *server, const char *cause)
{
    static sotto_rejections told;

    sotto_test_told_refusals(t, server, &told);
    for (size_t i = 0; i < told.count; i++)
        if (strcmp(told.items[i].cause, cause) == 0)
            return told.items[i].reports;
    return 0;
}

/* It opened its half when they came. */
static void a_leader_keeps_what_it_acknowledged(sotto_test *t)
{
    static sotto_test_service s;
    sotto_hpke_config next;

    open_service(t, &s);
    sotto_test_upload_some(t, &s, 20, 1, SOTTO_TEST_SOUND);
    next = delete_key_of(t, s.leader, s.leader_hpke.id);
    sotto_test_upload_some(t, &s, 3, 1, SOTTO_TEST_SOUND);
    s.leader_hpke = next;
    sotto_test_upload_some(t, &s, 5, 1, SOTTO_TEST_SOUND);
    sotto_test_check_sum(t, &s, 25);
    CHECK_EQUAL(t, 3, refused_for(t, s.leader, "outdated_config"));
    sotto_test_service_close(&s);
}

/* It opens its half when they are in a job. */
static void a_helper_loses_what_it_did_not_add_up(sotto_test *t)
{
    static sotto_test_service s;

    open_service(t, &s);
    sotto_test_upload_some(t, &s, 7, 1, SOTTO_TEST_SOUND);
    s.helper_hpke = delete_key_of(t, s.helper, s.helper_hpke.id);
    sotto_test_upload_some(t, &s, 20, 1, SOTTO_TEST_SOUND);
    sotto_test_check_sum(t, &s, 20);
    CHECK_EQUAL(t, 7, refused_for(t, s.leader, "helper_hpke_decrypt_error"));
    CHECK_EQUAL(t, 7, refused_for(t, s.helper, "hpke_decrypt_error"));
    sotto_test_service_close(&s);
}

static void a_helper_keeps_what_it_added_up(sotto_test *t)
{
    static sotto_test_service s;

    open_service(t, &s);
    sotto_test_upload_some(t, &s, 19, 1, SOTTO_TEST_SOUND);
    sotto_test_want(t, &s); /* too few for a batch, enough for a job */
    sotto_test_await(t, s.leader->db,
                     "SELECT CAST(coalesce(sum(reports), 0) AS BIGINT) FROM sub_aggregate", 19);
    s.helper_hpke = delete_key_of(t, s.helper, s.helper_hpke.id);
    sotto_test_upload_some(t, &s, 1, 1, SOTTO_TEST_SOUND);
    sotto_test_check_sum(t, &s, 20);
    sotto_test_service_close(&s);
}

/* ---- replicas ------------------------------------------------------------------------------------------------ */

typedef struct replica {
    sotto_db *db;
    sotto_keys *keys;
    pthread_barrier_t *gate;
    unsigned rounds, failures;
} replica;

static void *move_on(void *context)
{
    replica *r = context;
    int64_t now = START;

    (void)pthread_barrier_wait(r->gate);
    r->failures += sotto_keys_open(&r->keys, r->db, &columns, info_of_helper(), &times, now, NULL,
                                   NULL) != SOTTO_OK;
    for (unsigned i = 0; i < r->rounds; i++) {
        now += (ACTIVE - 2 * PENDING) / 2;
        (void)pthread_barrier_wait(r->gate);
        r->failures += !r->keys || sotto_keys_rotate(r->keys, now, NULL) != SOTTO_OK;
    }
    return NULL;
}

/* All of them at the same moments, each with a connection of its own. */
static void open_replicas(sotto_test *t, replica *replicas, unsigned rounds)
{
    const char *address = sotto_test_address(t);
    pthread_t threads[REPLICAS];
    pthread_barrier_t gate;

    sotto_db_close(migrated(t, address));
    CHECK(t, pthread_barrier_init(&gate, NULL, REPLICAS) == 0);
    for (size_t i = 0; i < REPLICAS; i++) {
        replicas[i] =
            (replica){.db = sotto_test_db_at(t, address), .gate = &gate, .rounds = rounds};
        CHECK(t, pthread_create(&threads[i], NULL, move_on, &replicas[i]) == 0);
    }
    for (size_t i = 0; i < REPLICAS; i++)
        CHECK(t, pthread_join(threads[i], NULL) == 0);
    for (size_t i = 0; i < REPLICAS; i++)
        CHECK_EQUAL(t, 0, replicas[i].failures);
    (void)pthread_barrier_destroy(&gate);
}

static void close_replicas(replica *replicas)
{
    for (size_t i = 0; i < REPLICAS; i++) {
        sotto_keys_close(replicas[i].keys);
        sotto_db_close(replicas[i].db);
    }
}

static void replicas_that_start_together_make_one_key(sotto_test *t)
{
    for (unsigned i = 0; i < 5; i++) {
        replica replicas[REPLICAS];

        open_replicas(t, replicas, 0);
        CHECK_EQUAL(t, 1,
                    sotto_test_ask_number(t, replicas[0].db, "SELECT count(*) FROM hpke_key"));
        for (size_t k = 0; k < REPLICAS; k++)
            CHECK_EQUAL(t, look(t, replicas[0].keys).newest, look(t, replicas[k].keys).newest);
        close_replicas(replicas);
    }
}

typedef struct keeper {
    pthread_barrier_t *gate;
    sotto_db *db;
    const char *path;
    sotto_column_keys keys;
    sotto_status status;
    bool made;
} keeper;

static void *open_key(void *context)
{
    keeper *k = context;

    (void)pthread_barrier_wait(k->gate);
    k->status = sotto_datastore_key_open(&k->keys, &k->made, k->path, k->db, NULL);
    return NULL;
}

/* Nobody fails for having come second, and nobody has a key of their own. */
static void replicas_that_start_together_make_one_datastore_key(sotto_test *t)
{
    for (unsigned round = 0; round < 20; round++) {
        sotto_db *db = sotto_test_db_at(t, sotto_test_address(t));
        const char *path = sotto_test_temp(t, "datastore.key");
        pthread_t threads[REPLICAS];
        keeper keepers[REPLICAS];
        pthread_barrier_t gate;
        unsigned made = 0;

        CHECK(t, pthread_barrier_init(&gate, NULL, REPLICAS) == 0);
        for (size_t i = 0; i < REPLICAS; i++) {
            keepers[i] = (keeper){.gate = &gate, .db = db, .path = path};
            CHECK(t, pthread_create(&threads[i], NULL, open_key, &keepers[i]) == 0);
        }
        for (size_t i = 0; i < REPLICAS; i++)
            CHECK(t, pthread_join(threads[i], NULL) == 0);
        for (size_t i = 0; i < REPLICAS; i++) {
            CHECK_OK(t, keepers[i].status);
            CHECK_BYTES(t, keepers[0].keys.key[0], keepers[i].keys.key[0], SOTTO_COLUMN_KEY_SIZE);
            made += keepers[i].made;
        }
        CHECK_EQUAL(t, 1, made);
        (void)pthread_barrier_destroy(&gate);
        sotto_db_close(db);
    }
}

/* One successor for all: keys are made as often as one server alone would. */
static void replicas_move_one_ring_on(sotto_test *t)
{
    static const char count[] = "SELECT count(*) FROM hpke_key";
    sotto_db *alone = migrated(t, sotto_test_address(t));
    sotto_keys *keys = ring_at(t, alone, START);
    replica replicas[REPLICAS];
    int64_t now = START;

    for (unsigned rounds = 1; rounds <= ROUNDS; rounds++) {
        now += (ACTIVE - 2 * PENDING) / 2;
        CHECK_OK(t, sotto_keys_rotate(keys, now, &t->err));
        open_replicas(t, replicas, rounds);
        CHECK_EQUAL(t, sotto_test_ask_number(t, alone, count),
                    sotto_test_ask_number(t, replicas[0].db, count));
        CHECK_EQUAL(t, look(t, keys).active, look(t, replicas[0].keys).active);
        close_replicas(replicas);
    }
    sotto_keys_close(keys);
    sotto_db_close(alone);
}

typedef struct deleting {
    replica *replica;
    uint8_t id;
} deleting;

static void *delete_one(void *context)
{
    deleting *d = context;
    sotto_status status;

    (void)pthread_barrier_wait(d->replica->gate);
    status = sotto_keys_delete(d->replica->keys, d->id, START + PENDING, NULL);
    d->replica->failures += status != SOTTO_OK && status != SOTTO_AGAIN;
    return NULL;
}

/* Both keys that are published, each by another of them. */
static void replicas_that_delete_together_leave_a_key(sotto_test *t)
{
    for (unsigned round = 0; round < 10; round++) {
        const char *address = sotto_test_address(t);
        sotto_db *db = migrated(t, address);
        sotto_keys *keys = ring_at(t, db, START);
        pthread_barrier_t gate;
        pthread_t threads[2];
        replica replicas[2];
        deleting both[2] = {{&replicas[0], look(t, keys).newest}, {&replicas[1], 0}};

        CHECK_OK(t, sotto_keys_renew(keys, START, &t->err));
        both[1].id = look(t, keys).newest;
        CHECK_OK(t, sotto_keys_rotate(keys, START + PENDING, &t->err));
        CHECK_EQUAL(t, 2, look(t, keys).active);
        CHECK(t, pthread_barrier_init(&gate, NULL, 2) == 0);
        for (size_t i = 0; i < 2; i++) {
            replicas[i] = (replica){.db = sotto_test_db_at(t, address), .gate = &gate};
            replicas[i].keys = ring_at(t, replicas[i].db, START + PENDING);
            CHECK(t, pthread_create(&threads[i], NULL, delete_one, &both[i]) == 0);
        }
        for (size_t i = 0; i < 2; i++)
            CHECK(t, pthread_join(threads[i], NULL) == 0);
        CHECK_OK(t, sotto_keys_rotate(keys, START + PENDING, &t->err));
        CHECK(t, look(t, keys).active == 1 && look(t, keys).pending == 1);
        for (size_t i = 0; i < 2; i++) {
            CHECK_EQUAL(t, 0, replicas[i].failures);
            sotto_keys_close(replicas[i].keys);
            sotto_db_close(replicas[i].db);
        }
        (void)pthread_barrier_destroy(&gate);
        sotto_keys_close(keys);
        sotto_db_close(db);
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_key_goes_through_its_states),
        CASE(the_last_key_goes_once_its_successor_is_known),
        CASE(any_other_key_goes_at_once),
        CASE(a_full_ring_says_why_its_last_key_stays),
        CASE(a_replica_sees_that_a_key_has_gone),
        CASE(a_leader_keeps_what_it_acknowledged),
        CASE(a_helper_loses_what_it_did_not_add_up),
        CASE(a_helper_keeps_what_it_added_up),
        CASE(replicas_that_start_together_make_one_key),
        CASE(replicas_that_start_together_make_one_datastore_key),
        CASE(replicas_move_one_ring_on),
        CASE(replicas_that_delete_together_leave_a_key),
    };

    return RUN_TESTS(argc, argv, cases);
}
