#include "budget_form.h"

#include "account/accountant.h"
#include "account/trust.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "support/number.h"

typedef enum option_kind { REAL, COUNT, CHOICE, FLAG, SHARE } option_kind;

/* A number's range is the widest that any mechanism accepts; budget_mechanisms.c has those that are narrower. */
static const struct option {
    const char *name;
    const char *alias; /* "" for none */
    option_kind kind;
    sotto_rounding rounding; /* against the claim */
    double low, high;
    const char *accepts; /* of what is no number */
    const char *help;
} options[OPTIONS] = {
    [OPTION_MECHANISM] = {"mechanism", "", CHOICE, SOTTO_ROUND_NEAREST, 0, 0,
                          "a mechanism of `sotto budget account --help`", "what is released"},
    [OPTION_ADJACENCY] = {"adjacency", "", CHOICE, SOTTO_ROUND_NEAREST, 0, 0,
                          "add-remove, replacement or deletion",
                          "what two neighbouring data sets differ in"},
    [OPTION_TRUST] = {"trust", "", CHOICE, SOTTO_ROUND_NEAREST, 0, 0,
                      "central, split, flamingo or aero", "who adds up, and who must be honest"},
    [OPTION_DISHONEST] = {"dishonest", "", SHARE, SOTTO_ROUND_NEAREST, 0, 1, "0 to below 1",
                          "share of the cohort that lies, colludes or drops out"},
    [OPTION_HIDDEN] = {"hidden", "relay-and-tokens", FLAG, SOTTO_ROUND_NEAREST, 0, 0, "",
                       "split only: relay and tokens hide who takes part"},
    [OPTION_DELTA] = {"delta", "", REAL, SOTTO_ROUND_DOWN, 1e-300, 0.999999, "",
                      "the delta of the claim; 0 too for laplace, geometric and pure"},
    [OPTION_SIGMA] = {"sigma", "", REAL, SOTTO_ROUND_DOWN, 1e-9, 1e15, "",
                      "standard deviation of the noise"},
    [OPTION_SCALE] = {"scale", "", REAL, SOTTO_ROUND_DOWN, 1e-11, 1e18, "",
                      "scale b of Laplace or geometric noise, e^(-|x|/b)"},
    [OPTION_CLIP] = {"clip", "", REAL, SOTTO_ROUND_UP, 1e-9, 1e15, "",
                     "largest norm of one person's vector, L1 for Laplace (1)"},
    [OPTION_ONE_HOT] = {"one-hot", "", FLAG, SOTTO_ROUND_NEAREST, 0, 0, "",
                        "the vector is one-hot instead of clipped"},
    [OPTION_RATE] = {"rate", "q", REAL, SOTTO_ROUND_UP, 1e-12, 1, "",
                     "chance to be sampled in a round"},
    [OPTION_ROUNDS] = {"rounds", "T", COUNT, SOTTO_ROUND_NEAREST, 1, 1e12, "", "how many times"},
    [OPTION_RELEASES] = {"releases", "participations", COUNT, SOTTO_ROUND_NEAREST, 1, 1e12, "",
                         "releases about the same person (1)"},
    [OPTION_SLOTS] = {"slots", "", COUNT, SOTTO_ROUND_NEAREST, 1, 1e9, "",
                      "slots or times to choose from"},
    [OPTION_SENSITIVITY] = {"sensitivity", "", COUNT, SOTTO_ROUND_NEAREST, 1, 1e9, "",
                            "largest change of the integer sum (vectors: L2, geometric L1)"},
    [OPTION_DIMENSION] = {"dimension", "", COUNT, SOTTO_ROUND_NEAREST, 1, 1e12, "",
                          "entries of the vector"},
    [OPTION_COHORT] = {"cohort", "n", COUNT, SOTTO_ROUND_NEAREST, 1, 1e12, "",
                       "devices that report, dishonest ones included"},
    [OPTION_LOCAL_EPSILON] = {"local-epsilon", "eps0", REAL, SOTTO_ROUND_UP, 1e-9, 30, "",
                              "epsilon of one report alone"},
    [OPTION_RELEASE_EPSILON] = {"release-epsilon", "", REAL, SOTTO_ROUND_UP, 1e-9, 100, "",
                                "epsilon of one release"},
    [OPTION_DELTA_EACH] = {"delta-each", "", REAL, SOTTO_ROUND_UP, 1e-300, 0.5, "",
                           "delta of one release"},
    [OPTION_VARIANT] = {"variant", "", CHOICE, SOTTO_ROUND_NEAREST, 0, 0,
                        "fixed, averaged or sliding", "kind of check-in"},
    [OPTION_WINDOW] = {"window", "m", COUNT, SOTTO_ROUND_NEAREST, 1, 1e12, "",
                       "steps of a check-in window"},
    [OPTION_PROBABILITY] = {"probability", "p0", REAL, SOTTO_ROUND_UP, 1e-12, 1, "",
                            "chance to check in at all (1)"},
    [OPTION_REPETITIONS] = {"repetitions", "", COUNT, SOTTO_ROUND_NEAREST, 1, 1e9, "1 to 1e9",
                            "windows in which the same people check in anew (1)"},
};

/* ---- the table -------------------------------------------------------------------------------------- */

/* local_epsilon and local-epsilon are one name: files write the one, command lines the other. */
static bool same_name(const char *a, const char *b)
{
    for (; *a != 0 && *b != 0; a++, b++)
        if (*a != *b && !((*a == '_' && *b == '-') || (*a == '-' && *b == '_')))
            return false;
    return *a == *b;
}

sotto_option sotto_form_find(const char *name)
{
    for (int i = 0; i < OPTIONS; i++)
        if (same_name(name, options[i].name) ||
            (options[i].alias[0] != 0 && same_name(name, options[i].alias)))
            return (sotto_option)i;
    return OPTIONS;
}

const char *sotto_form_name(sotto_option option)
{
    return options[option].name;
}

bool sotto_form_is_flag(sotto_option option)
{
    return options[option].kind == FLAG;
}

bool sotto_form_is_whole(sotto_option option)
{
    return options[option].kind == COUNT;
}

bool sotto_form_is_number(sotto_option option)
{
    return options[option].kind == COUNT || options[option].kind == REAL;
}

const char *sotto_form_alias(sotto_option option)
{
    return options[option].alias;
}

const char *sotto_form_help(sotto_option option)
{
    return options[option].help;
}

/* The range that a mechanism has for a number; NULL: the widest. */
static sotto_form_range range_of(sotto_option option, const sotto_form_mechanism *m)
{
    for (size_t i = 0; m != NULL && i < FORM_RANGES && m->ranges[i].high > 0; i++)
        if (m->ranges[i].option == option)
            return m->ranges[i];
    return (sotto_form_range){option, options[option].low, options[option].high, false};
}

/* 1e12 and 1e-9, not 1e+12 and 1e-09. */
static void write_number(char out[32], double x)
{
    (void)snprintf(out, 32, "%g", x);
    char *power = strchr(out, 'e');
    if (power == NULL)
        return;
    char *digits = power + 1 + (power[1] == '+' || power[1] == '-');
    size_t zeros = strspn(digits, "0");
    char *to = power[1] == '-' ? digits : power + 1;

    memmove(to, digits + zeros, strlen(digits + zeros) + 1);
}

void sotto_form_accepts(char out[FORM_ACCEPTS], sotto_option option, const sotto_form_mechanism *m)
{
    char low[32], high[32];
    sotto_form_range r = range_of(option, m);

    if (!sotto_form_is_number(option)) {
        (void)snprintf(out, FORM_ACCEPTS, "%s", options[option].accepts);
        return;
    }
    write_number(low, r.low);
    write_number(high, r.high);
    (void)snprintf(out, FORM_ACCEPTS, "%s to %s%s%s", low, high, r.per_clip ? " times --clip" : "",
                   options[option].kind == COUNT ? ", whole" : "");
}

/* ---- filling it in ---------------------------------------------------------------------------------- */

void sotto_form_complain(sotto_form *form, const char *format, ...)
{
    va_list args;

    if (form->mistake_count == FORM_MISTAKES)
        return;
    va_start(args, format);
    (void)vsnprintf(form->mistakes[form->mistake_count++], sizeof form->mistakes[0], format, args);
    va_end(args);
}

static int choose(const char *text, const char *const *words)
{
    for (int i = 0; words[i] != NULL; i++)
        if (same_name(text, words[i]))
            return i + 1;
    return 0;
}

static double choose_mechanism(const char *text)
{
    for (size_t i = 0; i < sotto_form_mechanism_count; i++)
        if (same_name(text, sotto_mechanism_name(sotto_form_mechanisms[i].mechanism)) ||
            (sotto_form_mechanisms[i].alias[0] != 0 &&
             same_name(text, sotto_form_mechanisms[i].alias)))
            return sotto_form_mechanisms[i].mechanism;
    return 0;
}

static double choose_trust(const char *text)
{
    for (unsigned t = SOTTO_TRUST_SPLIT; sotto_trust_is_known((sotto_trust)t); t++)
        if (same_name(text, sotto_trust_name((sotto_trust)t)))
            return t;
    return 0;
}

/* In the order of the enums, whose first value is 1. */
static double read_choice(sotto_option option, const char *text)
{
    static const char *const adjacencies[] = {"replacement", "deletion", "add-remove", NULL};
    static const char *const variants[] = {"fixed", "averaged", "sliding", NULL};

    if (option == OPTION_MECHANISM)
        return choose_mechanism(text);
    if (option == OPTION_ADJACENCY)
        return choose(text, adjacencies);
    return option == OPTION_TRUST ? choose_trust(text) : choose(text, variants);
}

static void set_number(sotto_form *form, sotto_option option, const char *text)
{
    const struct option *o = &options[option];
    double exact = 0, x = 0;
    sotto_err err = {0};

    if (sotto_number_read(&exact, text, SOTTO_ROUND_NEAREST, o->name, &err) != SOTTO_OK ||
        sotto_number_read(&x, text, o->rounding, o->name, &err) != SOTTO_OK) {
        sotto_form_complain(form, "--%s: '%.40s' is not a number", o->name, text);
        return;
    }
    sotto_form_put(form, option, x);
    form->exact[option] = exact;
}

void sotto_form_check_number(sotto_form *form, sotto_option option, const sotto_form_mechanism *m)
{
    char accepts[FORM_ACCEPTS];
    sotto_form_range r = range_of(option, m);
    double unit = r.per_clip && form->given[OPTION_CLIP] ? form->number[OPTION_CLIP] : 1;
    double exact = form->exact[option], low = r.low * unit, high = r.high * unit;

    if (exact >= low && exact <= high && (options[option].kind != COUNT || exact == floor(exact))) {
        /* Rounding against the claim must not leave the range. */
        form->number[option] = fmin(fmax(form->number[option], low), high);
        return;
    }
    sotto_form_accepts(accepts, option, m);
    sotto_form_complain(form, "--%s: %.9g is out of range: %s accepts %s", options[option].name,
                        exact, m != NULL ? sotto_mechanism_name(m->mechanism) : "it", accepts);
}

static void set_share(sotto_form *form, const char *text)
{
    const double parts = 1e12;
    double x = 0;

    if (sotto_number_read(&x, text, SOTTO_ROUND_NEAREST, "", NULL) != SOTTO_OK ||
        !(x >= 0 && x < 1)) {
        sotto_form_complain(form, "--dishonest: '%.40s' is not accepted: a share of %s", text,
                            options[OPTION_DISHONEST].accepts);
        return;
    }
    /* Twelve decimals are exact; more are rounded against us. */
    double whole = nearbyint(x * parts);
    whole = fabs(whole - x * parts) < 1e-3 ? whole : ceil(x * parts);
    form->dishonest = (sotto_share){(uint64_t)whole, (uint64_t)parts};
    form->given[OPTION_DISHONEST] = true;
}

static void set_flag(sotto_form *form, sotto_option option, const char *text)
{
    bool yes = text == NULL || same_name(text, "true") || same_name(text, "1");
    bool no = text != NULL && (same_name(text, "false") || same_name(text, "0"));

    if (!yes && !no)
        sotto_form_complain(form, "--%s: '%.40s' is neither true nor false", options[option].name,
                            text);
    form->given[option] = yes;
}

bool sotto_form_set(sotto_form *form, const char *name, const char *text)
{
    sotto_option option = sotto_form_find(name);
    char accepts[FORM_ACCEPTS];

    if (option == OPTIONS)
        return false;
    form->tried[option] = true;
    if (options[option].kind == FLAG) {
        set_flag(form, option, text);
    } else if (text == NULL) {
        sotto_form_accepts(accepts, option, NULL);
        sotto_form_complain(form, "--%s needs a value: %s", options[option].name, accepts);
    } else if (options[option].kind == SHARE) {
        set_share(form, text);
    } else if (options[option].kind == CHOICE) {
        double choice = read_choice(option, text);
        if (choice == 0)
            sotto_form_complain(form, "--%s: '%.40s' is not %s", options[option].name, text,
                                options[option].accepts);
        else
            sotto_form_put(form, option, choice);
    } else {
        set_number(form, option, text);
    }
    return true;
}

void sotto_form_put(sotto_form *form, sotto_option option, double x)
{
    form->given[option] = true;
    form->number[option] = form->exact[option] = x;
}

/* ---- the question ----------------------------------------------------------------------------------- */

static bool has(unsigned long set, sotto_option option)
{
    return (set >> option & 1) != 0;
}

static void require(sotto_form *form, sotto_option option, const sotto_form_mechanism *m)
{
    char accepts[FORM_ACCEPTS];

    if (form->given[option] || form->tried[option])
        return;
    sotto_form_accepts(accepts, option, m);
    sotto_form_complain(form, "--%s is missing: %s%s%s", options[option].name, options[option].help,
                        accepts[0] != 0 ? "; accepted: " : "", accepts);
}

static void check_options(sotto_form *form, const sotto_form_mechanism *m, sotto_option unknown)
{
    for (int i = OPTION_SIGMA; i < OPTIONS; i++) {
        sotto_option option = (sotto_option)i;

        if (has(m->needs, option) && option != unknown)
            require(form, option, m);
        if (!form->given[i])
            continue;
        if (!has(m->needs | m->takes, option))
            sotto_form_complain(form, "--%s has no place in %s", options[i].name,
                                sotto_mechanism_name(m->mechanism));
        else if (sotto_form_is_number(option) && option != unknown)
            sotto_form_check_number(form, option, m);
    }
    if (form->given[OPTION_ONE_HOT] && form->given[OPTION_CLIP])
        sotto_form_complain(form, "--clip and --one-hot exclude each other");
    /* Its theorem counts the other people who check in. */
    if (form->given[OPTION_VARIANT] && unknown != OPTION_COHORT &&
        (sotto_check_in_variant)form->number[OPTION_VARIANT] == SOTTO_CHECK_IN_AVERAGED)
        require(form, OPTION_COHORT, m);
}

/* With central trust nobody is counted on unless the mechanism has a cohort. */
static void require_dishonest(sotto_form *form, const sotto_form_mechanism *m)
{
    bool counts = m == NULL || has(m->needs, OPTION_COHORT) || form->given[OPTION_COHORT];

    if (form->given[OPTION_TRUST] && !counts &&
        (sotto_trust)form->number[OPTION_TRUST] == SOTTO_TRUST_CENTRAL) {
        if (!form->given[OPTION_DISHONEST])
            form->dishonest = (sotto_share){0, 1};
        return;
    }
    require(form, OPTION_DISHONEST, m);
}

static const sotto_form_mechanism *mechanism_of(const sotto_form *form)
{
    for (size_t i = 0; i < sotto_form_mechanism_count && form->given[OPTION_MECHANISM]; i++)
        if (sotto_form_mechanisms[i].mechanism == (sotto_mechanism)form->number[OPTION_MECHANISM])
            return &sotto_form_mechanisms[i];
    return NULL;
}

/* Without a mechanism each number is held against the widest range. */
static void check_widely(sotto_form *form, sotto_option unknown)
{
    for (int i = OPTION_SIGMA; i < OPTIONS; i++)
        if (form->given[i] && sotto_form_is_number((sotto_option)i) && (sotto_option)i != unknown)
            sotto_form_check_number(form, (sotto_option)i, NULL);
}

/* Pure DP has delta 0, and not every mechanism is that. */
static void check_delta(sotto_form *form, const sotto_form_mechanism *m)
{
    const sotto_mechanism_entry *entry = m != NULL ? sotto_mechanism_find(m->mechanism) : NULL;

    if (form->exact[OPTION_DELTA] != 0 || entry == NULL || entry->pure == NULL)
        sotto_form_check_number(form, OPTION_DELTA, NULL);
}

void sotto_form_question(sotto_form *form, sotto_question *out, sotto_option unknown,
                         bool without_delta)
{
    const sotto_form_mechanism *m = mechanism_of(form);

    *out = (sotto_question){0};
    for (int i = OPTION_MECHANISM; i <= OPTION_TRUST; i++)
        require(form, (sotto_option)i, m);
    require_dishonest(form, m);
    if (without_delta && form->tried[OPTION_DELTA])
        sotto_form_complain(form, "--epsilon asks for the delta at an epsilon, --delta for the "
                                  "epsilon at a delta: give --epsilon or --delta (to judge a pair: "
                                  "--claim and --delta)");
    if (!without_delta && unknown != OPTION_DELTA)
        require(form, OPTION_DELTA, m);
    if (form->given[OPTION_DELTA] && unknown != OPTION_DELTA)
        check_delta(form, m);
    if (m == NULL) {
        check_widely(form, unknown);
        return;
    }
    check_options(form, m, unknown);
    out->mechanism = m->mechanism;
    out->adjacency = (sotto_adjacency)form->number[OPTION_ADJACENCY];
    out->trust = (sotto_trust)form->number[OPTION_TRUST];
    out->dishonest = form->dishonest;
    out->delta = form->number[OPTION_DELTA];
    out->pure = form->given[OPTION_DELTA] && form->exact[OPTION_DELTA] == 0;
    out->participation_is_hidden = form->given[OPTION_HIDDEN];
    m->fill(out, form);
}
