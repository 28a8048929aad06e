/* What the person may see: recipes, the record, and what is left of each budget. */
#include "device/device_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- recipes ---------------------------------------------------------------------------------------------- */

static sotto_status show_recipe(sotto_device *device, const sotto_shelved *shelved,
                                sotto_known_recipe_fn *show, void *context, sotto_err *err)
{
    sotto_case c = {.now = 0};
    sotto_bytes text;
    sotto_err first = {0};
    sotto_status status = sotto_shelf_text(device->ledger, &text, shelved, &device->work, &first);
    if (status == SOTTO_MISSING) /* another process took it away just now */
        return SOTTO_OK;
    if (status != SOTTO_OK)
        return sotto_fail(err, status, "%s", first.reason);
    SOTTO_TRY(sotto_case_read(device, &c, text, err));
    const sotto_known_recipe known = {
        .recipe = c.recipe->name,
        .version = c.recipe->version,
        .analysis = c.recipe->analysis,
        .query = c.recipe->query,
        .opens = c.recipe->opens,
        .closes = c.recipe->closes,
    };
    return show(context, &known, err);
}

sotto_status sotto_device_recipes(sotto_device *device, sotto_known_recipe_fn *show, void *context,
                                  sotto_err *err)
{
    sotto_err_clear(err);

    sotto_shelved shelved = {0};
    bool found = true;

    while (found) {
        SOTTO_TRY(sotto_shelf_next(device->ledger, &shelved, &found, shelved.id, err));
        if (!found)
            break;
        sotto_status status = show_recipe(device, &shelved, show, context, err);
        sotto_arena_reset(&device->work);
        SOTTO_TRY(status);
    }
    return SOTTO_OK;
}

/* ---- the record ------------------------------------------------------------------------------------------- */

typedef struct showing {
    sotto_record_line_fn *show;
    void *context;
} showing;

static sotto_status show_entry(void *context, const sotto_record_entry *entry, sotto_err *err)
{
    const showing *s = context;
    /* Files, whose serial or size is in the note. */
    const bool file = entry->kind == SOTTO_RECORD_PARTIES || entry->kind == SOTTO_RECORD_LOG ||
                      entry->kind == SOTTO_RECORD_FORK;
    sotto_record_line line = {
        .number = entry->number,
        .at = entry->at,
        .kind = entry->kind,
        .recipe = entry->recipe,
        .analysis = entry->analysis,
        .fields = entry->fields,
        .note = entry->note,
        .round = entry->kind == SOTTO_RECORD_SILENT || file ? 0 : entry->round,
        .randomised = file ? sotto_bytes_of(NULL, 0) : entry->randomised,
        .epsilon = sotto_decimal_up(entry->epsilon),
        .delta = sotto_decimal_up(entry->delta),
        .local = entry->epsilon.units > 0 && entry->local.units == 0
                     ? INFINITY
                     : sotto_decimal_up(entry->local),
        .bytes = file ? 0 : entry->bytes,
    };

    memcpy(line.report, entry->report, sizeof line.report);
    if (entry->asked) {
        line.recipe_hash = sotto_bytes_of(entry->asked->recipe, sizeof entry->asked->recipe);
        line.query_hash = sotto_bytes_of(entry->asked->query, sizeof entry->asked->query);
        line.min_cohort = entry->asked->min_cohort;
    }
    return s->show(s->context, &line, err);
}

sotto_status sotto_device_record(sotto_device *device, const char *recipe, uint64_t after,
                                 sotto_record_line_fn *show, void *context, sotto_err *err)
{
    sotto_err_clear(err);

    showing s = {show, context};

    return sotto_record_show(device->ledger, recipe, after, show_entry, &s, err);
}

/* ---- budgets ---------------------------------------------------------------------------------------------- */

/* An unknown amount counts as fully spent, as it does when a charge is judged: a 0 would read as if nothing
 * were spent. */
static void fill_spent(sotto_budget_line *line, const sotto_spent *spent)
{
    line->epsilon = sotto_decimal_up(spent->epsilon);
    line->delta = sotto_decimal_up(spent->delta);
    line->reports = spent->reports;
    line->unknown = spent->unknown;
    if (spent->unknown) {
        line->epsilon = fmax(line->epsilon, line->epsilon_allowed);
        line->delta = fmax(line->delta, line->delta_allowed);
        if (line->reports < line->reports_allowed)
            line->reports = line->reports_allowed;
    }
}

static sotto_status show_analysis(sotto_device *device, const sotto_analysis_budget *budget,
                                  int64_t now, sotto_budget_line_fn *show, void *context,
                                  sotto_err *err)
{
    sotto_budget_line line = {
        .analysis = true,
        .name = budget->name,
        .epsilon_allowed = sotto_decimal_down(budget->epsilon),
        .delta_allowed = sotto_decimal_down(budget->delta),
        .reports_allowed = budget->reports,
    };
    sotto_spent spent;

    SOTTO_TRY(sotto_ledger_spent_by_analysis(device->ledger, &spent, budget->name, now, err));
    fill_spent(&line, &spent);
    return show(context, &line, err);
}

static sotto_status show_field(sotto_device *device, const sotto_field_budget *budget, int64_t now,
                               sotto_budget_line_fn *show, void *context, sotto_err *err)
{
    char name[2 * SOTTO_STORE_MAX_NAME + 2];
    sotto_budget_line line = {
        .name = name,
        .epsilon_allowed = sotto_decimal_down(budget->epsilon),
        .delta_allowed = sotto_decimal_down(budget->delta),
        .reports_allowed = budget->reports,
        .local_allowed = budget->local_none ? INFINITY : sotto_decimal_down(budget->local),
    };
    sotto_access field = {.sensitive = true};
    sotto_spent spent;

    (void)snprintf(name, sizeof name, "%s.%s", budget->stream, budget->field);
    (void)snprintf(field.stream, sizeof field.stream, "%s", budget->stream);
    (void)snprintf(field.field, sizeof field.field, "%s", budget->field);
    SOTTO_TRY(sotto_ledger_spent_on_field(device->ledger, &spent, &field, now, err));
    fill_spent(&line, &spent);
    return show(context, &line, err);
}

sotto_status sotto_device_ledger(sotto_device *device, sotto_budget_line_fn *show, void *context,
                                 sotto_err *err)
{
    sotto_err_clear(err);

    const sotto_budget_table *table = &device->terms.budgets;
    int64_t now = sotto_device_now(device);

    for (size_t i = 0; i < table->analysis_count; i++)
        SOTTO_TRY(show_analysis(device, &table->analyses[i], now, show, context, err));
    for (size_t i = 0; i < table->field_count; i++)
        SOTTO_TRY(show_field(device, &table->fields[i], now, show, context, err));
    return SOTTO_OK;
}
