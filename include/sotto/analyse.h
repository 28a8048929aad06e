/* sotto/analyse.h - from sums to answers: counts with error bars, and what may be claimed of them.
 *
 * Callers:  `sotto collect`, the demo, an analyst's own program.
 * Memory:   results live in the caller's arena.
 * Threads:  nothing is shared.
 * Secrets:  none: everything here was released.
 *
 * A count is of the reports in the batch, "no value" among them. Its interval covers the chance in the randomizer and in
 * noise, and nothing else: not who chose to answer, and not malicious clients. The receipt says how far one malicious client
 * can move a count. Where the chance to take part is known, counts of all devices stand beside it, whose
 * intervals cover that chance too.
 */
#ifndef SOTTO_ANALYSE_H
#define SOTTO_ANALYSE_H

#include "sotto/base.h"
#include "sotto/collect.h"
#include "sotto/lint.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- answers ------------------------------------------------------------------------------------------- */

typedef struct sotto_result_bin {
    uint64_t bin;     /* its label: sotto_recipe_label                       */
    int64_t sum;      /* reports that support it, as collected, noise and all */
    double count;     /* unbiased, and so sometimes below 0 or above reports  */
    double deviation; /* standard deviation of count: the error that privacy costs */
    double low, high; /* within 0 and reports: holds the truth with `confidence`, by itself */
    double low_all, high_all; /* with that confidence all bins of the result are held at once */
    double adjusted; /* where asked for: 0 or more, all with the total of all counts; biased */
} sotto_result_bin;

/* Nothing tells this bin from 0. Judged over all bins of its result: of those that are 0 in truth, any is called more than 0
 * with a chance of 1 - confidence at most. */
static inline bool sotto_result_may_be_zero(const sotto_result_bin *bin)
{
    return bin->low_all <= 0;
}

/* The same of all devices that could have taken part, whose chance to do so is known. */
typedef struct sotto_result_whole {
    double count;     /* count / rate                                         */
    double privacy;   /* its deviation by randomizer and noise, ...           */
    double sampling;  /* ... and by the draw of who takes part                */
    double low, high; /* of both errors together; 0 or more                   */
    double low_all, high_all;
} sotto_result_whole;

/* A number of its own, in the units of the query's column, or of devices. */
typedef struct sotto_result_figure {
    const char *name; /* "count", "sum", "mean", "quantile 0.5": static texts */
    double value,
        deviation;    /* of a quantile, half of its interval over the deviations it stands for */
    double low, high; /* within what devices can report                       */
    /* Of all devices: where the result has a rate. A mean and quantiles keep their value, and only their errors grow. */
    sotto_result_whole whole;
    bool sampling_most; /* whole.sampling is a bound: what it depends on was not asked */
} sotto_result_figure;

enum { SOTTO_RESULT_FIGURES = 8 };

typedef struct sotto_result {
    sotto_statistic statistic;
    uint64_t reports;
    double confidence;     /* of each interval by itself, and of all of a kind together */
    double p, q;           /* chance that a report supports its own value, and any other */
    double noise_variance; /* in each sum, by all who add noise together; 0: none */
    double rate;           /* chance that a device took part; 0: not known */
    /* Importance sampling: that of devices with the default value, while `rate` is that of all others. 0: all alike. */
    double rate_default;
    uint64_t default_bin; /* whose count stands for them; UINT64_MAX: "no value" is the default */
    bool adjusted;        /* bins have adjusted counts */
    sotto_result_figure figures[SOTTO_RESULT_FIGURES];
    size_t figure_count; /* a histogram has none; the others but quantiles have no bins */
    sotto_result_bin *bins;
    size_t count;
    bool has_no_value; /* randomizers that send "no value" as one more value count it too */
    sotto_result_bin no_value;
    sotto_result_whole *wholes; /* of each bin; NULL: there is no rate */
} sotto_result;

typedef struct sotto_result_options {
    double confidence;   /* 0: 0.95 */
    double rate;         /* chance that a device takes part: sotto_recipe_rates; 0: not known */
    double rate_default; /* importance sampling: with the default value; 0: all alike */
    bool adjust;         /* fill `adjusted` */
} sotto_result_options;

/* The chance that a device took part in a batch that was asked for from `from` until `until`. It is the recipe's: each
 * device that was drawn is taken to have answered. 0: not known, since the batch is a part of the schedule, or since the
 * chance depends on the value, or on the leader's choice of batches. */
SOTTO_API double sotto_recipe_rate(const sotto_recipe *recipe, uint64_t from, uint64_t until);
/* Fills rate and rate_default: the same, and both rates of importance sampling, by which each count is divided by the chance
 * of its own value. */
SOTTO_API void sotto_recipe_rates(sotto_result_options *out, const sotto_recipe *recipe,
                                  uint64_t from, uint64_t until);

/* De-biases the sums of a batch, and computes what the recipe's statistic asks for.
 *   options          may be NULL
 *   SOTTO_MALFORMED  not as many sums as the recipe's reports have entries, or a sum beyond what so many reports have (with noise: beyond any number)
 *   SOTTO_DENIED     no estimator for this randomizer, or an invalid confidence or rate; or two rates for a recipe that has one
 */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_result_estimate(
    sotto_result *out, const sotto_recipe *recipe, const sotto_uint128 *sums, size_t count,
    uint64_t reports, const sotto_result_options *options, sotto_arena *arena, sotto_err *err);

/* ---- sums over bins ------------------------------------------------------------------------------------ */

/* Columns that the recipe's bins combine; 0: a count. */
SOTTO_API size_t sotto_recipe_columns(const sotto_recipe *recipe);
/* NULL: there is no such column. */
SOTTO_API const char *sotto_recipe_column(const sotto_recipe *recipe, size_t column);

/* A result by the bins of one column, whatever the others hold. Counts add up to those of `result`, and intervals cover the
 * errors of all bins behind a count. SOTTO_MISSING: no such column. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_result_marginal(sotto_result *out,
                                                            const sotto_result *result,
                                                            const sotto_recipe *recipe,
                                                            size_t column, sotto_arena *arena,
                                                            sotto_err *err);
/* Appends the label of a bin of one column. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_recipe_column_label(const sotto_recipe *recipe,
                                                                sotto_buf *out, size_t column,
                                                                uint64_t bin, sotto_err *err);

/* A phrase of a prefix tree, and all bins that begin with it. */
typedef struct sotto_result_node {
    const char *phrase;        /* borrowed from the recipe; "" is the root                 */
    size_t parent;             /* the root is its own                                      */
    unsigned depth;            /* words of the phrase                                      */
    uint64_t bins;             /* that are added up                                        */
    sotto_result_bin estimate; /* its bin is the node's number; adjusted where the result is */
} sotto_result_node;

/* The nodes of a column that is a prefix tree: the root first, and parents before their children. A node with children is
 * their sum, in counts and in adjusted ones. SOTTO_MISSING: the column is no prefix tree, or its phrases are hashes. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_result_tree(sotto_result_node **out, size_t *count,
                                                        const sotto_result *result,
                                                        const sotto_recipe *recipe, size_t column,
                                                        sotto_arena *arena, sotto_err *err);

/* A count that several answers measured, or none: of a tree where each node with children is their sum. */
typedef struct sotto_level_node {
    size_t parent;          /* before it; the root is its own                        */
    double value, variance; /* as measured; INFINITY: it was not                      */
    double fitted, fitted_variance;
} sotto_level_node;

/* The counts closest to all that was measured, each weighed by its variance, among those that add up: unbiased, and of the
 * least variance if what was measured is independent. Node 0 is the root.
 * SOTTO_MALFORMED: a parent behind its child, or a leaf that was not measured. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_levels_fit(sotto_level_node *nodes, size_t count,
                                                       sotto_arena *arena, sotto_err *err);

/* ---- is it right? For those who know the truth --------------------------------------------------------- */

typedef struct sotto_result_check {
    size_t bins, missed;  /* intervals, and those that do not hold the truth          */
    double missed_chance; /* that so many or more miss by chance                       */
    uint64_t worst;       /* the bin that is farthest off                              */
    double worst_chance;  /* that any bin is as far off as that, at most               */
    bool wrong;           /* more than chance allows: one of the two is below 5e-8      */
} sotto_result_check;

/* truth[i]: how many of the reports had bin i's value. Right results are called wrong once in a million times.
 * SOTTO_MALFORMED: not one truth for each bin, or they are more than the reports. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_result_compare(sotto_result_check *out,
                                                           const sotto_result *result,
                                                           const uint64_t *truth, size_t count,
                                                           sotto_err *err);

/* ---- the receipt --------------------------------------------------------------------------------------- */

/* What a recipe of one server states of those who must be honest, and what follows. */
typedef struct sotto_stated_committee {
    double corrupt, dropout; /* of a cohort */
    uint64_t cohort;         /* drawn for a round, at most */
    uint64_t size, quorum;   /* decryptors; signatures that their votes need */
    int64_t tolerated;       /* corrupt decryptors; -1: not even none */
    double
        tail; /* chance that a committee of the rounds of delta has more of them, at most; 1: nothing is known */
    bool holds; /* the tail is within delta */
    double
        cut_off; /* chance that a server with liars can cut a client off in these rounds, at most; 1: nothing is known */
    bool connected; /* that chance is within delta */
} sotto_stated_committee;

/* What a recipe of encrypted sums states, what follows, and what its round said. All chances are upper bounds. */
typedef struct sotto_stated_encryption {
    bool is_known; /* false: not such a recipe, or one that can't be planned */
    uint64_t devices_least, devices_most; /* W                                            */
    double corrupt, offline;              /* f and g                                       */
    uint64_t committees;                  /* that open a sum, each its groups              */
    uint64_t committee, tolerated;        /* C and A, of each                              */
    uint64_t rekey;                       /* rounds under one key; 0: each has its own */
    uint64_t noise_members, noise_corrupt, noise_missing;
    uint64_t checks;          /* s                                             */
    double miss;              /* nobody honest and online looks at a wrong leaf */
    double tail, noise_tail;  /* more of either committee lie than may         */
    double together;          /* any of these, in all rounds of a device       */
    double stalls;            /* too few members answer to open a sum          */
    char set[12];             /* of the encryption                             */
    uint64_t bits, bits_left; /* of security, and with all hints               */
    const char *estimator;    /* by which                                      */
    double hint_rho, rho;     /* zCDP that openings tell of a device; of the round */
    double soundness;         /* bits, of a proof                              */
    double norm;              /* of a contribution, as it is proved            */
    bool holds;               /* together is within delta                      */
    bool is_session;          /* of several rounds: what each of them said is in its own receipt */
    /* What the round said; sotto_receipt_of leaves it empty. */
    bool is_trial; /* sizes were not held to their odds: a demo or a test */
    struct {
        const char *cause;
        uint64_t devices;
    } dropped[8];
    size_t dropped_count;
    struct {
        const char *what;
        uint64_t index;
    } entries[8]; /* of the log */
    size_t entry_count;
} sotto_stated_encryption;

typedef struct sotto_receipt {
    const char *recipe, *analysis, *leader, *helper; /* borrowed from the recipe */
    uint64_t version;
    sotto_cohort cohort; /* whom it is about */
    uint8_t recipe_hash[SOTTO_RECIPE_HASH_SIZE];
    uint8_t task_id[SOTTO_TASK_ID_SIZE];
    bool split; /* leader OR helper must be honest; else see server */
    /* One server with a committee of devices: its name and what the table of trust models says of it; empty: not that. */
    char server[132];
    const char *must_be_honest, *who_sees, *validity;
    bool proved; /* contributions are proved to be valid */
    sotto_stated_committee stated;
    sotto_stated_encryption encryption;
    sotto_statistic statistic;
    /* What was promised */
    sotto_noise_source by;
    const char *randomizer, *adjacency;
    double epsilon_local, replacement_local; /* infinity: a report has no local protection */
    bool none_told; /* devices without a value were silent: the epsilons hold between values only */
    double epsilon_cohort, delta;
    double epsilon_charged; /* what the ledger of each device that answered pays: the recipe's */
    uint64_t min_cohort, honest; /* of min_cohort, how many are taken to be honest */
    double honest_share;
    const char *theorem;
    bool aggregation; /* the cohort's epsilon is smaller than a report's own */
    bool sampling;    /* a gain by taking part at random is claimed; epsilon_sampled has it      */
    double epsilon_sampled;
    const char *sampling_why; /* its theorem, or why it is not claimed */
    uint64_t population;      /* that it rests on: the smaller of what both operators stated */
    /* Who must not work together: the relay with the gateway or the leader, attester or issuer with a server; may be NULL. */
    const char *relay, *gateway, *attester, *issuer;
    bool tokens;            /* each report carried one */
    const char *token_kind; /* "type-2" or "arc"; NULL: none */
    /* What was collected */
    uint64_t reports, from, until;
    /* A report that passes its proof, in place of another, moves each of liar_sums by this much at most: in counts, or
     * in steps of the encoder. */
    double liar;
    uint64_t liar_sums;
    uint64_t weight; /* most entries above 0 in a report that passes its proof */
    double miss;     /* chance that an honest report counts as empty                         */
    double
        noise_sigma; /* by servers, of each one's noise; by shares, of all honest ones'; 0: none */
    double device_variance; /* by shares: of each device's part */
    sotto_rejections leader_rejections, helper_rejections;
    /* Importance sampling: the chance that a device with the default value took part, and with any other; 0: all alike. */
    double rate_default, rate_other;
} sotto_receipt;

/* claim: as sotto_recipe_lint gave it, with or without a policy. */
SOTTO_API void sotto_receipt_of(sotto_receipt *out, const sotto_recipe *recipe,
                                const sotto_task *task, const sotto_recipe_claim *claim,
                                const sotto_collection *collection, const sotto_result *result);
/* Appends it in plain words. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_receipt_explain(sotto_buf *out,
                                                            const sotto_receipt *receipt,
                                                            sotto_err *err);

#ifdef __cplusplus
}
#endif

#endif
