/* Puts together what the decryptors answered. Everything here is the server's to know: its time depends on it. */
#include "aggregate/flamingo/server.h"

#include "aggregate/shared/crew.h"
#include "aggregate/shared/mask.h"
#include "aggregate/shared/p256_sum.h"
#include "base/rule.h"

#include <string.h>

/* ---- what is wanted --------------------------------------------------------------------------------------- */

static sotto_status report_of(const flamingo_server *s, sotto_flamingo_body *out, uint32_t client,
                              sotto_err *err)
{
    return sotto_flamingo_body_decode(out, SOTTO_FLAMINGO_REPORT, s->round->registered,
                                      s->clients[client].report, err);
}

/* Rows for the edges of one online client; with at NULL they are only counted. */
static sotto_status want_of(const flamingo_server *s, uint32_t client, uint8_t *at, size_t *count,
                            sotto_err *err)
{
    sotto_flamingo_body report;

    SOTTO_TRY(report_of(s, &report, client, err));
    for (size_t i = 0; i < report.b.count; i++) {
        const uint8_t *edge = sotto_rows_at(&report.b, i);

        if (sotto_bits_has(s->online, sotto_row_index(edge)))
            continue;
        if (at) {
            uint8_t *row = at + *count * SOTTO_FLAMINGO_WANT_ROW;

            sotto_row_put_index(row, client);
            memcpy(row + 4, edge, SOTTO_FLAMINGO_EDGE_ROW);
        }
        ++*count;
    }
    return SOTTO_OK;
}

sotto_status sotto_flamingo_server_want(flamingo_server *s, sotto_err *err)
{
    uint32_t registered = (uint32_t)s->round->registered;
    size_t count = 0;
    uint8_t *at;

    for (uint32_t i = 0; i < registered; i++)
        if (sotto_bits_has(s->online, i))
            SOTTO_TRY(want_of(s, i, NULL, &count, err));
    at = sotto_arena_take_array(s->arena, count + 1, SOTTO_FLAMINGO_WANT_ROW);
    if (!at)
        return sotto_fail(err, SOTTO_NO_MEMORY, "flamingo server: no memory");
    count = 0;
    for (uint32_t i = 0; i < registered; i++)
        if (sotto_bits_has(s->online, i))
            SOTTO_TRY(want_of(s, i, at, &count, err));
    s->wanted = (sotto_rows){at, count, SOTTO_FLAMINGO_WANT_ROW};
    return SOTTO_OK;
}

/* ---- self masks ------------------------------------------------------------------------------------------- */

typedef struct committed {
    const flamingo_server *s;
    const uint8_t *commitment;
    uint32_t client;
} committed;

static bool is_committed(void *context, const uint8_t secret[32])
{
    const committed *c = context;
    uint8_t commitment[32];

    return sotto_flamingo_commit(commitment, secret, c->s->id, c->client, NULL) == SOTTO_OK &&
           memcmp(commitment, c->commitment, sizeof commitment) == 0;
}

typedef struct answers {
    sotto_flamingo_body body[SOTTO_DECRYPTORS_MOST]; /* of any attempt: shares stay the same */
    bool is_there[SOTTO_DECRYPTORS_MOST];
} answers;

static void read_answers(const flamingo_server *s, answers *all)
{
    for (uint32_t i = 0; i < s->round->decryptors->record.count; i++) {
        all->body[i] = s->decryptors[i].body;
        all->is_there[i] = all->body[i].head.data && !(s->decryptors[i].flags & DECRYPTOR_OUT);
    }
}

/* Whether a decryptor shows what the client signed for. If not, it made it up: an honest one keeps silent instead. */
static bool is_dealt(const flamingo_server *s, const sotto_flamingo_body *report, uint32_t client,
                     uint32_t place, const uint8_t *share)
{
    uint32_t member = s->round->decryptors->record.members[place];
    const uint8_t *wanted = sotto_rows_at(&report->a, place) + SOTTO_FLAMINGO_SHARE_TEXT;
    uint8_t digest[32];

    sotto_flamingo_share_digest(digest, share, client, member);
    if (SOTTO_RULE(flamingo_share_checked) && memcmp(digest, wanted, sizeof digest) != 0)
        return false;
    return sotto_shamir_is_share(share);
}

typedef struct seed_search {
    sotto_shamir_point points[SOTTO_DECRYPTORS_MOST];
    size_t count;
    uint32_t liars[SOTTO_DECRYPTORS_MOST]; /* who showed another share than was dealt */
    size_t liar_count;
    bool client_lied; /* not all that it dealt is of one polynomial */
    /* Most clients have shares from the same decryptors, and most decryptors answer for all clients. */
    sotto_shamir_weights known;
    size_t near[SOTTO_DECRYPTORS_MOST];
} seed_search;

static void start_search(seed_search *f)
{
    f->known.count = 0;
    memset(f->near, 0, sizeof f->near);
}

/* Every share that is left is the client's word: whichever does not fit, the client lied. */
static server_outcome find_seed(const flamingo_server *s, const answers *all, uint32_t client,
                                uint8_t secret[32], seed_search *f)
{
    const sotto_decryptors_record *committee = &s->round->decryptors->record;
    sotto_flamingo_body report;

    f->count = f->liar_count = 0;
    f->client_lied = false;
    if (report_of(s, &report, client, NULL) != SOTTO_OK)
        return OUTCOME_DEALT;
    committed c = {s, report.head.data, client};
    for (uint32_t i = 0; i < committee->count; i++) {
        const uint8_t *row =
            all->is_there[i] ? sotto_rows_find_next(&all->body[i].a, client, &f->near[i]) : NULL;

        if (row && is_dealt(s, &report, client, i, row + 4))
            f->points[f->count++] = (sotto_shamir_point){i, row + 4, false};
        else if (row)
            f->liars[f->liar_count++] = committee->members[i];
    }
    sotto_status status = sotto_shamir_find_next_vartime(
        secret, f->points, f->count, sotto_decryptors_threshold(committee->count), is_committed, &c,
        &f->known, NULL);
    if (status != SOTTO_OK)
        return status == SOTTO_AGAIN ? OUTCOME_SHARES : OUTCOME_DEALT;
    for (size_t i = 0; i < f->count; i++)
        f->client_lied = f->client_lied || f->points[i].wrong;
    return OUTCOME_WHOLE;
}

enum { NOT_OPENED = 0xff }; /* where a row has its sign */

typedef struct self_work {
    const flamingo_server *s;
    const answers *all;
    const uint32_t *online;
    uint8_t *rows; /* a mask row for each of them */
} self_work;

static sotto_status write_self(const flamingo_server *s, uint8_t *at, const uint8_t secret[32],
                               uint32_t client, sotto_err *err)
{
    sotto_buf row = sotto_buf_over(at, SOTTO_MASK_ROW);
    uint8_t seed[32];

    SOTTO_TRY(sotto_flamingo_self_seed(seed, secret, s->id, client, err));
    sotto_mask_row_add(&row, -1, seed);
    sotto_wipe(seed, sizeof seed);
    return SOTTO_OK;
}

/* Those of whom nobody lied. */
static sotto_status open_clean(void *context, size_t first, size_t end, sotto_err *err)
{
    const self_work *w = context;
    sotto_status status = SOTTO_OK;
    uint8_t secret[32] = {0};
    seed_search f;

    start_search(&f);
    for (size_t i = first; i < end && status == SOTTO_OK; i++)
        if (find_seed(w->s, w->all, w->online[i], secret, &f) == OUTCOME_WHOLE &&
            f.liar_count == 0 && !f.client_lied)
            status = write_self(w->s, w->rows + i * SOTTO_MASK_ROW, secret, w->online[i], err);
    sotto_wipe(secret, sizeof secret);
    return status;
}

/* One that is left, with blame. */
static sotto_status open_blamed(flamingo_server *s, const self_work *w, size_t i,
                                server_outcome *out, sotto_err *err)
{
    uint8_t secret[32] = {0};
    seed_search f;

    start_search(&f);
    *out = find_seed(s, w->all, w->online[i], secret, &f);
    for (size_t l = 0; l < f.liar_count; l++)
        sotto_flamingo_server_blame(s, f.liars[l]);
    if (f.client_lied)
        sotto_flamingo_server_blame(s, w->online[i]);
    const sotto_status status = *out == OUTCOME_WHOLE ? write_self(s, w->rows + i * SOTTO_MASK_ROW,
                                                                   secret, w->online[i], err)
                                                      : SOTTO_OK;
    sotto_wipe(secret, sizeof secret);
    return status;
}

static sotto_status open_selves(flamingo_server *s, server_outcome *out, uint32_t *client,
                                sotto_err *err)
{
    const uint32_t registered = (uint32_t)s->round->registered;
    answers *all = sotto_arena_take(s->arena, sizeof *all);
    uint32_t *online = sotto_arena_take_array(s->arena, registered, sizeof *online);
    self_work w = {s, all, online, s->opening.data + s->opening.len};
    size_t count = 0;

    if (!all || !online)
        return sotto_fail(err, SOTTO_NO_MEMORY, "flamingo server: no memory");
    read_answers(s, all);
    for (uint32_t i = 0; i < registered; i++)
        if (sotto_bits_has(s->online, i)) {
            w.rows[count * SOTTO_MASK_ROW] = NOT_OPENED;
            online[count++] = i;
        }
    SOTTO_TRY(sotto_crew_run(open_clean, &w, count, err));
    for (size_t i = 0; i < count && *out == OUTCOME_WHOLE; i++) {
        if (w.rows[i * SOTTO_MASK_ROW] != NOT_OPENED)
            continue;
        SOTTO_TRY(open_blamed(s, &w, i, out, err));
        *client = online[i];
    }
    s->opening.len += count * SOTTO_MASK_ROW;
    return SOTTO_OK;
}

/* ---- pair masks ------------------------------------------------------------------------------------------- */

/* The weighted answers to this attempt, ready to be added up. SOTTO_BUG: not all of them are there. */
static sotto_status collect(const flamingo_server *s, const uint8_t **parts, uint32_t *count)
{
    uint32_t places[SOTTO_DECRYPTORS_MOST];
    sotto_flamingo_body body;

    *count = sotto_flamingo_answerers(s->round, s->set, places);
    for (uint32_t i = 0; i < *count; i++) {
        if (!sotto_flamingo_server_answer(s, places[i], &body) || body.b.count != s->wanted.count)
            return SOTTO_BUG;
        parts[i] = body.b.at;
    }
    return *count ? SOTTO_OK : SOTTO_BUG;
}

typedef struct pair_work {
    const flamingo_server *s;
    const uint8_t
        *parts[SOTTO_DECRYPTORS_MOST]; /* of the first edge; those of the next lie behind */
    uint32_t count;
    uint8_t *rows; /* a mask row for each edge */
} pair_work;

/* By the sum of its parts where there is one. False: the parts do not open it. */
static bool open_pair(const pair_work *w, sotto_tdh2 *t, size_t edge, const uint8_t *shared)
{
    const uint8_t *want = sotto_rows_at(&w->s->wanted, edge), *parts[SOTTO_DECRYPTORS_MOST];
    const uint32_t from = sotto_row_index(want), to = sotto_row_index(want + 4);
    sotto_buf row = sotto_buf_over(w->rows + edge * SOTTO_MASK_ROW, SOTTO_MASK_ROW);
    uint8_t label[SOTTO_TDH2_LABEL], seed[32];
    sotto_status status;

    sotto_tdh2_label(label, w->s->id, from, to);
    for (uint32_t i = 0; i < w->count; i++)
        parts[i] = w->parts[i] + edge * SOTTO_TDH2_PART;
    if (shared)
        status = sotto_tdh2_open_at(t, seed, want + 8, label, shared, NULL);
    else
        status = sotto_tdh2_open_vartime(t, seed, want + 8, label, parts, w->count, NULL);
    if (status == SOTTO_OK)
        sotto_mask_row_add(&row, -sotto_pair_sign(from, to), seed);
    sotto_wipe(seed, sizeof seed);
    return status == SOTTO_OK;
}

/* Up to SOTTO_P256_SUMS edges, whose parts are added up side by side. */
static bool open_batch(const pair_work *w, sotto_tdh2 *t, size_t first, size_t count)
{
    const uint8_t *parts[SOTTO_DECRYPTORS_MOST];
    uint8_t shared[SOTTO_P256_SUMS][SOTTO_P256_WIDE];
    bool done[SOTTO_P256_SUMS], opened = true;

    for (uint32_t i = 0; i < w->count; i++)
        parts[i] = w->parts[i] + first * SOTTO_TDH2_PART;
    sotto_p256_sum_many_vartime(shared, done, parts, w->count, SOTTO_TDH2_PART, count);
    for (size_t i = 0; i < count && opened; i++)
        opened = open_pair(w, t, first + i, done[i] ? shared[i] : NULL);
    sotto_wipe(shared, sizeof shared);
    return opened;
}

/* The committee's object has scratch: every other thread has one of its own. */
static sotto_status open_some(void *context, size_t first, size_t end, sotto_err *err)
{
    const pair_work *w = context;
    sotto_tdh2 own = {0}, *t = first == 0 ? &w->s->round->decryptors->tdh2 : &own;
    const sotto_status status = first == 0 ? SOTTO_OK : sotto_tdh2_init(&own, err);

    for (size_t e = first; e < end && status == SOTTO_OK; e += SOTTO_P256_SUMS)
        if (!open_batch(w, t, e, end - e < SOTTO_P256_SUMS ? end - e : SOTTO_P256_SUMS))
            break;
    if (first != 0)
        sotto_tdh2_clear(&own);
    return status;
}

static sotto_status open_pairs(flamingo_server *s, server_outcome *out, uint32_t *client,
                               sotto_err *err)
{
    pair_work w = {.s = s, .rows = s->opening.data + s->opening.len};

    if (s->wanted.count && collect(s, w.parts, &w.count) != SOTTO_OK)
        return sotto_fail(err, SOTTO_BUG, "flamingo server: answers are missing");
    for (size_t e = 0; e < s->wanted.count; e++)
        w.rows[e * SOTTO_MASK_ROW] = NOT_OPENED;
    SOTTO_TRY(sotto_crew_run(open_some, &w, s->wanted.count, err));
    for (size_t e = 0; e < s->wanted.count && *out == OUTCOME_WHOLE; e++)
        if (w.rows[e * SOTTO_MASK_ROW] == NOT_OPENED) {
            *out = OUTCOME_PARTS;
            *client = sotto_row_index(sotto_rows_at(&s->wanted, e));
        }
    s->opening.len += s->wanted.count * SOTTO_MASK_ROW;
    return SOTTO_OK;
}

sotto_status sotto_flamingo_server_recover(flamingo_server *s, server_outcome *out,
                                           uint32_t *client, sotto_err *err)
{
    size_t rows =
        sotto_bits_count(s->online, (size_t)(s->round->registered + 7) / 8) + s->wanted.count + 1;

    *out = OUTCOME_WHOLE;
    if (!s->opening.data)
        s->opening = sotto_buf_over(sotto_arena_take_array(s->arena, rows, SOTTO_MASK_ROW),
                                    rows * SOTTO_MASK_ROW);
    if (!s->opening.data)
        return sotto_fail(err, SOTTO_NO_MEMORY, "flamingo server: no memory");
    s->opening.len = 0;
    SOTTO_TRY(open_selves(s, out, client, err));
    if (*out != OUTCOME_WHOLE)
        return SOTTO_OK;
    return open_pairs(s, out, client, err);
}

/* ---- who lied --------------------------------------------------------------------------------------------- */

bool sotto_flamingo_server_bad_clients(flamingo_server *s)
{
    uint8_t label[SOTTO_TDH2_LABEL];
    bool found = false;

    for (size_t e = 0; e < s->wanted.count; e++) {
        const uint8_t *want = sotto_rows_at(&s->wanted, e);

        sotto_tdh2_label(label, s->id, sotto_row_index(want), sotto_row_index(want + 4));
        if (sotto_tdh2_is_valid_vartime(&s->round->decryptors->tdh2, want + 8, label))
            continue;
        sotto_flamingo_server_blame(s, sotto_row_index(want));
        found = true;
    }
    return found;
}

static bool is_proved(flamingo_server *s, uint32_t place, const sotto_scalar *weight)
{
    sotto_decryptors *d = s->round->decryptors;
    sotto_flamingo_claim claim;
    sotto_flamingo_body body;
    sotto_group *g = &d->tdh2.group;

    if (!sotto_flamingo_server_answer(s, place, &body) || !body.head.data[1] ||
        body.b.count != s->wanted.count ||
        !sotto_point_decode_wide(g, d->tdh2.at[5], d->record.verify[place]))
        return false;
    sotto_point_multiply(g, d->tdh2.at[5], weight, d->tdh2.at[5]);
    sotto_flamingo_claim_parts(&claim, s->id, d->record.members[place], s->set, &s->wanted, &body.b,
                               d->tdh2.at[5]);
    return sotto_dleq_holds_vartime(&d->tdh2, &claim.of, body.head.data + 2);
}

bool sotto_flamingo_server_bad_decryptors(flamingo_server *s)
{
    uint32_t places[SOTTO_DECRYPTORS_MOST], xs[SOTTO_DECRYPTORS_MOST];
    sotto_scalar weights[SOTTO_DECRYPTORS_MOST];
    uint32_t count = sotto_flamingo_answerers(s->round, s->set, places);
    bool found = false;

    for (uint32_t i = 0; i < count; i++)
        xs[i] = places[i] + 1;
    sotto_scalar_weights_vartime(&s->round->decryptors->tdh2.group, weights, xs, count);
    for (uint32_t i = 0; i < count; i++) {
        if (is_proved(s, places[i], &weights[i]))
            continue;
        s->decryptors[places[i]].flags |= DECRYPTOR_OUT;
        sotto_flamingo_server_blame(s, s->round->decryptors->record.members[places[i]]);
        found = true;
    }
    return found;
}
