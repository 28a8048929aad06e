/* What admission costs: issuing and verifying tokens, beside the operations of the crypto library that they are made of.
 *
 * "Bare" is the library's own call with everything prepared: a private operation of RSA-2048, a public one, and a
 * multiplication of a point of P-256. Ratios are of medians of the same run. */
#include "bench.h"

#include "base/arena.h"
#include "base/clock.h"
#include "dap/arc_admission.h"
#include "seal/token/type2.h"
#include "sotto/random.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>
#include <openssl/rsa.h>

enum { TOKENS = 32, ROUNDS = 41 };

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double time_of(void (*work)(void *), void *state, size_t calls)
{
    const uint64_t start = sotto_clock_thread_cpu();

    for (size_t i = 0; i < calls; i++)
        work(state);
    return (double)(sotto_clock_thread_cpu() - start);
}

/* The median of how much longer `ours` takes than `bare`, measured in turns: a machine that is busy slows both. */
static double compare(const sotto_bench *b, void (*ours)(void *), void (*bare)(void *), void *state,
                      size_t calls)
{
    const size_t rounds = b->seconds < 0.1 ? 1 : ROUNDS;
    double ratio[ROUNDS];

    for (size_t i = 0; i < rounds; i++) {
        const double under = time_of(bare, state, calls);

        ratio[i] = time_of(ours, state, calls) / under;
    }
    qsort(ratio, rounds, sizeof ratio[0], by_value);
    return ratio[rounds / 2];
}

/* ---- type 2 ------------------------------------------------------------------------------------------------------ */

typedef struct type2 {
    sotto_rsa_private secret;
    sotto_type2_key key;
    EVP_PKEY_CTX *sign, *recover;
    uint8_t digest[SOTTO_TOKEN_DIGEST];
    uint8_t request[TOKENS][SOTTO_TYPE2_REQUEST], response[SOTTO_TYPE2_RESPONSE];
    uint8_t token[TOKENS][SOTTO_TYPE2_TOKEN];
    sotto_type2_pending pending;
    unsigned next, refused;
} type2;

static sotto_status prepare_type2(type2 *b, sotto_err *err)
{
    uint8_t spki[SOTTO_TYPE2_SPKI];
    sotto_type2_random random;
    const uint8_t seed[SOTTO_ONCE_SEED] = {1};

    SOTTO_TRY(sotto_rsa_private_generate(&b->secret, SOTTO_TYPE2_BITS, err));
    SOTTO_TRY(sotto_type2_key_encode(spki, &b->secret.public_key, err));
    SOTTO_TRY(sotto_type2_key_decode(&b->key, sotto_bytes_of(spki, sizeof spki), err));
    for (size_t i = 0; i < TOKENS; i++) {
        SOTTO_TRY(sotto_type2_draw(&random, &b->key, err));
        SOTTO_TRY(sotto_admission_nonce(random.nonce, seed, err));
        SOTTO_TRY(
            sotto_type2_request(&b->key, &b->pending, b->request[i], b->digest, &random, err));
        SOTTO_TRY(sotto_type2_issue(&b->secret, b->key.id, b->response,
                                    sotto_bytes_of(b->request[i], SOTTO_TYPE2_REQUEST), err));
        SOTTO_TRY(sotto_type2_finish(&b->key, b->token[i], &b->pending,
                                     sotto_bytes_of(b->response, sizeof b->response), err));
    }
    b->sign = EVP_PKEY_CTX_new_from_pkey(NULL, b->secret.key, NULL);
    b->recover = EVP_PKEY_CTX_new_from_pkey(NULL, b->secret.key, NULL);
    if (!b->sign || !b->recover || EVP_PKEY_sign_init(b->sign) <= 0 ||
        EVP_PKEY_verify_recover_init(b->recover) <= 0 ||
        EVP_PKEY_CTX_set_rsa_padding(b->sign, RSA_NO_PADDING) <= 0 ||
        EVP_PKEY_CTX_set_rsa_padding(b->recover, RSA_NO_PADDING) <= 0)
        return sotto_fail(err, SOTTO_NO_MEMORY, "RSA");
    return SOTTO_OK;
}

static void bare_private(void *state)
{
    type2 *b = state;
    size_t len = sizeof b->response;

    b->refused += EVP_PKEY_sign(b->sign, b->response, &len, b->request[b->next++ % TOKENS] + 3,
                                SOTTO_TYPE2_NUMBER) <= 0;
}

static void bare_public(void *state)
{
    type2 *b = state;
    uint8_t out[SOTTO_TYPE2_NUMBER];
    size_t len = sizeof out;

    b->refused += EVP_PKEY_verify_recover(b->recover, out, &len,
                                          b->token[b->next++ % TOKENS] + SOTTO_TOKEN_INPUT,
                                          SOTTO_TYPE2_NUMBER) <= 0;
}

static void issue_type2(void *state)
{
    type2 *b = state;
    const sotto_bytes request = sotto_bytes_of(b->request[b->next++ % TOKENS], SOTTO_TYPE2_REQUEST);

    b->refused += sotto_type2_issue(&b->secret, b->key.id, b->response, request, NULL) != SOTTO_OK;
}

static void verify_type2(void *state)
{
    type2 *b = state;
    sotto_token token;

    b->refused +=
        sotto_token_decode(&token, sotto_bytes_of(b->token[b->next++ % TOKENS], SOTTO_TYPE2_TOKEN),
                           NULL) != SOTTO_OK ||
        sotto_type2_verify(&b->key, &token, b->digest, NULL) != SOTTO_OK;
}

static void ask_type2(void *state)
{
    type2 *b = state;
    sotto_type2_random random;
    uint8_t request[SOTTO_TYPE2_REQUEST];
    sotto_type2_pending pending;

    b->refused +=
        sotto_type2_draw(&random, &b->key, NULL) != SOTTO_OK ||
        sotto_type2_request(&b->key, &pending, request, b->digest, &random, NULL) != SOTTO_OK;
}

/* ---- a report that has one ---------------------------------------------------------------------------------------- */

/* About what the helper opens of Histogram 100, or the leader. */
enum { SHARE = 2048 };

typedef struct admitted {
    type2 *tokens;
    sotto_report_draft drafts[TOKENS];
    sotto_bytes aad[TOKENS];
    sotto_hpke_receiver *receiver;
    sotto_arena arena;
    uint8_t share[SHARE];
    unsigned refused;
} admitted;

static sotto_status prepare_admitted(admitted *a, type2 *tokens, sotto_err *err)
{
    static const sotto_hpke_suite suite = {SOTTO_HPKE_KEM_X25519, SOTTO_HPKE_KDF_SHA256,
                                           SOTTO_HPKE_AEAD_AES128_GCM};
    const uint8_t seed[SOTTO_ONCE_SEED] = {1};
    sotto_hpke_config to[SOTTO_REPORT_SHARES];
    sotto_hpke_key key;

    SOTTO_TRY(sotto_hpke_key_decode(&key, suite.kem, sotto_bytes_of(seed, sizeof seed), err));
    SOTTO_TRY(sotto_hpke_receiver_new(&a->receiver, &key, suite, sotto_bytes_of(NULL, 0), err));
    to[0] = to[1] = sotto_hpke_config_of(&key, 1, suite.kdf, suite.aead);
    a->tokens = tokens;
    sotto_arena_init(&a->arena, (size_t)16 << 20);
    for (size_t i = 0; i < TOKENS; i++) {
        sotto_report_draft *draft = &a->drafts[i];
        sotto_buf aad;

        draft->configuration = sotto_bytes_of(a->share, 200);
        draft->shares[0].payload = draft->shares[1].payload = sotto_bytes_of(a->share, SHARE);
        draft->metadata.report_id[0] = (uint8_t)i;
        SOTTO_TRY(sotto_admission_attach(draft, sotto_bytes_of(tokens->token[i], SOTTO_TYPE2_TOKEN),
                                         seed, to, &a->arena, err));
        SOTTO_TRY(sotto_buf_take(&aad, &a->arena, sotto_report_aad_size(draft), err));
        SOTTO_TRY(sotto_report_aad_encode(&aad, draft, err));
        a->aad[i] = sotto_buf_bytes(&aad);
    }
    return SOTTO_OK;
}

/* As servers do it: all agree first. */
static void check_admitted(void *state)
{
    admitted *a = state;
    sotto_admission admissions[TOKENS];
    sotto_agreement once[TOKENS];

    for (unsigned i = 0; i < TOKENS; i++) {
        a->refused += sotto_admission_find(&admissions[i], a->drafts[i].metadata.public_extensions,
                                           NULL) != SOTTO_OK;
        once[i] = (sotto_agreement){.own = sotto_hpke_receiver_key(a->receiver),
                                    .peer = {admissions[i].once_key, SOTTO_ONCE_KEY}};
    }
    sotto_agree_many(once, TOKENS);
    for (unsigned i = 0; i < TOKENS; i++)
        a->refused +=
            sotto_admission_check(&admissions[i], &a->tokens->key, a->tokens->digest, NULL) !=
                SOTTO_OK ||
            sotto_admission_check_share(SOTTO_REPORT_HELPER, a->receiver, &once[i], a->aad[i],
                                        &a->drafts[i].shares[1], NULL) != SOTTO_OK;
}

static void run_admitted(const sotto_bench *b, type2 *tokens)
{
    static admitted state;
    sotto_err err = {0};

    sotto_bench_expect(prepare_admitted(&state, tokens, &err) == SOTTO_OK, err.reason);
    (void)sotto_bench_run(b, "anonymity/report-admission", check_admitted, &state, TOKENS);
    sotto_bench_expect(state.refused == 0, "a report with its token");
    sotto_hpke_receiver_free(state.receiver);
    sotto_arena_clear(&state.arena);
}

static void run_type2(const sotto_bench *b)
{
    static type2 state;
    sotto_err err = {0};

    sotto_bench_expect(prepare_type2(&state, &err) == SOTTO_OK, err.reason);
    (void)sotto_bench_run(b, "anonymity/rsa2048-private-bare", bare_private, &state, 1);
    (void)sotto_bench_run(b, "anonymity/type2-issue", issue_type2, &state, 1);
    (void)sotto_bench_run(b, "anonymity/rsa2048-public-bare", bare_public, &state, 1);
    (void)sotto_bench_run(b, "anonymity/type2-verify", verify_type2, &state, 1);
    run_admitted(b, &state);
    (void)sotto_bench_run(b, "anonymity/type2-request", ask_type2, &state, 1);
    sotto_bench_expect(state.refused == 0, "tokens were refused");
    sotto_bench_note(b, "anonymity/type2-issue-of-bare", "%",
                     100 / compare(b, issue_type2, bare_private, &state, 4));
    sotto_bench_note(b, "anonymity/type2-verify-over-bare", "x",
                     compare(b, verify_type2, bare_public, &state, 40));
    EVP_PKEY_CTX_free(state.sign);
    EVP_PKEY_CTX_free(state.recover);
    sotto_type2_key_clear(&state.key);
    sotto_rsa_private_clear(&state.secret);
}

/* ---- ARC --------------------------------------------------------------------------------------------------------- */

typedef struct arc {
    sotto_group g;
    sotto_arc_private key;
    uint8_t open[SOTTO_ARC_PUBLIC], request[SOTTO_ARC_REQUEST], response[SOTTO_ARC_RESPONSE];
    sotto_arc_credential credential;
    sotto_arc_verifier verifier;
    sotto_scalar random[SOTTO_ARC_RESPONSE_RANDOM];
    sotto_point *point;
    uint8_t shown[SOTTO_ARC_ONCE];
    unsigned products, points, refused;
} arc;

static sotto_bytes text(const char *s)
{
    return sotto_bytes_of(s, strlen(s));
}

static sotto_status prepare_arc(arc *a, sotto_err *err)
{
    sotto_buf out = sotto_buf_over(a->shown, sizeof a->shown);
    sotto_arc_pending pending;

    SOTTO_TRY(sotto_group_init(&a->g, &sotto_p256, err));
    SOTTO_TRY(sotto_scalar_random(&a->g, a->random, SOTTO_ARC_RESPONSE_RANDOM, err));
    a->key = (sotto_arc_private){a->random[0], a->random[1], a->random[2], a->random[3]};
    SOTTO_TRY(sotto_arc_public(&a->g, a->open, &a->key, err));
    SOTTO_TRY(sotto_arc_request(&a->g, &pending, a->request, text("epoch"), a->random, err));
    SOTTO_TRY(sotto_arc_issue(&a->g, a->response, &a->key, a->open, a->request, a->random, err));
    SOTTO_TRY(sotto_arc_finish(&a->g, &a->credential, &pending, a->open, a->response, err));
    SOTTO_TRY(sotto_arc_present(&a->g, &out, &a->credential, text("round"), 1, 0, a->random, err));
    a->point = sotto_point_new(&a->g);
    a->refused += !sotto_point_decode(&a->g, a->point, a->shown);
    return sotto_arc_verifier_init(&a->verifier, &a->key, a->open, text("epoch"), text("round"), 1,
                                   err);
}

static void bare_multiply(void *state)
{
    arc *a = state;

    sotto_point_multiply(&a->g, a->point, &a->random[0], a->point);
}

/* As many group operations as a verification was counted to have. */
static void bare_verification(void *state)
{
    arc *a = state;

    for (unsigned i = 0; i < a->products; i++)
        bare_multiply(a);
    for (unsigned i = 0; i < a->points; i++)
        a->refused += !sotto_point_decode(&a->g, a->point, a->shown);
}

static void bare_decode(void *state)
{
    arc *a = state;

    a->refused += !sotto_point_decode(&a->g, a->point, a->shown);
}

static void issue_arc(void *state)
{
    arc *a = state;

    a->refused += sotto_arc_issue(&a->g, a->response, &a->key, a->open, a->request, a->random,
                                  NULL) != SOTTO_OK;
}

static void ask_arc(void *state)
{
    arc *a = state;
    uint8_t request[SOTTO_ARC_REQUEST];
    sotto_arc_pending pending;

    a->refused +=
        sotto_arc_request(&a->g, &pending, request, text("epoch"), a->random, NULL) != SOTTO_OK;
}

static void present_arc(void *state)
{
    arc *a = state;
    uint8_t wire[SOTTO_ARC_ONCE];
    sotto_buf out = sotto_buf_over(wire, sizeof wire);

    a->refused += sotto_arc_present(&a->g, &out, &a->credential, text("round"), 1, 0, a->random,
                                    NULL) != SOTTO_OK;
}

static void verify_arc(void *state)
{
    arc *a = state;
    uint8_t tag[SOTTO_ARC_POINT];

    a->refused += sotto_arc_verify(&a->verifier, tag, sotto_bytes_of(a->shown, sizeof a->shown),
                                   NULL) != SOTTO_OK;
}

/* ---- reports that ARC admits ------------------------------------------------------------------------------------- */

typedef struct shown {
    arc *from;
    sotto_arc_holding held[SOTTO_REPORT_SHARES];
    sotto_arc_collection collection;
    sotto_arc_verifier verifier;
    sotto_hpke_key key; /* `to` points into it */
    sotto_hpke_config to[SOTTO_REPORT_SHARES];
    sotto_hpke_receiver *receiver;
    sotto_report_draft draft;
    sotto_bytes aad;
    sotto_arena arena, scratch;
    uint8_t share[SHARE];
    unsigned refused;
} shown;

/* Both servers have one key here: what one of them checks is the same. */
static sotto_status prepare_shown(shown *s, arc *from, sotto_err *err)
{
    static const sotto_hpke_suite suite = {SOTTO_HPKE_KEM_X25519, SOTTO_HPKE_KDF_SHA256,
                                           SOTTO_HPKE_AEAD_AES128_GCM};
    const uint8_t seed[SOTTO_ONCE_SEED] = {1};
    uint8_t context[SOTTO_ARC_CONTEXT];
    sotto_buf aad;

    s->from = from;
    sotto_arena_init(&s->arena, (size_t)16 << 20);
    sotto_arena_init(&s->scratch, (size_t)16 << 20);
    SOTTO_TRY(sotto_hpke_key_decode(&s->key, suite.kem, sotto_bytes_of(seed, sizeof seed), err));
    SOTTO_TRY(sotto_hpke_receiver_new(&s->receiver, &s->key, suite, sotto_bytes_of(NULL, 0), err));
    s->to[0] = s->to[1] = sotto_hpke_config_of(&s->key, 1, suite.kdf, suite.aead);
    s->held[0].credential = s->held[1].credential = from->credential;
    s->draft.configuration = sotto_bytes_of(s->share, 200);
    s->draft.shares[0].payload = s->draft.shares[1].payload = sotto_bytes_of(s->share, SHARE);
    sotto_arc_presentation_context(context, &s->collection);
    SOTTO_TRY(sotto_arc_verifier_init(&s->verifier, &from->key, from->open, text("epoch"),
                                      sotto_bytes_of(context, sizeof context), 1, err));
    SOTTO_TRY(sotto_arc_attach(&s->draft, s->held, &s->collection, seed, s->to, &s->arena, err));
    SOTTO_TRY(sotto_buf_take(&aad, &s->arena, sotto_report_aad_size(&s->draft), err));
    SOTTO_TRY(sotto_report_aad_encode(&aad, &s->draft, err));
    s->aad = sotto_buf_bytes(&aad);
    return SOTTO_OK;
}

/* What a device does for one report. */
static void attach_shown(void *state)
{
    const uint8_t seed[SOTTO_ONCE_SEED] = {1};
    shown *s = state;
    sotto_report_draft draft = s->draft;

    draft.metadata.public_extensions = sotto_bytes_of(NULL, 0);
    draft.shares[0].private_extensions = draft.shares[1].private_extensions =
        sotto_bytes_of(NULL, 0);
    s->refused += sotto_arc_attach(&draft, s->held, &s->collection, seed, s->to, &s->scratch,
                                   NULL) != SOTTO_OK;
    sotto_arena_reset(&s->scratch);
}

/* What one server does for one report. */
static void check_shown(void *state)
{
    shown *s = state;
    sotto_admission admission;
    uint8_t nonce[SOTTO_TOKEN_NONCE];

    s->refused +=
        sotto_admission_find(&admission, s->draft.metadata.public_extensions, NULL) != SOTTO_OK;
    sotto_agreement once = {.own = sotto_hpke_receiver_key(s->receiver),
                            .peer = {admission.once_key, SOTTO_ONCE_KEY}};
    sotto_agree_many(&once, 1);
    s->refused += sotto_arc_admission_check(&admission, SOTTO_REPORT_HELPER, &s->verifier,
                                            s->held[1].key_id, nonce, NULL) != SOTTO_OK ||
                  sotto_admission_check_share(SOTTO_REPORT_HELPER, s->receiver, &once, s->aad,
                                              &s->draft.shares[1], NULL) != SOTTO_OK;
}

static void run_shown(const sotto_bench *b, arc *from)
{
    static shown state;
    sotto_err err = {0};

    sotto_bench_expect(prepare_shown(&state, from, &err) == SOTTO_OK, err.reason);
    (void)sotto_bench_run(b, "anonymity/arc-report-attach", attach_shown, &state, 1);
    (void)sotto_bench_run(b, "anonymity/arc-report-admission", check_shown, &state, 1);
    sotto_bench_expect(state.refused == 0, "reports were refused");
    sotto_arc_verifier_clear(&state.verifier);
    sotto_hpke_receiver_free(state.receiver);
    sotto_arena_clear(&state.arena);
    sotto_arena_clear(&state.scratch);
}

static void run_arc(const sotto_bench *b)
{
    static arc a;
    sotto_err err = {0};

    sotto_bench_expect(prepare_arc(&a, &err) == SOTTO_OK, err.reason);
    const uint64_t before = a.verifier.group.multiplied, decoded = a.verifier.group.decoded;
    verify_arc(&a);
    a.products = (unsigned)(a.verifier.group.multiplied - before);
    a.points = (unsigned)(a.verifier.group.decoded - decoded);
    (void)sotto_bench_run(b, "anonymity/p256-multiply", bare_multiply, &a, 1);
    (void)sotto_bench_run(b, "anonymity/p256-decode", bare_decode, &a, 1);
    (void)sotto_bench_run(b, "anonymity/arc-verify", verify_arc, &a, 1);
    (void)sotto_bench_run(b, "anonymity/arc-issue", issue_arc, &a, 1);
    (void)sotto_bench_run(b, "anonymity/arc-request", ask_arc, &a, 1);
    (void)sotto_bench_run(b, "anonymity/arc-present", present_arc, &a, 1);
    run_shown(b, &a);
    sotto_bench_expect(a.refused == 0, "presentations were refused");
    sotto_bench_note(b, "anonymity/arc-verify-multiplications", "", a.products);
    sotto_bench_note(b, "anonymity/arc-verify-decodings", "", a.points);
    sotto_bench_note(b, "anonymity/arc-verify-over-bare", "x",
                     compare(b, verify_arc, bare_verification, &a, 2));
    sotto_arc_verifier_clear(&a.verifier);
    sotto_point_free(a.point);
    sotto_group_clear(&a.g);
}

void sotto_bench_token(const sotto_bench *b)
{
    /* All their names: preparing takes a key of RSA. */
    if (sotto_bench_wanted(b, "anonymity/rsa2048-private-bare anonymity/rsa2048-public-bare "
                              "anonymity/type2-issue-of-bare anonymity/type2-verify-over-bare "
                              "anonymity/type2-request"))
        run_type2(b);
    if (sotto_bench_wanted(b, "anonymity/p256-multiply anonymity/p256-decode anonymity/arc-issue "
                              "anonymity/arc-request anonymity/arc-report-attach "
                              "anonymity/arc-report-admission "
                              "anonymity/arc-present anonymity/arc-verify-multiplications "
                              "anonymity/arc-verify-decodings anonymity/arc-verify-over-bare"))
        run_arc(b);
}
