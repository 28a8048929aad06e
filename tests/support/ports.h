/* support/ports.h - a port of loopback that is this test's alone.
 *
 * One that was closed is given to the next who asks for any, such as a test beside this one, and whoever calls it then is
 * answered by a stranger. A socket that is bound and does not listen keeps it: calls are refused, and a server of this test
 * may listen there.
 */
#ifndef SOTTO_TESTS_SUPPORT_PORTS_H
#define SOTTO_TESTS_SUPPORT_PORTS_H

#include "support/test.h"

/* The socket, for the caller to close in the end. */
int sotto_test_keep_port(sotto_test *t, uint16_t *port);

#endif
