#include "flamingo_round.h"

#include "base/clock.h"
#include "bench.h"

#include <string.h>

static void ok(sotto_status status, const char *what)
{
    sotto_bench_expect(status == SOTTO_OK, what);
}

void sotto_bench_round_open(sotto_bench_round *r, const sotto_bench_size *size,
                            const sotto_signer *server, uint64_t opens, uint64_t window)
{
    static uint8_t parameters[SOTTO_FLAMINGO_PARAMETERS];
    uint32_t n = size->clients;
    sotto_flamingo_parameters p = {
        .cohort = n, .neighbours = 3, .edge = UINT64_MAX / (n - 1) * size->degree};
    sotto_buf out = sotto_buf_over(parameters, sizeof parameters);

    memset(r, 0, sizeof *r);
    r->size = size;
    sotto_arena_init(&r->arena, (size_t)1 << 30);
    sotto_arena_init(&r->step, (size_t)1 << 30);
    ok(sotto_sim_cast_init(&r->cast, n, 1, &r->arena, NULL), "a cast");
    ok(sotto_sim_cast_agree(&r->cast, 1, &r->arena, NULL), "keys");
    if (server)
        memcpy(r->cast.registry.server, server->public_key, SOTTO_SIGN_PUBLIC);
    r->round = (sotto_round){.method = SOTTO_METHOD_FLAMINGO,
                             .version = SOTTO_ROUND_VERSION,
                             .ring = SOTTO_RING_Z32,
                             .length = size->length,
                             .most = 100000,
                             .least = n - n / 5,
                             .largest = n,
                             .registered = n,
                             .beacon = {4},
                             .opens = opens,
                             .commit_by = opens + window / 2,
                             .closes = opens + window,
                             .verify_by = opens + 2 * window,
                             .release_by = opens + 3 * window,
                             .keys = &r->cast.registry};
    ok(sotto_sim_cast_decryptors(&r->cast, size->members, &r->round, 1, &r->arena, NULL),
       "decryptors");
    r->round.decryptors = r->cast.decryptors;
    sotto_registry_root(&r->cast.registry, r->round.registry);
    memcpy(p.decryptors, r->cast.decryptors->digest, 32);
    ok(sotto_flamingo_parameters_encode(&out, &p, NULL), "parameters");
    r->round.parameters = sotto_buf_bytes(&out);
}

void sotto_bench_round_close(sotto_bench_round *r)
{
    sotto_sim_cast_clear(&r->cast);
    sotto_arena_clear(&r->step);
    sotto_arena_clear(&r->arena);
}

void sotto_bench_round_report(sotto_bench_round *r, uint32_t client, sotto_effects *effects,
                              uint64_t *ns)
{
    sotto_self self = {.part = SOTTO_PART_CLIENT,
                       .index = client,
                       .keys = &r->cast.clients[client],
                       .seed = {(uint8_t)client, (uint8_t)(client >> 8)},
                       .secrets = &r->cast.secrets[client]};
    sotto_vector *v = sotto_arena_take(&r->step, sizeof *v);
    sotto_machine *machine;

    uint32_t *entries = sotto_arena_take_array(&r->step, r->size->length, sizeof *entries);
    sotto_bench_expect(v && entries, "memory");
    *v = (sotto_vector){.ring = SOTTO_RING_Z32, .length = r->size->length, .of.z32 = entries};
    for (size_t i = 0; i < v->length; i++)
        entries[i] = client + (uint32_t)(i & 7);
    uint64_t start = sotto_clock_thread_cpu();
    ok(sotto_flamingo_client.join(&machine, &r->round, &self, &r->step, NULL), "a client");
    sotto_effects_init(effects, &r->step);
    ok(sotto_flamingo_client.tick(machine, r->round.opens, effects, NULL), "a tick");
    ok(sotto_flamingo_client.offer(machine, v, effects, NULL), "a report");
    *ns = sotto_clock_thread_cpu() - start;
    sotto_flamingo_client.leave(machine);
}
