#include "support/mistakes.h"

#include <stdio.h>

void sotto_mistake_print(const char *file, const sotto_mistake *m)
{
    (void)fprintf(stderr, "%s:%u:%u: %s%s%s%s%s\n", file, m->line, m->column, m->path,
                  m->path[0] ? ": " : "", m->what, m->accepted[0] ? "; accepted: " : "",
                  m->accepted);
}

void sotto_mistakes_print(const char *file, const sotto_mistakes *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].severity == SOTTO_MISTAKE)
            sotto_mistake_print(file, &list->items[i]);
}
