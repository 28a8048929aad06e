/* dap/collection_req.h - a CollectionJobReq within a larger message; for the file of that message. */
#ifndef SOTTO_DAP_COLLECTION_REQ_H
#define SOTTO_DAP_COLLECTION_REQ_H

#include "dap/collect.h"

/* Returns its extensions, for the check below once the reader has finished. */
sotto_bytes sotto_dap_collection_req_read(sotto_reader *in, sotto_dap_collection_req *out);
SOTTO_MUST_USE sotto_status sotto_dap_collection_extensions_check(sotto_bytes extensions,
                                                                  sotto_err *err);

#endif
