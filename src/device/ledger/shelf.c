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
        return sotto_fail(err, SOTTO_MALFORMED, "a recipe is not what was written");
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

    return !SOTTO_RULE(recipes_known_by_hash) || (sotto_ledger_digest(row, column, hash) &&
                                                  memcmp(hash, shelved->hash, sizeof hash) == 0);
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

/* Which row has to go for the new one, if any; *keep: the one that is there is as good. */
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
    if (known.version > recipe->version && SOTTO_RULE(versions_ascend))
        return sotto_fail(err, SOTTO_STALE, "recipe %.63s: version %" PRIu64 " is known",
                          recipe->name, known.version);
    SOTTO_TRY(has_bytes(ledger, known.id, recipe, &same, err));
    if (known.version == recipe->version && !same && SOTTO_RULE(one_text_a_version))
        return sotto_fail(err, SOTTO_REJECTED,
                          "recipe %.63s: version %" PRIu64 " is known with other bytes",
                          recipe->name, known.version);
    *keep = same && memcmp(known.judged, judged, SOTTO_RECIPE_HASH_SIZE) == 0;
    return SOTTO_OK;
}

/* Recipes that closed make room, the oldest first. */
static sotto_status make_room(sotto_ledger *ledger, int64_t now, sotto_err *err)
{
    sqlite3_stmt *statement;
    int64_t count, id = 0;
    bool row;

    SOTTO_TRY(
        sotto_sqlite_number(ledger->db, &count, "SELECT count(*) FROM recipes", "recipes", err));
    if (count < SOTTO_DEVICE_MAX_RECIPES)
        return SOTTO_OK;
    sotto_status status = sotto_ledger_find(
        ledger, &statement, &row, err,
        "SELECT id FROM recipes WHERE closes<=? ORDER BY closes, id LIMIT 1", "i", now);
    if (status == SOTTO_OK && row)
        id = sqlite3_column_int64(statement, 0);
    sotto_ledger_release(ledger, statement);
    SOTTO_TRY(status);
    if (!row)
        return sotto_fail(err, SOTTO_TOO_LARGE, "%d recipes are known and open",
                          SOTTO_DEVICE_MAX_RECIPES);
    return remove_row(ledger, id, err);
}

static sotto_status put(sotto_ledger *ledger, const sotto_recipe *recipe,
                        const uint8_t judged[SOTTO_RECIPE_HASH_SIZE], sotto_known_epsilon known,
                        int64_t now, sotto_err *err)
{
    char note[48];
    const sotto_record_entry seen = {.at = now,
                                     .kind = SOTTO_RECORD_SEEN,
                                     .recipe = recipe->name,
                                     .analysis = recipe->analysis,
                                     .note = note};
    int64_t old, id = 0;
    bool keep;

    SOTTO_TRY(replaces(ledger, recipe, judged, &old, &keep, err));
    if (keep)
        return SOTTO_OK;
    if (old)
        SOTTO_TRY(remove_row(ledger, old, err));
    else
        SOTTO_TRY(make_room(ledger, now, err));
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
