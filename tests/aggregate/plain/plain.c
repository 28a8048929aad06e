#include "plain.h"

#include "aggregate/shared/ring_sum.h"
#include "crypto/hash.h"

#include <string.h>

typedef enum plain_phase { OPEN, WANTED, SENT, RELEASED, BURNT } plain_phase;

typedef struct plain {
    sotto_machine machine;
    const sotto_round *round;
    sotto_self self;
    plain_phase phase;
    uint8_t *came; /* server: by client */
} plain;

static const sotto_machine_ops CLIENT, SERVER;

static sotto_status join(sotto_machine **out, const sotto_round *round, const sotto_self *self,
                         sotto_arena *arena, sotto_err *err)
{
    plain *p = sotto_arena_take(arena, sizeof *p);
    uint8_t *came = sotto_arena_take(arena, (size_t)round->registered);

    *out = NULL;
    if (!p || !came)
        return sotto_fail(err, SOTTO_NO_MEMORY, "plain: no memory");
    SOTTO_TRY(sotto_method_admit(&sotto_method_plain, round, err));
    *p = (plain){{self->part == SOTTO_PART_CLIENT ? &CLIENT : &SERVER}, round, *self, OPEN, came};
    *out = &p->machine;
    return SOTTO_OK;
}

static sotto_status save(const sotto_machine *machine, sotto_buf *out, sotto_err *err)
{
    const plain *p = (const plain *)machine;
    sotto_writer w = sotto_writer_on(out);

    sotto_write_uint(&w, p->phase, 1);
    sotto_write_bytes(&w, sotto_bytes_of(p->came, (size_t)p->round->registered));
    return sotto_writer_finish(&w, "plain", err);
}

static sotto_status restore(sotto_machine **out, const sotto_round *round, const sotto_self *self,
                            sotto_bytes saved, const sotto_message *kept, size_t count,
                            sotto_arena *arena, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(saved);

    (void)kept;
    (void)count;
    SOTTO_TRY(join(out, round, self, arena, err));
    plain *p = (plain *)*out;
    p->phase = (plain_phase)sotto_read_uint(&in, 1);
    sotto_read_fixed(&in, p->came, (size_t)round->registered);
    return sotto_reader_finish(&in, "plain", err);
}

static sotto_status check(const sotto_round *round, const sotto_message *message,
                          sotto_arena *scratch, sotto_err *err)
{
    (void)scratch;
    return sotto_message_judge(message, round, &sotto_method_plain, err);
}

static void leave(sotto_machine *machine)
{
    sotto_wipe(machine, sizeof(plain));
}

/* ---- client ---------------------------------------------------------------------------------------- */

static sotto_status client_tick(sotto_machine *machine, uint64_t now_ms, sotto_effects *effects,
                                sotto_err *err)
{
    plain *p = (plain *)machine;

    (void)err;
    if (p->phase <= WANTED && now_ms >= p->round->opens) {
        p->phase = WANTED;
        sotto_effects_want_vector(effects);
    }
    return SOTTO_OK;
}

static sotto_status client_offer(sotto_machine *machine, sotto_vector *mine, sotto_effects *effects,
                                 sotto_err *err)
{
    plain *p = (plain *)machine;
    sotto_message m = {.epoch = p->round->epoch,
                       .round = p->round->number,
                       .kind = PLAIN_VECTOR,
                       .from = p->self.index,
                       .to = SOTTO_TO_SERVER,
                       .bulk_len = sotto_vector_bytes(mine).len};
    sotto_vow vow = {.kind = PLAIN_VECTOR, .epoch = p->round->epoch, .round = p->round->number};
    uint8_t signature[SOTTO_SIGNATURE];

    if (p->phase != WANTED)
        return p->phase < WANTED ? SOTTO_AGAIN : SOTTO_STALE;
    memcpy(m.session, p->round->session, sizeof m.session);
    SOTTO_TRY(sotto_message_sign(&m, signature, p->self.keys, err));
    sotto_hash_once(vow.digest, SOTTO_SHA256, sotto_vector_bytes(mine));
    SOTTO_TRY(sotto_effects_vow(effects, &vow, err));
    SOTTO_TRY(sotto_effects_send(effects, &m, mine, err));
    p->phase = SENT;
    sotto_effects_done(effects, SOTTO_OK, "sent");
    return SOTTO_OK;
}

static sotto_status client_deliver(sotto_machine *machine, const sotto_message *messages,
                                   size_t count, sotto_status *verdicts, sotto_effects *effects,
                                   sotto_err *err)
{
    (void)machine;
    (void)messages;
    (void)effects;
    (void)err;
    for (size_t i = 0; i < count; i++)
        verdicts[i] = SOTTO_REJECTED;
    return SOTTO_OK;
}

static sotto_status client_result(const sotto_machine *machine, sotto_round_result *out,
                                  sotto_err *err)
{
    (void)machine;
    memset(out, 0, sizeof *out);
    return sotto_fail(err, SOTTO_MISSING, "plain: a client has no result");
}

/* ---- server ---------------------------------------------------------------------------------------- */

static uint64_t count_of(const plain *p)
{
    uint64_t count = 0;

    for (uint64_t i = 0; i < p->round->registered; i++)
        count += p->came[i];
    return count;
}

static void finish(plain *p, sotto_effects *effects)
{
    bool enough = count_of(p) >= p->round->least;

    p->phase = enough ? RELEASED : BURNT;
    sotto_effects_done(effects, enough ? SOTTO_OK : SOTTO_DENIED, enough ? "released" : "too few");
}

static sotto_status server_deliver(sotto_machine *machine, const sotto_message *messages,
                                   size_t count, sotto_status *verdicts, sotto_effects *effects,
                                   sotto_err *err)
{
    plain *p = (plain *)machine;

    (void)err;
    for (size_t i = 0; i < count; i++) {
        uint32_t from = messages[i].from;

        verdicts[i] = SOTTO_STALE;
        if (p->phase != OPEN || p->came[from])
            continue;
        verdicts[i] = SOTTO_OK;
        p->came[from] = 1;
        if (count_of(p) == p->round->registered)
            finish(p, effects);
    }
    return SOTTO_OK;
}

static sotto_status server_tick(sotto_machine *machine, uint64_t now_ms, sotto_effects *effects,
                                sotto_err *err)
{
    plain *p = (plain *)machine;

    (void)err;
    if (p->phase == OPEN && now_ms >= p->round->closes)
        finish(p, effects);
    else if (p->phase == OPEN)
        sotto_effects_wake(effects, p->round->closes);
    return SOTTO_OK;
}

static sotto_status server_offer(sotto_machine *machine, sotto_vector *mine, sotto_effects *effects,
                                 sotto_err *err)
{
    (void)machine;
    (void)mine;
    (void)effects;
    return sotto_fail(err, SOTTO_MISSING, "plain: the server contributes nothing");
}

static sotto_status server_result(const sotto_machine *machine, sotto_round_result *out,
                                  sotto_err *err)
{
    const plain *p = (const plain *)machine;

    memset(out, 0, sizeof *out);
    if (p->phase == BURNT)
        return sotto_fail(err, SOTTO_DENIED, "plain: the round is burnt");
    if (p->phase != RELEASED)
        return sotto_fail(err, SOTTO_AGAIN, "plain: the round is not over");
    out->contributions = count_of(p);
    return SOTTO_OK;
}

static sotto_status check_round(const sotto_round *round, sotto_err *err)
{
    if (sotto_ring_width(round->ring) == 0 || round->parameters.len)
        return sotto_fail(err, SOTTO_DENIED, "plain: adds modulo 2^32 or 2^64, by no parameters");
    return SOTTO_OK;
}

static const sotto_machine_ops CLIENT = {
    join, client_offer, check, client_deliver, client_tick, client_result, save, restore, leave};
static const sotto_machine_ops SERVER = {
    join, server_offer, check, server_deliver, server_tick, server_result, save, restore, leave};

static const sotto_kind KINDS[] = {
    {PLAIN_VECTOR, "vector", SOTTO_PART_CLIENT, SOTTO_PART_SERVER, true, true, 0},
};

static const sotto_tally_ops TALLY = {
    sotto_ring_sum_size,   sotto_ring_sum_init,   sotto_ring_sum_merge, sotto_ring_sum_add,
    sotto_ring_sum_encode, sotto_ring_sum_decode, sotto_ring_sum_open,
};

const sotto_method sotto_method_plain = {
    .name = "plain",
    .id = SOTTO_METHOD_PLAIN,
    .kinds = KINDS,
    .kind_count = 1,
    .parts = {[SOTTO_PART_CLIENT] = &CLIENT, [SOTTO_PART_SERVER] = &SERVER},
    .bulk = &sotto_ring_bulk,
    .tally = &TALLY,
    .check = check_round,
};
