#define SOTTO_FIELD 32
#include "math/poly_template.h"
