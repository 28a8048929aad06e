#define _GNU_SOURCE
#include "support/ports.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

int sotto_test_keep_port(sotto_test *t, uint16_t *port)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
    socklen_t len = sizeof at;

    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(t, fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0);
    CHECK(t, bind(fd, (const struct sockaddr *)&at, sizeof at) == 0);
    CHECK(t, getsockname(fd, (struct sockaddr *)&at, &len) == 0);
    *port = ntohs(at.sin_port);
    return fd;
}
