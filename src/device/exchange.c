#include "device/exchange.h"

#include "base/rule.h"

#include <string.h>

/* One exchange while it lasts. */
typedef struct carried {
    sotto_bytes body;
    size_t read; /* bytes of the body, from its start and without a gap */
    bool begun;
    sotto_status failed; /* the first failure; the answer is worth nothing then */
    sotto_exchange_answer *answer;
} carried;

static sotto_status fail(carried *c, sotto_status status)
{
    if (c->failed == SOTTO_OK)
        c->failed = status;
    return status;
}

/* ---- what the host calls ---------------------------------------------------------------------------------- */

static sotto_status read_body(sotto_exchange *exchange, uint64_t offset, uint8_t *out, size_t room,
                              size_t *len)
{
    carried *c = exchange->state;

    *len = 0;
    /* A host that skips bytes, or reads past the end, sends a different body. */
    if (SOTTO_RULE(body_without_gaps) && offset > c->read)
        return fail(c, SOTTO_BUG);
    if (c->failed != SOTTO_OK || offset >= c->body.len)
        return c->failed;
    const size_t left = c->body.len - (size_t)offset;
    *len = room < left ? room : left;
    memcpy(out, c->body.data + offset, *len);
    if (offset + *len > c->read)
        c->read = (size_t)offset + *len;
    return SOTTO_OK;
}

/* A date would depend on the leader's clock, so it is ignored: the next tick retries. */
static int64_t read_seconds(const char *text)
{
    int64_t seconds = 0;

    for (; *text >= '0' && *text <= '9'; text++)
        if (seconds < INT32_MAX)
            seconds = 10 * seconds + (*text - '0');
    return *text == '\0' ? seconds : 0;
}

void sotto_exchange_answer_head(sotto_exchange_answer *answer, unsigned status,
                                const char *media_type, const char *retry_after)
{
    const char *type = media_type ? media_type : "";

    if (strlen(type) >= sizeof answer->media_type)
        type = "?";
    answer->status = status;
    memcpy(answer->media_type, type, strlen(type) + 1);
    answer->retry_after = retry_after ? read_seconds(retry_after) : 0;
}

static sotto_status take_head(sotto_exchange *exchange, const sotto_exchange_head *head)
{
    carried *c = exchange->state;

    /* A host that was compiled with a later version has more members, and none has fewer than the first version. */
    if (SOTTO_RULE(heads_have_a_size) && head->size < sizeof *head)
        return fail(c, SOTTO_BUG);
    if (SOTTO_RULE(one_head) && c->begun)
        return fail(c, SOTTO_BUG);
    c->begun = true;
    sotto_exchange_answer_head(c->answer, head->status, head->media_type, head->retry_after);
    return c->failed;
}

static sotto_status take_piece(sotto_exchange *exchange, const uint8_t *piece, size_t len)
{
    carried *c = exchange->state;
    sotto_buf *body = &c->answer->body;
    const size_t room = body->cap - body->len, fits = len < room ? len : room;

    if (SOTTO_RULE(head_before_body) && !c->begun)
        return fail(c, SOTTO_BUG);
    if (SOTTO_RULE(answers_bounded) && len > fits)
        return fail(c, SOTTO_TOO_LARGE);
    if (fits > 0)
        memcpy(body->data + body->len, piece, fits);
    body->len += fits;
    return c->failed;
}

/* ---- what the device calls -------------------------------------------------------------------------------- */

sotto_status sotto_exchange_carry(const sotto_device_host *host, const sotto_exchange *request,
                                  sotto_bytes body, sotto_exchange_answer *answer)
{
    carried c = {.body = body, .answer = answer};
    sotto_exchange sent = *request;

    sent.size = sizeof sent;
    sent.body_length = body.len;
    sent.most_answer = answer->body.cap;
    sent.read = read_body;
    sent.begin = take_head;
    sent.take = take_piece;
    sent.state = &c;
    const sotto_status status = host->exchange(host->context, &sent);
    if (SOTTO_RULE(failed_exchanges_wait) && status != SOTTO_OK)
        return status;
    if (c.failed != SOTTO_OK)
        return c.failed;
    /* The sender of this answer has not seen the whole body, so it is no answer to it. */
    if (SOTTO_RULE(body_read_whole) && c.read < body.len)
        return SOTTO_BUG;
    return SOTTO_OK;
}
