#define SOTTO_FIELD 64
#include "vdaf/pine/elements_template.h"
#include "vdaf/pine/prove_template.h"
#include "vdaf/pine/query_template.h"

const sotto_pine_ops sotto_pine_ops64 = PINE_OPS(64, SOTTO_F64_ROOT_LOG, SOTTO_F64_P, 0);
