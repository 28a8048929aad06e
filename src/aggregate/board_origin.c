#include "aggregate/board_origin.h"

#include "base/hex.h"

#include <string.h>

static const char PREFIX[] = "sotto-board/";

enum { HEAD = sizeof PREFIX - 1, KEY = 2 * SOTTO_SIGN_PUBLIC, ROUND = 2 * SOTTO_ROUND_ID };

void sotto_board_origin(char out[SOTTO_BOARD_ORIGIN + 1], const uint8_t server[SOTTO_SIGN_PUBLIC],
                        const uint8_t round[SOTTO_ROUND_ID])
{
    memcpy(out, PREFIX, HEAD);
    sotto_hex_encode(out + HEAD, sotto_bytes_of(server, SOTTO_SIGN_PUBLIC));
    out[HEAD + KEY] = '/';
    sotto_hex_encode(out + HEAD + KEY + 1, sotto_bytes_of(round, SOTTO_ROUND_ID));
}

bool sotto_board_origin_read(uint8_t server[SOTTO_SIGN_PUBLIC], uint8_t round[SOTTO_ROUND_ID],
                             sotto_bytes origin)
{
    char again[SOTTO_BOARD_ORIGIN + 1];

    if (origin.len != SOTTO_BOARD_ORIGIN ||
        !sotto_hex_decode(server, SOTTO_SIGN_PUBLIC, sotto_bytes_of(origin.data + HEAD, KEY)) ||
        !sotto_hex_decode(round, SOTTO_ROUND_ID,
                          sotto_bytes_of(origin.data + HEAD + KEY + 1, ROUND)))
        return false;
    /* One board has one name: no capital letters, no other prefix. */
    sotto_board_origin(again, server, round);
    return memcmp(again, origin.data, SOTTO_BOARD_ORIGIN) == 0;
}
