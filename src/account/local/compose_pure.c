#include "account/local/compose_pure.h"

#include "account/numeric/parameter.h"
#include "account/numeric/root.h"
#include "account/numeric/special.h"

#define U          SOTTO_UNIT_ROUNDOFF
#define BLOCK      64
#define DIRECT_MAX 24000.0 /* terms that are summed one by one           */
#define BLOCKS_MAX 750     /* twice as many, in blocks                   */
#define CLIMB_MAX  30.0    /* deviations below the mean to start from    */
#define TAIL_STOP  1e-19

typedef struct repeated {
    double eps, T;
    double p, q; /* of the truth being told, and of a lie */
    const double *scale;
} repeated;

/* Over the losses above eps_total, relative to the mass at the edge. */
typedef struct beyond {
    double masses;    /* sum of P               */
    double positive;  /* sum of P - e^eps Q     */
    double sum_error; /* relative, of positive  */
    double tail;      /* relative, above only   */
    double log_mass;  /* of the edge            */
    double mass_error;
} beyond;

/* Every term is positive: P(i) (1 - exp(eps_total - (2i - T) eps)). */
static beyond sum_terms(const repeated *r, double edge, double gap)
{
    double up = exp(r->eps), thin = -expm1(-2 * r->eps);
    double w = 1, i = edge, follow = 0;
    beyond b = {0, 0, 0, 0, 0, 0};

    for (int block = 0; i <= r->T && block < BLOCKS_MAX; block++) {
        double g = -expm1(gap - 2 * (i - edge) * r->eps);

        for (int k = 0; k < BLOCK && i <= r->T; k++) {
            b.masses += w;
            b.positive += w * g;
            w *= (r->T - i) / (i + 1) * up;
            g += (1 - g) * thin;
            i += 1;
        }
        b.sum_error = U * (6 * (i - edge) + 4 * BLOCK + 8);
        /* Masses fall by this ratio and ever faster. */
        double ratio = (r->T - i) / (i + 1) * up;

        follow = i > r->T ? 0 : ratio < 1 ? w / (1 - ratio) : INFINITY;
        if (follow <= TAIL_STOP * b.positive)
            break;
    }
    b.tail = follow / b.positive;
    return b;
}

/* The same through the tail ratios of both laws: few steps for any T, but the two cancel where T eps^2 is small. */
static sotto_status subtract_tails(beyond *b, const repeated *r, double edge, double gap,
                                   sotto_err *err)
{
    sotto_bound told = {0, 0}, lied = {0, 0};
    double factor = exp(gap);

    SOTTO_TRY(sotto_binomial_tail_ratio(&lied, edge, r->T, r->q, r->p, err));
    if (edge > (r->T + 1) * r->p - 1) {
        SOTTO_TRY(sotto_binomial_tail_ratio(&told, edge, r->T, r->p, r->q, err));
    } else {
        /* Below the mean: 1 minus the lower tail, in units of the mass at the edge. */
        sotto_bound lower = {0, 0};
        double error, mass = sotto_binomial_log_pmf(edge - 1, r->T, r->p, r->q, &error);

        SOTTO_TRY(sotto_binomial_tail_ratio(&lower, r->T - edge + 1, r->T, r->q, r->p, err));
        double left = 1 - exp(mass) * 0.5 * (lower.low + lower.high);
        double wrong = exp(mass) * (error * lower.high + lower.high - lower.low) + 4 * U;

        told.low = (left - wrong) / exp(b->log_mass);
        told.high = (left + wrong) / exp(b->log_mass);
    }
    double most = told.high - factor * lied.low, least = told.low - factor * lied.high;

    b->masses = 0.5 * (told.low + told.high);
    b->positive = 0.5 * (most + least);
    b->sum_error =
        0.5 * (most - least) / b->positive + 8 * U * (told.high + factor * lied.high) / b->positive;
    return SOTTO_OK;
}

/* Far below the mean the mass at the edge underflows; delta is then 1 to all digits, less e^eps Q. */
static sotto_status near_one(sotto_bound *out, const repeated *r, double edge, double gap,
                             double log_mass, double *slope, sotto_err *err)
{
    sotto_bound lied = {0, 0}, lower = {0, 0};

    SOTTO_TRY(sotto_binomial_tail_ratio(&lied, edge, r->T, r->q, r->p, err));
    SOTTO_TRY(sotto_binomial_tail_ratio(&lower, r->T - edge + 1, r->T, r->q, r->p, err));
    double before = sotto_binomial_log_pmf(edge - 1, r->T, r->p, r->q, NULL);
    double lost = exp(before) * lower.high + exp(log_mass + gap) * lied.high;

    *slope = -exp(log_mass + gap) * lied.high / (1 - lost);
    *out = (sotto_bound){log1p(-1.001 * lost - 1e-300), log1p(-0.999 * lost)};
    return SOTTO_OK;
}

static sotto_status optimal_curve(sotto_point *out, const repeated *r, double total, sotto_err *err)
{
    double edge = floor(0.5 * (r->T + total / r->eps)) + 1;
    double loss = (2 * edge - r->T) * r->eps, gap = total - loss;
    double sd = sqrt(r->T * r->p * r->q), behind = r->T * r->p - edge;
    double terms = fmin(r->T - edge + 1, fmax(0, behind) + 12 * sd + 60);
    beyond b = {0, 0, 0, 0, 0, 0};

    *out = (sotto_point){{-INFINITY, -INFINITY}, 0};
    if (edge > r->T)
        return SOTTO_OK;
    double mass_error, log_mass = sotto_binomial_log_pmf(edge, r->T, r->p, r->q, &mass_error);

    if (behind > CLIMB_MAX * sd + 1)
        return near_one(&out->value, r, edge, gap, log_mass, &out->slope, err);
    b.log_mass = log_mass;
    if (terms <= DIRECT_MAX)
        b = sum_terms(r, edge, gap);
    else
        SOTTO_TRY(subtract_tails(&b, r, edge, gap, err));
    double value = log_mass + log(b.positive);
    double errors[SOTTO_COMPOSE_TERMS] = {
        [SOTTO_COMPOSE_MASS] = mass_error + U * (8 + 4 * fabs(value)),
        [SOTTO_COMPOSE_SUM] = b.sum_error,
        [SOTTO_COMPOSE_EDGE] =
            4 * U * (total + fabs(loss)) * fabs(b.masses - b.positive) / b.positive,
        [SOTTO_COMPOSE_TAIL] = b.tail,
    };
    double error = 0;

    for (int i = 0; i < SOTTO_COMPOSE_TERMS; i++)
        error += errors[i] * (r->scale ? r->scale[i] : 1);
    out->value.low = b.positive > 0 && error < 1 ? value + log1p(-error) : -INFINITY;
    out->value.high = b.positive > 0 ? fmin(0, value + error) : 0;
    out->slope = (b.positive - b.masses) / b.positive;
    return SOTTO_OK;
}

/* A tail that can't be enclosed is unknown: it proves nothing in either direction. */
static sotto_point curve_in_total(const void *self, double total)
{
    sotto_point p;

    if (optimal_curve(&p, self, total, NULL) != SOTTO_OK)
        p = (sotto_point){{-INFINITY, 0}, 0};
    return p;
}

static sotto_status make_repeated(repeated *r, double eps, double T, const double *scale,
                                  sotto_err *err)
{
    SOTTO_TRY(sotto_check_range("epsilon", eps, 1e-9, 100, err));
    SOTTO_TRY(sotto_check_count("T", T, 1, SOTTO_COMPOSE_T_MAX, err));
    *r = (repeated){eps, T, 1 / (1 + exp(-eps)), 1 / (1 + exp(eps)), scale};
    return SOTTO_OK;
}

sotto_status sotto_compose_optimal_log_delta(sotto_bound *out, double eps, double T,
                                             double eps_total, const double *scale, sotto_err *err)
{
    repeated r;
    sotto_point p;

    SOTTO_TRY(make_repeated(&r, eps, T, scale, err));
    SOTTO_TRY(sotto_check_range("total epsilon", eps_total, 0, T * eps, err));
    SOTTO_TRY(optimal_curve(&p, &r, eps_total, err));
    *out = p.value;
    return SOTTO_OK;
}

sotto_status sotto_compose_optimal_epsilon(sotto_bound *out, double eps, double T, double log_delta,
                                           sotto_err *err)
{
    repeated r;
    sotto_point at_zero;

    SOTTO_TRY(make_repeated(&r, eps, T, NULL, err));
    SOTTO_TRY(sotto_check_log_delta(log_delta, err));
    SOTTO_TRY(optimal_curve(&at_zero, &r, 0, err));
    if (at_zero.value.high <= log_delta) {
        *out = (sotto_bound){0, 0};
        return SOTTO_OK;
    }
    sotto_root_enclose(out, curve_in_total, &r, log_delta, 0, sotto_round_up(T * eps, 1));
    return SOTTO_OK;
}
