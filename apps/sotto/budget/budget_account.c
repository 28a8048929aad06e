/* sotto budget account - what a release costs. */
#include "budget_ask.h"

#include <stdio.h>

#include "verbs.h"

static int answer_one(sotto_budget_command *c)
{
    sotto_question q;
    sotto_budget_result r;

    sotto_form_question(&c->form, &q, OPTIONS, c->epsilon > 0);
    if (c->form.mistake_count > 0) {
        sotto_budget_print_mistakes(c->verb, &c->form, c->json, "line", 0);
        return EXIT_USAGE;
    }
    sotto_budget_ask(&r, &q, c, NULL);
    if (c->json || r.status == SOTTO_OK)
        sotto_budget_print(&q, &r, c->json);
    else
        sotto_budget_print_refusal(c->verb, &q, &r);
    return sotto_budget_claim_fails(&r) ? EXIT_CLAIM : sotto_budget_exit(r.status);
}

static int run(int argc, char **argv)
{
    static sotto_budget_command c;

    sotto_budget_parse(&c, argc, argv, false);
    if (c.batch == NULL && c.compose)
        sotto_form_complain(&c.form, "--compose needs --batch");
    if (c.batch != NULL && c.curve != NULL)
        sotto_form_complain(&c.form, "--batch and --curve exclude each other");
    if (c.curve == NULL && (c.csv != NULL || c.svg != NULL))
        sotto_form_complain(&c.form, "--csv and --svg need --curve");
    if (c.claim > 0 && c.epsilon > 0)
        sotto_form_complain(&c.form, "--claim and --epsilon exclude each other");
    if (c.claim > 0 && c.curve != NULL)
        sotto_form_complain(&c.form, "--claim and --curve exclude each other");
    if (c.form.mistake_count > 0 && (c.batch != NULL || c.curve != NULL)) {
        sotto_budget_print_mistakes(c.verb, &c.form, c.json, "line", 0);
        return EXIT_USAGE;
    }
    if (c.batch != NULL)
        return sotto_budget_batch(&c);
    return c.curve != NULL ? sotto_budget_curve(&c) : answer_one(&c);
}

static void usage(void)
{
    printf(
        "usage: sotto budget account --mechanism M --adjacency A --trust T --dishonest F --delta D "
        "...\n"
        "       sotto budget account ... --epsilon E        the delta at that epsilon\n"
        "       sotto budget account ... --claim E          and whether that claim holds\n"
        "       sotto budget account --batch FILE [--compose] ...\n"
        "       sotto budget account --curve NAME=FROM:TO[:POINTS] [--csv FILE] [--svg FILE] ...\n"
        "\n"
        "Answers with the smallest epsilon that may be claimed, the theorem it rests on and who "
        "must\n"
        "be honest for it. Numbers are decimals, rounded against the claim.\n\n");
    sotto_form_print_options();
    printf(
        "\n"
        "  --epsilon E                  ask for delta at this epsilon, instead of --delta [above 0 "
        "to 1e6]\n"
        "  --claim E                    hold this epsilon against the answer [above 0 to 1e6]\n"
        "  --batch FILE                 a question a line: CSV with option names as columns, or a\n"
        "                               JSON array of objects; options given here are defaults\n"
        "  --compose                    the batch's questions as one claim, at one delta\n"
        "  --curve NAME=FROM:TO[:N]     sweep one number over N points (60)\n"
        "  --csv FILE, --svg FILE       where the curve goes, besides the terminal\n"
        "  --json                       one object a line\n");
    sotto_form_print_mechanisms();
    sotto_form_print_trusts();
    printf("\nExit: 0 answered; 2 a mistake in the question; 4 refused: no theorem grants it;\n"
           "8 the epsilon of --claim does not hold, or cannot be shown to.\n");
}

const sotto_verb sotto_verb_budget_account = {
    .name = "account",
    .summary = "what epsilon a release really has, by which theorem, trusting whom",
    .print_usage = usage,
    .run = run,
};
