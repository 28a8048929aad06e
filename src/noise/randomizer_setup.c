/* Parameters of each kind: chances of 2^64 rounded so that they reveal less, then the epsilon they have. */
#include "noise/randomizer.h"

#include <math.h>

#include "account/numeric/bound.h"

/* Above what libm's last places may be wrong by. */
enum { SLACK = 8 };

static double up(double x)
{
    return sotto_round_up(x, SLACK);
}

/* 1 - chance, times 2^64; chances are never 0. */
static uint64_t complement(uint64_t chance)
{
    return 0 - chance;
}

/* log(a c / (b d)), bounded above; all are positive, and the quotient is at least 1. */
static double log_ratio(double a, double b, double c, double d)
{
    double ratio = up((a / b) * (c / d));

    return ratio > 1 ? up(log(ratio)) : 0;
}

/* A probability below one half, times 2^64, rounded up. */
static uint64_t chance_up(double probability)
{
    double scaled = ceil(ldexp(up(probability), 64));

    return scaled < 0x1p63 ? (uint64_t)scaled : (uint64_t)1 << 63;
}

/* a / (a + b), rounded down: through the other chance where that is the smaller, and so the finer, one. */
static uint64_t chance_down(double a, double b)
{
    if (b < a)
        return complement(chance_up(b / (a + b)));
    double scaled = floor(ldexp(sotto_round_down(a / (a + b), SLACK), 64));

    return scaled < 1 ? 1 : (uint64_t)scaled;
}

static double chance_of(uint64_t chance)
{
    return ldexp((double)chance, -64);
}

/* ---- bits ------------------------------------------------------------------------------------------- */

/* The smallest weight that `bits` independent bits with this expected sum exceed with probability below
 * 2^LOG2_MISS, by Chernoff's bound with the relative entropy. */
static uint64_t weight_bound(uint64_t bits, double mean)
{
    double n = (double)bits, rate = up(mean) / n;
    double wanted = -SOTTO_RANDOMIZER_LOG2_MISS * log(2) * (1 + 1e-9);
    uint64_t low = (uint64_t)mean, high = bits;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        double a = ((double)middle + 1) / n;
        double entropy = a * log(a / rate) + (a < 1 ? (1 - a) * log((1 - a) / (1 - rate)) : 0);

        if (a > rate && n * entropy >= wanted)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Deletion compares one bit, replacement two: unless there is one value, to be replaced by none. */
static bool compares_two_bits(const sotto_randomizer *r)
{
    return r->adjacency == SOTTO_ADJACENCY_REPLACEMENT && r->values > 1;
}

static double bits_epsilon(const sotto_randomizer *r)
{
    double p = (double)r->own, q = (double)r->other;
    double not_p = (double)complement(r->own), not_q = (double)complement(r->other);

    if (compares_two_bits(r))
        return log_ratio(p, q, not_q, not_p);
    return fmax(log_ratio(p, q, 1, 1), log_ratio(not_q, not_p, 1, 1));
}

static void set_bits(sotto_randomizer *r, double other, bool symmetric)
{
    r->other = chance_up(other);
    r->own = symmetric ? complement(r->other) : (uint64_t)1 << 63;
    r->p = chance_of(r->own);
    r->q = chance_of(r->other);
    r->bytes = (size_t)r->values;
    r->weight = weight_bound(r->values, r->p + (double)(r->values - 1) * r->q);
    r->epsilon = bits_epsilon(r);
}

static void set_symmetric(sotto_randomizer *r, double epsilon)
{
    set_bits(r, 1 / (exp(compares_two_bits(r) ? epsilon / 2 : epsilon) + 1), true);
}

static void set_asymmetric(sotto_randomizer *r, double epsilon)
{
    if (compares_two_bits(r))
        set_bits(r, 1 / (exp(epsilon) + 1), false);
    else
        set_bits(r, exp(-epsilon) / 2, false);
}

/* ---- choice, subset --------------------------------------------------------------------------------- */

/* A set of size d of the k values and "no value"; choice is the case of size 1. */
static void set_subset(sotto_randomizer *r, double epsilon, uint64_t size)
{
    double all = (double)r->values + 1, d = (double)size;

    r->set = size;
    r->own = chance_down(d, (all - d) * exp(-epsilon));
    r->p = chance_of(r->own);
    r->q = (r->p * (d - 1) + (1 - r->p) * d) / (all - 1);
    r->bytes = (size_t)r->values + 1;
    r->weight = size;
    r->epsilon = log_ratio((double)r->own, (double)complement(r->own), all - d, d);
    /* A comparison of 128 bits for each value, wrong by less than 2^-127. */
    r->delta = ldexp(all, -126);
}

static void set_subset_best(sotto_randomizer *r, double epsilon)
{
    double best = round(((double)r->values + 1) / (exp(epsilon) + 1));

    set_subset(r, epsilon, best < 1 ? 1 : (uint64_t)best);
}

static void set_choice(sotto_randomizer *r, double epsilon)
{
    set_subset(r, epsilon, 1);
}

/* ---- hash ------------------------------------------------------------------------------------------- */

static bool is_prime(uint64_t n)
{
    for (uint64_t d = 2; d * d <= n; d++)
        if (n % d == 0)
            return false;
    return n > 1;
}

static uint64_t prime_from(uint64_t n)
{
    while (!is_prime(n))
        n++;
    return n;
}

static void set_hash(sotto_randomizer *r, double epsilon, uint64_t prime, uint64_t support)
{
    double size = (double)prime, b = (double)support;
    uint64_t reach = prime;

    r->prime = prime;
    r->support = support;
    for (r->digits = 2; reach < r->values; r->digits++)
        reach *= prime;
    r->own = chance_down(b, (size - b) * exp(-epsilon));
    r->p = chance_of(r->own);
    r->q = b / size;
    r->bytes = 4 * r->digits;
    r->epsilon = log_ratio((double)r->own, (double)complement(r->own), size - b, b);
    /* Each digit is uniform within prime 2^-192. */
    r->delta = 0x1p-150;
}

/* The prime around e^epsilon + 1 that makes estimates best: the smaller its variance q (1-q) / (p-q)^2. */
static double hash_variance(double prime, double epsilon)
{
    double p = 1 / (1 + (prime - 1) * exp(-epsilon)), q = 1 / prime;

    return q * (1 - q) / ((p - q) * (p - q));
}

static void set_projective(sotto_randomizer *r, double epsilon)
{
    double ideal = fmin(exp(epsilon) + 1, 0x1p24);
    uint64_t above = prime_from((uint64_t)ideal + 1), below = (uint64_t)ideal;

    while (!is_prime(below))
        below--;
    bool better = hash_variance((double)below, epsilon) <= hash_variance((double)above, epsilon);
    set_hash(r, epsilon, better ? below : above, 1);
}

static void set_pi_rappor(sotto_randomizer *r, double epsilon)
{
    /* A field much larger than e^epsilon + 1, so that the support's share can come close to the ideal one. */
    double least = fmax((double)r->values, fmin(64 * (exp(epsilon) + 1), 0x1p24));
    uint64_t prime = prime_from((uint64_t)least);
    double support = round((double)prime / (exp(epsilon) + 1));

    set_hash(r, epsilon, prime, support < 1 ? 1 : (uint64_t)support);
}

/* ---- the table -------------------------------------------------------------------------------------- */

typedef struct kind {
    const char *name;
    void (*set)(sotto_randomizer *r, double epsilon);
    uint64_t most; /* values */
    bool deletion; /* may be claimed */
} kind;

static const kind kinds[SOTTO_RANDOMIZER_KINDS] = {
    [SOTTO_BINARY_RESPONSE] = {"binary", set_symmetric, 1, true},
    [SOTTO_CHOICE_RESPONSE] = {"choice", set_choice, SOTTO_RANDOMIZER_VALUES, true},
    [SOTTO_ONE_HOT_ASYMMETRIC] = {"one-hot-asymmetric", set_asymmetric, SOTTO_RANDOMIZER_VALUES,
                                  true},
    [SOTTO_ONE_HOT_SYMMETRIC] = {"one-hot-symmetric", set_symmetric, SOTTO_RANDOMIZER_VALUES, true},
    [SOTTO_RAPPOR] = {"rappor", set_symmetric, SOTTO_RANDOMIZER_VALUES, false},
    [SOTTO_SUBSET_SELECTION] = {"subset", set_subset_best, SOTTO_RANDOMIZER_VALUES, true},
    [SOTTO_PROJECTIVE_RESPONSE] = {"projective", set_projective, SOTTO_RANDOMIZER_VALUES, true},
    [SOTTO_PI_RAPPOR] = {"pi-rappor", set_pi_rappor, SOTTO_RANDOMIZER_VALUES, true},
};

static const kind *find(sotto_randomizer_kind which)
{
    unsigned i = (unsigned)which;

    return i > 0 && i < SOTTO_RANDOMIZER_KINDS ? &kinds[i] : NULL;
}

const char *sotto_randomizer_name(sotto_randomizer_kind which)
{
    const kind *k = find(which);

    return k ? k->name : NULL;
}

sotto_status sotto_randomizer_init(sotto_randomizer *out, sotto_randomizer_kind which,
                                   uint64_t values, double epsilon, sotto_adjacency adjacency,
                                   sotto_err *err)
{
    const kind *k = find(which);

    *out = (sotto_randomizer){.kind = which, .adjacency = adjacency, .values = values};
    if (!k)
        return sotto_fail(err, SOTTO_DENIED, "randomizer: kind: no such randomizer");
    if (values < 1 || values > k->most)
        return sotto_fail(err, SOTTO_DENIED, "randomizer %s: values: 1 to %llu wanted", k->name,
                          (unsigned long long)k->most);
    if (!(epsilon >= 0x1p-20 && epsilon <= 30))
        return sotto_fail(err, SOTTO_DENIED, "randomizer %s: epsilon: 2^-20 to 30 wanted", k->name);
    if (adjacency != SOTTO_ADJACENCY_REPLACEMENT &&
        !(adjacency == SOTTO_ADJACENCY_DELETION && k->deletion))
        return sotto_fail(err, SOTTO_DENIED, "randomizer %s: adjacency: replacement%s wanted",
                          k->name, k->deletion ? " or deletion" : "");
    /* Aims a little lower, so that what it has, bounded above, is still no more than was asked for. */
    k->set(out, epsilon - ldexp(1 + epsilon, -46));
    if (out->epsilon > epsilon)
        return sotto_fail(err, SOTTO_BUG, "randomizer %s: rounding went the wrong way", k->name);
    return SOTTO_OK;
}

/* Two bits change when a value is replaced by another: own and other swap their chances. The other shapes treat "no
 * value" as one more value, so their epsilon is this one already. */
double sotto_randomizer_replacement_epsilon(const sotto_randomizer *r)
{
    double own = (double)r->own, other = (double)r->other;
    double not_own = (double)(0 - r->own), not_other = (double)(0 - r->other);

    if (r->kind != SOTTO_ONE_HOT_ASYMMETRIC && r->kind != SOTTO_ONE_HOT_SYMMETRIC)
        return r->epsilon;
    return sotto_round_up(log(sotto_round_up((own / other) * (not_other / not_own), 8)), 8);
}
