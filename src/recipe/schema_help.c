/* What each object and key is for, in the order of schema_table.c: for the reference and for analysts' tools. Nothing
 * that a device calls leads here, so libsotto-device goes without these texts. */
#define SOTTO_LEARNING_ROWS /* as in the table that programs link */

#include "recipe/schema.h"

#include "sotto/lint.h"

#include <stdio.h>
#include <string.h>

const sotto_schema_text sotto_schema_texts[] = {
#define OBJECT_ROW(object, name, title, help) {title, help},
#define KEY_ROW(object, key, type, item, least, most, of, fallback, help)
#include "recipe/schema_rows.h"
};

static const char *const key_help[] = {
#define OBJECT_ROW(object, name, title, help)
#define KEY_ROW(object, key, type, item, least, most, of, fallback, help) help,
#include "recipe/schema_rows.h"
};

const char *sotto_schema_help(const sotto_schema_key *row)
{
    return key_help[row - sotto_schema];
}

void sotto_mistakes_explain(sotto_mistakes *mistakes)
{
    for (size_t i = 0; i < mistakes->count; i++) {
        sotto_mistake *m = &mistakes->items[i];
        size_t len = strlen(m->what);

        if (m->missing == 0)
            continue;
        (void)snprintf(m->what + len, sizeof m->what - len, ": %.80s", key_help[m->missing - 1]);
        m->missing = 0; /* said once */
    }
}
