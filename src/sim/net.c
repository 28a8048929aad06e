#include "sim/net_internal.h"

#include <string.h>

sotto_status sotto_sim_no_memory(sotto_err *err)
{
    return sotto_fail(err, SOTTO_NO_MEMORY, "simulated network: no memory");
}

participant *sotto_sim_find(sotto_sim_net *net, uint32_t index)
{
    if (index == SOTTO_TO_SERVER)
        return &net->all[net->clients];
    for (uint32_t i = 0; i < net->decryptors && index >= net->clients; i++)
        if (net->all[net->clients + 1 + i].index == index)
            return &net->all[net->clients + 1 + i];
    return index < net->clients ? &net->all[index] : NULL;
}

uint32_t sotto_sim_net_address(const sotto_sim_net *net, const sotto_message *message)
{
    const sotto_kind *kind = sotto_method_kind(net->method, message->kind);
    bool is_decryptor = kind && kind->to == SOTTO_PART_DECRYPTOR;

    return is_decryptor ? SOTTO_SIM_DECRYPTOR(message->to) : message->to;
}

/* ---- what is to happen ---------------------------------------------------------------------------------- */

static bool sooner(const event *a, const event *b)
{
    return a->time != b->time ? a->time < b->time : a->sequence < b->sequence;
}

void *sotto_sim_grow(sotto_sim_net *net, void *list, size_t count, size_t *cap, size_t size)
{
    if (count < *cap)
        return list;
    const size_t more = *cap ? 2 * *cap : 16;
    void *grown = sotto_arena_take_array(net->arena, more, size);

    if (!grown)
        return NULL;
    if (count)
        memcpy(grown, list, count * size);
    *cap = more;
    return grown;
}

sotto_status sotto_sim_schedule(sotto_sim_net *net, event e, sotto_err *err)
{
    event *heap = sotto_sim_grow(net, net->heap, net->events, &net->heap_cap, sizeof *heap);

    if (!heap)
        return sotto_sim_no_memory(err);
    net->heap = heap;
    e.sequence = net->sequence++;
    size_t at = net->events++;
    for (; at > 0 && sooner(&e, &net->heap[(at - 1) / 2]); at = (at - 1) / 2)
        net->heap[at] = net->heap[(at - 1) / 2];
    net->heap[at] = e;
    return SOTTO_OK;
}

static event next_event(sotto_sim_net *net)
{
    event first = net->heap[0], last = net->heap[--net->events];
    size_t at = 0;

    for (;;) {
        size_t child = 2 * at + 1;

        if (child + 1 < net->events && sooner(&net->heap[child + 1], &net->heap[child]))
            child++;
        if (child >= net->events || !sooner(&net->heap[child], &last))
            break;
        net->heap[at] = net->heap[child];
        at = child;
    }
    if (net->events)
        net->heap[at] = last;
    return first;
}

sotto_status sotto_sim_copied(sotto_bytes *out, sotto_bytes from, sotto_arena *arena,
                              sotto_err *err)
{
    uint8_t *at = sotto_arena_take(arena, from.len + 1);

    if (!at)
        return sotto_sim_no_memory(err);
    if (from.len)
        memcpy(at, from.data, from.len);
    *out = sotto_bytes_of(at, from.len);
    return SOTTO_OK;
}

sotto_status sotto_sim_net_inject(sotto_sim_net *net, uint32_t to, sotto_bytes wire,
                                  sotto_bytes bulk, uint64_t at_ms, sotto_err *err)
{
    event e = {.time = at_ms, .type = EVENT_MESSAGE, .to = to};

    SOTTO_TRY(sotto_sim_copied(&e.wire, wire, net->arena, err));
    SOTTO_TRY(sotto_sim_copied(&e.bulk, bulk, net->arena, err));
    return sotto_sim_schedule(net, e, err);
}

bool sotto_sim_is_cut_off(const sotto_sim_net *net, const participant *p)
{
    return p && net->now >= p->cut_from && net->now < p->cut_until;
}

uint64_t sotto_sim_delay(sotto_sim_net *net)
{
    const sotto_sim_faults *f = &net->faults;
    uint64_t spread =
        f->delay_most_ms > f->delay_least_ms ? f->delay_most_ms - f->delay_least_ms : 0;
    uint64_t ms = f->delay_least_ms + sotto_sim_random_below(&net->random, spread + 1);

    return ms + (sotto_sim_random_chance(&net->random, f->late) ? f->late_ms : 0);
}

/* ---- setting up ----------------------------------------------------------------------------------------- */

static void set_up(sotto_sim_net *net, const sotto_sim_cast *cast, participant *p, sotto_part part,
                   uint32_t index)
{
    bool is_server = part == SOTTO_PART_SERVER;

    p->index = part == SOTTO_PART_DECRYPTOR ? SOTTO_SIM_DECRYPTOR(index) : index;
    p->self.part = part;
    p->self.index = index;
    p->self.keys = is_server ? &cast->server : cast->clients ? &cast->clients[index] : NULL;
    p->self.secrets = is_server || !cast->secrets ? NULL : &cast->secrets[index];
    sotto_sim_random_bytes(&net->random, p->self.seed, sizeof p->self.seed);
    p->ops = net->method->parts[part];
    p->is_here = part != SOTTO_PART_CLIENT;
    p->ceiling = SOTTO_SIM_MACHINE_CEILING;
    sotto_arena_init(&p->arena, p->ceiling);
}

static bool is_decryptor(const sotto_sim_net *net, uint32_t index)
{
    return net->method->takes_part && net->method->parts[SOTTO_PART_DECRYPTOR] &&
           net->method->takes_part(net->round, SOTTO_PART_DECRYPTOR, index);
}

static void set_up_all(sotto_sim_net *net, const sotto_sim_cast *cast)
{
    uint32_t at = net->clients;

    for (uint32_t i = 0; i < net->clients; i++)
        set_up(net, cast, &net->all[i], SOTTO_PART_CLIENT, i);
    set_up(net, cast, &net->all[at++], SOTTO_PART_SERVER, SOTTO_TO_SERVER);
    for (uint32_t i = 0; i < net->clients; i++)
        if (is_decryptor(net, i))
            set_up(net, cast, &net->all[at++], SOTTO_PART_DECRYPTOR, i);
}

static sotto_sim_net *make(const sotto_method *method, const sotto_round *round, uint64_t seed,
                           sotto_arena *arena)
{
    sotto_sim_net *net = sotto_arena_take(arena, sizeof *net);

    if (!net)
        return NULL;
    net->method = method;
    net->round = round;
    net->arena = arena;
    net->faults = (sotto_sim_faults){.delay_least_ms = 1, .delay_most_ms = 20};
    net->report.outcome = SOTTO_AGAIN;
    sotto_sim_random_init(&net->random, seed);
    sotto_hash_init(&net->transcript, SOTTO_SHA256);
    sotto_arena_init(&net->scratch, SOTTO_SIM_STEP_CEILING);
    net->counted =
        sotto_arena_take_array(arena, (size_t)round->registered + 1, sizeof *net->counted);
    net->answered_anew =
        sotto_arena_take_array(arena, (size_t)round->registered + 1, sizeof *net->answered_anew);
    return net->counted && net->answered_anew ? net : NULL;
}

static sotto_status make_room(sotto_sim_net *net, sotto_err *err)
{
    net->all = sotto_arena_take_array(net->arena, (size_t)net->clients + 1 + net->decryptors,
                                      sizeof *net->all);
    return net->all ? SOTTO_OK : sotto_sim_no_memory(err);
}

sotto_status sotto_sim_net_new(sotto_sim_net **out, const sotto_method *method,
                               const sotto_round *round, const sotto_sim_cast *cast, uint64_t seed,
                               sotto_arena *arena, sotto_err *err)
{
    sotto_sim_net *net = make(method, round, seed, arena);

    *out = NULL;
    if (!net)
        return sotto_sim_no_memory(err);
    net->clients = (uint32_t)round->registered;
    for (uint32_t i = 0; i < net->clients; i++)
        net->decryptors += is_decryptor(net, i);
    SOTTO_TRY(make_room(net, err));
    set_up_all(net, cast);
    SOTTO_TRY(method->tally->init(&net->tally, round, arena, err));
    *out = net;
    return SOTTO_OK;
}

sotto_status sotto_sim_net_of_staff(sotto_sim_net **out, const sotto_method *method,
                                    const sotto_round *round, const sotto_sim_staff *staff,
                                    uint64_t seed, sotto_arena *arena, sotto_err *err)
{
    sotto_sim_net *net = make(method, round, seed, arena);
    const sotto_sim_cast none = {.secrets = NULL};

    *out = NULL;
    if (!net)
        return sotto_sim_no_memory(err);
    net->decryptors = staff->count;
    SOTTO_TRY(make_room(net, err));
    set_up(net, &none, &net->all[0], SOTTO_PART_SERVER, SOTTO_TO_SERVER);
    net->all[0].self.keys = staff->server;
    net->all[0].ceiling = staff->ceiling;
    sotto_arena_init(&net->all[0].arena, staff->ceiling);
    for (uint32_t i = 0; i < staff->count; i++) {
        participant *p = &net->all[1 + i];

        set_up(net, &none, p, SOTTO_PART_DECRYPTOR, staff->indices[i]);
        p->self.keys = &staff->signers[i];
        p->self.secrets = &staff->secrets[i];
    }
    SOTTO_TRY(method->tally->init(&net->tally, round, arena, err));
    *out = net;
    return SOTTO_OK;
}

void sotto_sim_lose_memory(participant *p)
{
    if (p->machine)
        p->ops->leave(p->machine);
    p->machine = NULL;
    sotto_arena_clear(&p->arena);
    sotto_arena_init(&p->arena, p->ceiling);
}

void sotto_sim_net_free(sotto_sim_net *net)
{
    for (uint32_t i = 0; i <= net->clients + net->decryptors; i++)
        sotto_sim_lose_memory(&net->all[i]);
    sotto_arena_clear(&net->scratch);
}

void sotto_sim_net_input(sotto_sim_net *net, uint32_t client, const sotto_vector *input)
{
    net->all[client].input = input;
    net->all[client].is_here = true;
}

void sotto_sim_net_carry(sotto_sim_net *net, uint32_t index, sotto_bytes what)
{
    participant *p = sotto_sim_find(net, index);

    if (p)
        p->self.carried = what;
}

sotto_bytes sotto_sim_net_carried(sotto_sim_net *net, uint32_t index)
{
    const participant *p = sotto_sim_find(net, index);

    return p ? p->self.carried : (sotto_bytes){NULL, 0};
}

void sotto_sim_net_faults(sotto_sim_net *net, const sotto_sim_faults *faults)
{
    net->faults = *faults;
}

void sotto_sim_net_cut_off(sotto_sim_net *net, uint32_t index, uint64_t from_ms, uint64_t until_ms)
{
    participant *p = sotto_sim_find(net, index);

    p->cut_from = from_ms;
    p->cut_until = until_ms;
}

void sotto_sim_net_crash_at(sotto_sim_net *net, uint64_t step, sotto_sim_crash how)
{
    net->crash_step = step;
    net->crash_how = how;
}

void sotto_sim_net_forget_always(sotto_sim_net *net)
{
    net->forget_always = true;
}

void sotto_sim_net_lie(sotto_sim_net *net, uint32_t index, sotto_sim_liar *liar, void *context)
{
    participant *p = sotto_sim_find(net, index);

    p->liar = liar;
    p->liar_context = context;
}

void sotto_sim_net_tap(sotto_sim_net *net, sotto_sim_tap *tap, void *context)
{
    net->tap = tap;
    net->tap_context = context;
}

uint64_t sotto_sim_net_now(const sotto_sim_net *net)
{
    return net->now;
}

sotto_sim_random *sotto_sim_net_random(sotto_sim_net *net)
{
    return &net->random;
}

/* ---- a whole round --------------------------------------------------------------------------------------- */

static sotto_status open_sum(sotto_sim_net *net, sotto_err *err)
{
    participant *server = &net->all[net->clients];
    sotto_round_result result;
    size_t size = net->method->tally->size(net->round);
    sotto_buf share = sotto_buf_over(sotto_arena_take(net->arena, size), size);
    sotto_bytes parts[2];

    if (!share.data)
        return sotto_sim_no_memory(err);
    SOTTO_TRY(sotto_sim_remember(net, server, err));
    sotto_status status = server->ops->result(server->machine, &result, NULL);
    net->report.blamed = result.blamed;
    net->report.blamed_count = result.blamed_count;
    if (status != SOTTO_OK)
        return SOTTO_OK;
    SOTTO_TRY(net->method->tally->encode(&net->tally, &share, err));
    parts[0] = sotto_buf_bytes(&share);
    parts[1] = result.opening;
    SOTTO_TRY(net->method->tally->open(&net->report.sum, net->round, parts, 2, result.contributions,
                                       net->arena, err));
    for (size_t i = 0; result.counted && i < result.counted_count; i++)
        net->counted[result.counted[i]] = true;
    net->report.contributions = result.contributions;
    net->report.released = true;
    return SOTTO_OK;
}

sotto_status sotto_sim_net_run(sotto_sim_net *net, uint64_t until_ms, sotto_sim_report *report,
                               sotto_err *err)
{
    sotto_hash transcript;

    for (uint32_t i = 0; i <= net->clients + net->decryptors; i++)
        if (net->all[i].is_here && !net->has_begun)
            SOTTO_TRY(sotto_sim_schedule(
                net, (event){.time = net->round->opens, .to = net->all[i].index}, err));
    net->has_begun = true;
    while (net->events && net->heap[0].time <= until_ms) {
        event e = next_event(net);

        net->now = e.time;
        SOTTO_TRY(sotto_sim_happen(net, e, err));
    }
    if (net->report.outcome != SOTTO_AGAIN)
        SOTTO_TRY(open_sum(net, err));
    net->report.counted = net->counted;
    net->report.answered_anew = net->answered_anew;
    transcript = net->transcript;
    sotto_hash_final(&transcript, net->report.transcript);
    *report = net->report;
    return SOTTO_OK;
}
