/* Points come from strangers: whatever decryptors send, lanes add up what the crypto library adds up, or leave it to it. */
#include "target.h"

#include <stdlib.h>
#include <string.h>

#include "aggregate/shared/p256_sum.h"

enum { MOST = 8, EACH = 3 };

/* False: one is no point, or the sum is none. */
static bool add_alone(uint8_t out[SOTTO_P256_WIDE], const uint8_t *const *lists, size_t terms)
{
    sotto_group group;

    if (sotto_group_init(&group, &sotto_p256, NULL) != SOTTO_OK)
        abort();
    sotto_point *sum = sotto_point_new(&group), *term = sotto_point_new(&group);
    bool is_sum = terms > 0;
    sotto_point_set_identity(&group, sum);
    for (size_t j = 0; j < terms && is_sum; j++) {
        is_sum = sotto_point_decode_wide(&group, term, lists[j]);
        if (is_sum)
            sotto_point_add(&group, sum, sum, term);
    }
    is_sum = is_sum && sotto_point_encode_wide(&group, out, sum);
    sotto_point_free(sum);
    sotto_point_free(term);
    sotto_group_clear(&group);
    return is_sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const sets[] = {"scalar", "ifma"};
    const size_t terms = size / SOTTO_P256_WIDE < MOST ? size / SOTTO_P256_WIDE : MOST;
    const uint8_t *lists[MOST];
    uint8_t wanted[SOTTO_P256_WIDE], out[EACH][SOTTO_P256_WIDE];
    bool done[EACH], first = false;

    for (size_t j = 0; j < terms; j++)
        lists[j] = data + j * SOTTO_P256_WIDE;
    const bool is_sum = add_alone(wanted, lists, terms);
    for (size_t s = 0; s < sizeof sets / sizeof sets[0]; s++) {
        if (!sotto_p256_use(sets[s]))
            continue;
        sotto_p256_sum_many_vartime(out, done, lists, terms, 0, EACH);
        first = s == 0 ? done[0] : first;
        for (size_t i = 0; i < EACH; i++)
            if (done[i] != first ||
                (done[i] && (!is_sum || memcmp(out[i], wanted, sizeof wanted) != 0)))
                abort();
    }
    return 0;
}
