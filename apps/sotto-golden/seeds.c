/* The numbers printed in the papers: each is known by (seed, item), its parameters are words of one column. */
#include "golden.h"

#include <string.h>

#include "account/gauss/gaussian.h"
#include "account/local/onehot.h"
#include "account/numeric/parameter.h"
#include "sgm.h"
#include "shuffle.h"
#include "support/number.h"
#include "symohe.h"

enum { LONGEST_WORD = 64 };

/* ---- the column `parameters`: "sigma=5.1 q=0.02 T=2500 delta=1e-8 (a remark)" ------------------- */

typedef struct parameters {
    const char *text;
    char star[LONGEST_WORD]; /* the number within the item's name, where it has one */
    sotto_status status;     /* of the first that could not be read */
    sotto_err *err;
} parameters;

/* Leaves 0 behind, and remembers why, if there is no such parameter. */
static double get(parameters *p, const char *name)
{
    size_t len = strlen(name);
    double value = 0;

    for (const char *at = p->text; *at != 0;) {
        size_t word = strcspn(at, " ");

        if (word > len + 1 && word < LONGEST_WORD && at[len] == '=' &&
            strncmp(at, name, len) == 0) {
            char number[LONGEST_WORD];

            memcpy(number, at + len + 1, word - len - 1);
            number[word - len - 1] = 0;
            sotto_status status =
                sotto_number_read(&value, number, SOTTO_ROUND_NEAREST, name, p->err);
            p->status = p->status == SOTTO_OK ? status : p->status;
            return value;
        }
        at += word;
        at += strspn(at, " ");
    }
    if (p->status == SOTTO_OK)
        p->status = sotto_fail(p->err, SOTTO_MALFORMED, "parameters: no %s", name);
    return 0;
}

static double get_star(parameters *p)
{
    double value = 0;

    if (p->status == SOTTO_OK)
        p->status = sotto_number_read(&value, p->star, SOTTO_ROUND_NEAREST, "item", p->err);
    return value;
}

/* As a logarithm; what is no delta is remembered too. */
static double get_log_delta(parameters *p)
{
    double delta = get(p, "delta"), log_delta = -1;

    if (p->status == SOTTO_OK)
        p->status = sotto_log_delta_of(&log_delta, delta, p->err);
    return log_delta;
}

static uint64_t get_count(parameters *p, const char *name)
{
    double x = get(p, name);

    if (p->status == SOTTO_OK && !(x >= 1 && x <= 1e18 && x == floor(x)))
        p->status = sotto_fail(p->err, SOTTO_MALFORMED, "%s: not a whole number from 1", name);
    return p->status == SOTTO_OK ? (uint64_t)x : 1;
}

/* ---- seed 000 ----------------------------------------------------------------------------------- */

static sotto_status classical(sotto_bound *out, parameters *p, sotto_err *err)
{
    double sigma = get(p, "sigma"), log_delta = get_log_delta(p);

    SOTTO_TRY(p->status);
    return sotto_gaussian_classical_epsilon(out, sigma, 1, log_delta, err);
}

static sotto_status gaussian_of(sotto_bound *out, parameters *p, const char *releases,
                                sotto_err *err)
{
    double sigma = get(p, "sigma"), log_delta = get_log_delta(p);
    double count = releases != NULL ? (double)get_count(p, releases) : 1;

    SOTTO_TRY(p->status);
    return sotto_gaussian_epsilon(out, sigma, 1, count, log_delta, err);
}

static sotto_status one_release(sotto_bound *out, parameters *p, sotto_err *err)
{
    return gaussian_of(out, p, NULL, err);
}

static sotto_status every_round(sotto_bound *out, parameters *p, sotto_err *err)
{
    return gaussian_of(out, p, "T", err);
}

static sotto_status k_rounds(sotto_bound *out, parameters *p, sotto_err *err)
{
    return gaussian_of(out, p, "k", err);
}

static sotto_status clones(sotto_bound *out, parameters *p, const char *variant, const char *cohort,
                           sotto_err *err)
{
    double eps0 = get(p, "eps0"), n = (double)get_count(p, cohort), log_delta = get_log_delta(p);

    SOTTO_TRY(p->status);
    return sotto_golden_clones(out, variant, eps0, n, log_delta, err);
}

static sotto_status example4_2022(sotto_bound *out, parameters *p, sotto_err *err)
{
    return clones(out, p, "clone2022_numerical", "B", err);
}

static sotto_status example4_2021(sotto_bound *out, parameters *p, sotto_err *err)
{
    return clones(out, p, "clone2021_numerical", "B", err);
}

static sotto_status rappor(sotto_bound *out, parameters *p, sotto_onehot_adjacency adjacency,
                           sotto_err *err)
{
    sotto_crowd crowd = {.n_total = (double)get_count(p, "B")};
    double eps0 = get(p, "eps0"), log_delta = get_log_delta(p);

    SOTTO_TRY(p->status);
    return sotto_onehot_eps(out, adjacency, eps0, &crowd, log_delta, err);
}

static sotto_status rappor_replacement(sotto_bound *out, parameters *p, sotto_err *err)
{
    return rappor(out, p, SOTTO_ONEHOT_REPLACEMENT, err);
}

static sotto_status rappor_deletion(sotto_bound *out, parameters *p, sotto_err *err)
{
    return rappor(out, p, SOTTO_ONEHOT_DELETION, err);
}

/* Epsilon of one release without the pad of a root: a formula is compared digit by digit. Between the padded ends
 * the curve itself says on which side of the root a point is. */
static sotto_status formula_epsilon(sotto_bound *out, double sigma, double log_delta,
                                    sotto_err *err)
{
    sotto_bound mu = {0};

    SOTTO_TRY(sotto_gaussian_epsilon(out, sigma, 1, 1, log_delta, err));
    SOTTO_TRY(sotto_gaussian_mu(&mu, sigma, 1, 1, err));
    sotto_bound above = *out, below = *out; /* what is left to search for each end */
    for (int i = 0; i < 40; i++) {
        double high = 0.5 * (above.low + above.high), low = 0.5 * (below.low + below.high);

        if (sotto_gaussian_curve(high, mu.high, NULL).high <= log_delta)
            above.high = high;
        else
            above.low = high;
        if (sotto_gaussian_curve(low, mu.low, NULL).low >= log_delta)
            below.low = low;
        else
            below.high = low;
    }
    *out = (sotto_bound){below.low, above.high};
    return SOTTO_OK;
}

/* log(1 + q (e^eps - 1)) of one release at delta; its own delta is then q delta. */
static sotto_status sampled_once(sotto_bound *out, parameters *p, sotto_err *err)
{
    double sigma = get(p, "sigma"), q = get(p, "q"), log_delta = get_log_delta(p);
    sotto_bound eps = {0};

    SOTTO_TRY(p->status);
    SOTTO_TRY(formula_epsilon(&eps, sigma, log_delta, err));
    return sotto_sampled_epsilon(out, eps, q, err);
}

/* The same with all of delta spent: delta/q inside. */
static sotto_status sampled_once_sharper(sotto_bound *out, parameters *p, sotto_err *err)
{
    double sigma = get(p, "sigma"), q = get(p, "q"), log_delta = get_log_delta(p);
    sotto_bound eps = {0};

    SOTTO_TRY(p->status);
    SOTTO_TRY(sotto_check_range("q", q, 1e-12, 1, err));
    SOTTO_TRY(formula_epsilon(&eps, sigma, log_delta - log(q), err));
    return sotto_sampled_epsilon(out, eps, q, err);
}

static sotto_status composed(sotto_bound *out, parameters *p, sotto_err *err)
{
    double sigma = get(p, "sigma"), q = get(p, "q"), log_delta = get_log_delta(p);
    uint64_t rounds = get_count(p, "T");

    SOTTO_TRY(p->status);
    return sotto_golden_sgm_epsilon(out, q, sigma, rounds, log_delta, SOTTO_EITHER, err);
}

static sotto_status composed_delta(sotto_bound *out, parameters *p, sotto_err *err)
{
    double sigma = get(p, "sigma"), q = get(p, "q"), eps = get_star(p);
    uint64_t rounds = get_count(p, "T");

    SOTTO_TRY(p->status);
    return sotto_golden_sgm_delta(out, q, sigma, rounds, eps, err);
}

static sotto_status known_sample(sotto_bound *out, parameters *p, sotto_err *err)
{
    double sigma = get(p, "sigma"), q = get(p, "q"), log_delta = get_log_delta(p);
    double rounds = (double)get_count(p, "T");

    SOTTO_TRY(p->status);
    return sotto_gaussian_counted_epsilon(out, sigma, 1, q, rounds, log_delta, err);
}

static sotto_status example6(sotto_bound *out, parameters *p, sotto_err *err)
{
    double eps = get(p, "eps"), q = get(p, "q");

    SOTTO_TRY(p->status);
    return sotto_sampled_epsilon(out, (sotto_bound){eps, eps}, q, err);
}

/* ---- seed 002 ----------------------------------------------------------------------------------- */

static sotto_status figure1_2022(sotto_bound *out, parameters *p, sotto_err *err)
{
    return clones(out, p, "clone2022_numerical", "n", err);
}

static sotto_status figure1_2021(sotto_bound *out, parameters *p, sotto_err *err)
{
    return clones(out, p, "clone2021_numerical", "n", err);
}

static sotto_status figure1_closed(sotto_bound *out, parameters *p, sotto_err *err)
{
    return clones(out, p, "clone2022_closed_form", "n", err);
}

static sotto_status theorem_c3(sotto_bound *out, parameters *p, sotto_err *err)
{
    sotto_crowd crowd = {.n_total = (double)get_count(p, "n")};
    double eps0 = get(p, "eps0"), log_delta = get_log_delta(p);

    SOTTO_TRY(p->status);
    return sotto_golden_symohe_by_rdp(out, eps0, &crowd, log_delta, err);
}

/* ---- seed 004: delta is W^-1.1 ------------------------------------------------------------------ */

static double aero_log_delta(parameters *p)
{
    double w = get(p, "W");

    if (p->status == SOTTO_OK)
        p->status = sotto_check_range("W", w, 2, 1e100, p->err);
    return -1.1 * log(w);
}

static sotto_status figure6(sotto_bound *out, parameters *p, sotto_err *err)
{
    double log_delta = aero_log_delta(p);

    SOTTO_TRY(p->status);
    (void)err;
    *out = sotto_golden_exp(
        (sotto_bound){sotto_round_down(log_delta, 2), sotto_round_up(log_delta, 2)});
    return SOTTO_OK;
}

static sotto_status noise_for(sotto_bound *out, parameters *p, double releases, sotto_err *err)
{
    double eps = get(p, "eps"), log_delta = aero_log_delta(p);

    SOTTO_TRY(p->status);
    return sotto_gaussian_sigma(out, eps, log_delta, 1, releases, err);
}

static sotto_status one_participation(sotto_bound *out, parameters *p, sotto_err *err)
{
    return noise_for(out, p, 1, err);
}

static sotto_status several_participations(sotto_bound *out, parameters *p, sotto_err *err)
{
    return noise_for(out, p, get_star(p), err);
}

/* ------------------------------------------------------------------------------------------------- */

static const struct item {
    const char *seed;
    const char *name; /* one * stands for a number */
    sotto_status (*compute)(sotto_bound *out, parameters *p, sotto_err *err);
} items[] = {
    {"000", "Example 3 classical", classical},
    {"000", "Example 3 analytic", one_release},
    {"000", "Example 4 stronger clones", example4_2022},
    {"000", "Example 4 2021 clones", example4_2021},
    {"000", "Example 4 RAPPOR exact replacement", rappor_replacement},
    {"000", "Example 4 RAPPOR exact deletion", rappor_deletion},
    {"000", "Example 5 single round", sampled_once},
    {"000", "Example 5 single round sharper", sampled_once_sharper},
    {"000", "Example 5 composed", composed},
    {"000", "Example 5 delta at eps *", composed_delta},
    {"000", "Example 5 no amplification", every_round},
    {"000", "Example 5 * participations", k_rounds},
    {"000", "Example 5 known random sample", known_sample},
    {"000", "Example 6", example6},
    {"002", "Figure 1 statement", figure1_2022},
    {"002", "Figure 1 statement 2021", figure1_2021},
    {"002", "Figure 1 closed form", figure1_closed},
    {"002", "Theorem C.3", theorem_c3},
    {"004", "Figure 6", figure6},
    {"004", "derived z one participation", one_participation},
    {"004", "derived z * participations", several_participations},
};

/* Whether name fits the pattern; what the * stood for is kept. */
static bool fits(const char *pattern, const char *name, char star[LONGEST_WORD])
{
    size_t before = strcspn(pattern, "*");
    size_t len = strlen(name);

    star[0] = 0;
    if (pattern[before] == 0)
        return strcmp(pattern, name) == 0;
    size_t after = strlen(pattern + before + 1);
    if (len <= before + after || len - before - after >= LONGEST_WORD ||
        strncmp(pattern, name, before) != 0 ||
        strcmp(pattern + before + 1, name + len - after) != 0)
        return false;
    memcpy(star, name + before, len - before - after);
    star[len - before - after] = 0;
    return star[0] >= '0' && star[0] <= '9';
}

static sotto_status answer(sotto_golden_answer *out, const sotto_golden_row *row, sotto_err *err)
{
    parameters p = {.text = sotto_golden_text(row, "parameters"), .err = err};
    sotto_bound bound = {0};

    for (size_t i = 0; i < sizeof items / sizeof items[0]; i++) {
        if (!sotto_golden_is(row, "seed", items[i].seed) ||
            !fits(items[i].name, sotto_golden_text(row, "item"), p.star))
            continue;
        sotto_status status = items[i].compute(&bound, &p, err);
        /* A parameter that cannot be read makes the row malformed; one out of range is refused. */
        if (p.status == SOTTO_MALFORMED)
            return p.status;
        return sotto_golden_take(out, bound, status, err);
    }
    return sotto_golden_unknown("item", sotto_golden_text(row, "item"), err);
}

const sotto_golden_format sotto_golden_seeds = {
    "seeds",
    "seed,item,parameters,claimed,value,kind,rel_tol,verdict,method,source",
    answer,
};
