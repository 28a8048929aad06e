/* An issuer of tokens and an attester. The attester knows the devices and counts one token for each; the issuer signs, and knows
 * no device. */
#define _POSIX_C_SOURCE 200809L
#include "demo.h"

#include "base/arena.h"
#include "base/hex.h"
#include "collect.h"
#include "crypto/hash.h"
#include "recipe/signed_parties.h"
#include "serve/attester/attester_counts.h"
#include "sotto/random.h"
#include "transport/http_client.h"

#include <stdio.h>
#include <string.h>

enum { LIST = 1 << 16, AT_ONCE = 20000 };

/* ---- up ------------------------------------------------------------------------------------------------------- */

sotto_status demo_secret(const demo *d, const char *name, char out[DEMO_SECRET], sotto_err *err)
{
    uint8_t random[(DEMO_SECRET - 1) / 2];
    char text[DEMO_SECRET];
    sotto_status status = sotto_random_bytes(random, sizeof random, err);

    sotto_hex_encode(text, sotto_bytes_of(random, sizeof random));
    if (status == SOTTO_OK)
        status = demo_write_file(d, name, text, err);
    if (out)
        memcpy(out, text, sizeof text);
    sotto_wipe(random, sizeof random);
    sotto_wipe(text, sizeof text);
    return status;
}

static sotto_status make_signer(sotto_signer *out, sotto_err *err)
{
    uint8_t seed[SOTTO_SIGN_SEED];
    sotto_status status = sotto_random_bytes(seed, sizeof seed, err);

    if (status == SOTTO_OK)
        status = sotto_signer_init(out, seed, err);
    sotto_wipe(seed, sizeof seed);
    return status;
}

/* Several workers at the attester: each waits for the disk, and those that wait together share one write. */
sotto_status demo_tokens_start(demo *d, sotto_err *err)
{
    char lines[400];

    SOTTO_TRY(sotto_random_bytes(d->fleet, sizeof d->fleet, err));
    SOTTO_TRY(make_signer(&d->issuer_signer, err));
    SOTTO_TRY(make_signer(&d->helper_signer, err));
    SOTTO_TRY(demo_secret(d, "shared.token", NULL, err));
    SOTTO_TRY(demo_secret(d, "operator.token", d->operator_token, err));
    const size_t len =
        (size_t)snprintf(lines, sizeof lines,
                         "workers = 16\noperator_token = operator.token\nissuer_token = "
                         "shared.token\n");
    if (d->arc) {
        demo_arc_lines(d, lines + len, sizeof lines - len);
    } else {
        SOTTO_TRY(demo_process_start(
            d, &d->issuer, "issuer",
            "workers = 1\noperator_token = operator.token\nattester_token = shared.token\n", err));
        (void)snprintf(lines + len, sizeof lines - len, "issuer = http://127.0.0.1:%u/\n",
                       d->issuer.port);
    }
    return demo_process_start(d, &d->attester, "attester", lines, err);
}

/* ---- the key of the collection -------------------------------------------------------------------------------- */

static sotto_status ask_issuer(demo *d, sotto_http_client *client, sotto_http_response *response,
                               sotto_http_method method, const char *path, sotto_err *err)
{
    char url[300], bearer[DEMO_SECRET + 8];
    const sotto_http_field field = {"Authorization", bearer};
    sotto_status status;

    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u/%s", d->issuer.port, path);
    (void)snprintf(bearer, sizeof bearer, "Bearer %s", d->operator_token);
    status = sotto_http_call_wait(
        client, response,
        &(sotto_http_call){.method = method, .url = url, .fields = &field, .field_count = 1},
        &d->arena, err);
    sotto_wipe(bearer, sizeof bearer);
    if (status == SOTTO_OK && (response->status < 200 || response->status > 299))
        status = sotto_fail(err, SOTTO_IO, "the issuer said %u", response->status);
    return status;
}

sotto_status demo_sign_list(demo *d, sotto_bytes *signed_list, const sotto_signer *signer,
                            sotto_bytes list, sotto_err *err)
{
    sotto_signed_parties file = {.kind = SOTTO_SIGNED_KEYS, .serial = 1, .parties = list};
    sotto_buf out;

    SOTTO_TRY(sotto_buf_take(&out, &d->arena, LIST, err));
    SOTTO_TRY(sotto_signed_parties_sign(&file, signer, err));
    SOTTO_TRY(sotto_signed_parties_encode(&out, &file, err));
    *signed_list = sotto_buf_bytes(&out);
    return SOTTO_OK;
}

sotto_status demo_tokens_list(demo *d, sotto_err *err)
{
    char path[200];
    sotto_http_response response;
    sotto_http_client *client = NULL;
    sotto_status status;

    (void)snprintf(path, sizeof path, "collections/%s/%lld/%lld", d->recipe->analysis,
                   (long long)d->opens, (long long)d->closes);
    SOTTO_TRY(sotto_http_client_open(&client, &(sotto_http_client_options){0}, err));
    status = ask_issuer(d, client, &response, SOTTO_HTTP_PUT, path, err);
    if (status == SOTTO_OK)
        status = ask_issuer(d, client, &response, SOTTO_HTTP_GET, "keys", err);
    sotto_http_client_close(client);
    return status == SOTTO_OK
               ? demo_sign_list(d, &d->token_keys, &d->issuer_signer, response.body, err)
               : status;
}

/* ---- enrolment ------------------------------------------------------------------------------------------------- */

void demo_enrolment(const demo *d, uint8_t seed[SOTTO_DEVICE_ENROLMENT], uint64_t number)
{
    uint8_t text[sizeof d->fleet + sizeof number];

    memcpy(text, d->fleet, sizeof d->fleet);
    memcpy(text + sizeof d->fleet, &number, sizeof number);
    sotto_hash_once(seed, SOTTO_SHA256, sotto_bytes_of(text, sizeof text));
    sotto_wipe(text, sizeof text);
}

static sotto_status enrol_from(const demo *d, sotto_db *db, uint8_t *ids, uint64_t first,
                               sotto_err *err)
{
    const uint64_t left = d->devices - first;
    const size_t count = left < AT_ONCE ? (size_t)left : AT_ONCE;
    uint8_t seed[SOTTO_DEVICE_ENROLMENT];

    for (size_t i = 0; i < count; i++) {
        demo_enrolment(d, seed, first + i);
        SOTTO_TRY(sotto_device_enrolment_key(ids + i * sizeof seed, seed, err));
    }
    sotto_wipe(seed, sizeof seed);
    return sotto_attester_enrol_many(db, ids, count, err);
}

/* As the attester's operator does with devices before they are given away: all at once. */
static sotto_status enrol_all(const demo *d, sotto_err *err)
{
    sotto_arena arena;
    sotto_db *db = NULL;

    sotto_arena_init(&arena, (size_t)2 * AT_ONCE * SOTTO_DEVICE_ENROLMENT);
    uint8_t *ids = sotto_arena_take(&arena, (size_t)AT_ONCE * SOTTO_DEVICE_ENROLMENT);
    sotto_status status =
        sotto_db_open(&db, &(sotto_db_options){.address = d->attester.database}, err);
    if (status == SOTTO_OK && !ids)
        status = sotto_fail(err, SOTTO_NO_MEMORY, "the demo");
    for (uint64_t i = 0; status == SOTTO_OK && i < d->devices && !demo_interrupted(); i += AT_ONCE)
        status = enrol_from(d, db, ids, i, err);
    sotto_db_close(db);
    sotto_arena_clear(&arena);
    return status;
}

static void *enrol(void *context)
{
    demo *d = context;

    d->enrolled.status = enrol_all(d, &d->enrolled);
    return NULL;
}

sotto_status demo_tokens_enrol(demo *d, sotto_err *err)
{
    d->enrolling = pthread_create(&d->enroller, NULL, enrol, d) == 0;
    return d->enrolling ? SOTTO_OK : sotto_fail(err, SOTTO_IO, "no thread for the enrolment");
}

sotto_status demo_tokens_enrolled(demo *d, sotto_err *err)
{
    if (d->enrolling)
        (void)pthread_join(d->enroller, NULL);
    d->enrolling = false;
    return d->enrolled.status == SOTTO_OK
               ? SOTTO_OK
               : sotto_fail(err, d->enrolled.status, "%s", d->enrolled.reason);
}
