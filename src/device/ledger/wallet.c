#include "device/ledger/wallet.h"

#include "base/hex.h"
#include "base/rule.h"
#include "device/arc.h"
#include "device/ledger/ledger_internal.h"

#include <string.h>

#define ROWS "SELECT * FROM tokens WHERE "

/* ---- rows ------------------------------------------------------------------------------------------------- */

static bool copy_text(char *out, size_t size, const char *text)
{
    const size_t len = strlen(text);

    if (len < size)
        memcpy(out, text, len + 1);
    return len < size;
}

static bool copy_bytes(uint8_t *out, size_t len, sotto_bytes bytes)
{
    if (bytes.len == len)
        memcpy(out, bytes.data, len);
    return bytes.len == len;
}

/* In its columns' order: id, key, issuer, analysis, opens, closes, state, ask, rest, ready, spki, secret, logged. The last one is twice the
 * serial of the list, and 1 more if a log showed it: earlier versions had no serial there. */
static sotto_status take(sotto_wallet_row *out, sqlite3_stmt *row, sotto_err *err)
{
    const sotto_bytes secret = sotto_ledger_blob(row, 11);

    *out = (sotto_wallet_row){
        .id = sqlite3_column_int64(row, 0),
        .key = {.opens = sqlite3_column_int64(row, 4), .closes = sqlite3_column_int64(row, 5)},
        .state = (sotto_token_state)sqlite3_column_int64(row, 6),
        .ask = sqlite3_column_int64(row, 7),
        .rest = sqlite3_column_int64(row, 8),
        .ready = sqlite3_column_int64(row, 9),
        .len = secret.len,
        .logged = sqlite3_column_int64(row, 12) & 1,
        .serial = (uint64_t)sqlite3_column_int64(row, 12) >> 1,
    };
    if (!copy_bytes(out->key.id, sizeof out->key.id, sotto_ledger_blob(row, 1)) ||
        !copy_text(out->issuer, sizeof out->issuer, sotto_ledger_text(row, 2)) ||
        !copy_text(out->key.analysis, sizeof out->key.analysis, sotto_ledger_text(row, 3)) ||
        !copy_bytes(out->key.spki, sizeof out->key.spki, sotto_ledger_blob(row, 10)) ||
        secret.len > sizeof out->secret)
        return sotto_fail(err, SOTTO_MALFORMED, "a token is damaged");
    if (secret.len)
        memcpy(out->secret, secret.data, secret.len);
    return SOTTO_OK;
}

static sotto_status finish(sotto_ledger *ledger, sotto_wallet_row *out, sotto_status status,
                           sqlite3_stmt *statement, bool found, sotto_err *err)
{
    if (status == SOTTO_OK && found)
        status = take(out, statement, err);
    sotto_ledger_release(ledger, statement);
    return status;
}

sotto_status sotto_wallet_next(sotto_ledger *ledger, sotto_wallet_row *out, bool *found,
                               int64_t after, sotto_err *err)
{
    sqlite3_stmt *statement;

    *found = false;
    SOTTO_TRY(sotto_ledger_usable(ledger, err));
    const sotto_status status = sotto_ledger_find(ledger, &statement, found, err,
                                                  ROWS "id>? ORDER BY id LIMIT 1", "i", after);
    return finish(ledger, out, status, statement, *found, err);
}

sotto_status sotto_wallet_find(sotto_ledger *ledger, sotto_wallet_row *out, bool *found,
                               const sotto_wallet_window *window, int64_t time, sotto_err *err)
{
    sqlite3_stmt *statement;

    *found = false;
    SOTTO_TRY(sotto_ledger_usable(ledger, err));
    const sotto_status status = sotto_ledger_find(
        ledger, &statement, found, err,
        ROWS "issuer=? AND analysis=? AND opens BETWEEN ? AND ?4 AND closes>?4 AND closes<=?",
        "ttiii", window->issuer, window->analysis, window->opens, time, window->closes);
    return finish(ledger, out, status, statement, *found, err);
}

static sotto_status find_key(sotto_ledger *ledger, sotto_wallet_row *out, bool *found,
                             const uint8_t key[SOTTO_TOKEN_KEY_ID], sotto_err *err)
{
    sqlite3_stmt *statement;
    const sotto_status status = sotto_ledger_find(ledger, &statement, found, err, ROWS "key=?", "b",
                                                  sotto_bytes_of(key, SOTTO_TOKEN_KEY_ID));

    return finish(ledger, out, status, statement, *found, err);
}

/* A row that is there is replaced. */
static sotto_status write(sotto_ledger *ledger, const sotto_wallet_row *row, sotto_err *err)
{
    int64_t id = row->id;

    if (id)
        SOTTO_TRY(sotto_ledger_fold(ledger, "tokens", id, err));
    return sotto_ledger_insert(
        ledger, "tokens", &id, err,
        "INSERT OR REPLACE INTO tokens VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)", "bttiiiiiibbi",
        sotto_bytes_of(row->key.id, sizeof row->key.id), row->issuer, row->key.analysis,
        row->key.opens, row->key.closes, (int64_t)row->state, row->ask, row->rest, row->ready,
        sotto_bytes_of(row->key.spki, sizeof row->key.spki), sotto_bytes_of(row->secret, row->len),
        (int64_t)(row->serial << 1 | row->logged));
}

/* ---- keys ------------------------------------------------------------------------------------------------- */

static bool is_wanted(const sotto_listed_key *key, int64_t now)
{
    return key->closes > now && key->opens - now <= SOTTO_WALLET_AHEAD;
}

/* A key of two collections would have one token for both; and its second row would take the first one's place. */
static sotto_status check_unused(sotto_ledger *ledger, const sotto_listed_key *key, sotto_err *err)
{
    sotto_wallet_row row;
    bool used;

    SOTTO_TRY(find_key(ledger, &row, &used, key->id, err));
    sotto_wipe(&row, sizeof row);
    if (SOTTO_RULE(one_collection_a_key) && used)
        return sotto_fail(err, SOTTO_REJECTED,
                          "list of token keys: analysis %.60s: its key is another collection's",
                          key->analysis);
    return SOTTO_OK;
}

/* Whether it is known. A second key of a collection would be a second token, or one that marks this device. */
/* Credentials are shown by the epoch that has the schedule. Two epochs at once would let a server tell those who took the
 * first list from the others. */
static sotto_status check_epochs(sotto_ledger *ledger, const char *issuer,
                                 const sotto_listed_key *key, sotto_err *err)
{
    sqlite3_stmt *statement;
    bool overlaps = false;
    const sotto_status status = sotto_ledger_find(
        ledger, &statement, &overlaps, err,
        "SELECT 1 FROM tokens WHERE issuer=? AND opens<? AND closes>? AND opens<>? LIMIT 1", "tiii",
        issuer, key->closes, key->opens, key->opens);

    sotto_ledger_release(ledger, statement);
    if (status != SOTTO_OK)
        return status;
    if (SOTTO_RULE(one_epoch_at_a_time) && overlaps)
        return sotto_fail(err, SOTTO_REJECTED,
                          "list of token keys: another epoch is known for the same time");
    return SOTTO_OK;
}

static sotto_status look_up(sotto_ledger *ledger, sotto_wallet_row *row, bool *known,
                            const char *issuer, const sotto_listed_key *key, sotto_err *err)
{
    const sotto_wallet_window window = {issuer, key->analysis, key->opens, INT64_MAX};

    SOTTO_TRY(sotto_wallet_find(ledger, row, known, &window, key->opens, err));
    const bool same = *known && row->key.closes == key->closes &&
                      memcmp(row->key.id, key->id, sizeof row->key.id) == 0;
    if (SOTTO_RULE(one_key_a_collection) && *known && !same)
        return sotto_fail(err, SOTTO_REJECTED,
                          "list of token keys: analysis %.60s: another key is known for it",
                          key->analysis);
    if (sotto_listed_key_is_arc(key))
        SOTTO_TRY(check_epochs(ledger, issuer, key, err));
    return *known ? SOTTO_OK : check_unused(ledger, key, err);
}

typedef struct taking {
    const char *issuer;
    uint64_t serial;
    bool logged;
    const sotto_listed_key *keys;
    size_t count;
    sotto_wallet_plan_fn *plan;
    void *context;
    int64_t now;
} taking;

static sotto_status add(sotto_ledger *ledger, const taking *t, const sotto_listed_key *key,
                        sotto_err *err)
{
    sotto_wallet_row row = {
        .key = *key, .state = SOTTO_TOKEN_PLANNED, .logged = t->logged, .serial = t->serial};

    if (!copy_text(row.issuer, sizeof row.issuer, t->issuer))
        return sotto_fail(err, SOTTO_TOO_LARGE, "an issuer's name of %zu bytes", strlen(t->issuer));
    SOTTO_TRY(t->plan(t->context, &row, err));
    return write(ledger, &row, err);
}

/* One that is known is written again where a log has it now, and had not before, or where a later list has it. */
static sotto_status take_key(sotto_ledger *ledger, const taking *t, const sotto_listed_key *key,
                             bool adding, size_t *fresh, sotto_err *err)
{
    sotto_wallet_row row = {0};
    bool known;
    sotto_status status = look_up(ledger, &row, &known, t->issuer, key, err);
    const bool news =
        status == SOTTO_OK && known && ((t->logged && !row.logged) || t->serial > row.serial);

    if (status == SOTTO_OK)
        *fresh += !known || news;
    if (news && adding) {
        row.logged = row.logged || t->logged;
        row.serial = t->serial;
        status = write(ledger, &row, err);
    }
    sotto_wipe(&row, sizeof row);
    return status == SOTTO_OK && !known && adding ? add(ledger, t, key, err) : status;
}

static sotto_status check_serial(sotto_ledger *ledger, const taking *t, sotto_err *err)
{
    sqlite3_stmt *statement;
    bool row;
    const sotto_status status =
        sotto_ledger_find(ledger, &statement, &row, err,
                          "SELECT max(logged) FROM tokens WHERE issuer=?", "t", t->issuer);
    const uint64_t last =
        status == SOTTO_OK && row ? (uint64_t)sqlite3_column_int64(statement, 0) >> 1 : 0;

    sotto_ledger_release(ledger, statement);
    SOTTO_TRY(status);
    if (SOTTO_RULE(lists_never_go_back) && t->serial < last)
        return sotto_fail(err, SOTTO_STALE, "list of token keys: a later one was taken");
    return SOTTO_OK;
}

/* Without a transaction it only counts. */
static sotto_status go_through(sotto_ledger *ledger, const taking *t, bool adding, size_t *fresh,
                               sotto_err *err)
{
    *fresh = 0;
    SOTTO_TRY(check_serial(ledger, t, err));
    for (size_t i = 0; i < t->count; i++)
        if (is_wanted(&t->keys[i], t->now))
            SOTTO_TRY(take_key(ledger, t, &t->keys[i], adding, fresh, err));
    return SOTTO_OK;
}

static sotto_status add_all(sotto_ledger *ledger, const taking *t, sotto_err *err)
{
    int64_t rows;
    size_t fresh;

    SOTTO_TRY(go_through(ledger, t, true, &fresh, err));
    SOTTO_TRY(sotto_ledger_number(ledger, &rows, "SELECT count(*) FROM tokens WHERE ask>=0", err));
    if (SOTTO_RULE(wallet_bounded) && rows > SOTTO_WALLET_KEYS)
        return sotto_fail(err, SOTTO_TOO_LARGE, "list of token keys: more than %d collections",
                          SOTTO_WALLET_KEYS);
    return SOTTO_OK;
}

sotto_status sotto_wallet_take(sotto_ledger *ledger, const char *issuer, uint64_t serial,
                               bool logged, const sotto_listed_key *keys, size_t count,
                               sotto_wallet_plan_fn *plan, void *context, int64_t now,
                               sotto_err *err)
{
    const taking t = {issuer, serial, logged, keys, count, plan, context, now};
    size_t fresh;

    SOTTO_TRY(go_through(ledger, &t, false, &fresh, err));
    if (fresh == 0) /* the same list comes again and again */
        return SOTTO_OK;
    SOTTO_TRY(sotto_ledger_begin(ledger, err));
    return sotto_ledger_end(ledger, add_all(ledger, &t, err), err);
}

/* ---- changes ---------------------------------------------------------------------------------------------- */

static sotto_status change(sotto_ledger *ledger, const sotto_wallet_row *row,
                           sotto_token_state from, const char *note, int64_t now, sotto_err *err)
{
    const sotto_record_entry entry = {
        .at = now, .kind = SOTTO_RECORD_TOKEN, .analysis = row->key.analysis, .note = note};
    sotto_wallet_row there;
    bool found;

    SOTTO_TRY(find_key(ledger, &there, &found, row->key.id, err));
    sotto_wipe(there.secret, sizeof there.secret);
    if (SOTTO_RULE(tokens_only_forward) && !(found && there.id == row->id && there.state == from))
        return sotto_fail(err, SOTTO_STALE, "token: changed meanwhile");
    SOTTO_TRY(write(ledger, row, err));
    return sotto_record_write(ledger, &entry, NULL, err);
}

sotto_status sotto_wallet_change(sotto_ledger *ledger, const sotto_wallet_row *row,
                                 sotto_token_state from, const char *note, int64_t now,
                                 sotto_err *err)
{
    SOTTO_TRY(sotto_ledger_begin(ledger, err));
    return sotto_ledger_end(ledger, change(ledger, row, from, note, now, err), err);
}

sotto_status sotto_wallet_spend(sotto_ledger *ledger, const uint8_t key[SOTTO_TOKEN_KEY_ID],
                                sotto_err *err)
{
    sotto_wallet_row row;
    bool found;

    SOTTO_TRY(find_key(ledger, &row, &found, key, err));
    const bool held = found && row.state == SOTTO_TOKEN_HELD;
    sotto_wipe(row.secret, sizeof row.secret);
    if (SOTTO_RULE(token_used_once) && !held)
        return sotto_fail(err, SOTTO_STALE, "token: used meanwhile");
    row.state = SOTTO_TOKEN_SPENT;
    row.len = 0;
    return write(ledger, &row, err);
}

sotto_status sotto_wallet_plan_shown(sotto_ledger *ledger, sotto_wallet_row *out, const char **none,
                                     const sotto_recipe *recipe, sotto_wallet_row *const held[2],
                                     sotto_err *err)
{
    const sotto_arc_collection collection = sotto_arc_collection_of(recipe);
    const int64_t ends[] = {held[0]->key.closes, held[1]->key.closes};
    sotto_wallet_row there;
    int64_t rows;
    bool used;

    *none = NULL;
    *out = (sotto_wallet_row){
        .state = SOTTO_TOKEN_SPENT,
        .ask = SOTTO_WALLET_NEVER_ASKED,
        .key = {.opens = recipe->opens, .closes = ends[0] > ends[1] ? ends[0] : ends[1]}};
    if (!copy_text(out->key.analysis, sizeof out->key.analysis, recipe->analysis))
        return sotto_fail(err, SOTTO_TOO_LARGE, "an analysis's name");
    sotto_arc_presentation_context(out->key.id, &collection);
    /* Recipes of one analysis may open together, and the table has one row for an issuer, analysis and opening. */
    sotto_hex_encode(out->issuer, sotto_bytes_of(out->key.id, sizeof out->key.id));
    SOTTO_TRY(find_key(ledger, &there, &used, out->key.id, err));
    SOTTO_TRY(sotto_ledger_number(ledger, &rows, "SELECT count(*) FROM tokens WHERE ask<0", err));
    if (used)
        *none = "this device's only one for the collection is used";
    /* A credential of the next epoch would have another tag. */
    if (SOTTO_RULE(schedule_in_an_epoch) && (ends[0] < recipe->closes || ends[1] < recipe->closes))
        *none = "no epoch of its issuer's keys has the recipe's whole schedule";
    if (SOTTO_RULE(shown_bounded) && rows >= SOTTO_WALLET_SHOWN)
        *none = "this device's credentials were shown as often as an epoch allows";
    return SOTTO_OK;
}

sotto_status sotto_wallet_show(sotto_ledger *ledger, const sotto_wallet_row *shown, sotto_err *err)
{
    sotto_wallet_row there;
    bool used;

    SOTTO_TRY(find_key(ledger, &there, &used, shown->key.id, err));
    if (SOTTO_RULE(shown_once) && used)
        return sotto_fail(err, SOTTO_STALE, "credential: shown meanwhile");
    return write(ledger, shown, err);
}

static sotto_status remove_row(sotto_ledger *ledger, int64_t id, sotto_err *err)
{
    SOTTO_TRY(sotto_ledger_begin(ledger, err));
    sotto_status status = sotto_ledger_fold(ledger, "tokens", id, err);
    if (status == SOTTO_OK)
        status = sotto_ledger_run(ledger, err, "DELETE FROM tokens WHERE id=?", "i", id);
    return sotto_ledger_end(ledger, status, err);
}

/* The last serial of an issuer stays, or an older list would be taken once all its rows were gone. */
static sotto_status is_superseded(sotto_ledger *ledger, const sotto_wallet_row *row, bool *is,
                                  sotto_err *err)
{
    sqlite3_stmt *statement;
    const sotto_status status =
        sotto_ledger_find(ledger, &statement, is, err,
                          "SELECT 1 FROM tokens WHERE issuer=? AND logged>=? AND id<>? LIMIT 1",
                          "tii", row->issuer, (int64_t)(row->serial << 1), row->id);

    sotto_ledger_release(ledger, statement);
    return status;
}

/* A row that stays for its serial keeps no secret. */
static sotto_status empty_row(sotto_ledger *ledger, sotto_wallet_row *row, sotto_err *err)
{
    if (row->len == 0)
        return SOTTO_OK;
    row->len = 0;
    SOTTO_TRY(sotto_ledger_begin(ledger, err));
    return sotto_ledger_end(ledger, write(ledger, row, err), err);
}

static sotto_status drop(sotto_ledger *ledger, sotto_wallet_row *row, sotto_err *err)
{
    bool superseded;

    SOTTO_TRY(is_superseded(ledger, row, &superseded, err));
    /* What ARC was shown for is of no list, and has no serial. */
    if (SOTTO_RULE(last_serial_stays) && !superseded && row->ask != SOTTO_WALLET_NEVER_ASKED)
        return empty_row(ledger, row, err);
    return remove_row(ledger, row->id, err);
}

sotto_status sotto_wallet_tidy(sotto_ledger *ledger, int64_t now, sotto_err *err)
{
    sotto_wallet_row row = {0};
    sotto_status status = SOTTO_OK;
    bool found = true;

    while (found && status == SOTTO_OK) {
        status = sotto_wallet_next(ledger, &row, &found, row.id, err);
        if (status == SOTTO_OK && found && row.key.closes < now - SOTTO_SEAL_GRACE)
            status = drop(ledger, &row, err);
    }
    sotto_wipe(&row, sizeof row);
    return status;
}
