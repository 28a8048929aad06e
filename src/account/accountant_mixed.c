/* Mechanisms of different kinds on the same people: each way that holds is tried, and the smallest answer is the claim.
 *
 * Pure releases and Gaussians have dominating pairs, whose product is inverted. Whatever has a Renyi divergence adds up
 * order by order. Of the rest only (eps, delta) is known: it is eps-DP but for an event of probability delta. So it
 * enters either sum as a pure release, and its delta is taken off the whole. */
#include "account/accountant.h"

#include "account/gauss/gaussian.h"
#include "account/gauss/rdp.h"
#include "account/local/compose_mixed.h"
#include "account/numeric/parameter.h"

/* One question as the sums see it. */
typedef struct part {
    const sotto_question *question;
    sotto_divergence divergence; /* NULL: only (eps, delta) is known */
    bool dominated;              /* by a binary law and a shift, as `binary` and `mu_squared` say */
    sotto_binary_part binary;
    double mu_squared;
    sotto_discrete_sum shares;
    sotto_sgm *sampled;
    double rate, rounds;
} part;

typedef struct mixture {
    size_t count;
    part parts[SOTTO_SGM_MOST_PARTS];
} mixture;

/* ---- what is known of each kind -------------------------------------------------------------------- */

static double pure_divergence(const void *self, double alpha)
{
    const part *p = self;
    double a = p->binary.eps * (alpha - 0.5), b = p->binary.eps / 2;
    /* log cosh a - log cosh b = a - b + log (1 + e^-2a) - log (1 + e^-2b) */
    double moment = (a - b) + log1p(exp(-2 * a)) - log1p(exp(-2 * b));
    double most = p->binary.eps * fmin(1, alpha * p->binary.eps / 2);

    /* Where the logarithms cancel, eps^2 alpha / 2 and eps are bounds of their own (Bun and Steinke 2016). */
    return p->binary.count *
           sotto_round_up(fmin(most, (moment + 4e-16 * (2 + a)) / (alpha - 1)), 8);
}

static double shift_divergence(const void *self, double alpha)
{
    const part *p = self;

    return sotto_round_up(alpha * p->mu_squared / 2, 2);
}

static double shares_divergence(const void *self, double alpha)
{
    return sotto_discrete_sum_divergence(&((const part *)self)->shares, alpha);
}

/* Everybody sees how often: the mean over the binomial count of e^((alpha-1) alpha mu^2/2 count). */
static double counted_divergence(const void *self, double alpha)
{
    const part *p = self;
    double each = expm1(alpha * (alpha - 1) * p->mu_squared / 2);

    if (!(each < 1e300))
        return sotto_round_up(p->rounds * alpha * p->mu_squared / 2, 2);
    return sotto_round_up(p->rounds * log1p(p->rate * each) / (alpha - 1), 16);
}

static double sampled_divergence(const void *self, double alpha)
{
    const part *p = self;
    sotto_bound each;

    if (sotto_sgm_renyi(&each, p->sampled, alpha, SOTTO_EITHER, NULL) != SOTTO_OK)
        return INFINITY;
    return sotto_round_up(p->rounds * each.high, 1);
}

static sotto_status open_gaussian(part *p, sotto_err *err)
{
    const sotto_question *q = p->question;
    double distance = 0;
    sotto_bound mu;

    SOTTO_TRY(sotto_contribution_distance(&distance, q->of.gaussian.contribution,
                                          q->of.gaussian.clip, q->adjacency, err));
    SOTTO_TRY(sotto_check_count("releases", (double)q->of.gaussian.releases, 1, 1e12, err));
    SOTTO_TRY(sotto_gaussian_mu(&mu, q->of.gaussian.sigma, distance,
                                (double)q->of.gaussian.releases, err));
    p->mu_squared = sotto_round_up(mu.high * mu.high, 1);
    p->dominated = true;
    p->divergence = shift_divergence;
    return SOTTO_OK;
}

static sotto_status open_sampled(part *p, sotto_err *err)
{
    const sotto_question *q = p->question;
    double distance = 0;
    sotto_bound mu;

    SOTTO_TRY(sotto_contribution_distance(&distance, q->of.sampled.contribution, q->of.sampled.clip,
                                          q->adjacency, err));
    SOTTO_TRY(sotto_check_count("rounds", (double)q->of.sampled.rounds, 1, 1e12, err));
    SOTTO_TRY(sotto_check_range("rate", q->of.sampled.rate, 1e-9, 1, err));
    SOTTO_TRY(sotto_gaussian_mu(&mu, q->of.sampled.sigma, distance, 1, err));
    p->mu_squared = sotto_round_up(mu.high * mu.high, 1);
    p->rate = q->of.sampled.rate;
    p->rounds = (double)q->of.sampled.rounds;
    if (q->mechanism == SOTTO_MECHANISM_COUNTED_GAUSSIAN) {
        p->divergence = counted_divergence;
        return SOTTO_OK;
    }
    p->divergence = sampled_divergence;
    return sotto_sgm_new(&p->sampled, p->rate, sotto_round_down(1 / mu.high, 1), err);
}

static sotto_status open_discrete(part *p, sotto_err *err)
{
    const sotto_question *q = p->question;
    double rho = 0;

    SOTTO_TRY(sotto_zcdp_of_gaussian(&rho, q->of.discrete.sigma, (double)q->of.discrete.sensitivity,
                                     err));
    p->mu_squared = 2 * rho; /* a bound on every order, but no shift */
    p->divergence = shift_divergence;
    return SOTTO_OK;
}

static sotto_status open_pure(part *p, sotto_err *err)
{
    const sotto_question *q = p->question;

    SOTTO_TRY(sotto_check_range("epsilon", q->of.pure.epsilon, 1e-9, 100, err));
    SOTTO_TRY(sotto_check_count("rounds", (double)q->of.pure.rounds, 1, 1e9, err));
    p->binary = (sotto_binary_part){q->of.pure.epsilon, (double)q->of.pure.rounds, 0};
    p->dominated = true;
    p->divergence = pure_divergence;
    return SOTTO_OK;
}

static sotto_status open_part(part *p, const sotto_question *q, sotto_answer *out, sotto_err *err)
{
    sotto_case checked;

    *p = (part){.question = q};
    SOTTO_TRY(sotto_case_open(&checked, sotto_mechanism_find(q->mechanism), q, err));
    if (checked.honest > 0 && (out->honest == 0 || checked.honest < out->honest))
        out->honest = checked.honest;
    switch (q->mechanism) {
    case SOTTO_MECHANISM_GAUSSIAN:
        return open_gaussian(p, err);
    case SOTTO_MECHANISM_SAMPLED_GAUSSIAN:
    case SOTTO_MECHANISM_COUNTED_GAUSSIAN:
        return open_sampled(p, err);
    case SOTTO_MECHANISM_DISCRETE_GAUSSIAN:
        return open_discrete(p, err);
    case SOTTO_MECHANISM_NOISE_SHARES:
        p->divergence = shares_divergence;
        return sotto_shares_open(&p->shares, &checked, err);
    case SOTTO_MECHANISM_PURE:
        return open_pure(p, err);
    case SOTTO_MECHANISM_LAPLACE:
    case SOTTO_MECHANISM_GEOMETRIC:
        p->dominated = true;
        p->divergence = pure_divergence; /* each is eps-DP, which costs at least as much */
        return sotto_laplace_part(&p->binary, q, err);
    case SOTTO_MECHANISM_ALLOCATED_GAUSSIAN:
    case SOTTO_MECHANISM_SHUFFLED:
    case SOTTO_MECHANISM_SYMMETRIC_ONE_HOT:
    case SOTTO_MECHANISM_BINARY_RESPONSE:
    case SOTTO_MECHANISM_CHECK_IN:
    case SOTTO_MECHANISM_DONATION:
        break;
    }
    return SOTTO_OK;
}

/* ---- delta for those of which only (eps, delta) is known ----------------------------------------------- */

/* Whether the part has to be priced at a delta of its own in this sum. */
typedef bool (*is_priced)(const part *p);

static bool has_no_pair(const part *p)
{
    return !p->dominated;
}

static bool has_no_divergence(const part *p)
{
    return p->divergence == NULL;
}

/* Gives `share` of delta to the priced parts, equally, and makes pure releases of them; *log_rest is what is left. */
static sotto_status price(mixture *m, is_priced priced, double share, double delta,
                          double *log_rest, sotto_err *err)
{
    double many = 0, spent = 0;

    for (size_t i = 0; i < m->count; i++)
        many += priced(&m->parts[i]) ? 1 : 0;
    double each = many > 0 ? sotto_round_down(share * delta / many, 2) : 0;

    for (size_t i = 0; i < m->count; i++) {
        part *p = &m->parts[i];
        sotto_question q = *p->question;
        sotto_answer one;

        if (!priced(p))
            continue;
        q.delta = each;
        SOTTO_TRY(sotto_privacy_epsilon(&one, &q, NULL, err));
        p->binary = (sotto_binary_part){fmax(one.high, 1e-9), 1, 0};
        spent = sotto_round_up(spent + each, 1);
    }
    return sotto_log_delta_of(log_rest, sotto_round_down(delta - spent, 1), err);
}

/* ---- the sums ------------------------------------------------------------------------------------------ */

static sotto_status by_pairs(sotto_bound *out, mixture *m, double share, double delta,
                             sotto_err *err)
{
    sotto_binary_part binary[SOTTO_MIXED_MOST];
    double mu_squared = 0, log_rest = 0;
    size_t kinds = 0;

    SOTTO_TRY(price(m, has_no_pair, share, delta, &log_rest, err));
    for (size_t i = 0; i < m->count; i++) {
        const part *p = &m->parts[i];

        if (p->binary.count > 0)
            binary[kinds++] = p->binary;
        else
            mu_squared = sotto_round_up(mu_squared + p->mu_squared, 1);
    }
    return sotto_compose_mixed_epsilon(out, binary, kinds, mu_squared, log_rest, err);
}

static double sum_of_divergences(const void *self, double alpha)
{
    const mixture *m = self;
    double sum = 0;

    for (size_t i = 0; i < m->count; i++) {
        const part *p = &m->parts[i];

        sum = sotto_round_up(
            sum + (p->divergence != NULL ? p->divergence : pure_divergence)(p, alpha), 1);
    }
    return sum;
}

static sotto_status by_orders(sotto_bound *out, mixture *m, double share, double delta,
                              sotto_err *err)
{
    double log_rest = 0;

    SOTTO_TRY(price(m, has_no_divergence, share, delta, &log_rest, err));
    return sotto_rdp_minimise(out, NULL, sum_of_divergences, m, 1.001, 1e5, log_rest, err);
}

static bool any(const mixture *m, is_priced priced)
{
    for (size_t i = 0; i < m->count; i++)
        if (priced(&m->parts[i]))
            return true;
    return false;
}

/* A way that does not reach these parameters is no refusal as long as another does. */
static void try_all(sotto_answer *out, mixture *m, double delta)
{
    static const double shares[] = {0.5, 0.1};

    for (size_t i = 0; i < 2; i++) {
        sotto_bound found;

        if ((i == 0 || any(m, has_no_divergence)) &&
            by_orders(&found, m, shares[i], delta, NULL) == SOTTO_OK && found.high < out->high)
            (void)sotto_answer_set(out, (sotto_bound){0, found.high}, false,
                                   "Renyi divergences of all parts added up, parts without one as "
                                   "pure releases at a delta of their own",
                                   "best Renyi order");
        for (size_t k = 0; k < m->count; k++) /* set anew for the other sum */
            if (!m->parts[k].dominated)
                m->parts[k].binary = (sotto_binary_part){0, 0, 0};
        if ((i == 0 || any(m, has_no_pair)) &&
            by_pairs(&found, m, shares[i], delta, NULL) == SOTTO_OK && found.high < out->high)
            (void)sotto_answer_set(
                out, any(m, has_no_pair) ? (sotto_bound){0, found.high} : found,
                !any(m, has_no_pair),
                "product of the parts' dominating pairs: randomized response, Laplace and Gaussian "
                "shifts",
                "contour inversion");
    }
}

sotto_status sotto_compose_mixed(sotto_answer *out, const sotto_question *questions, size_t count,
                                 sotto_err *err)
{
    mixture m = {.count = count};
    sotto_status status = SOTTO_OK;
    double log_delta = 0;

    SOTTO_TRY(sotto_log_delta_of(&log_delta, questions[0].delta, err));
    for (size_t i = 0; i < count && status == SOTTO_OK; i++)
        status = open_part(&m.parts[i], &questions[i], out, err);
    if (status == SOTTO_OK)
        try_all(out, &m, questions[0].delta);
    for (size_t i = 0; i < count; i++)
        sotto_sgm_free(m.parts[i].sampled);
    return status;
}
