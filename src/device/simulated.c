#include "device/simulated.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/rule.h"
#include "crypto/hash.h"
#include "device/device_internal.h"

#include <string.h>

enum { PROOFS = 16, DIGEST = 32, LISTS = 1 << 20 };

typedef struct bundle {
    uint8_t digest[DIGEST];
    uint64_t cosigned; /* when, which follows from the signatures */
} bundle;

struct sotto_proved {
    sotto_prover prover;
    bundle bundles[PROOFS]; /* the oldest makes room */
    size_t count;           /* that were ever kept   */
    sotto_issuer_keys keys; /* of the first list; issuer is NULL before */
    uint8_t list[DIGEST];
    sotto_arena arena;
};

/* ---- what was proved -------------------------------------------------------------------------------------- */

/* Of both, each behind its length: a proof is of these bytes, with the keys of this policy. */
static void digest_of(uint8_t out[DIGEST], sotto_bytes policy_text, sotto_bytes bytes)
{
    const sotto_bytes parts[] = {policy_text, bytes};
    sotto_hash hash;

    sotto_hash_init(&hash, SOTTO_SHA256);
    for (size_t i = 0; i < 2; i++) {
        const uint64_t len = parts[i].len;

        sotto_hash_update(&hash, sotto_bytes_of(&len, sizeof len));
        sotto_hash_update(&hash, parts[i]);
    }
    sotto_hash_final(&hash, out);
}

static bool is_same(const uint8_t kept[DIGEST], const uint8_t digest[DIGEST])
{
    if (SOTTO_RULE(proved_these_bytes) && memcmp(kept, digest, DIGEST) != 0)
        return false;
    return true;
}

static sotto_status prove_bundle(void *context, sotto_bundle_facts *facts, sotto_bytes policy_text,
                                 sotto_bytes bytes, const sotto_log_trust *trust, sotto_err *err)
{
    sotto_proved *p = context;
    uint8_t digest[DIGEST];

    digest_of(digest, policy_text, bytes);
    for (size_t i = 0; i < PROOFS && i < p->count; i++)
        if (is_same(p->bundles[i].digest, digest)) {
            facts->checkpoint.cosigned = p->bundles[i].cosigned;
            return SOTTO_OK;
        }
    SOTTO_TRY(sotto_bundle_verify(facts, bytes, trust, err));
    bundle *kept = &p->bundles[p->count++ % PROOFS];
    memcpy(kept->digest, digest, DIGEST);
    kept->cosigned = facts->checkpoint.cosigned;
    return SOTTO_OK;
}

/* The first list, if there is room for it. */
static void keep_keys(sotto_proved *p, const sotto_issuer_keys *read, const uint8_t digest[DIGEST])
{
    const size_t size = read->count * sizeof *read->keys, len = strlen(read->issuer) + 1;
    sotto_listed_key *keys = sotto_arena_take(&p->arena, size + 1);
    char *issuer = sotto_arena_take(&p->arena, len);

    if (!keys || !issuer)
        return;
    if (size > 0)
        memcpy(keys, read->keys, size);
    memcpy(issuer, read->issuer, len);
    memcpy(p->list, digest, DIGEST);
    p->keys = (sotto_issuer_keys){issuer, read->serial, keys, read->count};
}

static sotto_status prove_keys(void *context, sotto_issuer_keys *out, sotto_bytes policy_text,
                               const sotto_policy *policy, sotto_bytes file, sotto_arena *arena,
                               sotto_err *err)
{
    sotto_proved *p = context;
    uint8_t digest[DIGEST];

    digest_of(digest, policy_text, file);
    if (p->keys.issuer && is_same(p->list, digest)) {
        *out = p->keys;
        return SOTTO_OK;
    }
    SOTTO_TRY(sotto_issuer_keys_read(out, policy, file, arena, err));
    if (!p->keys.issuer)
        keep_keys(p, out, digest);
    return SOTTO_OK;
}

sotto_proved *sotto_proved_within(size_t bytes)
{
    sotto_proved *proved = sotto_alloc(sizeof *proved);

    if (!proved)
        return NULL;
    proved->prover = (sotto_prover){prove_bundle, prove_keys, proved};
    sotto_arena_init(&proved->arena, bytes);
    return proved;
}

sotto_proved *sotto_proved_new(void)
{
    return sotto_proved_within(LISTS);
}

void sotto_proved_free(sotto_proved *proved)
{
    if (!proved)
        return;
    sotto_arena_clear(&proved->arena);
    sotto_release(proved, sizeof *proved);
}

const sotto_prover *sotto_proved_prover(const sotto_proved *proved)
{
    return &proved->prover;
}

/* ---- requests for tokens ---------------------------------------------------------------------------------- */

static sotto_status take_request(void *stock, sotto_wallet_row *row, sotto_type2_key *key,
                                 sotto_type2_pending *pending, uint8_t request[SOTTO_TYPE2_REQUEST])
{
    uint8_t challenge[SOTTO_TOKEN_DIGEST], *secret = row->secret;
    sotto_token_draft asked;

    SOTTO_TRY(sotto_device_challenge(challenge, row, NULL));
    SOTTO_TRY(sotto_token_stock_take(stock, &asked, key, challenge, NULL));
    /* seed | salt | blind */
    memcpy(secret, asked.seed, sizeof asked.seed);
    memcpy(secret + sizeof asked.seed, asked.random.salt, sizeof asked.random.salt);
    memcpy(secret + sizeof asked.seed + sizeof asked.random.salt, asked.random.blind,
           sizeof asked.random.blind);
    row->len = SOTTO_WALLET_ASKED;
    *pending = asked.pending;
    memcpy(request, asked.request, sizeof asked.request);
    sotto_wipe(&asked, sizeof asked);
    return SOTTO_OK;
}

sotto_token_source sotto_token_source_of(sotto_token_stock *stock)
{
    return (sotto_token_source){take_request, stock};
}
