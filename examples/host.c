/* A host application and its device: host POLICY PARTIES RECIPE, in a directory that keeps its two files. */
#include <sotto/device.h>
#include <stdio.h>
#include <time.h>

static sotto_bytes read_file(const char *path, uint8_t *memory, size_t size)
{
    FILE *file = fopen(path, "rb");
    size_t len = file ? fread(memory, 1, size, file) : 0;

    if (file)
        (void)fclose(file);
    return sotto_bytes_of(memory, len);
}

/* In life: POST the body to the leader. SOTTO_DELIVERY_LATER is the answer to any doubt. */
static sotto_delivery send_report(void *context, const sotto_upload *upload)
{
    (void)context;
    printf("%s: %zu sealed bytes leave\n", upload->recipe, upload->body.len);
    return SOTTO_DELIVERY_ACCEPTED;
}

static sotto_status run(sotto_device *device, sotto_bytes recipe, sotto_err *err)
{
    const sotto_value values[] = {
        {.type = SOTTO_TYPE_INTEGER, .as.integer = 35},
        {.type = SOTTO_TYPE_TEXT, .as.text = sotto_bytes_of("i went home", 11)}};
    const sotto_event event = {"keyboard_ngrams", {1}, (int64_t)time(NULL), values, 2};
    const sotto_conditions good = {.idle = true, .charging = true, .network = true};

    SOTTO_TRY(sotto_device_describe(device, "locale", "en_US", err));
    SOTTO_TRY(sotto_device_consent(device, true, err)); /* when the person says so */
    SOTTO_TRY(sotto_device_donate(device, &event, 1, NULL, err));
    SOTTO_TRY(sotto_device_offer(device, recipe, err)); /* whenever one arrives */
    return sotto_device_tick(device, NULL, good, err);  /* every hour or so */
}

int main(int argc, char **argv)
{
    static uint8_t memory[3][1 << 16];
    static const sotto_field fields[] = {{"age", SOTTO_TYPE_INTEGER}, {"ngram", SOTTO_TYPE_TEXT}};
    const sotto_stream stream = {"keyboard_ngrams", fields, 2, 30 * 86400, 10000};
    sotto_device_options options = {
        .events = "events.db", .ledger = "ledger.db", .streams = &stream, .stream_count = 1};
    sotto_device *device = NULL;
    sotto_err err = {SOTTO_OK, "usage: host POLICY PARTIES RECIPE"};

    if (argc == 4) {
        options.policy = read_file(argv[1], memory[0], sizeof memory[0]);
        options.parties = read_file(argv[2], memory[1], sizeof memory[1]);
        options.host.send = send_report;
        if (sotto_device_open(&device, &options, &err) == SOTTO_OK &&
            run(device, read_file(argv[3], memory[2], sizeof memory[2]), &err) == SOTTO_OK)
            err.reason[0] = 0;
    }
    printf("%s\n", err.reason);
    sotto_device_close(device);
    return err.reason[0] ? 1 : 0;
}
