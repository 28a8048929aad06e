/* aggregate/effects.h - what a step of a machine wants done.
 *
 * Callers:  machines append; whoever runs them reads, stores all of it in one transaction, and only then sends.
 * Memory:   copies, in the arena given to init, whose ceiling bounds what one step may want. A bulk is not copied: it is
 *           the vector that was given to offer.
 */
#ifndef SOTTO_AGGREGATE_EFFECTS_H
#define SOTTO_AGGREGATE_EFFECTS_H

#include "aggregate/message.h"
#include "aggregate/vector.h"

/* "I said this once": stored at most once for (session, epoch, round, kind, subject), ever, over crashes and restored backups.
 * Storing the same digest again is allowed; another digest fails the transaction, and the participant stops. */
typedef struct sotto_vow {
    uint16_t kind;
    uint64_t epoch, round;
    uint32_t subject;
    uint8_t digest[32];
} sotto_vow;

typedef struct sotto_effect_message {
    struct sotto_effect_message *next;
    sotto_message message;
    const sotto_vector *bulk; /* NULL: none */
} sotto_effect_message;

typedef struct sotto_effect_vow {
    struct sotto_effect_vow *next;
    sotto_vow vow;
} sotto_effect_vow;

typedef struct sotto_effects {
    sotto_arena *arena;
    sotto_effect_message *sent, **sent_end; /* in order */
    sotto_effect_message *kept,
        **kept_end; /* delivered messages to store and give back at restore */
    sotto_effect_vow *vows, **vows_end;
    uint64_t wake;     /* the next time to tick; UINT64_MAX: none */
    bool wants_vector; /* call offer */
    /* What this participant takes to the session's next round, in place of what it had: a secret. Empty: nothing, and what it had is
     * erased. Where no next round asks for it, its host erases it. */
    bool carries;
    sotto_bytes carried;
    bool done;
    sotto_status outcome;
    char reason[160];
} sotto_effects;

void sotto_effects_init(sotto_effects *effects, sotto_arena *arena);

/* bulk: NULL, or what goes with it; it must outlive the effects. */
SOTTO_MUST_USE sotto_status sotto_effects_send(sotto_effects *effects, const sotto_message *message,
                                               const sotto_vector *bulk, sotto_err *err);
/* The same for a message whose body and signature are in the effects' arena: they are not copied. */
SOTTO_MUST_USE sotto_status sotto_effects_pass(sotto_effects *effects, const sotto_message *message,
                                               const sotto_vector *bulk, sotto_err *err);
/* A delivered message that restore needs: it is stored once, and not again with every saved state. */
SOTTO_MUST_USE sotto_status sotto_effects_keep(sotto_effects *effects, const sotto_message *message,
                                               sotto_err *err);
/* The same for a message whose body and signature are in the machine's arena, which outlives the effects: they are not copied. */
SOTTO_MUST_USE sotto_status sotto_effects_keep_held(sotto_effects *effects,
                                                    const sotto_message *message, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_effects_vow(sotto_effects *effects, const sotto_vow *vow,
                                              sotto_err *err);
/* The last counts. */
SOTTO_MUST_USE sotto_status sotto_effects_carry(sotto_effects *effects, sotto_bytes what,
                                                sotto_err *err);
/* The earliest counts. */
void sotto_effects_wake(sotto_effects *effects, uint64_t at_ms);
void sotto_effects_want_vector(sotto_effects *effects);
/* The first counts. */
void sotto_effects_done(sotto_effects *effects, sotto_status outcome, const char *reason);

#endif
