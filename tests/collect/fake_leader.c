/* fake_leader RECIPE KEY DIR: a leader (and helper) with one batch whose truth is known, for tests of `sotto collect`.
 *
 * Writes DIR/parties.json, with itself as both servers and KEY's public half as the collector, and DIR/pairing.json;
 * prints "ready" and serves until its input ends. DIR/mode may hold a word. "apart" is for shares that don't belong together, "waiting" for a
 * batch that is never ready ("withdrawn" once that was). "counts" is for servers that don't tell what they rejected. */
#define _POSIX_C_SOURCE 200809L
#include "base/arena.h"
#include "dap/collect.h"
#include "dap/rejections.h"
#include "recipe/claim.h"
#include "serve/tasks/pairing.h"
#include "sim/random.h"
#include "sotto/collect.h"
#include "sotto/random.h"
#include "transport/http_server.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REPORTS = 41000, ELEMENT = 16, FILE_MAX = 1 << 16 };

static struct {
    const char *dir;
    sotto_arena arena;
    const sotto_recipe *recipe;
    sotto_task task;
    sotto_collector_key key;
    uint64_t *sums;
    sotto_http_server *server;
    atomic_bool ready; /* the task needs the port, so the loop is there before it */
} fake;

static void must(sotto_status status)
{
    if (status != SOTTO_OK)
        abort();
}

static sotto_bytes read_file(const char *path)
{
    uint8_t *data = sotto_arena_take(&fake.arena, FILE_MAX);
    int fd = open(path, O_RDONLY);
    ssize_t len = fd < 0 ? -1 : read(fd, data, FILE_MAX);

    if (fd >= 0)
        (void)close(fd);
    return sotto_bytes_of(data, len < 0 ? 0 : (size_t)len);
}

static void write_file(const char *name, sotto_bytes bytes)
{
    char path[512];
    int fd;

    (void)snprintf(path, sizeof path, "%s/%s", fake.dir, name);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, bytes.data, bytes.len) != (ssize_t)bytes.len || close(fd) != 0)
        abort();
}

static bool mode_is(const char *word)
{
    char path[512], mode[32] = "";
    FILE *file;

    (void)snprintf(path, sizeof path, "%s/mode", fake.dir);
    file = fopen(path, "r");
    if (file) {
        if (!fgets(mode, sizeof mode, file))
            mode[0] = 0;
        (void)fclose(file);
    }
    return strncmp(mode, word, strlen(word)) == 0;
}

/* ---- the batch: bin 0 has 16,000 of 41,000, bin 1 has 8,000, the others nobody ----------------------------- */

static void draw_batch(void)
{
    sotto_report_content r;
    sotto_sim_random random;

    must(sotto_recipe_content(&r, fake.recipe, NULL));
    sotto_sim_random_init(&random, 1);
    fake.sums = sotto_arena_take_array(&fake.arena, r.entries, sizeof *fake.sums);
    for (size_t bin = 0; bin < r.entries; bin++) {
        unsigned truth = bin == 0 ? 16000 : bin == 1 ? 8000 : 0;

        for (unsigned i = 0; i < REPORTS; i++)
            fake.sums[bin] += sotto_sim_random_chance(&random, i < truth ? r.p : r.q);
    }
}

static sotto_hpke_ciphertext seal(const uint8_t *share, sotto_bytes aad, sotto_dap_role sender,
                                  sotto_arena *arena)
{
    uint8_t text[SOTTO_DAP_INFO_MAX], ikm[64];
    size_t size = fake.task.sizes.out_share, room = size + 256;
    sotto_buf sealed;
    sotto_hpke_config config = sotto_collector_key_config(&fake.key);
    size_t enc = config.public_key.len;

    must(sotto_buf_take(&sealed, arena, room, NULL));
    must(sotto_random_bytes(ikm, sizeof ikm, NULL));
    must(sotto_hpke_seal(&sealed, &config, sotto_bytes_of(ikm, sizeof ikm),
                         sotto_aggregate_share_info(text, sender), aad, sotto_bytes_of(share, size),
                         NULL));
    return (sotto_hpke_ciphertext){fake.key.id, sotto_bytes_of(sealed.data, enc),
                                   sotto_bytes_of(sealed.data + enc, sealed.len - enc)};
}

static sotto_bytes answer_to(sotto_bytes request, sotto_arena *arena)
{
    size_t size = fake.task.sizes.out_share, room = 2 * size + 1024;
    size_t aad_room = fake.task.configuration.len + request.len + 128;
    uint8_t *leader = sotto_arena_take(arena, size), *helper = sotto_arena_take(arena, size);
    sotto_buf out, aad;
    sotto_dap_collection_resp resp = {
        .report_count = REPORTS,
        .interval = {fake.task.opens / fake.task.precision, 24},
    };

    must(sotto_buf_take(&out, arena, room, NULL));
    must(sotto_buf_take(&aad, arena, aad_room, NULL));
    for (size_t i = 0; i < fake.task.sizes.outputs; i++)
        for (size_t b = 0; b < 8; b++)
            leader[i * ELEMENT + b] = (uint8_t)(fake.sums[i] >> (8 * b));
    helper[7] = mode_is("apart") ? 1 : 0;
    must(sotto_dap_aggregate_share_aad_encode(&aad, fake.task.id, fake.task.configuration, request,
                                              NULL));
    resp.leader = seal(leader, sotto_buf_bytes(&aad), SOTTO_DAP_LEADER, arena);
    resp.helper = seal(helper, sotto_buf_bytes(&aad), SOTTO_DAP_HELPER, arena);
    must(sotto_dap_collection_resp_encode(&out, &resp, NULL));
    return sotto_buf_bytes(&out);
}

/* ---- the server -------------------------------------------------------------------------------------------- */

static bool on_head(void *context, sotto_http_request *request, size_t *max_body)
{
    (void)context;
    (void)request;
    *max_body = 4096;
    return true;
}

static void answer_job(sotto_http_request *request)
{
    char task[SOTTO_DAP_ID_TEXT_MAX], place[256];
    sotto_http_field fields[] = {
        {"Location", place}, {"Content-Type", sotto_dap_media_type(SOTTO_DAP_COLLECTION_JOB_RESP)}};
    sotto_bytes body = {NULL, 0};
    sotto_arena arena;

    sotto_dap_id_encode(task, sotto_bytes_of(fake.task.id, sizeof fake.task.id));
    (void)snprintf(place, sizeof place, "/tasks/%s/collection_jobs/AAAAAAAAAAAAAAAAAAAAAA", task);
    sotto_arena_init(&arena, (size_t)64 << 20);
    if (!mode_is("waiting"))
        body = answer_to(sotto_http_request_body(request), &arena);
    sotto_http_answer(request, &(sotto_http_reply){200, fields, 2, body});
    sotto_arena_clear(&arena);
}

/* A job that waits can be deleted, and is gone then. */
static void delete_job(sotto_http_request *request)
{
    if (mode_is("waiting"))
        write_file("mode", sotto_bytes_of("withdrawn", strlen("withdrawn")));
    sotto_http_answer(request, &(sotto_http_reply){.status = 204});
}

static void on_body(void *context, sotto_http_request *request)
{
    static const char counts[] = "{\"rejections\":{\"report_replayed\":7},\"rate_checked\":true,"
                                 "\"rate_released\":true}";
    sotto_http_field json[] = {{"Content-Type", "application/json"}};

    (void)context;
    if (!atomic_load(&fake.ready))
        sotto_http_answer(request, &(sotto_http_reply){.status = 503});
    else if (sotto_http_request_method(request) == SOTTO_HTTP_DELETE)
        delete_job(request);
    else if (mode_is("withdrawn"))
        sotto_http_answer(request, &(sotto_http_reply){.status = 404});
    else if (!sotto_http_request_segment_is(request, 2, "rejections"))
        answer_job(request);
    else
        sotto_http_answer(request, &(sotto_http_reply){mode_is("counts") ? 404 : 200, json, 1,
                                                       sotto_bytes_of(counts, strlen(counts))});
}

static const sotto_http_handler handler = {.head = on_head, .body = on_body};

/* ---- files ------------------------------------------------------------------------------------------------- */

static sotto_bytes write_parties(unsigned port)
{
    static const char *const urls[] = {"https://leader.example.com/",
                                       "https://helper.example.net/"};
    const char *at = sotto_parties_example(), *config = "0300200001000100";
    char *text = sotto_arena_take(&fake.arena, FILE_MAX), url[64];
    uint8_t wire[256];
    sotto_buf own = sotto_buf_over(wire, sizeof wire);
    sotto_hpke_config public_half = sotto_collector_key_config(&fake.key);
    size_t len = 0;

    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u/", port);
    must(sotto_hpke_config_encode(&own, &public_half, NULL));
    while (*at) {
        const char *found = NULL;

        for (size_t i = 0; i < 2; i++)
            if (strncmp(at, urls[i], strlen(urls[i])) == 0)
                found = urls[i];
        if (found) {
            len += (size_t)snprintf(text + len, FILE_MAX - len, "%s", url);
            at += strlen(found);
        } else if (strncmp(at, config, strlen(config)) == 0) {
            for (size_t i = 0; i < own.len; i++)
                len += (size_t)snprintf(text + len, FILE_MAX - len, "%02x", own.data[i]);
            at += strcspn(at, "\"");
        } else {
            text[len++] = *at++;
        }
    }
    write_file("parties.json", sotto_bytes_of(text, len));
    return sotto_bytes_of(text, len);
}

static void write_pairing(void)
{
    static uint8_t memory[8192];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    uint8_t wire[SOTTO_COLLECTOR_CONFIG];
    sotto_buf config = sotto_buf_over(wire, sizeof wire);
    sotto_hpke_config public_half = sotto_collector_key_config(&fake.key);
    sotto_pairing pairing;

    must(sotto_hpke_config_encode(&config, &public_half, NULL));
    must(sotto_pairing_new(&pairing,
                           &(sotto_paired){"key:leader-2026a", "key:helper-2026a",
                                           "key:collector-2026a", fake.task.leader_url,
                                           fake.task.helper_url},
                           sotto_buf_bytes(&config), NULL));
    must(sotto_pairing_encode(&out, &pairing, NULL));
    write_file("pairing.json", sotto_buf_bytes(&out));
}

int main(int argc, char **argv)
{
    static sotto_mistakes mistakes;
    const sotto_parties *parties;
    char c;

    if (argc != 4)
        return 2;
    fake.dir = argv[3];
    sotto_arena_init(&fake.arena, (size_t)256 << 20);
    must(sotto_collector_key_decode(&fake.key, read_file(argv[2]), NULL));
    must(sotto_recipe_read(&fake.recipe, read_file(argv[1]), &fake.arena, &mistakes, NULL));
    draw_batch();
    must(sotto_http_server_open(&fake.server, &(sotto_http_server_options){.port = 0}, &handler,
                                NULL, NULL));
    must(sotto_parties_read(&parties, write_parties(sotto_http_server_port(fake.server)),
                            &fake.arena, &mistakes, NULL));
    must(sotto_task_compile(&fake.task, fake.recipe, parties, 0, &fake.arena, NULL));
    write_pairing();
    atomic_store(&fake.ready, true);
    printf("ready\n");
    (void)fflush(stdout);
    while (read(STDIN_FILENO, &c, 1) > 0)
        continue;
    sotto_http_server_close(fake.server);
    sotto_arena_clear(&fake.arena);
    return 0;
}
