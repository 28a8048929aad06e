/* analyse/receipt_committee.h - the part of a receipt that is about the committee of one server. */
#ifndef SOTTO_ANALYSE_RECEIPT_COMMITTEE_H
#define SOTTO_ANALYSE_RECEIPT_COMMITTEE_H

#include "base/writer.h"
#include "recipe/one_server.h"
#include "sotto/analyse.h"

/* Nothing for other recipes. */
/* rounds: that delta covers. */
void sotto_stated_committee_of(sotto_stated_committee *out, const sotto_recipe *recipe,
                               double rounds, bool picked, double delta);
void sotto_stated_committee_say(sotto_writer *w, const sotto_stated_committee *stated);

#endif
