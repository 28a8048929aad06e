/* tests/serve/witnesses_scene.h - witnesses of a beacon, each with its key, its files and its port: in this process, or each in its own. */
#ifndef SOTTO_TESTS_SERVE_WITNESSES_SCENE_H
#define SOTTO_TESTS_SERVE_WITNESSES_SCENE_H

#include "serve/host/options.h"
#include "support/test.h"
#include "support/witnesses.h"

#include <sys/types.h>

enum { WITNESSES_MOST = 7 };

typedef struct witnesses_scene {
    sotto_test *t;
    const char *directory;
    unsigned count;
    sotto_note_key keys[WITNESSES_MOST];
    char names[WITNESSES_MOST][32];
    uint16_t ports[WITNESSES_MOST];
    int kept[WITNESSES_MOST];
    const char *databases[WITNESSES_MOST]; /* in this process; NULL: a file */
    sotto_serve_config configs[WITNESSES_MOST];
    sotto_host *hosts[WITNESSES_MOST];
    sotto_http_client *client;
    sotto_witnesses asked;
    char listed[300], token[300]; /* paths */
} witnesses_scene;

/* Files of so many witnesses, none of which runs. */
void witnesses_scene_open(sotto_test *t, witnesses_scene *s, unsigned count);
void witnesses_scene_close(witnesses_scene *s);
/* What witness i signs with. Clear it. */
void witnesses_scene_signer(const witnesses_scene *s, unsigned i, sotto_signer *signer);
/* Options of witness i; more: lines of it. */
void witnesses_scene_write(witnesses_scene *s, unsigned i, const char *more);
/* In this process. */
sotto_status witnesses_scene_start(witnesses_scene *s, unsigned i);
void witnesses_scene_stop(witnesses_scene *s, unsigned i);
/* Writes a file of the scene, which only its owner may read. */
void witnesses_scene_file(const witnesses_scene *s, const char *name, const char *text);

#endif
