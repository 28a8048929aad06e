#define SOTTO_FIELD 128
#include "power_sums_cases.h"
