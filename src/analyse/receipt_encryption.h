/* analyse/receipt_encryption.h - the part of a receipt that is about encrypted sums. */
#ifndef SOTTO_ANALYSE_RECEIPT_ENCRYPTION_H
#define SOTTO_ANALYSE_RECEIPT_ENCRYPTION_H

#include "base/writer.h"
#include "sotto/analyse.h"

/* Fills the server's name and receipt->encryption; nothing for other recipes. */
void sotto_receipt_encryption(sotto_receipt *receipt, const sotto_recipe *recipe);
void sotto_receipt_say_encryption(sotto_writer *w, const sotto_receipt *receipt);

#endif
