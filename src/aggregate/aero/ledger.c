#include "aggregate/aero/ledger.h"

#include "account/numeric/bound.h"
#include "base/rule.h"

#include <math.h>

static const double variance = (double)SOTTO_AERO_VARIANCE_NUM / SOTTO_AERO_VARIANCE_DEN;
static const double n = SOTTO_AERO_N;

/* Rounding of a dozen operations stays far below this. */
static double up(double x)
{
    return sotto_round_up(x, 64);
}

static sotto_status check(const sotto_aero_wish *w, sotto_err *err)
{
    if (w->devices == 0 || w->liars > w->devices || w->devices >> 40 || w->dealers == 0 ||
        w->dealers > 1024 || w->threshold < 2 || w->threshold > 254)
        return sotto_fail(err, SOTTO_DENIED, "aero: no such round");
    if (w->rounds == 0 || w->ciphertexts == 0 || w->rounds >> 24 || w->ciphertexts >> 24 ||
        w->tries == 0 || w->tries > SOTTO_AERO_MOST_TRIES || w->failure > 200)
        return sotto_fail(err, SOTTO_DENIED, "aero: no such use of a key");
    if (w->rounds > w->most)
        return sotto_fail(err, SOTTO_DENIED,
                          "aero: round numbers up to %llu do not fit messages of at most %llu",
                          (unsigned long long)w->rounds, (unsigned long long)w->most);
    return SOTTO_OK;
}

/* The least log_t with devices * most + noise < 2^(log_t - 1). */
static sotto_status size_messages(sotto_aero_ledger *l, const sotto_aero_wish *w, sotto_err *err)
{
    sotto_u128 largest = sotto_mul_wide(w->devices, w->most) + w->noise;

    l->log_t = SOTTO_AERO_LEAST_LOG_T;
    while (l->log_t <= SOTTO_AERO_MOST_LOG_T && largest >> (l->log_t - 1))
        l->log_t++;
    if (l->log_t > SOTTO_AERO_MOST_LOG_T || l->log_t + 16 > w->set->log_q)
        return sotto_fail(err, SOTTO_DENIED, "aero: sums of %u bits do not fit set %s", l->log_t,
                          w->set->name);
    return SOTTO_OK;
}

/* How many deviations away a sub-Gaussian is with probability 2^-(failure + 1) at most, for all coefficients of all sums: P(|x| > k
 * sd) <= 2 exp(-k^2 / 2). */
static double deviations(const sotto_aero_ledger *l, const sotto_aero_wish *w)
{
    double log2_all = log2(n) + log2((double)l->hints) + w->failure + 2;

    return up(sqrt(2 * up(log2_all * 0.6931471805599454)));
}

static void bound_noise(sotto_aero_ledger *l, const sotto_aero_wish *w, double away)
{
    double d = w->dealers, honest = (double)(w->devices - w->liars);
    double s2 = n * d * d, e2 = n * (SOTTO_AERO_PROVED * d) * (SOTTO_AERO_PROVED * d);

    l->liars = up((double)w->liars *
                  (n * (SOTTO_AERO_PROVED * d + SOTTO_AERO_PROVED * d) + SOTTO_AERO_PROVED));
    l->honest = up(away * sqrt(honest * up(e2 * 2 / 3 + variance + variance * s2)));
}

/* The widest smudging that leaves a little room. */
static sotto_status size_smudging(sotto_aero_ledger *l, const sotto_aero_wish *w, double away,
                                  sotto_err *err)
{
    double each = up(away * sqrt((double)w->threshold));
    double left = l->half_gap - 1 - up(l->liars + l->honest);
    double sigma = floor(left / each * (1 - 0x1p-40));

    if (!(sigma >= 1))
        return sotto_fail(err, SOTTO_DENIED,
                          "aero: set %s: noise of %.1f bits leaves no room below %.1f bits",
                          w->set->name, log2(l->liars + l->honest), log2(l->half_gap));
    l->sigma = sigma < (double)SOTTO_NOISE_WIDEST ? (uint64_t)sigma : SOTTO_NOISE_WIDEST;
    l->smudging = up(each * (double)l->sigma);
    l->room = log2(l->half_gap / up(l->liars + l->honest + l->smudging));
    return SOTTO_OK;
}

/* The same where members deal their noise. Looks are sub-Gaussian with variance m sigma^2 + pad^2, where m is the number of
 * coefficients, and there are 128 of each dealer. */
static sotto_status size_dealt_noise(sotto_aero_ledger *l, const sotto_aero_wish *w, double away,
                                     sotto_err *err)
{
    double m = n * (double)w->ciphertexts, t = (double)w->threshold;
    double further = up(sqrt(away * away + up(2 * log(t))));
    double wide = up(sqrt(up(SOTTO_AERO_LOOKS * m))), each = up(further * up(sqrt(m) + wide));
    double left = l->half_gap - 1 - up(l->liars + l->honest);
    double sigma = floor((left / t - 1) / 2 / each * (1 - 0x1p-40)) - 1;

    if (sigma > floor((double)SOTTO_NOISE_WIDEST / wide) - 1)
        sigma = floor((double)SOTTO_NOISE_WIDEST / wide) - 1;
    if (!(sigma >= 1))
        return sotto_fail(err, SOTTO_DENIED, "aero: set %s leaves no room for noise that is dealt",
                          w->set->name);
    l->sigma = (uint64_t)sigma;
    l->pad = (uint64_t)ceil(up(wide * sigma));
    l->look = up(further * up(sqrt(m) * sigma + (double)l->pad));
    l->smudging = up(t * up(2 * l->look + 1));
    l->room = log2(l->half_gap / up(l->liars + l->honest + l->smudging));
    return SOTTO_OK;
}

/* What is left of a member's noise when looks at it are known. */
static double sigma_unseen(const sotto_aero_ledger *l)
{
    return l->pad ? (double)l->sigma * 0.7071067811865475 * (1 - 0x1p-40) : (double)l->sigma;
}

/* At any root of x^4096 + 1: a polynomial of liars' coefficients of at most `most`, and of honest ones' that are sub-Gaussian with
 * this variance. The real and the imaginary part of the latter are sub-Gaussian with 4096 times it at most. */
static double at_root(const sotto_aero_wish *w, double most, double of_honest, double away)
{
    double honest = (double)(w->devices - w->liars);

    return up((double)w->liars * most * n + away * sqrt(2 * up(honest * of_honest * n)));
}

/* The root of a^2 + b^2 + 1. */
static double norm(double a, double b)
{
    return up(sqrt(up(up(a * a) + up(b * b) + 1)));
}

/* B. An opening tells R e + E2 - E1 s with noise, where R, E1 and E2 are the sums of r, e1 and e2. It is a hint on the pair (s, e), by
 * which (E1, R) is multiplied, and on (r, e1, e2), by which (e, s, 1) is. Of such a row all entries count together, not the largest. */
static sotto_status count_hints(sotto_aero_ledger *l, const sotto_aero_wish *w, double away,
                                sotto_err *err)
{
    double d = w->dealers;
    double sums =
        norm(at_root(w, SOTTO_AERO_PROVED, variance, away), at_root(w, 1, up(2.0 / 3), away));
    double keys = norm(SOTTO_AERO_PROVED * d * n, d * n);
    double sigma = sigma_unseen(l);

    l->spectral = sums > keys ? sums : keys;
    double ratio = l->spectral / sigma;
    double inverse = up(2 * (1 / variance + up((double)l->hints * ratio * ratio)));
    l->sigma_left = sqrt(1 / inverse) * (1 - 0x1p-40);
    if (SOTTO_RULE(aero_hints_fit) && l->sigma_left < SOTTO_AERO_LEAST_SIGMA)
        return sotto_fail(
            err, SOTTO_DENIED,
            "aero: set %s: %llu hints leave sigma %.2f, below %.1f: fewer rounds under "
            "a key, or a larger set",
            w->set->name, (unsigned long long)l->hints, l->sigma_left, SOTTO_AERO_LEAST_SIGMA);
    return SOTTO_OK;
}

/* One device's r, e1, e2 replaced by others changes every coefficient by twice a liar's part at most. */
static void charge(sotto_aero_ledger *l, const sotto_aero_wish *w)
{
    double part = n * 2 * SOTTO_AERO_PROVED * (double)w->dealers + SOTTO_AERO_PROVED;
    double ratio = up(2 * part / sigma_unseen(l));

    l->rho = up((double)w->ciphertexts * w->tries * n * ratio * ratio / 2);
}

sotto_status sotto_aero_ledger_plan(sotto_aero_ledger *ledger, const sotto_aero_wish *wish,
                                    sotto_err *err)
{
    SOTTO_TRY(check(wish, err));
    *ledger = (sotto_aero_ledger){.set = wish->set};
    ledger->hints = wish->rounds * wish->ciphertexts * wish->tries;
    SOTTO_TRY(size_messages(ledger, wish, err));

    double delta = (double)sotto_aero_delta(wish->set, ledger->log_t);
    ledger->half_gap = floor(delta / 2 * (1 - 0x1p-50));

    double away = deviations(ledger, wish);
    bound_noise(ledger, wish, away);
    SOTTO_TRY(wish->is_robust ? size_dealt_noise(ledger, wish, away, err)
                              : size_smudging(ledger, wish, away, err));
    SOTTO_TRY(count_hints(ledger, wish, away, err));
    charge(ledger, wish);
    return SOTTO_OK;
}

sotto_u128 sotto_aero_ledger_most(const sotto_aero_ledger *ledger)
{
    return (sotto_u128)up(ledger->liars + ledger->honest + ledger->smudging);
}

sotto_status sotto_aero_ledger_spend(sotto_aero_ledger *ledger, uint64_t count, sotto_err *err)
{
    if (SOTTO_RULE(aero_hints_spent) && count > ledger->hints - ledger->used)
        return sotto_fail(
            err, SOTTO_DENIED,
            "aero: %llu hints under this key, %llu used: no more ciphertexts are opened",
            (unsigned long long)ledger->hints, (unsigned long long)ledger->used);
    ledger->used += count;
    return SOTTO_OK;
}
