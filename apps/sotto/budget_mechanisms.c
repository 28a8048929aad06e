/* Which options a mechanism needs and takes, and where in a question they go. */
#include "budget_form.h"

#define BIT(option)  (1UL << (option))
#define CONTRIBUTION (BIT(OPTION_CLIP) | BIT(OPTION_ONE_HOT))

static double number_or(const sotto_form *f, sotto_option option, double other)
{
    return f->given[option] ? f->number[option] : other;
}

static uint64_t count_or(const sotto_form *f, sotto_option option, uint64_t other)
{
    return f->given[option] ? (uint64_t)f->number[option] : other;
}

static sotto_contribution contribution(const sotto_form *f)
{
    return f->given[OPTION_ONE_HOT] ? SOTTO_ONE_HOT_VECTOR : SOTTO_CLIPPED_VECTOR;
}

/* Without a clip sigma is the noise over the clip: the multiplier that papers print. */
static double clip(const sotto_form *f)
{
    return f->given[OPTION_ONE_HOT] ? 0 : number_or(f, OPTION_CLIP, 1);
}

static void fill_gaussian(sotto_question *q, const sotto_form *f)
{
    q->of.gaussian.contribution = contribution(f);
    q->of.gaussian.clip = clip(f);
    q->of.gaussian.sigma = f->number[OPTION_SIGMA];
    q->of.gaussian.releases = count_or(f, OPTION_RELEASES, 1);
}

static void fill_sampled(sotto_question *q, const sotto_form *f)
{
    q->of.sampled.contribution = contribution(f);
    q->of.sampled.clip = clip(f);
    q->of.sampled.sigma = f->number[OPTION_SIGMA];
    q->of.sampled.rate = f->number[OPTION_RATE];
    q->of.sampled.rounds = count_or(f, OPTION_ROUNDS, 1);
}

static void fill_allocated(sotto_question *q, const sotto_form *f)
{
    q->of.allocated.contribution = contribution(f);
    q->of.allocated.clip = clip(f);
    q->of.allocated.sigma = f->number[OPTION_SIGMA];
    q->of.allocated.slots = count_or(f, OPTION_SLOTS, 1);
}

static void fill_discrete(sotto_question *q, const sotto_form *f)
{
    q->of.discrete.sigma = f->number[OPTION_SIGMA];
    q->of.discrete.sensitivity = count_or(f, OPTION_SENSITIVITY, 1);
}

static void fill_shares(sotto_question *q, const sotto_form *f)
{
    q->of.shares.sigma = f->number[OPTION_SIGMA];
    q->of.shares.sensitivity = count_or(f, OPTION_SENSITIVITY, 1);
    q->of.shares.dimension = count_or(f, OPTION_DIMENSION, 1);
    q->of.shares.cohort = count_or(f, OPTION_COHORT, 0);
}

static void fill_local(sotto_question *q, const sotto_form *f)
{
    q->of.local.local_epsilon = f->number[OPTION_LOCAL_EPSILON];
    q->of.local.cohort = count_or(f, OPTION_COHORT, 0);
    q->of.local.rate = number_or(f, OPTION_RATE, 1);
}

static void fill_check_in(sotto_question *q, const sotto_form *f)
{
    q->of.check_in.variant = (sotto_check_in_variant)f->number[OPTION_VARIANT];
    q->of.check_in.local_epsilon = f->number[OPTION_LOCAL_EPSILON];
    q->of.check_in.window = count_or(f, OPTION_WINDOW, 1);
    q->of.check_in.cohort = count_or(f, OPTION_COHORT, 0);
    q->of.check_in.probability = number_or(f, OPTION_PROBABILITY, 1);
}

static void fill_donation(sotto_question *q, const sotto_form *f)
{
    q->of.donation.epsilon = f->number[OPTION_RELEASE_EPSILON];
    q->of.donation.delta_each = f->number[OPTION_DELTA_EACH];
    q->of.donation.slots = count_or(f, OPTION_SLOTS, 1);
}

static void fill_pure(sotto_question *q, const sotto_form *f)
{
    q->of.pure.epsilon = f->number[OPTION_RELEASE_EPSILON];
    q->of.pure.rounds = count_or(f, OPTION_ROUNDS, 1);
}

const sotto_form_mechanism sotto_form_mechanisms[] = {
    {"", SOTTO_MECHANISM_GAUSSIAN, BIT(OPTION_SIGMA), BIT(OPTION_RELEASES) | CONTRIBUTION,
     "noise on a sum, every participation seen", fill_gaussian},
    {"sgm", SOTTO_MECHANISM_SAMPLED_GAUSSIAN,
     BIT(OPTION_SIGMA) | BIT(OPTION_RATE) | BIT(OPTION_ROUNDS), CONTRIBUTION,
     "noise on sums over secret Poisson samples", fill_sampled},
    {"", SOTTO_MECHANISM_COUNTED_GAUSSIAN,
     BIT(OPTION_SIGMA) | BIT(OPTION_RATE) | BIT(OPTION_ROUNDS), CONTRIBUTION,
     "the same where everybody sees who was sampled", fill_sampled},
    {"allocation", SOTTO_MECHANISM_ALLOCATED_GAUSSIAN, BIT(OPTION_SIGMA) | BIT(OPTION_SLOTS),
     CONTRIBUTION, "one release, in a slot chosen at random and in secret", fill_allocated},
    {"", SOTTO_MECHANISM_DISCRETE_GAUSSIAN, BIT(OPTION_SIGMA) | BIT(OPTION_SENSITIVITY), 0,
     "integer noise on an integer sum", fill_discrete},
    {"", SOTTO_MECHANISM_NOISE_SHARES,
     BIT(OPTION_SIGMA) | BIT(OPTION_SENSITIVITY) | BIT(OPTION_DIMENSION) | BIT(OPTION_COHORT), 0,
     "each device adds integer noise of its own", fill_shares},
    {"", SOTTO_MECHANISM_SHUFFLED, BIT(OPTION_LOCAL_EPSILON) | BIT(OPTION_COHORT), BIT(OPTION_RATE),
     "any local randomizer, reports added up or shuffled", fill_local},
    {"rappor", SOTTO_MECHANISM_SYMMETRIC_ONE_HOT, BIT(OPTION_LOCAL_EPSILON) | BIT(OPTION_COHORT),
     BIT(OPTION_RATE), "every bit of a one-hot report flipped alike, added up", fill_local},
    {"", SOTTO_MECHANISM_BINARY_RESPONSE, BIT(OPTION_LOCAL_EPSILON) | BIT(OPTION_COHORT),
     BIT(OPTION_RATE), "randomized response of one bit, added up", fill_local},
    {"", SOTTO_MECHANISM_CHECK_IN,
     BIT(OPTION_VARIANT) | BIT(OPTION_LOCAL_EPSILON) | BIT(OPTION_WINDOW),
     BIT(OPTION_COHORT) | BIT(OPTION_PROBABILITY), "a local randomizer at a random step",
     fill_check_in},
    {"", SOTTO_MECHANISM_DONATION,
     BIT(OPTION_RELEASE_EPSILON) | BIT(OPTION_DELTA_EACH) | BIT(OPTION_SLOTS), 0,
     "a release at a random one of several times", fill_donation},
    {"", SOTTO_MECHANISM_PURE, BIT(OPTION_RELEASE_EPSILON) | BIT(OPTION_ROUNDS), 0,
     "many releases, each epsilon-DP", fill_pure},
};

const size_t sotto_form_mechanism_count =
    sizeof sotto_form_mechanisms / sizeof sotto_form_mechanisms[0];
