#define _POSIX_C_SOURCE 200809L
#include "serve/witnesses_scene.h"

#include "support/directory.h"
#include "support/ports.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void witnesses_scene_file(const witnesses_scene *s, const char *name, const char *text)
{
    char path[300];

    (void)snprintf(path, sizeof path, "%s/%s", s->directory, name);
    FILE *file = fopen(path, "w");
    CHECK(s->t, file && fputs(text, file) >= 0 && fclose(file) == 0 && chmod(path, 0600) == 0);
}

static void seed_of(uint8_t seed[SOTTO_SIGN_SEED], unsigned i)
{
    memset(seed, 0, SOTTO_SIGN_SEED);
    seed[0] = (uint8_t)(20 + i);
}

void witnesses_scene_signer(const witnesses_scene *s, unsigned i, sotto_signer *signer)
{
    uint8_t seed[SOTTO_SIGN_SEED];

    seed_of(seed, i);
    CHECK_OK(s->t, sotto_signer_init(signer, seed, &s->t->err));
}

/* Its key in a file, and a line for everybody's list. */
static void make_key(witnesses_scene *s, unsigned i, char *line, size_t room)
{
    char text[SOTTO_NOTE_KEY_TEXT + 2], name[40];
    sotto_buf out = sotto_buf_over(text, sizeof text - 1);
    uint8_t seed[SOTTO_SIGN_SEED];
    sotto_signer signer;

    seed_of(seed, i);
    witnesses_scene_signer(s, i, &signer);
    (void)snprintf(s->names[i], sizeof s->names[i], "witness.example/%u", i);
    CHECK_OK(s->t,
             sotto_note_key_init(&s->keys[i], sotto_bytes_of(s->names[i], strlen(s->names[i])),
                                 SOTTO_NOTE_COSIGNATURE, signer.public_key, &s->t->err));
    sotto_signer_clear(&signer);
    CHECK_OK(s->t, sotto_note_signer_encode(&out, &s->keys[i], seed, &s->t->err));
    text[out.len] = 0;
    (void)snprintf(name, sizeof name, "witness-%u.key", i);
    witnesses_scene_file(s, name, text);
    out.len = 0;
    CHECK_OK(s->t, sotto_note_key_encode(&out, &s->keys[i], &s->t->err));
    text[out.len] = 0;
    (void)snprintf(line, room, "%s http://127.0.0.1:%u/\n", text, s->ports[i]);
}

void witnesses_scene_write(witnesses_scene *s, unsigned i, const char *more)
{
    char text[2400], name[40];
    const char *d = s->directory;

    (void)snprintf(text, sizeof text,
                   "[witness]\nlisten = 127.0.0.1:%u\noperations = 127.0.0.1:0\nlog_level = error\n"
                   "database = sqlite:%s/witness-%u.db\ndatastore_key = %s/witness-%u.datastore\n"
                   "key = %s/witness-%u.key\nlogs = %s/logs\n%s",
                   s->ports[i], d, i, d, i, d, i, d, more);
    (void)snprintf(name, sizeof name, "witness-%u.ini", i);
    witnesses_scene_file(s, name, text);
}

void witnesses_scene_open(sotto_test *t, witnesses_scene *s, unsigned count)
{
    char list[WITNESSES_MOST * 400] = "", more[700], line[400];

    memset(s, 0, sizeof *s);
    s->t = t;
    s->directory = sotto_test_directory(t);
    s->count = count;
    for (unsigned i = 0; i < count; i++) {
        s->kept[i] = sotto_test_keep_port(t, &s->ports[i]);
        make_key(s, i, line, sizeof line);
        (void)strncat(list, line, sizeof list - strlen(list) - 1);
    }
    witnesses_scene_file(s, "listed", list);
    witnesses_scene_file(s, "logs", "");
    witnesses_scene_file(s, "token", "a-token-of-the-aggregator\n");
    (void)snprintf(s->listed, sizeof s->listed, "%s/listed", s->directory);
    (void)snprintf(s->token, sizeof s->token, "%s/token", s->directory);
    (void)snprintf(more, sizeof more, "beacon_witnesses = %s\nbeacon_token = %s\n", s->listed,
                   s->token);
    for (unsigned i = 0; i < count; i++)
        witnesses_scene_write(s, i, more);
    CHECK_OK(t, sotto_http_client_open(&s->client, &(sotto_http_client_options){.backoff_ms = 20},
                                       &t->err));
    CHECK_OK(t, sotto_witnesses_open(&s->asked, s->client, s->listed, s->token, &t->err));
}

sotto_status witnesses_scene_start(witnesses_scene *s, unsigned i)
{
    char path[300];

    (void)snprintf(path, sizeof path, "%s/witness-%u.ini", s->directory, i);
    sotto_serve_config_clear(&s->configs[i]);
    CHECK_OK(s->t, sotto_serve_config_read(&s->configs[i], &(sotto_config_sources){.file = path},
                                           &s->t->err));
    if (s->databases[i])
        s->configs[i].host.database = s->databases[i];
    return sotto_host_open(&s->hosts[i], s->configs[i].service, &s->configs[i].host,
                           s->configs[i].own, &s->t->err);
}

void witnesses_scene_stop(witnesses_scene *s, unsigned i)
{
    sotto_host_close(s->hosts[i]);
    s->hosts[i] = NULL;
}

void witnesses_scene_close(witnesses_scene *s)
{
    for (unsigned i = 0; i < s->count; i++) {
        if (s->hosts[i])
            witnesses_scene_stop(s, i);
        sotto_serve_config_clear(&s->configs[i]);
        (void)close(s->kept[i]);
    }
    sotto_witnesses_close(&s->asked);
    sotto_http_client_close(s->client);
}
