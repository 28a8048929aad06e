/* sotto recipe - write a question, have it judged, understand it, and make tasks of it. */
#include "recipe.h"

#include <stdio.h>
#include <string.h>

static int run_new(int argc, char **argv)
{
    bool policy = false, parties = false, streams = false, json = false;
    const sotto_argument words[] = {{.name = "--policy", .flag = &policy},
                                    {.name = "--parties", .flag = &parties},
                                    {.name = "--streams", .flag = &streams},
                                    {.name = "--json", .flag = &json}}; /* it is JSON already */
    const int code =
        sotto_arguments_read("recipe new", words, sizeof words / sizeof words[0], argc, argv);
    const char *text = policy    ? sotto_policy_example()
                       : parties ? sotto_parties_example()
                       : streams ? sotto_streams_example()
                                 : sotto_recipe_example();

    if (code != EXIT_DONE)
        return code;
    if (policy + parties + streams > 1)
        return sotto_arguments_misused("recipe new", "", "one file at a time");
    printf("%s", text);
    return EXIT_DONE;
}

typedef int recipe_fn(sotto_recipe_job *job);

/* What a verb does with a recipe that was parsed; of a learning recipe recipe_learning.c does it. Ends the job. */
static int with_recipe(sotto_recipe_job *job, int code, recipe_fn *statistic, recipe_fn *learning)
{
    if (code == EXIT_DONE)
        code = sotto_recipe_job_text(job);
    if (code == EXIT_DONE && sotto_recipe_job_learns(job)) {
        code = learning(job);
    } else if (code == EXIT_DONE) {
        code = sotto_recipe_job_load(job);
        code = code == EXIT_DONE ? statistic(job) : code;
    }
    sotto_recipe_job_end(job);
    return code;
}

static int print_claim(sotto_recipe_job *job)
{
    sotto_recipe_print_claim(job);
    return EXIT_DONE;
}

static int run_lint(int argc, char **argv)
{
    static sotto_recipe_job job;
    const size_t most = sizeof job.others / sizeof job.others[0];
    const sotto_argument with = {
        .name = "--with", .text = job.others, .count = &job.other_count, .most = (double)most};

    return with_recipe(&job, sotto_recipe_job_parse(&job, argc, argv, 1, &with, 1), print_claim,
                       sotto_recipe_learning_lint);
}

static int explain(sotto_recipe_job *job)
{
    static uint8_t memory[1 << 16];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    sotto_err err = {0};

    if (job->json)
        return print_claim(job);
    if (sotto_recipe_explain(&out, job->recipe, &job->claim, &err) == SOTTO_OK &&
        (!job->policy_read ||
         sotto_policy_explain(&out, job->policy_read, &job->verdict, &err) == SOTTO_OK) &&
        sotto_forecast_explain(&out, &job->forecast, job->recipe, &err) == SOTTO_OK) {
        (void)fwrite(out.data, 1, out.len, stdout);
        return EXIT_DONE;
    }
    (void)fprintf(stderr, "sotto recipe explain: %s\n", err.reason);
    return EXIT_FAILED;
}

static int run_explain(int argc, char **argv)
{
    static sotto_recipe_job job;

    return with_recipe(&job, sotto_recipe_job_parse(&job, argc, argv, 1, NULL, 0), explain,
                       sotto_recipe_learning_explain);
}

static int compile(sotto_recipe_job *job)
{
    sotto_err err = {0};
    sotto_task task;

    if (sotto_task_compile(&task, job->recipe, job->parties, job->cohort, &job->arena, &err) ==
        SOTTO_OK)
        return sotto_recipe_print_task(job, &task);
    (void)fprintf(stderr, "sotto recipe compile: %s: %s\n", sotto_status_name(err.status),
                  err.reason);
    return sotto_exit_code(err.status, SOTTO_AT_FILE);
}

static int run_compile(int argc, char **argv)
{
    static sotto_recipe_job job;
    const sotto_argument cohort = {.name = "--cohort", .whole = &job.cohort, .most = 1e9};

    return with_recipe(&job, sotto_recipe_job_parse(&job, argc, argv, 2, &cohort, 1), compile,
                       sotto_recipe_learning_compile);
}

static int run_reference(int argc, char **argv)
{
    static uint8_t memory[1 << 18];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    sotto_err err = {0};
    bool json = false;
    const sotto_argument words[] = {{.name = "--json", .flag = &json}};
    const int code = sotto_arguments_read("recipe reference", words, 1, argc, argv);

    if (code != EXIT_DONE)
        return code;
    if (sotto_recipe_reference(&out, &err) != SOTTO_OK) {
        (void)fprintf(stderr, "sotto recipe reference: %s\n", err.reason);
        return EXIT_FAILED;
    }
    if (json) {
        sotto_json j = sotto_show_object(stdout, SOTTO_JSON_SPACED);

        sotto_json_text(&j, "format", "markdown");
        sotto_json_bytes(&j, "text", sotto_buf_bytes(&out));
        return sotto_show_end(&j) ? EXIT_DONE : EXIT_FAILED;
    }
    (void)fwrite(out.data, 1, out.len, stdout);
    return EXIT_DONE;
}

static const sotto_verb verb_new = {
    .name = "new",
    .summary = "print a complete recipe to start from",
    .usage = "usage: sotto recipe new [--policy | --parties | --streams] [--json]\n\n"
             "Prints a recipe that passes lint; or a policy, parties or streams file that fits it. "
             "Each\n"
             "is JSON, with --json and without.\n",
    .run = run_new,
};

static const sotto_verb verb_lint = {
    .name = "lint",
    .summary = "find every mistake, recompute every privacy number",
    .usage =
        "usage: sotto recipe lint RECIPE [--policy POLICY] [--streams STREAMS] [--with OTHER]...\n"
        "       [--json]\n\n"
        "Prints every mistake with its place and what would be accepted, or what the recipe may\n"
        "claim and by which theorem. Without a policy half of a cohort is taken to be "
        "dishonest.\n"
        "The query is compiled as devices compile it. --streams names the file that declares the\n"
        "devices' streams (`sotto device new` prints one); without it, every table and column\n"
        "that the query names is taken to exist. With --policy lint also says what a device that\n"
        "has spent nothing would decide, and why.\n"
        "--with names another recipe of the same analysis, up to 32 times: check-ins and "
        "donations\n"
        "must have the same slots in all of them.\n"
        "Exits with 3 if there are mistakes. - reads standard input.\n",
    .run = run_lint,
};

static const sotto_verb verb_explain = {
    .name = "explain",
    .summary = "say in plain words what is asked and what protects whom",
    .usage = "usage: sotto recipe explain RECIPE [--policy POLICY] [--streams STREAMS] [--json]\n",
    .run = run_explain,
};

static const sotto_verb verb_compile = {
    .name = "compile",
    .summary = "make a DAP task: configuration, VDAF, randomizer, bins",
    .usage = "usage: sotto recipe compile RECIPE PARTIES [--policy POLICY] [--streams STREAMS]\n"
             "       [--cohort N] [--json]\n\n"
             "Refuses what `sotto recipe lint` refuses. "
             "Prints the task id, the DAP task configuration, the VDAF and randomizer with their\n"
             "parameters, and the label of every bin. --cohort picks one of the combinations of\n"
             "cohort values, from 0. Of a learning recipe it takes the record of a round.\n",
    .run = run_compile,
};

static const sotto_verb verb_price = {
    .name = "price",
    .summary = "choose an accuracy or a budget, and get the other",
    .usage =
        "usage: sotto recipe price RECIPE [--largest-error E | --half-width E | --see COUNT |\n"
        "       --rank-error E] [--epsilon E] [--cohort N] [--delta D] [--population N] [--rate "
        "R]\n"
        "       [--by SOURCES] [--confidence C] [--have PART] [--policy POLICY]\n"
        "       [--streams STREAMS] [--out FILE [--name NAME]] [--json]\n\n"
        "Of accuracy, epsilon and cohort you choose two, and price finds the third. For a goal it\n"
        "finds the smallest cohort at the recipe's epsilon, or with --cohort the smallest "
        "epsilon.\n"
        "Without a goal it finds the accuracy. What you don't choose is the recipe's. It compares\n"
        "all sources of noise and randomizers, and prints the best one as a part of the recipe.\n"
        "--largest-error wants no bin to be off by more. --half-width is that of the interval of\n"
        "each bin, a count, a sum or a mean. --see is the smallest count whose own interval is\n"
        "above 0. --rank-error is of the median of quantiles. Counts and sums are of all devices\n"
        "of a cohort, by the reports of those that answer; counts may be parts of the reports: "
        "0.5%.\n"
        "That is the error by noise; what a sample adds is printed beside it.\n"
        "--by names the sources to choose from: crowd, shares, servers, with commas between.\n"
        "Without it, the recipe's own. --out writes the whole recipe with the best way in it.\n"
        "NAME names it; without it, a number is put behind the recipe's name, or raised by 1.\n"
        "Devices answer one recipe of a name.\n"
        "Of importance sampling it finds the two rates that show rare values best. Epsilon and\n"
        "the number of reports stay; --rate is then the part of all devices that answers.\n"
        "Exits with 4 if epsilon or the policy does not allow it, with 5 if it takes more "
        "devices.\n",
    .run = sotto_recipe_price,
};

static const sotto_verb verb_publish = {
    .name = "publish",
    .summary = "put it into a public log, and write the bundle for devices",
    .usage =
        "usage: sotto recipe publish RECIPE --from URL --log KEY --token FILE --out BUNDLE\n"
        "       [--witness KEY]... [--quorum N] [--url WHERE] [--policy POLICY]\n"
        "       [--streams STREAMS] [--json]\n\n"
        "Refuses what `sotto recipe lint` refuses. Appends the recipe's hash to the log at URL,\n"
        "and waits until N of the witnesses have cosigned it (without --quorum all of them).\n"
        "Then it writes recipe, proof and checkpoint to BUNDLE. --url says in the log where\n"
        "the recipe's bytes can be had.\n",
    .run = sotto_recipe_publish,
};

static const sotto_verb verb_refine = {
    .name = "refine",
    .summary = "write the next recipe of a search for a quantile",
    .usage =
        "usage: sotto recipe refine RECIPE --answer FILE [--quantile T] [--bins N] [--name NAME]\n"
        "       [--policy POLICY] [--streams STREAMS] [--out FILE] [--json]\n"
        "       sotto recipe refine RECIPE --low L --high H ...\n\n"
        "Takes a recipe of quantiles and the interval of one of them, and writes the same recipe\n"
        "with smaller steps there. --answer is what `sotto collect --json` or `sotto sim run\n"
        "--json` printed; --quantile is 0.5 unless you say 0.05, 0.25, 0.75 or 0.95. --bins is\n"
        "the largest number of bins, without it as many as the recipe has. Few bins have less\n"
        "noise. The next recipe begins when this one ends. --name names it; without it, a number\n"
        "is put behind the recipe's name, or raised by 1.\n"
        "Nothing is published or spent by this. Each device's ledger charges what it answers.\n"
        "Exits with 4 if no smaller steps fit, with 3 if lint or the policy refuses the recipe.\n",
    .run = sotto_recipe_refine_verb,
};

static const sotto_verb verb_round = {
    .name = "round",
    .summary = "print the record of a round of learning",
    .usage =
        "usage: sotto recipe round RECIPE [--round N] [--model DIGEST] [--owner KEY] [--json]\n\n"
        "Prints what a log publishes of round N, from 0, of a learning recipe: the round, the\n"
        "SHA-256 of its model in 64 digits, and the recipe. Without --model round 0 has the model\n"
        "that the recipe begins with. --owner is the file of the key that signs the record, where\n"
        "the recipe has `rounds.key`. `sotto recipe compile` and `sotto admin task add` take the\n"
        "record in place of a recipe: whoever has it makes the same task of it. With --json the "
        "record\n"
        "is the text `record` of an object, beside its round and model.\n",
    .run = sotto_recipe_round,
};

static const sotto_verb verb_reference = {
    .name = "reference",
    .summary = "print the reference of all keys",
    .usage = "usage: sotto recipe reference [--json]\n\nPrints docs/recipe.md; with --json as a "
             "text in an object.\n",
    .run = run_reference,
};

static const sotto_verb *const parts[] = {
    &verb_new,    &verb_lint,    &verb_explain,   &verb_compile, &verb_price,
    &verb_refine, &verb_publish, &verb_reference, &verb_round,   NULL,
};

const sotto_verb sotto_verb_recipe = {
    .name = "recipe",
    .summary = "write a question, have it judged, and make tasks of it",
    .parts = parts,
};
