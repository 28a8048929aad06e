#include "serve/leader/sealed_shares.h"

#include "dap/job.h"

#include <string.h>

enum { FIXED = 2 + SOTTO_AEAD_MAX_KEY + SOTTO_AEAD_NONCE_SIZE + 4 + 4 };

size_t sotto_sealed_head_size(const sotto_dap_report *report, sotto_bytes aad)
{
    return sotto_record_size(report) - report->leader.payload.len + FIXED + aad.len;
}

sotto_status sotto_sealed_head_write(sotto_buf *out, sotto_bytes *report_share,
                                     const sotto_dap_report *report, const sotto_message_key *key,
                                     sotto_bytes aad, sotto_err *err)
{
    size_t start = out->len;
    sotto_writer w;

    SOTTO_TRY(sotto_record_begin(out, report, err));
    *report_share = sotto_bytes_of(out->data + start, out->len - start);
    w = sotto_writer_on(out);
    sotto_write_uint(&w, key->aead, 2);
    sotto_write_bytes(&w, sotto_bytes_of(key->key, sizeof key->key));
    sotto_write_bytes(&w, sotto_bytes_of(key->nonce, sizeof key->nonce));
    sotto_write_opaque32(&w, aad);
    sotto_write_uint(&w, report->leader.payload.len, 4);
    return sotto_writer_finish(&w, "head of a report", err);
}

typedef struct head {
    sotto_bytes report_share, share; /* the leader's own is sealed */
    sotto_message_key key;
    sotto_bytes aad;
} head;

/* The next head, whose share is the next of `shares`. */
static sotto_status read_head(head *out, sotto_reader *heads, sotto_reader *shares, sotto_err *err)
{
    const uint8_t *start = heads->at;
    sotto_report_metadata metadata;
    sotto_hpke_ciphertext helper;
    sotto_bytes public_share;
    size_t len;

    *out = (head){0};
    sotto_report_share_read(heads, &metadata, &public_share, &helper);
    out->report_share = sotto_bytes_of(start, (size_t)(heads->at - start));
    out->key.aead = (uint16_t)sotto_read_uint(heads, 2);
    sotto_read_fixed(heads, out->key.key, sizeof out->key.key);
    sotto_read_fixed(heads, out->key.nonce, sizeof out->key.nonce);
    out->aad = sotto_read_opaque32(heads);
    len = (size_t)sotto_read_uint(heads, 4);
    out->share = sotto_read_bytes(shares, len);
    return heads->short_read || shares->short_read
               ? sotto_fail(err, SOTTO_MALFORMED, "a segment's heads and shares don't match")
               : SOTTO_OK;
}

/* What was opened is extensions and the share, each behind its length: a record wants the share alone. */
static sotto_status open_record(sotto_buf *out, const head *h, sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);
    size_t start = out->len + h->report_share.len;
    sotto_plaintext_input_share plain;

    sotto_write_bytes(&w, h->report_share);
    SOTTO_TRY(sotto_writer_finish(&w, "record", err));
    SOTTO_TRY(sotto_message_key_open(&h->key, out, h->aad, h->share, err));
    SOTTO_TRY(sotto_plaintext_input_share_decode(
        &plain, sotto_bytes_of(out->data + start, out->len - start), err));
    memmove(out->data + start, plain.payload.data - 4, plain.payload.len + 4);
    out->len = start + plain.payload.len + 4;
    return SOTTO_OK;
}

sotto_status sotto_sealed_shares_open(sotto_buf *out, sotto_bytes heads, sotto_bytes shares,
                                      sotto_err *err)
{
    sotto_reader in = sotto_reader_over(heads), behind = sotto_reader_over(shares);
    sotto_status status = SOTTO_OK;
    head h;

    while (status == SOTTO_OK && sotto_reader_left(&in) > 0) {
        status = read_head(&h, &in, &behind, err);
        if (status == SOTTO_OK)
            status = open_record(out, &h, err);
    }
    sotto_wipe(&h, sizeof h);
    if (status == SOTTO_OK && sotto_reader_left(&behind) > 0)
        return sotto_fail(err, SOTTO_MALFORMED, "a segment has more shares than heads");
    return status;
}
