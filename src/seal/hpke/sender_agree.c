#include "seal/hpke/sender.h"

void sotto_hpke_sender_agree(const sotto_hpke_sender *sender, sotto_ephemeral *all, size_t count)
{
    sotto_ephemerals_agree(all, count, sender->purpose.with.kem, sender->to->public_key);
}
