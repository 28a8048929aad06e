/* The lists of `sotto budget account --help` and `plan --help`, from the tables that questions are read with. */
#include "budget_form.h"

#include <stdio.h>
#include <string.h>

#include "account/accountant.h"
#include "account/trust.h"

enum { WIDTH = 96, INDENT = 6 };

void sotto_form_print_options(void)
{
    for (int i = 0; i < OPTIONS; i++) {
        char name[40], accepts[FORM_ACCEPTS];
        const char *alias = sotto_form_alias((sotto_option)i);

        (void)snprintf(name, sizeof name, "--%s%s%s", sotto_form_name((sotto_option)i),
                       alias[0] != 0 ? ", --" : "", alias);
        sotto_form_accepts(accepts, (sotto_option)i, NULL);
        printf("  %-28s %s%s%s%s\n", name, sotto_form_help((sotto_option)i),
               accepts[0] != 0 ? " [" : "", accepts, accepts[0] != 0 ? "]" : "");
    }
}

/* Goes on at *column, or on a line of its own where the item does not fit. */
static void print_item(size_t *column, const char *item)
{
    size_t length = strlen(item);

    if (*column > INDENT && *column + 2 + length > WIDTH) {
        printf("\n%*s", INDENT, "");
        *column = INDENT;
    } else if (*column > INDENT) {
        printf("  ");
        *column += 2;
    }
    printf("%s", item);
    *column += length;
}

/* "--rate 1e-9 to 1", in brackets if it need not be given. */
static void print_ranges(size_t *column, unsigned long set, const sotto_form_mechanism *m,
                         const char *before, const char *behind)
{
    for (int i = 0; i < OPTIONS; i++) {
        char item[FORM_ACCEPTS + FORM_TEXT], accepts[FORM_ACCEPTS];

        if ((set >> i & 1) == 0)
            continue;
        sotto_form_accepts(accepts, (sotto_option)i, m);
        (void)snprintf(item, sizeof item, "%s--%s%s%s%s", before, sotto_form_name((sotto_option)i),
                       accepts[0] != 0 ? " " : "", accepts, behind);
        print_item(column, item);
    }
}

static void print_adjacencies(size_t *column, sotto_mechanism mechanism)
{
    static const struct row {
        sotto_adjacency adjacency;
        const char *name;
    } rows[] = {{SOTTO_ADJACENCY_ADD_REMOVE, "add-remove"},
                {SOTTO_ADJACENCY_REPLACEMENT, "replacement"},
                {SOTTO_ADJACENCY_DELETION, "deletion"}};
    const unsigned taken = sotto_mechanism_find(mechanism)->adjacencies;
    char item[FORM_TEXT] = "--adjacency";
    char before = ' ';

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const size_t used = strlen(item);

        if ((taken >> rows[i].adjacency & 1) == 0)
            continue;
        (void)snprintf(item + used, sizeof item - used, "%c%s", before, rows[i].name);
        before = '|';
    }
    print_item(column, item);
}

void sotto_form_print_mechanisms(void)
{
    printf("\nmechanisms, with what each needs [and takes], and what it accepts there:\n");
    for (size_t i = 0; i < sotto_form_mechanism_count; i++) {
        const sotto_form_mechanism *m = &sotto_form_mechanisms[i];
        size_t column = INDENT;

        printf("  %s%s%s: %s\n%*s", sotto_mechanism_name(m->mechanism),
               m->alias[0] != 0 ? " or " : "", m->alias, m->help, INDENT, "");
        print_adjacencies(&column, m->mechanism);
        print_ranges(&column, m->needs, m, "", "");
        print_ranges(&column, m->takes, m, "[", "]");
        printf("\n");
    }
}

static void print_wrapped(const char *text)
{
    size_t column = INDENT;

    printf("%*s", INDENT, "");
    while (*text != 0) {
        size_t length = strcspn(text, " ");

        if (column > INDENT && column + 1 + length > WIDTH) {
            printf("\n%*s", INDENT, "");
            column = INDENT;
        } else if (column > INDENT) {
            printf(" ");
            column++;
        }
        printf("%.*s", (int)length, text);
        column += length;
        text += length + (text[length] == ' ');
    }
    printf("\n");
}

void sotto_form_print_trusts(void)
{
    static const struct row {
        sotto_trust trust;
        const char *what;
    } rows[] = {
        {SOTTO_TRUST_CENTRAL, "one trusted server; --hidden and, without a cohort, --dishonest "
                              "are not needed"},
        {SOTTO_TRUST_SPLIT, "two servers (Prio), each of which sees half of every report; what "
                            "sotto runs today"},
        {SOTTO_TRUST_FLAMINGO, "one server, masks that cancel in the sum (Ma et al. 2023); no "
                               "amplification"},
        {SOTTO_TRUST_AERO, "one server, encrypted sums, committees of devices (Liu and Gupta "
                           "2023); no amplification"},
    };

    printf("\ntrust models:\n");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const sotto_trust_words *words = sotto_trust_words_of(rows[i].trust);

        printf("  %s: %s\n", sotto_trust_name(rows[i].trust), rows[i].what);
        print_wrapped(words->honest);
        print_wrapped(words->sees);
    }
}
