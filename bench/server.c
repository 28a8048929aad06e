/* sotto-bench-server - the servers of sotto-bench's pipeline group. A program of its own, linked as `sotto serve` is:
 * sotto-bench also holds the device library, whose insides are built for size and would take part. */
#include "between.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    if (sotto_between_serve(argc, argv))
        return 0;
    sotto_replica_main(argc, argv, NULL);
    (void)fprintf(stderr, "usage: sotto-bench starts this\n");
    return 2;
}
