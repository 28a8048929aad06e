#include "prio_rounds.h"

#include "aggregate/prio/prio.h"
#include "support/prio3.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST = 40,
    QUEUE = 4096,
    LENGTH = 3,
    TALLY = 16 * LENGTH,
    TURNS = 60,
    LEADER = 0,
    HELPER = 1
};

static const sotto_prio3_config CONFIG = {
    .type = SOTTO_PRIO3_SUM_VEC, .shares = 2, .length = LENGTH, .chunk_length = 2, .max = 255};

typedef struct prio_plan {
    uint64_t seed;
    uint32_t clients, least;
    uint32_t silent, wrong;           /* that never report; whose proof does not hold */
    double drop, duplicate;           /* of messages */
    double crash_before, crash_after; /* of steps */
    uint64_t crash_at;                /* this step, from 1 on; 0: none */
    bool after;                       /* it loses what it says; else the step is lost */
} prio_plan;

typedef struct prio_end {
    bool released;          /* and then the sum is exact: it was checked */
    uint64_t contributions; /* of both servers */
    uint64_t steps, stale;
} prio_end;

typedef enum kind { UPLOAD, JOB, ANSWER } kind;

typedef struct letter {
    kind kind;
    uint32_t report;
    sotto_bytes body; /* what one server says to the other */
} letter;

/* What a server has on disk. */
typedef struct stored {
    bool seen[MOST], settled[MOST], valid[MOST];
    sotto_bytes answer[MOST];
    uint8_t tally[TALLY];
    uint64_t contributions;
} stored;

typedef struct play {
    sotto_test *t;
    const prio_plan *plan;
    sotto_sim_random random;
    sotto_round round;
    sotto_test_prio3 p;
    sotto_vdaf vdaf;
    sotto_test_report reports[MOST];
    stored disk[2];
    letter queue[QUEUE];
    size_t waiting;
    prio_end end;
} play;

static bool happens(play *s, double chance)
{
    return sotto_sim_random_unit(&s->random) < chance;
}

static void send(play *s, kind k, uint32_t report, sotto_bytes body)
{
    const unsigned copies =
        happens(s, s->plan->drop) ? 0 : 1 + (unsigned)happens(s, s->plan->duplicate);

    for (unsigned i = 0; i < copies && s->waiting < QUEUE; i++)
        s->queue[s->waiting++] = (letter){k, report, body};
}

/* ---- what servers do ------------------------------------------------------------------------------------------------ */

static void add(play *s, stored *disk, const sotto_vdaf_batch *batch)
{
    const sotto_tally_ops *ops = sotto_method_prio.tally;
    sotto_buf out = sotto_buf_over(disk->tally, TALLY);
    sotto_tally kept, job;
    sotto_test *t = s->t;

    CHECK_OK(t, ops->init(&kept, &s->round, &t->arena, &t->err));
    CHECK_OK(t,
             ops->decode(&kept, sotto_bytes_of(disk->tally, TALLY), disk->contributions, &t->err));
    CHECK_OK(t, sotto_method_prio.two_server->tally_init(&job, &s->vdaf, &t->arena, &t->err));
    CHECK_OK(t, sotto_method_prio.two_server->accumulate(&job, batch, 0, 1, &t->err));
    CHECK_OK(t, ops->merge(&kept, &job, &t->err));
    disk->contributions = kept.contributions;
    CHECK_OK(t, ops->encode(&kept, &out, &t->err));
}

/* The leader begins with a report: the same each time. */
static void begin(play *s, uint32_t i, sotto_vdaf_batch *batch)
{
    sotto_vdaf_verifier verifier = sotto_test_verifier(&s->p, LEADER);
    sotto_vdaf_report *view = sotto_arena_take_array(&s->t->arena, 1, sizeof *view);

    CHECK(s->t, view != NULL);
    *view = sotto_test_view(&s->reports[i], LEADER);
    CHECK_OK(s->t, sotto_method_prio.two_server->leader_init(&s->vdaf, batch, &verifier, view, 1,
                                                             &s->t->arena, &s->t->err));
}

static void upload(play *s, stored *disk, const letter *l, letter *out)
{
    sotto_vdaf_batch batch;

    if (disk->seen[l->report]) {
        s->end.stale++;
        return;
    }
    disk->seen[l->report] = true;
    begin(s, l->report, &batch);
    *out = (letter){JOB, l->report, batch.outbound[0]};
}

static void job(play *s, stored *disk, const letter *l, letter *out)
{
    const uint32_t i = l->report;

    if (!disk->settled[i]) {
        sotto_vdaf_verifier verifier = sotto_test_verifier(&s->p, HELPER);
        sotto_vdaf_report *view = sotto_arena_take_array(&s->t->arena, 1, sizeof *view);
        sotto_vdaf_batch batch;

        CHECK(s->t, view != NULL);
        *view = sotto_test_view(&s->reports[i], HELPER);
        CHECK_OK(s->t,
                 sotto_method_prio.two_server->helper_init(&s->vdaf, &batch, &verifier, view,
                                                           &l->body, 1, &s->t->arena, &s->t->err));
        disk->settled[i] = true;
        disk->valid[i] = batch.status[0] == SOTTO_OK;
        disk->answer[i] = batch.outbound[0];
        if (disk->valid[i])
            add(s, disk, &batch);
    } else {
        s->end.stale++;
    }
    *out = (letter){ANSWER, i, disk->answer[i]};
}

static void answer(play *s, stored *disk, const letter *l)
{
    const uint32_t i = l->report;
    sotto_vdaf_batch batch;

    if (disk->settled[i]) {
        s->end.stale++;
        return;
    }
    begin(s, i, &batch);
    CHECK_OK(s->t,
             sotto_method_prio.two_server->leader_finish(&s->vdaf, &batch, &l->body, &s->t->err));
    disk->settled[i] = true;
    disk->valid[i] = batch.status[0] == SOTTO_OK;
    if (disk->valid[i])
        add(s, disk, &batch);
}

/* ---- the network ------------------------------------------------------------------------------------------------------ */

/* A step is stored whole before anything leaves, or not at all. */
static void deliver(play *s, const letter *l)
{
    const prio_plan *plan = s->plan;
    stored *disk = &s->disk[l->kind == JOB ? HELPER : LEADER];
    const stored before = *disk;
    letter out = {.kind = UPLOAD};
    const bool now = ++s->end.steps == plan->crash_at;

    if (l->kind == UPLOAD)
        upload(s, disk, l, &out);
    else if (l->kind == JOB)
        job(s, disk, l, &out);
    else
        answer(s, disk, l);
    if ((now && !plan->after) || happens(s, plan->crash_before)) {
        *disk = before;
        return;
    }
    if (out.kind != UPLOAD && !(now && plan->after) && !happens(s, plan->crash_after))
        send(s, out.kind, out.report, out.body);
}

static void deliver_all(play *s)
{
    while (s->waiting > 0) {
        const size_t at = (size_t)sotto_sim_random_below(&s->random, s->waiting);
        const letter l = s->queue[at];

        s->queue[at] = s->queue[--s->waiting];
        deliver(s, &l);
    }
}

/* Whoever was not answered asks again. */
static void ask_again(play *s)
{
    const stored *leader = &s->disk[LEADER];

    for (uint32_t i = s->plan->silent; i < s->plan->clients; i++) {
        sotto_vdaf_batch batch;

        if (!leader->seen[i]) {
            send(s, UPLOAD, i, (sotto_bytes){NULL, 0});
        } else if (!leader->settled[i]) {
            begin(s, i, &batch);
            send(s, JOB, i, batch.outbound[0]);
        }
    }
}

/* ---- the end ------------------------------------------------------------------------------------------------------------ */

static void release(play *s)
{
    const sotto_bytes parts[2] = {{s->disk[LEADER].tally, TALLY}, {s->disk[HELPER].tally, TALLY}};
    const stored *leader = &s->disk[LEADER], *helper = &s->disk[HELPER];
    uint64_t wanted[LENGTH] = {0};
    sotto_test *t = s->t;
    sotto_vector sum;

    s->end.contributions = leader->contributions;
    if (memcmp(leader->valid, helper->valid, sizeof leader->valid) != 0)
        return; /* servers with different sets open nothing */
    CHECK_EQUAL(t, leader->contributions, helper->contributions);
    for (uint32_t i = 0; i < s->plan->clients; i++)
        for (size_t e = 0; e < LENGTH && leader->valid[i]; e++)
            wanted[e] += s->reports[i].measurement.values[e];
    const sotto_status status = sotto_method_prio.tally->open(
        &sum, &s->round, parts, 2, leader->contributions, &t->arena, NULL);
    s->end.released = status == SOTTO_OK;
    CHECK(t, s->end.released == (leader->contributions >= s->plan->least));
    for (size_t e = 0; e < LENGTH && s->end.released; e++)
        CHECK(t, sum.of.wide[e].low == wanted[e] && sum.of.wide[e].high == 0);
}

static void open_play(play *s)
{
    sotto_test *t = s->t;
    sotto_buf out = sotto_test_buf(t, SOTTO_PRIO_PARAMETERS);

    sotto_sim_random_init(&s->random, s->plan->seed);
    CHECK_OK(t, sotto_prio_parameters_encode(&out, &CONFIG, &t->err));
    s->round = (sotto_round){.method = SOTTO_METHOD_PRIO,
                             .ring = SOTTO_RING_F128,
                             .length = LENGTH,
                             .most = 255,
                             .least = s->plan->least,
                             .largest = MOST,
                             .parameters = sotto_buf_bytes(&out)};
    s->p = sotto_test_prio3_of(t, &CONFIG, s->plan->seed);
    s->vdaf = sotto_prio_over(&s->p.vdaf);
    for (uint32_t i = 0; i < s->plan->clients; i++) {
        s->reports[i] = sotto_test_report_random(t, &s->p);
        if (i >= s->plan->silent && i < s->plan->silent + s->plan->wrong)
            s->reports[i].shares[LEADER].data[0] ^= 1;
    }
}

static prio_end prio_round(sotto_test *t, const prio_plan *plan)
{
    static play s; /* too large for a stack */
    const sotto_arena_mark mark = sotto_arena_here(&t->arena);

    memset(&s, 0, sizeof s);
    s.t = t;
    s.plan = plan;
    CHECK(t, plan->clients <= MOST);
    open_play(&s);
    for (unsigned turn = 0; turn < TURNS; turn++) {
        ask_again(&s);
        deliver_all(&s);
    }
    release(&s);
    sotto_arena_rollback(&t->arena, mark);
    return s.end;
}

/* ---- what the suite asks -------------------------------------------------------------------------------------------------- */

void prio_sums(sotto_test *t)
{
    for (uint32_t clients = 3; clients <= 40; clients += 37) {
        const prio_plan plan = {.seed = clients, .clients = clients, .least = 2, .wrong = 1};
        const prio_end end = prio_round(t, &plan);

        CHECK(t, end.released);
        CHECK_EQUAL(t, clients - 1, end.contributions);
    }
}

void prio_least(sotto_test *t)
{
    CHECK(t, !prio_round(t, &(prio_plan){.clients = 10, .least = 8, .silent = 3}).released);
    CHECK(
        t,
        !prio_round(t, &(prio_plan){.clients = 10, .least = 8, .silent = 2, .wrong = 1}).released);
    CHECK(t, prio_round(t, &(prio_plan){.clients = 10, .least = 8, .silent = 2}).released);
}

void prio_crashes(sotto_test *t)
{
    prio_plan plan = {.seed = 5, .clients = 5, .least = 5};
    const uint64_t steps = prio_round(t, &plan).steps;

    CHECK(t, steps >= 11);
    for (plan.crash_at = 1; plan.crash_at <= steps; plan.crash_at++)
        for (unsigned after = 0; after < 2; after++) {
            plan.after = after;
            const prio_end end = prio_round(t, &plan);

            CHECK(t, end.released && end.contributions == plan.clients);
        }
}

void prio_storm(sotto_test *t)
{
    const char *more = getenv("SOTTO_CHAOS_ROUNDS");
    const uint64_t rounds = more ? strtoull(more, NULL, 10) : 80;
    uint64_t released = 0;

    for (uint64_t seed = 0; seed < rounds; seed++) {
        const prio_plan plan = {.seed = seed,
                                .clients = 5 + (uint32_t)(seed % 8),
                                .least = 4,
                                .silent = (uint32_t)(seed % 3),
                                .wrong = (uint32_t)(seed % 2),
                                .drop = 0.1 * (double)(seed % 6),
                                .duplicate = 0.1 * (double)(seed % 5),
                                .crash_before = 0.05,
                                .crash_after = 0.05};

        released += prio_round(t, &plan).released;
    }
    (void)printf("prio: %llu of %llu schedules have a sum\n", (unsigned long long)released,
                 (unsigned long long)rounds);
    CHECK(t, released > rounds / 4);
}

void prio_duplicates(sotto_test *t)
{
    const prio_plan plan = {.seed = 1, .clients = 8, .least = 8, .duplicate = 1};
    const prio_end end = prio_round(t, &plan);

    CHECK(t, end.released && end.contributions == plan.clients && end.stale > 0);
}
