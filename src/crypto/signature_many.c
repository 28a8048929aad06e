#include "crypto/ed25519.h"
#include "crypto/signature.h"

/* As many as lanes are filled with at once. */
enum { GROUP = 64 };

static void check_some(sotto_signature_claim *all, size_t count)
{
    sotto_signature_claim *some[GROUP];
    size_t wanted = 0;

    for (size_t i = 0; i < count; i++) {
        all[i].holds = false;
        if (all[i].public_key && all[i].signature &&
            !sotto_signature_key_is_small(all[i].public_key))
            some[wanted++] = &all[i];
    }
    sotto_ed25519_many(some, wanted);
}

void sotto_signatures_check(sotto_signature_claim *all, size_t count)
{
    for (size_t at = 0; at < count; at += GROUP)
        check_some(all + at, count - at < GROUP ? count - at : GROUP);
}
