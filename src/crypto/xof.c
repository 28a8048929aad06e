#include "crypto/xof.h"

#include <string.h>

enum { DOMAIN_XOF = 1 };

/* le16(len dst) || dst || le8(len seed). What is short is gathered first, since a short message costs as
 * much by the number of its pieces as by their length; all of it is public. */
static void add_prefix(sotto_turboshake *x, sotto_bytes dst)
{
    uint8_t head[128];
    size_t len = 2;

    head[0] = (uint8_t)dst.len;
    head[1] = (uint8_t)(dst.len >> 8);
    if (dst.len > sizeof head - 3) {
        sotto_turboshake_add_common(x, head, len);
        sotto_turboshake_add_common(x, dst.data, dst.len);
        len = 0;
    } else if (dst.len > 0) {
        memcpy(head + len, dst.data, dst.len);
        len += dst.len;
    }
    head[len++] = SOTTO_XOF_SEED_SIZE;
    sotto_turboshake_add_common(x, head, len);
}

/* All of the message but the binder's body. */
static inline void add_all_but_body(sotto_turboshake *x, unsigned lanes, sotto_bytes dst,
                                    const uint8_t *const *seeds, const uint8_t *const *binder_head,
                                    size_t binder_head_len)
{
    sotto_turboshake_start(x, SOTTO_TURBOSHAKE128_RATE, lanes);
    add_prefix(x, dst);
    sotto_turboshake_add(x, seeds, SOTTO_XOF_SEED_SIZE);
    sotto_turboshake_add(x, binder_head, binder_head_len);
}

void sotto_xof_turboshake128_init(sotto_turboshake *x, unsigned lanes, sotto_bytes dst,
                                  const uint8_t *const *seeds, const uint8_t *const *binder_head,
                                  size_t binder_head_len, const uint8_t *const *binder_body,
                                  size_t binder_body_len)
{
    add_all_but_body(x, lanes, dst, seeds, binder_head, binder_head_len);
    sotto_turboshake_add(x, binder_body, binder_body_len);
    sotto_turboshake_finish(x, DOMAIN_XOF);
}

#ifndef __OPTIMIZE_SIZE__

void sotto_xof_turboshake128_begin(sotto_turboshake *x, unsigned lanes, sotto_bytes dst,
                                   const uint8_t *const *seeds, const uint8_t *const *binder_head,
                                   size_t binder_head_len)
{
    add_all_but_body(x, lanes, dst, seeds, binder_head, binder_head_len);
}

void sotto_xof_turboshake128_end(sotto_turboshake *x)
{
    sotto_turboshake_finish(x, DOMAIN_XOF);
}

#endif
