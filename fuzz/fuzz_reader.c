/* The reader under every schedule of reads that the first bytes ask for: it stays inside its input, and
 * what it took and the writer wrote again is the same. */
#include "target.h"

#include <stdlib.h>
#include <string.h>

#include "sotto/base.h"

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void copy_one(sotto_reader *in, sotto_writer *out, unsigned what)
{
    uint8_t fixed[16];

    switch (what % 5) {
    case 0:
        sotto_write_uint(out, sotto_read_uint(in, 1 + what % 8), 1 + what % 8);
        break;
    case 1:
        sotto_write_opaque8(out, sotto_read_opaque8(in));
        break;
    case 2:
        sotto_write_opaque16(out, sotto_read_opaque16(in));
        break;
    case 3:
        sotto_write_opaque32(out, sotto_read_opaque32(in));
        break;
    default:
        sotto_read_fixed(in, fixed, sizeof fixed);
        sotto_write_bytes(out, sotto_bytes_of(fixed, sizeof fixed));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t memory[1 << 16];
    sotto_buf copy = sotto_buf_over(memory, sizeof memory);
    sotto_writer out = sotto_writer_on(&copy);
    size_t steps = size < 8 ? size : 8;
    sotto_bytes wire = sotto_bytes_of(data + steps, size - steps);
    sotto_reader in = sotto_reader_over(wire);

    for (size_t i = 0; i < steps; i++)
        copy_one(&in, &out, data[i]);
    if (in.short_read) {
        require(sotto_read_uint(&in, 1) == 0);
        require(sotto_reader_finish(&in, "input", NULL) == SOTTO_MALFORMED);
        return 0;
    }
    size_t taken = wire.len - sotto_reader_left(&in);
    if (sotto_writer_finish(&out, "copy", NULL) == SOTTO_OK)
        require(
            sotto_bytes_equal_vartime(sotto_buf_bytes(&copy), sotto_bytes_of(wire.data, taken)));
    else
        require(taken > sizeof memory && copy.len == 0);
    return 0;
}
