#include "device/ledger/ledger_internal.h"

#include "device/ledger/consent.h"

#include <stdio.h>
#include <string.h>

static sotto_status find_decision(sotto_ledger *ledger, const char *scope, sotto_decision *out,
                                  bool *found, sotto_err *err)
{
    sqlite3_stmt *statement;
    sotto_status status =
        sotto_ledger_find(ledger, &statement, found, err,
                          "SELECT choice, slot, at, w.law, w.rate, w.slots, w.length, w.start,"
                          " (SELECT rate FROM windows WHERE scope='dummies '||?1)"
                          " FROM decisions LEFT JOIN windows w USING(scope) WHERE scope=?1",
                          "t", scope);

    if (status == SOTTO_OK && *found) {
        out->choice = (sotto_choice)sqlite3_column_int64(statement, 0);
        out->slot = (uint64_t)sqlite3_column_int64(statement, 1);
        out->at = sqlite3_column_int64(statement, 2);
        out->window = (sotto_window){.law = (uint64_t)sqlite3_column_int64(statement, 3),
                                     .rate = sqlite3_column_double(statement, 4),
                                     .dummies = sqlite3_column_double(statement, 8),
                                     .slots = (uint64_t)sqlite3_column_int64(statement, 5),
                                     .length = (uint64_t)sqlite3_column_int64(statement, 6),
                                     .start = sqlite3_column_int64(statement, 7)};
    }
    sotto_ledger_release(ledger, statement);
    return status;
}

static sotto_status keep_row(sotto_ledger *ledger, const char *scope, const sotto_window *w,
                             sotto_err *err)
{
    int64_t id = 0;

    return sotto_ledger_insert(ledger, "windows", &id, err,
                               "INSERT OR REPLACE INTO windows VALUES(?,?,?,?,?,?,?)", "tuduui",
                               scope, w->law, w->rate, w->slots, w->length, w->start);
}

/* Dummies have a row of their own, whose rate is theirs: so the table is the same as before there were any. */
static sotto_status keep_window(sotto_ledger *ledger, const char *scope, const sotto_window *w,
                                sotto_err *err)
{
    const sotto_window dummies = {.law = w->law, .rate = w->dummies};
    char of_dummies[SOTTO_LEDGER_ACCOUNT + 8];

    SOTTO_TRY(keep_row(ledger, scope, w, err));
    if (!(w->dummies > 0))
        return SOTTO_OK;
    (void)snprintf(of_dummies, sizeof of_dummies, "dummies %s", scope);
    return keep_row(ledger, of_dummies, &dummies, err);
}

static sotto_status keep(sotto_ledger *ledger, const char *scope, const char *name,
                         const sotto_decision *decision, sotto_err *err)
{
    static const char *const words[] = {"", "not sampled", "takes part", "sends a dummy"};
    const sotto_record_entry entry = {.at = decision->at,
                                      .kind = SOTTO_RECORD_DECIDED,
                                      .recipe = strncmp(scope, "recipe", 6) == 0 ? name : NULL,
                                      .analysis = strncmp(scope, "recipe", 6) == 0 ? NULL : name,
                                      .note = words[decision->choice],
                                      .round = decision->slot};
    int64_t id = 0;

    SOTTO_TRY(sotto_ledger_insert(ledger, "decisions", &id, err,
                                  "INSERT OR REPLACE INTO decisions VALUES(?,?,?,?,?)", "tiui",
                                  scope, (int64_t)decision->choice, decision->slot, decision->at));
    if (decision->window.law > 0)
        SOTTO_TRY(keep_window(ledger, scope, &decision->window, err));
    return sotto_record_write(ledger, &entry, NULL, err);
}

static sotto_status draw_new(sotto_ledger *ledger, sotto_decision *out, const char *scope,
                             const char *name, sotto_draw_fn *draw, void *context, int64_t now,
                             sotto_err *err)
{
    bool found;

    SOTTO_TRY(find_decision(ledger, scope, out, &found, err)); /* another process may have drawn */
    if (found)
        return SOTTO_OK;
    SOTTO_TRY(sotto_consent_check(ledger, err));
    *out = (sotto_decision){0};
    SOTTO_TRY(draw(context, out, err));
    out->at = now;
    if (out->choice < SOTTO_CHOICE_SILENT || out->choice > SOTTO_CHOICE_DUMMY ||
        out->slot > INT64_MAX)
        return sotto_fail(err, SOTTO_BUG, "an invalid decision");
    return keep(ledger, scope, name, out, err);
}

static sotto_status name_scope(char out[SOTTO_LEDGER_ACCOUNT], sotto_decision_scope scope,
                               const char *name, sotto_err *err)
{
    if (strlen(name) > SOTTO_BUDGET_MAX_NAME)
        return sotto_fail(err, SOTTO_MALFORMED, "a name of %zu bytes", strlen(name));
    (void)snprintf(out, SOTTO_LEDGER_ACCOUNT, "%s %s",
                   scope == SOTTO_DECISION_RECIPE ? "recipe" : "analysis", name);
    return SOTTO_OK;
}

sotto_status sotto_ledger_decided(sotto_ledger *ledger, sotto_decision *out, bool *found,
                                  sotto_decision_scope scope, const char *name, sotto_err *err)
{
    char text[SOTTO_LEDGER_ACCOUNT];

    *out = (sotto_decision){0};
    *found = false;
    SOTTO_TRY(name_scope(text, scope, name, err));
    SOTTO_TRY(sotto_ledger_usable(ledger, err));
    return find_decision(ledger, text, out, found, err);
}

sotto_status sotto_ledger_decide(sotto_ledger *ledger, sotto_decision *out,
                                 sotto_decision_scope scope, const char *name, sotto_draw_fn *draw,
                                 void *context, int64_t now, sotto_err *err)
{
    char text[SOTTO_LEDGER_ACCOUNT];
    bool found;

    SOTTO_TRY(sotto_ledger_decided(ledger, out, &found, scope, name, err));
    SOTTO_TRY(name_scope(text, scope, name, err));
    if (found)
        return SOTTO_OK;
    SOTTO_TRY(sotto_ledger_begin(ledger, err));
    sotto_status status =
        sotto_ledger_end(ledger, draw_new(ledger, out, text, name, draw, context, now, err), err);
    if (status != SOTTO_OK)
        *out = (sotto_decision){0}; /* what is not kept is not told */
    return status;
}

sotto_status sotto_ledger_unanswered(sotto_ledger *ledger, sotto_decision_scope scope,
                                     const char *recipe, const char *analysis, sotto_err *err)
{
    sqlite3_stmt *statement;
    bool row, answered = false;

    if (scope == SOTTO_DECISION_NONE)
        return SOTTO_OK;
    sotto_status status = sotto_record_find(ledger, &statement, &row, recipe, SOTTO_RECORD_SPENT,
                                            SOTTO_RECORD_DUMMY, err);
    sotto_ledger_release(ledger, statement);
    SOTTO_TRY(status);
    if (scope == SOTTO_DECISION_ANALYSIS)
        SOTTO_TRY(sotto_record_answered(ledger, &answered, analysis, err));
    if (row || answered)
        return sotto_fail(err, SOTTO_STALE, "recipe %.63s: answered meanwhile", recipe);
    return SOTTO_OK;
}
