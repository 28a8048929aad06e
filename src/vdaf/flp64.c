#define SOTTO_FIELD 64
#include "vdaf/flp_template.h"

#include "vdaf/flp_prove_template.h"

#include "vdaf/flp_query_template.h"

const sotto_flp sotto_flp64 = FLP_FUNCTIONS;
const sotto_flp_checks sotto_flp_checks64 = FLP_CHECKS;
