/* Where a peer says that something is: whatever it says, it is at the peer's own origin or nowhere. */
#include <stdlib.h>
#include <string.h>

#include "target.h"
#include "transport/http.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char url[] = "https://helper.example:8080/dap",
                      origin[] = "https://helper.example:8080/";
    char out[80];

    if (sotto_http_locate(out, sizeof out, sotto_bytes_of(url, sizeof url - 1),
                          sotto_bytes_of(data, size), NULL) != SOTTO_OK)
        return 0;
    if (strncmp(out, origin, sizeof origin - 1) != 0)
        abort();
    return 0;
}
