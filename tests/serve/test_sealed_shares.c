/* Bodies of segments whose shares stay as their clients sealed them. */
#include "serve/leader/sealed_shares.h"

#include "crypto/aead.h"
#include "support/test.h"

#include <string.h>

enum { SHARE = 500, SEALED = 2 + 4 + SHARE + SOTTO_AEAD_TAG_SIZE, REPORTS = 3 };

typedef struct sealed {
    uint8_t share[REPORTS][SEALED];
    uint8_t plain[REPORTS][2 + 4 + SHARE];
    uint8_t heads[REPORTS * 600];
    size_t heads_len, head_len[REPORTS];
    sotto_dap_report reports[REPORTS];
} sealed;

static sotto_bytes text(const char *s)
{
    return sotto_bytes_of(s, strlen(s));
}

/* Sealed as a client does, under a key of its own. */
static void seal_share(sotto_test *t, sealed *s, size_t i, sotto_message_key *key, sotto_bytes aad)
{
    sotto_buf out = sotto_buf_over(s->share[i], SEALED);
    sotto_aead aead = {0};

    *key = (sotto_message_key){.aead = SOTTO_AES128_GCM};
    memset(key->key, 20 + (int)i, 16);
    memset(s->plain[i], 40 + (int)i, sizeof s->plain[i]);
    memcpy(s->plain[i], (uint8_t[6]){0, 0, 0, 0, SHARE >> 8, SHARE & 255}, 6);
    CHECK_OK(t, sotto_aead_init(&aead, sotto_aead_find(key->aead), SOTTO_AEAD_SEAL, &t->err));
    CHECK_OK(t, sotto_aead_set_key(&aead, key->key, &t->err));
    CHECK_OK(t, sotto_aead_seal(&aead, &out, key->nonce, aad,
                                sotto_bytes_of(s->plain[i], sizeof s->plain[i]), &t->err));
    sotto_aead_clear(&aead);
}

static void seal_all(sotto_test *t, sealed *s)
{
    sotto_buf heads = sotto_buf_over(s->heads, sizeof s->heads);

    *s = (sealed){0};
    for (size_t i = 0; i < REPORTS; i++) {
        sotto_dap_report *r = &s->reports[i];
        sotto_message_key key;
        sotto_bytes share;
        size_t before = heads.len;

        memset(r->metadata.report_id, 60 + (int)i, sizeof r->metadata.report_id);
        r->public_share = text("public");
        r->helper = (sotto_hpke_ciphertext){7, text("encapsulated"), text("the helper's")};
        seal_share(t, s, i, &key, text("aad"));
        r->leader.payload = sotto_bytes_of(s->share[i], SEALED);
        CHECK_OK(t, sotto_sealed_head_write(&heads, &share, r, &key, text("aad"), &t->err));
        s->head_len[i] = heads.len - before;
        CHECK(t, s->head_len[i] <= sotto_sealed_head_size(r, text("aad")));
    }
    s->heads_len = heads.len;
}

static sotto_status open_all(sotto_test *t, const sealed *s, size_t heads, size_t shares,
                             sotto_buf *out)
{
    t->err = (sotto_err){0};
    out->len = 0;
    return sotto_sealed_shares_open(out, sotto_bytes_of(s->heads, heads),
                                    sotto_bytes_of(s->share, shares), &t->err);
}

static void records_are_what_they_would_be_if_opened_at_once(sotto_test *t)
{
    static sealed s;
    uint8_t memory[sizeof s];
    sotto_buf out = sotto_buf_over(memory, sizeof s.heads + sizeof s.share);
    sotto_bytes record, share;
    sotto_vdaf_report r;
    sotto_reader in;

    seal_all(t, &s);
    CHECK_OK(t, open_all(t, &s, s.heads_len, sizeof s.share, &out));
    in = sotto_reader_over(sotto_buf_bytes(&out));
    for (size_t i = 0; i < REPORTS; i++) {
        CHECK(t, sotto_record_next(&in, &record));
        CHECK_OK(t, sotto_record_read(&r, &share, record, &t->err));
        CHECK_BYTES(t, s.reports[i].metadata.report_id, r.nonce, sizeof r.nonce);
        CHECK(t, sotto_bytes_equal(r.public_share, text("public")));
        CHECK_BYTES(t, "the helper's", share.data + share.len - strlen("the helper's"),
                    strlen("the helper's"));
        CHECK_EQUAL(t, SHARE, r.input_share.len);
        CHECK_BYTES(t, s.plain[i] + 6, r.input_share.data, SHARE);
    }
    CHECK(t, !sotto_record_next(&in, &record));
}

static void shares_of_other_heads_do_not_open(sotto_test *t)
{
    static sealed s;
    uint8_t memory[sizeof s];
    sotto_buf out = sotto_buf_over(memory, sizeof s.heads + sizeof s.share);

    seal_all(t, &s);
    CHECK_STATUS(t, SOTTO_MALFORMED, open_all(t, &s, s.heads_len, sizeof s.share - 1, &out));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 open_all(t, &s, s.heads_len - s.head_len[REPORTS - 1], sizeof s.share, &out));
    CHECK_STATUS(t, SOTTO_MALFORMED, open_all(t, &s, s.heads_len - 1, sizeof s.share, &out));
    s.share[1][9] ^= 1;
    CHECK_STATUS(t, SOTTO_REJECTED, open_all(t, &s, s.heads_len, sizeof s.share, &out));
    s.share[1][9] ^= 1;
    CHECK_OK(t, open_all(t, &s, s.heads_len, sizeof s.share, &out));
    memcpy(s.share[0], s.share[1], SEALED);
    CHECK_STATUS(t, SOTTO_REJECTED, open_all(t, &s, s.heads_len, sizeof s.share, &out));
    t->err = (sotto_err){0};
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(records_are_what_they_would_be_if_opened_at_once),
        CASE(shares_of_other_heads_do_not_open),
    };

    return RUN_TESTS(argc, argv, cases);
}
