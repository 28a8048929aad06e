/* serve/tasks/token_check.h - whether the token of a report admits it: what a compute thread finds out, outside any transaction.
 *
 * Callers:  the leader's upload.c, the helper's verify.c.
 * Memory:   a checker holds the keys that it opened last; one for each compute thread.
 * Secrets:  private keys of ARC, in its verifiers; time does not depend on them.
 */
#ifndef SOTTO_SERVE_TASKS_TOKEN_CHECK_H
#define SOTTO_SERVE_TASKS_TOKEN_CHECK_H

#include "serve/tasks/server.h"
#include "serve/tasks/spent_tokens.h"

typedef struct sotto_token_checker sotto_token_checker;

SOTTO_MUST_USE sotto_status sotto_token_checker_new(sotto_token_checker **out, sotto_err *err);
/* NULL is fine. */
void sotto_token_checker_free(sotto_token_checker *checker);

/* A share that was opened, of a task with token keys. */
typedef struct sotto_token_question {
    const sotto_server_task *task;
    unsigned who; /* SOTTO_REPORT_LEADER or _HELPER */
    const sotto_report_metadata *metadata;
    sotto_bytes aad;
    const sotto_plaintext_input_share *plain;
    sotto_hpke_receiver *receiver; /* opened it */
    const sotto_agreement *once;   /* as sotto_token_peer names it */
    uint64_t now, late_seconds;
} sotto_token_question;

/* All but whether the token was spent: *spend is for that.
 *   SOTTO_NO_MEMORY  nothing was found out
 *   others           it does not admit this report; the reason says why */
SOTTO_MUST_USE sotto_status sotto_token_checker_ask(sotto_token_checker *checker,
                                                    sotto_token_spend *spend,
                                                    const sotto_token_question *question,
                                                    sotto_err *err);

/* The one-time key of a report with a token, for the receivers to agree with; nothing where there is none. */
sotto_bytes sotto_token_peer(const sotto_server_task *task, sotto_bytes public_extensions);

/* The extensions that a report of this task may have, for sotto_report_extensions_check. */
size_t sotto_task_extensions(const sotto_server_task *task);

#endif
