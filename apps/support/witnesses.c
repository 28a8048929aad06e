#define _POSIX_C_SOURCE 200809L
#include "support/witnesses.h"

#include "base/rule.h"
#include "base/secret_file.h"
#include "sotto/random.h"

#include <stdio.h>
#include <string.h>

enum { DAY_MS = 24 * 3600 * 1000, TIMEOUT_MS = 10000, TOKENS = 1 << 14 };

/* ---- who they are ---------------------------------------------------------------------------------------------------- */

static sotto_status read_tokens(sotto_witnesses *w, const char *path, sotto_err *err)
{
    uint8_t bytes[TOKENS];
    sotto_buf text = sotto_buf_over(bytes, sizeof bytes - 1);
    uint32_t lines = 0;

    SOTTO_TRY(sotto_secret_file_read(&text, path, SOTTO_SECRET_GIVEN, err));
    text.data[text.len] = 0;
    for (char *line = (char *)text.data, *end; line && *line && lines < w->count; line = end) {
        end = strchr(line, '\n');
        if (end)
            *end++ = 0;
        (void)snprintf(w->tokens[lines], sizeof w->tokens[lines], "Bearer %.*s", SOTTO_BEARER,
                       line);
        lines++;
    }
    sotto_wipe(bytes, sizeof bytes);
    for (uint32_t i = 1; lines == 1 && i < w->count; i++)
        memcpy(w->tokens[i], w->tokens[0], sizeof w->tokens[i]);
    return lines == 1 || lines == w->count
               ? SOTTO_OK
               : sotto_fail(err, SOTTO_MALFORMED, "%.80s: %u tokens of %u witnesses", path, lines,
                            w->count);
}

sotto_status sotto_witnesses_open(sotto_witnesses *w, sotto_http_client *client,
                                  const char *witnesses, const char *tokens, sotto_err *err)
{
    memset(w, 0, sizeof *w);
    w->client = client;
    sotto_arena_init(&w->arena, (size_t)8 << 20);
    sotto_arena_init(&w->scratch, (size_t)256 << 20);
    SOTTO_TRY(sotto_key_file_read(&w->file, witnesses, err));
    w->count = (uint32_t)w->file.count;
    for (uint32_t i = 0; i < w->count; i++) {
        memcpy(w->keys[i], w->file.keys[i].public_key, SOTTO_SIGN_PUBLIC);
        if (!w->file.urls[i])
            return sotto_fail(
                err, SOTTO_MALFORMED,
                "%.80s: key %u has no URL: a line is a public key, a space and the URL", witnesses,
                i + 1);
    }
    if (w->count < SOTTO_DECRYPTORS_LEAST)
        return sotto_fail(err, SOTTO_DENIED, "%.80s: a beacon has at least %d witnesses", witnesses,
                          SOTTO_DECRYPTORS_LEAST);
    return read_tokens(w, tokens, err);
}

void sotto_witnesses_close(sotto_witnesses *w)
{
    sotto_wipe(w->tokens, sizeof w->tokens);
    sotto_arena_clear(&w->arena);
    sotto_arena_clear(&w->scratch);
}

static sotto_status call(sotto_witnesses *w, uint32_t place, sotto_http_method method,
                         const char *path, sotto_bytes body, sotto_http_response *response)
{
    const sotto_http_field fields[] = {{"Authorization", w->tokens[place]},
                                       {"Content-Type", "application/octet-stream"}};
    const char *url = w->file.urls[place];
    char full[2048];

    (void)snprintf(full, sizeof full, "%s%s%s", url,
                   url[0] && url[strlen(url) - 1] == '/' ? "" : "/", path);
    const sotto_http_call request = {.method = method,
                                     .url = full,
                                     .fields = fields,
                                     .field_count = 2,
                                     .body = body,
                                     .repeatable = true, /* the same is answered again */
                                     .attempts = 3,
                                     .timeout_ms = TIMEOUT_MS};

    return sotto_http_call_wait(w->client, response, &request, &w->scratch, NULL);
}

/* ---- a meeting --------------------------------------------------------------------------------------------------------- */

typedef struct meeting {
    sotto_witnesses *w;
    sotto_keygen k;
    sotto_keygen_board *board;
    uint8_t signatures[SOTTO_KEY_FILE_KEYS][SOTTO_SIGNATURE];
    sotto_meeting m;
    sotto_buf posts;
} meeting;

/* What is not signed by who speaks there is left out, and so is what was said before. */
static void hear(meeting *h, sotto_bytes wire)
{
    sotto_writer out = sotto_writer_on(&h->posts);
    sotto_keygen_post post;

    if (sotto_keygen_post_decode(&post, wire, NULL) != SOTTO_OK ||
        sotto_keygen_post_check(&h->k, &post, NULL) != SOTTO_OK ||
        h->board->is_there[post.step][post.place])
        return;
    sotto_write_opaque32(&out, wire);
    sotto_keygen_board_put(h->board, &post);
}

static sotto_status open_meeting(meeting *h, sotto_err *err)
{
    sotto_witnesses *w = h->w;

    h->board = sotto_arena_take(&w->scratch, sizeof *h->board);
    if (!h->board)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a meeting");
    SOTTO_TRY(sotto_buf_take(&h->posts, &w->scratch, SOTTO_MEETING_MOST_BYTES / 2, err));
    return sotto_meeting_open(&h->k, &h->m, (const uint8_t(*)[SOTTO_SIGN_PUBLIC])w->keys, w->count,
                              &w->scratch, err);
}

/* What each witness says of the meeting that it is in; without a call where it says nothing. */
static void look(meeting *h, sotto_meeting *shown)
{
    sotto_witnesses *w = h->w;
    sotto_http_response r;

    for (uint32_t i = 0; i < w->count; i++)
        if (call(w, i, SOTTO_HTTP_GET, "beacon-key", (sotto_bytes){NULL, 0}, &r) != SOTTO_OK ||
            r.status != 200 || sotto_meeting_decode(&shown[i], r.body, NULL) != SOTTO_OK)
            shown[i] = (sotto_meeting){.step = 0};
}

/* How many are in the meeting that this one is in. */
static uint32_t count_of(const sotto_meeting *shown, uint32_t count, uint32_t one)
{
    uint32_t n = 0;

    for (uint32_t i = 0; shown[one].call.len && i < count; i++)
        n += sotto_bytes_equal_vartime(shown[i].call, shown[one].call);
    return n;
}

/* A witness that signed the record goes to no other meeting: whoever led it may have been lost. Where several are named, it is the one that
 * most are in, and so many that one of them does not lie. */
static sotto_status find(meeting *h, bool *found, sotto_err *err)
{
    sotto_witnesses *w = h->w;
    sotto_meeting *shown = sotto_arena_take_array(&w->scratch, w->count, sizeof *shown);
    uint32_t place = 0, most = 0;
    sotto_bytes wire;

    *found = false;
    if (!shown)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a meeting");
    look(h, shown);
    for (uint32_t i = 0; i < w->count; i++) {
        const uint32_t n = shown[i].step == SOTTO_KEYGEN_RECORD ? count_of(shown, w->count, i) : 0;

        if (n == 0)
            continue;
        if (SOTTO_RULE(beacon_meeting_of_most) && n <= most)
            continue;
        most = n;
        place = i;
    }
    if (most == 0)
        return SOTTO_OK;
    if (SOTTO_RULE(beacon_meeting_of_several) && most < sotto_decryptors_threshold(w->count))
        return sotto_fail(err, SOTTO_DENIED,
                          "witness %u signed in a meeting that %u of %u witnesses are in: %.60s",
                          place + 1, most, w->count, w->file.urls[place]);
    h->m = shown[place];
    SOTTO_TRY(open_meeting(h, err));
    for (uint32_t i = 0; i < w->count; i++)
        while (sotto_bytes_equal_vartime(h->m.call, shown[i].call) &&
               sotto_meeting_next(&shown[i].posts, &wire))
            hear(h, wire);
    *found = true;
    return SOTTO_OK;
}

/* All witnesses in the place of a registry. */
static sotto_status write_call(meeting *h, sotto_keygen *k, const uint8_t (*channel)[32],
                               sotto_err *err)
{
    const sotto_witnesses *w = h->w;
    sotto_buf wire;

    k->count = w->count;
    k->posting.registry.keys = (const uint8_t(*)[SOTTO_SIGN_PUBLIC])w->keys;
    /* Nobody masks with a witness. */
    k->posting.registry.pair = channel;
    k->posting.registry.channel = channel;
    k->posting.registry.count = w->count;
    SOTTO_TRY(sotto_buf_take(&wire, &h->w->scratch, 1024 + 128 * (size_t)w->count, err));
    SOTTO_TRY(sotto_keygen_encode(&wire, k, &h->w->scratch, err));
    h->m = (sotto_meeting){
        .call = sotto_buf_bytes(&wire), .count = w->count, .signatures = h->signatures[0]};
    return SOTTO_OK;
}

static sotto_status begin(meeting *h, uint64_t now_ms, sotto_err *err)
{
    sotto_witnesses *w = h->w;
    sotto_keygen k = {.epoch = now_ms, .ends = now_ms + DAY_MS};
    uint8_t ask[SOTTO_MEETING_ASK];
    sotto_buf body = sotto_buf_over(ask, sizeof ask);
    sotto_writer out = sotto_writer_on(&body);
    uint8_t(*channel)[32] = sotto_arena_take_array(&w->scratch, w->count, sizeof *channel);
    sotto_http_response r;
    sotto_meeting_seat seat;
    uint32_t silent = 0;

    if (!channel)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a meeting");
    SOTTO_TRY(sotto_random_bytes(k.session, sizeof k.session, err));
    sotto_write_bytes(&out, sotto_bytes_of(k.session, sizeof k.session));
    sotto_write_uint(&out, k.epoch, 8);
    for (uint32_t i = 0; i < w->count; i++) {
        w->is_silent[i] =
            call(w, i, SOTTO_HTTP_POST, "beacon-key/seat", sotto_buf_bytes(&body), &r) != SOTTO_OK;
        silent += w->is_silent[i];
        if (w->is_silent[i]) /* all of them are told at once */
            continue;
        if (r.status != 200)
            return sotto_fail(err, SOTTO_DENIED, "witness %u refuses to meet: %u: %.100s", i + 1,
                              r.status, w->file.urls[i]);
        SOTTO_TRY(sotto_meeting_seat_decode(&seat, r.body, err));
        memcpy(channel[i], seat.channel, sizeof channel[i]);
        memcpy(h->signatures[i], seat.signature, SOTTO_SIGNATURE);
    }
    if (silent > 0)
        return sotto_fail(err, SOTTO_IO, "%u of %u witnesses do not answer", silent, w->count);
    SOTTO_TRY(write_call(h, &k, (const uint8_t(*)[32])channel, err));
    return open_meeting(h, err);
}

/* What everybody says in a step is told to all in the next one. Whoever is away says nothing. */
static sotto_status take_step(meeting *h, unsigned step, sotto_err *err)
{
    sotto_witnesses *w = h->w;
    sotto_bytes said[SOTTO_KEY_FILE_KEYS] = {0};
    sotto_http_response r;
    sotto_buf body;

    h->m.step = step;
    h->m.posts = sotto_buf_bytes(&h->posts);
    SOTTO_TRY(sotto_buf_take(&body, &w->scratch, SOTTO_MEETING_MOST_BYTES, err));
    SOTTO_TRY(sotto_meeting_encode(&body, &h->m, err));
    for (uint32_t i = 0; i < w->count; i++) {
        if (w->before)
            w->before(w->context, i, step);
        if (call(w, i, SOTTO_HTTP_POST, "beacon-key/post", sotto_buf_bytes(&body), &r) !=
                SOTTO_OK ||
            r.status != 200)
            continue;
        said[i] = r.body;
        if (w->bend && !w->bend(w->context, &h->k, i, step, &said[i]))
            said[i].len = 0;
    }
    for (uint32_t i = 0; i < w->count; i++)
        if (said[i].len)
            hear(h, said[i]);
    return SOTTO_OK;
}

static sotto_status run(meeting *h, uint64_t now_ms, sotto_err *err)
{
    sotto_witnesses *w = h->w;
    sotto_decryptors_record record;
    sotto_buf wire;
    bool found;

    SOTTO_TRY(find(h, &found, err));
    if (!found)
        SOTTO_TRY(begin(h, now_ms, err));
    for (unsigned step = found ? SOTTO_KEYGEN_RECORD : SOTTO_KEYGEN_DEAL; step < SOTTO_KEYGEN_OVER;
         step = sotto_keygen_next(&h->k, step))
        SOTTO_TRY(take_step(h, step, err));
    const sotto_status status = sotto_keygen_record(&h->k, h->board, &record, &w->scratch, err);
    if (status == SOTTO_AGAIN || status == SOTTO_REJECTED)
        return SOTTO_DENIED;
    SOTTO_TRY(status);
    /* A copy that outlives the meeting. */
    SOTTO_TRY(sotto_buf_take(&wire, &w->arena, SOTTO_DECRYPTORS_MOST_BYTES, err));
    SOTTO_TRY(sotto_decryptors_encode(&wire, &record, err));
    return sotto_witnesses_know(w, sotto_buf_bytes(&wire), err);
}

sotto_status sotto_witnesses_meet(sotto_witnesses *w, uint64_t now_ms, sotto_err *err)
{
    meeting h = {.w = w};

    sotto_arena_reset(&w->scratch);
    return run(&h, now_ms, err);
}

sotto_status sotto_witnesses_know(sotto_witnesses *w, sotto_bytes record, sotto_err *err)
{
    SOTTO_TRY(sotto_decryptors_decode(&w->record, record, &w->arena, err));
    const sotto_status status = sotto_meeting_check_record(
        &w->record, (const uint8_t(*)[SOTTO_SIGN_PUBLIC])w->keys, w->count, err);
    if (status != SOTTO_OK)
        w->record.count = 0;
    return status;
}

/* ---- a beacon ------------------------------------------------------------------------------------------------------------ */

typedef struct question {
    sotto_witnesses *w;
    sotto_tdh2 t;
    uint32_t wanted, found, next; /* parts, and who is asked next */
    sotto_bytes body;
    sotto_beacon_part *parts;
} question;

static bool take_part(question *q)
{
    sotto_http_response r;
    const uint32_t place = q->next++;
    sotto_beacon_part part;

    if (call(q->w, place, SOTTO_HTTP_POST, "beacon", q->body, &r) != SOTTO_OK || r.status != 200 ||
        sotto_beacon_part_decode(&part, r.body, NULL) != SOTTO_OK || part.place != place)
        return false;
    q->parts[q->found++] = part;
    return true;
}

static sotto_status ask(question *q, uint8_t value[32], const sotto_beacon_input *input,
                        sotto_err *err)
{
    const sotto_decryptors_record *r = &q->w->record;
    uint32_t wrong;

    while (q->found < q->wanted ||
           sotto_beacon_value_vartime(&q->t, value, input,
                                      (const uint8_t(*)[SOTTO_P256_WIDE])r->verify, r->count,
                                      q->parts, q->found, &wrong, NULL) != SOTTO_OK) {
        /* Whoever lies is passed over. */
        if (q->found == q->wanted) {
            if (wrong >= q->found)
                return sotto_fail(err, SOTTO_DENIED, "a beacon without a value");
            q->found--;
            memmove(&q->parts[wrong], &q->parts[wrong + 1], (q->found - wrong) * sizeof *q->parts);
        }
        while (q->found < q->wanted && q->next < r->count)
            (void)take_part(q);
        if (q->found < q->wanted)
            return sotto_fail(err, SOTTO_DENIED, "%u of %u parts of the beacon; wanted %u",
                              q->found, r->count, q->wanted);
    }
    return SOTTO_OK;
}

sotto_status sotto_witnesses_ask(sotto_witnesses *w, uint8_t value[32], sotto_beacon_part *parts,
                                 const sotto_beacon_input *input, sotto_err *err)
{
    uint8_t bytes[SOTTO_BEACON_INPUT];
    sotto_buf body = sotto_buf_over(bytes, sizeof bytes);
    question q = {.w = w, .wanted = sotto_decryptors_threshold(w->record.count), .parts = parts};

    if (w->record.count == 0)
        return sotto_fail(err, SOTTO_MISSING, "the witnesses' key is not known");
    sotto_arena_reset(&w->scratch);
    SOTTO_TRY(sotto_beacon_input_encode(&body, input, err));
    q.body = sotto_buf_bytes(&body);
    sotto_status status = sotto_tdh2_init(&q.t, err);
    if (status == SOTTO_OK)
        status = ask(&q, value, input, err);
    sotto_tdh2_clear(&q.t);
    return status;
}

static sotto_status answer(void *context, uint8_t value[32], sotto_beacon_part *parts,
                           const sotto_beacon_input *input, sotto_err *err)
{
    return sotto_witnesses_ask(context, value, parts, input, err);
}

void sotto_witnesses_serve(sotto_witnesses *w, sotto_epoch *epoch)
{
    epoch->witnesses = (sotto_shared_key){.count = w->record.count, .verify = w->record.verify};
    memcpy(epoch->witnesses.key, w->record.key, sizeof epoch->witnesses.key);
    epoch->ask = answer;
    epoch->asked = w;
}
