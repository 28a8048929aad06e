#include "aggregate/flamingo/server.h"

#include "aggregate/machine.h"

#include <string.h>

enum { SAVED_VERSION = 1 };

uint32_t sotto_flamingo_server_reports(const flamingo_server *s)
{
    return s->reports;
}

uint32_t sotto_flamingo_server_votes(const flamingo_server *s)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < s->round->decryptors->record.count; i++)
        count += s->decryptors[i].vote.data != NULL;
    return count;
}

void sotto_flamingo_server_blame(flamingo_server *s, uint32_t index)
{
    for (size_t i = 0; i < s->blamed_count; i++)
        if (s->blamed[i] == index)
            return;
    s->blamed[s->blamed_count++] = index;
}

bool sotto_flamingo_server_answer(const flamingo_server *s, uint32_t place,
                                  sotto_flamingo_body *out)
{
    *out = s->decryptors[place].body;
    return out->head.data && out->head.data[0] == s->attempt;
}

bool sotto_flamingo_server_all_answered(const flamingo_server *s)
{
    sotto_flamingo_body body;

    for (uint32_t i = 0; i < s->round->decryptors->record.count; i++)
        if (sotto_bits_has(s->set, i) && !sotto_flamingo_server_answer(s, i, &body))
            return false;
    return true;
}

sotto_status sotto_flamingo_server_join(sotto_machine **out, const sotto_round *round,
                                        const sotto_self *self, sotto_arena *arena, sotto_err *err)
{
    flamingo_server *s = sotto_arena_take(arena, sizeof *s);

    *out = NULL;
    if (!s)
        return sotto_fail(err, SOTTO_NO_MEMORY, "flamingo server: no memory");
    SOTTO_TRY(sotto_flamingo_read_round(round, &s->parameters, &s->graph, s->id, arena, err));
    if (memcmp(self->keys->public_key, round->keys->server, SOTTO_SIGN_PUBLIC) != 0)
        return sotto_fail(err, SOTTO_DENIED, "flamingo server: the registry names another server");
    uint32_t members = round->decryptors->record.count;
    s->machine.ops = &sotto_flamingo_server;
    s->round = round;
    s->self = *self;
    s->self.index = SOTTO_TO_SERVER;
    s->arena = arena;
    s->clients = sotto_arena_take_array(arena, (size_t)round->registered, sizeof *s->clients);
    s->decryptors = sotto_arena_take_array(arena, members, sizeof *s->decryptors);
    s->online = sotto_arena_take(arena, (size_t)(round->registered + 7) / 8);
    s->blamed = sotto_arena_take_array(arena, (size_t)round->registered, sizeof *s->blamed);
    if (!s->clients || !s->decryptors || !s->online || !s->blamed)
        return sotto_fail(err, SOTTO_NO_MEMORY, "flamingo server: no memory");
    *out = &s->machine;
    return SOTTO_OK;
}

sotto_status sotto_flamingo_server_save(const sotto_machine *machine, sotto_buf *out,
                                        sotto_err *err)
{
    const flamingo_server *s = (const flamingo_server *)machine;
    sotto_writer w = sotto_writer_on(out);

    sotto_machine_save_head(&w, SAVED_VERSION, s->id);
    sotto_write_uint(&w, s->phase, 1);
    sotto_write_uint(&w, s->attempt, 1);
    sotto_write_uint(&w, s->prove, 1);
    sotto_write_bytes(&w, sotto_bytes_of(s->set, sizeof s->set));
    sotto_write_uint(&w, s->deadline, 8);
    sotto_write_bytes(&w, sotto_bytes_of(s->online, (size_t)(s->round->registered + 7) / 8));
    for (uint32_t i = 0; i < s->round->decryptors->record.count; i++)
        sotto_write_uint(&w, s->decryptors[i].flags, 1);
    sotto_write_uint(&w, s->blamed_count, 4);
    for (size_t i = 0; i < s->blamed_count; i++)
        sotto_write_uint(&w, s->blamed[i], 4);
    return sotto_writer_finish(&w, "flamingo server", err);
}

static void file_answer(const flamingo_server *s, server_decryptor *d, sotto_bytes body)
{
    d->answer = body;
    if (sotto_flamingo_body_decode(&d->body, SOTTO_FLAMINGO_ANSWER, s->round->registered, body,
                                   NULL) != SOTTO_OK)
        memset(&d->body, 0, sizeof d->body);
}

bool sotto_flamingo_server_file(flamingo_server *s, const sotto_message *m)
{
    if (m->from >= s->round->registered)
        return false;
    if (m->kind == SOTTO_FLAMINGO_REPORT) {
        server_client *c = &s->clients[m->from];

        s->reports -= c->report.data != NULL;
        *c = (server_client){.report = m->body, .signature = m->signature};
        s->reports += c->report.data != NULL;
        sotto_message_digest(m, c->digest);
        return true;
    }
    int place = sotto_decryptors_place(s->round->decryptors, m->from);
    if (place < 0)
        return false;
    if (m->kind == SOTTO_FLAMINGO_VOTE)
        s->decryptors[place].vote = m->signature;
    else if (m->kind == SOTTO_FLAMINGO_ANSWER)
        file_answer(s, &s->decryptors[place], m->body);
    return true;
}

static bool read_state(flamingo_server *s, sotto_reader *in)
{
    uint64_t phase = sotto_read_uint(in, 1);

    s->attempt = (uint8_t)sotto_read_uint(in, 1);
    s->prove = sotto_read_uint(in, 1) == 1;
    sotto_read_fixed(in, s->set, sizeof s->set);
    s->deadline = sotto_read_uint(in, 8);
    sotto_read_fixed(in, s->online, (size_t)(s->round->registered + 7) / 8);
    for (uint32_t i = 0; i < s->round->decryptors->record.count; i++)
        s->decryptors[i].flags = (uint8_t)sotto_read_uint(in, 1);
    uint64_t blamed = sotto_read_uint(in, 4);
    if (phase > SERVER_BURNT || blamed > s->round->registered)
        return false;
    s->phase = (server_phase)phase;
    s->blamed_count = (size_t)blamed;
    for (size_t i = 0; i < s->blamed_count; i++)
        s->blamed[i] = (uint32_t)sotto_read_uint(in, 4);
    return true;
}

/* What was labelled online is used only with its report. */
static bool complete(const flamingo_server *s)
{
    for (uint32_t i = 0; i < s->round->registered; i++)
        if (sotto_bits_has(s->online, i) && !s->clients[i].report.data)
            return false;
    return true;
}

sotto_status sotto_flamingo_server_restore(sotto_machine **out, const sotto_round *round,
                                           const sotto_self *self, sotto_bytes saved,
                                           const sotto_message *kept, size_t count,
                                           sotto_arena *arena, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(saved);
    server_outcome outcome;
    sotto_machine *machine;
    uint32_t client;

    SOTTO_TRY(sotto_flamingo_server_join(&machine, round, self, arena, err));
    *out = NULL;
    flamingo_server *s = (flamingo_server *)machine;
    bool ours = sotto_machine_read_head(&in, SAVED_VERSION, s->id);
    ours = ours && read_state(s, &in);
    SOTTO_TRY(sotto_machine_restored(&in, ours, "flamingo server", err));
    for (size_t i = 0; i < count; i++)
        (void)sotto_flamingo_server_file(s, &kept[i]);
    if (!complete(s))
        return sotto_fail(err, SOTTO_MISSING, "flamingo server: messages that it kept are gone");
    if (s->phase == SERVER_OPEN || s->phase == SERVER_RELEASED)
        SOTTO_TRY(sotto_flamingo_server_want(s, err));
    if (s->phase == SERVER_RELEASED) {
        SOTTO_TRY(sotto_flamingo_server_recover(s, &outcome, &client, err));
        if (outcome != OUTCOME_WHOLE)
            return sotto_fail(err, SOTTO_MISSING, "flamingo server: answers that it kept are gone");
    }
    *out = machine;
    return SOTTO_OK;
}

void sotto_flamingo_server_leave(sotto_machine *machine)
{
    flamingo_server *s = (flamingo_server *)machine;

    if (s->opening.data)
        sotto_wipe(s->opening.data, s->opening.cap);
    sotto_wipe(s, sizeof *s);
}
