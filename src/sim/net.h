/* sim/net.h - one deterministic network with faults, for every method of aggregate/.
 *
 * Callers:  tests, benchmarks, simulations. Never linked into a product: a test looks for sotto_sim_ in them.
 * Memory:   all of it from the arena given to new; machines have arenas of their own, which free clears.
 *
 * Time is virtual, and all chance comes from one seed: the same seed gives the same transcript. A participant's memory is only
 * what its last stored step saved. A step runs, is stored whole (state, vows, kept messages, tally, outgoing messages), and then
 * its messages leave; a crash strikes before or after it is stored.
 */
#ifndef SOTTO_SIM_NET_H
#define SOTTO_SIM_NET_H

#include "aggregate/method.h"
#include "sim/random.h"

/* ---- who takes part ------------------------------------------------------------------------------------ */

typedef struct sotto_sim_cast {
    sotto_signer server, *clients;
    sotto_registry registry;
    sotto_self_secrets *secrets; /* by client; NULL: without X25519 keys */
    struct sotto_decryptors *decryptors;
} sotto_sim_cast;

SOTTO_MUST_USE sotto_status sotto_sim_cast_init(sotto_sim_cast *cast, uint32_t count, uint64_t seed,
                                                sotto_arena *arena, sotto_err *err);
/* X25519 keys for everybody, with room to remember what is agreed on unless there are more than so many: it grows with their
 * square. */
enum { SOTTO_SIM_MOST_REMEMBERED = 4096 };
SOTTO_MUST_USE sotto_status sotto_sim_cast_agree(sotto_sim_cast *cast, uint64_t seed,
                                                 sotto_arena *arena, sotto_err *err);
/* A committee of `count` decryptors as this beacon draws it, its key dealt by one who is trusted: what a distributed key
 * generation would leave behind. After agree. */
SOTTO_MUST_USE sotto_status sotto_sim_cast_decryptors(sotto_sim_cast *cast, uint32_t count,
                                                      const sotto_round *round, uint64_t seed,
                                                      sotto_arena *arena, sotto_err *err);
void sotto_sim_cast_clear(sotto_sim_cast *cast);

/* A decryptor's address in this network: the same index may also be a client. */
#define SOTTO_SIM_DECRYPTOR(index) ((index) | UINT32_C(0x40000000))

/* ---- what goes wrong ----------------------------------------------------------------------------------- */

typedef struct sotto_sim_faults {
    double drop;                            /* a message is lost for good */
    double duplicate;                       /* it comes twice */
    double late;                            /* it takes late_ms more */
    uint64_t delay_least_ms, delay_most_ms; /* of every message, so that some overtake others */
    uint64_t late_ms;
    double crash_before,
        crash_after; /* a step is lost and runs again; a machine is lost and restored */
} sotto_sim_faults;

typedef enum sotto_sim_crash {
    SOTTO_SIM_CRASH_BEFORE =
        1, /* before the step was stored: it is as if it had not run, and runs again */
    SOTTO_SIM_CRASH_AFTER, /* after it: memory is lost, and what was to be sent is sent twice */
    SOTTO_SIM_ROLLBACK, /* after it: a client comes back with the state before, and another vector; vows stay */
} sotto_sim_crash;

typedef struct sotto_sim_net sotto_sim_net;

/* Sees, rewrites and withholds (false) what one participant sends; what is left is signed again. */
typedef bool sotto_sim_liar(void *context, sotto_sim_net *net, sotto_message *message,
                            sotto_bytes *bulk);
/* Sees every message before it is delivered. */
typedef void sotto_sim_tap(void *context, sotto_sim_net *net, const sotto_message *message,
                           sotto_bytes wire);

typedef struct sotto_sim_report {
    bool released;
    sotto_status outcome; /* the server's; SOTTO_AGAIN: it never came to an end */
    char reason[160];
    sotto_vector sum;
    uint64_t contributions;
    const bool *counted; /* by client: its vector was added */
    const bool *
        answered_anew; /* by client: it came back from a backup before its first vector left, which is another one */
    const uint32_t *blamed;
    size_t blamed_count;
    uint64_t steps, messages;
    uint64_t verdicts[SOTTO_BUG + 1];
    uint64_t vow_conflicts; /* participants that were stopped by a vow */
    uint64_t second_bulks;  /* participants that sent two different vectors: must be 0 */
    uint64_t forgetful; /* restored machines that saved something else than was saved: must be 0 */
    size_t largest_save;
    uint8_t transcript[32];
} sotto_sim_report;

SOTTO_MUST_USE sotto_status sotto_sim_net_new(sotto_sim_net **out, const sotto_method *method,
                                              const sotto_round *round, const sotto_sim_cast *cast,
                                              uint64_t seed, sotto_arena *arena, sotto_err *err);
void sotto_sim_net_free(sotto_sim_net *net);

/* A client takes part, with this vector: borrowed. The server always does. */
void sotto_sim_net_input(sotto_sim_net *net, uint32_t client, const sotto_vector *input);

/* What a participant took along from the session's last round, borrowed; and what it takes to the next: in the network's arena. */
void sotto_sim_net_carry(sotto_sim_net *net, uint32_t index, sotto_bytes what);
sotto_bytes sotto_sim_net_carried(sotto_sim_net *net, uint32_t index);

void sotto_sim_net_faults(sotto_sim_net *net, const sotto_sim_faults *faults);
/* Nothing that is sent to or by this participant in between arrives. */
void sotto_sim_net_cut_off(sotto_sim_net *net, uint32_t index, uint64_t from_ms, uint64_t until_ms);
/* At one step, counted from 1 over all participants. */
void sotto_sim_net_crash_at(sotto_sim_net *net, uint64_t step, sotto_sim_crash how);
/* Every step starts from a machine that was just restored. */
void sotto_sim_net_forget_always(sotto_sim_net *net);
void sotto_sim_net_lie(sotto_sim_net *net, uint32_t index, sotto_sim_liar *liar, void *context);
void sotto_sim_net_tap(sotto_sim_net *net, sotto_sim_tap *tap, void *context);
/* Somebody sends these bytes: copied. */
SOTTO_MUST_USE sotto_status sotto_sim_net_inject(sotto_sim_net *net, uint32_t to, sotto_bytes wire,
                                                 sotto_bytes bulk, uint64_t at_ms, sotto_err *err);

/* Whom a message is for, in this network. */
uint32_t sotto_sim_net_address(const sotto_sim_net *net, const sotto_message *message);
uint64_t sotto_sim_net_now(const sotto_sim_net *net);
sotto_sim_random *sotto_sim_net_random(sotto_sim_net *net);

/* Until nothing is left to happen, or until then; it may go on later. */
SOTTO_MUST_USE sotto_status sotto_sim_net_run(sotto_sim_net *net, uint64_t until_ms,
                                              sotto_sim_report *report, sotto_err *err);

/* ---- liars (sim/byzantine.c) ---------------------------------------------------------------------------- */

/* context: an unsigned, the first kind that is withheld, as everything after it. */
sotto_sim_liar sotto_sim_liar_silent;
/* Sends everything twice, the second time with another body. */
sotto_sim_liar sotto_sim_liar_contradicts;

#endif
