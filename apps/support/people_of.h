/* support/people_of.h - the rows that a recipe needs: for programs that have the recipe's table, which this folder's library has not. */
#ifndef SOTTO_APPS_PEOPLE_OF_H
#define SOTTO_APPS_PEOPLE_OF_H

#include "recipe/table.h"
#include "support/people.h"

/* Columns by the table, from which they are borrowed; path and all else is the caller's. */
static inline sotto_people_options sotto_people_options_of(const sotto_recipe_table *table)
{
    return (sotto_people_options){.fields = table->fields,
                                  .field_count = table->unread ? 0 : table->stream.field_count,
                                  .described = table->described,
                                  .described_count = table->described_count};
}

#endif
