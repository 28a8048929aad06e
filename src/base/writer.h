/* base/writer.h - the writer of sotto/base.h, for texts.
 *
 * Callers:  whoever explains something to people, or to a scraper of metrics.
 */
#ifndef SOTTO_BASE_WRITER_H
#define SOTTO_BASE_WRITER_H

#include "sotto/base.h"

#include <string.h>

/* As printf does; what one call writes is cut off after 1,023 bytes. */
void sotto_write_format(sotto_writer *w, const char *format, ...) SOTTO_PRINTF(2, 3);

static inline void sotto_write_text(sotto_writer *w, const char *text)
{
    sotto_write_bytes(w, sotto_bytes_of(text, strlen(text)));
}

#endif
