#define SOTTO_FIELD 128
#include "poly_cases.h"
