#include "privacy/allocation_turn.h"

#define LANES SOTTO_TURN_LANES

void sotto_turn_sum(const sotto_turns *w, double *down, double *side)
{
    double downs[LANES] = {0}, sides[LANES] = {0};

    for (size_t j = 0; j < w->points; j += LANES)
        for (size_t i = 0; i < LANES; i++) {
            double at_re = w->re[j + i], at_im = w->im[j + i];
            double by_re = w->by_re[j + i], by_im = w->by_im[j + i];
            double re = at_re * by_re - at_im * by_im, im = at_re * by_im + at_im * by_re;
            double weighed = w->weight[j + i] * im;

            downs[i] += weighed * im;
            sides[i] += weighed * re;
            w->re[j + i] = re;
            w->im[j + i] = im;
        }
    *down = downs[0] + downs[1] + (downs[2] + downs[3]);
    *side = sides[0] + sides[1] + (sides[2] + sides[3]);
}
