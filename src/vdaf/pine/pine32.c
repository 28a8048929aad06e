#define SOTTO_FIELD 32
#include "vdaf/pine/elements_template.h"
#include "vdaf/pine/prove_template.h"
#include "vdaf/pine/query_template.h"

const sotto_pine_ops sotto_pine_ops32 = PINE_OPS(32, SOTTO_SMALL_ROOT_LOG, SOTTO_F32_P, 0);
