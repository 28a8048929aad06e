/* aggregate/machine.h - what machines of every method do alike: send, begin their saved state, and say no.
 *
 * Callers:  the machines of bbglr/, flamingo/ and aero/.
 * Memory:   the caller's.
 */
#ifndef SOTTO_AGGREGATE_MACHINE_H
#define SOTTO_AGGREGATE_MACHINE_H

#include "aggregate/method.h"

/* An envelope of this round without bulk and signature; it borrows the body. */
sotto_message sotto_machine_envelope(const sotto_round *round, unsigned kind, uint32_t from,
                                     uint32_t to, sotto_bytes body);
/* The same, signed and appended to the effects, with a bulk unless that is NULL. */
SOTTO_MUST_USE sotto_status sotto_machine_send(sotto_effects *effects, const sotto_round *round,
                                               const sotto_self *self, uint32_t to, unsigned kind,
                                               sotto_bytes body, const sotto_vector *bulk,
                                               sotto_err *err);

/* Saved state begins with a version and the round's id. */
void sotto_machine_save_head(sotto_writer *w, unsigned version, const uint8_t id[SOTTO_ROUND_ID]);
/* Reads that; false: it is of another version or round. */
bool sotto_machine_read_head(sotto_reader *in, unsigned version, const uint8_t id[SOTTO_ROUND_ID]);
/* Ends the reading of saved state.
 *   SOTTO_MALFORMED  more or fewer bytes than were read, or not `ours` */
SOTTO_MUST_USE sotto_status sotto_machine_restored(sotto_reader *in, bool ours, const char *what,
                                                   sotto_err *err);

/* What the state of somebody with a seed begins with, whose machine has phases. */
typedef struct sotto_machine_part {
    sotto_machine machine;
    sotto_self self;
    uint8_t id[SOTTO_ROUND_ID];
    unsigned phase;
} sotto_machine_part;

/* How such a state is saved: version, round, phase and seed, then what is the machine's own. */
typedef struct sotto_machine_saved {
    const char *what;
    unsigned version, last; /* phase that it can be in */
    sotto_status (*join)(sotto_machine **, const sotto_round *, const sotto_self *, sotto_arena *,
                         sotto_err *);
    void (*write)(const sotto_machine *, sotto_writer *); /* NULL, as `read`: it has nothing more */
    void (*read)(sotto_machine *, sotto_reader *);
} sotto_machine_saved;

SOTTO_MUST_USE sotto_status sotto_machine_save_part(const sotto_machine *machine,
                                                    const sotto_machine_saved *how, sotto_buf *out,
                                                    sotto_err *err);
/* Joins the round again, and reads all of that. Such a machine keeps no messages, so `kept` is not looked at.
 *   SOTTO_MALFORMED  of another version or round, in a phase that there is not, or longer or shorter; *out is NULL */
SOTTO_MUST_USE sotto_status sotto_machine_restore_part(sotto_machine **out,
                                                       const sotto_machine_saved *how,
                                                       const sotto_round *round,
                                                       const sotto_self *self, sotto_bytes saved,
                                                       const sotto_message *kept, size_t count,
                                                       sotto_arena *arena, sotto_err *err);

/* offer of parts without a vector, and result of parts without a sum. */
SOTTO_MUST_USE sotto_status sotto_machine_offers_nothing(sotto_machine *machine, sotto_vector *mine,
                                                         sotto_effects *effects, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_machine_has_no_result(const sotto_machine *machine,
                                                        sotto_round_result *out, sotto_err *err);
/* How the result of a server's part begins: with nothing in it but whom it blames. The caller adds the sum after SOTTO_OK.
 *   SOTTO_DENIED  the round is burnt
 *   SOTTO_AGAIN   it is not over */
SOTTO_MUST_USE sotto_status sotto_machine_outcome(sotto_round_result *out, const uint32_t *blamed,
                                                  size_t count, bool burnt, bool released,
                                                  sotto_err *err);

#endif
