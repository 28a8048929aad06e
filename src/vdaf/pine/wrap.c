#include "vdaf/pine/wrap.h"

#include "base/backends.h"
#include "base/cpu.h"

#include <string.h>

typedef struct wrap_kernels {
    const char *name;
    void (*block)(int64_t *sums, const uint8_t *plane, const int8_t *signs);
    void (*signs)(int8_t *signs, const uint8_t *entries);
} wrap_kernels;

static void block_portable(int64_t *sums, const uint8_t *plane, const int8_t *signs)
{
    for (unsigned l = 0; l < SOTTO_WRAP_LANES; l++, signs += SOTTO_WRAP_BLOCK) {
        int32_t sum = 0;

        for (size_t i = 0; i < SOTTO_WRAP_BLOCK; i++)
            sum += (int32_t)plane[i] * signs[i];
        sums[l] += sum;
    }
}

static void signs_portable(int8_t *signs, const uint8_t *entries)
{
    for (size_t i = 0; i < SOTTO_WRAP_BLOCK; i++) {
        unsigned pair = (unsigned)entries[i / 4] >> (2 * (i % 4)) & 3;

        signs[i] = (int8_t)((int)(pair & 1) + (int)(pair >> 1) - 1);
    }
}

static const wrap_kernels portable = {"portable", block_portable, signs_portable};
#if defined(__x86_64__)
static const wrap_kernels avx2 = {"avx2", sotto_wrap_block_avx2, sotto_wrap_signs_avx2};
#endif

static const sotto_backend rows[] = {
#if defined(__x86_64__)
    {SOTTO_CPU_AVX2, &avx2},
#endif
    {0, &portable},
};
static sotto_backends backends = {rows, sizeof rows / sizeof rows[0], NULL};

bool sotto_wrap_use(const char *name)
{
    return sotto_backends_use(&backends, name);
}

void sotto_wrap_planes(uint8_t *planes, const uint8_t *elements, size_t element_size, size_t count)
{
    size_t stride = sotto_wrap_stride(count);

    for (size_t b = 0; b < element_size; b++) {
        uint8_t *plane = planes + b * stride;

        memset(plane + count, 0, stride - count);
        for (size_t i = 0; i < count; i++)
            plane[i] = elements[i * element_size + b];
    }
}

void sotto_wrap_dots(int64_t *sums, const uint8_t *planes, size_t element_size, size_t stride,
                     const uint8_t *const *entries)
{
    const wrap_kernels *use = sotto_backends_chosen(&backends);
    _Alignas(32) int8_t signs[SOTTO_WRAP_LANES * SOTTO_WRAP_BLOCK];
    int64_t totals[SOTTO_WRAP_MAX_BYTES][SOTTO_WRAP_LANES] = {{0}};

    for (size_t at = 0; at < stride; at += SOTTO_WRAP_BLOCK) {
        for (unsigned l = 0; l < SOTTO_WRAP_LANES; l++)
            use->signs(signs + l * SOTTO_WRAP_BLOCK, entries[l] + at / 4);
        for (size_t b = 0; b < element_size; b++)
            use->block(totals[b], planes + b * stride + at, signs);
    }
    for (unsigned l = 0; l < SOTTO_WRAP_LANES; l++)
        for (size_t b = 0; b < element_size; b++)
            sums[l * element_size + b] = totals[b][l];
    sotto_wipe(totals, sizeof totals);
}
