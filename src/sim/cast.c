/* Who takes part, with all their keys from one seed. */
#include "sim/net_internal.h"

#include "aggregate/shared/decryptors.h"

#include <string.h>

sotto_status sotto_sim_cast_init(sotto_sim_cast *cast, uint32_t count, uint64_t seed,
                                 sotto_arena *arena, sotto_err *err)
{
    uint8_t(*keys)[SOTTO_SIGN_PUBLIC] = sotto_arena_take_array(arena, count, sizeof *keys);
    uint8_t secret[SOTTO_SIGN_SEED];
    sotto_sim_random random;

    memset(cast, 0, sizeof *cast);
    cast->clients = sotto_arena_take_array(arena, count, sizeof *cast->clients);
    if (!cast->clients || !keys)
        return sotto_sim_no_memory(err);
    sotto_sim_random_init(&random, seed);
    for (uint32_t i = 0; i <= count; i++) {
        sotto_signer *signer = i < count ? &cast->clients[i] : &cast->server;

        sotto_sim_random_bytes(&random, secret, sizeof secret);
        SOTTO_TRY(sotto_signer_init(signer, secret, err));
        memcpy(i < count ? keys[i] : cast->registry.server, signer->public_key, SOTTO_SIGN_PUBLIC);
    }
    cast->registry.keys = (const uint8_t(*)[SOTTO_SIGN_PUBLIC])keys;
    cast->registry.count = count;
    return SOTTO_OK;
}

void sotto_sim_cast_clear(sotto_sim_cast *cast)
{
    for (uint64_t i = 0; cast->secrets && i < cast->registry.count; i++) {
        sotto_dh_clear(&cast->secrets[i].pair);
        sotto_dh_clear(&cast->secrets[i].channel);
    }
    if (cast->decryptors)
        sotto_decryptors_close(cast->decryptors);
    for (uint64_t i = 0; i < cast->registry.count; i++)
        sotto_signer_clear(&cast->clients[i]);
    sotto_signer_clear(&cast->server);
}

sotto_status sotto_sim_cast_agree(sotto_sim_cast *cast, uint64_t seed, sotto_arena *arena,
                                  sotto_err *err)
{
    size_t count = (size_t)cast->registry.count;
    uint8_t(*pair)[32] = sotto_arena_take_array(arena, count, sizeof *pair);
    uint8_t(*channel)[32] = sotto_arena_take_array(arena, count, sizeof *channel);
    const sotto_kem *kem = sotto_kem_find(SOTTO_KEM_X25519);
    sotto_sim_random random;
    uint8_t secret[32];

    cast->secrets = sotto_arena_take_array(arena, count, sizeof *cast->secrets);
    if (!pair || !channel || !cast->secrets)
        return sotto_sim_no_memory(err);
    sotto_sim_random_init(&random, seed ^ UINT64_C(0x5eed));
    for (size_t i = 0; i < count; i++) {
        sotto_self_secrets *s = &cast->secrets[i];

        sotto_sim_random_bytes(&random, secret, sizeof secret);
        SOTTO_TRY(sotto_dh_init(&s->pair, kem, sotto_bytes_of(secret, sizeof secret), err));
        sotto_sim_random_bytes(&random, secret, sizeof secret);
        SOTTO_TRY(sotto_dh_init(&s->channel, kem, sotto_bytes_of(secret, sizeof secret), err));
        memcpy(pair[i], s->pair.public_key, 32);
        memcpy(channel[i], s->channel.public_key, 32);
        if (count > SOTTO_SIM_MOST_REMEMBERED)
            continue;
        s->agreed = sotto_arena_take_array(arena, count, sizeof *s->agreed);
        s->known = sotto_arena_take(arena, count);
        if (!s->agreed || !s->known)
            return sotto_sim_no_memory(err);
    }
    cast->registry.pair = (const uint8_t(*)[32])pair;
    cast->registry.channel = (const uint8_t(*)[32])channel;
    return SOTTO_OK;
}

/* ---- a committee ---------------------------------------------------------------------------------------- */

static sotto_status deal(sotto_sim_cast *cast, sotto_decryptors_record *r, uint64_t seed,
                         sotto_err *err)
{
    uint32_t threshold = sotto_decryptors_threshold(r->count);
    sotto_scalar c[SOTTO_DECRYPTORS_MOST], x, share;
    uint8_t secret[32] = {0};
    sotto_keystream stream;
    sotto_tdh2 t;

    memcpy(secret, &seed, sizeof seed);
    SOTTO_TRY(sotto_tdh2_init(&t, err));
    SOTTO_TRY(sotto_keystream_init(&stream, err));
    SOTTO_TRY(sotto_keystream_seed(&stream, secret, err));
    for (uint32_t i = 0; i < threshold; i++)
        SOTTO_TRY(sotto_scalar_draw(&t.group, &c[i], &stream, err));
    sotto_point_multiply(&t.group, t.at[0], &c[0], NULL);
    bool whole = sotto_point_encode_wide(&t.group, r->key, t.at[0]);
    for (uint32_t i = 0; i < r->count; i++) {
        sotto_scalar_set(&t.group, &x, i + 1);
        share = c[threshold - 1];
        for (uint32_t k = threshold - 1; k-- > 0;) {
            sotto_scalar_multiply(&t.group, &share, &share, &x);
            sotto_scalar_add(&t.group, &share, &share, &c[k]);
        }
        memcpy(cast->secrets[r->members[i]].share, share.be, 32);
        sotto_point_multiply(&t.group, t.at[0], &share, NULL);
        whole = sotto_point_encode_wide(&t.group, r->verify[i], t.at[0]) && whole;
    }
    sotto_status status = sotto_group_finish(&t.group, err);
    sotto_keystream_clear(&stream);
    sotto_tdh2_clear(&t);
    return whole ? status : SOTTO_BUG;
}

sotto_status sotto_sim_cast_decryptors(sotto_sim_cast *cast, uint32_t count,
                                       const sotto_round *round, uint64_t seed, sotto_arena *arena,
                                       sotto_err *err)
{
    sotto_decryptors_record r = {.epoch = round->epoch, .count = count};
    uint8_t digest[32];

    memcpy(r.session, round->session, sizeof r.session);
    r.members = sotto_arena_take_array(arena, count, sizeof *r.members);
    r.verify = sotto_arena_take_array(arena, count, sizeof *r.verify);
    r.signatures = sotto_arena_take_array(arena, count, sizeof *r.signatures);
    r.is_signed = sotto_arena_take_array(arena, count, sizeof *r.is_signed);
    cast->decryptors = sotto_arena_take(arena, sizeof *cast->decryptors);
    if (!r.members || !r.verify || !r.signatures || !r.is_signed || !cast->decryptors)
        return sotto_sim_no_memory(err);
    SOTTO_TRY(sotto_decryptors_draw(r.members, count, (uint32_t)cast->registry.count, round->beacon,
                                    round->session, round->epoch, arena, err));
    SOTTO_TRY(deal(cast, &r, seed, err));
    sotto_decryptors_digest(&r, digest);
    for (uint32_t i = 0; i < sotto_decryptors_quorum(count); i++) {
        r.is_signed[i] = true;
        SOTTO_TRY(
            sotto_decryptors_sign(digest, r.signatures[i], &cast->clients[r.members[i]], err));
    }
    return sotto_decryptors_open(cast->decryptors, &r, &cast->registry, round->beacon, arena, err);
}
