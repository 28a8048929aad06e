#include "seal/hpke/setup.h"

#include <string.h>

sotto_status sotto_hpke_setup_send(sotto_hpke_setup *setup, sotto_buf *out,
                                   const sotto_hpke_purpose *purpose, const sotto_hpke_config *to,
                                   const sotto_ephemeral *with, sotto_err *err)
{
    const sotto_kem *kem = purpose->with.kem;

    if (kem->public_size > out->cap - out->len)
        return sotto_fail(err, SOTTO_TOO_LARGE, "hpke: enc does not fit the output");
    SOTTO_TRY(sotto_dhkem_encap(setup->shared_secret, out->data + out->len, kem, with,
                                to->public_key, err));
    sotto_hpke_schedule_secret(&setup->secret, purpose, setup->shared_secret);
    out->len += kem->public_size;
    return SOTTO_OK;
}

sotto_status sotto_hpke_setup_send_from_ikm(sotto_hpke_setup *setup, sotto_buf *out,
                                            const sotto_hpke_purpose *purpose,
                                            const sotto_hpke_config *to, sotto_bytes ikm,
                                            sotto_err *err)
{
    sotto_ephemeral with = {.agreed = false};

    sotto_status status = sotto_dhkem_derive_private(with.private_key, purpose->with.kem, ikm, err);
    if (status == SOTTO_OK)
        status = sotto_hpke_setup_send(setup, out, purpose, to, &with, err);
    sotto_wipe(&with, sizeof with);
    return status;
}

sotto_status sotto_hpke_receiver_init(sotto_hpke_receiver *receiver, const sotto_hpke_key *key,
                                      sotto_hpke_suite suite, sotto_bytes info, sotto_err *err)
{
    memset(receiver, 0, sizeof *receiver);
    SOTTO_TRY(sotto_hpke_purpose_init(&receiver->purpose, suite, info, err));
    if (key->kem != suite.kem)
        return sotto_fail(err, SOTTO_MALFORMED, "key: of KEM 0x%04x, the suite has 0x%04x",
                          key->kem, suite.kem);
    SOTTO_TRY(sotto_dhkem_receiver_init(&receiver->kem, receiver->purpose.with.kem,
                                        sotto_bytes_of(key->private_key, key->private_key_len),
                                        err));
    if (!receiver->purpose.with.aead)
        return SOTTO_OK;
    return sotto_aead_init(&receiver->aead, receiver->purpose.with.aead, SOTTO_AEAD_OPEN, err);
}

void sotto_hpke_receiver_clear(sotto_hpke_receiver *receiver)
{
    sotto_aead_clear(&receiver->aead);
    sotto_dhkem_receiver_clear(&receiver->kem);
    sotto_wipe(receiver, sizeof *receiver);
}

sotto_status sotto_hpke_setup_receive(sotto_hpke_setup *setup, sotto_hpke_receiver *receiver,
                                      const sotto_agreement *with, sotto_err *err)
{
    SOTTO_TRY(sotto_dhkem_decap(&receiver->kem, setup->shared_secret, with, err));
    sotto_hpke_schedule_secret(&setup->secret, &receiver->purpose, setup->shared_secret);
    return SOTTO_OK;
}
