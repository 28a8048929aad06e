/* Writes tests/vectors/hpke-rfc9180/base.json in the format of the RFC's own vectors, with inputs of
 * ours and every KEM. Each value is computed at both ends first; a disagreement ends the program. A test
 * compares what this writes with what the tree holds. */
#include <stdio.h>
#include <stdlib.h>

#include "seal/hpke/inspect.h"

static void check(bool holds, const char *what)
{
    if (holds)
        return;
    (void)fprintf(stderr, "make_vectors: %s\n", what);
    exit(1);
}

static void must(sotto_status status, const sotto_err *err)
{
    check(status == SOTTO_OK, err->reason);
}

static sotto_bytes ascii(const char *string)
{
    size_t len = 0;

    while (string[len])
        len++;
    return sotto_bytes_of(string, len);
}

static void put_hex(const char *indent, const char *name, const void *data, size_t len)
{
    const uint8_t *bytes = data;

    printf(",\n%s\"%s\": \"", indent, name);
    for (size_t i = 0; i < len; i++)
        printf("%02x", bytes[i]);
    printf("\"");
}

/* A sender and a receiver of one suite, and what both started from. */
typedef struct ends {
    uint8_t ikm_r[SOTTO_HPKE_MAX_PRIVATE_KEY], ikm_e[SOTTO_HPKE_MAX_PRIVATE_KEY];
    sotto_hpke_key own, ephemeral;
    sotto_hpke_inspection seen;
    sotto_hpke_context *sender, *receiver;
} ends;

static const char INFO[] = "sotto, in a low voice";

static void set_up(ends *e, sotto_hpke_suite suite)
{
    uint8_t memory[SOTTO_HPKE_MAX_PUBLIC_KEY];
    sotto_buf enc = sotto_buf_over(memory, sizeof memory);
    sotto_hpke_receiver *receiver;
    sotto_hpke_sizes sizes;
    sotto_err err = {0};

    must(sotto_hpke_suite_sizes(&sizes, suite, &err), &err);
    for (size_t i = 0; i < sizes.private_key; i++) {
        e->ikm_r[i] = (uint8_t)(suite.kem + suite.aead * 17U + i * 3);
        e->ikm_e[i] = (uint8_t)(suite.kem * 5U + suite.kdf + i * 11);
    }
    const sotto_bytes ikm_e = sotto_bytes_of(e->ikm_e, sizes.private_key);
    must(sotto_hpke_key_derive(&e->own, suite.kem, sotto_bytes_of(e->ikm_r, sizes.private_key),
                               &err),
         &err);
    must(sotto_hpke_key_derive(&e->ephemeral, suite.kem, ikm_e, &err), &err);
    const sotto_hpke_config to = sotto_hpke_config_of(&e->own, 0, suite.kdf, suite.aead);
    must(sotto_hpke_context_send(&e->sender, &enc, &to, ikm_e, ascii(INFO), &err), &err);
    check(sotto_bytes_equal(sotto_buf_bytes(&enc),
                            sotto_bytes_of(e->ephemeral.public_key, sizes.public_key)),
          "enc is not the ephemeral key");
    must(sotto_hpke_receiver_new(&receiver, &e->own, suite, ascii(INFO), &err), &err);
    must(sotto_hpke_inspect_receive(&e->seen, receiver, sotto_buf_bytes(&enc), &err), &err);
    must(sotto_hpke_context_receive(&e->receiver, receiver, sotto_buf_bytes(&enc), &err), &err);
    sotto_hpke_receiver_free(receiver);
}

static void put_schedule(const ends *e, sotto_hpke_suite suite)
{
    const sotto_hpke_inspection *s = &e->seen;
    const sotto_hpke_key *own = &e->own, *eph = &e->ephemeral;

    printf("  \"mode\": 0,\n  \"kem_id\": %d,\n  \"kdf_id\": %d,\n  \"aead_id\": %d", suite.kem,
           suite.kdf, suite.aead);
    put_hex("  ", "info", INFO, sizeof INFO - 1);
    put_hex("  ", "ikmE", e->ikm_e, eph->private_key_len);
    put_hex("  ", "pkEm", eph->public_key, eph->public_key_len);
    put_hex("  ", "skEm", eph->private_key, eph->private_key_len);
    put_hex("  ", "ikmR", e->ikm_r, own->private_key_len);
    put_hex("  ", "pkRm", own->public_key, own->public_key_len);
    put_hex("  ", "skRm", own->private_key, own->private_key_len);
    put_hex("  ", "enc", eph->public_key, eph->public_key_len);
    put_hex("  ", "shared_secret", s->shared_secret, s->shared_secret_len);
    put_hex("  ", "key_schedule_context", s->key_schedule_context, s->key_schedule_context_len);
    put_hex("  ", "secret", s->secret, s->secret_len);
    put_hex("  ", "key", s->key, s->key_len);
    put_hex("  ", "base_nonce", s->base_nonce, s->base_nonce_len);
    put_hex("  ", "exporter_secret", s->exporter_secret, s->secret_len);
}

static void put_encryption(ends *e, uint64_t sequence, sotto_bytes aad, sotto_bytes plain)
{
    uint8_t sealed[128], opened[128], nonce[SOTTO_AEAD_NONCE_SIZE];
    sotto_buf ct = sotto_buf_over(sealed, sizeof sealed),
              pt = sotto_buf_over(opened, sizeof opened);
    sotto_err err = {0};

    sotto_hpke_context_set_sequence(e->sender, sequence);
    sotto_hpke_context_set_sequence(e->receiver, sequence);
    must(sotto_hpke_context_seal(e->sender, &ct, aad, plain, &err), &err);
    must(sotto_hpke_context_unseal(e->receiver, &pt, aad, sotto_buf_bytes(&ct), &err), &err);
    check(sotto_bytes_equal(plain, sotto_buf_bytes(&pt)), "the text changed on its way");
    sotto_hpke_nonce(nonce, e->seen.base_nonce, sequence);
    printf("%s\n   {\n    \"seq\": %llu", sequence ? "," : "", (unsigned long long)sequence);
    put_hex("    ", "pt", plain.data, plain.len);
    put_hex("    ", "aad", aad.data, aad.len);
    put_hex("    ", "nonce", nonce, sizeof nonce);
    put_hex("    ", "ct", sealed, ct.len);
    printf("\n   }");
}

static void put_export(const ends *e, const char *before, sotto_bytes exporter_context, size_t len)
{
    uint8_t sent[128], received[128];
    sotto_buf a = sotto_buf_over(sent, sizeof sent), b = sotto_buf_over(received, sizeof received);
    sotto_err err = {0};

    must(sotto_hpke_context_export(e->sender, &a, exporter_context, len, &err), &err);
    must(sotto_hpke_context_export(e->receiver, &b, exporter_context, len, &err), &err);
    check(sotto_bytes_equal(sotto_buf_bytes(&a), sotto_buf_bytes(&b)), "the exports differ");
    printf("%s\n   {\n    \"L\": %zu", before, len);
    put_hex("    ", "exporter_context", exporter_context.data, exporter_context.len);
    put_hex("    ", "exported_value", sent, len);
    printf("\n   }");
}

static void put_suite(sotto_hpke_suite suite)
{
    ends e = {0};

    set_up(&e, suite);
    printf(" {\n");
    put_schedule(&e, suite);
    printf(",\n  \"encryptions\": [");
    if (suite.aead != SOTTO_HPKE_AEAD_EXPORT_ONLY) {
        put_encryption(&e, 0, ascii("first"), ascii("what nobody else may hear"));
        put_encryption(&e, 256, ascii(""), ascii(""));
    }
    printf("\n  ],\n  \"exports\": [");
    put_export(&e, "", ascii(""), 32);
    put_export(&e, ",", ascii("another use"), 100);
    printf("\n  ]\n }");
    sotto_hpke_context_free(e.sender);
    sotto_hpke_context_free(e.receiver);
}

int main(void)
{
    static const uint16_t kems[] = {0x0020, 0x0010, 0x0011, 0x0012, 0x0021};
    static const uint16_t aeads[] = {1, 2, 3, 0xffff};
    unsigned turn = 0;

    printf("[\n");
    for (size_t kem = 0; kem < 5; kem++)
        for (size_t aead = 0; aead < 4; aead++, turn++) {
            /* The hash takes turns, so that each meets each KEM without tripling the file. */
            const sotto_hpke_suite suite = {kems[kem], (uint16_t)(1 + turn % 3), aeads[aead]};

            printf("%s", turn ? ",\n" : "");
            put_suite(suite);
        }
    printf("\n]\n");
    return 0;
}
