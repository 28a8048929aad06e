#include "aggregate/excerpt.h"

#include "base/writer.h"
#include "crypto/hash.h"

#include <string.h>

static const char LABEL[15] = "sotto-excerpt-1";

enum { HEAD = sizeof LABEL + 4 + 32 };

bool sotto_excerpt_is(sotto_bytes record)
{
    return record.len >= HEAD && memcmp(record.data, LABEL, sizeof LABEL) == 0;
}

size_t sotto_excerpt_size(const sotto_message *record, size_t needed)
{
    return HEAD + sotto_message_size(record) - record->body.len + needed;
}

static sotto_status encode(sotto_buf *out, const sotto_excerpt *e, sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_write_bytes(&w, sotto_bytes_of(LABEL, sizeof LABEL));
    sotto_write_uint(&w, e->length, 4);
    sotto_write_bytes(&w, sotto_bytes_of(e->digest, sizeof e->digest));
    SOTTO_TRY(sotto_writer_finish(&w, "excerpt", err));
    return sotto_message_encode(out, &e->message, err);
}

sotto_status sotto_excerpt_encode(sotto_buf *out, const sotto_message *record, size_t needed,
                                  sotto_err *err)
{
    sotto_excerpt e = {.message = *record, .length = (uint32_t)record->body.len};

    if (needed > record->body.len)
        return sotto_fail(err, SOTTO_MALFORMED, "excerpt: %zu bytes of %zu", needed,
                          record->body.len);
    sotto_hash_once(e.digest, SOTTO_SHA256, record->body);
    e.message.body.len = needed;
    return encode(out, &e, err);
}

sotto_status sotto_excerpt_decode(sotto_excerpt *out, sotto_bytes wire, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);
    char label[sizeof LABEL] = {0};

    memset(out, 0, sizeof *out);
    sotto_read_fixed(&in, label, sizeof label);
    out->length = (uint32_t)sotto_read_uint(&in, 4);
    sotto_read_fixed(&in, out->digest, sizeof out->digest);
    if (!sotto_excerpt_is(wire))
        return sotto_fail(err, SOTTO_MALFORMED, "excerpt: not one of version 1");
    SOTTO_TRY(sotto_message_decode(&out->message, sotto_bytes_of(wire.data + HEAD, wire.len - HEAD),
                                   err));
    if (out->message.body.len > out->length || out->length > SOTTO_MESSAGE_MOST_BODY)
        return sotto_fail(err, SOTTO_MALFORMED, "excerpt: of a body of %u bytes", out->length);
    return SOTTO_OK;
}

sotto_status sotto_excerpt_leaf(sotto_buf *out, sotto_bytes record, sotto_err *err)
{
    sotto_excerpt e;

    if (sotto_excerpt_is(record)) {
        SOTTO_TRY(sotto_excerpt_decode(&e, record, err));
    } else {
        SOTTO_TRY(sotto_message_decode(&e.message, record, err));
        e.length = (uint32_t)e.message.body.len;
        sotto_hash_once(e.digest, SOTTO_SHA256, e.message.body);
    }
    e.message.body.len = 0;
    return encode(out, &e, err);
}

sotto_status sotto_excerpt_judge(const sotto_excerpt *e, const sotto_round *round,
                                 const sotto_method *method, sotto_err *err)
{
    return sotto_message_judge_digest(&e->message, e->length, e->digest, round, method, err);
}
