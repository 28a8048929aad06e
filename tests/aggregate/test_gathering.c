/* Rounds with everybody in one process, as `sotto demo --trust aero` plays them, with the proof double. */
#include "aggregate/aero/server.h"
#include "support/gathering.h"
#include "support/test.h"

#include <string.h>

enum { DEVICES = 12, LENGTH = 5, CLOSES = 3000, RELEASE_BY = 9000 };

typedef struct party {
    sotto_company company;
    sotto_aero_account account;
    sotto_round round;
    sotto_gathering *gathering;
    uint64_t entries[DEVICES][LENGTH];
    sotto_vector vectors[DEVICES];
    uint64_t complaints, verdicts;
} party;

static void read_board(void *context, uint64_t index, const sotto_message *record)
{
    party *p = context;

    (void)index;
    p->complaints += record->kind == SOTTO_AERO_COMPLAINT;
    p->verdicts += record->kind == SOTTO_AERO_VERDICT;
}

/* Everybody contributes; noise members have shares of nothing, so that a sum is exact. */
static void begin(sotto_test *t, party *p)
{
    const sotto_aero_terms terms = {.profile = SOTTO_AERO_STANDARD,
                                    .bits = 12,
                                    .checks = 6,
                                    .committee = 5,
                                    .threshold = 3,
                                    .noise_members = 4,
                                    .noise_missing = 1,
                                    .liars = 2,
                                    .rate = UINT64_MAX,
                                    .delta_bits = 30};
    sotto_buf out = sotto_buf_over(sotto_arena_take(&t->arena, SOTTO_AERO_TERMS), SOTTO_AERO_TERMS);

    memset(p, 0, sizeof *p);
    p->account.is_trial = true;
    CHECK_OK(t, sotto_aero_terms_encode(&out, &terms, &t->err));
    CHECK_OK(t, sotto_company_init(&p->company, DEVICES, &t->arena, &t->err));
    p->round = (sotto_round){.session = {1},
                             .epoch = 1,
                             .number = 1,
                             .method = SOTTO_METHOD_AERO,
                             .version = SOTTO_ROUND_VERSION,
                             .ring = SOTTO_RING_Z64,
                             .length = LENGTH,
                             .most = 1000,
                             .least = 4,
                             .largest = DEVICES,
                             .noise = {.den = 1, .shares = 3},
                             .beacon = {7},
                             .registered = DEVICES,
                             .opens = 100,
                             .commit_by = 2000,
                             .closes = CLOSES,
                             .verify_by = 5000,
                             .release_by = RELEASE_BY,
                             .parameters = sotto_buf_bytes(&out),
                             .keys = &p->company.registry,
                             .account = &p->account};
    sotto_registry_root(&p->company.registry, p->round.registry);
    CHECK_OK(t, sotto_gathering_open(&p->gathering, &sotto_method_aero, &p->round, &p->company,
                                     &t->arena, &t->err));
    sotto_gathering_read_board(p->gathering, read_board, p);
    for (uint32_t i = 0; i < DEVICES; i++) {
        for (unsigned k = 0; k < LENGTH; k++)
            p->entries[i][k] = (uint64_t)(i * 10 + k) - 30;
        p->vectors[i] =
            (sotto_vector){.ring = SOTTO_RING_Z64, .length = LENGTH, .of.z64 = p->entries[i]};
        sotto_gathering_give(p->gathering, i, &p->vectors[i]);
    }
}

static void end(party *p)
{
    sotto_gathering_close(p->gathering);
    sotto_company_clear(&p->company);
}

static void the_sum_is_of_those_who_stayed(sotto_test *t)
{
    static party p;
    sotto_round_result result = {0};
    sotto_aero_plan *drawn = sotto_arena_take(&t->arena, sizeof *drawn);
    uint32_t lost = 0;

    begin(t, &p);
    CHECK(t, drawn != NULL);
    CHECK_OK(t, sotto_aero_plan_init(drawn, &p.round, &t->arena, &t->err));
    while (sotto_aero_noise_place(drawn, lost) >= 0)
        lost++;
    sotto_gathering_switch_off(p.gathering, lost);
    CHECK_STATUS(t, SOTTO_AGAIN, sotto_gathering_result(p.gathering, &result, &t->err));
    t->err = (sotto_err){0};
    CHECK_OK(t, sotto_gathering_run(p.gathering, (uint64_t)10 * RELEASE_BY, &t->err));
    CHECK_OK(t, sotto_gathering_result(p.gathering, &result, &t->err));
    CHECK_EQUAL(t, DEVICES - 1, result.contributions);
    CHECK_EQUAL(t, 0, p.complaints);
    for (unsigned k = 0; k < LENGTH; k++) {
        uint64_t sum = 0;

        for (uint32_t i = 0; i < DEVICES; i++)
            sum += i == lost ? 0 : p.entries[i][k];
        CHECK(t, sum == sotto_load64(result.opening.data + 8 * k));
    }
    end(&p);
}

/* One leaf is replaced by another device's: somebody complains, nobody signs, and nothing is opened. */
static void a_server_that_lies_is_caught(sotto_test *t)
{
    static party p;
    sotto_round_result result = {0};

    begin(t, &p);
    CHECK_OK(t, sotto_gathering_run(p.gathering, CLOSES - 1, &t->err));
    sotto_aero_aggregator *s = (sotto_aero_aggregator *)sotto_gathering_server(p.gathering);
    sotto_aero_entrant *last = &s->entrants[s->count - 1];
    CHECK(t, last->promise.role == SOTTO_AERO_CONTRIBUTOR && last->groups[0].is_there);
    last->groups[0] = last[-1].groups[0];
    last->of = last[-1].of;
    CHECK_OK(t, sotto_gathering_run(p.gathering, (uint64_t)10 * RELEASE_BY, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED, sotto_gathering_result(p.gathering, &result, &t->err));
    CHECK(t, p.complaints > 0);
    CHECK_EQUAL(t, 0, p.verdicts);
    end(&p);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(the_sum_is_of_those_who_stayed),
        CASE(a_server_that_lies_is_caught),
    };
    return RUN_TESTS(argc, argv, cases);
}
