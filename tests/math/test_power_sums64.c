#define SOTTO_FIELD 64
#include "power_sums_cases.h"
