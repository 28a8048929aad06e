/* aggregate/inbox.h - media types of rounds over HTTP, and messages as a server hands them out: each with its number (8 bytes) and its
 * length (4).
 *
 * Callers:  devices, for what a round has for them, and for the board of a key generation; the server, which answers them.
 * Memory:   messages are borrowed from the answer.
 */
#ifndef SOTTO_AGGREGATE_INBOX_H
#define SOTTO_AGGREGATE_INBOX_H

#include "aggregate/round.h"
#include "crypto/signature.h"

#define SOTTO_POSTING_TYPE      "application/vnd.sotto.posting"
#define SOTTO_MESSAGE_TYPE      "application/vnd.sotto.message"
#define SOTTO_INBOX_TYPE        "application/vnd.sotto.inbox"
#define SOTTO_INBOX_ASK_TYPE    "application/vnd.sotto.inbox-request"
#define SOTTO_ENTRIES_ASK_TYPE  "application/vnd.sotto.board-request"
#define SOTTO_KEYGEN_TYPE       "application/vnd.sotto.keygen"
#define SOTTO_KEYGEN_SINCE_TYPE "application/vnd.sotto.keygen-since"
#define SOTTO_KEYGEN_POST_TYPE  "application/vnd.sotto.keygen-post"
#define SOTTO_BOARD_TYPE        "application/vnd.sotto.keygen-board"

/* Body of a request for an inbox: index, first number wanted, signature of the text below. */
enum { SOTTO_INBOX_ASK = 4 + 8 + SOTTO_SIGNATURE, SOTTO_INBOX_TEXT = 13 + SOTTO_ROUND_ID + 4 };
/* Body of a request for entries of a round's board: first number wanted, and who reads it (serve/aggregator/board.h). */
enum { SOTTO_ENTRIES_ASK = 8 + 4 };
/* "sotto-inbox-1", the round, the index: what its owner signs, once for a round. */
void sotto_inbox_text(uint8_t out[SOTTO_INBOX_TEXT], const uint8_t round[SOTTO_ROUND_ID],
                      uint32_t index);

typedef struct sotto_inbox {
    sotto_bytes left;
    uint64_t since; /* the first number that was not seen; what comes before it is out of order */
} sotto_inbox;

/* The next message. False: there is none, or it is cut or out of order. What came before it counts. */
SOTTO_MUST_USE bool sotto_inbox_next(sotto_inbox *inbox, uint64_t *number, sotto_bytes *message);

#endif
