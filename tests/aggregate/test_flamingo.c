/* flamingo where it is not attacked: parameters, and what the beacon draws. Odds of committees and graphs rest on these draws. */
#include "camp.h"

#include "aggregate/shared/draw.h"

#include <math.h>
#include <string.h>

/* Six standard deviations of a binomial number. Seeds are fixed besides. */
static bool as_expected(double count, double of, double chance)
{
    return fabs(count - of * chance) < 6 * sqrt(of * chance * (1 - chance));
}

static sotto_status checked(sotto_test *t, sotto_round *round, const sotto_flamingo_parameters *p)
{
    round_case_set_flamingo(t, round, p);
    t->err = (sotto_err){0};
    return sotto_flamingo_check_round(round, &t->err);
}

static void parameters_fit_their_round(sotto_test *t)
{
    sotto_flamingo_parameters right, p;
    round_case c;

    round_case_init(t, &c, FLAMINGO_ROW, 10, SOTTO_RING_Z32, 3, 1);
    CHECK_OK(t, sotto_flamingo_parameters_decode(&right, c.round.parameters, &t->err));
    CHECK(t, checked(t, &c.round, &right) == SOTTO_OK);
    p = right;
    p.cohort = 9; /* largest is 10 */
    CHECK(t, checked(t, &c.round, &p) == SOTTO_DENIED);
    c.round.largest = 11;
    p.cohort = 11; /* more than are registered */
    CHECK(t, checked(t, &c.round, &p) == SOTTO_DENIED);
    c.round.largest = p.cohort = 2;
    CHECK(t, checked(t, &c.round, &p) == SOTTO_DENIED);
    c.round.largest = 10;
    p = right;
    p.neighbours = 0;
    CHECK(t, checked(t, &c.round, &p) == SOTTO_DENIED);
    p.neighbours = (uint32_t)c.round.least;
    CHECK(t, checked(t, &c.round, &p) == SOTTO_DENIED);
    p.neighbours--;
    CHECK(t, checked(t, &c.round, &p) == SOTTO_OK);
    round_case_set_flamingo(t, &c.round, &right);
    c.round.epoch++; /* of another committee */
    CHECK_STATUS(t, SOTTO_DENIED, sotto_flamingo_check_round(&c.round, &t->err));
    c.round.epoch--;
    c.round.parameters.len--;
    t->err = (sotto_err){0};
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_flamingo_check_round(&c.round, &t->err));
    round_case_clear(&c);
}

/* ---- the graph ------------------------------------------------------------------------------------------ */

enum { MANY = 300 };

/* A round of so many that are registered; nobody has keys. */
static void draw_graph(sotto_test *t, sotto_flamingo_graph *graph, const sotto_round *round,
                       uint32_t cohort, uint64_t edge)
{
    const sotto_flamingo_parameters p = {.cohort = cohort, .edge = edge};

    CHECK_OK(t, sotto_flamingo_graph_init(graph, round, &p, &t->arena, &t->err));
}

static void edges_are_mutual_and_as_likely_as_they_should_be(sotto_test *t)
{
    static const double chances[] = {0.02, 0.25, 0.8};
    static uint8_t rows[MANY][MANY];
    const sotto_round round = {.registered = 2 * MANY, .beacon = {1}, .number = 2};

    for (size_t i = 0; i < sizeof chances / sizeof chances[0]; i++) {
        sotto_flamingo_graph graph;
        uint32_t count = 0;

        draw_graph(t, &graph, &round, MANY, (uint64_t)ldexp(chances[i], 64) - 1);
        for (uint32_t a = 0; a < MANY; a++)
            CHECK_OK(t, sotto_flamingo_row(&graph, a, rows[a], &t->err));
        for (uint32_t a = 0; a < MANY; a++) {
            CHECK_EQUAL(t, 0, rows[a][a]);
            for (uint32_t b = 0; b < a; b++) {
                CHECK_EQUAL(t, rows[a][b], rows[b][a]);
                count += rows[a][b];
            }
        }
        CHECK(t, as_expected(count, MANY * (MANY - 1) / 2.0, chances[i]));
    }
}

static bool same_draws(sotto_test *t, const sotto_round *a, const sotto_round *b)
{
    const sotto_round *rounds[2] = {a, b};
    sotto_flamingo_graph graphs[2];
    uint8_t rows[2][20];

    for (size_t i = 0; i < 2; i++) {
        draw_graph(t, &graphs[i], rounds[i], 20, UINT64_MAX / 2);
        CHECK_OK(t, sotto_flamingo_row(&graphs[i], 0, rows[i], &t->err));
    }
    const bool cohorts = memcmp(graphs[0].cohort, graphs[1].cohort, 20 * sizeof(uint32_t)) == 0;
    CHECK(t, cohorts == (memcmp(rows[0], rows[1], 20) == 0));
    return cohorts;
}

/* Nothing that a server can vary once it knows the beacon. */
static void draws_follow_from_beacon_session_epoch_and_number_alone(sotto_test *t)
{
    const sotto_round round = {.registered = 60, .beacon = {1}, .session = {2}, .epoch = 3};
    sotto_round other = round;

    other.release_by = other.closes = 7;
    other.most = other.least = other.length = 9;
    other.model[0] = other.recipe[0] = 1;
    CHECK(t, same_draws(t, &round, &other));
    other = round;
    other.beacon[31] = 1;
    CHECK(t, !same_draws(t, &round, &other));
    other = round;
    other.session[31] = 1;
    CHECK(t, !same_draws(t, &round, &other));
    other = round;
    other.epoch++;
    CHECK(t, !same_draws(t, &round, &other));
    other = round;
    other.number++;
    CHECK(t, !same_draws(t, &round, &other));
}

/* Against a search that looks at rows alone. */
static void search(const uint8_t rows[9][9], uint32_t set, uint32_t *least, bool *whole)
{
    uint32_t seen = set & (0u - set), before = 0;

    while (seen != before) {
        before = seen;
        for (uint32_t i = 0; i < 9; i++)
            for (uint32_t j = 0; j < 9; j++)
                if ((before >> i & 1) && (set >> j & 1) && rows[i][j])
                    seen |= 1u << j;
    }
    *whole = seen == set;
    *least = UINT32_MAX;
    for (uint32_t i = 0; i < 9; i++) {
        uint32_t degree = 0;

        for (uint32_t j = 0; j < 9; j++)
            degree += (set >> j & 1) && rows[i][j];
        if ((set >> i & 1) && degree < *least)
            *least = degree;
    }
}

static void labels_are_judged_as_the_graph_has_them(sotto_test *t)
{
    const sotto_round round = {.registered = 9, .beacon = {4}};
    sotto_flamingo_graph graph;
    uint8_t rows[9][9];
    unsigned parts = 0;

    draw_graph(t, &graph, &round, 9, UINT64_MAX / 3);
    for (uint32_t i = 0; i < 9; i++)
        CHECK_OK(t, sotto_flamingo_row(&graph, i, rows[i], &t->err));
    for (uint32_t set = 1; set < 512; set++) {
        const uint8_t online[2] = {(uint8_t)set, (uint8_t)(set >> 8)};
        uint32_t least, wanted;
        bool whole, hangs;

        CHECK_OK(t, sotto_flamingo_judge(&graph, online, &least, &whole, &t->arena, &t->err));
        search((const uint8_t(*)[9])rows, set, &wanted, &hangs);
        CHECK(t, least == wanted && whole == hangs);
        parts += !hangs;
    }
    CHECK(t, parts > 20 && parts < 490); /* both happen */
}

/* Six of seven reported. The seventh has no report in the labels, and is called online all the same. */
static void nobody_is_online_without_a_report(sotto_test *t)
{
    static camp s;

    camp_open(t, &s, (camp_plan){.clients = 7, .members = 7, .least = 5});
    for (uint32_t i = 1; i < 7; i++)
        CHECK(t, camp_report(&s, i));
    s.unlisted = true;
    CHECK(t, camp_show(&s, 0, 0x7f) == SOTTO_REJECTED);
    CHECK_EQUAL(t, 0, s.voted[0]);
    CHECK(t, camp_show(&s, 0, 0x7e) == SOTTO_OK);
    camp_close(&s);
}

/* ---- who may join, and speak ---------------------------------------------------------------------------- */

static sotto_status joined(sotto_test *t, camp *s, sotto_part part, uint32_t index, uint32_t keys,
                           const sotto_self_secrets *secrets)
{
    const sotto_machine_ops *ops = sotto_method_flamingo.parts[part];
    sotto_self self = {.part = part, .index = index, .keys = &s->c.cast.clients[keys]};
    sotto_machine *machine;

    self.secrets = (sotto_self_secrets *)(size_t)secrets;
    t->err = (sotto_err){0};
    const sotto_status status = ops->join(&machine, &s->c.round, &self, &t->arena, &t->err);
    if (status == SOTTO_OK)
        ops->leave(machine);
    return status;
}

static void nobody_joins_under_another_name(sotto_test *t)
{
    static camp s;
    uint32_t outside = 0;

    camp_open(t, &s, (camp_plan){.clients = 8, .members = 5, .least = 5});
    const uint32_t member = s.c.cast.decryptors->record.members[0];
    const sotto_self_secrets *secrets = &s.c.cast.secrets[member];
    while (sotto_decryptors_place(s.c.cast.decryptors, outside) >= 0)
        outside++;
    for (size_t i = 0; i < 2; i++) {
        const sotto_part part = i ? SOTTO_PART_DECRYPTOR : SOTTO_PART_CLIENT;

        CHECK(t, joined(t, &s, part, member, member, secrets) == SOTTO_OK);
        CHECK(t, joined(t, &s, part, member, outside, secrets) == SOTTO_DENIED);
        CHECK(t, joined(t, &s, part, member, member, NULL) == SOTTO_DENIED);
    }
    CHECK(t, joined(t, &s, SOTTO_PART_DECRYPTOR, outside, outside, secrets) == SOTTO_DENIED);
    camp_close(&s);
}

/* A quorum signed it, and nobody's share could be checked against it. */
static void a_share_of_a_committee_is_a_point(sotto_test *t)
{
    static camp s;
    uint8_t verify[5][SOTTO_P256_WIDE], digest[32];
    sotto_decryptors d;

    camp_open(t, &s, (camp_plan){.clients = 8, .members = 5, .least = 5});
    sotto_decryptors_record r = s.c.cast.decryptors->record;
    memcpy(verify, r.verify, sizeof verify);
    for (unsigned wrong = 0; wrong < 2; wrong++) {
        memset(verify[4] + 1, (int)wrong, wrong ? SOTTO_P256_WIDE - 1 : 0);
        r.verify = verify;
        sotto_decryptors_digest(&r, digest);
        for (uint32_t i = 0; i < 5; i++)
            CHECK_OK(t, sotto_decryptors_sign(digest, r.signatures[i],
                                              &s.c.cast.clients[r.members[i]], &t->err));
        CHECK(t, sotto_decryptors_open(&d, &r, &s.c.cast.registry, s.c.round.beacon, &t->arena,
                                       NULL) == (wrong ? SOTTO_REJECTED : SOTTO_OK));
        sotto_decryptors_close(&d);
    }
    camp_close(&s);
}

/* Before its window, and a second time. */
static void a_client_offers_once(sotto_test *t)
{
    static camp s;
    sotto_machine *machine;
    sotto_effects effects;

    camp_open(t, &s, (camp_plan){.clients = 5, .members = 4, .least = 3});
    sotto_self self = {
        .index = 0, .keys = &s.c.cast.clients[0], .seed = {1}, .secrets = &s.c.cast.secrets[0]};
    sotto_vector *mine = &s.c.inputs[0];
    CHECK_OK(t, sotto_flamingo_client.join(&machine, &s.c.round, &self, &t->arena, &t->err));
    sotto_effects_init(&effects, &t->arena);
    CHECK(t, sotto_flamingo_client.offer(machine, mine, &effects, NULL) == SOTTO_AGAIN);
    CHECK_OK(t, sotto_flamingo_client.tick(machine, s.c.round.opens, &effects, &t->err));
    CHECK_OK(t, sotto_flamingo_client.offer(machine, mine, &effects, &t->err));
    const sotto_effect_message *first = effects.sent;
    CHECK(t, first && !first->next);
    CHECK(t, sotto_flamingo_client.offer(machine, mine, &effects, NULL) == SOTTO_STALE);
    CHECK(t, !first->next);
    sotto_flamingo_client.leave(machine);
    camp_close(&s);
}

/* Places of the graph are looked up by whatever the server names. */
static void edges_to_nobody_drawn_stay_shut(sotto_test *t)
{
    static camp s;
    uint32_t drawn = 0, outside = 0;

    camp_open(t, &s, (camp_plan){.clients = 8, .members = 7, .least = 4, .cohort = 5});
    for (uint32_t i = 0; i < 5; i++) {
        drawn |= UINT32_C(1) << s.graph.cohort[i];
        CHECK(t, camp_report(&s, s.graph.cohort[i]));
    }
    while (drawn >> outside & 1)
        outside++;
    camp_show_all(&s, 0x7f, drawn);
    CHECK_EQUAL(t, 1, s.voted[0]);
    CHECK(t, camp_ask(&s, 0,
                      &(camp_question){.labels = drawn,
                                       .from = UINT32_C(1) << s.graph.cohort[0],
                                       .to = UINT32_C(1) << outside,
                                       .set = 0x7}) == SOTTO_REJECTED);
    CHECK(t, camp_ask(&s, 0, &(camp_question){.labels = drawn, .shares = drawn, .set = 0x7}) ==
                 SOTTO_OK);
    camp_close(&s);
}

/* The network may turn them round: what came too early is offered again. */
static void a_question_waits_for_labels(sotto_test *t)
{
    enum { ALL = 0x1f, MEMBERS = 0xf };
    static camp s;

    camp_open(t, &s, (camp_plan){.clients = 5, .members = 4, .least = 3});
    camp_report_all(&s);
    camp_show_all(&s, MEMBERS & ~1u, ALL);
    const camp_question q = {.labels = ALL, .shares = ALL, .set = 3};
    CHECK(t, camp_ask(&s, 0, &q) == SOTTO_AGAIN);
    CHECK_EQUAL(t, 0, s.answers);
    CHECK(t, camp_show(&s, 0, ALL) == SOTTO_OK);
    CHECK(t, camp_ask(&s, 0, &q) == SOTTO_OK);
    CHECK_EQUAL(t, 1, s.answers);
    camp_close(&s);
}

static void a_decryptor_answers_for_itself_alone(sotto_test *t)
{
    enum { ALL = 0x1f, MEMBERS = 0xf };
    static camp s;

    camp_open(t, &s, (camp_plan){.clients = 5, .members = 4, .least = 3});
    camp_report_all(&s);
    /* What is for the decryptor at place 1 comes to the one at place 0. */
    sotto_machine *first = s.machines[0], *second = s.machines[1];
    s.machines[1] = first;
    CHECK(t, camp_show(&s, 1, ALL) == SOTTO_REJECTED);
    CHECK_EQUAL(t, 0, s.voted[1]);
    s.machines[1] = second;
    camp_show_all(&s, MEMBERS, ALL);
    /* Its part is weighted for those who answer together: it is not one of them. */
    /* Nobody is at place 20. */
    CHECK(t, camp_ask(&s, 0, &(camp_question){.labels = ALL, .shares = ALL, .set = 1 | 1 << 20}) ==
                 SOTTO_REJECTED);
    CHECK_EQUAL(t, 0, s.answers);
    CHECK(t, camp_ask(&s, 0, &(camp_question){.labels = ALL, .shares = ALL, .set = 6}) ==
                 SOTTO_REJECTED);
    CHECK_EQUAL(t, 0, s.answers);
    camp_close(&s);
}

/* ---- who is drawn ---------------------------------------------------------------------------------------- */

/* `count` of `of`, in so many draws: ascending, each once, and all alike. */
static void judge_draws(sotto_test *t, const uint32_t *drawn, uint32_t count, uint32_t of,
                        uint32_t *times)
{
    for (uint32_t i = 0; i < count; i++) {
        CHECK(t, drawn[i] < of && (i == 0 || drawn[i] > drawn[i - 1]));
        times[drawn[i]]++;
    }
}

static void everybody_is_drawn_alike(sotto_test *t)
{
    enum { OF = 30, COUNT = 12, DRAWS = 2000 };
    static uint32_t cohorts[OF], committees[OF], both[OF];
    const uint8_t session[32] = {3};

    for (uint32_t i = 0; i < DRAWS; i++) {
        const sotto_round round = {
            .registered = OF, .beacon = {5}, .session = {3}, .epoch = i / 50, .number = i % 50};
        const sotto_arena_mark mark = sotto_arena_here(&t->arena);
        sotto_flamingo_graph graph;
        uint32_t members[COUNT];

        draw_graph(t, &graph, &round, COUNT, 1);
        judge_draws(t, graph.cohort, COUNT, OF, cohorts);
        CHECK_OK(t, sotto_decryptors_draw(members, COUNT, OF, round.beacon, session, i, &t->arena,
                                          &t->err));
        judge_draws(t, members, COUNT, OF, committees);
        for (uint32_t m = 0; m < COUNT; m++)
            both[members[m]] += sotto_flamingo_place(&graph, members[m]) >= 0;
        sotto_arena_rollback(&t->arena, mark);
    }
    for (uint32_t i = 0; i < OF; i++) {
        CHECK(t, as_expected(cohorts[i], DRAWS, (double)COUNT / OF));
        CHECK(t, as_expected(committees[i], DRAWS, (double)COUNT / OF));
        CHECK(t, as_expected(both[i], DRAWS, (double)COUNT * COUNT / (OF * OF)));
    }
}

/* A place that is too far, or behind another row, is no answer. */
static void rows_are_found_wherever_one_looked_before(sotto_test *t)
{
    enum { ROWS = 9, SIZE = 7 };
    uint8_t bytes[ROWS * SIZE] = {0};
    const sotto_rows rows = {bytes, ROWS, SIZE};

    for (uint32_t i = 0; i < ROWS; i++)
        sotto_row_put_index(bytes + (size_t)i * SIZE, 3 * i + 1);
    for (size_t from = 0; from <= ROWS + 2; from++)
        for (uint32_t index = 0; index < 3 * ROWS + 3; index++) {
            size_t near = from;
            const uint8_t *row = sotto_rows_find_next(&rows, index, &near);

            CHECK(t, row == sotto_rows_find(&rows, index));
            CHECK_EQUAL(t, row ? index / 3 + 1 : from, near);
        }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(rows_are_found_wherever_one_looked_before),
        CASE(parameters_fit_their_round),
        CASE(edges_are_mutual_and_as_likely_as_they_should_be),
        CASE(draws_follow_from_beacon_session_epoch_and_number_alone),
        CASE(labels_are_judged_as_the_graph_has_them),
        CASE(nobody_is_online_without_a_report),
        CASE(nobody_joins_under_another_name),
        CASE(a_share_of_a_committee_is_a_point),
        CASE(a_client_offers_once),
        CASE(edges_to_nobody_drawn_stay_shut),
        CASE(a_question_waits_for_labels),
        CASE(a_decryptor_answers_for_itself_alone),
        CASE(everybody_is_drawn_alike),
    };
    return RUN_TESTS(argc, argv, cases);
}
