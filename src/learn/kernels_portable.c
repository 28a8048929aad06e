/* The kernels for any processor: lanes are written out, and each product is added by fmaf. */
#include "learn/kernels.h"

#include <math.h>

enum { LANES = SOTTO_KERNEL_LANES };

typedef struct v8 {
    float lane[LANES];
} v8;
typedef struct m8 {
    bool lane[LANES];
} m8;

#define INLINE static inline

INLINE v8 v_all(float x)
{
    v8 r;

    for (int i = 0; i < LANES; i++)
        r.lane[i] = x;
    return r;
}

INLINE v8 v_load_part(const float *p, size_t count)
{
    v8 r = {{0}};

    for (size_t i = 0; i < count; i++)
        r.lane[i] = p[i];
    return r;
}

INLINE v8 v_load(const float *p)
{
    return v_load_part(p, LANES);
}

INLINE void v_store_part(float *p, size_t count, v8 x)
{
    for (size_t i = 0; i < count; i++)
        p[i] = x.lane[i];
}

INLINE void v_store(float *p, v8 x)
{
    v_store_part(p, LANES, x);
}

INLINE void v_store_half(float *p, v8 x, size_t half)
{
    for (size_t i = 0; i < LANES / 2; i++)
        p[i] = x.lane[half * (LANES / 2) + i];
}

INLINE void v_store_integers(int32_t *p, v8 x, size_t half)
{
    for (size_t i = 0; i < LANES / 2; i++)
        p[i] = (int32_t)x.lane[half * (LANES / 2) + i];
}

/* 0, 1, ... */
INLINE v8 v_ramp(void)
{
    v8 r;

    for (int i = 0; i < LANES; i++)
        r.lane[i] = (float)i;
    return r;
}

INLINE v8 v_add(v8 a, v8 b)
{
    for (int i = 0; i < LANES; i++)
        a.lane[i] += b.lane[i];
    return a;
}

INLINE v8 v_fma(v8 a, v8 b, v8 c)
{
    for (int i = 0; i < LANES; i++)
        c.lane[i] = fmaf(a.lane[i], b.lane[i], c.lane[i]);
    return c;
}

/* a where a > b, else b: also where one is NaN. */
INLINE v8 v_max(v8 a, v8 b)
{
    for (int i = 0; i < LANES; i++)
        a.lane[i] = a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i];
    return a;
}

INLINE float v_sum(v8 x)
{
    float a[LANES / 2];

    for (int i = 0; i < LANES / 2; i++)
        a[i] = x.lane[i] + x.lane[i + LANES / 2];
    return (a[0] + a[2]) + (a[1] + a[3]);
}

INLINE void v_sum_four(float *out, const v8 x[4], const float *more)
{
    for (int i = 0; i < 4; i++)
        out[i] = v_sum(x[i]) + more[i];
}

/* Lanes 0, 2, 4, ... of a and then of b. */
INLINE v8 v_even(v8 a, v8 b)
{
    v8 r;

    for (int i = 0; i < LANES / 2; i++) {
        r.lane[i] = a.lane[(size_t)2 * (size_t)i];
        r.lane[i + LANES / 2] = b.lane[(size_t)2 * (size_t)i];
    }
    return r;
}

INLINE v8 v_odd(v8 a, v8 b)
{
    v8 r;

    for (int i = 0; i < LANES / 2; i++) {
        r.lane[i] = a.lane[(size_t)2 * (size_t)i + 1];
        r.lane[i + LANES / 2] = b.lane[(size_t)2 * (size_t)i + 1];
    }
    return r;
}

INLINE m8 m_above(v8 a, v8 b)
{
    m8 r;

    for (int i = 0; i < LANES; i++)
        r.lane[i] = a.lane[i] > b.lane[i];
    return r;
}

INLINE v8 v_select(m8 mask, v8 a, v8 b)
{
    for (int i = 0; i < LANES; i++)
        a.lane[i] = mask.lane[i] ? a.lane[i] : b.lane[i];
    return a;
}

#define KERNELS      sotto_kernels_portable
#define KERNELS_NAME "portable"
#include "learn/kernels_template.h"
