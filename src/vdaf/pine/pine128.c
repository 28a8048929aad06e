#define SOTTO_FIELD 128
#include "vdaf/pine/elements_template.h"
#include "vdaf/pine/prove_template.h"
#include "vdaf/pine/query_template.h"

const sotto_pine_ops sotto_pine_ops128 =
    PINE_OPS(128, SOTTO_F128_ROOT_LOG, SOTTO_F128_P_LOW, SOTTO_F128_P_HIGH);
