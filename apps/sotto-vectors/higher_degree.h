/* sotto-vectors/higher_degree.h - the draft's test-only circuit whose gadget has degree three.
 *
 * One element x of Field64 with x(x - 1)(x - 2) = 0, computed by one call of a polynomial gadget; no joint
 * randomness, one proof, algorithm id ffffffff. It exists to test gadgets of a degree that no real
 * measurement type uses.
 */
#ifndef SOTTO_VECTORS_HIGHER_DEGREE_H
#define SOTTO_VECTORS_HIGHER_DEGREE_H

#include "sotto/vdaf.h"

SOTTO_MUST_USE sotto_status sotto_higher_degree_init(sotto_prio3 *vdaf, sotto_arena *arena,
                                                     unsigned shares, sotto_err *err);

#endif
