/* Decryptors and clients that lie in whole rounds: the sum is right all the same, and whoever is named has lied. */
#include "rounds.h"

#include "aggregate/shared/crew.h"

#include "crypto/aead.h"

#include <string.h>

/* ---- decryptors that lie ----------------------------------------------------------------------------- */

typedef struct lie {
    size_t list; /* 0: shares, 1: parts */
    uint8_t body[65536];
} lie;

static bool lies(void *context, sotto_sim_net *net, sotto_message *m, sotto_bytes *bulk)
{
    lie *l = context;
    sotto_flamingo_body body;

    (void)net;
    (void)bulk;
    if (m->kind != SOTTO_FLAMINGO_ANSWER ||
        sotto_flamingo_body_decode(&body, m->kind, 10, m->body, NULL) != SOTTO_OK)
        return true;
    memcpy(l->body, m->body.data, m->body.len);
    const uint8_t *row = l->list ? body.b.at : body.a.at + 4 + 3;
    size_t at = (size_t)(row - m->body.data);
    if (l->list) /* another point: that of the next edge, or the generator's */
        memcpy(l->body + at, body.b.count > 1 ? row + SOTTO_TDH2_PART : row, SOTTO_TDH2_PART);
    else
        l->body[at] ^= 1;
    m->body.data = l->body;
    return true;
}

static void a_lying_decryptor_is_named_and_skipped(sotto_test *t)
{
    static lie l;
    unsigned report = SOTTO_FLAMINGO_REPORT;

    for (l.list = 0; l.list < 2; l.list++) {
        round_case c;

        round_case_init(t, &c, FLAMINGO_ROW, 10, SOTTO_RING_Z32, 5, 40 + l.list);
        sotto_sim_net *net = round_case_net(t, &c, 3);
        uint32_t liar = c.cast.decryptors->record.members[1];
        sotto_sim_net_lie(net, 4, sotto_sim_liar_silent, &report);
        sotto_sim_net_lie(net, 7, sotto_sim_liar_silent, &report);
        sotto_sim_net_lie(net, SOTTO_SIM_DECRYPTOR(liar), lies, &l);
        sotto_sim_report r = round_case_run(t, &c, net);
        CHECK(t, r.released && r.contributions == 8);
        CHECK_EQUAL(t, 1, r.blamed_count);
        CHECK_EQUAL(t, liar, r.blamed[0]);
        sotto_sim_net_free(net);
        round_case_clear(&c);
    }
}

typedef struct bender {
    unsigned
        how; /* 0: a vote for other labels; an answer 1: without its last part, 2: to another attempt */
    uint8_t body[65536];
} bender;

static bool bends(void *context, sotto_sim_net *net, sotto_message *m, sotto_bytes *bulk)
{
    bender *b = context;
    sotto_buf out = sotto_buf_over(b->body, sizeof b->body);
    uint8_t head[SOTTO_FLAMINGO_ANSWER_HEAD];
    sotto_flamingo_body body;

    (void)net;
    (void)bulk;
    if (b->how == 0 && m->kind == SOTTO_FLAMINGO_VOTE) {
        memcpy(b->body, m->body.data, m->body.len);
        b->body[5] ^= 1;
        m->body.data = b->body;
    }
    if (b->how == 0 || m->kind != SOTTO_FLAMINGO_ANSWER)
        return true;
    if (sotto_flamingo_body_decode(&body, m->kind, 10, m->body, NULL) != SOTTO_OK ||
        body.b.count == 0)
        return false;
    memcpy(head, body.head.data, sizeof head);
    head[0] = (uint8_t)(head[0] + (b->how == 2));
    body.head.data = head;
    body.b.count -= b->how == 1;
    if (sotto_flamingo_body_encode(&out, m->kind, &body, NULL) != SOTTO_OK)
        return false;
    m->body = sotto_buf_bytes(&out);
    return true;
}

/* It is refused, nobody else suffers, and nobody is called a liar whose message was not kept. */
static void what_a_decryptor_says_of_something_else_is_passed_over(sotto_test *t)
{
    static bender b;
    unsigned report = SOTTO_FLAMINGO_REPORT;

    for (b.how = 0; b.how < 3; b.how++) {
        round_case c;

        round_case_init(t, &c, FLAMINGO_ROW, 10, SOTTO_RING_Z32, 5, 70);
        sotto_sim_net *net = round_case_net(t, &c, 3);
        const uint32_t liar = c.cast.decryptors->record.members[1];
        sotto_sim_net_lie(net, 4, sotto_sim_liar_silent, &report);
        sotto_sim_net_lie(net, 7, sotto_sim_liar_silent, &report);
        sotto_sim_net_lie(net, SOTTO_SIM_DECRYPTOR(liar), bends, &b);
        const sotto_sim_report r = round_case_run(t, &c, net);
        CHECK(t, r.released && r.contributions == 8);
        CHECK_EQUAL(t, 0, r.blamed_count);
        CHECK_EQUAL(t, b.how == 2 ? 0 : 1, r.verdicts[SOTTO_REJECTED]);
        sotto_sim_net_free(net);
        round_case_clear(&c);
    }
}

/* ---- clients that lie -------------------------------------------------------------------------------- */

typedef struct framer {
    sotto_test *t;
    round_case *c;
    uint32_t client, place;
    bool signs; /* for the wrong share; or for the one that it should have dealt */
    uint8_t body[65536];
} framer;

/* The share for one decryptor is another, properly sealed. */
static bool frames(void *context, sotto_sim_net *net, sotto_message *m, sotto_bytes *bulk)
{
    framer *f = context;
    sotto_decryptors *d = f->c->cast.decryptors;
    uint32_t victim = d->record.members[f->place];
    sotto_self self = {.secrets = &f->c->cast.secrets[f->client], .index = f->client};
    uint8_t agreed[32], key[32], id[SOTTO_ROUND_ID], share[SOTTO_SHAMIR_SHARE];
    static const uint8_t nonce[SOTTO_AEAD_NONCE_SIZE];
    sotto_buf plain = sotto_buf_over(share, sizeof share);
    sotto_flamingo_body body;
    sotto_err *err = &f->t->err;

    (void)net;
    (void)bulk;
    if (m->kind != SOTTO_FLAMINGO_REPORT)
        return true;
    CHECK_OK(f->t, sotto_flamingo_body_decode(&body, m->kind, f->c->clients, m->body, err));
    memcpy(f->body, m->body.data, m->body.len);
    uint8_t *row = f->body + (sotto_rows_at(&body.a, f->place) - m->body.data);
    CHECK_OK(f->t, sotto_round_id(&f->c->round, id, err));
    CHECK_OK(f->t, sotto_flamingo_agree(agreed, &self, &f->c->round, victim, SOTTO_FLAMINGO_CHANNEL,
                                        err));
    CHECK_OK(f->t, sotto_flamingo_share_key(key, agreed, id, f->client, victim, err));
    CHECK_OK(f->t, sotto_aead_set_key(&d->tdh2.open, key, err));
    CHECK_OK(f->t, sotto_aead_set_key(&d->tdh2.seal, key, err));
    CHECK_OK(f->t, sotto_aead_open(&d->tdh2.open, &plain, nonce, (sotto_bytes){NULL, 0},
                                   sotto_bytes_of(row, SOTTO_FLAMINGO_SHARE_TEXT), err));
    share[0] ^= 1;
    sotto_buf sealed = sotto_buf_over(row, SOTTO_FLAMINGO_SHARE_TEXT);
    CHECK_OK(f->t, sotto_aead_seal(&d->tdh2.seal, &sealed, nonce, (sotto_bytes){NULL, 0},
                                   sotto_bytes_of(share, sizeof share), err));
    if (f->signs)
        sotto_flamingo_share_digest(row + SOTTO_FLAMINGO_SHARE_TEXT, share, f->client, victim);
    m->body.data = f->body;
    return true;
}

/* It would have an honest decryptor called a liar. */
static void a_client_can_not_frame_a_decryptor(sotto_test *t)
{
    static framer f;

    for (unsigned signs = 0; signs < 2; signs++) {
        round_case c;

        round_case_init(t, &c, FLAMINGO_ROW, 10, SOTTO_RING_Z32, 5, 50);
        f = (framer){.t = t, .c = &c, .place = 1, .signs = signs == 1};
        while (sotto_decryptors_place(c.cast.decryptors, f.client) >= 0)
            f.client++;
        sotto_sim_net *net = round_case_net(t, &c, 3);
        sotto_sim_net_lie(net, f.client, frames, &f);
        sotto_sim_report r = round_case_run(t, &c, net);
        CHECK(t, r.released && r.contributions == 10);
        CHECK_EQUAL(t, signs, r.blamed_count); /* what it signed for, it is blamed for */
        if (signs)
            CHECK_EQUAL(t, f.client, r.blamed[0]);
        sotto_sim_net_free(net);
        round_case_clear(&c);
    }
}

typedef struct cutter {
    unsigned cut; /* 0: an edge is missing; 1: a share is; 2: an edge is named as another */
    uint8_t body[65536];
} cutter;

static bool cuts(void *context, sotto_sim_net *net, sotto_message *m, sotto_bytes *bulk)
{
    cutter *c = context;
    sotto_buf out = sotto_buf_over(c->body, sizeof c->body);
    static uint8_t edges[SOTTO_FLAMINGO_EDGE_ROW * 16];
    sotto_flamingo_body body;

    (void)net;
    (void)bulk;
    if (m->kind != SOTTO_FLAMINGO_REPORT ||
        sotto_flamingo_body_decode(&body, m->kind, 10, m->body, NULL) != SOTTO_OK)
        return true;
    if (c->cut == 0)
        body.b.count--;
    else if (c->cut == 1)
        body.a.count--;
    memcpy(edges, body.b.at, body.b.count * SOTTO_FLAMINGO_EDGE_ROW);
    if (c->cut == 2) /* its last neighbour is called by its own name */
        sotto_row_put_index(edges + (body.b.count - 1) * SOTTO_FLAMINGO_EDGE_ROW, m->from);
    body.b.at = edges;
    if (sotto_flamingo_body_encode(&out, m->kind, &body, NULL) != SOTTO_OK)
        return false;
    m->body = sotto_buf_bytes(&out);
    return true;
}

typedef struct latecomer {
    sotto_test *t;
    uint64_t at;
} latecomer;

static bool comes_late(void *context, sotto_sim_net *net, sotto_message *m, sotto_bytes *bulk)
{
    static uint8_t bytes[65536];
    const latecomer *l = context;
    sotto_buf wire = sotto_buf_over(bytes, sizeof bytes);

    if (m->kind != SOTTO_FLAMINGO_REPORT)
        return true;
    CHECK_OK(l->t, sotto_message_encode(&wire, m, &l->t->err));
    CHECK_OK(l->t, sotto_sim_net_inject(net, SOTTO_TO_SERVER, sotto_buf_bytes(&wire), *bulk, l->at,
                                        &l->t->err));
    return false;
}

/* The window is closed, and labels are on their way to decryptors, whose votes take as long again. */
static void a_report_after_the_window_is_in_no_sum(sotto_test *t)
{
    const sotto_sim_faults slow = {.delay_least_ms = 100, .delay_most_ms = 100};
    latecomer late = {.t = t};
    round_case c;

    round_case_init(t, &c, FLAMINGO_ROW, 10, SOTTO_RING_Z32, 5, 80);
    sotto_sim_net *net = round_case_net(t, &c, 3);
    sotto_sim_net_faults(net, &slow);
    late.at = c.round.closes + 50;
    sotto_sim_net_lie(net, 8, comes_late, &late);
    const sotto_sim_report r = round_case_run(t, &c, net);
    CHECK(t, r.released && r.contributions == 9 && !r.counted[8]);
    CHECK_EQUAL(t, 1, r.verdicts[SOTTO_STALE]);
    sotto_sim_net_free(net);
    round_case_clear(&c);
}

/* Masks of a vector could not be taken away again: it does not count. */
static void a_report_that_does_not_fit_the_graph_does_not_count(sotto_test *t)
{
    unsigned silent = SOTTO_FLAMINGO_REPORT;
    static cutter c;

    for (c.cut = 0; c.cut < 3; c.cut++) {
        round_case r;

        round_case_init(t, &r, FLAMINGO_ROW, 10, SOTTO_RING_Z32, 5, 60);
        sotto_sim_net *net = round_case_net(t, &r, 3);
        sotto_sim_net_lie(net, 8, cuts, &c);
        sotto_sim_net_lie(net, 9, sotto_sim_liar_silent, &silent);
        sotto_sim_report report = round_case_run(t, &r, net);
        CHECK(t, report.released && report.contributions == 8);
        CHECK(t, !report.counted[8]);
        sotto_sim_net_free(net);
        round_case_clear(&r);
    }
}

/* Client 3 registered points of small order: everybody who shares a mask or a channel with it gets the same zeros. */
static void a_key_of_small_order_stops_nobody(sotto_test *t)
{
    round_case c;

    round_case_init(t, &c, FLAMINGO_ROW, 10, SOTTO_RING_Z32, 5, 51);
    memset((uint8_t *)(size_t)c.cast.registry.pair[3], 0, 32);
    memset((uint8_t *)(size_t)c.cast.registry.channel[3], 0, 32);
    memset(c.cast.secrets[3].agreed, 0, 10 * sizeof *c.cast.secrets[3].agreed);
    memset(c.cast.secrets[3].known, 3, 10);
    sotto_registry_root(&c.cast.registry, c.round.registry);
    sotto_sim_net *net = round_case_net(t, &c, 3);
    sotto_sim_report r = round_case_run(t, &c, net);
    CHECK(t, r.released && r.contributions == 10);
    CHECK_EQUAL(t, 0, r.blamed_count);
    sotto_sim_net_free(net);
    round_case_clear(&c);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_lying_decryptor_is_named_and_skipped),
        CASE(what_a_decryptor_says_of_something_else_is_passed_over),
        CASE(a_client_can_not_frame_a_decryptor),
        CASE(a_report_after_the_window_is_in_no_sum),
        CASE(a_report_that_does_not_fit_the_graph_does_not_count),
        CASE(a_key_of_small_order_stops_nobody),
    };
    sotto_crew_use(2); /* the first liar is the same on any number of threads */
    return RUN_TESTS(argc, argv, cases);
}
