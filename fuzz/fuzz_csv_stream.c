/* A file of rows: whatever its bytes are, each record has as many fields as there are columns, or is refused with its line. */
#define _POSIX_C_SOURCE 200809L
#include "target.h"

#include "support/csv_stream.h"

#include <stdlib.h>

static void read_all(sotto_csv_stream *csv)
{
    const sotto_csv_field *fields;
    sotto_status status;

    while ((status = sotto_csv_stream_next(csv, &fields, NULL)) != SOTTO_MISSING) {
        uint64_t sum = 0;

        if (status == SOTTO_IO)
            return;
        for (size_t i = 0; status == SOTTO_OK && i < sotto_csv_stream_columns(csv); i++)
            for (size_t j = 0; j < fields[i].text.len; j++)
                sum += fields[i].text.data[j];
        if (sum == UINT64_MAX)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FILE *file = size > 0 ? fmemopen((void *)(uintptr_t)data, size, "rb") : NULL;
    sotto_csv_stream *csv;

    if (!file || sotto_csv_stream_of(&csv, file, "rows.csv", NULL) != SOTTO_OK)
        return 0;
    read_all(csv);
    if (sotto_csv_stream_rewind(csv, NULL) == SOTTO_OK)
        read_all(csv);
    sotto_csv_stream_close(csv);
    return 0;
}
