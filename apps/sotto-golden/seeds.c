/* The numbers printed in the papers: each is known by (seed, item), its parameters are words of one column. */
#include "paper.h"

#include <string.h>

#include "account/gauss/gaussian.h"
#include "account/local/onehot.h"
#include "account/numeric/parameter.h"
#include "sgm.h"
#include "shuffle.h"
#include "symohe.h"

/* ---- Talwar et al. 2024 ----------------------------------------------------------------------------------- */

static sotto_status classical(sotto_bound *out, sotto_paper *p, sotto_err *err)
{
    double sigma = sotto_paper_get(p, "sigma"), log_delta = sotto_paper_get_log_delta(p);

    SOTTO_TRY(p->status);
    return sotto_gaussian_classical_epsilon(out, sigma, 1, log_delta, err);
}

static sotto_status gaussian_of(sotto_bound *out, sotto_paper *p, const char *releases,
                                sotto_err *err)
{
    double sigma = sotto_paper_get(p, "sigma"), log_delta = sotto_paper_get_log_delta(p);
    double count = releases != NULL ? (double)sotto_paper_get_count(p, releases) : 1;

    SOTTO_TRY(p->status);
    return sotto_gaussian_epsilon(out, sigma, 1, count, log_delta, err);
}

static sotto_status one_release(sotto_bound *out, sotto_paper *p, sotto_err *err)
{
    return gaussian_of(out, p, NULL, err);
}

static sotto_status every_round(sotto_bound *out, sotto_paper *p, sotto_err *err)
{
    return gaussian_of(out, p, "T", err);
}

static sotto_status k_rounds(sotto_bound *out, sotto_paper *p, sotto_err *err)
{
    return gaussian_of(out, p, "k", err);
}

static sotto_status clones(sotto_bound *out, sotto_paper *p, const char *variant,
                           const char *cohort, sotto_err *err)
{
    double eps0 = sotto_paper_get(p, "eps0"), n = (double)sotto_paper_get_count(p, cohort),
           log_delta = sotto_paper_get_log_delta(p);

    SOTTO_TRY(p->status);
    return sotto_golden_clones(out, variant, eps0, n, log_delta, err);
}

static sotto_status example4_2022(sotto_bound *out, sotto_paper *p, sotto_err *err)
{
    return clones(out, p, "clone2022_numerical", "B", err);
}

static sotto_status example4_2021(sotto_bound *out, sotto_paper *p, sotto_err *err)
{
    return clones(out, p, "clone2021_numerical", "B", err);
}

static sotto_status rappor(sotto_bound *out, sotto_paper *p, sotto_onehot_adjacency adjacency,
                           sotto_err *err)
{
    sotto_crowd crowd = {.n_total = (double)sotto_paper_get_count(p, "B")};
    double eps0 = sotto_paper_get(p, "eps0"), log_delta = sotto_paper_get_log_delta(p);

    SOTTO_TRY(p->status);
    return sotto_onehot_eps(out, adjacency, eps0, &crowd, log_delta, err);
}

static sotto_status rappor_replacement(sotto_bound *out, sotto_paper *p, sotto_err *err)
{
    return rappor(out, p, SOTTO_ONEHOT_REPLACEMENT, err);
}

static sotto_status rappor_deletion(sotto_bound *out, sotto_paper *p, sotto_err *err)
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
static sotto_status sampled_once(sotto_bound *out, sotto_paper *p, sotto_err *err)
{
    double sigma = sotto_paper_get(p, "sigma"), q = sotto_paper_get(p, "q"),
           log_delta = sotto_paper_get_log_delta(p);
    sotto_bound eps = {0};

    SOTTO_TRY(p->status);
    SOTTO_TRY(formula_epsilon(&eps, sigma, log_delta, err));
    return sotto_sampled_epsilon(out, eps, q, err);
}

/* The same with all of delta spent: delta/q inside. */
static sotto_status sampled_once_sharper(sotto_bound *out, sotto_paper *p, sotto_err *err)
{
    double sigma = sotto_paper_get(p, "sigma"), q = sotto_paper_get(p, "q"),
           log_delta = sotto_paper_get_log_delta(p);
    sotto_bound eps = {0};

    SOTTO_TRY(p->status);
    SOTTO_TRY(sotto_check_range("q", q, 1e-12, 1, err));
    SOTTO_TRY(formula_epsilon(&eps, sigma, log_delta - log(q), err));
    return sotto_sampled_epsilon(out, eps, q, err);
}

static sotto_status composed(sotto_bound *out, sotto_paper *p, sotto_err *err)
{
    double sigma = sotto_paper_get(p, "sigma"), q = sotto_paper_get(p, "q"),
           log_delta = sotto_paper_get_log_delta(p);
    uint64_t rounds = sotto_paper_get_count(p, "T");

    SOTTO_TRY(p->status);
    return sotto_golden_sgm_epsilon(out, q, sigma, rounds, log_delta, SOTTO_EITHER, err);
}

static sotto_status composed_delta(sotto_bound *out, sotto_paper *p, sotto_err *err)
{
    double sigma = sotto_paper_get(p, "sigma"), q = sotto_paper_get(p, "q"),
           eps = sotto_paper_get_star(p);
    uint64_t rounds = sotto_paper_get_count(p, "T");

    SOTTO_TRY(p->status);
    return sotto_golden_sgm_delta(out, q, sigma, rounds, eps, err);
}

static sotto_status known_sample(sotto_bound *out, sotto_paper *p, sotto_err *err)
{
    double sigma = sotto_paper_get(p, "sigma"), q = sotto_paper_get(p, "q"),
           log_delta = sotto_paper_get_log_delta(p);
    double rounds = (double)sotto_paper_get_count(p, "T");

    SOTTO_TRY(p->status);
    return sotto_gaussian_counted_epsilon(out, sigma, 1, q, rounds, log_delta, err);
}

static sotto_status example6(sotto_bound *out, sotto_paper *p, sotto_err *err)
{
    double eps = sotto_paper_get(p, "eps"), q = sotto_paper_get(p, "q");

    SOTTO_TRY(p->status);
    return sotto_sampled_epsilon(out, (sotto_bound){eps, eps}, q, err);
}

/* ---- McMillan et al. 2022 ----------------------------------------------------------------------------------- */

static sotto_status figure1_2022(sotto_bound *out, sotto_paper *p, sotto_err *err)
{
    return clones(out, p, "clone2022_numerical", "n", err);
}

static sotto_status figure1_2021(sotto_bound *out, sotto_paper *p, sotto_err *err)
{
    return clones(out, p, "clone2021_numerical", "n", err);
}

static sotto_status figure1_closed(sotto_bound *out, sotto_paper *p, sotto_err *err)
{
    return clones(out, p, "clone2022_closed_form", "n", err);
}

static sotto_status theorem_c3(sotto_bound *out, sotto_paper *p, sotto_err *err)
{
    sotto_crowd crowd = {.n_total = (double)sotto_paper_get_count(p, "n")};
    double eps0 = sotto_paper_get(p, "eps0"), log_delta = sotto_paper_get_log_delta(p);

    SOTTO_TRY(p->status);
    return sotto_golden_symohe_by_rdp(out, eps0, &crowd, log_delta, err);
}

/* ---- Liu and Gupta 2023: delta is W^-1.1 ------------------------------------------------------------------ */

static double aero_log_delta(sotto_paper *p)
{
    double w = sotto_paper_get(p, "W");

    if (p->status == SOTTO_OK)
        p->status = sotto_check_range("W", w, 2, 1e100, p->err);
    return -1.1 * log(w);
}

static sotto_status figure6(sotto_bound *out, sotto_paper *p, sotto_err *err)
{
    double log_delta = aero_log_delta(p);

    SOTTO_TRY(p->status);
    (void)err;
    *out = sotto_golden_exp(
        (sotto_bound){sotto_round_down(log_delta, 2), sotto_round_up(log_delta, 2)});
    return SOTTO_OK;
}

static sotto_status noise_for(sotto_bound *out, sotto_paper *p, double releases, sotto_err *err)
{
    double eps = sotto_paper_get(p, "eps"), log_delta = aero_log_delta(p);

    SOTTO_TRY(p->status);
    return sotto_gaussian_sigma(out, eps, log_delta, 1, releases, err);
}

static sotto_status one_participation(sotto_bound *out, sotto_paper *p, sotto_err *err)
{
    return noise_for(out, p, 1, err);
}

static sotto_status several_participations(sotto_bound *out, sotto_paper *p, sotto_err *err)
{
    return noise_for(out, p, sotto_paper_get_star(p), err);
}

/* ------------------------------------------------------------------------------------------------- */

static const sotto_paper_item items[] = {
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
static bool fits(const char *pattern, const char *name, char star[PAPER_WORD])
{
    size_t before = strcspn(pattern, "*");
    size_t len = strlen(name);

    star[0] = 0;
    if (pattern[before] == 0)
        return strcmp(pattern, name) == 0;
    size_t after = strlen(pattern + before + 1);
    if (len <= before + after || len - before - after >= PAPER_WORD ||
        strncmp(pattern, name, before) != 0 ||
        strcmp(pattern + before + 1, name + len - after) != 0)
        return false;
    memcpy(star, name + before, len - before - after);
    star[len - before - after] = 0;
    return star[0] >= '0' && star[0] <= '9';
}

static const sotto_paper_item *find(const sotto_golden_row *row, const sotto_paper_item *list,
                                    size_t count, sotto_paper *p)
{
    for (size_t i = 0; i < count; i++)
        if (sotto_golden_is(row, "seed", list[i].seed) &&
            fits(list[i].name, sotto_golden_text(row, "item"), p->star))
            return &list[i];
    return NULL;
}

static sotto_status answer(sotto_golden_answer *out, const sotto_golden_row *row, sotto_err *err)
{
    sotto_paper p = {.text = sotto_golden_text(row, "parameters"), .err = err};
    const sotto_paper_item *item = find(row, items, sizeof items / sizeof items[0], &p);
    sotto_bound bound = {0};

    if (item == NULL)
        item = find(row, sotto_paper_figures, sotto_paper_figure_count, &p);
    if (item == NULL)
        return sotto_golden_unknown("item", sotto_golden_text(row, "item"), err);
    sotto_status status = item->compute(&bound, &p, err);
    /* A parameter that cannot be read makes the row malformed; one out of range is refused. */
    if (p.status == SOTTO_MALFORMED)
        return p.status;
    return sotto_golden_take(out, bound, status, err);
}

const sotto_golden_format sotto_golden_seeds = {
    "seeds",
    "seed,item,parameters,claimed,value,kind,rel_tol,verdict,method,source",
    answer,
};
