/* base/rule.h - a rule that a test must miss when it is gone.
 *
 *     if (SOTTO_RULE(fixed_schema) && changed)
 *         return sotto_fail(err, SOTTO_DENIED, ...);
 *
 * In the source a rule is a guard like this one: its condition begins with SOTTO_RULE and &&, and it has no else, so no line
 * does the wrong thing. Where right behaviour is no guard, the source holds it alone, and tests/wrong/ says which lines
 * tests put in its place (tests/wrong.py).
 *
 * tests/rules.txt lists every rule with the test that guards it. Tests build the rooms a second time with
 * SOTTO_RULES; there, the rule named by the environment variable SOTTO_RULE_OFF is switched off, and
 * tests/rules.sh expects its test to fail. In every other build a rule is the constant true.
 */
#ifndef SOTTO_BASE_RULE_H
#define SOTTO_BASE_RULE_H

#ifdef SOTTO_RULES

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static inline bool sotto_rule_holds(const char *name)
{
    const char *off = getenv("SOTTO_RULE_OFF");

    return !off || strcmp(off, name) != 0;
}
#define SOTTO_RULE(name) sotto_rule_holds(#name)

#else
#define SOTTO_RULE(name) 1
#endif

#endif
