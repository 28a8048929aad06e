/* device/duties/inside.h - duties as their files share them: rounds in duties.c, boards and questions in entries.c, boards that
 * witnesses cosign in heads.c, key generations in keygen_duty.c.
 */
#ifndef SOTTO_DEVICE_DUTIES_INSIDE_H
#define SOTTO_DEVICE_DUTIES_INSIDE_H

#include "device/duties/duties.h"
#include "device/duties/journal.h"
#include "device/exchange.h"

enum { SOTTO_DUTIES_URL = 1024, SOTTO_DUTIES_POLL_MS = 250, SOTTO_DUTIES_RETRY_MS = 1000 };

struct sotto_duties {
    sotto_duties_options options;
    char server[SOTTO_DUTIES_URL];
    uint8_t (*witnesses)[SOTTO_P256_WIDE];
    sotto_journal journal;
    sotto_signer signer;
    sotto_self_secrets secrets;
    sotto_arena memory;
    size_t inbox; /* room for the next answer */
    /* Bytes of a board that one step reads; 0: as many as a step has memory for. */
    size_t board_room;
    bool behind; /* the board has more */
};

/* SOTTO_DENIED: policy or consent do not cover this part. */
SOTTO_MUST_USE sotto_status sotto_duties_permitted(sotto_duties *d, unsigned part, sotto_err *err);
/* One request to "KIND/ID/PLACE" of the aggregator, after the host's counter was raised. */
SOTTO_MUST_USE sotto_status sotto_duties_carry(sotto_duties *d, const char *kind, const uint8_t *id,
                                               const char *place, const char *type,
                                               sotto_bytes body, sotto_exchange_answer *answer);
/* The same to another server: a witness. */
SOTTO_MUST_USE sotto_status sotto_duties_carry_to(sotto_duties *d, const char *base,
                                                  const char *kind, const uint8_t *id,
                                                  const char *place, const char *type,
                                                  sotto_bytes body, sotto_exchange_answer *answer);
/* Whether the aggregator will never take it. Everything else, a 401 or 404 of a proxy among it, may be about the moment. */
bool sotto_duties_is_final(unsigned status);
/* What a duty will fail with again, however often it is tried. */
bool sotto_duties_is_for_good(sotto_status status);
/* The duty fails for good: what the round before left for it goes first. `why`, or what kept it from being erased. */
SOTTO_MUST_USE sotto_status sotto_duties_spoiled(sotto_duties *d, const sotto_journal_duty *duty,
                                                 const sotto_round *round, sotto_status why);

static inline sotto_part sotto_duties_part(unsigned duty)
{
    return duty == SOTTO_DUTY_CLIENT ? SOTTO_PART_CLIENT : SOTTO_PART_DECRYPTOR;
}
sotto_self sotto_duties_self(sotto_duties *d, uint32_t index, unsigned part);

/* Bits that a policy must name for a part of this method, and for a vector if there is one. */
unsigned sotto_duties_needed(const sotto_method *method, unsigned part, bool vector);

/* What came for a duty: entries of the board, messages of its inbox, and answers to what it asked. Empty: nothing did. */
typedef struct sotto_duties_mail {
    sotto_bytes entries, inbox;
    sotto_merkle_hash *leaves; /* of the entries, in the board's tree; NULL: nobody cosigns it */
    uint64_t head,
        cosigned; /* entries below the last head, and when a quorum had cosigned it, in milliseconds since 1970 */
    struct sotto_duties_answer {
        struct sotto_duties_answer *next;
        int64_t row; /* of the journal: the question */
        sotto_bytes messages;
    } * answers;
    size_t len;     /* of all answers */
    sotto_buf room; /* of one answer as it arrives */
} sotto_duties_mail;

/* What is said of a duty whose time is over: whoever was shown no board had nothing to answer with. */
sotto_duties_news sotto_duties_ending(const sotto_posted_round *p, const sotto_journal_duty *duty);
/* Entries that this duty has not seen. Nothing where there is no answer, or no board.
 *   SOTTO_REJECTED  they are not those that witnesses cosigned: this device is shown another board than others */
SOTTO_MUST_USE sotto_status sotto_duties_fetch_entries(sotto_duties *d, const sotto_posted_round *p,
                                                       const sotto_journal_duty *duty,
                                                       sotto_duties_mail *mail, sotto_err *err);
/* Who reads a board: a member what is for it, and everybody else. */
static inline uint32_t sotto_duties_reader(const sotto_journal_duty *duty)
{
    return duty->part == SOTTO_DUTY_DECRYPTOR ? duty->index : SOTTO_TO_EVERYBODY;
}
/* What is in the inbox of a duty. *answered: false where there is no answer, which may come later; *gone: the round is over. */
SOTTO_MUST_USE sotto_status sotto_duties_fetch_inbox(sotto_duties *d,
                                                     const sotto_journal_duty *duty,
                                                     const sotto_posted_round *p, sotto_buf *out,
                                                     bool *answered, bool *gone, sotto_err *err);
/* One answer to a request for entries from this number on, in this room, which may be empty: it grows. */
SOTTO_MUST_USE sotto_status sotto_duties_fetch_page(sotto_duties *d, const sotto_posted_round *p,
                                                    const sotto_journal_duty *duty, uint64_t since,
                                                    sotto_buf *room, sotto_bytes *out,
                                                    sotto_err *err);
/* heads.c: whether the policy names witnesses; entries that a quorum of them cosigned; and those that the machine read, added to the tree. */
bool sotto_duties_wants_heads(const sotto_duties *d);
/* SOTTO_DENIED: a member is to hand over a key, or to take one over, where nobody sees that all have one board. */
SOTTO_MUST_USE sotto_status sotto_duties_hand_over_seen(const sotto_duties *d,
                                                        const sotto_posted_round *p, unsigned part,
                                                        sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_duties_fetch_cosigned(sotto_duties *d,
                                                        const sotto_posted_round *p,
                                                        const sotto_journal_duty *duty,
                                                        sotto_duties_mail *mail, sotto_err *err);
/* What the machine is told of the time. A member signs for sums when complaints are in. Until it has read the board as it was cosigned after
 * that, its clock stands still. */
uint64_t sotto_duties_time(const sotto_duties *d, const sotto_posted_round *p,
                           const sotto_journal_duty *duty, const sotto_duties_mail *mail,
                           uint64_t now_ms);
void sotto_duties_grow(sotto_journal_duty *duty, uint64_t before, const sotto_duties_mail *mail);
/* handed.c: hands what waits and must be on the board to witnesses. *owed: one of them has not got it.
 * Whether the server has a message that waits for witnesses alone; and that it now has one. */
SOTTO_MUST_USE sotto_status sotto_duties_hand(sotto_duties *d, const sotto_posted_round *p,
                                              const sotto_journal_duty *duty, bool *owed,
                                              sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_duties_server_has(sotto_duties *d, int64_t row, bool *has,
                                                    sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_duties_server_took(sotto_duties *d, const sotto_posted_round *p,
                                                     int64_t row, sotto_bytes body, sotto_err *err);
/* Whether what waits is a question, whose answer comes at once. */
bool sotto_duties_is_question(const sotto_posted_round *p, sotto_bytes body);
/* Asks it, unless the mail is full: then it is asked after the machine has read that. *after: what waits behind it may go now; *done: there is
 * an answer, or there will never be one. */
SOTTO_MUST_USE sotto_status sotto_duties_ask(sotto_duties *d, const sotto_posted_round *p,
                                             int64_t row, sotto_bytes body, sotto_duties_mail *mail,
                                             bool *after, bool *done, sotto_err *err);
/* The machine has read the answers. */
SOTTO_MUST_USE sotto_status sotto_duties_forget_asked(sotto_duties *d,
                                                      const sotto_duties_mail *mail,
                                                      sotto_err *err);
/* Has the machine read all of it, in this order: entries, inbox, answers. */
SOTTO_MUST_USE sotto_status sotto_duties_read(const sotto_posted_round *p, sotto_machine *machine,
                                              sotto_journal_duty *duty,
                                              const sotto_duties_mail *mail, sotto_effects *effects,
                                              sotto_arena *arena, sotto_err *err);

/* One step with this mail. What it wants to send is in the journal afterwards, and duty is as it is there. */
SOTTO_MUST_USE sotto_status sotto_duties_run(sotto_duties *d, const sotto_posted_round *p,
                                             sotto_journal_duty *duty,
                                             const sotto_duties_mail *mail, uint64_t now_ms,
                                             sotto_effects *effects, sotto_err *err);

/* Does what is due in key generations; *next_ms is only ever lowered. */
SOTTO_MUST_USE sotto_status sotto_duties_tick_keygens(sotto_duties *d, uint64_t now_ms,
                                                      uint64_t *next_ms, sotto_err *err);

#endif
