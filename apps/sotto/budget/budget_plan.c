/* sotto budget plan - what it takes to keep a promise. */
#include "budget_ask.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "show.h"
#include "verbs.h"
#include "view/view.h"

static const struct goal {
    const char *name;
    sotto_unknown unknown;
    sotto_option option;
    const char *meaning;
    bool many; /* it is more than one thing, for the grammar */
} goals[] = {
    {"sigma", SOTTO_FIND_SIGMA, OPTION_SIGMA, "the least noise", false},
    {"scale", SOTTO_FIND_SIGMA, OPTION_SCALE, "the least noise", false},
    {"cohort", SOTTO_FIND_COHORT, OPTION_COHORT, "the smallest cohort", false},
    {"rate", SOTTO_FIND_RATE, OPTION_RATE, "the largest sampling rate", false},
    {"rounds", SOTTO_FIND_ROUNDS, OPTION_ROUNDS, "the most rounds", true},
    {"releases", SOTTO_FIND_ROUNDS, OPTION_RELEASES, "the most releases", true},
    {"local-epsilon", SOTTO_FIND_LOCAL_EPSILON, OPTION_LOCAL_EPSILON, "the largest local epsilon",
     false},
    {"release-epsilon", SOTTO_FIND_LOCAL_EPSILON, OPTION_RELEASE_EPSILON,
     "the largest epsilon of a release", false},
};

static const struct goal *find_goal(sotto_budget_command *c)
{
    for (size_t i = 0; c->find != NULL && i < sizeof goals / sizeof goals[0]; i++)
        if (strcmp(goals[i].name, c->find) == 0)
            return &goals[i];
    sotto_form_complain(
        &c->form,
        "--find must be one of sigma, scale, cohort, rate, rounds, releases, local-epsilon, "
        "release-epsilon, dummies");
    return NULL;
}

/* Down for what must be at most the value, up for what must be at least it. */
static void print_value(const struct goal *g, double value)
{
    bool up = g->unknown == SOTTO_FIND_SIGMA || g->unknown == SOTTO_FIND_COHORT;

    if (sotto_form_is_whole(g->option)) {
        printf("%.0f", value);
        return;
    }
    double unit = pow(10, floor(log10(value)) - 8);
    printf("%.9g", (up ? ceil(value / unit) : floor(value / unit)) * unit);
}

static void print_plan(const struct goal *g, const sotto_plan *p, const sotto_question *q,
                       double epsilon, double seconds)
{
    printf("  %-9s ", g->name);
    print_value(g, p->value);
    printf("   %s that %s epsilon <= %.12g\n", g->meaning, g->many ? "keep" : "keeps", epsilon);
    if (p->limit != p->value)
        printf("            with %.12g it could no longer be certified\n", p->limit);
    else
        printf("            the end of the range that is searched\n");
    sotto_budget_print(q, &(sotto_budget_result){.answer = p->answer, .seconds = seconds}, false);
}

/* A number of people or rounds is a whole one, and looks like it. */
static void plan_number(sotto_json *j, const char *key, const struct goal *g, double value)
{
    if (sotto_form_is_whole(g->option) && value >= 0 && value < 0x1p63)
        sotto_json_uint(j, key, (uint64_t)value);
    else
        sotto_json_real(j, key, value);
}

static void print_plan_json(const struct goal *g, const sotto_plan *p, const sotto_question *q,
                            double epsilon, double seconds)
{
    sotto_account_view account = {.question = q, .answer = &p->answer, .seconds = seconds};
    sotto_json j = sotto_show_object(stdout, SOTTO_JSON_COMPACT);

    sotto_json_text(&j, "find", g->name);
    sotto_json_real(&j, "target_epsilon", epsilon);
    plan_number(&j, "value", g, p->value);
    plan_number(&j, "limit", g, p->limit);
    sotto_account_members(&j, &account);
    (void)sotto_show_end(&j);
}

static int run(int argc, char **argv)
{
    static sotto_budget_command c;
    sotto_question q;
    sotto_plan plan;
    sotto_err err = {0};

    sotto_budget_parse(&c, argc, argv, true);
    if (c.find != NULL && strcmp(c.find, "dummies") == 0)
        return sotto_budget_plan_dummies(&c);
    const struct goal *goal = find_goal(&c);
    if (c.epsilon == 0)
        sotto_form_complain(&c.form, "--epsilon is missing: the epsilon to stay within");
    if (goal != NULL && c.form.given[goal->option])
        sotto_form_complain(&c.form, "--%s is what is looked for: leave it out", goal->name);
    sotto_form_question(&c.form, &q, goal != NULL ? goal->option : OPTIONS, false);
    if (goal == NULL || c.form.mistake_count > 0) {
        sotto_budget_print_mistakes(c.verb, &c.form, c.json, "line", 0);
        return EXIT_USAGE;
    }
    double start = sotto_budget_seconds();
    sotto_status status = sotto_privacy_plan(&plan, &q, goal->unknown, c.epsilon, NULL, &err);
    double seconds = sotto_budget_seconds() - start;
    if (status != SOTTO_OK && c.json)
        sotto_budget_print(&q, &(sotto_budget_result){.status = status, .err = err}, true);
    else if (status != SOTTO_OK)
        sotto_budget_print_refusal(c.verb, &q,
                                   &(sotto_budget_result){.status = status, .err = err});
    else if (c.json)
        print_plan_json(goal, &plan, &q, c.epsilon, seconds);
    else
        print_plan(goal, &plan, &q, c.epsilon, seconds);
    return sotto_budget_exit(status);
}

static void usage(void)
{
    printf(
        "usage: sotto budget plan --find NAME --epsilon E --mechanism M --adjacency A --trust T\n"
        "                         --dishonest F --delta D ...\n"
        "       sotto budget plan --find dummies --epsilon E --trust T --dishonest F --delta D\n"
        "                         --cohort N [--hidden] [--rate Q]\n"
        "\n"
        "Finds the value of one parameter that keeps the certified epsilon within E:\n\n");
    for (size_t i = 0; i < sizeof goals / sizeof goals[0]; i++)
        printf("  --find %-16s %s\n", goals[i].name, goals[i].meaning);
    printf(
        "  --find %-16s the fewest that hide who takes part, among --cohort devices that do not;\n"
        "  %23s a --rate is judged besides\n",
        "dummies", "");
    printf("\nThe other options are those of a question:\n\n");
    sotto_form_print_options();
    printf("  --json                       one object\n");
    sotto_form_print_mechanisms();
    sotto_form_print_trusts();
    printf("\nExit: 0 found; 2 a mistake in the question; 4 refused: nothing in range keeps the "
           "promise.\n");
}

const sotto_verb sotto_verb_budget_plan = {
    .name = "plan",
    .summary = "the noise, cohort, rate, rounds or local epsilon that keep a promise",
    .print_usage = usage,
    .run = run,
};
