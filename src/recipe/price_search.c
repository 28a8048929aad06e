/* How much noise keeps a promise or reaches a goal. Whatever is found here is checked once more, as lint checks it (price.c). */
#include "recipe/price.h"

#include "account/honest.h"
#include "account/numeric/shown.h"
#include "recipe/claim.h"
#include "recipe/encrypted.h"
#include "recipe/participation.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Local epsilons are hundredths, so that people can read them. */
enum { CENTI_MOST = 3000, COHORT_MOST = 1000000000 };
static const uint64_t centi = 10000000000;

enum { SIGMA_LEAST = 500, SIGMA_MOST = 1000000000, SIGMA_FINE = 60000000 }; /* thousandths */

sotto_decimal sotto_price_local_most(const sotto_policy *policy,
                                     const sotto_recipe_verdict *verdict)
{
    sotto_decimal most = {(uint64_t)CENTI_MOST * centi};
    char name[SOTTO_VERDICT_NAME];

    for (size_t i = 0; policy && i < policy->field_count; i++) {
        const sotto_policy_field *f = &policy->fields[i];

        (void)snprintf(name, sizeof name, "%s.%s", f->stream, f->field);
        for (size_t j = 0; j < verdict->read_count; j++)
            if (strcmp(name, verdict->reads[j]) == 0 && !f->local_none &&
                f->epsilon_local.units < most.units)
                most = f->epsilon_local;
    }
    return most;
}

void sotto_price_begin(sotto_price_search *s, const sotto_price_question *q,
                       const sotto_recipe *recipe, sotto_noise_source by,
                       sotto_randomizer_kind randomizer, sotto_decimal local_most)
{
    *s = (sotto_price_search){.question = q,
                              .honest = q->policy ? q->policy->honest : SOTTO_HONEST_UNSAID,
                              .local_most = local_most,
                              .least = q->policy ? q->policy->min_cohort : 10,
                              .recipe = *recipe};
    s->devices = floor((double)q->population / (double)sotto_recipe_cohorts(recipe));
    s->recipe.by = by;
    s->recipe.randomizer = randomizer;
    s->recipe.epsilon_local.units = 0;
    s->recipe.sigma_milli = 0;
    if (recipe->by != SOTTO_BY_SHARES || q->policy)
        s->recipe.honest = s->honest;
    /* Devices price noise in shares with the honest part of their policy. */
    if (by == SOTTO_BY_SHARES && s->recipe.honest.units > s->honest.units)
        s->recipe.honest = s->honest;
}

/* ---- reports ---------------------------------------------------------------------------------------- */

static sotto_status fills(bool *out, const sotto_price_search *s, double rate, sotto_err *err)
{
    double chance;

    SOTTO_TRY(sotto_forecast_chance(&chance, (double)s->recipe.min_cohort, s->devices, rate, err));
    *out = chance >= SOTTO_PRICE_FILLED;
    return SOTTO_OK;
}

/* The least rate of three digits that fills the cohort; 1: where all devices answer, or none does. */
static sotto_status least_rate(double *out, const sotto_price_search *s, sotto_err *err)
{
    const double n = s->devices, m = (double)s->recipe.min_cohort;
    double rate = m / n;
    bool enough = false;

    *out = 1;
    if (m >= n)
        return SOTTO_OK;
    for (int i = 0; i < 30; i++) { /* mean less 2.32 deviations is m */
        const double next = (m + 2.32 * sqrt(n * rate * (1 - fmin(rate, 1)))) / n;

        rate = fmin(next, 1);
    }
    for (rate = sotto_bound_shown(0.999 * rate, 3); rate < 1;
         rate = sotto_bound_shown(1.0001 * rate, 3)) {
        SOTTO_TRY(fills(&enough, s, rate, err));
        if (enough)
            break;
    }
    *out = fmin(rate, 1);
    return SOTTO_OK;
}

/* Sets the rate, and says how many reports to expect of a release. */
static sotto_status set_rate(sotto_price_search *s, double *reports, sotto_err *err)
{
    sotto_recipe *r = &s->recipe;
    sotto_forecast forecast;
    sotto_mistakes ignored = {0};

    if (r->participation.type == SOTTO_POISSON) {
        r->participation.rate = s->question->rate;
        if (s->question->rate == 0)
            SOTTO_TRY(least_rate(&r->participation.rate, s, err));
        *reports = fmax(s->devices * sotto_participation_sends(
                                         &r->participation, (sotto_slot_range){0, 1}, r->dummies),
                        (double)r->min_cohort);
        return SOTTO_OK;
    }
    SOTTO_TRY(sotto_recipe_forecast(&forecast, r, s->honest, &ignored, err));
    *reports = sotto_recipe_release_reports(r, &forecast);
    return SOTTO_OK;
}

/* ---- one recipe --------------------------------------------------------------------------------------- */

/* INFINITY where so little noise has no epsilon. */
static sotto_status epsilon_of(double *out, const sotto_price_search *s, sotto_err *err)
{
    const sotto_recipe *r = &s->recipe;
    const uint64_t honest = sotto_honest_count(r->min_cohort, s->honest);
    sotto_report_content content;
    const char *theorem;
    sotto_err why = {0};

    *out = INFINITY;
    sotto_status status = sotto_recipe_content(&content, r, &why);
    if (status == SOTTO_OK && honest > 0)
        status = sotto_recipe_cohort_epsilon(out, &theorem, r, &content, honest,
                                             sotto_recipe_log_delta(r), &why);
    if (status != SOTTO_OK && status != SOTTO_DENIED)
        return sotto_fail(err, status, "%s", why.reason);
    *out = status == SOTTO_OK ? *out : INFINITY;
    return SOTTO_OK;
}

double sotto_price_reached(const sotto_price_question *question, const sotto_accuracy *accuracy,
                           double devices)
{
    const double units = question->unit == SOTTO_UNIT_ANSWER ? 1
                         : question->unit == SOTTO_UNIT_PART ? accuracy->reports
                                                             : accuracy->reports / devices;

    switch (question->goal) {
    case SOTTO_GOAL_LARGEST:
        return accuracy->largest / units;
    case SOTTO_GOAL_SEEN:
        return accuracy->seen / units;
    default:
        return accuracy->half_width / units;
    }
}

/* A cohort that is larger than all devices takes as many of them: no count stands for fewer devices than it has reports. */
static sotto_status reaches(bool *out, const sotto_price_search *s, double reports, sotto_err *err)
{
    const double devices = fmax(s->devices, (double)s->recipe.min_cohort);
    sotto_encrypted sums;
    sotto_accuracy a;
    sotto_err why = {0};
    sotto_status status = SOTTO_OK;

    /* More noise than fits the encryption is none. */
    if (s->recipe.by == SOTTO_BY_COMMITTEE)
        status = sotto_encrypted_plan(&sums, &s->recipe, &why);
    if (status == SOTTO_OK)
        status = sotto_recipe_accuracy(&a, &s->recipe, reports, &s->question->options, &why);

    *out =
        status == SOTTO_OK && sotto_price_reached(s->question, &a, devices) <= s->question->wanted;
    return status == SOTTO_OK || status == SOTTO_DENIED ? SOTTO_OK
                                                        : sotto_fail(err, status, "%s", why.reason);
}

/* ---- noise for an epsilon ------------------------------------------------------------------------------- */

static sotto_status keeps(bool *out, sotto_price_search *s, uint64_t hundredths, sotto_err *err)
{
    double epsilon;

    s->recipe.epsilon_local.units = hundredths * centi;
    SOTTO_TRY(epsilon_of(&epsilon, s, err));
    *out = epsilon <= sotto_decimal_down(s->recipe.epsilon);
    return SOTTO_OK;
}

/* The largest local epsilon that keeps the promise, from a guess: cohorts that are much alike have much the same. 0: none. */
static sotto_status fit_local(sotto_price_search *s, uint64_t *guess, sotto_err *err)
{
    const uint64_t most = s->local_most.units / centi;
    uint64_t low = 0, high = most + 1, at = *guess && *guess <= most ? *guess : most / 2 + 1,
             step = 1;
    bool holds;

    while (high - low > 1) {
        SOTTO_TRY(keeps(&holds, s, at, err));
        *(holds ? &low : &high) = at;
        if (low > 0 && high <= most) {
            at = low + (high - low) / 2;
            continue;
        }
        at = holds ? (at + step < high ? at + step : high - 1)
                   : (at > low + step ? at - step : low + 1);
        step *= 2;
    }
    s->recipe.epsilon_local.units = low * centi;
    *guess = low;
    return SOTTO_OK;
}

/* Whether there is noise that keeps the recipe's epsilon; it is then set. */
static sotto_status fit(bool *out, sotto_price_search *s, uint64_t *guess, sotto_err *err)
{
    double sigma;

    if (s->recipe.by == SOTTO_BY_CROWD) {
        SOTTO_TRY(fit_local(s, guess, err));
        *out = s->recipe.epsilon_local.units > 0;
        return SOTTO_OK;
    }
    SOTTO_TRY(sotto_recipe_smallest_sigma(
        &sigma, &s->recipe, sotto_honest_count(s->recipe.min_cohort, s->honest), err));
    *out = sigma > 0;
    if (*out)
        s->recipe.sigma_milli = (uint32_t)lround(sigma * 1000);
    return SOTTO_OK;
}

/* ---- noise for a goal ------------------------------------------------------------------------------------- */

static void set_noise(sotto_recipe *r, uint64_t amount)
{
    if (r->by == SOTTO_BY_CROWD)
        r->epsilon_local.units = amount * centi;
    else
        r->sigma_milli = (uint32_t)(amount > SIGMA_FINE ? amount / 1000 * 1000 : amount);
}

/* The most noise that reaches the goal. More of it has a smaller local epsilon, or a larger sigma. */
static sotto_status fit_goal(bool *out, sotto_price_search *s, double reports, sotto_err *err)
{
    const bool crowd = s->recipe.by == SOTTO_BY_CROWD;
    uint64_t good = crowd ? CENTI_MOST : SIGMA_LEAST, bad = crowd ? 0 : SIGMA_MOST + 1;

    set_noise(&s->recipe, good);
    SOTTO_TRY(reaches(out, s, reports, err));
    while (*out && (good > bad ? good - bad : bad - good) > 1) {
        const uint64_t middle = good / 2 + bad / 2 + (good & bad & 1);
        bool enough;

        set_noise(&s->recipe, middle);
        SOTTO_TRY(reaches(&enough, s, reports, err));
        *(enough ? &good : &bad) = middle;
    }
    set_noise(&s->recipe, good);
    return SOTTO_OK;
}

/* The epsilon that the noise has, as a decimal of four digits. What devices' noise is cut at depends on it, so that it is
 * asked for once more. */
static sotto_status set_epsilon(bool *out, sotto_price_search *s, sotto_err *err)
{
    double epsilon;

    s->recipe.epsilon.units = 0;
    *out = false;
    for (int i = 0; i < 3 && !*out; i++) {
        SOTTO_TRY(epsilon_of(&epsilon, s, err));
        if (!(epsilon <= 29))
            return SOTTO_OK;
        *out = epsilon <= sotto_decimal_down(s->recipe.epsilon);
        if (!*out)
            s->recipe.epsilon.units = (uint64_t)llround(sotto_bound_shown(epsilon, 4) * 1e12);
    }
    return SOTTO_OK;
}

/* ---- three questions --------------------------------------------------------------------------------------- */

static const char no_noise[] = "no noise of this kind keeps epsilon %.6g with a cohort of %" PRIu64;

static sotto_status find_accuracy(sotto_price_search *s, sotto_err *err)
{
    uint64_t guess = 0;
    double reports;

    SOTTO_TRY(set_rate(s, &reports, err));
    SOTTO_TRY(fit(&s->found, s, &guess, err));
    if (!s->found)
        (void)snprintf(s->why, sizeof s->why, no_noise, sotto_decimal_up(s->recipe.epsilon),
                       s->recipe.min_cohort);
    return SOTTO_OK;
}

static sotto_status find_epsilon(sotto_price_search *s, sotto_err *err)
{
    double reports;

    SOTTO_TRY(set_rate(s, &reports, err));
    SOTTO_TRY(fit_goal(&s->found, s, reports, err));
    if (!s->found) {
        (void)snprintf(s->why, sizeof s->why,
                       "not even the least noise reaches that with %.0f reports; choose a coarser "
                       "goal, or a larger --cohort",
                       reports);
        return SOTTO_OK;
    }
    SOTTO_TRY(set_epsilon(&s->found, s, err));
    if (!s->found)
        (void)snprintf(
            s->why, sizeof s->why,
            "noise that reaches that has no epsilon below 29; choose a coarser goal, or a "
            "larger --cohort");
    return SOTTO_OK;
}

/* Cohorts of three digits: what would be smaller by a part in a thousand is not worth the time. */
static sotto_status try_cohort(bool *out, sotto_price_search *s, uint64_t cohort, uint64_t *guess,
                               sotto_err *err)
{
    double reports;

    s->recipe.min_cohort = cohort;
    SOTTO_TRY(fit(out, s, guess, err));
    if (!*out)
        return SOTTO_OK;
    SOTTO_TRY(set_rate(s, &reports, err));
    return reaches(out, s, reports, err);
}

static uint64_t between(uint64_t low, uint64_t high)
{
    const double middle = ceil(sotto_bound_shown(sqrt((double)low * (double)high), 3));

    return middle > (double)low && middle < (double)high ? (uint64_t)middle : 0;
}

/* No cohort will do: says which epsilon would, at the one that there is. Where counts are of devices, all of them are asked. */
static sotto_status say_epsilon(sotto_price_search *s, sotto_err *err)
{
    const double epsilon = sotto_decimal_up(s->recipe.epsilon);
    sotto_price_search other = *s;

    other.recipe.min_cohort = s->question->cohort;
    if (s->question->unit == SOTTO_UNIT_DEVICES && s->devices > (double)other.recipe.min_cohort)
        other.recipe.min_cohort = (uint64_t)s->devices;
    SOTTO_TRY(find_epsilon(&other, err));
    if (other.found)
        (void)snprintf(s->why, sizeof s->why,
                       "no number of devices reaches that at epsilon %.6g; a cohort of %" PRIu64
                       " does at epsilon %.4g",
                       epsilon, other.recipe.min_cohort, sotto_decimal_up(other.recipe.epsilon));
    else
        (void)snprintf(s->why, sizeof s->why,
                       "no number of devices reaches that at epsilon %.6g; choose a coarser goal",
                       epsilon);
    return SOTTO_OK;
}

/* From the cohort that there is up or down by factors of ten: most answers are near it. */
static sotto_status bracket(uint64_t *low, uint64_t *high, sotto_price_search *s, uint64_t *guess,
                            sotto_err *err)
{
    uint64_t at = s->question->cohort > s->least ? s->question->cohort : s->least;
    bool enough;

    *low = 0;
    *high = 0;
    while (*low == 0 || *high == 0) {
        SOTTO_TRY(try_cohort(&enough, s, at, guess, err));
        *(enough ? high : low) = at;
        if (enough && at == s->least)
            *low = at;
        else if (!enough && at == COHORT_MOST)
            return SOTTO_OK; /* *high is 0: none */
        else if (enough)
            at = at / 10 > s->least ? at / 10 : s->least;
        else
            at = at < COHORT_MOST / 10 ? at * 10 : COHORT_MOST;
    }
    return SOTTO_OK;
}

static sotto_status find_cohort(sotto_price_search *s, sotto_err *err)
{
    uint64_t low, high, guess = 0, middle;
    bool enough;

    SOTTO_TRY(bracket(&low, &high, s, &guess, err));
    s->found = high > 0;
    if (!s->found)
        return say_epsilon(s, err);
    while ((middle = between(low, high)) != 0) {
        SOTTO_TRY(try_cohort(&enough, s, middle, &guess, err));
        *(enough ? &high : &low) = middle;
    }
    return try_cohort(&s->found, s, high, &guess, err);
}

/* With as many as there are, all of them asked: what the sentence about too few says. */
static sotto_status make_do(sotto_price_search *s, sotto_err *err)
{
    const double most = floor(s->devices);

    s->too_few = true;
    s->needed = s->recipe.min_cohort;
    s->found = false;
    if (most < (double)s->least)
        return SOTTO_OK;
    s->recipe.min_cohort = (uint64_t)most;
    return find_accuracy(s, err);
}

/* A policy's local epsilon may make for more noise than epsilon asks for. Devices are then charged what it is worth. */
static sotto_status charge_no_more(sotto_price_search *s, sotto_err *err)
{
    const sotto_decimal kept = s->recipe.epsilon;
    double epsilon;
    bool set = false;

    SOTTO_TRY(epsilon_of(&epsilon, s, err));
    if (epsilon < 0.99 * sotto_decimal_down(kept))
        SOTTO_TRY(set_epsilon(&set, s, err));
    if (!set)
        s->recipe.epsilon = kept;
    return SOTTO_OK;
}

sotto_status sotto_price_run(sotto_price_search *s, sotto_err *err)
{
    const sotto_price_question *q = s->question;

    s->recipe.epsilon = q->epsilon;
    s->recipe.delta = q->delta;
    s->recipe.min_cohort = q->cohort;
    s->recipe.population = q->population;
    if (q->find == SOTTO_PRICE_FIND_EPSILON)
        return find_epsilon(s, err);
    if (q->find == SOTTO_PRICE_FIND_ACCURACY)
        SOTTO_TRY(find_accuracy(s, err));
    else
        SOTTO_TRY(find_cohort(s, err));
    if (q->find == SOTTO_PRICE_FIND_COHORT && s->found && (double)s->recipe.min_cohort > s->devices)
        SOTTO_TRY(make_do(s, err));
    return s->found ? charge_no_more(s, err) : SOTTO_OK;
}
