#define SOTTO_FIELD 64
#include "poly_cases.h"
