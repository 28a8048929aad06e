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

INLINE v8 zip(v8 a, v8 b, int from)
{
    v8 r;

    for (int i = 0; i < LANES; i++)
        r.lane[i] = i % 2 ? b.lane[from + i / 2] : a.lane[from + i / 2];
    return r;
}

INLINE v8 v_zip_low(v8 a, v8 b)
{
    return zip(a, b, 0);
}

INLINE v8 v_zip_high(v8 a, v8 b)
{
    return zip(a, b, LANES / 2);
}

INLINE m8 m_equal(v8 a, v8 b)
{
    m8 r;

    for (int i = 0; i < LANES; i++)
        r.lane[i] = a.lane[i] == b.lane[i];
    return r;
}

INLINE m8 m_above(v8 a, v8 b)
{
    m8 r;

    for (int i = 0; i < LANES; i++)
        r.lane[i] = a.lane[i] > b.lane[i];
    return r;
}

INLINE m8 m_and(m8 a, m8 b)
{
    for (int i = 0; i < LANES; i++)
        a.lane[i] = a.lane[i] && b.lane[i];
    return a;
}

INLINE m8 m_without(m8 a, m8 b)
{
    for (int i = 0; i < LANES; i++)
        b.lane[i] = b.lane[i] && !a.lane[i];
    return b;
}

INLINE v8 v_where(m8 mask, v8 x)
{
    for (int i = 0; i < LANES; i++)
        x.lane[i] = mask.lane[i] ? x.lane[i] : 0;
    return x;
}

#define KERNELS      sotto_kernels_portable
#define KERNELS_NAME "portable"
#include "learn/kernels_template.h"
