/* docs/recipe.md, from the table. */
#include "recipe/price.h"
#include "recipe/schema.h"

#include "sotto/lint.h"

#include <stdio.h>
#include <string.h>

static void put(sotto_writer *w, const char *text)
{
    sotto_write_bytes(w, sotto_bytes_of(text, strlen(text)));
}

/* | would end the column of a table. */
static void put_cell(sotto_writer *w, const char *text)
{
    put(w, " ");
    for (; *text; text++)
        sotto_write_bytes(w, sotto_bytes_of(*text == '|' ? "/" : text, 1));
    put(w, " |");
}

static void put_row(sotto_writer *w, const sotto_schema_key *row)
{
    char key[80], accepted[200] = "", fallback[80];

    (void)snprintf(key, sizeof key, strcmp(row->key, "*") == 0 ? "*any name*" : "`%s`", row->key);
    sotto_schema_accepts(row, accepted, sizeof accepted);
    if (!row->fallback)
        (void)snprintf(fallback, sizeof fallback, "required");
    else if (!*row->fallback)
        (void)snprintf(fallback, sizeof fallback, "may be left out");
    else
        (void)snprintf(fallback, sizeof fallback, "`%s`", row->fallback);
    put(w, "|");
    put_cell(w, key);
    put_cell(w, accepted);
    put_cell(w, fallback);
    put_cell(w, sotto_schema_help(row));
    put(w, "\n");
}

static void put_object(sotto_writer *w, const char *name, const sotto_schema_text *text)
{
    size_t count;
    const sotto_schema_key *rows = sotto_schema_rows(name, &count);
    bool top = strcmp(name, "recipe") == 0 || strcmp(name, "policy") == 0 ||
               strcmp(name, "parties") == 0 || strcmp(name, "streams") == 0;

    put(w, top ? "\n## " : "\n### ");
    put(w, text->title);
    put(w, "\n\n");
    put(w, text->help);
    put(w, "\n");
    if (!*rows[0].key)
        return;
    put(w, "\n| key | accepted | default | what it is for |\n| --- | --- | --- | --- |\n");
    for (size_t i = 0; i < count; i++)
        put_row(w, &rows[i]);
}

static void put_example(sotto_writer *w, const char *title, const char *text)
{
    put(w, "\n### ");
    put(w, title);
    put(w, "\n\n```json\n");
    put(w, text);
    put(w, "```\n");
}

sotto_status sotto_recipe_reference(sotto_buf *out, sotto_err *err)
{
    sotto_err_clear(err);

    sotto_writer w = sotto_writer_on(out);

    put(&w,
        "# Recipes, policies, parties and streams\n\n"
        "<!-- Printed by `sotto recipe reference` from src/recipe/schema_rows.h; a test compares. "
        "-->\n\n"
        "All four are JSON objects of at most 4 MiB and 12 levels. Unknown keys, keys that are "
        "listed twice and bytes behind the end are errors. A recipe is published, hashed and "
        "logged as "
        "the bytes it has; nothing ever encodes it anew. Budgets are read from the digits as "
        "written, not from a floating-point number.\n\n"
        "    sotto recipe new > recipe.json            a complete recipe to start from\n"
        "    sotto recipe new --policy > policy.json   the same of a policy; --parties, --streams\n"
        "    sotto recipe lint recipe.json             every mistake, and what may be claimed\n"
        "    sotto recipe lint recipe.json --policy policy.json --streams streams.json\n"
        "                                              and what a new device would decide\n"
        "    sotto recipe explain recipe.json          the same in plain words\n"
        "    sotto recipe compile recipe.json parties.json   the DAP task, its VDAF and its "
        "bins\n"
        "    sotto recipe price recipe.json ...        what an accuracy costs, or a budget shows\n"
        "    sotto recipe refine recipe.json ...       the next question of a search for a "
        "quantile\n"
        "    sotto recipe publish recipe.json ...      put it into a public log (operating.md, "
        "section 13)\n");
    for (size_t i = 0; sotto_reference_price[i]; i++)
        put(&w, sotto_reference_price[i]);
    for (size_t i = 0; i < sotto_schema_object_count; i++)
        put_object(&w, sotto_schema_objects[i], &sotto_schema_texts[i]);
    put(&w, "\n## Examples\n");
    put_example(&w, "A recipe", sotto_recipe_example());
    put_example(&w, "A policy for it", sotto_policy_example());
    put_example(&w, "Its parties", sotto_parties_example());
    put_example(&w, "Its streams", sotto_streams_example());
    return sotto_writer_finish(&w, "reference", err);
}
