/* The verification key from a seed and the task id (DAP, "VDAF Verification Key Requirements"; taskprov). */
#include "dap/dap.h"

#include "crypto/hkdf.h"

sotto_status sotto_dap_verify_key_derive(uint8_t out[SOTTO_DAP_VERIFY_KEY_SIZE], sotto_bytes seed,
                                         const uint8_t task_id[SOTTO_TASK_ID_SIZE],
                                         sotto_dap_key_salt salt, sotto_err *err)
{
    static const char dap[] = "verify_key", taskprov[] = "dap-taskprov";
    const sotto_bytes info = sotto_bytes_of(task_id, SOTTO_TASK_ID_SIZE);
    uint8_t hashed[32], prk[32];
    sotto_hmac_key key;
    sotto_status status;

    if (seed.len < SOTTO_DAP_VERIFY_KEY_SIZE)
        return sotto_fail(err, SOTTO_MALFORMED, "verification key: the seed has %zu of %d bytes",
                          seed.len, SOTTO_DAP_VERIFY_KEY_SIZE);
    sotto_hash_once(hashed, SOTTO_SHA256, sotto_bytes_of(taskprov, sizeof taskprov - 1));
    sotto_hmac_key_init(&key, SOTTO_SHA256,
                        salt == SOTTO_DAP_SALT_TASKPROV ? sotto_bytes_of(hashed, sizeof hashed)
                                                        : sotto_bytes_of(dap, sizeof dap - 1));
    sotto_hkdf_extract(prk, &key, &seed, 1);
    sotto_hmac_key_init(&key, SOTTO_SHA256, sotto_bytes_of(prk, sizeof prk));
    status = sotto_hkdf_expand(out, SOTTO_DAP_VERIFY_KEY_SIZE, &key, &info, 1, err);
    sotto_wipe(&key, sizeof key);
    sotto_wipe(prk, sizeof prk);
    return status;
}
