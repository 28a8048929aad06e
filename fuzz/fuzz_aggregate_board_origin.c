/* The name of a board comes with a head that somebody asks a witness to cosign: what is read is written the same way. */
#include "target.h"

#include "aggregate/board_origin.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t server[SOTTO_SIGN_PUBLIC], round[SOTTO_ROUND_ID];
    char again[SOTTO_BOARD_ORIGIN + 1];

    if (!sotto_board_origin_read(server, round, sotto_bytes_of(data, size)))
        return 0;
    sotto_board_origin(again, server, round);
    if (size != SOTTO_BOARD_ORIGIN || memcmp(again, data, size) != 0 || again[size] != 0)
        abort();
    return 0;
}
