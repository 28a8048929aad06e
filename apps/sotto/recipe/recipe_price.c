/* sotto recipe price - what a question costs, before it is asked. */
#include "recipe_price.h"

#include "recipe/refine.h"
#include "recipe/splice.h"
#include "recipe/statistic.h"
#include "support/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What was typed; what is NULL or 0 was not. */
typedef struct typed {
    const char *goal[4]; /* by sotto_goal; half-width, or rank error */
    const char *rank_error;
    const char *epsilon, *delta, *cohort, *population, *rate, *confidence, *have, *by;
    bool rank; /* --rank-error, not --half-width */
} typed;

static int complain(const char *option, const char *what)
{
    return sotto_recipe_misused("price", option, what);
}

static int read_words(sotto_price_job *job, typed *t, int argc, char **argv)
{
    const sotto_argument words[] = {
        {.name = "--largest-error", .text = &t->goal[SOTTO_GOAL_LARGEST]},
        {.name = "--half-width", .text = &t->goal[SOTTO_GOAL_HALF_WIDTH]},
        {.name = "--rank-error", .text = &t->rank_error},
        {.name = "--see", .text = &t->goal[SOTTO_GOAL_SEEN]},
        {.name = "--epsilon", .text = &t->epsilon},
        {.name = "--delta", .text = &t->delta},
        {.name = "--cohort", .text = &t->cohort},
        {.name = "--population", .text = &t->population},
        {.name = "--rate", .text = &t->rate},
        {.name = "--confidence", .text = &t->confidence},
        {.name = "--have", .text = &t->have},
        {.name = "--by", .text = &t->by},
        {.name = "--name", .text = &job->name},
        {.name = "--out", .text = &job->out}};
    const int code =
        sotto_recipe_job_parse(&job->recipe, argc, argv, 1, words, sizeof words / sizeof words[0]);

    t->rank = t->rank_error != NULL;
    if (t->rank)
        t->goal[SOTTO_GOAL_HALF_WIDTH] = t->rank_error;
    return code;
}

static bool read_number(double *out, const char *text, double least, double most)
{
    return sotto_number_read(out, text, SOTTO_ROUND_NEAREST, "", NULL) == SOTTO_OK &&
           *out >= least && *out <= most;
}

static bool read_count(uint64_t *out, const char *text, double least, double most)
{
    double x;

    if (!read_number(&x, text, least, most) || x != floor(x))
        return false;
    *out = (uint64_t)x;
    return true;
}

static bool read_decimal(sotto_decimal *out, const char *text, double least, double most)
{
    return sotto_decimal_parse(out, sotto_bytes_of(text, strlen(text)), SOTTO_DECIMAL_EXACT,
                               NULL) == SOTTO_OK &&
           sotto_decimal_up(*out) >= least && sotto_decimal_down(*out) <= most;
}

/* ---- the goal ---------------------------------------------------------------------------------------- */

static const char *goal_refused(sotto_goal goal, bool rank, bool share, sotto_statistic statistic)
{
    const bool counts =
        statistic == SOTTO_STATISTIC_HISTOGRAM || statistic == SOTTO_STATISTIC_COUNT;

    if (goal == SOTTO_GOAL_LARGEST && statistic != SOTTO_STATISTIC_HISTOGRAM)
        return "--largest-error is of the bins of a histogram.";
    if (goal == SOTTO_GOAL_SEEN && !counts)
        return "--see is of the bins of a histogram, or of a count.";
    if (goal == SOTTO_GOAL_HALF_WIDTH && rank != (statistic == SOTTO_STATISTIC_QUANTILES))
        return rank ? "--rank-error is of quantiles; others have --half-width."
                    : "quantiles have --rank-error, not --half-width.";
    if (share && !counts && !rank)
        return "a part in % is of counts; a sum and a mean take their own units.";
    return NULL;
}

/* 1% is a part: of the reports, or of the ranks, which are parts themselves. */
static int read_goal(sotto_price_job *job, const typed *t)
{
    sotto_price_question *q = &job->question;
    char text[40];

    for (int i = SOTTO_GOAL_LARGEST; i <= SOTTO_GOAL_SEEN; i++) {
        if (!t->goal[i])
            continue;
        if (q->goal != SOTTO_GOAL_NONE)
            return complain("", "one goal at a time.");
        q->goal = (sotto_goal)i;
        job->goal_text = t->goal[i];
    }
    if (q->goal == SOTTO_GOAL_NONE)
        return EXIT_DONE;
    const size_t len = strlen(job->goal_text);
    const bool share = len > 1 && job->goal_text[len - 1] == '%';
    (void)snprintf(text, sizeof text, "%.*s", (int)(len - share), job->goal_text);
    if (len >= sizeof text || !read_number(&q->wanted, text, 1e-15, 1e18))
        return complain("", "a goal is a number above 0, like 250, or a part, like 0.5%.");
    q->wanted *= share ? 0.01 : 1;
    if (!t->rank && job->recipe.recipe->statistic != SOTTO_STATISTIC_MEAN)
        q->unit = share ? SOTTO_UNIT_PART : SOTTO_UNIT_DEVICES;
    const char *refused = goal_refused(q->goal, t->rank, share, job->recipe.recipe->statistic);
    return refused ? complain("", refused) : EXIT_DONE;
}

/* ---- the budget -------------------------------------------------------------------------------------- */

/* Words with commas between. */
static bool read_by(unsigned *out, const char *text, bool encrypted)
{
    char words[64], *rest = words;

    *out = 0;
    if (strlen(text) >= sizeof words)
        return false;
    memcpy(words, text, strlen(text) + 1);
    while (rest) {
        char *word = rest;

        rest = strchr(rest, ',');
        if (rest)
            *rest++ = 0;
        const unsigned bit = sotto_noise_source_bit(word);
        if (bit == 0 || (bit == 1U << SOTTO_BY_COMMITTEE && !encrypted))
            return false;
        *out |= bit;
    }
    return true;
}

/* Ranges are those of the keys of the same name (schema_rows.h). */
static int read_budget(sotto_price_job *job, const typed *t)
{
    sotto_price_question *q = &job->question;

    if (t->epsilon && !read_decimal(&q->epsilon, t->epsilon, 1e-9, 30))
        return complain("--epsilon", " is a number from 1e-09 to 30.");
    if (t->delta && !read_decimal(&q->delta, t->delta, 1e-12, 1e-3))
        return complain("--delta", " is a number from 1e-12 to 0.001.");
    if (t->cohort && !read_count(&q->cohort, t->cohort, 10, 1e9))
        return complain("--cohort", " is a whole number from 10 to 1000000000.");
    if (t->population && !read_count(&q->population, t->population, 1, 1e11))
        return complain("--population", " is a whole number from 1 to 100000000000.");
    if (t->rate && !read_number(&q->rate, t->rate, 1e-9, 1))
        return complain("--rate", " is a number from 1e-09 to 1.");
    if (t->rate && job->recipe.recipe->participation.type != SOTTO_POISSON &&
        job->recipe.recipe->participation.type != SOTTO_IMPORTANCE)
        return complain("--rate", " is of recipes whose participation is poisson or importance.");
    if (t->confidence && !read_number(&q->options.confidence, t->confidence, 0.5, 0.999999))
        return complain("--confidence", " is a number from 0.5 to 0.999999.");
    if (t->have && !read_number(&q->options.have, t->have, 1e-6, 1))
        return complain("--have", " is a number above 0, up to 1.");
    const bool encrypted = job->recipe.recipe->trust == SOTTO_TRUST_AERO;
    if (t->by && !read_by(&job->by, t->by, encrypted))
        return complain("--by", encrypted
                                    ? " takes committee: nobody else adds noise to encrypted sums."
                                    : " takes crowd, shares and servers, with commas between.");
    return EXIT_DONE;
}

static int read_question(sotto_price_job *job, const typed *t)
{
    const sotto_recipe *r = job->recipe.recipe;
    sotto_price_question *q = &job->question;

    *q = (sotto_price_question){.epsilon = r->epsilon,
                                .delta = r->delta,
                                .cohort = r->min_cohort,
                                .population = r->population,
                                .policy = job->recipe.policy_read,
                                .streams = job->recipe.streams_read};
    job->by = 1U << r->by;
    int code = read_goal(job, t);
    if (code == EXIT_DONE)
        code = read_budget(job, t);
    if (q->goal != SOTTO_GOAL_NONE && !t->cohort)
        q->find = SOTTO_PRICE_FIND_COHORT;
    else if (q->goal != SOTTO_GOAL_NONE && !t->epsilon)
        q->find = SOTTO_PRICE_FIND_EPSILON;
    /* As it is, a recipe has a rate of its own. */
    const bool importance = r->participation.type == SOTTO_IMPORTANCE;
    if (!t->rate && !t->cohort && q->goal == SOTTO_GOAL_NONE && !importance)
        q->rate = r->participation.rate;
    if (code == EXIT_DONE && importance && (q->goal != SOTTO_GOAL_NONE || t->by))
        return complain("", "goals and --by are of recipes without importance sampling, whose "
                            "best rates are found.");
    return code;
}

/* ---- the answer -------------------------------------------------------------------------------------- */

static int failed(const sotto_err *err)
{
    (void)fprintf(stderr, "sotto recipe price: %s\n", err->reason);
    return sotto_exit_code(err->status, SOTTO_AT_DATA);
}

int sotto_price_save(sotto_price_job *job, sotto_bytes text)
{
    static const sotto_place place = {NULL, "recipe", 0};
    char name[SOTTO_REFINE_NAME + 1], quoted[SOTTO_REFINE_NAME + 3];
    sotto_span span;
    sotto_err err = {0};

    if (!job->out)
        return EXIT_DONE;
    if (sotto_recipe_next_name(name, job->recipe.recipe, job->name, &err) != SOTTO_OK)
        return failed(&err);
    (void)snprintf(quoted, sizeof quoted, "\"%s\"", name);
    sotto_splice splice = {.comes = sotto_bytes_of(quoted, strlen(quoted))};
    if (!sotto_place_find(&place, text, &span)) {
        (void)fprintf(stderr, "sotto recipe price: the recipe has no key `recipe`\n");
        return EXIT_FAILED;
    }
    splice.from = span.value;
    splice.to = span.end;
    if (sotto_splice_text(&text, text, &splice, 1, &job->recipe.arena, &err) != SOTTO_OK)
        return failed(&err);
    const int code = sotto_recipe_save("price", job->out, text);
    if (code == EXIT_DONE && !job->recipe.json)
        (void)fprintf(stderr,
                      "%s has all of the recipe, by the name %s: devices answer one recipe of a "
                      "name\n",
                      job->out, name);
    return code;
}

/* A name that can't be is told before anything is computed. */
static int check_name(const sotto_price_job *job)
{
    char name[SOTTO_REFINE_NAME + 1];
    sotto_err err = {0};

    if (job->name && !job->out)
        return complain("--name", " goes with --out.");
    if (!job->out || sotto_recipe_next_name(name, job->recipe.recipe, job->name, &err) == SOTTO_OK)
        return EXIT_DONE;
    (void)failed(&err);
    return EXIT_USAGE;
}

static int answer(sotto_price_job *job)
{
    sotto_err err = {0};

    job->ways = sotto_arena_take_array(&job->recipe.arena, SOTTO_PRICE_WAYS, sizeof *job->ways);
    if (!job->ways)
        return EXIT_FAILED;
    if (sotto_price_ways(job->ways, &job->count, &job->question, job->recipe.recipe,
                         &job->recipe.arena, &err) != SOTTO_OK)
        return failed(&err);
    job->best = sotto_price_best(job->ways, job->count, &job->question, job->by);
    if (job->best && job->recipe.policy_read &&
        sotto_price_budgets(job->budgets, &job->budget_count, job->best, job->recipe.policy_read,
                            &err) != SOTTO_OK)
        return failed(&err);
    if (job->recipe.json && !sotto_price_print_json(job))
        return EXIT_FAILED;
    if (!job->recipe.json)
        sotto_price_print(job);
    if (job->best && job->best->meets)
        return sotto_price_save(job, job->best->text);
    return job->best && job->best->needs_devices ? EXIT_SMALL : EXIT_REFUSED;
}

int sotto_recipe_price(int argc, char **argv)
{
    static sotto_price_job job;
    typed t = {0};

    memset(&job, 0, sizeof job);
    int code = read_words(&job, &t, argc, argv);
    if (code == EXIT_DONE)
        code = sotto_recipe_job_read(&job.recipe);
    if (code == EXIT_DONE)
        code = read_question(&job, &t);
    if (code == EXIT_DONE)
        code = check_name(&job);
    if (code == EXIT_DONE)
        code = job.recipe.recipe->participation.type == SOTTO_IMPORTANCE
                   ? sotto_price_answer_rates(&job)
                   : answer(&job);
    sotto_recipe_job_end(&job.recipe);
    return code;
}
