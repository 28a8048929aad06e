/* sotto admin beacon - has the witnesses of a beacon make their key, and asks them for the value of an epoch. */
#define _POSIX_C_SOURCE 200809L
#include "admin.h"
#include "show.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/hex.h"
#include "support/arguments.h"
#include "support/witnesses.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_FILE = 4 * SOTTO_DECRYPTORS_MOST_BYTES };

typedef struct asking {
    const char *verb;
    const char *witnesses, *token, *out, *key, *session, *registry;
    uint64_t epoch;
    bool json;
    sotto_at at; /* whose fault a failure is */
    sotto_http_client *client;
    sotto_witnesses w;
    sotto_err err;
} asking;

static sotto_status open_asking(asking *a)
{
    a->at = SOTTO_AT_FILE;
    SOTTO_TRY(sotto_http_client_open(&a->client, &(sotto_http_client_options){0}, &a->err));
    SOTTO_TRY(sotto_witnesses_open(&a->w, a->client, a->witnesses, a->token, &a->err));
    a->at = SOTTO_AT_PEER;
    return SOTTO_OK;
}

static int close_asking(asking *a, sotto_status status)
{
    if (status != SOTTO_OK)
        (void)fprintf(stderr, "sotto %s: %s\n", a->verb, a->err.reason);
    for (uint32_t i = 0; i < a->w.count; i++)
        if (a->w.is_silent[i])
            (void)fprintf(stderr, "witness %u does not answer: %s\n", i + 1, a->w.file.urls[i]);
    if (a->client)
        sotto_witnesses_close(&a->w);
    sotto_http_client_close(a->client);
    return sotto_exit_code(status, a->at);
}

/* ---- the key file ---------------------------------------------------------------------------------------------------- */

static void write_members(sotto_json *j, const sotto_decryptors_record *r, sotto_bytes record)
{
    sotto_json_hex(j, "key", sotto_bytes_of(r->key, sizeof r->key));
    sotto_json_array(j, "witnesses");
    for (uint32_t i = 0; i < r->count; i++)
        sotto_json_hex(j, NULL, sotto_bytes_of(r->verify[i], sizeof r->verify[i]));
    sotto_json_end(j);
    sotto_json_hex(j, "record", record);
}

static sotto_status write_key(asking *a)
{
    uint8_t bytes[SOTTO_DECRYPTORS_MOST_BYTES];
    sotto_buf record = sotto_buf_over(bytes, sizeof bytes);

    a->at = SOTTO_AT_FILE;
    SOTTO_TRY(sotto_decryptors_encode(&record, &a->w.record, &a->err));
    char *text = NULL;
    size_t len = 0;
    FILE *file = open_memstream(&text, &len);
    if (!file)
        return sotto_fail(&a->err, SOTTO_NO_MEMORY, "no memory for a key");
    sotto_json j = sotto_show_object(file, SOTTO_JSON_INDENTED);
    write_members(&j, &a->w.record, sotto_buf_bytes(&record));
    const bool whole = sotto_show_end(&j);
    sotto_status status = fclose(file) == 0 && whole
                              ? SOTTO_OK
                              : sotto_fail(&a->err, SOTTO_NO_MEMORY, "no memory for a key");
    /* A key that is there stays whole until this one is: who asks for a beacon needs one of them. */
    if (status == SOTTO_OK)
        status = sotto_file_write(a->out, sotto_bytes_of(text, len), NULL, NULL, &a->err);
    free(text);
    return status;
}

/* Of all that the file says, only the record is believed: the witnesses signed it. */
static sotto_status read_key(asking *a)
{
    uint8_t bytes[SOTTO_DECRYPTORS_MOST_BYTES];
    json_t *json = json_load_file(a->key, JSON_REJECT_DUPLICATES, NULL);
    const char *text = json_string_value(json_object_get(json, "record"));
    const size_t digits = text ? strlen(text) : 0;
    const bool read = digits / 2 <= sizeof bytes && digits > 0 &&
                      sotto_hex_decode(bytes, digits / 2, sotto_bytes_of(text, digits));

    json_decref(json);
    if (!read)
        return sotto_fail(&a->err, SOTTO_MALFORMED,
                          "%.100s: not a file of `sotto admin beacon make`", a->key);
    return sotto_witnesses_know(&a->w, sotto_bytes_of(bytes, digits / 2), &a->err);
}

/* ---- make ------------------------------------------------------------------------------------------------------------- */

static void show_key(const asking *a)
{
    const sotto_decryptors_record *r = &a->w.record;
    uint32_t signed_by = 0;

    for (uint32_t i = 0; i < r->count; i++)
        signed_by += r->is_signed[i];
    if (a->json) {
        sotto_json j = sotto_show_object(stdout, SOTTO_JSON_COMPACT);

        sotto_json_hex(&j, "key", sotto_bytes_of(r->key, sizeof r->key));
        sotto_json_uint(&j, "witnesses", r->count);
        sotto_json_uint(&j, "signed", signed_by);
        sotto_json_uint(&j, "threshold", sotto_decryptors_threshold(r->count));
        (void)sotto_show_end(&j);
        return;
    }
    printf("%u witnesses made their key, and %u signed for it; any %u of them give the beacon.\n",
           r->count, signed_by, sotto_decryptors_threshold(r->count));
    for (uint32_t i = 0; i < r->count; i++)
        if (!r->is_signed[i])
            printf("witness %u has no share, or is away: run this again when it answers: %s\n",
                   i + 1, a->w.file.urls[i]);
}

static int run_make(int argc, char **argv)
{
    static asking a; /* too large for a stack */

    a = (asking){.verb = "admin beacon make"};
    const sotto_argument words[] = {{.name = "--witnesses", .text = &a.witnesses, .needed = true},
                                    {.name = "--token", .text = &a.token, .needed = true},
                                    {.name = "--out", .text = &a.out, .needed = true},
                                    {.name = "--json", .flag = &a.json}};
    const int code =
        sotto_arguments_read(a.verb, words, sizeof words / sizeof words[0], argc, argv);

    if (code != EXIT_DONE)
        return code;
    sotto_status status = open_asking(&a);
    if (status == SOTTO_OK)
        status =
            sotto_witnesses_meet(&a.w, sotto_clock_wall(&sotto_clock_system) / 1000000, &a.err);
    if (status == SOTTO_OK)
        status = write_key(&a);
    if (status == SOTTO_OK)
        show_key(&a);
    return close_asking(&a, status);
}

/* ---- ask --------------------------------------------------------------------------------------------------------------- */

static sotto_status ask(asking *a)
{
    sotto_beacon_part parts[SOTTO_DECRYPTORS_MOST];
    sotto_beacon_input input = {.epoch = a->epoch};
    uint8_t value[32];

    if (!sotto_hex_decode(input.session, 32, sotto_bytes_of(a->session, strlen(a->session))) ||
        !sotto_hex_decode(input.registry, 32, sotto_bytes_of(a->registry, strlen(a->registry)))) {
        a->at = SOTTO_AT_WORDS;
        return sotto_fail(&a->err, SOTTO_MALFORMED,
                          "--session and --registry take 64 hexadecimal digits each");
    }
    a->at = SOTTO_AT_FILE;
    SOTTO_TRY(read_key(a));
    a->at = SOTTO_AT_PEER;
    SOTTO_TRY(sotto_witnesses_ask(&a->w, value, parts, &input, &a->err));
    sotto_json j = sotto_show_object(stdout, a->json ? SOTTO_JSON_COMPACT : SOTTO_JSON_INDENTED);
    sotto_json_uint(&j, "epoch", a->epoch);
    sotto_json_hex(&j, "beacon", sotto_bytes_of(value, sizeof value));
    sotto_json_array(&j, "parts");
    for (uint32_t i = 0; i < sotto_decryptors_threshold(a->w.record.count); i++) {
        sotto_json_object(&j, NULL);
        sotto_json_uint(&j, "place", parts[i].place);
        sotto_json_hex(&j, "part", sotto_bytes_of(parts[i].bytes, sizeof parts[i].bytes));
        sotto_json_end(&j);
    }
    sotto_json_end(&j);
    return sotto_show_end(&j) ? SOTTO_OK : sotto_fail(&a->err, SOTTO_IO, "can't write");
}

static int run_ask(int argc, char **argv)
{
    static asking a;

    a = (asking){.verb = "admin beacon ask", .epoch = UINT64_MAX};
    const sotto_argument words[] = {{.name = "--witnesses", .text = &a.witnesses, .needed = true},
                                    {.name = "--token", .text = &a.token, .needed = true},
                                    {.name = "--key", .text = &a.key, .needed = true},
                                    {.name = "--session", .text = &a.session, .needed = true},
                                    {.name = "--registry", .text = &a.registry, .needed = true},
                                    {.name = "--epoch", .whole = &a.epoch, .most = 1e15},
                                    {.name = "--json", .flag = &a.json}};
    const int code =
        sotto_arguments_read(a.verb, words, sizeof words / sizeof words[0], argc, argv);

    if (code != EXIT_DONE)
        return code;
    if (a.epoch == UINT64_MAX)
        return sotto_arguments_misused(a.verb, "--epoch", "it is needed");
    sotto_status status = open_asking(&a);
    if (status == SOTTO_OK)
        status = ask(&a);
    return close_asking(&a, status);
}

/* ---- the verb ------------------------------------------------------------------------------------------------------------ */

static const sotto_verb verb_make = {
    .name = "make",
    .summary = "have witnesses make their key",
    .usage =
        "usage: sotto admin beacon make --witnesses FILE --token FILE --out FILE [--json]\n\n"
        "Has the witnesses of a beacon make their key. No witness ever has it, and neither does\n"
        "whoever runs this. All of them must answer in the beginning, and two thirds to the end.\n"
        "If they have made their key already, it is fetched again.\n\n"
        "  --witnesses FILE  a line for each: its public key, a space and its URL, in the order\n"
        "                    of the witnesses' own list (`beacon_witnesses`)\n"
        "  --token FILE      the token by which they know you (`beacon_token`), or a line for "
        "each\n"
        "  --out FILE        gets the key, in JSON: `witnesses` are the values that devices check "
        "a\n"
        "                    beacon against, `record` has the witnesses' signatures\n",
    .run = run_make,
};

static const sotto_verb verb_ask = {
    .name = "ask",
    .summary = "ask witnesses for the beacon of an epoch",
    .usage =
        "usage: sotto admin beacon ask --witnesses FILE --token FILE --key FILE --session HEX\n"
        "                              --registry HEX --epoch N [--json]\n\n"
        "Asks for the beacon of an epoch, and prints it with the parts that prove it. A third of\n"
        "the witnesses and one more are enough; whoever lies is passed over. Each answers one\n"
        "session and one registry in an epoch.\n\n"
        "  --witnesses FILE  as for `make`\n"
        "  --token FILE      as for `make`\n"
        "  --key FILE        what `make` wrote\n"
        "  --session HEX     64 hexadecimal digits that name the session\n"
        "  --registry HEX    the root of the registry, 64 hexadecimal digits\n"
        "  --epoch N         the epoch's number\n",
    .run = run_ask,
};

static const sotto_verb *const parts[] = {&verb_make, &verb_ask, NULL};

const sotto_verb sotto_verb_admin_beacon = {
    .name = "beacon",
    .summary = "have witnesses make a beacon's key, and ask for the beacon that draws committees",
    .parts = parts,
};
