/* A round of flamingo, each part's CPU time apart, machines driven by hand: 10 % of the clients drop out. Without a filter the
 * round is small. "flamingo/1024" runs 1,024 clients with 2^20 entries each, and "flamingo/512" 512 with 2^14. "flamingo/10000"
 * runs 10,000 with 2^10: its time and its memory are those of everybody together. */
#define _GNU_SOURCE
#include "bench.h"

#include "aggregate/flamingo/flamingo.h"
#include "aggregate/shared/crew.h"
#include "aggregate/shared/dkg.h"
#include "aggregate/shared/mask.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "flamingo_round.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

/* As many messages come together here: lanes are filled, and no more than that. The aggregator takes up to 64 at once. */
enum { TOGETHER = 8, MEASURED = 8 };

/* Two servers are told the same and do the same: the second on two threads, by wall time. */
typedef struct lane {
    sotto_machine *server; /* NULL: there is no second one */
    unsigned threads;
    uint64_t wall_ns, own_ns; /* own: CPU time of the calling thread */
} lane;

typedef struct bench_round {
    sotto_bench_round of;
    const sotto_bench *b;
    bool is_rehearsal; /* nothing is noted */
    lane lanes[2];
    sotto_machine *members[SOTTO_DECRYPTORS_MOST];
    sotto_tally tally;
    const sotto_effect_message *came[TOGETHER];
    size_t waiting;
    uint64_t server_ns, ingest_ns, judge_ns, client_ns, clients_measured, reports, decryptor_ns,
        down;
} bench_round;

static const sotto_bench_size CASES[] = {
    {"flamingo/64", 64, 20, 9, 4096, true},
    {"flamingo/512", 512, 36, 60, 16384, false},
    {"flamingo/1024", 1024, 40, 60, (size_t)1 << 20, false},
    {"flamingo/10000", 10000, 40, 21, 1024, false},
};

static void note(const bench_round *r, const char *what, const char *unit, double value)
{
    char name[96];

    if (r->is_rehearsal)
        return;
    (void)snprintf(name, sizeof name, "%s/%s", r->of.size->name, what);
    sotto_bench_note(r->b, name, unit, value);
}

static void ok(sotto_status status, const char *what)
{
    sotto_bench_expect(status == SOTTO_OK, what);
}

/* Where one process plays everybody, tables for the committee's key pay. A device of a single round makes none. */
static bool is_crowd(const sotto_bench_size *size)
{
    return size->clients >= 10000;
}

static void set_up(bench_round *r, const sotto_bench_size *size)
{
    sotto_bench_round_open(&r->of, size, NULL, 1, 3000);
    sotto_self self = {
        .part = SOTTO_PART_SERVER, .index = SOTTO_TO_SERVER, .keys = &r->of.cast.server};
    for (unsigned i = 0; i < (is_crowd(size) ? 1 : 2); i++) {
        r->lanes[i].threads = i + 1;
        ok(sotto_flamingo_server.join(&r->lanes[i].server, &r->of.round, &self, &r->of.arena, NULL),
           "a server");
    }
    if (is_crowd(size))
        ok(sotto_tdh2_prepare(&r->of.round.decryptors->tdh2, r->of.round.decryptors->key, NULL),
           "tables");
    ok(sotto_method_flamingo.tally->init(&r->tally, &r->of.round, &r->of.arena, NULL), "a tally");
}

/* One report that was judged: `message` is what `sent` came as. */
static void take(bench_round *r, const sotto_effect_message *sent, const sotto_message *message)
{
    const sotto_bulk_ops *bulk = sotto_method_flamingo.bulk;
    sotto_bytes bytes = sotto_vector_bytes(sent->bulk);
    sotto_status verdict;
    sotto_effects effects;
    uint64_t start = sotto_clock_thread_cpu();
    void *state = sotto_arena_take(&r->of.step, bulk->state_size(&r->of.round));

    sotto_bench_expect(state != NULL, "memory");
    ok(bulk->begin(state, &r->of.round, message, NULL), "a vector");
    for (size_t at = 0; at < bytes.len; at += 65536)
        ok(bulk->feed(
               state, at,
               sotto_bytes_of(bytes.data + at, bytes.len - at < 65536 ? bytes.len - at : 65536),
               NULL),
           "a piece");
    ok(bulk->finish(state, NULL), "a vector");
    sotto_effects_init(&effects, &r->of.step);
    ok(sotto_flamingo_server.deliver(r->lanes[0].server, message, 1, &verdict, &effects, NULL),
       "a report");
    sotto_bench_expect(verdict == SOTTO_OK, "a report that is taken");
    ok(bulk->add(&r->tally, state, NULL), "a sum");
    r->ingest_ns += sotto_clock_thread_cpu() - start;
    if (r->lanes[1].server)
        ok(sotto_flamingo_server.deliver(r->lanes[1].server, message, 1, &verdict, &effects, NULL),
           "a report");
}

/* Messages that came together are judged together, as the aggregator does. */
static void judge(bench_round *r, sotto_message *messages, size_t count)
{
    const uint64_t start = sotto_clock_thread_cpu();

    sotto_messages_vouch(messages, count, &r->of.round, &sotto_method_flamingo);
    for (size_t i = 0; i < count; i++)
        ok(sotto_flamingo_check(&r->of.round, &messages[i], &r->of.step, NULL), "a right message");
    r->judge_ns += sotto_clock_thread_cpu() - start;
}

static void ingest(bench_round *r)
{
    const uint64_t before = r->judge_ns;
    sotto_message messages[TOGETHER];

    for (size_t i = 0; i < r->waiting; i++)
        messages[i] = r->came[i]->message;
    judge(r, messages, r->waiting);
    r->ingest_ns += r->judge_ns - before;
    for (size_t i = 0; i < r->waiting; i++)
        take(r, r->came[i], &messages[i]);
    r->reports += r->waiting;
    r->waiting = 0;
    sotto_arena_reset(&r->of.step);
}

/* Later rounds with the crypto library's masks, as a machine without wide AES has them. */
static void client_by_library(bench_round *r)
{
    uint64_t all = 0, ns;
    sotto_effects effects;
    uint32_t i = 0;

    sotto_bench_expect(sotto_mask_use("evp"), "the crypto library");
    for (; i < 5; i++) {
        sotto_bench_round_report(&r->of, i, &effects, &ns);
        all += ns;
        sotto_arena_reset(&r->of.step);
    }
    sotto_bench_expect(sotto_mask_use(NULL), "the best");
    note(r, "client/evp", "ms", (double)all / i / 1e6);
}

static bool is_silent(uint32_t client)
{
    return client % 10 == 5;
}

/* Some clients' first rounds, and another of each, in which what was agreed on is known. */
static uint64_t measure_clients(bench_round *r)
{
    uint64_t first_ns = 0;

    for (uint32_t i = 0; i < MEASURED && i < r->of.size->clients; i++) {
        sotto_effects effects;
        uint64_t ns;

        if (is_silent(i))
            continue;
        sotto_bench_round_report(&r->of, i, &effects, &ns);
        first_ns += ns;
        sotto_arena_reset(&r->of.step);
        sotto_bench_round_report(&r->of, i, &effects, &ns);
        r->client_ns += ns;
        r->clients_measured++;
        sotto_arena_reset(&r->of.step);
    }
    return first_ns;
}

static void collect(bench_round *r)
{
    uint64_t first_ns = measure_clients(r);

    for (uint32_t i = 0; i < r->of.size->clients; i++) {
        sotto_effects effects;
        uint64_t ns;

        if (is_silent(i))
            continue;
        sotto_bench_round_report(&r->of, i, &effects, &ns);
        first_ns += i < MEASURED ? 0 : ns;
        r->came[r->waiting++] = effects.sent;
        if (r->waiting == TOGETHER)
            ingest(r);
    }
    if (r->waiting > 0)
        ingest(r);
    note(r, "client", "ms", (double)r->client_ns / (double)r->clients_measured / 1e6);
    client_by_library(r);
    note(r, "client-first-round", "ms", (double)first_ns / (double)r->reports / 1e6);
    note(r, "ingest-upload", "ms", (double)r->ingest_ns / (double)r->reports / 1e6);
    note(r, "ingest-upload-judged", "ms", (double)r->judge_ns / (double)r->reports / 1e6);
}

static uint64_t wall(void)
{
    return sotto_clock_monotonic(&sotto_clock_system);
}

/* Messages that come together, or the end of the window. */
static void step_of(bench_round *r, lane *l, const sotto_message *messages, size_t count,
                    sotto_effects *out)
{
    const uint64_t start = wall(), own = sotto_clock_thread_cpu();
    sotto_message here[TOGETHER];
    sotto_status verdict = SOTTO_OK;

    sotto_crew_use(l->threads);
    for (size_t i = 0; i < count; i++)
        here[i] = messages[i];
    sotto_messages_vouch(here, count, &r->of.round, &sotto_method_flamingo);
    for (size_t i = 0; i < count; i++) {
        ok(sotto_flamingo_check(&r->of.round, &here[i], &r->of.step, NULL), "a right message");
        ok(sotto_flamingo_server.deliver(l->server, &here[i], 1, &verdict, out, NULL), "a step");
        sotto_bench_expect(verdict == SOTTO_OK, "a message that is taken");
    }
    if (count == 0)
        ok(sotto_flamingo_server.tick(l->server, r->of.round.closes, out, NULL), "labels");
    sotto_crew_use(1);
    l->wall_ns += wall() - start;
    l->own_ns += sotto_clock_thread_cpu() - own;
}

/* The step of the first server, whose CPU time counts. The second does it too, and what it says is the same. */
static void serve(bench_round *r, sotto_effects *out)
{
    const uint64_t start = sotto_clock_thread_cpu();
    sotto_message messages[TOGETHER];
    const size_t count = r->waiting;
    sotto_effects same;

    for (size_t i = 0; i < count; i++)
        messages[i] = r->came[i]->message;
    r->waiting = 0;
    step_of(r, &r->lanes[0], messages, count, out);
    r->server_ns += sotto_clock_thread_cpu() - start;
    if (!r->lanes[1].server)
        return;
    sotto_effects_init(&same, &r->of.step);
    sotto_bench_unpin();
    step_of(r, &r->lanes[1], messages, count, &same);
    sotto_bench_pin();
}

/* Passes everything on until the server has its result. `step` holds all of it. */
static void to_server(bench_round *r, const sotto_effects *from, sotto_effects *out)
{
    for (const sotto_effect_message *m = from->sent; m; m = m->next) {
        r->came[r->waiting++] = m;
        if (r->waiting == TOGETHER)
            serve(r, out);
    }
}

static void to_decryptors(bench_round *r, const sotto_effects *from, sotto_effects *out)
{
    for (const sotto_effect_message *m = from->sent; m; m = m->next) {
        int place = sotto_decryptors_place(r->of.round.decryptors, m->message.to);
        sotto_self self = {.part = SOTTO_PART_DECRYPTOR,
                           .index = m->message.to,
                           .keys = &r->of.cast.clients[m->message.to],
                           .seed = {1},
                           .secrets = &r->of.cast.secrets[m->message.to]};
        sotto_effects effects;
        sotto_status verdict;
        uint64_t start = sotto_clock_thread_cpu();

        if (!r->members[place])
            ok(sotto_flamingo_decryptor.join(&r->members[place], &r->of.round, &self, &r->of.arena,
                                             NULL),
               "a decryptor");
        ok(sotto_flamingo_check(&r->of.round, &m->message, &r->of.step, NULL), "a right message");
        sotto_effects_init(&effects, &r->of.step);
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
    if (r->waiting > 0)
        serve(r, out);
}

/* The sum, from what decryptors opened. */
static void unmask(bench_round *r, const lane *l, sotto_bytes share)
{
    sotto_round_result result;
    sotto_vector sum;
    uint64_t wanted = 0;

    ok(sotto_flamingo_server.result(l->server, &result, NULL), "a result");
    const sotto_bytes parts[2] = {share, result.opening};
    ok(sotto_method_flamingo.tally->open(&sum, &r->of.round, parts, 2, result.contributions,
                                         &r->of.step, NULL),
       "an opened sum");
    for (uint32_t i = 0; i < r->of.size->clients; i++)
        wanted += i % 10 == 5 ? 0 : i + 7;
    sotto_bench_expect(sum.of.z32[7] == (uint32_t)wanted, "the right sum");
}

static void open_sum(bench_round *r, sotto_bytes share, const char *set, const char *name)
{
    if (!sotto_mask_use(set))
        return;
    uint64_t start = sotto_clock_thread_cpu();
    unmask(r, &r->lanes[0], share);
    note(r, name, "ms", (double)(sotto_clock_thread_cpu() - start + r->server_ns) / 1e6);
    sotto_bench_expect(sotto_mask_use(NULL), "the best");
}

/* Everything after the window closed, on one thread and on two, with every core that the process was given: an idle machine is
 * needed. The calling thread's CPU time needs none: it says how much is left to one thread. */
static void two_threads(bench_round *r, sotto_bytes share)
{
    double all[2], own[2];

    if (!r->lanes[1].server)
        return;
    sotto_bench_unpin();
    for (unsigned i = 0; i < 2; i++) {
        const uint64_t start = wall(), cpu = sotto_clock_thread_cpu();

        sotto_crew_use(r->lanes[i].threads);
        unmask(r, &r->lanes[i], share);
        all[i] = (double)(r->lanes[i].wall_ns + wall() - start);
        own[i] = (double)(r->lanes[i].own_ns + sotto_clock_thread_cpu() - cpu);
    }
    sotto_crew_use(1);
    sotto_bench_pin();
    note(r, "server-after-closing/one-thread", "ms of wall time", all[0] / 1e6);
    note(r, "server-after-closing/two-threads", "ms of wall time", all[1] / 1e6);
    note(r, "server-after-closing/two-threads-gain", "times", all[0] / all[1]);
    note(r, "server-after-closing/two-threads-less-of-the-first", "times", own[0] / own[1]);
}

static void finish(bench_round *r)
{
    sotto_effects labels, opens, last;

    sotto_effects_init(&labels, &r->of.step);
    sotto_effects_init(&opens, &r->of.step);
    sotto_effects_init(&last, &r->of.step);
    serve(r, &labels);
    to_decryptors(r, &labels, &opens);
    to_decryptors(r, &opens, &last);
    sotto_bench_expect(last.done && last.outcome == SOTTO_OK, "a sum");
    note(r, "server-messages-and-shares", "ms", (double)r->server_ns / 1e6);
    size_t size = sotto_method_flamingo.tally->size(&r->of.round);
    sotto_buf share = sotto_buf_over(sotto_arena_take(&r->of.step, size), size);
    sotto_bench_expect(share.data != NULL, "memory");
    ok(sotto_method_flamingo.tally->encode(&r->tally, &share, NULL), "a sum");
    sotto_round_result result;
    ok(sotto_flamingo_server.result(r->lanes[0].server, &result, NULL), "a result");
    note(r, "masks-opened", "count", (double)result.opening.len / SOTTO_MASK_ROW);
    open_sum(r, sotto_buf_bytes(&share), "vaes512", "server-after-closing/vaes512");
    open_sum(r, sotto_buf_bytes(&share), "vaes", "server-after-closing/vaes");
    open_sum(r, sotto_buf_bytes(&share), "evp", "server-after-closing/evp");
    two_threads(r, sotto_buf_bytes(&share));
    note(r, "decryptor", "ms", (double)r->decryptor_ns / 1e6);
    note(r, "decryptor-down", "bytes", (double)r->down);
}

static void play(const sotto_bench *b, const sotto_bench_size *size, bool is_rehearsal)
{
    static bench_round r;
    const uint64_t start = wall();
    struct rusage used;

    r = (bench_round){.b = b, .is_rehearsal = is_rehearsal};
    set_up(&r, size);
    collect(&r);
    finish(&r);
    for (uint32_t i = 0; i < size->members; i++)
        if (r.members[i])
            sotto_flamingo_decryptor.leave(r.members[i]);
    for (unsigned i = 0; i < 2; i++)
        if (r.lanes[i].server)
            sotto_flamingo_server.leave(r.lanes[i].server);
    sotto_bench_round_close(&r.of);
    note(&r, "everybody-in-one-process", "s", (double)(wall() - start) / 1e9);
    if (getrusage(RUSAGE_SELF, &used) == 0)
        note(&r, "most-resident", "MiB", (double)used.ru_maxrss / 1024);
}

/* An aggregator has played a round before, and keeps large blocks as every service does (serve/host/host.c). Here are two aggregators. Else the first round would
 * measure how fast the machine hands out memory. The largest case is played once: its memory is what counts there. */
static void run_case(const sotto_bench *b, const sotto_bench_size *size)
{
    enum { KEPT_BLOCKS = 128 << 20, LARGEST = 10000 };

    if (size->clients < LARGEST) {
        sotto_alloc_keep_blocks(KEPT_BLOCKS);
        play(b, size, true);
    }
    play(b, size, false);
    sotto_alloc_keep_blocks(0);
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

/* "flamingo" and "flamingo/" ask for no case that takes minutes. */
static bool is_wanted(const sotto_bench *b, const sotto_bench_size *size)
{
    const bool group = !b->filter || strcmp(b->filter, "flamingo") == 0;

    if (b->filter && strncmp(b->filter, size->name, strlen(b->filter)) != 0)
        return false;
    return size->always ||
           (!group && (size->clients < 10000 || strcmp(b->filter, "flamingo/") != 0));
}

void sotto_bench_flamingo(const sotto_bench *b)
{
    bench_dkg(b);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++)
        if (is_wanted(b, &CASES[i]))
            run_case(b, &CASES[i]);
}
