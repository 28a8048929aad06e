/* crypto/group_curve.h - what group.c and group_hash.c know of a curve. */
#ifndef SOTTO_CRYPTO_GROUP_CURVE_H
#define SOTTO_CRYPTO_GROUP_CURVE_H

#include "crypto/group.h"
#include "crypto/hash.h"

struct sotto_curve {
    const char *name;
    int nid;
    size_t size;        /* bytes of a field element and of a scalar */
    size_t wide;        /* L of RFC 9380, 8.2 and 8.3               */
    unsigned minus_z;   /* Z is negative on both curves             */
    sotto_hash_id hash; /* of expand_message_xmd                    */
};

#endif
