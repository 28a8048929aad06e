/* Does what constant-time code must not: the check that finds this must be able to fail.
 * With "branch" it branches on a secret, with "address" a secret is an address, otherwise neither. */
#include <string.h>

#include "support/ctime.h"

static volatile int sink;

int main(int argc, char **argv)
{
    static const int table[256] = {1, 2, 3};
    unsigned char secret = 5;
    const char *how = argc > 1 ? argv[1] : "";

    sotto_ctime_secret(&secret, sizeof secret);
    if (strcmp(how, "branch") == 0) {
        if (secret > 3)
            sink = 1;
    } else if (strcmp(how, "address") == 0) {
        sink = table[secret];
    } else {
        sink = secret + 1;
    }
    return 0;
}
