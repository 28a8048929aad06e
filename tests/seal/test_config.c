#include "seal/keys.h"

#include <string.h>

enum { ROOM = 4 };

#define X25519_CONFIG                                                                              \
    "2a"                                                                                           \
    "0020"                                                                                         \
    "0001"                                                                                         \
    "0001"                                                                                         \
    "0020"
#define SOME_KEY "07a37cbc142093c8b755dc1b10e86cb426374ad16aa853ed0bdfc0b2b86d1c7c"

static void a_config_survives_the_wire(sotto_test *t)
{
    uint8_t memory[256];
    sotto_hpke_config decoded;

    for (size_t i = 0; i < KEMS; i++) {
        const sotto_hpke_key key = key_of(t, ALL_KEMS[i], 1);
        const sotto_hpke_config config = sotto_hpke_config_of(&key, 200, 3, 2);
        sotto_buf out = sotto_buf_over(memory, sizeof memory);

        CHECK_OK(t, sotto_hpke_config_encode(&out, &config, &t->err));
        CHECK_EQUAL(t, 9 + key.public_key_len, out.len);
        CHECK_OK(t, sotto_hpke_config_decode(&decoded, sotto_buf_bytes(&out), &t->err));
        CHECK(t, decoded.supported);
        CHECK_EQUAL(t, 200, decoded.id);
        CHECK_EQUAL(t, key.kem, decoded.suite.kem);
        CHECK_EQUAL(t, 3, decoded.suite.kdf);
        CHECK_EQUAL(t, 2, decoded.suite.aead);
        CHECK_EQUAL(t, key.public_key_len, decoded.public_key.len);
        CHECK_BYTES(t, key.public_key, decoded.public_key.data, key.public_key_len);
    }
}

static void a_config_stands_on_the_wire_as_dap_says(sotto_test *t)
{
    const sotto_bytes wire = sotto_test_hex(t, X25519_CONFIG SOME_KEY);
    uint8_t memory[64];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    sotto_hpke_config config;

    CHECK_OK(t, sotto_hpke_config_decode(&config, wire, &t->err));
    CHECK_EQUAL(t, 0x2a, config.id);
    CHECK_EQUAL(t, SOTTO_HPKE_KEM_X25519, config.suite.kem);
    CHECK_OK(t, sotto_hpke_config_encode(&out, &config, &t->err));
    CHECK_EQUAL(t, wire.len, out.len);
    CHECK_BYTES(t, wire.data, memory, wire.len);
    out.cap = out.len + wire.len - 1;
    CHECK_STATUS(t, SOTTO_TOO_LARGE, sotto_hpke_config_encode(&out, &config, &t->err));
    CHECK_EQUAL(t, wire.len, out.len);
}

static void truncated_configs_are_malformed(sotto_test *t)
{
    const sotto_bytes wire = sotto_test_hex(t, X25519_CONFIG SOME_KEY);
    sotto_hpke_config config;

    for (size_t len = 0; len < wire.len; len++) {
        CHECK_STATUS(t, SOTTO_MALFORMED,
                     sotto_hpke_config_decode(&config, sotto_bytes_of(wire.data, len), &t->err));
        CHECK_REASON(t, "HPKE config: too short");
    }
}

static const struct {
    const char *wire, *reason;
} MISTAKES[] = {
    {X25519_CONFIG SOME_KEY "00", "HPKE config: 1 trailing"},
    {"2a"
     "0020"
     "0001"
     "0001"
     "001f"
     "07a37cbc142093c8b755dc1b10e86cb426374ad16aa853ed0bdfc0b2b86d1c",
     "public_key: 31 bytes, X25519 needs 32"},
    {"2a"
     "0020"
     "0001"
     "0001"
     "0021" SOME_KEY "00",
     "public_key: 33 bytes"},
    {"2a"
     "0020"
     "0001"
     "0001"
     "0000",
     "public_key: empty"},
    {"2a"
     "7777"
     "0001"
     "0001"
     "0000",
     "public_key: empty"},
    {"2a"
     "0010"
     "0001"
     "0001"
     "0021"
     "02" SOME_KEY,
     "public_key: 33 bytes, P-256 needs 65"},
    {"2a"
     "0010"
     "0001"
     "0001"
     "0041"
     "04" SOME_KEY SOME_KEY,
     "public_key: not a point of P-256"},
    {"2a"
     "0010"
     "0001"
     "0001"
     "0041"
     "06" SOME_KEY SOME_KEY,
     "public_key: not an uncompressed"},
    {"2a"
     "0010"
     "9999"
     "9999"
     "0001"
     "00",
     "public_key: 1 bytes"}, /* infinity, unknown rest */
};

static void mistakes_are_named(sotto_test *t)
{
    sotto_hpke_config config;

    for (size_t i = 0; i < sizeof MISTAKES / sizeof MISTAKES[0]; i++) {
        CHECK_STATUS(
            t, SOTTO_MALFORMED,
            sotto_hpke_config_decode(&config, sotto_test_hex(t, MISTAKES[i].wire), &t->err));
        CHECK_REASON(t, MISTAKES[i].reason);
    }
}

static void unknown_algorithms_decode_as_unsupported(sotto_test *t)
{
    static const char *const unknown[] = {"01"
                                          "7777"
                                          "0001"
                                          "0001"
                                          "0003"
                                          "aabbcc",
                                          "01"
                                          "0020"
                                          "0004"
                                          "0001"
                                          "0020" SOME_KEY,
                                          "01"
                                          "0020"
                                          "0001"
                                          "0000"
                                          "0020" SOME_KEY};
    sotto_hpke_config config;
    uint8_t memory[128];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);

    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        const sotto_bytes wire = sotto_test_hex(t, unknown[i]);

        CHECK_OK(t, sotto_hpke_config_decode(&config, wire, &t->err));
        CHECK(t, !config.supported);
        CHECK_STATUS(t, SOTTO_MISSING,
                     sotto_hpke_seal(&out, &config, ikm_of(t, 2), none(), none(), none(), &t->err));
        CHECK_REASON(t, "unknown");
        out.len = 0; /* and it can still be passed on */
        CHECK_OK(t, sotto_hpke_config_encode(&out, &config, &t->err));
        CHECK_BYTES(t, wire.data, memory, wire.len);
        out.len = 0;
    }
}

static void a_list_keeps_unknown_ones_beside_known_ones(sotto_test *t)
{
    const sotto_bytes wire = sotto_test_hex(t, "0060" /* 96 bytes */
                                               "01"
                                               "7777"
                                               "0001"
                                               "0001"
                                               "0005"
                                               "aabbccddee"
                                               "02"
                                               "0020"
                                               "0001"
                                               "ffff"
                                               "0020" SOME_KEY X25519_CONFIG SOME_KEY);
    sotto_hpke_config configs[ROOM];
    const sotto_hpke_config *picked;
    uint8_t memory[128];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    size_t count;

    CHECK_OK(t, sotto_hpke_config_list_decode(configs, ROOM, &count, wire, &t->err));
    CHECK_EQUAL(t, 3, count);
    CHECK(t, !configs[0].supported && configs[1].supported && configs[2].supported);
    CHECK_OK(t, sotto_hpke_config_pick(&picked, configs, count, &t->err));
    CHECK_EQUAL(t, 0x2a, picked->id); /* the second only exports */
    CHECK_STATUS(t, SOTTO_MISSING, sotto_hpke_config_pick(&picked, configs, 2, &t->err));
    CHECK_REASON(t, "none of 2");
    CHECK(t, picked == NULL);

    CHECK_OK(t, sotto_hpke_config_list_encode(&out, configs, count, &t->err));
    CHECK_EQUAL(t, wire.len, out.len);
    CHECK_BYTES(t, wire.data, memory, wire.len);
}

static void lists_with_mistakes_are_refused_whole(sotto_test *t)
{
    static const struct {
        const char *wire, *reason;
    } mistakes[] = {
        {"", "HPKE config list: too short"},
        {"00", "HPKE config list: too short"},
        {"0000", "HPKE config list: empty"},
        {"002a" X25519_CONFIG SOME_KEY, "HPKE config list: too short"},
        {"0029" X25519_CONFIG SOME_KEY "00", "HPKE config list: 1 trailing"},
        {"002a" X25519_CONFIG SOME_KEY "00", "HPKE config 1 of its list: too short"},
        {"0028" X25519_CONFIG "07a37cbc142093c8b755dc1b10e86cb426374ad16aa853ed0bdfc0b2b86d1c",
         "HPKE config 0 of its list: too short"},
        {"0033" X25519_CONFIG SOME_KEY "01"
         "0020"
         "0001"
         "0001"
         "0001"
         "aa",
         "public_key: 1 bytes"},
    };
    sotto_hpke_config configs[ROOM];
    size_t count;

    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        CHECK_STATUS(t, SOTTO_MALFORMED,
                     sotto_hpke_config_list_decode(configs, ROOM, &count,
                                                   sotto_test_hex(t, mistakes[i].wire), &t->err));
        CHECK_REASON(t, mistakes[i].reason);
        CHECK_EQUAL(t, 0, count);
    }
}

static void lists_longer_than_the_room_for_them_are_refused(sotto_test *t)
{
    static uint8_t huge[UINT16_MAX + 1], memory[2 * UINT16_MAX];
    const sotto_hpke_key key = key_of(t, SOTTO_HPKE_KEM_X25519, 1);
    sotto_hpke_config configs[2] = {sotto_hpke_config_of(&key, 1, 1, 1),
                                    sotto_hpke_config_of(&key, 2, 1, 1)};
    sotto_hpke_config decoded[1];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    size_t count;

    CHECK_OK(t, sotto_hpke_config_list_encode(&out, configs, 2, &t->err));
    CHECK_STATUS(t, SOTTO_TOO_LARGE,
                 sotto_hpke_config_list_decode(decoded, 1, &count, sotto_buf_bytes(&out), &t->err));
    out.len = 0;
    configs[0].public_key = sotto_bytes_of(huge, UINT16_MAX);
    CHECK_STATUS(t, SOTTO_TOO_LARGE, sotto_hpke_config_list_encode(&out, configs, 2, &t->err));
    CHECK_OK(t, sotto_hpke_config_encode(&out, &configs[0], &t->err));
    out.len = 0;
    configs[0].public_key.len++;
    CHECK_STATUS(t, SOTTO_TOO_LARGE, sotto_hpke_config_encode(&out, &configs[0], &t->err));
    CHECK_STATUS(t, SOTTO_TOO_LARGE, sotto_hpke_config_list_encode(&out, configs, 1, &t->err));
    CHECK_EQUAL(t, 0, out.len);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_config_survives_the_wire),
        CASE(a_config_stands_on_the_wire_as_dap_says),
        CASE(truncated_configs_are_malformed),
        CASE(mistakes_are_named),
        CASE(unknown_algorithms_decode_as_unsupported),
        CASE(a_list_keeps_unknown_ones_beside_known_ones),
        CASE(lists_with_mistakes_are_refused_whole),
        CASE(lists_longer_than_the_room_for_them_are_refused),
    };
    return RUN_TESTS(argc, argv, cases);
}
