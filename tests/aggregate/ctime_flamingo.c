/* A client's whole report, a member's whole key generation, and a decryptor's whole run: no vector, seed, share of a key, or secret that was agreed on
 * steers them. */
#include "support/ctime.h"
#include "support/epoch.h"
#include "support/test.h"

#include "aggregate/flamingo/flamingo.h"
#include "aggregate/keygen/keygen.h"
#include "aggregate/shared/beacon.h"
#include "base/arena.h"

#include <string.h>

enum { CLIENTS = 4, LENGTH = 300, OPENS = 100 };

/* The only method of this program. */
const sotto_method *sotto_machine_method(uint16_t id)
{
    return id == sotto_method_flamingo.id ? &sotto_method_flamingo : NULL;
}

typedef struct scene {
    sotto_epoch epoch;
    sotto_signer signers[CLIENTS], server;
    uint8_t agreed[CLIENTS][CLIENTS][2][32];
    uint8_t known[CLIENTS];
    sotto_posted_round posted;
} scene;

/* What two clients agree on is the same for both, and no key exchange is run. */
static void agree(scene *s)
{
    memset(s->known, 3, sizeof s->known);
    for (size_t i = 0; i < CLIENTS; i++)
        for (size_t j = 0; j < CLIENTS; j++)
            for (size_t which = 0; which < 2; which++)
                s->agreed[i][j][which][0] = (uint8_t)(1 + i + j + 16 * which);
}

static void open_scene(sotto_test *t, scene *s)
{
    static uint8_t keys[CLIENTS][32], pair[CLIENTS][32], channel[CLIENTS][32];
    const sotto_epoch_round round = {.number = 1,
                                     .ring = SOTTO_RING_Z32,
                                     .length = LENGTH,
                                     .most = 1000,
                                     .least = 3,
                                     .neighbours = 1,
                                     .edge = UINT64_MAX,
                                     .opens = OPENS,
                                     .closes = 2 * OPENS,
                                     .verify_by = 3 * OPENS,
                                     .release_by = 4 * OPENS};
    uint8_t id[SOTTO_ROUND_ID];
    sotto_bytes wire;

    memset(s, 0, sizeof *s);
    for (uint32_t i = 0; i <= CLIENTS; i++) {
        const uint8_t seed[SOTTO_SIGN_SEED] = {1, (uint8_t)i};
        sotto_signer *signer = i < CLIENTS ? &s->signers[i] : &s->server;

        CHECK_OK(t, sotto_signer_init(signer, seed, &t->err));
        memcpy(i < CLIENTS ? keys[i] : s->epoch.registry.server, signer->public_key, 32);
    }
    s->epoch.registry.keys = (const uint8_t(*)[32])keys;
    s->epoch.registry.pair = (const uint8_t(*)[32])pair;
    s->epoch.registry.channel = (const uint8_t(*)[32])channel;
    s->epoch.registry.count = CLIENTS;
    agree(s);
    CHECK_OK(t, sotto_epoch_witnesses(&s->epoch, 4, &t->arena, &t->err));
    CHECK_OK(t, sotto_epoch_draw(&s->epoch, 3, &t->arena, &t->err));
    for (uint32_t i = 0; i < 3; i++) {
        s->epoch.record.is_signed[i] = true;
        CHECK_OK(t, sotto_decryptors_sign(s->epoch.digest, s->epoch.record.signatures[i],
                                          &s->signers[s->epoch.record.members[i]], &t->err));
    }
    CHECK_OK(t, sotto_epoch_post(&s->epoch, &round, &wire, id, &t->arena, &t->err));
    CHECK_OK(t, sotto_posted_round_open(&s->posted, wire, &t->arena, &t->err));
}

static void close_scene(scene *s)
{
    sotto_posted_round_close(&s->posted);
    for (size_t i = 0; i < CLIENTS; i++)
        sotto_signer_clear(&s->signers[i]);
    sotto_signer_clear(&s->server);
}

static void a_report_does_not_depend_on_secrets(sotto_test *t)
{
    static uint32_t entries[LENGTH];
    static scene s;
    sotto_self_secrets secrets = {0};
    sotto_vector mine = {.ring = SOTTO_RING_Z32, .length = LENGTH, .of.z32 = entries};
    sotto_effects effects;
    sotto_machine *machine;

    open_scene(t, &s);
    secrets.agreed = s.agreed[0];
    secrets.known = s.known;
    sotto_self self = {
        .part = SOTTO_PART_CLIENT, .index = 0, .keys = &s.signers[0], .secrets = &secrets};
    memset(self.seed, 9, sizeof self.seed);
    sotto_ctime_secret(self.seed, sizeof self.seed);
    sotto_ctime_secret(s.agreed, sizeof s.agreed);
    sotto_ctime_secret(entries, sizeof entries);
    CHECK_OK(t, sotto_flamingo_client.join(&machine, &s.posted.round, &self, &t->arena, &t->err));
    sotto_effects_init(&effects, &t->arena);
    CHECK_OK(t, machine->ops->tick(machine, OPENS, &effects, &t->err));
    CHECK(t, effects.wants_vector);
    CHECK_OK(t, machine->ops->offer(machine, &mine, &effects, &t->err));
    CHECK(t, effects.sent && effects.vows && effects.done);
    machine->ops->leave(machine);
    close_scene(&s);
}

/* ---- a member's key ---------------------------------------------------------------------------------------------- */

typedef struct meeting {
    sotto_keygen call;
    sotto_keygen_board board;
    uint8_t channel[CLIENTS][32], seeds[CLIENTS][SOTTO_KEYGEN_SEED], shares[CLIENTS][32];
    sotto_dh dh[CLIENTS];
    uint8_t records[CLIENTS][32];
} meeting;

static void call_meeting(sotto_test *t, meeting *m, const scene *s)
{
    sotto_keygen call = {.epoch = 2, .count = 3, .step_ms = 1, .ends = 1};
    sotto_buf wire;

    memset(m, 0, sizeof *m);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        const uint8_t private_key[32] = {64, 7, (uint8_t)i};

        /* So that what others dealt to it is a secret, too. */
        sotto_ctime_secret(private_key, sizeof private_key);
        CHECK_OK(t, sotto_dh_init(&m->dh[i], sotto_kem_find(SOTTO_KEM_X25519),
                                  sotto_bytes_of(private_key, sizeof private_key), &t->err));
        sotto_ctime_public(m->dh[i].public_key, sizeof m->dh[i].public_key);
        memcpy(m->channel[i], m->dh[i].public_key, sizeof m->channel[i]);
        memset(m->seeds[i], (int)(5 + i), sizeof m->seeds[i]);
        sotto_ctime_secret(m->seeds[i], sizeof m->seeds[i]);
    }
    call.posting.registry = s->epoch.registry;
    call.posting.registry.channel = (const uint8_t(*)[32])m->channel;
    CHECK_OK(t, sotto_buf_take(&wire, &t->arena, 4096, &t->err));
    CHECK_OK(t, sotto_keygen_encode(&wire, &call, &t->arena, &t->err));
    CHECK_OK(t, sotto_keygen_open(&m->call, sotto_buf_bytes(&wire), &t->arena, &t->err));
}

static sotto_keygen_self member_of(meeting *m, uint32_t index)
{
    return (sotto_keygen_self){.index = index, .seed = m->seeds[index], .channel = &m->dh[index]};
}

/* What is posted is for all to know. The dealer at place 1 seals garbage to the member at place 0, which complains. */
static void take_step(sotto_test *t, meeting *m, unsigned step)
{
    sotto_keygen_post posts[CLIENTS] = {{0}};
    const uint32_t *indices;
    const uint32_t count = sotto_keygen_senders(&m->call, step, &indices);

    for (uint32_t i = 0; i < count; i++) {
        const sotto_keygen_self self = member_of(m, indices[i]);
        sotto_buf body;

        CHECK_OK(t, sotto_buf_take(&body, &t->arena, SOTTO_KEYGEN_MOST_BODY, &t->err));
        CHECK_OK(t,
                 sotto_keygen_write(&m->call, &self, step, &m->board, &body, &t->arena, &t->err));
        sotto_ctime_public(body.data, body.len);
        if (step == SOTTO_KEYGEN_DEAL && i == 1)
            body.data[body.len - (size_t)m->call.count * SOTTO_KEYGEN_SEALED] ^= 1;
        posts[i] = (sotto_keygen_post){.step = step, .place = i, .body = sotto_buf_bytes(&body)};
    }
    for (uint32_t i = 0; i < count; i++)
        sotto_keygen_board_put(&m->board, &posts[i]);
}

/* What a member deals comes from its seed, and its share of the key from what all dealt to it: neither steers it, in any step. */
static void a_member_does_not_depend_on_secrets(sotto_test *t)
{
    static meeting m;
    static scene s;

    open_scene(t, &s);
    call_meeting(t, &m, &s);
    for (unsigned step = SOTTO_KEYGEN_DEAL; step < SOTTO_KEYGEN_RECORD; step++)
        take_step(t, &m, step);
    CHECK_EQUAL(t, 2 + 2, m.board.body[SOTTO_KEYGEN_COMPLAIN][0].len);
    for (uint32_t i = 0; i < m.call.count; i++) {
        const uint32_t index = m.call.members[i];
        const sotto_keygen_self self = member_of(&m, index);
        sotto_decryptors_record record;

        CHECK_OK(t, sotto_keygen_finish(&m.call, &self, &m.board, &record, m.shares[index],
                                        &t->arena, &t->err));
        sotto_decryptors_digest(&record, m.records[i]);
        CHECK_BYTES(t, m.records[0], m.records[i], 32);
    }
    for (size_t i = 0; i < CLIENTS; i++)
        sotto_dh_clear(&m.dh[i]);
    close_scene(&s);
}

/* ---- a decryptor ------------------------------------------------------------------------------------------------- */

static sotto_machine *join(sotto_test *t, scene *s, const sotto_machine_ops *ops,
                           const sotto_self *self)
{
    sotto_machine *machine;

    CHECK_OK(t, ops->join(&machine, &s->posted.round, self, &t->arena, &t->err));
    return machine;
}

static void deliver(sotto_test *t, sotto_machine *machine, const sotto_message *m,
                    sotto_effects *effects)
{
    sotto_status verdict;

    CHECK_OK(t, machine->ops->deliver(machine, m, 1, &verdict, effects, &t->err));
    CHECK_OK(t, verdict);
}

/* What was sent is the server's to know, and so is what it makes of that. */
static void tell_server(sotto_test *t, sotto_machine *server, const sotto_message *m,
                        sotto_effects *said)
{
    sotto_ctime_public(m->body.data, m->body.len);
    sotto_ctime_public(m->signature.data, m->signature.len);
    deliver(t, server, m, said);
}

/* All clients but the last report. */
static void report(sotto_test *t, scene *s, sotto_machine *server, sotto_effects *said)
{
    static uint32_t entries[CLIENTS][LENGTH];

    for (uint32_t i = 0; i + 1 < CLIENTS; i++) {
        sotto_vector mine = {.ring = SOTTO_RING_Z32, .length = LENGTH, .of.z32 = entries[i]};
        sotto_self_secrets secrets = {.agreed = s->agreed[i], .known = s->known};
        const sotto_self self = {.part = SOTTO_PART_CLIENT,
                                 .index = i,
                                 .keys = &s->signers[i],
                                 .secrets = &secrets,
                                 .seed = {9, (uint8_t)i}};
        sotto_machine *client = join(t, s, &sotto_flamingo_client, &self);
        sotto_effects effects;

        sotto_effects_init(&effects, &t->arena);
        CHECK_OK(t, client->ops->tick(client, OPENS, &effects, &t->err));
        CHECK_OK(t, client->ops->offer(client, &mine, &effects, &t->err));
        tell_server(t, server, &effects.sent->message, said);
        client->ops->leave(client);
    }
}

/* Hands on what the server said, and to the server what came back. */
static void pass_on(sotto_test *t, sotto_machine *server, sotto_machine **members,
                    const sotto_effect_message *sent, sotto_effects *said)
{
    for (; sent; sent = sent->next) {
        sotto_effects effects;

        sotto_effects_init(&effects, &t->arena);
        if (!members[sent->message.to])
            continue;
        deliver(t, members[sent->message.to], &sent->message, &effects);
        for (const sotto_effect_message *m = effects.sent; m; m = m->next)
            tell_server(t, server, &m->message, said);
    }
}

/* Votes, opened shares and opened edges: neither its share of the key nor what it agreed on with clients steers it. */
static void a_decryptor_does_not_depend_on_secrets(sotto_test *t)
{
    static sotto_self_secrets secrets[CLIENTS];
    static scene s;
    sotto_machine *members[CLIENTS] = {NULL};
    sotto_effects said, open, over;

    open_scene(t, &s);
    const sotto_self server_self = {.part = SOTTO_PART_SERVER, .keys = &s.server};
    sotto_machine *server = join(t, &s, &sotto_flamingo_server, &server_self);
    sotto_effects_init(&said, &t->arena);
    sotto_effects_init(&open, &t->arena);
    sotto_effects_init(&over, &t->arena);
    CHECK_OK(t, server->ops->tick(server, OPENS, &said, &t->err));
    report(t, &s, server, &said);
    CHECK_OK(t, server->ops->tick(server, 2 * OPENS, &said, &t->err));
    for (uint32_t i = 0; i < 3; i++) {
        const uint32_t index = s.epoch.record.members[i];
        const sotto_self self = {.part = SOTTO_PART_DECRYPTOR,
                                 .index = index,
                                 .keys = &s.signers[index],
                                 .secrets = &secrets[index]};

        secrets[index] = (sotto_self_secrets){.agreed = s.agreed[index], .known = s.known};
        memcpy(secrets[index].share, s.epoch.committee.shares[i], 32);
        sotto_ctime_secret(secrets[index].share, 32);
        members[index] = join(t, &s, &sotto_flamingo_decryptor, &self);
    }
    sotto_ctime_secret(s.agreed, sizeof s.agreed);
    pass_on(t, server, members, said.sent, &open);
    pass_on(t, server, members, open.sent, &over);
    CHECK(t, open.sent != NULL);
    for (uint32_t i = 0; i < CLIENTS; i++)
        if (members[i])
            members[i]->ops->leave(members[i]);
    server->ops->leave(server);
    close_scene(&s);
}

/* A witness of the beacon. */
static void a_part_of_a_beacon_does_not_depend_on_the_share(sotto_test *t)
{
    const sotto_beacon_input input = {.session = {1}, .registry = {2}, .epoch = 3};
    uint8_t part[SOTTO_BEACON_PART], nonce[32] = {4};
    sotto_scalar share = {.be = {0, 7, [31] = 9}};
    sotto_tdh2 tdh2;

    CHECK_OK(t, sotto_tdh2_init(&tdh2, &t->err));
    sotto_ctime_secret(&share, sizeof share);
    sotto_ctime_secret(nonce, sizeof nonce);
    CHECK_OK(t, sotto_beacon_give(&tdh2, part, &input, &share, nonce, &t->err));
    sotto_ctime_public(part, sizeof part);
    CHECK(t, part[0] == 4);
    sotto_tdh2_clear(&tdh2);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_report_does_not_depend_on_secrets),
        CASE(a_member_does_not_depend_on_secrets),
        CASE(a_decryptor_does_not_depend_on_secrets),
        CASE(a_part_of_a_beacon_does_not_depend_on_the_share),
    };
    return RUN_TESTS(argc, argv, cases);
}
