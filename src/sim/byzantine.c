#include "sim/net.h"

#include <string.h>

bool sotto_sim_liar_silent(void *context, sotto_sim_net *net, sotto_message *message,
                           sotto_bytes *bulk)
{
    (void)net;
    (void)bulk;
    return message->kind < *(const unsigned *)context;
}

enum { LONGEST = 65536 };

/* A copy with one bit flipped; what is too long, or empty, stays as it is. */
static void garble(sotto_bytes *bytes, uint8_t *memory, sotto_sim_random *random)
{
    if (bytes->len == 0 || bytes->len > LONGEST)
        return;
    memcpy(memory, bytes->data, bytes->len);
    uint64_t bit = sotto_sim_random_below(random, 8 * (uint64_t)bytes->len);
    memory[bit / 8] ^= (uint8_t)(1u << bit % 8);
    bytes->data = memory;
}

bool sotto_sim_liar_contradicts(void *context, sotto_sim_net *net, sotto_message *message,
                                sotto_bytes *bulk)
{
    static uint8_t body[LONGEST], wire[LONGEST + 512];
    sotto_buf out = sotto_buf_over(wire, sizeof wire);
    sotto_message other = *message;
    const sotto_signer *signer = context;
    uint8_t signature[SOTTO_SIGNATURE];

    garble(&other.body, body, sotto_sim_net_random(net));
    if (sotto_message_sign(&other, signature, signer, NULL) == SOTTO_OK &&
        sotto_message_encode(&out, &other, NULL) == SOTTO_OK &&
        sotto_sim_net_inject(net, sotto_sim_net_address(net, &other), sotto_buf_bytes(&out), *bulk,
                             sotto_sim_net_now(net) + 1 +
                                 sotto_sim_random_below(sotto_sim_net_random(net), 40),
                             NULL) != SOTTO_OK)
        return false;
    return true;
}
