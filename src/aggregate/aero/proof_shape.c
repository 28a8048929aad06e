/* How long a proof is, and what it is worth. Recipes say so before there is a round, in libraries that neither prove nor verify. */
#include "aggregate/aero/proof_rows.h"

#include <math.h>

const sotto_aero_profile sotto_aero_profile_standard = {"standard", 118, 20, 3, 2};
const sotto_aero_profile sotto_aero_profile_high = {"high", 189, 0, 3, 3};

/* Rows with a share e of wrong columns count as polynomials; further away they are missed with (1 - e)^queries. A mask agrees with at
 * most one polynomial on more than a share `both` of the columns, and with others no wrong constraint passes more often than both^queries.
 * e makes the two equal, and is below the radius of unique decoding (docs/decisions/0139). */
sotto_aero_soundness sotto_aero_profile_soundness(const sotto_aero_profile *profile)
{
    double both = (1 + 2.0 * ROW / COLUMNS) / 2;
    double queries = -log2(both) * profile->queries + profile->grind;
    double near = (64 - log2(COLUMNS)) * profile->near,
           constraints = (64 - log2(3.0)) * profile->repeated;
    double algebra = near < constraints ? near : constraints;
    double worse = queries < algebra ? queries : algebra,
           better = queries < algebra ? algebra : queries;

    /* Three ways to be lucky, none likelier than the first. */
    return (sotto_aero_soundness){queries, algebra,
                                  worse - log2(1 + 2 * exp2(worse - better)) - 0.001};
}

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
