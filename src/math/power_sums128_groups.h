/* math/power_sums128_groups.h - the outer loop of power sums for machines with vectors, once.
 *
 * The including file defines POWER_SUMS, the function's name; LANES, GROUP and a row; and
 *
 *     start_rows(rows, f, r, count)                       LANES rows, of which `count` are wanted
 *     sum_group(out, total, rows, count, m, width, left)  adds the sums of up to GROUP rows; total may be NULL
 *     running_total, no_total(), end_total(total)         what the elements add up to
 */
void POWER_SUMS(sotto_f128 *out, sotto_f128 *sum, const uint8_t *m, size_t count, size_t width,
                const sotto_f128 *f, const sotto_f128 *r, sotto_f128 *scratch)
{
    size_t all = (count + width - 1) / width;
    row *rows = (row *)(void *)(((uintptr_t)scratch + 63) & ~(uintptr_t)63);
    running_total total = no_total();

    for (size_t j = 0; j < 2 * width; j++)
        out[j] = sotto_f128_zero();
    for (size_t first = 0; first < all; first += GROUP) {
        size_t group = all - first < GROUP ? all - first : GROUP;

        for (size_t i = 0; i < group; i += LANES)
            start_rows(rows + i, f + first + i, r + first + i, group - i);
        sum_group(out, sum ? &total : NULL, rows, group, m + first * width * SOTTO_F128_SIZE, width,
                  count - first * width);
    }
    if (sum)
        *sum = end_total(total);
}
