/* What drawing a round in secret makes of a learning recipe's epsilon, where nobody sees who takes part, or how many. */
#include "account/gauss/allocated.h"
#include "account/numeric/bound.h"
#include "base/rule.h"
#include "noise/noise.h"
#include "recipe/learning_slots.h"

#include <math.h>

/* Of delta, for a round that is burnt or overfull: what a sixteenth pays for is left out of the rest. */
#define CROWD_PART (1.0 / 16)

static const char *unhidden(const sotto_learning *l)
{
    const sotto_anonymity *a = &l->head.anonymity;

    if (SOTTO_RULE(slots_hidden) && (!a->relay || !a->tokens || !a->log))
        return "not claimed: without a relay, tokens and a log it is seen who takes part";
    if (SOTTO_RULE(slots_token_of_a_session) && a->tokens != SOTTO_TOKENS_ARC)
        return "not claimed: tokens of type 2 are for a round, so that one device could fill "
               "several; ARC has one for the session";
    return NULL;
}

/* ---- whether a round's number of reports shows ----------------------------------------------------------- */

/* n coins have chance q each, or n slots are filled with it. Log of the chance that at most (or at least) `count` of them are: at most
 * -n KL(count/n, q). Slots that independent devices fill are negatively associated, for which Chernoff's bound holds as well (Dubhashi
 * and Ranjan 1998). */
static double log_tail(double count, double n, double q, bool at_least)
{
    const double x = count / n;

    if (q >= 1) /* rounded up */
        q = 1 - 0x1p-53;
    if (!(q > 0) || (at_least ? x <= q : x >= q))
        return 0;
    if (x > 1)
        return -INFINITY;
    const double kl = (x > 0 ? x * log(x / q) : 0) + (x < 1 ? (1 - x) * log((1 - x) / (1 - q)) : 0);
    return fmin(0, -n * kl * (1 - 1e-9) + n * 1e-14);
}

/* Others than the device at hand, as the sum of a round sees them. */
typedef struct crowd {
    double coins, chance;
} crowd;

static crowd crowd_of(const sotto_learning *l, double devices, uint64_t round)
{
    const double reach = (double)sotto_learning_reach(l), slots = (double)sotto_learning_slots(l);

    switch (sotto_learning_policy(l)) {
    case SOTTO_ROUND_ONE_OF:
        return (crowd){slots, -expm1(devices * log1p(-l->head.participation.rate /
                                                     (double)l->head.participation.slots))};
    case SOTTO_ROUND_ALL_AFTER_WARM_UP:
        return (crowd){floor(reach * devices / (double)l->rounds), 1 / reach};
    case SOTTO_ROUND_ALL:
    case SOTTO_ROUND_DRAWN_ANEW:
    default:
        return (crowd){devices, sotto_learning_expected(l, round) / (double)l->head.population};
    }
}

/* A round with too few of the others is released only with this device. One with too many has no room for it. Whether a round is
 * released, or what it lacks, would then tell where the device was. So both have to be rare, also where the dishonest stay away. The
 * first round has the most, the last one the fewest. */
static bool crowds_hide(const sotto_learning *l, const sotto_learning_claim *claim, double delta)
{
    const double all = (double)l->head.population,
                 few = floor(all * (double)claim->honest / (double)l->head.min_cohort) - 1;
    const crowd least = crowd_of(l, few, l->rounds - 1), most = crowd_of(l, all, 0);
    const double burnt = log_tail((double)l->head.min_cohort - 1, least.coins, least.chance, false),
                 full = sotto_learning_policy(l) == SOTTO_ROUND_ONE_OF
                            ? -INFINITY /* read: a sum has room for a report of each slot */
                            : log_tail((double)l->largest, most.coins, most.chance, true);

    return least.coins > 1 &&
           (double)l->rounds * (exp(burnt) + exp(full)) * (1 + 1e-9) <= CROWD_PART * delta;
}

/* ---- epsilon ---------------------------------------------------------------------------------------------- */

/* Other data of a device in place of its own: with its update, without it, and with the other. Two steps of epsilon and delta' are
 * 2 epsilon and (1 + e^epsilon) delta'. So an epsilon counts only if it is at most the one that delta' was made for. */
static sotto_status replaced(double *out, const sotto_allocated *a, double delta, sotto_err *err)
{
    enum { TRIES = 16, MOST = 60 };
    double guess = 0, eps = INFINITY;

    for (unsigned i = 0; i < TRIES && guess < MOST; i++) {
        const double step = delta / (1 + exp(guess)) * (1 - 1e-12);

        SOTTO_TRY(sotto_allocated_eps(&eps, a, step, err));
        if (SOTTO_RULE(slots_lattice_is_paid_for) && !sotto_allocated_is_paid(a, eps, step))
            return sotto_fail(err, SOTTO_DENIED, "claim: integers are too coarse");
        if (eps <= guess) {
            *out = 2 * eps;
            return SOTTO_OK;
        }
        guess = 1.01 * eps + 1e-4;
    }
    return sotto_fail(err, SOTTO_DENIED, "claim: noise is too little");
}

/* Where one report of a slot is used, a device that comes takes another's place: the sum moves by two updates. */
static sotto_allocated allocated_of(const sotto_learning *l, const sotto_learning_claim *claim,
                                    uint64_t released)
{
    const uint64_t reach = sotto_learning_reach(l);
    const double moves = sotto_learning_policy(l) == SOTTO_ROUND_ONE_OF ? 2 : 1;

    return (sotto_allocated){.sigma = claim->sigma,
                             .length = sotto_round_up(moves * claim->norm, 1),
                             .chance = l->head.participation.rate + 0x1p-53,
                             .reach = reach,
                             .seen = released < reach ? released : reach,
                             .numbers = (double)released * (double)sotto_learning_length(l),
                             .lost = sotto_noise_delta(released * sotto_learning_length(l))};
}

void sotto_slots_claim_of(sotto_slots_claim *out, const sotto_learning *l,
                          const sotto_learning_claim *claim, uint64_t seen)
{
    const double delta = sotto_decimal_down(l->head.delta);
    const uint64_t warm_up = sotto_learning_warm_up(l),
                   released = seen > warm_up ? seen - warm_up : 0;

    *out = (sotto_slots_claim){
        .epsilon = INFINITY,
        .theorem = "random allocation of one update to a round, integer noise of one server in "
                   "each (decision 149), in two steps: without the update, and with another",
        .honest = "leader and helper, who see how many answer in a round and may tell nobody; "
                  "relay or gateway; and devices, as many as stated, which draw as the recipe says",
        .why = unhidden(l)};
    if (out->why)
        return;
    if (claim->report_bytes == 0) {
        out->why = "not claimed: the numbers do not fit";
        return;
    }
    if (SOTTO_RULE(slots_crowds_hide) && !crowds_hide(l, claim, delta)) {
        out->why = "not claimed: a round might have fewer reports than min_cohort, or more than "
                   "largest, and tell who came. A larger population, a smaller min_cohort or more "
                   "room would do";
        return;
    }
    const sotto_allocated a = allocated_of(l, claim, released);
    if (released == 0)
        out->epsilon = 0;
    else if (replaced(&out->epsilon, &a, (1 - CROWD_PART) * delta, NULL) != SOTTO_OK)
        out->why = "not claimed: the noise is too little, or the grid too coarse to be taken for "
                   "real numbers: a larger scale would help";
    if (SOTTO_RULE(slots_gain_is_less) && !out->why && !(out->epsilon < claim->epsilon)) {
        out->epsilon = INFINITY;
        out->why = "not claimed: it is no less than what one update costs";
    }
}
