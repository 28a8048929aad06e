/* Tokens that admit reports: the keys that issuers list, when this device asks under each, and what came of it. Nothing here looks
 * at a draw, an event or a recipe before a report is about to be made. */
#include "device/device_internal.h"

#include "base/arena.h"
#include "base/hex.h"
#include "base/rule.h"
#include "dap/admission.h"
#include "device/arc.h"
#include "device/device_log.h"
#include "device/exchange.h"
#include "device/ledger/consent.h"
#include "noise/coin.h"
#include "recipe/signed_parties.h"
#include "seal/token/attested.h"

#include <stdio.h>
#include <string.h>

enum {
    URL = 600,
    BODY = 2 + SOTTO_ATTESTED_EVIDENCE + SOTTO_TYPE2_REQUEST,
    MOST_ANSWER = 4096, /* a response has 256 bytes, and a problem document some hundred */
    EVIDENCE = SOTTO_SIGN_PUBLIC + SOTTO_SIGNATURE,
    APART = 3600, /* seconds at most that a request waits after a report */
    /* Seconds that it waits after a failure: the first time, and at most. */
    FIRST_WAIT = 60,
    LONGEST_WAIT = 6 * 3600
};

/* ---- keys ------------------------------------------------------------------------------------------------- */

typedef struct planner {
    sotto_entropy *entropy;
    int64_t now;
} planner;

static sotto_status draw_below(int64_t *out, int64_t n, sotto_entropy *entropy, sotto_err *err)
{
    uint64_t drawn;

    SOTTO_TRY(sotto_uniform_below(&drawn, n > 1 ? (uint64_t)n : 1, entropy, err));
    *out = (int64_t)drawn;
    return SOTTO_OK;
}

/* Uniform until the collection opens; of one that is open, over half of what is left of it. A token that was received
 * waits, too. Otherwise a device that was offline would ask for it and answer at the same moment. */
static sotto_status plan(void *context, sotto_wallet_row *row, sotto_err *err)
{
    const planner *p = context;
    const sotto_listed_key *key = &row->key;
    const int64_t half = (key->closes - p->now) / 2;
    /* An epoch is long, and its credential is for all collections: a device that comes late asks within a day. */
    const int64_t late =
        sotto_listed_key_is_arc(key) && half > SOTTO_WALLET_REST ? SOTTO_WALLET_REST : half;
    const int64_t until = key->opens > p->now ? key->opens - p->now : late;
    const int64_t quarter = (key->closes - key->opens) / 4;

    SOTTO_TRY(draw_below(&row->ask, until, p->entropy, err));
    row->ask += p->now;
    return draw_below(&row->rest, quarter < SOTTO_WALLET_REST ? quarter : SOTTO_WALLET_REST,
                      p->entropy, err);
}

static sotto_status take_keys(sotto_device *device, sotto_bytes file, bool logged, sotto_err *err)
{
    sotto_issuer_keys list;
    sotto_entropy entropy;

    SOTTO_TRY(
        sotto_shared_keys(&list, device->shared, device->terms.policy, file, &device->work, err));
    if (SOTTO_RULE(list_not_ahead) &&
        sotto_signed_parties_ahead(list.serial, sotto_device_now(device)))
        return sotto_fail(err, SOTTO_DENIED, "list of token keys: its serial is far ahead");
    planner p = {&entropy, sotto_device_now(device)};
    sotto_device_entropy(device, &entropy);
    const sotto_status status = sotto_wallet_take(device->ledger, list.issuer, list.serial, logged,
                                                  list.keys, list.count, plan, &p, p.now, err);
    sotto_entropy_clear(&entropy);
    return status;
}

sotto_status sotto_device_take_issuer_keys(sotto_device *device, sotto_bytes list, sotto_err *err)
{
    sotto_err_clear(err);

    const char *closed = sotto_ledger_closed(device->ledger);

    if (closed)
        return sotto_fail(err, SOTTO_DENIED, "%s", closed);
    sotto_logged logged;
    sotto_status status =
        sotto_device_logged(device, &logged, list, SOTTO_ENTRY_ISSUER_KEYS, (sotto_bytes){0}, err);
    if (status == SOTTO_OK)
        status = take_keys(device, logged.object, logged.log != NULL, err);
    sotto_arena_reset(&device->work);
    return status;
}

/* ---- who asks --------------------------------------------------------------------------------------------- */

sotto_status sotto_device_enrolment_key(uint8_t out[SOTTO_DEVICE_ENROLMENT],
                                        const uint8_t seed[SOTTO_DEVICE_ENROLMENT], sotto_err *err)
{
    sotto_err_clear(err);

    sotto_signer signer = {0};
    const sotto_status status = sotto_signer_init(&signer, seed, err);

    if (status == SOTTO_OK)
        memcpy(out, signer.public_key, SOTTO_DEVICE_ENROLMENT);
    sotto_signer_clear(&signer);
    return status;
}

static bool is_enrolled(const sotto_device *device)
{
    return device->host.attest || device->enrolled;
}

static const sotto_party_entry *attester_of(const sotto_device *device)
{
    for (size_t i = 0; i < device->terms.parties->count; i++)
        if (device->terms.parties->entries[i].role == SOTTO_PARTY_ATTESTER)
            return &device->terms.parties->entries[i];
    return NULL;
}

static sotto_status write_evidence(const sotto_device *device, uint8_t *out, size_t *len,
                                   sotto_bytes text, sotto_err *err)
{
    sotto_signer signer = {0};

    if (device->host.attest)
        return device->host.attest(device->host.context, out, SOTTO_ATTESTED_EVIDENCE, len, text,
                                   err);
    sotto_status status = sotto_signer_init(&signer, device->enrolment, err);
    if (status == SOTTO_OK)
        status = sotto_sign(&signer, out + SOTTO_SIGN_PUBLIC, text, err);
    memcpy(out, signer.public_key, SOTTO_SIGN_PUBLIC);
    sotto_signer_clear(&signer);
    *len = EVIDENCE;
    return status;
}

/* evidence <2> | token request */
static sotto_status write_body(const sotto_device *device, sotto_buf *out,
                               const sotto_wallet_row *row, sotto_bytes request, sotto_err *err)
{
    uint8_t text[SOTTO_ATTESTED_TEXT];
    size_t len = 0;

    const sotto_bytes signed_text = sotto_attested_text(text, row->key.id, request);
    SOTTO_TRY(write_evidence(device, out->data + 2, &len, signed_text, err));
    if (len > SOTTO_ATTESTED_EVIDENCE)
        return sotto_fail(err, SOTTO_BUG, "attest: more evidence than there was room");
    out->data[0] = (uint8_t)(len >> 8);
    out->data[1] = (uint8_t)len;
    memcpy(out->data + 2 + len, request.data, request.len);
    out->len = 2 + len + request.len;
    return SOTTO_OK;
}

/* ---- a request -------------------------------------------------------------------------------------------- */

/* seed | salt | blind, all of it drawn before anything leaves. */
static sotto_status draw_secret(sotto_device *device, sotto_wallet_row *row, sotto_type2_key *key,
                                sotto_err *err)
{
    sotto_type2_random random;
    sotto_entropy entropy;

    sotto_device_entropy(device, &entropy);
    sotto_status status = sotto_entropy_take(&entropy, row->secret, SOTTO_ONCE_SEED, err);
    sotto_entropy_clear(&entropy);
    if (status == SOTTO_OK)
        status = sotto_type2_draw(&random, key, err);
    memcpy(row->secret + SOTTO_ONCE_SEED, random.salt, sizeof random.salt);
    memcpy(row->secret + SOTTO_ONCE_SEED + sizeof random.salt, random.blind, sizeof random.blind);
    row->len = SOTTO_WALLET_ASKED;
    sotto_wipe(&random, sizeof random);
    return status;
}

sotto_status sotto_device_challenge(uint8_t out[SOTTO_TOKEN_DIGEST], const sotto_wallet_row *row,
                                    sotto_err *err)
{
    sotto_admission_collection collection = {
        .opens = (uint64_t)row->key.opens,
        .closes = (uint64_t)row->key.closes,
        .issuer = {(const uint8_t *)row->issuer, strlen(row->issuer)}};

    memcpy(collection.key_id, row->key.id, sizeof collection.key_id);
    return sotto_admission_challenge(out, &collection, err);
}

/* The same secret gives the same request. */
static sotto_status make_request(sotto_type2_key *key, sotto_type2_pending *pending,
                                 uint8_t request[SOTTO_TYPE2_REQUEST], const sotto_wallet_row *row,
                                 sotto_err *err)
{
    uint8_t challenge[SOTTO_TOKEN_DIGEST];
    sotto_type2_random random;

    if (row->len != SOTTO_WALLET_ASKED)
        return sotto_fail(err, SOTTO_BUG, "token: not asked for");
    memcpy(random.salt, row->secret + SOTTO_ONCE_SEED, sizeof random.salt);
    memcpy(random.blind, row->secret + SOTTO_ONCE_SEED + sizeof random.salt, sizeof random.blind);
    sotto_status status = sotto_admission_nonce(random.nonce, row->secret, err);
    if (status == SOTTO_OK)
        status = sotto_device_challenge(challenge, row, err);
    if (status == SOTTO_OK)
        status = sotto_type2_request(key, pending, request, challenge, &random, err);
    sotto_wipe(&random, sizeof random);
    return status;
}

/* {attester}tokens/{key id} */
static void write_url(char out[URL], const sotto_party_entry *attester, const sotto_wallet_row *row)
{
    const sotto_bytes url = attester->url;
    const bool slash = url.len > 0 && url.data[url.len - 1] == '/';
    char id[2 * SOTTO_TOKEN_KEY_ID + 1];

    sotto_hex_encode(id, sotto_bytes_of(row->key.id, sizeof row->key.id));
    (void)snprintf(out, URL, "%.500s%stokens/%s", (const char *)url.data, slash ? "" : "/", id);
}

static sotto_status post(sotto_device *device, sotto_exchange_answer *answer,
                         const sotto_wallet_row *row, sotto_bytes request, sotto_err *err)
{
    char url[URL];
    const sotto_exchange exchange = {
        .method = "POST", .url = url, .media_type = SOTTO_ATTESTED_TYPE};
    sotto_buf body;

    write_url(url, attester_of(device), row);
    SOTTO_TRY(sotto_buf_take(&body, &device->work, BODY, err));
    SOTTO_TRY(sotto_buf_take(&answer->body, &device->work, MOST_ANSWER, err));
    SOTTO_TRY(write_body(device, &body, row, request, err));
    return sotto_exchange_carry(&device->host, &exchange, sotto_buf_bytes(&body), answer);
}

/* ---- an answer -------------------------------------------------------------------------------------------- */

static sotto_status keep(sotto_device *device, sotto_wallet_row *row, sotto_token_state state,
                         const char *note, int64_t now, sotto_err *err)
{
    const sotto_token_state from = row->state;

    row->state = state;
    const sotto_status status = sotto_wallet_change(device->ledger, row, from, note, now, err);
    return status == SOTTO_STALE ? SOTTO_OK : status; /* another process has its answer, too */
}

/* Verified before it is kept. An invalid answer may be a captive portal's page: the token is asked for again. */
static sotto_status hold(sotto_device *device, sotto_wallet_row *row, sotto_type2_key *key,
                         const sotto_type2_pending *pending, sotto_bytes response, int64_t now,
                         sotto_err *err)
{
    uint8_t token[SOTTO_TYPE2_TOKEN];

    if (sotto_listed_key_is_arc(&row->key)) {
        if (sotto_linked_arc->hold(row, response, NULL) != SOTTO_OK)
            return SOTTO_OK;
        row->ready = now + row->rest;
        return keep(device, row, SOTTO_TOKEN_HELD, "it came", now, err);
    }
    if (sotto_type2_finish(key, token, pending, response, NULL) != SOTTO_OK)
        return SOTTO_OK;
    sotto_wipe(row->secret + SOTTO_ONCE_SEED, sizeof row->secret - SOTTO_ONCE_SEED);
    memcpy(row->secret + SOTTO_ONCE_SEED, token, sizeof token);
    row->len = SOTTO_WALLET_HELD;
    row->ready = now + row->rest;
    sotto_wipe(token, sizeof token);
    return keep(device, row, SOTTO_TOKEN_HELD, "it came", now, err);
}

/* Final refusals: the attester has counted another request, or the collection has closed. All others are tried
 * again. */
static sotto_status take_answer(sotto_device *device, sotto_wallet_row *row, sotto_type2_key *key,
                                const sotto_type2_pending *pending,
                                const sotto_exchange_answer *answer, int64_t now, sotto_err *err)
{
    if (answer->status == 200)
        return hold(device, row, key, pending, sotto_buf_bytes(&answer->body), now, err);
    if (answer->status != 409 && answer->status != 410)
        return SOTTO_OK;
    row->len = 0;
    sotto_wipe(row->secret, sizeof row->secret);
    return keep(device, row, SOTTO_TOKEN_REFUSED,
                answer->status == 409 ? "refused: this device has had its token of the collection"
                                      : "refused: the collection has closed",
                now, err);
}

/* Twice as long each time, from half of it up to one and a half, so that devices that failed together do not come back
 * together. Kept, so that a host that starts again and again does not ask each time. At most a quarter of what is left of
 * the collection. */
static sotto_status back_off(sotto_device *device, sotto_wallet_row *row, int64_t now,
                             sotto_err *err)
{
    const int64_t left = (row->key.closes - now) / 4;
    int64_t wait = row->ready < FIRST_WAIT ? FIRST_WAIT : 2 * row->ready;
    sotto_entropy entropy;

    wait = wait > LONGEST_WAIT ? LONGEST_WAIT : wait;
    row->ready = wait > left ? left : wait;
    sotto_device_entropy(device, &entropy);
    const sotto_status status = draw_below(&row->ask, row->ready, &entropy, err);
    sotto_entropy_clear(&entropy);
    SOTTO_TRY(status);
    row->ask += now + row->ready / 2;
    return keep(device, row, SOTTO_TOKEN_ASKED, "asked for", now, err);
}

/* ---- requests of either kind ------------------------------------------------------------------------------- */

/* What is asked with, drawn once. *made: the request is there, too. */
static sotto_status draw_request(sotto_device *device, sotto_wallet_row *row, sotto_type2_key *key,
                                 sotto_type2_pending *pending,
                                 uint8_t request[SOTTO_ATTESTED_REQUEST], bool *made,
                                 sotto_err *err)
{
    const sotto_token_source *from = device->requests;

    if (sotto_listed_key_is_arc(&row->key))
        return sotto_linked_arc->draw(row, err);
    *made = from && from->take(from->context, row, key, pending, request) == SOTTO_OK;
    return *made ? SOTTO_OK : draw_secret(device, row, key, err);
}

static sotto_status write_request(sotto_type2_key *key, sotto_type2_pending *pending,
                                  uint8_t request[SOTTO_ATTESTED_REQUEST],
                                  const sotto_wallet_row *row, sotto_err *err)
{
    return sotto_listed_key_is_arc(&row->key) ? sotto_linked_arc->request(request, row, err)
                                              : make_request(key, pending, request, row, err);
}

/* ---- asking ----------------------------------------------------------------------------------------------- */

static sotto_status ask(sotto_device *device, sotto_wallet_row *row, sotto_type2_key *key,
                        sotto_type2_pending *pending, int64_t now, sotto_err *err)
{
    const bool arc = sotto_listed_key_is_arc(&row->key);
    uint8_t request[SOTTO_ATTESTED_REQUEST];
    const sotto_bytes sent =
        sotto_bytes_of(request, arc ? SOTTO_TOKEN_ARC_REQUEST : SOTTO_TYPE2_REQUEST);
    sotto_exchange_answer answer = {0};
    bool made = false;

    if (row->state == SOTTO_TOKEN_PLANNED) {
        SOTTO_TRY(draw_request(device, row, key, pending, request, &made, err));
        row->state = SOTTO_TOKEN_ASKED;
        /* On the disk before it leaves: a second request would be another token, which the attester refuses. */
        SOTTO_TRY(
            sotto_wallet_change(device->ledger, row, SOTTO_TOKEN_PLANNED, "asked for", now, err));
    }
    if (!made)
        SOTTO_TRY(write_request(key, pending, request, row, err));
    const sotto_status status = post(device, &answer, row, sent, NULL);
    device->called_off = status == SOTTO_AGAIN;
    if (status == SOTTO_OK)
        SOTTO_TRY(take_answer(device, row, key, pending, &answer, now, err));
    if (SOTTO_RULE(attester_is_spared) && !device->called_off && row->state == SOTTO_TOKEN_ASKED)
        return back_off(device, row, now, err);
    return SOTTO_OK;
}

static sotto_status ask_for(sotto_device *device, sotto_wallet_row *row, int64_t now,
                            sotto_err *err)
{
    sotto_type2_pending pending;
    sotto_type2_key key = {0};
    sotto_err why = {0};
    sotto_status status = SOTTO_OK;

    if (!sotto_listed_key_is_arc(&row->key))
        status =
            sotto_type2_key_decode(&key, sotto_bytes_of(row->key.spki, sizeof row->key.spki), &why);
    if (status == SOTTO_OK)
        status = ask(device, row, &key, &pending, now, &why);
    sotto_type2_key_clear(&key);
    sotto_wipe(&pending, sizeof pending);
    sotto_arena_reset(&device->work);
    if (status == SOTTO_STALE) /* another process was faster */
        return SOTTO_OK;
    /* The listed key is invalid: no request can be made under it. Other keys are still asked for, and a later list may replace it. */
    if (SOTTO_RULE(a_bad_key_stops_no_other) && status == SOTTO_REJECTED)
        return SOTTO_OK;
    return status == SOTTO_OK ? SOTTO_OK : sotto_fail(err, status, "%s", why.reason);
}

/* The attester sees who asks, and the leader when a report comes. A device that was offline has both to do at once, for any
 * collections. So its requests wait for a random part of an hour, drawn with their keys. */
static bool is_beside_a_report(const sotto_wallet_row *row, int64_t now, int64_t left)
{
    return now >= left && now - left <= row->rest % APART;
}

/* Decided by the clock, and by what was drawn when the key was accepted. Of reports it only matters
 * that they are not sent at the same time. */
static bool is_due(const sotto_wallet_row *row, int64_t now, int64_t left)
{
    if (SOTTO_RULE(asked_apart_from_reports) && is_beside_a_report(row, now, left))
        return false;
    if (SOTTO_RULE(asked_when_planned) && now < row->ask)
        return false;
    return (row->state == SOTTO_TOKEN_PLANNED || row->state == SOTTO_TOKEN_ASKED) &&
           now < row->key.closes && (sotto_linked_arc || !sotto_listed_key_is_arc(&row->key));
}

sotto_status sotto_device_ask_tokens(sotto_device *device, int64_t now, sotto_err *err)
{
    sotto_wallet_row row = {0};
    sotto_status status = SOTTO_OK;
    bool found = is_enrolled(device) && attester_of(device), given;
    int64_t left;

    SOTTO_TRY(sotto_record_last_report(device->ledger, &left, err));
    while (found && status == SOTTO_OK && !device->called_off) {
        status = sotto_wallet_next(device->ledger, &row, &found, row.id, err);
        if (status != SOTTO_OK || !found || !is_due(&row, now, left))
            continue;
        status = sotto_consent_get(device->ledger, &given, err);
        if (SOTTO_RULE(no_token_after_a_no) && !given) /* said in another process */
            break;
        if (status == SOTTO_OK)
            status = ask_for(device, &row, now, err);
    }
    sotto_wipe(&row, sizeof row);
    return status;
}

/* ---- using one -------------------------------------------------------------------------------------------- */

/* A list that came before the policy named logs may have been made for this device alone, and its tokens would name it. */
static bool is_unproved(const sotto_device *device, const sotto_wallet_row *row)
{
    return device->terms.policy->log_count > 0 && !row->logged;
}

static const char *excuse(const sotto_device *device, const sotto_wallet_row *row, bool found,
                          int64_t now)
{
    if (!found)
        return "no list of its issuer's keys has one for this collection";
    if (row->state == SOTTO_TOKEN_SPENT)
        return "this device's only one for the collection is used";
    if (row->state == SOTTO_TOKEN_REFUSED)
        return "the attester refused it to this device";
    if (SOTTO_RULE(token_keys_of_the_log) && is_unproved(device, row))
        return "its key is on no list that came from a log of the policy";
    if (SOTTO_RULE(token_rests) && row->state == SOTTO_TOKEN_HELD && now < row->ready)
        return "it came, and waits for a time that was drawn before it is used";
    if (row->state == SOTTO_TOKEN_HELD)
        return NULL;
    return !is_enrolled(device)                ? "this device is enrolled with no attester"
           : row->state == SOTTO_TOKEN_PLANNED ? "it is asked for at a time that was drawn"
                                               : "it was asked for, and did not come yet";
}

static void want_issuer(const sotto_device *device, sotto_case *c, const char *issuer)
{
    if (SOTTO_RULE(issuers_of_the_policy) &&
        !sotto_policy_issuer_named(device->terms.policy, issuer))
        sotto_explain(
            &c->out, SOTTO_WHY_POLICY, issuer,
            "The policy does not name the issuer of the tokens that the recipe asks for.");
}

/* A recipe names the parties that must not collude. With other parties its claim would not hold. */
static void check_parties(const sotto_device *device, sotto_case *c)
{
    const sotto_anonymity *a = &c->recipe->anonymity;
    const sotto_party_entry *attester = attester_of(device);

    if (!attester || strcmp(attester->name, a->attester) != 0)
        sotto_explain(&c->out, SOTTO_WHY_PARTIES, a->attester,
                      "The recipe names another attester than the one that this device asks.");
    want_issuer(device, c, a->issuer ? a->issuer : c->recipe->leader);
    if (!a->issuer)
        want_issuer(device, c, c->recipe->helper);
}

/* By the time that the report will state. */
static sotto_status find_token(sotto_device *device, sotto_case *c, const char **none,
                               sotto_err *err)
{
    const sotto_recipe *r = c->recipe;
    const sotto_wallet_window window = {r->anonymity.issuer, r->analysis, r->opens, r->closes};
    bool found;

    SOTTO_TRY(sotto_wallet_find(device->ledger, &c->token, &found, &window,
                                c->now - c->now % (int64_t)r->precision, err));
    *none = excuse(device, &c->token, found, c->now);
    return SOTTO_OK;
}

/* Those of leader and helper, for the epochs in which the recipe opens. */
static sotto_status find_credentials(sotto_device *device, sotto_case *c, const char **none,
                                     sotto_err *err)
{
    const sotto_recipe *r = c->recipe;
    const char *const issuers[SOTTO_REPORT_SHARES] = {r->leader, r->helper};
    sotto_wallet_row *rows[SOTTO_REPORT_SHARES] = {&c->token, &c->helper_token};
    bool found;

    *none = sotto_linked_arc ? NULL
                             : "credentials of ARC need an application with libsotto-device-full";
    for (unsigned who = 0; !*none && who < SOTTO_REPORT_SHARES; who++) {
        const sotto_wallet_window window = {issuers[who], "", 0, INT64_MAX};

        SOTTO_TRY(sotto_wallet_find(device->ledger, rows[who], &found, &window, r->opens, err));
        *none = excuse(device, rows[who], found, c->now);
    }
    return *none ? SOTTO_OK
                 : sotto_wallet_plan_shown(device->ledger, &c->shown, none, r, rows, err);
}

sotto_status sotto_device_find_token(sotto_device *device, sotto_case *c, sotto_err *err)
{
    const sotto_recipe *r = c->recipe;
    const bool arc = r->anonymity.tokens == SOTTO_TOKENS_ARC;
    const char *none;

    check_parties(device, c);
    if (c->out.why)
        return SOTTO_OK;
    SOTTO_TRY(arc ? find_credentials(device, c, &none, err) : find_token(device, c, &none, err));
    if (SOTTO_RULE(token_or_silence) && none)
        sotto_explain(&c->out, SOTTO_WHY_TOKEN, r->analysis, "The recipe asks for a token: %s.",
                      none);
    c->plan.token = &c->token;
    c->plan.helper_token = arc ? &c->helper_token : NULL;
    c->plan.shown = arc ? &c->shown : NULL;
    return SOTTO_OK;
}

/* ---- looking ---------------------------------------------------------------------------------------------- */

const char *sotto_token_state_name(sotto_token_state state)
{
    static const char *const names[] = {"", "planned", "asked", "held", "spent", "refused"};
    const size_t index = (size_t)state;

    return index > 0 && index < sizeof names / sizeof names[0] ? names[index] : NULL;
}

sotto_status sotto_device_tokens(sotto_device *device, sotto_token_line_fn *show, void *context,
                                 sotto_err *err)
{
    sotto_err_clear(err);

    sotto_wallet_row row = {0};
    sotto_status status = SOTTO_OK;
    bool found = true;

    while (found && status == SOTTO_OK) {
        status = sotto_wallet_next(device->ledger, &row, &found, row.id, err);
        sotto_wipe(row.secret, sizeof row.secret);
        if (status != SOTTO_OK || !found)
            break;
        const sotto_token_line line = {row.ask == SOTTO_WALLET_NEVER_ASKED ? "ARC" : row.issuer,
                                       row.key.analysis,
                                       row.key.opens,
                                       row.key.closes,
                                       row.state,
                                       row.state < SOTTO_TOKEN_HELD    ? row.ask
                                       : row.state == SOTTO_TOKEN_HELD ? row.ready
                                                                       : 0};
        status = show(context, &line, err);
    }
    return status;
}
