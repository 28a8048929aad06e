#include "recipe/deviation.h"

#include "account/numeric/special.h"
#include "noise/estimate.h"
#include "recipe/encrypted.h"

#include <math.h>

/* ---- the law ---------------------------------------------------------------------------------------- */

/* Both servers add all of it; every device that reports adds its part; so does every noise member, whether a claim counts on it or
 * not. */
sotto_sum_noise sotto_recipe_sum_noise(const sotto_recipe *recipe,
                                       const sotto_report_content *content, double reports)
{
    const double sigma = sotto_recipe_sigma(recipe);
    sotto_encrypted e;

    if (content->by == SOTTO_BY_SERVERS)
        return (sotto_sum_noise){.gaussian = 2 * sigma * sigma, .sigma = sigma};
    if (content->by == SOTTO_BY_COMMITTEE && sotto_encrypted_plan(&e, recipe, NULL) == SOTTO_OK)
        return (sotto_sum_noise){.gaussian = e.variance,
                                 .sigma = sqrt((double)e.noise.num / (double)e.noise.den)};
    return (sotto_sum_noise){.skellam =
                                 content->by == SOTTO_BY_SHARES ? reports * content->variance : 0};
}

static double noise_of(const sotto_recipe *recipe, const sotto_report_content *content,
                       double reports)
{
    const sotto_sum_noise noise = sotto_recipe_sum_noise(recipe, content, reports);

    return noise.gaussian + noise.skellam;
}

/* A report that is a set of fixed size: an entry in it leaves less room for the others. Its own value is among the set
 * with chance p. The others are drawn from all `values` others alike, since "no value" is a value, too. */
static void set_pairs(sotto_deviation_law *law, const sotto_randomizer *r)
{
    const double size = r->kind == SOTTO_CHOICE_RESPONSE ? 1 : (double)r->set, others = law->values,
                 with = others > 1 ? (size - 1) * (size - 2) / (others * (others - 1)) : 0,
                 without = others > 1 ? size * (size - 1) / (others * (others - 1)) : 0;

    law->pair_own = law->p * (size - 1) / others - law->p * law->q;
    law->pair_other = law->p * with + (1 - law->p) * without - law->q * law->q;
}

sotto_deviation_law sotto_deviation_of(const sotto_recipe *recipe,
                                       const sotto_report_content *content, double reports)
{
    const sotto_randomizer_kind kind = content->randomizer.kind;
    sotto_deviation_law law = {.reports = reports,
                               .p = content->p,
                               .q = content->q,
                               .noise = noise_of(recipe, content, reports),
                               .values = (double)content->values,
                               .most = (double)content->most,
                               .none = (double)content->none};

    if (content->by == SOTTO_BY_CROWD &&
        (kind == SOTTO_CHOICE_RESPONSE || kind == SOTTO_SUBSET_SELECTION))
        set_pairs(&law, &content->randomizer);
    return law;
}

/* By halving: the tail falls steadily. */
double sotto_deviation_z(double confidence)
{
    double low = 0, high = 40;

    for (int i = 0; i < 80; i++) {
        const double middle = (low + high) / 2;

        *(2 * sotto_normal_tail(middle) > 1 - confidence ? &low : &high) = middle;
    }
    return high;
}

/* ---- counts ----------------------------------------------------------------------------------------- */

double sotto_deviation_count(const sotto_deviation_law *law, double f)
{
    const sotto_randomizer chances = {.p = law->p, .q = law->q};
    const double d = law->p - law->q;

    return sotto_estimate_variance(&chances, f, law->reports) + law->noise / (d * d);
}

/* The true counts f for which
 *     (sum - n q - f d)^2 <= z^2 (n a + v + f (b - a)),    d = p - q, a = q (1-q), b = p (1-p)
 * with v for noise that others than the randomizer added.
 * Each f is judged by its own variance (a score interval) rather than by that of the estimate, which is too small where
 * few support a value. `sum` is a count, so its ends are moved outward by one half. */
static double end_of(const sotto_deviation_law *law, double sum, double z, int side)
{
    const double n = law->reports, d = law->p - law->q, a = law->q * (1 - law->q),
                 b = law->p * (1 - law->p),
                 x = (sum + side * 0.5 - n * law->q) / d, /* the estimate                  */
        k = z * z * (b - a) / (d * d),                    /* f^2 - (2x + k) f + x^2 - m = 0 */
        m = z * z * (n * a + law->noise) / (d * d), root = sqrt(fmax(x * k + k * k / 4 + m, 0));

    return x + k / 2 + side * root;
}

sotto_ends sotto_deviation_count_ends(const sotto_deviation_law *law, double sum, double z)
{
    return (sotto_ends){end_of(law, sum, z, -1), end_of(law, sum, z, 1)};
}

/* ---- sums and means --------------------------------------------------------------------------------- */

/* Whole steps, so the ends are moved outward by one half. */
double sotto_deviation_sum(const sotto_deviation_law *law, double z)
{
    return z * sqrt(law->noise) + (law->noise > 0 ? 0.5 : 0);
}

double sotto_deviation_mean(const sotto_deviation_law *law, double off, double count)
{
    const double x = off / count;

    return sqrt(law->noise * (1 + x * x / (law->most * law->most))) / count;
}

/* Values x with
 *     |off - x count| <= z sqrt(v + x^2 v / most^2)
 * (Fieller 1954), since off and count have independent noise of variance v and v / most^2. */
sotto_ends sotto_deviation_mean_ends(const sotto_deviation_law *law, double off, double count,
                                     double z)
{
    const double v = law->noise, w = v / (law->most * law->most), a = count * count - z * z * w,
                 b = off * count, c = off * off - z * z * v, root = sqrt(fmax(b * b - a * c, 0));

    if (!(a > 0) || !(count > 0))
        return (sotto_ends){-INFINITY, INFINITY};
    return (sotto_ends){(b - root) / a, (b + root) / a};
}

/* ---- quantiles -------------------------------------------------------------------------------------- */

typedef struct weights {
    double sum, squares; /* over all entries */
} weights;

/* Of a weighted sum of one report's entries, its own having weight c. */
static double one_report(const sotto_deviation_law *law, const weights *w, double c)
{
    const double rest = w->sum - c, squares = w->squares - c * c;

    return c * c * law->p * (1 - law->p) + squares * law->q * (1 - law->q) +
           2 * c * rest * law->pair_own + (rest * rest - squares) * law->pair_other;
}

/* The estimate's weights are 1 - t for the first bins, -t for the others, and 0 for "no value". */
double sotto_deviation_rank(const sotto_deviation_law *law, double t, double bins, double up_to,
                            double above)
{
    const double d = law->p - law->q, others = law->values - bins;
    const weights w = {(1 - t) * bins - t * others, (1 - t) * (1 - t) * bins + t * t * others};
    const double none = fmax(0, law->reports - up_to - above);

    return (up_to * one_report(law, &w, 1 - t) + above * one_report(law, &w, -t) +
            none * one_report(law, &w, 0) + law->noise * w.squares) /
           (d * d);
}
