/* What a hostile server tries, and the check that stops it. tests/rules.sh switches each check off and sees the attack succeed. */
#include "court.h"

#include <string.h>

/* Everybody is everybody's neighbour; half of them could open what they hold. */
static const sotto_bbglr_parameters NINE = {.degree = 8, .threshold = 4, .quorum = 5};
static const uint32_t NOBODY[] = {COURT_MOST};

static void play_until_vectors(sotto_test *t, court *s, uint32_t clients,
                               sotto_bbglr_parameters parameters, uint64_t least)
{
    court_open(t, s, clients, parameters, least);
    court_keys(s);
    court_deal(s);
    court_collect(s);
}

/* The yardstick: an honest end gives one secret of each client, and no vector. */
static void an_honest_end_opens_no_single_vector(sotto_test *t)
{
    static const uint32_t offline[] = {2, COURT_MOST};
    uint8_t secret[32];
    court s;

    play_until_vectors(t, &s, 9, NINE, 0);
    sotto_bytes view = court_view(&s, offline);
    for (uint32_t i = 0; i < 9; i++)
        if (i != 2)
            CHECK(t, court_show(&s, i, view) == SOTTO_OK && s.clients[i].votes == 1);
    for (uint32_t i = 0; i < 9; i++)
        if (i != 2)
            CHECK(t, court_ask(&s, i, view, view, COURT_AS_LABELLED, false) == SOTTO_OK &&
                         s.clients[i].is_done);
    for (uint32_t i = 0; i < 9; i++) {
        CHECK(t, court_learns(&s, i, SOTTO_BBGLR_WANT_SEED, secret) == (i != 2));
        CHECK(t, court_learns(&s, i, SOTTO_BBGLR_WANT_KEY, secret) == (i == 2));
        CHECK(t, !court_reads(&s, i));
    }
    court_close(&s);
}

/* Bell et al. 2020; the slides' "why both masks": client 2 was called offline, its mask key was put together, and then its vector
 * comes after all. */
static void a_late_vector_stays_masked(sotto_test *t)
{
    static const uint32_t offline[] = {2, COURT_MOST};
    uint8_t secret[32];
    court s;

    play_until_vectors(t, &s, 9, NINE, 0);
    sotto_bytes view = court_view(&s, offline);
    for (uint32_t i = 0; i < 9; i++)
        if (i != 2)
            CHECK(t, court_show(&s, i, view) == SOTTO_OK);
    for (uint32_t i = 0; i < 9; i++)
        if (i != 2)
            CHECK(t, court_ask(&s, i, view, view, COURT_AS_LABELLED, false) == SOTTO_OK);
    CHECK(t, court_learns(&s, 2, SOTTO_BBGLR_WANT_KEY, secret));
    CHECK(t, !court_reads(&s, 2));
    court_close(&s);
}

static void whoever_is_called_offline_says_no_more(sotto_test *t)
{
    static const uint32_t offline[] = {2, COURT_MOST};
    court s;

    play_until_vectors(t, &s, 9, NINE, 0);
    sotto_bytes view = court_view(&s, offline);
    CHECK(t, court_show(&s, 2, view) == SOTTO_OK);
    CHECK(t, s.clients[2].is_done && s.clients[2].votes == 0);
    CHECK(t, court_show(&s, 2, court_view(&s, NOBODY)) == SOTTO_STALE);
    court_close(&s);
}

/* The round promised 10 of 12; the server would rather have the sum of 8. */
static void a_sum_over_a_handful_is_not_opened(sotto_test *t)
{
    static const uint32_t offline[] = {8, 9, 10, 11, COURT_MOST};
    const sotto_bbglr_parameters twelve = {.degree = 10, .threshold = 4, .quorum = 7};
    unsigned answers = 0;
    court s;

    play_until_vectors(t, &s, 12, twelve, 10);
    sotto_bytes view = court_view(&s, offline);
    for (uint32_t i = 0; i < 8; i++)
        (void)court_show(&s, i, view);
    for (uint32_t i = 0; i < 8; i++)
        answers += court_ask(&s, i, view, view, COURT_AS_LABELLED, false) == SOTTO_OK;
    CHECK_EQUAL(t, 0, answers);
    court_close(&s);
}

/* Half of the clients are told that client 0 is online, the others that it is not. */
static void split_views(court *s, bool forge_votes)
{
    static const uint32_t offline[] = {0, COURT_MOST};
    sotto_bytes online = court_view(s, NOBODY), without = court_view(s, offline);

    for (uint32_t i = 0; i < 9; i++)
        (void)court_show(s, i, i < 5 ? online : without);
    for (uint32_t i = 1; i < 9; i++) {
        sotto_bytes own = i < 5 ? online : without;

        (void)court_ask(s, i, own, own, COURT_AS_LABELLED, forge_votes);
    }
}

static void two_views_at_once_open_nothing(sotto_test *t)
{
    const sotto_bbglr_parameters strict = {.degree = 8, .threshold = 4, .quorum = 6};
    court s;

    play_until_vectors(t, &s, 9, strict, 0);
    split_views(&s, false);
    CHECK(t, !court_reads(&s, 0));
    court_close(&s);
}

static void votes_can_not_be_made_up(sotto_test *t)
{
    const sotto_bbglr_parameters strict = {.degree = 8, .threshold = 4, .quorum = 6};
    court s;

    play_until_vectors(t, &s, 9, strict, 0);
    split_views(&s, true);
    CHECK(t, !court_reads(&s, 0));
    court_close(&s);
}

/* Five votes are a quorum; the other four are shown their votes, though they were shown another view. */
static void others_votes_open_nothing(sotto_test *t)
{
    static const uint32_t offline[] = {0, COURT_MOST};
    court s;

    play_until_vectors(t, &s, 9, NINE, 0);
    sotto_bytes online = court_view(&s, NOBODY), without = court_view(&s, offline);
    for (uint32_t i = 0; i < 9; i++)
        CHECK(t, court_show(&s, i, i < 5 ? online : without) == SOTTO_OK);
    for (uint32_t i = 1; i < 9; i++)
        (void)court_ask(&s, i, online, i < 5 ? online : without, COURT_AS_LABELLED, false);
    CHECK(t, !court_reads(&s, 0));
    court_close(&s);
}

/* Everybody votes for both views, one after the other, and is then held to the second. */
static void a_client_votes_once(sotto_test *t)
{
    static const uint32_t offline[] = {0, COURT_MOST};
    court s;

    play_until_vectors(t, &s, 9, NINE, 0);
    sotto_bytes online = court_view(&s, NOBODY), without = court_view(&s, offline);
    for (uint32_t i = 1; i < 9; i++)
        CHECK(t, court_show(&s, i, i < 5 ? without : online) == SOTTO_OK);
    for (uint32_t i = 1; i < 9; i++)
        (void)court_show(&s, i, i < 5 ? online : without);
    for (uint32_t i = 1; i < 9; i++) {
        sotto_bytes second = i < 5 ? online : without;

        (void)court_ask(&s, i, second, second, COURT_AS_LABELLED, false);
    }
    CHECK(t, !court_reads(&s, 0));
    CHECK(t, court_show(&s, 1, without) == SOTTO_STALE); /* what it voted for is merely old */
    court_close(&s);
}

static bool contradicts(const sotto_vow *a, const sotto_vow *b)
{
    return a->kind == b->kind && a->epoch == b->epoch && a->round == b->round &&
           a->subject == b->subject && memcmp(a->digest, b->digest, sizeof a->digest) != 0;
}

/* A client that comes back from a backup remembers no vote and no answer. Its vows do: the second of each contradicts the first,
 * so that no store takes it. */
static void what_a_backup_forgets_vows_remember(sotto_test *t)
{
    static const uint32_t offline[] = {0, COURT_MOST};
    sotto_bytes saved, damaged;
    sotto_vow first;
    court s;

    play_until_vectors(t, &s, 9, NINE, 0);
    sotto_bytes online = court_view(&s, NOBODY), without = court_view(&s, offline);
    saved = court_save(&s, 1);
    for (uint32_t i = 1; i < 9; i++)
        CHECK(t, court_show(&s, i, online) == SOTTO_OK);
    first = s.clients[1].vow;
    court_restore(&s, 1, saved);
    CHECK(t, court_show(&s, 1, without) == SOTTO_OK);
    CHECK(t, contradicts(&first, &s.clients[1].vow));
    court_restore(&s, 1, saved);
    CHECK(t, court_show(&s, 1, online) == SOTTO_OK);
    CHECK_BYTES(t, &first.digest, &s.clients[1].vow.digest,
                32); /* the same again is no second vow */

    saved = court_save(&s, 2);
    CHECK(t, court_ask(&s, 2, online, online, COURT_AS_LABELLED, false) == SOTTO_OK);
    first = s.clients[2].vow;
    CHECK(t, first.kind == SOTTO_BBGLR_ANSWER);
    court_restore(&s, 2, saved);
    CHECK(t, court_ask(&s, 2, online, online, COURT_AS_LABELLED, false) == SOTTO_OK);
    CHECK_BYTES(t, &first.digest, &s.clients[2].vow.digest, 32);

    /* A saved state is of its round, and whole. */
    sotto_self self = {.part = SOTTO_PART_CLIENT, .index = 2, .keys = &s.c.cast.clients[2]};
    sotto_machine *machine;
    damaged = sotto_bytes_of(saved.data, saved.len - 1);
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_bbglr_client.restore(&machine, &s.c.round, &self, damaged, NULL, 0,
                                            &t->arena, &t->err));
    sotto_round other = s.c.round;
    other.number++;
    CHECK_STATUS(
        t, SOTTO_MALFORMED,
        sotto_bbglr_client.restore(&machine, &other, &self, saved, NULL, 0, &t->arena, &t->err));
    court_close(&s);
}

static void both_shares_of_one_client_are_not_given(sotto_test *t)
{
    court s;

    play_until_vectors(t, &s, 9, NINE, 0);
    sotto_bytes view = court_view(&s, NOBODY);
    for (uint32_t i = 0; i < 9; i++)
        CHECK(t, court_show(&s, i, view) == SOTTO_OK);
    for (uint32_t i = 0; i < 9; i++)
        (void)court_ask(&s, i, view, view, COURT_BOTH, false);
    CHECK(t, !court_reads(&s, 0));
    /* A refused question is not the last word. */
    CHECK(t, court_ask(&s, 1, view, view, COURT_AS_LABELLED, false) == SOTTO_OK);
    CHECK(t, court_ask(&s, 1, view, view, COURT_AS_LABELLED, false) == SOTTO_STALE);
    court_close(&s);
}

/* Client 3 gets back what it sealed for client 5, as if 5 had sealed it for 3: asked for 5's shares, it would give its own. */
static void a_share_is_of_whom_it_says(sotto_test *t)
{
    sotto_bbglr_body deal, shares, answer;
    court s;

    court_open(t, &s, 9, NINE, 0);
    court_keys(&s);
    court_deal(&s);
    for (uint32_t i = 0; i < 9; i++) {
        shares = court_shares(&s, i);
        uint8_t *rows = (uint8_t *)(size_t)shares.rows.at;

        CHECK_OK(t,
                 sotto_bbglr_body_decode(&deal, SOTTO_BBGLR_DEAL, 9, s.clients[i].deal, &t->err));
        for (size_t r = 0; r < shares.rows.count && i == 3; r++)
            if (sotto_row_index(rows + r * SOTTO_BBGLR_SEALED_ROW) == 5)
                memcpy(rows + r * SOTTO_BBGLR_SEALED_ROW, sotto_rows_at(&deal.rows, r),
                       SOTTO_BBGLR_SEALED_ROW);
        CHECK(t, court_tell(&s, i, SOTTO_BBGLR_SHARES, &shares) == SOTTO_OK);
        CHECK(t, court_offer(&s, i) == SOTTO_OK);
    }
    sotto_bytes view = court_view(&s, NOBODY);
    for (uint32_t i = 0; i < 9; i++)
        CHECK(t, court_show(&s, i, view) == SOTTO_OK);
    CHECK(t, court_ask(&s, 3, view, view, COURT_AS_LABELLED, false) == SOTTO_OK);
    CHECK_OK(t,
             sotto_bbglr_body_decode(&answer, SOTTO_BBGLR_ANSWER, 9, s.clients[3].answer, &t->err));
    CHECK_EQUAL(t, 7, answer.rows.count);
    for (size_t r = 0; r < answer.rows.count; r++)
        CHECK(t, sotto_row_index(sotto_rows_at(&answer.rows, r)) != 5);
    court_close(&s);
}

/* The same shares in the next round of the same people. */
static void a_share_is_of_its_round(sotto_test *t)
{
    sotto_bbglr_body answer;
    court first, second;

    court_open(t, &first, 9, NINE, 0);
    court_keys(&first);
    court_deal(&first);
    court_open(t, &second, 9, NINE, 0);
    for (uint32_t i = 0; i < 9; i++)
        sotto_bbglr_client.leave(second.clients[i].machine);
    second.c.round.number++;
    CHECK_OK(t, sotto_bbglr_graph_init(&second.graph, &second.c.round, 8, &t->arena, &t->err));
    for (uint32_t i = 0; i < 9; i++) {
        sotto_self self = {.part = SOTTO_PART_CLIENT,
                           .index = i,
                           .keys = &second.c.cast.clients[i],
                           .seed = {(uint8_t)(i + 1)}};

        CHECK_OK(t, sotto_bbglr_client.join(&second.clients[i].machine, &second.c.round, &self,
                                            &t->arena, &t->err));
    }
    court_keys(&second);
    CHECK(t, memcmp(first.clients[0].keys, second.clients[0].keys, 64) != 0);
    court_deal(&second);
    for (uint32_t i = 0; i < 9; i++) {
        sotto_bbglr_body old = court_shares(&first, i);

        CHECK(t, court_tell(&second, i, SOTTO_BBGLR_SHARES, &old) == SOTTO_OK);
        CHECK(t, court_offer(&second, i) == SOTTO_OK);
    }
    sotto_bytes view = court_view(&second, NOBODY);
    for (uint32_t i = 0; i < 9; i++)
        CHECK(t, court_show(&second, i, view) == SOTTO_OK);
    CHECK(t, court_ask(&second, 0, view, view, COURT_AS_LABELLED, false) == SOTTO_OK);
    CHECK_OK(t, sotto_bbglr_body_decode(&answer, SOTTO_BBGLR_ANSWER, 9, second.clients[0].answer,
                                        &t->err));
    CHECK_EQUAL(t, 0, answer.rows.count);
    court_close(&first);
    court_close(&second);
}

/* The server's own keys in the place of a neighbour's: it would read its shares and know its masks. */
static void keys_are_their_owners(sotto_test *t)
{
    court s;

    court_open(t, &s, 9, NINE, 0);
    court_keys(&s);
    sotto_bbglr_body roster = court_roster(&s, 0);
    uint8_t *row = (uint8_t *)(size_t)roster.rows.at;
    memcpy(row + 4, s.clients[8].keys, 64);
    CHECK(t, court_tell(&s, 0, SOTTO_BBGLR_ROSTER, &roster) == SOTTO_REJECTED);
    CHECK(t, s.clients[0].deal.len == 0);
    court_close(&s);
}

static void neighbours_are_those_of_the_beacon(sotto_test *t)
{
    const sotto_bbglr_parameters sparse = {.degree = 4, .threshold = 2, .quorum = 5};
    uint32_t stranger = 1;
    court s;

    court_open(t, &s, 9, sparse, 0);
    court_keys(&s);
    while (sotto_bbglr_are_neighbours(&s.graph, 0, stranger))
        stranger++;
    sotto_bbglr_body roster = court_roster(&s, 0);
    uint8_t *row = (uint8_t *)(size_t)roster.rows.at;
    memset(row, 0, SOTTO_BBGLR_ROSTER_ROW);
    sotto_row_put_index(row, stranger);
    memcpy(row + 4, s.clients[stranger].keys, 64);
    memcpy(row + 68, s.clients[stranger].keys_signature, SOTTO_SIGNATURE);
    roster.rows.count = 1;
    CHECK(t, court_tell(&s, 0, SOTTO_BBGLR_ROSTER, &roster) == SOTTO_REJECTED);
    CHECK(t, !s.clients[0].is_done);
    court_close(&s);
}

/* With one mask beside its own, a vector is as safe as one other client. */
static void a_vector_with_few_masks_is_not_sent(sotto_test *t)
{
    court s;

    court_open(t, &s, 9, NINE, 0);
    court_keys(&s);
    court_deal(&s);
    sotto_bbglr_body shares = court_shares(&s, 0);
    shares.rows.count = NINE.threshold - 1;
    (void)court_tell(&s, 0, SOTTO_BBGLR_SHARES, &shares);
    CHECK(t, s.clients[0].is_done && !s.clients[0].wants_vector);
    CHECK(t, court_offer(&s, 0) == SOTTO_STALE);
    court_close(&s);
}

/* In the order of the ring; degree 4 reaches two places. */
static void offline_places(const court *s, uint32_t *out, const uint32_t *places)
{
    for (; *places != COURT_MOST; places++)
        *out++ = s->graph.order[*places];
    *out = COURT_MOST;
}

static void a_client_is_not_cut_off(sotto_test *t)
{
    const sotto_bbglr_parameters sparse = {.degree = 4, .threshold = 3, .quorum = 8};
    static const uint32_t around[] = {3, 5, COURT_MOST}; /* both next to place 4 */
    uint32_t offline[COURT_MOST];
    court s;

    play_until_vectors(t, &s, 14, sparse, 0);
    offline_places(&s, offline, around);
    (void)court_show(&s, s.graph.order[4], court_view(&s, offline));
    CHECK_EQUAL(t, 0, s.clients[s.graph.order[4]].votes);
    /* Somebody far away has all of its neighbours, and no reason to refuse. */
    CHECK(t, court_show(&s, s.graph.order[10], court_view(&s, offline)) == SOTTO_OK);
    court_close(&s);
}

static void a_view_in_two_parts_is_not_opened(sotto_test *t)
{
    const sotto_bbglr_parameters sparse = {.degree = 4, .threshold = 2, .quorum = 9};
    static const uint32_t cuts[] = {0, 1, 8, 9, COURT_MOST}, cut[] = {0, 1, 2, 3, COURT_MOST};
    uint32_t offline[COURT_MOST];
    court s;

    play_until_vectors(t, &s, 16, sparse, 0);
    offline_places(&s, offline, cuts);
    (void)court_show(&s, s.graph.order[4], court_view(&s, offline));
    CHECK_EQUAL(t, 0, s.clients[s.graph.order[4]].votes);
    /* One gap leaves a line, which hangs together. */
    offline_places(&s, offline, cut);
    CHECK(t, court_show(&s, s.graph.order[6], court_view(&s, offline)) == SOTTO_OK);
    CHECK_EQUAL(t, 1, s.clients[s.graph.order[6]].votes);
    court_close(&s);
}

static void a_vector_keeps_to_its_bound(sotto_test *t)
{
    static const struct {
        int64_t entry;
        bool fits;
    } cases[] = {{100000, true}, {-100000, true}, {100001, false}, {-100001, false}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        court s;

        court_open(t, &s, 9, NINE, 0);
        court_keys(&s);
        court_deal(&s);
        sotto_bbglr_body shares = court_shares(&s, 0);
        CHECK(t, court_tell(&s, 0, SOTTO_BBGLR_SHARES, &shares) == SOTTO_OK);
        s.c.inputs[0].of.z32[2] = (uint32_t)cases[i].entry;
        CHECK(t, court_offer(&s, 0) == (cases[i].fits ? SOTTO_OK : SOTTO_DENIED));
        court_close(&s);
    }
}

static void steps_come_in_order(sotto_test *t)
{
    court s;

    court_open(t, &s, 9, NINE, 0);
    CHECK(t, court_offer(&s, 0) == SOTTO_AGAIN);
    CHECK(t, court_show(&s, 0, court_view(&s, NOBODY)) == SOTTO_AGAIN);
    court_keys(&s);
    court_deal(&s);
    sotto_bbglr_body roster = court_roster(&s, 0);
    CHECK(t, court_tell(&s, 0, SOTTO_BBGLR_ROSTER, &roster) == SOTTO_STALE);
    court_collect(&s);
    CHECK(t, court_offer(&s, 0) == SOTTO_STALE);
    sotto_bytes view = court_view(&s, NOBODY);
    CHECK(t, court_ask(&s, 0, view, view, COURT_AS_LABELLED, false) == SOTTO_AGAIN);
    court_close(&s);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(an_honest_end_opens_no_single_vector),
        CASE(a_late_vector_stays_masked),
        CASE(whoever_is_called_offline_says_no_more),
        CASE(a_sum_over_a_handful_is_not_opened),
        CASE(two_views_at_once_open_nothing),
        CASE(votes_can_not_be_made_up),
        CASE(others_votes_open_nothing),
        CASE(a_client_votes_once),
        CASE(what_a_backup_forgets_vows_remember),
        CASE(both_shares_of_one_client_are_not_given),
        CASE(a_share_is_of_whom_it_says),
        CASE(a_share_is_of_its_round),
        CASE(keys_are_their_owners),
        CASE(neighbours_are_those_of_the_beacon),
        CASE(a_vector_with_few_masks_is_not_sent),
        CASE(a_client_is_not_cut_off),
        CASE(a_view_in_two_parts_is_not_opened),
        CASE(a_vector_keeps_to_its_bound),
        CASE(steps_come_in_order),
    };
    return RUN_TESTS(argc, argv, cases);
}
