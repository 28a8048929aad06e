#include "aggregate/bbglr/client.h"

#include "aggregate/machine.h"
#include "aggregate/shared/mask.h"

#include <string.h>

enum { SAVED_VERSION = 1 };

sotto_status sotto_bbglr_client_secret(const bbglr_client *c, uint8_t out[32], uint32_t which,
                                       sotto_err *err)
{
    return sotto_round_kdf(out, "sotto-bbglr-client-1",
                           sotto_bytes_of(c->part.self.seed, sizeof c->part.self.seed), c->part.id,
                           c->part.self.index, which, err);
}

client_peer *sotto_bbglr_client_peer(bbglr_client *c, uint32_t index)
{
    for (size_t i = 0; i < c->parameters.degree; i++)
        if (c->peers[i].index == index)
            return &c->peers[i];
    return NULL;
}

static sotto_status fill_peers(bbglr_client *c, sotto_err *err)
{
    uint32_t neighbours[SOTTO_BBGLR_MOST_DEGREE];

    c->peers = sotto_arena_take_array(c->arena, c->parameters.degree, sizeof *c->peers);
    c->online = sotto_arena_take(c->arena, (size_t)(c->round->registered + 7) / 8);
    if (!c->peers || !c->online)
        return sotto_fail(err, SOTTO_NO_MEMORY, "bbglr client: no memory");
    sotto_bbglr_neighbours(&c->graph, c->part.self.index, neighbours);
    for (size_t i = 0; i < c->parameters.degree; i++)
        c->peers[i].index = neighbours[i];
    return SOTTO_OK;
}

sotto_status sotto_bbglr_client_join(sotto_machine **out, const sotto_round *round,
                                     const sotto_self *self, sotto_arena *arena, sotto_err *err)
{
    bbglr_client *c = sotto_arena_take(arena, sizeof *c);

    *out = NULL;
    if (!c)
        return sotto_fail(err, SOTTO_NO_MEMORY, "bbglr client: no memory");
    SOTTO_TRY(sotto_bbglr_read_round(round, &c->parameters, &c->graph, c->part.id, arena, err));
    if (self->index >= round->registered ||
        memcmp(self->keys->public_key, sotto_registry_key(round->keys, self->index),
               SOTTO_SIGN_PUBLIC) != 0)
        return sotto_fail(err, SOTTO_DENIED, "bbglr client: not in the registry under this key");
    c->part.machine.ops = &sotto_bbglr_client;
    c->round = round;
    c->part.self = *self;
    c->arena = arena;
    SOTTO_TRY(fill_peers(c, err));
    *out = &c->part.machine;
    return SOTTO_OK;
}

static void write_own(const sotto_machine *machine, sotto_writer *w)
{
    const bbglr_client *c = (const bbglr_client *)machine;

    sotto_write_bytes(w, sotto_bytes_of(c->view, sizeof c->view));
    sotto_write_bytes(w, sotto_bytes_of(c->online, (size_t)(c->round->registered + 7) / 8));
    for (size_t i = 0; i < c->parameters.degree; i++) {
        const client_peer *p = &c->peers[i];

        sotto_write_uint(w, p->stage, 1);
        sotto_write_bytes(w, sotto_bytes_of(p->mask_key, sizeof p->mask_key));
        sotto_write_bytes(w, sotto_bytes_of(p->channel_key, sizeof p->channel_key));
        sotto_write_bytes(w, sotto_bytes_of(p->held, sizeof p->held));
    }
}

static void read_own(sotto_machine *machine, sotto_reader *in)
{
    bbglr_client *c = (bbglr_client *)machine;

    sotto_read_fixed(in, c->view, sizeof c->view);
    sotto_read_fixed(in, c->online, (size_t)(c->round->registered + 7) / 8);
    for (size_t i = 0; i < c->parameters.degree; i++) {
        client_peer *p = &c->peers[i];

        p->stage = (uint8_t)sotto_read_uint(in, 1);
        sotto_read_fixed(in, p->mask_key, sizeof p->mask_key);
        sotto_read_fixed(in, p->channel_key, sizeof p->channel_key);
        sotto_read_fixed(in, p->held, sizeof p->held);
    }
}

static const sotto_machine_saved SAVED = {
    .what = "bbglr client",
    .version = SAVED_VERSION,
    .last = CLIENT_OVER,
    .join = sotto_bbglr_client_join,
    .write = write_own,
    .read = read_own,
};

sotto_status sotto_bbglr_client_save(const sotto_machine *machine, sotto_buf *out, sotto_err *err)
{
    return sotto_machine_save_part(machine, &SAVED, out, err);
}

sotto_status sotto_bbglr_client_restore(sotto_machine **out, const sotto_round *round,
                                        const sotto_self *self, sotto_bytes saved,
                                        const sotto_message *kept, size_t count, sotto_arena *arena,
                                        sotto_err *err)
{
    return sotto_machine_restore_part(out, &SAVED, round, self, saved, kept, count, arena, err);
}

void sotto_bbglr_client_leave(sotto_machine *machine)
{
    bbglr_client *c = (bbglr_client *)machine;

    sotto_wipe(c->peers, c->parameters.degree * sizeof *c->peers);
    sotto_wipe(c, sizeof *c);
}
