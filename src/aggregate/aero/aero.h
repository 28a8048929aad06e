/* aggregate/aero/aero.h - a round of encrypted sums after Liu and Gupta 2023: kinds of messages, and what all machines read off the
 * board.
 *
 * Callers:  the machines of this folder, their tests and fuzz targets. Everybody else sees sotto_method_aero.
 * Memory:   a view is in the arena that it was made in, and borrows nothing.
 * Secrets:  none in this file.
 *
 * What a member seals to others is on the board. Each of them reads the head of the record and what is sealed to it, with proof that they are
 * of it (excerpt.h). Nobody else reads parts of a key. A committee's own members compare KEYED with them before they certify it.
 *
 * Every device is a CLIENT: it may be drawn as a contributor, as a noise member, or both, and it always verifies. Members of
 * committees are DECRYPTORs: each committee has a key of its own, and opens its groups of ciphertexts. Records go to the board; everybody
 * reads all of them, in order, as ENTRY with the index of the log. Whoever delivers an entry has checked that the log holds it there (tlog/).
 *
 *     set-up    member   SEAL       commitments to its part of the key and to a random value, and an X25519 key of this round
 *               server   SEALED     no more of them
 *               member   KEY        its part of the public key; shares of its secret, sealed to each member
 *               server   KEYED      no more of them; of each committee, how many parts there are and their sum, its public key
 *     or else   old      HAND       its share of the last round's key, dealt and sealed to each member (hand_over.h)
 *               server   HANDED     no more of them
 *               member   PROBE      of what each old member dealt to it
 *               server   TAKEN      the public key that was handed over, and no more probes: everybody judges. Where it failed, KEY follows
 *               member   CERTIFY    "this round, this key, this price": threshold equal ones open the round
 *     generate  client   COMMIT     a promise, to the server
 *               server   COMMITTED  the tree of promises
 *               client   REVEAL     a group of ciphertexts and its proof, to the server
 *     add       server   ADDED      the trees of leaves, and digests of the sums
 *               member   VALUE      the random value: all together give the points
 *               server   SUMMED     the trees of sums at these points
 *     verify    client   ASK, server SAMPLE; client COMPLAINT, or
 *               client   CLEAR      nothing wrong in what it was shown of these sums, where the terms count that
 *               server   ANSWER     a sample that a device did not get, for everybody
 *               server   ROOTS      sums and noise leaves, to members
 *               member   VERDICT    "I open this and nothing else", once a round
 *     release   server   OPEN, member PART
 *     or        server   DEALERS    members who deal noise for this attempt (robust.h)
 *               member   NOISES     its noise, shared and sealed to each member
 *               server   DEALT      digests of what they dealt
 *               server   SHARES     what was dealt to a member, member POINT
 */
#ifndef SOTTO_AGGREGATE_AERO_AERO_H
#define SOTTO_AGGREGATE_AERO_AERO_H

#include "aggregate/aero/hand_over.h"
#include "aggregate/aero/leaf.h"
#include "aggregate/aero/threshold.h"

enum {
    SOTTO_AERO_ENTRY = 1,
    SOTTO_AERO_SEAL,
    SOTTO_AERO_SEALED,
    SOTTO_AERO_KEY,
    SOTTO_AERO_KEYED,
    SOTTO_AERO_CERTIFY,
    SOTTO_AERO_COMMITTED,
    SOTTO_AERO_ADDED,
    SOTTO_AERO_VALUE,
    SOTTO_AERO_SUMMED,
    SOTTO_AERO_COMPLAINT,
    SOTTO_AERO_ANSWER,
    SOTTO_AERO_VERDICT,
    SOTTO_AERO_COMMIT,
    SOTTO_AERO_REVEAL,
    SOTTO_AERO_ASK,
    SOTTO_AERO_SAMPLE,
    SOTTO_AERO_ROOTS,
    SOTTO_AERO_OPEN,
    SOTTO_AERO_PART,
    SOTTO_AERO_DEALERS,
    SOTTO_AERO_NOISES,
    SOTTO_AERO_DEALT,
    SOTTO_AERO_SHARES,
    SOTTO_AERO_POINT,
    SOTTO_AERO_HAND,
    SOTTO_AERO_HANDED,
    SOTTO_AERO_PROBE,
    SOTTO_AERO_TAKEN,
    SOTTO_AERO_CLEAR,
};

enum {
    SOTTO_AERO_CERTIFICATE = 32 + 8 + 8 + 8 + 4 + 4 + 8 + 32,
    SOTTO_AERO_SEAL_SIZE = 3 * 32,
    SOTTO_AERO_SEALED_SEED = SOTTO_AERO_SEED + 16, /* in the place of a share */
    SOTTO_AERO_HAND_HEAD =
        2 * 32, /* of HAND: digest of the public key, and an X25519 key of this round */
    SOTTO_AERO_MOST_CHALLENGES = 64, /* leaves that may wait for an answer on the board at once */
};

/* An ASK has a group and a position; from here on, the asker's own leaf, and the role is added to it. */
#define SOTTO_AERO_OWN_LEAF UINT32_C(0x80000000)

/* Complaints: the first byte of their body. */
enum {
    SOTTO_AERO_FALSE_LEAF = 1, /* then the server's signed sample, as it was sent         */
    SOTTO_AERO_NO_ANSWER,      /* then group and position: the server answers on the board */
    SOTTO_AERO_LEFT_OUT, /* then the role: it revealed in time, and is not in the sum         */
};

typedef struct sotto_aero_member {
    bool has_sealed, has_key, has_certified, has_opened, has_verdict;
    uint64_t opened_at; /* index of the log */
    uint8_t key_seal[32], value_seal[32], value[32];
    uint8_t public_key[32]; /* X25519, of this round alone; once it has sealed */
    uint8_t certificate[SOTTO_AERO_CERTIFICATE], verdict[32];
} sotto_aero_member;

typedef struct sotto_aero_challenge {
    uint32_t group, position;
    bool is_answered;
} sotto_aero_challenge;

/* The robust opening that was called last. */
typedef struct sotto_aero_call {
    uint32_t calls; /* so far: the attempt is one less */
    bool is_dealt;
    uint8_t dealers[SOTTO_AERO_MOST_COMMITTEE]; /* places, ascending, as many as the threshold */
    uint8_t digests[SOTTO_AERO_MOST_COMMITTEE][32], seed[32]; /* of looks; once is_dealt */
} sotto_aero_call;

/* What an old member handed over, as far as it was read. */
typedef struct sotto_aero_hand {
    bool is_there, is_bad; /* bad: what it dealt is not its share, once it was judged */
    uint8_t key[32], public_key[32];
    uint8_t dealt[32]; /* digest of the whole body */
} sotto_aero_hand;

/* A key that is handed over. Lists are by place: of old members, and of new ones. */
typedef struct sotto_aero_handing {
    bool is_wanted; /* the round begins so */
    bool is_handed, is_over, has_passed;
    uint32_t hands, probed;
    sotto_aero_hand *from;
    bool *has_probed;         /* by new member                                    */
    sotto_aero_probe *probes; /* a row of new members for each old one            */
    bool *opened;             /* likewise: it could open what was dealt to it     */
    bool *wrong;              /* likewise, once it was judged                     */
    uint32_t taken
        [SOTTO_AERO_MOST_COMMITTEE]; /* old places that new shares are made of, as many as the threshold */
    bool *holds;                     /* by new member: it has a share, by its own word   */
    uint8_t key[32], record[32]; /* digests of the public key and of TAKEN         */
} sotto_aero_handing;

/* A record as it is on the board, or the excerpt that this reader is shown. Of what one member seals to each of a committee, body is
 * the part that all of this committee read, or nothing: then the reader is not in it. */
typedef struct sotto_aero_record {
    sotto_message message;
    sotto_bytes own;    /* what is sealed to this reader; nothing else is shown to it */
    uint8_t digest[32]; /* of the whole body, where it has such a part                */
} sotto_aero_record;

/* What the board says, as far as it was read. */
typedef struct sotto_aero_view {
    sotto_aero_plan *plan;
    /* A member's index; SOTTO_TO_EVERYBODY: what is sealed to a committee is not for it. */
    uint32_t reader;
    sotto_aero_record last;     /* as it was read; borrowed, until the next one is */
    uint64_t next;              /* index of the entry that is wanted */
    sotto_aero_member *members; /* by place */
    bool is_sealed, is_keyed, is_committed, is_added, is_summed;
    uint64_t committed_at, added_at, summed_at; /* indices of the log */
    uint32_t dealers;                           /* parts of keys that count, */
    uint32_t dealt[SOTTO_AERO_MOST_COMMITTEES]; /* and of each committee's key */
    /* Its parts are not for this reader: KEYED says what they are. */
    bool unread[SOTTO_AERO_MOST_COMMITTEES];
    sotto_aero_poly *b;                          /* of each committee */
    uint8_t certificate[SOTTO_AERO_CERTIFICATE]; /* as it must be; once is_keyed */
    uint32_t present;                            /* leaves that are there, as the server says */
    uint8_t totals[SOTTO_AERO_MOST_GROUPS][32];  /* digests of the sums */
    uint8_t added[32], verdict[32]; /* of the record; and what members sign, once is_summed */
    sotto_aero_posted posted;
    sotto_aero_challenge challenges[SOTTO_AERO_MOST_CHALLENGES];
    uint32_t challenge_count, complaints;
    uint16_t *named;          /* leaves that a device got no answer about, by index */
    uint32_t left_out, *left; /* devices that say so, by index */
    uint8_t *wrong;           /* by index, a bit each: it complained of a leaf that is sound */
    uint32_t clears;          /* devices that found nothing wrong,                           */
    uint8_t *clear;           /* and which: by index, a bit each                             */
    bool is_refuted; /* a complaint is right, or the server contradicts itself or the rules */
    char reason[96]; /* why, the first time */
    sotto_aero_call call;
    sotto_aero_handing handing;
} sotto_aero_view;

SOTTO_MUST_USE sotto_status sotto_aero_view_init(sotto_aero_view *view, sotto_aero_plan *plan,
                                                 sotto_arena *arena, sotto_err *err);

/* Reads the next entry. Its record is a signed message to the board; anybody may have put anything else there.
 *   known         the record, where it says something that counts; its kind is 0 otherwise
 *   is_checked    its signature was checked before: it comes from this machine's own store
 *   SOTTO_AGAIN   entries before it are missing
 *   SOTTO_STALE   it was read before */
SOTTO_MUST_USE sotto_status sotto_aero_view_read(sotto_aero_view *view, sotto_message *known,
                                                 uint64_t index, sotto_bytes record,
                                                 bool is_checked, sotto_arena *scratch,
                                                 sotto_err *err);

/* At least as many as the threshold say what this view says: devices may encrypt to the key. */
bool sotto_aero_is_certified(const sotto_aero_view *view);
/* As many parts of each committee's key count as its threshold. */
bool sotto_aero_is_dealt(const sotto_aero_view *view);
/* As many devices as the terms say found nothing wrong in these sums. Until then no verdict counts, and nobody deals noise. */
bool sotto_aero_is_clear(const sotto_aero_view *view);
SOTTO_MUST_USE sotto_status sotto_aero_read_clear(sotto_aero_view *view, uint32_t from,
                                                  sotto_bytes body, sotto_err *err);
/* Members of a committee whose verdict is this view's; places in the committee. */
uint32_t sotto_aero_verdicts(const sotto_aero_view *view, uint32_t committee, uint32_t *places);
/* Members of all committees that posted their commitments: they make the key, or take it over. */
uint32_t sotto_aero_count_sealed(const sotto_aero_view *view);
/* Values that each committee, or the one with the fewest, has opened before this index of the log; and the points that all of them give. */
uint32_t sotto_aero_opened(const sotto_aero_view *view, uint64_t before);
void sotto_aero_draw_points(const sotto_aero_view *view, uint64_t before,
                            sotto_f64 points[SOTTO_AERO_POINTS]);

/* Whether a complaint is right: anybody comes to the same answer. */
SOTTO_MUST_USE sotto_status sotto_aero_complaint_check(bool *upheld, sotto_aero_fault *fault,
                                                       const sotto_aero_plan *plan,
                                                       const sotto_aero_posted *posted,
                                                       sotto_bytes complaint, sotto_arena *scratch,
                                                       sotto_err *err);

/* Records of a hand-over (view_hand.c). SOTTO_REJECTED: out of turn. */
SOTTO_MUST_USE sotto_status sotto_aero_handing_init(sotto_aero_view *view, sotto_arena *arena,
                                                    sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_aero_read_hand(sotto_aero_view *view,
                                                 const sotto_aero_record *record, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_aero_read_handed(sotto_aero_view *view, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_aero_read_probe(sotto_aero_view *view, uint32_t from,
                                                  sotto_bytes body, sotto_err *err);
/* Judges the hand-over. is_keyed is set where it passed: the certificate is the caller's to write. */
SOTTO_MUST_USE sotto_status sotto_aero_read_taken(sotto_aero_view *view, sotto_bytes body,
                                                  sotto_arena *scratch, sotto_err *err);
/* A new key may be dealt: none is handed over, or that failed. */
bool sotto_aero_wants_key(const sotto_aero_view *view);
/* Of which round the key is. */
uint64_t sotto_aero_key_round(const sotto_aero_view *view);
/* The combinations that new members probe: everything is dealt. */
void sotto_aero_probe_seed(uint8_t out[SOTTO_AERO_SEED], const sotto_aero_view *view);
/* Bytes of what is handed over: of a record, and of a public key. */
size_t sotto_aero_hand_size(const sotto_aero_plan *plan);
size_t sotto_aero_taken_size(const sotto_aero_plan *plan);

/* Records of the robust path (view_call.c). SOTTO_REJECTED: out of turn. */
SOTTO_MUST_USE sotto_status sotto_aero_read_dealers(sotto_aero_view *view, sotto_bytes body,
                                                    sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_aero_read_dealt(sotto_aero_view *view, sotto_bytes body,
                                                  sotto_err *err);
/* What a dealer is held to: a digest of the digests of what it sealed to each member. */
void sotto_aero_dealt_digest(uint8_t out[32], sotto_bytes digests);
/* Polynomials that a dealer shares: one for each ciphertext, and its pads; and how long they are when they are sealed. */
size_t sotto_aero_noises_sealed(const sotto_aero_plan *plan);

/* Records of a key (view_key.c). SOTTO_REJECTED: out of turn, or not what was committed to, or another sum. */
SOTTO_MUST_USE sotto_status sotto_aero_read_key(sotto_aero_view *view, uint32_t place,
                                                sotto_bytes body, sotto_arena *scratch,
                                                sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_aero_read_keyed(sotto_aero_view *view, sotto_bytes body,
                                                  sotto_arena *scratch, sotto_err *err);
/* What members certify, once there is a key. */
SOTTO_MUST_USE sotto_status sotto_aero_write_certificate(sotto_aero_view *view,
                                                         sotto_arena *scratch, sotto_err *err);
/* The body of KEYED, as this view says it, which is what the certificate is about. */
size_t sotto_aero_keyed_size(const sotto_aero_plan *plan);
SOTTO_MUST_USE sotto_status sotto_aero_keyed_encode(const sotto_aero_view *view, sotto_buf *out,
                                                    sotto_err *err);

/* Commitments to a member's part of the key and to its value. */
void sotto_aero_seal_key(uint8_t out[32], const sotto_aero_plan *plan, uint32_t member,
                         const uint8_t nonce[32], sotto_bytes b);
void sotto_aero_seal_value(uint8_t out[32], const sotto_aero_plan *plan, uint32_t member,
                           const uint8_t nonce[32], const uint8_t value[32]);
size_t sotto_aero_sealed_share_size(const sotto_aero_plan *plan);
/* Of the body of KEY. */
size_t sotto_aero_key_size(const sotto_aero_plan *plan);
/* Of a group's totals: of their c1, and of the digest of their c2. */
void sotto_aero_total_digest(uint8_t out[32], sotto_bytes first, const uint8_t second[32]);

/* ---- what all machines do ------------------------------------------------------------------------------- */

SOTTO_MUST_USE sotto_status sotto_aero_send(sotto_effects *effects, const sotto_round *round,
                                            const sotto_self *self, uint32_t to, unsigned kind,
                                            sotto_bytes body, sotto_err *err);
/* sotto_machine_ops.check of all parts: form, addresses, signatures; records of an entry too. */
SOTTO_MUST_USE sotto_status sotto_aero_check(const sotto_round *round, const sotto_message *message,
                                             sotto_arena *scratch, sotto_err *err);

/* record.c. Borrows from the record.
 *   reader      a member's index, or SOTTO_TO_EVERYBODY
 *   is_checked  as sotto_aero_view_read */
SOTTO_MUST_USE sotto_status sotto_aero_record_open(sotto_aero_record *out, const sotto_round *round,
                                                   uint32_t reader, sotto_bytes record,
                                                   bool is_checked, sotto_err *err);
/* Members of all committees, one committee after the other: of the account, or drawn into `room`. NULL: the round contradicts itself. */
const uint32_t *sotto_aero_members_of(const sotto_round *round, sotto_aero_terms *terms,
                                      uint32_t room[SOTTO_AERO_MOST_SPEAKERS]);
/* Whether the beacon draws this device as a contributor. */
bool sotto_aero_contributes(const sotto_round *round, uint32_t index);
bool sotto_aero_needed(const sotto_round *round, const sotto_message *record, uint32_t reader,
                       sotto_body_span spans[SOTTO_BODY_SPANS]);
/* The price of this round, for each number before it: numbers begin with 1, and each has a beacon and a committee of its own.
 *   SOTTO_DENIED  epoch and number differ, so that a number might come twice */
SOTTO_MUST_USE sotto_status sotto_aero_count(sotto_aero_account *account, const sotto_round *round,
                                             sotto_arena *arena, sotto_err *err);

extern const sotto_machine_ops sotto_aero_client, sotto_aero_member_ops, sotto_aero_server;

#endif
