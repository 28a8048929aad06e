/* tests/serve/meeting_scene.h - four witnesses as services, and whoever carries what they say from one to the other, step by step. */
#ifndef SOTTO_TESTS_SERVE_MEETING_SCENE_H
#define SOTTO_TESTS_SERVE_MEETING_SCENE_H

#include "serve/host/host.h"
#include "serve/witnesses_scene.h"

enum { WITNESSES = 4, THRESHOLD = 2 }; /* any two of four make the value; one may lie */

#define TOKEN "Bearer a-token-of-the-aggregator"

typedef witnesses_scene scene;

void meeting_set_up(sotto_test *t, scene *s);
/* A restart forgets nothing. */
void meeting_restart(scene *s, unsigned i);
/* They meet so many hours from now. */
sotto_status meeting_meet(scene *s, uint64_t hour);
/* token: NULL for none. */
sotto_http_response meeting_post_as(const scene *s, unsigned i, const char *path, sotto_bytes body,
                                    const char *token);
sotto_http_response meeting_post(const scene *s, unsigned i, const char *path, sotto_bytes body);

typedef struct meeting {
    uint8_t keys[WITNESSES][SOTTO_SIGN_PUBLIC], channel[WITNESSES][32];
    uint8_t signatures[WITNESSES][SOTTO_SIGNATURE];
    sotto_keygen call;
    sotto_meeting m;
} meeting;

/* Who asks for a seat. */
sotto_bytes meeting_asking(sotto_test *t, const sotto_keygen *call);
/* Everybody's seat, as an honest carrier takes them. */
void meeting_take_seats(scene *s, meeting *h, uint64_t epoch);
sotto_bytes meeting_written(sotto_test *t, meeting *h, unsigned step, sotto_bytes posts);
/* One witness speaks in a step; the status. */
unsigned meeting_speak(scene *s, meeting *h, unsigned i, unsigned step, sotto_bytes posts,
                       sotto_bytes *said);

#endif
