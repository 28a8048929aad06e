/* sotto budget plan --find dummies - how many dummies hide in the number of reports who takes part. */
#include "budget_ask.h"

#include "account/claims_count.h"
#include "account/honest.h"
#include "account/numeric/bound.h"
#include "account/numeric/shown.h"
#include "account/trust.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "show.h"
#include "verbs.h"

static const sotto_option needed[] = {OPTION_TRUST, OPTION_DISHONEST, OPTION_DELTA, OPTION_COHORT};

static void check(sotto_budget_command *c)
{
    sotto_form *f = &c->form;

    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        if (!f->given[needed[i]] && !f->tried[needed[i]])
            sotto_form_complain(f, "--%s is missing", sotto_form_name(needed[i]));
    if (c->epsilon == 0)
        sotto_form_complain(f, "--epsilon is missing: the epsilon to stay within");
    for (int i = 0; i < OPTIONS; i++) {
        bool known = i == OPTION_HIDDEN || i == OPTION_RATE;

        for (size_t j = 0; j < sizeof needed / sizeof needed[0]; j++)
            known = known || i == (int)needed[j];
        if (f->given[i] && !known)
            sotto_form_complain(f, "--%s: the number of reports has no such parameter",
                                sotto_form_name((sotto_option)i));
    }
}

typedef struct plan {
    sotto_claim_question question;
    sotto_answer answer;
    double target, rate;
    double given, worth; /* a rate that was asked about; worth INFINITY: no epsilon */
} plan;

static void print_json(const plan *p)
{
    const sotto_claim_question *q = &p->question;
    sotto_json j = sotto_show_object(stdout, SOTTO_JSON_COMPACT);

    sotto_json_text(&j, "find", "dummies");
    sotto_json_real(&j, "target_epsilon", p->target);
    sotto_json_real(&j, "value", p->rate * (double)q->honest);
    sotto_json_real(&j, "rate", p->rate);
    if (p->given > 0 && isfinite(p->worth))
        sotto_json_real(&j, "given_rate_epsilon", p->worth);
    sotto_json_real(&j, "high", p->answer.high);
    sotto_json_real(&j, "delta", exp(q->log_delta));
    sotto_json_text(&j, "theorem", p->answer.theorem);
    sotto_json_text(&j, "trust", sotto_trust_words_of(q->trust)->assumes[1]);
    sotto_json_uint(&j, "honest", q->honest);
    (void)sotto_show_end(&j);
}

static void print(const plan *p)
{
    const sotto_claim_question *q = &p->question;

    printf("  dummies   %.0f   expected of honest devices: the fewest that keep epsilon <= %.12g\n",
           ceil(p->rate * (double)q->honest), p->target);
    printf("            a rate of %.9g for each device that does not take part\n",
           sotto_bound_shown(p->rate, 9));
    if (p->given > 0 && isfinite(p->worth))
        printf("            a rate of %.9g is worth epsilon %.10g\n", p->given,
               sotto_bound_shown(p->worth, 10));
    else if (p->given > 0)
        printf("            a rate of %.9g is worth no epsilon at this delta\n", p->given);
    printf("  epsilon   <= %.10g   of the number of reports\n",
           sotto_bound_shown(p->answer.high, 10));
    printf("  at        delta %.6g\n", exp(q->log_delta));
    printf("  theorem   %s\n", p->answer.theorem);
    printf("  route     %s\n", p->answer.route);
    printf("  adjacency one device takes part or does not\n");
    printf("  trust     %s: %s\n", sotto_trust_name(q->trust),
           sotto_trust_words_of(q->trust)->assumes[1]);
    printf("  honest    %" PRIu64 " that do not take part, and may send dummies\n", q->honest);
}

static sotto_status find(plan *p, const sotto_form *f, sotto_err *err)
{
    sotto_answer given;

    SOTTO_TRY(sotto_share_honest(&p->question.honest, (uint64_t)f->number[OPTION_COHORT],
                                 f->dishonest, err));
    SOTTO_TRY(sotto_plan_count(&p->answer, &p->rate, &p->question, p->target, err));
    p->worth = INFINITY;
    if (f->given[OPTION_RATE]) {
        p->given = f->number[OPTION_RATE];
        if (sotto_claim_count(&given, &p->question, p->given, NULL) == SOTTO_OK)
            p->worth = given.high;
    }
    return SOTTO_OK;
}

int sotto_budget_plan_dummies(sotto_budget_command *c)
{
    plan p = {.target = c->epsilon};
    sotto_err err = {0};

    check(c);
    if (c->form.mistake_count > 0) {
        sotto_budget_print_mistakes(c->verb, &c->form, c->json, "line", 0);
        return EXIT_USAGE;
    }
    p.question.trust = (sotto_trust)c->form.number[OPTION_TRUST];
    p.question.hidden = c->form.given[OPTION_HIDDEN];
    p.question.log_delta = sotto_round_down(log(c->form.number[OPTION_DELTA]), 4);
    sotto_status status = find(&p, &c->form, &err);
    if (status != SOTTO_OK)
        (void)fprintf(stderr, "%s: refused: %s\n", c->verb, err.reason);
    else if (c->json)
        print_json(&p);
    else
        print(&p);
    return sotto_budget_exit(status);
}
