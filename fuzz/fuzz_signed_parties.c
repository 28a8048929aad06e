/* A signed parties file comes from the network. Whatever decodes encodes to the same bytes, and no file that anybody can
 * make up passes for one that the policy's key signed. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "recipe/signed_parties.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Of RFC 8032, 7.1, test 2. The corpus has one file that it signed: serial 7, and these bytes. */
static const uint8_t owner[SOTTO_SIGN_PUBLIC] = {
    0x3d, 0x40, 0x17, 0xc3, 0xe8, 0x43, 0x89, 0x5a, 0x92, 0xb7, 0x0a, 0xa7, 0x4d, 0x1b, 0x7e, 0xbc,
    0x9c, 0x98, 0x2c, 0xcf, 0x2e, 0xc4, 0x96, 0x8c, 0xc0, 0xcd, 0x55, 0xf1, 0x2a, 0xf4, 0x66, 0x0c};
static const char by_the_owner[] = "{}\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t memory[SOTTO_SIGNED_PARTIES_MAX];
    const sotto_policy_key key = {"owner", sotto_bytes_of(owner, sizeof owner)};
    const sotto_policy policy = {
        .parties_keys = &key, .parties_key_count = 1, .parties_signatures = 1};
    const sotto_bytes file = sotto_bytes_of(data, size);
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    sotto_signed_parties parties;

    if (sotto_signed_parties_decode(&parties, file, NULL) != SOTTO_OK)
        return 0;
    if (!sotto_signed_parties_is(file) ||
        sotto_signed_parties_encode(&out, &parties, NULL) != SOTTO_OK ||
        !sotto_bytes_equal_vartime(file, sotto_buf_bytes(&out)))
        abort();
    if (sotto_signed_parties_check(&parties, &policy, NULL) == SOTTO_OK &&
        !(parties.serial == 7 &&
          sotto_bytes_equal_vartime(parties.parties,
                                    sotto_bytes_of(by_the_owner, sizeof by_the_owner - 1))))
        abort();
    return 0;
}
