#include "seal/hpke/inspect.h"

#include <string.h>

#include "seal/hpke/setup.h"

static sotto_status fill(sotto_hpke_inspection *seen, const sotto_hpke_purpose *purpose,
                         const sotto_hpke_setup *setup, sotto_err *err)
{
    *seen = (sotto_hpke_inspection){
        .shared_secret_len = purpose->with.kem->secret_size,
        .key_schedule_context_len = purpose->context_len,
        .secret_len = sotto_hash_size(purpose->with.kdf),
    };
    memcpy(seen->shared_secret, setup->shared_secret, seen->shared_secret_len);
    memcpy(seen->key_schedule_context, purpose->key_schedule_context, purpose->context_len);
    memcpy(seen->secret, setup->secret.bytes, seen->secret_len);
    SOTTO_TRY(sotto_hpke_schedule_exporter(seen->exporter_secret, purpose, &setup->secret, err));
    if (!purpose->with.aead)
        return SOTTO_OK;
    seen->key_len = purpose->with.aead->key_size;
    seen->base_nonce_len = SOTTO_AEAD_NONCE_SIZE;
    return sotto_hpke_schedule_aead(seen->key, seen->base_nonce, purpose, &setup->secret, err);
}

sotto_status sotto_hpke_inspect_receive(sotto_hpke_inspection *seen, sotto_hpke_receiver *receiver,
                                        sotto_bytes enc, sotto_err *err)
{
    sotto_hpke_setup setup;

    SOTTO_TRY(sotto_hpke_setup_receive(&setup, receiver, &(sotto_agreement){.peer = enc}, err));
    sotto_status status = fill(seen, &receiver->purpose, &setup, err);
    sotto_wipe(&setup, sizeof setup);
    return status;
}

sotto_status sotto_hpke_inspect_send(sotto_hpke_inspection *seen, sotto_buf *enc,
                                     const sotto_hpke_config *to, sotto_bytes ephemeral_private,
                                     sotto_bytes info, sotto_err *err)
{
    sotto_hpke_purpose purpose;
    sotto_hpke_setup setup;

    SOTTO_TRY(sotto_hpke_purpose_init(&purpose, to->suite, info, err));
    if (ephemeral_private.len != purpose.with.kem->private_size)
        return sotto_fail(err, SOTTO_MALFORMED, "ephemeral key: %zu bytes", ephemeral_private.len);
    sotto_ephemeral with = {.agreed = false};
    memcpy(with.private_key, ephemeral_private.data, ephemeral_private.len);
    sotto_status status = sotto_hpke_setup_send(&setup, enc, &purpose, to, &with, err);
    if (status == SOTTO_OK)
        status = fill(seen, &purpose, &setup, err);
    sotto_wipe(&with, sizeof with);
    sotto_wipe(&setup, sizeof setup);
    return status;
}
