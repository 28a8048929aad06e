/* Tokens on reports: for which collection, for which report, each refusal by its reason. */
#include "dap/admission.h"

#include "seal/hpke/dhkem.h"
#include "support/lanes.h"
#include "support/tokens.h"

#include <string.h>

static const uint8_t seed[SOTTO_ONCE_SEED] = {7}, other_seed[SOTTO_ONCE_SEED] = {8};

static const sotto_admission_collection collection = {
    .key_id = {1}, .opens = 1000, .closes = 2000, .issuer = {(const uint8_t *)"issuer", 6}};

/* ---- two servers and their keys --------------------------------------------------------------------------------- */

static const sotto_hpke_suite suite = {SOTTO_HPKE_KEM_X25519, SOTTO_HPKE_KDF_SHA256,
                                       SOTTO_HPKE_AEAD_AES128_GCM};

typedef struct servers {
    sotto_hpke_key keys[SOTTO_REPORT_SHARES];
    sotto_hpke_config configs[SOTTO_REPORT_SHARES];
    sotto_hpke_receiver *receivers[SOTTO_REPORT_SHARES];
} servers;

/* first: another one, another pair of keys. */
static void servers_open(sotto_test *t, servers *s, uint8_t first)
{
    for (unsigned who = 0; who < SOTTO_REPORT_SHARES; who++) {
        uint8_t bytes[32], info[SOTTO_DAP_INFO_MAX];

        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (uint8_t)(first + 32 * who + i);
        CHECK_OK(t, sotto_hpke_key_decode(&s->keys[who], suite.kem,
                                          sotto_bytes_of(bytes, sizeof bytes), &t->err));
        s->configs[who] = sotto_hpke_config_of(&s->keys[who], 1, suite.kdf, suite.aead);
        CHECK_OK(t, sotto_hpke_receiver_new(
                        &s->receivers[who], &s->keys[who], suite,
                        sotto_input_share_info(info, who ? SOTTO_DAP_HELPER : SOTTO_DAP_LEADER),
                        &t->err));
    }
}

static void servers_close(servers *s)
{
    for (unsigned who = 0; who < SOTTO_REPORT_SHARES; who++)
        sotto_hpke_receiver_free(s->receivers[who]);
}

/* ---- a report with its token ------------------------------------------------------------------------------------- */

static sotto_report_draft draft_of(void)
{
    static const char configuration[] = "configuration", public_share[] = "public share";
    sotto_report_draft draft = {.configuration = {(const uint8_t *)configuration, 13},
                                .public_share = {(const uint8_t *)public_share, 12}};

    memcpy(draft.task_id, collection.key_id, sizeof draft.task_id);
    memset(draft.metadata.report_id, 5, sizeof draft.metadata.report_id);
    draft.metadata.time = 12;
    draft.shares[0].payload = sotto_bytes_of("leader's share", 14);
    draft.shares[1].payload = sotto_bytes_of("helper's share", 14);
    return draft;
}

static sotto_bytes aad_of(sotto_test *t, const sotto_report_draft *draft)
{
    sotto_buf aad = sotto_test_buf(t, sotto_report_aad_size(draft));

    CHECK_OK(t, sotto_report_aad_encode(&aad, draft, &t->err));
    CHECK_EQUAL(t, aad.cap, aad.len);
    return sotto_buf_bytes(&aad);
}

static void attach(sotto_test *t, sotto_report_draft *draft, const servers *to,
                   sotto_admission *admission)
{
    sotto_test_issuer issuer;

    sotto_test_issuer_open(t, &issuer, 0);
    CHECK_OK(t, sotto_admission_attach(draft, sotto_test_token(t, &issuer, &collection, seed), seed,
                                       to->configs, &t->arena, &t->err));
    CHECK_OK(t, sotto_admission_find(admission, draft->metadata.public_extensions, &t->err));
    sotto_test_issuer_close(&issuer);
}

/* What one of the servers says of its share; not agreed beforehand. */
static sotto_status check(sotto_test *t, const servers *s, unsigned who,
                          const sotto_report_draft *draft)
{
    sotto_agreement with = {.agreed = false};
    sotto_admission admission;

    CHECK_OK(t, sotto_admission_find(&admission, draft->metadata.public_extensions, &t->err));
    with.peer = sotto_bytes_of(admission.once_key, SOTTO_ONCE_KEY);
    t->err = (sotto_err){0};
    return sotto_admission_check_share(who, s->receivers[who], &with, aad_of(t, draft),
                                       &draft->shares[who], &t->err);
}

static void a_report_with_its_token_holds_at_both_servers(sotto_test *t)
{
    sotto_report_draft draft = draft_of();
    sotto_admission admission;
    uint8_t challenge[SOTTO_TOKEN_DIGEST];
    sotto_test_issuer issuer;
    servers s;

    servers_open(t, &s, 1);
    attach(t, &draft, &s, &admission);
    sotto_test_issuer_open(t, &issuer, 0);
    CHECK_OK(t, sotto_admission_challenge(challenge, &collection, &t->err));
    CHECK_OK(t, sotto_admission_check(&admission, &issuer.key, challenge, &t->err));
    CHECK_EQUAL(t, SOTTO_ADMISSION_PUBLIC, draft.metadata.public_extensions.len);
    for (unsigned who = 0; who < SOTTO_REPORT_SHARES; who++) {
        CHECK_EQUAL(t, SOTTO_ADMISSION_PRIVATE, draft.shares[who].private_extensions.len);
        CHECK_OK(t, sotto_report_extensions_check(
                        draft.metadata.public_extensions, draft.shares[who].private_extensions,
                        sotto_admission_types, SOTTO_ADMISSION_TYPES, &t->err));
        CHECK_OK(t, check(t, &s, who, &draft));
    }
    sotto_test_issuer_close(&issuer);
    servers_close(&s);
}

static void agreed_beforehand_it_holds_too(sotto_test *t)
{
    enum { MANY = 16 };
    sotto_report_draft draft = draft_of();
    sotto_admission admission;
    sotto_agreement with[MANY];
    servers s;

    servers_open(t, &s, 1);
    attach(t, &draft, &s, &admission);
    for (size_t i = 0; i < MANY; i++)
        with[i] = (sotto_agreement){.own = sotto_hpke_receiver_key(s.receivers[0]),
                                    .peer = {admission.once_key, SOTTO_ONCE_KEY}};
    sotto_agree_many(with, MANY);
    for (size_t i = 0; i < MANY; i++) {
        CHECK_OK(t, sotto_admission_check_share(0, s.receivers[0], &with[i], aad_of(t, &draft),
                                                &draft.shares[0], &t->err));
        with[i].secret[i] ^= with[i].agreed; /* it is what was agreed on that counts */
        CHECK_STATUS(t, with[i].agreed ? SOTTO_REJECTED : SOTTO_OK,
                     sotto_admission_check_share(0, s.receivers[0], &with[i], aad_of(t, &draft),
                                                 &draft.shares[0], NULL));
    }
    servers_close(&s);
}

/* The bytes of another implementation: RFC 9180's DHKEM and HMAC in Python, from RFC 7748 up. */
static void the_mac_is_what_another_implementation_makes(sotto_test *t)
{
    static const char nonce[] = "233ced774423c7a7f91254bd2346d889e2ccab33cb6c98947844f1ef6c4f493f",
                      once[] = "2fe57da347cd62431528daac5fbb290730fff684afc4cfc2ed90995f58cb3b74";
    static const char *const macs[] = {
        "535a93be67dc2b9990a96364c3b0f144d9887dbd52000f3ac74898d7d9547ff6",
        "2012800b6499eb3e0e839b8f158bc0f83091225183ec82746e35bd29cd6b5f6a"};
    const sotto_bytes aad = sotto_bytes_of("the associated data", 19);
    const sotto_agreement with = {.peer = sotto_test_hex(t, once)};
    uint8_t made[SOTTO_TOKEN_NONCE];
    servers s;

    CHECK_OK(t, sotto_admission_nonce(made, seed, &t->err));
    CHECK_BYTES(t, sotto_test_hex(t, nonce).data, made, sizeof made);
    servers_open(t, &s, 1);
    for (unsigned who = 0; who < SOTTO_REPORT_SHARES; who++) {
        sotto_buf list = sotto_test_buf(t, SOTTO_ADMISSION_PRIVATE);
        sotto_writer w = sotto_writer_on(&list);
        sotto_plaintext_input_share share = {.payload = draft_of().shares[who].payload};

        sotto_extension_write(
            &w, &(sotto_extension){SOTTO_EXTENSION_TOKEN_BINDING, sotto_test_hex(t, macs[who])});
        share.private_extensions = sotto_buf_bytes(&list);
        CHECK_OK(t,
                 sotto_admission_check_share(who, s.receivers[who], &with, aad, &share, &t->err));
        list.data[list.len - 1] ^= 1;
        CHECK_STATUS(t, SOTTO_REJECTED,
                     sotto_admission_check_share(who, s.receivers[who], &with, aad, &share, NULL));
    }
    servers_close(&s);
}

static void refuse(sotto_test *t, const sotto_admission *admission, unsigned which,
                   const sotto_admission_collection *other, const char *why)
{
    uint8_t challenge[SOTTO_TOKEN_DIGEST];
    sotto_test_issuer issuer;

    sotto_test_issuer_open(t, &issuer, which);
    CHECK_OK(t, sotto_admission_challenge(challenge, other, &t->err));
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_admission_check(admission, &issuer.key, challenge, &t->err));
    CHECK_REASON(t, why);
    sotto_test_issuer_close(&issuer);
}

static void a_token_is_for_one_task_window_and_issuer(sotto_test *t)
{
    static const char anothers[] = "another challenge", other_key[] = "another issuer key";
    sotto_admission_collection task = collection, opens = collection, closes = collection,
                               name = collection;
    sotto_report_draft draft = draft_of();
    sotto_admission admission;
    servers s;

    servers_open(t, &s, 1);
    attach(t, &draft, &s, &admission);
    servers_close(&s);
    task.key_id[31] = 1;
    opens.opens++;
    closes.closes++;
    name.issuer.len--;
    refuse(t, &admission, 0, &task, anothers);
    refuse(t, &admission, 0, &opens, anothers);
    refuse(t, &admission, 0, &closes, anothers);
    refuse(t, &admission, 0, &name, anothers);
    refuse(t, &admission, 1, &collection, other_key);
    admission.once_key = other_seed;
    refuse(t, &admission, 0, &collection, "another one-time key");
}

/* Whoever has a report and its token, but not the one-time key. */
static void a_token_moves_to_no_other_report(sotto_test *t)
{
    sotto_report_draft draft = draft_of(), other;
    sotto_admission admission;
    servers s;

    servers_open(t, &s, 1);
    attach(t, &draft, &s, &admission);
    for (unsigned change = 0; change < 7; change++) {
        unsigned who = SOTTO_REPORT_HELPER;

        other = draft;
        other.metadata.report_id[3] ^= change == 0;
        other.metadata.time += change == 1;
        other.public_share.len -= change == 2;
        other.shares[who].payload.len -= change == 3;
        other.configuration.len -= change == 4;
        other.task_id[5] ^= change == 5;
        if (change == 6) /* the leader's share, as the helper's */
            other.shares[who] = draft.shares[SOTTO_REPORT_LEADER];
        CHECK_STATUS(t, SOTTO_REJECTED, check(t, &s, who, &other));
        CHECK_REASON(t, "did not make this share");
    }
    servers_close(&s);
}

/* The most that one server has: its own private key, what that agreed on with the one-time key, and the other's public key. */
static void no_server_makes_a_mac_for_the_other(sotto_test *t)
{
    const sotto_kem *kem = sotto_kem_find(SOTTO_KEM_X25519);
    sotto_report_draft draft = draft_of();
    sotto_admission admission;
    servers s;

    servers_open(t, &s, 1);
    attach(t, &draft, &s, &admission);
    for (unsigned who = 0; who < SOTTO_REPORT_SHARES; who++) {
        const sotto_agreement once = {.peer = {admission.once_key, SOTTO_ONCE_KEY}};
        sotto_ephemeral own = {.agreed = false};
        uint8_t secrets[2][SOTTO_KEM_MAX_SECRET], enc[SOTTO_KEM_MAX_PUBLIC];
        size_t len;

        memcpy(own.private_key, s.keys[who].private_key, s.keys[who].private_key_len);
        CHECK_OK(t, sotto_hpke_receiver_decap(s.receivers[who], secrets[0], &len, &once, &t->err));
        CHECK_OK(t, sotto_dhkem_encap(secrets[1], enc, kem, &own, s.configs[1 - who].public_key,
                                      &t->err));
        for (unsigned i = 0; i < 4; i++) {
            sotto_report_draft forged = draft;
            sotto_buf list = sotto_test_buf(t, SOTTO_ADMISSION_PRIVATE);
            sotto_writer w = sotto_writer_on(&list);
            uint8_t mac[SOTTO_ADMISSION_MAC];

            sotto_admission_mac(mac, sotto_bytes_of(secrets[i % 2], len), i < 2 ? 1 - who : who,
                                aad_of(t, &draft), draft.shares[1 - who].payload);
            sotto_extension_write(&w, &(sotto_extension){SOTTO_EXTENSION_TOKEN_BINDING,
                                                         sotto_bytes_of(mac, sizeof mac)});
            forged.shares[1 - who].private_extensions = sotto_buf_bytes(&list);
            CHECK_STATUS(t, SOTTO_REJECTED, check(t, &s, 1 - who, &forged));
        }
    }
    servers_close(&s);
}

/* A device that seals the leader's share again, to a new key, binds it to that one; the helper's share stays as it is. */
static void a_share_that_is_sealed_again_is_bound_again(sotto_test *t)
{
    sotto_report_draft draft = draft_of();
    sotto_admission admission;
    servers first, next;

    servers_open(t, &first, 1);
    servers_open(t, &next, 101);
    attach(t, &draft, &first, &admission);
    CHECK_STATUS(t, SOTTO_REJECTED, check(t, &next, SOTTO_REPORT_LEADER, &draft));
    CHECK_OK(t, sotto_admission_bind(&draft, SOTTO_REPORT_LEADER, sotto_bytes_of(seed, sizeof seed),
                                     &next.configs[0], &t->arena, &t->err));
    CHECK_OK(t, check(t, &next, SOTTO_REPORT_LEADER, &draft));
    CHECK_OK(t, check(t, &first, SOTTO_REPORT_HELPER, &draft));
    CHECK_STATUS(t, SOTTO_REJECTED, check(t, &first, SOTTO_REPORT_LEADER, &draft));
    servers_close(&first);
    servers_close(&next);
}

/* The private extensions of a share whose MAC is made of this agreement, as whoever knows its secret can. */
static void forge(sotto_test *t, sotto_report_draft *draft, const servers *s,
                  const sotto_agreement *with)
{
    uint8_t secret[SOTTO_KEM_MAX_SECRET], mac[SOTTO_ADMISSION_MAC];
    sotto_buf list = sotto_test_buf(t, SOTTO_ADMISSION_PRIVATE);
    sotto_writer w = sotto_writer_on(&list);
    size_t len;

    CHECK_OK(t, sotto_hpke_receiver_decap(s->receivers[0], secret, &len, with, &t->err));
    sotto_admission_mac(mac, sotto_bytes_of(secret, len), SOTTO_REPORT_LEADER, aad_of(t, draft),
                        draft->shares[0].payload);
    sotto_extension_write(
        &w, &(sotto_extension){SOTTO_EXTENSION_TOKEN_BINDING, sotto_bytes_of(mac, sizeof mac)});
    draft->shares[0].private_extensions = sotto_buf_bytes(&list);
}

/* Everybody can make its MAC: what it agrees on is zero, whatever the server's key. So nothing but that zero refuses it. */
static void a_one_time_key_of_small_order_admits_nothing(sotto_test *t)
{
    enum { MANY = 16, POINTS = 7 };
    uint8_t small[POINTS][SOTTO_ONCE_KEY] = {
        {0},
        {1},
        {0xe0, 0xeb, 0x7a, 0x7c, 0x3b, 0x41, 0xb8, 0xae, 0x16, 0x56, 0xe3,
         0xfa, 0xf1, 0x9f, 0xc4, 0x6a, 0xda, 0x09, 0x8d, 0xeb, 0x9c, 0x32,
         0xb1, 0xfd, 0x86, 0x62, 0x05, 0x16, 0x5f, 0x49, 0xb8, 0x00},
        {0x5f, 0x9c, 0x95, 0xbc, 0xa3, 0x50, 0x8c, 0x24, 0xb1, 0xd0, 0xb1,
         0x55, 0x9c, 0x83, 0xef, 0x5b, 0x04, 0x44, 0x5c, 0xc4, 0x58, 0x1c,
         0x8e, 0x86, 0xd8, 0x22, 0x4e, 0xdd, 0xd0, 0x9f, 0x11, 0x57},
    };
    sotto_report_draft draft = draft_of();
    sotto_admission admission;
    servers s;

    for (size_t i = 4; i < POINTS; i++) { /* p - 1, p and p + 1 */
        memset(small[i], 0xff, SOTTO_ONCE_KEY);
        small[i][0] = (uint8_t)(0xec + i - 4);
        small[i][31] = 0x7f;
    }
    servers_open(t, &s, 1);
    attach(t, &draft, &s, &admission);
    for (size_t i = 0; i < POINTS; i++) {
        const sotto_agreement zero = {.peer = {small[i], SOTTO_ONCE_KEY}, .agreed = true};
        sotto_agreement with[MANY];

        forge(t, &draft, &s, &zero);
        CHECK_OK(t, sotto_admission_check_share(0, s.receivers[0], &zero, aad_of(t, &draft),
                                                &draft.shares[0], &t->err));
        for (size_t k = 0; k < MANY; k++) /* but for the first, with what fills lanes */
            with[k] = (sotto_agreement){.own = k ? sotto_hpke_receiver_key(s.receivers[0]) : NULL,
                                        .peer = zero.peer};
        sotto_agree_many(with, MANY);
        for (size_t k = 0; k < MANY; k++)
            CHECK_STATUS(t, SOTTO_REJECTED,
                         sotto_admission_check_share(0, s.receivers[0], &with[k], aad_of(t, &draft),
                                                     &draft.shares[0], NULL));
    }
    servers_close(&s);
}

static void a_share_needs_a_mac(sotto_test *t)
{
    sotto_report_draft draft = draft_of();
    sotto_admission admission;
    sotto_buf list = sotto_test_buf(t, 8);
    sotto_writer w = sotto_writer_on(&list);
    servers s;

    servers_open(t, &s, 1);
    attach(t, &draft, &s, &admission);
    draft.shares[0].private_extensions.len = 0;
    CHECK_STATUS(t, SOTTO_MISSING, check(t, &s, SOTTO_REPORT_LEADER, &draft));
    sotto_extension_write(
        &w, &(sotto_extension){SOTTO_EXTENSION_TOKEN_BINDING, sotto_bytes_of("four", 4)});
    draft.shares[0].private_extensions = sotto_buf_bytes(&list);
    CHECK_STATUS(t, SOTTO_MALFORMED, check(t, &s, SOTTO_REPORT_LEADER, &draft));
    servers_close(&s);
}

static void a_token_is_attached_once_and_with_its_key(sotto_test *t)
{
    sotto_report_draft draft = draft_of();
    sotto_test_issuer issuer;
    sotto_hpke_config other[SOTTO_REPORT_SHARES];
    sotto_bytes token;
    servers s;

    servers_open(t, &s, 1);
    sotto_test_issuer_open(t, &issuer, 0);
    token = sotto_test_token(t, &issuer, &collection, seed);
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_admission_attach(&draft, token, other_seed, s.configs, &t->arena, &t->err));
    CHECK_EQUAL(t, 0, draft.metadata.public_extensions.len);
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_admission_attach(&draft, sotto_bytes_of(token.data, token.len - 1), seed,
                                        s.configs, &t->arena, NULL));
    memcpy(other, s.configs, sizeof other);
    other[SOTTO_REPORT_HELPER].suite.kem = SOTTO_HPKE_KEM_P256;
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_admission_bind(&draft, SOTTO_REPORT_HELPER,
                                      sotto_bytes_of(seed, sizeof seed), &other[1], &t->arena,
                                      NULL));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_admission_bind(&draft, SOTTO_REPORT_HELPER,
                                      sotto_bytes_of(seed, sizeof seed - 1), &s.configs[1],
                                      &t->arena, NULL));
    t->err = (sotto_err){0};
    CHECK_OK(t, sotto_admission_attach(&draft, token, seed, s.configs, &t->arena, &t->err));
    CHECK_STATUS(t, SOTTO_BUG,
                 sotto_admission_attach(&draft, token, seed, s.configs, &t->arena, &t->err));
    sotto_test_issuer_close(&issuer);
    servers_close(&s);
}

static void what_decodes_encodes_to_the_same_bytes(sotto_test *t)
{
    sotto_report_draft draft = draft_of();
    sotto_admission admission;
    sotto_buf again = sotto_test_buf(t, SOTTO_ADMISSION_DATA);
    sotto_bytes data;
    uint8_t wrong[SOTTO_ADMISSION_DATA + 1] = {0};
    servers s;

    servers_open(t, &s, 1);
    attach(t, &draft, &s, &admission);
    servers_close(&s);
    data = sotto_bytes_of(draft.metadata.public_extensions.data + 4, SOTTO_ADMISSION_DATA);
    CHECK_OK(t, sotto_admission_encode(&again, sotto_bytes_of(data.data, SOTTO_TYPE2_TOKEN),
                                       admission.once_key, &t->err));
    CHECK_BYTES(t, data.data, again.data, data.len);
    memcpy(wrong, data.data, data.len);
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_admission_decode(&admission, sotto_bytes_of(wrong, data.len - 1), &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_admission_decode(&admission, sotto_bytes_of(wrong, data.len + 1), &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_admission_decode(&admission, sotto_bytes_of(wrong, 1), &t->err));
    wrong[1] = 1;
    CHECK_STATUS(t, SOTTO_MISSING,
                 sotto_admission_decode(&admission, sotto_bytes_of(wrong, data.len), &t->err));
    CHECK_STATUS(t, SOTTO_MISSING,
                 sotto_admission_find(&admission, sotto_bytes_of(NULL, 0), &t->err));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_report_with_its_token_holds_at_both_servers),
        CASE(agreed_beforehand_it_holds_too),
        CASE(the_mac_is_what_another_implementation_makes),
        CASE(a_token_is_for_one_task_window_and_issuer),
        CASE(a_token_moves_to_no_other_report),
        CASE(no_server_makes_a_mac_for_the_other),
        CASE(a_share_that_is_sealed_again_is_bound_again),
        CASE(a_one_time_key_of_small_order_admits_nothing),
        CASE(a_share_needs_a_mac),
        CASE(a_token_is_attached_once_and_with_its_key),
        CASE(what_decodes_encodes_to_the_same_bytes),
    };
    (void)sotto_test_use_lanes();
    return RUN_TESTS(argc, argv, cases);
}
