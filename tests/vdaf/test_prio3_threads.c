/* One instance serves many threads, each with its own arena: the same reports come to the same bytes. */
#include "support/prio3.h"

#include <pthread.h>
#include <string.h>

enum { THREADS = 4, REPORTS = 9, MAX_SHARE = 1024 };

typedef struct worker {
    const sotto_test_prio3 *p;
    const sotto_test_report *reports;
    sotto_status status;
    uint8_t shares[2][REPORTS][MAX_SHARE];
    sotto_uint128 result[16];
} worker;

/* No CHECK here: a failed one would jump across threads. */
static sotto_status run_round(worker *w, sotto_arena *arena)
{
    const sotto_prio3 *vdaf = &w->p->vdaf;
    sotto_prio3_verification states[2][REPORTS];
    sotto_prio3_verdict verdicts[REPORTS];
    sotto_bytes pairs[2 * REPORTS], messages[REPORTS], encoded[2];
    uint8_t memory[2][MAX_SHARE];

    for (unsigned a = 0; a < 2; a++) {
        sotto_prio3_verifier verifier = sotto_test_verifier(w->p, a);
        sotto_prio3_report views[REPORTS];

        for (size_t i = 0; i < REPORTS; i++)
            views[i] = sotto_test_view(&w->reports[i], a);
        SOTTO_TRY(sotto_prio3_verify_init(vdaf, states[a], &verifier, views, REPORTS, arena, NULL));
        for (size_t i = 0; i < REPORTS; i++) {
            pairs[2 * i + a] = states[a][i].verifier_share;
            memcpy(w->shares[a][i], states[a][i].verifier_share.data, vdaf->sizes.verifier_share);
        }
    }
    SOTTO_TRY(sotto_prio3_verifier_shares_to_message(vdaf, verdicts, w->p->verifier.context, pairs,
                                                     REPORTS, arena, NULL));
    for (size_t i = 0; i < REPORTS; i++)
        messages[i] = sotto_bytes_of(verdicts[i].message, vdaf->sizes.verifier_message);
    for (unsigned a = 0; a < 2; a++) {
        sotto_buf out = sotto_buf_over(memory[a], sizeof memory[a]);
        sotto_prio3_agg agg;

        SOTTO_TRY(sotto_prio3_verify_next(vdaf, states[a], messages, REPORTS, NULL));
        SOTTO_TRY(sotto_prio3_agg_init(vdaf, &agg, arena, NULL));
        SOTTO_TRY(sotto_prio3_accumulate(vdaf, &agg, states[a], REPORTS, NULL));
        SOTTO_TRY(sotto_prio3_agg_encode(vdaf, &out, &agg, NULL));
        encoded[a] = sotto_buf_bytes(&out);
    }
    return sotto_prio3_unshard(vdaf, w->result, encoded, REPORTS, NULL);
}

static void *work(void *argument)
{
    worker *w = argument;
    sotto_arena arena;

    sotto_arena_init(&arena, SIZE_MAX / 2);
    w->status = SOTTO_OK;
    for (int i = 0; i < 20 && w->status == SOTTO_OK; i++) {
        w->status = run_round(w, &arena);
        sotto_arena_reset(&arena);
    }
    sotto_arena_clear(&arena);
    return NULL;
}

static void threads_that_share_an_instance_agree(sotto_test *t)
{
    for (size_t c = 0; c < sotto_test_config_count; c++) {
        sotto_test_prio3 p = sotto_test_prio3_of(t, &sotto_test_configs[c], c);
        worker *workers = sotto_test_take(t, THREADS * sizeof *workers);
        sotto_test_report reports[REPORTS];
        pthread_t threads[THREADS];

        CHECK(t, p.vdaf.sizes.verifier_share <= MAX_SHARE);
        for (size_t i = 0; i < REPORTS; i++)
            reports[i] = sotto_test_report_random(t, &p);
        for (size_t i = 0; i < THREADS; i++) {
            workers[i] = (worker){.p = &p, .reports = reports};
            CHECK_EQUAL(t, 0, pthread_create(&threads[i], NULL, work, &workers[i]));
        }
        for (size_t i = 0; i < THREADS; i++)
            CHECK_EQUAL(t, 0, pthread_join(threads[i], NULL));
        for (size_t i = 0; i < THREADS; i++) {
            CHECK_STATUS(t, SOTTO_OK, workers[i].status);
            CHECK_BYTES(t, workers[0].shares, workers[i].shares, sizeof workers[0].shares);
            CHECK_BYTES(t, workers[0].result, workers[i].result, sizeof workers[0].result);
        }
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {CASE(threads_that_share_an_instance_agree)};

    return RUN_TESTS(argc, argv, cases);
}
