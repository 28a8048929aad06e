#define _POSIX_C_SOURCE 200809L
#include "serve/aggregator_process.h"

#include "aggregate/inbox.h"
#include "base/arena.h"
#include "base/hex.h"
#include "support/directory.h"
#include "support/ports.h"
#include "tlog/note.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t running; /* 0: none */

void aggregator_process_end(void)
{
    if (running > 0)
        (void)kill(running, SIGKILL);
}

void aggregator_process_write(sotto_test *t, const aggregator_process *a, const char *name,
                              sotto_bytes content)
{
    char path[300], before[300];
    FILE *file;

    (void)snprintf(path, sizeof path, "%s/%s", a->directory, name);
    (void)snprintf(before, sizeof before, "%s/new-%s", a->directory, name);
    file = fopen(before, "w");
    CHECK(t, file && fwrite(content.data, 1, content.len, file) == content.len &&
                 fclose(file) == 0 && chmod(before, 0600) == 0 && rename(before, path) == 0);
}

static void write_text(sotto_test *t, const aggregator_process *a, const char *name,
                       const char *text)
{
    aggregator_process_write(t, a, name, sotto_bytes_of(text, strlen(text)));
}

static void make_key(sotto_test *t, aggregator_process *a)
{
    const uint8_t seed[SOTTO_SIGN_SEED] = {7};
    char text[SOTTO_NOTE_KEY_TEXT + 2];
    sotto_buf out = sotto_buf_over(text, sizeof text - 1);
    sotto_signer signer;
    sotto_note_key key;

    CHECK_OK(t, sotto_signer_init(&signer, seed, &t->err));
    memcpy(a->key, signer.public_key, SOTTO_SIGN_PUBLIC);
    sotto_signer_clear(&signer);
    CHECK_OK(t, sotto_note_key_init(&key, sotto_bytes_of("aggregator", 10), SOTTO_NOTE_ED25519,
                                    a->key, &t->err));
    CHECK_OK(t, sotto_note_signer_encode(&out, &key, seed, &t->err));
    text[out.len] = 0;
    write_text(t, a, "signing.key", text);
}

sotto_http_response aggregator_process_ask(sotto_test *t, const aggregator_process *a,
                                           sotto_http_client *client, sotto_http_method method,
                                           const uint8_t id[SOTTO_ROUND_ID], const char *what,
                                           sotto_bytes body)
{
    const sotto_http_field fields[] = {{"Authorization", AGGREGATOR_OPERATOR},
                                       {"Content-Type", SOTTO_POSTING_TYPE}};
    char url[300], text[2 * SOTTO_ROUND_ID + 1];
    sotto_http_response response = {0};

    sotto_hex_encode(text, sotto_bytes_of(id, SOTTO_ROUND_ID));
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u/rounds%s%s%s", a->port, what ? "/" : "",
                   what ? text : "", what ? what : "");
    const sotto_http_call call = {.method = method,
                                  .url = url,
                                  .fields = fields,
                                  .field_count = 2,
                                  .body = body,
                                  .attempts = 1};
    if (sotto_http_call_wait(client, &response, &call, &t->arena, NULL) != SOTTO_OK)
        response.status = 0;
    return response;
}

void aggregator_process_start(sotto_test *t, aggregator_process *a)
{
    char *const arguments[] = {"sotto", "serve", "aggregator", "--config", a->file, NULL};
    extern char **environ;

    CHECK_EQUAL(t, 0, posix_spawn(&a->process, SOTTO_PROGRAM, NULL, NULL, arguments, environ));
    running = a->process;
}

void aggregator_process_await(sotto_test *t, const aggregator_process *a, sotto_http_client *client)
{
    static const uint8_t none[SOTTO_ROUND_ID];
    unsigned status = 0;

    for (uint64_t until = 0; status == 0 && sotto_test_waits(&until, 20);)
        status =
            aggregator_process_ask(t, a, client, SOTTO_HTTP_GET, none, "", (sotto_bytes){NULL, 0})
                .status;
    CHECK(t, status != 0);
}

void kill_process(sotto_test *t, pid_t *process)
{
    int status;

    CHECK_EQUAL(t, 0, kill(*process, SIGKILL));
    while (waitpid(*process, &status, 0) < 0)
        CHECK_EQUAL(t, EINTR, errno);
    *process = 0;
    CHECK(t, WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

void aggregator_process_kill(sotto_test *t, aggregator_process *a)
{
    running = 0;
    kill_process(t, &a->process);
}

void aggregator_process_close(sotto_test *t, aggregator_process *a)
{
    aggregator_process_kill(t, a);
    (void)close(a->kept);
}

void aggregator_process_open(sotto_test *t, aggregator_process *a)
{
    char text[1200];

    memset(a, 0, sizeof *a);
    a->directory = sotto_test_directory(t);
    a->kept = sotto_test_keep_port(t, &a->port);
    make_key(t, a);
    write_text(t, a, "operator", "operator-of-the-test\n");
    (void)snprintf(text, sizeof text,
                   "[aggregator]\nlisten = 127.0.0.1:%u\noperations = 127.0.0.1:0\nlog_level = "
                   "error\ndatabase = sqlite:%s/aggregator.db\ndatastore_key = %s/key\n"
                   "signing_key = %s/signing.key\noperator_token = %s/operator\n",
                   a->port, a->directory, a->directory, a->directory, a->directory);
    write_text(t, a, "aggregator.ini", text);
    (void)snprintf(a->file, sizeof a->file, "%s/aggregator.ini", a->directory);
    aggregator_process_start(t, a);
}
