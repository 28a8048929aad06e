#include "support/exit.h"

/* What is not named here failed: EXIT_FAILED. */
int sotto_exit_code(sotto_status status, sotto_at at)
{
    static const unsigned char codes[][SOTTO_AT_COUNT] = {
        /* In the order of sotto_at: words, file, data, peer, batch, log. */
        [SOTTO_OK] = {EXIT_DONE, EXIT_DONE, EXIT_DONE, EXIT_DONE, EXIT_DONE, EXIT_DONE},
        [SOTTO_AGAIN] = {EXIT_SMALL, EXIT_SMALL, EXIT_SMALL, EXIT_SMALL, EXIT_SMALL, EXIT_SMALL},
        [SOTTO_MALFORMED] = {EXIT_USAGE, EXIT_LINT, EXIT_FAILED, EXIT_FAILED, EXIT_FAILED,
                             EXIT_LINT},
        [SOTTO_REJECTED] = {EXIT_PROOF, EXIT_PROOF, EXIT_PROOF, EXIT_PROOF, EXIT_PROOF, EXIT_PROOF},
        [SOTTO_DENIED] = {EXIT_REFUSED, EXIT_REFUSED, EXIT_REFUSED, EXIT_REFUSED, EXIT_SMALL,
                          EXIT_PROOF},
        /* A log that is older than what was seen of it has gone back. */
        [SOTTO_STALE] = {EXIT_FAILED, EXIT_FAILED, EXIT_FAILED, EXIT_FAILED, EXIT_FAILED,
                         EXIT_PROOF},
        [SOTTO_TOO_LARGE] = {EXIT_FAILED, EXIT_LINT, EXIT_FAILED, EXIT_FAILED, EXIT_FAILED,
                             EXIT_FAILED},
        /* A disk that fails is no server that is down. */
        [SOTTO_IO] = {EXIT_FAILED, EXIT_FAILED, EXIT_FAILED, EXIT_PEER, EXIT_PEER, EXIT_PEER},
    };
    const unsigned known = sizeof codes / sizeof codes[0];
    const unsigned char code = (unsigned)status < known ? codes[status][at] : EXIT_FAILED;

    return code == EXIT_DONE && status != SOTTO_OK ? EXIT_FAILED : code;
}
