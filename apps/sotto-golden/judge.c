/* The rules by which an answer is held against a reference number. */
#include "golden.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/number.h"

static const double LOOSEST = 1e-4;  /* an upper bound further above the truth fails */
static const double NOTHING = 1e-15; /* what a model may say where the reference is 0 */

typedef struct reference {
    double value;
    double rel_tol;
} reference;

static sotto_golden_verdict fail(sotto_err *why, const char *what, double got, double wanted)
{
    (void)sotto_fail(why, SOTTO_REJECTED, "%s: %.17g against %.17g", what, got, wanted);
    return SOTTO_GOLDEN_FAILED;
}

/* Never below the truth beyond the reference's own doubt, hardly above it, and the lower bound is one. */
static sotto_golden_verdict judge_exact(sotto_bound got, reference r, sotto_err *why)
{
    double doubt = r.rel_tol * fabs(r.value);

    if (!(got.high >= r.value - doubt))
        return fail(why, "high is below the truth", got.high, r.value);
    if (!(got.high <= r.value + LOOSEST * fabs(r.value)))
        return fail(why, "high is loose", got.high, r.value);
    if (!(got.low <= r.value + doubt))
        return fail(why, "low is above the truth", got.low, r.value);
    return SOTTO_GOLDEN_PASSED;
}

static sotto_golden_verdict judge_formula(sotto_bound got, reference r, sotto_err *why)
{
    if (!(fabs(got.high - r.value) <= r.rel_tol * fabs(r.value)))
        return fail(why, "not the formula's value", got.high, r.value);
    if (!(got.low <= r.value + r.rel_tol * fabs(r.value)))
        return fail(why, "low is above the formula's value", got.low, r.value);
    return SOTTO_GOLDEN_PASSED;
}

static sotto_golden_verdict judge_upper(sotto_bound got, reference r, sotto_err *why)
{
    if (!(got.high <= r.value + r.rel_tol * fabs(r.value)))
        return fail(why, "looser than the reference", got.high, r.value);
    if (!(got.high >= got.low))
        return fail(why, "high is below our own low", got.high, got.low);
    return SOTTO_GOLDEN_PASSED;
}

static sotto_golden_verdict judge_model(sotto_bound got, reference r, sotto_err *why)
{
    double allowed = r.value == 0 ? NOTHING : r.rel_tol * fabs(r.value);

    if (!(fabs(got.high - r.value) <= allowed))
        return fail(why, "not the model's value", got.high, r.value);
    return SOTTO_GOLDEN_PASSED;
}

/* log of a decimal number above 0 that may be far below what a double holds: digits and exponent apart. */
static long double log_of_text(const char *text)
{
    const char *e = strpbrk(text, "eE");
    long exponent = e != NULL ? strtol(e + 1, NULL, 10) : 0;
    char digits[80];

    (void)snprintf(digits, sizeof digits, "%.*s", (int)strcspn(text, "eE"), text);
    return logl(strtold(digits, NULL)) + (long double)exponent * logl(10.0L);
}

/* judge_exact for numbers too small for doubles. A reference that is printed as 0 vanished likewise. */
static sotto_golden_verdict judge_tiny(sotto_bound log_got, const char *text, reference r,
                                       sotto_err *why)
{
    if (text[strspn(text, "+0.")] == 0 || text[strspn(text, "+0.")] == 'e')
        return SOTTO_GOLDEN_PASSED;
    long double value = log_of_text(text);
    if (!(log_got.high >= value + log1pl(-(long double)r.rel_tol)))
        return fail(why, "log of high is below the truth", log_got.high, (double)value);
    if (!(log_got.high <= value + log1pl(LOOSEST)))
        return fail(why, "log of high is loose", log_got.high, (double)value);
    if (!(log_got.low <= value + log1pl(r.rel_tol)))
        return fail(why, "log of low is above the truth", log_got.low, (double)value);
    return SOTTO_GOLDEN_PASSED;
}

static const struct kind {
    const char *name;
    sotto_golden_verdict (*judge)(sotto_bound got, reference r, sotto_err *why);
} kinds[] = {
    {"exact", judge_exact}, {"exact_of_bound", judge_exact}, {"formula", judge_formula},
    {"upper", judge_upper}, {"model", judge_model},
};

static sotto_golden_verdict judge_number(const sotto_golden_answer *answer,
                                         const sotto_golden_row *row, const struct kind *kind,
                                         sotto_err *why)
{
    reference r = {0};

    if (sotto_golden_number(&r.value, row, "value", why) != SOTTO_OK ||
        sotto_golden_number(&r.rel_tol, row, "rel_tol", why) != SOTTO_OK)
        return SOTTO_GOLDEN_FAILED;
    if (r.rel_tol < 0) {
        (void)sotto_fail(why, SOTTO_MALFORMED, "rel_tol is negative");
        return SOTTO_GOLDEN_FAILED;
    }
    if (isnan(answer->value.low) || isnan(answer->value.high) ||
        answer->value.low > answer->value.high)
        return fail(why, "low and high contradict each other", answer->value.low,
                    answer->value.high);
    if (answer->tiny && kind->judge == judge_exact)
        return judge_tiny(answer->value, sotto_golden_text(row, "value"), r, why);
    if (answer->tiny)
        return kind->judge((sotto_bound){0, 0}, r, why);
    if (answer->nature == SOTTO_GOLDEN_COUNT && kind->judge == judge_exact)
        return judge_formula(answer->value, r, why);
    return kind->judge(answer->value, r, why);
}

static sotto_golden_verdict judge_decision(const sotto_golden_answer *answer,
                                           const sotto_golden_row *row, sotto_err *why)
{
    const char *decision = sotto_golden_text(row, "decision");
    const char *reason = sotto_golden_text(row, "reason");

    if (strcmp(decision, answer->decision) == 0 && strcmp(reason, answer->reason) == 0)
        return SOTTO_GOLDEN_PASSED;
    (void)sotto_fail(why, SOTTO_REJECTED, "'%s' (%s) against '%.20s' (%.60s)", answer->decision,
                     answer->reason, decision, reason);
    return SOTTO_GOLDEN_FAILED;
}

sotto_golden_verdict sotto_golden_judge(const sotto_golden_answer *answer,
                                        const sotto_golden_row *row, sotto_err *why)
{
    const char *name = sotto_golden_text(row, "kind");
    const struct kind *kind = NULL;
    bool wants_refusal = sotto_golden_is(row, "value", "NA");

    if (answer->nature == SOTTO_GOLDEN_DECISION)
        return judge_decision(answer, row, why);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].name, name) == 0)
            kind = &kinds[i];
    if (kind == NULL) {
        (void)sotto_fail(why, SOTTO_MISSING, "no kind '%.80s' is judged here", name);
        return SOTTO_GOLDEN_SKIPPED;
    }
    if (answer->refused && wants_refusal)
        return SOTTO_GOLDEN_PASSED;
    if (answer->refused)
        (void)sotto_fail(why, SOTTO_REJECTED, "refused: %.140s", answer->reason);
    else if (wants_refusal)
        (void)sotto_fail(why, SOTTO_REJECTED, "answered %.17g where it must refuse",
                         answer->value.high);
    if (answer->refused || wants_refusal)
        return SOTTO_GOLDEN_FAILED;
    return judge_number(answer, row, kind, why);
}
