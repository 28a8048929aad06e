#include "support/arguments.h"

#include "support/number.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int sotto_arguments_misused(const char *verb, const char *name, const char *what)
{
    (void)fprintf(stderr, "sotto %s: %s%s%s; see `sotto %s --help`\n", verb, name,
                  name[0] ? ": " : "", what, verb);
    return EXIT_USAGE;
}

static bool is_option(const char *word)
{
    return word[0] == '-' && word[1] != 0;
}

static bool has_room(const sotto_argument *w)
{
    return w->count ? (double)*w->count < w->most : *w->text == NULL;
}

static const sotto_argument *find(const sotto_argument *known, size_t count, const char *word)
{
    for (const sotto_argument *w = known; w < known + count; w++)
        if (is_option(word) || w->flag ? strcmp(w->name, word) == 0
                                       : !is_option(w->name) && has_room(w))
            return w;
    return NULL;
}

static bool read_whole(const sotto_argument *w, const char *text)
{
    char *end = NULL;

    errno = 0;
    const unsigned long long value = strtoull(text, &end, 10);
    *w->whole = value;
    return errno == 0 && *end == 0 && text[0] >= '0' && text[0] <= '9' &&
           (double)value >= w->least && (double)value <= w->most;
}

static bool read_real(const sotto_argument *w, const char *text)
{
    return sotto_number_read(w->real, text, SOTTO_ROUND_NEAREST, w->name, NULL) == SOTTO_OK &&
           *w->real >= w->least && *w->real <= w->most;
}

int sotto_arguments_number(const char *verb, const sotto_argument *w, const char *text)
{
    char what[96];

    if (w->whole ? read_whole(w, text) : read_real(w, text))
        return EXIT_DONE;
    (void)snprintf(what, sizeof what, "not a %s from %.15g to %.15g",
                   w->whole ? "whole number" : "number", w->least, w->most);
    return sotto_arguments_misused(verb, w->name, what);
}

static int take(const char *verb, const sotto_argument *w, const char *value)
{
    char what[40];

    if (!w->text)
        return sotto_arguments_number(verb, w, value);
    if (w->count && (double)*w->count >= w->most) {
        (void)snprintf(what, sizeof what, "at most %.0f times", w->most);
        return sotto_arguments_misused(verb, w->name, what);
    }
    w->text[w->count ? (*w->count)++ : 0] = value;
    return EXIT_DONE;
}

static bool was_given(const sotto_argument *w)
{
    return w->count ? *w->count > 0 : *w->text != NULL;
}

int sotto_arguments_read(const char *verb, const sotto_argument *known, size_t count, int argc,
                         char **argv)
{
    for (int i = 1; i < argc; i++) {
        const sotto_argument *w = find(known, count, argv[i]);
        int code = EXIT_DONE;

        if (!w)
            return sotto_arguments_misused(
                verb, argv[i], is_option(argv[i]) ? "no such option" : "one word too many");
        if (w->flag)
            *w->flag = true;
        else if (!is_option(w->name))
            code = take(verb, w, argv[i]);
        else if (i + 1 == argc)
            return sotto_arguments_misused(verb, w->name, "it lacks its value");
        else
            code = take(verb, w, argv[++i]);
        if (code != EXIT_DONE)
            return code;
    }
    for (const sotto_argument *w = known; w < known + count; w++)
        if (w->needed && !was_given(w))
            return sotto_arguments_misused(verb, w->name, "it is needed");
    return EXIT_DONE;
}
