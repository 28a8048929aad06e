/* How long a proof is. Recipes say so before there is a round, in libraries that neither prove nor verify. */
#include "aggregate/aero/proof_rows.h"

const sotto_aero_profile sotto_aero_profile_standard = {"standard", 118, 20, 3, 2};
const sotto_aero_profile sotto_aero_profile_high = {"high", 189, 0, 3, 3};

proof_shape sotto_aero_shape_of(const sotto_aero_proof_size_of *of)
{
    const sotto_aero_profile *p = of->profile;
    const unsigned second = of->set->second ? U_BITS : 0,
                   rows[KIND_SLACK] = {2, ERROR_BITS, ERROR_BITS, of->bits, second, second, 1};
    proof_shape shape = {.pairs = (of->count + 1) / 2};

    for (unsigned k = 0; k < KIND_SLACK; k++)
        shape.first[k + 1] = shape.first[k] + rows[k];
    shape.rows = shape.pairs * shape.first[KIND_SLACK] + 1;
    shape.column = SALT + 8 * (shape.rows + p->near + 2 * p->repeated);
    return shape;
}

size_t sotto_aero_proof_bytes(const sotto_aero_proof_size_of *of)
{
    const sotto_aero_profile *p = of->profile;
    const proof_shape shape = sotto_aero_shape_of(of);

    return HASH + 8 * ((size_t)p->near * ROW + (size_t)p->repeated * (SUM + QUOTIENT)) + 8 +
           (size_t)COSETS * HASH + p->queries * (shape.column + (size_t)H_LOG * HASH);
}
