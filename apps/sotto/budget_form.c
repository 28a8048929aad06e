#include "budget_form.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "support/number.h"

typedef enum option_kind { REAL, COUNT, CHOICE, FLAG, SHARE } option_kind;

/* Where an end of a range itself is excluded, the smallest step inside it stands. */
static const struct option {
    const char *name;
    const char *alias; /* "" for none */
    option_kind kind;
    sotto_rounding rounding; /* against the claim */
    double low, high;
    const char *accepts;
    const char *help;
} options[OPTIONS] = {
    [OPTION_MECHANISM] = {"mechanism", "", CHOICE, SOTTO_ROUND_NEAREST, 0, 0,
                          "a mechanism of `sotto budget account --help`", "what is released"},
    [OPTION_ADJACENCY] = {"adjacency", "", CHOICE, SOTTO_ROUND_NEAREST, 0, 0,
                          "add-remove, replacement or deletion", "what neighbours differ in"},
    [OPTION_TRUST] = {"trust", "", CHOICE, SOTTO_ROUND_NEAREST, 0, 0, "split, flamingo or aero",
                      "how reports are added up"},
    [OPTION_DISHONEST] = {"dishonest", "", SHARE, SOTTO_ROUND_NEAREST, 0, 1, "0 to below 1",
                          "share of the cohort that lies, colludes or drops out"},
    [OPTION_HIDDEN] = {"hidden", "relay-and-tokens", FLAG, SOTTO_ROUND_NEAREST, 0, 0, "",
                       "split only: relay and tokens hide who takes part"},
    [OPTION_DELTA] = {"delta", "", REAL, SOTTO_ROUND_DOWN, 1e-300, 0.999999, "1e-300 to below 1",
                      "the delta of the claim"},
    [OPTION_SIGMA] = {"sigma", "", REAL, SOTTO_ROUND_DOWN, 1e-9, 1e15, "1e-9 to 1e15",
                      "standard deviation of the noise"},
    [OPTION_CLIP] = {"clip", "", REAL, SOTTO_ROUND_UP, 1e-9, 1e15, "1e-9 to 1e15",
                     "largest norm of one person's vector (1)"},
    [OPTION_ONE_HOT] = {"one-hot", "", FLAG, SOTTO_ROUND_NEAREST, 0, 0, "",
                        "the vector is one-hot instead of clipped"},
    [OPTION_RATE] = {"rate", "q", REAL, SOTTO_ROUND_UP, 1e-12, 1, "above 0 to 1",
                     "chance to be sampled in a round"},
    [OPTION_ROUNDS] = {"rounds", "T", COUNT, SOTTO_ROUND_NEAREST, 1, 1e12, "1 to 1e12",
                       "how many times"},
    [OPTION_RELEASES] = {"releases", "participations", COUNT, SOTTO_ROUND_NEAREST, 1, 1e12,
                         "1 to 1e12", "releases about the same person (1)"},
    [OPTION_SLOTS] = {"slots", "", COUNT, SOTTO_ROUND_NEAREST, 1, 1e9, "1 to 1e9",
                      "slots or times to choose from"},
    [OPTION_SENSITIVITY] = {"sensitivity", "", COUNT, SOTTO_ROUND_NEAREST, 1, 1e9, "1 to 1e9",
                            "largest change of the integer sum (L2 for vectors)"},
    [OPTION_DIMENSION] = {"dimension", "", COUNT, SOTTO_ROUND_NEAREST, 1, 1e12, "1 to 1e12",
                          "entries of the vector"},
    [OPTION_COHORT] = {"cohort", "n", COUNT, SOTTO_ROUND_NEAREST, 1, 1e12, "1 to 1e12",
                       "devices that report, dishonest ones included"},
    [OPTION_LOCAL_EPSILON] = {"local-epsilon", "eps0", REAL, SOTTO_ROUND_UP, 1e-9, 30, "1e-9 to 30",
                              "epsilon of one report alone"},
    [OPTION_RELEASE_EPSILON] = {"release-epsilon", "", REAL, SOTTO_ROUND_UP, 1e-9, 100,
                                "1e-9 to 100", "epsilon of one release"},
    [OPTION_DELTA_EACH] = {"delta-each", "", REAL, SOTTO_ROUND_UP, 1e-300, 0.5, "1e-300 to 0.5",
                           "delta of one release"},
    [OPTION_VARIANT] = {"variant", "", CHOICE, SOTTO_ROUND_NEAREST, 0, 0,
                        "fixed, averaged or sliding", "kind of check-in"},
    [OPTION_WINDOW] = {"window", "m", COUNT, SOTTO_ROUND_NEAREST, 1, 1e12, "1 to 1e12",
                       "steps of a check-in window"},
    [OPTION_PROBABILITY] = {"probability", "p0", REAL, SOTTO_ROUND_UP, 1e-12, 1, "above 0 to 1",
                            "chance to check in at all (1)"},
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

void sotto_form_print_options(void)
{
    for (int i = 0; i < OPTIONS; i++) {
        char name[40];

        (void)snprintf(name, sizeof name, "--%s%s%s", options[i].name,
                       options[i].alias[0] != 0 ? ", --" : "", options[i].alias);
        printf("  %-28s %s%s%s%s\n", name, options[i].help, options[i].accepts[0] != 0 ? " [" : "",
               options[i].accepts, options[i].accepts[0] != 0 ? "]" : "");
    }
}

static void print_names(unsigned long set, const char *before, const char *between)
{
    for (int i = 0; i < OPTIONS; i++) {
        if ((set >> i & 1) == 0)
            continue;
        printf("%s--%s", before, options[i].name);
        before = between;
    }
}

void sotto_form_print_mechanisms(void)
{
    for (size_t i = 0; i < sotto_form_mechanism_count; i++) {
        const sotto_form_mechanism *m = &sotto_form_mechanisms[i];

        printf("  %s%s%s: %s\n", sotto_mechanism_name(m->mechanism), m->alias[0] != 0 ? " or " : "",
               m->alias, m->help);
        print_names(m->needs, "      ", " ");
        if (m->takes != 0)
            print_names(m->takes, " [", " ");
        printf("%s\n", m->takes != 0 ? "]" : "");
    }
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
    for (unsigned t = SOTTO_TRUST_SPLIT; t <= SOTTO_TRUST_AERO; t++)
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
        sotto_form_complain(form, "--%s: '%.40s' is not a number; accepted: %s", o->name, text,
                            o->accepts);
        return;
    }
    if (!(exact >= o->low && exact <= o->high) || (o->kind == COUNT && exact != floor(exact))) {
        sotto_form_complain(form, "--%s: %.40s is outside of what is accepted: %s%s", o->name, text,
                            o->accepts, o->kind == COUNT ? ", whole" : "");
        return;
    }
    /* Rounding against the claim must not leave the range. */
    sotto_form_put(form, option, fmin(fmax(x, o->low), o->high));
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

    if (option == OPTIONS)
        return false;
    form->tried[option] = true;
    if (options[option].kind == FLAG) {
        set_flag(form, option, text);
    } else if (text == NULL) {
        sotto_form_complain(form, "--%s needs a value: %s", options[option].name,
                            options[option].accepts);
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
    form->number[option] = x;
}

/* ---- the question ----------------------------------------------------------------------------------- */

static void require(sotto_form *form, sotto_option option)
{
    if (!form->given[option] && !form->tried[option])
        sotto_form_complain(
            form, "--%s is missing: %s%s%s", options[option].name, options[option].help,
            options[option].accepts[0] != 0 ? "; accepted: " : "", options[option].accepts);
}

static void check_options(sotto_form *form, const sotto_form_mechanism *m, sotto_option unknown)
{
    for (int i = OPTION_SIGMA; i < OPTIONS; i++) {
        bool fits = ((m->needs | m->takes) >> i & 1) != 0;

        if ((m->needs >> i & 1) != 0 && (sotto_option)i != unknown)
            require(form, (sotto_option)i);
        if (!fits && form->given[i])
            sotto_form_complain(form, "--%s has no place in %s", options[i].name,
                                sotto_mechanism_name(m->mechanism));
    }
    if (form->given[OPTION_ONE_HOT] && form->given[OPTION_CLIP])
        sotto_form_complain(form, "--clip and --one-hot exclude each other");
}

void sotto_form_question(sotto_form *form, sotto_question *out, sotto_option unknown,
                         bool without_delta)
{
    const sotto_form_mechanism *m = NULL;

    *out = (sotto_question){0};
    for (int i = OPTION_MECHANISM; i <= OPTION_DISHONEST; i++)
        require(form, (sotto_option)i);
    if (!without_delta && unknown != OPTION_DELTA)
        require(form, OPTION_DELTA);
    for (size_t i = 0; i < sotto_form_mechanism_count && form->given[OPTION_MECHANISM]; i++)
        if (sotto_form_mechanisms[i].mechanism == (sotto_mechanism)form->number[OPTION_MECHANISM])
            m = &sotto_form_mechanisms[i];
    if (m == NULL)
        return;
    check_options(form, m, unknown);
    out->mechanism = m->mechanism;
    out->adjacency = (sotto_adjacency)form->number[OPTION_ADJACENCY];
    out->trust = (sotto_trust)form->number[OPTION_TRUST];
    out->dishonest = form->dishonest;
    out->delta = form->number[OPTION_DELTA];
    out->participation_is_hidden = form->given[OPTION_HIDDEN];
    m->fill(out, form);
}
