/* tests/tlog/notes.h - keys and signed checkpoints for tests of logs. */
#ifndef SOTTO_TESTS_TLOG_NOTES_H
#define SOTTO_TESTS_TLOG_NOTES_H

#include "support/test.h"
#include "tlog/checkpoint.h"

#include <string.h>

static inline sotto_bytes bytes_of(const char *text)
{
    return sotto_bytes_of(text, strlen(text));
}

/* name outlives the signer. */
static inline sotto_note_signer signer_of(sotto_test *t, const char *name, sotto_note_kind kind,
                                          uint8_t seed)
{
    const uint8_t bytes[SOTTO_SIGN_SEED] = {seed};
    sotto_note_signer signer = {0};

    CHECK_OK(t, sotto_signer_init(&signer.signer, bytes, &t->err));
    CHECK_OK(t, sotto_note_key_init(&signer.key, bytes_of(name), kind, signer.signer.public_key,
                                    &t->err));
    return signer;
}

static inline void append(sotto_test *t, sotto_buf *out, const char *text)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_write_bytes(&w, bytes_of(text));
    CHECK_OK(t, sotto_writer_finish(&w, "text", &t->err));
}

/* A checkpoint of that log, with no signature yet: its text and the empty line. */
static inline sotto_buf unsigned_checkpoint(sotto_test *t, const char *origin, uint64_t size,
                                            const sotto_merkle_hash *root)
{
    sotto_checkpoint checkpoint = {.origin = bytes_of(origin), .size = size, .root = *root};
    sotto_buf out = sotto_test_buf(t, 8192);

    CHECK_OK(t, sotto_checkpoint_encode(&out, &checkpoint, &t->err));
    append(t, &out, "\n");
    return out;
}

/* Adds the line of a signer. time: of a cosignature. */
static inline void add_signature(sotto_test *t, sotto_buf *note, const sotto_note_signer *signer,
                                 uint64_t time)
{
    size_t end = note->len;

    while (end >= 2 && !(note->data[end - 1] == '\n' && note->data[end - 2] == '\n'))
        end--;
    CHECK_OK(t, sotto_note_sign(note, sotto_bytes_of(note->data, end - 1), signer, time, &t->err));
}

/* The log: "example.com/log", seed 1. Witnesses: w1 to w3, seeds 11 to 13. */
typedef struct test_log {
    sotto_note_signer log, by[3];
    sotto_note_key witnesses[3];
    sotto_log_trust trust; /* 2 of 3 */
} test_log;

static inline void test_log_open(sotto_test *t, test_log *l)
{
    static const char *const names[] = {"w1.example", "w2.example", "w3.example"};

    l->log = signer_of(t, "example.com/log", SOTTO_NOTE_ED25519, 1);
    for (uint8_t i = 0; i < 3; i++) {
        l->by[i] = signer_of(t, names[i], SOTTO_NOTE_COSIGNATURE, (uint8_t)(11 + i));
        l->witnesses[i] = l->by[i].key;
    }
    l->trust = (sotto_log_trust){
        .log = &l->log.key, .witnesses = l->witnesses, .witness_count = 3, .quorum = 2};
}

static inline void test_log_close(test_log *l)
{
    sotto_note_signer_clear(&l->log);
    for (int i = 0; i < 3; i++)
        sotto_note_signer_clear(&l->by[i]);
}

#endif
