/* What machines of a round are told. Input: a list of (whom, kind, from, length of two bytes, body). For whom 0 it is a record of the board,
 * whose signature counts as checked. A public key without a body is the one that it must be. 1 is the server, 2 a member, 3 a device. From
 * 64 on it is a round that is opened on the robust path, and everything before the opening is over. Machines are made once and go on from
 * one input to the next. */
#include "aero_stage.h"
#include "target.h"

#include "aggregate/aero/member.h"
#include "aggregate/aero/server.h"

#include <stdlib.h>
#include <string.h>

enum { PEOPLE = 6 };

typedef struct stage {
    bool is_there;
    sotto_round round;
    sotto_registry registry;
    uint8_t keys[PEOPLE][32], pair[PEOPLE][32], channel[PEOPLE][32], terms[SOTTO_AERO_TERMS_HANDED];
    sotto_signer signer;
    sotto_self_secrets secrets;
    sotto_arena arena;
    sotto_aero_plan plan;
    sotto_aero_view view;
    sotto_machine *machines[4];
} stage;

static stage stages[2]; /* by path */

static sotto_status set_up(stage *g, uint8_t opening)
{
    const uint8_t seed[32] = {1};

    SOTTO_TRY(sotto_signer_init(&g->signer, seed, NULL));
    for (unsigned i = 0; i < PEOPLE; i++)
        memcpy(g->keys[i], g->signer.public_key, 32);
    g->registry = (sotto_registry){.keys = (const uint8_t(*)[32])g->keys,
                                   .pair = (const uint8_t(*)[32])g->pair,
                                   .channel = (const uint8_t(*)[32])g->channel,
                                   .count = PEOPLE};
    SOTTO_TRY(fuzz_aero_round(&g->round, g->terms, &g->registry, opening, 0));
    sotto_arena_init(&g->arena, (size_t)1 << 28);
    SOTTO_TRY(sotto_aero_plan_init(&g->plan, &g->round, &g->arena, NULL));
    return sotto_aero_view_init(&g->view, &g->plan, &g->arena, NULL);
}

static sotto_status join_all(stage *g)
{
    const sotto_machine_ops *ops[] = {NULL, &sotto_aero_server, &sotto_aero_member_ops,
                                      &sotto_aero_client};

    for (unsigned i = 1; i < 4; i++) {
        sotto_self self = {
            .index = i == 1 ? SOTTO_TO_SERVER : 0, .keys = &g->signer, .secrets = &g->secrets};

        SOTTO_TRY(ops[i]->join(&g->machines[i], &g->round, &self, &g->arena, NULL));
    }
    return SOTTO_OK;
}

/* As if everything up to the verdicts had happened. */
static void begin_to_open(stage *g)
{
    g->view.is_summed = true;
    for (unsigned i = 1; i < 4; i++)
        ((sotto_aero_base *)g->machines[i])->view->is_summed = true;
    ((sotto_aero_aggregator *)g->machines[1])->attempts[0] = 0;
    ((sotto_aero_committee_member *)g->machines[2])->done |= SOTTO_AERO_HAS_JUDGED;
}

static void tell(stage *g, unsigned whom, unsigned kind, uint32_t from, sotto_bytes body)
{
    sotto_message m = {.round = 1,
                       .kind = (uint16_t)kind,
                       .from = from < PEOPLE ? from : SOTTO_TO_SERVER,
                       .to = SOTTO_TO_BOARD,
                       .body = body},
                  known;
    static uint8_t wire[1 << 17];
    static const uint8_t signature[SOTTO_SIGNATURE];
    sotto_buf out = sotto_buf_over(wire, sizeof wire);
    sotto_arena scratch;
    sotto_effects effects;
    sotto_status verdict;

    m.signature = sotto_bytes_of(signature, sizeof signature);
    sotto_arena_init(&scratch, (size_t)1 << 27);
    if (whom == 0 && kind == SOTTO_AERO_KEYED && body.len == 0) {
        static uint8_t key[1 << 16];
        sotto_buf keyed = sotto_buf_over(key, sizeof key);

        if (sotto_aero_keyed_encode(&g->view, &keyed, NULL) != SOTTO_OK)
            abort();
        m.body = sotto_buf_bytes(&keyed);
    }
    sotto_effects_init(&effects, &scratch);
    if (whom == 0 && sotto_message_encode(&out, &m, NULL) == SOTTO_OK &&
        sotto_aero_view_read(&g->view, &known, g->view.next, sotto_buf_bytes(&out), true, &scratch,
                             NULL) != SOTTO_OK)
        abort();
    /* Nobody's own key agreement is part of this: members deal only when an entry says so. */
    if (whom > 0 && kind != SOTTO_AERO_ENTRY)
        (void)g->machines[whom]->ops->deliver(g->machines[whom], &m, 1, &verdict, &effects, NULL);
    sotto_arena_clear(&scratch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sotto_reader in = sotto_reader_over(sotto_bytes_of(data, size));

    for (unsigned path = SOTTO_AERO_FAST; path <= SOTTO_AERO_ROBUST; path++) {
        stage *g = &stages[path];

        if (!g->is_there && (set_up(g, (uint8_t)path) != SOTTO_OK || join_all(g) != SOTTO_OK))
            abort();
        if (!g->is_there && path == SOTTO_AERO_ROBUST)
            begin_to_open(g);
        g->is_there = true;
    }
    while (sotto_reader_left(&in) >= 5) {
        unsigned first = (unsigned)sotto_read_uint(&in, 1);
        stage *g = &stages[first >> 6 & 1];
        unsigned kind = (unsigned)sotto_read_uint(&in, 1);
        uint32_t from = (uint32_t)sotto_read_uint(&in, 1);

        tell(g, first % 4, kind, from, sotto_read_opaque16(&in));
    }
    return 0;
}
