#include "aggregate/bbglr/server.h"

#include "aggregate/machine.h"

#include <string.h>

enum { SAVED_VERSION = 1 };

uint32_t sotto_bbglr_server_count(const bbglr_server *s, server_stage least)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < s->round->registered; i++)
        count += s->clients[i].stage >= least;
    return count;
}

sotto_status sotto_bbglr_server_join(sotto_machine **out, const sotto_round *round,
                                     const sotto_self *self, sotto_arena *arena, sotto_err *err)
{
    bbglr_server *s = sotto_arena_take(arena, sizeof *s);

    *out = NULL;
    if (!s)
        return sotto_fail(err, SOTTO_NO_MEMORY, "bbglr server: no memory");
    SOTTO_TRY(sotto_bbglr_read_round(round, &s->parameters, &s->graph, s->id, arena, err));
    if (memcmp(self->keys->public_key, round->keys->server, SOTTO_SIGN_PUBLIC) != 0)
        return sotto_fail(err, SOTTO_DENIED, "bbglr server: the registry names another server");
    s->machine.ops = &sotto_bbglr_server;
    s->round = round;
    s->self = *self;
    s->self.index = SOTTO_TO_SERVER;
    s->arena = arena;
    s->clients = sotto_arena_take_array(arena, (size_t)round->registered, sizeof *s->clients);
    s->online = sotto_arena_take(arena, (size_t)(round->registered + 7) / 8);
    if (!s->clients || !s->online)
        return sotto_fail(err, SOTTO_NO_MEMORY, "bbglr server: no memory");
    *out = &s->machine;
    return SOTTO_OK;
}

sotto_status sotto_bbglr_server_save(const sotto_machine *machine, sotto_buf *out, sotto_err *err)
{
    const bbglr_server *s = (const bbglr_server *)machine;
    sotto_writer w = sotto_writer_on(out);

    sotto_machine_save_head(&w, SAVED_VERSION, s->id);
    sotto_write_uint(&w, s->phase, 1);
    sotto_write_bytes(&w, sotto_bytes_of(s->online, (size_t)(s->round->registered + 7) / 8));
    for (uint32_t i = 0; i < s->round->registered; i++)
        sotto_write_uint(&w, s->clients[i].stage, 1);
    return sotto_writer_finish(&w, "bbglr server", err);
}

bool sotto_bbglr_server_file(bbglr_server *s, const sotto_message *m)
{
    if (m->from >= s->round->registered)
        return false;
    server_client *c = &s->clients[m->from];
    switch (m->kind) {
    case SOTTO_BBGLR_KEYS:
        c->keys = m->body;
        c->keys_signature = m->signature;
        return true;
    case SOTTO_BBGLR_DEAL:
        c->deal = m->body;
        return true;
    case SOTTO_BBGLR_VOTE:
        c->vote_signature = m->signature;
        return true;
    case SOTTO_BBGLR_ANSWER:
        c->answer = m->body;
        return true;
    default:
        return false;
    }
}

/* A saved stage is used only with the messages that led to it. */
static bool complete(const bbglr_server *s)
{
    for (uint32_t i = 0; i < s->round->registered; i++) {
        const server_client *c = &s->clients[i];

        if (c->stage > STAGE_ANSWERED || (c->stage >= STAGE_KEYED && !c->keys.len) ||
            (c->stage >= STAGE_DEALT && !c->deal.len) ||
            (c->stage >= STAGE_VOTED && !c->vote_signature.len) ||
            (c->stage >= STAGE_ANSWERED && !c->answer.len))
            return false;
    }
    return true;
}

sotto_status sotto_bbglr_server_restore(sotto_machine **out, const sotto_round *round,
                                        const sotto_self *self, sotto_bytes saved,
                                        const sotto_message *kept, size_t count, sotto_arena *arena,
                                        sotto_err *err)
{
    sotto_reader in = sotto_reader_over(saved);
    sotto_machine *machine;

    SOTTO_TRY(sotto_bbglr_server_join(&machine, round, self, arena, err));
    *out = NULL;
    bbglr_server *s = (bbglr_server *)machine;
    bool ours = sotto_machine_read_head(&in, SAVED_VERSION, s->id);
    uint64_t phase = sotto_read_uint(&in, 1);
    sotto_read_fixed(&in, s->online, (size_t)(round->registered + 7) / 8);
    for (uint32_t i = 0; i < round->registered; i++)
        s->clients[i].stage = (uint8_t)sotto_read_uint(&in, 1);
    SOTTO_TRY(sotto_machine_restored(&in, ours && phase <= SERVER_BURNT, "bbglr server", err));
    s->phase = (server_phase)phase;
    for (size_t i = 0; i < count; i++)
        (void)sotto_bbglr_server_file(s, &kept[i]);
    if (!complete(s))
        return sotto_fail(err, SOTTO_MISSING, "bbglr server: messages that it kept are gone");
    if (s->phase == SERVER_RELEASED)
        SOTTO_TRY(sotto_bbglr_server_recover(s, err));
    *out = machine;
    return SOTTO_OK;
}

void sotto_bbglr_server_leave(sotto_machine *machine)
{
    bbglr_server *s = (bbglr_server *)machine;

    if (s->opening.data)
        sotto_wipe(s->opening.data, s->opening.cap);
    sotto_wipe(s, sizeof *s);
}
