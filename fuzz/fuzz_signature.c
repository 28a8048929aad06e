/* Keys and signatures come from strangers: lanes and the crypto library accept the same. A key, a signature, and the text. */
#include "target.h"

#include <stdlib.h>

#include "crypto/ed25519.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const sets[] = {"ifma", "avx2"};

    if (size < SOTTO_SIGN_PUBLIC + SOTTO_SIGNATURE)
        return 0;
    const size_t head = SOTTO_SIGN_PUBLIC + SOTTO_SIGNATURE;
    const sotto_bytes text = sotto_bytes_of(data + head, size - head);
    const sotto_status judged = sotto_signature_check(data, data + SOTTO_SIGN_PUBLIC, text, NULL);

    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        sotto_signature_claim claims[4];

        for (size_t c = 0; c < 4; c++)
            claims[c] = (sotto_signature_claim){data, data + SOTTO_SIGN_PUBLIC, text, false};
        if (!sotto_ed25519_use(sets[i]))
            continue;
        sotto_signatures_check(claims, 4);
        for (size_t c = 0; c < 4; c++)
            if (claims[c].holds != (judged == SOTTO_OK))
                abort();
    }
    return 0;
}
