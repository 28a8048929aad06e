#include "crypto/keccak_x1.h"

const sotto_keccak_backend sotto_keccak_scalar = {"scalar", permute, NULL, NULL, NULL};
