/* What is wrong with a question, and the file that a recipe verb writes. */
#include "recipe.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int sotto_recipe_misused(const char *verb, const char *option, const char *what)
{
    (void)fprintf(stderr, "sotto recipe %s: %s%s See `sotto recipe %s --help`\n", verb, option,
                  what, verb);
    return EXIT_USAGE;
}

int sotto_recipe_save(const char *verb, const char *path, sotto_bytes text)
{
    FILE *file = fopen(path, "wb");
    bool written = file && fwrite(text.data, 1, text.len, file) == text.len;

    if (file && fclose(file) != 0)
        written = false;
    if (!written)
        (void)fprintf(stderr, "sotto recipe %s: %s: can't write it: %s\n", verb, path,
                      strerror(errno));
    return written ? EXIT_DONE : EXIT_FAILED;
}
