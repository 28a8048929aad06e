#include "support/collection.h"

#include "sotto/random.h"

#include <string.h>

enum { ELEMENT = 16 }; /* bytes of Field128 */

void sotto_test_collection_init(sotto_test *t, sotto_test_collection *c)
{
    sotto_buf request = sotto_buf_over(c->request_memory, sizeof c->request_memory);
    const sotto_recipe *recipe = sotto_test_recipe(t, NULL, NULL);
    const sotto_parties *parties = sotto_test_parties(t, NULL, NULL);

    memset(c, 0, sizeof *c);
    CHECK_OK(t, sotto_task_compile(&c->task, recipe, parties, 0, &t->arena, &t->err));
    c->task.min_batch_size = 100;
    CHECK_OK(t, sotto_collector_key_new(&c->key, 3, &t->err));
    c->query = (sotto_collection_query){c->task.opens, c->task.closes};
    CHECK_OK(t, sotto_collect_query_encode(&request, &c->task, &c->query, &t->err));
    c->request = sotto_buf_bytes(&request);
    c->reports = 100;
    c->interval = (sotto_dap_interval){c->task.opens / c->task.precision, 2};
    c->key_id = c->key.id;
    c->sums = sotto_arena_take_array(&t->arena, c->task.sizes.outputs, sizeof *c->sums);
    c->below = sotto_arena_take_array(&t->arena, c->task.sizes.outputs, sizeof *c->below);
    CHECK(t, c->sums != NULL && c->below != NULL);
    for (size_t i = 0; i < c->task.sizes.outputs; i++)
        c->sums[i] = i % 20;
}

static void put_element(uint8_t *at, uint64_t value)
{
    for (size_t i = 0; i < 8; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

/* -value in Field128, value not 0: the modulus less it. */
static void put_below(uint8_t *at, uint64_t value)
{
    put_element(at, 1 - value);
    put_element(at + 8, UINT64_C(0xffffffffffffffe4) - (value > 1));
}

static sotto_hpke_ciphertext seal(sotto_test *t, const sotto_test_collection *c, sotto_bytes share,
                                  sotto_dap_role sender)
{
    uint8_t text[SOTTO_DAP_INFO_MAX], ikm[64];
    size_t size = c->task.configuration.len + 1024, room = share.len + 256;
    sotto_buf aad = sotto_test_buf(t, size);
    sotto_buf sealed = sotto_test_buf(t, room);
    sotto_hpke_config config = sotto_collector_key_config(&c->key);
    size_t enc = config.public_key.len;

    CHECK_OK(t, sotto_dap_aggregate_share_aad_encode(&aad, c->task.id, c->task.configuration,
                                                     c->request, &t->err));
    CHECK_OK(t, sotto_random_bytes(ikm, sizeof ikm, &t->err));
    CHECK_OK(t, sotto_hpke_seal(&sealed, &config, sotto_bytes_of(ikm, sizeof ikm),
                                sotto_aggregate_share_info(text, sender), sotto_buf_bytes(&aad),
                                share, &t->err));
    return (sotto_hpke_ciphertext){c->key_id, sotto_bytes_of(sealed.data, enc),
                                   sotto_bytes_of(sealed.data + enc, sealed.len - enc)};
}

sotto_bytes sotto_test_collection_answer(sotto_test *t, const sotto_test_collection *c)
{
    size_t size = c->task.sizes.out_share, room = 2 * size + 1024;
    uint8_t *leader = sotto_arena_take(&t->arena, size),
            *helper = sotto_arena_take(&t->arena, size);
    sotto_buf out = sotto_test_buf(t, room);
    sotto_dap_collection_resp resp = {.report_count = c->reports, .interval = c->interval};

    CHECK_EQUAL(t, size, c->task.sizes.outputs * ELEMENT);
    CHECK(t, leader && helper && out.data);
    for (size_t i = 0; i < c->task.sizes.outputs; i++) {
        put_element(leader + i * ELEMENT, c->below[i] ? 0 : c->sums[i] - c->sums[i] / 2);
        if (c->below[i])
            put_below(helper + i * ELEMENT, c->below[i]);
        else
            put_element(helper + i * ELEMENT, c->sums[i] / 2);
    }
    if (c->apart)
        put_element(helper + 8, 12345); /* the upper half of the first element */
    resp.leader =
        seal(t, c, sotto_bytes_of(leader, size), c->swapped ? SOTTO_DAP_HELPER : SOTTO_DAP_LEADER);
    resp.helper =
        seal(t, c, sotto_bytes_of(helper, size), c->swapped ? SOTTO_DAP_LEADER : SOTTO_DAP_HELPER);
    CHECK_OK(t, sotto_dap_collection_resp_encode(&out, &resp, &t->err));
    return sotto_buf_bytes(&out);
}

sotto_bytes sotto_test_collection_share(sotto_test *t, sotto_bytes answer)
{
    sotto_buf out = sotto_test_buf(t, answer.len);
    sotto_dap_collection_resp resp;

    CHECK_OK(t, sotto_dap_collection_resp_decode(&resp, answer, &t->err));
    CHECK_OK(t, sotto_dap_aggregate_share_encode(&out, &resp.helper, &t->err));
    return sotto_buf_bytes(&out);
}
