/* Tokens on reports come from strangers, as a list of public extensions with the private ones of a share behind it. What decodes
 * encodes to the same bytes. No token verifies under a key whose factors nobody knows, and no presentation under a
 * key that issued nothing. No MAC holds for a server's key that the input does not know. The first two bytes are the length of the public list. */
#include "target.h"

#include <stdlib.h>
#include <string.h>

#include "dap/arc_admission.h"

static sotto_type2_key *key(void)
{
    static const uint8_t exponent[] = {1, 0, 1};
    static sotto_type2_key held;
    uint8_t modulus[SOTTO_TYPE2_NUMBER];

    if (!held.rsa.n) {
        memset(modulus, 0xc5, sizeof modulus);
        if (sotto_rsa_public_init(&held.rsa, sotto_bytes_of(modulus, sizeof modulus),
                                  sotto_bytes_of(exponent, 3), NULL) != SOTTO_OK)
            abort();
    }
    return &held;
}

static sotto_hpke_receiver *receiver(void)
{
    static const sotto_hpke_suite suite = {SOTTO_HPKE_KEM_X25519, SOTTO_HPKE_KDF_SHA256,
                                           SOTTO_HPKE_AEAD_AES128_GCM};
    static const uint8_t bytes[32] = {1};
    static sotto_hpke_receiver *held;
    sotto_hpke_key own;

    if (!held &&
        (sotto_hpke_key_decode(&own, suite.kem, sotto_bytes_of(bytes, sizeof bytes), NULL) !=
             SOTTO_OK ||
         sotto_hpke_receiver_new(&held, &own, suite, sotto_bytes_of(NULL, 0), NULL) != SOTTO_OK))
        abort();
    return held;
}

static void encode_again(const sotto_admission *a)
{
    uint8_t memory[SOTTO_ADMISSION_DATA];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    const uint8_t *wire = a->token.input.data;

    if (sotto_admission_encode(&out, sotto_bytes_of(wire, SOTTO_TYPE2_TOKEN), a->once_key, NULL) !=
            SOTTO_OK ||
        memcmp(memory, wire, sizeof memory) != 0)
        abort();
}

static sotto_arc_verifier *verifier(void)
{
    static sotto_arc_verifier held;
    uint8_t secret[SOTTO_ARC_PRIVATE], open[SOTTO_ARC_PUBLIC];
    sotto_arc_private own;
    sotto_group g;

    if (!held.group.ec) {
        memset(secret, 0x3a, sizeof secret);
        if (sotto_group_init(&g, &sotto_p256, NULL) != SOTTO_OK ||
            sotto_arc_private_decode(&g, &own, secret, NULL) != SOTTO_OK ||
            sotto_arc_public(&g, open, &own, NULL) != SOTTO_OK ||
            sotto_arc_verifier_init(&held, &own, open, sotto_bytes_of("epoch", 5),
                                    sotto_bytes_of("round", 5), 1, NULL) != SOTTO_OK)
            abort();
        sotto_group_clear(&g);
    }
    return &held;
}

/* Nobody has a credential of this key for this epoch. */
static void check_presentations(const sotto_admission *a)
{
    uint8_t nonce[SOTTO_TOKEN_NONCE];

    if (a->shown[0] != a->once_key + SOTTO_ONCE_KEY || a->shown[1] != a->shown[0] + SOTTO_ARC_SHOWN)
        abort();
    for (unsigned who = 0; who < 2; who++)
        if (sotto_arc_admission_check(a, who, verifier(), a->shown[who], nonce, NULL) == SOTTO_OK)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sotto_reader in = sotto_reader_over(sotto_bytes_of(data, size));
    sotto_plaintext_input_share plain = {.payload = {data, size}};
    sotto_bytes list = sotto_read_opaque16(&in);
    sotto_admission admission;

    plain.private_extensions = sotto_read_bytes(&in, sotto_reader_left(&in));
    if (sotto_report_extensions_check(list, plain.private_extensions, sotto_admission_types,
                                      SOTTO_ADMISSION_TYPES, NULL) != SOTTO_OK ||
        sotto_admission_find(&admission, list, NULL) != SOTTO_OK)
        return 0;
    if (admission.type == SOTTO_TOKEN_ARC) {
        check_presentations(&admission);
    } else {
        encode_again(&admission);
        memcpy(key()->id, admission.token.key_id, SOTTO_TOKEN_KEY_ID);
        if (sotto_admission_check(&admission, key(), admission.token.challenge, NULL) == SOTTO_OK)
            abort();
    }
    const sotto_agreement once = {.peer = {admission.once_key, SOTTO_ONCE_KEY}};
    const sotto_status status =
        sotto_admission_check_share(SOTTO_REPORT_HELPER, receiver(), &once, list, &plain, NULL);
    if (status == SOTTO_OK || status == SOTTO_BUG)
        abort();
    return 0;
}
