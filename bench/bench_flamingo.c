/* A round of flamingo, each part's CPU time apart, machines driven by hand: 10 % of the clients drop out. Without a filter the
 * round is small; "flamingo/1024" runs 1,024 clients with 2^20 entries each, and "flamingo/512" 512 with 2^14. */
#include "bench.h"

#include "aggregate/flamingo/flamingo.h"
#include "aggregate/shared/dkg.h"
#include "aggregate/shared/mask.h"
#include "base/clock.h"
#include "sim/net.h"

#include <stdio.h>
#include <string.h>

typedef struct size_case {
    const char *name;
    uint32_t clients, degree, members;
    size_t length;
    bool always;
} size_case;

static const size_case CASES[] = {
    {"flamingo/64", 64, 20, 9, 4096, true},
    {"flamingo/512", 512, 36, 60, 16384, false},
    {"flamingo/1024", 1024, 40, 60, (size_t)1 << 20, false},
};

typedef struct bench_round {
    const sotto_bench *b;
    const size_case *size;
    sotto_arena arena, step;
    sotto_sim_cast cast;
    sotto_round round;
    sotto_machine *server;
    sotto_machine *members[SOTTO_DECRYPTORS_MOST];
    sotto_tally tally;
    uint32_t *entries;
    uint64_t server_ns, ingest_ns, client_ns, clients_measured, reports, decryptor_ns, down;
} bench_round;

static void note(const bench_round *r, const char *what, const char *unit, double value)
{
    char name[96];

    (void)snprintf(name, sizeof name, "%s/%s", r->size->name, what);
    sotto_bench_note(r->b, name, unit, value);
}

static void ok(sotto_status status, const char *what)
{
    sotto_bench_expect(status == SOTTO_OK, what);
}

static void set_up(bench_round *r)
{
    static uint8_t parameters[SOTTO_FLAMINGO_PARAMETERS];
    uint32_t n = r->size->clients;
    sotto_flamingo_parameters p = {
        .cohort = n, .neighbours = 3, .edge = UINT64_MAX / (n - 1) * r->size->degree};
    sotto_buf out = sotto_buf_over(parameters, sizeof parameters);

    ok(sotto_sim_cast_init(&r->cast, n, 1, &r->arena, NULL), "a cast");
    ok(sotto_sim_cast_agree(&r->cast, 1, &r->arena, NULL), "keys");
    r->round = (sotto_round){.method = SOTTO_METHOD_FLAMINGO,
                             .version = SOTTO_ROUND_VERSION,
                             .ring = SOTTO_RING_Z32,
                             .length = r->size->length,
                             .most = 100000,
                             .least = n - n / 5,
                             .largest = n,
                             .registered = n,
                             .beacon = {4},
                             .opens = 1,
                             .commit_by = 2000,
                             .closes = 3000,
                             .verify_by = 4000,
                             .release_by = 5000,
                             .keys = &r->cast.registry};
    ok(sotto_sim_cast_decryptors(&r->cast, r->size->members, &r->round, 1, &r->arena, NULL),
       "decryptors");
    ok(sotto_tdh2_prepare(&r->cast.decryptors->tdh2, NULL), "a table");
    r->round.decryptors = r->cast.decryptors;
    sotto_registry_root(&r->cast.registry, r->round.registry);
    memcpy(p.decryptors, r->cast.decryptors->digest, 32);
    ok(sotto_flamingo_parameters_encode(&out, &p, NULL), "parameters");
    r->round.parameters = sotto_buf_bytes(&out);
    r->entries = sotto_arena_take_array(&r->arena, r->size->length, 4);
    sotto_bench_expect(r->entries != NULL, "memory");
    sotto_self self = {
        .part = SOTTO_PART_SERVER, .index = SOTTO_TO_SERVER, .keys = &r->cast.server};
    ok(sotto_flamingo_server.join(&r->server, &r->round, &self, &r->arena, NULL), "a server");
    ok(sotto_method_flamingo.tally->init(&r->tally, &r->round, &r->arena, NULL), "a tally");
}

/* One client's report; ns: what it took. */
static void report(bench_round *r, uint32_t client, sotto_effects *effects, uint64_t *ns)
{
    sotto_self self = {.part = SOTTO_PART_CLIENT,
                       .index = client,
                       .keys = &r->cast.clients[client],
                       .seed = {(uint8_t)client, (uint8_t)(client >> 8)},
                       .secrets = &r->cast.secrets[client]};
    sotto_vector *v = sotto_arena_take(&r->step, sizeof *v);
    sotto_machine *machine;

    sotto_bench_expect(v != NULL, "memory");
    *v = (sotto_vector){.ring = SOTTO_RING_Z32, .length = r->size->length, .of.z32 = r->entries};
    for (size_t i = 0; i < v->length; i++)
        r->entries[i] = client + (uint32_t)(i & 7);
    uint64_t start = sotto_clock_thread_cpu();
    ok(sotto_flamingo_client.join(&machine, &r->round, &self, &r->step, NULL), "a client");
    sotto_effects_init(effects, &r->step);
    ok(sotto_flamingo_client.tick(machine, 1, effects, NULL), "a tick");
    ok(sotto_flamingo_client.offer(machine, v, effects, NULL), "a report");
    *ns = sotto_clock_thread_cpu() - start;
    sotto_flamingo_client.leave(machine);
}

static void ingest(bench_round *r, const sotto_effect_message *sent)
{
    const sotto_bulk_ops *bulk = sotto_method_flamingo.bulk;
    sotto_bytes bytes = sotto_vector_bytes(sent->bulk);
    sotto_status verdict;
    sotto_effects effects;
    uint64_t start = sotto_clock_thread_cpu();
    void *state = sotto_arena_take(&r->step, bulk->state_size(&r->round));

    sotto_bench_expect(state != NULL, "memory");
    ok(bulk->begin(state, &r->round, &sent->message, NULL), "a vector");
    for (size_t at = 0; at < bytes.len; at += 65536)
        ok(bulk->feed(
               state, at,
               sotto_bytes_of(bytes.data + at, bytes.len - at < 65536 ? bytes.len - at : 65536),
               NULL),
           "a piece");
    ok(bulk->finish(state, NULL), "a vector");
    ok(sotto_flamingo_check(&r->round, &sent->message, &r->step, NULL), "a right report");
    sotto_effects_init(&effects, &r->step);
    ok(sotto_flamingo_server.deliver(r->server, &sent->message, 1, &verdict, &effects, NULL),
       "a report");
    sotto_bench_expect(verdict == SOTTO_OK, "a report that is taken");
    ok(bulk->add(&r->tally, state, NULL), "a sum");
    r->ingest_ns += sotto_clock_thread_cpu() - start;
}

static void collect(bench_round *r)
{
    for (uint32_t i = 0; i < r->size->clients; i++) {
        sotto_effects effects;
        uint64_t ns;

        if (i % 10 == 5)
            continue;
        report(r, i, &effects, &ns);
        if (i < 8) { /* again, as in later rounds: what was agreed on is known */
            sotto_arena_reset(&r->step);
            report(r, i, &effects, &ns);
            r->client_ns += ns;
            r->clients_measured++;
        }
        ingest(r, effects.sent);
        r->reports++;
        sotto_arena_reset(&r->step);
    }
    note(r, "client", "ms", (double)r->client_ns / (double)r->clients_measured / 1e6);
    note(r, "ingest-upload", "ms", (double)r->ingest_ns / (double)r->reports / 1e6);
}

/* Passes everything on until the server has its result. `step` holds all of it. */
static void to_server(bench_round *r, const sotto_effects *from, sotto_effects *out)
{
    for (const sotto_effect_message *m = from->sent; m; m = m->next) {
        sotto_status verdict;
        uint64_t start = sotto_clock_thread_cpu();

        ok(sotto_flamingo_check(&r->round, &m->message, &r->step, NULL), "a right message");
        ok(sotto_flamingo_server.deliver(r->server, &m->message, 1, &verdict, out, NULL), "a step");
        r->server_ns += sotto_clock_thread_cpu() - start;
        sotto_bench_expect(verdict == SOTTO_OK, "a message that is taken");
    }
}

static void to_decryptors(bench_round *r, const sotto_effects *from, sotto_effects *out)
{
    for (const sotto_effect_message *m = from->sent; m; m = m->next) {
        int place = sotto_decryptors_place(r->round.decryptors, m->message.to);
        sotto_self self = {.part = SOTTO_PART_DECRYPTOR,
                           .index = m->message.to,
                           .keys = &r->cast.clients[m->message.to],
                           .seed = {1},
                           .secrets = &r->cast.secrets[m->message.to]};
        sotto_effects effects;
        sotto_status verdict;
        uint64_t start = sotto_clock_thread_cpu();

        if (!r->members[place])
            ok(sotto_flamingo_decryptor.join(&r->members[place], &r->round, &self, &r->arena, NULL),
               "a decryptor");
        ok(sotto_flamingo_check(&r->round, &m->message, &r->step, NULL), "a right message");
        sotto_effects_init(&effects, &r->step);
        ok(sotto_flamingo_decryptor.deliver(r->members[place], &m->message, 1, &verdict, &effects,
                                            NULL),
           "a step");
        sotto_bench_expect(verdict == SOTTO_OK, "a message that is taken");
        if (place == 0) { /* the first of them is asked in both steps */
            r->decryptor_ns += sotto_clock_thread_cpu() - start;
            r->down += m->message.body.len;
        }
        to_server(r, &effects, out);
    }
}

static void open_sum(bench_round *r, const char *set, const char *name)
{
    sotto_round_result result;
    sotto_bytes parts[2];
    sotto_vector sum;
    size_t size = sotto_method_flamingo.tally->size(&r->round);
    sotto_buf share = sotto_buf_over(sotto_arena_take(&r->step, size), size);

    sotto_bench_expect(share.data != NULL, "memory");
    if (!sotto_mask_use(set))
        return;
    ok(sotto_flamingo_server.result(r->server, &result, NULL), "a result");
    ok(sotto_method_flamingo.tally->encode(&r->tally, &share, NULL), "a sum");
    parts[0] = sotto_buf_bytes(&share);
    parts[1] = result.opening;
    uint64_t start = sotto_clock_thread_cpu();
    ok(sotto_method_flamingo.tally->open(&sum, &r->round, parts, 2, result.contributions, &r->step,
                                         NULL),
       "an opened sum");
    uint64_t ns = sotto_clock_thread_cpu() - start;
    uint64_t wanted = 0;
    for (uint32_t i = 0; i < r->size->clients; i++)
        wanted += i % 10 == 5 ? 0 : i + 7;
    sotto_bench_expect(sum.of.z32[7] == (uint32_t)wanted, "the right sum");
    note(r, name, "ms", (double)(ns + r->server_ns) / 1e6);
    const size_t opened = result.opening.len / SOTTO_MASK_ROW;
    if (set[0] == 'v')
        note(r, "masks-opened", "count", (double)opened);
    sotto_bench_expect(sotto_mask_use(NULL), "the best");
}

static void finish(bench_round *r)
{
    sotto_effects labels, opens, last;
    uint64_t start = sotto_clock_thread_cpu();

    sotto_effects_init(&labels, &r->step);
    sotto_effects_init(&opens, &r->step);
    sotto_effects_init(&last, &r->step);
    ok(sotto_flamingo_server.tick(r->server, 3000, &labels, NULL), "labels");
    r->server_ns += sotto_clock_thread_cpu() - start;
    to_decryptors(r, &labels, &opens);
    to_decryptors(r, &opens, &last);
    sotto_bench_expect(last.done && last.outcome == SOTTO_OK, "a sum");
    note(r, "server-messages-and-shares", "ms", (double)r->server_ns / 1e6);
    open_sum(r, "vaes", "server-after-closing/vaes");
    open_sum(r, "evp", "server-after-closing/evp");
    note(r, "decryptor", "ms", (double)r->decryptor_ns / 1e6);
    note(r, "decryptor-down", "bytes", (double)r->down);
}

static void run_case(const sotto_bench *b, const size_case *size)
{
    static bench_round r;

    r = (bench_round){.b = b, .size = size};
    sotto_arena_init(&r.arena, (size_t)1 << 30);
    sotto_arena_init(&r.step, (size_t)1 << 30);
    set_up(&r);
    collect(&r);
    finish(&r);
    for (uint32_t i = 0; i < size->members; i++)
        if (r.members[i])
            sotto_flamingo_decryptor.leave(r.members[i]);
    sotto_flamingo_server.leave(r.server);
    sotto_sim_cast_clear(&r.cast);
    sotto_arena_clear(&r.step);
    sotto_arena_clear(&r.arena);
}

/* What one of 60 members computes while a key is made: its deal, everybody else's checks, and the key. */
static void bench_dkg(const sotto_bench *b)
{
    enum { MEMBERS = 60 };
    static sotto_dkg_commitments hidden[MEMBERS], shown[MEMBERS];
    static sotto_dkg_values values[MEMBERS], to_others;
    static uint8_t verify[MEMBERS][SOTTO_P256_WIDE];
    static bool all[MEMBERS];
    uint32_t threshold = sotto_decryptors_threshold(MEMBERS);
    uint8_t seed[32] = {1}, key[SOTTO_P256_WIDE];
    sotto_keystream stream;
    sotto_dkg_dealer dealer;
    sotto_scalar share;
    sotto_arena arena;
    uint64_t own = 0, start;
    sotto_tdh2 t;

    if (!sotto_bench_wanted(b, "flamingo/dkg-member-of-60"))
        return;
    sotto_arena_init(&arena, (size_t)1 << 26);
    ok(sotto_tdh2_init(&t, NULL), "a group");
    ok(sotto_keystream_init(&stream, NULL), "a stream");
    ok(sotto_keystream_seed(&stream, seed, NULL), "a stream");
    for (uint32_t d = 0; d < MEMBERS; d++) {
        start = sotto_clock_thread_cpu();
        ok(sotto_dkg_deal(&dealer, &t, threshold, NULL, &stream, &arena, NULL), "a deal");
        ok(sotto_dkg_commit(&dealer, &t, &hidden[d], &arena, NULL), "commitments");
        ok(sotto_dkg_reveal(&dealer, &t, &shown[d], &arena, NULL), "commitments");
        sotto_dkg_values_for(&dealer, &t, 0, &values[d]);
        for (uint32_t i = 1; i < MEMBERS && d == 0; i++)
            sotto_dkg_values_for(&dealer, &t, i, &to_others);
        own += d == 0 ? sotto_clock_thread_cpu() - start : 0;
        all[d] = true;
    }
    start = sotto_clock_thread_cpu();
    for (uint32_t d = 1; d < MEMBERS; d++)
        sotto_bench_expect(
            sotto_dkg_is_committed_vartime(&t, &hidden[d], 0, &values[d]) &&
                sotto_dkg_is_revealed_vartime(&t, &shown[d], shown[0].count, 0, &values[d]),
            "right values");
    sotto_dkg_share(&t, &share, values, all, MEMBERS);
    ok(sotto_dkg_publish_vartime(&t, key, verify, shown, all, MEMBERS, shown[0].count, NULL),
       "a key");
    own += sotto_clock_thread_cpu() - start;
    sotto_bench_note(b, "flamingo/dkg-member-of-60", "ms", (double)own / 1e6);
    sotto_keystream_clear(&stream);
    sotto_tdh2_clear(&t);
    sotto_arena_clear(&arena);
}

void sotto_bench_flamingo(const sotto_bench *b)
{
    bench_dkg(b);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++)
        if (b->filter ? strncmp(b->filter, CASES[i].name, strlen(b->filter)) == 0 &&
                            (CASES[i].always || strcmp(b->filter, "flamingo") != 0)
                      : CASES[i].always)
            run_case(b, &CASES[i]);
}
