/* dap/list.h - the list that ends each message of an aggregation job; for those three files. */
#ifndef SOTTO_DAP_LIST_H
#define SOTTO_DAP_LIST_H

#include "dap/job.h"

/* The rest of the message: all that is left, or for Janus what stands behind a 32-bit length. */
sotto_bytes sotto_dap_list_read(sotto_reader *in, sotto_dap_profile profile);

/* After what stands before the list, which w has written. A failure takes all of it back. */
SOTTO_MUST_USE sotto_status sotto_dap_list_begin(sotto_dap_list *list, sotto_writer *w,
                                                 sotto_dap_profile profile, const char *what,
                                                 sotto_err *err);
/* After an item, which w has written. A failure takes back this item alone. */
SOTTO_MUST_USE sotto_status sotto_dap_list_added(sotto_dap_list *list, sotto_writer *w,
                                                 const char *what, sotto_err *err);

#endif
