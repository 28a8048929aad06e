/* What the server shows to devices and members, what they say of it, and what a member refuses to open. */
#include "hall.h"

#include "aggregate/aero/odds.h"
#include "sim/net_internal.h"

#include <string.h>

static hall_plan six(void)
{
    hall_plan p = HALL_SMALL;

    p.clients = 6;
    return p;
}

/* ---- answers and complaints ----------------------------------------------------------------------------------- */

enum { SUSPECT = 5 }; /* position */

static uint32_t asked_position(const sotto_message *m)
{
    return m->body.len > 4 ? m->body.data[4] : 0;
}

static bool shows_another_tree(void *context, sotto_sim_net *net, sotto_message *m,
                               sotto_bytes *bulk)
{
    sotto_test *t = context;

    (void)net;
    (void)bulk;
    if (m->kind != SOTTO_AERO_SAMPLE || asked_position(m) != SUSPECT)
        return true;
    uint8_t *copy = sotto_arena_take(&t->arena, m->body.len);
    CHECK(t, copy != NULL);
    memcpy(copy, m->body.data, m->body.len);
    copy[5 + SOTTO_AERO_LEAF + 1] ^= 1; /* the path to the posted root */
    m->body = sotto_bytes_of(copy, m->body.len);
    return true;
}

static sotto_sim_report play(sotto_test *t, hall *h, uint32_t who, sotto_sim_liar *liar,
                             void *context)
{
    sotto_sim_report report;

    hall_open(t, h, six());
    report = hall_play(t, h, 0, who, liar, context);
    hall_close(h);
    return report;
}

static void a_leaf_that_is_not_in_the_posted_tree_is_a_fraud(sotto_test *t)
{
    hall h;

    CHECK(t, !play(t, &h, SOTTO_TO_SERVER, shows_another_tree, t).released);
}

static bool keeps_a_leaf_to_itself(void *context, sotto_sim_net *net, sotto_message *m,
                                   sotto_bytes *bulk)
{
    (void)context;
    (void)net;
    (void)bulk;
    return (m->kind != SOTTO_AERO_SAMPLE && m->kind != SOTTO_AERO_ANSWER) ||
           asked_position(m) != SUSPECT;
}

static void a_leaf_that_nobody_is_shown_is_not_opened(sotto_test *t)
{
    hall h;

    CHECK(t, !play(t, &h, SOTTO_TO_SERVER, keeps_a_leaf_to_itself, NULL).released);
}

/* Answers that got lost, and that the server gives on the board. */
static bool loses_an_answer(void *context, sotto_sim_net *net, sotto_message *m, sotto_bytes *bulk)
{
    (void)context;
    (void)net;
    (void)bulk;
    return m->kind != SOTTO_AERO_SAMPLE || asked_position(m) != SUSPECT;
}

static void an_answer_on_the_board_is_enough(sotto_test *t)
{
    hall h;

    CHECK(t, play(t, &h, SOTTO_TO_SERVER, loses_an_answer, NULL).released);
}

static sotto_status ask(sotto_test *t, const hall *h, sotto_sim_net *net, uint32_t from)
{
    static const uint8_t place[5] = {0, 0, 0, 0, 4};
    sotto_machine *server = &hall_server(net)->base.machine;
    sotto_arena_mark mark = sotto_arena_here(&t->arena);
    sotto_effects effects;
    sotto_status verdict;
    sotto_message m = {.epoch = h->round.epoch,
                       .round = h->round.number,
                       .kind = SOTTO_AERO_ASK,
                       .from = from,
                       .to = SOTTO_TO_SERVER,
                       .body = {place, sizeof place}};

    memcpy(m.session, h->round.session, sizeof m.session);
    sotto_effects_init(&effects, &t->arena);
    CHECK_OK(t, server->ops->deliver(server, &m, 1, &verdict, &effects, &t->err));
    CHECK(t, (effects.sent != NULL) == (verdict == SOTTO_OK));
    sotto_arena_rollback(&t->arena, mark);
    return verdict;
}

/* Five bytes are answered with megabytes: not for ever. */
static void a_device_is_answered_as_often_as_it_may_ask(sotto_test *t)
{
    sotto_status verdict = SOTTO_OK;
    uint32_t count = 0;
    hall h;

    hall_open(t, &h, six());
    sotto_sim_net *net = hall_net(t, &h, 0);
    hall_until(t, net, h.round.closes + 500);
    const uint32_t before = hall_server(net)->asked[1],
                   most = SOTTO_AERO_ASKS_AGAIN * (2 + sotto_aero_most_checks(&h.derived->terms));
    CHECK(t, before > 0 && before < most);
    for (; verdict == SOTTO_OK && count <= most; count++)
        verdict = ask(t, &h, net, 1);
    CHECK_STATUS(t, SOTTO_STALE, verdict);
    CHECK_EQUAL(t, most - before, count - 1);
    CHECK_STATUS(t, SOTTO_OK, ask(t, &h, net, 2)); /* others are none the worse for it */
    sotto_sim_net_free(net);
    hall_close(&h);
}

/* A device makes up what the server is said to have shown. */
static bool makes_up_a_complaint(void *context, sotto_sim_net *net, sotto_message *m,
                                 sotto_bytes *bulk)
{
    sotto_test *t = context;
    sotto_message fake = *m;
    size_t room = 1024;
    sotto_buf body = sotto_buf_over(sotto_arena_take(&t->arena, room), room);
    uint8_t signature[SOTTO_SIGNATURE];

    (void)bulk;
    if (m->kind != SOTTO_AERO_ASK)
        return true;
    fake.kind = SOTTO_AERO_SAMPLE;
    fake.from = SOTTO_TO_SERVER;
    fake.to = m->from;
    CHECK(t, body.data != NULL);
    CHECK_OK(t, sotto_message_sign(&fake, signature, hall_device(net, m->from)->base.self.keys,
                                   &t->err));
    body.data[body.len++] = SOTTO_AERO_FALSE_LEAF;
    CHECK_OK(t, sotto_message_encode(&body, &fake, &t->err));
    m->kind = SOTTO_AERO_COMPLAINT;
    m->to = SOTTO_TO_BOARD;
    m->body = sotto_buf_bytes(&body);
    return true;
}

static void a_complaint_that_is_made_up_stops_nothing(sotto_test *t)
{
    hall h;

    CHECK(t, play(t, &h, 1, makes_up_a_complaint, t).released);
}

static bool counts_one_more(void *context, sotto_sim_net *net, sotto_message *m, sotto_bytes *bulk)
{
    sotto_test *t = context;

    (void)net;
    (void)bulk;
    if (m->kind != SOTTO_AERO_ADDED)
        return true;
    uint8_t *copy = sotto_arena_take(&t->arena, m->body.len);
    CHECK(t, copy != NULL);
    memcpy(copy, m->body.data, m->body.len);
    copy[3]--;
    m->body = sotto_bytes_of(copy, m->body.len);
    return true;
}

static void the_leaves_are_counted_in_the_tree(sotto_test *t)
{
    hall h;

    CHECK(t, !play(t, &h, SOTTO_TO_SERVER, counts_one_more, t).released);
}

/* ---- members -------------------------------------------------------------------------------------------------- */

static sotto_status ask_to_open(sotto_test *t, const hall *h, sotto_sim_net *net, uint8_t attempt,
                                const uint8_t set[3], unsigned *parts)
{
    sotto_aero_committee_member *m = hall_member(h, net, set[0]);
    const uint8_t body[4] = {attempt, set[0], set[1], set[2]};
    sotto_message open = {.epoch = h->round.epoch,
                          .round = h->round.number,
                          .kind = SOTTO_AERO_OPEN,
                          .from = SOTTO_TO_SERVER,
                          .to = m->base.self.index,
                          .body = {body, sizeof body}};
    sotto_effects effects;
    sotto_status verdict = SOTTO_BUG;

    memcpy(open.session, h->round.session, 32);
    sotto_effects_init(&effects, &t->arena);
    CHECK_OK(t,
             m->base.machine.ops->deliver(&m->base.machine, &open, 1, &verdict, &effects, &t->err));
    *parts += effects.sent != NULL;
    return verdict;
}

static void a_member_opens_for_those_who_signed_and_not_forever(sotto_test *t)
{
    unsigned silent = SOTTO_AERO_VERDICT, parts = 0;
    hall h;

    hall_open(t, &h, six());
    sotto_sim_net *net = hall_net(t, &h, 0);
    sotto_sim_net_lie(net, SOTTO_SIM_DECRYPTOR(h.derived->committee[4]), sotto_sim_liar_silent,
                      &silent);
    CHECK(t, hall_opens(t, &h, net)); /* by 0, 1 and 2 */
    /* 4 signed nothing, as far as is known. */
    CHECK_STATUS(t, SOTTO_AGAIN, ask_to_open(t, &h, net, 1, (const uint8_t[]){1, 3, 4}, &parts));
    CHECK_EQUAL(t, 0, parts);
    sotto_sim_net_free(net);
    hall_close(&h);
}

/* The same attempt with another set would tell two parts with the same noise. */
static void a_member_answers_an_attempt_once(sotto_test *t)
{
    unsigned parts = 0;
    hall h;

    hall_open(t, &h, six());
    sotto_sim_net *net = hall_net(t, &h, 0);
    CHECK(t, hall_opens(t, &h, net)); /* by 0, 1 and 2 */
    CHECK_STATUS(t, SOTTO_STALE, ask_to_open(t, &h, net, 0, (const uint8_t[]){1, 3, 4}, &parts));
    CHECK_EQUAL(t, 0, parts);
    CHECK_OK(t, ask_to_open(t, &h, net, 1, (const uint8_t[]){1, 3, 4}, &parts));
    CHECK_EQUAL(t, 1, parts);
    sotto_sim_net_free(net);
    hall_close(&h);
}

static void nobody_opens_after_eight_retries(sotto_test *t)
{
    unsigned parts = 0;
    hall h;

    hall_open(t, &h, six());
    sotto_sim_net *net = hall_net(t, &h, 0);
    CHECK(t, hall_opens(t, &h, net));
    CHECK_OK(t, ask_to_open(t, &h, net, 8, (const uint8_t[]){1, 3, 4}, &parts));
    CHECK_STATUS(t, SOTTO_REJECTED, ask_to_open(t, &h, net, 9, (const uint8_t[]){1, 3, 4}, &parts));
    CHECK_EQUAL(t, 1, parts);
    sotto_sim_net_free(net);
    hall_close(&h);
}

static void slot_0_counts_the_leaves(sotto_test *t)
{
    sotto_sim_report report;
    hall h;

    hall_open(t, &h, six());
    sotto_sim_net *net = hall_net(t, &h, 0);
    hall_until(t, net, h.round.verify_by - 1);
    hall_server(net)->present++;
    CHECK_OK(t, sotto_sim_net_run(net, 10 * h.round.release_by, &report, &t->err));
    CHECK(t, !report.released);
    sotto_sim_net_free(net);
    hall_close(&h);
}

/* ---- memory --------------------------------------------------------------------------------------------------- */

static bool is_within(const participant *p, sotto_bytes part)
{
    for (size_t i = 0; i < p->kept_count; i++)
        if (part.data >= p->kept[i].body.data &&
            part.data + part.len <= p->kept[i].body.data + p->kept[i].body.len)
            return true;
    return false;
}

static bool opens_wrongly(void *context, sotto_sim_net *net, sotto_message *m, sotto_bytes *bulk)
{
    sotto_test *t = context;

    (void)net;
    (void)bulk;
    if (m->kind != SOTTO_AERO_PART)
        return true;
    uint8_t *copy = sotto_arena_take(&t->arena, m->body.len);
    CHECK(t, copy != NULL);
    memcpy(copy, m->body.data, m->body.len);
    for (size_t i = 1; i < 9; i++) /* a number far from what it was */
        copy[i] ^= 0x15;
    m->body = sotto_bytes_of(copy, m->body.len);
    return true;
}

/* Parts of a large model are megabytes, and each attempt brings as many. */
static void nine_attempts_take_the_room_of_one(sotto_test *t)
{
    sotto_sim_report report;
    hall h;

    hall_open(t, &h, six());
    sotto_sim_net *net = hall_net(t, &h, 0);
    for (uint32_t i = 0; i < 5; i++)
        sotto_sim_net_lie(net, SOTTO_SIM_DECRYPTOR(h.derived->committee[i]), opens_wrongly, t);
    hall_until(t, net, h.round.verify_by - 1);
    const size_t before = hall_server(net)->base.arena->held,
                 part = 1 + sotto_aero_committee_opens(h.derived, 0) *
                                sotto_aero_poly_size(&h.derived->aero);
    CHECK_OK(t, sotto_sim_net_run(net, h.round.release_by - 1, &report, &t->err));
    CHECK_EQUAL(t, SOTTO_AERO_MOST_TRIES - 1, hall_server(net)->attempts[0]);
    CHECK(t, !report.released);
    CHECK(t, hall_server(net)->base.arena->held < before + 6 * part);
    sotto_sim_net_free(net);
    hall_close(&h);
}

/* Whoever restores it holds the messages: a second copy of each would not fit where the first one did. */
static void a_server_that_was_restored_holds_a_reveal_once(sotto_test *t)
{
    hall h;

    hall_open(t, &h, six());
    sotto_sim_net *net = hall_net(t, &h, 0);
    hall_until(t, net, HALL_SUMS);
    participant *p = &net->all[net->clients];
    uint32_t seen = 0;
    p->ops->leave(p->machine);
    p->machine = NULL;
    sotto_arena_reset(&p->arena);
    CHECK_OK(t, sotto_sim_remember(net, p, &t->err));
    const sotto_aero_aggregator *s = hall_server(net);
    for (uint32_t i = 0; i < s->count; i++) {
        const sotto_aero_revealed *r = &s->entrants[i].groups[0];

        CHECK(t, !r->is_there || (is_within(p, r->ciphers) && is_within(p, r->proof)));
        seen += r->is_there;
    }
    CHECK(t, seen >= 6);
    CHECK(t, hall_opens(t, &h, net));
    sotto_sim_net_free(net);
    hall_close(&h);
}

/* ---- memory --------------------------------------------------------------------------------------------------------- */

static sotto_aero_aggregator *join_in(sotto_test *t, const hall *h, sotto_arena *arena)
{
    const sotto_self self = {
        .part = SOTTO_PART_SERVER, .index = SOTTO_TO_SERVER, .keys = &h->cast.server};
    sotto_machine *machine = NULL;

    CHECK_OK(t, sotto_aero_server.join(&machine, &h->round, &self, arena, &t->err));
    return (sotto_aero_aggregator *)machine;
}

static sotto_status promise(sotto_test *t, const hall *h, sotto_aero_aggregator *s, uint32_t from)
{
    static const uint8_t body[33] = {SOTTO_AERO_CONTRIBUTOR}, signature[SOTTO_SIGNATURE];
    const sotto_message m = {.epoch = h->round.epoch,
                             .round = h->round.number,
                             .kind = SOTTO_AERO_COMMIT,
                             .from = from,
                             .to = SOTTO_TO_SERVER,
                             .body = {body, sizeof body},
                             .signature = {signature, sizeof signature}};
    sotto_status verdict = SOTTO_BUG;

    CHECK_OK(t, sotto_aero_server_commit(s, &m, &verdict, &t->err));
    return verdict;
}

/* What is promised is revealed, and held until the end: a server takes no more promises than it has room for. */
static void no_more_is_promised_than_there_is_room_for(sotto_test *t)
{
    sotto_arena large, small;
    hall h;

    hall_open(t, &h, six());
    sotto_arena_init(&large, (size_t)1 << 30);
    const sotto_aero_aggregator *all = join_in(t, &h, &large);
    const uint32_t noise = all->base.plan->terms.noise_members;
    size_t each = 0;
    for (uint32_t g = 0; g < all->base.plan->groups; g++)
        each += sotto_aero_group_bytes(all->base.plan, g);
    CHECK_EQUAL(t, noise + h.round.largest, all->most);
    /* Proofs need room, too: there is less than for the ciphertexts of all. */
    sotto_arena_init(&small, (noise + (size_t)h.round.largest) * each * 4 / 3);
    sotto_aero_aggregator *s = join_in(t, &h, &small);
    CHECK(t, s->most < noise + h.round.largest);
    for (uint32_t i = 0; i < h.plan.clients; i++)
        CHECK_STATUS(t, noise + i < s->most ? SOTTO_OK : SOTTO_STALE, promise(t, &h, s, i));
    sotto_aero_server.leave(&s->base.machine);
    sotto_arena_clear(&small);
    sotto_arena_clear(&large);
    hall_close(&h);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_leaf_that_is_not_in_the_posted_tree_is_a_fraud),
        CASE(a_leaf_that_nobody_is_shown_is_not_opened),
        CASE(an_answer_on_the_board_is_enough),
        CASE(a_device_is_answered_as_often_as_it_may_ask),
        CASE(a_complaint_that_is_made_up_stops_nothing),
        CASE(the_leaves_are_counted_in_the_tree),
        CASE(a_member_opens_for_those_who_signed_and_not_forever),
        CASE(a_member_answers_an_attempt_once),
        CASE(nobody_opens_after_eight_retries),
        CASE(slot_0_counts_the_leaves),
        CASE(nine_attempts_take_the_room_of_one),
        CASE(a_server_that_was_restored_holds_a_reveal_once),
        CASE(no_more_is_promised_than_there_is_room_for),
    };
    return RUN_TESTS(argc, argv, cases);
}
