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
    q->of.check_in.repetitions = count_or(f, OPTION_REPETITIONS, 1);
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

static void fill_laplace(sotto_question *q, const sotto_form *f)
{
    q->of.laplace.contribution = contribution(f);
    q->of.laplace.clip = clip(f);
    q->of.laplace.scale = f->number[OPTION_SCALE];
    q->of.laplace.releases = count_or(f, OPTION_RELEASES, 1);
}

static void fill_geometric(sotto_question *q, const sotto_form *f)
{
    q->of.geometric.scale = f->number[OPTION_SCALE];
    q->of.geometric.sensitivity = count_or(f, OPTION_SENSITIVITY, 1);
    q->of.geometric.releases = count_or(f, OPTION_RELEASES, 1);
}

#define LOCAL BIT(OPTION_LOCAL_EPSILON) | BIT(OPTION_COHORT)
#define RANGE(option, low, high)                                                                   \
    {                                                                                              \
        OPTION_##option, low, high, false                                                          \
    }
#define CLIPS(low, high)                                                                           \
    {                                                                                              \
        OPTION_SIGMA, low, high, true                                                              \
    }

/* Ranges are those that the accountant's own checks have (src/account): a test asks at both ends of each. */
const sotto_form_mechanism sotto_form_mechanisms[] = {
    {"",
     SOTTO_MECHANISM_GAUSSIAN,
     BIT(OPTION_SIGMA),
     BIT(OPTION_RELEASES) | CONTRIBUTION,
     "noise on a sum, every participation seen",
     fill_gaussian,
     {{0}}},
    {"sgm",
     SOTTO_MECHANISM_SAMPLED_GAUSSIAN,
     BIT(OPTION_SIGMA) | BIT(OPTION_RATE) | BIT(OPTION_ROUNDS),
     CONTRIBUTION,
     "noise on sums over secret Poisson samples (DP-SGD)",
     fill_sampled,
     {CLIPS(0.1, 1e6), RANGE(RATE, 1e-9, 1)}},
    {"",
     SOTTO_MECHANISM_COUNTED_GAUSSIAN,
     BIT(OPTION_SIGMA) | BIT(OPTION_RATE) | BIT(OPTION_ROUNDS),
     CONTRIBUTION,
     "the same where everybody sees who was sampled",
     fill_sampled,
     {{0}}},
    {"allocation",
     SOTTO_MECHANISM_ALLOCATED_GAUSSIAN,
     BIT(OPTION_SIGMA) | BIT(OPTION_SLOTS),
     CONTRIBUTION,
     "one release, in a slot chosen at random and in secret",
     fill_allocated,
     {CLIPS(0.1, 1000)}},
    {"",
     SOTTO_MECHANISM_DISCRETE_GAUSSIAN,
     BIT(OPTION_SIGMA) | BIT(OPTION_SENSITIVITY),
     0,
     "integer noise on an integer sum; --sensitivity at most 1000 times --sigma",
     fill_discrete,
     {RANGE(SIGMA, 0.05, 1e9)}},
    {"",
     SOTTO_MECHANISM_NOISE_SHARES,
     BIT(OPTION_SIGMA) | BIT(OPTION_SENSITIVITY) | BIT(OPTION_DIMENSION) | BIT(OPTION_COHORT),
     0,
     "each device adds integer noise of its own",
     fill_shares,
     {RANGE(SIGMA, 0.5, 1e9)}},
    {"",
     SOTTO_MECHANISM_SHUFFLED,
     LOCAL,
     BIT(OPTION_RATE),
     "any local randomizer, reports added up or shuffled",
     fill_local,
     {{0}}},
    {"rappor",
     SOTTO_MECHANISM_SYMMETRIC_ONE_HOT,
     LOCAL,
     BIT(OPTION_RATE),
     "every bit of a one-hot report flipped alike, added up",
     fill_local,
     {RANGE(LOCAL_EPSILON, 1e-6, 12)}},
    {"",
     SOTTO_MECHANISM_BINARY_RESPONSE,
     LOCAL,
     BIT(OPTION_RATE),
     "randomized response of one bit, added up",
     fill_local,
     {RANGE(LOCAL_EPSILON, 1e-6, 12)}},
    {"",
     SOTTO_MECHANISM_CHECK_IN,
     BIT(OPTION_VARIANT) | BIT(OPTION_LOCAL_EPSILON) | BIT(OPTION_WINDOW),
     BIT(OPTION_COHORT) | BIT(OPTION_PROBABILITY) | BIT(OPTION_REPETITIONS),
     "a local randomizer at a random step (averaged needs --cohort, fixed takes --probability).",
     fill_check_in,
     {RANGE(LOCAL_EPSILON, 1e-9, 12)}},
    {"",
     SOTTO_MECHANISM_DONATION,
     BIT(OPTION_RELEASE_EPSILON) | BIT(OPTION_DELTA_EACH) | BIT(OPTION_SLOTS),
     0,
     "a release at a random one of several times",
     fill_donation,
     {{0}}},
    {"",
     SOTTO_MECHANISM_PURE,
     BIT(OPTION_RELEASE_EPSILON) | BIT(OPTION_ROUNDS),
     0,
     "many releases, each epsilon-DP",
     fill_pure,
     {RANGE(ROUNDS, 1, 1e9)}},
    {"",
     SOTTO_MECHANISM_LAPLACE,
     BIT(OPTION_SCALE),
     BIT(OPTION_RELEASES) | CONTRIBUTION,
     "Laplace noise on a sum; --scale 0.01 to 1e9 times one person's effect",
     fill_laplace,
     {RANGE(RELEASES, 1, 1e9)}},
    {"",
     SOTTO_MECHANISM_GEOMETRIC,
     BIT(OPTION_SCALE) | BIT(OPTION_SENSITIVITY),
     BIT(OPTION_RELEASES),
     "the same on integers; --scale 0.01 to 1e9 times --sensitivity",
     fill_geometric,
     {RANGE(RELEASES, 1, 1e9)}},
};

const size_t sotto_form_mechanism_count =
    sizeof sotto_form_mechanisms / sizeof sotto_form_mechanisms[0];
