/* aggregate/method.h - a way to add up: who speaks, what is kept, what is added.
 *
 * Callers:  serve/ and collect/ take a method's two-server half from it (aggregate/two_server.h); sim/ runs machines, all of them in
 *           one process; serve/aggregator and device/duties run one each. No caller asks which method it holds.
 * Memory:   a machine lives in the arena it was made in, and keeps nothing else.
 * Threads:  a machine belongs to one thread at a time; check() is stateless and runs anywhere.
 * Secrets:  a client's saved state, and a server's opening; leave() wipes what the arena does not.
 *
 * Machines are pure: no socket, no clock, no disk, no random source. What a step appends to its effects leaves only after
 * the caller has stored four things in one transaction. They are the machine's saved state, the vows, the messages to
 * keep and the messages to send. So a crash repeats a step or loses it, never half of it. A repeated step sends the same
 * bytes.
 */
#ifndef SOTTO_AGGREGATE_METHOD_H
#define SOTTO_AGGREGATE_METHOD_H

#include "aggregate/body.h"
#include "aggregate/effects.h"
#include "aggregate/round.h"
#include "aggregate/two_server.h"
#include "crypto/kem.h"

typedef enum sotto_part {
    SOTTO_PART_CLIENT = 1,
    SOTTO_PART_SERVER,
    SOTTO_PART_LEADER,
    SOTTO_PART_HELPER,
    SOTTO_PART_DECRYPTOR,
    SOTTO_PART_COMMITTEE,
    SOTTO_PART_NOISE,
    SOTTO_PART_VERIFIER,
    SOTTO_PART_BOARD,     /* nobody: where records go that everybody reads */
    SOTTO_PART_EVERYBODY, /* whom its entries are for */
    SOTTO_PARTS
} sotto_part;

/* What a message of this kind may look like. Limits, fuzz targets and documents come from this table. */
typedef struct sotto_kind {
    uint16_t kind;
    const char *name;
    sotto_part from, to;
    bool is_signed;
    bool has_bulk; /* comes with the round's vector */
    size_t most;   /* bytes of its body */
} sotto_kind;

/* Long-lived secrets of somebody who is registered with X25519 keys. Machines of one participant share it, one at a time. */
typedef struct sotto_self_secrets {
    sotto_dh pair, channel;
    uint8_t share[32]; /* a decryptor's share of the committee's key */
    uint8_t (
        *agreed)[2][32]; /* NULL, or room for what was agreed on with each index: pair, channel */
    uint8_t *known;      /* by index: 1 has the pair's, 2 the channel's */
} sotto_self_secrets;

/* Who a machine speaks for. The seed is 32 fresh random bytes that nobody else knows: all of a machine's randomness
 * comes from it, so that a repeated step repeats its bytes. Restore takes it from the saved state instead. */
typedef struct sotto_self {
    sotto_part part;
    uint32_t index;
    const sotto_signer *keys;
    uint8_t seed[32];
    sotto_self_secrets *secrets; /* NULL where the method needs none */
    bool no_noise;               /* it gives no share of noise, even if it is drawn for that */
    sotto_bytes
        carried; /* what it took along from the session's last round (effects.h): borrowed */
} sotto_self;

typedef struct sotto_round_result {
    uint64_t contributions;
    sotto_bytes opening;    /* the machine's: what tally->open needs beside the encoded tally */
    const uint32_t *blamed; /* the machine's: who sent what can't have been right */
    size_t blamed_count;
    const uint32_t
        *counted; /* the machine's: whose contribution is in the sum; NULL: whose bulk was added */
    size_t counted_count;
} sotto_round_result;

typedef struct sotto_machine {
    const struct sotto_machine_ops *ops;
} sotto_machine;

typedef struct sotto_machine_ops {
    /* SOTTO_DENIED: the round's own parameters contradict each other, or it names another registry: nobody
     * joins it. */
    sotto_status (*join)(sotto_machine **, const sotto_round *, const sotto_self *, sotto_arena *,
                         sotto_err *);
    /* This participant's vector, once effects asked for it. It is masked in place, and is then what goes out as the bulk
     * of the message that was sent; after a failure it is of no use. SOTTO_AGAIN: too early; SOTTO_STALE: it was given
     * before; SOTTO_DENIED: it is beyond the round's bound. */
    sotto_status (*offer)(sotto_machine *, sotto_vector *mine, sotto_effects *, sotto_err *);
    /* Form, addresses, signatures: everything that needs no state. */
    sotto_status (*check)(const sotto_round *, const sotto_message *, sotto_arena *scratch,
                          sotto_err *);
    /* Messages that passed check. verdicts[i]: OK, STALE (seen before, or too late), REJECTED (its sender lied), AGAIN
     * (too early). A bulk is added to the tally in the same transaction, if its verdict is OK. */
    sotto_status (*deliver)(sotto_machine *, const sotto_message *, size_t count,
                            sotto_status *verdicts, sotto_effects *, sotto_err *);
    /* Once after join and after restore, and whenever a time comes that effects asked for: it asks again for what is still
     * wanted. */
    sotto_status (*tick)(sotto_machine *, uint64_t now_ms, sotto_effects *, sotto_err *);
    /* SOTTO_AGAIN until the machine is done; SOTTO_DENIED where the round ended without a sum, but who is to blame may be
     * filled in; SOTTO_MISSING where this part has no result. */
    sotto_status (*result)(const sotto_machine *, sotto_round_result *, sotto_err *);
    /* At most 64 KiB and 64 bytes a participant. */
    sotto_status (*save)(const sotto_machine *, sotto_buf *, sotto_err *);
    /* kept: the messages that effects said to keep, in the order they were delivered in. They must outlive the machine. */
    sotto_status (*restore)(sotto_machine **, const sotto_round *, const sotto_self *,
                            sotto_bytes saved, const sotto_message *kept, size_t count,
                            sotto_arena *, sotto_err *);
    void (*leave)(sotto_machine *);
} sotto_machine_ops;

#define SOTTO_MACHINE_MOST_SAVED(participants) ((size_t)65536 + (size_t)64 * (participants))

/* A sum in the making; its state lives in the arena given to init. */
typedef struct sotto_tally {
    uint64_t contributions;
    void *state;
} sotto_tally;

typedef struct sotto_tally_ops {
    /* Bytes of an encoded tally; 0 for a round this method can't add up. */
    size_t (*size)(const sotto_round *);
    sotto_status (*init)(sotto_tally *, const sotto_round *, sotto_arena *, sotto_err *);
    sotto_status (*merge)(sotto_tally *, const sotto_tally *, sotto_err *);
    /* Adds numbers such as noise to entries from `first` on; contributions stay as they are. */
    sotto_status (*add)(sotto_tally *, size_t first, const int64_t *, size_t count, sotto_err *);
    sotto_status (*encode)(const sotto_tally *, sotto_buf *, sotto_err *);
    sotto_status (*decode)(sotto_tally *, sotto_bytes, uint64_t contributions, sotto_err *);
    /* parts: leader's and helper's share (prio); masked sum and opening (bbglr). The entries of sum are in the arena.
     * SOTTO_DENIED: fewer contributions than the round demands, or so many that the sum may have wrapped. */
    sotto_status (*open)(sotto_vector *sum, const sotto_round *, const sotto_bytes *parts,
                         size_t count, uint64_t contributions, sotto_arena *, sotto_err *);
} sotto_tally_ops;

/* The long part of a contribution, piece by piece as it arrives. It touches no tally before it is whole. */
typedef struct sotto_bulk_ops {
    size_t (*state_size)(const sotto_round *);
    sotto_status (*begin)(void *state, const sotto_round *, const sotto_message *head, sotto_err *);
    /* Where the next piece may be written beforehand, so that feeding it copies nothing; *room: how much of it. */
    uint8_t *(*place)(void *state, size_t *room);
    sotto_status (*feed)(void *state, uint64_t offset, sotto_bytes piece, sotto_err *);
    sotto_status (*finish)(void *state, sotto_err *);
    sotto_status (*add)(sotto_tally *, const void *state, sotto_err *);
} sotto_bulk_ops;

/* A device's library runs no server, and has no machine for one. */
#ifdef SOTTO_NO_SERVERS
#define SOTTO_SERVER_OPS(ops) NULL
#else
#define SOTTO_SERVER_OPS(ops) (ops)
#endif

typedef struct sotto_method {
    const char *name;
    uint16_t id; /* sotto_round.method */
    const sotto_kind *kinds;
    size_t kind_count;
    const sotto_machine_ops
        *parts[SOTTO_PARTS]; /* NULL: this method has no such part, or no machine for it */
    const sotto_bulk_ops *bulk;
    const sotto_tally_ops *tally;
    /* Whether this index speaks as this part; NULL: clients are all that are registered, and there are no other parts. */
    bool (*takes_part)(const sotto_round *, sotto_part, uint32_t index);
    const sotto_vdaf_server_ops *two_server; /* NULL: not a method of two servers */
    /* Whether the round's parameters are this method's and keep its promises. */
    sotto_status (*check)(const sotto_round *, sotto_err *);
    /* Whether the beacon draws this client's vector, too; NULL: those of all clients. */
    bool (*contributes)(const sotto_round *, uint32_t index);
    uint16_t
        question; /* kind whose answer repeats what the server has: it goes back at once, and nothing is stored; 0: none */
    uint16_t
        complaint; /* kind of records that witnesses hold until the board has them; 0: none (serve/witness/held.h) */
    /* Whether a client's message has its own vector in it; NULL: all of them do. */
    bool (*carries)(const sotto_message *);
    /* What a reader needs of a record's body: a member of the committee by its index, or SOTTO_TO_EVERYBODY for all others. False, or
     * NULL: all of it. Only the body's length is looked at (aggregate/excerpt.h). */
    bool (*needed)(const sotto_round *, const sotto_message *record, uint32_t reader,
                   sotto_body_span spans[SOTTO_BODY_SPANS]);
    /* What rounds before this one spent, as everybody counts it from the posting, and who is drawn; NULL: a method without such an
     * account. Lists are in the arena. */
    sotto_status (*account)(struct sotto_aero_account *, const sotto_round *, sotto_arena *,
                            sotto_err *);
} sotto_method;

/* NULL: the method has no such kind. */
const sotto_kind *sotto_method_kind(const sotto_method *method, unsigned kind);
/* The kind that brings entries of the board; NULL: a method without one. */
const sotto_kind *sotto_method_entry(const sotto_method *method);

/* sotto_round_check, the method's own check, and whether the registry is the one the round names: what every join does
 * first. SOTTO_DENIED says what fails. */
SOTTO_MUST_USE sotto_status sotto_method_admit(const sotto_method *method, const sotto_round *round,
                                               sotto_err *err);

/* What every method's check does first: kind, size, addresses, bulk and signature of a message of this round.
 *   SOTTO_MALFORMED  no such kind, or not its form
 *   SOTTO_STALE      of another session, epoch or round
 *   SOTTO_REJECTED   from whom such a message can't come, or not signed by it */
SOTTO_MUST_USE sotto_status sotto_message_judge(const sotto_message *message,
                                                const sotto_round *round,
                                                const sotto_method *method, sotto_err *err);

/* The same with the key of its sender, for whom the registry need not be read. */
SOTTO_MUST_USE sotto_status sotto_message_judge_by(const sotto_message *message,
                                                   const sotto_round *round,
                                                   const sotto_method *method,
                                                   const uint8_t key[SOTTO_SIGN_PUBLIC],
                                                   sotto_err *err);

/* Looks at the signatures of many messages at once, in lanes where the machine has them. Those that are right say so from then on
 * (holds_for), and sotto_message_judge does not look again, in this round. All else, and every refusal, is left to it. */
void sotto_messages_vouch(sotto_message *messages, size_t count, const sotto_round *round,
                          const sotto_method *method);

/* The same as sotto_message_judge of a message whose body is elsewhere, or here in part: only its length and digest (body.h) are known. */
SOTTO_MUST_USE sotto_status sotto_message_judge_digest(const sotto_message *message,
                                                       uint32_t body_len, const uint8_t digest[32],
                                                       const sotto_round *round,
                                                       const sotto_method *method, sotto_err *err);

extern const sotto_method sotto_method_prio, sotto_method_bbglr, sotto_method_flamingo,
    sotto_method_aero;
enum {
    SOTTO_METHOD_PRIO = 1,
    SOTTO_METHOD_FLAMINGO,
    SOTTO_METHOD_AERO,
    SOTTO_METHOD_BBGLR,
    SOTTO_METHOD_PINE
};

#endif
