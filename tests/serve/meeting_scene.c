#define _POSIX_C_SOURCE 200809L
#include "serve/meeting_scene.h"

#include "base/clock.h"
#include "support/database.h"

#include <stdio.h>
#include <string.h>

void meeting_set_up(sotto_test *t, scene *s)
{
    witnesses_scene_open(t, s, WITNESSES);
    for (unsigned i = 0; i < WITNESSES; i++) {
        s->databases[i] = sotto_test_address(t);
        CHECK_OK(t, witnesses_scene_start(s, i));
    }
}

void meeting_restart(scene *s, unsigned i)
{
    witnesses_scene_stop(s, i);
    CHECK_OK(s->t, witnesses_scene_start(s, i));
}

sotto_status meeting_meet(scene *s, uint64_t hour)
{
    const uint64_t now = sotto_clock_wall(&sotto_clock_system) / 1000000;

    return sotto_witnesses_meet(&s->asked, now + hour * 3600 * 1000, &s->t->err);
}

sotto_http_response meeting_post_as(const scene *s, unsigned i, const char *path, sotto_bytes body,
                                    const char *token)
{
    const sotto_http_field field = {"Authorization", token};
    sotto_http_response r = {0};
    char url[200];

    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u/%s", s->ports[i], path);
    const sotto_http_call call = {.method = SOTTO_HTTP_POST,
                                  .url = url,
                                  .fields = &field,
                                  .field_count = token ? 1 : 0,
                                  .body = body,
                                  .attempts = 1};
    CHECK_OK(s->t, sotto_http_call_wait(s->client, &r, &call, &s->t->arena, &s->t->err));
    return r;
}

sotto_http_response meeting_post(const scene *s, unsigned i, const char *path, sotto_bytes body)
{
    return meeting_post_as(s, i, path, body, TOKEN);
}

sotto_bytes meeting_asking(sotto_test *t, const sotto_keygen *call)
{
    sotto_buf body = sotto_test_buf(t, SOTTO_MEETING_ASK);
    sotto_writer w = sotto_writer_on(&body);

    sotto_write_bytes(&w, sotto_bytes_of(call->session, sizeof call->session));
    sotto_write_uint(&w, call->epoch, 8);
    CHECK_OK(t, sotto_writer_finish(&w, "asking", &t->err));
    return sotto_buf_bytes(&body);
}

void meeting_take_seats(scene *s, meeting *h, uint64_t epoch)
{
    sotto_meeting_seat seat;

    h->call = (sotto_keygen){.epoch = epoch, .ends = INT64_MAX, .session = {1}};
    for (unsigned i = 0; i < WITNESSES; i++) {
        const sotto_http_response r =
            meeting_post(s, i, "beacon-key/seat", meeting_asking(s->t, &h->call));

        CHECK_EQUAL(s->t, 200, r.status);
        CHECK_OK(s->t, sotto_meeting_seat_decode(&seat, r.body, &s->t->err));
        memcpy(h->keys[i], s->keys[i].public_key, SOTTO_SIGN_PUBLIC);
        memcpy(h->channel[i], seat.channel, 32);
        memcpy(h->signatures[i], seat.signature, SOTTO_SIGNATURE);
    }
}

sotto_bytes meeting_written(sotto_test *t, meeting *h, unsigned step, sotto_bytes posts)
{
    sotto_registry *r = &h->call.posting.registry;
    sotto_buf call = sotto_test_buf(t, 4096), out = sotto_test_buf(t, 1 << 16);

    h->call.count = WITNESSES;
    r->keys = (const uint8_t(*)[SOTTO_SIGN_PUBLIC])h->keys;
    r->pair = r->channel = (const uint8_t(*)[32])h->channel;
    r->count = WITNESSES;
    CHECK_OK(t, sotto_keygen_encode(&call, &h->call, &t->arena, &t->err));
    h->m = (sotto_meeting){.call = sotto_buf_bytes(&call),
                           .count = WITNESSES,
                           .signatures = h->signatures[0],
                           .step = step,
                           .posts = posts};
    CHECK_OK(t, sotto_meeting_encode(&out, &h->m, &t->err));
    return sotto_buf_bytes(&out);
}

unsigned meeting_speak(scene *s, meeting *h, unsigned i, unsigned step, sotto_bytes posts,
                       sotto_bytes *said)
{
    const sotto_http_response r =
        meeting_post(s, i, "beacon-key/post", meeting_written(s->t, h, step, posts));

    *said = r.body;
    return r.status;
}
