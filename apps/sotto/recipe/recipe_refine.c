/* sotto recipe refine - the next recipe of a search for a quantile, from the answer to the one before. */
#include "recipe/refine.h"

#include "base/hex.h"
#include "crypto/hash.h"
#include "recipe.h"
#include "recipe/price.h"
#include "recipe/statistic.h"
#include "support/number.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct refine_job {
    sotto_recipe_job recipe;
    const char *answer, *quantile, *low, *high, *bins, *out;
    sotto_refine_question question;
    double confidence; /* of the interval; 0: it was typed */
    sotto_refined refined;
    const sotto_recipe *next;
    sotto_price_way way; /* the next recipe, as price judges it */
    sotto_price_budget budgets[SOTTO_PRICE_BUDGETS];
    size_t budget_count;
} refine_job;

static int complain(const char *option, const char *what)
{
    return sotto_recipe_misused("refine", option, what);
}

static int read_words(refine_job *job, int argc, char **argv)
{
    const sotto_argument words[] = {{.name = "--answer", .text = &job->answer},
                                    {.name = "--quantile", .text = &job->quantile},
                                    {.name = "--low", .text = &job->low},
                                    {.name = "--high", .text = &job->high},
                                    {.name = "--bins", .text = &job->bins},
                                    {.name = "--out", .text = &job->out},
                                    {.name = "--name", .text = &job->question.name}};

    return sotto_recipe_job_parse(&job->recipe, argc, argv, 1, words,
                                  sizeof words / sizeof words[0]);
}

/* ---- the answer ---------------------------------------------------------------------------------------- */

/* A figure of `sotto collect --json`, or a line of `sotto sim run --json`. */
static const json_t *find_figure(const json_t *json, const char *quantile)
{
    const json_t *figures = json_object_get(json, "figures"),
                 *lines = json_object_get(json, "lines"), *list = figures ? figures : lines;
    char name[64];

    (void)snprintf(name, sizeof name, "quantile %.40s", quantile);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        const char *found = json_string_value(json_object_get(item, figures ? "name" : "line"));

        if (found && strcmp(found, name) == 0)
            return item;
    }
    return NULL;
}

/* An answer to another recipe would be refined as if it were to this one. */
static bool is_of(const refine_job *job, const json_t *json)
{
    const json_t *hash = json_object_get(json_object_get(json, "receipt"), "recipe_hash");
    const char *name = json_string_value(json_object_get(json, "recipe"));
    uint8_t digest[32], named[32];

    if (json_is_string(hash)) {
        sotto_hash_once(digest, SOTTO_SHA256, job->recipe.text);
        return sotto_hex_decode(
                   named, sizeof named,
                   sotto_bytes_of(json_string_value(hash), json_string_length(hash))) &&
               memcmp(digest, named, sizeof digest) == 0;
    }
    return name && strcmp(name, job->recipe.recipe->name) == 0;
}

static int no_answer(const refine_job *job, const char *why)
{
    (void)fprintf(stderr, "sotto recipe refine: %s: %s\n", job->answer, why);
    return EXIT_FAILED;
}

static int use_answer(refine_job *job, const json_t *json)
{
    const char *quantile = job->quantile ? job->quantile : "0.5";
    const json_t *runs = json_object_get(json, "runs");

    if (!is_of(job, json))
        return no_answer(job, "not an answer to this recipe, as `sotto collect --json` or `sotto "
                              "sim run --json` prints it");
    if (runs && json_integer_value(runs) != 1)
        return no_answer(job, "several runs of a simulation have no interval in common; leave "
                              "--repeat out");
    const json_t *figure = find_figure(json, quantile), *low = json_object_get(figure, "low"),
                 *high = json_object_get(figure, "high");
    if (!json_is_number(low) || !json_is_number(high))
        return no_answer(job, "it has no such quantile; an answer has 0.05, 0.25, 0.5, 0.75 and "
                              "0.95");
    job->question.low = json_number_value(low);
    job->question.high = json_number_value(high);
    job->confidence = json_number_value(json_object_get(json, "confidence"));
    return EXIT_DONE;
}

static int read_answer(refine_job *job)
{
    json_error_t at;
    json_t *json = json_load_file(job->answer, JSON_REJECT_DUPLICATES, &at);

    if (!json) {
        (void)fprintf(stderr, "sotto recipe refine: %s: %s\n", job->answer, at.text);
        return EXIT_FAILED;
    }
    const int code = use_answer(job, json);
    json_decref(json);
    return code;
}

static int read_question(refine_job *job)
{
    double bins = 0;

    if (job->bins &&
        (sotto_number_read(&bins, job->bins, SOTTO_ROUND_NEAREST, "", NULL) != SOTTO_OK ||
         bins < 3 || bins > 1e6 || bins != floor(bins)))
        return complain("--bins", " is a whole number from 3 to 1000000.");
    job->question.bins = (uint64_t)bins;
    if ((job->answer != NULL) == (job->low != NULL || job->high != NULL))
        return complain("", "where is the quantile? --answer FILE, or --low and --high.");
    if (job->answer)
        return read_answer(job);
    if (!job->low || !job->high ||
        sotto_number_read(&job->question.low, job->low, SOTTO_ROUND_NEAREST, "", NULL) !=
            SOTTO_OK ||
        sotto_number_read(&job->question.high, job->high, SOTTO_ROUND_NEAREST, "", NULL) !=
            SOTTO_OK)
        return complain("", "--low and --high are numbers, and go together.");
    return EXIT_DONE;
}

/* ---- the next recipe ----------------------------------------------------------------------------------- */

static int failed(const sotto_err *err)
{
    (void)fprintf(stderr, "sotto recipe refine: %s\n", err->reason);
    return sotto_exit_code(err->status, SOTTO_AT_WORDS);
}

/* What lint says of it, and what a policy leaves to devices that answered once already. */
static int judge(refine_job *job)
{
    sotto_recipe_job *r = &job->recipe;
    sotto_price_way *way = &job->way;
    sotto_err err = {0};

    if (sotto_recipe_read(&job->next, job->refined.text, &r->arena, &r->mistakes, &err) !=
            SOTTO_OK ||
        sotto_recipe_judge(&way->verdict, &way->claim, job->next, r->policy_read, r->streams_read,
                           &r->mistakes, &err) != SOTTO_OK) {
        sotto_mistakes_explain(&r->mistakes);
        sotto_recipe_print_mistakes(r, "the next recipe");
        return EXIT_LINT;
    }
    way->recipe = job->next;
    if (r->policy_read && sotto_price_budgets(job->budgets, &job->budget_count, way, r->policy_read,
                                              &err) != SOTTO_OK)
        return failed(&err);
    return EXIT_DONE;
}

/* ---- what is said -------------------------------------------------------------------------------------- */

/* The least of what the budgets allow: earlier questions of the search count like this one. */
static void print_budgets(const refine_job *job)
{
    const sotto_price_budget *least = job->budgets;

    for (size_t i = 0; i < job->budget_count; i++)
        if (job->budgets[i].more < least->more)
            least = &job->budgets[i];
    if (job->budget_count == 0)
        return;
    printf("budgets   %s allows a device %" PRIu64 " such answers in all%s\n", least->name,
           least->more + 1,
           least->more == 0 ? ": devices that answered before refuse this one" : "");
}

static void print_text(const refine_job *job)
{
    const sotto_refined *n = &job->refined;
    char epsilon[SOTTO_DECIMAL_TEXT];

    sotto_decimal_format(epsilon, job->next->epsilon);
    if (job->answer)
        printf("quantile  %s is from %g to %g (%g%%), of numbers rounded to steps of %g\n",
               job->quantile ? job->quantile : "0.5", job->question.low, job->question.high,
               100 * (job->confidence > 0 ? job->confidence : 0.95),
               sotto_recipe_grid(job->recipe.recipe).step);
    printf("recipe    %s: %" PRIu64 " bins from %g to %g, in steps of %g\n", n->name, n->bins,
           n->min, n->max, n->step);
    printf("charge    epsilon %s to each device that answers, beside what it spent before\n",
           epsilon);
    print_budgets(job);
    printf("reading   numbers outside the range count as its ends: where the next interval has an\n"
           "          end in it, the quantile is there or beyond\n");
    if (n->from_first || n->to_last)
        printf("warning   the interval has the %s of the recipe's range in it; numbers may lie "
               "beyond\n",
               n->from_first && n->to_last ? "ends"
               : n->from_first             ? "lower end"
                                           : "upper end");
    if (!job->out) {
        printf("\n");
        (void)fwrite(n->text.data, 1, n->text.len, stdout);
    }
}

static int print_json(const refine_job *job)
{
    const sotto_refined *n = &job->refined;
    sotto_json j = sotto_show_object(stdout, SOTTO_JSON_INDENTED);

    sotto_json_text(&j, "recipe", n->name);
    sotto_json_real(&j, "low", job->question.low);
    sotto_json_real(&j, "high", job->question.high);
    sotto_json_real(&j, "min", n->min);
    sotto_json_real(&j, "max", n->max);
    sotto_json_real(&j, "step", n->step);
    sotto_json_uint(&j, "bins", n->bins);
    sotto_json_bool(&j, "from_first", n->from_first);
    sotto_json_bool(&j, "to_last", n->to_last);
    sotto_json_bytes(&j, "text", n->text);
    return sotto_show_end(&j) ? EXIT_DONE : EXIT_FAILED;
}

static int answer(refine_job *job)
{
    sotto_err err = {0};
    int code = read_question(job);

    if (code != EXIT_DONE)
        return code;
    if (sotto_recipe_refine(&job->refined, job->recipe.recipe, &job->question, &job->recipe.arena,
                            &err) != SOTTO_OK)
        return failed(&err);
    code = judge(job);
    if (code == EXIT_DONE && job->out)
        code = sotto_recipe_save("refine", job->out, job->refined.text);
    if (code == EXIT_DONE && job->recipe.json)
        return print_json(job);
    if (code == EXIT_DONE)
        print_text(job);
    return code;
}

int sotto_recipe_refine_verb(int argc, char **argv)
{
    static refine_job job;

    memset(&job, 0, sizeof job);
    int code = read_words(&job, argc, argv);
    if (code == EXIT_DONE)
        code = sotto_recipe_job_read(&job.recipe);
    if (code == EXIT_DONE)
        code = answer(&job);
    sotto_recipe_job_end(&job.recipe);
    return code;
}
