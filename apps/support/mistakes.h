/* support/mistakes.h - what is wrong with a file, as compilers say it: FILE:LINE:COLUMN: path: what; accepted: this. */
#ifndef SOTTO_APPS_MISTAKES_H
#define SOTTO_APPS_MISTAKES_H

#include "sotto/recipe.h"

/* Prints one to standard error. */
void sotto_mistake_print(const char *file, const sotto_mistake *mistake);
/* All of them that are no warning. */
void sotto_mistakes_print(const char *file, const sotto_mistakes *list);

#endif
