#include "device/oblivious.h"

#include "base/arena.h"
#include "base/rule.h"
#include "crypto/hash.h"
#include "seal/ohttp/bhttp.h"
#include "seal/ohttp/date.h"
#include "seal/ohttp/ohttp.h"

#include <string.h>

enum {
    BESIDE = 256, /* what a message has beside its URL, media type and content */
    OUTSIDE = SOTTO_OHTTP_HEADER + SOTTO_HPKE_MAX_PUBLIC_KEY + SOTTO_HPKE_TAG_SIZE,
    MINUTE = 60, /* so that seconds of clock skew don't identify a device */
};

/* ---- which way -------------------------------------------------------------------------------------------------- */

static const sotto_party_entry *first_of(const sotto_parties *parties, sotto_party_role role)
{
    for (size_t i = 0; i < parties->count; i++)
        if (parties->entries[i].role == role)
            return &parties->entries[i];
    return NULL;
}

sotto_status sotto_oblivious_find(sotto_oblivious *out, const sotto_parties *parties, int64_t now,
                                  sotto_err *err)
{
    const sotto_party_entry *relay = first_of(parties, SOTTO_PARTY_RELAY);
    const sotto_party_entry *gateway = first_of(parties, SOTTO_PARTY_GATEWAY);
    const sotto_party_key *key = gateway ? sotto_party_key_at(gateway, now) : NULL;

    if (!relay && !gateway)
        return SOTTO_MISSING;
    if (!relay || !key)
        return sotto_fail(err, SOTTO_STALE, "the parties lack a relay or a gateway");
    out->relay = (const char *)relay->url.data; /* a text: see recipe/parties.c */
    /* Never SOTTO_MISSING, which would let the report bypass the relay. */
    if (sotto_hpke_config_decode(&out->gateway, key->config, NULL) != SOTTO_OK)
        return sotto_fail(err, SOTTO_STALE, "the gateway's key can't be read");
    return SOTTO_OK;
}

sotto_status sotto_oblivious_serves(const sotto_parties *parties, const sotto_anonymity *asked,
                                    int64_t now, sotto_err *err)
{
    sotto_oblivious way;

    if (!asked->relay)
        return SOTTO_OK;
    if (SOTTO_RULE(relay_that_is_asked_for) &&
        (sotto_oblivious_find(&way, parties, now, NULL) != SOTTO_OK ||
         strcmp(first_of(parties, SOTTO_PARTY_RELAY)->name, asked->relay) != 0 ||
         strcmp(first_of(parties, SOTTO_PARTY_GATEWAY)->name, asked->gateway) != 0))
        return sotto_fail(
            err, SOTTO_DENIED,
            "it is to go through the relay \"%.40s\" and the gateway \"%.40s\", which "
            "this device does not use now",
            asked->relay, asked->gateway);
    return SOTTO_OK;
}

void sotto_oblivious_way(uint8_t out[SOTTO_OBLIVIOUS_WAY], const char *relay, const char *gateway)
{
    sotto_hash hash;

    sotto_hash_init(&hash, SOTTO_SHA256);
    sotto_hash_update(&hash, sotto_bytes_of(relay, strlen(relay) + 1)); /* with its end */
    sotto_hash_update(&hash, sotto_bytes_of(gateway, strlen(gateway) + 1));
    sotto_hash_final(&hash, out);
}

bool sotto_oblivious_is(const sotto_parties *parties, const uint8_t way[SOTTO_OBLIVIOUS_WAY])
{
    const sotto_party_entry *relay = first_of(parties, SOTTO_PARTY_RELAY);
    const sotto_party_entry *gateway = first_of(parties, SOTTO_PARTY_GATEWAY);
    uint8_t own[SOTTO_OBLIVIOUS_WAY];

    if (!relay || !gateway)
        return false;
    sotto_oblivious_way(own, relay->name, gateway->name);
    return memcmp(own, way, sizeof own) == 0;
}

/* ---- the request -------------------------------------------------------------------------------------------------- */

/* "https://host/path" into its three parts. */
static void split_url(sotto_bhttp *m, const char *url)
{
    const char *authority = strstr(url, "://");
    const char *start = authority ? authority + 3 : url;
    const char *path = strchr(start, '/');
    const char *end = start + strlen(start);

    m->scheme = sotto_bytes_of(url, authority ? (size_t)(authority - url) : 0);
    m->authority = sotto_bytes_of(start, (size_t)((path ? path : end) - start));
    m->path = path ? sotto_bytes_of(path, (size_t)(end - path)) : sotto_bytes_of("/", 1);
}

static sotto_status write_fields(sotto_buf *out, const sotto_exchange *request, int64_t now)
{
    sotto_writer w = sotto_writer_on(out);
    char date[SOTTO_HTTP_DATE];

    sotto_http_date_write(date, now - now % MINUTE);
    sotto_bhttp_field_write(&w, "date", sotto_bytes_of(date, sizeof date));
    if (request->media_type)
        sotto_bhttp_field_write(&w, "content-type",
                                sotto_bytes_of(request->media_type, strlen(request->media_type)));
    return sotto_writer_finish(&w, "fields", NULL);
}

/* Zeros up to a length that many messages share. */
static sotto_status write_message(sotto_buf *out, const sotto_exchange *request, sotto_bytes body,
                                  int64_t now, sotto_arena *arena)
{
    uint8_t lines[BESIDE];
    sotto_buf fields = sotto_buf_over(lines, sizeof lines);
    sotto_bhttp m = {.method = sotto_bytes_of(request->method, strlen(request->method)),
                     .content = body};
    const size_t least = strlen(request->url) + body.len + BESIDE;
    const size_t size = (least / SOTTO_OBLIVIOUS_PAD + 1) * SOTTO_OBLIVIOUS_PAD;

    split_url(&m, request->url);
    SOTTO_TRY(write_fields(&fields, request, now));
    m.fields = sotto_buf_bytes(&fields);
    SOTTO_TRY(sotto_buf_take(out, arena, size, NULL));
    return sotto_bhttp_encode(out, &m, size, NULL);
}

static sotto_status seal(sotto_buf *out, sotto_ohttp_exchange *exchange, const sotto_oblivious *way,
                         sotto_bytes plain, sotto_entropy *entropy, sotto_arena *arena)
{
    uint8_t ikm[SOTTO_HPKE_MAX_PRIVATE_KEY];

    SOTTO_TRY(sotto_buf_take(out, arena, plain.len + OUTSIDE, NULL));
    sotto_status status = sotto_entropy_take(entropy, ikm, sizeof ikm, NULL);
    if (status == SOTTO_OK)
        status = sotto_ohttp_request_seal(exchange, out, &way->gateway,
                                          sotto_bytes_of(ikm, sizeof ikm), plain, NULL);
    sotto_wipe(ikm, sizeof ikm);
    return status;
}

/* ---- the answer ----------------------------------------------------------------------------------------------------- */

static const char *text_of(char *out, size_t size, sotto_bytes fields, const char *name)
{
    sotto_bytes value;

    if (!sotto_bhttp_field(fields, name, &value) || value.len >= size)
        return NULL;
    memcpy(out, value.data, value.len);
    out[value.len] = 0;
    return out;
}

/* An error of the gateway itself is not the leader's answer. Its clock, its restart or its table are no reason to give a
 * report up. */
static bool is_gateways_own(const sotto_bhttp *m)
{
    sotto_bytes value;

    return (m->status < 200 || m->status > 299) &&
           sotto_bhttp_field(m->fields, SOTTO_OHTTP_GATEWAY_FIELD, &value);
}

/* What the gateway sealed, in place of what the relay brought. A request has status 0, which no answer has. */
static sotto_status take_answer(sotto_exchange_answer *answer, sotto_bytes sealed,
                                const sotto_ohttp_exchange *exchange, sotto_arena *arena)
{
    char type[SOTTO_EXCHANGE_MEDIA_TYPE], retry[24];
    sotto_writer w = sotto_writer_on(&answer->body);
    sotto_buf plain;
    sotto_bhttp m;

    SOTTO_TRY(sotto_buf_take(&plain, arena, sealed.len, NULL));
    SOTTO_TRY(sotto_ohttp_response_unseal(exchange, &plain, sealed, NULL));
    SOTTO_TRY(sotto_bhttp_decode(&m, plain.data, plain.len, NULL));
    sotto_exchange_answer_head(answer, m.status,
                               text_of(type, sizeof type, m.fields, "content-type"),
                               text_of(retry, sizeof retry, m.fields, "retry-after"));
    if (SOTTO_RULE(gateway_errors_wait) && is_gateways_own(&m))
        return SOTTO_IO;
    sotto_write_bytes(&w, m.content);
    return sotto_writer_finish(&w, "answer", NULL);
}

sotto_status sotto_oblivious_carry(const sotto_device_host *host, const sotto_oblivious *way,
                                   const sotto_exchange *request, sotto_bytes body, int64_t now,
                                   sotto_entropy *entropy, sotto_arena *arena,
                                   sotto_exchange_answer *answer)
{
    const sotto_exchange outer = {.method = "POST",
                                  .url = way->relay,
                                  .media_type = SOTTO_OHTTP_REQUEST_TYPE,
                                  .recipe = request->recipe};
    sotto_ohttp_exchange exchange;
    sotto_exchange_answer came = {0};
    sotto_buf plain, sealed;

    SOTTO_TRY(write_message(&plain, request, body, now, arena));
    SOTTO_TRY(sotto_buf_take(&came.body, arena, 2 * answer->body.cap, NULL));
    sotto_status status = seal(&sealed, &exchange, way, sotto_buf_bytes(&plain), entropy, arena);
    if (status == SOTTO_OK)
        status = sotto_exchange_carry(host, &outer, sotto_buf_bytes(&sealed), &came);
    answer->retry_after = came.retry_after;
    /* An answer of the relay itself is not the leader's, whatever its status: no report is given up for
     * it. */
    if (status == SOTTO_OK && take_answer(answer, sotto_buf_bytes(&came.body), &exchange, arena))
        status = SOTTO_IO;
    sotto_wipe(&exchange, sizeof exchange);
    return status;
}
