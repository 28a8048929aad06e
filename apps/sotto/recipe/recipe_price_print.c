/* What `sotto recipe price` prints. */
#include "recipe_price.h"

#include "account/numeric/shown.h"
#include "recipe/participation.h"
#include "recipe/place.h"
#include "recipe/statistic.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *goal_name(const sotto_price_question *q, sotto_statistic statistic)
{
    switch (q->goal) {
    case SOTTO_GOAL_LARGEST:
        return "largest error";
    case SOTTO_GOAL_SEEN:
        return "smallest seen";
    default:
        return statistic == SOTTO_STATISTIC_QUANTILES ? "rank error" : "half-width";
    }
}

static const char *way_name(char out[64], const sotto_price_way *w)
{
    (void)snprintf(out, 64, "%s%s%s", sotto_noise_source_name(w->by),
                   w->by == SOTTO_BY_CROWD ? ", " : "",
                   w->by == SOTTO_BY_CROWD ? sotto_randomizer_name(w->randomizer) : "");
    return out;
}

/* Counts as parts of the reports where the goal is one, and ranks always. */
static const char *number(char out[32], const sotto_price_job *job, const sotto_price_way *w)
{
    const bool part = job->recipe.recipe->statistic == SOTTO_STATISTIC_QUANTILES ||
                      job->question.unit == SOTTO_UNIT_PART;
    const double x = sotto_price_reached(&job->question, &w->accuracy, w->forecast.devices);

    if (isfinite(x))
        (void)snprintf(out, 32, part ? "%.4g%%" : "%.5g", part ? 100 * x : x);
    else
        (void)snprintf(out, 32, "none");
    return out;
}

static double sends(const sotto_recipe *r)
{
    const sotto_participation *p = &r->participation;

    return sotto_participation_sends(p, sotto_participation_slots(p, r->opens, r->closes),
                                     r->dummies);
}

/* ---- for people ---------------------------------------------------------------------------------------- */

static void print_asked(const sotto_price_job *job)
{
    const sotto_price_question *q = &job->question;
    const sotto_recipe *r = job->recipe.recipe;
    const uint64_t tasks = sotto_recipe_cohorts(r);
    const char *unit = q->unit != SOTTO_UNIT_DEVICES         ? ""
                       : r->statistic == SOTTO_STATISTIC_SUM ? " for all devices"
                       : tasks > 1                           ? " devices of a cohort"
                                                             : " devices";

    printf("%s: %s", job->recipe.files[0], sotto_statistic_name(r->statistic));
    if (r->statistic == SOTTO_STATISTIC_HISTOGRAM || r->statistic == SOTTO_STATISTIC_QUANTILES)
        printf(" of %" PRIu64 " bins", r->encoding.bins);
    printf(", %" PRIu64 " devices", q->population);
    if (tasks > 1)
        printf(" in %" PRIu64 " cohorts", tasks);
    printf("\n");
    if (q->goal == SOTTO_GOAL_NONE)
        printf("wanted: the best accuracy");
    else if (q->goal == SOTTO_GOAL_SEEN)
        printf("wanted: to tell counts of %s%s from 0", job->goal_text, unit);
    else
        printf("wanted: a %s of at most %s%s", goal_name(q, r->statistic), job->goal_text, unit);
    if (q->find != SOTTO_PRICE_FIND_EPSILON)
        printf(", at epsilon %.6g", sotto_decimal_up(q->epsilon));
    if (q->find != SOTTO_PRICE_FIND_COHORT)
        printf(", with a cohort of %" PRIu64, q->cohort);
    printf("\n\n");
}

static void print_way(const sotto_price_job *job, const sotto_price_way *w)
{
    char name[64], local[32] = "none", x[32];

    printf("%c %-26s", w == job->best ? '>' : ' ', way_name(name, w));
    if (!w->found) {
        printf("  no: %s\n", w->why);
        return;
    }
    if (w->by == SOTTO_BY_CROWD)
        (void)snprintf(local, sizeof local, "%.4g", sotto_bound_shown(w->claim.epsilon_local, 4));
    printf(" %6s %8.4g %8" PRIu64 " %8.4g %13s %8zu%s\n", local,
           sotto_decimal_up(w->recipe->epsilon), w->recipe->min_cohort,
           w->recipe->participation.rate, number(x, job, w), w->claim.report_bytes,
           w->meets ? "" : "  no");
    if (!w->meets && w->why[0])
        printf("      no: %s\n", w->why);
}

static void print_budgets(const sotto_price_job *job)
{
    for (size_t i = 0; i < job->budget_count; i++) {
        const sotto_price_budget *b = &job->budgets[i];
        char of[SOTTO_DECIMAL_TEXT], left[SOTTO_DECIMAL_TEXT];

        sotto_decimal_format(of, b->epsilon);
        sotto_decimal_format(left, b->left);
        printf("  %-15s %s: ", i == 0 ? "budgets left" : "", b->name);
        if (b->basic)
            printf("epsilon %s of %s, ", left, of);
        printf("%" PRIu64 " of its reports; %" PRIu64 "%s more like this\n", b->reports_left,
               b->more, b->more >= SOTTO_PRICE_MORE ? " or" : "");
    }
}

static void print_filling(const sotto_price_way *w)
{
    const sotto_recipe *r = w->recipe;

    printf("  filling         %.0f reports are expected of %.0f devices; %" PRIu64,
           w->forecast.expected, w->forecast.devices, r->min_cohort);
    if (w->forecast.reach >= 1e-6)
        printf(" come with a chance of %.6g or more,\n", floor(w->forecast.reach * 1e6) / 1e6);
    else
        printf(" hardly ever come,\n");
    if (isfinite(w->days))
        printf("                  within %.3g days with a chance of %.2g, if reports come evenly\n",
               w->days, SOTTO_PRICE_FILLED);
    else
        printf("                  and not with a chance of %.2g before it closes\n",
               SOTTO_PRICE_FILLED);
    if (w->claim.report_bytes > 0) /* of encrypted sums nobody has counted them */
        printf("  a device        sends %zu bytes with a chance of %.4g\n", w->claim.report_bytes,
               sends(r));
}

/* The answer is about reports, and most questions are about devices. */
static void print_sampling(const sotto_price_way *w)
{
    const double add =
        sotto_accuracy_sampling(w->accuracy.reports, w->forecast.devices, w->accuracy.confidence);

    if (w->recipe->statistic == SOTTO_STATISTIC_HISTOGRAM ||
        w->recipe->statistic == SOTTO_STATISTIC_COUNT)
        printf("                  that only some devices answer adds +-%.3g%% of them at most\n",
               100 * add);
}

/* As it can be pasted: what it takes the place of is named, and a comma ends it unless these are the recipe's last members. */
static void print_fragment(const sotto_price_job *job)
{
    static const char *const keys[] = {"randomizer", "participation", "privacy", "population"};
    const sotto_price_way *w = job->best;
    const sotto_recipe *frame = job->recipe.recipe;
    const size_t count = w->recipe->population != frame->population ? 4 : 3;
    const char *before = "";
    size_t end = 0;

    printf("\nIn the recipe, in place of its ");
    for (size_t i = 0; i < count; i++) {
        const sotto_place place = {NULL, keys[i], 0};
        sotto_span span;

        if (!sotto_place_find(&place, frame->text, &span))
            continue;
        printf("%s`%s`", before, keys[i]);
        before = ", ";
        end = span.end > end ? span.end : end;
    }
    while (end < frame->text.len && strchr(" \t\r\n", frame->text.data[end]))
        end++;
    printf(":\n  %.*s%s\n", (int)w->fragment.len, (const char *)w->fragment.data,
           end < frame->text.len && frame->text.data[end] == ',' ? "," : "");
}

static void print_best(const sotto_price_job *job)
{
    const sotto_price_way *w = job->best;

    printf("\nThe way marked > in figures:\n");
    if (w->by == SOTTO_BY_CROWD)
        printf("  one report      epsilon %.6g\n", sotto_bound_shown(w->claim.epsilon_local, 6));
    else
        printf("  one report      no local protection: a policy has to allow that\n");
    printf("  the answer      epsilon %.6g  delta %.3g; a device is charged %.6g\n"
           "                  basis: %s\n",
           sotto_bound_shown(w->claim.epsilon_cohort, 6), sotto_bound_shown(w->claim.delta, 3),
           sotto_decimal_up(w->recipe->epsilon), w->claim.theorem);
    sotto_recipe_print_accuracy(&w->accuracy, w->recipe);
    print_sampling(w);
    print_filling(w);
    print_budgets(job);
    print_fragment(job);
}

/* Another source of noise may do what this one can't. */
static void print_others(const sotto_price_job *job)
{
    const sotto_price_way *other = sotto_price_best(job->ways, job->count, &job->question, ~0U);

    if (job->best && job->best->meets)
        return;
    if (other && other->meets)
        printf(
            "\nNot possible by the sources of noise to choose from. It is by %s: add --by %s, if "
            "the policy allows that.\n",
            sotto_noise_source_name(other->by), sotto_noise_source_name(other->by));
    else
        printf("\nNot possible by any source of noise. What helps: a larger error, %s.\n",
               !other && job->question.find == SOTTO_PRICE_FIND_COHORT
                   ? "or a larger\n--epsilon. No number of devices is enough"
               : job->best && job->best->needs_devices
                   ? "more devices\n(--population N), or a larger --epsilon"
                   : "a larger\n--epsilon, a larger --cohort, or a policy that allows more");
}

/* What the numbers of the goal's column are of. */
static const char *unit_name(const sotto_price_job *job)
{
    const sotto_statistic statistic = job->recipe.recipe->statistic;

    if (statistic == SOTTO_STATISTIC_QUANTILES)
        return "of the ranks";
    if (statistic == SOTTO_STATISTIC_SUM || statistic == SOTTO_STATISTIC_MEAN)
        return "column's unit";
    return job->question.unit == SOTTO_UNIT_PART      ? "of reports"
           : job->question.unit == SOTTO_UNIT_DEVICES ? "devices"
                                                      : "reports";
}

void sotto_price_print(const sotto_price_job *job)
{
    print_asked(job);
    printf("  %-26s %6s %8s %8s %8s %13s %8s\n", "way", "local", "epsilon", "cohort", "rate",
           goal_name(&job->question, job->recipe.recipe->statistic), "bytes");
    printf("  %-26s %6s %8s %8s %8s %13s %8s\n", "", "", "", "reports", "", unit_name(job), "each");
    for (size_t i = 0; i < job->count; i++)
        print_way(job, &job->ways[i]);
    if (job->best && job->best->meets)
        print_best(job);
    print_others(job);
}

/* ---- JSON ------------------------------------------------------------------------------------------------ */

static void way_members(sotto_json *j, const sotto_price_way *w)
{
    sotto_json_text(j, "by", sotto_noise_source_name(w->by));
    sotto_json_some(j, "randomizer",
                    w->by == SOTTO_BY_CROWD ? sotto_randomizer_name(w->randomizer) : NULL);
    sotto_json_bool(j, "meets", w->meets);
    sotto_json_text(j, "why", w->why);
    if (!w->found)
        return;
    sotto_json_bool(j, "fills", w->fills);
    sotto_json_bool(j, "allowed", w->allowed);
    sotto_json_real(j, "epsilon_local", w->claim.epsilon_local);
    sotto_json_real(j, "epsilon", w->claim.epsilon_cohort);
    sotto_json_real(j, "charged", sotto_decimal_up(w->recipe->epsilon));
    sotto_json_real(j, "delta", w->claim.delta);
    sotto_json_text(j, "theorem", w->claim.theorem);
    sotto_json_real(j, "noise_sigma", w->claim.noise_sigma);
    sotto_json_uint(j, "cohort", w->recipe->min_cohort);
    sotto_json_real(j, "rate", w->recipe->participation.rate);
    sotto_json_real(j, "reports_in_a_release", w->forecast.expected);
    sotto_json_real(j, "reach", w->forecast.reach);
    sotto_json_real(j, "days", w->days);
    sotto_json_uint(j, "report_bytes", w->claim.report_bytes);
    sotto_json_real(j, "sends", sends(w->recipe));
    sotto_recipe_accuracy_members(j, &w->accuracy, w->recipe);
    sotto_json_real(
        j, "sampling",
        sotto_accuracy_sampling(w->accuracy.reports, w->forecast.devices, w->accuracy.confidence));
    sotto_json_bytes(j, "fragment", w->fragment);
}

static void budget_members(sotto_json *j, const sotto_price_job *job)
{
    sotto_json_array(j, "budgets");
    for (size_t i = 0; i < job->budget_count; i++) {
        const sotto_price_budget *b = &job->budgets[i];

        sotto_json_object(j, NULL);
        sotto_json_text(j, "name", b->name);
        sotto_json_text(j, "of", b->analysis ? "analysis" : "field");
        sotto_json_real(j, "epsilon", sotto_decimal_down(b->epsilon));
        if (b->basic)
            sotto_json_real(j, "epsilon_left", sotto_decimal_down(b->left));
        sotto_json_uint(j, "reports_left", b->reports_left);
        sotto_json_uint(j, "more_like_this", b->more);
        sotto_json_end(j);
    }
    sotto_json_end(j);
}

bool sotto_price_print_json(const sotto_price_job *job)
{
    static const char *const finds[] = {"accuracy", "cohort", "epsilon"}, *const units[] = {
                                                                              "answer", "part",
                                                                              "devices"};
    sotto_json j = sotto_show_object(stdout, SOTTO_JSON_COMPACT);

    sotto_json_bool(&j, "ok", job->best && job->best->meets);
    sotto_json_text(&j, "find", finds[job->question.find]);
    if (job->question.goal != SOTTO_GOAL_NONE) {
        sotto_json_text(&j, "goal", goal_name(&job->question, job->recipe.recipe->statistic));
        sotto_json_real(&j, "wanted", job->question.wanted);
        sotto_json_text(&j, "unit", units[job->question.unit]);
    }
    sotto_json_array(&j, "ways");
    for (size_t i = 0; i < job->count; i++) {
        sotto_json_object(&j, NULL);
        sotto_json_bool(&j, "best", job->best && &job->ways[i] == job->best);
        way_members(&j, &job->ways[i]);
        sotto_json_end(&j);
    }
    sotto_json_end(&j);
    budget_members(&j, job);
    return sotto_show_end(&j);
}
