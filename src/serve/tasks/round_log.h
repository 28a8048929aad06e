/* serve/tasks/round_log.h - rounds of learning that a public log names become tasks, without an operator.
 *
 * Callers:  tasks/server.c starts one where the server's options name a log; tests look by themselves.
 * Memory:   what was found of the log is kept until it is closed, about 190 bytes a record.
 * Threads:  one of its own. A look is one thread's at a time; the view may be read by any.
 * Secrets:  none.
 *
 * A server serves a learning recipe once its operator added any of its rounds: the first, mostly. From then on each record of
 * that recipe which the log holds is added as its time comes. Leader and helper each read the log for themselves.
 *
 *     cosigned   nothing is read but what the log signed and witnesses cosigned, by keys that the operator gave
 *     digest     the record that the entry's name makes has the entry's hash; other entries are passed over, and counted
 *     signed     where the recipe names its owner's key, an entry without a signature by it is passed over, and counted
 *     first      of records of one round the first that was logged counts; the second is refused, and shown, and more are passed
 *                over. A first one that can't be added now keeps its round: it is shown, and tried again
 *     in turn    the task of a round is added when the round before has closed: no model is known earlier
 */
#ifndef SOTTO_SERVE_TASKS_ROUND_LOG_H
#define SOTTO_SERVE_TASKS_ROUND_LOG_H

#include "tlog/follow.h"

struct sotto_server;

typedef struct sotto_round_log sotto_round_log;

/* What an operator is told. */
typedef struct sotto_round_log_view {
    uint64_t entries;  /* of the log, read and verified   */
    uint64_t added;    /* tasks, by this process          */
    uint64_t waiting;  /* records whose time is to come   */
    uint64_t refused;  /* records that make no task, by now */
    char refusal[200]; /* the last one, and why           */
    char unread[160];  /* why the log can't be read now; empty: it can */
} sotto_round_log_view;

/* Everything is borrowed: the server, and keys of the log and its witnesses. */
SOTTO_MUST_USE sotto_status sotto_round_log_new(sotto_round_log **out, struct sotto_server *server,
                                                const sotto_log_trust *trust, sotto_err *err);
/* NULL is fine. */
void sotto_round_log_free(sotto_round_log *rounds);

/* Reads what the log has more, and adds each round whose time has come by `now`, in seconds since 1970. What this server must
 * not take is refused and shown, and is no failure.
 *   SOTTO_IO, SOTTO_MISSING  the log can't be reached, or lost what it had signed. One that has signed nothing yet is no failure
 *   SOTTO_DENIED    too few witnesses cosigned
 *   SOTTO_REJECTED  a signature does not hold, or the log forked
 *   SOTTO_STALE     the log was rolled back */
SOTTO_MUST_USE sotto_status sotto_round_log_look(sotto_round_log *rounds,
                                                 const sotto_log_source *source, int64_t now,
                                                 sotto_err *err);

void sotto_round_log_see(sotto_round_log *rounds, sotto_round_log_view *view);

/* ---- a thread that looks: round_watch.c ------------------------------------------------------------------ */

typedef struct sotto_round_watch sotto_round_watch;

/* url: of the log. keys: a file of public keys, the log's first and then its witnesses'. quorum: how many of these must have cosigned; 0: all. */
SOTTO_MUST_USE sotto_status sotto_round_watch_open(sotto_round_watch **out,
                                                   struct sotto_server *server, const char *url,
                                                   const char *keys, uint64_t quorum,
                                                   sotto_err *err);
/* Looks no more; what was seen can still be told. NULL is fine. */
void sotto_round_watch_stop(sotto_round_watch *watch);
void sotto_round_watch_close(sotto_round_watch *watch); /* NULL is fine */
/* Appends lines to /readyz. NULL is fine. */
void sotto_round_watch_describe(sotto_round_watch *watch, sotto_buf *out);

#endif
