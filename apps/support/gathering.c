#include "support/gathering.h"

#include "base/arena.h"
#include "sotto/random.h"

#include <stdio.h>
#include <string.h>

enum { MACHINE = 1 << 28, STEP = 1 << 29, ROOM = 1 << 18 }; /* ceilings of arenas */

typedef struct player {
    const sotto_machine_ops *ops;
    sotto_machine *machine;
    sotto_self self;
    sotto_arena arena;
    const sotto_vector *vector;
    uint64_t wake, read; /* when to tick next; entries of the board that it has read */
    bool is_over, is_off, wants_vector;
} player;

typedef struct letter {
    struct letter *next;
    sotto_arena memory; /* which this letter is in */
    sotto_bytes wire;
    player *from, *to;
} letter;

typedef struct entry {
    struct entry *next;
    sotto_bytes wire;
} entry;

struct sotto_gathering {
    const sotto_method *method;
    const sotto_round *round;
    const sotto_company *people;
    sotto_arena *arena, scratch;
    player *players; /* devices, then the server, then members of committees */
    uint32_t count;
    letter *to_server, **to_server_end; /* one after the other */
    letter *to_others; /* the last first: an answer is read before the next question is asked */
    entry *board, **board_end;
    uint64_t entries, now;
    sotto_status outcome;
    char reason[160];
    sotto_board_reader *reader;
    void *reader_context;
};

/* ---- people --------------------------------------------------------------------------------------------------- */

static sotto_status make_signer(sotto_signer *out, sotto_err *err)
{
    uint8_t seed[SOTTO_SIGN_SEED];

    SOTTO_TRY(sotto_random_bytes(seed, sizeof seed, err));
    const sotto_status status = sotto_signer_init(out, seed, err);
    sotto_wipe(seed, sizeof seed);
    return status;
}

static sotto_status make_dh(sotto_dh *out, sotto_err *err)
{
    uint8_t seed[32];

    SOTTO_TRY(sotto_random_bytes(seed, sizeof seed, err));
    const sotto_status status = sotto_dh_init(out, sotto_kem_find(SOTTO_KEM_X25519),
                                              sotto_bytes_of(seed, sizeof seed), err);
    sotto_wipe(seed, sizeof seed);
    return status;
}

sotto_status sotto_company_init(sotto_company *p, uint32_t count, sotto_arena *arena,
                                sotto_err *err)
{
    uint8_t(*keys)[SOTTO_SIGN_PUBLIC] = sotto_arena_take_array(arena, count, sizeof *keys),
    (*pair)[32] = sotto_arena_take_array(arena, count, sizeof *pair),
    (*channel)[32] = sotto_arena_take_array(arena, count, sizeof *channel);

    *p = (sotto_company){.devices = sotto_arena_take_array(arena, count, sizeof *p->devices),
                         .secrets = sotto_arena_take_array(arena, count, sizeof *p->secrets)};
    if (!keys || !pair || !channel || !p->devices || !p->secrets)
        return sotto_fail(err, SOTTO_NO_MEMORY, "people");
    SOTTO_TRY(make_signer(&p->server, err));
    memcpy(p->registry.server, p->server.public_key, SOTTO_SIGN_PUBLIC);
    for (; p->count < count; p->count++) {
        sotto_self_secrets *s = &p->secrets[p->count];

        SOTTO_TRY(make_signer(&p->devices[p->count], err));
        SOTTO_TRY(make_dh(&s->pair, err));
        SOTTO_TRY(make_dh(&s->channel, err));
        memcpy(keys[p->count], p->devices[p->count].public_key, SOTTO_SIGN_PUBLIC);
        memcpy(pair[p->count], s->pair.public_key, 32);
        memcpy(channel[p->count], s->channel.public_key, 32);
    }
    p->registry.keys = (const uint8_t(*)[SOTTO_SIGN_PUBLIC])keys;
    p->registry.pair = (const uint8_t(*)[32])pair;
    p->registry.channel = (const uint8_t(*)[32])channel;
    p->registry.count = count;
    return SOTTO_OK;
}

void sotto_company_clear(sotto_company *p)
{
    for (uint32_t i = 0; i < p->count; i++) {
        sotto_signer_clear(&p->devices[i]);
        sotto_dh_clear(&p->secrets[i].pair);
        sotto_dh_clear(&p->secrets[i].channel);
    }
    sotto_signer_clear(&p->server);
}

/* ---- post and board ------------------------------------------------------------------------------------------- */

static player *server_of(sotto_gathering *g)
{
    return &g->players[g->people->count];
}

static player *addressee(sotto_gathering *g, const sotto_message *m)
{
    const sotto_kind *kind = sotto_method_kind(g->method, m->kind);

    if (m->to == SOTTO_TO_SERVER)
        return server_of(g);
    if (!kind || m->to >= g->people->count)
        return NULL;
    if (kind->to != SOTTO_PART_DECRYPTOR)
        return &g->players[m->to];
    for (uint32_t i = g->people->count + 1; i < g->count; i++)
        if (g->players[i].self.index == m->to)
            return &g->players[i];
    return NULL;
}

static sotto_status send(sotto_gathering *g, player *from, const sotto_message *m, sotto_err *err)
{
    const size_t size = sotto_message_size(m);
    player *to = addressee(g, m);
    sotto_arena memory;

    if (!to || to->is_over)
        return SOTTO_OK;
    sotto_arena_init(&memory, 2 * size + ROOM);
    letter *l = sotto_arena_take(&memory, sizeof *l);
    sotto_buf wire = sotto_buf_over(sotto_arena_take(&memory, size), size);
    if (!l || !wire.data) {
        sotto_arena_clear(&memory);
        return sotto_fail(err, SOTTO_NO_MEMORY, "a letter");
    }
    SOTTO_TRY(sotto_message_encode(&wire, m, err));
    *l = (letter){.wire = sotto_buf_bytes(&wire), .from = from, .to = to, .memory = memory};
    if (to == server_of(g)) {
        *g->to_server_end = l;
        g->to_server_end = &l->next;
    } else {
        l->next = g->to_others;
        g->to_others = l;
    }
    return SOTTO_OK;
}

static void free_letter(letter *l)
{
    sotto_arena memory = l->memory;

    sotto_arena_clear(&memory);
}

static sotto_status post(sotto_gathering *g, const sotto_message *m, sotto_err *err)
{
    const size_t size = sotto_message_size(m);
    sotto_buf record = sotto_buf_over(sotto_arena_take(&g->scratch, size), size),
              body = sotto_buf_over(sotto_arena_take(&g->scratch, size + 16), size + 16);
    sotto_message e = {
        .epoch = m->epoch, .round = m->round, .from = SOTTO_TO_BOARD, .to = SOTTO_TO_EVERYBODY};
    entry *new = sotto_arena_take(g->arena, sizeof *new);

    if (!record.data || !body.data || !new)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a board");
    for (size_t i = 0; i < g->method->kind_count; i++)
        if (g->method->kinds[i].from == SOTTO_PART_BOARD)
            e.kind = g->method->kinds[i].kind;
    memcpy(e.session, m->session, sizeof e.session);
    SOTTO_TRY(sotto_message_encode(&record, m, err));
    SOTTO_TRY(sotto_entry_encode(&body, g->entries, sotto_buf_bytes(&record), err));
    e.body = sotto_buf_bytes(&body);
    const size_t whole = sotto_message_size(&e);
    sotto_buf wire = sotto_buf_over(sotto_arena_take(g->arena, whole), whole);
    if (!wire.data)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a board");
    SOTTO_TRY(sotto_message_encode(&wire, &e, err));
    *new = (entry){.wire = sotto_buf_bytes(&wire)};
    *g->board_end = new;
    g->board_end = &new->next;
    if (g->reader)
        g->reader(g->reader_context, g->entries, m);
    g->entries++;
    return SOTTO_OK;
}

/* ---- steps ---------------------------------------------------------------------------------------------------- */

static sotto_status carry_out(sotto_gathering *g, player *p, const sotto_effects *e, sotto_err *err)
{
    for (const sotto_effect_message *m = e->sent; m; m = m->next)
        SOTTO_TRY(m->message.to == SOTTO_TO_BOARD ? post(g, &m->message, err)
                                                  : send(g, p, &m->message, err));
    if (e->wake < p->wake)
        p->wake = e->wake > g->now ? e->wake : g->now + 1;
    p->wants_vector |= e->wants_vector;
    if (e->done) {
        p->is_over = true;
        if (p == server_of(g)) {
            g->outcome = e->outcome;
            (void)snprintf(g->reason, sizeof g->reason, "%s", e->reason);
        }
    }
    return SOTTO_OK;
}

static sotto_status deliver(sotto_gathering *g, player *p, sotto_bytes wire, sotto_err *err)
{
    sotto_effects effects;
    sotto_message m;
    sotto_status verdict = SOTTO_OK, status = SOTTO_OK;

    sotto_effects_init(&effects, &g->scratch);
    /* What is not right is not delivered: its sender hears nothing. */
    if (!p->is_over && sotto_message_decode(&m, wire, NULL) == SOTTO_OK &&
        p->ops->check(g->round, &m, &g->scratch, NULL) == SOTTO_OK) {
        status = p->ops->deliver(p->machine, &m, 1, &verdict, &effects, err);
        if (status == SOTTO_OK)
            status = carry_out(g, p, &effects, err);
    }
    sotto_arena_reset(&g->scratch);
    return status;
}

static sotto_status tick(sotto_gathering *g, player *p, sotto_err *err)
{
    sotto_effects effects;

    p->wake = UINT64_MAX;
    sotto_effects_init(&effects, &g->scratch);
    sotto_status status = p->ops->tick(p->machine, g->now, &effects, err);
    if (status == SOTTO_OK)
        status = carry_out(g, p, &effects, err);
    sotto_arena_reset(&g->scratch);
    return status;
}

static sotto_status offer(sotto_gathering *g, player *p, sotto_err *err)
{
    sotto_vector mine;
    sotto_effects effects;

    p->wants_vector = false;
    if (!p->vector)
        return SOTTO_OK;
    sotto_effects_init(&effects, &g->scratch);
    const sotto_bytes entries = sotto_vector_bytes(p->vector);
    void *copy = sotto_arena_take(&g->scratch, entries.len);
    if (!copy)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a vector");
    memcpy(copy, entries.data, entries.len);
    mine = *p->vector;
    if (mine.ring == SOTTO_RING_Z32)
        mine.of.z32 = copy;
    else
        mine.of.z64 = copy;
    sotto_status status = p->ops->offer(p->machine, &mine, &effects, err);
    if (status == SOTTO_OK)
        status = carry_out(g, p, &effects, err);
    sotto_arena_reset(&g->scratch);
    return status == SOTTO_STALE || status == SOTTO_AGAIN ? SOTTO_OK : status;
}

/* ---- a run ---------------------------------------------------------------------------------------------------- */

/* Everybody reads what is new on the board, and is asked for a vector where a machine wants one. */
static sotto_status read_all(sotto_gathering *g, bool *moved, sotto_err *err)
{
    uint64_t index = 0;

    for (const entry *e = g->board; e; e = e->next, index++)
        for (uint32_t i = 0; i < g->count; i++) {
            player *p = &g->players[i];

            if (p->read != index || p->is_over)
                continue;
            p->read++;
            *moved = true;
            SOTTO_TRY(deliver(g, p, e->wire, err));
        }
    for (uint32_t i = 0; i < g->count; i++)
        if (g->players[i].wants_vector && !g->players[i].is_over) {
            *moved = true;
            SOTTO_TRY(offer(g, &g->players[i], err));
        }
    return SOTTO_OK;
}

static letter *next_letter(sotto_gathering *g)
{
    letter *l = g->to_others;

    if (l) {
        g->to_others = l->next;
        return l;
    }
    l = g->to_server;
    if (l) {
        g->to_server = l->next;
        if (!g->to_server)
            g->to_server_end = &g->to_server;
    }
    return l;
}

static sotto_status settle(sotto_gathering *g, sotto_err *err)
{
    bool moved = true;

    while (moved) {
        letter *l;

        moved = false;
        while ((l = next_letter(g)) != NULL) {
            const sotto_status status =
                l->from->is_off ? SOTTO_OK : deliver(g, l->to, l->wire, err);

            free_letter(l);
            SOTTO_TRY(status);
            moved = true;
        }
        SOTTO_TRY(read_all(g, &moved, err));
    }
    return SOTTO_OK;
}

static uint64_t next_wake(const sotto_gathering *g)
{
    uint64_t at = UINT64_MAX;

    for (uint32_t i = 0; i < g->count; i++)
        if (!g->players[i].is_over && g->players[i].wake < at)
            at = g->players[i].wake;
    return at;
}

sotto_status sotto_gathering_run(sotto_gathering *g, uint64_t until_ms, sotto_err *err)
{
    SOTTO_TRY(settle(g, err));
    for (uint64_t at = next_wake(g); at <= until_ms && !server_of(g)->is_over; at = next_wake(g)) {
        g->now = at > g->now ? at : g->now;
        for (uint32_t i = 0; i < g->count; i++)
            if (!g->players[i].is_over && g->players[i].wake <= g->now)
                SOTTO_TRY(tick(g, &g->players[i], err));
        SOTTO_TRY(settle(g, err));
    }
    return SOTTO_OK;
}

/* ---- opening -------------------------------------------------------------------------------------------------- */

static sotto_status add(sotto_gathering *g, sotto_part part, uint32_t index, sotto_err *err)
{
    player *p = &g->players[g->count++];

    *p = (player){.ops = g->method->parts[part], .self = {.part = part, .index = index}};
    p->self.keys = part == SOTTO_PART_SERVER ? &g->people->server : &g->people->devices[index];
    if (part != SOTTO_PART_SERVER)
        p->self.secrets = &g->people->secrets[index];
    sotto_arena_init(&p->arena, MACHINE);
    SOTTO_TRY(sotto_random_bytes(p->self.seed, sizeof p->self.seed, err));
    return p->ops->join(&p->machine, g->round, &p->self, &p->arena, err);
}

sotto_status sotto_gathering_open(sotto_gathering **out, const sotto_method *method,
                                  const sotto_round *round, const sotto_company *people,
                                  sotto_arena *arena, sotto_err *err)
{
    sotto_gathering *g = sotto_arena_take(arena, sizeof *g);

    *out = NULL;
    if (!g)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a gathering");
    *g = (sotto_gathering){
        .method = method, .round = round, .people = people, .arena = arena, .outcome = SOTTO_AGAIN};
    g->to_server_end = &g->to_server;
    g->board_end = &g->board;
    sotto_arena_init(&g->scratch, STEP);
    g->players = sotto_arena_take_array(arena, 2 * (size_t)people->count + 1, sizeof *g->players);
    *out = g;
    if (!g->players)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a gathering");
    for (uint32_t i = 0; i < people->count; i++)
        SOTTO_TRY(add(g, SOTTO_PART_CLIENT, i, err));
    SOTTO_TRY(add(g, SOTTO_PART_SERVER, SOTTO_TO_SERVER, err));
    for (uint32_t i = 0; i < people->count; i++)
        if (method->parts[SOTTO_PART_DECRYPTOR] &&
            method->takes_part(round, SOTTO_PART_DECRYPTOR, i))
            SOTTO_TRY(add(g, SOTTO_PART_DECRYPTOR, i, err));
    for (uint32_t i = 0; i < g->count; i++)
        SOTTO_TRY(tick(g, &g->players[i], err));
    return SOTTO_OK;
}

void sotto_gathering_close(sotto_gathering *g)
{
    letter *l;

    if (!g)
        return;
    while ((l = next_letter(g)) != NULL)
        free_letter(l);
    for (uint32_t i = 0; i < g->count; i++) {
        if (g->players[i].machine)
            g->players[i].ops->leave(g->players[i].machine);
        sotto_arena_clear(&g->players[i].arena);
        sotto_wipe(g->players[i].self.seed, sizeof g->players[i].self.seed);
    }
    sotto_arena_clear(&g->scratch);
}

void sotto_gathering_give(sotto_gathering *g, uint32_t device, const sotto_vector *vector)
{
    g->players[device].vector = vector;
}

void sotto_gathering_switch_off(sotto_gathering *g, uint32_t device)
{
    for (uint32_t i = 0; i < g->count; i++)
        if (g->players[i].self.index == device)
            g->players[i].is_over = g->players[i].is_off = true;
}

void sotto_gathering_read_board(sotto_gathering *g, sotto_board_reader *reader, void *context)
{
    g->reader = reader;
    g->reader_context = context;
}

sotto_status sotto_gathering_result(const sotto_gathering *g, sotto_round_result *result,
                                    sotto_err *err)
{
    const player *server = &g->players[g->people->count];

    if (!server->is_over)
        return sotto_fail(err, SOTTO_AGAIN, "the round is not over");
    if (g->outcome != SOTTO_OK)
        return sotto_fail(err, SOTTO_DENIED, "%s", g->reason);
    return server->ops->result(server->machine, result, err);
}

sotto_machine *sotto_gathering_server(sotto_gathering *g)
{
    return server_of(g)->machine;
}
