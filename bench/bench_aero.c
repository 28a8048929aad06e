/* Encrypted sums after Aero: ring, ciphertexts, opening, proofs. The figures of the paper beside ours are published ones (Liu and
 * Gupta 2023, figures 9 and 10). They are from a c5.24xlarge of Amazon EC2, which is other hardware than this. */
#include "bench.h"

#include "aggregate/aero/hand_over.h"
#include "aggregate/aero/ledger.h"
#include "aggregate/aero/proof.h"
#include "aggregate/aero/robust.h"
#include "aggregate/aero/sum_tree.h"
#include "aggregate/aero/threshold.h"
#include "crypto/hash.h"
#include "support/member_bytes.h"

#include <stdio.h>
#include <string.h>

enum {
    MEMBERS = 45,
    THRESHOLD = 19,
    CIPHERTEXTS = 294,
    LEAVES = 10280
}; /* of 1.2 million parameters */

typedef struct lab {
    sotto_aero aero;
    sotto_aero_ledger ledger;
    sotto_entropy entropy;
    sotto_aero_poly a, b, part;
    sotto_aero_public key;
    sotto_aero_secret secret;
    sotto_aero_share shares[MEMBERS];
    sotto_aero_weight weights[THRESHOLD];
    uint32_t members[THRESHOLD];
    uint8_t seeds[THRESHOLD][SOTTO_AERO_SEED];
    sotto_aero_place place;
    sotto_aero_witness witness;
    sotto_aero_cipher cipher, sum;
    sotto_noise smudge;
    int64_t m[SOTTO_AERO_N], opened[SOTTO_AERO_N];
} lab;

static lab l;

/* What the paper's table has, of b87: nanoseconds and bytes. 0: it did not run. */
static struct {
    double encrypt, prove, verify, evaluate, part, deal, seeded, sum, hand_over;
    double proof_bytes, memory;
} found;

/* Ours, and the paper's row beside it. */
static void beside(const sotto_bench *b, const char *what, const char *unit, double ours,
                   double paper)
{
    char name[96];

    (void)snprintf(name, sizeof name, "aero/table/%s", what);
    if (ours > 0)
        sotto_bench_note(b, name, unit, ours);
    (void)snprintf(name, sizeof name, "aero/table/%s/paper-c5.24xlarge", what);
    if (ours > 0 && paper > 0)
        sotto_bench_note(b, name, unit, paper);
}

static void ntt(void *arg)
{
    (void)arg;
    sotto_ntt64_negacyclic_forward(l.part.first, 12, l.aero.ring.factors);
}

static void ntt_small(void *arg)
{
    (void)arg;
    sotto_limb_forward(&l.aero.ring.second, l.part.second);
}

static void encrypt(void *arg)
{
    (void)arg;
    sotto_bench_expect(sotto_aero_draw(&l.aero, &l.witness, &l.entropy, NULL) == SOTTO_OK &&
                           sotto_aero_encrypt(&l.aero, &l.cipher, &l.key, &l.witness, l.m, NULL) ==
                               SOTTO_OK,
                       "encrypting");
}

static void add(void *arg)
{
    (void)arg;
    sotto_aero_cipher_add(&l.aero, &l.sum, &l.cipher);
}

static void deal(void *arg)
{
    (void)arg;
    sotto_bench_expect(sotto_aero_deal(&l.aero, l.shares, MEMBERS, THRESHOLD, &l.secret, &l.entropy,
                                       NULL) == SOTTO_OK,
                       "dealing");
}

static void deal_seeded(void *arg)
{
    (void)arg;
    sotto_bench_expect(sotto_aero_deal_seeded(&l.aero, l.shares, MEMBERS, THRESHOLD, 0, &l.secret,
                                              (const uint8_t(*)[SOTTO_AERO_SEED])l.seeds,
                                              NULL) == SOTTO_OK,
                       "dealing");
}

/* The c1 of a sum as a member reads it: decoded, hashed and evaluated. */
static void read_sum(void *arg)
{
    static uint8_t wire[80000];
    const sotto_f64 points[SOTTO_AERO_POINTS] = {{3}, {5}};
    sotto_f64 v[SOTTO_AERO_HALF];
    uint8_t digest[32];
    static sotto_aero_poly c1;
    const sotto_bytes sum = sotto_bytes_of(wire, sotto_aero_sum_size(&l.aero, LEAVES));

    (void)arg;
    sotto_hash_once(digest, SOTTO_SHA256, sum);
    sotto_bench_expect(sotto_aero_sum_decode(&l.aero, &c1, LEAVES, sum, NULL) == SOTTO_OK, "a sum");
    sotto_aero_half_of(v, &c1, 1, points);
}

static void partial(void *arg)
{
    (void)arg;
    sotto_bench_expect(sotto_aero_partial(&l.aero, &l.part, &l.shares[0], l.weights[0], &l.place,
                                          &l.cipher.c1, &l.smudge, &l.entropy, NULL) == SOTTO_OK,
                       "a member's part");
}

/* With the secret itself, as SEAL decrypts. */
static void decrypt(void *arg)
{
    static sotto_aero_poly v, product;
    sotto_aero_poly *over = arg;

    product = l.cipher.c1;
    v = l.cipher.c2;
    sotto_aero_transform(&l.aero.ring, &product);
    sotto_aero_product(&l.aero.ring, &product, &product, over);
    sotto_aero_subtract(&l.aero.ring, &v, &product);
    sotto_aero_decode_vartime(&l.aero, l.opened, NULL, &v);
}

static void draw(void *arg)
{
    (void)arg;
    sotto_bench_expect(sotto_noise_draw(&l.smudge, l.opened, SOTTO_AERO_N, &l.entropy, NULL) ==
                           SOTTO_OK,
                       "drawing");
}

static void set_up(const char *name, sotto_arena *arena)
{
    const uint8_t seed[SOTTO_AERO_SEED] = {1};
    sotto_aero_wish wish = {.devices = 11000,
                            .liars = 330,
                            .most = 2048,
                            .noise = 1 << 20,
                            .dealers = MEMBERS,
                            .threshold = THRESHOLD,
                            .rounds = 1,
                            .ciphertexts = 20,
                            .tries = 1,
                            .failure = 40};

    sotto_entropy_system(&l.entropy);
    for (uint32_t i = 0; i < THRESHOLD; i++)
        l.members[i] = i;
    l.place =
        (sotto_aero_place){l.members, THRESHOLD, 0, (const uint8_t(*)[SOTTO_AERO_SEED])l.seeds};
    sotto_bench_expect(
        sotto_aero_set_named(&wish.set, name, NULL) == SOTTO_OK &&
            sotto_aero_ledger_plan(&l.ledger, &wish, NULL) == SOTTO_OK &&
            sotto_aero_init(&l.aero, wish.set, l.ledger.log_t, arena, NULL) == SOTTO_OK &&
            sotto_noise_gaussian_wide(&l.smudge, l.ledger.sigma, arena, NULL) == SOTTO_OK &&
            sotto_aero_expand_vartime(&l.aero, &l.a, seed, NULL) == SOTTO_OK &&
            sotto_aero_keygen(&l.aero, &l.secret, &l.b, &l.a, &l.entropy, NULL) == SOTTO_OK &&
            sotto_aero_weights_vartime(&l.aero, l.weights, l.members, THRESHOLD, NULL) == SOTTO_OK,
        "a key of the ring");
    sotto_aero_public_of(&l.aero, &l.key, &l.a, &l.b);
}

/* ---- proofs: a group of 37, or one ciphertext where the time is short ----------------------------------- */

typedef struct group {
    sotto_aero_statement s;
    sotto_arena scratch;
    sotto_aero_cipher *ciphers;
    sotto_aero_witness *witnesses;
    int64_t *m;
    sotto_buf proof;
} group;

static void prove(void *arg)
{
    group *g = arg;

    g->proof.len = 0;
    sotto_bench_expect(sotto_aero_prove(&g->proof, &g->s, g->witnesses, g->m, &l.entropy,
                                        &g->scratch, NULL) == SOTTO_OK,
                       "proving");
    sotto_arena_reset(&g->scratch);
}

static void verify(void *arg)
{
    group *g = arg;

    sotto_bench_expect(
        sotto_aero_verify_vartime(&g->s, sotto_buf_bytes(&g->proof), &g->scratch, NULL) == SOTTO_OK,
        "verifying");
    sotto_arena_reset(&g->scratch);
}

static void make_group(group *g, sotto_arena *arena, size_t count)
{
    size_t room = (size_t)4 << 20;

    g->s = (sotto_aero_statement){.aero = &l.aero,
                                  .a = &l.a,
                                  .b = &l.b,
                                  .count = count,
                                  .bits = 16,
                                  .norm2 = (UINT64_C(1) << 40) - 1};
    g->ciphers = sotto_arena_take_array(arena, count, sizeof *g->ciphers);
    g->witnesses = sotto_arena_take_array(arena, count, sizeof *g->witnesses);
    g->m = sotto_arena_take_array(arena, count, SOTTO_AERO_N * sizeof *g->m);
    g->proof = sotto_buf_over(sotto_arena_take(arena, room), room);
    sotto_bench_expect(g->ciphers && g->witnesses && g->m && g->proof.data, "memory");
    g->s.ciphers = g->ciphers;
    for (size_t i = 0; i < count; i++) {
        int64_t *m = g->m + i * SOTTO_AERO_N;

        for (size_t k = 1; k < SOTTO_AERO_N; k++)
            m[k] = (int64_t)(k * (i + 7) % 2000) - 1000;
        sotto_bench_expect(
            sotto_aero_draw(&l.aero, &g->witnesses[i], &l.entropy, NULL) == SOTTO_OK &&
                sotto_aero_encrypt(&l.aero, &g->ciphers[i], &l.key, &g->witnesses[i], m, NULL) ==
                    SOTTO_OK,
            "a group");
    }
}

/* What a verifier does beside the proof: the group at both points, and the paths of three trees of 10,280 leaves. */
static void evaluate(void *arg)
{
    const group *g = arg;
    const sotto_f64 points[SOTTO_AERO_POINTS] = {{3}, {5}};
    sotto_aero_sum node = {.hash = {0}}, root = {.hash = {0}};
    sotto_aero_sum_path path = {.count = 14};

    sotto_aero_value_of(node.v, g->s.ciphers, g->s.count, points);
    for (unsigned i = 0; i < 4; i++)
        sotto_bench_expect(!sotto_aero_sum_holds(&path, &node, i, LEAVES, &root, true), "a path");
}

/* An average device of 10^9, of which 10^-5 contribute 1.2 million parameters in 8 groups. Bytes are those of samples. The paper has s = 6. */
static void note_verifier(const sotto_bench *b, unsigned checks)
{
    const double check_ns = found.verify + found.evaluate, proof = found.proof_bytes;
    const double rate = 1e-5 * checks * 8;
    const double paths = 4 * 14 * 32 + 14 * 8 * SOTTO_AERO_VALUES, lists = 2 * 8 * 32 + 400;
    double ciphers = 2.0 * SOTTO_AERO_GROUP * (double)sotto_aero_poly_size(&l.aero);
    char name[64];

    if (found.verify <= 0)
        return;
    (void)snprintf(name, sizeof name, "verifier/s-%u/time", checks);
    beside(b, name, "ms", rate * check_ns * 1e-6, 15);
    (void)snprintf(name, sizeof name, "verifier/s-%u/download", checks);
    beside(b, name, "KiB", rate * (ciphers + proof + paths + lists) / 1024, 3.12);
}

static void bench_proofs(const sotto_bench *b)
{
    const sotto_aero_profile *const profiles[] = {&sotto_aero_profile_standard,
                                                  &sotto_aero_profile_high};
    size_t count = b->seconds < 0.05 ? 1 : SOTTO_AERO_GROUP;
    sotto_arena arena;
    char name[96];
    group g;

    if (b->filter && !strstr(b->filter, "proof-") && !strstr("aero/b87/", b->filter))
        return;
    sotto_arena_init(&arena, (size_t)32 << 20);
    sotto_arena_init(&g.scratch, SOTTO_AERO_PROOF_PROVER);
    make_group(&g, &arena, count);
    for (size_t i = 0; i < (count == 1 ? 1 : 2); i++) {
        const char *profile = profiles[i]->name;
        size_t size = 0;

        g.s.profile = profiles[i];
        prove(&g);
        (void)snprintf(name, sizeof name, "aero/b87/proof-%zu/%s/prove", count, profile);
        double prove_ns = sotto_bench_run(b, name, prove, &g, 1);
        (void)snprintf(name, sizeof name, "aero/b87/proof-%zu/%s/verify", count, profile);
        double ns = sotto_bench_run(b, name, verify, &g, 1);
        sotto_bench_expect(sotto_aero_proof_size(&size, &g.s, NULL) == SOTTO_OK, "a size");
        (void)snprintf(name, sizeof name, "aero/b87/proof-%zu/%s/size", count, profile);
        sotto_bench_note(b, name, "bytes", (double)size);
        (void)snprintf(name, sizeof name, "aero/b87/proof-%zu/%s/soundness", count, profile);
        sotto_bench_note(b, name, "bits", sotto_aero_profile_soundness(profiles[i]).bits);
        if (i > 0 || ns <= 0)
            continue;
        (void)snprintf(name, sizeof name, "aero/b87/values-and-paths-%zu", count);
        double evaluate_ns = sotto_bench_run(b, name, evaluate, &g, 1);
        if (count < SOTTO_AERO_GROUP)
            continue;
        found.prove = prove_ns;
        found.verify = ns;
        found.evaluate = evaluate_ns;
        found.proof_bytes = (double)size;
    }
    (void)snprintf(name, sizeof name, "aero/b87/proof-%zu/memory", count);
    found.memory = (double)g.scratch.peak / (1 << 20);
    sotto_bench_note(b, name, "MiB", found.memory);
    sotto_arena_clear(&g.scratch);
    sotto_arena_clear(&arena);
}

static void bench_transforms(const sotto_bench *b)
{
    static const char *const sets[] = {"portable", "avx2"};
    char name[64];

    for (size_t s = 0; s < 2; s++) {
        if (!sotto_ntt64_use(sets[s]) || !sotto_limb_use(sets[s]))
            continue;
        (void)snprintf(name, sizeof name, "aero/ntt-4096/64-bit/%s", sets[s]);
        sotto_bench_run(b, name, ntt, NULL, 1);
        (void)snprintf(name, sizeof name, "aero/ntt-4096/23-bit/%s", sets[s]);
        sotto_bench_run(b, name, ntt_small, NULL, 1);
    }
    sotto_bench_expect(sotto_ntt64_use(NULL) && sotto_limb_use(NULL), "the best kernels");
}

static void bench_set(const sotto_bench *b, const char *set)
{
    static sotto_aero_poly over;
    int64_t s[SOTTO_AERO_N];
    char name[64];

    memset(&over, 0, sizeof over);
    for (size_t k = 0; k < SOTTO_AERO_N; k++)
        s[k] = (int)l.secret.s[k]; /* of both signs */
    sotto_aero_add_small(&l.aero.ring, &over, s);
    sotto_aero_transform_over(&l.aero.ring, &over);
    (void)snprintf(name, sizeof name, "aero/%s/encrypt", set);
    double ns = sotto_bench_run(b, name, encrypt, NULL, 1);
    (void)snprintf(name, sizeof name, "aero/%s/add", set);
    sotto_bench_run(b, name, add, NULL, 1);
    encrypt(NULL);
    (void)snprintf(name, sizeof name, "aero/%s/decrypt", set);
    sotto_bench_run(b, name, decrypt, &over, 1);
    (void)snprintf(name, sizeof name, "aero/%s/deal-%d-of-%d", set, THRESHOLD, MEMBERS);
    double dealt = sotto_bench_run(b, name, deal, NULL, 1);
    (void)snprintf(name, sizeof name, "aero/%s/deal-seeds-%d-of-%d", set, THRESHOLD, MEMBERS);
    double seeded = sotto_bench_run(b, name, deal_seeded, NULL, 1);
    (void)snprintf(name, sizeof name, "aero/%s/read-a-sum", set);
    double sum = sotto_bench_run(b, name, read_sum, NULL, 1);
    (void)snprintf(name, sizeof name, "aero/%s/part-of-a-member", set);
    double part = sotto_bench_run(b, name, partial, NULL, 1);
    (void)snprintf(name, sizeof name, "aero/%s/draw-smudging", set);
    sotto_bench_run(b, name, draw, NULL, SOTTO_AERO_N);
    (void)snprintf(name, sizeof name, "aero/%s/bytes-a-ciphertext", set);
    sotto_bench_note(b, name, "bytes", 2 * (double)sotto_aero_poly_size(&l.aero));
    if (strcmp(set, "b87") != 0)
        return;
    found.encrypt = ns;
    found.part = part;
    found.deal = dealt;
    found.seeded = seeded;
    found.sum = sum;
}

/* ---- a key that is handed over, and the robust path ----------------------------------------------------- */

typedef struct hand {
    sotto_aero_holding *dealt, own, taken;
    const sotto_aero_holding *from[MEMBERS];
    uint32_t dealers[MEMBERS];
    sotto_aero_probe probes[MEMBERS], *all;
    bool bad[MEMBERS];
    sotto_arena scratch;
} hand;

/* What one member does: deals its share, probes what all others dealt to it, judges all probes, and takes over. */
static void hand_over(void *arg)
{
    const uint8_t seed[SOTTO_AERO_SEED] = {7};
    hand *h = arg;
    const sotto_aero_probes probes = {.at = h->all,
                                      .dealers = h->dealers,
                                      .dealer_count = MEMBERS,
                                      .old_threshold = THRESHOLD,
                                      .count = MEMBERS,
                                      .threshold = THRESHOLD};

    sotto_arena_reset(&h->scratch);
    sotto_bench_expect(sotto_aero_hand_deal(&l.aero, h->dealt, MEMBERS, THRESHOLD, &h->own,
                                            &l.entropy, NULL) == SOTTO_OK &&
                           sotto_aero_hand_probe(&l.aero, h->probes, h->from, MEMBERS, 0, seed,
                                                 NULL) == SOTTO_OK &&
                           sotto_aero_hand_judge_vartime(&l.aero, h->bad, &probes, &h->scratch,
                                                         NULL) == SOTTO_OK &&
                           sotto_aero_hand_take(&l.aero, &h->taken, h->from, h->dealers, THRESHOLD,
                                                NULL) == SOTTO_OK,
                       "a hand-over");
}

/* Probes are of zeros, which fit: judging them takes as long as judging others. */
static void bench_hand_over(const sotto_bench *b)
{
    static hand h;
    sotto_arena arena;

    if (!sotto_bench_wanted(b, "aero/b87/hand-over-45"))
        return;
    sotto_arena_init(&arena, (size_t)16 << 20);
    sotto_arena_init(&h.scratch, (size_t)64 << 20);
    h.dealt = sotto_arena_take_array(&arena, MEMBERS, sizeof *h.dealt);
    h.all = sotto_arena_take_array(&arena, MEMBERS * MEMBERS, sizeof *h.all);
    sotto_bench_expect(h.dealt && h.all, "memory");
    for (uint32_t i = 0; i < MEMBERS; i++) {
        h.from[i] = &h.dealt[i];
        h.dealers[i] = i;
    }
    found.hand_over = sotto_bench_run(b, "aero/b87/hand-over-45", hand_over, &h, 1);
    sotto_arena_clear(&h.scratch);
    sotto_arena_clear(&arena);
}

static void looks(void *arg)
{
    sotto_aero_looks *out = arg;
    const uint8_t seed[SOTTO_AERO_SEED] = {7};

    sotto_bench_expect(
        sotto_aero_looks_of(&l.aero, out, &l.cipher.c1, 1, &l.cipher.c2, seed, NULL) == SOTTO_OK,
        "looks");
}

static void point(void *arg)
{
    (void)arg;
    sotto_aero_point_of(&l.aero, &l.part, &l.shares[0], &l.cipher.c1, &l.cipher.c2);
}

static void bench_robust(const sotto_bench *b)
{
    static sotto_aero_looks out;
    double each = 0;

    each += THRESHOLD * sotto_bench_run(b, "aero/b87/robust/looks-at-a-dealer", looks, &out, 1);
    each += sotto_bench_run(b, "aero/b87/robust/point", point, NULL, 1);
    if (each > 0 && found.deal > 0)
        sotto_bench_note(b, "aero/b87/robust/member-1-ciphertext", "s",
                         1e-9 * (each + 2 * found.deal));
}

/* The table of Liu and Gupta 2023, figures 9 and 10, for 1.2 million parameters: 294 ciphertexts in 8 groups. Each is encrypted twice,
 * to promise and to reveal. Four committees open a quarter each. */
static void print_table(const sotto_bench *b)
{
    const double poly = (double)sotto_aero_poly_size(&l.aero), quarter = CIPHERTEXTS / 4.0;
    const double mib = 1 << 20;

    if (found.prove > 0 && found.encrypt > 0) {
        beside(b, "generator/time", "s", 1e-9 * (8 * found.prove + 2 * CIPHERTEXTS * found.encrypt),
               3636);
        beside(b, "generator/upload", "MiB", (2 * CIPHERTEXTS * poly + 8 * found.proof_bytes) / mib,
               101);
        beside(b, "generator/memory", "MiB", found.memory, 0);
        beside(b, "proof-check/group-of-37", "s", 1e-9 * found.verify, 0.7 * 37);
        beside(b, "proof-check/ciphertext", "ms", 1e-6 * found.verify / 37, 700);
    }
    note_verifier(b, 40);
    note_verifier(b, 6);
    if (found.part > 0 && found.seeded > 0) {
        /* One of four: it has 74 ciphertexts of two groups, at most. */
        const sotto_member_bytes member = {.committee = MEMBERS,
                                           .threshold = THRESHOLD,
                                           .committees = 4,
                                           .ciphertexts = 2 * SOTTO_AERO_GROUP,
                                           .groups = 2,
                                           .leaves = LEAVES,
                                           .noise = 280};
        const double sends = sotto_member_sends(&l.aero, &member) / mib;
        const double reads = sotto_member_reads(&l.aero, &member) / mib;

        beside(b, "committee/quarter/time", "s",
               1e-9 * (quarter * (found.part + found.sum) + found.seeded), 206);
        /* Bodies over HTTP, by the formula that serve_traffic compares with a client's. */
        beside(b, "committee/quarter/sends", "MiB", sends, 0);
        beside(b, "committee/quarter/reads", "MiB", reads, 0);
        beside(b, "committee/quarter/traffic", "MiB", sends + reads, 234);
    }
    beside(b, "hand-over/time", "s", 1e-9 * found.hand_over, 187);
    if (found.hand_over > 0)
        beside(b, "hand-over/upload", "MiB",
               MEMBERS * ((double)sotto_aero_holding_size(&l.aero) + 16) / mib, 125);
}

void sotto_bench_aero(const sotto_bench *b)
{
    static const char *const sets[] = {"b64", "b87", "b109"};

    if (b->filter && !strstr(b->filter, "aero") && !strstr("aero/", b->filter))
        return;
    for (size_t i = 0; i < 3; i++) {
        sotto_arena arena;

        sotto_arena_init(&arena, (size_t)1 << 20);
        set_up(sets[i], &arena);
        bench_set(b, sets[i]);
        if (i == 1) {
            bench_transforms(b);
            bench_proofs(b);
            bench_hand_over(b);
            bench_robust(b);
            print_table(b);
        }
        sotto_arena_clear(&arena);
    }
}
