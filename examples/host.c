/* A host application and its device: host POLICY PARTIES RECIPE NAME [yes|no], where its two files are kept. */
#include <sotto/device.h>
#include <stdio.h>
#include <time.h>

static sotto_bytes read_file(const char *path)
{
    static uint8_t memory[1 << 18], *at = memory;
    FILE *file = fopen(path, "rb");
    sotto_bytes read = {at, file ? fread(at, 1, (size_t)(memory + sizeof memory - at), file) : 0};

    at += read.len;
    return file && fclose(file) == 0 ? read : (sotto_bytes){0};
}

/* In life an HTTP client, which reads long bodies in pieces (docs/device.md). This one says 200, and lists no error. */
static sotto_status carry(void *out, sotto_exchange *http)
{
    uint8_t body[1 << 16];
    size_t len;

    SOTTO_TRY(http->read(http, 0, body, sizeof body, &len)); /* to be sent to http->url */
    fprintf(out, "%s: %zu sealed bytes leave\n", http->recipe, len);
    return http->begin(http, &(sotto_exchange_head){sizeof(sotto_exchange_head), .status = 200});
}

static sotto_status run(sotto_device *device, char **argv, sotto_err *err)
{
    const sotto_value values[3] = {{SOTTO_TYPE_INTEGER, {.integer = 35}},
                                   {SOTTO_TYPE_TEXT, {.text = sotto_bytes_of("i went home", 11)}}};
    const sotto_event event = {"keyboard_ngrams", {1}, (int64_t)time(NULL), values, 3};
    sotto_explanation why;

    SOTTO_TRY(sotto_device_describe(device, "locale", "en_US", err));
    if (argv[5]) /* only when the person says something; it is kept until they say otherwise */
        SOTTO_TRY(sotto_device_consent(device, argv[5][0] == 'y', err));
    SOTTO_TRY(sotto_device_donate(device, &event, 1, NULL, err));
    SOTTO_TRY(sotto_device_offer(device, read_file(argv[3]), err)); /* whenever one arrives */
    SOTTO_TRY(sotto_device_tick(device, NULL, (sotto_conditions){true, true, true}, err));
    SOTTO_TRY(sotto_device_why(device, &why, argv[4], err)); /* for the person, never to be sent */
    printf("%s: %s: %s\n", argv[4], sotto_why_name(why.why), why.sentence);
    return SOTTO_OK;
}

int main(int argc, char **argv)
{
    static const sotto_field fields[] = {
        {"age", SOTTO_TYPE_INTEGER}, {"ngram", SOTTO_TYPE_TEXT}, {"perplexity", SOTTO_TYPE_REAL}};
    const sotto_stream stream = {"keyboard_ngrams", fields, 3, 30 * 86400, 10000};
    sotto_device_options setup = {"events.db", "ledger.db", .streams = &stream, .stream_count = 1};
    sotto_device *phone = NULL;
    sotto_err err = {SOTTO_OK, "usage: host POLICY PARTIES RECIPE NAME [yes|no]"};

    setup.policy = read_file(argc > 4 ? argv[1] : "");
    setup.parties = read_file(argc > 4 ? argv[2] : "");
    setup.host = (sotto_device_host){.exchange = carry, .context = stdout};
    const bool ok = argc > 4 && !sotto_device_open(&phone, &setup, &err) && !run(phone, argv, &err);
    sotto_device_close(phone);
    return printf("%s\n", ok ? "" : err.reason) < 0 || !ok;
}
