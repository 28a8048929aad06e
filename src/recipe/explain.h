/* recipe/explain.h - texts of whoever wrote a recipe, as an explanation shows them. */
#ifndef SOTTO_RECIPE_EXPLAIN_H
#define SOTTO_RECIPE_EXPLAIN_H

#include "base/writer.h"

/* Whole, without bytes that a terminal obeys, and told apart from our own words: behind every line feed stands `indent`. */
void sotto_explain_theirs(sotto_writer *w, const char *text, const char *indent);

#endif
