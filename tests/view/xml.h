/* tests/view/xml.h - whether text is well-formed XML, of the kind that an SVG may be. */
#ifndef SOTTO_TESTS_VIEW_XML_H
#define SOTTO_TESTS_VIEW_XML_H

#include "support/test.h"

/* One element that holds all others, each closed in turn; attributes in double quotes, none twice; no bare & or <. No
 * declaration, comment or instruction; every byte UTF-8 that XML can hold; no script, no link, no event handler. Fails the
 * test otherwise. */
void sotto_test_svg(sotto_test *t, sotto_bytes text);
/* How often this stands in it. */
size_t sotto_test_count(sotto_bytes text, const char *wanted);

#endif
