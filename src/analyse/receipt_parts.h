/* analyse/receipt_parts.h - relay and tokens in a receipt: who must not work together, and who may know who took part.
 *
 * Callers:  receipt.c.
 */
#ifndef SOTTO_ANALYSE_RECEIPT_PARTS_H
#define SOTTO_ANALYSE_RECEIPT_PARTS_H

#include "base/writer.h"
#include "sotto/analyse.h"

/* A line with whom the parts that are there may not work with. Nothing where there are none. */
void sotto_receipt_say_apart(sotto_writer *w, const sotto_receipt *r);
/* With two servers, where sampling is not claimed: who may know who took part, and the line above. */
void sotto_receipt_say_parts(sotto_writer *w, const sotto_receipt *r);

#endif
