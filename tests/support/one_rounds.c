#include "support/one_rounds.h"

sotto_status sotto_test_take_round(sotto_test *t, sotto_rounds *rounds, sotto_epoch *epoch,
                                   const sotto_epoch_round *round, unsigned *parts,
                                   sotto_explanation *why)
{
    uint8_t id[SOTTO_ROUND_ID];
    sotto_bytes posting;

    CHECK_OK(t, sotto_epoch_post(epoch, round, &posting, id, &t->arena, &t->err));
    return sotto_rounds_take(rounds, parts, why, posting, &t->err);
}

sotto_why sotto_test_round_why(sotto_test *t, sotto_device *device, const char *name)
{
    sotto_explanation why;

    CHECK_OK(t, sotto_device_why(device, &why, name, &t->err));
    return why.why;
}
