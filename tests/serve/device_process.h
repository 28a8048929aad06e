/* tests/serve/device_process.h - a device of a fleet as a process of its own, which goes on with what its journal has.
 *
 * The program calls device_process_is_asked first in main: it starts itself.
 */
#ifndef SOTTO_TESTS_SERVE_DEVICE_PROCESS_H
#define SOTTO_TESTS_SERVE_DEVICE_PROCESS_H

#include "support/fleet.h"
#include "support/test.h"

#include <sys/types.h>

/* Remembers this program's name. True: it was started as a device, whose file is argv[2]. */
bool device_process_is_asked(int argc, char **argv);
/* Plays the device until somebody ends this process, or the one that started it. */
int device_process_play(const char *path);

/* directory: where a file with what the device knows is left. The device must be switched off in this process. */
pid_t device_process_start(sotto_test *t, const sotto_fleet *fleet, const char *directory,
                           uint32_t index);

#endif
