/* A client's whole round of single-round aggregation: neither its vector nor what it makes of its randomness, nor the shares that it
 * holds for others, steers it. */
#include "support/ctime.h"
#include "support/test.h"

#include "aggregate/bbglr/bbglr.h"
#include "aggregate/registry.h"

#include <string.h>

enum { CLIENTS = 5, LENGTH = 300, OPENS = 100, LOST = 4, WAITING = 64 };

typedef struct scene {
    sotto_test *t;
    sotto_signer signers[CLIENTS], signer;
    uint8_t keys[CLIENTS][32], pair[CLIENTS][32], channel[CLIENTS][32];
    uint8_t parameters[SOTTO_BBGLR_PARAMETERS];
    sotto_registry registry;
    sotto_round round;
    sotto_machine *clients[CLIENTS], *server;
    uint32_t entries[CLIENTS][LENGTH];
    sotto_message waiting[WAITING];
    size_t first, end;
    bool said[SOTTO_BBGLR_ANSWER + 1]; /* by client 0 */
} scene;

static void write_round(sotto_test *t, scene *s)
{
    const sotto_bbglr_parameters p = {
        .degree = CLIENTS - 1, .threshold = 3, .quorum = 3, .keys_by = 2 * OPENS};
    sotto_buf out = sotto_buf_over(s->parameters, sizeof s->parameters);

    s->registry = (sotto_registry){.keys = (const uint8_t(*)[32])s->keys,
                                   .pair = (const uint8_t(*)[32])s->pair,
                                   .channel = (const uint8_t(*)[32])s->channel,
                                   .count = CLIENTS};
    memcpy(s->registry.server, s->signer.public_key, sizeof s->registry.server);
    s->round = (sotto_round){.session = {1},
                             .epoch = 1,
                             .method = SOTTO_METHOD_BBGLR,
                             .version = SOTTO_ROUND_VERSION,
                             .ring = SOTTO_RING_Z32,
                             .length = LENGTH,
                             .most = 1000,
                             .least = 3,
                             .largest = CLIENTS,
                             .registered = CLIENTS,
                             .opens = OPENS,
                             .commit_by = 3 * OPENS,
                             .closes = 4 * OPENS,
                             .verify_by = 5 * OPENS,
                             .release_by = 6 * OPENS,
                             .beacon = {7},
                             .keys = &s->registry};
    CHECK_OK(t, sotto_bbglr_parameters_encode(&out, &p, &t->err));
    s->round.parameters = sotto_buf_bytes(&out);
    sotto_registry_root(&s->registry, s->round.registry);
}

static void open_scene(sotto_test *t, scene *s)
{
    memset(s, 0, sizeof *s);
    s->t = t;
    for (uint32_t i = 0; i <= CLIENTS; i++) {
        const uint8_t seed[SOTTO_SIGN_SEED] = {1, (uint8_t)i};
        sotto_signer *signer = i < CLIENTS ? &s->signers[i] : &s->signer;

        CHECK_OK(t, sotto_signer_init(signer, seed, &t->err));
        if (i < CLIENTS)
            memcpy(s->keys[i], signer->public_key, 32);
    }
    write_round(t, s);
}

static void close_scene(scene *s)
{
    for (size_t i = 0; i < CLIENTS; i++) {
        s->clients[i]->ops->leave(s->clients[i]);
        sotto_signer_clear(&s->signers[i]);
    }
    s->server->ops->leave(s->server);
    sotto_signer_clear(&s->signer);
}

static void join(sotto_test *t, scene *s)
{
    const sotto_self server = {.part = SOTTO_PART_SERVER, .keys = &s->signer};

    for (uint32_t i = 0; i < CLIENTS; i++) {
        sotto_self self = {
            .part = SOTTO_PART_CLIENT, .index = i, .keys = &s->signers[i], .seed = {9, (uint8_t)i}};

        if (i == 0) {
            sotto_ctime_secret(self.seed, sizeof self.seed);
            sotto_ctime_secret(s->entries[0], sizeof s->entries[0]);
        }
        CHECK_OK(t, sotto_bbglr_client.join(&s->clients[i], &s->round, &self, &t->arena, &t->err));
    }
    CHECK_OK(t, sotto_bbglr_server.join(&s->server, &s->round, &server, &t->arena, &t->err));
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* What was sent is for others to know. */
static void file(scene *s, const sotto_effects *effects, uint32_t from)
{
    for (const sotto_effect_message *m = effects->sent; m; m = m->next) {
        sotto_ctime_public(m->message.body.data, m->message.body.len);
        sotto_ctime_public(m->message.signature.data, m->message.signature.len);
        CHECK(s->t, s->end < WAITING);
        s->waiting[s->end++] = m->message;
        if (from == 0)
            s->said[m->message.kind] = true;
    }
}

static void offer(scene *s, uint32_t client)
{
    sotto_vector mine = {.ring = SOTTO_RING_Z32, .length = LENGTH, .of.z32 = s->entries[client]};
    sotto_effects effects;

    sotto_effects_init(&effects, &s->t->arena);
    CHECK_OK(s->t, s->clients[client]->ops->offer(s->clients[client], &mine, &effects, &s->t->err));
    file(s, &effects, client);
}

static sotto_machine *whose(scene *s, uint32_t index)
{
    return index == SOTTO_TO_SERVER ? s->server : s->clients[index];
}

static void deliver(scene *s, const sotto_message *m)
{
    sotto_machine *machine = whose(s, m->to);
    sotto_effects effects;
    sotto_status verdict;

    sotto_effects_init(&effects, &s->t->arena);
    CHECK_OK(s->t, machine->ops->deliver(machine, m, 1, &verdict, &effects, &s->t->err));
    CHECK(s->t, verdict == SOTTO_OK || verdict == SOTTO_STALE);
    file(s, &effects, m->to);
    if (effects.wants_vector && m->to != LOST)
        offer(s, m->to);
}

static void tick(scene *s, uint32_t index, uint64_t now)
{
    sotto_machine *machine = whose(s, index);
    sotto_effects effects;

    sotto_effects_init(&effects, &s->t->arena);
    CHECK_OK(s->t, machine->ops->tick(machine, now, &effects, &s->t->err));
    file(s, &effects, index);
}

/* The last client dealt and sends no vector: the first gives a share of its mask key, and of the others' seeds. */
static void a_client_does_not_depend_on_secrets(sotto_test *t)
{
    static scene s;

    open_scene(t, &s);
    join(t, &s);
    for (uint64_t now = OPENS; now < 6 * OPENS; now += OPENS) {
        for (uint32_t i = 0; now == OPENS && i < CLIENTS; i++)
            tick(&s, i, now);
        tick(&s, SOTTO_TO_SERVER, now);
        for (; s.first < s.end; s.first++)
            deliver(&s, &s.waiting[s.first]);
    }
    CHECK(t, s.said[SOTTO_BBGLR_KEYS] && s.said[SOTTO_BBGLR_DEAL] && s.said[SOTTO_BBGLR_MASKED] &&
                 s.said[SOTTO_BBGLR_VOTE] && s.said[SOTTO_BBGLR_ANSWER]);
    close_scene(&s);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_client_does_not_depend_on_secrets),
    };
    return RUN_TESTS(argc, argv, cases);
}
