#define _POSIX_C_SOURCE 200809L
#include "observed.h"

#include "base/hex.h"
#include "support/liar.h"

#include <stdio.h>
#include <string.h>

/* The aggregator's key is that of aggregation.c; the witness knows it as a log. */
static void list_aggregator(sotto_test *t, const observed *o, const char *name)
{
    const uint8_t seed[SOTTO_SIGN_SEED] = {7};
    char text[SOTTO_NOTE_KEY_TEXT];
    sotto_buf out = sotto_buf_over(text, sizeof text);
    sotto_signer signer;
    sotto_note_key key;

    CHECK_OK(t, sotto_signer_init(&signer, seed, &t->err));
    CHECK_OK(t, sotto_note_key_init(&key, sotto_bytes_of(name, strlen(name)), SOTTO_NOTE_ED25519,
                                    signer.public_key, &t->err));
    CHECK_OK(t, sotto_note_key_encode(&out, &key, &t->err));
    sotto_logs_write_file(t, o->keys.directory, "witness.logs", text, out.len, 0644);
    sotto_signer_clear(&signer);
}

void observed_open(sotto_test *t, observed *o, bool is_listed)
{
    char line[600], more[700];

    memset(o, 0, sizeof *o);
    sotto_logs_make_keys(t, &o->keys);
    if (is_listed)
        list_aggregator(t, o, "aggregator");
    o->database = sotto_test_address(t);
    o->witness = sotto_logs_open_witness(t, &o->keys, o->database);
    (void)snprintf(o->url, sizeof o->url, "http://127.0.0.1:%u/", sotto_host_port(o->witness));
    o->urls[0] = o->url;
    const int len = snprintf(line, sizeof line, "%s %s\n", o->keys.witness_vkey, o->url);
    sotto_logs_write_file(t, o->keys.directory, "board.witnesses", line, (size_t)len, 0644);
    (void)snprintf(more, sizeof more, "witnesses = %s/board.witnesses\n", o->keys.directory);
    ballot_open(t, &o->b, more);
    o->b.slow = 3;
    o->log = (sotto_policy_log){
        .name = "main", .trust = {.witnesses = &o->keys.witness, .witness_count = 1, .quorum = 1}};
    o->b.a.fleet.logs = &o->log;
    o->b.a.fleet.log_count = 1;
    observed_revive(t, o);
    sotto_logs_follow(&o->b.a.clock);
}

void observed_revive(sotto_test *t, observed *o)
{
    for (uint32_t i = 0; i < DEVICES; i++) {
        sotto_fleet_kill(&o->b.a.fleet, i);
        CHECK_OK(t, sotto_fleet_revive(&o->b.a.fleet, i, &t->err));
    }
}

void observed_close(observed *o)
{
    aggregation_close(&o->b.a);
    sotto_host_close(o->witness);
    sotto_logs_follow(NULL);
}

void observed_lie(sotto_test *t, observed *o)
{
    aggregation *a = &o->b.a;

    while (aggregation_now(a) + 250 < o->b.round.closes)
        aggregation_turn(t, a, 250);
    CHECK_OK(t, sotto_lie_in_database(a->host->db, a->id, &(sotto_lie){0}, &t->arena, &t->err));
    aggregation_restart(t, a);
}

/* ---- the witness, asked as a device asks it ------------------------------------------------------------------------------ */

unsigned observed_tell(sotto_test *t, const observed *o, const char *what, sotto_bytes body)
{
    char id[2 * SOTTO_ROUND_ID + 1], line[200];

    sotto_hex_encode(id, sotto_bytes_of(o->b.a.id, SOTTO_ROUND_ID));
    (void)snprintf(line, sizeof line, "POST /rounds/%s/%s", id, what);
    return sotto_logs_ask(t, sotto_host_port(o->witness), line, "", body.data, body.len).status;
}

sotto_bytes observed_write_claim(sotto_test *t, const observed *o, const sotto_signer *signer,
                                 const observed_claim *c)
{
    static uint8_t body[1 << 20];
    const size_t len = c->len ? c->len : 6;
    sotto_message m = {.epoch = o->b.round.epoch,
                       .round = o->b.round.number,
                       .kind = c->kind,
                       .to = c->kind == SOTTO_AERO_ASK ? SOTTO_TO_SERVER : SOTTO_TO_BOARD,
                       .body = {body, len}};
    uint8_t signature[SOTTO_SIGNATURE];
    sotto_buf out = sotto_test_buf(t, len + 1000);
    sotto_writer w = sotto_writer_on(&out);

    memset(body, 0, len);
    body[0] = SOTTO_AERO_NO_ANSWER;
    for (unsigned i = 0; i < 4; i++)
        body[2 + i] = (uint8_t)(c->position >> (24 - 8 * i));
    memcpy(m.session, o->b.round.session, sizeof m.session);
    CHECK_OK(t, sotto_message_sign(&m, signature, signer, &t->err));
    sotto_write_uint(&w, sotto_message_size(&m), 4);
    CHECK_OK(t, sotto_writer_finish(&w, "claim", &t->err));
    CHECK_OK(t, sotto_message_encode(&out, &m, &t->err));
    return sotto_buf_bytes(&out);
}

void observed_post_with_key(sotto_test *t, observed *o, sotto_signer *signer)
{
    const uint8_t seed[SOTTO_SIGN_SEED] = {77};
    sotto_fleet *f = &o->b.a.fleet;
    uint8_t(*keys)[SOTTO_SIGN_PUBLIC] = sotto_arena_take_array(&t->arena, DEVICES, sizeof *keys);

    CHECK(t, keys != NULL);
    CHECK_OK(t, sotto_signer_init(signer, seed, &t->err));
    memcpy(keys, f->epoch.registry.keys, DEVICES * sizeof *keys);
    memcpy(keys[0], signer->public_key, sizeof *keys);
    f->epoch.registry.keys = (const uint8_t(*)[SOTTO_SIGN_PUBLIC])keys;
    ballot_post(t, &o->b);
}

void observed_members_join(sotto_test *t, observed *o)
{
    for (uint32_t i = 1; i < DEVICES; i++)
        if (sotto_aero_committee_place(o->b.plan, i) >= 0)
            CHECK_OK(t, sotto_duties_take(o->b.a.fleet.devices[i].duties, o->b.a.posting, i,
                                          SOTTO_DUTY_DECRYPTOR, NULL, 0, &t->err));
    for (unsigned i = 0; i < 8; i++)
        aggregation_turn(t, &o->b.a, 250);
    sotto_logs_await_metric(t, o->witness, "sotto_witness_cosigned");
}
