#include "aggregate/excerpt.h"

#include "base/writer.h"

#include <string.h>

static const char LABEL[15] = "sotto-excerpt-2";

enum { HEAD = sizeof LABEL + 4 + 1 + 2 };

bool sotto_excerpt_is(sotto_bytes record)
{
    return record.len >= HEAD && memcmp(record.data, LABEL, sizeof LABEL) == 0;
}

size_t sotto_excerpt_size(const sotto_message *record, const sotto_pieces *pieces)
{
    return HEAD + (size_t)8 * SOTTO_BODY_SPANS + (size_t)32 * SOTTO_BODY_MOST_HASHES +
           sotto_message_size(record) - record->body.len +
           sotto_pieces_size(pieces, record->body.len);
}

static void write_head(sotto_writer *w, uint32_t length, const sotto_pieces *pieces)
{
    sotto_write_bytes(w, sotto_bytes_of(LABEL, sizeof LABEL));
    sotto_write_uint(w, length, 4);
    sotto_write_uint(w, pieces->count, 1);
    for (uint32_t i = 0; i < pieces->count; i++) {
        sotto_write_uint(w, pieces->at[i].first, 4);
        sotto_write_uint(w, pieces->at[i].count, 4);
    }
}

/* As sotto_message_encode, with what is shown as the body. */
static sotto_status write_message(sotto_buf *out, const sotto_message *record,
                                  const sotto_pieces *pieces, sotto_err *err)
{
    sotto_bytes parts[SOTTO_BODY_SPANS];

    for (uint32_t i = 0; i < pieces->count; i++) {
        const sotto_pieces one = {.count = 1, .at = {{pieces->at[i].first, pieces->at[i].count}}};

        parts[i] = sotto_bytes_of(record->body.data + (size_t)one.at[0].first * SOTTO_BODY_PIECE,
                                  sotto_pieces_size(&one, record->body.len));
    }
    return sotto_message_encode_parts(out, record, parts, pieces->count, err);
}

sotto_status sotto_excerpt_encode(sotto_buf *out, const sotto_message *record,
                                  const sotto_pieces *pieces, sotto_err *err)
{
    uint8_t hashes[32 * SOTTO_BODY_MOST_HASHES];
    sotto_buf beside = sotto_buf_over(hashes, sizeof hashes);
    sotto_writer w = sotto_writer_on(out);

    if (!sotto_pieces_fit(pieces, record->body.len))
        return sotto_fail(err, SOTTO_MALFORMED, "excerpt: no such pieces of %zu bytes",
                          record->body.len);
    SOTTO_TRY(sotto_pieces_hashes(&beside, pieces, record->body, err));
    write_head(&w, (uint32_t)record->body.len, pieces);
    sotto_write_opaque16(&w, sotto_buf_bytes(&beside));
    SOTTO_TRY(sotto_writer_finish(&w, "excerpt", err));
    return write_message(out, record, pieces, err);
}

sotto_status sotto_excerpt_decode(sotto_excerpt *out, sotto_bytes wire, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);
    char label[sizeof LABEL] = {0};

    memset(out, 0, sizeof *out);
    sotto_read_fixed(&in, label, sizeof label);
    out->length = (uint32_t)sotto_read_uint(&in, 4);
    out->pieces.count = (uint32_t)sotto_read_uint(&in, 1);
    for (uint32_t i = 0; i < out->pieces.count && i < SOTTO_BODY_SPANS; i++) {
        out->pieces.at[i].first = (uint32_t)sotto_read_uint(&in, 4);
        out->pieces.at[i].count = (uint32_t)sotto_read_uint(&in, 4);
    }
    const sotto_bytes hashes = sotto_read_opaque16(&in);
    const size_t left = sotto_reader_left(&in);
    const sotto_bytes message = sotto_read_bytes(&in, left);
    SOTTO_TRY(sotto_reader_finish(&in, "excerpt", err));
    if (!sotto_excerpt_is(wire))
        return sotto_fail(err, SOTTO_MALFORMED, "excerpt: not one of version 2");
    SOTTO_TRY(sotto_message_decode(&out->message, message, err));
    if (out->length > SOTTO_MESSAGE_MOST_BODY)
        return sotto_fail(err, SOTTO_MALFORMED, "excerpt: of a body of %u bytes", out->length);
    return sotto_pieces_digest(out->digest, &out->pieces, out->length, out->message.body, hashes,
                               err);
}

sotto_bytes sotto_excerpt_bytes(const sotto_excerpt *e, sotto_body_span span)
{
    const size_t at = sotto_pieces_find(&e->pieces, span);

    if (at > e->message.body.len || span.len > e->message.body.len - at)
        return (sotto_bytes){NULL, 0};
    return sotto_bytes_of(e->message.body.data + at, span.len);
}

bool sotto_excerpt_for(sotto_pieces *out, const sotto_method *method, const sotto_round *round,
                       const sotto_message *record, uint32_t reader)
{
    sotto_body_span spans[SOTTO_BODY_SPANS] = {{0, 0}};

    *out = (sotto_pieces){.count = 0};
    if (!method->needed || record->body.len <= SOTTO_BODY_PLAIN ||
        !method->needed(round, record, reader, spans))
        return false;
    sotto_pieces_of(out, record->body.len, spans);
    return true;
}

sotto_status sotto_excerpt_leaf(sotto_buf *out, sotto_bytes record, sotto_err *err)
{
    static const sotto_pieces none;
    sotto_writer w = sotto_writer_on(out);
    sotto_message m;
    sotto_excerpt e;

    if (!sotto_excerpt_is(record)) {
        SOTTO_TRY(sotto_message_decode(&m, record, err));
        return sotto_excerpt_encode(out, &m, &none, err);
    }
    SOTTO_TRY(sotto_excerpt_decode(&e, record, err));
    write_head(&w, e.length, &none);
    sotto_write_opaque16(&w, sotto_bytes_of(e.digest, sizeof e.digest));
    SOTTO_TRY(sotto_writer_finish(&w, "excerpt", err));
    e.message.body = (sotto_bytes){NULL, 0};
    return sotto_message_encode(out, &e.message, err);
}

sotto_status sotto_excerpt_judge(const sotto_excerpt *e, const sotto_round *round,
                                 const sotto_method *method, sotto_err *err)
{
    return sotto_message_judge_digest(&e->message, e->length, e->digest, round, method, err);
}
