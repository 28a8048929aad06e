/* HPKE keys through their states, and several replicas that move them on at the same moment. */
#define _POSIX_C_SOURCE 200809L
#include "serve/datastore.h"
#include "serve/keys.h"
#include "serve/schema.h"
#include "support/database.h"

#include <pthread.h>

enum { START = 1800000000, PENDING = 10, ACTIVE = 100, EXPIRED = 50, REPLICAS = 4, ROUNDS = 8 };

static const sotto_key_times times = {PENDING, ACTIVE, EXPIRED};
static const sotto_column_keys columns = {.count = 1, .key = {{7}}};

static sotto_db *migrated(sotto_test *t, const char *address)
{
    sotto_db *db = sotto_test_db_at(t, address);

    CHECK_OK(t, sotto_db_migrate(db, sotto_serve_migrations, sotto_serve_migration_count, &t->err));
    return db;
}

static sotto_keys *ring_at(sotto_test *t, sotto_db *db, int64_t now)
{
    sotto_keys *keys = NULL;

    CHECK_OK(t, sotto_keys_open(&keys, db, &columns, SOTTO_HELPER, &times, now, NULL, &t->err));
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
    r->failures += sotto_keys_open(&r->keys, r->db, &columns, SOTTO_HELPER, &times, now, NULL,
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

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_key_goes_through_its_states),
        CASE(replicas_that_start_together_make_one_key),
        CASE(replicas_that_start_together_make_one_datastore_key),
        CASE(replicas_move_one_ring_on),
    };

    return RUN_TESTS(argc, argv, cases);
}
