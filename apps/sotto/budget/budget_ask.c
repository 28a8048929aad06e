#define _POSIX_C_SOURCE 200809L

#include "budget_ask.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "support/number.h"

/* ---- the command line ------------------------------------------------------------------------------- */

typedef struct words {
    int at, count;
    char **word;
} words;

/* The value of the option at hand: after its =, or the next word unless that is an option. */
static const char *take_value(words *w, const char *equals)
{
    if (equals != NULL)
        return equals + 1;
    if (w->at + 1 < w->count && strncmp(w->word[w->at + 1], "--", 2) != 0)
        return w->word[++w->at];
    return NULL;
}

static void take_epsilon(sotto_budget_command *c, double *out, const char *name, const char *value)
{
    /* A smaller epsilon is the harder promise. */
    if (value == NULL || sotto_number_read(out, value, SOTTO_ROUND_DOWN, name, NULL) != SOTTO_OK ||
        !(*out > 0 && *out <= 1e6)) {
        sotto_form_complain(&c->form, "--%s: '%.40s' is not accepted: above 0 to 1e6", name,
                            value != NULL ? value : "");
        *out = 0;
    }
}

static void take_text(sotto_budget_command *c, const char **out, const char *name,
                      const char *value)
{
    *out = value;
    if (value == NULL)
        sotto_form_complain(&c->form, "--%s needs a value", name);
}

/* Options of the verbs themselves, not of a question. */
static bool take_own(sotto_budget_command *c, const char *name, words *w, const char *equals,
                     bool plan)
{
    const struct text {
        const char *name;
        const char **to;
        bool plan;
    } texts[] = {
        {"find", &c->find, true}, {"batch", &c->batch, false}, {"curve", &c->curve, false},
        {"csv", &c->csv, false},  {"svg", &c->svg, false},
    };

    if (strcmp(name, "json") == 0)
        return c->json = true;
    if (!plan && strcmp(name, "compose") == 0)
        return c->compose = true;
    if (strcmp(name, "epsilon") == 0 || (!plan && strcmp(name, "claim") == 0)) {
        take_epsilon(c, name[0] == 'e' ? &c->epsilon : &c->claim, name, take_value(w, equals));
        return true;
    }
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (strcmp(name, texts[i].name) != 0 || texts[i].plan != plan)
            continue;
        take_text(c, texts[i].to, name, take_value(w, equals));
        return true;
    }
    return false;
}

static void take_word(sotto_budget_command *c, words *w, bool plan)
{
    char name[FORM_TEXT] = "";
    char *word = w->word[w->at];

    if (strncmp(word, "--", 2) != 0) {
        sotto_form_complain(&c->form, "what is '%.60s'? Options start with --", word);
        return;
    }
    const char *equals = strchr(word, '=');
    ptrdiff_t len = equals != NULL ? equals - word - 2 : FORM_TEXT;
    (void)snprintf(name, sizeof name, "%.*s", (int)len, word + 2);
    if (take_own(c, name, w, equals, plan))
        return;
    sotto_option option = sotto_form_find(name);
    if (option == OPTIONS) {
        sotto_form_complain(&c->form, "no option '%.60s'; `%s --help` lists them", word, c->verb);
        (void)take_value(w, equals);
        return;
    }
    bool bare = sotto_form_is_flag(option) && equals == NULL;
    (void)sotto_form_set(&c->form, name, bare ? NULL : take_value(w, equals));
}

void sotto_budget_parse(sotto_budget_command *c, int argc, char **argv, bool plan)
{
    words w = {.at = 1, .count = argc, .word = argv};

    *c = (sotto_budget_command){.verb = plan ? "sotto budget plan" : "sotto budget account"};
    for (; w.at < w.count; w.at++)
        take_word(c, &w, plan);
}

/* ---- asking ----------------------------------------------------------------------------------------- */

double sotto_budget_seconds(void)
{
    struct timespec t = {0};

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void sotto_budget_ask(sotto_budget_result *out, const sotto_question *q,
                      const sotto_budget_command *c, sotto_accountant *accountant)
{
    double start = sotto_budget_seconds();

    *out = (sotto_budget_result){.asks_delta = c->epsilon > 0, .epsilon = c->epsilon};
    if (out->asks_delta)
        out->status = sotto_privacy_delta(&out->answer, q, c->epsilon, accountant, &out->err);
    else
        out->status = sotto_privacy_epsilon(&out->answer, q, accountant, &out->err);
    out->seconds = sotto_budget_seconds() - start;
    if (c->claim > 0 && out->status == SOTTO_OK && !out->asks_delta) {
        out->has_claim = true;
        out->claim = c->claim;
        out->claim_status = sotto_privacy_delta(&out->claim_delta, q, c->claim, accountant, NULL);
    }
}
