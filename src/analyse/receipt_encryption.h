/* analyse/receipt_encryption.h - the part of a receipt that is about encrypted sums: of statistics, and of learning. */
#ifndef SOTTO_ANALYSE_RECEIPT_ENCRYPTION_H
#define SOTTO_ANALYSE_RECEIPT_ENCRYPTION_H

#include "base/writer.h"
#include "recipe/encrypted.h"
#include "sotto/analyse.h"

/* Sizes, odds and what openings tell. What the round said is left empty. */
void sotto_stated_encryption_of(sotto_stated_encryption *out, const sotto_encrypted *plan,
                                double delta);
/* The same of a statistic, with the server's name. Nothing for other recipes. */
void sotto_receipt_encryption(sotto_receipt *receipt, const sotto_recipe *recipe);
void sotto_stated_encryption_say(sotto_writer *w, const sotto_stated_encryption *stated);

#endif
