/* sotto recipe price, of importance sampling: which two rates show rare values best. */
#include "recipe_price.h"

#include "account/numeric/shown.h"
#include "recipe/price_rates.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const names[SOTTO_RATES_KINDS] = {"one rate", "even split", "as written",
                                                     "best"};

static void print_rates(const sotto_rates *r, const char *name)
{
    printf("%c %-12s %10.4g %10.4g", name == names[SOTTO_RATES_BEST] ? '>' : ' ', name,
           r->rate_default, r->rate_other);
    if (!r->found) {
        printf("  no: silence costs %.4g, which leaves no epsilon for a report\n",
               sotto_bound_shown(r->silence, 4));
        return;
    }
    printf(" %8.4g %8.4g %9.0f %10.5g\n", sotto_bound_shown(r->silence, 4),
           sotto_bound_shown(r->epsilon_local, 4), r->reports, r->off);
}

static void print_plan(const sotto_price_job *job, const sotto_rates_plan *p)
{
    const sotto_price_question *q = &job->question;
    const sotto_rates *best = &p->rates[SOTTO_RATES_BEST];

    printf("%s: importance sampling, %.0f devices, of which %.0f have a rare value\n"
           "wanted: the best rates, at epsilon %.6g with a cohort of %" PRIu64 "\n\n",
           job->recipe.files[0], p->devices, p->rare, sotto_decimal_up(q->epsilon), q->cohort);
    printf("  %-12s %10s %10s %8s %8s %9s %10s\n", "", "default", "other", "silence", "local",
           "reports", "off by");
    for (int i = 0; i < SOTTO_RATES_KINDS; i++)
        if (i != SOTTO_RATES_BEST || best->found)
            print_rates(&p->rates[i], names[i]);
    printf("\nsilence: what it adds to the epsilon of a report, beside local. off by: the count of "
           "a rare value, of all\ndevices, by privacy and by sampling: the root of the mean square "
           "over %.0f of them.\n",
           p->bins);
    if (!best->found) {
        printf("\nNo rates keep epsilon %.6g with a cohort of %" PRIu64 ".\n",
               sotto_decimal_up(q->epsilon), q->cohort);
        return;
    }
    if (best->rate_default == best->rate_other)
        printf("\nOne rate is best: what silence would tell costs more than rare values gain.\n");
    printf("\nIn the recipe, in place of its `randomizer`, `participation`, `privacy`:\n  %.*s\n",
           (int)p->fragment.len, (const char *)p->fragment.data);
}

static bool print_json(const sotto_rates_plan *p)
{
    sotto_json j = sotto_show_object(stdout, SOTTO_JSON_COMPACT);

    sotto_json_bool(&j, "ok", p->rates[SOTTO_RATES_BEST].found);
    sotto_json_real(&j, "devices", p->devices);
    sotto_json_real(&j, "rare", p->rare);
    sotto_json_real(&j, "bins", p->bins);
    sotto_json_array(&j, "rates");
    for (int i = 0; i < SOTTO_RATES_KINDS; i++) {
        const sotto_rates *r = &p->rates[i];

        sotto_json_object(&j, NULL);
        sotto_json_text(&j, "name", names[i]);
        sotto_json_bool(&j, "found", r->found);
        sotto_json_real(&j, "rate_default", r->rate_default);
        sotto_json_real(&j, "rate_other", r->rate_other);
        sotto_json_real(&j, "silence", r->silence);
        sotto_json_real(&j, "epsilon_local", r->epsilon_local);
        sotto_json_real(&j, "reports", r->reports);
        sotto_json_real(&j, "noise", r->noise);
        sotto_json_real(&j, "draw", r->draw);
        sotto_json_real(&j, "off", r->off);
        sotto_json_end(&j);
    }
    sotto_json_end(&j);
    sotto_json_bytes(&j, "fragment", p->fragment);
    return sotto_show_end(&j);
}

int sotto_price_answer_rates(sotto_price_job *job)
{
    static sotto_rates_plan plan;
    sotto_err err = {0};

    if (sotto_price_rates(&plan, &job->question, job->recipe.recipe, &job->recipe.arena, &err) !=
        SOTTO_OK) {
        (void)fprintf(stderr, "sotto recipe price: %s\n", err.reason);
        return sotto_exit_code(err.status, SOTTO_AT_DATA);
    }
    if (job->recipe.json && !print_json(&plan))
        return EXIT_FAILED;
    if (!job->recipe.json)
        print_plan(job, &plan);
    if (!plan.rates[SOTTO_RATES_BEST].found)
        return EXIT_REFUSED;
    return sotto_price_save(job, plan.text);
}
