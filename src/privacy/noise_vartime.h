/* privacy/noise_vartime.h - the same draws by table look-up, for simulations only.
 *
 * The addresses it reads tell what it draws. Its law is that of the noise it is made from, to the bit: it
 * looks at the rest only for numbers that fall there.
 */
#ifndef SOTTO_PRIVACY_NOISE_VARTIME_H
#define SOTTO_PRIVACY_NOISE_VARTIME_H

#include "privacy/noise.h"

typedef struct sotto_noise_guide {
    const sotto_noise_part *part; /* borrowed from the noise           */
    int64_t *head;                /* its rows, then a -1               */
    uint16_t *start;              /* rows above for sure, by the first bits of a number */
    unsigned shift;
} sotto_noise_guide;

/* SOTTO_DENIED unless the noise is of one part; the noise must outlive the guide. */
SOTTO_MUST_USE sotto_status sotto_noise_guide_init(sotto_noise_guide *out, const sotto_noise *noise,
                                                   sotto_arena *arena, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_noise_draw_vartime(const sotto_noise_guide *guide, int64_t *out,
                                                     size_t count, sotto_entropy *entropy,
                                                     sotto_err *err);

#endif
