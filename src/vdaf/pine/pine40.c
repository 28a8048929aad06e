#define SOTTO_FIELD 40
#include "vdaf/pine/elements_template.h"
#include "vdaf/pine/prove_template.h"
#include "vdaf/pine/query_template.h"

const sotto_pine_ops sotto_pine_ops40 = PINE_OPS(40, SOTTO_SMALL_ROOT_LOG, SOTTO_F40_P, 0);
