#include "device/ledger/shelf.h"

#include "base/rule.h"
#include "crypto/hash.h"
#include "device/ledger/ledger_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SHELVED                                                                                    \
    "SELECT id, name, version, opens, closes, judged, honest, epsilon, hash FROM recipes"

void sotto_shelf_judge(uint8_t out[SOTTO_RECIPE_HASH_SIZE], const sotto_policy *policy)
{
    sotto_hash hash;

    sotto_hash_init(&hash, SOTTO_SHA256);
    sotto_hash_update(&hash, sotto_bytes_of(SOTTO_VERSION, sizeof SOTTO_VERSION));
    sotto_hash_update(&hash, sotto_bytes_of(policy->hash, sizeof policy->hash));
    sotto_hash_final(&hash, out);
}

sotto_asked sotto_shelf_asked(const sotto_recipe *recipe)
{
    sotto_asked asked = {.min_cohort = recipe->min_cohort};
    sotto_hash hash;

    memcpy(asked.recipe, recipe->hash, sizeof asked.recipe);
    sotto_hash_init(&hash, SOTTO_SHA256);
    sotto_hash_update(&hash, sotto_bytes_of(recipe->query, strlen(recipe->query)));
    sotto_hash_final(&hash, asked.query);
    return asked;
}

/* ---- looking ---------------------------------------------------------------------------------------------- */

static sotto_status take(sotto_shelved *out, sqlite3_stmt *row, sotto_err *err)
{
    const char *name = sotto_ledger_text(row, 1);

    *out = (sotto_shelved){
        .id = sqlite3_column_int64(row, 0),
        .version = (uint64_t)sqlite3_column_int64(row, 2),
        .opens = sqlite3_column_int64(row, 3),
        .closes = sqlite3_column_int64(row, 4),
        .known = {(uint64_t)sqlite3_column_int64(row, 6), sqlite3_column_double(row, 7)},
    };
    if (strlen(name) >= sizeof out->name || !sotto_ledger_digest(row, 5, out->judged) ||
        !sotto_ledger_digest(row, 8, out->hash))
        return sotto_fail(err, SOTTO_MALFORMED, "a recipe is damaged");
    memcpy(out->name, name, strlen(name) + 1);
    return SOTTO_OK;
}

sotto_status sotto_shelf_find(sotto_ledger *ledger, sotto_shelved *out, bool *found,
                              const char *name, sotto_err *err)
{
    sqlite3_stmt *statement;

    *found = false;
    SOTTO_TRY(sotto_ledger_usable(ledger, err));
    sotto_status status =
        sotto_ledger_find(ledger, &statement, found, err, SHELVED " WHERE name=?", "t", name);
    if (status == SOTTO_OK && *found)
        status = take(out, statement, err);
    sotto_ledger_release(ledger, statement);
    return status;
}

sotto_status sotto_shelf_next(sotto_ledger *ledger, sotto_shelved *out, bool *found, int64_t after,
                              sotto_err *err)
{
    sqlite3_stmt *statement;

    *found = false;
    SOTTO_TRY(sotto_ledger_usable(ledger, err));
    sotto_status status = sotto_ledger_find(ledger, &statement, found, err,
                                            SHELVED " WHERE id>? ORDER BY id LIMIT 1", "i", after);
    if (status == SOTTO_OK && *found)
        status = take(out, statement, err);
    sotto_ledger_release(ledger, statement);
    return status;
}

/* SQLite gives the number of a row that is gone to another one, so the text's hash decides. */
static bool is_row_of(sqlite3_stmt *row, int column, const sotto_shelved *shelved)
{
    uint8_t hash[SOTTO_LEDGER_DIGEST];

    return sotto_ledger_digest(row, column, hash) && memcmp(hash, shelved->hash, sizeof hash) == 0;
}

sotto_status sotto_shelf_text(sotto_ledger *ledger, sotto_bytes *out, const sotto_shelved *shelved,
                              sotto_arena *arena, sotto_err *err)
{
    sqlite3_stmt *statement;
    bool row;
    sotto_status status =
        sotto_ledger_find(ledger, &statement, &row, err,
                          "SELECT text, hash FROM recipes WHERE id=?", "i", shelved->id);

    *out = (sotto_bytes){0};
    if (status == SOTTO_OK && !(row && is_row_of(statement, 1, shelved)))
        status = sotto_fail(err, SOTTO_MISSING, "a recipe that is gone");
    if (status == SOTTO_OK) {
        sotto_bytes text = sotto_ledger_blob(statement, 0);
        uint8_t *copy = sotto_arena_take(arena, text.len + 1);

        if (copy && text.len)
            memcpy(copy, text.data, text.len);
        *out = sotto_bytes_of(copy, text.len);
        status = copy ? SOTTO_OK : sotto_fail(err, SOTTO_NO_MEMORY, "a recipe");
    }
    if (ledger->memory) {
        sotto_ledger_release(ledger, statement);
        return status;
    }
    (void)sqlite3_finalize(statement); /* run once for a recipe, and others are wanted longer */
    return status;
}

/* ---- changing --------------------------------------------------------------------------------------------- */

static sotto_status remove_row(sotto_ledger *ledger, int64_t id, sotto_err *err)
{
    SOTTO_TRY(sotto_ledger_fold(ledger, "recipes", id, err));
    return sotto_ledger_run(ledger, err, "DELETE FROM recipes WHERE id=?", "i", id);
}

static sotto_status remove_shelved(sotto_ledger *ledger, const sotto_shelved *shelved,
                                   sotto_err *err)
{
    sqlite3_stmt *statement;
    bool row;
    sotto_status status = sotto_ledger_find(
        ledger, &statement, &row, err, "SELECT hash FROM recipes WHERE id=?", "i", shelved->id);
    bool same = status == SOTTO_OK && row && is_row_of(statement, 0, shelved);

    sotto_ledger_release(ledger, statement);
    SOTTO_TRY(status);
    return same ? remove_row(ledger, shelved->id, err) : SOTTO_OK;
}

sotto_status sotto_shelf_remove(sotto_ledger *ledger, const sotto_shelved *shelved, sotto_err *err)
{
    SOTTO_TRY(sotto_ledger_begin(ledger, err));
    return sotto_ledger_end(ledger, remove_shelved(ledger, shelved, err), err);
}

static sotto_status has_bytes(sotto_ledger *ledger, int64_t id, const sotto_recipe *recipe,
                              bool *same, sotto_err *err)
{
    uint8_t hash[SOTTO_LEDGER_DIGEST];
    sqlite3_stmt *statement;
    bool row;
    sotto_status status = sotto_ledger_find(ledger, &statement, &row, err,
                                            "SELECT hash FROM recipes WHERE id=?", "i", id);

    *same = status == SOTTO_OK && row && sotto_ledger_digest(statement, 0, hash) &&
            memcmp(hash, recipe->hash, sizeof hash) == 0;
    sotto_ledger_release(ledger, statement);
    return status;
}

/* Of the recipe that is known by this name; empty where the record says nothing of it any more. */
static sotto_status is_of_analysis(sotto_ledger *ledger, bool *same, const sotto_recipe *recipe,
                                   sotto_err *err)
{
    sqlite3_stmt *statement;
    bool row;
    sotto_status status = sotto_ledger_find(
        ledger, &statement, &row, err,
        "SELECT analysis FROM record WHERE recipe=? AND kind=? ORDER BY id DESC LIMIT 1", "ti",
        recipe->name, (int64_t)SOTTO_RECORD_SEEN);

    *same = status == SOTTO_OK &&
            (!row || strcmp(sotto_ledger_text(statement, 0), recipe->analysis) == 0);
    sotto_ledger_release(ledger, statement);
    return status;
}

/* Which row has to go for the new one, if any; *keep: the stored one stays. */
static sotto_status replaces(sotto_ledger *ledger, const sotto_recipe *recipe,
                             const uint8_t judged[SOTTO_RECIPE_HASH_SIZE], int64_t *old, bool *keep,
                             sotto_err *err)
{
    sotto_shelved known = {0};
    bool found, same;

    *old = 0;
    *keep = false;
    SOTTO_TRY(sotto_shelf_find(ledger, &known, &found, recipe->name, err));
    if (!found)
        return SOTTO_OK;
    *old = known.id;
    SOTTO_TRY(is_of_analysis(ledger, &same, recipe, err));
    /* Otherwise anybody who may publish recipes could replace another's recipe by a later
     * version. */
    if (SOTTO_RULE(names_stay_with_their_analysis) && !same)
        return sotto_fail(err, SOTTO_DENIED,
                          "recipe %.63s: another analysis has a recipe of this name", recipe->name);
    if (SOTTO_RULE(versions_ascend) && known.version > recipe->version)
        return sotto_fail(err, SOTTO_STALE, "recipe %.63s: version %" PRIu64 " is known",
                          recipe->name, known.version);
    SOTTO_TRY(has_bytes(ledger, known.id, recipe, &same, err));
    if (SOTTO_RULE(one_text_a_version) && known.version == recipe->version && !same)
        return sotto_fail(err, SOTTO_REJECTED,
                          "recipe %.63s: version %" PRIu64 " is known with other bytes",
                          recipe->name, known.version);
    *keep = same && memcmp(known.judged, judged, SOTTO_RECIPE_HASH_SIZE) == 0;
    return SOTTO_OK;
}

/* ---- making room ------------------------------------------------------------------------------------------ */

/* So that there are never more than SOTTO_DEVICE_MAX_RECIPES. */
#define LEAST_WEIGHT "65536"
#define WEIGHT       "max(length(text)," LEAST_WEIGHT ")"
/* A report that waits is given up by way of its recipe, which therefore stays. */
#define NOT_WAITING "NOT EXISTS (SELECT 1 FROM outbox o WHERE o.recipe=r.name)"
#define ANALYSIS                                                                                   \
    "coalesce((SELECT analysis FROM record s WHERE s.recipe=r.name AND s.kind=1"                   \
    " ORDER BY s.id DESC LIMIT 1),'')"

static sotto_status first_id(sotto_ledger *ledger, int64_t *id, sqlite3_stmt *statement, bool row,
                             sotto_status status)
{
    *id = status == SOTTO_OK && row ? sqlite3_column_int64(statement, 0) : 0;
    sotto_ledger_release(ledger, statement);
    return status;
}

static sotto_status find_closed(sotto_ledger *ledger, int64_t *id, int64_t now, sotto_err *err)
{
    sqlite3_stmt *statement;
    bool row;
    sotto_status status = sotto_ledger_find(
        ledger, &statement, &row, err,
        "SELECT id FROM recipes r WHERE closes<=? AND " NOT_WAITING " ORDER BY closes, id LIMIT 1",
        "i", now);

    return first_id(ledger, id, statement, row, status);
}

/* Its report was made, or the draw was "no": the ledger remembers both without the recipe. */
static sotto_status find_finished(sotto_ledger *ledger, int64_t *id, sotto_err *err)
{
    sqlite3_stmt *statement;
    bool row;
    sotto_status status = sotto_ledger_find(
        ledger, &statement, &row, err,
        "SELECT id FROM recipes r WHERE " NOT_WAITING " AND (EXISTS (SELECT 1 FROM record s"
        " WHERE s.recipe=r.name AND s.kind IN (?,?)) OR EXISTS (SELECT 1 FROM decisions d"
        " WHERE d.scope='recipe '||r.name AND d.choice=?)) ORDER BY closes, id LIMIT 1",
        "iii", (int64_t)SOTTO_RECORD_SPENT, (int64_t)SOTTO_RECORD_DUMMY,
        (int64_t)SOTTO_CHOICE_SILENT);

    return first_id(ledger, id, statement, row, status);
}

/* Each analysis has a claim to an equal share: an analysis that has more recipes than the new one's would then have
 * loses its recipe that opens last. Within an analysis, what opens sooner takes the place of what opens later. */
static sotto_status find_last(sotto_ledger *ledger, int64_t *id, const sotto_recipe *recipe,
                              uint64_t weight, int64_t now, sotto_err *err)
{
    sqlite3_stmt *statement;
    bool row;
    sotto_status status = sotto_ledger_find(
        ledger, &statement, &row, err,
        "WITH shelf AS MATERIALIZED (SELECT id, opens, " WEIGHT " AS weight, " ANALYSIS
        " AS analysis, " NOT_WAITING " AS free FROM recipes r),"
        " shares AS (SELECT analysis AS name, sum(weight) AS share FROM shelf GROUP BY analysis)"
        " SELECT id FROM shelf, shares WHERE name=analysis AND free AND (share>?1+"
        "coalesce((SELECT share FROM shares WHERE name=?2),0) OR"
        " (analysis=?2 AND opens>?3 AND opens>?4)) ORDER BY share DESC, opens DESC, id DESC LIMIT "
        "1",
        "utii", weight, recipe->analysis, recipe->opens, now);

    return first_id(ledger, id, statement, row, status);
}

static sotto_status bytes_used(sotto_ledger *ledger, int64_t *used, sotto_err *err)
{
    return sotto_ledger_number(ledger, used, "SELECT coalesce(sum(" WEIGHT "),0) FROM recipes",
                               err);
}

static sotto_status drop_one(sotto_ledger *ledger, const sotto_recipe *recipe, uint64_t weight,
                             int64_t now, sotto_err *err)
{
    int64_t id;

    SOTTO_TRY(find_closed(ledger, &id, now, err));
    if (SOTTO_RULE(finished_makes_room) && id == 0)
        SOTTO_TRY(find_finished(ledger, &id, err));
    if (SOTTO_RULE(shelf_shared) && id == 0)
        SOTTO_TRY(find_last(ledger, &id, recipe, weight, now, err));
    if (id == 0)
        return sotto_fail(err, SOTTO_TOO_LARGE,
                          "no room for recipe %.63s: others are known and open", recipe->name);
    return remove_row(ledger, id, err);
}

static sotto_status make_room(sotto_ledger *ledger, const sotto_recipe *recipe, uint64_t weight,
                              int64_t now, sotto_err *err)
{
    int64_t used;

    do {
        SOTTO_TRY(drop_one(ledger, recipe, weight, now, err));
        SOTTO_TRY(bytes_used(ledger, &used, err));
    } while ((uint64_t)used + weight > SOTTO_DEVICE_RECIPE_BYTES);
    return SOTTO_OK;
}

/* ---- putting ---------------------------------------------------------------------------------------------- */

static sotto_status put(sotto_ledger *ledger, const sotto_recipe *recipe,
                        const uint8_t judged[SOTTO_RECIPE_HASH_SIZE], sotto_known_epsilon known,
                        int64_t now, sotto_err *err)
{
    char note[48];
    const sotto_asked asked = sotto_shelf_asked(recipe);
    const sotto_record_entry seen = {.at = now,
                                     .kind = SOTTO_RECORD_SEEN,
                                     .recipe = recipe->name,
                                     .analysis = recipe->analysis,
                                     .note = note,
                                     .asked = &asked};
    const uint64_t least = SOTTO_DEVICE_RECIPE_BYTES / SOTTO_DEVICE_MAX_RECIPES;
    const uint64_t weight = recipe->text.len > least ? recipe->text.len : least;
    int64_t old, used, id = 0;
    bool keep;

    SOTTO_TRY(replaces(ledger, recipe, judged, &old, &keep, err));
    if (keep)
        return SOTTO_OK;
    if (old)
        SOTTO_TRY(remove_row(ledger, old, err));
    SOTTO_TRY(bytes_used(ledger, &used, err));
    if (SOTTO_RULE(shelf_bounded) && (uint64_t)used + weight > SOTTO_DEVICE_RECIPE_BYTES)
        SOTTO_TRY(make_room(ledger, recipe, weight, now, err));
    SOTTO_TRY(sotto_ledger_insert(
        ledger, "recipes", &id, err, "INSERT INTO recipes VALUES(?,?,?,?,?,?,?,?,?,?)", "tuiibudbb",
        recipe->name, recipe->version, recipe->opens, recipe->closes,
        sotto_bytes_of(judged, SOTTO_RECIPE_HASH_SIZE), known.honest, known.epsilon,
        sotto_bytes_of(recipe->hash, sizeof recipe->hash), recipe->text));
    (void)snprintf(note, sizeof note, "version %" PRIu64, recipe->version);
    return sotto_record_write(ledger, &seen, NULL, err);
}

sotto_status sotto_shelf_put(sotto_ledger *ledger, const sotto_recipe *recipe,
                             const uint8_t judged[SOTTO_RECIPE_HASH_SIZE],
                             sotto_known_epsilon known, int64_t now, sotto_err *err)
{
    int64_t old;
    bool keep;

    /* Offering a recipe again costs no transaction. */
    SOTTO_TRY(replaces(ledger, recipe, judged, &old, &keep, err));
    if (keep)
        return SOTTO_OK;
    SOTTO_TRY(sotto_ledger_begin(ledger, err));
    return sotto_ledger_end(ledger, put(ledger, recipe, judged, known, now, err), err);
}
