#include "account/gauss/sgm_transform.h"

#include "account/numeric/elementary.h"

#include <float.h>

#define U  (DBL_EPSILON / 2)
#define PI 3.14159265358979323846

static sotto_contour_terms terms_of(const sotto_sgm_question *q)
{
    sotto_contour_terms worst = SOTTO_CONTOUR_TERMS;

    for (size_t i = 0; i < q->count; i++) {
        const sotto_contour_terms *t = &q->parts[i].mechanism->terms;
        worst.aliasing = fmax(worst.aliasing, t->aliasing);
        worst.truncation = fmax(worst.truncation, t->truncation);
        worst.transform = fmax(worst.transform, t->transform);
        worst.rounding = fmax(worst.rounding, t->rounding);
        worst.cut = fmax(worst.cut, t->cut);
        worst.place = fmax(worst.place, t->place);
    }
    return worst;
}

static void set_lost(sotto_contour *line, const sotto_sgm_question *q)
{
    line->terms = terms_of(q);
    line->lost = line->terms.cut * sotto_sgm_lost(q);
    line->capped = q->cap != SOTTO_SGM_NO_CAP;
    if (line->capped) {
        line->sure = sotto_sgm_sure(q);
        line->sure_until = q->until;
    }
}

void sotto_sgm_reach(sotto_contour *line, sotto_sgm_question *q, double eps)
{
    if (!line->capped || !isfinite(eps))
        return;
    /* A lattice is read at its next loss, too. */
    q->until = eps + 2 * line->lattice;
    line->sure = sotto_sgm_sure(q);
    line->sure_until = q->until;
}

/* One part's transform to the power of its rounds; errors are raised with it. */
static void multiply(double *sum, size_t nodes, double rounds, const double *log_modulus,
                     const double *phase, const double *error)
{
    for (size_t k = 0; k < nodes; k++) {
        sum[k] += rounds * log_modulus[k];
        sum[nodes + k] += rounds * phase[k];
        /* log(1 + error) is at most the error. */
        sum[2 * nodes + k] += rounds * error[k] + 3 * U * rounds * fabs(log_modulus[k]);
    }
}

static void finish(sotto_contour *line, double *sum, double log_rest)
{
    size_t n = line->nodes;

    for (size_t k = 0; k < n; k++)
        sum[2 * n + k] = sum[2 * n + k] < 300 ? sum[2 * n + k] * (1 + 8 * U) : 300;
    sotto_expm1_all(sum + 2 * n, sum + 2 * n, n);
    line->re = sum;
    line->im = sum + n;
    sotto_contour_fill(line, sum, sum + n, sum + 2 * n, log_rest);
}

/* Three zeroed arrays, until the next composition is built. */
static double *nodes_for(const sotto_sgm_question *q, size_t nodes)
{
    double *sum = sotto_scratch_take(&q->parts[0].mechanism->nodes, 3 * nodes);

    for (size_t k = 0; sum && k < 3 * nodes; k++)
        sum[k] = 0;
    return sum;
}

bool sotto_sgm_build_contour(sotto_contour *line, const sotto_sgm_question *q,
                             const sotto_sgm_plan *p)
{
    *line = (sotto_contour){.c = p->c, .step = p->step, .nodes = p->nodes};
    set_lost(line, q);
    double *sum = nodes_for(q, p->nodes), rest = 0;
    if (!sum)
        return false;
    for (size_t i = 0; i < q->count; i++) {
        sotto_sgm_side *side = sotto_sgm_side_of(q, i);
        const sotto_sgm_nodes *n = sotto_sgm_side_line(side, p->j, p->step, p->nodes);
        if (!n)
            return false;
        multiply(sum, p->nodes, (double)q->parts[i].rounds, n->log_modulus, n->phase, n->error);
    }
    rest =
        sotto_sgm_log_moment(q, p->j) + sotto_sgm_decay(q, p->j, p->step * (double)(p->nodes - 1));
    for (size_t i = 0; i < SOTTO_CONTOUR_ALIASES; i++) {
        double value = sotto_sgm_log_moment(q, p->j + sotto_sgm_alias_at[i]);
        if (!(value < INFINITY))
            break;
        line->alias_c[i] = sotto_sgm_c(p->j + sotto_sgm_alias_at[i]);
        line->alias_log[i] = value;
        line->aliases = i + 1;
    }
    finish(line, sum, rest);
    return true;
}

/* Nodes beyond which all rounds together leave less than exp(-FADED) of the scale are not read. */
#define FADED 60.0

/* log of a bound on |M| at node k and beyond; lattices: one a part. */
static double most_from(const sotto_sgm_question *q, const sotto_pld *const *lattices, size_t k)
{
    double sum = 0;

    for (size_t i = 0; i < q->count; i++) {
        double part = (double)q->parts[i].rounds * lattices[i]->most[k];
        sum += part + 8 * U * fabs(part);
    }
    return sum;
}

/* How many nodes are worth reading: the bound falls with k. */
static size_t nodes_worth(const sotto_sgm_question *q, const sotto_pld *const *lattices,
                          size_t nodes)
{
    double scale = 0;
    size_t near = 0, far = nodes;

    for (size_t i = 0; i < q->count; i++)
        scale += (double)q->parts[i].rounds * lattices[i]->log_modulus[0];
    while (far - near > 1) {
        size_t mid = near + (far - near) / 2;
        if (most_from(q, lattices, mid) < scale - FADED)
            far = mid;
        else
            near = mid;
    }
    return far;
}

bool sotto_sgm_build_lattice(sotto_contour *line, const sotto_sgm_question *q,
                             const sotto_sgm_plan *p, double spacing, size_t size)
{
    const sotto_pld *lattices[SOTTO_SGM_MOST_PARTS];
    size_t nodes = size / 2 + 1;

    *line = (sotto_contour){.c = p->c, .lattice = spacing, .aliases = SOTTO_CONTOUR_ALIASES};
    set_lost(line, q);
    line->step = 2 * PI / ((double)size * spacing);
    for (size_t i = 0; i < q->count; i++) {
        lattices[i] = sotto_sgm_side_lattice(sotto_sgm_side_of(q, i), p->j, spacing, size);
        if (!lattices[i])
            return false;
    }
    line->nodes = nodes_worth(q, lattices, nodes);
    line->omitted = nodes - line->nodes;
    double *sum = nodes_for(q, line->nodes);
    if (!sum)
        return false;
    for (size_t i = 0; i < q->count; i++) {
        const sotto_pld *l = lattices[i];
        double n = (double)q->parts[i].rounds;
        multiply(sum, line->nodes, n, l->log_modulus, l->phase, l->error);
        line->origin += n * l->origin;
        line->origin_error += n * (l->origin_error + 4 * U * fabs(l->origin));
        for (size_t k = 0; k < SOTTO_CONTOUR_ALIASES; k++) {
            line->alias_c[k] = l->alias_c[k];
            line->alias_log[k] += n * l->alias_log[k];
        }
    }
    line->origin_error *= line->terms.place;
    finish(line, sum, line->omitted > 0 ? most_from(q, lattices, line->nodes) : 0);
    return true;
}
