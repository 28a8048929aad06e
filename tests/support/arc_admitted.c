#include "support/arc_admitted.h"

#include "crypto/hash.h"
#include "dap/task_configuration.h"

#include <string.h>

sotto_arc_key sotto_test_arc_key(sotto_test *t, uint64_t opens, uint64_t closes)
{
    sotto_arc_key key = {.epoch = {.opens = opens, .closes = closes}};
    sotto_scalar random[4];
    sotto_group g;

    CHECK_OK(t, sotto_group_init(&g, &sotto_p256, &t->err));
    CHECK_OK(t, sotto_scalar_random(&g, random, 4, &t->err));
    key.secret = (sotto_arc_private){random[0], random[1], random[2], random[3]};
    CHECK_OK(t, sotto_arc_public(&g, key.public_key, &key.secret, &t->err));
    sotto_arc_key_id(key.epoch.key_id, key.public_key);
    sotto_group_clear(&g);
    return key;
}

sotto_arc_holding sotto_test_arc_credential(sotto_test *t, const sotto_arc_key *key, int64_t shift)
{
    uint8_t request[SOTTO_ARC_REQUEST], response[SOTTO_ARC_RESPONSE], context[SOTTO_ARC_CONTEXT];
    sotto_arc_epoch epoch = key->epoch;
    sotto_arc_holding held;
    sotto_arc_pending pending;
    sotto_scalar random[SOTTO_ARC_RESPONSE_RANDOM];
    sotto_group g;

    epoch.closes += (uint64_t)shift;
    sotto_arc_request_context(context, &epoch);
    memcpy(held.key_id, key->epoch.key_id, sizeof held.key_id);
    CHECK_OK(t, sotto_group_init(&g, &sotto_p256, &t->err));
    CHECK_OK(t, sotto_scalar_random(&g, random, SOTTO_ARC_REQUEST_RANDOM, &t->err));
    CHECK_OK(t, sotto_arc_request(&g, &pending, request, sotto_bytes_of(context, sizeof context),
                                  random, &t->err));
    CHECK_OK(t, sotto_scalar_random(&g, random, SOTTO_ARC_RESPONSE_RANDOM, &t->err));
    CHECK_OK(
        t, sotto_arc_issue(&g, response, &key->secret, key->public_key, request, random, &t->err));
    CHECK_OK(t,
             sotto_arc_finish(&g, &held.credential, &pending, key->public_key, response, &t->err));
    sotto_group_clear(&g);
    return held;
}

static void hold(sotto_test *t, sotto_test_arc *a)
{
    for (unsigned i = 0; i < 2; i++)
        a->held[i] = sotto_test_arc_credential(t, a->request ? &a->other : &a->keys[i], a->epoch);
}

void sotto_test_arc_keep(sotto_test *t, sotto_test_arc *a)
{
    hold(t, a);
    a->keep = true;
}

static void admit(sotto_test *t, void *context, sotto_report_draft *draft, sotto_arena *arena)
{
    sotto_test_arc *a = context;
    const sotto_hpke_config to[] = {a->s.leader_hpke, a->s.helper_hpke};
    uint8_t seed[SOTTO_ONCE_SEED] = "a one-time key";

    seed[SOTTO_ONCE_SEED - 1] = ++a->seeds;
    if (!a->keep)
        hold(t, a);
    CHECK_OK(t, sotto_arc_attach(draft, a->held, &a->collection, seed, to, arena, &t->err));
}

sotto_bare_task sotto_test_arc_task(sotto_test *t, sotto_test_arc *a)
{
    sotto_buf wire = sotto_test_buf(t, a->s.task.configuration.len + 64);
    sotto_task_configuration c;

    CHECK_OK(t, sotto_task_configuration_decode(&c, a->s.task.configuration, &t->err));
    c.extensions = sotto_bytes_of(NULL, 0);
    c.anonymity = SOTTO_TASK_TOKENS;
    c.token_type = SOTTO_TOKEN_ARC;
    CHECK_OK(t, sotto_task_configuration_encode(&wire, &c, &t->err));
    return (sotto_bare_task){.leader = "key:leader",
                             .helper = "key:helper",
                             .configuration = sotto_buf_bytes(&wire),
                             .collector_config = sotto_test_hex(t, a->s.pairing.collector_key)};
}

/* The secret is what the server's database has. */
static void make_key(sotto_test *t, sotto_test_arc *a, unsigned i, sotto_server *server)
{
    uint8_t attester[32], id[SOTTO_TOKEN_KEY_ID];
    const char token[] = SOTTO_TEST_ARC_ATTESTER;
    bool made;

    sotto_hash_once(attester, SOTTO_SHA256, sotto_bytes_of(token, sizeof token - 1));
    CHECK_OK(t, sotto_arc_key_add(server->db, &a->keys[i], &made, a->s.task.opens - 86400,
                                  a->s.task.closes + 3600, attester, server->columns, &t->err));
    CHECK(t, made);
    memcpy(id, a->keys[i].epoch.key_id, sizeof id);
    CHECK_OK(t, sotto_arc_key_get(server->db, &a->keys[i], id, attester, server->columns, &t->err));
}

void sotto_test_arc_open(sotto_test *t, sotto_test_arc *a,
                         const sotto_test_service_options *options)
{
    sotto_bare_task bare;
    sotto_server *servers[2];

    memset(a, 0, sizeof *a);
    sotto_test_service_open(t, &a->s, options);
    bare = sotto_test_arc_task(t, a);
    servers[0] = a->s.leader;
    servers[1] = a->s.helper;
    for (unsigned i = 0; i < 2; i++) {
        make_key(t, a, i, servers[i]);
        CHECK_OK(t, sotto_tasks_add_bare(servers[i]->db, servers[i]->columns, servers[i]->role,
                                         &bare, 0, a->s.task.id, &t->err));
        CHECK_OK(t, sotto_tasks_refresh(servers[i]->tasks, &t->err));
    }
    a->s.task.configuration = bare.configuration;
    a->s.task.report_bytes += SOTTO_ARC_ADMISSION_REPORT;
    a->s.admit = admit;
    a->s.admit_context = a;
    a->collection = (sotto_arc_collection){.opens = a->s.task.opens, .closes = a->s.task.closes};
    memcpy(a->collection.subject, a->s.task.id, sizeof a->collection.subject);
}

void sotto_test_arc_close(sotto_test_arc *a)
{
    sotto_test_service_close(&a->s);
}
