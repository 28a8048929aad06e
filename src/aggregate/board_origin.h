/* aggregate/board_origin.h - the name of a round's board as a log of its own, which witnesses cosign (C2SP tlog-witness).
 *
 *     sotto-board/SERVER/ROUND
 *
 * SERVER is the key that the registry names, ROUND the round's id, both in hexadecimal digits. So a posting fixes the name and the key of
 * its board, and no two rounds share one.
 *
 * Callers:  the aggregator signs heads of its boards; a witness and devices find out whose they are.
 * Secrets:  none.
 */
#ifndef SOTTO_AGGREGATE_BOARD_ORIGIN_H
#define SOTTO_AGGREGATE_BOARD_ORIGIN_H

#include "aggregate/round.h"
#include "crypto/signature.h"

enum { SOTTO_BOARD_ORIGIN = 12 + 2 * SOTTO_SIGN_PUBLIC + 1 + 2 * SOTTO_ROUND_ID };

/* With a zero at its end. */
void sotto_board_origin(char out[SOTTO_BOARD_ORIGIN + 1], const uint8_t server[SOTTO_SIGN_PUBLIC],
                        const uint8_t round[SOTTO_ROUND_ID]);
/* Whose board it is. False: not such a name. */
SOTTO_MUST_USE bool sotto_board_origin_read(uint8_t server[SOTTO_SIGN_PUBLIC],
                                            uint8_t round[SOTTO_ROUND_ID], sotto_bytes origin);

#endif
