#include "chaos_judge.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void show(const char *label, const sotto_question *q)
{
    (void)fprintf(stderr, "  %s: mechanism %d, %s, %s%s, dishonest %llu/%llu, delta %.17g\n", label,
                  (int)q->mechanism, sotto_adjacency_name(q->adjacency), sotto_trust_name(q->trust),
                  q->participation_is_hidden ? " hidden" : "",
                  (unsigned long long)q->dishonest.parts, (unsigned long long)q->dishonest.of,
                  q->delta);
    if (q->mechanism == SOTTO_MECHANISM_CHECK_IN)
        (void)fprintf(stderr, "    variant %d\n", (int)q->of.check_in.variant);
    for (size_t i = 0; i < CHAOS_PARAMETERS; i++)
        if (chaos_parameters[i].of == q->mechanism)
            (void)fprintf(stderr, "    %s %.17g\n", chaos_parameters[i].name,
                          chaos_get(q, &chaos_parameters[i]));
}

void chaos_lie(chaos *c, const char *what, const sotto_question *a, const sotto_question *b,
               const sotto_answer *x, const sotto_answer *y)
{
    if (c->lies++ >= 40)
        return;
    (void)fprintf(stderr, "seed %llu: %s\n", (unsigned long long)c->seed, what);
    show("question", a);
    if (x != NULL)
        (void)fprintf(stderr, "    answer [%.17g, %.17g] %s\n", x->low, x->high, x->route);
    if (b != NULL)
        show("other", b);
    if (y != NULL)
        (void)fprintf(stderr, "    answer [%.17g, %.17g] %s\n", y->low, y->high, y->route);
}

static bool names_a_parameter(const char *reason)
{
    static const char *const words[] = {
        "adjacency",    "trust",       "dishonest",
        "delta",        "mechanism",   "clip",
        "contribution", "sigma",       "scale",
        "releases",     "rate",        "rounds",
        "slots",        "window",      "sensitivity",
        "dimension",    "cohort",      "epsilon",
        "variant",      "probability", "these parameters",
    };

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strstr(reason, words[i]) != NULL)
            return true;
    return false;
}

bool chaos_settled(chaos *c, sotto_status status, const sotto_err *err, const sotto_question *q,
                   const sotto_answer *a)
{
    char text[256];

    if (status == SOTTO_OK) {
        c->answered++;
        if (!(a->low >= 0 && a->low <= a->high && a->high < INFINITY))
            chaos_lie(c, "no enclosure", q, NULL, a, NULL);
        if (a->theorem == NULL || a->theorem[0] == '\0' || a->route == NULL || a->route[0] == '\0')
            chaos_lie(c, "no theorem or route", q, NULL, a, NULL);
        return true;
    }
    c->refused++;
    if (status != SOTTO_MALFORMED && status != SOTTO_DENIED) {
        (void)snprintf(text, sizeof text, "status %d: %s", (int)status, err->reason);
        chaos_lie(c, text, q, NULL, NULL, NULL);
    } else if (!names_a_parameter(err->reason)) {
        (void)snprintf(text, sizeof text, "the refusal names no parameter: %s", err->reason);
        chaos_lie(c, text, q, NULL, NULL, NULL);
    }
    return false;
}

bool chaos_ask(chaos *c, sotto_answer *a, const sotto_question *q)
{
    sotto_err err = {0};
    sotto_status status = sotto_privacy_epsilon(a, q, c->tables, &err);

    return chaos_settled(c, status, &err, q, a);
}

bool chaos_ask_delta(chaos *c, sotto_answer *a, const sotto_question *q, double epsilon)
{
    sotto_err err = {0};
    sotto_status status = sotto_privacy_delta(a, q, epsilon, c->tables, &err);

    return chaos_settled(c, status, &err, q, a);
}

void chaos_compare(chaos *c, const char *what, const sotto_question *dear, const sotto_answer *x,
                   const sotto_question *safe, const sotto_answer *y)
{
    c->pairs++;
    if (y->low > x->high)
        chaos_lie(c, what, dear, safe, x, y);
}
