/* support/arguments.h - what is typed behind a verb: one table of options, read in one way.
 *
 * A word is taken by the first row that has its name. A word without a dash, or "-" alone, goes to the first row without dashes that
 * has room: "FILE", "RECIPE"; or to a flag of that name. What no row takes is a mistake, so no option is taken and not used.
 */
#ifndef SOTTO_APPS_ARGUMENTS_H
#define SOTTO_APPS_ARGUMENTS_H

#include "support/exit.h"

typedef struct sotto_argument {
    const char *name; /* "--out"; or "FILE", which is no option */
    bool *flag;       /* it takes no value; else one of the next three has its place */
    const char **text;
    uint64_t *whole;
    double *real;
    double least, most; /* of a number */
    size_t
        *count; /* of texts that may stand several times, up to `most`; NULL: the last one counts */
    bool needed;
} sotto_argument;

/* `verb` is what stands behind "sotto". EXIT_DONE, or EXIT_USAGE after having said why. */
int sotto_arguments_read(const char *verb, const sotto_argument *known, size_t count, int argc,
                         char **argv);
/* A number that came in another way, such as a part of a text. The same. */
int sotto_arguments_number(const char *verb, const sotto_argument *number, const char *text);
/* Says what is wrong with a word, or with all of them where the name is "". EXIT_USAGE. */
int sotto_arguments_misused(const char *verb, const char *name, const char *what);

#endif
