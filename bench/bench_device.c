/* The device library as it is shipped: its size, its heap, and what each thing costs that a host asks of it.
 *
 * Each figure stands beside its limit. Reports are timed from the tick to the transport's answer, durable, in files;
 * what the machine takes to sync is measured inside the syncs, and told apart.
 */
#define _GNU_SOURCE
#include "bench.h"
#include "bench_device_meter.h"

#include "sotto/device.h"
#include "sotto/lint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EVENTS = 10000, BATCH = 100, MOST_ROUNDS = 60, TEXT = 1 << 20 };

static const int64_t opens = INT64_C(1795132800);

/* ---- files and texts -------------------------------------------------------------------------------------- */

static char directory[64];

static void remove_files(void)
{
    static const char *const names[] = {"events.db", "events.db-wal", "events.db-shm",
                                        "ledger.db", "ledger.db-wal", "ledger.db-shm",
                                        "library"};
    char path[128];

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", directory, names[i]);
        (void)unlink(path);
    }
}

static void remove_directory(void)
{
    remove_files();
    (void)rmdir(directory);
}

static void make_directory(void)
{
    const char *parent = getenv("TMPDIR");

    (void)snprintf(directory, sizeof directory, "%.40s/sotto-bench-XXXXXX",
                   parent ? parent : "/tmp");
    sotto_bench_expect(mkdtemp(directory) && atexit(remove_directory) == 0, "a directory");
}

/* text with the first `old` replaced */
static void replace(char *text, const char *old, const char *new)
{
    char *at = strstr(text, old);

    sotto_bench_expect(at != NULL, old);
    size_t tail = strlen(at + strlen(old)) + 1;
    sotto_bench_expect((size_t)(at - text) + strlen(new) + tail <= TEXT, "a recipe too long");
    memmove(at + strlen(new), at + strlen(old), tail);
    memcpy(at, new, strlen(new));
}

static void replace_until(char *text, const char *from, const char *until, const char *new)
{
    static char old[4096];
    const char *start = strstr(text, from), *end = start ? strstr(start, until) : NULL;

    sotto_bench_expect(end && (size_t)(end - start) < sizeof old, from);
    (void)snprintf(old, sizeof old, "%.*s", (int)(end - start), start);
    replace(text, old, new);
}

/* The keyboard example, answered by every device: 272 bins. */
static void keyboard_recipe(char *text)
{
    (void)snprintf(text, TEXT, "%s", sotto_recipe_example());
    replace(text, "\"rate\": 0.1", "\"rate\": 1");
}

/* Its first row instead of any, which needs all rows in order. */
static void ordered_recipe(char *text)
{
    keyboard_recipe(text);
    replace(text, "\"one-at-random\"", "\"first\"");
}

/* The same columns in 100 by 100 bins. */
static void large_recipe(char *text)
{
    static char encode[TEXT];
    size_t len = (size_t)snprintf(encode, sizeof encode,
                                  "\"age\": {\"type\": \"buckets\", \"boundaries\": [1");

    for (int i = 2; i < 100; i++)
        len += (size_t)snprintf(encode + len, sizeof encode - len, ", %d", i);
    len += (size_t)snprintf(encode + len, sizeof encode - len,
                            "], \"underflow\": \"bucket\", \"overflow\": \"bucket\"},"
                            " \"ngram\": {\"type\": \"categories\", \"values\": [\"i went home\"");
    for (int i = 1; i < 99; i++)
        len += (size_t)snprintf(encode + len, sizeof encode - len, ", \"phrase %d\"", i);
    (void)snprintf(encode + len, sizeof encode - len, "], \"oov\": true},\n    ");
    keyboard_recipe(text);
    replace_until(text, "\"age\": {", "\"combine\"", encode);
}

/* One column, a tree of 100 words with 99 words below each. */
static void tree_recipe(char *text)
{
    static char tree[TEXT];
    size_t len = (size_t)snprintf(tree, sizeof tree,
                                  "\"ngram\": {\"type\": \"prefix-tree\", \"tree\": {\"root\": [");

    for (int i = 0; i < 100; i++)
        len += (size_t)snprintf(tree + len, sizeof tree - len, "%s\"w%d\"", i ? "," : "", i);
    len += (size_t)snprintf(tree + len, sizeof tree - len, "]");
    for (int i = 0; i < 100; i++) {
        len += (size_t)snprintf(tree + len, sizeof tree - len, ", \"w%d\": [", i);
        for (int j = 0; j < 99; j++)
            len +=
                (size_t)snprintf(tree + len, sizeof tree - len, "%s\"v%d-%d\"", j ? "," : "", i, j);
        len += (size_t)snprintf(tree + len, sizeof tree - len, "]");
    }
    (void)snprintf(tree + len, sizeof tree - len,
                   "}, \"tokens\": [\"a\", \"b\"], \"oov\": true, \"end\": true}\n  ");
    keyboard_recipe(text);
    replace(text, "SELECT age, ngram", "SELECT ngram");
    replace_until(text, "\"age\": {", "},\n  \"randomizer\"", tree);
}

/* Room for as many reports as a benchmark makes. */
static const char policy[] =
    "{\"policy\": \"bench\", \"version\": 1, \"analyses\": {\"com.example.keyboard-ngrams\":"
    " {\"epsilon\": 10000, \"delta\": 0.01, \"reports\": 10000, \"fields\":"
    " [\"keyboard_ngrams.ngram\", \"keyboard_ngrams.age\"]}},"
    " \"fields\": {\"keyboard_ngrams.ngram\": {\"epsilon_local\": 20, \"epsilon\": 10000,"
    " \"delta\": 0.01, \"reports\": 10000}, \"keyboard_ngrams.age\": {\"epsilon_local\": 20,"
    " \"epsilon\": 10000, \"delta\": 0.01, \"reports\": 10000}},"
    " \"non_sensitive\": [\"locale\"], \"min_cohort\": 20000, \"honest\": 0.5}";

/* ---- a device --------------------------------------------------------------------------------------------- */

typedef struct phone {
    sotto_device *device;
    char events[80], ledger[80];
    uint64_t sent, donated, named;
    sotto_err err;
} phone;

static sotto_status take(void *context, sotto_exchange *exchange)
{
    const sotto_exchange_head accepted = {.size = sizeof accepted, .status = 200};
    uint8_t piece[16384];
    uint64_t offset = 0;
    size_t len = 1;

    for (; len > 0; offset += len)
        SOTTO_TRY(exchange->read(exchange, offset, piece, sizeof piece, &len));
    ((phone *)context)->sent++;
    return exchange->begin(exchange, &accepted);
}

static int64_t now(void *context)
{
    (void)context;
    return opens + 3600;
}

static void must(phone *p, sotto_status status)
{
    sotto_bench_expect(status == SOTTO_OK, p->err.reason);
}

static void phone_open(phone *p, bool in_files)
{
    static const sotto_field fields[] = {{"age", SOTTO_TYPE_INTEGER}, {"ngram", SOTTO_TYPE_TEXT}};
    static const sotto_stream stream = {"keyboard_ngrams", fields, 2, 90 * 86400, 100000};
    const char *parties = sotto_parties_example();
    sotto_device_options options = {
        .policy = sotto_bytes_of(policy, sizeof policy - 1),
        .parties = sotto_bytes_of(parties, strlen(parties)),
        .streams = &stream,
        .stream_count = 1,
        .host = {.exchange = take, .clock = now, .context = p},
    };

    *p = (phone){0};
    if (in_files) {
        remove_files();
        (void)snprintf(p->events, sizeof p->events, "%s/events.db", directory);
        (void)snprintf(p->ledger, sizeof p->ledger, "%s/ledger.db", directory);
        options.events = p->events;
        options.ledger = p->ledger;
    }
    must(p, sotto_device_open(&p->device, &options, &p->err));
    must(p, sotto_device_describe(p->device, "locale", "en_US", &p->err));
    must(p, sotto_device_consent(p->device, true, &p->err));
}

static void donate_batch(void *arg)
{
    phone *p = arg;
    sotto_value values[BATCH][2];
    sotto_event events[BATCH];

    for (size_t i = 0; i < BATCH; i++) {
        p->donated++;
        values[i][0] =
            (sotto_value){.type = SOTTO_TYPE_INTEGER, .as.integer = (int64_t)(p->donated % 90)};
        values[i][1] =
            (sotto_value){.type = SOTTO_TYPE_TEXT, .as.text = sotto_bytes_of("i went home", 11)};
        events[i] = (sotto_event){"keyboard_ngrams", {0}, opens, values[i], 2};
        memcpy(events[i].id, &p->donated, sizeof p->donated);
    }
    must(p, sotto_device_donate(p->device, events, BATCH, NULL, &p->err));
}

/* The same question under the next name. */
static void offer_next(phone *p, const char *recipe)
{
    static char text[TEXT];
    char name[32];

    (void)snprintf(name, sizeof name, "bench-%d", (int)++p->named);
    (void)snprintf(text, sizeof text, "%s", recipe);
    replace(text, "50001", name);
    must(p, sotto_device_offer(p->device, sotto_bytes_of(text, strlen(text)), &p->err));
}

static void tick(phone *p)
{
    const sotto_conditions good = {true, true, true};
    uint64_t before = p->sent;

    must(p, sotto_device_tick(p->device, NULL, good, &p->err));
    sotto_bench_expect(p->sent == before + 1, "no report was made");
}

/* ---- figures ---------------------------------------------------------------------------------------------- */

static void note(const sotto_bench *b, const char *name, const char *unit, double value,
                 double limit)
{
    char at_most[96];

    sotto_bench_note(b, name, unit, value);
    (void)snprintf(at_most, sizeof at_most, "%s/at-most", name);
    sotto_bench_note(b, at_most, unit, limit);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

typedef struct sample {
    double cpu[MOST_ROUNDS], wall[MOST_ROUNDS], synced[MOST_ROUNDS], syncs[MOST_ROUNDS];
    size_t count;
} sample;

static void add_sample(sample *s, double cpu, double wall, sotto_meter_syncs before)
{
    sotto_meter_syncs after = sotto_meter_synced();

    s->cpu[s->count] = sotto_meter_cpu_ns() - cpu - (after.cpu_ns - before.cpu_ns);
    s->wall[s->count] = sotto_meter_wall_ns() - wall - (after.wall_ns - before.wall_ns);
    s->synced[s->count] = after.wall_ns - before.wall_ns;
    s->syncs[s->count] = (double)(after.count - before.count);
    s->count++;
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof values[0], by_value);
    return values[count / 2];
}

/* Thread time is held against the limit, since a shared machine's wall clock counts its other guests too. */
static void print_sample(const sotto_bench *b, const char *name, sample *s, double scale,
                         const char *unit, double limit)
{
    char part[96];

    note(b, name, unit, median(s->cpu, s->count) / scale, limit);
    (void)snprintf(part, sizeof part, "%s/wall-beyond-sync", name);
    sotto_bench_note(b, part, unit, median(s->wall, s->count) / scale);
    (void)snprintf(part, sizeof part, "%s/sync", name);
    sotto_bench_note(b, part, unit, median(s->synced, s->count) / scale);
    (void)snprintf(part, sizeof part, "%s/syncs", name);
    sotto_bench_note(b, part, "", median(s->syncs, s->count));
}

static size_t rounds(const sotto_bench *b)
{
    return b->seconds < 0.1 ? 3 : MOST_ROUNDS / 2;
}

/* A device for each report, so that every one is its first and only the recipe it answers is known. What is timed is
 * the tick, all of it: retention, the secret draw, and the report's way to the transport and out of the outbox. */
static void bench_report(const sotto_bench *b, const char *name, const char *recipe, double limit)
{
    static phone p;
    sample s = {.count = 0};

    if (!sotto_bench_wanted(b, name))
        return;
    for (size_t i = 0; i < rounds(b); i++) {
        phone_open(&p, true);
        while (p.donated < EVENTS)
            donate_batch(&p);
        offer_next(&p, recipe);
        /* The WAL of 10,000 events goes into the file beforehand. The tick retains again. */
        must(&p, sotto_device_retain(p.device, &p.err));
        sotto_meter_syncs before = sotto_meter_synced();
        double cpu = sotto_meter_cpu_ns(), wall = sotto_meter_wall_ns();
        tick(&p);
        add_sample(&s, cpu, wall, before);
        sotto_device_close(p.device);
    }
    print_sample(b, name, &s, 1e6, "ms", limit);
}

static void bench_donate(const sotto_bench *b)
{
    static phone p;
    sample s = {.count = 0};

    if (!sotto_bench_wanted(b, "device/donate"))
        return;
    phone_open(&p, true);
    for (size_t i = 0; i < rounds(b); i++) {
        sotto_meter_syncs before = sotto_meter_synced();
        double cpu = sotto_meter_cpu_ns(), wall = sotto_meter_wall_ns();
        donate_batch(&p);
        add_sample(&s, cpu, wall, before);
    }
    print_sample(b, "device/donate", &s, 1e3 * BATCH, "us", 25);
    sotto_device_close(p.device);
}

/* From before the device is opened to after its report has left. */
static void bench_heap(const sotto_bench *b, const char *name, const char *recipe, double limit)
{
    static phone p;
    size_t before = sotto_meter_heap();

    if (!sotto_bench_wanted(b, name))
        return;
    phone_open(&p, true);
    donate_batch(&p);
    offer_next(&p, recipe);
    sotto_meter_heap_restart();
    tick(&p);
    note(b, name, "KiB", (double)(sotto_meter_heap_peak() - before) / 1024, limit);
    sotto_device_close(p.device);
}

static void bench_library(const sotto_bench *b)
{
    char command[1024], path[80];
    struct stat info;

    if (!sotto_bench_wanted(b, "device/library"))
        return;
    (void)snprintf(path, sizeof path, "%s/library", directory);
    (void)snprintf(command, sizeof command, "strip -o '%s' '%s'", path, SOTTO_DEVICE_LIBRARY);
    sotto_bench_expect(system(command) == 0 && stat(path, &info) == 0, "strip");
    note(b, "device/library", "KiB", (double)info.st_size / 1024, 320);
}

static void lint_and_compile(void *arg)
{
    static sotto_mistakes mistakes;
    const char *text = arg, *party = sotto_parties_example();
    const sotto_recipe *recipe;
    const sotto_parties *parties;
    sotto_recipe_claim claim;
    sotto_arena arena;
    sotto_task task;
    sotto_err err = {0};

    sotto_arena_init(&arena, SOTTO_RECIPE_ARENA);
    sotto_status status =
        sotto_recipe_read(&recipe, sotto_bytes_of(text, strlen(text)), &arena, &mistakes, &err);
    if (status == SOTTO_OK)
        status = sotto_recipe_lint(&claim, recipe, NULL, &mistakes, &err);
    if (status == SOTTO_OK)
        status = sotto_parties_read(&parties, sotto_bytes_of(party, strlen(party)), &arena,
                                    &mistakes, &err);
    if (status == SOTTO_OK)
        status = sotto_task_compile(&task, recipe, parties, 0, &arena, &err);
    sotto_bench_expect(status == SOTTO_OK, err.reason);
    sotto_arena_clear(&arena);
}

static void open_in_memory(void *arg)
{
    phone *p = arg;

    phone_open(p, false);
    sotto_device_close(p->device);
}

static void answer_in_memory(void *arg)
{
    static phone p;

    phone_open(&p, false);
    offer_next(&p, arg);
    tick(&p);
    sotto_device_close(p.device);
}

void sotto_bench_device(const sotto_bench *b)
{
    static char keyboard[TEXT], ordered[TEXT], large[TEXT], tree[TEXT];
    static phone p;

    if (b->filter && !strstr(b->filter, "device") && !strstr("device/", b->filter))
        return;
    make_directory();
    sotto_meter_keep_cache_apart();
    keyboard_recipe(keyboard);
    ordered_recipe(ordered);
    large_recipe(large);
    tree_recipe(tree);
    bench_library(b);
    bench_heap(b, "device/heap-272", keyboard, 256);
    bench_heap(b, "device/heap-10000", large, 2048);
    sotto_meter_heap_stop();
    bench_report(b, "device/report-272", keyboard, 3);
    bench_report(b, "device/report-272-first", ordered, 15);
    bench_report(b, "device/report-10000", large, 15);
    bench_donate(b);
    double ns = sotto_bench_run(b, "device/lint-compile-tree", lint_and_compile, tree, 1);
    if (ns > 0)
        note(b, "device/lint-compile-tree-ms", "ms", ns / 1e6, 50);
    ns = sotto_bench_run(b, "device/memory-open", open_in_memory, &p, 1);
    if (ns > 0)
        note(b, "device/memory-open-ms", "ms", ns / 1e6, 0.5);
    (void)sotto_bench_run(b, "device/memory-answer", answer_in_memory, keyboard, 1);
}
