#include "account/local/checkin_direct.h"

#include "account/numeric/special.h"
#include "base/cpu.h"

#include <math.h>

/* Before sines are taken again: a turn adds 4u. */
#define TURNS 64
#define LANES SOTTO_CHECKIN_DIRECT_LANES
/* What a factor is off by then. */
#define FACTOR_OFF ((4 * TURNS + 16) * SOTTO_UNIT_ROUNDOFF)
/* Slots, times how much they damp the line as a logarithm, beyond which groups do better: nearly all nodes are then passed
 * over. Not where most slots' losses are as good as certain: their transforms hardly fall, and hardly group. */
#define LIFT 1.5e5
/* So few are turned faster than their groups are summed. */
#define FEW 1024

void sotto_checkin_direct_open(sotto_checkin_direct *f, const sotto_slots *slots, double step)
{
    double count = slots->roots == 1 ? slots->groups[0].last - slots->groups[0].first + 1 : 0;
    double lift = 0;

    f->count = 0;
    f->wrong = 0;
    f->step = step;
    f->at = -1;
    f->turns = TURNS;
    f->wide = (~sotto_cpu() & (SOTTO_CPU_AVX2 | SOTTO_CPU_FMA)) == 0;
    if (!(slots->rise > 0 && count <= SOTTO_CHECKIN_DIRECT_SLOTS))
        return;
    for (; (double)f->count < count || f->count % LANES != 0; f->count++) {
        size_t i = f->count;
        bool real = (double)i < count; /* what fills the last lanes is always 1 */

        f->eps[i] = real ? sotto_slot_eps(slots, (double)i + 1) : 0;
        f->thin[i] = tanh(f->eps[i] * (slots->c + 0.5));
        f->by_re[i] = cos(f->eps[i] * step);
        f->by_im[i] = sin(f->eps[i] * step);
        f->wrong += real ? 1 / f->thin[i] : 0;
        lift += real ? 1 - f->thin[i] * f->thin[i] : 0;
    }
    f->wrong *= FACTOR_OFF;
    if (count > FEW && lift * count > LIFT && lift > 0.2 * count)
        f->count = 0;
}

/* One lane's product, times another factor. */
static inline void times(double *re, double *im, double by_re, double by_im)
{
    double next = *re * by_re - *im * by_im;

    *im = *re * by_im + *im * by_re;
    *re = next;
}

void sotto_checkin_direct_rotate(sotto_checkin_direct *f, sotto_checkin_direct_products *out)
{
    *out = (sotto_checkin_direct_products){{1, 1, 1, 1}, {0, 0, 0, 0}};
    for (size_t i = 0; i < f->count; i += LANES)
        for (size_t lane = 0; lane < LANES; lane++) {
            times(&f->re[i + lane], &f->im[i + lane], f->by_re[i + lane], f->by_im[i + lane]);
            times(&out->re[lane], &out->im[lane], f->re[i + lane],
                  f->thin[i + lane] * f->im[i + lane]);
        }
}

/* To the node before k, by sines. */
static void start_before(sotto_checkin_direct *f, double k)
{
    double t = (k - 1) * f->step;

    for (size_t i = 0; i < f->count; i++) {
        f->re[i] = cos(f->eps[i] * t);
        f->im[i] = sin(f->eps[i] * t);
    }
    f->turns = 0;
}

sotto_slot_log sotto_checkin_direct_at(sotto_checkin_direct *f, double k)
{
    sotto_checkin_direct_products p;

    if (k != f->at + 1 || f->turns >= TURNS)
        start_before(f, k);
    f->at = k;
    f->turns++;
#if defined(__x86_64__)
    if (f->wide)
        sotto_checkin_direct_rotate_avx2(f, &p);
    else
#endif
        sotto_checkin_direct_rotate(f, &p);
    for (int lane = 1; lane < LANES; lane++)
        times(&p.re[0], &p.im[0], p.re[lane], p.im[lane]);
    double size = hypot(p.re[0], p.im[0]);
    /* None is larger than 1, none smaller than its thin. */
    double off = fmin((double)f->count * FACTOR_OFF / size, f->wrong);

    return (sotto_slot_log){size > 1e-300 ? log(size) : -690, atan2(p.im[0], p.re[0]), off};
}

double sotto_checkin_direct_damping(const sotto_checkin_direct *f)
{
    double sum = 0;

    for (size_t i = 0; i < f->count; i++)
        sum += (1 - f->thin[i] * f->thin[i]) * f->im[i] * f->im[i];
    return sum * (1 - 1e-9);
}
