#include "device/arc.h"

const sotto_device_arc *const sotto_linked_arc = NULL;
