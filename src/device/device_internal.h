/* device/device_internal.h - what the files of the device share: its parts, and one recipe being judged. */
#ifndef SOTTO_DEVICE_INTERNAL_H
#define SOTTO_DEVICE_INTERNAL_H

#include "device/answer/answer.h"
#include "device/ledger/ledger.h"
#include "device/ledger/record.h"
#include "device/ledger/shelf.h"
#include "device/ledger/wallet.h"
#include "device/shared.h"
#include "recipe/policy_tables.h"

enum { SOTTO_DEVICE_DESCRIBED = 32, SOTTO_DEVICE_VALUE = 192, SOTTO_DEVICE_PAUSES = 4 };

typedef struct sotto_described {
    char field[SOTTO_STORE_MAX_NAME + 1];
    char value[SOTTO_DEVICE_VALUE];
} sotto_described;

/* A leader that sent Retry-After. In memory only: after a restart it may have to send it again. */
typedef struct sotto_pause {
    uint64_t leader; /* of its URL: see device_send.c */
    int64_t until;
} sotto_pause;

/* Rounds of learning, where this library has them: device/round.h. */
typedef struct sotto_device_rounds sotto_device_rounds;
typedef struct sotto_round_case sotto_round_case;
/* NULL: it has none. */
extern const sotto_device_rounds *const sotto_linked_rounds;

struct sotto_device {
    sotto_store *store;
    sotto_ledger *ledger;
    sotto_arena keep; /* policy, parties and their tables */
    sotto_arena work; /* of one recipe; secrets           */
    sotto_terms terms;
    const sotto_parties *shipped; /* the parties from options; terms.parties may be later ones */
    uint64_t looked;              /* the latest serial in the record that was looked at        */
    sotto_arena replaced;         /* terms.parties, where they are not those from options      */
    sotto_device_shared *shared;  /* may be NULL */
    sotto_device_host host;
    sotto_device_simulation simulation;
    const sotto_ephemeral_source *ephemerals; /* NULL: its own keys */
    const sotto_token_source *requests;       /* NULL: its own requests */
    bool ticked;
    bool retained;
    int64_t retained_at;
    sotto_conditions conditions; /* of the last tick                         */
    int64_t noted;               /* of it, in the event store; see device_why.c */
    sotto_described described[SOTTO_DEVICE_DESCRIBED];
    size_t described_count;
    sotto_pause pauses[SOTTO_DEVICE_PAUSES];
    bool called_off; /* the host wants no further exchange in this tick */
    bool enrolled;   /* by the seed that follows */
    uint8_t enrolment[SOTTO_DEVICE_ENROLMENT];
    int64_t fetch_again;                /* after a fetch that failed; see device_feed.c */
    struct sotto_trainer_kept *trainer; /* of rounds; NULL: there is none */
};

/* ---- device_tokens.c ---- */

/* What the token of this row is asked for (dap/admission.h). */
SOTTO_MUST_USE sotto_status sotto_device_challenge(uint8_t out[SOTTO_TOKEN_DIGEST],
                                                   const sotto_wallet_row *row, sotto_err *err);

/* ---- device.c ---- */

/* Seconds since 1970, between then and the year 9999 whatever the host's clock says. */
int64_t sotto_device_now(const sotto_device *device);
/* Fresh for each use, since a host may fork. */
void sotto_device_entropy(const sotto_device *device, sotto_entropy *out);
/* NULL: the host never said. */
const char *sotto_device_described(const sotto_device *device, const char *field);

/* ---- device_parties.c ---- */

/* Takes up a parties file that this process, an earlier one or another took since the last look. One that this policy does
 * not allow is passed over. */
SOTTO_MUST_USE sotto_status sotto_device_look_for_parties(sotto_device *device, sotto_err *err);

/* ---- device_judge.c ---- */

/* One recipe, from what is known of it to what is needed to answer it. */
typedef struct sotto_case {
    sotto_shelved shelved;
    int64_t now;
    bool draw; /* whether draws may be made; `why` makes none */
    const sotto_recipe *recipe;
    const sotto_recipe
        *kept;               /* the same as the shelf keeps it: of a round the text is its record */
    sotto_round_case *round; /* NULL: a statistic */
    const sotto_policy_log *log; /* that it was offered from; NULL: none was asked */
    sotto_known_epsilon known;   /* by whoever linted it */
    sotto_decision decision;
    bool decided;
    sotto_task task;
    sotto_recipe_mechanism mechanism;
    sotto_answer_plan plan;
    sotto_query_policy allowed;
    sotto_query *query; /* compiled, not run */
    sotto_asked asked;
    sotto_charge charge;
    sotto_wallet_row token;        /* where the recipe asks for one; wiped with the case */
    sotto_wallet_row helper_token; /* ... the same: ARC has one of each server */
    sotto_wallet_row shown;        /* ... what the wallet keeps of showing both */
    sotto_explanation out;
} sotto_case;

/* Goes through everything that could keep the device from answering, and stops at the first: c->out says which.
 * With SOTTO_WHY_READY the case has all that an answer needs. What it takes is in device->work.
 *   SOTTO_DENIED  the ledger was found damaged on the way */
SOTTO_MUST_USE sotto_status sotto_device_judge(sotto_device *device, sotto_case *c, sotto_err *err);
/* The same for a round of one server, which has this name: it is drawn for, charged and recorded under it. c->recipe is
 * `named` then. */
SOTTO_MUST_USE sotto_status sotto_device_judge_posted(sotto_device *device, sotto_case *c,
                                                      sotto_recipe *named, const char *name,
                                                      sotto_err *err);
/* The first of the steps: c->out says what became of an answer that was made. */
SOTTO_MUST_USE sotto_status sotto_device_outcome(sotto_device *device, sotto_case *c,
                                                 const char *recipe, sotto_err *err);
/* Closes the query and wipes device->work. */
void sotto_case_close(sotto_device *device, sotto_case *c);
/* Reads and lints a recipe for sotto_device_offer. c->out says why it is refused, if it is. */
SOTTO_MUST_USE sotto_status sotto_device_admit(sotto_device *device, sotto_case *c,
                                               sotto_bytes text, sotto_err *err);

/* Reads published bytes: a recipe, or the record of a round where this library has rounds. Fills c->recipe, kept and round. */
SOTTO_MUST_USE sotto_status sotto_case_read(sotto_device *device, sotto_case *c, sotto_bytes text,
                                            sotto_err *err);
/* Says in c->out which budget, or which of the recipe's own numbers, is against it. */
void sotto_case_refuse(sotto_case *c, const sotto_refusal *refusal);

/* ---- device_judge_log.c ---- */

/* One of the steps: the log that the recipe says it is on. */
SOTTO_MUST_USE sotto_status sotto_case_check_log(sotto_device *device, sotto_case *c,
                                                 sotto_err *err);

/* ---- device_tick.c ---- */

/* What a payment that failed comes to: another process may have answered first, or the person may have said no. */
SOTTO_MUST_USE sotto_status sotto_case_overtaken(sotto_device *device, sotto_case *c,
                                                 sotto_status status, const sotto_err *first,
                                                 sotto_err *err);

/* The bin that is answered, or in c->out why there is none. *silent: nothing is said, and that is paid for. */
SOTTO_MUST_USE sotto_status sotto_case_read_bin(sotto_case *c, uint64_t *bin, bool *silent,
                                                sotto_entropy *entropy, sotto_err *err);

/* ---- device_send.c ---- */

/* Offers what waits to the host, which must have an exchange. *waiting counts what still waits then. Statuses as
 * sotto_outbox_send. */
SOTTO_MUST_USE sotto_status sotto_device_send(sotto_device *device, int64_t now, uint64_t *waiting,
                                              sotto_err *err);

/* ---- device_tokens.c ---- */

/* Finds the token that a report on c->recipe needs, or says in c->out why there is none. */
SOTTO_MUST_USE sotto_status sotto_device_find_token(sotto_device *device, sotto_case *c,
                                                    sotto_err *err);
/* Asks for every token whose time has come, through the host's exchange, which must be there. What is not answered is asked for
 * again by a later tick. */
SOTTO_MUST_USE sotto_status sotto_device_ask_tokens(sotto_device *device, int64_t now,
                                                    sotto_err *err);

/* ---- device_why.c ---- */

/* Notes what a tick met with, for `why` in another process; what can't be noted is no failure of the tick. */
void sotto_device_note_tick(sotto_device *device, sotto_conditions conditions);

void sotto_explain(sotto_explanation *out, sotto_why why, const char *subject, const char *format,
                   ...) SOTTO_PRINTF(4, 5);
void sotto_explain_not_sampled(sotto_explanation *out);
/* Records why the device stays silent, unless the last entry says the same. */
SOTTO_MUST_USE sotto_status sotto_device_note(sotto_device *device, const char *recipe,
                                              const char *analysis,
                                              const sotto_explanation *explanation, sotto_err *err);

#endif
