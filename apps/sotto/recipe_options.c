/* Options of a recipe verb of its own, beside those that all recipe verbs have; and the file that it writes. */
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

int sotto_recipe_take_options(const char *verb, const sotto_recipe_option *options, size_t count,
                              int *argc, char **argv)
{
    int kept = 1;

    for (int i = 1; i < *argc; i++) {
        size_t at = 0;

        while (at < count && strcmp(argv[i], options[at].name) != 0)
            at++;
        if (at == count) {
            argv[kept++] = argv[i];
            continue;
        }
        if (i + 1 == *argc)
            return sotto_recipe_misused(verb, argv[i], " takes a value.");
        *options[at].text = argv[++i];
    }
    *argc = kept;
    return EXIT_DONE;
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
