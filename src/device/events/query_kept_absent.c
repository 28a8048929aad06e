#include "device/events/query_internal.h"

const sotto_kept_queries *const sotto_linked_queries = NULL;
