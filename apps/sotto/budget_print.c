#include "budget_print.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "verbs.h"

/* ---- pieces ----------------------------------------------------------------------------------------- */

void sotto_print_json_string(const char *text)
{
    putchar('"');
    for (const unsigned char *c = (const unsigned char *)text; *c != 0; c++) {
        if (*c == '"' || *c == '\\')
            printf("\\%c", *c);
        else if (*c < 0x20 || *c >= 0x7f)
            printf("\\u%04x", *c);
        else
            putchar(*c);
    }
    putchar('"');
}

void sotto_print_json_number(double x)
{
    if (isfinite(x))
        printf("%.17g", x);
    else
        printf("null");
}

int sotto_budget_exit(sotto_status status)
{
    if (status == SOTTO_OK)
        return EXIT_DONE;
    if (status == SOTTO_MALFORMED)
        return EXIT_USAGE;
    return status == SOTTO_DENIED ? EXIT_REFUSED : EXIT_FAILED;
}

static const char *trust_assumption(const sotto_question *q)
{
    if (q->trust == SOTTO_TRUST_FLAMINGO)
        return "enough clients and decryptors honest; the server sees who takes part";
    if (q->trust == SOTTO_TRUST_AERO)
        return "most devices honest; the server sees who takes part";
    return q->participation_is_hidden
               ? "leader or helper honest, relay or gateway honest; tokens hide who takes part"
               : "leader or helper honest; who takes part is seen";
}

static double dishonest_share(const sotto_question *q)
{
    return (double)q->dishonest.parts / (double)q->dishonest.of;
}

/* Both want x >= 0. */
void sotto_print_up(double x, int digits)
{
    char text[40];
    double shown = x, step = fmax(x * pow(10, -digits), nextafter(0, 1));

    do {
        (void)snprintf(text, sizeof text, "%.*g", digits, shown);
        shown += step;
    } while (strtod(text, NULL) < x);
    printf("%s", text);
}

void sotto_print_down(double x, int digits)
{
    char text[40];
    double shown = x, step = fmax(x * pow(10, -digits), nextafter(0, 1));

    do {
        (void)snprintf(text, sizeof text, "%.*g", digits, shown);
        shown -= step;
    } while (strtod(text, NULL) > x);
    printf("%s", text);
}

bool sotto_budget_claim_fails(const sotto_budget_result *r)
{
    return r->has_claim && r->status == SOTTO_OK && !(r->claim >= r->answer.high);
}

static void print_claim(const sotto_budget_result *r)
{
    const sotto_answer *a = &r->answer;

    if (!r->has_claim)
        return;
    printf("\n  claim     epsilon %.12g ", r->claim);
    if (r->claim >= a->high) {
        printf("holds: it is not below the certified ");
        sotto_print_up(a->high, 12);
    } else if (r->claim < a->low) {
        printf(a->optimal ? "does NOT hold: the mechanism itself has at least "
                          : "does not follow: this theorem gives at least ");
        sotto_print_down(a->low, 12);
    } else {
        printf("cannot be told from the truth: it is within [");
        sotto_print_down(a->low, 12);
        printf(", ");
        sotto_print_up(a->high, 12);
        printf("]");
    }
    printf("\n");
    if (r->claim_status != SOTTO_OK)
        return;
    printf("            epsilon %.12g goes with delta ", r->claim);
    sotto_print_up(r->claim_delta.high, 6);
    printf(" (certified from above)\n");
}

/* ---- refusals --------------------------------------------------------------------------------------- */

#define BY_HIDDEN                                                                                  \
    "--hidden asserts that a relay and anonymous tokens hide who takes part (sotto has neither "   \
    "today: for planning)"
#define BY_COUNTING "--mechanism counted-gaussian is for sampling that is seen"

/* The way out of a refusal to amplify, which comes before every other; "" for none. */
static const char *hint(const sotto_question *q, const sotto_budget_result *r)
{
    bool split = q->trust == SOTTO_TRUST_SPLIT;

    if (r->status != SOTTO_DENIED || q->participation_is_hidden)
        return "";
    switch (q->mechanism) {
    case SOTTO_MECHANISM_SAMPLED_GAUSSIAN:
        return split ? BY_HIDDEN "; " BY_COUNTING : BY_COUNTING;
    case SOTTO_MECHANISM_ALLOCATED_GAUSSIAN:
        return split ? BY_HIDDEN "; --mechanism gaussian is for a slot that is seen"
                     : "--mechanism gaussian is for a slot that is seen";
    case SOTTO_MECHANISM_CHECK_IN:
    case SOTTO_MECHANISM_DONATION:
        return split ? BY_HIDDEN : "";
    case SOTTO_MECHANISM_SHUFFLED:
    case SOTTO_MECHANISM_SYMMETRIC_ONE_HOT:
    case SOTTO_MECHANISM_BINARY_RESPONSE:
        return split && q->of.local.rate != 1 ? BY_HIDDEN "; without --rate it is not needed" : "";
    default:
        return "";
    }
}

void sotto_budget_print_refusal(const char *before, const sotto_question *q,
                                const sotto_budget_result *r)
{
    (void)fprintf(stderr, "%s: refused: %s\n", before, r->err.reason);
    if (hint(q, r)[0] != 0)
        (void)fprintf(stderr, "%s: %s\n", before, hint(q, r));
}

/* ---- whole answers ---------------------------------------------------------------------------------- */

void sotto_budget_print(const sotto_question *q, const sotto_budget_result *r)
{
    const sotto_answer *a = &r->answer;

    if (r->asks_delta)
        printf("  delta     <= ");
    else
        printf("  epsilon   <= ");
    sotto_print_up(a->high, 10);
    printf("   (at least ");
    sotto_print_down(a->low, 10);
    printf("%s)\n", a->low == 0 ? ", no lower bound known" : a->optimal ? "" : " by this theorem");
    if (r->asks_delta)
        printf("  at        epsilon %.12g\n", r->epsilon);
    else
        printf("  at        delta %.12g\n", q->delta);
    printf("  theorem   %s\n", a->theorem);
    printf("  route     %s\n", a->route);
    printf("  adjacency %s\n", sotto_adjacency_name(a->adjacency));
    printf("  trust     %s: %s\n", sotto_trust_name(a->trust), trust_assumption(q));
    printf("  honest    %.6g of the cohort assumed dishonest or dropped; ", dishonest_share(q));
    if (a->honest > 0)
        printf("%" PRIu64 " honest counted on\n", a->honest);
    else
        printf("nobody else's randomness is counted on\n");
    printf("  time      %.3f ms\n", r->seconds * 1e3);
    print_claim(r);
}

static void print_json_claim(const sotto_budget_result *r)
{
    const sotto_answer *a = &r->answer;

    printf(",\"claim\":");
    sotto_print_json_number(r->claim);
    printf(",\"claim_holds\":%s", r->claim >= a->high               ? "true"
                                  : r->claim < a->low && a->optimal ? "false"
                                                                    : "null");
    printf(",\"claim_delta\":");
    sotto_print_json_number(r->claim_status == SOTTO_OK ? r->claim_delta.high : (double)NAN);
}

void sotto_budget_print_members(const sotto_question *q, const sotto_budget_result *r)
{
    const sotto_answer *a = &r->answer;

    printf("\"mechanism\":\"%s\",\"quantity\":\"%s\",\"low\":",
           sotto_form_mechanism_name(q->mechanism), r->asks_delta ? "delta" : "epsilon");
    sotto_print_json_number(a->low);
    printf(",\"high\":");
    sotto_print_json_number(a->high);
    printf(",\"%s\":", r->asks_delta ? "epsilon" : "delta");
    sotto_print_json_number(r->asks_delta ? r->epsilon : q->delta);
    printf(",\"optimal\":%s,\"theorem\":", a->optimal ? "true" : "false");
    sotto_print_json_string(a->theorem);
    printf(",\"route\":");
    sotto_print_json_string(a->route);
    printf(",\"adjacency\":\"%s\",\"trust\":\"%s\",\"participation_hidden\":%s,\"assumes\":",
           sotto_adjacency_name(a->adjacency), sotto_trust_name(a->trust),
           q->participation_is_hidden ? "true" : "false");
    sotto_print_json_string(trust_assumption(q));
    printf(",\"dishonest\":%.12g,\"honest\":%" PRIu64 ",\"seconds\":%.9f", dishonest_share(q),
           a->honest, r->seconds);
}

void sotto_budget_print_json(const sotto_question *q, const sotto_budget_result *r)
{
    printf("{");
    if (r->line > 0)
        printf("\"line\":%zu,", r->line);
    if (r->status != SOTTO_OK) {
        printf("\"refused\":\"%s\",\"reason\":", sotto_status_name(r->status));
        sotto_print_json_string(r->err.reason);
        if (hint(q, r)[0] != 0) {
            printf(",\"hint\":");
            sotto_print_json_string(hint(q, r));
        }
        printf("}\n");
        return;
    }
    sotto_budget_print_members(q, r);
    if (r->has_claim)
        print_json_claim(r);
    printf("}\n");
}

void sotto_budget_print_mistakes(const char *verb, const sotto_form *form, bool json,
                                 const char *place, size_t line)
{
    if (!json) {
        for (size_t i = 0; i < form->mistake_count; i++) {
            if (line > 0)
                (void)fprintf(stderr, "%s %zu: ", place, line);
            else
                (void)fprintf(stderr, "%s: ", verb);
            (void)fprintf(stderr, "%s\n", form->mistakes[i]);
        }
        return;
    }
    printf("{");
    if (line > 0)
        printf("\"line\":%zu,", line);
    printf("\"refused\":\"malformed\",\"mistakes\":[");
    for (size_t i = 0; i < form->mistake_count; i++) {
        printf("%s", i > 0 ? "," : "");
        sotto_print_json_string(form->mistakes[i]);
    }
    printf("]}\n");
}
