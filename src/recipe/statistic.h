/* recipe/statistic.h - which statistic a recipe asks for, who adds its noise, and which of both go together. */
#ifndef SOTTO_RECIPE_STATISTIC_H
#define SOTTO_RECIPE_STATISTIC_H

#include "recipe/model.h"
#include "recipe/schema.h"

/* "histogram", ...; "shares", ...: as recipes write it. */
const char *sotto_statistic_name(sotto_statistic statistic);
const char *sotto_noise_source_name(sotto_noise_source source);

/* The position of a word among the sources, as a bit; policies list them. */
unsigned sotto_noise_source_bit(const char *word);

/* Reads sigma and honest of "privacy", once `by` is known. */
void sotto_recipe_read_noise(sotto_reading *r, sotto_recipe *out);
/* What the table can't know of statistic, encode, randomizer and privacy together. */
void sotto_recipe_check_statistic(sotto_reading *r, const sotto_recipe *recipe);

/* The numbers of a sum, a mean or quantiles: min + step * bin. */
typedef struct sotto_number_grid {
    double min, step;
} sotto_number_grid;
sotto_number_grid sotto_recipe_grid(const sotto_recipe *recipe);
/* The bin of 0; SOTTO_NO_VALUE: there is none. */
uint64_t sotto_recipe_zero(const sotto_recipe *recipe);

#endif
