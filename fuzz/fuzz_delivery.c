/* A leader's answer to an upload, in pieces of any length, by a host that reads the request as it likes. The first bytes say
 * what the host does: two of status, one of the media type (upload-errors, none, or the next bytes). Then one of the length
 * of pieces, and one of flags. Then come the report's id and the body of the answer. Nothing acknowledges a report but a
 * whole list, of the right type and after a request that was read whole, that leaves the report out or calls it a replay. */
#include "target.h"

#include <stdlib.h>
#include <string.h>

#include "device/answer/delivery.h"

enum {
    ENTRY = SOTTO_REPORT_ID_SIZE + 1,
    HEAD = 5,
    MOST = 256,
    REPLAYED = 2,
    UNKNOWN_CONFIG = 4,
    OUTDATED = 11
};
enum {
    READS_SHORT = 1,
    FAILS = 2,
    LATE_HEAD = 4,
    TWO_HEADS = 8,
    RETRIES = 16,
    DEAF = 32,
    SKIPS = 64
};

typedef struct leader {
    unsigned status;
    const char *type;
    size_t piece;
    unsigned flags;
    sotto_bytes answer;
    char read_back[SOTTO_REPORT_ID_SIZE];
} leader;

static const char list_type[] = "application/ppm-dap;message=upload-errors";

static void require(bool holds)
{
    if (!holds)
        abort();
}

static sotto_status heed(const leader *l, sotto_status status)
{
    return l->flags & DEAF ? SOTTO_OK : status;
}

static sotto_status read_request(leader *l, sotto_exchange *exchange)
{
    const uint64_t end = exchange->body_length - (l->flags & READS_SHORT ? 1 : 0);
    uint8_t piece[8];
    size_t len = 1;

    for (uint64_t at = l->flags & SKIPS ? 1 : 0; at < end && len > 0; at += len) {
        const size_t room = end - at < sizeof piece ? (size_t)(end - at) : sizeof piece;

        SOTTO_TRY(heed(l, exchange->read(exchange, at, piece, room, &len)));
        require(len <= room && at + len <= sizeof l->read_back);
        memcpy(l->read_back + at, piece, len);
    }
    return SOTTO_OK;
}

static sotto_status give_head(leader *l, sotto_exchange *exchange)
{
    const sotto_exchange_head head = {.size = sizeof head,
                                      .status = l->status,
                                      .media_type = l->type,
                                      .retry_after = l->flags & RETRIES ? l->type : NULL};

    if (l->flags & TWO_HEADS)
        SOTTO_TRY(heed(l, exchange->begin(exchange, &head)));
    return heed(l, exchange->begin(exchange, &head));
}

static sotto_status give_body(leader *l, sotto_exchange *exchange)
{
    for (size_t at = 0; at < l->answer.len; at += l->piece) {
        const size_t left = l->answer.len - at;

        SOTTO_TRY(heed(
            l, exchange->take(exchange, l->answer.data + at, left < l->piece ? left : l->piece)));
    }
    return SOTTO_OK;
}

static sotto_status carry(void *context, sotto_exchange *exchange)
{
    leader *l = context;

    SOTTO_TRY(read_request(l, exchange));
    if (l->flags & LATE_HEAD)
        SOTTO_TRY(give_body(l, exchange));
    SOTTO_TRY(give_head(l, exchange));
    if (!(l->flags & LATE_HEAD))
        SOTTO_TRY(give_body(l, exchange));
    return l->flags & FAILS ? SOTTO_IO : SOTTO_OK;
}

/* The cause that is listed for the id, -1 for none. */
static int cause_of(const uint8_t *id, sotto_bytes answer)
{
    for (size_t at = 0; at + ENTRY <= answer.len; at += ENTRY)
        if (memcmp(answer.data + at, id, SOTTO_REPORT_ID_SIZE) == 0)
            return answer.data[at + SOTTO_REPORT_ID_SIZE];
    return -1;
}

static void check_meaning(const leader *l, const uint8_t *id, const sotto_exchange_answer *answer)
{
    const bool typed = l->type == list_type || (!l->type && l->answer.len == 0);
    const bool guessed = l->type && l->type != list_type; /* it may be the right one all the same */
    const bool read = l->status / 100 == 2 && l->answer.len % ENTRY == 0 && (typed || guessed);
    const int cause = cause_of(id, l->answer);

    switch (sotto_delivery_of(sotto_bytes_of(id, SOTTO_REPORT_ID_SIZE), answer)) {
    case SOTTO_DELIVERY_ACCEPTED:
        require(read && (cause == -1 || cause == REPLAYED));
        break;
    case SOTTO_DELIVERY_OUTDATED:
        require(read && (cause == UNKNOWN_CONFIG || cause == OUTDATED));
        break;
    case SOTTO_DELIVERY_REFUSED:
        require(l->status / 100 == 4 || (read && cause > 0));
        break;
    case SOTTO_DELIVERY_LATER:
        require(l->status != 200 || l->answer.len > 0 || !typed);
        break;
    default:
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t room[MOST];
    char type[256];

    if (size < HEAD + SOTTO_REPORT_ID_SIZE)
        return 0;
    leader l = {.status = (unsigned)data[0] << 8 | data[1],
                .type = data[2] == 0   ? list_type
                        : data[2] == 1 ? NULL
                                       : type,
                .piece = data[3] + 1,
                .flags = data[4]};
    const uint8_t *id = data + HEAD, *rest = id + SOTTO_REPORT_ID_SIZE;
    size_t left = size - HEAD - SOTTO_REPORT_ID_SIZE;

    if (l.type == type) {
        const size_t len = left < data[2] ? left : data[2];

        memcpy(type, rest, len);
        type[len] = '\0';
        rest += len;
        left -= len;
    }
    l.answer = sotto_bytes_of(rest, left);
    sotto_exchange request = {.method = "POST", .url = "", .media_type = "", .recipe = ""};
    sotto_exchange_answer answer = {.body = {room, 0, sizeof room}};
    const sotto_device_host host = {.exchange = carry, .context = &l};
    const sotto_status status =
        sotto_exchange_carry(&host, &request, sotto_bytes_of(id, SOTTO_REPORT_ID_SIZE), &answer);
    const bool broken =
        l.flags & (READS_SHORT | FAILS | TWO_HEADS | SKIPS) || ((l.flags & LATE_HEAD) && left > 0);

    require(answer.body.len <= sizeof room && answer.retry_after >= 0);
    require(answer.media_type[sizeof answer.media_type - 1] == '\0');
    require((status == SOTTO_OK) == (!broken && left <= sizeof room));
    if (status != SOTTO_OK)
        return 0;
    require(memcmp(l.read_back, id, SOTTO_REPORT_ID_SIZE) == 0);
    require(answer.body.len == left && (left == 0 || memcmp(answer.body.data, rest, left) == 0));
    check_meaning(&l, id, &answer);
    return 0;
}
