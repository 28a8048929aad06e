#include "crypto/xof.h"

#include <assert.h>

enum { DOMAIN_XOF = 1 };

static void add_dst(sotto_turboshake *x, sotto_bytes dst)
{
    const uint8_t len[2] = {(uint8_t)dst.len, (uint8_t)(dst.len >> 8)};

    assert(dst.len <= SOTTO_XOF_MAX_DST);
    sotto_turboshake_add_common(x, len, sizeof len);
    sotto_turboshake_add_common(x, dst.data, dst.len);
}

void sotto_xof_turboshake128_init(sotto_turboshake *x, unsigned lanes, sotto_bytes dst,
                                  const uint8_t *const *seeds, const uint8_t *const *binder_head,
                                  size_t binder_head_len, const uint8_t *const *binder_body,
                                  size_t binder_body_len)
{
    const uint8_t seed_len = SOTTO_XOF_SEED_SIZE;

    sotto_turboshake_start(x, SOTTO_TURBOSHAKE128_RATE, lanes);
    add_dst(x, dst);
    sotto_turboshake_add_common(x, &seed_len, sizeof seed_len);
    sotto_turboshake_add(x, seeds, SOTTO_XOF_SEED_SIZE);
    sotto_turboshake_add(x, binder_head, binder_head_len);
    sotto_turboshake_add(x, binder_body, binder_body_len);
    sotto_turboshake_finish(x, DOMAIN_XOF);
}
