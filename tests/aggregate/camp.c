#include "camp.h"

#include "aggregate/shared/mask.h"
#include "crypto/hash.h"

#include <string.h>

/* ---- people ------------------------------------------------------------------------------------------ */

static sotto_self self_of(camp *s, sotto_part part, uint32_t index)
{
    return (sotto_self){.part = part,
                        .index = index,
                        .keys = &s->c.cast.clients[index],
                        .seed = {(uint8_t)(index + 1), (uint8_t)s->c.round.number},
                        .secrets = &s->c.cast.secrets[index]};
}

static uint32_t member(const camp *s, uint32_t place)
{
    return s->c.cast.decryptors->record.members[place];
}

static void join(camp *s, uint32_t place)
{
    sotto_self self = self_of(s, SOTTO_PART_DECRYPTOR, member(s, place));

    CHECK_OK(s->t, sotto_flamingo_decryptor.join(&s->machines[place], &s->c.round, &self,
                                                 &s->t->arena, &s->t->err));
}

void camp_open(sotto_test *t, camp *s, camp_plan plan)
{
    sotto_round *round = &s->c.round;

    memset(s, 0, sizeof *s);
    s->t = t;
    round_case_init(t, &s->c, FLAMINGO_ROW, plan.clients, SOTTO_RING_Z32, CAMP_LENGTH, plan.seed);
    sotto_decryptors_close(s->c.cast.decryptors);
    CHECK_OK(t, sotto_sim_cast_decryptors(&s->c.cast, plan.members, round, plan.seed, &t->arena,
                                          &t->err));
    round->decryptors = s->c.cast.decryptors;
    round->number += plan.number;
    round->least = plan.least;
    s->parameters = (sotto_flamingo_parameters){.cohort = plan.cohort ? plan.cohort : plan.clients,
                                                .neighbours = plan.neighbours ? plan.neighbours : 1,
                                                .edge = plan.edge ? plan.edge : UINT64_MAX};
    round->largest = s->parameters.cohort;
    memcpy(s->parameters.decryptors, round->decryptors->digest, 32);
    round_case_set_flamingo(t, round, &s->parameters);
    CHECK_OK(
        t, sotto_flamingo_read_round(round, &s->parameters, &s->graph, s->id, &t->arena, &t->err));
    for (uint32_t i = 0; i < plan.members; i++)
        join(s, i);
}

void camp_close(camp *s)
{
    for (uint32_t i = 0; i < CAMP_MOST; i++)
        if (s->machines[i])
            sotto_flamingo_decryptor.leave(s->machines[i]);
    round_case_clear(&s->c);
}

void camp_forget(camp *s, uint32_t place)
{
    sotto_flamingo_decryptor.leave(s->machines[place]);
    join(s, place);
}

bool camp_report(camp *s, uint32_t client)
{
    sotto_self self = self_of(s, SOTTO_PART_CLIENT, client);
    sotto_machine *machine;
    sotto_effects effects;

    s->sent[client] = s->c.inputs[client];
    s->sent[client].of.z32 = sotto_arena_take_array(&s->t->arena, CAMP_LENGTH, 4);
    CHECK(s->t, s->sent[client].of.z32 != NULL);
    memcpy(s->sent[client].of.z32, s->c.inputs[client].of.z32, (size_t)4 * CAMP_LENGTH);
    CHECK_OK(s->t,
             sotto_flamingo_client.join(&machine, &s->c.round, &self, &s->t->arena, &s->t->err));
    sotto_effects_init(&effects, &s->t->arena);
    CHECK_OK(s->t, sotto_flamingo_client.tick(machine, s->c.round.opens, &effects, &s->t->err));
    bool sends = effects.wants_vector &&
                 sotto_flamingo_client.offer(machine, &s->sent[client], &effects, NULL) == SOTTO_OK;
    if (sends) {
        s->report[client] = effects.sent->message.body;
        s->signature[client] = effects.sent->message.signature;
    }
    sotto_flamingo_client.leave(machine);
    return sends;
}

void camp_report_all(camp *s)
{
    for (uint32_t i = 0; i < s->graph.count; i++)
        CHECK(s->t, camp_report(s, s->graph.cohort[i]));
}

/* ---- telling ----------------------------------------------------------------------------------------- */

static uint8_t *rows_of(camp *s, size_t count, size_t size)
{
    uint8_t *rows = sotto_arena_take_array(&s->t->arena, count + 1, size);

    CHECK(s->t, rows != NULL);
    return rows;
}

static sotto_bytes encoded(camp *s, unsigned kind, const sotto_flamingo_body *body)
{
    size_t size = sotto_flamingo_body_size(kind, body);
    sotto_buf out = sotto_buf_over(sotto_arena_take(&s->t->arena, size + 1), size);

    CHECK(s->t, out.data != NULL);
    CHECK_OK(s->t, sotto_flamingo_body_encode(&out, kind, body, &s->t->err));
    return sotto_buf_bytes(&out);
}

static void write_answer(camp *s, uint32_t place, const sotto_message *m,
                         const sotto_flamingo_body *asked, uint32_t set)
{
    sotto_flamingo_body body;

    CHECK_OK(s->t, sotto_flamingo_body_decode(&body, SOTTO_FLAMINGO_ANSWER, s->c.clients, m->body,
                                              &s->t->err));
    s->answers++;
    for (size_t i = 0; i < body.a.count; i++) {
        const uint8_t *row = sotto_rows_at(&body.a, i);

        memcpy(s->shares[sotto_row_index(row)][place], row + 4, SOTTO_SHAMIR_SHARE);
        s->has_share[sotto_row_index(row)][place] = true;
    }
    for (size_t i = 0; i < body.b.count; i++) {
        const uint8_t *want = sotto_rows_at(&asked->c, i), *part = sotto_rows_at(&body.b, i);
        camp_part *p = &s->parts[sotto_row_index(want)][sotto_row_index(want + 4)][place];

        p->is_there = part[0] != 0;
        p->set = set;
        memcpy(p->sealed, want + 8, sizeof p->sealed);
        memcpy(p->part, part, sizeof p->part);
    }
}

static sotto_status tell(camp *s, uint32_t place, unsigned kind, const sotto_flamingo_body *body,
                         uint32_t set)
{
    sotto_message m = {.epoch = s->c.round.epoch,
                       .round = s->c.round.number,
                       .kind = (uint16_t)kind,
                       .from = SOTTO_TO_SERVER,
                       .to = member(s, place)};
    uint8_t signature[SOTTO_SIGNATURE];
    sotto_status verdict;
    sotto_effects effects;

    memcpy(m.session, s->c.round.session, sizeof m.session);
    m.body = encoded(s, kind, body);
    CHECK_OK(s->t, sotto_message_sign(&m, signature, &s->c.cast.server, &s->t->err));
    verdict = sotto_flamingo_check(&s->c.round, &m, &s->t->arena, NULL);
    if (verdict != SOTTO_OK)
        return verdict;
    sotto_effects_init(&effects, &s->t->arena);
    CHECK_OK(s->t, sotto_flamingo_decryptor.deliver(s->machines[place], &m, 1, &verdict, &effects,
                                                    &s->t->err));
    s->t->err = (sotto_err){0};
    for (const sotto_effect_vow *v = effects.vows; v; v = v->next)
        s->vow = v->vow;
    for (const sotto_effect_message *e = effects.sent; e; e = e->next) {
        CHECK_OK(s->t, sotto_flamingo_check(&s->c.round, &e->message, &s->t->arena, &s->t->err));
        if (e->message.kind == SOTTO_FLAMINGO_VOTE && s->voted[place] < 2) {
            camp_vote *v = &s->votes[place][s->voted[place]++];

            memcpy(v->digest, e->message.body.data, 32);
            memcpy(v->signature, e->message.signature.data, SOTTO_SIGNATURE);
        } else if (e->message.kind == SOTTO_FLAMINGO_ANSWER) {
            write_answer(s, place, &e->message, body, set);
        }
    }
    return verdict;
}

/* Somebody without a report is online all the same, with a signature of zeros. */
static sotto_flamingo_body labels_of(camp *s, uint32_t online)
{
    uint8_t *bits = rows_of(s, 1, 8), *rows = rows_of(s, CAMP_MOST, SOTTO_FLAMINGO_SEEN_ROW);
    sotto_flamingo_body body = {.head = {bits, (s->c.clients + 7) / 8},
                                .a = {rows, 0, SOTTO_FLAMINGO_SEEN_ROW}};

    for (uint32_t i = 0; i < s->c.clients; i++) {
        uint8_t *row = rows + body.a.count * SOTTO_FLAMINGO_SEEN_ROW;

        if (!(online >> i & 1))
            continue;
        sotto_bits_set(bits, i);
        if (s->unlisted && !s->report[i].data)
            continue;
        sotto_row_put_index(row, i);
        sotto_row_put_index(row + 4, (uint32_t)s->report[i].len);
        if (s->report[i].data) {
            sotto_hash_once(row + 8, SOTTO_SHA256, s->report[i]);
            memcpy(row + 40, s->signature[i].data, SOTTO_SIGNATURE);
        }
        body.a.count++;
    }
    return body;
}

sotto_status camp_show(camp *s, uint32_t place, uint32_t online)
{
    sotto_flamingo_body body = labels_of(s, online);

    return tell(s, place, SOTTO_FLAMINGO_LABELS, &body, 0);
}

void camp_show_all(camp *s, uint32_t places, uint32_t online)
{
    for (uint32_t i = 0; i < s->c.cast.decryptors->record.count; i++)
        if (places >> i & 1)
            (void)camp_show(s, i, online);
}

/* ---- asking ------------------------------------------------------------------------------------------ */

static void sign_as_stranger(camp *s, uint8_t *row, uint32_t client, const uint8_t digest[32])
{
    sotto_message m = {.epoch = s->c.round.epoch,
                       .round = s->c.round.number,
                       .kind = SOTTO_FLAMINGO_VOTE,
                       .from = client,
                       .to = SOTTO_TO_SERVER,
                       .body = {digest, 32}};

    memcpy(m.session, s->c.round.session, sizeof m.session);
    sotto_row_put_index(row, client);
    CHECK_OK(s->t, sotto_message_sign(&m, row + 4, &s->c.cast.clients[client], &s->t->err));
}

static void write_votes(camp *s, sotto_rows *rows, uint8_t *at, const uint8_t digest[32],
                        const camp_question *q)
{
    for (uint32_t client = 0; client < s->c.clients; client++) {
        int place = sotto_decryptors_place(s->c.cast.decryptors, client);
        uint8_t *row = at + rows->count * SOTTO_FLAMINGO_VOTE_ROW;
        unsigned which = 0;

        if (place < 0 && s->strangers >> client & 1) {
            sign_as_stranger(s, row, client, digest);
            rows->count++;
        }
        if (place < 0)
            continue;
        while (which < s->voted[place] && memcmp(s->votes[place][which].digest, digest, 32) != 0)
            which++;
        if (which == s->voted[place] && !q->forge_votes)
            continue;
        sotto_row_put_index(row, client);
        if (which < s->voted[place])
            memcpy(row + 4, s->votes[place][which].signature, SOTTO_SIGNATURE);
        rows->count++;
        if (!q->twice)
            continue;
        memcpy(row + SOTTO_FLAMINGO_VOTE_ROW, row, SOTTO_FLAMINGO_VOTE_ROW);
        rows->count++;
    }
}

static sotto_flamingo_body report_of(camp *s, const camp *from, uint32_t client)
{
    sotto_flamingo_body report;

    CHECK_OK(s->t, sotto_flamingo_body_decode(&report, SOTTO_FLAMINGO_REPORT, s->c.clients,
                                              from->report[client], &s->t->err));
    return report;
}

static void write_shares(camp *s, sotto_rows *rows, uint8_t *at, uint32_t place, uint32_t clients)
{
    for (uint32_t i = 0; i < s->c.clients; i++) {
        uint8_t *row = at + rows->count * SOTTO_FLAMINGO_SHARE_ROW;

        if (!(clients >> i & 1))
            continue;
        /* Turned, with everybody a decryptor: places are indices. */
        sotto_flamingo_body report =
            report_of(s, s->shares_of ? s->shares_of : s, s->turned ? place : i);
        sotto_row_put_index(row, i);
        memcpy(row + 4, sotto_rows_at(&report.a, s->turned ? i : place),
               SOTTO_FLAMINGO_SEALED_SHARE);
        rows->count++;
    }
}

static void write_edges(camp *s, sotto_rows *rows, uint8_t *at, const camp_question *q)
{
    for (uint32_t i = 0; i < s->c.clients; i++)
        for (uint32_t j = 0; j < s->c.clients; j++) {
            uint8_t *row = at + rows->count * SOTTO_FLAMINGO_WANT_ROW;
            const camp *from = s->edges_of ? s->edges_of : s;
            const uint8_t *edge = NULL;

            if (!(q->from >> i & 1) || !(q->to >> j & 1) || i == j)
                continue;
            if (from->report[i].data) {
                sotto_flamingo_body report = report_of(s, from, i);
                edge = sotto_rows_find(&report.b, j);
            }
            if (q->drawn && !edge)
                continue;
            sotto_row_put_index(row, i);
            sotto_row_put_index(row + 4, j);
            if (s->instead)
                memcpy(row + 8, *s->instead, SOTTO_TDH2_SEALED);
            else if (edge)
                memcpy(row + 8, edge + 4, SOTTO_TDH2_SEALED);
            rows->count++;
        }
}

sotto_status camp_ask(camp *s, uint32_t place, const camp_question *q)
{
    uint8_t head[SOTTO_FLAMINGO_OPEN_HEAD] = {0};
    uint8_t *votes = rows_of(s, (size_t)2 * CAMP_MOST, SOTTO_FLAMINGO_VOTE_ROW);
    uint8_t *shares = rows_of(s, CAMP_MOST, SOTTO_FLAMINGO_SHARE_ROW);
    uint8_t *edges = rows_of(s, (size_t)CAMP_MOST * CAMP_MOST, SOTTO_FLAMINGO_WANT_ROW);
    sotto_flamingo_body body = {.head = {head, sizeof head},
                                .a = {votes, 0, SOTTO_FLAMINGO_VOTE_ROW},
                                .b = {shares, 0, SOTTO_FLAMINGO_SHARE_ROW},
                                .c = {edges, 0, SOTTO_FLAMINGO_WANT_ROW}};
    sotto_flamingo_body labels = labels_of(s, q->labels);

    sotto_hash_once(head, SOTTO_SHA256, encoded(s, SOTTO_FLAMINGO_LABELS, &labels));
    head[32] = 1;
    head[34] = (uint8_t)q->set;
    write_votes(s, &body.a, votes, head, q);
    write_shares(s, &body.b, shares, place, q->shares);
    write_edges(s, &body.c, edges, q);
    return tell(s, place, SOTTO_FLAMINGO_OPEN, &body, q->set);
}

void camp_ask_set(camp *s, camp_question q)
{
    for (uint32_t i = 0; i < s->c.cast.decryptors->record.count; i++)
        if (q.set >> i & 1)
            (void)camp_ask(s, i, &q);
}

/* ---- what the server makes of it --------------------------------------------------------------------- */

typedef struct guess {
    const camp *s;
    uint32_t client;
} guess;

static bool is_right(void *context, const uint8_t secret[32])
{
    const guess *g = context;
    uint8_t commitment[32];

    return sotto_flamingo_commit(commitment, secret, g->s->id, g->client, NULL) == SOTTO_OK &&
           memcmp(commitment, g->s->report[g->client].data, 32) == 0;
}

bool camp_knows_self(camp *s, uint32_t client, uint8_t seed[32])
{
    sotto_shamir_point points[CAMP_MOST];
    guess g = {s, client};
    uint8_t secret[32];
    size_t count = 0;

    for (uint32_t i = 0; i < CAMP_MOST; i++)
        if (s->has_share[client][i])
            points[count++] = (sotto_shamir_point){i, s->shares[client][i], false};
    uint32_t threshold = sotto_decryptors_threshold(s->c.cast.decryptors->record.count);
    return sotto_shamir_find_vartime(secret, points, count, threshold, is_right, &g, NULL) ==
               SOTTO_OK &&
           sotto_flamingo_self_seed(seed, secret, s->id, client, NULL) == SOTTO_OK;
}

bool camp_knows_edge(camp *s, uint32_t from, uint32_t to, uint8_t seed[32])
{
    const uint8_t *parts[CAMP_MOST], *sealed = NULL;
    uint8_t label[SOTTO_TDH2_LABEL];
    size_t count = 0;

    for (uint32_t i = 0; i < CAMP_MOST; i++)
        if (s->parts[from][to][i].is_there) {
            parts[count++] = s->parts[from][to][i].part;
            sealed = s->parts[from][to][i].sealed;
        }
    sotto_tdh2_label(label, s->edges_of ? s->edges_of->id : s->id, from, to);
    return sealed && sotto_tdh2_open_vartime(&s->c.cast.decryptors->tdh2, seed, sealed, label,
                                             parts, count, NULL) == SOTTO_OK;
}

/* What a client of the server's tells it: no mask between the two is a secret. */
static bool told_edge(camp *s, uint32_t own, uint32_t other, uint8_t seed[32])
{
    const sotto_self self = self_of(s, SOTTO_PART_CLIENT, own);
    uint8_t agreed[32];

    return sotto_flamingo_agree(agreed, &self, &s->c.round, other, SOTTO_FLAMINGO_PAIR, NULL) ==
               SOTTO_OK &&
           sotto_pair_seed(seed, agreed, s->id, own, other, NULL) == SOTTO_OK;
}

static bool has_edge(camp *s, uint32_t from, uint32_t to)
{
    const sotto_flamingo_body report = report_of(s, s, from);

    return sotto_rows_find(&report.b, to) != NULL;
}

static void take_masks(camp *s, sotto_vector *v, uint32_t client, uint32_t own)
{
    uint8_t seed[32];

    if (camp_knows_self(s, client, seed))
        CHECK_OK(s->t, sotto_mask_apply(v, seed, -1, &s->t->err));
    for (uint32_t j = 0; j < s->c.clients; j++)
        if (j != client && has_edge(s, client, j) &&
            (camp_knows_edge(s, client, j, seed) || camp_knows_edge(s, j, client, seed) ||
             ((own >> j & 1) && told_edge(s, j, client, seed))))
            CHECK_OK(s->t, sotto_mask_apply(v, seed, -sotto_pair_sign(client, j), &s->t->err));
}

/* Masks between two clients of the set cancel by themselves: what is known of them is taken from both, and changes nothing. */
bool camp_sums(camp *s, uint32_t clients, uint32_t own)
{
    uint32_t masked[CAMP_LENGTH] = {0}, plain[CAMP_LENGTH] = {0};
    sotto_vector v = {.ring = SOTTO_RING_Z32, .length = CAMP_LENGTH, .of.z32 = masked};

    for (uint32_t i = 0; i < s->c.clients; i++)
        for (size_t e = 0; (clients >> i & 1) && e < CAMP_LENGTH; e++) {
            masked[e] += s->sent[i].of.z32[e];
            plain[e] += s->c.inputs[i].of.z32[e];
        }
    for (uint32_t i = 0; i < s->c.clients; i++)
        if (clients >> i & 1)
            take_masks(s, &v, i, own);
    return memcmp(masked, plain, sizeof masked) == 0;
}

bool camp_reads(camp *s, uint32_t client)
{
    return camp_sums(s, UINT32_C(1) << client, 0);
}
