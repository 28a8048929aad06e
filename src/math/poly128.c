#define SOTTO_FIELD 128
#include "math/poly_template.h"
