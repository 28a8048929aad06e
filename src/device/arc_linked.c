#include "device/arc.h"

#include <string.h>

enum {
    SCALAR = SOTTO_ARC_SCALAR,
    POINT = SOTTO_ARC_POINT,
    ASKED = SOTTO_ARC_REQUEST_RANDOM * SCALAR,
    HELD = SCALAR + 3 * POINT
};

_Static_assert((int)ASKED <= (int)SOTTO_WALLET_HELD && (int)HELD <= (int)SOTTO_WALLET_HELD,
               "a row has room for both");

/* ---- asking ------------------------------------------------------------------------------------------------- */

static sotto_status draw(sotto_wallet_row *row, sotto_err *err)
{
    sotto_scalar random[SOTTO_ARC_REQUEST_RANDOM];
    sotto_group g;
    sotto_status status = sotto_group_init(&g, &sotto_p256, err);

    if (status == SOTTO_OK)
        status = sotto_scalar_random(&g, random, SOTTO_ARC_REQUEST_RANDOM, err);
    for (size_t i = 0; status == SOTTO_OK && i < SOTTO_ARC_REQUEST_RANDOM; i++)
        memcpy(row->secret + i * SCALAR, random[i].be, SCALAR);
    row->len = ASKED;
    sotto_group_clear(&g);
    sotto_wipe(random, sizeof random);
    return status;
}

static sotto_status ask(sotto_group *g, sotto_arc_pending *pending,
                        uint8_t request[SOTTO_ARC_REQUEST], const sotto_wallet_row *row,
                        sotto_err *err)
{
    sotto_arc_epoch epoch = {.opens = (uint64_t)row->key.opens,
                             .closes = (uint64_t)row->key.closes};
    sotto_scalar random[SOTTO_ARC_REQUEST_RANDOM] = {{{0}}};
    uint8_t context[SOTTO_ARC_CONTEXT];

    if (row->len != ASKED)
        return sotto_fail(err, SOTTO_BUG, "credential: not asked for");
    for (size_t i = 0; i < SOTTO_ARC_REQUEST_RANDOM; i++)
        memcpy(random[i].be, row->secret + i * SCALAR, SCALAR);
    memcpy(epoch.key_id, row->key.id, sizeof epoch.key_id);
    sotto_arc_request_context(context, &epoch);
    const sotto_status status = sotto_arc_request(
        g, pending, request, sotto_bytes_of(context, sizeof context), random, err);
    sotto_wipe(random, sizeof random);
    return status;
}

static sotto_status make_request(uint8_t request[SOTTO_TOKEN_ARC_REQUEST],
                                 const sotto_wallet_row *row, sotto_err *err)
{
    sotto_arc_pending pending = {0};
    sotto_group g;
    sotto_status status = sotto_group_init(&g, &sotto_p256, err);

    request[0] = SOTTO_TOKEN_ARC >> 8;
    request[1] = SOTTO_TOKEN_ARC & 0xff;
    request[2] = row->key.id[SOTTO_TOKEN_KEY_ID - 1];
    if (status == SOTTO_OK)
        status = ask(&g, &pending, request + SOTTO_TOKEN_REQUEST_HEAD, row, err);
    sotto_group_clear(&g);
    sotto_wipe(&pending, sizeof pending);
    return status;
}

static sotto_status hold(sotto_wallet_row *row, sotto_bytes response, sotto_err *err)
{
    uint8_t request[SOTTO_ARC_REQUEST];
    sotto_arc_pending pending = {0};
    sotto_arc_credential c = {0};
    sotto_group g;

    if (response.len != SOTTO_ARC_RESPONSE)
        return sotto_fail(err, SOTTO_MALFORMED, "credential: a response of another length");
    sotto_status status = sotto_group_init(&g, &sotto_p256, err);
    if (status == SOTTO_OK)
        status = ask(&g, &pending, request, row, err);
    if (status == SOTTO_OK)
        status = sotto_arc_finish(&g, &c, &pending, row->key.spki, response.data, err);
    if (status == SOTTO_OK) {
        sotto_wipe(row->secret, sizeof row->secret);
        memcpy(row->secret, c.m1.be, SCALAR);
        memcpy(row->secret + SCALAR, c.u, POINT);
        memcpy(row->secret + SCALAR + POINT, c.u_prime, POINT);
        memcpy(row->secret + SCALAR + 2 * POINT, c.x1, POINT);
        row->len = HELD;
    }
    sotto_group_clear(&g);
    sotto_wipe(&pending, sizeof pending);
    sotto_wipe(&c, sizeof c);
    return status;
}

/* ---- showing ------------------------------------------------------------------------------------------------ */

static sotto_status read_credential(sotto_arc_holding *out, const sotto_wallet_row *row,
                                    sotto_err *err)
{
    sotto_arc_credential *c = &out->credential;

    if (row->len != HELD)
        return sotto_fail(err, SOTTO_BUG, "a report without its credential");
    memset(out, 0, sizeof *out);
    memcpy(out->key_id, row->key.id, sizeof out->key_id);
    memcpy(c->m1.be, row->secret, SCALAR);
    memcpy(c->u, row->secret + SCALAR, POINT);
    memcpy(c->u_prime, row->secret + SCALAR + POINT, POINT);
    memcpy(c->x1, row->secret + SCALAR + 2 * POINT, POINT);
    return SOTTO_OK;
}

static sotto_status attach(sotto_report_draft *draft,
                           const sotto_wallet_row *const held[SOTTO_REPORT_SHARES],
                           const sotto_recipe *recipe, const uint8_t seed[SOTTO_ONCE_SEED],
                           const sotto_hpke_config to[SOTTO_REPORT_SHARES], sotto_arena *arena,
                           sotto_err *err)
{
    const sotto_arc_collection collection = sotto_arc_collection_of(recipe);
    sotto_arc_holding both[SOTTO_REPORT_SHARES];
    sotto_status status = SOTTO_OK;

    for (unsigned who = 0; status == SOTTO_OK && who < SOTTO_REPORT_SHARES; who++)
        status = read_credential(&both[who], held[who], err);
    if (status == SOTTO_OK)
        status = sotto_arc_attach(draft, both, &collection, seed, to, arena, err);
    sotto_wipe(both, sizeof both);
    return status;
}

static const sotto_device_arc linked = {draw, make_request, hold, attach};
const sotto_device_arc *const sotto_linked_arc = &linked;
