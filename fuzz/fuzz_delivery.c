/* A leader's answer to an upload: two bytes of status, the report's id, and the body of the answer. Nothing but a list
 * that leaves the report out, or calls it a replay, acknowledges it; and a status of failure never does. */
#include "target.h"

#include <stdlib.h>
#include <string.h>

#include "sotto/device.h"

enum { ENTRY = SOTTO_REPORT_ID_SIZE + 1, REPLAYED = 2, UNKNOWN_CONFIG = 4, OUTDATED = 11 };

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* The cause that is listed for the id, -1 for none. */
static int cause_of(const uint8_t *id, sotto_bytes answer)
{
    for (size_t at = 0; at + ENTRY <= answer.len; at += ENTRY)
        if (memcmp(answer.data + at, id, SOTTO_REPORT_ID_SIZE) == 0)
            return answer.data[at + SOTTO_REPORT_ID_SIZE];
    return -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 + SOTTO_REPORT_ID_SIZE)
        return 0;
    unsigned status = (unsigned)data[0] << 8 | data[1];
    const sotto_upload upload = {.recipe = "", .body = {data + 2, SOTTO_REPORT_ID_SIZE}};
    const size_t head = 2 + SOTTO_REPORT_ID_SIZE;
    const sotto_bytes answer = sotto_bytes_of(data + head, size - head);
    const bool read = status / 100 == 2 && answer.len % ENTRY == 0;
    const int cause = cause_of(upload.body.data, answer);

    switch (sotto_delivery_of(&upload, status, answer)) {
    case SOTTO_DELIVERY_ACCEPTED:
        require(read && (cause == -1 || cause == REPLAYED));
        break;
    case SOTTO_DELIVERY_OUTDATED:
        require(read && (cause == UNKNOWN_CONFIG || cause == OUTDATED));
        break;
    case SOTTO_DELIVERY_REFUSED:
        require(status / 100 == 4 || (read && cause > 0));
        break;
    case SOTTO_DELIVERY_LATER:
        require(status != 200 || answer.len > 0);
        break;
    default:
        abort();
    }
    return 0;
}
