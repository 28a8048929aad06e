/* Bundles, entries and proofs come from the network. What decodes encodes to the same bytes, and nothing that anybody can make
 * up is in a log whose key they don't have. */
#include <stdlib.h>
#include <string.h>

#include "target.h"
#include "tlog/bundle.h"

static const char vkey[] =
    "example.com/log/testdata+33d7b496+AeHTu4Q3hEIMHNqc6fASMsq3rKNx280NI+oO5xCFkkSx";

static void round_trip(sotto_bytes wire, const sotto_buf *out)
{
    if (!sotto_bytes_equal_vartime(wire, sotto_buf_bytes(out)))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t memory[SOTTO_BUNDLE_MAX];
    const sotto_bytes wire = sotto_bytes_of(data, size);
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    sotto_inclusion inclusion;
    sotto_bundle_facts facts;
    sotto_tlog_entry entry;
    sotto_bundle bundle;
    sotto_note_key key;
    const sotto_log_trust trust = {.log = &key};

    if (size > sizeof memory ||
        sotto_note_key_decode(&key, sotto_bytes_of(vkey, sizeof vkey - 1), NULL) != SOTTO_OK)
        return 0;
    if (sotto_tlog_entry_decode(&entry, wire, NULL) == SOTTO_OK) {
        if (sotto_tlog_entry_encode(&out, &entry, NULL) != SOTTO_OK)
            abort();
        round_trip(wire, &out);
    }
    out.len = 0;
    if (sotto_inclusion_decode(&inclusion, wire, NULL) == SOTTO_OK &&
        (sotto_inclusion_encode(&out, &inclusion, NULL) != SOTTO_OK || out.len > size))
        abort(); /* but for an extra line, which is left out */
    if (sotto_bundle_decode(&bundle, wire, NULL) != SOTTO_OK)
        return 0;
    out.len = 0;
    if (sotto_bundle_encode(&out, &bundle, NULL) != SOTTO_OK)
        abort();
    round_trip(wire, &out);
    /* That log's entries are words: none of them is one of sotto's. */
    if (sotto_bundle_verify(&facts, wire, &trust, NULL) == SOTTO_OK)
        abort();
    return 0;
}
