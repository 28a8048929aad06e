/* ARC's messages come from strangers: a request, a response or a presentation that was not made with the right secrets ends in a
 * status, and is not taken. The first byte chooses which, and the limit of a presentation. */
#include "target.h"

#include <stdlib.h>
#include <string.h>

#include "seal/token/arc.h"

typedef struct issuer {
    sotto_group g;
    sotto_arc_private key;
    uint8_t open[SOTTO_ARC_PUBLIC];
} issuer;

static issuer *held(void)
{
    static issuer it;
    uint8_t secret[SOTTO_ARC_PRIVATE];

    if (!it.g.ec) {
        memset(secret, 0x3a, sizeof secret);
        if (sotto_group_init(&it.g, &sotto_p256, NULL) != SOTTO_OK ||
            sotto_arc_private_decode(&it.g, &it.key, secret, NULL) != SOTTO_OK ||
            sotto_arc_public(&it.g, it.open, &it.key, NULL) != SOTTO_OK)
            abort();
    }
    return &it;
}

static void try_request(sotto_bytes wire)
{
    uint8_t response[SOTTO_ARC_RESPONSE];
    sotto_scalar random[SOTTO_ARC_RESPONSE_RANDOM];

    memset(random, 0x11, sizeof random);
    if (wire.len == SOTTO_ARC_REQUEST)
        (void)!sotto_arc_issue(&held()->g, response, &held()->key, held()->open, wire.data, random,
                               NULL);
}

static void try_response(sotto_bytes wire)
{
    sotto_arc_credential credential;
    sotto_arc_pending pending;

    memset(&pending, 2, sizeof pending);
    if (wire.len == SOTTO_ARC_RESPONSE &&
        sotto_arc_finish(&held()->g, &credential, &pending, held()->open, wire.data, NULL) ==
            SOTTO_OK)
        abort();
}

static void try_presentation(sotto_bytes wire, uint32_t limit)
{
    uint8_t tag[SOTTO_ARC_POINT];
    sotto_arc_verifier v;

    if (sotto_arc_verifier_init(&v, &held()->key, held()->open, sotto_bytes_of("epoch", 5),
                                sotto_bytes_of("round", 5), limit, NULL) != SOTTO_OK)
        abort();
    (void)!sotto_arc_verify(&v, tag, wire, NULL);
    sotto_arc_verifier_clear(&v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const sotto_bytes wire = sotto_bytes_of(data + 1, size - 1);
    if (data[0] == 0)
        try_request(wire);
    else if (data[0] == 1)
        try_response(wire);
    else
        try_presentation(wire, data[0] - 1u);
    return 0;
}
