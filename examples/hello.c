/* The smallest program on sotto: 16 bytes that nobody can predict. */
#include <stdio.h>

#include <sotto/sotto.h>

int main(void)
{
    sotto_err err = {SOTTO_OK, ""};
    uint8_t id[16];

    sotto_status status = sotto_random_bytes(id, sizeof id, &err);
    if (status != SOTTO_OK) {
        fprintf(stderr, "hello: %s: %s\n", sotto_status_name(status), err.reason);
        return 1;
    }
    for (size_t i = 0; i < sizeof id; i++)
        printf("%02x", id[i]);
    printf("\n");
    return 0;
}
