/* A relay and a gateway. The relay sees who sends and not what; the gateway opens what the relay forwards and sees nobody. */
#include "demo.h"

#include "base/arena.h"
#include "seal/ohttp/bhttp.h"
#include "seal/ohttp/ohttp.h"
#include "sotto/random.h"

#include <stdio.h>

/* Devices answer many at a time, so that a batch is full at once; the last ones wait for the delay. */
sotto_status demo_relay_start(demo *d, sotto_err *err)
{
    uint8_t ikm[SOTTO_HPKE_MAX_PRIVATE_KEY];
    char line[200];

    (void)snprintf(line, sizeof line, "http://127.0.0.1:%u/ http://127.0.0.1:%u/\n", d->leader.port,
                   d->leader.port);
    SOTTO_TRY(demo_write_file(d, "targets.txt", line, err));
    SOTTO_TRY(
        demo_process_start(d, &d->gateway, "gateway", "workers = 1\ntargets = targets.txt\n", err));
    (void)snprintf(line, sizeof line, "demo http://127.0.0.1:%u/.well-known/ohttp-gateway\n",
                   d->gateway.port);
    SOTTO_TRY(demo_write_file(d, "gateways.txt", line, err));
    SOTTO_TRY(demo_process_start(
        d, &d->relay, "relay",
        "workers = 1\ngateways = gateways.txt\nmix_least = 16\nmix_delay_ms = 100\n", err));
    SOTTO_TRY(sotto_random_bytes(ikm, sizeof ikm, err));
    SOTTO_TRY(sotto_hpke_key_derive(&d->hostile_gateway, SOTTO_HPKE_KEM_X25519,
                                    sotto_bytes_of(ikm, sizeof ikm), err));
    sotto_wipe(ikm, sizeof ikm);
    return SOTTO_OK;
}

sotto_hpke_config demo_hostile_gateway(const demo *d)
{
    return sotto_hpke_config_of(&d->hostile_gateway, 1, SOTTO_HPKE_KDF_SHA256,
                                SOTTO_HPKE_AEAD_AES128_GCM);
}

sotto_status demo_relay_unseal(const demo *d, sotto_bytes sealed, sotto_bytes *report,
                               sotto_arena *arena, sotto_err *err)
{
    const sotto_hpke_config config = demo_hostile_gateway(d);
    uint8_t info[SOTTO_OHTTP_INFO];
    sotto_ohttp_request request;
    sotto_bhttp message;
    sotto_buf plain;

    SOTTO_TRY(sotto_ohttp_request_read(&request, sealed, err));
    SOTTO_TRY(sotto_buf_take(&plain, arena, sealed.len, err));
    sotto_ohttp_info(info, config.id, config.suite);
    SOTTO_TRY(sotto_hpke_unseal(&plain, &d->hostile_gateway, config.suite,
                                sotto_bytes_of(info, sizeof info), request.enc,
                                sotto_bytes_of(NULL, 0), request.ciphertext, err));
    SOTTO_TRY(sotto_bhttp_decode(&message, plain.data, plain.len, err));
    *report = message.content;
    return SOTTO_OK;
}
