/* Key configurations as gateways publish them (RFC 9458, 3). */
#include "seal/ohttp/ohttp.h"

#include "seal/hpke/suite.h"

/* The first pair that is ours, behind the KEM that is. */
static void pick_pair(sotto_hpke_config *config, sotto_bytes pairs)
{
    sotto_reader in = sotto_reader_over(pairs);

    while (!config->supported && sotto_reader_left(&in) > 0) {
        sotto_hpke_sizes sizes;

        config->suite.kdf = (uint16_t)sotto_read_uint(&in, 2);
        config->suite.aead = (uint16_t)sotto_read_uint(&in, 2);
        config->supported =
            sotto_hpke_suite_sizes(&sizes, config->suite, NULL) == SOTTO_OK && sizes.aead_key > 0;
    }
}

sotto_status sotto_ohttp_key_decode(sotto_hpke_config *config, sotto_bytes wire, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);
    const sotto_kem *kem;

    *config = (sotto_hpke_config){.id = (uint8_t)sotto_read_uint(&in, 1)};
    config->suite.kem = (uint16_t)sotto_read_uint(&in, 2);
    kem = sotto_kem_find(config->suite.kem);
    if (!kem && !in.short_read)
        return SOTTO_OK; /* the length of its public key is not known, so nothing behind it is either */
    config->public_key = sotto_read_bytes(&in, kem ? kem->public_size : 0);
    const sotto_bytes pairs = sotto_read_opaque16(&in);
    SOTTO_TRY(sotto_reader_finish(&in, "OHTTP key", err));
    if (pairs.len == 0 || pairs.len % 4 != 0)
        return sotto_fail(err, SOTTO_MALFORMED, "OHTTP key: %zu bytes of symmetric algorithms",
                          pairs.len);
    SOTTO_TRY(sotto_kem_check_public(kem, config->public_key, "OHTTP key: public key", err));
    pick_pair(config, pairs);
    return SOTTO_OK;
}

sotto_status sotto_ohttp_keys_decode(sotto_hpke_config *configs, size_t cap, size_t *count,
                                     sotto_bytes wire, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);
    size_t found = 0;

    *count = 0;
    if (wire.len == 0)
        return sotto_fail(err, SOTTO_MALFORMED, "OHTTP keys: empty");
    for (; sotto_reader_left(&in) > 0; found++) {
        const sotto_bytes one = sotto_read_opaque16(&in);

        if (in.short_read)
            return sotto_fail(err, SOTTO_MALFORMED, "OHTTP keys: too short");
        if (found == cap)
            return sotto_fail(err, SOTTO_TOO_LARGE, "OHTTP keys: more than %zu", cap);
        SOTTO_TRY(sotto_ohttp_key_decode(&configs[found], one, err));
    }
    *count = found;
    return SOTTO_OK;
}

sotto_status sotto_ohttp_keys_encode(sotto_buf *out, const sotto_hpke_config *configs, size_t count,
                                     sotto_err *err)
{
    enum { FIXED = 1 + 2 + 2 + 4 };
    sotto_writer w = sotto_writer_on(out);

    for (size_t i = 0; i < count; i++) {
        const sotto_hpke_config *c = &configs[i];

        sotto_write_uint(&w, FIXED + c->public_key.len, 2);
        sotto_write_uint(&w, c->id, 1);
        sotto_write_uint(&w, c->suite.kem, 2);
        sotto_write_bytes(&w, c->public_key);
        sotto_write_uint(&w, 4, 2);
        sotto_write_uint(&w, c->suite.kdf, 2);
        sotto_write_uint(&w, c->suite.aead, 2);
    }
    return sotto_writer_finish(&w, "OHTTP keys", err);
}
