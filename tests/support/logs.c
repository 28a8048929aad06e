#include "support/logs.h"

#include "crypto/hash.h"
#include "support/devices.h"
#include "support/recipes.h"
#include "tlog/feed.h"

#include <stdio.h>

enum { ROOM = 1 << 18 };

void sotto_test_log_init(sotto_test *t, sotto_test_log *log)
{
    *log = (sotto_test_log){.witnesses = 3,
                            .times = {SOTTO_TEST_OPENS, SOTTO_TEST_OPENS, SOTTO_TEST_OPENS}};
    test_log_open(t, &log->keys);
}

void sotto_test_log_clear(sotto_test_log *log)
{
    test_log_close(&log->keys);
}

uint64_t sotto_test_log_add(sotto_test *t, sotto_test_log *log, sotto_entry_type type,
                            uint64_t serial, sotto_bytes object)
{
    sotto_tlog_entry entry = {.type = type, .serial = serial};
    sotto_buf out = sotto_test_buf(t, 512);

    CHECK(t, log->size < SOTTO_TEST_LOG_ENTRIES);
    sotto_hash_once(entry.digest, SOTTO_SHA256, object);
    CHECK_OK(t, sotto_tlog_entry_encode(&out, &entry, &t->err));
    log->entries[log->size] = sotto_buf_bytes(&out);
    log->objects[log->size] = sotto_entry_has_object(type) ? object : sotto_bytes_of(NULL, 0);
    return log->size++;
}

uint64_t sotto_test_log_add_entry(sotto_test *t, sotto_test_log *log, const sotto_tlog_entry *entry)
{
    sotto_buf out = sotto_test_buf(t, 512);

    CHECK(t, log->size < SOTTO_TEST_LOG_ENTRIES);
    CHECK_OK(t, sotto_tlog_entry_encode(&out, entry, &t->err));
    log->entries[log->size] = sotto_buf_bytes(&out);
    log->objects[log->size] = sotto_bytes_of(NULL, 0);
    return log->size++;
}

void sotto_test_log_grow(sotto_test *t, sotto_test_log *log, uint64_t size)
{
    while (log->size < size)
        (void)sotto_test_log_add(t, log, SOTTO_ENTRY_LIBRARY, 0, bytes_of("library"));
}

/* ---- trees, by their definition ------------------------------------------------------------------------------- */

/* RFC 6962, 2.1: of the entries from `begin` up to `end`. */
static sotto_merkle_hash root_of(const sotto_test_log *log, uint64_t begin, uint64_t end)
{
    sotto_merkle_hash left, right;
    uint64_t k = 1;

    if (end - begin == 0) {
        sotto_merkle_empty(&left);
    } else if (end - begin == 1) {
        sotto_merkle_leaf(&left, log->entries[begin]);
    } else {
        while (2 * k < end - begin)
            k *= 2;
        left = root_of(log, begin, begin + k);
        right = root_of(log, begin + k, end);
        sotto_merkle_node(&left, &left, &right);
    }
    return left;
}

/* RFC 6962, 2.1.1. */
static void prove(const sotto_test_log *log, sotto_merkle_proof *proof, uint64_t index,
                  uint64_t begin, uint64_t end)
{
    uint64_t k = 1;

    if (end - begin <= 1)
        return;
    while (2 * k < end - begin)
        k *= 2;
    if (index < begin + k) {
        prove(log, proof, index, begin, begin + k);
        proof->hashes[proof->count++] = root_of(log, begin + k, end);
    } else {
        prove(log, proof, index, begin + k, end);
        proof->hashes[proof->count++] = root_of(log, begin, begin + k);
    }
}

sotto_bytes sotto_test_log_note(sotto_test *t, const sotto_test_log *log, uint64_t size)
{
    const sotto_merkle_hash root = root_of(log, 0, size);
    sotto_buf note = unsigned_checkpoint(t, "example.com/log", size, &root);

    add_signature(t, &note, &log->keys.log, 0);
    for (unsigned i = 0; i < 3; i++)
        if (log->witnesses >> i & 1)
            add_signature(t, &note, &log->keys.by[i], log->times[i]);
    return sotto_buf_bytes(&note);
}

sotto_bytes sotto_test_log_bundle(sotto_test *t, const sotto_test_log *log, uint64_t index,
                                  uint64_t size)
{
    sotto_inclusion inclusion = {.index = index, .checkpoint = sotto_test_log_note(t, log, size)};
    sotto_buf proof = sotto_test_buf(t, ROOM), out = sotto_test_buf(t, ROOM);

    prove(log, &inclusion.proof, index, 0, size);
    CHECK_OK(t, sotto_inclusion_encode(&proof, &inclusion, &t->err));
    CHECK_OK(t, sotto_bundle_encode(&out,
                                    &(sotto_bundle){log->entries[index], log->objects[index],
                                                    sotto_buf_bytes(&proof)},
                                    &t->err));
    return sotto_buf_bytes(&out);
}

/* ---- feeds ------------------------------------------------------------------------------------------------------ */

static void write_steps(const sotto_test_log *log, sotto_writer *w, uint64_t at, uint64_t end)
{
    while (at < end) {
        unsigned level = 0;

        while (at % ((uint64_t)2 << level) == 0 && at + ((uint64_t)2 << level) <= end)
            level++;
        const sotto_merkle_hash hash = root_of(log, at, at + ((uint64_t)1 << level));
        sotto_write_uint(w, level, 1);
        sotto_write_bytes(w, sotto_bytes_of(hash.bytes, sizeof hash.bytes));
        at += (uint64_t)1 << level;
    }
}

sotto_bytes sotto_test_log_feed(sotto_test *t, const sotto_test_log *log, const uint64_t *sizes,
                                size_t count, const uint64_t *entries, size_t entry_count)
{
    sotto_buf steps = sotto_test_buf(t, ROOM), bundles = sotto_test_buf(t, ROOM),
              out = sotto_test_buf(t, 2 * ROOM);
    sotto_writer w = sotto_writer_on(&steps), b = sotto_writer_on(&bundles);
    uint64_t at = 0;

    for (size_t i = 0; i < count; i++) {
        write_steps(log, &w, at, sizes[i]);
        at = sizes[i];
    }
    write_steps(log, &w, at, log->size);
    CHECK_OK(t, sotto_writer_finish(&w, "steps", &t->err));
    for (size_t i = 0; i < entry_count; i++)
        sotto_write_opaque32(&b, sotto_test_log_bundle(t, log, entries[i], log->size));
    CHECK_OK(t, sotto_writer_finish(&b, "bundles", &t->err));
    CHECK_OK(t, sotto_feed_encode(&out,
                                  &(sotto_feed){sotto_test_log_note(t, log, log->size),
                                                sotto_buf_bytes(&steps), sotto_buf_bytes(&bundles)},
                                  &t->err));
    return sotto_buf_bytes(&out);
}

/* ---- the policy --------------------------------------------------------------------------------------------------- */

const char *sotto_test_log_policy(sotto_test *t, const sotto_test_log *log, const char *policy,
                                  const char *more)
{
    sotto_buf keys[4];
    char text[2048];

    for (int i = 0; i < 4; i++) {
        keys[i] = sotto_test_buf(t, SOTTO_NOTE_KEY_TEXT);
        CHECK_OK(t, sotto_note_key_encode(
                        &keys[i], i < 3 ? &log->keys.witnesses[i] : &log->keys.log.key, &t->err));
    }
    (void)snprintf(text, sizeof text,
                   "\"logs\": {\"main\": {\"key\": \"%.*s\", \"witnesses\": [\"%.*s\", \"%.*s\", "
                   "\"%.*s\"], \"quorum\": 2%s}}, \"min_cohort\"",
                   (int)keys[3].len, (const char *)keys[3].data, (int)keys[0].len,
                   (const char *)keys[0].data, (int)keys[1].len, (const char *)keys[1].data,
                   (int)keys[2].len, (const char *)keys[2].data, more);
    return (const char *)sotto_test_replace(t, policy, "\"min_cohort\"", text).data;
}

void sotto_test_log_phone(sotto_test *t, sotto_test_log *log, sotto_test_phone *phone)
{
    sotto_test_log_init(t, log);
    sotto_test_log_grow(t, log, 3);
    sotto_test_phone_init(t, phone, sotto_test_log_policy(t, log, sotto_test_generous_policy, ""));
    sotto_test_phone_in_files(phone);
    sotto_test_phone_open(phone);
    CHECK_OK(t, sotto_device_consent(phone->device, true, &t->err));
}
