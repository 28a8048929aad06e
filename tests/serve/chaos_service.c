/* Everything goes wrong at once, and still every report that was acknowledged is counted once, and no other is.
 *
 * Real processes on loopback. Replicas are killed and stopped, connections cut, delayed, repeated and reordered, disks
 * fill up, clocks jump, and PostgreSQL crashes. Of the reports 1% are malformed, 1% have proofs that don't hold, and 1%
 * are sent again. What is collected is compared with the load generator's own record, and with nothing else.
 *
 *     chaos_service [REPORTS [SEED]]     on SQLite; on $SOTTO_POSTGRES with two replicas of each where it is set.
 *                                        $SOTTO_CHAOS_REPORTS gives another number of reports; with
 *                                        $SOTTO_CHAOS_BODIES leaders over PostgreSQL share a directory for bodies
 */
#define _GNU_SOURCE
#include "chaos_run.h"
#include "dap/dap.h"
#include "serve/tasks/batches.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* ---- inside a replica: its clock and its disk --------------------------------------------------------------------- */

static _Atomic int64_t jumped; /* seconds */
static _Atomic bool disk_full;

/* The C library's, for the whole program: what asks for the time of day gets one that jumps. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
    int result = (int)syscall(SYS_clock_gettime, clock, now);

    if (clock == CLOCK_REALTIME)
        now->tv_sec += atomic_load(&jumped);
    return result;
}

static ssize_t write_if_room(int fd, const void *bytes, size_t len, off_t at)
{
    if (!atomic_load(&disk_full))
        return pwrite(fd, bytes, len, at);
    errno = ENOSPC;
    return -1;
}

/* SQLite offers its system calls for exactly this. */
static void take_over_writes(void)
{
    static const char *const names[] = {"pwrite", "pwrite64"};
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);

    for (size_t i = 0; vfs && i < 2; i++)
        (void)vfs->xSetSystemCall(vfs, names[i], (sqlite3_syscall_ptr)write_if_room);
}

static void on_line(const char *line)
{
    if (strncmp(line, "jump ", 5) == 0) {
        atomic_store(&jumped, strtoll(line + 5, NULL, 10));
    } else if (strncmp(line, "full ", 5) == 0) {
        take_over_writes();
        atomic_store(&disk_full, line[5] == '1');
    }
}

/* ---- what is sent -------------------------------------------------------------------------------------------------- */

/* Of a hundred, one is malformed in one of three ways, and one has a proof that does not hold. */
sotto_flaw sotto_chaos_flaw(uint64_t number)
{
    sotto_sim_random all, one;

    sotto_sim_random_init(&all, 5);
    one = sotto_sim_random_fork(&all, number);
    uint64_t roll = sotto_sim_random_below(&one, 300);

    return roll < 1   ? SOTTO_FLAW_LEADER_SEAL
           : roll < 2 ? SOTTO_FLAW_LENGTH
           : roll < 3 ? SOTTO_FLAW_HELPER_SEAL
           : roll < 6 ? SOTTO_FLAW_PROOF
                      : SOTTO_SOUND;
}

static bool make_body(sotto_chaos_run *r, sotto_traffic_body *out, uint64_t first)
{
    out->first = first;
    out->count = A_REQUEST;
    for (uint64_t i = first; i < first + A_REQUEST; i++)
        if (sotto_maker_make(r->maker, &out->room, i, r->d.bucket - i % BUCKETS,
                             sotto_chaos_flaw(i), NULL) != SOTTO_OK)
            return false;
    out->reports = sotto_buf_bytes(&out->room);
    return true;
}

static bool next_body(void *context, sotto_traffic_body *out)
{
    sotto_chaos_run *r = context;

    if (r->made + A_REQUEST > r->total || !make_body(r, out, r->made))
        return false;
    r->made += A_REQUEST;
    return true;
}

static void on_duplicate(void *context, sotto_bytes request)
{
    static const char field[] = "\r\n" SOTTO_TRAFFIC_FIRST ": ";
    sotto_chaos_run *r = context;
    const char *at = memmem(request.data, request.len, field, sizeof field - 1);
    uint64_t first = at ? strtoull(at + sizeof field - 1, NULL, 10) : r->total;

    if (first < r->total)
        atomic_store(&r->repeated[first / A_REQUEST], true);
}

/* How often these were refused is not known: anything may have become of a request without an answer, and of one that the
 * network brought a second time. All of them come once more, so that each was refused at least once. */
static bool next_unsure(void *context, sotto_traffic_body *out)
{
    sotto_chaos_run *r = context;

    for (; r->again < r->made; r->again += A_REQUEST) {
        if (!(r->fates[r->again] & SOTTO_FATE_UNSURE) &&
            !atomic_load(&r->repeated[r->again / A_REQUEST]))
            continue;
        r->again += A_REQUEST;
        return make_body(r, out, r->again - A_REQUEST);
    }
    return false;
}

/* ---- the storm ------------------------------------------------------------------------------------------------------ */

static void pause_ms(uint64_t ms)
{
    struct timespec t = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};

    (void)nanosleep(&t, NULL);
}

static sotto_replica *any_replica(sotto_chaos_run *r)
{
    uint64_t all = r->d.options.leaders + r->d.options.helpers;
    uint64_t pick = sotto_sim_random_below(&r->random, all);

    return pick < r->d.options.leaders ? &r->d.leaders[pick]
                                       : &r->d.helpers[pick - r->d.options.leaders];
}

static uint64_t between(sotto_chaos_run *r, uint64_t low, uint64_t high)
{
    return low + sotto_sim_random_below(&r->random, high - low + 1);
}

static void start_again(sotto_chaos_run *r, sotto_replica *replica)
{
    sotto_err err = {0};

    /* PostgreSQL may be coming up still. */
    for (unsigned i = 0; i < 100; i++) {
        if (sotto_replica_start(&r->d, replica, &err) == SOTTO_OK)
            return;
        err = (sotto_err){0};
        pause_ms(100);
    }
    (void)fprintf(stderr, "a replica does not start again: %s\n", err.reason);
    r->failed = true;
}

static void kill_one(sotto_chaos_run *r, sotto_replica *replica)
{
    sotto_replica_end(replica, true);
    pause_ms(between(r, 0, 300));
    start_again(r, replica);
    r->kills++;
}

/* Sometimes for longer than its leases last. */
static void stop_one(sotto_chaos_run *r, sotto_replica *replica)
{
    (void)kill(replica->pid, SIGSTOP);
    pause_ms(between(r, 50, sotto_sim_random_chance(&r->random, 0.3) ? 3500 : 400));
    (void)kill(replica->pid, SIGCONT);
    r->stops++;
}

/* What PostgreSQL says of a full disk, to whoever adds a row: its own files are not ours to fill. */
static sotto_status change_disk(sotto_tx *tx, void *context, sotto_err *err)
{
    static const char *const texts[2][4] = {
        {"DROP TRIGGER full_disk ON segment", "DROP TRIGGER full_disk ON job",
         "DROP TRIGGER full_disk ON sub_aggregate", "DROP FUNCTION full_disk"},
        {"CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS"
         " 'BEGIN RAISE EXCEPTION ''no space'' USING ERRCODE = ''53100''; END'",
         "CREATE TRIGGER full_disk BEFORE INSERT ON segment EXECUTE FUNCTION full_disk()",
         "CREATE TRIGGER full_disk BEFORE INSERT ON job EXECUTE FUNCTION full_disk()",
         "CREATE TRIGGER full_disk BEFORE INSERT ON sub_aggregate EXECUTE FUNCTION full_disk()"}};
    const bool *full = context;

    for (size_t i = 0; i < 4; i++) {
        sotto_sql q;

        SOTTO_TRY(sotto_sql_prepare(tx, &q, texts[*full][i], err));
        SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    }
    return SOTTO_OK;
}

static bool set_disk(const sotto_chaos_run *r, size_t side, bool full)
{
    const sotto_db_options options = {.address = r->d.database[side], .writers = 1};
    sotto_db *db = NULL;
    sotto_err err = {0};
    bool good = sotto_db_open(&db, &options, &err) == SOTTO_OK &&
                sotto_db_run(db, change_disk, &full, &err) == SOTTO_OK;

    sotto_db_close(db);
    if (!good)
        (void)fprintf(stderr, "the disk can't be made full, or empty again: %s\n", err.reason);
    return good;
}

static void fill_disk(sotto_chaos_run *r, sotto_replica *replica)
{
    bool postgres = r->d.options.postgres != NULL;
    size_t side = sotto_sim_random_below(&r->random, 2);

    for (int full = 1; full >= 0 && !r->failed; full--) {
        r->failed = postgres
                        ? !set_disk(r, side, full)
                        : sotto_replica_say(replica, full ? "full 1" : "full 0", NULL) != SOTTO_OK;
        pause_ms(full ? between(r, 20, 400) : 0);
    }
    r->fulls++;
}

/* Up to two hours away, and back. */
static void jump_clock(sotto_chaos_run *r, sotto_replica *replica)
{
    int64_t by = (int64_t)between(r, 0, 14400) - 7200;
    char line[32];

    (void)snprintf(line, sizeof line, "jump %lld", (long long)by);
    r->failed = r->failed || sotto_replica_say(replica, line, NULL) != SOTTO_OK;
    pause_ms(between(r, 20, 400));
    r->failed = r->failed || sotto_replica_say(replica, "jump 0", NULL) != SOTTO_OK;
    r->jumps++;
}

static void crash_postgres(sotto_chaos_run *r)
{
    r->failed = r->failed || system("sh \"" SOTTO_POSTGRES_SCRIPT
                                    "\" restart \"$SOTTO_POSTGRES_DIR\" >/dev/null") != 0;
    r->crashes++;
}

typedef enum fault { KILL, STOP, JUMP, FULL, CRASH, FAULTS } fault;

static void let_loose(sotto_chaos_run *r, fault which)
{
    sotto_replica *replica = any_replica(r);

    pause_ms(between(r, 50, 500));
    if (which == KILL)
        kill_one(r, replica);
    else if (which == STOP)
        stop_one(r, replica);
    else if (which == JUMP)
        jump_clock(r, replica);
    else if (which == FULL)
        fill_disk(r, replica);
    else
        crash_postgres(r);
}

static fault any_fault(sotto_chaos_run *r)
{
    bool postgres = r->d.options.postgres != NULL;
    uint64_t roll = sotto_sim_random_below(&r->random, 20);

    return roll < 7                 ? KILL
           : roll < 12              ? STOP
           : roll < 16              ? JUMP
           : roll < 18 || !postgres ? FULL
                                    : CRASH;
}

/* Each kind once, in some order, however short the storm; then as it comes. */
static void *storm(void *context)
{
    sotto_chaos_run *r = context;
    fault first[FAULTS] = {KILL, STOP, JUMP, FULL, CRASH};
    size_t kinds = r->d.options.postgres ? FAULTS : FAULTS - 1;

    for (size_t i = 0; i < kinds && !r->failed; i++) {
        size_t k = i + sotto_sim_random_below(&r->random, kinds - i);
        fault which = first[k];

        first[k] = first[i];
        let_loose(r, which);
    }
    while (!atomic_load(&r->over) && !r->failed)
        let_loose(r, any_fault(r));
    return NULL;
}

/* ---- a run --------------------------------------------------------------------------------------------------------------- */

static sotto_status open_run(sotto_chaos_run *r, const char *postgres, sotto_err *err)
{
    sotto_deployment_options o = {
        .postgres = postgres,
        .shared_bodies = postgres && getenv("SOTTO_CHAOS_BODIES"),
        .leaders = postgres ? 2 : 1,
        .helpers = postgres ? 2 : 1,
        .vdaf = {.type = SOTTO_PRIO3_HISTOGRAM, .shares = 2, .length = BINS, .chunk_length = 3},
        .min_batch_size = 100,
        .lease_seconds = 2};
    uint16_t front_port;

    SOTTO_TRY(sotto_door_open(&r->back, &o.helper_door, err));
    SOTTO_TRY(sotto_door_open(&r->front, &front_port, err));
    SOTTO_TRY(sotto_deployment_init(&r->d, &o, err));
    for (unsigned i = 0; i < o.leaders; i++)
        sotto_door_add(r->front, r->d.leaders[i].port);
    for (unsigned i = 0; i < o.helpers; i++)
        sotto_door_add(r->back, r->d.helpers[i].port);
    SOTTO_TRY(sotto_maker_new(&r->maker, &r->d.task, r->seed, err));
    SOTTO_TRY(sotto_deployment_start(&r->d, err));
    return SOTTO_OK;
}

/* `after`: what was sent once more when the storm was over. */
static sotto_status send_all(sotto_chaos_run *r, sotto_traffic *sent, sotto_traffic *after,
                             uint16_t front, bool calm, sotto_err *err)
{
    sotto_traffic_options o = {.ports = {front},
                               .port_count = 1,
                               .connections = CONNECTIONS,
                               .timeout_ms = calm ? 30000 : 5000,
                               .replays = 0.01,
                               .seed = r->seed,
                               .room = A_REQUEST * sotto_maker_report_size(r->maker),
                               .next = next_body,
                               .context = r,
                               .fates = r->fates};
    sotto_status status;

    memcpy(o.task, r->d.task.id, sizeof o.task);
    sotto_sim_random_init(&r->random, r->seed);
    if (!calm) {
        static const sotto_door_harm harm = {
            .cut = 0.003, .delay = 0.01, .delay_ms = 150, .duplicate = 0.01};
        sotto_door_harm told = harm;

        told.on_duplicate = on_duplicate;
        told.context = r;
        sotto_door_set_harm(r->front, &told);
        sotto_door_set_harm(r->back, &harm);
        if (pthread_create(&r->thread, NULL, storm, r) != 0)
            return sotto_fail(err, SOTTO_NO_MEMORY, "no thread for the storm");
    }
    status = sotto_traffic_run(sent, &o, err);
    if (!calm) {
        static const sotto_door_harm none = {0};

        atomic_store(&r->over, true);
        (void)pthread_join(r->thread, NULL);
        sotto_door_set_harm(r->front, &none);
        sotto_door_set_harm(r->back, &none);
    }
    if (status != SOTTO_OK)
        return status;
    o.next = next_unsure;
    o.replays = 0;
    return sotto_traffic_run(after, &o, err);
}

static void print_storm(const sotto_chaos_run *r, const sotto_traffic *sent,
                        const sotto_traffic *after)
{
    sotto_door_counts front, back;

    sotto_door_count(r->front, &front);
    sotto_door_count(r->back, &back);
    printf("%s: %llu reports in %.1f s; %u kills, %u stops, %u full disks, %u clock jumps, "
           "%u database crashes;\n  connections cut %llu, delayed %llu, requests repeated %llu; "
           "unanswered and sent again %llu, refused whole %llu, replayed reports %llu; of unknown "
           "fate and "
           "sent once more in the calm %llu requests\n",
           r->name, (unsigned long long)r->made, sent->seconds, r->kills, r->stops, r->fulls,
           r->jumps, r->crashes, (unsigned long long)(front.cuts + back.cuts),
           (unsigned long long)(front.delays + back.delays),
           (unsigned long long)(front.duplicates + back.duplicates),
           (unsigned long long)sent->unanswered, (unsigned long long)sent->refused_whole,
           (unsigned long long)sent->replayed, (unsigned long long)after->requests);
}

/* Every helper's clock two hours behind, or right. */
static sotto_status set_behind(sotto_chaos_run *r, bool behind, sotto_err *err)
{
    for (unsigned i = 0; i < r->d.options.helpers; i++)
        SOTTO_TRY(sotto_replica_say(&r->d.helpers[i], behind ? "jump -7200" : "jump 0", err));
    return SOTTO_OK;
}

typedef enum weather { CALM, BEHIND, STORM } weather;

static bool do_run(const char *name, const char *postgres, uint64_t reports, uint64_t seed,
                   weather outside)
{
    static sotto_chaos_run r; /* large */
    sotto_traffic sent = {0}, after = {0};
    sotto_collection got = {0};
    sotto_err err = {0};
    sotto_status status;
    bool good = false;

    memset(&r, 0, sizeof r);
    r.name = name;
    r.seed = seed;
    r.total = reports;
    r.fates = calloc(reports + 1, 1);
    r.repeated = calloc(reports / A_REQUEST + 1, sizeof *r.repeated);
    status = r.fates && r.repeated ? open_run(&r, postgres, &err) : SOTTO_NO_MEMORY;
    if (status == SOTTO_OK)
        status = set_behind(&r, outside == BEHIND, &err);
    if (status == SOTTO_OK)
        status = send_all(&r, &sent, &after, sotto_door_port(r.front), outside != STORM, &err);
    if (status == SOTTO_OK && outside == BEHIND) {
        pause_ms(1500);
        status = set_behind(&r, false, &err);
    }
    if (status == SOTTO_OK)
        status = sotto_deployment_collect(&r.d, &got, r.d.bucket - BUCKETS + 1, r.d.bucket + 1,
                                          COLLECT_MS, &err);
    print_storm(&r, &sent, &after);
    if (status == SOTTO_OK)
        good = sotto_chaos_compare(&r, &sent, &after, &got) && !r.failed;
    else
        printf("  failed: %s\n", err.reason);
    printf("%s: %s\n", name, good ? "every acknowledged report was counted once" : "WRONG");
    (void)fflush(stdout);
    sotto_deployment_clear(&r.d);
    sotto_door_close(r.front);
    sotto_door_close(r.back);
    sotto_maker_free(r.maker);
    free(r.fates);
    free(r.repeated);
    return good;
}

int main(int argc, char **argv)
{
    const char *asked = getenv("SOTTO_CHAOS_REPORTS");
    const char *postgres = getenv("SOTTO_POSTGRES");

    sotto_replica_main(argc, argv, on_line);
    (void)signal(SIGPIPE, SIG_IGN); /* a replica that was killed does not read its pipe */
    uint64_t reports = argc > 1 ? strtoull(argv[1], NULL, 10)
                       : asked  ? strtoull(asked, NULL, 10)
                                : 40000;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : (uint64_t)time(NULL);
    printf("seed %llu\n", (unsigned long long)seed);
    bool good = do_run("calm", postgres, reports / 10, seed, CALM);
    good = do_run("helpers behind", postgres, reports / 10, seed, BEHIND) && good;
    good = do_run("storm", postgres, reports, seed, STORM) && good;
    return good ? 0 : 1;
}
