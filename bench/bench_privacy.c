/* What the accountant's questions cost: from cold, and with the caller's tables warm. The peers' bench
 * (bench/peers/accounting) asks the same questions by the same names. */
#include "bench.h"

#include "sotto/privacy.h"

#include <stdio.h>

typedef struct task {
    const char *name;
    sotto_question question;
    sotto_unknown find; /* 0: asks for epsilon */
    double target;
} task;

typedef struct run {
    const task *task;
    sotto_question question; /* the task's; warm, the rounds change from call to call */
    sotto_accountant *accountant;
    uint64_t calls;
    double result;
} run;

static void ask(void *arg)
{
    run *r = arg;
    sotto_answer answer;

    /* The same question twice would only be remembered. */
    if (r->accountant != NULL)
        r->question.of.sampled.rounds = r->task->question.of.sampled.rounds + r->calls++ % 100000;
    sotto_bench_expect(sotto_privacy_epsilon(&answer, &r->question, r->accountant, NULL) ==
                           SOTTO_OK,
                       r->task->name);
    r->result = answer.high;
}

static void plan(void *arg)
{
    run *r = arg;
    sotto_plan found;

    sotto_bench_expect(sotto_privacy_plan(&found, &r->task->question, r->task->find,
                                          r->task->target, r->accountant, NULL) == SOTTO_OK,
                       r->task->name);
    r->result = found.value;
}

static void measure(const sotto_bench *b, const task *t, bool warm)
{
    run r = {.task = t, .question = t->question};
    char name[96], note[112];

    (void)snprintf(name, sizeof name, "privacy/account/%s%s", t->name, warm ? "/warm" : "");
    if (!sotto_bench_wanted(b, name))
        return;
    if (warm)
        sotto_bench_expect(sotto_accountant_new(&r.accountant, NULL) == SOTTO_OK, name);
    (void)sotto_bench_run(b, name, t->find != 0 ? plan : ask, &r, 1);
    (void)snprintf(note, sizeof note, "%s/result", name);
    sotto_bench_note(b, note, "value", r.result);
    sotto_accountant_free(r.accountant);
}

static sotto_question claim(sotto_mechanism mechanism, sotto_adjacency adjacency, double delta)
{
    return (sotto_question){.mechanism = mechanism,
                            .adjacency = adjacency,
                            .trust = SOTTO_TRUST_SPLIT,
                            .participation_is_hidden = true,
                            .dishonest = {0, 1},
                            .delta = delta};
}

static sotto_question sampled(double rate, double sigma, uint64_t rounds, double delta)
{
    sotto_question q = claim(SOTTO_MECHANISM_SAMPLED_GAUSSIAN, SOTTO_ADJACENCY_ADD_REMOVE, delta);

    q.of.sampled.contribution = SOTTO_CLIPPED_VECTOR;
    q.of.sampled.clip = 1;
    q.of.sampled.sigma = sigma;
    q.of.sampled.rate = rate;
    q.of.sampled.rounds = rounds;
    return q;
}

static sotto_question shuffled(double local_epsilon, uint64_t cohort, double delta)
{
    sotto_question q = claim(SOTTO_MECHANISM_SHUFFLED, SOTTO_ADJACENCY_REPLACEMENT, delta);

    q.of.local.local_epsilon = local_epsilon;
    q.of.local.cohort = cohort;
    q.of.local.rate = 1;
    return q;
}

static sotto_question allocated(double sigma, uint64_t slots, double delta)
{
    sotto_question q = claim(SOTTO_MECHANISM_ALLOCATED_GAUSSIAN, SOTTO_ADJACENCY_ADD_REMOVE, delta);

    q.of.allocated.contribution = SOTTO_CLIPPED_VECTOR;
    q.of.allocated.clip = 1;
    q.of.allocated.sigma = sigma;
    q.of.allocated.slots = slots;
    return q;
}

void sotto_bench_privacy(const sotto_bench *b)
{
    const task tasks[] = {
        {"sgm/1e-3,1,1e4,1e-6", sampled(1e-3, 1, 10000, 1e-6), 0, 0},
        {"sgm/1e-3,1,1e6,1e-6", sampled(1e-3, 1, 1000000, 1e-6), 0, 0},
        {"sgm/0.02,5.1,2500,1e-8", sampled(0.02, 5.1, 2500, 1e-8), 0, 0},
        {"sgm/1e-5,1,1e6,1e-12", sampled(1e-5, 1, 1000000, 1e-12), 0, 0},
        {"sigma/0.01,1e4,2,1e-6", sampled(0.01, 1, 10000, 1e-6), SOTTO_FIND_SIGMA, 2},
        {"shuffle/4,1e4,1e-8", shuffled(4, 10000, 1e-8), 0, 0},
        {"shuffle/4,1e5,1e-8", shuffled(4, 100000, 1e-8), 0, 0},
        {"shuffle/4,1e6,1e-8", shuffled(4, 1000000, 1e-8), 0, 0},
        {"shuffle/4,1e7,1e-8", shuffled(4, 10000000, 1e-8), 0, 0},
        {"shuffle/4,1e9,1e-8", shuffled(4, 1000000000, 1e-8), 0, 0},
        {"allocation/1,100,1e-6", allocated(1, 100, 1e-6), 0, 0},
        {"allocation/1,1000,1e-6", allocated(1, 1000, 1e-6), 0, 0},
    };

    for (size_t i = 0; i < sizeof tasks / sizeof tasks[0]; i++)
        measure(b, &tasks[i], false);
    for (size_t i = 0; i < 4; i++)
        measure(b, &tasks[i], true);
}
