/* The end of a round: seeds of online clients and mask keys of offline ones, from their neighbours' shares (Bell et al. 2020,
 * the unmasking round). All of it was given to the server by the protocol, so time may depend on it. */
#include "aggregate/bbglr/server.h"

#include "aggregate/shared/mask.h"
#include "crypto/kem.h"

#include <string.h>

/* ---- one secret --------------------------------------------------------------------------------------- */

typedef struct wanted {
    const bbglr_server *server;
    uint32_t client;
    uint8_t what;
} wanted;

static bool is_secret(void *context, const uint8_t secret[32])
{
    const wanted *w = context;
    const server_client *c = &w->server->clients[w->client];
    uint8_t commitment[32];
    sotto_dh dh;
    bool same;

    if (w->what == SOTTO_BBGLR_WANT_SEED)
        return sotto_bbglr_commit(commitment, secret, w->server->id, w->client, NULL) == SOTTO_OK &&
               memcmp(commitment, c->deal.data, sizeof commitment) == 0;
    same = sotto_dh_init(&dh, sotto_kem_find(SOTTO_KEM_X25519), sotto_bytes_of(secret, 32), NULL) ==
               SOTTO_OK &&
           memcmp(dh.public_key, c->keys.data, SOTTO_BBGLR_KEY) == 0;
    sotto_dh_clear(&dh);
    return same;
}

/* The share of `client`'s secret that `holder` answered with; NULL: none. */
static const uint8_t *share_of(const bbglr_server *s, uint32_t holder, uint32_t client,
                               uint8_t what)
{
    sotto_bbglr_body body;

    if (s->clients[holder].stage < STAGE_ANSWERED ||
        sotto_bbglr_body_decode(&body, SOTTO_BBGLR_ANSWER, s->round->registered,
                                s->clients[holder].answer, NULL) != SOTTO_OK)
        return NULL;
    for (size_t i = 0; i < body.rows.count; i++) {
        const uint8_t *row = sotto_rows_at(&body.rows, i);

        if (sotto_row_index(row) == client && row[4] == what && sotto_shamir_is_share(row + 5))
            return row + 5;
    }
    return NULL;
}

static void blame(bbglr_server *s, uint32_t client)
{
    for (size_t i = 0; i < s->blamed_count; i++)
        if (s->blamed[i] == client)
            return;
    s->blamed[s->blamed_count++] = client;
}

static sotto_status recover_secret(bbglr_server *s, uint8_t secret[32], uint32_t client,
                                   uint8_t what, sotto_err *err)
{
    sotto_shamir_point points[SOTTO_BBGLR_MOST_DEGREE];
    uint32_t neighbours[SOTTO_BBGLR_MOST_DEGREE];
    wanted w = {s, client, what};
    size_t count = 0;

    sotto_bbglr_neighbours(&s->graph, client, neighbours);
    for (size_t i = 0; i < s->parameters.degree; i++) {
        const uint8_t *share = share_of(s, neighbours[i], client, what);

        if (share)
            points[count++] = (sotto_shamir_point){neighbours[i], share, false};
    }
    sotto_status status = sotto_shamir_find_vartime(secret, points, count, s->parameters.threshold,
                                                    is_secret, &w, NULL);
    /* A share that does not fit was made up by its holder, or by the dealer for this holder: it is skipped either way. */
    for (size_t i = 0; i < count && status == SOTTO_OK; i++)
        if (points[i].wrong)
            blame(s, points[i].holder);
    if (status == SOTTO_REJECTED)
        blame(s, client);
    if (status != SOTTO_OK)
        return sotto_fail(err, status, "bbglr: %s of client %u can't be recovered",
                          what ? "the seed" : "the mask key", client);
    return SOTTO_OK;
}

/* ---- the opening -------------------------------------------------------------------------------------- */

static sotto_status open_online(bbglr_server *s, uint32_t client, sotto_err *err)
{
    uint8_t secret[32], seed[32];

    SOTTO_TRY(recover_secret(s, secret, client, SOTTO_BBGLR_WANT_SEED, err));
    sotto_status status = sotto_bbglr_self_seed(seed, secret, s->id, client, err);
    if (status == SOTTO_OK)
        sotto_mask_row_add(&s->opening, -1, seed);
    sotto_wipe(secret, sizeof secret);
    sotto_wipe(seed, sizeof seed);
    return status;
}

/* The masks that online neighbours share with somebody who dealt and then fell silent. */
static sotto_status open_offline(bbglr_server *s, uint32_t client, sotto_err *err)
{
    uint32_t neighbours[SOTTO_BBGLR_MOST_DEGREE];
    uint8_t secret[32], agreed[32], seed[32];
    sotto_status status = SOTTO_OK;
    size_t online = 0;
    sotto_dh dh;

    sotto_bbglr_neighbours(&s->graph, client, neighbours);
    for (size_t i = 0; i < s->parameters.degree; i++)
        online += sotto_bits_has(s->online, neighbours[i]);
    if (online == 0)
        return SOTTO_OK; /* nobody in the sum has a mask with it */
    SOTTO_TRY(recover_secret(s, secret, client, SOTTO_BBGLR_WANT_KEY, err));
    status = sotto_dh_init(&dh, sotto_kem_find(SOTTO_KEM_X25519), sotto_bytes_of(secret, 32), err);
    for (size_t i = 0; i < s->parameters.degree && status == SOTTO_OK; i++) {
        uint32_t other = neighbours[i];

        if (!sotto_bits_has(s->online, other))
            continue;
        status = sotto_dh_agree(&dh, agreed, sotto_bytes_of(s->clients[other].keys.data, 32),
                                "mask key", err);
        if (status == SOTTO_OK)
            status = sotto_pair_seed(seed, agreed, s->id, other, client, err);
        if (status == SOTTO_OK)
            sotto_mask_row_add(&s->opening, -sotto_pair_sign(other, client), seed);
    }
    sotto_dh_clear(&dh);
    sotto_wipe(secret, sizeof secret);
    sotto_wipe(agreed, sizeof agreed);
    sotto_wipe(seed, sizeof seed);
    return status;
}

sotto_status sotto_bbglr_server_recover(bbglr_server *s, sotto_err *err)
{
    uint32_t registered = (uint32_t)s->round->registered;
    size_t rows = 0;

    for (uint32_t i = 0; i < registered; i++)
        rows += sotto_bits_has(s->online, i)         ? 1
                : s->clients[i].stage >= STAGE_DEALT ? s->parameters.degree
                                                     : 0;
    if (!s->opening.data)
        s->opening = sotto_buf_over(sotto_arena_take_array(s->arena, rows + 1, SOTTO_MASK_ROW),
                                    (rows + 1) * SOTTO_MASK_ROW);
    if (!s->blamed)
        s->blamed = sotto_arena_take_array(s->arena, registered, sizeof *s->blamed);
    if (!s->opening.data || !s->blamed)
        return sotto_fail(err, SOTTO_NO_MEMORY, "bbglr server: no memory");
    s->opening.len = 0;
    for (uint32_t i = 0; i < registered; i++) {
        if (sotto_bits_has(s->online, i))
            SOTTO_TRY(open_online(s, i, err));
        else if (s->clients[i].stage >= STAGE_DEALT)
            SOTTO_TRY(open_offline(s, i, err));
    }
    return SOTTO_OK;
}
