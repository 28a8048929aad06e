#include "recipe/forecast.h"

#include "account/claims_count.h"
#include "account/honest.h"
#include "account/local/count.h"
#include "account/numeric/shown.h"
#include "account/numeric/special.h"
#include "base/writer.h"
#include "recipe/claim.h"
#include "recipe/participation.h"
#include "recipe/schema.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static const sotto_place privacy = {NULL, "privacy", 0}, min_cohort = {&privacy, "min_cohort", 0},
                         taking = {NULL, "participation", 0}, slot = {&taking, "slot", 0},
                         dummies = {NULL, "dummies", 0};

/* ---- whether answers will come ------------------------------------------------------------------- */

/* A release spans the whole schedule, or one slot of donations. */
static sotto_slot_range release_of(const sotto_recipe *recipe, bool last)
{
    const sotto_participation *p = &recipe->participation;
    sotto_slot_range open = sotto_participation_slots(p, recipe->opens, recipe->closes);

    if (p->type != SOTTO_DONATION)
        return open;
    return last ? (sotto_slot_range){open.end - 1, open.end}
                : (sotto_slot_range){open.first, open.first + 1};
}

static double sends(const sotto_recipe *recipe, sotto_slot_range slots)
{
    return sotto_participation_sends(&recipe->participation, slots, recipe->dummies);
}

/* A lower bound: where the tail can't be enclosed so close to the mean, that of a slightly larger
 * number is used. */
sotto_status sotto_forecast_chance(double *out, double least, double devices, double chance,
                                   sotto_err *err)
{
    const double step = ceil(sqrt(devices * chance * (1 - chance)) / 8) + 1;
    sotto_status status = SOTTO_DENIED;
    sotto_bound tail = {0, 0};

    for (int i = 0; i < 64 && status == SOTTO_DENIED; i++, least += step)
        status = sotto_binomial_upper(&tail, least, devices, chance, 1 - chance, NULL);
    *out = fmax(0, tail.low);
    return status == SOTTO_OK ? SOTTO_OK : sotto_fail(err, status, "the chance of a cohort");
}

static double empty_slots(const sotto_recipe *recipe, sotto_slot_range open, double devices)
{
    sotto_sum sum = {0, 0};

    for (uint64_t i = open.first; i < open.end; i++)
        sotto_sum_add(&sum, exp(devices * log1p(-sends(recipe, (sotto_slot_range){i, i + 1}))));
    return sotto_sum_value(&sum);
}

static sotto_status foresee_reports(sotto_forecast *out, const sotto_recipe *recipe, sotto_err *err)
{
    const sotto_participation *p = &recipe->participation;
    const sotto_slot_range open = sotto_participation_slots(p, recipe->opens, recipe->closes);

    out->devices = floor((double)recipe->population / (double)sotto_recipe_cohorts(recipe));
    out->expected = out->devices * sends(recipe, release_of(recipe, false));
    if (p->slots > 0) {
        out->slots = open.end - open.first;
        out->empty = empty_slots(recipe, open, out->devices);
    }
    return sotto_forecast_chance(&out->reach, (double)recipe->min_cohort, out->devices,
                                 sends(recipe, release_of(recipe, true)), err);
}

/* ---- what their number tells --------------------------------------------------------------------- */

/* How many of these devices are silent but with a chance of exp(log_miss): each is, by a coin of its own. The larger k is, the
 * smaller is the chance of fewer than k, so the largest k is searched for. Where a tail can't be enclosed, k is too large. */
static double fewest_silent(double devices, double silent, double log_miss)
{
    const double most = sotto_round_down(exp(log_miss), 4);
    double low = 0, high = floor(devices * silent) + 1;

    while (high - low > 1) {
        const double k = floor((low + high) / 2);
        sotto_bound fewer;
        const sotto_status status =
            sotto_binomial_upper(&fewer, devices - (k - 1), devices, 1 - silent, silent, NULL);

        *(status == SOTTO_OK && fewer.high <= most ? &low : &high) = k;
    }
    return low;
}

/* Of a device that takes part, among honest ones that do not. A dummy falls into one of many slots, and a device that stays
 * out of a release's slots sends one in them with that chance. How many do not take part is drawn as well: half of delta is
 * for fewer than are counted on here, half for what their dummies hide. More of them hide no less, since the number of
 * reports is then the same sum and one more independent coin. */
static sotto_status foresee_count(sotto_forecast *out, const sotto_recipe *recipe,
                                  sotto_decimal honest, sotto_err *err)
{
    const sotto_participation *p = &recipe->participation;
    const sotto_slot_range all = {0, p->slots ? p->slots : 1}, in = release_of(recipe, true);
    const double part = (double)(in.end - in.first) / (double)all.end,
                 silent = 1 - sotto_participation_chance(p, all),
                 log_delta = sotto_round_down(sotto_recipe_log_delta(recipe) - log(2), 2),
                 others = fewest_silent((double)sotto_honest_count((uint64_t)out->devices, honest),
                                        silent, log_delta);
    sotto_bound eps = {INFINITY, INFINITY};
    double rate = 1;

    out->dummies = others * recipe->dummies * part;
    out->epsilon_wanted = sotto_decimal_down(recipe->epsilon);
    out->donations = p->type == SOTTO_DONATION;
    if (others < 1)
        return SOTTO_OK;
    if (recipe->dummies * part >= 1e-12)
        SOTTO_TRY(sotto_count_eps(&eps, others, recipe->dummies * part, log_delta, err));
    out->epsilon_count = eps.high;
    SOTTO_TRY(sotto_count_rate(&rate, others, out->epsilon_wanted, log_delta, err));
    if (rate > part)
        return SOTTO_OK;
    out->rate_needed = sotto_round_up(rate / part, 2);
    out->dummies_needed = others * rate;
    return SOTTO_OK;
}

/* ---- warnings -------------------------------------------------------------------------------------- */

static void warn_of_reach(sotto_reading *at, const sotto_forecast *f, const sotto_recipe *recipe)
{
    const bool each = sotto_recipe_cohorts(recipe) > 1;
    char what[200], chance[64] = "hardly ever reached";

    if (f->reach >= 0.99)
        return;
    if (f->reach >= 1e-3)
        (void)snprintf(chance, sizeof chance, "reached with a chance of %.3g only",
                       floor(f->reach * 1e3) / 1e3);
    (void)snprintf(what, sizeof what, "%s%s%s, where %.0f devices%s are asked", chance,
                   recipe->participation.type == SOTTO_DONATION ? ", in the last slot," : "",
                   each ? " for each cohort value" : "", f->devices, each ? " of it" : "");
    sotto_reading_warn(at, &min_cohort, what);
}

/* Talwar et al. 2024, Appendix A. A slot of a day has some hours in it in which a device is ready, whichever slot it is. */
static void warn_of_absence(sotto_reading *at, const sotto_recipe *recipe)
{
    enum { DAY = 86400 };
    const sotto_participation *p = &recipe->participation;
    char what[200];

    if (p->slots == 0 || p->length >= DAY || p->slots * p->length <= p->available)
        return;
    (void)snprintf(
        what, sizeof what,
        "the slots together last %.4g hours, and a device is usually ready for %.4g: many "
        "would miss their slot",
        (double)(p->slots * p->length) / 3600, (double)p->available / 3600);
    sotto_reading_warn(at, &slot, what);
}

/* They may be those of a later recipe of the analysis; a device that drew one says nothing to this one. */
static void warn_of_late_slots(sotto_reading *at, const sotto_recipe *recipe)
{
    const sotto_participation *p = &recipe->participation;
    const sotto_slot_range open = sotto_participation_slots(p, recipe->opens, recipe->closes);
    char what[200];

    if (p->slots == 0 || open.end == p->slots)
        return;
    (void)snprintf(what, sizeof what,
                   "%" PRIu64 " of %" PRIu64 " slots begin after `closes`: devices that draw one "
                   "of them don't answer this recipe",
                   p->slots - open.end, p->slots);
    sotto_reading_warn(at, &slot, what);
}

static void warn_of_count(sotto_reading *at, const sotto_forecast *f, const sotto_recipe *recipe)
{
    char what[200], needed[64] = "no rate of dummies would do";

    if (recipe->dummies == 0 || f->epsilon_count <= f->epsilon_wanted)
        return;
    if (isfinite(f->dummies_needed))
        (void)snprintf(needed, sizeof needed, "a rate of %.3g or more would do",
                       sotto_bound_shown(f->rate_needed, 3));
    if (isfinite(f->epsilon_count))
        (void)snprintf(what, sizeof what,
                       "the number of reports tells who takes part up to epsilon %.4g, more than "
                       "the answer; %s",
                       sotto_bound_shown(f->epsilon_count, 4), needed);
    else
        (void)snprintf(what, sizeof what,
                       "so few dummies do not hide in the number of reports who takes part; %s",
                       needed);
    sotto_reading_warn(at, &dummies, what);
}

sotto_status sotto_recipe_forecast(sotto_forecast *out, const sotto_recipe *recipe,
                                   sotto_decimal honest, sotto_mistakes *mistakes, sotto_err *err)
{
    sotto_reading at = {.text = recipe->text, .object = "recipe", .mistakes = mistakes};

    *out = (sotto_forecast){.epsilon_count = INFINITY, .dummies_needed = INFINITY};
    if (recipe->participation.type == SOTTO_IMPORTANCE)
        return SOTTO_OK; /* depends on values */
    SOTTO_TRY(foresee_reports(out, recipe, err));
    SOTTO_TRY(foresee_count(out, recipe, honest, err));
    warn_of_reach(&at, out, recipe);
    warn_of_absence(&at, recipe);
    warn_of_late_slots(&at, recipe);
    warn_of_count(&at, out, recipe);
    return SOTTO_OK;
}

/* ---- in plain words ---------------------------------------------------------------------------------- */

#define say sotto_write_format

static void say_count(sotto_writer *w, const sotto_forecast *f, const sotto_recipe *recipe)
{
    if (recipe->dummies == 0)
        say(w, "Nothing hides the number of reports: whoever knows of all other devices learns "
               "from it "
               "whether yours took part.\n");
    else if (isfinite(f->epsilon_count))
        say(w,
            "About %.0f dummies of honest devices hide in the number of reports whether yours took "
            "part, "
            "up to epsilon %.4g at delta %.3g (%s).\n",
            f->dummies, sotto_bound_shown(f->epsilon_count, 4),
            sotto_bound_shown(sotto_decimal_up(recipe->delta), 3), sotto_count_theorem);
    else
        say(w,
            "About %.0f dummies of honest devices are too few to hide in the number of reports "
            "whether yours took part.\n",
            f->dummies);
    if (isfinite(f->dummies_needed))
        say(w,
            "To hide it up to epsilon %.4g takes about %.0f dummies, which are reports on \"no "
            "value\" of devices that do not take part: a rate of %.3g.\n",
            sotto_bound_shown(f->epsilon_wanted, 4), ceil(f->dummies_needed),
            sotto_bound_shown(f->rate_needed, 3));
    if (recipe->dummies > 0)
        say(w,
            "That is so for an answer about %s, and only to those who can't see who sends. A "
            "shorter time has fewer dummies.\n",
            f->donations ? "a whole slot" : "the whole schedule");
}

sotto_status sotto_forecast_explain(sotto_buf *out, const sotto_forecast *forecast,
                                    const sotto_recipe *recipe, sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    if (recipe->participation.type == SOTTO_IMPORTANCE)
        return SOTTO_OK;
    say(&w, "\nWhat to expect\n");
    say(&w, "Of %.0f devices about %.0f send a report that is added up together. %s%" PRIu64,
        forecast->devices, forecast->expected,
        recipe->participation.type == SOTTO_DONATION ? "In the last slot there are " : "There are ",
        recipe->min_cohort);
    if (forecast->reach >= 1e-4)
        say(&w, " of them with a chance of at least %.4g.\n", floor(forecast->reach * 1e4) / 1e4);
    else
        say(&w, " of them hardly ever.\n");
    if (forecast->slots > 0)
        say(&w, "Of %" PRIu64 " slots %.4g are expected to stay empty.\n", forecast->slots,
            forecast->empty);
    say_count(&w, forecast, recipe);
    return sotto_writer_finish(&w, "forecast", err);
}
