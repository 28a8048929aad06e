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

/* In life: POST the body to the leader, and hand over what it answers; here it says 200 and lists no error. */
static sotto_delivery send_report(void *context, const sotto_upload *upload)
{
    (void)context;
    printf("%s: %zu sealed bytes leave\n", upload->recipe, upload->body.len);
    return sotto_delivery_of(upload, 200, (sotto_bytes){0});
}

static sotto_status run(sotto_device *device, char **argv, sotto_err *err)
{
    const sotto_value values[] = {{SOTTO_TYPE_INTEGER, {.integer = 35}},
                                  {SOTTO_TYPE_TEXT, {.text = sotto_bytes_of("i went home", 11)}},
                                  {SOTTO_TYPE_REAL, {.real = 1.5}}};
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
    sotto_device *device = NULL;
    sotto_err err = {SOTTO_OK, "usage: host POLICY PARTIES RECIPE NAME [yes|no]"};

    setup.policy = read_file(argc > 4 ? argv[1] : "");
    setup.parties = read_file(argc > 4 ? argv[2] : "");
    setup.host.send = send_report;
    const bool done = argc > 4 && sotto_device_open(&device, &setup, &err) == SOTTO_OK &&
                      run(device, argv, &err) == SOTTO_OK;
    printf("%s\n", done ? "" : err.reason);
    sotto_device_close(device);
    return done ? 0 : 1;
}
