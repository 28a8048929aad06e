/* Records of rounds, from entries of a log to tasks. */
#define _POSIX_C_SOURCE 200809L
#include "serve/tasks/round_log.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/log.h"
#include "base/rule.h"
#include "crypto/hash.h"
#include "recipe/learning.h"
#include "serve/tasks/server.h"
#include "tlog/entry.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 1 << 16, MEMORY = 8 << 20, A_ROUND = 2, RETRY = 60 };

typedef enum state { WAITING, SETTLED, REFUSED } state;

typedef struct found {
    uint64_t index; /* in the log */
    sotto_round_name name;
    uint8_t digest[SOTTO_ENTRY_DIGEST];
    state state;
    bool stuck; /* it waits, and could not be added: shown */
} found;

struct sotto_round_log {
    sotto_server *server;
    sotto_log_trust trust;
    sotto_checkpoint seen; /* its size and root */
    size_t recipes;        /* that were served when the log was read */
    found *list;
    size_t count, room;
    bool no_memory;
    /* Entries that name no round of their recipe, or have another record's hash: counted, and the last one shown. */
    uint64_t dropped, looks;
    found last_dropped;
    const char *why_dropped; /* NULL: none in this look */
    uint8_t *bundle;         /* SOTTO_LOG_BUNDLE_MAX bytes */
    sotto_arena arena;
    pthread_mutex_t lock; /* over the view */
    sotto_round_log_view view;
};

sotto_status sotto_round_log_new(sotto_round_log **out, sotto_server *server,
                                 const sotto_log_trust *trust, sotto_err *err)
{
    sotto_round_log *r = sotto_alloc(sizeof *r);

    if (!r)
        return sotto_fail(err, SOTTO_NO_MEMORY, "rounds of a log");
    r->server = server;
    r->trust = *trust;
    (void)pthread_mutex_init(&r->lock, NULL);
    sotto_arena_init(&r->arena, MEMORY);
    r->bundle = sotto_alloc(SOTTO_LOG_BUNDLE_MAX);
    if (!r->bundle) {
        sotto_round_log_free(r);
        return sotto_fail(err, SOTTO_NO_MEMORY, "rounds of a log");
    }
    *out = r;
    return SOTTO_OK;
}

void sotto_round_log_free(sotto_round_log *r)
{
    if (!r)
        return;
    sotto_release(r->list, r->room * sizeof *r->list);
    sotto_release(r->bundle, r->bundle ? SOTTO_LOG_BUNDLE_MAX : 0);
    sotto_arena_clear(&r->arena);
    (void)pthread_mutex_destroy(&r->lock);
    sotto_release(r, sizeof *r);
}

void sotto_round_log_see(sotto_round_log *r, sotto_round_log_view *view)
{
    (void)pthread_mutex_lock(&r->lock);
    *view = r->view;
    (void)pthread_mutex_unlock(&r->lock);
}

/* ---- recipes that are served ------------------------------------------------------------------------------ */

/* A task of that recipe; NULL: this server serves none. */
static const sotto_server_task *task_of(const sotto_round_log *r, const uint8_t recipe[32])
{
    const sotto_server_task *task;

    for (size_t i = 0; (task = sotto_tasks_at(r->server->tasks, i)) != NULL; i++)
        if (task->learning && memcmp(task->recipe->hash, recipe, sizeof task->recipe->hash) == 0)
            return task;
    return NULL;
}

static size_t count_recipes(const sotto_round_log *r)
{
    const sotto_server_task *task;
    size_t count = 0;

    for (size_t i = 0; (task = sotto_tasks_at(r->server->tasks, i)) != NULL; i++)
        count += task->learning && task_of(r, task->recipe->hash) == task;
    return count;
}

/* ---- reading ------------------------------------------------------------------------------------------------ */

static bool grow(sotto_round_log *r)
{
    const size_t room = r->room ? 2 * r->room : 64;
    found *more =
        room <= MOST ? sotto_alloc_grow(r->list, r->room, r->count, room, sizeof *more) : NULL;

    if (!more)
        return false;
    r->list = more;
    r->room = room;
    return true;
}

static bool same_round(const sotto_round_name *a, const sotto_round_name *b)
{
    return a->round == b->round && memcmp(a->recipe, b->recipe, sizeof a->recipe) == 0;
}

static sotto_round_record record_of(const sotto_server_task *like, const found *f)
{
    sotto_round_record record = {
        .round = f->name.round, .recipe = like->recipe->text, .is_signed = f->name.is_signed};

    memcpy(record.model, f->name.model, sizeof record.model);
    memcpy(record.signature, f->name.signature, sizeof record.signature);
    return record;
}

static sotto_status make_record(sotto_round_log *r, const sotto_server_task *like, const found *f,
                                sotto_bytes *out, sotto_err *err)
{
    const sotto_round_record record = record_of(like, f);
    sotto_buf wire;

    SOTTO_TRY(sotto_buf_take(&wire, &r->arena, record.recipe.len + 512, err));
    SOTTO_TRY(sotto_round_record_encode(&wire, &record, err));
    *out = sotto_buf_bytes(&wire);
    return SOTTO_OK;
}

/* Why this entry names no round; NULL: it does. Nothing else frees a round for a later entry: else whoever can make a server refuse
 * the first record for a while chooses its model. */
static const char *why_none(sotto_round_log *r, const sotto_server_task *like, const found *f)
{
    const sotto_arena_mark mark = sotto_arena_here(&r->arena);
    const sotto_round_record named = record_of(like, f);
    uint8_t digest[SOTTO_ENTRY_DIGEST] = {0};
    sotto_bytes record;

    if (SOTTO_RULE(round_entry_of_the_recipe) && f->name.round >= like->learning->rounds)
        return "the recipe has fewer rounds";
    if (make_record(r, like, f, &record, NULL) == SOTTO_OK)
        sotto_hash_once(digest, SOTTO_SHA256, record);
    else
        r->no_memory = true;
    sotto_arena_rollback(&r->arena, mark);
    if (SOTTO_RULE(round_entry_digest) && memcmp(digest, f->digest, sizeof digest) != 0)
        return "the entry's hash is not that of its record";
    if (SOTTO_RULE(round_entry_signed) &&
        sotto_round_record_verify(like->learning, &named, NULL) != SOTTO_OK)
        return "the recipe's owner has not signed it";
    return NULL;
}

/* A record that is there already, or the third of its round: the first counts, and the second is shown. More would let anybody
 * fill the memory of a server. */
static bool is_superfluous(const sotto_round_log *r, const found *f)
{
    size_t others = 0;

    for (const found *e = r->list; e < r->list + r->count; e++) {
        if (!same_round(&e->name, &f->name))
            continue;
        others++;
        if (memcmp(e->name.model, f->name.model, sizeof f->name.model) == 0)
            return true;
    }
    return others >= A_ROUND;
}

/* Anybody's entries are here; those that name a round of a recipe that is served are kept. */
static void keep(void *context, uint64_t index, sotto_bytes wire)
{
    sotto_round_log *r = context;
    const sotto_server_task *like;
    sotto_tlog_entry entry;
    found f = {.index = index};

    if (sotto_tlog_entry_decode(&entry, wire, NULL) != SOTTO_OK ||
        entry.type != SOTTO_ENTRY_RECIPE ||
        sotto_round_name_decode(&f.name, entry.url, NULL) != SOTTO_OK)
        return;
    like = task_of(r, f.name.recipe);
    if (!like)
        return;
    memcpy(f.digest, entry.digest, sizeof f.digest);
    const char *none = why_none(r, like, &f);
    if (none) {
        r->dropped++;
        r->last_dropped = f;
        r->why_dropped = none;
        return;
    }
    if (SOTTO_RULE(two_records_a_round) && is_superfluous(r, &f))
        return;
    if (r->count == r->room && !grow(r)) {
        r->no_memory = true;
        return;
    }
    r->list[r->count++] = f;
}

static void pass_over(void *context, uint64_t index, sotto_bytes wire)
{
    (void)context;
    (void)index;
    (void)wire;
}

/* Before all of the log is read again: what it signs now must continue what was seen, like any other step. */
static sotto_status check_continued(sotto_round_log *r, const sotto_log_source *source,
                                    const sotto_checkpoint *now, sotto_err *err)
{
    return r->seen.size == 0
               ? SOTTO_OK
               : sotto_log_follow(source, &r->seen, now, r->bundle, pass_over, NULL, err);
}

/* Entries count only once all of them are known to be the tree that was signed. */
static sotto_status read_more(sotto_round_log *r, const sotto_log_source *source, sotto_err *err)
{
    const size_t recipes = count_recipes(r), before = recipes == r->recipes ? r->count : 0;
    const uint64_t dropped = recipes == r->recipes ? r->dropped : 0;
    sotto_checkpoint from = r->seen, now;
    sotto_status status;
    sotto_buf note;

    SOTTO_TRY(sotto_buf_take(&note, &r->arena, SOTTO_NOTE_MAX, err));
    status = sotto_log_latest(source, &note, &now, &r->trust, err);
    if (status == SOTTO_MISSING && r->seen.size == 0) {
        sotto_err_clear(err); /* a log that has signed nothing yet */
        return SOTTO_OK;
    }
    SOTTO_TRY(status);
    if (now.size == r->seen.size && sotto_merkle_equal(&now.root, &r->seen.root) &&
        recipes == r->recipes)
        return SOTTO_OK;
    if (recipes != r->recipes) {
        status = check_continued(r, source, &now, err);
        if (SOTTO_RULE(reread_continues_the_log) && status != SOTTO_OK)
            return status;
        from = (sotto_checkpoint){0}; /* what was passed over may be a new recipe's */
    }
    r->count = before;
    r->dropped = dropped;
    r->why_dropped = NULL;
    r->no_memory = false;
    status = sotto_log_follow(source, &from, &now, r->bundle, keep, r, err);
    if (status == SOTTO_OK && r->no_memory)
        status = sotto_fail(err, SOTTO_NO_MEMORY, "the log names too many rounds");
    if (status != SOTTO_OK) {
        if (before == 0) /* all of it is read again */
            r->recipes = SIZE_MAX;
        r->count = before;
        r->dropped = dropped;
        r->why_dropped = NULL;
        return status;
    }
    r->recipes = recipes;
    r->seen = (sotto_checkpoint){.size = now.size, .root = now.root};
    return SOTTO_OK;
}

/* ---- deciding ----------------------------------------------------------------------------------------------- */

/* Whether the round has another model already: by an entry before this one, or by a task that an operator added. */
static bool is_second(const sotto_round_log *r, const found *f)
{
    const sotto_server_task *task;

    for (const found *e = r->list; e < f; e++)
        if (same_round(&e->name, &f->name) &&
            memcmp(e->name.model, f->name.model, sizeof f->name.model) != 0)
            return true;
    for (size_t i = 0; (task = sotto_tasks_at(r->server->tasks, i)) != NULL; i++)
        if (task->learning && task->round == f->name.round &&
            memcmp(task->recipe->hash, f->name.recipe, sizeof f->name.recipe) == 0 &&
            memcmp(task->model, f->name.model, sizeof task->model) != 0)
            return true;
    return false;
}

/* By the recipe's calendar, not by when it was logged: so a server that starts late decides as the other one did. */
static bool is_early(const sotto_learning *l, const found *f, int64_t now)
{
    return f->name.round > 0 && f->name.round < l->rounds &&
           now < l->head.opens + (int64_t)(f->name.round * l->every);
}

/* By an operator, another process, or this one before it read the log anew. */
static bool is_served(const sotto_round_log *r, const found *f)
{
    const sotto_server_task *task;

    for (size_t i = 0; (task = sotto_tasks_at(r->server->tasks, i)) != NULL; i++)
        if (task->learning && task->round == f->name.round &&
            memcmp(task->recipe->hash, f->name.recipe, sizeof f->name.recipe) == 0 &&
            memcmp(task->model, f->name.model, sizeof task->model) == 0)
            return true;
    return false;
}

typedef struct stored {
    int64_t n;
    sotto_arena *arena;
    sotto_bytes parties;
    uint64_t population;
} stored;

static sotto_status read_stored(sotto_tx *tx, void *context, sotto_err *err)
{
    stored *s = context;
    sotto_bytes bytes;
    uint8_t *copy;
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "SELECT parties, coalesce(population, 0) FROM task WHERE n = ?1", err));
    sotto_sql_int(&q, 1, s->n);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    if (!row)
        return sotto_fail(err, SOTTO_MISSING, "a task that is served has no row");
    bytes = sotto_sql_column_bytes(&q, 0);
    copy = sotto_arena_take(s->arena, bytes.len);
    if (!copy)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a parties file");
    memcpy(copy, bytes.data, bytes.len);
    s->parties = sotto_bytes_of(copy, bytes.len);
    s->population = (uint64_t)sotto_sql_column_int(&q, 1);
    return sotto_sql_run(&q, NULL, err);
}

static sotto_status add(sotto_round_log *r, const sotto_server_task *like, const found *f,
                        sotto_err *err)
{
    const sotto_server *server = r->server;
    sotto_mistakes *mistakes = sotto_arena_take(&r->arena, sizeof *mistakes);
    stored s = {.n = like->n, .arena = &r->arena};
    uint8_t id[SOTTO_TASK_ID_SIZE];
    sotto_buf ids = sotto_buf_over(id, sizeof id);
    sotto_bytes record;

    if (!mistakes)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a round");
    if (like->learning->head.anonymity.tokens == SOTTO_TOKENS_TYPE_2)
        return sotto_fail(err, SOTTO_DENIED,
                          "the recipe asks for tokens: add it by `sotto admin task add`");
    SOTTO_TRY(make_record(r, like, f, &record, err));
    SOTTO_TRY(sotto_db_read(server->db, read_stored, &s, err));
    SOTTO_TRY(sotto_tasks_add(server->db, server->columns, server->role, record, s.parties,
                              s.population, sotto_bytes_of(NULL, 0), &ids, mistakes, err));
    return sotto_tasks_refresh(server->tasks, err);
}

static void show_refusal(sotto_round_log *r, const found *f, const char *why)
{
    (void)pthread_mutex_lock(&r->lock);
    (void)snprintf(r->view.refusal, sizeof r->view.refusal,
                   "round %" PRIu64 ", entry %" PRIu64 ": %s", f->name.round, f->index, why);
    (void)pthread_mutex_unlock(&r->lock);
    sotto_log(r->server->log, SOTTO_LOG_ERROR, "round.refused", sotto_log_uint("entry", f->index),
              sotto_log_uint("round", f->name.round), sotto_log_text("reason", why));
}

/* A database or memory that fails now is tried again at the next look. So is a record that can't be added for another reason, now
 * and then: it is shown, and its round is still its own. */
static sotto_status settle(sotto_round_log *r, found *f, int64_t now, uint64_t *added,
                           sotto_err *err)
{
    const sotto_server_task *like = task_of(r, f->name.recipe);
    const sotto_arena_mark mark = sotto_arena_here(&r->arena);
    sotto_err why = {0};
    sotto_status status;

    if (SOTTO_RULE(round_after_the_last) && is_early(like->learning, f, now))
        return SOTTO_OK;
    if (is_served(r, f)) {
        f->state = SETTLED;
        return SOTTO_OK;
    }
    if (SOTTO_RULE(round_first_logged) && is_second(r, f)) {
        f->state = REFUSED;
        show_refusal(r, f, "another record of this round was there before");
        return SOTTO_OK;
    }
    if (f->stuck && r->looks % RETRY != 0)
        return SOTTO_OK;
    status = add(r, like, f, &why);
    sotto_arena_rollback(&r->arena, mark);
    if (status == SOTTO_IO || status == SOTTO_NO_MEMORY)
        return sotto_fail(err, status, "%s", why.reason);
    if (status != SOTTO_OK) {
        f->stuck = true;
        show_refusal(r, f, why.reason);
        return SOTTO_OK;
    }
    f->state = SETTLED;
    f->stuck = false;
    *added += 1;
    sotto_log(r->server->log, SOTTO_LOG_INFO, "round.added", sotto_log_uint("entry", f->index),
              sotto_log_uint("round", f->name.round));
    return SOTTO_OK;
}

static sotto_status settle_all(sotto_round_log *r, int64_t now, sotto_err *err)
{
    uint64_t waiting = 0, refused = r->dropped, added = 0;
    sotto_status status = SOTTO_OK;

    if (r->why_dropped)
        show_refusal(r, &r->last_dropped, r->why_dropped);
    r->why_dropped = NULL;
    for (size_t i = 0; i < r->count && status == SOTTO_OK; i++) {
        const found *f = &r->list[i];

        if (f->state == WAITING)
            status = settle(r, &r->list[i], now, &added, err);
        waiting += f->state == WAITING && !f->stuck;
        refused += f->state == REFUSED || (f->state == WAITING && f->stuck);
    }
    (void)pthread_mutex_lock(&r->lock);
    r->view.entries = r->seen.size;
    r->view.added += added;
    r->view.waiting = waiting;
    r->view.refused = refused;
    (void)pthread_mutex_unlock(&r->lock);
    return status;
}

sotto_status sotto_round_log_look(sotto_round_log *r, const sotto_log_source *source, int64_t now,
                                  sotto_err *err)
{
    sotto_err why = {0};
    sotto_status status = read_more(r, source, &why), settled;

    r->looks++;
    settled = settle_all(r, now, &why);
    status = status == SOTTO_OK ? settled : status;
    (void)pthread_mutex_lock(&r->lock);
    (void)snprintf(r->view.unread, sizeof r->view.unread, "%s",
                   status == SOTTO_OK ? "" : why.reason);
    (void)pthread_mutex_unlock(&r->lock);
    sotto_arena_reset(&r->arena);
    return status == SOTTO_OK ? SOTTO_OK : sotto_fail(err, status, "%s", why.reason);
}
