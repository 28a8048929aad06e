#define SOTTO_FIELD 40
#include "math/poly_template.h"
