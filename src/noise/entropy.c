#include "noise/entropy.h"

#include <string.h>

#include "sotto/random.h"

static sotto_status fill_from_system(void *context, void *out, size_t len, sotto_err *err)
{
    (void)context;
    return sotto_random_bytes(out, len, err);
}

void sotto_entropy_init(sotto_entropy *entropy, sotto_entropy_fill *fill, void *context)
{
    entropy->fill = fill;
    entropy->context = context;
    entropy->left = 0;
}

void sotto_entropy_system(sotto_entropy *entropy)
{
    sotto_entropy_init(entropy, fill_from_system, NULL);
}

static sotto_status take(sotto_entropy *entropy, uint8_t *out, size_t len, sotto_err *err)
{
    while (len) {
        if (len >= SOTTO_ENTROPY_BUFFER && !entropy->left)
            return entropy->fill(entropy->context, out, len, err);
        if (!entropy->left) {
            SOTTO_TRY(entropy->fill(entropy->context, entropy->buffer, SOTTO_ENTROPY_BUFFER, err));
            entropy->left = SOTTO_ENTROPY_BUFFER;
        }
        uint8_t *from = entropy->buffer + SOTTO_ENTROPY_BUFFER - entropy->left;
        size_t part = len < entropy->left ? len : entropy->left;

        memcpy(out, from, part);
        sotto_wipe(from, part);
        entropy->left -= part;
        out += part;
        len -= part;
    }
    return SOTTO_OK;
}

sotto_status sotto_entropy_take(sotto_entropy *entropy, void *out, size_t len, sotto_err *err)
{
    sotto_status status = take(entropy, out, len, err);

    if (status != SOTTO_OK)
        sotto_wipe(out, len);
    return status;
}

void sotto_entropy_clear(sotto_entropy *entropy)
{
    sotto_wipe(entropy, sizeof *entropy);
}
