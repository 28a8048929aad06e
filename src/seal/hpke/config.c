/* Key configurations as DAP writes them (draft-ietf-ppm-dap, "HPKE Configuration Request"). */
#include "seal/hpke/config.h"

#include "seal/hpke/suite.h"

static bool supported(sotto_hpke_suite suite)
{
    sotto_hpke_algorithms found;

    return sotto_hpke_algorithms_find(&found, suite, NULL) == SOTTO_OK;
}

sotto_hpke_config sotto_hpke_config_of(const sotto_hpke_key *key, uint8_t id, uint16_t kdf,
                                       uint16_t aead)
{
    const sotto_hpke_suite suite = {key->kem, kdf, aead};
    sotto_hpke_config config = {
        .id = id,
        .supported = supported(suite),
        .suite = suite,
        .public_key = sotto_bytes_of(key->public_key, key->public_key_len),
    };
    return config;
}

void sotto_hpke_config_read(sotto_reader *in, sotto_hpke_config *config)
{
    config->id = (uint8_t)sotto_read_uint(in, 1);
    config->suite.kem = (uint16_t)sotto_read_uint(in, 2);
    config->suite.kdf = (uint16_t)sotto_read_uint(in, 2);
    config->suite.aead = (uint16_t)sotto_read_uint(in, 2);
    config->public_key = sotto_read_opaque16(in);
    config->supported = supported(config->suite);
}

static sotto_status check_config(const sotto_hpke_config *config, sotto_err *err)
{
    const sotto_kem *kem = sotto_kem_find(config->suite.kem);

    if (config->public_key.len == 0)
        return sotto_fail(err, SOTTO_MALFORMED, "HPKE config: public_key: empty");
    /* For an unknown KEM every length is accepted. */
    return kem ? sotto_kem_check_public(kem, config->public_key, "HPKE config: public_key", err)
               : SOTTO_OK;
}

sotto_status sotto_hpke_config_decode(sotto_hpke_config *config, sotto_bytes wire, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);

    sotto_hpke_config_read(&in, config);
    SOTTO_TRY(sotto_reader_finish(&in, "HPKE config", err));
    return check_config(config, err);
}

void sotto_hpke_config_write(sotto_writer *w, const sotto_hpke_config *config)
{
    sotto_write_uint(w, config->id, 1);
    sotto_write_uint(w, config->suite.kem, 2);
    sotto_write_uint(w, config->suite.kdf, 2);
    sotto_write_uint(w, config->suite.aead, 2);
    sotto_write_opaque16(w, config->public_key);
}

sotto_status sotto_hpke_config_encode(sotto_buf *out, const sotto_hpke_config *config,
                                      sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_hpke_config_write(&w, config);
    return sotto_writer_finish(&w, "HPKE config", err);
}

sotto_status sotto_hpke_config_list_decode(sotto_hpke_config *configs, size_t cap, size_t *count,
                                           sotto_bytes wire, sotto_err *err)
{
    sotto_reader outer = sotto_reader_over(wire);
    sotto_reader in = sotto_reader_over(sotto_read_opaque16(&outer));
    size_t found = 0;

    *count = 0;
    SOTTO_TRY(sotto_reader_finish(&outer, "HPKE config list", err));
    if (sotto_reader_left(&in) == 0)
        return sotto_fail(err, SOTTO_MALFORMED, "HPKE config list: empty");
    for (; sotto_reader_left(&in) > 0; found++) {
        if (found == cap)
            return sotto_fail(err, SOTTO_TOO_LARGE, "HPKE config list: more than %zu", cap);
        sotto_hpke_config_read(&in, &configs[found]);
        if (in.short_read)
            return sotto_fail(err, SOTTO_MALFORMED, "HPKE config %zu of its list: too short",
                              found);
        SOTTO_TRY(check_config(&configs[found], err));
    }
    *count = found;
    return SOTTO_OK;
}

sotto_status sotto_hpke_config_list_encode(sotto_buf *out, const sotto_hpke_config *configs,
                                           size_t count, sotto_err *err)
{
    enum { FIXED = 1 + 2 + 2 + 2 + 2 };
    sotto_writer w = sotto_writer_on(out);
    size_t len = 0;

    for (size_t i = 0; i < count; i++) {
        /* Refused one by one, so that no sum of lengths can wrap. */
        if (configs[i].public_key.len > UINT16_MAX ||
            (len += FIXED + configs[i].public_key.len) > UINT16_MAX)
            return sotto_fail(err, SOTTO_TOO_LARGE, "HPKE config list: more than %u bytes",
                              (unsigned)UINT16_MAX);
    }
    sotto_write_uint(&w, len, 2);
    for (size_t i = 0; i < count; i++)
        sotto_hpke_config_write(&w, &configs[i]);
    return sotto_writer_finish(&w, "HPKE config list", err);
}

sotto_status sotto_hpke_config_pick(const sotto_hpke_config **picked,
                                    const sotto_hpke_config *configs, size_t count, sotto_err *err)
{
    *picked = NULL;
    for (size_t i = 0; i < count && !*picked; i++)
        if (configs[i].supported && configs[i].suite.aead != SOTTO_HPKE_AEAD_EXPORT_ONLY)
            *picked = &configs[i];
    return *picked
               ? SOTTO_OK
               : sotto_fail(err, SOTTO_MISSING, "HPKE configs: none of %zu is supported", count);
}
