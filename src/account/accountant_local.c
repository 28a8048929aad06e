/* Questions about local randomizers: what a batch of reports, a random moment or repetition makes of their
 * epsilon. */
#include "account/accountant.h"

#include "account/local/checkin.h"
#include "account/local/clone.h"
#include "account/local/compose_pure.h"
#include "account/local/onehot.h"
#include "account/local/sampling.h"
#include "account/numeric/parameter.h"

/* Dishonest people were subtracted before, so all of these count as honest. */
static sotto_crowd honest_crowd(const sotto_case *c)
{
    return (sotto_crowd){.n_total = (double)c->honest, .dishonest_fraction = 0};
}

/* ---- reports only seen added up -------------------------------------------------------------------- */

static uint64_t local_cohort(const sotto_question *q)
{
    return q->of.local.cohort;
}

/* Of a secret sample at this rate; 1: of everybody. */
static sotto_status law_epsilon(sotto_bound *out, const sotto_clone_law *law, const sotto_case *c,
                                sotto_err *err)
{
    sotto_crowd crowd = honest_crowd(c);
    double rate = c->question->of.local.rate;

    if (rate < 1)
        return sotto_sampled_clone_eps(out, law, &crowd, rate, c->log_delta, err);
    return sotto_clone_eps(out, law, &crowd, c->log_delta, err);
}

/* Where the randomizer is known, two bounds hold: its own (the largest over its laws), and the one for every
 * randomizer with its local epsilon. The smaller one is claimed. */
static sotto_status own_laws(sotto_bound *eps, const sotto_case *c, sotto_err *err)
{
    sotto_bound own = {0, 0};

    for (size_t i = 0; i < c->law->owns; i++) {
        sotto_bound one;

        SOTTO_TRY(law_epsilon(&one, &c->law->own[i], c, err));
        own = (sotto_bound){fmax(own.low, one.low), fmax(own.high, one.high)};
    }
    *eps = (sotto_bound){fmin(eps->low, own.low), fmin(eps->high, own.high)};
    return SOTTO_OK;
}

static sotto_status shuffled_epsilon(sotto_answer *out, const sotto_case *c, sotto_err *err)
{
    const sotto_question *q = c->question;
    const bool known = c->law != NULL && c->law->owns > 0;
    sotto_clone_law any;
    sotto_bound eps;

    SOTTO_TRY(sotto_check_range("rate", q->of.local.rate, 1e-12, 1, err));
    SOTTO_TRY(sotto_check_range("local_epsilon", q->of.local.local_epsilon, 1e-9,
                                SOTTO_CLONE_MAX_EPS0, err));
    SOTTO_TRY(sotto_clone_law_generic(&any, q->of.local.local_epsilon, err));
    SOTTO_TRY(law_epsilon(&eps, &any, c, err));
    if (known)
        SOTTO_TRY(own_laws(&eps, c, err));
    return sotto_answer_set(
        out, eps, false,
        q->of.local.rate < 1 ? "amplification by shuffling (Feldman et al. 2021) of a secret "
                               "sample (Talwar et al. 2024, Theorem 4)"
        : known ? "amplification by shuffling (Feldman et al. 2021), the generic bound or this "
                  "randomizer's own, whichever is smaller"
                : "amplification by shuffling (Feldman et al. 2021)",
        "exact sum over how many other reports look like this one");
}

static double local_alone(const sotto_question *q)
{
    return q->of.local.local_epsilon;
}

const sotto_mechanism_entry sotto_entry_shuffled = {
    .mechanism = SOTTO_MECHANISM_SHUFFLED,
    .name = "a shuffled local randomizer",
    .adjacencies = 1U << SOTTO_ADJACENCY_REPLACEMENT,
    .cover = SOTTO_COVER_SUM,
    .epsilon = shuffled_epsilon,
    .cohort = local_cohort,
    .alone = local_alone,
    .no_gain = SOTTO_NO_GAIN_BY_SHUFFLING,
};

/* One bit, whatever the others hold: each of their bits is 0 or 1 with at least the chance of a flip. */
static sotto_status one_bit(sotto_bound *out, double eps0, const sotto_crowd *crowd,
                            double log_delta, sotto_err *err)
{
    sotto_clone_law law;

    SOTTO_TRY(sotto_clone_law_kary(&law, eps0, 2, err));
    return sotto_clone_eps(out, &law, crowd, log_delta, err);
}

/* Two bits, whatever the others hold: both composed, or the whole report as one that is 2 eps0-DP. */
static sotto_status two_bits(sotto_bound *out, double eps0, const sotto_crowd *crowd,
                             double log_delta, sotto_err *err)
{
    double half = sotto_round_down(log_delta - log(2.0), 4);
    sotto_clone_law law;
    sotto_bound bit, whole;

    SOTTO_TRY(one_bit(&bit, eps0, crowd, half, err));
    SOTTO_TRY(sotto_clone_law_generic(&law, 2 * eps0, err));
    SOTTO_TRY(sotto_clone_eps(&whole, &law, crowd, log_delta, err));
    *out = (sotto_bound){0, fmin(2 * bit.high, whole.high)};
    return SOTTO_OK;
}

/* high holds whatever the others' data are; low is what it costs when they are all equal. */
static sotto_status any_data(sotto_bound *out, sotto_onehot_adjacency adjacency,
                             const sotto_case *c, double log_delta, sotto_err *err)
{
    double eps0 = c->question->of.local.local_epsilon;
    sotto_crowd crowd = honest_crowd(c);
    sotto_bound equal;

    SOTTO_TRY(sotto_check_range("local_epsilon", eps0, 1e-6, SOTTO_ONEHOT_MAX_EPS0, err));
    SOTTO_TRY(sotto_onehot_eps(&equal, adjacency, eps0, &crowd, log_delta, err));
    SOTTO_TRY((adjacency == SOTTO_ONEHOT_REPLACEMENT ? two_bits : one_bit)(out, eps0, &crowd,
                                                                           log_delta, err));
    out->low = equal.low;
    return SOTTO_OK;
}

/* A fixed number of reports from a secret sample: (eps, delta) becomes (log(1 + r (e^eps - 1)), r delta) under
 * replacement. Leaving one person out means that another takes the place. */
static sotto_status bits_epsilon(sotto_answer *out, const sotto_case *c,
                                 sotto_onehot_adjacency adjacency, const char *theorem,
                                 sotto_err *err)
{
    double rate = c->question->of.local.rate;
    sotto_bound eps;

    SOTTO_TRY(sotto_check_range("rate", rate, 1e-12, 1, err));
    if (rate == 1) {
        SOTTO_TRY(any_data(&eps, adjacency, c, c->log_delta, err));
        return sotto_answer_set(out, eps, true, theorem,
                                "randomizer-specific bound, whatever values the others hold; "
                                "at least: exact where all others hold the same value");
    }
    if (c->question->adjacency != SOTTO_ADJACENCY_REPLACEMENT)
        return sotto_fail(err, SOTTO_DENIED,
                          "rate: a sampled cohort is amplified for replacement only");
    double inner = sotto_round_down(c->log_delta - log(rate), 4);
    inner = inner < -0x1p-40 ? inner : -0x1p-40;
    SOTTO_TRY(any_data(&eps, adjacency, c, inner, err));
    SOTTO_TRY(sotto_sampled_eps(&eps, eps, rate, err));
    eps.low = 0;
    return sotto_answer_set(out, eps, false, theorem,
                            "randomizer-specific bound, of a secret sample (Talwar et al. 2024, "
                            "Theorem 4)");
}

static sotto_status one_hot_epsilon(sotto_answer *out, const sotto_case *c, sotto_err *err)
{
    bool replaces = c->question->adjacency == SOTTO_ADJACENCY_REPLACEMENT;

    return bits_epsilon(
        out, c, replaces ? SOTTO_ONEHOT_REPLACEMENT : SOTTO_ONEHOT_DELETION,
        replaces ? "symmetric one-hot under aggregation, two bits (McMillan et al. 2022, "
                   "Appendix C.1)"
                 : "symmetric one-hot under aggregation, one bit (McMillan et al. 2022, "
                   "Appendix C.1)",
        err);
}

/* Another value in place of one's own changes two bits. */
static double one_hot_alone(const sotto_question *q)
{
    return (q->adjacency == SOTTO_ADJACENCY_REPLACEMENT ? 2 : 1) * q->of.local.local_epsilon;
}

const sotto_mechanism_entry sotto_entry_one_hot = {
    .mechanism = SOTTO_MECHANISM_SYMMETRIC_ONE_HOT,
    .name = "symmetric one-hot under aggregation",
    .adjacencies = 1U << SOTTO_ADJACENCY_REPLACEMENT | 1U << SOTTO_ADJACENCY_DELETION,
    .cover = SOTTO_COVER_SUM,
    .epsilon = one_hot_epsilon,
    .cohort = local_cohort,
    .alone = one_hot_alone,
    .no_gain = SOTTO_NO_GAIN_BY_SHUFFLING,
};

/* Replacing a single bit flips that bit: the law of one bit of the one-hot form. */
static sotto_status binary_epsilon(sotto_answer *out, const sotto_case *c, sotto_err *err)
{
    return bits_epsilon(out, c, SOTTO_ONEHOT_DELETION,
                        "binary randomized response under aggregation", err);
}

const sotto_mechanism_entry sotto_entry_binary = {
    .mechanism = SOTTO_MECHANISM_BINARY_RESPONSE,
    .name = "binary randomized response under aggregation",
    .adjacencies = 1U << SOTTO_ADJACENCY_REPLACEMENT,
    .cover = SOTTO_COVER_SUM,
    .epsilon = binary_epsilon,
    .cohort = local_cohort,
    .alone = local_alone,
    .no_gain = SOTTO_NO_GAIN_BY_SHUFFLING,
};

/* ---- a random moment -------------------------------------------------------------------------------- */

static sotto_status check_in_fixed(sotto_answer *out, const sotto_case *c, sotto_err *err)
{
    const sotto_question *q = c->question;
    double eps0 = q->of.check_in.local_epsilon, m = (double)q->of.check_in.window;
    sotto_bound eps;

    SOTTO_TRY(sotto_checkin_fixed_window_optimal(&eps, eps0, m, q->of.check_in.probability,
                                                 c->log_delta, err));
    return sotto_answer_set(
        out, sotto_checkin_promise(eps, eps0), false,
        "random check-ins into a fixed window (Balle et al. 2020, proof of Theorem 3.2)",
        "its steps composed optimally, at most the local epsilon");
}

/* Theorems 4.1 and 4.3 are about devices that check in for certain. */
static sotto_status check_always(const sotto_question *q, sotto_err *err)
{
    if (q->of.check_in.probability != 1)
        return sotto_fail(err, SOTTO_DENIED,
                          "probability: only the fixed window has a theorem on a probability below "
                          "1");
    return SOTTO_OK;
}

static sotto_status check_in_averaged(sotto_answer *out, const sotto_case *c, sotto_err *err)
{
    const sotto_question *q = c->question;

    SOTTO_TRY(check_always(q, err));
    return sotto_check_in_averaged(out, q->of.check_in.local_epsilon, c->honest,
                                   q->of.check_in.window, c->log_delta, err);
}

static sotto_status check_in_sliding(sotto_answer *out, const sotto_case *c, sotto_err *err)
{
    const sotto_question *q = c->question;
    double eps0 = q->of.check_in.local_epsilon, m = (double)q->of.check_in.window;
    sotto_bound eps;

    SOTTO_TRY(check_always(q, err));
    SOTTO_TRY(sotto_checkin_sliding_window(&eps, eps0, m, c->log_delta, err));
    return sotto_answer_set(
        out, sotto_checkin_promise(eps, eps0), false,
        "random check-ins into a sliding window (Balle et al. 2020, Theorem 4.3)",
        "closed form, at most the local epsilon");
}

/* A client may check in once in every window: without any gain that is as many local epsilons. */
static sotto_status check_in_repeated(sotto_answer *out, const sotto_case *c, sotto_err *err)
{
    static const sotto_checkin_form forms[] = {[SOTTO_CHECK_IN_FIXED] = SOTTO_CHECKIN_ONE_A_SLOT,
                                               [SOTTO_CHECK_IN_AVERAGED] =
                                                   SOTTO_CHECKIN_ALL_OF_A_SLOT,
                                               [SOTTO_CHECK_IN_SLIDING] = SOTTO_CHECKIN_OWN_WINDOW};
    static const char *const theorems[] = {
        [SOTTO_CHECK_IN_FIXED] =
            "repeated random check-ins into a fixed window (Balle et al. 2020, "
            "Corollary 3.3)",
        [SOTTO_CHECK_IN_AVERAGED] = "repeated random check-ins with averaged updates (Balle et al. "
                                    "2020, Theorem 4.1, composed)",
        [SOTTO_CHECK_IN_SLIDING] = "repeated random check-ins into a sliding window (Balle et al. "
                                   "2020, Theorem 4.3, composed)"};
    const sotto_question *q = c->question;
    const double r = (double)q->of.check_in.repetitions;
    const sotto_checkin check_in = {.form = forms[q->of.check_in.variant],
                                    .eps0 = q->of.check_in.local_epsilon,
                                    .m = (double)q->of.check_in.window,
                                    .p0 = q->of.check_in.probability,
                                    .crowd = honest_crowd(c)};
    sotto_bound eps;

    SOTTO_TRY(sotto_check_count("repetitions", r, 1, 1e9, err));
    if (q->of.check_in.variant != SOTTO_CHECK_IN_FIXED)
        SOTTO_TRY(check_always(q, err));
    SOTTO_TRY(sotto_checkin_repeated(&eps, &check_in, r, c->log_delta, err));
    eps.high = fmin(eps.high, sotto_round_up(r * check_in.eps0, 1));
    return sotto_answer_set(out, eps, false, theorems[q->of.check_in.variant],
                            "all steps in one composition, or whole windows composed optimally, "
                            "whichever is less");
}

static sotto_status check_in_epsilon(sotto_answer *out, const sotto_case *c, sotto_err *err)
{
    sotto_check_in_variant variant = c->question->of.check_in.variant;

    if (variant != SOTTO_CHECK_IN_AVERAGED && c->question->of.check_in.cohort != 0)
        return sotto_fail(err, SOTTO_DENIED,
                          "cohort: no theorem on fixed or sliding windows counts other people; "
                          "leave it out, or ask for the averaged variant");
    SOTTO_TRY(sotto_check_range("local_epsilon", c->question->of.check_in.local_epsilon, 1e-9,
                                SOTTO_CHECKIN_MAX_EPS0, err));
    SOTTO_TRY(sotto_check_count("window", (double)c->question->of.check_in.window, 1, 1e12, err));
    SOTTO_TRY(
        sotto_check_range("probability", c->question->of.check_in.probability, 1e-300, 1, err));
    if (variant >= SOTTO_CHECK_IN_FIXED && variant <= SOTTO_CHECK_IN_SLIDING &&
        c->question->of.check_in.repetitions > 1)
        return check_in_repeated(out, c, err);
    switch (variant) {
    case SOTTO_CHECK_IN_FIXED:
        return check_in_fixed(out, c, err);
    case SOTTO_CHECK_IN_AVERAGED:
        return check_in_averaged(out, c, err);
    case SOTTO_CHECK_IN_SLIDING:
        return check_in_sliding(out, c, err);
    }
    return sotto_fail(err, SOTTO_MALFORMED, "variant must be stated: fixed, averaged or sliding");
}

const sotto_mechanism_entry sotto_entry_check_in = SOTTO_CHECK_IN_ENTRY(check_in_epsilon);

/* Epsilon, and the delta of (slots + 1) delta_each that goes with it. */
static sotto_status donation(sotto_bound *eps, double *total, const sotto_question *q,
                             sotto_err *err)
{
    double m = (double)q->of.donation.slots, log_each = 0;

    SOTTO_TRY(sotto_check_range("epsilon", q->of.donation.epsilon, 1e-12, 100, err));
    SOTTO_TRY(sotto_check_range("delta_each", q->of.donation.delta_each, 1e-300, 0.5, err));
    SOTTO_TRY(sotto_check_count("slots", m, 1, 1e9, err));
    SOTTO_TRY(sotto_log_delta_of(&log_each, q->of.donation.delta_each, err));
    *total = sotto_round_up((m + 1) * q->of.donation.delta_each, 2);
    return sotto_donation_promise(eps, q->of.donation.epsilon, m, log_each, err);
}

static const char DONATION_THEOREM[] = "randomized donation time (Talwar et al. 2024, Appendix A)";

static sotto_status donation_epsilon(sotto_answer *out, const sotto_case *c, sotto_err *err)
{
    double total = 0;
    sotto_bound eps;

    SOTTO_TRY(donation(&eps, &total, c->question, err));
    if (total > c->question->delta)
        return sotto_fail(
            err, SOTTO_DENIED,
            "delta: %.6g is less than (slots + 1) delta_each = %.6g, which this costs",
            c->question->delta, total);
    return sotto_answer_set(out, eps, false, DONATION_THEOREM,
                            "closed form, at most the release's own epsilon");
}

static sotto_status donation_delta(sotto_answer *out, const sotto_case *c, double eps,
                                   sotto_err *err)
{
    double total = 0;
    sotto_bound own;

    SOTTO_TRY(donation(&own, &total, c->question, err));
    if (own.high > eps)
        return sotto_fail(err, SOTTO_DENIED, "epsilon: %.6g is less than the %.6g that this costs",
                          eps, own.high);
    return sotto_answer_set(out, (sotto_bound){0, total}, false, DONATION_THEOREM,
                            "(slots + 1) delta_each");
}

static double donation_alone(const sotto_question *q)
{
    return q->of.donation.epsilon;
}

const sotto_mechanism_entry sotto_entry_donation = {
    .mechanism = SOTTO_MECHANISM_DONATION,
    .name = "a random donation time",
    .adjacencies = 1U << SOTTO_ADJACENCY_ADD_REMOVE,
    .cover = SOTTO_COVER_MOMENT,
    .epsilon = donation_epsilon,
    .delta = donation_delta,
    .alone = donation_alone,
    .no_gain = SOTTO_NO_GAIN_BY_DONATION,
};

/* ---- repetition -------------------------------------------------------------------------------------- */

static const char PURE_THEOREM[] =
    "optimal composition of pure DP (Kairouz, Oh and Viswanath 2015, theorem 3.3)";

static sotto_status pure_epsilon(sotto_answer *out, const sotto_case *c, sotto_err *err)
{
    sotto_bound eps;

    SOTTO_TRY(sotto_check_count("rounds", (double)c->question->of.pure.rounds, 1, 1e9, err));
    SOTTO_TRY(sotto_compose_optimal_epsilon(&eps, c->question->of.pure.epsilon,
                                            (double)c->question->of.pure.rounds, c->log_delta,
                                            err));
    return sotto_answer_set(out, eps, true, PURE_THEOREM, "binomial sum and a root");
}

static sotto_status pure_added(sotto_answer *out, const sotto_case *c, sotto_err *err)
{
    const double rounds = (double)c->question->of.pure.rounds;
    const double eps = c->question->of.pure.epsilon * rounds;

    SOTTO_TRY(sotto_check_count("rounds", rounds, 1, 1e9, err));
    SOTTO_TRY(sotto_check_range("epsilon", c->question->of.pure.epsilon, 1e-9, 100, err));
    return sotto_answer_set(out, (sotto_bound){sotto_round_down(eps, 1), sotto_round_up(eps, 1)},
                            true, "basic composition of pure DP (Dwork et al. 2006)",
                            "epsilons added up");
}

const sotto_mechanism_entry sotto_entry_pure = {
    .mechanism = SOTTO_MECHANISM_PURE,
    .name = "repeated pure DP",
    .adjacencies = SOTTO_ANY_ADJACENCY,
    .cover = SOTTO_COVER_NONE,
    .epsilon = pure_epsilon,
    .pure = pure_added,
};
