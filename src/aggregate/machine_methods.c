/* The table of methods that have machines. A program that needs fewer links a table of its own. */
#include "aggregate/posting.h"

const sotto_method *sotto_machine_method(uint16_t id)
{
    static const sotto_method *const methods[] = {&sotto_method_bbglr, &sotto_method_flamingo,
                                                  &sotto_method_aero};

    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
        if (methods[i]->id == id)
            return methods[i];
    return NULL;
}
