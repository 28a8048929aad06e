/* Leader and helper as processes of their own on loopback, durable writes on: how near they come to what the
 * cryptography alone would allow on the cores of this machine.
 *
 *     limit = cores / (two HPKE opens + the leader's and the helper's verification), measured in the same run
 *
 * Wall time; the load generator has one core's share like everybody else, and its CPU is printed. What was added up is
 * collected and compared with what was sent: a benchmark of lost reports measures nothing.
 */
#define _GNU_SOURCE
#include "bench.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "cpu_time.h"
#include "door.h"
#include "seal/ohttp/ohttp.h"
#include "source.h"
#include "sync_probe.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The relay sends as soon as it has this many, as by its defaults. It waits less for them: the last requests of a run have no company. */
enum { MIX_LEAST = 16, MIX_DELAY_MS = 50 };
enum { SEED = 7, MIB = 1 << 20, PREMADE = 1024 * MIB, SAMPLES = 4096 };

typedef struct pipeline_case {
    const char *name;
    sotto_prio3_config vdaf;
    unsigned connections;
    size_t a_request; /* reports in one request            */
    double rate;      /* requests a second; 0: closed loop */
    bool streamed;    /* made while they are sent          */
    unsigned replicas;
    const char *postgres;
    double goal;        /* of the limit; 0: none */
    bool shared_bodies; /* with postgres: in a directory */
} pipeline_case;

/* What one case measures. */
typedef struct result {
    sotto_report_cost cost;
    double limit, speed;                  /* reports a second */
    double leader_us, helper_us, load_us; /* CPU, for each report */
    double relay_us, gateway_us, postgres_us;
    double others; /* of the cores: what nobody of ours took */
    double syncs;  /* for 1,000 reports */
    double p50_ms, p99_ms, backlog_growth, most_backlog;
    double sync_p50_ms, sync_p99_ms; /* of the disk, in the same time */
    double drain_ms;                 /* from the last answer to the last report that is verified */
    double collect_ms;               /* from asking for the finished batch to its sum */
    double leader_mib, helper_mib;
    double leader_growth, helper_growth; /* MiB, from the second third of the run to the last */
    double database[2];                  /* bytes a report: the leader's, the helper's */
} result;

/* CPU of all our processes for each report. */
static double all_us(const result *r)
{
    return r->leader_us + r->helper_us + r->load_us + r->relay_us + r->gateway_us + r->postgres_us;
}

static double now_s(void)
{
    return (double)sotto_clock_monotonic(&sotto_clock_system) / 1e9;
}

static double cores(void)
{
    return (double)sysconf(_SC_NPROCESSORS_ONLN);
}

static void pause_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};

    (void)nanosleep(&t, NULL);
}

static void expect(sotto_status status, const sotto_err *err)
{
    sotto_bench_expect(status == SOTTO_OK, err->reason);
}

static void note(const sotto_bench *b, const char *name, const char *what, const char *unit,
                 double value)
{
    char line[128];

    (void)snprintf(line, sizeof line, "pipeline/%s/%s", name, what);
    sotto_bench_note(b, line, unit, value);
    (void)fflush(stdout);
}

/* ---- watching ----------------------------------------------------------------------------------------------------- */

typedef struct watcher {
    sotto_deployment *d;
    double every_s;
    _Atomic bool stop;
    pthread_t thread;
    double at[SAMPLES], unverified[SAMPLES], resident[2][SAMPLES];
    size_t count;
} watcher;

static sotto_replica_stats stats_of(sotto_replica *r)
{
    sotto_replica_stats stats = {0};

    if (sotto_replica_stats_get(r, &stats, NULL) != SOTTO_OK)
        sotto_bench_fail("a server does not answer");
    return stats;
}

static double unverified_of(sotto_deployment *d)
{
    /* The leaders share a database: one tells for all. */
    return (double)stats_of(&d->leaders[0]).unverified;
}

static void *watch(void *context)
{
    watcher *w = context;

    while (!atomic_load(&w->stop) && w->count < SAMPLES) {
        sotto_replica_stats leader = stats_of(&w->d->leaders[0]);

        w->at[w->count] = now_s();
        w->unverified[w->count] = (double)leader.unverified;
        w->resident[0][w->count] = leader.resident_mib;
        w->resident[1][w->count++] = stats_of(&w->d->helpers[0]).resident_mib;
        for (double until = w->at[w->count - 1] + w->every_s;
             now_s() < until && !atomic_load(&w->stop);)
            pause_ms(5);
    }
    return NULL;
}

/* MiB by which the most of the last third was more than the most of the third before it: what is flat has none. */
static double memory_growth_of(const watcher *w, size_t side)
{
    double most[3] = {0, 0, 0};

    for (size_t i = 0; i < w->count; i++) {
        double *m = &most[3 * i / w->count];

        *m = w->resident[side][i] > *m ? w->resident[side][i] : *m;
    }
    return most[2] - most[1];
}

/* Reports a second by which the backlog grew: the slope through the samples of the last two thirds. */
static double growth_of(const watcher *w)
{
    size_t first = w->count / 3, n = w->count - first;
    double x = 0, y = 0, xx = 0, xy = 0;

    for (size_t i = first; i < w->count; i++) {
        double t = w->at[i] - w->at[first];

        x += t;
        y += w->unverified[i];
        xx += t * t;
        xy += t * w->unverified[i];
    }
    double spread = xx - x * x / (double)n;
    return n > 2 && spread > 0 ? (xy - x * y / (double)n) / spread : 0;
}

/* ---- one case ------------------------------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;

    return (x > y) - (x < y);
}

static void read_latencies(result *out, float *latencies, size_t count)
{
    if (count == 0)
        return;
    qsort(latencies, count, sizeof *latencies, by_value);
    out->p50_ms = (double)latencies[count / 2];
    out->p99_ms = (double)latencies[count * 99 / 100];
}

static double check_answer(sotto_deployment *d, const sotto_source *s)
{
    double start = now_s(), took;
    uint64_t *sums = sotto_alloc(d->vdaf.sizes.outputs * sizeof *sums);
    sotto_collection answer;
    sotto_err err = {0};

    sotto_bench_expect(sums != NULL, "no memory");
    expect(sotto_deployment_collect(d, &answer, d->bucket, d->bucket + 1, 60000, &err), &err);
    took = (now_s() - start) * 1e3;
    sotto_bench_expect(answer.reports == s->made, "not every report was counted");
    for (uint64_t i = 0; i < s->made; i++)
        sotto_maker_measure(s->maker, sums, i);
    for (size_t i = 0; i < d->vdaf.sizes.outputs; i++)
        sotto_bench_expect(answer.sums[i].low == sums[i] && answer.sums[i].high == 0,
                           "the sum is not that of the reports");
    sotto_release(sums, d->vdaf.sizes.outputs * sizeof *sums);
    return took;
}

/* CPU, syncs and memory of all replicas together. */
static void add_stats(sotto_deployment *d, result *out, double sign, double reports)
{
    for (unsigned side = 0; side < 2; side++) {
        unsigned count = side == 0 ? d->options.leaders : d->options.helpers;

        for (unsigned i = 0; i < count; i++) {
            sotto_replica_stats s = {0};
            double *us = side == 0 ? &out->leader_us : &out->helper_us;
            double *mib = side == 0 ? &out->leader_mib : &out->helper_mib;
            sotto_err err = {0};

            expect(sotto_replica_stats_get(side == 0 ? &d->leaders[i] : &d->helpers[i], &s, &err),
                   &err);
            *us += sign * s.cpu_seconds * 1e6 / reports;
            out->syncs += sign * (double)s.syncs * 1e3 / reports;
            if (s.most_resident_mib > *mib)
                *mib = s.most_resident_mib;
        }
    }
}

static void add_between(sotto_between *between, result *out, double sign, double reports)
{
    if (!between)
        return;
    out->relay_us += sign * stats_of(&between->relay).cpu_seconds * 1e6 / reports;
    out->gateway_us += sign * stats_of(&between->gateway).cpu_seconds * 1e6 / reports;
}

static sotto_status read_size(sotto_tx *tx, void *context, sotto_err *err)
{
    double *bytes = context;
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "SELECT (page_count - freelist_count) * page_size FROM"
                                " pragma_page_count, pragma_freelist_count, pragma_page_size",
                                err));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    *bytes = row ? (double)sotto_sql_column_int(&q, 0) : 0;
    return SOTTO_OK;
}

/* Pages of SQLite's file that are in use, for each report, once all are verified. Bodies that waited stood in the file beside it. */
static double database_bytes(const sotto_deployment *d, size_t side, double reports)
{
    sotto_deployment_store store;
    double bytes = 0;
    sotto_err err = {0};

    if (d->options.postgres)
        return 0;
    expect(sotto_deployment_open_store(&store, d, side, &err), &err);
    expect(sotto_db_read(store.db, read_size, &bytes, &err), &err);
    sotto_deployment_close_store(&store);
    return bytes / reports;
}

/* Where requests go. */
static void aim(sotto_traffic_options *o, const sotto_deployment *d, const sotto_source *s)
{
    for (unsigned i = 0; i < d->options.leaders; i++)
        o->ports[i] = d->leaders[i].port;
    memcpy(o->task, d->task.id, sizeof o->task);
    if (!s->between)
        return;
    o->ports[0] = s->between->relay.port;
    o->path = SOTTO_BETWEEN_PATH;
    o->media_type = SOTTO_OHTTP_REQUEST_TYPE;
    o->sealed = true;
}

static void drive(sotto_deployment *d, const pipeline_case *c, sotto_source *s, result *out)
{
    static watcher w;
    size_t requests = (size_t)(s->total / c->a_request);
    sotto_traffic_options o = {.port_count = d->options.leaders,
                               .connections = c->connections,
                               .rate = c->rate,
                               .seed = SEED,
                               .next = sotto_source_next,
                               .context = s,
                               .latency_room = requests};
    sotto_traffic traffic;
    sotto_err err = {0};
    double start;

    aim(&o, d, s);
    if (c->streamed)
        o.room = c->a_request * sotto_maker_report_size(s->maker);
    o.fates = sotto_alloc((size_t)s->total);
    o.latencies = sotto_alloc(requests * sizeof *o.latencies);
    sotto_bench_expect(o.fates && o.latencies, "no memory");
    memset(&w, 0, sizeof w);
    w.d = d;
    w.every_s = c->rate > 0 ? 0.1 : 0.25;
    add_stats(d, out, -1, (double)s->total);
    add_between(s->between, out, -1, (double)s->total);
    const double busy = sotto_cpu_of_machine(), database = sotto_cpu_of_postgres();
    start = now_s();
    sotto_bench_expect(pthread_create(&w.thread, NULL, watch, &w) == 0, "no thread");
    sotto_sync_probe *probe = c->rate > 0 ? sotto_sync_probe_start(d->directory) : NULL;
    expect(sotto_traffic_run(&traffic, &o, &err), &err);
    if (probe)
        sotto_sync_probe_stop(probe, &out->sync_p50_ms, &out->sync_p99_ms);
    atomic_store(&w.stop, true);
    sotto_bench_expect(pthread_join(w.thread, NULL) == 0, "no thread");
    const double taken = now_s();
    while (unverified_of(d) > 0)
        pause_ms(2);
    out->drain_ms = (now_s() - taken) * 1e3;
    /* Offered at a rate: what was acknowledged in that time. Else: what was verified, to the last report. */
    out->speed = (double)s->made / (c->rate > 0 ? traffic.seconds : now_s() - start);
    add_stats(d, out, 1, (double)s->total);
    add_between(s->between, out, 1, (double)s->total);
    if (d->options.postgres)
        out->postgres_us = (sotto_cpu_of_postgres() - database) * 1e6 / (double)s->made;
    out->others = (sotto_cpu_of_machine() - busy) / (now_s() - start) / cores();
    for (size_t side = 0; side < 2; side++)
        out->database[side] = database_bytes(d, side, (double)s->made);
    out->load_us = traffic.cpu_seconds * 1e6 / (double)s->made;
    out->others -= all_us(out) * 1e-6 * out->speed / cores();
    sotto_bench_expect(traffic.acknowledged == s->made && traffic.wrong == 0,
                       "not every report was acknowledged");
    read_latencies(out, o.latencies, traffic.latency_count);
    out->backlog_growth = growth_of(&w);
    out->leader_growth = memory_growth_of(&w, 0);
    out->helper_growth = memory_growth_of(&w, 1);
    for (size_t i = 0; i < w.count; i++)
        if (w.unverified[i] > out->most_backlog)
            out->most_backlog = w.unverified[i];
    sotto_release(o.fates, (size_t)s->total);
    sotto_release(o.latencies, requests * sizeof *o.latencies);
}

static uint64_t whole_requests(double reports, size_t a_request, uint64_t least)
{
    uint64_t n = reports < (double)least ? least : (uint64_t)reports;

    return (n + a_request - 1) / a_request * a_request;
}

/* between: where reports go through it and need tokens, the caller's memory; else NULL */
static void run_case(const sotto_bench *b, const pipeline_case *c, uint64_t reports,
                     sotto_between *between, result *out)
{
    static sotto_deployment d; /* large */
    sotto_deployment_options o = {.postgres = c->postgres,
                                  .shared_bodies = c->shared_bodies,
                                  .leaders = c->replicas,
                                  .helpers = c->replicas,
                                  .vdaf = c->vdaf,
                                  .min_batch_size = 100,
                                  .program = SOTTO_BENCH_SERVER,
                                  .tokens = between != NULL};
    sotto_source s = {.a_request = c->a_request, .between = between};
    sotto_err err = {0};
    sotto_door *door = NULL;

    memset(out, 0, sizeof *out);
    if (c->replicas > 1)
        expect(sotto_door_open(&door, &o.helper_door, &err), &err);
    expect(sotto_deployment_init(&d, &o, &err), &err);
    if (between)
        expect(sotto_load_tokens_issue(&d.tokens, reports, &err), &err);
    expect(sotto_deployment_cost(&d, &out->cost, b->seconds < 0.5 ? b->seconds : 0.5, &err), &err);
    out->limit = cores() * 1e9 /
                 (out->cost.leader_open + out->cost.helper_open + out->cost.leader_verify +
                  out->cost.helper_verify);
    expect(sotto_maker_new(&s.maker, &d.task, SEED, &err), &err);
    s.bucket = d.bucket;
    s.total = whole_requests(reports ? (double)reports : out->limit * b->seconds, c->a_request,
                             b->seconds < 0.1 ? 200 : 1000);
    if (!c->streamed && s.total * sotto_maker_report_size(s.maker) > PREMADE)
        s.total = PREMADE / sotto_maker_report_size(s.maker) / c->a_request * c->a_request;
    if (between)
        expect(sotto_between_start(between, &d, MIX_LEAST, MIX_DELAY_MS, &err), &err);
    if (!c->streamed)
        expect(sotto_source_premake(&s, &err), &err);
    if (door)
        for (unsigned i = 0; i < c->replicas; i++)
            sotto_door_add(door, d.helpers[i].port);
    expect(sotto_deployment_start(&d, &err), &err);
    drive(&d, c, &s, out);
    out->collect_ms = check_answer(&d, &s);
    if (between)
        sotto_between_end(between);
    sotto_deployment_clear(&d);
    sotto_door_close(door);
    sotto_source_clear(&s);
}

static void show(const sotto_bench *b, const pipeline_case *c, const result *r)
{
    note(b, c->name, "hpke-open", "us", (r->cost.leader_open + r->cost.helper_open) / 2e3);
    note(b, c->name, "leader-verify", "us", r->cost.leader_verify / 1e3);
    note(b, c->name, "helper-verify", "us", r->cost.helper_verify / 1e3);
    note(b, c->name, "limit", "reports/s", r->limit);
    note(b, c->name, "speed", "reports/s", r->speed);
    if (c->rate == 0)
        note(b, c->name, "of-limit", "%", 100 * r->speed / r->limit);
    if (c->goal > 0)
        note(b, c->name, "of-limit-goal", "%", 100 * c->goal);
    /* What the same work would come to were the cores ours alone, from its CPU time: where neighbours work too. */
    if (c->rate == 0 && !c->postgres)
        note(b, c->name, "of-limit-by-cpu-time", "%", 100e6 * cores() / all_us(r) / r->limit);
    if (r->relay_us > 0) {
        note(b, c->name, "speed-goal", "reports/s", 4300);
        note(b, c->name, "speed-by-cpu-time", "reports/s", 1e6 * cores() / all_us(r));
        note(b, c->name, "relay-cpu", "us/report", r->relay_us);
        note(b, c->name, "gateway-cpu", "us/report", r->gateway_us);
    }
    if (r->postgres_us > 0) {
        note(b, c->name, "speed-by-cpu-time", "reports/s", 1e6 * cores() / all_us(r));
        note(b, c->name, "postgres-cpu", "us/report", r->postgres_us);
    }
    /* Figures of a machine that others used say so. */
    note(b, c->name, "others-cpu", "% of the cores", 100 * r->others);
    note(b, c->name, "leader-cpu", "us/report", r->leader_us);
    note(b, c->name, "helper-cpu", "us/report", r->helper_us);
    note(b, c->name, "load-cpu", "us/report", r->load_us);
    if (!c->postgres)
        note(b, c->name, "syncs", "per 1000 reports", r->syncs);
    note(b, c->name, "drain", "ms", r->drain_ms);
    note(b, c->name, "collect", "ms", r->collect_ms);
    note(b, c->name, "collect-goal", "ms, at most", 50);
    note(b, c->name, "leader-memory", "MiB", r->leader_mib);
    note(b, c->name, "helper-memory", "MiB", r->helper_mib);
    note(b, c->name, "memory-goal", "MiB, at most", 200);
    if (!c->postgres) {
        note(b, c->name, "leader-database", "bytes/report", r->database[0]);
        note(b, c->name, "helper-database", "bytes/report", r->database[1]);
    }
    note(b, c->name, "leader-memory-growth", "MiB", r->leader_growth);
    note(b, c->name, "helper-memory-growth", "MiB", r->helper_growth);
    if (c->rate > 0) {
        note(b, c->name, "speed-goal", "reports/s", c->rate);
        note(b, c->name, "latency-p50", "ms", r->p50_ms);
        note(b, c->name, "latency-p99", "ms", r->p99_ms);
        note(b, c->name, "latency-p99-goal", "ms, at most, or twice sync-p99", 50);
        note(b, c->name, "sync-p50", "ms", r->sync_p50_ms);
        note(b, c->name, "sync-p99", "ms", r->sync_p99_ms);
        note(b, c->name, "backlog-growth", "reports/s", r->backlog_growth);
        note(b, c->name, "backlog-growth-goal", "reports/s, about", 0);
        note(b, c->name, "backlog-most", "reports", r->most_backlog);
    }
}

/* ---- the rows ---------------------------------------------------------------------------------------------------------- */

static bool wanted(const sotto_bench *b, const char *name)
{
    char line[128];

    /* A filter may name a case or one of its figures. */
    (void)snprintf(line, sizeof line, "pipeline/%s/", name);
    return !b->filter || strstr(line, b->filter) || strncmp(b->filter, line, strlen(line)) == 0;
}

static double run_row(const sotto_bench *b, const pipeline_case *c, uint64_t reports)
{
    result r;

    if (!wanted(b, c->name))
        return 0;
    run_case(b, c, reports, NULL, &r);
    show(b, c, &r);
    return r.speed;
}

/* The same reports without and with relay, gateway and tokens: each then has a token, issued beforehand. */
static void run_anonymous(const sotto_bench *b, const pipeline_case *plain, const pipeline_case *c)
{
    static sotto_between between;
    result without = {0}, with;

    if (wanted(b, plain->name)) {
        run_case(b, plain, 0, NULL, &without);
        show(b, plain, &without);
    }
    if (!wanted(b, c->name))
        return;
    run_case(b, c, whole_requests(5000 * b->seconds, 1, b->seconds < 0.1 ? 200 : 1000), &between,
             &with);
    show(b, c, &with);
    if (without.speed > 0) {
        note(b, c->name, "of-plain", "%", 100 * with.speed / without.speed);
        note(b, c->name, "of-plain-by-cpu-time", "%", 100 * all_us(&without) / all_us(&with));
        note(b, c->name, "of-plain-goal", "%", 35);
    }
}

/* Replica up on a database that isn't there yet: the median of five. */
static void run_start(const sotto_bench *b)
{
    enum { TIMES = 5 };
    static sotto_deployment d;
    sotto_deployment_options o = {.vdaf = {.type = SOTTO_PRIO3_COUNT, .shares = 2},
                                  .min_batch_size = 1,
                                  .program = SOTTO_BENCH_SERVER};
    float ms[TIMES];
    sotto_err err = {0};

    if (!wanted(b, "start"))
        return;
    expect(sotto_deployment_init(&d, &o, &err), &err);
    for (unsigned i = 0; i < TIMES; i++) {
        double start;

        (void)snprintf(d.database[0], sizeof d.database[0], "sqlite:%.200s/fresh-%u.db",
                       d.directory, i);
        start = now_s();
        expect(sotto_replica_start(&d, &d.leaders[0], &err), &err);
        ms[i] = (float)((now_s() - start) * 1e3);
        sotto_replica_end(&d.leaders[0], false);
    }
    qsort(ms, TIMES, sizeof ms[0], by_value);
    note(b, "start", "to-ready", "ms", (double)ms[TIMES / 2]);
    note(b, "start", "to-ready-goal", "ms, at most", 300);
    sotto_deployment_clear(&d);
}

/* Its goal is a part of what one of each does over SQLite in the same run. */
static void run_replicas(const sotto_bench *b, const pipeline_case *c, double sqlite)
{
    pipeline_case without_limit = *c;
    double replicas;

    without_limit.goal = 0;
    replicas = run_row(b, &without_limit, 0);
    if (sqlite > 0 && replicas > 0) {
        note(b, c->name, "of-SQLite", "%", 100 * replicas / sqlite);
        note(b, c->name, "of-SQLite-goal", "%", 100 * c->goal);
    }
}

void sotto_bench_pipeline(const sotto_bench *b)
{
    static const sotto_prio3_config
        count = {.type = SOTTO_PRIO3_COUNT, .shares = 2},
        h100 = {.type = SOTTO_PRIO3_HISTOGRAM, .shares = 2, .length = 100, .chunk_length = 10},
        h1000 = {.type = SOTTO_PRIO3_HISTOGRAM, .shares = 2, .length = 1000, .chunk_length = 32},
        h10k = {.type = SOTTO_PRIO3_HISTOGRAM, .shares = 2, .length = 10000, .chunk_length = 100},
        h100k = {.type = SOTTO_PRIO3_HISTOGRAM, .shares = 2, .length = 100000, .chunk_length = 316};
    const char *postgres = getenv("SOTTO_POSTGRES");
    double passed = b->seconds >= 60 ? 1e6 : 1e6 * b->seconds / 60;

    run_start(b);
    double sqlite = run_row(
        b, &(pipeline_case){"Histogram-100", h100, 16, 100, 0, false, 1, NULL, 0.45, false}, 0);
    run_anonymous(
        b,
        &(pipeline_case){"Histogram-100-one-a-request", h100, 256, 1, 0, false, 1, NULL, 0, false},
        &(pipeline_case){"Histogram-100-anonymous", h100, 256, 1, 0, false, 1, NULL, 0, false});
    double sqlite_long = run_row(
        b, &(pipeline_case){"Histogram-1000", h1000, 16, 100, 0, false, 1, NULL, 0.45, false}, 0);
    (void)run_row(b, &(pipeline_case){"Histogram-10000", h10k, 16, 10, 0, false, 1, NULL, 0, false},
                  0);
    (void)run_row(
        b, &(pipeline_case){"Histogram-100000", h100k, 16, 1, 0, false, 1, NULL, 0, false}, 0);
    (void)run_row(b,
                  &(pipeline_case){"Count-open-loop", count, 64, 1, 5000, false, 1, NULL, 0, false},
                  whole_requests(5000 * b->seconds, 1, 1000));
    (void)run_row(b, &(pipeline_case){"Count-memory", count, 16, 100, 0, true, 1, NULL, 0, false},
                  whole_requests(passed, 100, 1000));
    /* tests/support/postgres.sh run build/release/sotto-bench --filter pipeline/ */
    if (!postgres)
        return;
    const pipeline_case replicas[] = {
        {"Histogram-100-PostgreSQL-2+2", h100, 16, 100, 0, false, 2, postgres, 0.75, false},
        {"Histogram-100-PostgreSQL-bodies-2+2", h100, 16, 100, 0, false, 2, postgres, 0.75, true},
        {"Histogram-1000-PostgreSQL-2+2", h1000, 16, 100, 0, false, 2, postgres, 0.6, false},
        {"Histogram-1000-PostgreSQL-bodies-2+2", h1000, 16, 100, 0, false, 2, postgres, 0.6, true},
    };
    for (size_t i = 0; i < sizeof replicas / sizeof replicas[0]; i++)
        run_replicas(b, &replicas[i], i < 2 ? sqlite : sqlite_long);
}
