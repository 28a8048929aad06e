#include "aggregate/prio/prio.h"
#include "base/alloc.h"
#include "dap/report.h"
#include "support/prio3.h"
#include "support/test.h"

#include <string.h>

enum { IKM = SOTTO_HPKE_MAX_PRIVATE_KEY, ROOM = 1 << 16 };

/* A task with its two aggregators, and a client's report for it. */
typedef struct made {
    sotto_test_prio3 p;
    sotto_vdaf vdaf; /* over the same */
    sotto_hpke_key keys[SOTTO_REPORT_SHARES];
    sotto_hpke_config to[SOTTO_REPORT_SHARES];
    sotto_measurement measurement;
    sotto_bytes random;
    sotto_report_draft draft;
    sotto_dap_report report;
} made;

static sotto_bytes noise(sotto_test *t, made *m, size_t len)
{
    uint8_t *out = sotto_test_take(t, len);

    sotto_sim_random_bytes(&m->p.random, out, len);
    return sotto_bytes_of(out, len);
}

static void set_up(sotto_test *t, made *m, const sotto_prio3_config *config)
{
    static const char configuration[] = "what all parties agree on";

    *m = (made){.p = sotto_test_prio3_of(t, config, 7)};
    for (unsigned who = 0; who < SOTTO_REPORT_SHARES; who++) {
        CHECK_OK(t, sotto_hpke_key_derive(&m->keys[who], SOTTO_HPKE_KEM_X25519, noise(t, m, IKM),
                                          &t->err));
        m->to[who] = sotto_hpke_config_of(&m->keys[who], 3, SOTTO_HPKE_KDF_SHA256,
                                          SOTTO_HPKE_AEAD_AES128_GCM);
    }
    m->measurement = sotto_test_measurement(t, &m->p);
    m->vdaf = sotto_prio_over(&m->p.vdaf);
    m->random = noise(t, m, sotto_report_random_size(&m->vdaf));
    m->draft.configuration = sotto_bytes_of(configuration, sizeof configuration);
    m->draft.metadata.time = 1234;
    memset(m->draft.task_id, 0x5a, sizeof m->draft.task_id);
}

/* In place: the configurations to seal to point at the keys beside them. */
static void make(sotto_test *t, made *m, const sotto_prio3_config *config)
{
    set_up(t, m, config);
    CHECK_OK(t, sotto_report_make(&m->report, &m->draft, &m->vdaf, m->measurement, m->to, m->random,
                                  &t->arena, &t->err));
}

/* As an aggregator does, which knows the report from the wire and the task from its own configuration. */
static sotto_status opens(sotto_test *t, const made *m, const sotto_dap_report *report,
                          unsigned who, sotto_bytes configuration, sotto_bytes *share)
{
    const sotto_hpke_ciphertext *sealed =
        who == SOTTO_REPORT_LEADER ? &report->leader : &report->helper;
    uint8_t label[SOTTO_DAP_INFO_MAX];
    sotto_buf aad = sotto_test_buf(t, ROOM);
    sotto_buf plain = sotto_test_buf(t, ROOM);
    sotto_plaintext_input_share opened;

    CHECK_EQUAL(t, m->to[who].id, sealed->config_id);
    CHECK_OK(t, sotto_input_share_aad_encode(&aad, m->draft.task_id, configuration,
                                             &report->metadata, report->public_share, &t->err));
    SOTTO_TRY(sotto_hpke_unseal(&plain, &m->keys[who], m->to[who].suite,
                                sotto_input_share_info(label, who == SOTTO_REPORT_LEADER
                                                                  ? SOTTO_DAP_LEADER
                                                                  : SOTTO_DAP_HELPER),
                                sealed->enc, sotto_buf_bytes(&aad), sealed->payload, &t->err));
    SOTTO_TRY(sotto_plaintext_input_share_decode(&opened, sotto_buf_bytes(&plain), &t->err));
    CHECK_EQUAL(t, 0, opened.private_extensions.len);
    *share = opened.payload;
    return SOTTO_OK;
}

/* Both aggregators verify what they opened, by the context of the task. */
static void check_verifies(sotto_test *t, const made *m, const sotto_dap_report *report)
{
    uint8_t context[SOTTO_DAP_CONTEXT_SIZE];
    sotto_prio3_report inputs[2] = {{.public_share = report->public_share},
                                    {.public_share = report->public_share}};
    sotto_prio3_verifier verifiers[2] = {{.aggregator = 0}, {.aggregator = 1}};
    sotto_prio3_verification states[2];
    sotto_bytes outbound[2];

    sotto_dap_context(context, m->draft.task_id);
    for (unsigned who = 0; who < 2; who++) {
        verifiers[who].context = sotto_bytes_of(context, sizeof context);
        memcpy(inputs[who].nonce, report->metadata.report_id, sizeof inputs[who].nonce);
        CHECK_OK(t, opens(t, m, report, who, m->draft.configuration, &inputs[who].input_share));
    }
    CHECK_OK(t, sotto_ping_pong_leader_init(&m->p.vdaf, &states[0], &outbound[0], &verifiers[0],
                                            &inputs[0], 1, &t->arena, &t->err));
    CHECK_OK(t, sotto_ping_pong_helper_init(&m->p.vdaf, &states[1], &outbound[1], &verifiers[1],
                                            &inputs[1], &outbound[0], 1, &t->arena, &t->err));
    CHECK_OK(t, sotto_ping_pong_leader_continued(&m->p.vdaf, &states[0], &outbound[1], 1, &t->err));
    CHECK_STATUS(t, SOTTO_OK, states[0].status);
    CHECK_STATUS(t, SOTTO_OK, states[1].status);
}

static void a_report_of_every_type_is_opened_and_verified(sotto_test *t)
{
    for (size_t i = 0; i < sotto_test_config_count; i++) {
        sotto_buf wire = sotto_test_buf(t, ROOM);
        sotto_dap_report read;
        made m;

        make(t, &m, &sotto_test_configs[i]);
        CHECK_OK(t, sotto_dap_report_encode(&wire, &m.report, &t->err));
        CHECK_EQUAL(t, sotto_dap_report_size(&m.report), wire.len);
        CHECK_OK(t, sotto_dap_report_decode(&read, sotto_buf_bytes(&wire), &t->err));
        CHECK_EQUAL(t, 1234, read.metadata.time);
        CHECK_BYTES(t, m.random.data, read.metadata.report_id, SOTTO_REPORT_ID_SIZE);
        check_verifies(t, &m, &read);
    }
}

static void a_share_opens_for_its_aggregator_and_task_alone(sotto_test *t)
{
    sotto_dap_report swapped, later;
    sotto_bytes share, other;
    made m;

    make(t, &m, &sotto_test_configs[0]);
    swapped = later = m.report;
    swapped.leader = m.report.helper;
    swapped.helper = m.report.leader;
    other = m.draft.configuration;
    other.len--;
    later.metadata.time++;
    for (unsigned who = 0; who < SOTTO_REPORT_SHARES; who++) {
        CHECK_OK(t, opens(t, &m, &m.report, who, m.draft.configuration, &share));
        CHECK_STATUS(t, SOTTO_REJECTED, opens(t, &m, &m.report, who, other, &share));
        CHECK_STATUS(t, SOTTO_REJECTED, opens(t, &m, &later, who, m.draft.configuration, &share));
        CHECK_STATUS(t, SOTTO_REJECTED, opens(t, &m, &swapped, who, m.draft.configuration, &share));
    }
}

static void one_share_is_sealed_again_and_the_other_stays(sotto_test *t)
{
    sotto_dap_report again;
    made m;

    make(t, &m, &sotto_test_configs[1]);
    again = m.report;
    CHECK_OK(t, sotto_hpke_key_derive(&m.keys[SOTTO_REPORT_LEADER], SOTTO_HPKE_KEM_P256,
                                      noise(t, &m, IKM), &t->err));
    m.to[SOTTO_REPORT_LEADER] = sotto_hpke_config_of(
        &m.keys[SOTTO_REPORT_LEADER], 99, SOTTO_HPKE_KDF_SHA256, SOTTO_HPKE_AEAD_CHACHA20_POLY1305);
    CHECK_OK(t, sotto_report_seal_share(&again.leader, &m.draft, SOTTO_REPORT_LEADER,
                                        &m.to[SOTTO_REPORT_LEADER], noise(t, &m, IKM), &t->arena,
                                        &t->err));
    check_verifies(t, &m, &again);
}

static void a_report_follows_from_its_random_bytes(sotto_test *t)
{
    sotto_buf wire[2];
    made a, b;

    make(t, &a, &sotto_test_configs[0]);
    make(t, &b, &sotto_test_configs[0]);
    for (unsigned i = 0; i < 2; i++) {
        wire[i] = sotto_test_buf(t, ROOM);
        CHECK_OK(t, sotto_dap_report_encode(&wire[i], i ? &b.report : &a.report, &t->err));
    }
    CHECK_EQUAL(t, wire[0].len, wire[1].len);
    CHECK_BYTES(t, wire[0].data, wire[1].data, wire[0].len);
    a.random.len--;
    CHECK_STATUS(t, SOTTO_BUG,
                 sotto_report_make(&a.report, &a.draft, &a.vdaf, a.measurement, a.to, a.random,
                                   &t->arena, &t->err));
}

static void sealing_leaves_no_share_in_the_arena(sotto_test *t)
{
    sotto_hpke_ciphertext sealed;
    sotto_arena arena;
    sotto_arena_mark before, after;
    made m;

    make(t, &m, &sotto_test_configs[0]);
    sotto_arena_init(&arena, ROOM);
    before = sotto_arena_here(&arena);
    CHECK_OK(t, sotto_report_seal_share(&sealed, &m.draft, SOTTO_REPORT_LEADER, &m.to[0],
                                        noise(t, &m, IKM), &arena, &t->err));
    /* All that is left is what was sealed, at the start of the only block. */
    after = sotto_arena_here(&arena);
    CHECK(t, before.open == NULL && after.open == after.used);
    CHECK(t, after.open_used >= sealed.enc.len + sealed.payload.len);
    CHECK(t, after.open_used < sealed.enc.len + sealed.payload.len + 64);
    sotto_arena_clear(&arena);
}

static void every_failing_allocation_is_told(sotto_test *t)
{
    made m;
    sotto_status status = SOTTO_NO_MEMORY;

    set_up(t, &m, &sotto_test_configs[1]);
    for (long n = 0; status == SOTTO_NO_MEMORY; n++) {
        sotto_arena arena;

        CHECK(t, n < 100);
        sotto_arena_init(&arena, (size_t)1 << 20);
        sotto_alloc_fail_after(n);
        status = sotto_report_make(&m.report, &m.draft, &m.vdaf, m.measurement, m.to, m.random,
                                   &arena, &t->err);
        sotto_alloc_fail_after(-1);
        sotto_arena_clear(&arena);
        if (n == 0)
            CHECK_EQUAL(t, SOTTO_NO_MEMORY, status);
    }
    CHECK_EQUAL(t, SOTTO_OK, status);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_report_of_every_type_is_opened_and_verified),
        CASE(a_share_opens_for_its_aggregator_and_task_alone),
        CASE(one_share_is_sealed_again_and_the_other_stays),
        CASE(a_report_follows_from_its_random_bytes),
        CASE(sealing_leaves_no_share_in_the_arena),
        CASE(every_failing_allocation_is_told),
    };
    return RUN_TESTS(argc, argv, cases);
}
