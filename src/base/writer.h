/* base/writer.h - the writer of sotto/base.h, for texts.
 *
 * Callers:  whoever explains something to people, or to a scraper of metrics.
 */
#ifndef SOTTO_BASE_WRITER_H
#define SOTTO_BASE_WRITER_H

#include "sotto/base.h"

#include <string.h>

/* As printf does. More than 1,023 bytes in one call fit nowhere: sotto_writer_finish says so. */
void sotto_write_format(sotto_writer *w, const char *format, ...) SOTTO_PRINTF(2, 3);

static inline void sotto_write_text(sotto_writer *w, const char *text)
{
    sotto_write_bytes(w, sotto_bytes_of(text, strlen(text)));
}

#endif
