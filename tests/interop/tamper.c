#include "interop/tamper.h"

#include "interop/field.h"

#include <string.h>

enum { MESSAGE_HEADER = 5 }; /* type and length, before a ping-pong message's payload */

const sotto_tampering_fact sotto_tampering_facts[SOTTO_TAMPERINGS] = {
    [SOTTO_HONEST] = {"nothing", SOTTO_HELPER, SOTTO_OK},
    [SOTTO_PUBLIC_SHARE_BIT] = {"a bit of the public share", SOTTO_HELPER, SOTTO_OK},
    [SOTTO_PUBLIC_SHARE_LEADER] = {"a bit of the leader's public share", SOTTO_HELPER, SOTTO_OK},
    [SOTTO_PUBLIC_SHARE_HELPER] = {"a bit of the helper's public share", SOTTO_HELPER, SOTTO_OK},
    [SOTTO_LEADER_SHARE_BIT] = {"a bit of the leader's share", SOTTO_HELPER, SOTTO_OK},
    [SOTTO_LEADER_SHARE_PLUS_ONE] = {"an element of the leader's share", SOTTO_HELPER,
                                     SOTTO_REJECTED},
    [SOTTO_LEADER_SHARE_NOT_FIELD] = {"an element of the leader's share, beyond the field",
                                      SOTTO_LEADER, SOTTO_MALFORMED},
    [SOTTO_LEADER_SHARE_SHORT] = {"the end of the leader's share", SOTTO_LEADER, SOTTO_MALFORMED},
    [SOTTO_HELPER_SHARE_BIT] = {"a bit of the helper's share", SOTTO_HELPER, SOTTO_REJECTED},
    [SOTTO_HELPER_SHARE_LONG] = {"a byte after the helper's share", SOTTO_HELPER, SOTTO_MALFORMED},
    [SOTTO_NONCE_LEADER] = {"a bit of the leader's nonce", SOTTO_HELPER, SOTTO_REJECTED},
    [SOTTO_NONCE_HELPER] = {"a bit of the helper's nonce", SOTTO_HELPER, SOTTO_REJECTED},
    [SOTTO_NONCE_BOTH] = {"a bit of the nonce", SOTTO_HELPER, SOTTO_REJECTED},
    [SOTTO_LEADER_MESSAGE_BIT] = {"a bit of the leader's message", SOTTO_HELPER, SOTTO_OK},
    [SOTTO_LEADER_MESSAGE_PLUS_ONE] = {"an element of the leader's message", SOTTO_HELPER,
                                       SOTTO_REJECTED},
    [SOTTO_LEADER_MESSAGE_NOT_FIELD] = {"an element of the leader's message, beyond the field",
                                        SOTTO_HELPER, SOTTO_MALFORMED},
    [SOTTO_LEADER_MESSAGE_LONG] = {"a byte after the leader's message", SOTTO_HELPER,
                                   SOTTO_MALFORMED},
    [SOTTO_LEADER_MESSAGE_EMPTY] = {"all of the leader's message", SOTTO_HELPER, SOTTO_MALFORMED},
    [SOTTO_HELPER_MESSAGE_BIT] = {"a bit of the helper's message", SOTTO_LEADER, SOTTO_OK},
    [SOTTO_HELPER_MESSAGE_SHORT] = {"the end of the helper's message", SOTTO_LEADER,
                                    SOTTO_MALFORMED},
    [SOTTO_HELPER_MESSAGE_LONG] = {"a byte after the helper's message", SOTTO_LEADER,
                                   SOTTO_MALFORMED},
};

/* Without joint randomness the nonce only chooses the query: two aggregators with the same wrong
 * nonce agree, as the draft has it. */
bool sotto_tampering_applies(sotto_tampering how, const sotto_kind *kind)
{
    return how != SOTTO_NONCE_BOTH || kind->joint_rand;
}

bool sotto_tampering_passes_helper(sotto_tampering how)
{
    return how == SOTTO_HONEST || how == SOTTO_HELPER_MESSAGE_BIT ||
           how == SOTTO_HELPER_MESSAGE_SHORT || how == SOTTO_HELPER_MESSAGE_LONG;
}

/* ---- changes to bytes ------------------------------------------------------------------------ */

static uint8_t *copy_with_room(sotto_test *t, sotto_bytes bytes)
{
    uint8_t *copy = sotto_test_take(t, bytes.len + 1, 1);

    if (bytes.len > 0)
        memcpy(copy, bytes.data, bytes.len);
    return copy;
}

/* Flips a bit at or after `from` and before `end`. */
static sotto_bytes flip_between(sotto_test *t, sotto_draw *draw, sotto_bytes bytes, size_t from,
                                size_t end)
{
    uint8_t *copy = copy_with_room(t, bytes);

    copy[from + sotto_draw_below(draw, end - from)] ^= (uint8_t)(1u << sotto_draw_below(draw, 8));
    return sotto_bytes_of(copy, bytes.len);
}

static sotto_bytes lengthen(sotto_test *t, sotto_draw *draw, sotto_bytes bytes)
{
    uint8_t *copy = copy_with_room(t, bytes);

    copy[bytes.len] = (uint8_t)sotto_draw_next(draw);
    return sotto_bytes_of(copy, bytes.len + 1);
}

static sotto_bytes shorten(sotto_bytes bytes)
{
    return sotto_bytes_of(bytes.data, bytes.len - 1);
}

sotto_bytes sotto_tamper_bit(sotto_test *t, sotto_draw *draw, sotto_bytes bytes)
{
    return bytes.len > 0 ? flip_between(t, draw, bytes, 0, bytes.len) : lengthen(t, draw, bytes);
}

/* Where a random element begins; what follows `head` bytes is elements and perhaps a seed. */
static size_t pick_element(const sotto_tamperer *by, sotto_bytes bytes, size_t head)
{
    size_t size = by->instance->kind->element_size;
    size_t seed = by->instance->kind->joint_rand ? SOTTO_PRIO3_SEED_SIZE : 0;

    return head + size * sotto_draw_below(by->draw, (bytes.len - head - seed) / size);
}

static sotto_bytes plus_one(const sotto_tamperer *by, sotto_bytes bytes, size_t head)
{
    size_t size = by->instance->kind->element_size;
    uint8_t *copy = copy_with_room(by->t, bytes);
    static const uint8_t one[16] = {1};

    sotto_elements_add(copy + pick_element(by, bytes, head), one, 1, size);
    return sotto_bytes_of(copy, bytes.len);
}

static sotto_bytes beyond_field(const sotto_tamperer *by, sotto_bytes bytes, size_t head)
{
    uint8_t *copy = copy_with_room(by->t, bytes);

    memset(copy + pick_element(by, bytes, head), 0xff, by->instance->kind->element_size);
    return sotto_bytes_of(copy, bytes.len);
}

/* ---- changes to a report --------------------------------------------------------------------- */

/* An aggregator puts its own joint randomness part in place of the one it was sent, so in one copy
 * only the other's part matters. */
static sotto_bytes public_share_for(const sotto_tamperer *by, sotto_bytes bytes, int who)
{
    size_t from = who == SOTTO_LEADER ? SOTTO_PRIO3_SEED_SIZE : 0;

    if (bytes.len == 0)
        return lengthen(by->t, by->draw, bytes);
    return flip_between(by->t, by->draw, bytes, from, from + SOTTO_PRIO3_SEED_SIZE);
}

static void flip_nonce(const sotto_tamperer *by, sotto_interop_report *report, unsigned receivers)
{
    size_t at = sotto_draw_below(by->draw, SOTTO_PRIO3_NONCE_SIZE);
    uint8_t bit = (uint8_t)(1u << sotto_draw_below(by->draw, 8));

    for (int who = SOTTO_LEADER; who <= SOTTO_HELPER; who++)
        if (receivers >> who & 1)
            report->received[who].nonce[at] ^= bit;
}

void sotto_tamper_report(const sotto_tamperer *by, sotto_interop_report *report, size_t i)
{
    sotto_prio3_report *leader = &report->received[SOTTO_LEADER];
    sotto_prio3_report *helper = &report->received[SOTTO_HELPER];

    switch (by->how[i]) {
    case SOTTO_PUBLIC_SHARE_BIT:
        leader->public_share = sotto_tamper_bit(by->t, by->draw, report->public_share);
        helper->public_share = leader->public_share;
        break;
    case SOTTO_PUBLIC_SHARE_LEADER:
        leader->public_share = public_share_for(by, report->public_share, SOTTO_LEADER);
        break;
    case SOTTO_PUBLIC_SHARE_HELPER:
        helper->public_share = public_share_for(by, report->public_share, SOTTO_HELPER);
        break;
    case SOTTO_LEADER_SHARE_BIT:
        leader->input_share = sotto_tamper_bit(by->t, by->draw, leader->input_share);
        break;
    case SOTTO_LEADER_SHARE_PLUS_ONE:
        leader->input_share = plus_one(by, leader->input_share, 0);
        break;
    case SOTTO_LEADER_SHARE_NOT_FIELD:
        leader->input_share = beyond_field(by, leader->input_share, 0);
        break;
    case SOTTO_LEADER_SHARE_SHORT:
        leader->input_share = shorten(leader->input_share);
        break;
    case SOTTO_HELPER_SHARE_BIT:
        helper->input_share = sotto_tamper_bit(by->t, by->draw, helper->input_share);
        break;
    case SOTTO_HELPER_SHARE_LONG:
        helper->input_share = lengthen(by->t, by->draw, helper->input_share);
        break;
    case SOTTO_NONCE_LEADER:
        flip_nonce(by, report, 1u << SOTTO_LEADER);
        break;
    case SOTTO_NONCE_HELPER:
        flip_nonce(by, report, 1u << SOTTO_HELPER);
        break;
    case SOTTO_NONCE_BOTH:
        flip_nonce(by, report, 1u << SOTTO_LEADER | 1u << SOTTO_HELPER);
        break;
    default:
        break; /* honest, or changed on the way */
    }
}

static sotto_bytes carry_to_helper(const sotto_tamperer *by, sotto_tampering how,
                                   sotto_bytes message)
{
    switch (how) {
    case SOTTO_LEADER_MESSAGE_BIT:
        return sotto_tamper_bit(by->t, by->draw, message);
    case SOTTO_LEADER_MESSAGE_PLUS_ONE:
        return plus_one(by, message, MESSAGE_HEADER);
    case SOTTO_LEADER_MESSAGE_NOT_FIELD:
        return beyond_field(by, message, MESSAGE_HEADER);
    case SOTTO_LEADER_MESSAGE_LONG:
        return lengthen(by->t, by->draw, message);
    case SOTTO_LEADER_MESSAGE_EMPTY:
        return sotto_bytes_of(message.data, 0);
    default:
        return message;
    }
}

static sotto_bytes carry_to_leader(const sotto_tamperer *by, sotto_tampering how,
                                   sotto_bytes message)
{
    switch (how) {
    case SOTTO_HELPER_MESSAGE_BIT:
        return sotto_tamper_bit(by->t, by->draw, message);
    case SOTTO_HELPER_MESSAGE_SHORT:
        return shorten(message);
    case SOTTO_HELPER_MESSAGE_LONG:
        return lengthen(by->t, by->draw, message);
    default:
        return message;
    }
}

sotto_bytes sotto_tamper_carry(void *tamperer, size_t i, int sender, sotto_bytes message)
{
    const sotto_tamperer *by = tamperer;

    return sender == SOTTO_LEADER ? carry_to_helper(by, by->how[i], message)
                                  : carry_to_leader(by, by->how[i], message);
}
