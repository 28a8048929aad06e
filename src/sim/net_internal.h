/* sim/net_internal.h - the simulated network as its two files share it: net.c has who takes part and what is to happen, net_step.c
 * what one step does. */
#ifndef SOTTO_SIM_NET_INTERNAL_H
#define SOTTO_SIM_NET_INTERNAL_H

#include "crypto/hash.h"
#include "sim/net.h"

enum { SOTTO_SIM_MACHINE_CEILING = 1 << 28, SOTTO_SIM_STEP_CEILING = 1 << 29 };

typedef enum event_type { EVENT_TICK, EVENT_MESSAGE, EVENT_OFFER } event_type;

typedef struct event {
    uint64_t time, sequence;
    event_type type;
    uint32_t to;
    unsigned tries;
    sotto_bytes wire, bulk;
} event;

typedef struct stored_vow {
    struct stored_vow *next;
    sotto_vow vow;
} stored_vow;

typedef struct stored_state {
    uint8_t *data;
    size_t len, cap;
    bool is_there;
} stored_state;

typedef struct participant {
    uint32_t index;
    sotto_self self;
    const sotto_machine_ops *ops;
    sotto_arena arena;      /* of the machine */
    sotto_machine *machine; /* NULL: not in memory */
    stored_state state, before;
    stored_vow *vows;
    sotto_message *kept;
    size_t kept_count, kept_cap;
    const sotto_vector *input;
    uint64_t shifted; /* added to the first entry of its input: it answers anew */
    uint64_t cut_from, cut_until;
    uint64_t read_at; /* when the last entry of the board reaches it */
    sotto_sim_liar *liar;
    void *liar_context;
    bool is_here, is_over, has_sent_bulk;
    size_t ceiling; /* of its arena */
    uint8_t bulk_digest[32];
} participant;

/* Gets what is sent to somebody who is no participant (population.c). */
typedef sotto_status sotto_sim_strangers(void *context, sotto_sim_net *net, uint32_t to,
                                         sotto_bytes wire, sotto_err *err);

struct sotto_sim_net {
    const sotto_method *method;
    const sotto_round *round;
    sotto_arena *arena;
    sotto_arena scratch; /* of one step */
    sotto_sim_random random;
    sotto_sim_faults faults;
    participant *all; /* clients, the server, then decryptors */
    uint32_t clients, decryptors;
    event *heap;
    size_t events, heap_cap;
    uint64_t now, sequence;
    uint64_t crash_step;
    sotto_sim_crash crash_how;
    bool forget_always, has_begun;
    sotto_sim_tap *tap;
    void *tap_context;
    sotto_sim_strangers *strangers;
    void *strangers_context;
    sotto_tally tally;
    bool *counted, *answered_anew;
    uint64_t board; /* entries */
    sotto_hash transcript;
    sotto_sim_report report;
};

sotto_status sotto_sim_no_memory(sotto_err *err);
/* Room for one more in a list that holds `count`: twice as much where it is full. Returns the list, or NULL. */
void *sotto_sim_grow(sotto_sim_net *net, void *list, size_t count, size_t *cap, size_t size);
/* NULL: nobody. */
participant *sotto_sim_find(sotto_sim_net *net, uint32_t index);
sotto_status sotto_sim_schedule(sotto_sim_net *net, event e, sotto_err *err);
sotto_status sotto_sim_copied(sotto_bytes *out, sotto_bytes from, sotto_arena *arena,
                              sotto_err *err);
/* The message as it goes over the network, in the arena. */
SOTTO_MUST_USE sotto_status sotto_sim_encoded(sotto_bytes *out, const sotto_message *m,
                                              sotto_arena *arena, sotto_err *err);
bool sotto_sim_is_cut_off(const sotto_sim_net *net, const participant *p);
uint64_t sotto_sim_delay(sotto_sim_net *net);
void sotto_sim_lose_memory(participant *p);
/* Puts a record on the board. */
sotto_status sotto_sim_post(sotto_sim_net *net, const sotto_message *m, sotto_err *err);

/* A network of the server and so many decryptors alone: clients are the caller's. Each has its keys. */
typedef struct sotto_sim_staff {
    const sotto_signer *server, *signers; /* signers, secrets and indices: of decryptors */
    sotto_self_secrets *secrets;
    const uint32_t *indices;
    uint32_t count;
    size_t ceiling; /* of the server's memory */
} sotto_sim_staff;
sotto_status sotto_sim_net_of_staff(sotto_sim_net **out, const sotto_method *method,
                                    const sotto_round *round, const sotto_sim_staff *staff,
                                    uint64_t seed, sotto_arena *arena, sotto_err *err);

/* Brings a machine back from what was stored, or lets it join. */
sotto_status sotto_sim_remember(sotto_sim_net *net, participant *p, sotto_err *err);
sotto_status sotto_sim_happen(sotto_sim_net *net, event e, sotto_err *err);

#endif
