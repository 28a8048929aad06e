#include "higher_degree.h"

#include <string.h>

#include "vdaf/circuit.h"
#include "vdaf/flp.h"

enum { LARGEST = 2 };

/* Real types spell integers in zeros and ones; here the one element is the integer. */
static bool encode_itself(const sotto_circuit *c, uint8_t *meas, sotto_measurement measurement)
{
    if (measurement.count != 1 || measurement.values[0] > LARGEST)
        return false;
    memset(meas, 0, c->element_size);
    meas[0] = (uint8_t)measurement.values[0];
    return true;
}

/* Replaces how the instance encodes, and nothing else. */
static sotto_status use_own_encoding(sotto_prio3 *vdaf, sotto_arena *arena, sotto_err *err)
{
    sotto_circuit *circuit = sotto_arena_take(arena, sizeof *circuit);
    sotto_flp *flp = sotto_arena_take(arena, sizeof *flp);

    if (circuit == NULL || flp == NULL)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for the test circuit");
    *circuit = *vdaf->circuit;
    *flp = *circuit->flp;
    flp->encode = encode_itself;
    circuit->flp = flp;
    vdaf->circuit = circuit;
    return SOTTO_OK;
}

sotto_status sotto_higher_degree_init(sotto_prio3 *vdaf, sotto_arena *arena, unsigned shares,
                                      sotto_err *err)
{
    const sotto_circuit description = {
        .algorithm = 0xffffffff,
        .field = 64,
        .shares = shares,
        .proofs = 1,
        .shape = SOTTO_SHAPE_EACH,
        .linear = SOTTO_LINEAR_NONE,
        .degree = 3,
        .polynomial = {0, 2, -3, 1}, /* x(x - 1)(x - 2) */
        .entries = 1,
        .bits = 1,
        .max = LARGEST,
    };

    *vdaf = (sotto_prio3){.config = {.shares = shares, .proofs = 1}};
    SOTTO_TRY(sotto_prio3_init_circuit(vdaf, arena, &description, err));
    return use_own_encoding(vdaf, arena, err);
}
