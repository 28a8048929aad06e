#include "crypto/gcm.h"

#include "base/backends.h"
#include "base/cpu.h"

#include <limits.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

static const sotto_gcm_set none = {"none", NULL};

static const sotto_backend rows[] = {
#if defined(__x86_64__)
    {SOTTO_CPU_VAES | SOTTO_CPU_AVX512VL, &sotto_gcm_vaes},
#endif
    {0, &none},
};
static sotto_backends backends = {rows, sizeof rows / sizeof rows[0], NULL};

#if defined(__x86_64__)
/* What base/cpu.h does not tell: it is in a device's library, which has no room for it. */
static bool multiplies_wide(void)
{
    unsigned a, b, c, d;

    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_AVX512BW) && (c & bit_VPCLMULQDQ);
}
#else
static bool multiplies_wide(void)
{
    return true;
}
#endif

static const sotto_gcm_set *best(void)
{
    if (!atomic_load_explicit(&backends.chosen, memory_order_relaxed) && !multiplies_wide())
        (void)sotto_backends_use(&backends, none.name);
    return sotto_backends_chosen(&backends);
}

bool sotto_gcm_use(const char *name)
{
    if (multiplies_wide())
        return sotto_backends_use(&backends, name);
    return (!name || strcmp(name, none.name) == 0) && sotto_backends_use(&backends, none.name);
}

const char *sotto_gcm_name(void)
{
    return best()->name;
}

bool sotto_gcm_opens(const sotto_aead_info *info, size_t len)
{
    return info->id != SOTTO_CHACHA20_POLY1305 && len >= SOTTO_GCM_LEAST && len <= INT_MAX &&
           best()->open;
}

sotto_status sotto_gcm_open(sotto_buf *out, const sotto_aead_info *info, const uint8_t *key,
                            const uint8_t nonce[SOTTO_AEAD_NONCE_SIZE], sotto_bytes aad,
                            sotto_bytes sealed, sotto_err *err)
{
    uint8_t tag[SOTTO_AEAD_TAG_SIZE];
    bool holds;

    if (!sotto_gcm_opens(info, sealed.len) || aad.len > INT_MAX)
        return sotto_fail(err, SOTTO_BUG, "gcm: not a text for this one");
    sealed.len -= sizeof tag;
    if (sealed.len > out->cap - out->len)
        return sotto_fail(err, SOTTO_TOO_LARGE, "aead: %zu bytes do not fit the output",
                          sealed.len);
    best()->open(out->data + out->len, tag, key, info->key_size, nonce, aad, sealed);
    holds = sotto_bytes_equal(sotto_bytes_of(tag, sizeof tag),
                              sotto_bytes_of(sealed.data + sealed.len, sizeof tag));
    sotto_wipe(tag, sizeof tag);
    if (!holds) {
        sotto_wipe(out->data + out->len, sealed.len);
        return sotto_fail(err, SOTTO_REJECTED, "ciphertext: does not open");
    }
    out->len += sealed.len;
    return SOTTO_OK;
}
