#define SOTTO_FIELD 64
#include "math/poly_template.h"
