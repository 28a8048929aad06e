/* The pairing file, and the fingerprint by which two people make sure that they hold the same one. */
#include "serve/tasks/pairing.h"

#include "base/hex.h"
#include "base/rule.h"
#include "crypto/hash.h"
#include "sotto/random.h"
#include "transport/http_client.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

enum { MAX_FILE = 8192 };
static const char KIND[] = "sotto-pairing";
static const char COLLECTORS[] = "sotto-collector-tokens";

static const struct field {
    const char *key;
    size_t offset, size;
    bool collectors; /* the collector gets it too */
} fields[] = {
    {"leader", offsetof(sotto_pairing, leader), SOTTO_PARTY_NAME, true},
    {"helper", offsetof(sotto_pairing, helper), SOTTO_PARTY_NAME, true},
    {"collector", offsetof(sotto_pairing, collector), SOTTO_PARTY_NAME, true},
    {"leader_url", offsetof(sotto_pairing, leader_url), SOTTO_PARTY_URL, true},
    {"helper_url", offsetof(sotto_pairing, helper_url), SOTTO_PARTY_URL, true},
    {"leader_token", offsetof(sotto_pairing, leader_token), SOTTO_TOKEN_MAX, false},
    {"collector_token", offsetof(sotto_pairing, collector_token), SOTTO_TOKEN_MAX, true},
    {"rejection_token", offsetof(sotto_pairing, rejection_token), SOTTO_TOKEN_MAX, true},
    {"collector_key", offsetof(sotto_pairing, collector_key), SOTTO_COLLECTOR_KEY_TEXT, true},
};
enum {
    FIELDS = sizeof fields / sizeof fields[0],
    FIRST_URL = 3,
    FIRST_TOKEN = 5,
    COLLECTOR_KEY = 8
};

/* Of those that the file has: a collector's lacks the servers' secrets, and a foreign one the collector's key. */
static bool has_field(bool foreign, bool collectors, size_t i)
{
    return (fields[i].collectors || !collectors) && (i != COLLECTOR_KEY || !foreign);
}

static char *text_of(const sotto_pairing *pairing, const struct field *f)
{
    return (char *)(uintptr_t)pairing + f->offset;
}

/* 80 bits of a hash over everything, in five groups of four. Nobody can match them by trying in the
 * time that a telephone call takes, and they are short enough to read aloud. */
static void fingerprint(sotto_pairing *pairing)
{
    uint8_t digest[32];
    sotto_hash hash;
    char *at = pairing->fingerprint;

    sotto_hash_init(&hash, SOTTO_SHA256);
    sotto_hash_update(&hash, sotto_bytes_of(KIND, sizeof KIND));
    sotto_hash_update(&hash, sotto_bytes_of(pairing->verify_seed, sizeof pairing->verify_seed));
    for (size_t i = 0; i < FIELDS; i++) {
        const char *text = text_of(pairing, &fields[i]);

        if (has_field(pairing->foreign, false, i))
            sotto_hash_update(&hash, sotto_bytes_of(text, strlen(text) + 1));
    }
    sotto_hash_final(&hash, digest);
    for (size_t i = 0; i < 10; i++)
        at += snprintf(at, 4, i > 0 && i % 2 == 0 ? "-%02x" : "%02x", digest[i]);
}

static sotto_status fresh_token(char out[SOTTO_TOKEN_TEXT], sotto_err *err)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    uint8_t bytes[SOTTO_TOKEN_TEXT - 1];

    SOTTO_TRY(sotto_random_bytes(bytes, sizeof bytes, err));
    for (size_t i = 0; i < sizeof bytes; i++)
        out[i] = alphabet[bytes[i] & 63]; /* 43 characters of 6 random bits each */
    out[sizeof bytes] = 0;
    sotto_wipe(bytes, sizeof bytes);
    return SOTTO_OK;
}

/* Of one name for two, a parties file can't tell which is meant. Of what is stored already only the servers' names are compared:
 * a collector that is named as one of them was paired and served before anybody asked. */
static sotto_status check_names(const sotto_pairing *pairing, size_t count, sotto_err *err)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(text_of(pairing, &fields[i]), text_of(pairing, &fields[j])) == 0)
                return sotto_fail(err, SOTTO_MALFORMED, "%s and %s have the same name",
                                  fields[j].key, fields[i].key);
    return SOTTO_OK;
}

/* A secret is sent to it, with a path behind it. Whoever calls parses it with libcurl, which also takes what is almost a URL,
 * such as "http:/host": so its shape is checked here first. */
static bool is_url(const char *text)
{
    static const char visible[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                  "-._~:/[]@!$&'()*+,;=%";
    char host[256];
    const char *authority = strstr(text, "://");
    size_t scheme = authority ? (size_t)(authority - text) : 0, len;

    if (strspn(text, visible) != strlen(text) || strlen(text) >= SOTTO_PARTY_URL ||
        !((scheme == 4 && memcmp(text, "http", 4) == 0) ||
          (scheme == 5 && memcmp(text, "https", 5) == 0)))
        return false;
    authority += 3;
    len = strcspn(authority, "/");
    if (len == 0 || memchr(authority, '@', len))
        return false;
    return sotto_http_url_check(host, sizeof host, text, true, NULL) == SOTTO_OK;
}

static sotto_status copy_urls(sotto_pairing *out, const sotto_paired *parties, sotto_err *err)
{
    const sotto_bytes urls[] = {parties->leader_url, parties->helper_url};

    for (size_t i = FIRST_URL; i < FIRST_TOKEN; i++) {
        sotto_bytes url = urls[i - FIRST_URL];
        char *text = text_of(out, &fields[i]);

        if (url.len > 0 && url.len < SOTTO_PARTY_URL)
            memcpy(text, url.data, url.len);
        if (SOTTO_RULE(pairing_urls_checked) &&
            (url.len >= SOTTO_PARTY_URL || strlen(text) != url.len || !is_url(text)))
            return sotto_fail(err, SOTTO_MALFORMED,
                              "%s: an absolute http or https URL of at most %d characters, with"
                              " neither user, query nor fragment",
                              fields[i].key, SOTTO_PARTY_URL - 1);
    }
    return SOTTO_OK;
}

static sotto_status fresh(sotto_pairing *out, const sotto_paired *parties, sotto_err *err)
{
    const char *names[FIRST_URL] = {parties->leader, parties->helper, parties->collector};

    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < FIRST_URL; i++) {
        size_t len = strlen(names[i]);

        if (len == 0 || len >= SOTTO_PARTY_NAME)
            return sotto_fail(err, SOTTO_MALFORMED, "%s: a name of 1 to %d bytes", fields[i].key,
                              SOTTO_PARTY_NAME - 1);
        memcpy(text_of(out, &fields[i]), names[i], len + 1);
    }
    SOTTO_TRY(check_names(out, FIRST_URL, err));
    SOTTO_TRY(copy_urls(out, parties, err));
    SOTTO_TRY(sotto_random_bytes(out->verify_seed, sizeof out->verify_seed, err));
    for (size_t i = FIRST_TOKEN; i < COLLECTOR_KEY; i++)
        SOTTO_TRY(fresh_token(text_of(out, &fields[i]), err));
    return SOTTO_OK;
}

sotto_status sotto_pairing_new(sotto_pairing *out, const sotto_paired *parties,
                               sotto_bytes collector_config, sotto_err *err)
{
    sotto_hpke_config config;

    SOTTO_TRY(fresh(out, parties, err));
    SOTTO_TRY(sotto_hpke_config_decode(&config, collector_config, err));
    if (!config.supported || collector_config.len > SOTTO_COLLECTOR_CONFIG)
        return sotto_fail(err, SOTTO_MALFORMED, "the collector's key is of another algorithm");
    sotto_hex_encode(out->collector_key, collector_config);
    fingerprint(out);
    return SOTTO_OK;
}

/* A token goes into a header line: token68 and no more. */
static bool is_foreign_token(const char *text)
{
    size_t len = strlen(text);

    return len > 0 && len < SOTTO_TOKEN_MAX &&
           strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/=") ==
               len;
}

sotto_status sotto_pairing_foreign(sotto_pairing *out, const sotto_paired *parties,
                                   const char *leader_token, const char *collector_token,
                                   sotto_err *err)
{
    SOTTO_TRY(fresh(out, parties, err));
    if (!is_foreign_token(leader_token) || (collector_token && !is_foreign_token(collector_token)))
        return sotto_fail(err, SOTTO_MALFORMED, "a token has 1 to 255 characters of token68");
    memcpy(out->leader_token, leader_token, strlen(leader_token) + 1);
    if (collector_token)
        memcpy(out->collector_token, collector_token, strlen(collector_token) + 1);
    out->foreign = true;
    fingerprint(out);
    return SOTTO_OK;
}

static int set_fields(json_t *json, const sotto_pairing *pairing, bool collectors)
{
    char seed[2 * sizeof pairing->verify_seed + 1];
    int failed = json_object_set_new(json, collectors ? COLLECTORS : KIND,
                                     json_integer(pairing->foreign ? 2 : 1));

    for (size_t i = 0; i < FIELDS; i++)
        if (has_field(pairing->foreign, collectors, i))
            failed |=
                json_object_set_new(json, fields[i].key, json_string(text_of(pairing, &fields[i])));
    if (!collectors) {
        sotto_hex_encode(seed, sotto_bytes_of(pairing->verify_seed, sizeof pairing->verify_seed));
        failed |= json_object_set_new(json, "verify_seed", json_string(seed));
        sotto_wipe(seed, sizeof seed);
    }
    return failed | json_object_set_new(json, "fingerprint", json_string(pairing->fingerprint));
}

static sotto_status encode(sotto_buf *out, const sotto_pairing *pairing, bool collectors,
                           sotto_err *err)
{
    json_t *json = json_object();
    size_t len, room = out->cap - out->len;

    if (!json || set_fields(json, pairing, collectors) != 0) {
        json_decref(json);
        return sotto_fail(err, SOTTO_NO_MEMORY, "pairing file");
    }
    len = json_dumpb(json, (char *)out->data + out->len, room, JSON_INDENT(2));
    json_decref(json);
    if (len == 0 || len > room)
        return sotto_fail(err, SOTTO_TOO_LARGE, "pairing file");
    out->len += len;
    return SOTTO_OK;
}

sotto_status sotto_pairing_encode(sotto_buf *out, const sotto_pairing *pairing, sotto_err *err)
{
    return encode(out, pairing, false, err);
}

sotto_status sotto_pairing_encode_for_collector(sotto_buf *out, const sotto_pairing *pairing,
                                                sotto_err *err)
{
    return encode(out, pairing, true, err);
}

/* A token goes into a header line: only what base64url has. */
static bool is_token(const char *text)
{
    return strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") ==
               SOTTO_TOKEN_TEXT - 1 &&
           text[SOTTO_TOKEN_TEXT - 1] == 0;
}

static bool is_collector_key(const char *text)
{
    uint8_t wire[SOTTO_COLLECTOR_CONFIG];
    size_t len = strlen(text) / 2;
    sotto_hpke_config config;

    return len <= sizeof wire && sotto_hex_decode(wire, len, sotto_bytes_of(text, strlen(text))) &&
           sotto_hpke_config_decode(&config, sotto_bytes_of(wire, len), NULL) == SOTTO_OK &&
           config.supported;
}

static bool is_field(const char *text, size_t i, bool foreign)
{
    if (i < FIRST_URL)
        return true;
    if (i < FIRST_TOKEN)
        return is_url(text);
    if (i == COLLECTOR_KEY)
        return is_collector_key(text);
    return foreign ? is_foreign_token(text) : is_token(text);
}

static sotto_status read_texts(sotto_pairing *out, json_t *json, bool collectors, sotto_err *err)
{
    for (size_t i = 0; i < FIELDS; i++) {
        const char *text = json_string_value(json_object_get(json, fields[i].key));
        size_t len = text ? json_string_length(json_object_get(json, fields[i].key)) : 0;

        if (!has_field(out->foreign, collectors, i))
            continue;
        if (len == 0 || len >= fields[i].size || strlen(text) != len ||
            !is_field(text, i, out->foreign))
            return sotto_fail(err, SOTTO_MALFORMED, "pairing file: %s is invalid", fields[i].key);
        memcpy(text_of(out, &fields[i]), text, len + 1);
    }
    return SOTTO_OK;
}

static sotto_status read_fields(sotto_pairing *out, json_t *json, sotto_err *err)
{
    bool collectors = json_object_get(json, COLLECTORS) != NULL;
    const char *given = json_string_value(json_object_get(json, "fingerprint"));
    const char *seed = json_string_value(json_object_get(json, "verify_seed"));
    size_t keys = collectors ? 2 : 3; /* beside the fields: version, fingerprint, seed */
    json_int_t version = json_integer_value(json_object_get(json, collectors ? COLLECTORS : KIND));

    if (version != 1 && version != 2)
        return sotto_fail(err, SOTTO_MALFORMED, "not a pairing file of version 1 or 2");
    out->foreign = version == 2;
    if (!out->foreign && !json_object_get(json, fields[COLLECTOR_KEY].key))
        return sotto_fail(
            err, SOTTO_MALFORMED,
            "pairing file: no collector_key, as in those of earlier versions: pair again,"
            " under other names");
    if (SOTTO_RULE(pairing_without_urls_refused) &&
        (!json_object_get(json, fields[FIRST_URL].key) ||
         !json_object_get(json, fields[FIRST_URL + 1].key)))
        return sotto_fail(err, SOTTO_MALFORMED,
                          "pairing file: no URLs of the servers, as in those of earlier versions:"
                          " pair again, under other names");
    for (size_t i = 0; i < FIELDS; i++)
        keys += has_field(out->foreign, collectors, i);
    if (json_object_size(json) != keys || !given || strlen(given) >= SOTTO_FINGERPRINT_TEXT)
        return sotto_fail(err, SOTTO_MALFORMED, "pairing file: a key is unknown or missing");
    SOTTO_TRY(read_texts(out, json, collectors, err));
    SOTTO_TRY(check_names(out, 2, err));
    if (collectors) { /* the secrets that its fingerprint is of stay with the servers */
        memcpy(out->fingerprint, given, strlen(given) + 1);
        return SOTTO_OK;
    }
    if (!seed || !sotto_hex_decode(out->verify_seed, sizeof out->verify_seed,
                                   sotto_bytes_of(seed, strlen(seed))))
        return sotto_fail(err, SOTTO_MALFORMED, "pairing file: verify_seed is invalid");
    fingerprint(out);
    /* Not a signature: it finds a file that was damaged or mixed from two. */
    if (strcmp(given, out->fingerprint) != 0)
        return sotto_fail(err, SOTTO_REJECTED, "pairing file: its fingerprint does not match");
    return SOTTO_OK;
}

sotto_status sotto_pairing_decode(sotto_pairing *out, sotto_bytes text, sotto_err *err)
{
    json_error_t why;
    json_t *json;
    sotto_status status;

    memset(out, 0, sizeof *out);
    if (text.len > MAX_FILE)
        return sotto_fail(err, SOTTO_TOO_LARGE, "a pairing file has at most %d bytes", MAX_FILE);
    json = json_loadb((const char *)text.data, text.len, JSON_REJECT_DUPLICATES, &why);
    if (!json)
        return sotto_fail(err, SOTTO_MALFORMED, "pairing file: line %d is no JSON", why.line);
    status = read_fields(out, json, err);
    json_decref(json);
    if (status != SOTTO_OK)
        sotto_wipe(out, sizeof *out);
    return status;
}

bool sotto_pairing_url_is(const char *paired, sotto_bytes url)
{
    return sotto_bytes_equal_vartime(sotto_bytes_of(paired, strlen(paired)), url);
}

bool sotto_pairing_is_for(const sotto_pairing *pairing, const sotto_hpke_config *collector)
{
    uint8_t memory[SOTTO_COLLECTOR_CONFIG];
    sotto_buf wire = sotto_buf_over(memory, sizeof memory);
    char text[SOTTO_COLLECTOR_KEY_TEXT];

    if (pairing->foreign)
        return true;
    if (sotto_hpke_config_encode(&wire, collector, NULL) != SOTTO_OK)
        return false;
    sotto_hex_encode(text, sotto_buf_bytes(&wire));
    return strcmp(text, pairing->collector_key) == 0;
}
