#include "device/duties/membership.h"

#include "base/rule.h"

#include <string.h>

static sotto_status public_value(uint8_t out[SOTTO_P256_WIDE], const uint8_t share[32],
                                 sotto_err *err)
{
    sotto_group group;
    sotto_scalar scalar;
    sotto_status status = sotto_group_init(&group, &sotto_p256, err);

    memset(out, 0, SOTTO_P256_WIDE);
    if (status == SOTTO_OK) {
        sotto_point *point = sotto_point_new(&group);

        if (!sotto_scalar_decode(&group, &scalar, share))
            status = sotto_fail(err, SOTTO_REJECTED, "not a share of a committee's key");
        sotto_point_multiply(&group, point, &scalar, NULL);
        if (status == SOTTO_OK && !sotto_point_encode_wide(&group, out, point))
            status = sotto_fail(err, SOTTO_REJECTED, "not a share of a committee's key");
        sotto_wipe(&scalar, sizeof scalar);
        sotto_point_free(point);
        const sotto_status last = sotto_group_finish(&group, err);
        status = last == SOTTO_OK ? status : last;
    }
    sotto_group_clear(&group);
    return status;
}

sotto_status sotto_membership_check(const sotto_decryptors_record *record, uint32_t place,
                                    const uint8_t share[32], sotto_err *err)
{
    uint8_t value[SOTTO_P256_WIDE];

    if (place >= record->count)
        return sotto_fail(err, SOTTO_DENIED, "a committee of %u has no place %u", record->count,
                          place);
    SOTTO_TRY(public_value(value, share, err));
    if (SOTTO_RULE(duties_own_share) && memcmp(value, record->verify[place], sizeof value) != 0)
        return sotto_fail(err, SOTTO_REJECTED, "the record has another value for this share");
    return SOTTO_OK;
}
