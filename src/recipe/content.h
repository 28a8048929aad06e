/* recipe/content.h - what a report of a recipe holds: how many numbers, how large, and how far apart two devices' may be.
 *
 * Callers:  claim.c prices it, task.c chooses the proof by it, device/answer/ fills it, analyse/ undoes it.
 */
#ifndef SOTTO_RECIPE_CONTENT_H
#define SOTTO_RECIPE_CONTENT_H

#include "recipe/model.h"

typedef struct sotto_report_content {
    sotto_statistic statistic;
    sotto_noise_source by;
    sotto_randomizer randomizer; /* by SOTTO_BY_CROWD alone; else all zeros */
    const char *name;            /* of the randomizer; "none" */
    double p,
        q; /* chances that a report supports its own value, and any other: 1 and 0 without a randomizer */
    uint64_t values; /* of the encoding: bins, or steps of a number */
    size_t entries;  /* numbers in a report, and sums in an answer */
    bool one;        /* all are 0 but one, which is 1, and the proof says so */
    bool
        bins; /* an entry for each value; else the last one tells whether there is a value, but for a sum */
    bool numbers;  /* sum and mean: the first entry is the number */
    uint64_t most; /* an entry before noise is 0 to this */
    uint64_t none; /* sum and mean: the first entry of a device without a number */
    uint64_t
        weight; /* entries that may be above 0 in a report that passes its proof, or ones where entries are bits */
    double
        distance; /* L2, between any two devices' entries before noise, "no value" among them; rounded up */
    double distance_l1;
    /* By shares: every entry has noise, the difference of two Poisson numbers of mean num/den, and the offset. */
    uint64_t num, den;
    double variance; /* of it; 0: there is none */
    uint64_t offset; /* noise is cut to -offset .. offset */
    double log_cut;  /* log of a bound on the chance that an entry's noise is cut */
    uint64_t max;    /* of an entry as sent */
} sotto_report_content;

/* SOTTO_DENIED  a parameter of the randomizer or of the noise is out of range; it is named */
SOTTO_MUST_USE sotto_status sotto_recipe_content(sotto_report_content *out,
                                                 const sotto_recipe *recipe, sotto_err *err);

/* Standard deviation of what the recipe calls sigma. */
double sotto_recipe_sigma(const sotto_recipe *recipe);

#endif
